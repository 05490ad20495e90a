//! The options of one scene as given, with defaults filled in, read one by one with a check.

use crate::{SceneDescriptor, SceneError};

/// The values of a scene's options, in the descriptor's order.
pub(crate) struct Values<'a> {
    pub scene: &'static SceneDescriptor,
    given: Vec<Option<&'a str>>,
}

impl<'a> Values<'a> {
    /// Reads `key=value` parts. A key alone means `key=1`, for switches.
    pub fn read(scene: &'static SceneDescriptor, parts: impl Iterator<Item = &'a str>) -> Result<Self, SceneError> {
        let mut given = vec![None; scene.options.len()];
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, "1"));
            let Some(slot) = scene.options.iter().position(|option| option.name == key) else {
                let known = scene.options.iter().map(|option| option.name).collect();
                return Err(SceneError::UnknownOption { scene: scene.name, option: key.to_string(), known });
            };
            if given[slot].replace(value).is_some() {
                return Err(SceneError::RepeatedOption { scene: scene.name, option: scene.options[slot].name });
            }
        }
        Ok(Self { scene, given })
    }

    /// The option's name with a static lifetime, and its value. Asking for an option that is not listed is a bug of ours.
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
