//! The options of one scene as given, with defaults filled in, read one by one with a check.

use broadphase::spec_text::Given;

use crate::{SceneDescriptor, SceneError};

/// The values of a scene's options, in the descriptor's order.
pub(crate) struct Values<'a> {
    pub scene: &'static SceneDescriptor,
    given: Vec<Option<&'a str>>,
}

impl<'a> Values<'a> {
    /// Takes the options as given, each at most once. One without a value is a switch that is on.
    pub fn read(scene: &'static SceneDescriptor, options: &[Given<'a>]) -> Result<Self, SceneError> {
        let mut given = vec![None; scene.options.len()];
        for &(option, value) in options {
            let slot = scene.options.iter().position(|known| known.name == option);
            let slot = slot.and_then(|slot| given.get_mut(slot));
            if slot.and_then(|slot| slot.replace(value.unwrap_or("1"))).is_some() {
                return Err(SceneError::RepeatedOption { scene: scene.name, option });
            }
        }
        Ok(Self { scene, given })
    }

    /// The option's name with a static lifetime, and its value. Panics if the scene does not list the option.
    fn text(&self, name: &str) -> (&'static str, &str) {
        let slot = self.scene.options.iter().position(|option| option.name == name).expect("a scene reads only listed options");
        let option = &self.scene.options[slot];
        (option.name, self.given[slot].unwrap_or(option.default))
    }

    fn bad<T>(&self, name: &str, expected: impl Into<String>) -> Result<T, SceneError> {
        let (option, value) = self.text(name);
        Err(SceneError::BadValue { scene: self.scene.name, option, value: value.to_string(), expected: expected.into() })
    }

    /// Refuses a value that is fine by itself but not with the others.
    pub fn refuse<T>(&self, name: &str, expected: &str) -> Result<T, SceneError> {
        self.bad(name, expected)
    }

    /// A number for which `allowed` holds.
    pub fn number(&self, name: &str, allowed: impl Fn(f64) -> bool, expected: &str) -> Result<f64, SceneError> {
        match self.text(name).1.parse::<f64>() {
            Ok(x) if x.is_finite() && allowed(x) => Ok(x),
            _ => self.bad(name, expected),
        }
    }

    /// One of several words, as its place among them.
    pub fn word(&self, name: &str, words: &[&str]) -> Result<usize, SceneError> {
        let value = self.text(name).1;
        match words.iter().position(|&word| word == value) {
            Some(place) => Ok(place),
            None => self.bad(name, words.join(" or ")),
        }
    }

    /// A switch.
    pub fn switch(&self, name: &str) -> Result<bool, SceneError> {
        match self.text(name).1 {
            "1" | "true" | "yes" | "on" => Ok(true),
            "0" | "false" | "no" | "off" => Ok(false),
            _ => self.bad(name, "0 or 1"),
        }
    }

    /// Is the value that word?
    pub fn is(&self, name: &str, word: &str) -> bool {
        self.text(name).1 == word
    }

    /// The dimension: the option `dim` where the scene has one, else the scene's only one.
    pub fn dim(&self) -> Result<usize, SceneError> {
        if self.scene.dims.len() < 2 {
            return Ok(self.scene.dims[0]);
        }
        Ok(self.word("dim", &["2", "3"])? + 2)
    }
}
