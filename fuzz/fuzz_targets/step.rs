//! libFuzzer's entry to the target `step`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    broadphase_fuzz::target("step").expect("a target")(data);
});
