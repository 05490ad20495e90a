//! Numbers in a snapshot, stored as their bits, so that they stay exact in formats that round decimals or have no infinity.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::column::Column;
use crate::geometry::{Aabb, Real};

fn to_bits<T: Real>(value: T) -> u64 {
    value.to_f64().to_bits()
}

fn from_bits<T: Real>(bits: u64) -> T {
    T::from_f64(f64::from_bits(bits))
}

/// All corners, box after box.
fn flat<const D: usize, T: Real>(boxes: &[Aabb<D, T>]) -> Vec<u64> {
    boxes.iter().flat_map(|aabb| aabb.min.into_iter().chain(aabb.max)).map(to_bits).collect()
}

fn unflat<const D: usize, T: Real>(bits: &[u64]) -> Result<Vec<Aabb<D, T>>, &'static str> {
    let whole = bits.chunks_exact(2 * D);
    if !whole.remainder().is_empty() {
        return Err("the corners of a box are missing");
    }
    let aabb = |c: &[u64]| Aabb::new(std::array::from_fn(|k| from_bits(c[k])), std::array::from_fn(|k| from_bits(c[D + k])));
    Ok(whole.map(aabb).collect())
}

/// One number.
pub(super) mod number {
    use super::*;

    pub(in super::super) fn serialize<T: Real, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        to_bits(*value).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, T: Real, De: Deserializer<'de>>(from: De) -> Result<T, De::Error> {
        u64::deserialize(from).map(from_bits)
    }
}

/// A number per slot.
pub(super) mod column {
    use super::*;

    pub(in super::super) fn serialize<T: Real, S: Serializer>(value: &Column<T>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(to_bits).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, T: Real, De: Deserializer<'de>>(from: De) -> Result<Column<T>, De::Error> {
        Column::<u64>::deserialize(from).map(|column| column.map(from_bits))
    }
}

/// A list of boxes.
pub(crate) mod boxes {
    use super::*;

    pub(crate) fn serialize<const D: usize, T: Real, S: Serializer>(
        value: &[Aabb<D, T>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        flat(value).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, const D: usize, T: Real, De: Deserializer<'de>>(
        from: De,
    ) -> Result<Vec<Aabb<D, T>>, De::Error> {
        unflat(&Vec::<u64>::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

/// A list of boxes, or none.
pub(super) mod some_boxes {
    use super::*;

    pub(in super::super) fn serialize<const D: usize, T: Real, S: Serializer>(
        value: &Option<Vec<Aabb<D, T>>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(|list| flat(list)).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, const D: usize, T: Real, De: Deserializer<'de>>(
        from: De,
    ) -> Result<Option<Vec<Aabb<D, T>>>, De::Error> {
        let list = Option::<Vec<u64>>::deserialize(from)?;
        list.map(|bits| unflat(&bits).map_err(serde::de::Error::custom)).transpose()
    }
}
