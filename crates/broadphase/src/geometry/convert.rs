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

        /// From center and radius.
        impl From<($vector, $t)> for Ball<$d, $t> {
            fn from((center, radius): ($vector, $t)) -> Self {
                Self { center: center.into(), radius }
            }
        }

        impl From<Ball<$d, $t>> for ($vector, $t) {
            fn from(value: Ball<$d, $t>) -> Self {
                (value.center.into(), value.radius)
            }
        }

        /// From origin, direction and length.
        impl From<($vector, $vector, $t)> for Ray<$d, $t> {
            fn from((origin, direction, length): ($vector, $vector, $t)) -> Self {
                Self { origin: origin.into(), direction: direction.into(), length }
            }
        }

        impl From<Ray<$d, $t>> for ($vector, $vector, $t) {
            fn from(value: Ray<$d, $t>) -> Self {
                (value.origin.into(), value.direction.into(), value.length)
            }
        }
    };
}

#[cfg(feature = "mint")]
mod with_mint {
    use super::Aabb;
    use crate::geometry::{Ball, Ray};
    corners!(mint::Point2<f32>, 2, f32);
    corners!(mint::Point3<f32>, 3, f32);
    corners!(mint::Point2<f64>, 2, f64);
    corners!(mint::Point3<f64>, 3, f64);
}

#[cfg(feature = "glam")]
mod with_glam {
    use super::Aabb;
    use crate::geometry::{Ball, Ray};
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
    use crate::geometry::{Ball, Ray};
    use nalgebra::{Point, SVector, Scalar};

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

    /// From center and radius.
    impl<const D: usize, T: Real + Scalar> From<(Point<T, D>, T)> for Ball<D, T> {
        fn from((center, radius): (Point<T, D>, T)) -> Self {
            Self { center: center.coords.into(), radius }
        }
    }

    impl<const D: usize, T: Real + Scalar> From<Ball<D, T>> for (Point<T, D>, T) {
        fn from(value: Ball<D, T>) -> Self {
            (value.center.into(), value.radius)
        }
    }

    /// From origin, direction and length.
    impl<const D: usize, T: Real + Scalar> From<(Point<T, D>, SVector<T, D>, T)> for Ray<D, T> {
        fn from((origin, direction, length): (Point<T, D>, SVector<T, D>, T)) -> Self {
            Self { origin: origin.coords.into(), direction: direction.into(), length }
        }
    }

    impl<const D: usize, T: Real + Scalar> From<Ray<D, T>> for (Point<T, D>, SVector<T, D>, T) {
        fn from(value: Ray<D, T>) -> Self {
            (value.origin.into(), value.direction.into(), value.length)
        }
    }
}

#[cfg(feature = "serde")]
mod with_serde {
    use super::Aabb;
    use crate::Real;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    /// A box serializes as two sequences, `[min, max]`: serde has no arrays of generic length.
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
    use crate::{Aabb, Ball, Ray};

    #[test]
    fn corners_survive_a_round_trip_through_each_crate() {
        let a = Aabb::new([1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]);
        assert_eq!(a, Aabb::from(<(mint::Point3<f32>, mint::Point3<f32>)>::from(a)));
        assert_eq!(a, Aabb::from(<(glam::Vec3, glam::Vec3)>::from(a)));
        assert_eq!(a, Aabb::from(<(nalgebra::Point3<f32>, nalgebra::Point3<f32>)>::from(a)));
        let ball = Ball { center: [1.0f64, 2.0], radius: 3.0 };
        assert_eq!(ball, Ball::from(<(glam::DVec2, f64)>::from(ball)));
        assert_eq!(ball, Ball::from(<(mint::Point2<f64>, f64)>::from(ball)));
        assert_eq!(ball, Ball::from(<(nalgebra::Point2<f64>, f64)>::from(ball)));
        let ray = Ray::new([1.0f32, 2.0, 3.0], [0.0, 0.0, 1.0], 9.0);
        assert_eq!(ray, Ray::from(<(glam::Vec3A, glam::Vec3A, f32)>::from(ray)));
        assert_eq!(ray, Ray::from(<(mint::Point3<f32>, mint::Point3<f32>, f32)>::from(ray)));
        assert_eq!(ray, Ray::from(<(nalgebra::Point3<f32>, nalgebra::Vector3<f32>, f32)>::from(ray)));
        let text = serde_json::to_string(&a).unwrap();
        assert_eq!(text, "[[1.0,2.0,3.0],[4.0,5.0,6.0]]");
        assert_eq!(a, serde_json::from_str(&text).unwrap());
    }
}
