//! Queries of a world, after all its changes have been applied.

use std::fmt;
use std::ops::ControlFlow;

use super::motion::longest_box;
use super::{ContinuousDetection, Engine, World};
use crate::algorithms::scan;
use crate::error::Error;
use crate::geometry::{
    Aabb, Ball, HalfSpace, HalfSpaces, Measure, Nearest, NearestToBox, OverImages, Period, Ray, Real, Swept, SweptBall,
};
use crate::objects::side::Side;
use crate::objects::{Handle, Shape, Tag};

/// Queries of a world, all of whose changes have been applied. Copy it, and read from many threads at once.
///
/// Queries find objects of every kind, statics last. Boxes are [grown](World::grown_box) by their margins, and objects that are
/// [balls](crate::Shape::Ball) count as balls. To restrict the objects that are found, filter the reader first: [`in_layers`](Reader::in_layers),
/// [`with_tag`](Reader::with_tag), [`excluding`](Reader::excluding), [`matching`](Reader::matching). A visitor gets each object once, in a
/// deterministic order, and may stop the search. Visiting queries do not allocate, except for what a structure prepares for the first query after a
/// change. In a [space that repeats](World::set_period), all queries except [`search`](Reader::search) look across its borders.
///
/// # Which query?
/// | what | visit | collect | the first, or the nearest | many at once |
/// | --- | --- | --- | --- | --- |
/// | a box | [`in_box`](Reader::in_box) | [`all_in_box`](Reader::all_in_box) | [`nearest_to_box`](Reader::nearest_to_box) | [`in_boxes`](Reader::in_boxes) |
/// | a point | [`at_point`](Reader::at_point) | [`all_at_point`](Reader::all_at_point) | [`nearest`](Reader::nearest) | [`at_points`](Reader::at_points), [`nearest_to`](Reader::nearest_to) |
/// | a ball | [`in_ball`](Reader::in_ball) | [`all_in_ball`](Reader::all_in_ball) | | [`in_balls`](Reader::in_balls) |
/// | a ray | [`along_ray`](Reader::along_ray) | [`all_along_ray`](Reader::all_along_ray) | [`first_along_ray`](Reader::first_along_ray) | [`along_rays`](Reader::along_rays), [`first_along_rays`](Reader::first_along_rays) |
/// | a moving box | [`along_swept`](Reader::along_swept) | [`all_along_swept`](Reader::all_along_swept) | [`first_along_swept`](Reader::first_along_swept) | [`first_along_sweeps`](Reader::first_along_sweeps) |
/// | a moving ball | [`along_swept_ball`](Reader::along_swept_ball) | [`all_along_swept_ball`](Reader::all_along_swept_ball) | [`first_along_swept_ball`](Reader::first_along_swept_ball) | [`first_along_ball_sweeps`](Reader::first_along_ball_sweeps) |
/// | a camera's frustum | [`in_frustum`](Reader::in_frustum) | [`all_in_frustum`](Reader::all_in_frustum) | | [`Answers::ask`](crate::Answers::ask) |
/// | a measure of your own | [`search`](Reader::search) | | | [`Answers::ask`](crate::Answers::ask) |
///
/// # Cost
/// The first query after a change may prepare something: `tiles` passes once over the objects of the tiles that changed, and builds a small tree in each
/// tile that a query enters. With `auto`, `tiles` and the trees, a query then costs O(log n) plus its answers, unless boxes overlap each other
/// a lot. Grids and sweeps look at everything in the box around the query, and at all objects for the nearest. A structure without queries of
/// its own is scanned: O(n).
pub struct Reader<'a, const D: usize, T: Real> {
    world: &'a World<D, T>,
    tag: Option<Tag>,
    layers: u32,
    excluded: Option<Handle>,
    matching: Option<&'a (dyn Fn(Handle) -> bool + Sync)>,
}

impl<const D: usize, T: Real> fmt::Debug for Reader<'_, D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { world, tag, layers, excluded, matching } = self;
        f.debug_struct("Reader")
            .field("world", world)
            .field("tag", tag)
            .field("layers", layers)
            .field("excluded", excluded)
            .field("matching", &matching.is_some())
            .finish()
    }
}

impl<const D: usize, T: Real> Clone for Reader<'_, D, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<const D: usize, T: Real> Copy for Reader<'_, D, T> {}

impl<const D: usize, T: Real> World<D, T> {
    /// Applies all changes, without looking for pairs, and returns a reader. It does not affect what the next [`update`](World::update) reports.
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
        self.check_lengths()?;
        self.flush(None)?;
        Ok(self.reader())
    }

    /// A reader of a shared world, or `None` if changes are pending, which only [`read`](World::read) or [`update`](World::update) can apply.
    ///
    /// ```
    /// use broadphase::{Aabb, World2};
    /// let mut world = World2::new();
    /// let handle = world.insert(Aabb::point([0.0, 0.0]))?;
    /// assert!(world.try_read().is_none());
    /// world.update()?;
    /// let shared = &world;
    /// assert_eq!(shared.try_read().unwrap().all_in_box(&Aabb::everything())?, [handle]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn try_read(&self) -> Option<Reader<'_, D, T>> {
        let ready = |engine: &Engine<D, T>, side: &Side<D, T>| !side.pending() && (engine.filled || side.slots.len() == 0);
        let is_ready = ready(&self.movers, &self.table.movers) && ready(&self.statics, &self.table.statics);
        is_ready.then(|| self.reader())
    }

    fn reader(&self) -> Reader<'_, D, T> {
        Reader { world: self, tag: None, layers: u32::MAX, excluded: None, matching: None }
    }
}

/// An error unless the query is valid.
fn ensure_valid(valid: bool, reason: &'static str) -> Result<(), Error> {
    if valid { Ok(()) } else { Err(Error::InvalidQuery { reason }) }
}

/// Collects what a query visits, sorted by index.
fn collect(ask: impl FnOnce(&mut dyn FnMut(Handle) -> ControlFlow<()>) -> Result<(), Error>) -> Result<Vec<Handle>, Error> {
    let mut found = Vec::new();
    ask(&mut |handle| {
        found.push(handle);
        ControlFlow::Continue(())
    })?;
    found.sort_unstable();
    Ok(found)
}

/// Sorts hits: nearest first, of several at the same distance the one of the smallest index.
fn sort_hits<T: Real>(hits: &mut [(Handle, T)]) {
    hits.sort_unstable_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal).then(a.0.cmp(&b.0)));
}

/// Adapts a visitor of objects to a search by distance, for regions.
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

    /// A reader that sees only the objects that an object with this tag could pair with: layers, masks, groups and environments of both count.
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

    /// A reader that sees only objects in one of these layers: "this ray sees walls". Masks, groups and environments do not count.
    ///
    /// ```
    /// use broadphase::{Aabb, Object, Ray, Tag, World2};
    /// const GLASS: u32 = 1;
    /// const WALL: u32 = 2;
    /// let mut world = World2::new();
    /// let at = |x: f32, layer: u32| Object::new(Aabb::new([x, 0.0], [x + 1.0, 1.0])).with_tag(Tag::in_layers(layer));
    /// let [_pane, wall] = world.insert_many(&[at(1.0, GLASS), at(5.0, WALL)])?[..] else { unreachable!() };
    /// let ray = Ray::new([0.0, 0.5], [1.0, 0.0], 100.0);
    /// assert_eq!(world.read()?.in_layers(WALL).first_along_ray(&ray)?, Some((wall, 5.0)));
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn in_layers(mut self, layers: u32) -> Self {
        self.layers = layers;
        self
    }

    /// A reader that does not see this object, such as the one that casts the ray.
    pub fn excluding(mut self, handle: Handle) -> Self {
        self.excluded = Some(handle);
        self
    }

    /// A reader that sees only objects that pass your test. The first hit is then the first that passes it.
    ///
    /// ```
    /// use broadphase::{Aabb, Object, Ray, World2};
    /// let mut world = World2::new();
    /// let at = |x: f32, team: u64| Object::new(Aabb::new([x, 0.0], [x + 1.0, 1.0])).with_user(team);
    /// let handles = world.insert_many(&[at(0.0, 1), at(3.0, 1), at(6.0, 2)])?;
    /// world.update()?;
    /// let enemies = |handle| world.user(handle) == Ok(2);
    /// let reader = world.try_read().unwrap().excluding(handles[0]).matching(&enemies);
    /// assert_eq!(reader.first_along_ray(&Ray::new([0.5, 0.5], [1.0, 0.0], 100.0))?, Some((handles[2], 5.5)));
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn matching(mut self, test: &'a (dyn Fn(Handle) -> bool + Sync)) -> Self {
        self.matching = Some(test);
        self
    }

    /// Is the object in a slot one that this reader sees?
    #[inline]
    fn sees(&self, side: &Side<D, T>, slot: u32, handle: Handle) -> bool {
        if self.tag.is_none() && self.layers == u32::MAX && self.excluded.is_none() && self.matching.is_none() {
            return true;
        }
        let tag = side.tags.get(slot);
        self.tag.is_none_or(|own| own.allows(&tag))
            && (self.layers == u32::MAX || tag.layer & self.layers != 0)
            && self.excluded != Some(handle)
            && self.matching.is_none_or(|test| test(handle))
    }

    /// Visits the objects within `limit` by any [`Measure`], not sorted by distance. The visitor gets each distance and returns the new limit: the old
    /// one to see all objects, the distance to see only objects that are not farther away. All other queries are built on this one.
    pub fn search(&self, measure: &dyn Measure<D, T>, limit: T, visit: impl FnMut(Handle, T) -> ControlFlow<(), T>) {
        self.search_plain(measure, None, limit, visit);
    }

    /// [`search`](Reader::search) across the borders of a space that repeats: objects that `measure` does not reach within `reach` may be left out.
    fn search_around(
        &self,
        measure: &dyn Measure<D, T>,
        reach: &Aabb<D, T>,
        limit: T,
        mut visit: impl FnMut(Handle, T) -> ControlFlow<(), T>,
    ) -> Result<(), Error> {
        match &self.world.period {
            None => self.search_plain(measure, None, limit, visit),
            Some(period) => {
                let images = OverImages::new(measure, reach, period, self.longest_box());
                ensure_valid(
                    images.is_some(),
                    "in a space that repeats, it reaches over too many periods: make it shorter or smaller",
                )?;
                images.iter().for_each(|images| self.search_plain(images, Some(images), limit, &mut visit));
            }
        }
        Ok(())
    }

    /// How many periods long a box may be.
    fn longest_box(&self) -> T {
        longest_box(self.world.motion.detection != ContinuousDetection::None)
    }

    /// How far a ray or a motion reaches. It has an end along the axes on which the space repeats, or it would meet infinitely many images.
    fn finite_reach(&self, measure: &dyn Measure<D, T>, limit: T) -> Result<Aabb<D, T>, Error> {
        let reach = measure.reach(limit);
        let ends = |period: &Period<D, T>, k: usize| period.length(k).is_none() || (reach.max[k] - reach.min[k]).is_finite();
        let is_finite = self.world.period.is_none_or(|period| (0..D).all(|k| ends(&period, k)));
        ensure_valid(is_finite, "in a space that repeats, a ray needs a finite length")?;
        Ok(reach)
    }

    /// `images` is the measure that considers the images of objects, if there is one.
    fn search_plain(
        &self,
        measure: &dyn Measure<D, T>,
        images: Option<&OverImages<'_, D, T>>,
        limit: T,
        mut visit: impl FnMut(Handle, T) -> ControlFlow<(), T>,
    ) {
        let mut left = Some(limit);
        for (engine, side) in self.sides() {
            let Some(limit) = left else { break };
            if side.slots.len() == 0 {
                continue;
            }
            let frame = side.frame(self.world.shape, None);
            let shape = self.world.shape;
            let balls = shape == Shape::Ball || side.shapes.any();
            let mut visit = |slot: u32, mut distance: T| {
                let (limit, index) = (left.unwrap_or(limit), if side.aligned { slot } else { side.owners[slot as usize] });
                let handle = self.world.table.handle(index);
                if !self.sees(side, slot, handle) {
                    return ControlFlow::Continue(limit);
                }
                if balls && side.shape(slot, shape) == Shape::Ball {
                    let wrapped = self.world.period.map(|period| period.wrap_box(&side.boxes[slot as usize]));
                    let target = wrapped.as_ref().unwrap_or(&side.boxes[slot as usize]);
                    let exact = match images {
                        Some(images) => images.distance_to_ball_of(target),
                        None => measure.distance_to_ball(&Ball::of_box(target), distance),
                    };
                    match exact {
                        Some(exact) if exact <= limit => distance = exact,
                        _ => return ControlFlow::Continue(limit),
                    }
                }
                let flow = visit(handle, distance);
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

    /// The nearest object within `limit`; of several at the same distance, the one with the smallest index.
    fn first(&self, measure: &dyn Measure<D, T>, limit: T) -> Result<Option<(Handle, T)>, Error> {
        let mut first: Option<(Handle, T)> = None;
        self.search_around(measure, &self.finite_reach(measure, limit)?, limit, |handle, at| {
            if first.is_none_or(|(best, least)| at < least || (at == least && handle < best)) {
                first = Some((handle, at));
            }
            ControlFlow::Continue(first.map_or(at, |(_, least)| least))
        })?;
        Ok(first)
    }

    /// All within `limit`, nearest first.
    fn all(&self, measure: &dyn Measure<D, T>, limit: T) -> Result<Vec<(Handle, T)>, Error> {
        let mut hits = Vec::new();
        self.search_around(measure, &self.finite_reach(measure, limit)?, limit, |handle, at| {
            hits.push((handle, at));
            ControlFlow::Continue(limit)
        })?;
        sort_hits(&mut hits);
        Ok(hits)
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
        ensure_valid(area.is_valid(), "the box has a NaN corner, or min above max")?;
        let area = &self.world.period.map_or(*area, |period| period.open_long_sides(area));
        self.search_around(area, area, T::ZERO, region(visit))
    }

    /// The objects whose box overlaps `area`, by index.
    pub fn all_in_box(&self, area: &Aabb<D, T>) -> Result<Vec<Handle>, Error> {
        collect(|visit| self.in_box(area, visit))
    }

    /// The objects that the ball reaches, by index.
    pub fn all_in_ball(&self, ball: &Ball<D, T>) -> Result<Vec<Handle>, Error> {
        collect(|visit| self.in_ball(ball, visit))
    }

    /// The objects that hold the point, by index.
    pub fn all_at_point(&self, point: [T; D]) -> Result<Vec<Handle>, Error> {
        collect(|visit| self.at_point(point, visit))
    }

    /// The objects that all these half-spaces reach, by index; see [`in_frustum`](Reader::in_frustum).
    pub fn all_in_frustum(&self, sides: &[HalfSpace<D, T>]) -> Result<Vec<Handle>, Error> {
        collect(|visit| self.in_frustum(sides, visit))
    }

    /// Visits the objects whose box holds the point, surface included. A NaN coordinate is [`Error::InvalidQuery`].
    pub fn at_point(&self, point: [T; D], visit: impl FnMut(Handle) -> ControlFlow<()>) -> Result<(), Error> {
        self.in_box(&Aabb::point(point), visit)
    }

    /// Visits the objects whose box the ball reaches ([`Ball::overlaps_box`]). A center that is not finite or a radius that is negative
    /// or NaN is [`Error::InvalidQuery`].
    pub fn in_ball(&self, ball: &Ball<D, T>, visit: impl FnMut(Handle) -> ControlFlow<()>) -> Result<(), Error> {
        ensure_valid(ball.is_valid(), "a ball needs a finite center and a radius of at least 0")?;
        self.search_around(ball, &ball.reach(T::ZERO), T::ZERO, region(visit))
    }

    /// Visits the objects whose boxes all these half-spaces reach; with the sides of a camera's frustum, those that it may see. The test is
    /// conservative, as is usual for frustum culling: a box near an edge of the frustum can pass although it is outside.
    ///
    /// No side at all, a normal that is zero or not finite, and a NaN offset are [`Error::InvalidQuery`]. In a
    /// [space that repeats](World::set_period) so is a frustum without an end, since it would see everything in infinitely many images; one that has an
    /// end sees all images up to 16 million periods away.
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
        ensure_valid(valid, "a frustum needs sides with finite normals that are not zero, and offsets that are not NaN")?;
        let Some(period) = &self.world.period else {
            self.search(&HalfSpaces(sides), T::ZERO, region(visit));
            return Ok(());
        };
        let measure = HalfSpaces(sides);
        let images = OverImages::without_reach(&measure, period, self.longest_box());
        ensure_valid(
            images.is_some(),
            "in a space that repeats, a frustum needs sides all around and a far side, not too far away",
        )?;
        let mut visit = region(visit);
        images.iter().for_each(|images| self.search_plain(images, Some(images), T::ZERO, &mut visit));
        Ok(())
    }
}

/// # Rays and motions
impl<const D: usize, T: Real> Reader<'_, D, T> {
    /// Visits the objects whose box the ray enters, not sorted by distance. The visitor gets the `t` of entry and returns the new length of the ray: the
    /// old one to see all objects, `t` to see only objects that are not farther away. A zero or NaN direction and a negative length are
    /// [`Error::InvalidQuery`].
    pub fn along_ray(&self, ray: &Ray<D, T>, visit: impl FnMut(Handle, T) -> ControlFlow<(), T>) -> Result<(), Error> {
        ensure_valid(ray.is_valid(), RAY)?;
        self.search_around(ray, &self.finite_reach(ray, ray.length)?, ray.length, visit)
    }

    /// The first object whose box the ray enters, with the `t` of entry; of several at the same `t`, the one with the smallest index.
    pub fn first_along_ray(&self, ray: &Ray<D, T>) -> Result<Option<(Handle, T)>, Error> {
        ensure_valid(ray.is_valid(), RAY)?;
        self.first(ray, ray.length)
    }

    /// Visits the objects whose box the moving box touches. The visitor gets the fraction of the step at the first touch, and returns the largest
    /// fraction that is still of interest: 1 for all.
    pub fn along_swept(&self, swept: &Swept<D, T>, visit: impl FnMut(Handle, T) -> ControlFlow<(), T>) -> Result<(), Error> {
        ensure_valid(swept.is_valid(), SWEPT)?;
        self.search_around(swept, &self.finite_reach(swept, T::ONE)?, T::ONE, visit)
    }

    /// The first object whose box the moving box touches, with the fraction of the step.
    pub fn first_along_swept(&self, swept: &Swept<D, T>) -> Result<Option<(Handle, T)>, Error> {
        ensure_valid(swept.is_valid(), SWEPT)?;
        self.first(swept, T::ONE)
    }

    /// Visits the objects whose box the moving ball touches. The visitor gets the fraction of the step at the first touch, and returns the largest
    /// fraction that is still of interest: 1 for all.
    pub fn along_swept_ball(
        &self,
        swept: &SweptBall<D, T>,
        visit: impl FnMut(Handle, T) -> ControlFlow<(), T>,
    ) -> Result<(), Error> {
        ensure_valid(swept.is_valid(), SWEPT)?;
        self.search_around(swept, &self.finite_reach(swept, T::ONE)?, T::ONE, visit)
    }

    /// The first object whose box the moving ball touches, with the fraction of the step.
    pub fn first_along_swept_ball(&self, swept: &SweptBall<D, T>) -> Result<Option<(Handle, T)>, Error> {
        ensure_valid(swept.is_valid(), SWEPT)?;
        self.first(swept, T::ONE)
    }
}

/// # All hits, sorted
impl<const D: usize, T: Real> Reader<'_, D, T> {
    /// All objects that the ray enters, nearest first, each with the `t` of entry.
    pub fn all_along_ray(&self, ray: &Ray<D, T>) -> Result<Vec<(Handle, T)>, Error> {
        ensure_valid(ray.is_valid(), RAY)?;
        self.all(ray, ray.length)
    }

    /// All objects that the moving box touches, earliest first, each with the fraction of the step.
    pub fn all_along_swept(&self, swept: &Swept<D, T>) -> Result<Vec<(Handle, T)>, Error> {
        ensure_valid(swept.is_valid(), SWEPT)?;
        self.all(swept, T::ONE)
    }

    /// All objects that the moving ball touches, earliest first, each with the fraction of the step.
    pub fn all_along_swept_ball(&self, swept: &SweptBall<D, T>) -> Result<Vec<(Handle, T)>, Error> {
        ensure_valid(swept.is_valid(), SWEPT)?;
        self.all(swept, T::ONE)
    }
}

const RAY: &str = "a ray needs a finite origin, a finite direction that is not zero, and a length of at least 0";
const SWEPT: &str = "a motion needs a valid box or ball and a finite displacement";

/// # The nearest
impl<const D: usize, T: Real> Reader<'_, D, T> {
    /// Fills `found` with the `k` objects nearest to a point, nearest first, with their distances (0 inside); of several at the same distance,
    /// those of the smallest index. Fewer if there are fewer, none for `k` = 0. A point that is not finite is [`Error::InvalidQuery`].
    ///
    /// Cost: O(log n) and up to O(k) for each candidate that is nearer than the k best so far. `found` keeps its memory.
    ///
    /// ```
    /// use broadphase::{Aabb, World2};
    /// let mut world = World2::new();
    /// let handles = world.insert_many(&[Aabb::point([3.0, 0.0]), Aabb::point([9.0, 0.0]), Aabb::point([0.0, 2.0])])?;
    /// let mut found = Vec::new();
    /// world.read()?.nearest([0.0, 0.0], 2, &mut found)?;
    /// assert_eq!(found, [(handles[2], 2.0), (handles[0], 3.0)]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn nearest(&self, point: [T; D], k: usize, found: &mut Vec<(Handle, T)>) -> Result<(), Error> {
        self.nearest_within(point, k, T::INFINITY, found)
    }

    /// [`nearest`](Reader::nearest), but none farther than `distance`, which must not be negative or NaN.
    pub fn nearest_within(&self, point: [T; D], k: usize, distance: T, found: &mut Vec<(Handle, T)>) -> Result<(), Error> {
        found.clear();
        self.append_nearest(point, k, distance, found)
    }

    /// Fills `found` with the `k` objects nearest to a box, none farther than `distance`, as [`nearest`](Reader::nearest) does for a
    /// point. Boxes that overlap have distance 0. A box that is not valid is [`Error::InvalidQuery`].
    ///
    /// ```
    /// use broadphase::{Aabb, World2};
    /// let mut world = World2::new();
    /// let [link, wall] = world.insert_many(&[Aabb::new([0.0, 0.0], [1.0, 1.0]), Aabb::new([4.0, 5.0], [9.0, 9.0])])?[..] else {
    ///     unreachable!()
    /// };
    /// let aabb = world.get_box(link)?;
    /// let mut found = Vec::new();
    /// world.read()?.excluding(link).nearest_to_box(&aabb, 1, f32::INFINITY, &mut found)?;
    /// assert_eq!(found, [(wall, 5.0)]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn nearest_to_box(&self, area: &Aabb<D, T>, k: usize, distance: T, found: &mut Vec<(Handle, T)>) -> Result<(), Error> {
        found.clear();
        self.append_nearest_to_box(area, k, distance, found)
    }

    /// The same, behind what `list` already holds.
    pub(super) fn append_nearest_to_box(
        &self,
        area: &Aabb<D, T>,
        k: usize,
        distance: T,
        list: &mut Vec<(Handle, T)>,
    ) -> Result<(), Error> {
        ensure_valid(area.is_valid(), "the box has a NaN corner, or min above max")?;
        let area = &self.world.period.map_or(*area, |period| period.open_long_sides(area));
        self.append_best(&NearestToBox(*area), area, k, distance, list)
    }

    /// The same, behind what `list` already holds.
    pub(super) fn append_nearest(&self, point: [T; D], k: usize, distance: T, list: &mut Vec<(Handle, T)>) -> Result<(), Error> {
        ensure_valid(point.iter().all(|c| c.is_finite()), "the nearest to a point that is not finite")?;
        self.append_best(&Nearest(point), &Aabb::point(point), k, distance, list)
    }

    /// The `k` best by a measure that gives squares of distances from `area`.
    fn append_best(
        &self,
        measure: &dyn Measure<D, T>,
        area: &Aabb<D, T>,
        k: usize,
        distance: T,
        list: &mut Vec<(Handle, T)>,
    ) -> Result<(), Error> {
        ensure_valid(distance >= T::ZERO, "the largest distance is negative or NaN")?;
        if k == 0 {
            return Ok(());
        }
        let (from, end, most) = (list.len(), list.len().saturating_add(k), distance * distance);
        let reach = self.world.period.map_or(*area, |period| period.around(area, distance));
        self.search_around(measure, &reach, most, |handle, at| {
            let before = |&(other, least): &(Handle, T)| least < at || (least == at && other < handle);
            let place = from + list[from..].partition_point(before);
            if place < end {
                list.truncate(end - 1);
                list.insert(place, (handle, at));
            }
            ControlFlow::Continue(if list.len() < end { most } else { list[end - 1].1 })
        })?;
        list[from..].iter_mut().for_each(|(_, at)| *at = at.sqrt());
        Ok(())
    }
}
