//! One rank's part of a broad phase over many ranks: its objects, and its information about the others.

use std::collections::BTreeMap;

use broadphase::{Aabb, BoxFault, Context, Pair, PairStore, Real, Spec};

use crate::bounds::Bounds;
use crate::collective::{self, Call};
use crate::cross::Cross;
use crate::error::Error;
use crate::ghosts::{Incoming, Outgoing};
use crate::local::Local;
use crate::near::Near;
use crate::options::Options;
use crate::pairs::CrossPair;
use crate::select::Selection;
use crate::slots::Slots;
use crate::stats::{Stages, Traffic};
use crate::table::Neighbor;
use crate::transport::{Gathered, Transport, all_gather};
use crate::wide::WideGhosts;
use crate::wire::put;

/// One rank's part of a broad phase over many ranks.
///
/// Each rank passes its own boxes, in any decomposition: disjoint, overlapping, random, everything on one rank, nothing on others. After
/// [`update`](Distributed::update) it has the pairs of its own objects ([`local_pairs`](Distributed::local_pairs)) and those with
/// objects of other ranks ([`cross_pairs`](Distributed::cross_pairs)).
///
/// [`new`](Distributed::new), [`update`](Distributed::update), [`migrate`](Distributed::migrate) and [`plan`](Distributed::plan) are *collective*: all
/// ranks call them, in the same order. The other methods concern this rank alone.
///
/// ```
/// use broadphase::Aabb;
/// use broadphase_mpi::{Distributed, Options, Threads};
/// // Two ranks as threads; with MPI: Distributed::new(Mpi::world()?, ...).
/// let found = Threads::run(2, |transport| {
///     let rank = broadphase_mpi::Transport::rank(&transport);
///     let mut space = Distributed::<2, f64, _>::new(transport, Options::default())?;
///     let x = rank as f64 * 1.5;
///     space.insert(100 + rank as u64, Aabb::new([x, 0.0], [x + 2.0, 2.0]))?;
///     space.update()?;
///     Ok::<_, broadphase_mpi::Error>(space.cross_pairs().to_vec())
/// });
/// let pair = found[0].as_ref().unwrap()[0]; // the lower rank reports it
/// assert_eq!((pair.local, pair.rank, pair.remote, pair.remote_id), (0, 1, 0, 101));
/// ```
///
/// # Cost
/// See the [table of costs](crate#cost); [`update`](Distributed::update) lists the steps of a frame.
#[derive(Debug)]
pub struct Distributed<const D: usize, T: Real, C> {
    pub(crate) transport: C,
    pub(crate) options: Options,
    pub(crate) context: Context,
    pub(crate) objects: Slots<D, T, u64>,
    /// What is wrong with the list of boxes that was passed last; the next collective call reports it to all ranks.
    pub(crate) fault: Option<String>,
    pub(crate) bounds: Bounds<D, T>,
    pub(crate) selection: Selection<D, T>,
    /// By rank, ascending.
    pub(crate) links: BTreeMap<usize, Link<D, T>>,
    pub(crate) neighbors: Vec<Neighbor>,
    /// The boxes of neighbors that reach this rank's objects.
    pub(crate) near: Vec<Near<D, T>>,
    /// By rank; empty if a rank has sent none.
    pub(crate) domains: Vec<Vec<Aabb<D, T>>>,
    /// Has this rank's domain been set since it was last sent?
    pub(crate) domain_changed: bool,
    /// Did any rank send a new domain in the last update?
    pub(crate) domains_changed: bool,
    /// `None` until the first update; for a hash grid, until its cell size is known.
    pub(crate) local: Option<Local<D, T>>,
    pub(crate) cross: Cross<D, T>,
    pub(crate) wide: WideGhosts<D, T>,
    pub(crate) results: Results,
    pub(crate) table: Gathered,
    pub(crate) stages: Stages,
    pub(crate) traffic: Traffic,
}

/// The ghosts that two ranks hold of each other.
#[derive(Debug)]
pub(crate) struct Link<const D: usize, T: Real> {
    pub(crate) outgoing: Outgoing<D, T>,
    pub(crate) outgoing_wide: Outgoing<D, T>,
    pub(crate) incoming: Incoming,
    pub(crate) incoming_wide: Incoming,
}

impl<const D: usize, T: Real> Default for Link<D, T> {
    fn default() -> Self {
        Self {
            outgoing: Outgoing::default(),
            outgoing_wide: Outgoing::default(),
            incoming: Incoming::default(),
            incoming_wide: Incoming::default(),
        }
    }
}

/// Pairs with objects of other ranks.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) pairs: Vec<CrossPair>,
    /// The pairs of the last frame, sorted, if events are wanted; else empty.
    pub(crate) last: Vec<CrossPair>,
    pub(crate) started: Vec<CrossPair>,
    pub(crate) ended: Vec<CrossPair>,
}

/// # Start
impl<const D: usize, T: Real, C: Transport> Distributed<D, T, C> {
    /// Joins the job. Collective.
    ///
    /// # Errors
    /// [`Error::Mismatch`], on all ranks, if one differs from rank 0 in version, dimension, scalar or options; [`Error::Rank`], on all ranks, if one
    /// cannot build its algorithm; [`Error::Transport`].
    pub fn new(mut transport: C, options: Options) -> Result<Self, Error> {
        let size = transport.size();
        let built = options.algorithm.build::<D, T>().and_then(|_| Spec::default().build::<D, T>());
        let fault = built.as_ref().err().map(ToString::to_string);
        let mut message = Vec::new();
        collective::head(&mut message, Call::Start, fault.as_deref());
        if fault.is_none() {
            put(&mut message, identity::<D, T>(&options).as_bytes());
        }
        let mut table = Gathered::default();
        all_gather(&mut transport, &message, &mut table)?;
        collective::check(&table, Call::Start)?;
        for other in 1..size {
            if table.of(other) != table.of(0) {
                let text = |rank: usize| String::from_utf8_lossy(table.of(rank).get(8..).unwrap_or(&[])).into_owned();
                return Err(Error::Mismatch { rank: other, found: text(other), expected: text(0) });
            }
        }
        let most = 1 << options.boxes.clamp(1, 64).ilog2();
        Ok(Self {
            transport,
            context: options.context.clone(),
            objects: Slots::default(),
            fault: None,
            bounds: Bounds::new(most),
            selection: Selection::new(),
            links: BTreeMap::new(),
            neighbors: Vec::new(),
            near: Vec::new(),
            domains: vec![Vec::new(); size],
            domain_changed: false,
            domains_changed: false,
            local: None,
            cross: Cross::new(built?, options.pair_limit),
            wide: WideGhosts::default(),
            results: Results::default(),
            table,
            stages: Stages::default(),
            traffic: Traffic::default(),
            options,
        })
    }

    /// This rank's number, from 0.
    pub fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.transport.size()
    }

    /// The options it was started with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Leaves the job, and gives the transport back.
    pub fn into_transport(self) -> C {
        self.transport
    }

    /// The transport, for messages of the caller's own between collective calls.
    pub fn transport_mut(&mut self) -> &mut C {
        &mut self.transport
    }
}

/// What must be the same on all ranks.
fn identity<const D: usize, T: Real>(options: &Options) -> String {
    let Options { reporting, events, algorithm, boxes, .. } = options;
    let order = if cfg!(target_endian = "little") { "little" } else { "big" };
    format!(
        "broadphase-mpi {}, {D}D, {}, {order}-endian, {algorithm}, reporting {reporting:?}, events {events}, {boxes} boxes",
        env!("CARGO_PKG_VERSION"),
        T::NAME
    )
}

/// # Objects
impl<const D: usize, T: Real, C: Transport> Distributed<D, T, C> {
    /// Adds an object, and returns its index on this rank, which the object keeps until it is removed or migrates. O(1).
    ///
    /// Ids should be unique in the job. They are only reported back: no pair depends on them.
    ///
    /// # Errors
    /// [`Error::Local`] for a box that is not valid, and if the rank has [`MAX_OBJECTS`](broadphase::MAX_OBJECTS) objects already.
    pub fn insert(&mut self, id: u64, aabb: Aabb<D, T>) -> Result<u32, Error> {
        check_box(&aabb, None)?;
        Ok(self.objects.insert(aabb, id)?)
    }

    /// Removes an object. O(1). Its index may be given to another one.
    pub fn remove(&mut self, index: u32) -> Result<(), Error> {
        if self.objects.remove(index) { Ok(()) } else { Err(Error::UnknownObject { index }) }
    }

    /// Moves an object. O(1).
    pub fn set_box(&mut self, index: u32, aabb: Aabb<D, T>) -> Result<(), Error> {
        check_box(&aabb, Some(index as usize))?;
        if self.objects.set_box(index, aabb) { Ok(()) } else { Err(Error::UnknownObject { index }) }
    }

    /// Moves all objects: one box for each index below [`slots`](Distributed::slots); boxes of free indices are ignored.
    ///
    /// # Errors
    /// As for [`assign`](Distributed::assign).
    pub fn set_boxes(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), Error> {
        let expected = self.objects.len();
        if boxes.len() != expected {
            return Err(Error::WrongLength { argument: "boxes", found: boxes.len(), expected });
        }
        let full = self.objects.count() == expected;
        let valid = self.bounds.scan(boxes);
        let bad = |index: usize| !boxes[index].is_valid() && (full || self.objects.is_live(index as u32));
        if !valid && let Some(index) = (0..boxes.len()).find(|&index| bad(index)) {
            return self.refuse(&boxes[index], index);
        }
        self.fault = None;
        self.objects.set_boxes(boxes);
        self.bounds.keep_scan(self.objects.revision());
        Ok(())
    }

    /// Replaces all objects: index `i` has `ids[i]` and `boxes[i]`. An object with the same id at the same index as before is the same object; all
    /// others are new or gone. For callers that keep arrays of their own.
    ///
    /// # Errors
    /// [`Error::WrongLength`]; [`Error::Local`] for a box that is not valid. The objects are then unchanged, and unless a valid list is passed before
    /// it, the next collective call fails with [`Error::Rank`] on all ranks instead of computing with old boxes.
    pub fn assign(&mut self, ids: &[u64], boxes: &[Aabb<D, T>]) -> Result<(), Error> {
        if ids.len() != boxes.len() {
            return Err(Error::WrongLength { argument: "ids", found: ids.len(), expected: boxes.len() });
        }
        let limit = broadphase::MAX_OBJECTS;
        if boxes.len() > limit {
            return Err(broadphase::Error::TooManyObjects { count: boxes.len(), limit }.into());
        }
        if !self.bounds.scan(boxes)
            && let Some(index) = boxes.iter().position(|aabb| !aabb.is_valid())
        {
            return self.refuse(&boxes[index], index);
        }
        self.fault = None;
        self.objects.assign(ids, boxes);
        self.bounds.keep_scan(self.objects.revision());
        Ok(())
    }

    /// The error for a box that is not valid, kept for the next collective call too.
    fn refuse(&mut self, aabb: &Aabb<D, T>, index: usize) -> Result<(), Error> {
        let refused = check_box(aabb, Some(index));
        self.fault = refused.as_ref().err().map(ToString::to_string);
        refused
    }

    /// The box of an object.
    pub fn get_box(&self, index: u32) -> Option<&Aabb<D, T>> {
        self.objects.is_live(index).then(|| &self.objects.boxes()[index as usize])
    }

    /// The global id of an object.
    pub fn id(&self, index: u32) -> Option<u64> {
        self.objects.is_live(index).then(|| self.objects.value(index))
    }

    /// The indices of all objects, ascending.
    pub fn indices(&self) -> impl Iterator<Item = u32> + '_ {
        self.objects.ids()
    }

    /// The number of this rank's objects.
    pub fn len(&self) -> usize {
        self.objects.count()
    }

    /// Has this rank no objects?
    pub fn is_empty(&self) -> bool {
        self.objects.count() == 0
    }

    /// The number of indices given out so far, free ones included.
    pub fn slots(&self) -> usize {
        self.objects.len()
    }

    /// Sets the region of space that this rank owns, as boxes that are half-open on every axis; the next update sends it to all ranks. It only
    /// decides which rank reports a pair, see [`Reporting::Once`](crate::Reporting::Once): objects need not lie in it.
    pub fn set_domain(&mut self, domain: &[Aabb<D, T>]) {
        let rank = self.rank();
        self.domains[rank].clear();
        self.domains[rank].extend_from_slice(domain);
        self.domain_changed = true;
    }
}

/// # Results of the last update
impl<const D: usize, T: Real, C: Transport> Distributed<D, T, C> {
    /// The pairs of this rank's own objects, by index. `None` before the first update, and while no rank has an object from which a hash grid's cell
    /// size could follow.
    pub fn local_pairs(&self) -> Option<&PairStore> {
        self.local.as_ref().map(Local::store)
    }

    /// The pairs of an object of this rank with one of another, in a deterministic order.
    pub fn cross_pairs(&self) -> &[CrossPair] {
        &self.results.pairs
    }

    /// The local pairs that the frame before did not have, sorted; empty unless [`Options::events`].
    pub fn local_started(&self) -> &[Pair] {
        self.local.as_ref().map_or(&[], Local::started)
    }

    /// The local pairs that only the frame before had, sorted; an index may stand for an object that is gone.
    pub fn local_ended(&self) -> &[Pair] {
        self.local.as_ref().map_or(&[], Local::ended)
    }

    /// The entries of [`cross_pairs`](Distributed::cross_pairs) that the frame before did not have, sorted; empty unless [`Options::events`]. A pair
    /// whose object has changed its rank, or that another rank reports from now on, ends here and starts there.
    pub fn cross_started(&self) -> &[CrossPair] {
        &self.results.started
    }

    /// The entries of [`cross_pairs`](Distributed::cross_pairs) that only the frame before had, sorted.
    pub fn cross_ended(&self) -> &[CrossPair] {
        &self.results.ended
    }

    /// Where the CPU time of the last update went.
    pub fn stages(&self) -> &Stages {
        &self.stages
    }

    /// What the last update exchanged.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// The algorithm of this rank's own objects, with what the ranks have agreed on: the base of the paper's hash grid, see [`Options::algorithm`].
    /// `None` as long as [`local_pairs`](Distributed::local_pairs) is.
    pub fn algorithm(&self) -> Option<&Spec> {
        self.local.as_ref().map(Local::algorithm)
    }

    /// The bytes that this rank holds: objects, structures, ghosts, the table of all ranks' boxes; not the messages under way.
    pub fn bytes(&self) -> usize {
        let link = |link: &Link<D, T>| {
            link.outgoing.bytes() + link.outgoing_wide.bytes() + link.incoming.bytes() + link.incoming_wide.bytes()
        };
        let results = &self.results;
        let lists = [&results.pairs, &results.last, &results.started, &results.ended];
        self.objects.bytes()
            + self.bounds.bytes()
            + self.selection.bytes()
            + self.links.values().map(link).sum::<usize>()
            + self.local.as_ref().map_or(0, Local::bytes)
            + self.cross.bytes()
            + self.wide.bytes()
            + self.table.bytes()
            + lists.into_iter().map(|list| list.capacity() * size_of::<CrossPair>()).sum::<usize>()
            + self.domains.iter().map(|domain| size_of::<Vec<u8>>() + domain.capacity() * size_of::<Aabb<D, T>>()).sum::<usize>()
    }
}

fn check_box<const D: usize, T: Real>(aabb: &Aabb<D, T>, index: Option<usize>) -> Result<(), Error> {
    let fault = |(axis, fault): (usize, BoxFault)| Error::Local(broadphase::Error::InvalidBox { index, axis, fault });
    aabb.fault().map_or(Ok(()), |found| Err(fault(found)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Threads;

    #[test]
    fn another_version_is_refused_at_the_start_and_both_are_named() {
        let results = Threads::run(2, |mut transport| {
            if transport.rank() == 0 {
                return Distributed::<2, f32, _>::new(transport, Options::default()).map(drop).map_err(|error| error.to_string());
            }
            // What a rank of another version sends.
            let other = identity::<2, f32>(&Options::default()).replace(env!("CARGO_PKG_VERSION"), "0.0.9");
            let mut message = Vec::new();
            collective::head(&mut message, Call::Start, None);
            put(&mut message, other.as_bytes());
            all_gather(&mut transport, &message, &mut Gathered::default()).map_err(|error| error.to_string())
        });
        let text = results[0].as_ref().unwrap_err();
        let expected = concat!("but rank 0 is broadphase-mpi ", env!("CARGO_PKG_VERSION"));
        assert!(text.starts_with("rank 1 is broadphase-mpi 0.0.9, 2D, float32") && text.contains(expected), "{text}");
        assert_eq!(results[1], Ok(()));
    }
}
