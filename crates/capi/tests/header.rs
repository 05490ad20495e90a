//! The header that is checked in is the one that the declarations give.

use std::path::Path;

#[test]
fn the_header_is_the_one_that_the_sources_give() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml is valid");
    let bindings = cbindgen::Builder::new().with_crate(root).with_config(config).generate().expect("the sources can be read");
    let mut bytes = Vec::new();
    bindings.write(&mut bytes);
    let generated = String::from_utf8(bytes).expect("the header is text");
    let path = root.join("include/broadphase.h");
    if std::env::var_os("BROADPHASE_BLESS").is_some() {
        std::fs::write(&path, &generated).expect("the header can be written");
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        checked_in == generated,
        "{} is not what the sources give; run BROADPHASE_BLESS=1 cargo test -p broadphase-capi --test header, and look at the difference",
        path.display()
    );
}
