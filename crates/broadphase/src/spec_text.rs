//! The parser of `NAME[:key=value]...`, the notation for algorithms, scenes and peers, and suggestions for misspelled names.
//!
//! One parser for the crates of this project; not part of the library's interface. A name is looked up in a list ([`find`]), then the rest
//! is checked against the options of its entry ([`options`]). The caller decides what a repeated option or one without a value means.

/// An entry of a list of names.
pub trait Named: 'static {
    /// Its name.
    fn name(&self) -> &'static str;

    /// The names of the options it takes.
    fn options(&self) -> Vec<&'static str>;
}

/// A name that is in no list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The name as written.
    pub name: String,
    /// The name in the list that is closest to it.
    pub nearest: &'static str,
}

/// An option that an entry does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownOption {
    /// The option as written.
    pub option: String,
    /// The options that the entry takes.
    pub known: Vec<&'static str>,
}

/// An option, and its value if one is written.
pub type Given<'t> = (&'static str, Option<&'t str>);

/// The entry that a text names.
pub fn find<E: Named>(text: &str, list: &'static [E]) -> Result<&'static E, UnknownName> {
    let name = text.split(':').next().unwrap_or_default();
    list.iter().find(|entry| entry.name() == name).ok_or_else(|| UnknownName {
        name: name.to_string(),
        nearest: nearest(name, list.iter().map(E::name)).unwrap_or_default(),
    })
}

/// The options of a text that names `entry`, in the order given.
pub fn options<'t, E: Named>(text: &'t str, entry: &E) -> Result<Vec<Given<'t>>, UnknownOption> {
    let known = entry.options();
    let option = |part: &'t str| {
        let (key, value) = part.split_once('=').map_or((part, None), |(key, value)| (key, Some(value)));
        let found = known.iter().find(|option| **option == key);
        found.map(|&option| (option, value)).ok_or_else(|| UnknownOption { option: key.to_string(), known: known.clone() })
    };
    text.split(':').skip(1).map(option).collect()
}

/// The name closest to a mistyped one: fewest edits, the first one on a tie. Case is ignored, and the first words of a name count as
/// the name. `None` only if there are no names.
///
/// ```
/// use broadphase::spec_text::nearest;
/// assert_eq!(nearest("unifrom", ["pile", "uniform"]), Some("uniform"));
/// assert_eq!(nearest("Bulet", ["jolt", "bullet-dbvt-f"]), Some("bullet-dbvt-f"));
/// ```
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    names.into_iter().min_by_key(|candidate| {
        let ends = candidate.match_indices('-').map(|(end, _)| end).chain([candidate.len()]);
        let beginning = ends.map(|end| edits(&name, &candidate[..end])).min();
        (beginning, edits(&name, candidate))
    })
}

/// The number of insertions, deletions and replacements that turn one text into the other.
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

    struct Entry(&'static str, &'static [&'static str]);

    impl Named for Entry {
        fn name(&self) -> &'static str {
            self.0
        }

        fn options(&self) -> Vec<&'static str> {
            self.1.to_vec()
        }
    }

    static LIST: [Entry; 2] = [Entry("pile", &["dim", "fast"]), Entry("city", &[])];

    #[test]
    fn a_text_is_a_name_and_options_in_their_order() {
        let entry = find("pile:fast:dim=2:dim=a=b:fast=", &LIST).unwrap();
        let given = options("pile:fast:dim=2:dim=a=b:fast=", entry).unwrap();
        assert_eq!(given, [("fast", None), ("dim", Some("2")), ("dim", Some("a=b")), ("fast", Some(""))]);
        assert_eq!(options("city", find("city", &LIST).unwrap()).unwrap(), []);
    }

    #[test]
    fn errors_name_what_is_unknown_and_what_is_known() {
        assert_eq!(find("plie:dim=2", &LIST).err(), Some(UnknownName { name: "plie".to_string(), nearest: "pile" }));
        assert_eq!(find("", &LIST).err().map(|unknown| unknown.name), Some(String::new()));
        let unknown = |option: &str| Some(UnknownOption { option: option.to_string(), known: vec!["dim", "fast"] });
        assert_eq!(options("pile:dmi=2", &LIST[0]).err(), unknown("dmi"));
        assert_eq!(options("pile:", &LIST[0]).err(), unknown(""), "a colon promises an option");
    }
}
