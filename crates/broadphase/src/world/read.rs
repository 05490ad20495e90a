//! Queries that are never stale.

use std::fmt;
use std::ops::ControlFlow;

use super::{Engine, World};
use crate::algorithms::scan;
use crate::error::Error;
use crate::geometry::{Aabb, Ball, HalfSpace, HalfSpaces, Measure, Nearest, Ray, Real, Swept, SweptBall};
use crate::objects::side::Side;
use crate::objects::{Handle, Tag};

/// Queries over a world whose changes are all taken in. Copy it, and read from many threads at once.
///
/// Queries see all kinds of objects, statics last, with boxes [grown](World::grown_box) by their margins; with a tag
/// ([`with_tag`](Reader::with_tag)) only those that it allows. Visitors get each object once, in a deterministic order, and may break. No
/// query allocates, but for what the structure prepares for the first one after a change.
///
/// # Which question?
/// | what | all | the first, or the nearest |
/// | --- | --- | --- |
/// | a box, a point | [`in_box`](Reader::in_box), [`at_point`](Reader::at_point) | |
/// | a ball | [`in_ball`](Reader::in_ball) | [`nearest`](Reader::nearest) to a point |
/// | a ray | [`along_ray`](Reader::along_ray) | [`first_along_ray`](Reader::first_along_ray) |
/// | a moving box | [`along_swept`](Reader::along_swept) | [`first_along_swept`](Reader::first_along_swept) |
/// | a moving ball | [`along_swept_ball`](Reader::along_swept_ball) | [`first_along_swept_ball`](Reader::first_along_swept_ball) |
/// | a view frustum | [`in_frustum`](Reader::in_frustum) | |
/// | something of your own | [`search`](Reader::search) | |
///
/// Many questions at once, on all threads: [`Answers`](crate::Answers).
///
/// # Cost
/// The first question after a change may have to prepare something: `tiles` looks once at all objects of the tiles that changed, and makes a
/// small tree in each tile that a question enters. With `auto`, `tiles` and the trees a question then costs O(log n) plus its answers, if boxes
/// do not overlap each other a lot. Grids and sweeps look at all that the box around the question may meet, and at everything for the
/// nearest. A structure without queries of its own is scanned: O(n).
pub struct Reader<'a, const D: usize, T: Real> {
    world: &'a World<D, T>,
    tag: Option<Tag>,
}

impl<const D: usize, T: Real> fmt::Debug for Reader<'_, D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("world", self.world).field("tag", &self.tag).finish()
    }
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
        Ok(Reader { world: self, tag: None })
    }
}

/// An error unless the question has a meaning.
fn sound(valid: bool, reason: &'static str) -> Result<(), Error> {
    if valid { Ok(()) } else { Err(Error::InvalidQuery { reason }) }
}

/// A visitor of a region, as a search wants it.
fn region<T: Real>(mut visit: impl FnMut(Handle) -> ControlFlow<()>) -> impl FnMut(Handle, T) -> ControlFlow<(), T> {
    move |handle, _| match visit(handle) {
        ControlFlow::Continue(()) => ControlFlow::Continue(T::ZERO),
        ControlFlow::Break(()) => ControlFlow::Break(()),
    }
}

impl<'a, const D: usize, T: Real> Reader<'a, D, T> {
    /// The world.
    pub fn world(&self) -> &'a World<D, T> {
        self.world
    }

    /// A reader that sees only the objects that an object with this tag could pair with: layers, masks, groups and environments count
    /// both ways.
    ///
    /// ```
    /// use broadphase::{Aabb, Object, Tag, World2};
    /// let (glass, wall) = (Tag::new(1, 1), Tag::new(2, 2));
    /// let mut world = World2::new();
    /// let handles = world.insert_many(&[glass, wall].map(|tag| Object::new(Aabb::point([0.0; 2])).with_tag(tag)))?;
    /// let opaque = world.read()?.with_tag(wall);
    /// assert_eq!(opaque.all_in_box(&Aabb::everything())?, [handles[1]]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn with_tag(mut self, tag: Tag) -> Self {
        self.tag = Some(tag);
        self
    }

    /// Visits the objects within `limit` by any [`Measure`], in no order of distance; the visitor gets the distance and returns the
    /// new limit: what it was to see all, the distance to see only what is not farther. All other queries are this one.
    pub fn search(&self, measure: &dyn Measure<D, T>, limit: T, mut visit: impl FnMut(Handle, T) -> ControlFlow<(), T>) {
        let mut left = Some(limit);
        for (engine, side) in self.sides() {
            let Some(limit) = left else { break };
            let frame = side.frame(self.world.shape, None);
            let mut visit = |slot: u32, distance: T| {
                if self.tag.is_some_and(|tag| !tag.allows(&side.tags.get(slot))) {
                    return ControlFlow::Continue(left.unwrap_or(limit));
                }
                let index = if side.aligned { slot } else { side.owners[slot as usize] };
                let flow = visit(self.world.table.handle(index), distance);
                left = match flow {
                    ControlFlow::Continue(limit) => Some(limit),
                    ControlFlow::Break(()) => None,
                };
                flow
            };
            let query = engine.structure.as_deref().filter(|_| engine.filled).and_then(|structure| structure.reader());
            match (query, self.tag.map_or(0, |tag| tag.env)) {
                (Some(query), 0) => query.search(&frame, measure, limit, &mut visit),
                (Some(query), env) => query.search_env(&frame, env, measure, limit, &mut visit),
                (None, _) => scan(&frame, measure, limit, &mut visit),
            }
        }
    }

    /// Of all within `limit`, the nearest; of several at the same distance, the one of the smallest index.
    fn first(&self, measure: &dyn Measure<D, T>, limit: T) -> Option<(Handle, T)> {
        let mut first: Option<(Handle, T)> = None;
        self.search(measure, limit, |handle, at| {
            if first.is_none_or(|(best, least)| at < least || (at == least && handle < best)) {
                first = Some((handle, at));
            }
            ControlFlow::Continue(first.map_or(at, |(_, least)| least))
        });
        first
    }

    fn sides(&self) -> [(&'a Engine<D, T>, &'a Side<D, T>); 2] {
        let world = self.world;
        [(&world.movers, &world.table.movers), (&world.statics, &world.table.statics)]
    }
}

/// # Regions
impl<const D: usize, T: Real> Reader<'_, D, T> {
    /// Visits the objects whose box overlaps `area`. A box that is not valid is [`Error::InvalidQuery`].
    pub fn in_box(&self, area: &Aabb<D, T>, visit: impl FnMut(Handle) -> ControlFlow<()>) -> Result<(), Error> {
        sound(area.is_valid(), "the box has a NaN corner, or min above max")?;
        self.search(area, T::ZERO, region(visit));
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

    /// Visits the objects whose box holds the point, surface included. A NaN coordinate is [`Error::InvalidQuery`].
    pub fn at_point(&self, point: [T; D], visit: impl FnMut(Handle) -> ControlFlow<()>) -> Result<(), Error> {
        self.in_box(&Aabb::point(point), visit)
    }

    /// Visits the objects whose box the ball reaches ([`Ball::overlaps_box`]). A centre that is not finite or a radius that is negative
    /// or NaN is [`Error::InvalidQuery`].
    pub fn in_ball(&self, ball: &Ball<D, T>, visit: impl FnMut(Handle) -> ControlFlow<()>) -> Result<(), Error> {
        sound(ball.is_valid(), "a ball needs a finite centre and a radius of at least 0")?;
        self.search(ball, T::ZERO, region(visit));
        Ok(())
    }

    /// Visits the objects whose box all these half-spaces reach: with the sides of a camera's frustum, what it may see. Conservative
    /// as usual: a box near an edge of the frustum can pass although it is outside.
    ///
    /// No side at all, a normal that is zero or not finite, and a NaN offset are [`Error::InvalidQuery`].
    ///
    /// ```
    /// use broadphase::{Aabb, HalfSpace, World2};
    /// use std::ops::ControlFlow;
    /// let mut world = World2::new();
    /// let handles = world.insert_many(&[Aabb::point([1.0, 0.0]), Aabb::point([1.0, 3.0])])?;
    /// // A camera at the origin that looks along x, opening 45 degrees to both sides.
    /// let sides = [HalfSpace { normal: [-1.0, 1.0], offset: 0.0 }, HalfSpace { normal: [-1.0, -1.0], offset: 0.0 }];
    /// let mut seen = Vec::new();
    /// world.read()?.in_frustum(&sides, |handle| {
    ///     seen.push(handle);
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(seen, [handles[0]]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn in_frustum(&self, sides: &[HalfSpace<D, T>], visit: impl FnMut(Handle) -> ControlFlow<()>) -> Result<(), Error> {
        let valid = !sides.is_empty() && sides.iter().all(HalfSpace::is_valid);
        sound(valid, "a frustum needs sides with finite normals that are not zero, and offsets that are not NaN")?;
        self.search(&HalfSpaces(sides), T::ZERO, region(visit));
        Ok(())
    }
}

/// # Rays and motions
impl<const D: usize, T: Real> Reader<'_, D, T> {
    /// Visits the objects whose box the ray enters, in no order of distance; the visitor gets the `t` of entry and returns the new
    /// length of the ray: what it was to see all, `t` to see only what is not farther. A zero or NaN direction and a negative length
    /// are [`Error::InvalidQuery`].
    pub fn along_ray(&self, ray: &Ray<D, T>, visit: impl FnMut(Handle, T) -> ControlFlow<(), T>) -> Result<(), Error> {
        sound(ray.is_valid(), RAY)?;
        self.search(ray, ray.length, visit);
        Ok(())
    }

    /// The first object whose box the ray enters, with the `t` of entry; of several at the same `t`, the one of the smallest index.
    pub fn first_along_ray(&self, ray: &Ray<D, T>) -> Result<Option<(Handle, T)>, Error> {
        sound(ray.is_valid(), RAY)?;
        Ok(self.first(ray, ray.length))
    }

    /// Visits the objects whose box the moving box touches; the visitor gets the fraction of the step, and returns up to which
    /// fraction it wants to see more: 1 for all.
    pub fn along_swept(&self, swept: &Swept<D, T>, visit: impl FnMut(Handle, T) -> ControlFlow<(), T>) -> Result<(), Error> {
        sound(swept.is_valid(), SWEPT)?;
        self.search(swept, T::ONE, visit);
        Ok(())
    }

    /// The first object whose box the moving box touches, with the fraction of the step.
    pub fn first_along_swept(&self, swept: &Swept<D, T>) -> Result<Option<(Handle, T)>, Error> {
        sound(swept.is_valid(), SWEPT)?;
        Ok(self.first(swept, T::ONE))
    }

    /// Visits the objects whose box the moving ball touches; the visitor gets the fraction of the step, and returns up to which
    /// fraction it wants to see more: 1 for all.
    pub fn along_swept_ball(
        &self,
        swept: &SweptBall<D, T>,
        visit: impl FnMut(Handle, T) -> ControlFlow<(), T>,
    ) -> Result<(), Error> {
        sound(swept.is_valid(), SWEPT)?;
        self.search(swept, T::ONE, visit);
        Ok(())
    }

    /// The first object whose box the moving ball touches, with the fraction of the step.
    pub fn first_along_swept_ball(&self, swept: &SweptBall<D, T>) -> Result<Option<(Handle, T)>, Error> {
        sound(swept.is_valid(), SWEPT)?;
        Ok(self.first(swept, T::ONE))
    }
}

const RAY: &str = "a ray needs a finite origin, a finite direction that is not zero, and a length of at least 0";
const SWEPT: &str = "a motion needs a valid box or ball and a finite displacement";

/// # The nearest
impl<const D: usize, T: Real> Reader<'_, D, T> {
    /// Fills `found` with the `k` objects whose boxes are nearest to a point, nearest first, with the squares of their distances (0 inside);
    /// of several at the same distance, those of the smallest index. Fewer if there are fewer, none for `k` = 0. A point that is not finite
    /// is [`Error::InvalidQuery`].
    ///
    /// Cost: O(log n) and up to O(k) for each candidate that is nearer than the k best so far. `found` keeps its memory.
    ///
    /// ```
    /// use broadphase::{Aabb, World2};
    /// let mut world = World2::new();
    /// let handles = world.insert_many(&[Aabb::point([3.0, 0.0]), Aabb::point([9.0, 0.0]), Aabb::point([0.0, 2.0])])?;
    /// let mut found = Vec::new();
    /// world.read()?.nearest([0.0, 0.0], 2, &mut found)?;
    /// assert_eq!(found, [(handles[2], 4.0), (handles[0], 9.0)]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn nearest(&self, point: [T; D], k: usize, found: &mut Vec<(Handle, T)>) -> Result<(), Error> {
        found.clear();
        self.append_nearest(point, k, found)
    }

    /// The same, behind what `list` already holds.
    pub(super) fn append_nearest(&self, point: [T; D], k: usize, list: &mut Vec<(Handle, T)>) -> Result<(), Error> {
        sound(point.iter().all(|c| c.is_finite()), "the nearest to a point that is not finite")?;
        if k == 0 {
            return Ok(());
        }
        let (from, end) = (list.len(), list.len().saturating_add(k));
        self.search(&Nearest(point), T::INFINITY, |handle, at| {
            let before = |&(other, least): &(Handle, T)| least < at || (least == at && other < handle);
            let place = from + list[from..].partition_point(before);
            if place < end {
                list.truncate(end - 1);
                list.insert(place, (handle, at));
            }
            ControlFlow::Continue(if list.len() < end { T::INFINITY } else { list[end - 1].1 })
        });
        Ok(())
    }
}
