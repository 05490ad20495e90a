//! libFuzzer's entry to the target `spec`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    broadphase_fuzz::target("spec").expect("a target")(data);
});
