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
    /// Objects of the same group, unless it is 0, never pair: the parts of one body.
    pub group: u32,
    /// Objects of different environments never pair; environment 0 meets all. A [`World`](crate::World) keeps them in structures of their
    /// own, so that many simulations at the same place cost what they would cost far apart. Bad case: most objects in environment 0.
    pub env: u32,
}

impl Default for Tag {
    /// In all layers, meeting all, in no group, in environment 0.
    fn default() -> Self {
        Self { layer: u32::MAX, mask: u32::MAX, group: 0, env: 0 }
    }
}

impl Tag {
    /// In these layers, one bit each, and meeting all layers: narrow that down with [`meeting`](Tag::meeting).
    pub const fn in_layers(layers: u32) -> Self {
        Self::new(layers, u32::MAX)
    }

    /// Meeting these layers only, one bit each. Two objects pair only if each meets a layer of the other.
    pub const fn meeting(mut self, layers: u32) -> Self {
        self.mask = layers;
        self
    }

    /// In the layers of `layer`, meeting those of `mask`, no group, environment 0: [`in_layers`](Tag::in_layers) and
    /// [`meeting`](Tag::meeting) in one call.
    pub const fn new(layer: u32, mask: u32) -> Self {
        Self { layer, mask, group: 0, env: 0 }
    }

    /// With a group.
    pub const fn with_group(mut self, group: u32) -> Self {
        self.group = group;
        self
    }

    /// With an environment.
    pub const fn with_env(mut self, env: u32) -> Self {
        self.env = env;
        self
    }

    /// May the two pair? Symmetric.
    #[inline(always)]
    pub fn allows(&self, other: &Self) -> bool {
        (self.layer & other.mask != 0)
            & (other.layer & self.mask != 0)
            & ((self.group == 0) | (self.group != other.group))
            & ((self.env == 0) | (other.env == 0) | (self.env == other.env))
    }
}
