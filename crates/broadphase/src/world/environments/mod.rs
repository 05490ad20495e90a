//! Separate structures for environments: thousands of simulations in one world, at the same coordinates.
//!
//! # The structure
//! Objects of different environments never pair, so they are separated: each environment is a *group* with compact boxes of its own
//! and a structure of its own, of the world's algorithm. The first group is environment 0, which pairs with all others: its objects
//! are probed against every other group, or the other way around, whichever are fewer. A group's pairs are a chunk.
//!
//! # Consequences
//! The positions of environments do not matter: at the same place they cost as much as far apart. Groups are independent, so threads
//! take them one by one; a group whose objects did not change keeps its chunk.
//!
//! # Cost
//! That of the groups' structures, and a copy of the boxes. Bad cases: an environment 0 that has most of the objects
//! ([`is_worth_separating`] is false), one environment with more objects than all others together (a group is one job), and objects that are
//! inserted, removed or change their environment: all groups are then rebuilt, though their structures are kept.

mod groups;
mod pairs;
mod query;

use std::sync::RwLock;

use crate::algorithms::{BroadPhase, Probes, Query, Region, Spec, Stats, Strength, Violation, ensure};
use crate::buffer_pool::BufferPool;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::{Changes, Frame, Shape};
use crate::pairs::{Pair, PairStore, Report, Revision};

/// Does it pay to separate environments? `environments` counts those except 0, `others` the objects in them; `apart` is whether they are separated now.
/// While they are, environment 0 may have half of all objects, otherwise a quarter, so that the answer does not flip.
pub(super) fn is_worth_separating(environments: usize, others: usize, all: usize, apart: bool) -> bool {
    let zero = all - others;
    environments >= 2 && zero * (if apart { 2 } else { 4 }) <= all
}

/// One structure per environment. See the module documentation.
pub(super) struct Environments<const D: usize, T: Real> {
    spec: Spec,
    /// Environment 0 first, then ascending.
    groups: Vec<RwLock<Group<D, T>>>,
    /// By slot: the group, and the number in it; anything for empty slots.
    places: Vec<(u32, u32)>,
    revision: Revision,
    /// Buffers for probes; they can be dropped without changing a result.
    scratch: BufferPool<pairs::ProbeScratch<D, T>>,
}

/// The objects of one environment.
#[derive(Clone)]
struct Group<const D: usize, T: Real> {
    env: u32,
    /// Slots in the world, ascending; an object's number in the group is its position here.
    slots: Vec<u32>,
    boxes: Vec<Aabb<D, T>>,
    structure: Box<dyn BroadPhase<D, T>>,
    context: Context,
    /// The pairs among its objects, as numbers in the group.
    own: PairStore,
    /// Pairs of an object of environment 0 and one of this group, as slots, and the results of the probes for them. Scratch.
    cross: Vec<Pair>,
    raw: PairStore,
    /// The tests for `cross`.
    cross_tests: u64,
    /// What changed, as numbers in the group, unless everything did; for the next update of the structure.
    moved: Vec<u32>,
    changed: Changed,
    /// Did anything change since the last pairs?
    touched: bool,
    /// Do all its objects have the default tag, apart from the environment?
    plain: bool,
    shape: Shape,
}

/// What changed in a group since its structure was last updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Changed {
    /// What `moved` lists, which may be nothing.
    Listed,
    /// Possibly every box, but no object was inserted or removed.
    Boxes,
    /// Everything.
    All,
}

impl<const D: usize, T: Real> Group<D, T> {
    fn new(env: u32, spec: &Spec) -> Result<Self, Error> {
        Ok(Self {
            env,
            slots: Vec::new(),
            boxes: Vec::new(),
            structure: spec.build()?,
            context: Context::new(),
            own: PairStore::new(Report::All),
            cross: Vec::new(),
            raw: PairStore::new(Report::All),
            cross_tests: 0,
            moved: Vec::new(),
            changed: Changed::All,
            touched: true,
            plain: true,
            shape: Shape::Box,
        })
    }

    /// Its objects as a frame in which nothing changed.
    fn frame(&self) -> Frame<'_, D, T> {
        let changes = Changes::Listed { moved: &[], inserted: &[], removed: &[] };
        Frame { shape: self.shape, ..Frame::new(&self.boxes).with_changes(changes) }
    }

    /// Updates the structure with what changed.
    fn update_structure(&mut self, context: &Context) -> Result<(), Error> {
        let changes = match self.changed {
            Changed::Listed if self.moved.is_empty() => return Ok(()),
            Changed::Listed => Changes::Listed { moved: &self.moved, inserted: &[], removed: &[] },
            Changed::Boxes => Changes::Unknown,
            Changed::All => Changes::All,
        };
        let frame = Frame { shape: self.shape, ..Frame::new(&self.boxes).with_changes(changes) };
        self.context.set_kernels(context.kernels());
        self.structure.update(&frame, &mut self.context)?;
        self.moved.clear();
        self.changed = Changed::Listed;
        Ok(())
    }
}

fn read<G>(group: &RwLock<G>) -> std::sync::RwLockReadGuard<'_, G> {
    group.read().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn write<G>(group: &RwLock<G>) -> std::sync::RwLockWriteGuard<'_, G> {
    group.write().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn open<G>(group: &mut RwLock<G>) -> &mut G {
    group.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl<const D: usize, T: Real> Environments<D, T> {
    /// No objects yet.
    pub(super) fn new(spec: &Spec) -> Result<Self, Error> {
        let zero = Group::new(0, spec)?;
        Ok(Self {
            spec: spec.clone(),
            groups: vec![RwLock::new(zero)],
            places: Vec::new(),
            revision: Revision::default(),
            scratch: BufferPool::default(),
        })
    }
}

impl<const D: usize, T: Real> BroadPhase<D, T> for Environments<D, T> {
    fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        self.update_groups(frame, context)
    }

    fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        self.find(frame, context, out)
    }

    fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        self.join_probes(frame, probes, None, context, out)
    }

    fn probe_envs(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        envs: &[u32],
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        self.join_probes(frame, probes, Some(envs), context, out)
    }

    fn reader(&self) -> Option<&dyn Query<D, T>> {
        Some(self)
    }

    fn outline(&self, _frame: &Frame<'_, D, T>, visit: &mut dyn FnMut(Region<D, T>)) {
        for group in &self.groups {
            let group = read(group);
            group.structure.outline(&group.frame(), visit);
        }
    }

    fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let mut count = 0;
        for (number, group) in self.groups.iter().enumerate() {
            let group = read(group);
            count += group.slots.len();
            ensure!((group.env == 0) == (number == 0), "group {number} is environment {}", group.env);
            ensure!(group.slots.is_sorted(), "the slots of environment {} do not ascend", group.env);
            ensure!(group.slots.len() == group.boxes.len(), "environment {} has another number of boxes", group.env);
            for (local, &slot) in group.slots.iter().enumerate() {
                ensure!(frame.live.contains(slot), "slot {slot} of environment {} is empty", group.env);
                ensure!(self.places[slot as usize] == (number as u32, local as u32), "slot {slot} is said to be elsewhere");
                let env = frame.tags.map_or(0, |tags| tags[slot as usize].env);
                ensure!(env == group.env, "slot {slot} of environment {env} is in environment {}", group.env);
                ensure!(frame.boxes[slot as usize] == group.boxes[local], "slot {slot} has another box");
            }
            group.structure.validate(&group.frame(), strength)?;
        }
        ensure!(count == frame.count(), "{count} objects in all environments, {} in the frame", frame.count());
        Ok(())
    }

    fn stats(&self) -> Stats {
        let mut bytes = self.places.capacity() * 8 + self.groups.capacity() * size_of::<RwLock<Group<D, T>>>();
        let (mut largest, mut choice) = (0, None);
        for group in &self.groups {
            let group = read(group);
            let stats = group.structure.stats();
            let boxes = group.boxes.capacity() * size_of::<Aabb<D, T>>();
            let lists = (group.slots.capacity() + group.moved.capacity()) * 4;
            let cross = group.cross.capacity() * size_of::<Pair>() + group.raw.bytes();
            bytes += stats.bytes + boxes + lists + group.own.bytes() + cross;
            if group.slots.len() >= largest {
                (largest, choice) = (group.slots.len(), stats.choice);
            }
        }
        let environments = self.groups.len() - 1;
        let choice = choice.unwrap_or_else(|| self.spec.to_string());
        Stats {
            bytes,
            choice: Some(format!("{environments} environments apart, the largest: {choice}")),
            extra: vec![("environments", environments as f64)],
        }
    }

    fn boxed_clone(&self) -> Box<dyn BroadPhase<D, T>> {
        let groups = self.groups.iter().map(|group| RwLock::new(read(group).clone())).collect();
        // Revisions are shared with clones of the stores that they name.
        Box::new(Self {
            spec: self.spec.clone(),
            groups,
            places: self.places.clone(),
            revision: self.revision,
            scratch: BufferPool::default(),
        })
    }
}
