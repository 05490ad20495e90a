//! Which objects may pair: layers, masks, groups and environments.

/// Decides which pairs are reported: both objects must allow the other.
///
/// ```
/// use broadphase::Tag;
/// const BULLET: u32 = 1 << 0;
/// const ENEMY: u32 = 1 << 1;
/// let bullet = Tag::in_layers(BULLET).meeting(ENEMY);
/// let enemy = Tag::in_layers(ENEMY).meeting(BULLET | ENEMY);
/// assert!(bullet.allows(&enemy) && enemy.allows(&enemy) && !bullet.allows(&bullet));
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tag {
    /// The layers the object is in, one bit each.
    pub layer: u32,
    /// The layers it meets, one bit each.
    pub mask: u32,
    /// Objects of the same group never pair, as the parts of one body; 0 means no group.
    pub group: u32,
    /// Objects of different environments never pair, except that environment 0 pairs with all. A [`World`](crate::World) keeps each in a structure of
    /// its own, so many simulations at the same place cost what they would cost far apart. Bad case: most objects in environment 0.
    pub env: u32,
}

impl Default for Tag {
    /// The tag of an object in all layers, which meets all layers, in no group and in environment 0.
    fn default() -> Self {
        Self { layer: u32::MAX, mask: u32::MAX, group: 0, env: 0 }
    }
}

impl Tag {
    /// The tag of an object in these layers, one bit each, which meets all layers. To restrict those, call [`meeting`](Tag::meeting).
    pub const fn in_layers(layers: u32) -> Self {
        Self::new(layers, u32::MAX)
    }

    /// Sets the layers that the object meets, one bit each. Two objects pair only if each meets a layer of the other.
    pub const fn meeting(mut self, layers: u32) -> Self {
        self.mask = layers;
        self
    }

    /// The tag of an object in the layers `layer`, which meets the layers `mask`: [`in_layers`](Tag::in_layers) and
    /// [`meeting`](Tag::meeting) in one call.
    pub const fn new(layer: u32, mask: u32) -> Self {
        Self { layer, mask, group: 0, env: 0 }
    }

    /// Sets the group.
    pub const fn with_group(mut self, group: u32) -> Self {
        self.group = group;
        self
    }

    /// Sets the environment.
    pub const fn with_env(mut self, env: u32) -> Self {
        self.env = env;
        self
    }

    /// May objects with these two tags pair? Symmetric.
    #[inline(always)]
    pub fn allows(&self, other: &Self) -> bool {
        (self.layer & other.mask != 0)
            & (other.layer & self.mask != 0)
            & ((self.group == 0) | (self.group != other.group))
            & ((self.env == 0) | (other.env == 0) | (self.env == other.env))
    }
}
