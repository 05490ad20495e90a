//! Values by axis.

/// One value for each axis, or lane. As [`std::array::from_fn`], which compiles six functions for each closure where this compiles one.
#[inline]
pub(crate) fn each_axis<const N: usize, X: Copy + Default>(mut value: impl FnMut(usize) -> X) -> [X; N] {
    let mut values = [X::default(); N];
    for k in 0..N {
        values[k] = value(k);
    }
    values
}

/// Puts a few items in order, by insertion: equal ones keep theirs. For a value by axis; a sort of the standard library is thousands of instructions.
pub(crate) fn sort_few<X>(items: &mut [X], is_before: impl Fn(&X, &X) -> bool) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && is_before(&items[at], &items[at - 1]) {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_in_order_and_a_sort_of_few_is_stable() {
        assert_eq!(each_axis::<3, usize>(|k| 2 * k), [0, 2, 4]);
        let mut random = 1u32;
        for len in 0..20 {
            let mut items: Vec<(u32, usize)> = (0..len)
                .map(|at| {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (random >> 30, at)
                })
                .collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            sort_few(&mut items, |a, b| a.0 < b.0);
            assert_eq!(items, expected);
        }
    }
}
