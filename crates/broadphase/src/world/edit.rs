//! Inserting, removing and changing objects, one by one and many at once.

use super::{ContinuousDetection, World};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::{Handle, Object, ObjectKind, Shape, Tag};

/// # Objects
///
/// A change is recorded at once and costs O(1); it is applied to structures and pairs by the next [`update`](World::update) or
/// [`read`](World::read). A handle without an object in this world is [`Error::StaleHandle`], and an invalid box is
/// [`Error::InvalidBox`].
impl<const D: usize, T: Real> World<D, T> {
    /// Inserts an object: an [`Aabb`], or an [`Object`] with tag, kind, margin and user data.
    ///
    /// ```
    /// use broadphase::{Aabb, Error, Object, World3};
    /// let mut world = World3::new();
    /// let handle = world.insert(Object::new(Aabb::point([1.0; 3])).with_user(42))?;
    /// assert_eq!(world.user(handle)?, 42);
    /// assert!(matches!(world.insert(Aabb::point([f32::NAN; 3])), Err(Error::InvalidBox { .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn insert(&mut self, object: impl Into<Object<D, T>>) -> Result<Handle, Error> {
        let object = object.into();
        self.motion.reserve(self.table.movers.slots.len() + 1)?;
        let handle = self.table.insert(&object, None)?;
        self.begin_path(handle, &object);
        Ok(handle)
    }

    /// Inserts all objects, or none if one is invalid; the error names its position in the list.
    pub fn insert_many<O: Into<Object<D, T>> + Copy>(&mut self, objects: &[O]) -> Result<Vec<Handle>, Error> {
        self.motion.reserve(self.table.movers.slots.len() + objects.len())?;
        let handles = self.table.insert_many(objects)?;
        if self.motion.detection != ContinuousDetection::None {
            handles.iter().zip(objects).for_each(|(&handle, &object)| self.begin_path(handle, &object.into()));
        }
        Ok(handles)
    }

    /// Starts a new object's path at its previous box, or where it is.
    fn begin_path(&mut self, handle: Handle, object: &Object<D, T>) {
        if object.kind != ObjectKind::Static {
            let (_, slot) = self.table.place(handle.index);
            self.motion.begin_at(slot, object.previous.unwrap_or(object.aabb));
        }
    }

    /// Removes an object, and returns its properties. Its pairs end with the next update.
    pub fn remove(&mut self, handle: Handle) -> Result<Object<D, T>, Error> {
        self.table.remove(handle)
    }

    /// Removes all listed objects, or none if a handle is stale or in the list twice.
    pub fn remove_many(&mut self, handles: &[Handle]) -> Result<(), Error> {
        self.table.remove_many(handles)
    }

    /// Removes all objects. Their pairs end with the next update; memory and settings stay.
    pub fn clear(&mut self) {
        let handles: Vec<Handle> = self.table.handles().collect();
        for handle in handles {
            let removed = self.table.remove(handle);
            debug_assert!(removed.is_ok(), "a handle from the table is valid");
        }
    }

    /// Makes room for more movers and statics.
    pub fn reserve(&mut self, movers: usize, statics: usize) -> Result<(), Error> {
        self.table.reserve(movers, statics)
    }

    /// Moves or resizes an object. Setting the same box again is not a change.
    #[inline]
    pub fn set_box(&mut self, handle: Handle, aabb: Aabb<D, T>) -> Result<(), Error> {
        self.table.set_box(handle, &aabb)
    }

    /// Moves or resizes the listed objects, of any kind; on error, none. If a handle is listed twice, its last box counts.
    ///
    /// In a world without statics and margins, a long list is compared with the old boxes on all threads of the [context](World::set_context). If its
    /// handles ascend, and most objects move, it is also copied on all of them.
    ///
    /// ```
    /// use broadphase::{Aabb, World2};
    /// let mut world = World2::new();
    /// let handles = world.insert_many(&[Aabb::point([0.0, 0.0]), Aabb::point([1.0, 1.0]), Aabb::point([2.0, 2.0])])?;
    /// world.set_boxes_of(&[(handles[2], Aabb::point([5.0, 5.0])), (handles[0], Aabb::point([5.0, 5.0]))])?;
    /// assert_eq!(world.update()?.started(), [(handles[0], handles[2])]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn set_boxes_of(&mut self, list: &[(Handle, Aabb<D, T>)]) -> Result<(), Error> {
        self.table.set_boxes_of(list, &self.context)
    }

    /// Sets the boxes of all movers, in the order of [`movers`](World::movers), not of handles: that is the order of insertion
    /// only until an object is removed, after which a new object takes the free place. To set boxes by handle, call
    /// [`set_boxes_of`](World::set_boxes_of). Boxes that did not change are detected, and cost next to nothing. On error no box is set.
    ///
    /// This is the fastest way to move many objects: boxes are compared and copied on all threads of the [context](World::set_context).
    ///
    /// ```
    /// use broadphase::{Aabb, World2};
    /// let mut world = World2::new();
    /// let old = world.insert_many(&[Aabb::point([0.0, 0.0]), Aabb::point([1.0, 1.0])])?;
    /// world.update()?;
    /// world.remove(old[0])?;
    /// world.update()?;
    /// let new = world.insert(Aabb::point([2.0, 2.0]))?;
    /// // The new object has taken the first place.
    /// assert_eq!(world.movers().collect::<Vec<_>>(), [new, old[1]]);
    /// world.set_mover_boxes(&[Aabb::point([8.0, 8.0]), Aabb::point([9.0, 9.0])])?;
    /// assert_eq!(world.get_box(new)?, Aabb::point([8.0, 8.0]));
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn set_mover_boxes(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), Error> {
        self.table.set_boxes(boxes, &self.context)
    }

    /// Like [`set_mover_boxes`](World::set_mover_boxes), but swaps the list instead of copying it: `boxes` has one box for each of
    /// [`mover_slots`](World::mover_slots), at the object's [`slot`](World::slot), and anything at empty slots. It receives the boxes
    /// that the movers had. On error both lists are unchanged.
    pub fn swap_boxes(&mut self, boxes: &mut Vec<Aabb<D, T>>) -> Result<(), Error> {
        self.table.swap_boxes(boxes, &self.context)
    }

    /// The number of mover slots, empty ones included.
    pub fn mover_slots(&self) -> usize {
        self.table.movers.slots.len()
    }

    /// The slot of an object among the movers, or `None` for a static one. It stays until the object is removed or becomes static.
    pub fn slot(&self, handle: Handle) -> Result<Option<u32>, Error> {
        let index = self.table.find(handle)?;
        let (_, slot) = self.table.place(index);
        Ok((self.table.object(index).kind != ObjectKind::Static).then_some(slot))
    }

    /// Changes an object's tag, which decides what it may pair with.
    pub fn set_tag(&mut self, handle: Handle, tag: Tag) -> Result<(), Error> {
        self.table.set_tag(handle, tag)
    }

    /// Changes the shape that an object's box stands for; `None`: the [world's](World::world_shape). A ball and a box are a pair if their boxes
    /// overlap and the ball reaches the box ([`Ball::overlaps_box`](crate::Ball::overlaps_box)), margins included. An algorithm that
    /// supports only balls (`particle-grid`) rejects a world in which a mover has a shape of its own.
    ///
    /// ```
    /// use broadphase::{Aabb, Shape, World2};
    /// let mut world = World2::new();
    /// let ball = world.insert(Aabb::new([0.0, 0.0], [2.0, 2.0]))?;
    /// let crate_ = world.insert(Aabb::new([1.9, 1.9], [4.0, 4.0]))?;
    /// assert_eq!(world.update()?.started(), [(ball, crate_)]);
    /// world.set_shape(ball, Some(Shape::Ball))?;
    /// assert_eq!(world.update()?.ended(), [(ball, crate_)]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn set_shape(&mut self, handle: Handle, shape: Option<Shape>) -> Result<(), Error> {
        self.table.set_shape(handle, shape)
    }

    /// The shape that an object's box stands for.
    pub fn object_shape(&self, handle: Handle) -> Result<Shape, Error> {
        Ok(self.object(handle)?.shape.unwrap_or(self.shape))
    }

    /// Changes an object's user data.
    pub fn set_user(&mut self, handle: Handle, user: u64) -> Result<(), Error> {
        self.table.set_user(handle, user)
    }

    /// Makes an object a sensor (trigger volume), or no longer one; see [`Pairing`](crate::Pairing).
    pub fn set_sensor(&mut self, handle: Handle, sensor: bool) -> Result<(), Error> {
        self.table.set_sensor(handle, sensor)
    }

    /// Changes an object's kind; its handle stays valid.
    ///
    /// # Sleeping
    /// An object at rest needs no call: do not set its box, and it sleeps. It keeps its kind, its pairs and their values, and starts or ends no pair
    /// unless something else moves. It costs nothing while most movers rest, and never more than one that moves. Setting another box wakes it; setting
    /// the same box again is not a change. So an engine skips `set_box` for the bodies that its solver has put to sleep, as it would not put them
    /// into the move buffer of Box2D or the list of active bodies of Jolt. To let the solver skip pairs of two sleepers, look its own flags up by
    /// [`user`](World::user) or [`Handle::index`].
    ///
    /// Do not make a sleeping object static: that ends its pairs with statics and with other sleepers, and moves it to another structure.
    ///
    /// ```
    /// use broadphase::{Aabb, Object, World2};
    /// let mut world = World2::new();
    /// let floor = world.insert(Object::fixed(Aabb::new([0.0, -1.0], [100.0, 0.0])))?;
    /// let rows = (0..100).map(|i| Aabb::new([i as f32, 0.0], [i as f32 + 0.5, 1.0]));
    /// let bodies = world.insert_many(&rows.collect::<Vec<_>>())?;
    /// world.update()?;
    /// assert_eq!(world.update()?.len(), 100); // all are asleep on the floor: the pairs are kept,
    /// assert_eq!(world.tests(), 0); // and nothing is tested
    /// world.set_box(bodies[3], Aabb::new([3.0, 1.0], [3.5, 2.0]))?; // one wakes up and jumps
    /// assert_eq!(world.update()?.ended(), [(floor, bodies[3])]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    #[doc(alias("sleep", "sleeping", "wake", "deactivate"))]
    pub fn set_kind(&mut self, handle: Handle, kind: ObjectKind) -> Result<(), Error> {
        let before = self.slot(handle)?;
        self.table.set_kind(handle, kind)?;
        if self.slot(handle)? != before {
            self.forget_path(handle)?; // an object that was static has no path
        }
        Ok(())
    }

    /// Changes an object's own margin. A margin that is negative, infinite or NaN is [`Error::InvalidMargin`].
    pub fn set_margin(&mut self, handle: Handle, margin: T) -> Result<(), Error> {
        self.table.set_margin(handle, margin)
    }

    /// All properties of an object.
    pub fn object(&self, handle: Handle) -> Result<Object<D, T>, Error> {
        Ok(self.table.object(self.table.find(handle)?))
    }

    /// The box of an object, as it was set.
    pub fn get_box(&self, handle: Handle) -> Result<Aabb<D, T>, Error> {
        Ok(self.object(handle)?.aabb)
    }

    /// The box of an object, grown by its margin and the world's, which pairs and queries use.
    pub fn grown_box(&self, handle: Handle) -> Result<Aabb<D, T>, Error> {
        let (side, slot) = self.table.place(self.table.find(handle)?);
        Ok(side.boxes[slot as usize])
    }

    /// The tag of an object.
    pub fn tag(&self, handle: Handle) -> Result<Tag, Error> {
        Ok(self.object(handle)?.tag)
    }

    /// The user data of an object.
    pub fn user(&self, handle: Handle) -> Result<u64, Error> {
        Ok(self.table.user(self.table.find(handle)?))
    }

    /// The kind of an object.
    pub fn kind(&self, handle: Handle) -> Result<ObjectKind, Error> {
        Ok(self.object(handle)?.kind)
    }

    /// An object's own margin.
    pub fn margin(&self, handle: Handle) -> Result<T, Error> {
        Ok(self.object(handle)?.margin)
    }

    /// Does the handle belong to an object in this world?
    pub fn contains(&self, handle: Handle) -> bool {
        self.table.find(handle).is_ok()
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Are there no objects?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All objects with their boxes, as they were set, by index.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, Aabb<D, T>)> + '_ {
        self.table.handles().map(|handle| {
            let (side, slot) = self.table.place(handle.index);
            (handle, side.plain(slot))
        })
    }

    /// The movers (dynamic and kinematic objects) in the order of their slots.
    pub fn movers(&self) -> impl Iterator<Item = Handle> + '_ {
        let side = &self.table.movers;
        side.slots.ids().map(|slot| self.table.handle(side.owners[slot as usize]))
    }
}
