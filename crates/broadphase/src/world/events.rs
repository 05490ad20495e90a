//! Events: the pairs that started and ended, with both handles, both user data, the value of the pair and the time of the hit.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::World;
use super::rules::Rules;
use super::update::EVENTS;
use crate::error::Error;
use crate::geometry::Real;
use crate::memory;
use crate::objects::{Handle, ObjectKind, Pairing};
use crate::pairs::Pair;

/// A pair that started or ended with an update.
///
/// The two objects are ordered by index, not by role. To tell a bullet from what it hits, give each kind of object its own user data, or look at
/// [`World::tag`].
///
/// ```
/// use broadphase::{Aabb, Object, World2};
/// const BULLET: u64 = 1;
/// const CRATE: u64 = 2;
/// let mut world = World2::new();
/// let target = world.insert(Object::new(Aabb::new([0.0, 0.0], [1.0, 1.0])).with_user(CRATE))?;
/// let bullet = world.insert(Object::new(Aabb::point([0.5, 0.5])).with_user(BULLET))?;
/// for hit in world.update()?.started() {
///     let (shot, (other, kind)) = if hit.user_a == BULLET { (hit.a, (hit.b, hit.user_b)) } else { (hit.b, (hit.a, hit.user_a)) };
///     assert_eq!((shot, other, kind), (bullet, target, CRATE));
///     world.remove(shot)?;
/// }
/// # Ok::<(), broadphase::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairEvent {
    /// The object with the smaller index.
    pub a: Handle,
    /// The other object.
    pub b: Handle,
    /// The user data of `a`, even if it was removed.
    pub user_a: u64,
    /// The user data of `b`, even if it was removed.
    pub user_b: u64,
    /// The [value](World::set_pair_value) that the pair had when it ended; `None` for a pair that starts.
    pub value: Option<u64>,
    /// When the two first touched, as a fraction of the frame, with [continuous detection](crate::ContinuousDetection); 1 without, and for pairs
    /// that ended.
    pub time: f64,
}

impl PairEvent {
    /// Both handles.
    pub fn handles(&self) -> (Handle, Handle) {
        (self.a, self.b)
    }

    /// The other object and its user data, if `handle` is one of the two.
    pub fn other(&self, handle: Handle) -> Option<(Handle, u64)> {
        if handle == self.a {
            Some((self.b, self.user_b))
        } else if handle == self.b {
            Some((self.a, self.user_a))
        } else {
            None
        }
    }
}

/// Events by column. A column that has only default values is not stored.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct EventList {
    handles: Vec<(Handle, Handle)>,
    users: Vec<(u64, u64)>,
    values: Vec<Option<u64>>,
    times: Vec<f64>,
}

impl EventList {
    fn clear(&mut self) {
        self.handles.clear();
        self.users.clear();
        self.values.clear();
        self.times.clear();
    }

    fn bytes(&self) -> usize {
        self.handles.capacity() * 16 + self.users.capacity() * 16 + self.values.capacity() * 16 + self.times.capacity() * 8
    }
}

/// The events of one update.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Events {
    pub(super) started: EventList,
    pub(super) ended: EventList,
}

impl Events {
    pub(super) fn bytes(&self) -> usize {
        self.started.bytes() + self.ended.bytes()
    }

    /// Do all columns have a value for each event, or none, and are all indices below `indices`?
    #[cfg(feature = "serde")]
    pub(super) fn is_sound(&self, indices: usize) -> bool {
        [&self.started, &self.ended].into_iter().all(|list| {
            let len = list.handles.len();
            let fits = |other: usize| other == 0 || other == len;
            fits(list.users.len())
                && fits(list.values.len())
                && fits(list.times.len())
                && list.handles.iter().all(|(a, b)| (a.index.max(b.index) as usize) < indices)
        })
    }
}

/// Pairs that started, or pairs that ended, sorted by their handles. Iterating yields a [`PairEvent`] for each.
#[derive(Clone, Copy)]
pub struct PairEvents<'a> {
    list: &'a EventList,
}

static NO_EVENTS: EventList = EventList { handles: Vec::new(), users: Vec::new(), values: Vec::new(), times: Vec::new() };

impl<'a> PairEvents<'a> {
    /// The number of events.
    pub fn len(&self) -> usize {
        self.list.handles.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.list.handles.is_empty()
    }

    /// One event, or `None` past the end.
    pub fn get(&self, index: usize) -> Option<PairEvent> {
        let list = self.list;
        let &(a, b) = list.handles.get(index)?;
        let (user_a, user_b) = list.users.get(index).copied().unwrap_or_default();
        let value = list.values.get(index).copied().flatten();
        let time = list.times.get(index).copied().unwrap_or(1.0);
        Some(PairEvent { a, b, user_a, user_b, value, time })
    }

    /// The handles alone.
    pub fn handles(&self) -> &'a [(Handle, Handle)] {
        &self.list.handles
    }

    /// All events.
    pub fn iter(&self) -> PairEventIter<'a> {
        PairEventIter { events: *self, range: 0..self.len() }
    }
}

impl fmt::Debug for PairEvents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}

impl PartialEq for PairEvents<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<P: AsRef<[(Handle, Handle)]> + ?Sized> PartialEq<P> for PairEvents<'_> {
    fn eq(&self, other: &P) -> bool {
        self.handles() == other.as_ref()
    }
}

impl<'a> IntoIterator for PairEvents<'a> {
    type Item = PairEvent;
    type IntoIter = PairEventIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// An iterator over events; see [`PairEvents`].
#[derive(Clone, Debug)]
pub struct PairEventIter<'a> {
    events: PairEvents<'a>,
    range: Range<usize>,
}

impl Iterator for PairEventIter<'_> {
    type Item = PairEvent;

    fn next(&mut self) -> Option<PairEvent> {
        self.events.get(self.range.next()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl ExactSizeIterator for PairEventIter<'_> {}

/// The result of an update: the number of pairs, and which started and ended. It borrows nothing, so a loop over its events may change the world.
///
/// It shares its lists with the world. If you drop it before the next update, the lists are reused; if you keep it, the next update allocates new ones.
///
/// ```
/// use broadphase::{Aabb, Object, World2};
/// let mut world = World2::new();
/// let mut contacts = vec![];
/// for (x, user) in [(0.0, 7), (0.5, 8)] {
///     world.insert(Object::new(Aabb::new([x, 0.0], [x + 1.0, 1.0])).with_user(user))?;
/// }
/// for pair in world.update()?.started() {
///     contacts.push((pair.user_a, pair.user_b));
///     world.set_pair_value(pair.a, pair.b, contacts.len() as u64 - 1)?;
///     world.remove(pair.b)?;
/// }
/// for pair in world.update()?.ended() {
///     assert_eq!((pair.value, pair.user_b), (Some(0), contacts[0].1)); // also for the object that was removed
/// }
/// # Ok::<(), broadphase::Error>(())
/// ```
#[derive(Clone)]
pub struct Update {
    pairs: u64,
    events: Arc<Events>,
}

impl fmt::Debug for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} pairs, {} started, {} ended", self.pairs, self.started().len(), self.ended().len())
    }
}

impl Update {
    /// The number of pairs. [`World::pairs`] lists them.
    pub fn len(&self) -> u64 {
        self.pairs
    }

    /// Are there no pairs?
    pub fn is_empty(&self) -> bool {
        self.pairs == 0
    }

    /// The pairs that the last update did not have, sorted; none unless [`Report`](crate::Report) includes events.
    pub fn started(&self) -> PairEvents<'_> {
        PairEvents { list: &self.events.started }
    }

    /// The pairs of the last update that no longer exist, sorted; none unless [`Report`](crate::Report) includes events. Handles of
    /// removed objects are those that were valid.
    pub fn ended(&self) -> PairEvents<'_> {
        PairEvents { list: &self.events.ended }
    }
}

impl<const D: usize, T: Real> World<D, T> {
    /// What the last update found.
    pub(super) fn summary(&self) -> Update {
        Update { pairs: self.pair_count(), events: Arc::clone(&self.events) }
    }

    /// The pairs that the update before did not have, sorted; none unless [`Report`](crate::Report) includes events.
    pub fn started(&self) -> PairEvents<'_> {
        PairEvents { list: if self.failed { &NO_EVENTS } else { &self.events.started } }
    }

    /// The pairs of the update before that no longer exist, sorted; none unless [`Report`](crate::Report) includes events.
    pub fn ended(&self) -> PairEvents<'_> {
        PairEvents { list: if self.failed { &NO_EVENTS } else { &self.events.ended } }
    }

    /// Turns the differences that were found into events, and removes the values of pairs that ended.
    pub(super) fn publish(&mut self) -> Result<(), Error> {
        if Arc::get_mut(&mut self.events).is_none() {
            self.events = Arc::default(); // the caller still holds the last update
        }
        let Self { events, started, ended, table, values, motion, shape, period, .. } = self;
        let events = Arc::make_mut(events);
        events.started.clear();
        events.ended.clear();
        // All memory first: on error, the differences stay for the next update.
        if table.has_users() && self.report.delta() {
            memory::reserve(&mut events.started.users, started.len(), EVENTS)?;
            memory::reserve(&mut events.ended.users, ended.len(), EVENTS)?;
        }
        if motion.detection != super::ContinuousDetection::None {
            memory::reserve(&mut events.started.times, started.len(), EVENTS)?;
        }
        memory::reserve(&mut events.ended.values, if values.is_empty() { 0 } else { ended.len() }, EVENTS)?;
        values.end(ended, &mut events.ended.values);
        if !self.report.delta() {
            events.ended.values.clear();
            started.clear();
            ended.clear();
            table.forget_removed();
            return Ok(());
        }
        std::mem::swap(&mut events.started.handles, started);
        std::mem::swap(&mut events.ended.handles, ended);
        if table.has_users() {
            table.sort_removed();
            for list in [&mut events.started, &mut events.ended] {
                list.users.extend(list.handles.iter().map(|&(a, b)| (table.user_of(a), table.user_of(b))));
            }
        }
        table.forget_removed();
        if motion.detection != super::ContinuousDetection::None {
            let rules =
                Rules { table, shape: *shape, filter: None, scoped: None, pairing: Pairing::ALL, motion, period: *period };
            let time = |&(a, b): &(Handle, Handle)| {
                let mixed = [a, b].iter().any(|handle| table.kind(handle.index) == ObjectKind::Static);
                rules.time(table.to_slots(Pair::new(a.index, b.index), mixed), mixed)
            };
            events.started.times.extend(events.started.handles.iter().map(time));
        }
        Ok(())
    }
}
