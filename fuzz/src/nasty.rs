//! Coordinates that break broad phases: ties, both zeros, infinities, subnormals, the largest numbers, neighbors of round numbers, shared faces.

use broadphase::{Aabb, Real};

use crate::Bytes;

/// Which coordinates an input has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// Multiples of a half between -8 and 8: many ties, many shared faces, all sums exact.
    Lattice,
    /// Finite, of moderate size, few ties.
    Smooth,
    /// Mostly the lattice, now and then anything.
    Mixed,
    /// Anything.
    Wild,
}

impl Coordinates {
    /// Draws one of them.
    pub fn draw(bytes: &mut Bytes) -> Self {
        *bytes.pick(&[Coordinates::Lattice, Coordinates::Smooth, Coordinates::Mixed, Coordinates::Mixed, Coordinates::Wild])
    }

    /// Are all coordinates finite, with finite sums?
    pub fn is_tame(self) -> bool {
        matches!(self, Coordinates::Lattice | Coordinates::Smooth)
    }

    /// A coordinate; never NaN.
    pub fn coordinate<T: Real>(self, bytes: &mut Bytes) -> T {
        match self {
            Coordinates::Lattice => lattice(bytes.byte()),
            Coordinates::Smooth => T::from_f64(f64::from(i16::from_le_bytes(bytes.array())) * 0.001),
            Coordinates::Mixed if !bytes.one_in(16) => lattice(bytes.byte()),
            _ => wild(bytes),
        }
    }

    /// A box. Some are points, some are flat, some share a face with a box of `others`, some have infinite sides.
    pub fn aabb<const D: usize, T: Real>(self, bytes: &mut Bytes, others: &[Aabb<D, T>]) -> Aabb<D, T> {
        let code = bytes.byte();
        let mut value = Aabb::new([T::ZERO; D], [T::ZERO; D]);
        for k in 0..D {
            let low = self.coordinate::<T>(bytes);
            let high = match code % 8 {
                0 => low,
                1 | 2 => self.coordinate(bytes),
                _ => low + T::from_f64(f64::from(bytes.byte() % 16) * 0.25),
            };
            // An infinite coordinate plus something may be no number; so may a difference.
            let high = if high.is_nan() { low } else { high };
            (value.min[k], value.max[k]) = if low <= high { (low, high) } else { (high, low) };
        }
        if code >= 192 && !others.is_empty() {
            let other = bytes.pick(others);
            let k = bytes.below(D);
            if other.is_valid() && other.max[k] <= value.max[k] {
                value.min[k] = other.max[k]; // the other box ends where this one begins
            }
        }
        value
    }

    /// A box that is not valid: NaN somewhere, or min above max.
    pub fn invalid<const D: usize, T: Real>(self, bytes: &mut Bytes) -> Aabb<D, T> {
        let mut value = self.aabb::<D, T>(bytes, &[]);
        let k = bytes.below(D);
        match bytes.below(4) {
            0 => value.min[k] = T::NAN,
            1 => value.max[k] = T::NAN,
            2 => (value.min[k], value.max[k]) = (T::ONE, T::ZERO),
            _ => (value.min[k], value.max[k]) = (T::INFINITY, T::NEG_INFINITY),
        }
        value
    }
}

fn lattice<T: Real>(code: u8) -> T {
    T::from_f64(f64::from(code % 33) * 0.5 - 8.0)
}

/// One of the alphabet, or any bits at all but NaN.
fn wild<T: Real>(bytes: &mut Bytes) -> T {
    let sign = if bytes.one_in(2) { -T::ONE } else { T::ONE };
    let value = match bytes.below(24) {
        0 => T::ZERO,
        1 => T::INFINITY,
        2 => T::MAX,
        3 => T::ZERO.next_up(),
        4 => T::MIN_POSITIVE,
        5 => T::MIN_POSITIVE.next_down(),
        6 => T::from_f64(1e-40),
        7 => T::from_f64(1e-38),
        8 => T::from_f64(1e-20),
        9 => T::from_f64(1e7),
        10 => T::from_f64(1e7).next_up(),
        11 => T::from_f64(16_777_216.0),
        12 => T::from_f64(1e19),
        13 => T::from_f64(1e38),
        14 => T::MAX * T::HALF,
        15 => T::MAX.next_down(),
        16 => T::ONE.next_up(),
        17 => T::ONE.next_down(),
        18 => T::from_f64(0.1),
        19 | 20 => lattice(bytes.byte()),
        21 => T::from_f64(f64::from(f32::from_bits(bytes.word()))),
        22 => T::from_f64(f64::from_bits(bytes.long())),
        _ => T::from_f64(f64::from(bytes.byte())),
    };
    let value = sign * value;
    if value.is_nan() { T::ONE } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadphase_testing::Random;

    #[test]
    fn boxes_are_valid_and_the_whole_alphabet_is_drawn() {
        let mut random = Random(3);
        let data: Vec<u8> = (0..200_000).map(|_| random.below(256) as u8).collect();
        let mut bytes = Bytes::new(&data);
        let (mut boxes, mut tame): (Vec<Aabb<3, f32>>, Vec<Aabb<3, f32>>) = (Vec::new(), Vec::new());
        let (mut infinite, mut subnormal, mut shared) = (0, 0, 0);
        while bytes.rest().len() > 100 {
            let coordinates = Coordinates::draw(&mut bytes);
            // All boxes of an input have the same kind of coordinates: those of a tame input share no face with infinite boxes.
            let others = if coordinates.is_tame() { &tame } else { &boxes };
            let value: Aabb<3, f32> = coordinates.aabb(&mut bytes, others);
            assert!(value.is_valid(), "{value:?}");
            assert!(!coordinates.is_tame() || (0..3).all(|k| (value.max[k] - value.min[k]).is_finite()));
            infinite += usize::from(!value.min[0].is_finite());
            subnormal += usize::from(value.min[0] != 0.0 && value.min[0].abs() < f32::MIN_POSITIVE);
            shared += usize::from(boxes.iter().rev().take(50).any(|other| other.max[1] == value.min[1]));
            assert!(!coordinates.invalid::<3, f32>(&mut bytes).is_valid());
            boxes.push(value);
            tame.extend(coordinates.is_tame().then_some(value));
        }
        assert!(infinite > 20 && subnormal > 20 && shared > 500, "{infinite} {subnormal} {shared} of {}", boxes.len());
    }
}
