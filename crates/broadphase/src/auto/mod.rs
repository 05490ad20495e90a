//! The default: chooses an algorithm, switches when the number of objects calls for it, and reports why.
//!
//! `auto` runs one structure at a time. The choice depends only on the number of objects and on how long ago it switched (`policy.rs`), so it is
//! the same on every machine. The pair store is kept, so started and ended pairs stay correct across a switch.
//!
//! There are two choices: `brute-force` for a few objects and `tiles` for more. `tiles` adapts by itself: to density, by tiles of equal
//! population; to coherence, by patching only what moved.

mod policy;

pub use policy::{Choice, Verdict};

use crate::algorithms::brute_force::BruteForce;
use crate::algorithms::tiles::{Options, Tiles};
use crate::algorithms::{BroadPhase, Probes, Query, Region, Stats, Strength, Violation, assert_dimension};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::{Changes, Frame};
use crate::pairs::PairStore;
use policy::{Decision, decide};

/// A structure that chooses between algorithms. See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Auto<const D: usize, T: Real> {
    current: Current<D, T>,
    verdict: Option<Verdict>,
    frames_since_switch: u32,
}

impl<const D: usize, T: Real> Default for Auto<D, T> {
    fn default() -> Self {
        assert_dimension::<D>();
        Self::of_any_dimension()
    }
}

/// The structure that was chosen. Not boxed, since a switch happens in the middle of a frame, where a refused allocation must be an error, and
/// `Box::new` aborts instead.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // each `Auto` has only one
enum Current<const D: usize, T: Real> {
    BruteForce(BruteForce<D, T>),
    Tiles(Tiles<D, T>),
}

impl<const D: usize, T: Real> Current<D, T> {
    fn new(choice: Choice) -> Self {
        match choice {
            Choice::BruteForce => Self::BruteForce(BruteForce::new()),
            Choice::Tiles => Self::Tiles(Tiles::of_any_dimension(Options::default())),
        }
    }

    fn get(&self) -> &dyn BroadPhase<D, T> {
        match self {
            Self::BruteForce(structure) => structure,
            Self::Tiles(structure) => structure,
        }
    }

    fn get_mut(&mut self) -> &mut dyn BroadPhase<D, T> {
        match self {
            Self::BruteForce(structure) => structure,
            Self::Tiles(structure) => structure,
        }
    }
}

impl<const D: usize, T: Real> Auto<D, T> {
    /// An empty structure.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same where the dimension is checked at run time.
    pub(crate) fn of_any_dimension() -> Self {
        Self { current: Current::new(Choice::BruteForce), verdict: None, frames_since_switch: 0 }
    }

    /// The algorithm that was chosen for the last frame, and why.
    pub fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }

    /// Builds the new structure from the whole frame. On error the old structure is kept. The frame's lists are checked here, because the new
    /// structure does not receive them.
    fn switch(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, verdict: Verdict) -> Result<(), Error> {
        frame.check_lists()?;
        let mut next = Current::new(verdict.choice);
        next.get_mut().update(&frame.with_changes(Changes::All), context)?;
        self.current = next;
        self.frames_since_switch = 0;
        self.verdict = Some(verdict);
        Ok(())
    }
}

impl<const D: usize, T: Real> BroadPhase<D, T> for Auto<D, T> {
    fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        let objects = frame.count();
        match decide(objects, self.verdict.map(|verdict| (verdict.choice, self.frames_since_switch))) {
            Decision::Switch(choice) => self.switch(frame, context, Verdict { choice, objects })?,
            // While a switch is delayed, the verdict keeps the number of objects that it is based on.
            Decision::Delay => self.current.get_mut().update(frame, context)?,
            Decision::Keep => {
                self.current.get_mut().update(frame, context)?;
                self.verdict = self.verdict.map(|verdict| Verdict { objects, ..verdict });
            }
        }
        self.frames_since_switch = self.frames_since_switch.saturating_add(1);
        Ok(())
    }

    fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        self.current.get_mut().pairs(frame, context, out)
    }

    fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        self.current.get().probe(frame, probes, context, out)
    }

    fn reader(&self) -> Option<&dyn Query<D, T>> {
        self.current.get().reader()
    }

    fn outline(&self, frame: &Frame<'_, D, T>, visit: &mut dyn FnMut(Region<D, T>)) {
        self.current.get().outline(frame, visit);
    }

    fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        self.current.get().validate(frame, strength)
    }

    fn stats(&self) -> Stats {
        Stats { choice: self.verdict.map(|verdict| verdict.to_string()), ..self.current.get().stats() }
    }

    fn boxed_clone(&self) -> Box<dyn BroadPhase<D, T>> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aabb, Report, step};

    fn line(n: usize) -> Vec<Aabb<2, f32>> {
        (0..n).map(|i| Aabb::new([i as f32, 0.0], [i as f32 + 1.0, 1.0])).collect()
    }

    #[test]
    fn events_are_correct_across_a_switch_and_only_a_switch_to_brute_force_is_delayed() {
        let (mut auto, mut context, mut store) = (Auto::new(), Context::new(), PairStore::new(Report::Both));
        let mut show = |auto: &mut Auto<2, f32>, n: usize| {
            let boxes = line(n);
            step(auto, &Frame::new(&boxes), &mut context, &mut store).unwrap();
            assert_eq!(store.len(), n as u64 - 1);
            (store.started().len(), store.ended().len(), auto.verdict().unwrap().choice)
        };
        assert_eq!(show(&mut auto, 90), (89, 0, Choice::BruteForce));
        assert_eq!(show(&mut auto, 1000), (910, 0, Choice::Tiles));
        assert_eq!(show(&mut auto, 40), (0, 960, Choice::Tiles));
        for _ in 0..32 {
            show(&mut auto, 40);
        }
        assert_eq!(show(&mut auto, 40), (0, 0, Choice::BruteForce));
        assert_eq!(show(&mut auto, 1000), (960, 0, Choice::Tiles));
    }

    #[test]
    fn a_bad_frame_leaves_the_choice_as_it_was() {
        let (mut auto, mut context) = (Auto::new(), Context::new());
        let mut boxes = line(1000);
        auto.update(&Frame::new(&boxes[..10]), &mut context).unwrap();
        boxes[7].min[0] = f32::NAN;
        assert!(auto.update(&Frame::new(&boxes), &mut context).is_err());
        assert_eq!(auto.verdict().unwrap().choice, Choice::BruteForce);
    }
}
