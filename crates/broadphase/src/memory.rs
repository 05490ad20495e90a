//! Growth that can fail: the buffers of a frame grow through these functions, so that a refused allocation is a typed error.

use std::collections::TryReserveError;

use crate::error::Error;

/// An answer of the standard library as ours. A function, since a closure would be compiled for each type of list.
fn granted(answer: Result<(), TryReserveError>, what: &'static str) -> Result<(), Error> {
    match answer {
        Ok(()) => Ok(()),
        Err(_) => Err(Error::OutOfMemory { what }),
    }
}

/// Makes sure that `more` values fit into `list`. `what` names the purpose of the memory, for the error.
pub(crate) fn reserve<V>(list: &mut Vec<V>, more: usize, what: &'static str) -> Result<(), Error> {
    granted(list.try_reserve(more), what)
}

/// The same without spare capacity.
pub(crate) fn reserve_exact<V>(list: &mut Vec<V>, more: usize, what: &'static str) -> Result<(), Error> {
    granted(list.try_reserve_exact(more), what)
}

/// Appends a value. Grows by an eighth: a list that grows to a plateau does not overshoot it twofold.
pub(crate) fn push<V>(list: &mut Vec<V>, value: V, what: &'static str) -> Result<(), Error> {
    if list.len() == list.capacity() {
        reserve_exact(list, list.len() / 8 + 32, what)?;
    }
    list.push(value);
    Ok(())
}

/// Replaces the content of `list` by `len` copies of a value.
pub(crate) fn refill<V: Clone>(list: &mut Vec<V>, len: usize, value: V, what: &'static str) -> Result<(), Error> {
    list.clear();
    reserve(list, len, what)?;
    list.resize(len, value);
    Ok(())
}

/// Makes `list` `len` long; new elements are copies of `value`.
pub(crate) fn resize<V: Clone>(list: &mut Vec<V>, len: usize, value: V, what: &'static str) -> Result<(), Error> {
    reserve(list, len.saturating_sub(list.len()), what)?;
    list.resize(len, value);
    Ok(())
}

/// Makes `list` at least `len` long; new elements are defaults.
pub(crate) fn cover<V: Default>(list: &mut Vec<V>, len: usize, what: &'static str) -> Result<(), Error> {
    reserve(list, len.saturating_sub(list.len()), what)?;
    while list.len() < len {
        list.push(V::default()); // reserved
    }
    Ok(())
}

/// Replaces the content of `list` by that of a slice. A list that has its length already is copied as memory; the standard library extends a list of a
/// generic type, such as a box, value by value.
pub(crate) fn copy<V: Copy>(list: &mut Vec<V>, from: &[V], what: &'static str) -> Result<(), Error> {
    list.truncate(from.len());
    let (known, more) = from.split_at(list.len());
    reserve(list, more.len(), what)?;
    list.copy_from_slice(known);
    list.extend_from_slice(more);
    Ok(())
}

/// Appends values, of which there are at most `most`.
pub(crate) fn extend<V>(
    list: &mut Vec<V>,
    most: usize,
    values: impl Iterator<Item = V>,
    what: &'static str,
) -> Result<(), Error> {
    reserve(list, most, what)?;
    for value in values.take(most) {
        list.push(value); // reserved
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_grow_and_impossible_lengths_are_errors() {
        let mut list = Vec::new();
        for value in 0..1000 {
            push(&mut list, value, "numbers").unwrap();
        }
        assert!(list.iter().copied().eq(0..1000) && list.capacity() < 1200);
        refill(&mut list, 3, 7, "numbers").unwrap();
        assert_eq!(list, [7; 3]);
        resize(&mut list, 5, 1, "numbers").unwrap();
        extend(&mut list, 2, 8..10, "numbers").unwrap();
        assert_eq!(list, [7, 7, 7, 1, 1, 8, 9]);
        resize(&mut list, 2, 1, "numbers").unwrap();
        assert_eq!(list, [7; 2]);
        cover(&mut list, 4, "numbers").unwrap();
        cover(&mut list, 1, "numbers").unwrap();
        assert_eq!(list, [7, 7, 0, 0]);
        copy(&mut list, &[3, 1], "numbers").unwrap();
        assert_eq!(list, [3, 1]);
        assert_eq!(resize(&mut list, usize::MAX / 2, 0, "numbers"), Err(Error::OutOfMemory { what: "numbers" }));
        assert_eq!(reserve(&mut list, usize::MAX, "numbers"), Err(Error::OutOfMemory { what: "numbers" }));
        assert_eq!(refill(&mut list, usize::MAX / 2, 0, "numbers"), Err(Error::OutOfMemory { what: "numbers" }));
    }
}
