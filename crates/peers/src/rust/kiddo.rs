//! kiddo: a k-d tree over points, so over the centers of balls.

use broadphase::{Aabb, Ball, Pair, Real};
use kiddo::{ImmutableKdTree, SquaredEuclidean};

use crate::{Peer, PeerError};

/// What one dimension and scalar need of kiddo; its own bounds cannot be named outside of it.
pub(crate) trait Points<const D: usize>: Real {
    /// The tree over the centers.
    type Tree: Send;
    /// Builds it; the error is kiddo's.
    fn tree(centers: &[[Self; D]]) -> Result<Self::Tree, String>;
    /// Visits the objects whose centers are at most as far as the root of `squared` away.
    fn near(tree: &Self::Tree, center: &[Self; D], squared: Self, visit: impl FnMut(u32));
}

macro_rules! points {
    ($t:ident, $d:literal) => {
        impl Points<$d> for $t {
            type Tree = ImmutableKdTree<$t, $d>;

            fn tree(centers: &[[$t; $d]]) -> Result<Self::Tree, String> {
                ImmutableKdTree::new_from_slice(centers).map_err(|error| format!("{error:?}"))
            }

            #[inline(always)]
            fn near(tree: &Self::Tree, center: &[$t; $d], squared: $t, mut visit: impl FnMut(u32)) {
                let query = tree.query(center).within::<SquaredEuclidean<$t>>(squared).unsorted();
                query.without_distances().visit(|found| visit(found.item));
            }
        }
    };
}

points!(f32, 2);
points!(f64, 2);
points!(f32, 3);
points!(f64, 3);

/// The immutable tree, kiddo's form for queries, is built each frame on one thread. Each object queries for the centers within its
/// reach and keeps the larger ids whose balls pass the exact test.
///
/// The reach is the object's radius plus the largest one, squared and grown by 16 roundings: kiddo may round a distance otherwise
/// than the exact test does. Unequal balls are still found, at the cost of the largest.
pub(crate) struct Kiddo<const D: usize, T: Points<D>> {
    balls: Vec<Ball<D, T>>,
    centers: Vec<[T; D]>,
    largest: T,
    tree: Option<T::Tree>,
}

impl<const D: usize, T: Points<D>> Default for Kiddo<D, T> {
    fn default() -> Self {
        Self { balls: Vec::new(), centers: Vec::new(), largest: T::ZERO, tree: None }
    }
}

impl<const D: usize, T: Points<D>> Peer<D, T> for Kiddo<D, T> {
    fn update(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), PeerError> {
        self.balls.clear();
        self.balls.extend(boxes.iter().map(Ball::of_box));
        self.centers.clear();
        self.centers.extend(self.balls.iter().map(|ball| ball.center));
        self.largest = self.balls.iter().fold(T::ZERO, |largest, ball| largest.max(ball.radius));
        self.tree = None;
        if !boxes.is_empty() {
            let tree = T::tree(&self.centers).map_err(|reason| PeerError::Failed { peer: "kiddo", reason })?;
            self.tree = Some(tree);
        }
        Ok(())
    }

    fn detect(&mut self, _: &[Aabb<D, T>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        out.clear();
        let Some(tree) = &self.tree else { return Ok(()) };
        let grown = T::ONE + (T::ONE.next_up() - T::ONE) * T::from_f64(16.0);
        for (a, ball) in self.balls.iter().enumerate() {
            let reach = ball.radius + self.largest;
            let a = a as u32;
            T::near(tree, &ball.center, (reach * reach * grown).next_up(), |b| {
                if a < b && ball.overlaps(&self.balls[b as usize]) {
                    out.push(Pair { a, b });
                }
            });
        }
        Ok(())
    }

    /// The library does not report its nodes.
    fn bytes(&self) -> Option<usize> {
        None
    }
}
