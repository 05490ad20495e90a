//! A sample of a list.

/// The places of a sample: one of every `stride` of `len` items, at uneven distances, ascending. Objects are often listed row by row, or every tenth one
/// moves: with a fixed distance, a sample could hold a few columns of a lattice, or only objects that move.
pub(crate) fn sample(len: usize, stride: usize) -> impl Iterator<Item = usize> + Clone {
    (0..len.div_ceil(stride)).map(move |index| {
        // Multiples of the golden ratio are spread evenly.
        let place = u64::from((index as u32).wrapping_mul(0x9e37_79b9)) * stride as u64;
        (index * stride + (place >> 32) as usize).min(len - 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_item_of_every_stride() {
        for (len, stride) in [(0, 3), (1, 1), (100, 1), (1000, 7), (15_625, 15), (100_000, 1001)] {
            let found: Vec<usize> = sample(len, stride).collect();
            assert!(found.iter().enumerate().all(|(index, item)| item / stride == index), "{len}, {stride}: {found:?}");
            assert!(found.len() == len.div_ceil(stride) && found.iter().all(|&item| item < len), "{len}, {stride}");
        }
    }

    #[test]
    fn a_sample_sees_all_columns_of_a_list_of_rows() {
        for (columns, stride) in [(25, 15), (10, 10), (64, 32), (64, 64), (100, 15), (128, 16)] {
            let mut seen = vec![0; columns];
            sample(1000 * stride, stride).for_each(|item| seen[item % columns] += 1);
            let even = 1000 / columns;
            assert!(seen.iter().all(|&count| count > even / 3 && count < 3 * even), "{columns}, {stride}: {seen:?}");
        }
    }
}
