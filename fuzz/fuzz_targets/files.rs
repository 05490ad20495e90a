//! libFuzzer's entry to the target `files`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    broadphase_fuzz::target("files").expect("a target")(data);
});
