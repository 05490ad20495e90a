//! The span of boxes on every axis: the least and the greatest coordinate of all.
//!
//! A box is `2 * D` scalars side by side, lower ends first. Least and greatest are taken over runs of [`RUN`] scalars, lane by lane, so that
//! lane `i` has seen the coordinates of axis `i % D` alone: lower and upper ends alike, since no lower end is above its upper one. The
//! loop over a run is plain code that the compiler turns into registers of the instruction set that the kernel is entered with.

use super::arch::{Kernel, Simd};
use super::isa::Kernels;
use crate::geometry::{Aabb, Real};

/// Scalars of a run: whole boxes in 2D and 3D, and whole registers of 2 to 8 lanes.
const RUN: usize = 24;

/// The box around all `boxes`; the empty box if there are none. Infinite sides make it infinite.
pub(crate) fn span<const D: usize, T: Real>(kernels: Kernels, boxes: &[Aabb<D, T>]) -> Aabb<D, T> {
    kernels.run(Span { boxes })
}

struct Span<'a, const D: usize, T> {
    boxes: &'a [Aabb<D, T>],
}

impl<const D: usize, T: Real> Kernel for Span<'_, D, T> {
    type Output = Aabb<D, T>;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Aabb<D, T> {
        const { assert!(RUN.is_multiple_of(2 * D) && size_of::<Aabb<D, T>>() == 2 * D * size_of::<T>()) };
        let runs = self.boxes.chunks_exact(RUN / (2 * D));
        let mut span = runs.remainder().iter().fold(Aabb::empty(), |span: Aabb<D, T>, value| span.union(value));
        let (mut least, mut greatest) = ([T::INFINITY; RUN], [T::NEG_INFINITY; RUN]);
        for run in runs {
            // SAFETY: (in bounds) a box is `2 * D` scalars without padding, as asserted, so these boxes are RUN scalars.
            let scalars = unsafe { &*run.as_ptr().cast::<[T; RUN]>() };
            for lane in 0..RUN {
                least[lane] = if scalars[lane] < least[lane] { scalars[lane] } else { least[lane] };
                greatest[lane] = if scalars[lane] > greatest[lane] { scalars[lane] } else { greatest[lane] };
            }
        }
        for lane in 0..RUN {
            let axis = lane % D;
            span.min[axis] = span.min[axis].min(least[lane]);
            span.max[axis] = span.max[axis].max(greatest[lane]);
        }
        span
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Isa;

    fn agrees<const D: usize, T: Real>() {
        let mut state = 9u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            T::from_f64((state >> 40) as f64 - (1u64 << 23) as f64)
        };
        for len in (0..30).chain([100, 1001]) {
            let mut boxes: Vec<Aabb<D, T>> = (0..len)
                .map(|_| {
                    let min: [T; D] = std::array::from_fn(|_| random());
                    Aabb::new(min, min.map(|low| low + T::from_f64(100.0)))
                })
                .collect();
            for infinite in [false, true] {
                if infinite && len > 0 {
                    boxes[len / 2].min[D - 1] = T::NEG_INFINITY;
                }
                let expected = boxes.iter().fold(Aabb::empty(), |all: Aabb<D, T>, value| all.union(value));
                for isa in Isa::available() {
                    assert_eq!(span(Kernels::new(isa).unwrap(), &boxes), expected, "{len} boxes, {isa:?}");
                }
            }
        }
    }

    #[test]
    fn it_is_the_union_of_all_boxes_on_every_isa() {
        agrees::<2, f32>();
        agrees::<3, f32>();
        agrees::<2, f64>();
        agrees::<3, f64>();
    }
}
