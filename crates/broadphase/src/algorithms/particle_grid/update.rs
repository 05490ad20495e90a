//! Boxes of one size become points, and points are sorted into cells, every frame.

use super::{Options, ParticleGrid, ParticlePhase};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Ball, Real};
use crate::objects::{Frame, Shape};

/// Sizes may differ by this share of the largest, and by what the coordinates can resolve.
const TOLERANCE: f64 = 0.01;

impl<const D: usize, T: Real> ParticlePhase<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        frame.check()?;
        check_shape(frame)?;
        let unchanged = frame.changes.lists_nothing();
        if unchanged && self.grid.is_some() && frame.count() == self.ids.len() {
            return Ok(());
        }
        let radius = common_radius(frame)?;
        let clock = context.clock();
        let mut grid = match self.grid.take() {
            Some(mut grid) => match grid.set_radius(radius) {
                Ok(()) => grid,
                Err(error) => {
                    self.grid = Some(grid);
                    return Err(error);
                }
            },
            None => ParticleGrid::new(radius, Options { storage: self.storage, world: self.world, periodic: false })?,
        };
        self.ids.clear();
        self.ids.extend(frame.ids());
        self.centers.clear();
        self.centers.extend(self.ids.iter().map(|&id| Ball::of_box(&frame.boxes[id as usize]).center));
        let built = grid.build(&self.centers, context);
        self.grid = Some(grid);
        self.dirty = true;
        context.record("sort", clock);
        built
    }
}

/// Do boxes stand for balls?
pub(super) fn check_shape<const D: usize, T: Real>(frame: &Frame<'_, D, T>) -> Result<(), Error> {
    match frame.shape {
        Shape::Ball => Ok(()),
        _ => Err(Error::Unsuited { algorithm: "particle-grid", reason: "it needs the shape ball" }),
    }
}

/// The largest radius, if all sides of all boxes are the same but for rounding.
pub(super) fn common_radius<const D: usize, T: Real>(frame: &Frame<'_, D, T>) -> Result<T, Error> {
    let (mut least, mut most, mut largest) = (f64::INFINITY, 0.0f64, 0.0f64);
    for id in frame.ids() {
        let value = &frame.boxes[id as usize];
        for k in 0..D {
            let side = (value.max[k] - value.min[k]).to_f64();
            least = least.min(side);
            most = most.max(side);
            largest = largest.max(value.min[k].to_f64().abs()).max(value.max[k].to_f64().abs());
        }
    }
    let grain = largest * if T::KEY_BITS == 32 { (-21f64).exp2() } else { (-50f64).exp2() };
    if !most.is_finite() || !(most + largest).is_finite() || most - least.min(most) > TOLERANCE * most + grain {
        return Err(Error::Unsuited { algorithm: "particle-grid", reason: "its boxes must be cubes of one size" });
    }
    // Half of the largest side, rounded up.
    Ok(T::from_f64(most * 0.5).next_up())
}
