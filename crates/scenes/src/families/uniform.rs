//! `uniform` (paper 000, section 4) and `sizes`: cuboids spread evenly, in straight flight at constant speed.
//!
//! Centers wrap at the world's sides; pairs do not reach around them. Objects pass through each other, so the spread stays
//! even and the number of pairs stays what [`crate::density`] tuned it to. The mean edge is about 1, the world grows with n.
//!
//! Speed is uniform from 0 to `motion` times the object's largest edge, in a random direction. With `jump`, each object
//! moves by 2 to 4 times its largest edge along every axis, in every frame: more than the cell of any grid that fits it.
//!
//! Centers are kept in f64: a sparse object moves by less than the f32 spacing of its coordinates, and still arrives.

use broadphase::Aabb;

use crate::density::{Edges, world_side};
use crate::random::Random;
use crate::values::Values;
use crate::{Scene, SceneError};

/// The checked options of `uniform` and `sizes`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pairs_per_object: f64,
    /// Largest move a frame over the largest edge; `None` for jumps.
    motion: Option<f64>,
    edges: Edges,
    /// Edge factors per axis.
    shape: [f64; 3],
    /// Factor of the world's x side.
    stretch: f64,
    /// Factor of every box after the tuning.
    shrink: f64,
}

impl Options {
    /// The options of `uniform`.
    pub fn read(values: &Values<'_>) -> Result<Self, SceneError> {
        let dim = values.dim()?;
        let motion = match values.is("motion", "jump") {
            true => None,
            false => Some(values.number("motion", |x| x >= 0.0, "a number of 0 or more, or `jump`")?),
        };
        let shape = match values.word("shape", &["cube", "long", "flat"])? {
            0 => [1.0, 1.0, 1.0],
            1 => [10.0, 1.0, 1.0],
            _ if dim == 2 => return values.refuse("shape", "cube or long (a flat box needs dim=3)"),
            _ => [10.0, 10.0, 1.0],
        };
        Ok(Self {
            pairs_per_object: values.number("k", |x| x > 0.0, "a number above 0")?,
            motion,
            edges: Edges::Even { ratio: values.number("sizes", |x| (1.0..=1e6).contains(&x), "a number from 1 to 1e6")? },
            shape,
            stretch: values.number("world", |x| (1.0..=1e6).contains(&x), "a number from 1 to 1e6")?,
            shrink: if values.switch("sparse")? { 1e-5 } else { 1.0 },
        })
    }

    /// The options of `sizes`: 2 pairs per object, motion 0.1.
    pub fn read_sizes(values: &Values<'_>) -> Result<Self, SceneError> {
        Ok(Self {
            pairs_per_object: 2.0,
            motion: Some(0.1),
            edges: Edges::Logarithmic { ratio: values.number("ratio", |x| (1.0..=1e6).contains(&x), "a number from 1 to 1e6")? },
            shape: [1.0; 3],
            stretch: 1.0,
            shrink: 1.0,
        })
    }
}

/// The scene.
pub(crate) struct Uniform<const D: usize> {
    world: [f64; D],
    centers: Vec<[f64; D]>,
    /// Moves a frame; empty with jumps.
    velocities: Vec<[f32; D]>,
    halves: Vec<[f32; D]>,
    boxes: Vec<Aabb<D, f32>>,
    random: Random,
}

impl<const D: usize> Uniform<D> {
    /// Frame 0.
    pub fn new(options: &Options, n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let shape: [f64; D] = std::array::from_fn(|k| options.shape[k]);
        let stretch: [f64; D] = std::array::from_fn(|k| if k == 0 { options.stretch } else { 1.0 });
        let side = world_side(options.edges, shape, stretch, n, options.pairs_per_object);
        let world = stretch.map(|s| s * side);
        let mut scene = Self {
            world,
            centers: Vec::with_capacity(n),
            velocities: Vec::new(),
            halves: Vec::with_capacity(n),
            boxes: Vec::with_capacity(n),
            random: Random::new(seed, 1),
        };
        for _ in 0..n {
            let edge = options.edges.at(random.unit()) * options.shrink;
            scene.centers.push(world.map(|side| side * random.unit()));
            scene.halves.push(shape.map(|s| (s * edge * 0.5) as f32));
            if let Some(motion) = options.motion {
                let largest = edge * options.shape[0];
                let speed = motion * largest * random.unit();
                scene.velocities.push(random.direction::<D>().map(|x| (x * speed) as f32));
            }
        }
        scene.boxes.resize(n, Aabb::default());
        scene.place();
        scene
    }

    fn place(&mut self) {
        for ((cell, center), half) in self.boxes.iter_mut().zip(&self.centers).zip(&self.halves) {
            *cell = Aabb::from_center(center.map(|x| x as f32), *half);
        }
    }

    fn jump(&mut self) {
        for (center, half) in self.centers.iter_mut().zip(&self.halves) {
            let largest = 2.0 * f64::from(half[0]);
            for k in 0..D {
                let signed = self.random.between(-2.0, 2.0);
                center[k] = wrap(center[k] + (signed + f64::copysign(2.0, signed)) * largest, self.world[k]);
            }
        }
    }
}

/// The place in `[0, side)` that a move has come to, however far it went.
#[inline]
fn wrap(at: f64, side: f64) -> f64 {
    if (0.0..side).contains(&at) {
        return at;
    }
    let inside = at - (at / side).floor() * side;
    if inside < side { inside.max(0.0) } else { 0.0 }
}

impl<const D: usize> Scene<D> for Uniform<D> {
    fn boxes(&self) -> &[Aabb<D, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        if self.velocities.is_empty() {
            self.jump();
        }
        for (center, velocity) in self.centers.iter_mut().zip(&self.velocities) {
            for k in 0..D {
                center[k] = wrap(center[k] + f64::from(velocity[k]), self.world[k]);
            }
        }
        self.place();
    }
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn wrapping_stays_inside_even_where_rounding_reaches_the_side() {
        for (at, side) in [(-1e-30, 1.0), (1.0, 1.0), (-7.25, 3.0), (1e9, 3.0), (2.999, 3.0), (-0.0, 3.0)] {
            assert!((0.0..side).contains(&wrap(at, side)), "{at} {side}");
        }
    }
}
