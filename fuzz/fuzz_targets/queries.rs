//! libFuzzer's entry to the target `queries`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    broadphase_fuzz::target("queries").expect("a target")(data);
});
