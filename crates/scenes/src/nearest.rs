//! The name that somebody who mistyped one may have meant.

/// The candidate with the fewest edits to `name`, the first one on a tie. `None` only without candidates.
///
/// ```
/// use broadphase_scenes::nearest;
/// assert_eq!(nearest("unifrom", ["pile", "uniform"]), Some("uniform"));
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates.into_iter().min_by_key(|candidate| edits(name, candidate))
}

/// Insertions, deletions and replacements between two names, one row of the table at a time.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, count) in
            [("", "", 0), ("pile", "pile", 0), ("pile", "pine", 1), ("", "abc", 3), ("sizes", "size", 1), ("ab", "ba", 2)]
        {
            assert_eq!(edits(a, b), count, "{a} {b}");
        }
    }
}
