//! Specs: an algorithm with its options, written `name:key=value:...`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::list::OF_PAPERS;
use super::{Descriptor, OptionDescriptor, list};
use crate::error::Error;
use crate::kernels::{Isa, Kernels};
use crate::spec_text::{self, Named};

/// The options that every algorithm accepts.
pub const COMMON_OPTIONS: &[OptionDescriptor] = &[OptionDescriptor {
    name: "isa",
    default: "best",
    help: "instruction set: best, scalar, sse2, avx2, avx512, neon, simd128; if it is not given, that of the context",
}];

/// An algorithm and its options: parsed from a text, such as one in a settings file, or converted from a structure's typed options
/// (`Spec::from(tiles::Options { .. })`). Both forms are equal.
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
    text: Cow<'static, str>,
}

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let name = text.split(':').next().unwrap_or_default();
        if let Some(&algorithm) = OF_PAPERS.iter().find(|of_papers| **of_papers == name && cfg!(not(feature = "papers"))) {
            return Err(Error::MissingFeature { algorithm, feature: "papers" });
        }
        let descriptor = spec_text::find(text, list())
            .map_err(|unknown| Error::UnknownAlgorithm { name: unknown.name, nearest: unknown.nearest })?;
        let given = spec_text::options(text, descriptor).map_err(|unknown| Error::UnknownOption {
            algorithm: descriptor.name,
            option: unknown.option,
            known: unknown.known.join(", "),
        })?;
        let mut spec = Spec { descriptor, options: Vec::new(), kernels: Kernels::best(), text: Cow::Owned(text.to_string()) };
        for (option, value) in given {
            let value = value.unwrap_or_default();
            if option == "isa" {
                let kernels = if value == "best" { Some(Kernels::best()) } else { value.parse().ok().and_then(Kernels::new) };
                spec.kernels = kernels.ok_or_else(|| {
                    let here: Vec<_> = Isa::available().map(Isa::name).collect();
                    spec.invalid("isa", value, format!("best, or one of {} on this CPU", here.join(", ")))
                })?;
            }
            spec.options.push((option, value.to_string()));
        }
        spec.check()?;
        Ok(spec)
    }
}

impl Named for Descriptor {
    fn name(&self) -> &'static str {
        self.name
    }

    fn options(&self) -> Vec<&'static str> {
        self.options.iter().chain(COMMON_OPTIONS).map(|option| option.name).collect()
    }
}

/// Two specs are equal if their texts are.
impl PartialEq for Spec {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Default for Spec {
    /// `auto`.
    fn default() -> Self {
        let descriptor = list().iter().find(|d| d.name == "auto").unwrap_or(&list()[0]);
        Self { descriptor, options: Vec::new(), kernels: Kernels::best(), text: Cow::Borrowed(descriptor.name) }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Spec {
    /// `brute-force`. Built from a spec, the structure is compiled in this crate, and not again in a user's.
    pub(crate) fn brute_force() -> Self {
        let descriptor = list().iter().find(|d| d.name == "brute-force").unwrap_or(&list()[0]);
        Self::of(descriptor, Vec::new())
    }

    /// An algorithm with options whose values are not checked yet.
    pub(super) fn of(descriptor: &'static Descriptor, options: Vec<(&'static str, String)>) -> Self {
        let given = options.iter().map(|(name, value)| format!(":{name}={value}"));
        // A name alone is not copied: the spec of a one-shot search allocates nothing.
        let text = match options.is_empty() {
            true => Cow::Borrowed(descriptor.name),
            false => Cow::Owned(format!("{}{}", descriptor.name, given.collect::<String>())),
        };
        Self { descriptor, options, kernels: Kernels::best(), text }
    }

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

    /// The value of an option or its default, checked by `valid`; `expected` describes the accepted values.
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

    /// Is the paper's own mode selected?
    #[cfg(feature = "papers")]
    pub(crate) fn paper_mode(&self) -> Result<bool, Error> {
        self.value("paper", false, "true or false", |_| true)
    }

    /// The error for a value that an option does not accept.
    pub(crate) fn invalid(&self, option: &'static str, value: &str, expected: String) -> Error {
        Error::InvalidOption { algorithm: self.descriptor.name, option, value: value.to_string(), expected }
    }
}
