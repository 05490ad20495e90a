//! Names that a shell completes. Any text is accepted here: names take options, and an error for a wrong one suggests the nearest.

use std::ffi::{OsStr, OsString};

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};

/// A value parser that offers names for completion.
#[derive(Clone)]
pub struct Names(pub fn() -> Vec<&'static str>);

impl TypedValueParser for Names {
    type Value = OsString;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<OsString, clap::Error> {
        Ok(value.to_os_string())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// `all`, and every algorithm.
pub fn algorithms() -> Vec<&'static str> {
    ["all"].into_iter().chain(broadphase::algorithms::list().iter().map(|algorithm| algorithm.name)).collect()
}

/// `none`, `all`, and the peers of this build.
pub fn peers() -> Vec<&'static str> {
    let built = broadphase_peers::list().iter().filter(|peer| peer.built).map(|peer| peer.name);
    ["none", "all"].into_iter().chain(built).collect()
}

/// Every scene.
pub fn scenes() -> Vec<&'static str> {
    broadphase_scenes::list().iter().map(|scene| scene.name).collect()
}

/// Every experiment.
pub fn experiments() -> Vec<&'static str> {
    broadphase_reproduce::list().map(|experiment| experiment.name).collect()
}
