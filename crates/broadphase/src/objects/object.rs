//! What the user has: a box, and how it meets others.

use super::Tag;
use crate::geometry::{Aabb, Real};

/// How an object takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ObjectKind {
    /// Pairs with everything.
    #[default]
    Dynamic,
    /// Rarely changes: pairs with dynamic objects only, and lives in a structure of its own.
    Static,
    /// Moves by command, not by contact: pairs with dynamic objects only.
    Kinematic,
}

impl ObjectKind {
    /// Do objects of the two kinds pair at all? At least one must be dynamic.
    pub fn pairs_with(self, other: Self) -> bool {
        self == ObjectKind::Dynamic || other == ObjectKind::Dynamic
    }
}

/// An object to be inserted into a [`World`](crate::World). A bare [`Aabb`] is a dynamic object with the default of all else.
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
    /// Who may pair with it.
    pub tag: Tag,
    /// How it takes part.
    pub kind: ObjectKind,
    /// How much its box is grown on every side, beside the world's margin. Finite and not negative.
    pub margin: T,
    /// A number of the caller's.
    pub user: u64,
}

impl<const D: usize, T: Real> Object<D, T> {
    /// A dynamic object with that box, the default tag, no margin, and user data 0.
    pub fn new(aabb: Aabb<D, T>) -> Self {
        Self { aabb, tag: Tag::default(), kind: ObjectKind::Dynamic, margin: T::ZERO, user: 0 }
    }

    /// A static object with that box.
    pub fn fixed(aabb: Aabb<D, T>) -> Self {
        Self::new(aabb).with_kind(ObjectKind::Static)
    }

    /// With a tag.
    pub fn with_tag(mut self, tag: Tag) -> Self {
        self.tag = tag;
        self
    }

    /// Of another kind.
    pub fn with_kind(mut self, kind: ObjectKind) -> Self {
        self.kind = kind;
        self
    }

    /// With a margin.
    pub fn with_margin(mut self, margin: T) -> Self {
        self.margin = margin;
        self
    }

    /// With user data.
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
