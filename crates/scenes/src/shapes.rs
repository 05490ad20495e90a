//! The objects of paper 001: cubes, or an assortment of six classes, and how they turn.
//!
//! A turned cuboid's box is larger than the cuboid: a unit cube's has edges of 1 to 1.73. That is why rigid bodies have more pairs
//! than their volume suggests, and why the light scenes turn their objects.

use crate::random::Random;

/// Which objects a scene has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Cubes of edge 1.
    Cubes,
    /// Bars, planks, squares, big cubes, small cubes and random cubes in equal parts, with a mean volume of 1.
    Assorted,
}

impl Kind {
    /// The half edges of each object. Their volumes sum to n: exactly for cubes, within rounding for the assortment.
    pub fn halves<const D: usize>(self, n: usize, random: &mut Random) -> Vec<[f32; D]> {
        if self == Self::Cubes {
            return vec![[0.5; D]; n];
        }
        let classes = random.permutation(n);
        let mut edges: Vec<[f64; D]> = classes.iter().map(|&class| assorted(class % 6, random)).collect();
        let volume: f64 = edges.iter().map(|edges| edges.iter().product::<f64>()).sum();
        let scale = if n == 0 { 1.0 } else { libm::pow(n as f64 / volume, 1.0 / D as f64) };
        edges.iter_mut().map(|edges| edges.map(|edge| (0.5 * edge * scale) as f32)).collect()
    }
}

/// The edges of one object of a class, the long ones along a random axis. Volumes: 0.9, 1.0, 0.9, 2.2, 0.1 and 1.1 on average,
/// before the common scale.
fn assorted<const D: usize>(class: u32, random: &mut Random) -> [f64; D] {
    let turn = random.below(D);
    let edges = match class {
        0 => [6.0, 0.39, 0.39],
        1 => [3.0, 1.3, 0.26],
        2 => [2.0, 2.0, 0.23],
        3 => [1.3; 3],
        4 => [0.5; 3],
        _ => [random.between(0.5, 1.4); 3],
    };
    std::array::from_fn(|k| edges[(k + turn) % D])
}

/// A rotation in space as a unit quaternion `(w, x, y, z)`, in the plane as `(cos, sin, 0, 0)` of the angle.
/// Steps need + - * / and a square root only, so they round the same everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    q: [f32; 4],
}

impl Turn {
    /// Any rotation, all equally likely.
    pub fn random<const D: usize>(random: &mut Random) -> Self {
        if D == 2 {
            let [c, s] = random.direction::<2>();
            return Self { q: [c as f32, s as f32, 0.0, 0.0] };
        }
        Self { q: random.direction::<4>().map(|x| x as f32) }
    }

    /// Turned further by a small `spin` (an axis times half an angle; in the plane, an angle in the first component).
    #[inline]
    pub fn step<const D: usize>(&mut self, spin: [f32; 3]) {
        let [w, x, y, z] = self.q;
        let [a, b, c] = spin;
        let q = match D {
            2 => [w - a * x, x + a * w, 0.0, 0.0],
            _ => [w - a * x - b * y - c * z, x + a * w + b * z - c * y, y + b * w + c * x - a * z, z + c * w + a * y - b * x],
        };
        let length = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
        self.q = q.map(|v| v / length);
    }

    /// The half edges of the box around a cuboid with half edges `half`, turned this way.
    #[inline]
    pub fn half_box<const D: usize>(&self, half: [f32; D]) -> [f32; D] {
        let [w, x, y, z] = self.q;
        if D == 2 {
            let (c, s) = (w.abs(), x.abs());
            return std::array::from_fn(|k| c * half[k] + s * half[1 - k]);
        }
        let rows = [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ];
        std::array::from_fn(|k| rows[k][0].abs() * half[0] + rows[k][1].abs() * half[1] + rows[k][2].abs() * half[2 % D])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_have_the_volume_of_unit_cubes() {
        for kind in [Kind::Cubes, Kind::Assorted] {
            let halves = kind.halves::<3>(6000, &mut Random::new(1, 0));
            let volume: f64 = halves.iter().map(|h| h.iter().map(|&x| 2.0 * f64::from(x)).product::<f64>()).sum();
            assert!((volume / 6000.0 - 1.0).abs() < 1e-5, "{volume}");
            assert!(kind.halves::<3>(0, &mut Random::new(1, 0)).is_empty());
        }
    }

    #[test]
    fn a_turned_unit_cube_has_a_box_of_one_and_a_half_on_average() {
        let mut random = Random::new(1, 0);
        let mut sum = 0.0;
        for _ in 0..3000 {
            let mut turn = Turn::random::<3>(&mut random);
            turn.step::<3>([0.1, -0.2, 0.05]);
            let half = turn.half_box([0.5; 3]);
            assert!(half.iter().all(|h| (0.4999..0.8661).contains(h)), "{half:?}");
            sum += half.iter().map(|&h| 2.0 * f64::from(h)).sum::<f64>() / 3.0;
        }
        assert!((sum / 3000.0 - 1.5).abs() < 0.02, "{sum}");
        assert_eq!(Turn { q: [1.0, 0.0, 0.0, 0.0] }.half_box([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        assert_eq!(Turn { q: [0.0, 1.0, 0.0, 0.0] }.half_box([1.0, 2.0]), [2.0, 1.0]);
    }
}
