//! Bytes of messages: plain arrays, one after the other, in the byte order that all ranks share (`Distributed::new` checks it).

use bytemuck::{NoUninit, Pod};

/// A message that ends too early or too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Appends values.
pub(crate) fn put<P: NoUninit>(bytes: &mut Vec<u8>, values: &[P]) {
    bytes.extend_from_slice(bytemuck::cast_slice(values));
}

/// Reads a message from front to back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The next `count` bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Malformed)?;
        self.bytes = rest;
        Ok(taken)
    }

    /// The next `count` values, whatever their alignment.
    pub(crate) fn take<P: Pod>(&mut self, count: usize) -> Result<Values<'a, P>, Malformed> {
        let bytes = self.bytes(count.checked_mul(size_of::<P>()).ok_or(Malformed)?)?;
        Ok(Values { bytes, count, _type: std::marker::PhantomData })
    }

    /// The next value.
    pub(crate) fn one<P: Pod>(&mut self) -> Result<P, Malformed> {
        self.bytes(size_of::<P>()).map(bytemuck::pod_read_unaligned)
    }

    /// Ends the reading; an error if bytes are left.
    pub(crate) fn end(self) -> Result<(), Malformed> {
        if self.bytes.is_empty() { Ok(()) } else { Err(Malformed) }
    }
}

/// Values in a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'a, P> {
    bytes: &'a [u8],
    count: usize,
    _type: std::marker::PhantomData<P>,
}

impl<'a, P: Pod> Values<'a, P> {
    pub(crate) fn get(&self, index: usize) -> P {
        let size = size_of::<P>();
        bytemuck::pod_read_unaligned(&self.bytes[index * size..(index + 1) * size])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = P> + use<'a, P> {
        let this = *self;
        (0..this.count).map(move |index| this.get(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken_and_no_length_is_trusted() {
        let mut bytes = Vec::new();
        put(&mut bytes, &[7u8]);
        put(&mut bytes, &[1u64, 2]);
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.one::<u8>(), Ok(7));
        assert_eq!(reader.take::<u64>(2).unwrap().iter().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(reader.end(), Ok(()));
        assert!(Reader::new(&bytes).take::<u64>(3).is_err());
        assert!(Reader::new(&bytes).take::<u64>(usize::MAX).is_err());
        assert!(Reader::new(&bytes).end().is_err());
    }
}
