//! How a row is driven: frame after frame on one structure, or by one of the other ways in which users call the library.
//!
//! | drive | what is timed |
//! | --- | --- |
//! | `step` | one structure over all frames, the same bare array each time |
//! | `world` | `World`: each object whose box differs from the last frame is set by its handle, then `update` with started and ended pairs |
//! | `oneshot` | one call on the bare array in each frame; nothing is kept |
//! | `between` | one call on two arrays: objects with even numbers against those with odd ones |
//! | `statics` | as `world`; objects that stand still over the whole run are static, and only the others are compared and set |
//!
//! Peers are driven in the same ways. A peer of `world` and `statics` is one structure over all frames, which gets the boxes of a frame and
//! returns its pairs: it reports no events, and its boxes are not set one by one. A peer of `oneshot` and `between` is created again for each
//! frame. For two sets and static objects it uses what the library offers (two trees, two ranges, groups of proxies); if there is nothing, its
//! pairs are filtered inside the timed frame.
//!
//! Pairs are reported by the objects' own numbers, whatever ids the drive uses, so that rows of a drive can be compared.

use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use broadphase::{Aabb, Context, Error, Handle, Object, Pair, Real, Regions, Search, Shape, Spec, World};
use broadphase_peers::Groups;

use super::measure::{Timing, timed};
use super::rows::{Facts, Refusal, RowRunner, Theirs};

/// A way to drive a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drive {
    /// Frame after frame on one structure.
    #[default]
    Step,
    /// Through `World`.
    World,
    /// One call for each frame.
    Oneshot,
    /// Two arrays.
    Between,
    /// Through `World`, with static objects.
    Statics,
}

impl Drive {
    /// All of them.
    pub const ALL: [Drive; 5] = [Drive::Step, Drive::World, Drive::Oneshot, Drive::Between, Drive::Statics];

    /// Its name in options and results.
    pub fn name(self) -> &'static str {
        match self {
            Drive::Step => "step",
            Drive::World => "world",
            Drive::Oneshot => "oneshot",
            Drive::Between => "between",
            Drive::Statics => "statics",
        }
    }
}

impl fmt::Display for Drive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Drive {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|drive| drive.name() == name).ok_or(())
    }
}

/// Which of all pairs a drive reports.
#[derive(Clone, Debug)]
pub enum Scope {
    /// Every one.
    All,
    /// Those of an even and an odd number.
    Between,
    /// Those with an object that moves; true for objects that stand still.
    NotStill(Rc<Vec<bool>>),
}

impl Scope {
    /// Is a pair reported?
    pub fn holds(&self, pair: &Pair) -> bool {
        match self {
            Scope::All => true,
            Scope::Between => (pair.a ^ pair.b) & 1 == 1,
            Scope::NotStill(still) => !(still[pair.a as usize] && still[pair.b as usize]),
        }
    }
}

/// A row that is driven otherwise than by `step`.
pub fn runner<const D: usize, T: Real>(
    drive: Drive,
    spec: &Spec,
    context: Context,
    shape: Shape,
    scope: &Scope,
) -> Result<Box<dyn RowRunner<D, T>>, Error> {
    let gauge = context.clone(); // clones of a context count together
    let still = match scope {
        Scope::NotStill(still) => Some(Rc::clone(still)),
        _ => None,
    };
    Ok(match drive {
        Drive::World | Drive::Statics => {
            let mut world = World::new();
            world.set_context(context.with_kernels(spec.kernels()));
            world.set_algorithm(spec)?;
            world.set_static_algorithm(spec)?;
            world.set_world_shape(shape);
            Box::new(ThroughWorld {
                world,
                gauge,
                handles: Vec::new(),
                ids: Vec::new(),
                last: Vec::new(),
                movers: Vec::new(),
                still,
            })
        }
        Drive::Step | Drive::Oneshot | Drive::Between => {
            spec.build::<D, T>()?; // an algorithm that does not suit is rejected before the first frame
            let split = drive == Drive::Between;
            let threads = context.width();
            Box::new(OneCall { spec: spec.clone(), threads, shape, split, even: Vec::new(), odd: Vec::new(), pairs: Vec::new() })
        }
    })
}

/// A peer, driven this way, over `n` objects.
pub fn peer<const D: usize, T: Real>(drive: Drive, peer: Theirs<D, T>, scope: &Scope, n: usize) -> Theirs<D, T> {
    let peer = match scope {
        Scope::All => peer,
        Scope::Between => peer.with_groups(Groups::two_sets((0..n).map(|id| id % 2 == 1).collect())),
        Scope::NotStill(still) => peer.with_groups(Groups::scenery(still.to_vec())),
    };
    match drive {
        Drive::Step | Drive::World | Drive::Statics => peer,
        Drive::Oneshot | Drive::Between => peer.fresh(),
    }
}

/// A world whose objects follow the frames.
struct ThroughWorld<const D: usize, T: Real> {
    world: World<D, T>,
    /// Measures the parallel regions of the world's frames.
    gauge: Context,
    handles: Vec<Handle>,
    /// The object of each handle's index.
    ids: Vec<u32>,
    last: Vec<Aabb<D, T>>,
    /// Objects that are static, if any are.
    still: Option<Rc<Vec<bool>>>,
    /// The others, if any are static: a caller does not look at static objects, and keeps what it knows of the others side by side.
    movers: Vec<Mover<D, T>>,
}

/// What a caller keeps of an object that moves among static ones.
struct Mover<const D: usize, T> {
    id: u32,
    handle: Handle,
    last: Aabb<D, T>,
}

impl<const D: usize, T: Real> ThroughWorld<D, T> {
    /// Brings the world to this frame.
    fn set(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), Error> {
        if self.handles.len() != boxes.len() {
            let object = |(id, &aabb): (usize, &Aabb<D, T>)| match &self.still {
                Some(still) if still[id] => Object::fixed(aabb),
                _ => Object::new(aabb),
            };
            let objects: Vec<Object<D, T>> = boxes.iter().enumerate().map(object).collect();
            self.handles = self.world.insert_many(&objects)?;
            if let Some(still) = &self.still {
                let movers = self.handles.iter().zip(boxes).enumerate().filter(|&(id, _)| !still[id]);
                self.movers = movers.map(|(id, (&handle, &last))| Mover { id: id as u32, handle, last }).collect();
            } else {
                self.last = boxes.to_vec();
            }
            return Ok(());
        }
        for Mover { id, handle, last } in &mut self.movers {
            let now = &boxes[*id as usize];
            if now != last {
                self.world.set_box(*handle, *now)?;
                *last = *now;
            }
        }
        for ((now, last), &handle) in boxes.iter().zip(&mut self.last).zip(&self.handles) {
            if now != last {
                self.world.set_box(handle, *now)?;
                *last = *now;
            }
        }
        Ok(())
    }
}

impl<const D: usize, T: Real> RowRunner<D, T> for ThroughWorld<D, T> {
    fn frame(&mut self, boxes: &[Aabb<D, T>]) -> Result<Timing, Refusal> {
        self.gauge.clear_stages();
        let mut timing = timed(
            self,
            |this| this.set(boxes),
            |this| {
                let update = this.world.update()?;
                std::hint::black_box((update.started().len(), update.ended().len()));
                Ok::<(), Error>(())
            },
        )?;
        if self.world.context().width() > 1 {
            (timing.cpu, timing.cpu_update) = (None, None); // the calling thread's time is not the whole
        }
        if self.ids.len() < self.handles.len() {
            let most = self.handles.iter().map(|handle| handle.index as usize + 1).max().unwrap_or(0);
            self.ids.resize(most, 0);
            self.handles.iter().enumerate().for_each(|(id, handle)| self.ids[handle.index as usize] = id as u32);
        }
        Ok(timing)
    }

    fn visit(&self, visit: &mut dyn FnMut(&[Pair])) {
        let id = |handle: Handle| self.ids[handle.index as usize];
        let pairs: Vec<Pair> = self.world.pairs().map(|(a, b)| Pair::new(id(a), id(b))).collect();
        visit(&pairs);
    }

    fn tests(&self) -> Option<u64> {
        Some(self.world.tests())
    }

    fn regions(&self) -> Option<Regions> {
        self.gauge.regions()
    }

    fn facts(&self) -> Facts {
        let stats = self.world.stats();
        Facts { bytes: Some(stats.bytes()), choice: stats.choice, extra: Vec::new() }
    }
}

/// One call for each frame, on one array or on two.
struct OneCall<const D: usize, T> {
    spec: Spec,
    threads: usize,
    shape: Shape,
    /// Two arrays?
    split: bool,
    even: Vec<Aabb<D, T>>,
    odd: Vec<Aabb<D, T>>,
    /// By the objects' own numbers.
    pairs: Vec<Pair>,
}

impl<const D: usize, T: Real> RowRunner<D, T> for OneCall<D, T> {
    fn frame(&mut self, boxes: &[Aabb<D, T>]) -> Result<Timing, Refusal> {
        if self.split {
            // Dividing the array is not timed: the users of this drive have two arrays.
            self.even.clear();
            self.even.extend(boxes.iter().step_by(2));
            self.odd.clear();
            self.odd.extend(boxes.iter().skip(1).step_by(2));
        }
        let mut timing = timed(
            self,
            |_| Ok(()),
            |this| {
                let search = if this.split { Search::between(&this.even, &this.odd) } else { Search::new(boxes) };
                let search = search.algorithm(this.spec.clone()).shape(this.shape);
                let search = if this.threads > 1 { search.workers(this.threads)? } else { search };
                let found = search.list()?;
                this.pairs = found;
                Ok::<(), Error>(())
            },
        )?;
        if self.threads > 1 {
            (timing.cpu, timing.cpu_update) = (None, None);
        }
        if self.split {
            self.pairs.iter_mut().for_each(|pair| *pair = Pair::new(2 * pair.a, 2 * pair.b + 1));
        }
        Ok(timing)
    }

    fn visit(&self, visit: &mut dyn FnMut(&[Pair])) {
        visit(&self.pairs);
    }

    fn facts(&self) -> Facts {
        Facts::default()
    }
}
