//! libFuzzer's entry to the target `capi`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    broadphase_fuzz::target("capi").expect("a target")(data);
});
