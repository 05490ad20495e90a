//! Scene specs, `NAME[:key=value]...`: parsed and checked, and built into a scene.

use std::fmt;
use std::str::FromStr;

use broadphase::spec_text::{self, Named};

use crate::families::Recipe;
use crate::list::{SceneDescriptor, list};
use crate::values::Values;
use crate::{AnyScene, SceneError};

/// The most bytes that a generator needs for one object, while its frames are made: with the lattice of contacts of `free-fall` and `gravity`, and without.
/// (Peak of `broadphase record SCENE --n 1000000 --frames 3`: 195 and at most 100.)
const BYTES_PER_OBJECT_IN_HEAPS: usize = 256;
const BYTES_PER_OBJECT: usize = 128;

/// A scene by name, with its options: a parsed `NAME[:key=value]...`.
///
/// ```
/// use broadphase_scenes::{AnyScene, SceneSpec};
/// let spec: SceneSpec = "uniform:motion=0.01:dim=2".parse()?;
/// let AnyScene::Two(mut scene) = spec.build(1000, 42)? else { unreachable!("dim=2 was asked for") };
/// scene.advance();
/// assert_eq!(scene.boxes().len(), 1000);
/// assert_eq!(spec.to_string(), "uniform:motion=0.01:dim=2");
/// # Ok::<(), broadphase_scenes::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SceneSpec {
    text: String,
    descriptor: &'static SceneDescriptor,
    dim: usize,
    recipe: Recipe,
}

impl FromStr for SceneSpec {
    type Err = SceneError;

    fn from_str(text: &str) -> Result<Self, SceneError> {
        let descriptor = spec_text::find(text, list())
            .map_err(|unknown| SceneError::UnknownScene { name: unknown.name, nearest: unknown.nearest })?;
        let given = spec_text::options(text, descriptor).map_err(|unknown| SceneError::UnknownOption {
            scene: descriptor.name,
            option: unknown.option,
            known: unknown.known,
        })?;
        let values = Values::read(descriptor, &given)?;
        Ok(Self { text: text.to_string(), descriptor, dim: values.dim()?, recipe: Recipe::read(&values)? })
    }
}

impl Named for SceneDescriptor {
    fn name(&self) -> &'static str {
        self.name
    }

    fn options(&self) -> Vec<&'static str> {
        self.options.iter().map(|option| option.name).collect()
    }
}

impl fmt::Display for SceneSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl SceneSpec {
    /// The scene's entry in the list.
    pub fn descriptor(&self) -> &'static SceneDescriptor {
        self.descriptor
    }

    /// The dimension of its boxes, 2 or 3.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The scene with `n` objects at frame 0.
    ///
    /// Fails if this build lacks the scene, if it is not made for that many objects, or if memory does not suffice.
    pub fn build(&self, n: usize, seed: u64) -> Result<AnyScene, SceneError> {
        let limit = if self.descriptor.feature.is_some() { 128_000 } else { u32::MAX as usize };
        if n > limit {
            return Err(SceneError::TooManyObjects { scene: self.descriptor.name, n, limit });
        }
        // Generators reserve in many places; one failed try here is an error, one failed reservation there would end the process.
        let is_heap = ["free-fall", "gravity"].iter().any(|heap| self.descriptor.name.starts_with(heap));
        let bytes = if is_heap { BYTES_PER_OBJECT_IN_HEAPS } else { BYTES_PER_OBJECT };
        if Vec::<u8>::new().try_reserve_exact(n.saturating_mul(bytes)).is_err() {
            return Err(SceneError::OutOfMemory { scene: self.descriptor.name, n });
        }
        self.recipe.build(self.descriptor, self.dim, n, seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        text.parse::<SceneSpec>().unwrap_err().to_string()
    }

    #[test]
    fn every_listed_scene_parses_with_its_defaults() {
        for scene in list() {
            let spec: SceneSpec = scene.name.parse().unwrap();
            assert_eq!((spec.to_string().as_str(), spec.dim()), (scene.name, scene.dims[0]));
            for option in scene.options {
                let text = format!("{}:{}={}", scene.name, option.name, option.default);
                assert_eq!(text.parse::<SceneSpec>().unwrap().to_string(), text);
            }
        }
    }

    #[test]
    fn an_unknown_scene_is_answered_with_the_nearest() {
        assert_eq!(refusal("brownian-cube"), "unknown scene `brownian-cube`; did you mean `brownian-cubes`?");
        assert_eq!(refusal(""), "unknown scene ``; did you mean `pile`?");
    }

    #[test]
    fn an_unknown_option_is_answered_with_the_known_ones() {
        assert_eq!(refusal("sizes:raito=3"), "scene `sizes` has no option `raito`; it has ratio, dim");
        assert_eq!(refusal("city:x=3"), "scene `city` has no option `x`: it has none at all; write `city`");
    }

    #[test]
    fn a_bad_value_is_answered_with_what_is_taken() {
        assert_eq!(
            refusal("uniform:motion=fast"),
            "scene `uniform`: option `motion` does not take `fast`; give a number of 0 or more, or `jump`"
        );
        assert_eq!(
            refusal("uniform:shape=round"),
            "scene `uniform`: option `shape` does not take `round`; give cube or long or flat"
        );
        assert_eq!(refusal("uniform:dim=4"), "scene `uniform`: option `dim` does not take `4`; give 2 or 3");
        assert_eq!(refusal("pile:dim=2:dim=3"), "scene `pile`: option `dim` is given twice; keep one");
        assert_eq!(
            refusal("uniform:shape=flat:dim=2"),
            "scene `uniform`: option `shape` does not take `flat`; give cube or long (a flat box needs dim=3)"
        );
        for bad in [
            "uniform:k=0",
            "uniform:k=nan",
            "uniform:sizes=0.5",
            "settled:moving=2",
            "boxes:d=0",
            "plane-crossing:u=w",
            "sizes:ratio=",
        ] {
            assert!(matches!(bad.parse::<SceneSpec>(), Err(SceneError::BadValue { .. })), "{bad}");
        }
    }

    #[test]
    fn more_objects_than_ids_or_memory_are_refused() {
        let spec: SceneSpec = "pile".parse().unwrap();
        let error = spec.build(1 << 40, 0).unwrap_err().to_string();
        assert_eq!(error, "scene `pile` takes at most 4294967295 objects, not 1099511627776; give a smaller n");
        let error = SceneError::OutOfMemory { scene: "pile", n: 4_000_000_000 }.to_string();
        assert_eq!(error, "scene `pile`: this machine has no memory for 4000000000 objects; give a smaller n");
    }

    #[test]
    fn a_switch_needs_no_value() {
        assert!("uniform:sparse".parse::<SceneSpec>().is_ok());
    }

    #[cfg(not(feature = "simulate"))]
    #[test]
    fn a_scene_that_the_build_lacks_names_its_feature() {
        let spec: SceneSpec = "gravity-cubes-simulated".parse().unwrap();
        let error = spec.build(10, 0).unwrap_err();
        assert_eq!(error.to_string(), "scene `gravity-cubes-simulated` is not in this build; build with `--features simulate`");
    }
}
