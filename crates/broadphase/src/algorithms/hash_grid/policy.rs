//! The decisions of the grid, as pure functions of counts, and all tuned constants. The other files count, and execute the decisions.

/// A level with at most this many objects is not searched: each of its objects is tested against every block in passing, which costs less than a
/// search of 27 cells for every object of the other level. Such levels are no reason to merge levels either.
pub(crate) const FEW: usize = 16;

/// Merging levels: insertions and moves per object from one choice to the next. A choice reads every box, so its cost is spread over these.
const OPERATIONS_PER_CHOICE: u64 = 4;
/// A new choice is also due when there are this many times as many objects, `[numerator, denominator]`: cells that suited few may be crowded.
const GROWTH_PER_CHOICE: [u64; 2] = [3, 2];
/// How much more than the best choice the current one may cost before it is given up: moving all objects has to pay.
const SLACK: f64 = 1.25;
/// Tests of a frame that make a new choice due: this many times those of the first frame after the last choice, plus a number per object, so
/// that a few pairs in a sparse scene are no reason.
const MORE_TESTS: u64 = 2;
const SPARE_TESTS: u64 = 16;
/// Tests per object and object in its cell: half of the 27 cells around are searched, and the object's own.
const NEIGHBORS: f64 = 7.0;

/// Shapes: 1/16 of the objects must be in cubes that do not suit them before shapes are counted; a shape with half that share gets a level.
const UNSUITED_SHARE: usize = 16;
/// Fewer objects than this get no level of their own.
const FEWEST_OF_A_SHAPE: usize = 64;

/// When merging was last chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// Insertions and moves until then.
    pub(super) operations: u64,
    /// Objects then, at least one.
    pub(super) objects: u64,
}

/// Should the grid choose again which levels share a grid? `operations` is the total number of insertions and moves.
#[inline(always)]
pub(super) fn is_choice_due(last: Option<Choice>, operations: u64, objects: usize, is_crowded: bool) -> bool {
    let Some(last) = last else { return true };
    let (objects, [times, of]) = (objects.max(1) as u64, GROWTH_PER_CHOICE);
    is_crowded || operations - last.operations >= OPERATIONS_PER_CHOICE * objects || of * objects >= times * last.objects
}

/// Does a frame need so many more tests than the first one after the last choice that cells have become crowded?
pub(super) fn is_crowded(tests: u64, usual: u64, objects: usize) -> bool {
    tests > MORE_TESTS * usual + SPARE_TESTS * objects as u64
}

/// The cost of a choice, in tests, as it is compared with others: the current one is favored.
pub(super) fn compared_cost(cost: f64, is_present: bool) -> f64 {
    if is_present { cost / SLACK } else { cost }
}

/// The cost of searching levels from each other, in tests: `merge` tests per object of the larger one of any two. The numbers of objects ascend, so
/// each level is the larger one of as many couples as there are levels before it.
pub(super) fn search_cost(merge: f64, populations: &[usize]) -> f64 {
    merge * populations.iter().enumerate().map(|(before, &count)| before as f64 * count as f64).sum::<f64>()
}

/// The cost of the tests in a merged grid: `meetings` is the sum over its objects of how many share their cell.
pub(super) fn test_cost(meetings: u64) -> f64 {
    NEIGHBORS * meetings as f64
}

/// Should shapes be counted? As many objects as there are must have been inserted since the last count, so its cost is spread over them.
#[inline(always)]
pub(super) fn is_shape_count_due(unsuited: usize, objects: usize, inserted: u64) -> bool {
    unsuited >= FEWEST_OF_A_SHAPE.max(objects / UNSUITED_SHARE) && inserted >= objects as u64
}

/// Is a shape common enough to get a level?
pub(super) fn is_common(count: usize, objects: usize) -> bool {
    count >= FEWEST_OF_A_SHAPE.max(objects / (2 * UNSUITED_SHARE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_is_chosen_at_first_after_many_changes_after_growth_and_in_crowds() {
        let last = Some(Choice { operations: 1000, objects: 100 });
        for (last, operations, objects, is_crowded, expected) in [
            (None, 0, 0, false, true),
            (last, 1000, 100, false, false),
            (last, 1399, 100, false, false),
            (last, 1400, 100, false, true),
            (last, 1000, 149, false, false),
            (last, 1000, 150, false, true),
            (last, 1000, 100, true, true),
        ] {
            assert_eq!(is_choice_due(last, operations, objects, is_crowded), expected, "{operations} {objects} {is_crowded}");
        }
        assert!(!is_crowded(2 * 500 + 16 * 10, 500, 10) && is_crowded(2 * 500 + 16 * 10 + 1, 500, 10));
    }

    #[test]
    fn a_choice_must_be_a_quarter_better_than_the_present_one() {
        assert!(compared_cost(124.0, true) < compared_cost(100.0, false));
        assert!(compared_cost(126.0, true) > compared_cost(100.0, false));
        assert_eq!(search_cost(100.0, &[10, 20, 40]), 100.0 * (20.0 + 2.0 * 40.0));
    }

    #[test]
    fn shapes_are_counted_when_a_sixteenth_is_unsuited_and_get_a_level_from_half_of_that_on() {
        assert!(is_shape_count_due(64, 500, 500) && !is_shape_count_due(63, 500, 500));
        assert!(is_shape_count_due(1000, 16_000, 16_000) && !is_shape_count_due(999, 16_000, 16_000));
        assert!(!is_shape_count_due(1000, 16_000, 15_999));
        assert!(is_common(64, 500) && !is_common(63, 500) && is_common(500, 16_000) && !is_common(499, 16_000));
    }
}
