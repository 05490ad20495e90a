//! Conversions from and to plain arrays and the vector types of other crates (features `mint`, `glam`, `nalgebra`).

use super::Aabb;

impl<const D: usize, T> From<([T; D], [T; D])> for Aabb<D, T> {
    fn from((min, max): ([T; D], [T; D])) -> Self {
        Self { min, max }
    }
}

impl<const D: usize, T> From<Aabb<D, T>> for ([T; D], [T; D]) {
    fn from(value: Aabb<D, T>) -> Self {
        (value.min, value.max)
    }
}

/// Conversions between a box and a pair `(min, max)` of another crate's vector, through `[T; D]`.
#[cfg(any(feature = "mint", feature = "glam"))]
macro_rules! corners {
    ($vector:ty, $d:literal, $t:ty) => {
        impl From<($vector, $vector)> for Aabb<$d, $t> {
            fn from((min, max): ($vector, $vector)) -> Self {
                Self { min: min.into(), max: max.into() }
            }
        }

        impl From<Aabb<$d, $t>> for ($vector, $vector) {
            fn from(value: Aabb<$d, $t>) -> Self {
                (value.min.into(), value.max.into())
            }
        }
    };
}

#[cfg(feature = "mint")]
mod with_mint {
    use super::Aabb;
    corners!(mint::Point2<f32>, 2, f32);
    corners!(mint::Point3<f32>, 3, f32);
    corners!(mint::Point2<f64>, 2, f64);
    corners!(mint::Point3<f64>, 3, f64);
}

#[cfg(feature = "glam")]
mod with_glam {
    use super::Aabb;
    corners!(glam::Vec2, 2, f32);
    corners!(glam::Vec3, 3, f32);
    corners!(glam::Vec3A, 3, f32);
    corners!(glam::DVec2, 2, f64);
    corners!(glam::DVec3, 3, f64);
}

#[cfg(feature = "nalgebra")]
mod with_nalgebra {
    use super::Aabb;
    use crate::Real;
    use nalgebra::{Point, Scalar};

    impl<const D: usize, T: Real + Scalar> From<(Point<T, D>, Point<T, D>)> for Aabb<D, T> {
        fn from((min, max): (Point<T, D>, Point<T, D>)) -> Self {
            Self { min: min.coords.into(), max: max.coords.into() }
        }
    }

    impl<const D: usize, T: Real + Scalar> From<Aabb<D, T>> for (Point<T, D>, Point<T, D>) {
        fn from(value: Aabb<D, T>) -> Self {
            (value.min.into(), value.max.into())
        }
    }
}

#[cfg(feature = "serde")]
mod with_serde {
    use super::Aabb;
    use crate::Real;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    /// A box serialises as two sequences, `[min, max]`: serde has no arrays of generic length.
    impl<const D: usize, T: Real + Serialize> Serialize for Aabb<D, T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            (&self.min[..], &self.max[..]).serialize(serializer)
        }
    }

    impl<'de, const D: usize, T: Real + Deserialize<'de>> Deserialize<'de> for Aabb<D, T> {
        fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
            let (min, max) = <(Vec<T>, Vec<T>)>::deserialize(deserializer)?;
            let corner =
                |v: Vec<T>| <[T; D]>::try_from(v).map_err(|v| De::Error::invalid_length(v.len(), &"one number per axis"));
            Ok(Self { min: corner(min)?, max: corner(max)? })
        }
    }
}

#[cfg(all(test, feature = "mint", feature = "glam", feature = "nalgebra", feature = "serde"))]
mod tests {
    use crate::Aabb;

    #[test]
    fn corners_survive_a_round_trip_through_each_crate() {
        let a = Aabb::new([1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]);
        assert_eq!(a, Aabb::from(<(mint::Point3<f32>, mint::Point3<f32>)>::from(a)));
        assert_eq!(a, Aabb::from(<(glam::Vec3, glam::Vec3)>::from(a)));
        assert_eq!(a, Aabb::from(<(nalgebra::Point3<f32>, nalgebra::Point3<f32>)>::from(a)));
        let text = serde_json::to_string(&a).unwrap();
        assert_eq!(text, "[[1.0,2.0,3.0],[4.0,5.0,6.0]]");
        assert_eq!(a, serde_json::from_str(&text).unwrap());
    }
}
