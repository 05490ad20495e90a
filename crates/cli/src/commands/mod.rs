//! One file for each command.

pub mod bench;
pub mod demo;
pub mod list;
pub mod pairs;
pub mod record;
