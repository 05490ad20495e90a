//! libFuzzer's entry to the target `particles`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    broadphase_fuzz::target("particles").expect("a target")(data);
});
