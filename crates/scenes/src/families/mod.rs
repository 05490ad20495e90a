//! The scenes, one file for each family.

mod brownian;
mod piles;
mod uniform;

use crate::list::SceneDescriptor;
use crate::shapes::Kind;
use crate::values::Values;
use crate::{AnyScene, SceneError};

/// A scene with its options read and checked: everything but `n` and the seed.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    Uniform(uniform::Options),
    Brownian { kind: Kind, tumble: bool },
    Pile { moving: Option<f64> },
    Absent,
}

impl Recipe {
    /// Reads the options of the scene that `values` belong to.
    pub fn read(values: &Values<'_>) -> Result<Self, SceneError> {
        let name = values.scene.name;
        let kind = if name.contains("assorted") { Kind::Assorted } else { Kind::Cubes };
        Ok(match name {
            "uniform" => Self::Uniform(uniform::Options::read(values)?),
            "sizes" => Self::Uniform(uniform::Options::read_sizes(values)?),
            "brownian-cubes" | "brownian-assorted" => Self::Brownian { kind, tumble: values.switch("tumble")? },
            "pile" => Self::Pile { moving: None },
            "settled" => {
                Self::Pile { moving: Some(values.number("moving", |x| (0.0..=1.0).contains(&x), "a share from 0 to 1")?) }
            }
            _ => Self::Absent,
        })
    }

    /// The scene in its dimension.
    pub fn build(&self, scene: &'static SceneDescriptor, dim: usize, n: usize, seed: u64) -> Result<AnyScene, SceneError> {
        Ok(match (self, dim) {
            (Self::Uniform(options), 2) => two(uniform::Uniform::new(options, n, seed)),
            (Self::Uniform(options), _) => three(uniform::Uniform::new(options, n, seed)),
            (Self::Brownian { kind, tumble }, 2) => two(brownian::Brownian::new(*kind, *tumble, n, seed)),
            (Self::Brownian { kind, tumble }, _) => three(brownian::Brownian::new(*kind, *tumble, n, seed)),
            (Self::Pile { moving }, 2) => two(piles::Pile::new(*moving, n, seed)),
            (Self::Pile { moving }, _) => three(piles::Pile::new(*moving, n, seed)),
            (Self::Absent, _) => return Err(SceneError::MissingFeature { scene: scene.name, feature: "simulate" }),
        })
    }
}

fn two(scene: impl crate::Scene<2> + 'static) -> AnyScene {
    AnyScene::Two(Box::new(scene))
}

fn three(scene: impl crate::Scene<3> + 'static) -> AnyScene {
    AnyScene::Three(Box::new(scene))
}
