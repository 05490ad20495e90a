//! A column: a value per slot, which takes no memory while all are the default.

use crate::error::Error;
use crate::memory;

/// A value per slot. Nothing is stored until one differs from the default.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Column<V> {
    values: Vec<V>,
    default: V,
    /// How many differ from the default.
    special: usize,
}

impl<V: Copy + PartialEq> Column<V> {
    /// All slots have `default`.
    pub(crate) fn new(default: V) -> Self {
        Self { values: Vec::new(), default, special: 0 }
    }

    /// The value of a slot.
    #[inline(always)]
    pub(crate) fn get(&self, slot: u32) -> V {
        self.values.get(slot as usize).copied().unwrap_or(self.default)
    }

    /// Sets the value of a slot; returns whether it changed.
    pub(crate) fn set(&mut self, slot: u32, value: V) -> bool {
        let old = self.get(slot);
        if old == value {
            return false;
        }
        let slot = slot as usize;
        if slot >= self.values.len() {
            self.values.resize(slot + 1, self.default);
        }
        self.values[slot] = value;
        self.special += usize::from(value != self.default);
        self.special -= usize::from(old != self.default);
        true
    }

    /// Makes sure that a value can be set without an allocation; false if there is no memory for it.
    pub(crate) fn reserve(&mut self, slot: u32, value: V) -> bool {
        let more = if value == self.default { 0 } else { (slot as usize + 1).saturating_sub(self.values.len()) };
        self.values.try_reserve(more).is_ok()
    }

    /// Makes sure that all of `len` slots are stored, if any is. Slots beyond them have the default.
    pub(crate) fn fit(&mut self, len: usize) -> Result<(), Error> {
        if self.any() {
            memory::resize(&mut self.values, len, self.default, "properties of objects")?;
        }
        Ok(())
    }

    /// Does any slot differ from the default?
    #[inline(always)]
    pub(crate) fn any(&self) -> bool {
        self.special > 0
    }

    /// The values of `len` slots, if any differs from the default. Call [`fit`](Column::fit) before.
    pub(crate) fn slice(&self, len: usize) -> Option<&[V]> {
        if self.any() { self.values.get(..len) } else { None }
    }

    /// The column with `value` applied to every entry.
    #[cfg(feature = "serde")]
    pub(super) fn map<W>(&self, value: impl Fn(V) -> W) -> Column<W> {
        Column { values: self.values.iter().map(|&v| value(v)).collect(), default: value(self.default), special: self.special }
    }

    /// Is a deserialized column consistent? The default must be the expected one, and the count of other values right.
    #[cfg(feature = "serde")]
    pub(super) fn is_sound(&self, default: V) -> bool {
        self.default == default && self.values.iter().filter(|&&value| value != default).count() == self.special
    }

    /// Frees unused memory.
    pub(crate) fn shrink(&mut self) {
        if !self.any() {
            self.values = Vec::new();
        }
        self.values.shrink_to_fit();
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<V>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_take_no_memory_and_values_can_be_set_and_reset() {
        let mut column = Column::new(7);
        assert!(!column.set(1000, 7) && column.bytes() == 0 && !column.any());
        assert!(column.set(3, 9) && column.get(3) == 9 && column.get(2) == 7 && column.get(99) == 7);
        column.fit(6).unwrap();
        assert_eq!(column.slice(6), Some(&[7, 7, 7, 9, 7, 7][..]));
        assert!(column.set(3, 7) && column.slice(6).is_none());
    }
}
