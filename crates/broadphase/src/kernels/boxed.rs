//! A box whose allocation can fail, which the standard library does not offer yet.

use crate::error::Error;

/// Moves a value to the heap. `what` names the purpose of the memory, for the error.
pub(crate) fn boxed<V>(value: V, what: &'static str) -> Result<Box<V>, Error> {
    let mut list = Vec::new();
    crate::memory::reserve_exact(&mut list, 1, what)?;
    list.push(value); // reserved
    // Not moved: the capacity is exact.
    let slice = Box::into_raw(list.into_boxed_slice());
    // SAFETY: (layout) a boxed slice of one value is laid out and allocated as a box of the value, and nothing else owns it.
    Ok(unsafe { Box::from_raw(slice.cast::<V>()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boxed_value_is_the_value_and_is_dropped_once() {
        let shared = std::sync::Arc::new(7);
        let copy = boxed((shared.clone(), [1u64; 9]), "a test").unwrap();
        assert_eq!((*copy.0, copy.1), (7, [1; 9]));
        drop(copy);
        assert_eq!(std::sync::Arc::strong_count(&shared), 1);
        boxed((), "a test").unwrap();
    }
}
