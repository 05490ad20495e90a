//! Notes the compiler's version, which belongs to every measurement.

use std::process::Command;

fn main() {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string());
    let output = Command::new(compiler).arg("--version").output();
    let version = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    if let Some(version) = version {
        println!("cargo::rustc-env=BROADPHASE_RUSTC={}", version.trim());
    }
    println!("cargo::rerun-if-changed=build.rs");
}
