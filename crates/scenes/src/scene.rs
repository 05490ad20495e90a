//! What every scene offers: the boxes of this frame, and the step to the next.

use broadphase::Aabb;

/// A generator of frames. Deterministic: its description, `n` and the seed decide every bit of every frame.
pub trait Scene<const D: usize>: Send {
    /// The boxes of the current frame; of frame 0 after [`build`](crate::SceneSpec::build). Object `i` keeps its place.
    fn boxes(&self) -> &[Aabb<D, f32>];

    /// Goes to the next frame.
    fn advance(&mut self);
}

/// A scene of either dimension.
pub enum AnyScene {
    /// In the plane.
    Two(Box<dyn Scene<2>>),
    /// In space.
    Three(Box<dyn Scene<3>>),
}

impl AnyScene {
    /// 2 or 3.
    pub fn dim(&self) -> usize {
        match self {
            Self::Two(_) => 2,
            Self::Three(_) => 3,
        }
    }

    /// Goes to the next frame.
    pub fn advance(&mut self) {
        match self {
            Self::Two(scene) => scene.advance(),
            Self::Three(scene) => scene.advance(),
        }
    }
}

impl std::fmt::Debug for AnyScene {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n = match self {
            Self::Two(scene) => scene.boxes().len(),
            Self::Three(scene) => scene.boxes().len(),
        };
        write!(f, "AnyScene({}D, {n} objects)", self.dim())
    }
}
