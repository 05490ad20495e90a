//! Queries that are never stale.

use std::ops::ControlFlow;

use super::{Engine, World};
use crate::error::Error;
use crate::geometry::{Aabb, Ray, Real};
use crate::objects::side::Side;
use crate::objects::{Frame, Handle};

/// Queries over a world whose changes are all taken in. Copy it, and read from many threads at once.
///
/// Queries see all kinds of objects, statics last, with boxes [grown](World::grown_box) by their margins; tags are the caller's affair.
pub struct Reader<'a, const D: usize, T: Real> {
    world: &'a World<D, T>,
}

impl<const D: usize, T: Real> Clone for Reader<'_, D, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<const D: usize, T: Real> Copy for Reader<'_, D, T> {}

impl<const D: usize, T: Real> World<D, T> {
    /// Takes in all changes, without looking for pairs, and gives a reader. The next [`update`](World::update) reports as if nobody
    /// had read.
    ///
    /// ```
    /// use broadphase::{Aabb, Ray, World2};
    /// let mut world = World2::new();
    /// let far = world.insert(Aabb::new([8.0, 0.0], [9.0, 1.0]))?;
    /// let near = world.insert(Aabb::new([2.0, 0.0], [3.0, 1.0]))?;
    /// let reader = world.read()?;
    /// assert_eq!(reader.all_in_box(&Aabb::new([0.0, 0.0], [5.0, 5.0]))?, [near]);
    /// assert_eq!(reader.first_along_ray(&Ray::new([5.0, 0.5], [1.0, 0.0], 100.0))?, Some((far, 3.0)));
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn read(&mut self) -> Result<Reader<'_, D, T>, Error> {
        self.flush()?;
        Ok(Reader { world: self })
    }
}

impl<'a, const D: usize, T: Real> Reader<'a, D, T> {
    /// The world.
    pub fn world(&self) -> &'a World<D, T> {
        self.world
    }

    /// Visits the objects whose box overlaps `area`, each once, in a deterministic order, until the visitor breaks. A structure
    /// without queries of its own is scanned: O(n).
    pub fn in_box(&self, area: &Aabb<D, T>, mut visit: impl FnMut(Handle) -> ControlFlow<()>) -> Result<(), Error> {
        if !area.is_valid() {
            return Err(Error::InvalidQuery { reason: "the box has a NaN corner, or min above max" });
        }
        let mut on = true;
        for (engine, side) in self.sides() {
            if !on {
                break;
            }
            let frame = side.frame(self.world.shape, None);
            let mut visit = |slot: u32| {
                let flow = visit(self.handle(side, slot));
                on = flow.is_continue();
                flow
            };
            match engine.structure.as_deref().filter(|_| engine.filled).and_then(|structure| structure.reader()) {
                Some(query) => query.in_box(&frame, area, &mut visit),
                None => scan_box(&frame, area, &mut visit),
            }
        }
        Ok(())
    }

    /// The objects whose box overlaps `area`, by index.
    pub fn all_in_box(&self, area: &Aabb<D, T>) -> Result<Vec<Handle>, Error> {
        let mut found = Vec::new();
        self.in_box(area, |handle| {
            found.push(handle);
            ControlFlow::Continue(())
        })?;
        found.sort_unstable();
        Ok(found)
    }

    /// Visits the objects whose box the ray enters, in no order of distance; the visitor gets the `t` of entry and returns the new
    /// length of the ray: what it was to see all, `t` to see only what is not farther.
    pub fn along_ray(&self, ray: &Ray<D, T>, mut visit: impl FnMut(Handle, T) -> ControlFlow<(), T>) -> Result<(), Error> {
        if !ray.is_valid() {
            return Err(Error::InvalidQuery { reason: "a ray needs a finite origin and direction, and a length of at least 0" });
        }
        let mut left = Some(ray.length);
        for (engine, side) in self.sides() {
            let Some(length) = left else { break };
            let ray = Ray { length, ..*ray };
            let frame = side.frame(self.world.shape, None);
            let mut visit = |slot: u32, t: T| {
                let flow = visit(self.handle(side, slot), t);
                left = match flow {
                    ControlFlow::Continue(length) => Some(length),
                    ControlFlow::Break(()) => None,
                };
                flow
            };
            match engine.structure.as_deref().filter(|_| engine.filled).and_then(|structure| structure.reader()) {
                Some(query) => query.along_ray(&frame, &ray, &mut visit),
                None => scan_ray(&frame, &ray, &mut visit),
            }
        }
        Ok(())
    }

    /// The first object whose box the ray enters, with the `t` of entry; of several at the same `t`, the one of the smallest index.
    pub fn first_along_ray(&self, ray: &Ray<D, T>) -> Result<Option<(Handle, T)>, Error> {
        let mut first: Option<(Handle, T)> = None;
        self.along_ray(ray, |handle, t| {
            if first.is_none_or(|(best, at)| t < at || (t == at && handle < best)) {
                first = Some((handle, t));
            }
            ControlFlow::Continue(first.map_or(t, |(_, at)| at))
        })?;
        Ok(first)
    }

    fn sides(&self) -> [(&'a Engine<D, T>, &'a Side<D, T>); 2] {
        let world = self.world;
        [(&world.movers, &world.table.movers), (&world.statics, &world.table.statics)]
    }

    fn handle(&self, side: &Side<D, T>, slot: u32) -> Handle {
        self.world.table.handle(side.owners[slot as usize])
    }
}

fn scan_box<const D: usize, T: Real>(frame: &Frame<'_, D, T>, area: &Aabb<D, T>, visit: &mut dyn FnMut(u32) -> ControlFlow<()>) {
    for slot in frame.ids() {
        if frame.boxes[slot as usize].overlaps(area) && visit(slot).is_break() {
            return;
        }
    }
}

fn scan_ray<const D: usize, T: Real>(
    frame: &Frame<'_, D, T>,
    ray: &Ray<D, T>,
    visit: &mut dyn FnMut(u32, T) -> ControlFlow<(), T>,
) {
    let mut ray = *ray;
    for slot in frame.ids() {
        if let Some(t) = ray.enters(&frame.boxes[slot as usize]) {
            match visit(slot, t) {
                ControlFlow::Continue(length) => ray.length = length,
                ControlFlow::Break(()) => return,
            }
        }
    }
}
