//! The grid itself: points and one radius, in any number of dimensions.

use std::sync::Mutex;

use super::space::{Space, extent, in_range, world_around};
use super::{Hash, neighbors::NeighborLists};
use crate::algorithms::common::{is_too_large, too_many_outside};
use crate::context::Context;
use crate::error::{BoxFault, Error};
use crate::geometry::{Aabb, Real};
use crate::kernels::ball_runs::Points;
use crate::objects::MAX_OBJECTS;
use crate::pairs::{PairStore, Revision};

/// Particles per job of the pass that finds cells.
const PER_JOB: usize = 1 << 14;
/// Particles per group to aim at, and the most groups, as bits: a sort with more would miss the cache itself.
const PER_GROUP: usize = 1024;
const MOST_GROUP_BITS: u32 = 12;

/// Where slices are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Storage {
    /// One slot per cell of a bounded world; particles outside belong to the cells at the border.
    #[default]
    Dense,
    /// A hash table, for space without an end.
    Hashed {
        /// The hash function.
        hash: Hash,
        /// The size of the table; if not given, at least two slots per particle, a power of two if the function suits it.
        slots: Option<usize>,
    },
}

/// The parameters of a [`ParticleGrid`].
#[derive(Clone, Debug, PartialEq)]
pub struct Options<const D: usize, T> {
    /// Where slices are looked up.
    pub storage: Storage,
    /// The world of a dense or periodic grid, which then stays. If not given, a dense grid takes the extent of the particles and a tenth
    /// of it on each side, in the first build and again when many particles have left it or they fill only a part of it.
    pub world: Option<Aabb<D, T>>,
    /// Does the world repeat on all sides? Distances are then those to the nearest image.
    pub periodic: bool,
}

impl<const D: usize, T> Default for Options<D, T> {
    fn default() -> Self {
        Self { storage: Storage::Dense, world: None, periodic: false }
    }
}

/// Particles of one radius in cells as wide as they are: points in, pairs and neighbors out. Any dimension.
///
/// The grid keeps indices into the caller's points; every call borrows the points, and a search copies them into buffers, cell by cell.
/// Two particles are neighbors if
/// `dx*dx + dy*dy ... <= (2 * radius)^2`, evaluated in `T`, left to right.
///
/// ```
/// use broadphase::algorithms::particle_grid::{Options, ParticleGrid};
/// use broadphase::{Context, PairStore};
/// let points = [[0.0, 0.0], [0.9, 0.0], [5.0, 5.0]];
/// let mut grid = ParticleGrid::new(0.5, Options::default())?;
/// let (context, mut pairs) = (Context::new(), PairStore::default());
/// grid.build(&points, &context)?;
/// grid.pairs(&points, &context, &mut pairs)?;
/// assert_eq!(pairs.len(), 1);
/// let mut near = Vec::new();
/// grid.for_each_neighbor(&points, 1, |other| near.push(other));
/// assert_eq!(near, [0]);
/// # Ok::<(), broadphase::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ParticleGrid<const D: usize, T: Real> {
    pub(super) radius: T,
    options: Options<D, T>,
    /// The world of a dense or periodic grid, as given or as last fitted.
    world: Option<Aabb<D, f64>>,
    pub(super) space: Space<D>,
    /// `order[starts[s]..starts[s + 1]]` are the particles of slot s; behind the last slot a sentinel, and more of it for the
    /// runs that end there.
    pub(super) starts: Vec<u32>,
    pub(super) order: Vec<u32>,
    /// Of a hashed grid: all particles, block of cells by block of cells, the order in which they search. A hash function scatters
    /// neighbors over the table; following the table would touch a new cache line at every step. Empty if slots are in order.
    pub(super) route: Vec<u32>,
    pub(super) ahead: Vec<u32>,
    pub(super) scratch: Scratch<D, T>,
}

/// Buffers that can be dropped without changing a result.
#[derive(Debug, Default)]
pub(super) struct Scratch<const D: usize, T> {
    /// The slot of each particle, by job; then its group.
    slots: Vec<Mutex<Vec<u32>>>,
    /// The start of each group.
    groups: Vec<u32>,
    pub(super) sorted: Points<D, T>,
    /// Points with their indices, slice by slice: one cache line for a look, where an index would lead to two more.
    pub(super) items: Vec<([T; D], u32)>,
}

impl<const D: usize, T: Real> Clone for Scratch<D, T> {
    /// Scratch is not copied.
    fn clone(&self) -> Self {
        Self { slots: Vec::new(), groups: Vec::new(), sorted: Points::default(), items: Vec::new() }
    }
}

impl<const D: usize, T: Real> ParticleGrid<D, T> {
    /// An empty grid for particles of `radius`.
    pub fn new(radius: T, options: Options<D, T>) -> Result<Self, Error> {
        let unsuited = |reason| Err(Error::Unsuited { algorithm: "particle-grid", reason });
        let reach = radius + radius;
        if !(radius >= T::ZERO && (reach * reach).is_finite()) {
            return unsuited("the radius must be neither negative nor NaN, and its square finite");
        }
        if D == 0 {
            return unsuited("there must be at least one dimension");
        }
        if let Some(world) = &options.world {
            world.check(0)?;
            let side = |k: usize| world.max[k].to_f64() - world.min[k].to_f64();
            if !world.is_finite() || options.periodic && (0..D).any(|k| side(k) == 0.0 || !side(k).is_finite()) {
                return unsuited("the world must be finite and, if it repeats, its sides finite and not zero");
            }
        } else if options.periodic {
            return unsuited("a world that repeats must be given");
        }
        let coordinate = |c: T| if options.periodic { c.to_f64() } else { in_range(c.to_f64()) };
        let world = options.world.map(|world| Aabb { min: world.min.map(coordinate), max: world.max.map(coordinate) });
        let space = Space::new(radius, &options, &world.unwrap_or_else(|| world_around(&Aabb::empty())), 0, 0.0);
        let scratch = Scratch { slots: Vec::new(), groups: Vec::new(), sorted: Points::default(), items: Vec::new() };
        let [starts, order, route, ahead] = [const { Vec::new() }; 4];
        Ok(Self { radius, options, world, space, starts, order, route, ahead, scratch })
    }

    /// The radius.
    pub fn radius(&self) -> T {
        self.radius
    }

    /// Another radius, from the next [`build`](ParticleGrid::build) on.
    pub fn set_radius(&mut self, radius: T) -> Result<(), Error> {
        let checked = Self::new(radius, self.options.clone())?;
        self.radius = checked.radius;
        Ok(())
    }

    /// Sorts the particles into their cells: to be called when they have moved. On error the grid is unchanged.
    pub fn build(&mut self, points: &[[T; D]], context: &Context) -> Result<(), Error> {
        if points.len() > MAX_OBJECTS {
            return Err(Error::TooManyObjects { count: points.len(), limit: MAX_OBJECTS });
        }
        if let Some(index) = points.iter().position(|point| point.iter().any(|x| x.is_nan())) {
            let axis = points[index].iter().position(|x| x.is_nan()).unwrap_or(0);
            return Err(Error::InvalidBox { index: Some(index), axis, fault: BoxFault::NotANumber });
        }
        let (all, largest) = extent(points);
        if self.is_misfit(&all, points) {
            self.world = Some(world_around(&all));
        }
        let world = self.world.unwrap_or_else(|| world_around(&Aabb::empty()));
        let dims = self.space.dims;
        self.space = Space::new(self.radius, &self.options, &world, points.len(), largest);
        if self.is_in_rows() && (dims != self.space.dims || self.ahead.is_empty()) {
            self.space.list_ahead(&mut self.ahead);
        }
        self.sort(points, context);
        Ok(())
    }

    /// Does a dense grid need another world than it has, for points of this extent?
    fn is_misfit(&self, all: &Aabb<D, f64>, points: &[[T; D]]) -> bool {
        if points.is_empty() || self.options.world.is_some() || self.options.storage != Storage::Dense {
            return false;
        }
        let Some(world) = &self.world else { return true };
        let fitted = world_around(all);
        let side = |of: &Aabb<D, f64>, k: usize| of.max[k] - of.min[k];
        if (0..D).any(|k| is_too_large(side(world, k), side(&fitted, k))) {
            return true;
        }
        let is_inside = |point: &[T; D]| (0..D).all(|k| (world.min[k]..=world.max[k]).contains(&in_range(point[k].to_f64())));
        !world.contains(all) && too_many_outside(points.iter().filter(|point| !is_inside(point)).count(), points.len())
    }

    /// Particles by slot, and by group if slots are scattered.
    fn sort(&mut self, points: &[[T; D]], context: &Context) {
        let Self { space, scratch: Scratch { slots, groups, .. }, starts, order, route, .. } = self;
        let pads = self.ahead.iter().max().map_or(2, |most| *most as usize + 2);
        let jobs = points.len().div_ceil(PER_JOB);
        slots.resize_with(slots.len().max(jobs), Mutex::default);
        list_keys(points, context, slots, |point| space.slot(&space.cell(point)) as u32);
        counting_sort(&mut slots[..jobs], space.slots + 1 + pads, starts, order);
        route.clear();
        if space.is_hashed() {
            let bits = (points.len() / PER_GROUP).max(2).next_power_of_two().ilog2().min(MOST_GROUP_BITS);
            list_keys(points, context, slots, |point| space.group(&space.cell(point), bits));
            counting_sort(&mut slots[..jobs], (1 << bits) + 1, groups, route);
        }
    }

    /// The particles in the order in which they search, which is cut into chunks.
    pub(super) fn searchers(&self) -> &[u32] {
        if self.space.is_hashed() { &self.route } else { &self.order }
    }

    /// Are the slots rows of cells, so that neighbors are runs?
    pub(super) fn is_in_rows(&self) -> bool {
        !self.space.is_hashed() && !self.space.periodic
    }

    /// The particles of a slot.
    #[inline(always)]
    pub(super) fn slice(&self, slot: usize) -> &[u32] {
        &self.order[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }

    /// All pairs of neighbors, each once, smaller index first. `points` are those of the last [`build`](ParticleGrid::build).
    pub fn pairs(&mut self, points: &[[T; D]], context: &Context, out: &mut PairStore) -> Result<(), Error> {
        self.check_built(points)?;
        self.find_pairs(points, context, out).map(|_: Revision| ())
    }

    /// The neighbors of one particle, in no order.
    pub fn for_each_neighbor(&self, points: &[[T; D]], index: usize, mut visit: impl FnMut(u32)) {
        if points.len() == self.order.len() && index < points.len() {
            self.for_each_near(points, index as u32, &mut visit);
        }
    }

    /// All neighbor lists in compressed rows, each ascending: of every particle its neighbors (`half = false`), or only those
    /// with a larger index.
    pub fn neighbor_lists(
        &mut self,
        points: &[[T; D]],
        half: bool,
        context: &Context,
        out: &mut NeighborLists,
    ) -> Result<(), Error> {
        self.check_built(points)?;
        let mut pairs = PairStore::default();
        self.find_pairs(points, context, &mut pairs)?;
        out.fill(points.len(), &pairs, half);
        Ok(())
    }

    fn check_built(&self, points: &[[T; D]]) -> Result<(), Error> {
        if points.len() == self.order.len() {
            return Ok(());
        }
        Err(Error::InvalidFrame { index: points.len().min(self.order.len()), reason: "build the grid from these points first" })
    }

    /// The bytes it holds.
    pub fn bytes(&self) -> usize {
        let list = |list: &Mutex<Vec<u32>>| list.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).capacity() * 4;
        let slots: usize = self.scratch.slots.iter().map(|l| list(l) + size_of::<Mutex<Vec<u32>>>()).sum();
        let lists = [&self.starts, &self.order, &self.route, &self.ahead, &self.scratch.groups].map(Vec::capacity);
        let items = self.scratch.items.capacity() * size_of::<([T; D], u32)>();
        lists.iter().sum::<usize>() * 4 + self.scratch.sorted.bytes() + items + slots
    }
}

/// Fills the lists, one per job, with the key of each point.
fn list_keys<const D: usize, T: Real>(
    points: &[[T; D]],
    context: &Context,
    lists: &[Mutex<Vec<u32>>],
    key: impl Fn(&[T; D]) -> u32 + Sync,
) {
    context.run_weighted(points.len().div_ceil(PER_JOB), 5 * points.len(), |job, _| {
        let mut list = lists[job].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        list.clear();
        let end = ((job + 1) * PER_JOB).min(points.len());
        list.extend(points[job * PER_JOB..end].iter().map(&key));
    });
}

/// Indices by key, ascending for equal keys: how many there are of each, the first places, then each index to its place. `starts` has
/// `size` entries, more than there are keys.
fn counting_sort(lists: &mut [Mutex<Vec<u32>>], size: usize, starts: &mut Vec<u32>, order: &mut Vec<u32>) {
    starts.clear();
    starts.resize(size, 0);
    let mut count = 0;
    for list in &mut *lists {
        let list = list.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        count += list.len();
        list.iter().for_each(|&key| starts[key as usize] += 1);
    }
    let mut total = 0;
    for start in &mut *starts {
        total += *start;
        *start = total; // the end of the slice for now; filling it from behind turns it into the start
    }
    order.clear();
    order.resize(count, 0);
    let mut index = count as u32;
    for list in lists.iter_mut().rev() {
        for &key in list.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).iter().rev() {
            index -= 1;
            let start = &mut starts[key as usize];
            *start -= 1;
            order[*start as usize] = index;
        }
    }
}
