//! libFuzzer's entry to the target `world`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    broadphase_fuzz::target("world").expect("a target")(data);
});
