//! Objects: a box, with the properties that decide which pairs it forms.

use super::{Shape, Tag};
use crate::geometry::{Aabb, Ball, Real};

/// How an object moves, which decides which pairs it forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ObjectKind {
    /// Pairs with everything.
    #[default]
    Dynamic,
    /// Rarely changes. Pairs with dynamic objects only. Statics have a structure of their own.
    Static,
    /// Moved by the program, not by contacts. Pairs with dynamic objects only.
    Kinematic,
}

impl ObjectKind {
    /// Do objects of the two kinds pair by default ([`Pairing::CONTACTS`])? At least one must be dynamic.
    pub fn pairs_with(self, other: Self) -> bool {
        self == ObjectKind::Dynamic || other == ObjectKind::Dynamic
    }
}

/// Which kinds of objects pair. Dynamic objects pair with all; two statics never pair; the two fields decide the rest.
///
/// [Sensors](Object::sensor) pair with objects of every kind regardless of the fields, but not with each other; a static sensor does not pair with
/// statics.
///
/// | | dynamic | kinematic | static | sensor |
/// | --- | --- | --- | --- | --- |
/// | dynamic | yes | yes | yes | yes |
/// | kinematic | yes | `kinematic_kinematic` | `kinematic_static` | yes |
/// | static | yes | `kinematic_static` | no | unless both are static |
/// | sensor | yes | yes | unless both are static | no |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pairing {
    /// Do two kinematic objects pair: platforms with platforms, characters with doors?
    pub kinematic_kinematic: bool,
    /// Do a kinematic and a static object pair: a character with the ground?
    pub kinematic_static: bool,
}

impl Pairing {
    /// Dynamic objects pair with all, kinematic ones with dynamic ones only: what contacts need.
    pub const CONTACTS: Self = Self { kinematic_kinematic: false, kinematic_static: false };
    /// Everything pairs except two statics.
    pub const ALL: Self = Self { kinematic_kinematic: true, kinematic_static: true };

    /// May two objects pair? Each is given as its kind, and whether it is a sensor.
    pub fn allows(self, a: (ObjectKind, bool), b: (ObjectKind, bool)) -> bool {
        use ObjectKind::{Dynamic, Kinematic, Static};
        match (a.0, b.0) {
            (Static, Static) => false,
            _ if a.1 && b.1 => false,
            _ if a.1 || b.1 => true,
            (Dynamic, _) | (_, Dynamic) => true,
            (Kinematic, Kinematic) => self.kinematic_kinematic,
            (Kinematic, Static) | (Static, Kinematic) => self.kinematic_static,
        }
    }
}

/// An object to be inserted into a [`World`](crate::World). A bare [`Aabb`] converts to a dynamic object with the default of everything else.
///
/// ```
/// use broadphase::{Aabb, Object, ObjectKind, Tag};
/// let wall = Object::new(Aabb::new([0.0, 0.0], [10.0, 1.0])).with_kind(ObjectKind::Static).with_tag(Tag::new(1, 2)).with_user(77);
/// assert_eq!((wall.margin, wall.user), (0.0, 77));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Object<const D: usize, T> {
    /// The box, without margin.
    pub aabb: Aabb<D, T>,
    /// Which objects may pair with it.
    pub tag: Tag,
    /// Dynamic, static or kinematic.
    pub kind: ObjectKind,
    /// How much its box is grown on every side, in addition to the world's margin. Finite and not negative.
    pub margin: T,
    /// A number for the caller's use.
    pub user: u64,
    /// The shape that its box stands for; `None`: the [world's](crate::World::world_shape).
    pub shape: Option<Shape>,
    /// Is it a trigger volume, which only detects others? See [`Pairing`].
    pub sensor: bool,
    /// Where a new object was at the last update, for [continuous detection](crate::ContinuousDetection); `None`: where it is inserted. Only
    /// read when the object is inserted.
    pub previous: Option<Aabb<D, T>>,
}

impl<const D: usize, T: Real> Object<D, T> {
    /// A dynamic object with that box, the default tag, no margin, and user data 0.
    pub fn new(aabb: Aabb<D, T>) -> Self {
        Self {
            aabb,
            tag: Tag::default(),
            kind: ObjectKind::Dynamic,
            margin: T::ZERO,
            user: 0,
            shape: None,
            sensor: false,
            previous: None,
        }
    }

    /// A dynamic object that is a ball. It is stored as the box around it: its center and radius are those that [`Ball::of_box`] computes from that
    /// box, which may differ from the given ones by rounding.
    ///
    /// ```
    /// use broadphase::{Aabb, Ball, Object, World2};
    /// let mut world = World2::new();
    /// world.insert(Object::ball(Ball { center: [0.0, 0.0], radius: 1.0 }))?;
    /// world.insert(Aabb::new([0.8, 0.8], [2.0, 2.0]))?; // in the corner of the ball's box, and not in the ball
    /// assert_eq!(world.update()?.len(), 0);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn ball(ball: Ball<D, T>) -> Self {
        Self::new(ball.bounds()).with_shape(Shape::Ball)
    }

    /// A static object with that box.
    pub fn fixed(aabb: Aabb<D, T>) -> Self {
        Self::new(aabb).with_kind(ObjectKind::Static)
    }

    /// Sets the tag.
    pub fn with_tag(mut self, tag: Tag) -> Self {
        self.tag = tag;
        self
    }

    /// Sets the kind.
    pub fn with_kind(mut self, kind: ObjectKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the margin.
    pub fn with_margin(mut self, margin: T) -> Self {
        self.margin = margin;
        self
    }

    /// Makes it a sensor.
    pub fn as_sensor(mut self) -> Self {
        self.sensor = true;
        self
    }

    /// Sets the shape, which overrides the world's.
    pub fn with_shape(mut self, shape: Shape) -> Self {
        self.shape = Some(shape);
        self
    }

    /// Sets the box that it had before: with [continuous detection](crate::ContinuousDetection), its first update finds what it hits on the way from
    /// there to its current box.
    ///
    /// ```
    /// use broadphase::{Aabb, ContinuousDetection, Object, World2};
    /// let mut world = World2::new();
    /// world.set_continuous_detection(ContinuousDetection::Swept)?;
    /// let wall = world.insert(Object::fixed(Aabb::new([5.0, 0.0], [5.1, 9.0])))?;
    /// world.update()?;
    /// // Fired from x = 0 in this frame, already behind the wall at its end.
    /// let bullet = world.insert(Object::new(Aabb::point([10.0, 4.0])).moved_from(Aabb::point([0.0, 4.0])))?;
    /// let update = world.update()?;
    /// let hit = update.started().get(0).unwrap();
    /// assert_eq!((hit.a, hit.b, hit.time), (wall, bullet, 0.5));
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn moved_from(mut self, previous: Aabb<D, T>) -> Self {
        self.previous = Some(previous);
        self
    }

    /// Sets the user data.
    pub fn with_user(mut self, user: u64) -> Self {
        self.user = user;
        self
    }
}

impl<const D: usize, T: Real> From<Aabb<D, T>> for Object<D, T> {
    fn from(aabb: Aabb<D, T>) -> Self {
        Self::new(aabb)
    }
}
