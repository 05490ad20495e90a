//! Names the shared library, so that programs find it by its binary interface: until 1.0 each minor version has one of its own.

fn main() {
    let version = (std::env::var("CARGO_PKG_VERSION_MAJOR"), std::env::var("CARGO_PKG_VERSION_MINOR"));
    if let (Ok(major), Ok(minor)) = version
        && std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux")
    {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libbroadphase.so.{major}.{minor}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
