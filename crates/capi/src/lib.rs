//! The C interface of `broadphase`: `include/broadphase.h` is generated from these declarations, and compared with them by `tests/header.rs`.
//!
//! It contains no algorithm. Each function checks what comes from C (`input.rs`), calls the library, and hands out a status (`status.rs`).
//!
//! # Safety
//! Every exported function that takes a pointer is `unsafe`. Its duties are the same for all, and are those of the header's introduction
//! (`cbindgen.toml`): a pointer is null or points to as many elements as its count says; an object was made by its `create` function and not
//! destroyed; a call that may change an object is the only one for it at that time.

// What the browser package has no call for is left out on its target (`cfg(not(target_arch = "wasm32"))`), since its files must be small.

#![allow(non_camel_case_types)] // the names of the header
#![allow(clippy::missing_safety_doc)] // once, above
#![allow(clippy::too_many_arguments)] // pointer and count are two

mod status;
mod types;
mod input;
mod executor;
mod arrays;
mod object;
#[cfg(not(target_arch = "wasm32"))]
mod between;
#[cfg(not(target_arch = "wasm32"))]
mod distance;
#[cfg(not(target_arch = "wasm32"))]
mod mesh;
mod world;
mod version;
#[cfg(target_arch = "wasm32")]
mod wasm;

pub use arrays::*;
#[cfg(not(target_arch = "wasm32"))]
pub use between::*;
#[cfg(not(target_arch = "wasm32"))]
pub use distance::*;
#[cfg(not(target_arch = "wasm32"))]
pub use mesh::*;
pub use status::*;
pub use types::*;
pub use version::*;
pub use world::*;
