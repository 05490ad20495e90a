//! Which library this is, and what it has.

use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

/// The major version of this header.
pub const BP_VERSION_MAJOR: u32 = 0;
/// The minor version of this header. Until 1.0, another one is another binary interface.
pub const BP_VERSION_MINOR: u32 = 2;
/// The patch version of this header.
pub const BP_VERSION_PATCH: u32 = 0;

/// The version of the library that is linked, as `major << 16 | minor << 8 | patch`.
#[unsafe(no_mangle)]
pub extern "C" fn bp_version() -> u32 {
    BP_VERSION_MAJOR << 16 | BP_VERSION_MINOR << 8 | BP_VERSION_PATCH
}

/// The instruction set that kernels use on this CPU, such as "avx2".
#[unsafe(no_mangle)]
pub extern "C" fn bp_instruction_set() -> *const c_char {
    static NAME: OnceLock<CString> = OnceLock::new();
    NAME.get_or_init(|| CString::new(broadphase::Kernels::best().isa().name()).unwrap_or_default()).as_ptr()
}

/// The name of each algorithm of this build, from index 0 on; null from their number on.
#[unsafe(no_mangle)]
pub extern "C" fn bp_algorithm_name(index: usize) -> *const c_char {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    let make = || broadphase::algorithms::list().iter().filter_map(|entry| CString::new(entry.name).ok()).collect();
    NAMES.get_or_init(make).get(index).map_or(std::ptr::null(), |name| CStr::as_ptr(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_package() {
        let text = format!("{BP_VERSION_MAJOR}.{BP_VERSION_MINOR}.{BP_VERSION_PATCH}");
        assert_eq!(text, env!("CARGO_PKG_VERSION"));
    }
}
