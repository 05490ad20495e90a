//! What several test binaries share.

#![allow(dead_code, reason = "each binary uses some of it")]

pub mod executors;
