//! Data shared with C++: a vector that C++ appends to, and the text of an error. Layouts as in `cpp/shim.h`.

use std::ffi::{c_char, c_void};

use broadphase::Pair;

use crate::PeerError;

/// The vector's buffer, lent to C++ for one call.
#[repr(C)]
pub(super) struct PairList {
    data: *mut Pair,
    length: usize,
    capacity: usize,
    /// The `Vec<Pair>` itself, which only `grow` looks at.
    vector: *mut c_void,
    grow: extern "C" fn(&mut PairList),
}

/// Doubles the buffer. Called by C++ when `length` has reached `capacity`; aborts when memory is out, as `Vec` does.
extern "C" fn grow(list: &mut PairList) {
    // SAFETY: (the vector is alive and not borrowed otherwise) `fill` holds it exclusively for the whole call into C++.
    let vector = unsafe { &mut *list.vector.cast::<Vec<Pair>>() };
    // SAFETY: (the first `length` pairs are written) C++ counts a pair after it has written it, and never beyond `capacity`.
    unsafe { vector.set_len(list.length) };
    vector.reserve(1024.max(list.length));
    list.data = vector.as_mut_ptr();
    list.capacity = vector.capacity();
}

/// Clears `out`, lends it to `call`, and takes back what was appended.
pub(super) fn fill(out: &mut Vec<Pair>, call: impl FnOnce(&mut PairList) -> Result<(), PeerError>) -> Result<(), PeerError> {
    out.clear();
    let (data, capacity) = (out.as_mut_ptr(), out.capacity());
    let vector: *mut Vec<Pair> = out;
    let mut list = PairList { data, length: 0, capacity, vector: vector.cast(), grow };
    let result = call(&mut list);
    // SAFETY: (the first `length` pairs are written) C++ counts a pair after it has written it, and never beyond `capacity`;
    // `grow` keeps `data` and `capacity` those of this vector.
    unsafe { out.set_len(list.length) };
    result
}

/// Room for the text of an exception.
#[repr(C)]
pub(super) struct Message([c_char; 128]);

/// Makes a call that may leave a message, and turns it into an error.
pub(super) fn call(peer: &'static str, call: impl FnOnce(&mut Message) -> bool) -> Result<(), PeerError> {
    let mut message = Message([0; 128]);
    if call(&mut message) {
        return Ok(());
    }
    let text: Vec<u8> = message.0.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect();
    Err(PeerError::Failed { peer, reason: String::from_utf8_lossy(&text).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends as the C++ side does.
    fn push(list: &mut PairList, pair: Pair) {
        if list.length == list.capacity {
            (list.grow)(list);
        }
        // SAFETY: (within the buffer) `grow` has just made room if there was none.
        unsafe { list.data.add(list.length).write(pair) };
        list.length += 1;
    }

    #[test]
    fn a_list_grown_across_the_border_keeps_every_pair() {
        let mut out = vec![Pair::new(7, 8)];
        fill(&mut out, |list| {
            (0..5000).for_each(|i| push(list, Pair::new(i, i + 1)));
            Ok(())
        })
        .unwrap();
        assert_eq!(out, (0..5000).map(|i| Pair::new(i, i + 1)).collect::<Vec<_>>());
    }
}
