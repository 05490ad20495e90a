//! World coordinates to 16 bits.

use broadphase::{Aabb, Real};

/// The largest coordinate on the wire.
pub const END: f64 = 65_535.0;

/// The part of the world that a message covers, always with three axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// The lower corner.
    pub min: [f64; 3],
    /// The upper corner.
    pub max: [f64; 3],
}

impl Window {
    /// Nothing, to be grown.
    pub const EMPTY: Self = Self { min: [f64::INFINITY; 3], max: [f64::NEG_INFINITY; 3] };

    /// Around all finite coordinates.
    pub fn around<const D: usize, T: Real>(boxes: &[Aabb<D, T>]) -> Self {
        let mut window = Self::EMPTY;
        boxes.iter().for_each(|value| window.include(value));
        window
    }

    fn include<const D: usize, T: Real>(&mut self, value: &Aabb<D, T>) {
        for k in 0..D {
            for at in [value.min[k].to_f64(), value.max[k].to_f64()] {
                // No box is drawn wider than f32 reaches.
                if at.is_finite() && at.abs() < 1e37 {
                    self.min[k] = self.min[k].min(at);
                    self.max[k] = self.max[k].max(at);
                }
            }
        }
    }

    /// Around both.
    pub fn union(self, other: Self) -> Self {
        Self {
            min: std::array::from_fn(|k| self.min[k].min(other.min[k])),
            max: std::array::from_fn(|k| self.max[k].max(other.max[k])),
        }
    }

    /// Does it hold the other one?
    pub fn holds(&self, other: &Self) -> bool {
        (0..3).all(|k| other.min[k] > other.max[k] || (self.min[k] <= other.min[k] && other.max[k] <= self.max[k]))
    }

    /// With room on all sides, and no side without length: an axis without coordinates is -1 to 1 (0 to 0 if it is the third of a plane).
    pub fn with_room(mut self, dim: usize, share: f64) -> Self {
        for k in 0..3 {
            if k >= dim {
                (self.min[k], self.max[k]) = (0.0, 0.0);
                continue;
            }
            if self.min[k] > self.max[k] {
                (self.min[k], self.max[k]) = (-1.0, 1.0);
            }
            let length = self.max[k] - self.min[k];
            let more = if length > 0.0 { length * share } else { self.max[k].abs().max(1.0) * share };
            (self.min[k], self.max[k]) = (self.min[k] - more, self.max[k] + more);
        }
        self
    }

    /// The length of one step of a coordinate on the wire.
    pub fn step(&self) -> [f64; 3] {
        std::array::from_fn(|k| (self.max[k] - self.min[k]) / END)
    }

    /// Does the box reach into the window?
    pub fn reaches<const D: usize, T: Real>(&self, value: &Aabb<D, T>) -> bool {
        (0..D).all(|k| value.min[k].to_f64() <= self.max[k] && value.max[k].to_f64() >= self.min[k])
    }
}

/// From coordinates to the wire.
#[derive(Clone, Copy, Debug)]
pub struct Quantizer {
    origin: [f64; 3],
    scale: [f64; 3],
}

impl Quantizer {
    /// Of a window.
    pub fn new(window: &Window) -> Self {
        let scale = window.step().map(|step| if step > 0.0 { 1.0 / step } else { 0.0 });
        Self { origin: window.min, scale }
    }

    /// Both corners, clamped to the window; rounded to the nearest step.
    #[inline]
    pub fn corners<const D: usize, T: Real>(&self, value: &Aabb<D, T>) -> ([u16; 3], [u16; 3]) {
        let place = |at: T, k: usize| ((at.to_f64() - self.origin[k]) * self.scale[k] + 0.5) as u16; // saturates; NaN is 0
        let side = |corner: &[T; D]| std::array::from_fn(|k| if k < D { place(corner[k], k) } else { 0 });
        (side(&value.min), side(&value.max))
    }
}

/// A value between two limits, as 0 to `steps`; on a logarithmic scale where the limits are far apart.
pub fn level(value: f64, range: [f64; 2], steps: f64) -> f64 {
    let [low, high] = range;
    let share =
        if is_logarithmic(range) { (value.max(low) / low).ln() / (high / low).ln() } else { (value - low) / (high - low) };
    if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) * steps }
}

/// Does a range need a logarithmic scale?
pub fn is_logarithmic([low, high]: [f64; 2]) -> bool {
    low > 0.0 && high > 8.0 * low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_come_back_within_half_a_step_and_infinite_sides_end_at_the_window() {
        let boxes =
            [Aabb::new([-3.0f64, 1e6, 5.0], [4.0, 1e6 + 7.0, f64::INFINITY]), Aabb::new([0.0, 1e6, 1.0], [9.0, 1e6, 2.0])];
        let window = Window::around(&boxes).with_room(3, 0.1);
        let (quantizer, step) = (Quantizer::new(&window), window.step());
        for value in &boxes {
            let (low, high) = quantizer.corners(value);
            for k in 0..3 {
                for (at, q) in [(value.min[k], low[k]), (value.max[k], high[k])] {
                    let back = window.min[k] + f64::from(q) * step[k];
                    let expected = at.clamp(window.min[k], window.max[k]);
                    assert!((back - expected).abs() <= 0.501 * step[k], "{at} came back as {back}");
                }
            }
        }
    }

    #[test]
    fn nothing_and_a_single_point_have_a_window() {
        let nothing = Window::around::<2, f32>(&[]).with_room(2, 0.1);
        assert!(nothing.min[0] < nothing.max[0] && nothing.max[2] == 0.0);
        let point = Window::around(&[Aabb::new([5.0f32; 3], [5.0; 3])]).with_room(3, 0.1);
        assert!((0..3).all(|k| point.min[k] < 5.0 && 5.0 < point.max[k]));
        let endless = Window::around(&[Aabb::<3, f32>::everything()]).with_room(3, 0.1);
        assert_eq!(Quantizer::new(&endless).corners(&Aabb::<3, f32>::everything()), ([0; 3], [65535; 3]));
    }

    #[test]
    fn levels_are_clamped_and_logarithmic_over_wide_ranges() {
        assert_eq!(level(5.0, [0.0, 10.0], 255.0), 127.5);
        assert_eq!(level(10.0, [1.0, 100.0], 255.0), 127.5);
        assert_eq!((level(-1.0, [0.0, 1.0], 9.0), level(2.0, [0.0, 1.0], 9.0), level(1.0, [1.0, 1.0], 9.0)), (0.0, 9.0, 0.0));
    }
}
