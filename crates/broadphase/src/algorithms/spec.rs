//! `name:key=value:...`: an algorithm with its options, as the tool, tests and programs write it.

use std::fmt;
use std::str::FromStr;

use super::list::OF_PAPERS;
use super::{Descriptor, OptionDescriptor, list};
use crate::error::Error;
use crate::kernels::{Isa, Kernels};

/// Options that every algorithm takes.
pub const COMMON_OPTIONS: &[OptionDescriptor] = &[OptionDescriptor {
    name: "isa",
    default: "best",
    help: "instruction set: best, scalar, sse2, avx2, avx512, neon; if it is not given, that of the context",
}];

/// An algorithm and its options.
///
/// ```
/// use broadphase::Spec;
/// let spec: Spec = "brute-force:isa=scalar".parse().unwrap();
/// assert_eq!(spec.descriptor().name, "brute-force");
/// let error = "brute-forse".parse::<Spec>().unwrap_err();
/// assert_eq!(error.to_string(), "no algorithm is called 'brute-forse'; did you mean 'brute-force'?");
/// ```
#[derive(Clone, Debug)]
pub struct Spec {
    descriptor: &'static Descriptor,
    options: Vec<(&'static str, String)>,
    kernels: Kernels,
    text: String,
}

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        if let Some(&algorithm) = OF_PAPERS.iter().find(|of_papers| **of_papers == name && cfg!(not(feature = "papers"))) {
            return Err(Error::MissingFeature { algorithm, feature: "papers" });
        }
        let descriptor = list().iter().find(|d| d.name == name).ok_or_else(|| Error::UnknownAlgorithm {
            name: name.to_string(),
            nearest: nearest(name, list().iter().map(|d| d.name)).unwrap_or("auto"),
        })?;
        let mut spec = Spec { descriptor, options: Vec::new(), kernels: Kernels::best(), text: text.to_string() };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let Some(option) = descriptor.options.iter().chain(COMMON_OPTIONS).find(|o| o.name == key) else {
                let known: Vec<_> = descriptor.options.iter().chain(COMMON_OPTIONS).map(|o| o.name).collect();
                return Err(Error::UnknownOption {
                    algorithm: descriptor.name,
                    option: key.to_string(),
                    known: known.join(", "),
                });
            };
            if option.name == "isa" {
                let kernels = if value == "best" { Some(Kernels::best()) } else { value.parse().ok().and_then(Kernels::new) };
                spec.kernels = kernels.ok_or_else(|| {
                    let here: Vec<_> = Isa::available().map(Isa::name).collect();
                    spec.invalid("isa", value, format!("best, or one of {} on this CPU", here.join(", ")))
                })?;
            }
            spec.options.push((option.name, value.to_string()));
        }
        spec.check()?;
        Ok(spec)
    }
}

/// Equal are those of the same text.
impl PartialEq for Spec {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Default for Spec {
    /// `auto`.
    fn default() -> Self {
        let descriptor = list().iter().find(|d| d.name == "auto").unwrap_or(&list()[0]);
        Self { descriptor, options: Vec::new(), kernels: Kernels::best(), text: descriptor.name.to_string() }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Spec {
    /// The algorithm.
    pub fn descriptor(&self) -> &'static Descriptor {
        self.descriptor
    }

    /// The kernels that option `isa` names, or the best of this CPU.
    pub fn kernels(&self) -> Kernels {
        self.kernels
    }

    /// The text of an option, if it is given; the last one counts.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|o| o.0 == name).map(|o| o.1.as_str())
    }

    /// The value of an option or its default, checked by `valid`; `expected` says in words what it takes.
    pub(crate) fn value<V: FromStr>(
        &self,
        name: &'static str,
        default: V,
        expected: &str,
        valid: impl FnOnce(&V) -> bool,
    ) -> Result<V, Error> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => text.parse().ok().filter(valid).ok_or_else(|| self.invalid(name, text, expected.to_string())),
        }
    }

    /// The error for a value that an option does not take.
    pub(crate) fn invalid(&self, option: &'static str, value: &str, expected: String) -> Error {
        Error::InvalidOption { algorithm: self.descriptor.name, option, value: value.to_string(), expected }
    }
}

/// The name that somebody who mistyped one may have meant: fewest edits, the first one on a tie. Case does not count, and whoever gives
/// only the first words of a name means it. `None` only without names.
///
/// ```
/// use broadphase::algorithms::nearest;
/// assert_eq!(nearest("unifrom", ["pile", "uniform"]), Some("uniform"));
/// assert_eq!(nearest("Bulet", ["jolt", "bullet-dbvt-f"]), Some("bullet-dbvt-f"));
/// ```
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    names.into_iter().min_by_key(|candidate| {
        let ends = candidate.match_indices('-').map(|(end, _)| end).chain([candidate.len()]);
        let beginning = ends.map(|end| edits(&name, &candidate[..end])).min();
        (beginning, edits(&name, candidate))
    })
}

/// The number of insertions, deletions and replacements that turn one text into the other.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
