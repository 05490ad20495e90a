//! What can be wrong with the name of a scene, its options or its size.

use std::fmt;

/// Why a scene cannot be built. Displays as one line that tells what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SceneError {
    /// No scene has this name.
    UnknownScene {
        /// The requested name.
        name: String,
        /// The name in the list that is closest to it.
        nearest: &'static str,
    },
    /// The scene has no such option.
    UnknownOption {
        /// The scene.
        scene: &'static str,
        /// The requested option.
        option: String,
        /// The options that it has.
        known: Vec<&'static str>,
    },
    /// The same option twice.
    RepeatedOption {
        /// The scene.
        scene: &'static str,
        /// The option that was given twice.
        option: &'static str,
    },
    /// A value that the option does not take.
    BadValue {
        /// The scene.
        scene: &'static str,
        /// The option.
        option: &'static str,
        /// The requested value.
        value: String,
        /// What it takes.
        expected: String,
    },
    /// The scene exists, but this build does not have it.
    MissingFeature {
        /// The scene.
        scene: &'static str,
        /// The cargo feature that adds it.
        feature: &'static str,
    },
    /// More objects than the scene is made for.
    TooManyObjects {
        /// The scene.
        scene: &'static str,
        /// How many were requested.
        n: usize,
        /// How many it takes.
        limit: usize,
    },
    /// More objects than this machine has memory for.
    OutOfMemory {
        /// The scene.
        scene: &'static str,
        /// How many were requested.
        n: usize,
    },
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownScene { name, nearest } => write!(f, "unknown scene `{name}`; did you mean `{nearest}`?"),
            Self::UnknownOption { scene, option, known } if known.is_empty() => {
                write!(f, "scene `{scene}` has no option `{option}`: it has none at all; write `{scene}`")
            }
            Self::UnknownOption { scene, option, known } => {
                write!(f, "scene `{scene}` has no option `{option}`; it has {}", known.join(", "))
            }
            Self::RepeatedOption { scene, option } => write!(f, "scene `{scene}`: option `{option}` is given twice; keep one"),
            Self::BadValue { scene, option, value, expected } => {
                write!(f, "scene `{scene}`: option `{option}` does not take `{value}`; give {expected}")
            }
            Self::MissingFeature { scene, feature } => {
                write!(f, "scene `{scene}` is not in this build; build with `--features {feature}`")
            }
            Self::TooManyObjects { scene, n, limit } => {
                write!(f, "scene `{scene}` takes at most {limit} objects, not {n}; give a smaller n")
            }
            Self::OutOfMemory { scene, n } => {
                write!(f, "scene `{scene}`: this machine has no memory for {n} objects; give a smaller n")
            }
        }
    }
}

impl std::error::Error for SceneError {}
