//! A sample of a list.

/// One of every `stride` items, at uneven distances. Objects are often listed row by row, or every tenth one moves: with a fixed distance, a sample
/// could hold one column of a lattice, or only objects that move.
pub(crate) fn sample<I: Iterator + Clone>(mut items: I, stride: usize) -> impl Iterator<Item = I::Item> + Clone {
    // The places in their strides follow the golden ratio, which spreads them evenly.
    let place = move |index: u32| ((u64::from(index.wrapping_mul(0x9e37_79b9)) * stride as u64) >> 32) as usize;
    let mut last = stride - 1;
    (0..).map_while(move |index| {
        let place = place(index);
        let skipped = stride - 1 - last + place;
        last = place;
        items.nth(skipped)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_item_of_every_stride() {
        for (len, stride) in [(0, 3), (1, 1), (100, 1), (1000, 7), (15_625, 15), (100_000, 1001)] {
            let found: Vec<usize> = sample(0..len, stride).collect();
            assert!(found.iter().enumerate().all(|(index, item)| item / stride == index), "{len}, {stride}: {found:?}");
            assert!((len / stride..=len.div_ceil(stride)).contains(&found.len()), "{len}, {stride}");
        }
    }

    #[test]
    fn a_sample_sees_all_columns_of_a_list_of_rows() {
        for (columns, stride) in [(25, 15), (10, 10), (64, 32), (64, 64), (100, 15), (128, 16)] {
            let mut seen = vec![0; columns];
            sample(0..1000 * stride, stride).for_each(|item| seen[item % columns] += 1);
            let even = 1000 / columns;
            assert!(seen.iter().all(|&count| count > even / 3 && count < 3 * even), "{columns}, {stride}: {seen:?}");
        }
    }
}
