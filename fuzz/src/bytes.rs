//! Decisions from bytes.

/// A reader of an input. Past the end everything is zero, and [`Bytes::is_empty`] is true.
#[derive(Clone, Debug)]
pub struct Bytes<'a> {
    left: &'a [u8],
}

impl<'a> Bytes<'a> {
    /// From the first byte on.
    pub fn new(data: &'a [u8]) -> Self {
        Self { left: data }
    }

    /// Is everything read?
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// What is left.
    pub fn rest(&self) -> &'a [u8] {
        self.left
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match self.left.split_first() {
            Some((&first, rest)) => {
                self.left = rest;
                first
            }
            None => 0,
        }
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        let value = if end <= 256 { usize::from(self.byte()) } else { usize::from(u16::from_le_bytes(self.array())) };
        value % end
    }

    /// True once in `of` times.
    pub fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == of - 1
    }

    /// One of a list, which is not empty.
    pub fn pick<'l, V>(&mut self, list: &'l [V]) -> &'l V {
        &list[self.below(list.len())]
    }

    /// Any 32 bits.
    pub fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// Any 64 bits.
    pub fn long(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// The next bytes, at most `most` of them.
    pub fn take(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.left.split_at(most.min(self.left.len()));
        self.left = rest;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_end_in_zeros() {
        let mut bytes = Bytes::new(&[5, 1, 2]);
        assert_eq!((bytes.below(4), bytes.word(), bytes.is_empty()), (1, 0x0201, true));
        assert_eq!((bytes.byte(), bytes.below(7), bytes.take(3)), (0, 0, &[][..]));
    }
}
