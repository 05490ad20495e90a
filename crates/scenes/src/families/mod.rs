//! The scenes, one file for each family.

mod bouncing;
mod brownian;
mod city;
mod falling;
mod implosion;
mod jumps;
mod lifts;
mod particles;
mod piles;
mod plane_crossing;
mod scales;
mod scenery;
#[cfg(feature = "simulate")]
mod simulated;
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
    Falling { kind: Kind, swings: bool, tumble: bool },
    Pile { moving: Option<f64> },
    Boxes { density: f64 },
    Implosion,
    PlaneCrossing { axis: usize, frames: f64 },
    City { even: bool },
    Particles,
    Scales,
    Telescope,
    Lifts,
    Scenery { movers: f64 },
    Jumps,
    Simulated { kind: Kind, motion: Motion },
}

/// What drives the bodies of a simulated scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    Brownian,
    FreeFall,
    Gravity,
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
            "free-fall-cubes" | "free-fall-assorted" | "gravity-cubes" | "gravity-assorted" => {
                Self::Falling { kind, swings: name.starts_with("gravity"), tumble: values.switch("tumble")? }
            }
            "pile" => Self::Pile { moving: None },
            "settled" => {
                Self::Pile { moving: Some(values.number("moving", |x| (0.0..=1.0).contains(&x), "a share from 0 to 1")?) }
            }
            "boxes" => Self::Boxes { density: values.number("d", |x| x > 0.0 && x <= 1.0, "a number above 0, at most 1")? },
            "implosion" => Self::Implosion,
            "plane-crossing" => Self::PlaneCrossing {
                axis: values.word("u", &["x", "y", "z"])?,
                frames: values.number("frames", |x| x >= 2.0 && x.fract() == 0.0, "a whole number of 2 or more")?,
            },
            "city" | "city-even" => Self::City { even: name == "city-even" },
            "particles" => Self::Particles,
            "scales" => Self::Scales,
            "telescope" => Self::Telescope,
            "lifts" => Self::Lifts,
            "scenery" => Self::Scenery { movers: values.number("movers", |x| (0.0..=1.0).contains(&x), "a share from 0 to 1")? },
            "jumps" => Self::Jumps,
            _ => {
                let motions = [("brownian", Motion::Brownian), ("free-fall", Motion::FreeFall), ("gravity", Motion::Gravity)];
                let motion = motions.into_iter().find(|(start, _)| name.starts_with(start) && name.ends_with("-simulated"));
                Self::Simulated { kind, motion: motion.expect("every listed scene is read here").1 }
            }
        })
    }

    /// The scene in its dimension.
    pub fn build(&self, scene: &'static SceneDescriptor, dim: usize, n: usize, seed: u64) -> Result<AnyScene, SceneError> {
        Ok(match (self, dim) {
            (Self::Uniform(options), 2) => two(uniform::Uniform::new(options, n, seed)),
            (Self::Uniform(options), _) => three(uniform::Uniform::new(options, n, seed)),
            (Self::Brownian { kind, tumble }, 2) => two(brownian::Brownian::new(*kind, *tumble, n, seed)),
            (Self::Brownian { kind, tumble }, _) => three(brownian::Brownian::new(*kind, *tumble, n, seed)),
            (Self::Falling { kind, swings, tumble }, _) => three(falling::Falling::new(*kind, *swings, *tumble, n, seed)),
            (Self::Pile { moving }, 2) => two(piles::Pile::new(*moving, n, seed)),
            (Self::Pile { moving }, _) => three(piles::Pile::new(*moving, n, seed)),
            (Self::Boxes { density }, 2) => two(bouncing::Boxes::new(*density, n, seed)),
            (Self::Boxes { density }, _) => three(bouncing::Boxes::new(*density, n, seed)),
            (Self::Implosion, _) => three(implosion::Implosion::new(n, seed)),
            (Self::PlaneCrossing { axis, frames }, _) => three(plane_crossing::PlaneCrossing::new(*axis, *frames, n, seed)),
            (Self::City { even }, _) => three(city::City::new(*even, n, seed)),
            (Self::Particles, 2) => two(particles::Particles::new(n, seed)),
            (Self::Particles, _) => three(particles::Particles::<3>::new(n, seed)),
            (Self::Scales, _) => three(scales::Scales::two(n, seed)),
            (Self::Telescope, _) => three(scales::Scales::telescope(n, seed)),
            (Self::Lifts, _) => three(lifts::Lifts::new(n, seed)),
            (Self::Scenery { movers }, _) => three(scenery::Scenery::new(*movers, n, seed)),
            (Self::Jumps, _) => three(jumps::Jumps::new(n, seed)),
            (Self::Simulated { kind, motion }, _) => return simulated(scene, *kind, *motion, n, seed),
        })
    }
}

#[cfg(feature = "simulate")]
fn simulated(_: &SceneDescriptor, kind: Kind, motion: Motion, n: usize, seed: u64) -> Result<AnyScene, SceneError> {
    Ok(three(simulated::Simulated::new(kind, motion, n, seed)))
}

#[cfg(not(feature = "simulate"))]
fn simulated(scene: &SceneDescriptor, _: Kind, _: Motion, _: usize, _: u64) -> Result<AnyScene, SceneError> {
    Err(SceneError::MissingFeature { scene: scene.name, feature: "simulate" })
}

fn two(scene: impl crate::Scene<2> + 'static) -> AnyScene {
    AnyScene::Two(Box::new(scene))
}

fn three(scene: impl crate::Scene<3> + 'static) -> AnyScene {
    AnyScene::Three(Box::new(scene))
}
