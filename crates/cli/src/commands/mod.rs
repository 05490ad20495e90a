//! One file for each command.

pub mod bench;
mod between;
pub mod demo;
pub mod list;
pub mod pairs;
pub mod record;
pub mod view;
