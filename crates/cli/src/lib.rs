//! Placeholder text, replaced with the crate's first module.
