//! The layout of a frame on the wire, little-endian:
//!
//! | bytes | what |
//! | --- | --- |
//! | 4 | `BPV1` |
//! | 4 | length of the head |
//! | head | JSON, padded with spaces to a multiple of 16 less 8 |
//! | 16 each | `drawn` boxes: lower corner as 3 x u16, size and speed as u8; upper corner as 3 x u16, pairs and flags as u8 |
//! | 16 each | `regions`: lower corner as 3 x u16, cost as u16; upper corner as 3 x u16, kind as u16 |
//! | 8 each | `started` pairs, then `listed` pairs: two u32, positions among the drawn boxes |
//! | 4 each | `ids` of the drawn boxes as u32, if they are not simply 0, 1, 2... |
//! | 2 each | `places`: 1 + the region of each drawn box as u16, 0 for none, if requested |
//!
//! A coordinate `q` on axis `k` stands for `origin[k] + q * step[k]`, both in the head. Size, speed, pairs and cost are 0 to 255, or to 65,535,
//! over the ranges in the head's `legend`.

use serde_json::{Map, Value};

/// The first bytes of every message.
pub const MAGIC: [u8; 4] = *b"BPV1";

/// The picked object.
pub const PICKED: u8 = 1;
/// An object that overlaps the picked one.
pub const NEIGHBOR: u8 = 2;
/// An answer of the query.
pub const HIT: u8 = 4;

/// A box as it is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The lower corner.
    pub min: [u16; 3],
    /// How large it is.
    pub size: u8,
    /// How far it moved since the last frame.
    pub speed: u8,
    /// The upper corner.
    pub max: [u16; 3],
    /// How many pairs it is in.
    pub pairs: u8,
    /// [`PICKED`], [`NEIGHBOR`], [`HIT`].
    pub flags: u8,
}

/// A region of the structure as it is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionRecord {
    /// The lower corner.
    pub min: [u16; 3],
    /// Its share of the largest cost.
    pub cost: u16,
    /// The upper corner.
    pub max: [u16; 3],
    /// 1 cell, 2 node, 3 tile.
    pub kind: u16,
}

/// One frame, in parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// Everything but arrays.
    pub head: Map<String, Value>,
    /// The boxes that are drawn.
    pub records: Vec<Record>,
    /// The structure's regions.
    pub regions: Vec<RegionRecord>,
    /// Pairs of this frame that the last one did not have.
    pub started: Vec<[u32; 2]>,
    /// Pairs that are drawn.
    pub pairs: Vec<[u32; 2]>,
    /// The objects of the records, unless record `i` is object `i`.
    pub ids: Option<Vec<u32>>,
    /// The region of each record, if requested.
    pub places: Option<Vec<u16>>,
}

impl Message {
    /// As bytes. The lengths of the arrays are put into the head.
    pub fn encode(mut self) -> Vec<u8> {
        let counts = [
            ("drawn", self.records.len()),
            ("regions", self.regions.len()),
            ("started", self.started.len()),
            ("listed", self.pairs.len()),
            ("ids", self.ids.as_ref().map_or(0, Vec::len)),
            ("places", self.places.as_ref().map_or(0, Vec::len)),
        ];
        let counts: Map<String, Value> = counts.iter().map(|&(name, count)| (name.to_string(), count.into())).collect();
        self.head.insert("counts".to_string(), counts.into());
        let mut head = Value::Object(self.head).to_string().into_bytes();
        while head.len() % 16 != 8 {
            head.push(b' ');
        }
        let mut bytes = Vec::with_capacity(8 + head.len() + self.records.len() * 18 + self.pairs.len() * 8);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&(head.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&head);
        put(&mut bytes, &self.records);
        put(&mut bytes, &self.regions);
        put(&mut bytes, &self.started);
        put(&mut bytes, &self.pairs);
        put(&mut bytes, self.ids.as_deref().unwrap_or(&[]));
        put(&mut bytes, self.places.as_deref().unwrap_or(&[]));
        bytes
    }

    /// From bytes; `None` if they are no message. For tests and other clients.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&MAGIC)?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (head, mut rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let Value::Object(mut head) = serde_json::from_slice(head).ok()? else { return None };
        let counts = head.remove("counts")?;
        let count = |name: &str| counts.get(name).and_then(Value::as_u64).map(|count| count as usize);
        let records = take(&mut rest, count("drawn")?)?;
        let regions = take(&mut rest, count("regions")?)?;
        let started = take(&mut rest, count("started")?)?;
        let pairs = take(&mut rest, count("listed")?)?;
        let ids: Vec<u32> = take(&mut rest, count("ids")?)?;
        let places: Vec<u16> = take(&mut rest, count("places")?)?;
        let (ids, places) = (Some(ids).filter(|ids| !ids.is_empty()), Some(places).filter(|places| !places.is_empty()));
        rest.is_empty().then_some(Self { head, records, regions, started, pairs, ids, places })
    }
}

/// An element of an array, in 16-bit words.
trait Element: Copy {
    /// How many words it has.
    const WORDS: usize;
    fn words(self) -> [u16; 8];
    fn of(words: [u16; 8]) -> Self;
}

/// The elements of an array, behind what is there.
fn put<X: Element>(bytes: &mut Vec<u8>, list: &[X]) {
    for element in list {
        element.words()[..X::WORDS].iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    }
}

/// The next `count` elements.
fn take<X: Element>(bytes: &mut &[u8], count: usize) -> Option<Vec<X>> {
    let size = 2 * X::WORDS;
    let (part, rest) = bytes.split_at_checked(count.checked_mul(size)?)?;
    *bytes = rest;
    let word = |element: &[u8], k: usize| if k < X::WORDS { u16::from_le_bytes([element[2 * k], element[2 * k + 1]]) } else { 0 };
    Some(part.chunks_exact(size).map(|element| X::of(std::array::from_fn(|k| word(element, k)))).collect())
}

impl Element for Record {
    const WORDS: usize = 8;

    #[inline]
    fn words(self) -> [u16; 8] {
        let ([a, b, c], [d, e, f]) = (self.min, self.max);
        [a, b, c, u16::from_le_bytes([self.size, self.speed]), d, e, f, u16::from_le_bytes([self.pairs, self.flags])]
    }

    fn of([a, b, c, left, d, e, f, right]: [u16; 8]) -> Self {
        let ([size, speed], [pairs, flags]) = (left.to_le_bytes(), right.to_le_bytes());
        Self { min: [a, b, c], size, speed, max: [d, e, f], pairs, flags }
    }
}

impl Element for RegionRecord {
    const WORDS: usize = 8;

    fn words(self) -> [u16; 8] {
        let ([a, b, c], [d, e, f]) = (self.min, self.max);
        [a, b, c, self.cost, d, e, f, self.kind]
    }

    fn of([a, b, c, cost, d, e, f, kind]: [u16; 8]) -> Self {
        Self { min: [a, b, c], cost, max: [d, e, f], kind }
    }
}

impl Element for [u32; 2] {
    const WORDS: usize = 4;

    #[inline]
    fn words(self) -> [u16; 8] {
        let [a, b] = self;
        [a as u16, (a >> 16) as u16, b as u16, (b >> 16) as u16, 0, 0, 0, 0]
    }

    fn of([a, b, c, d, ..]: [u16; 8]) -> Self {
        [u32::from(a) | u32::from(b) << 16, u32::from(c) | u32::from(d) << 16]
    }
}

impl Element for u32 {
    const WORDS: usize = 2;

    fn words(self) -> [u16; 8] {
        [self as u16, (self >> 16) as u16, 0, 0, 0, 0, 0, 0]
    }

    fn of([low, high, ..]: [u16; 8]) -> Self {
        u32::from(low) | u32::from(high) << 16
    }
}

impl Element for u16 {
    const WORDS: usize = 1;

    fn words(self) -> [u16; 8] {
        [self, 0, 0, 0, 0, 0, 0, 0]
    }

    fn of([word, ..]: [u16; 8]) -> Self {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Message {
        let record = Record { min: [1, 2, 3], size: 4, speed: 5, max: [6, 7, 8], pairs: 9, flags: PICKED };
        Message {
            head: [("frame".to_string(), 7.into())].into_iter().collect(),
            records: vec![record; 3],
            regions: vec![RegionRecord { min: [0; 3], cost: 65535, max: [9; 3], kind: 3 }],
            started: vec![[0, 1]],
            pairs: vec![[0, 1], [1, 2]],
            ids: Some(vec![10, 20, 30]),
            places: Some(vec![1, 0, 1]),
        }
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        assert_eq!(Message::decode(&message().encode()), Some(message()));
        let bare = Message { ids: None, places: None, regions: Vec::new(), ..message() };
        assert_eq!(Message::decode(&bare.clone().encode()), Some(bare));
        assert_eq!(Message::decode(&Message::default().encode()), Some(Message::default()));
    }

    #[test]
    fn arrays_start_at_multiples_of_sixteen_bytes_and_a_box_takes_sixteen() {
        for digits in 0..40 {
            let head = [("x".to_string(), "y".repeat(digits).into())].into_iter().collect();
            let bytes = Message { head, ..message() }.encode();
            let arrays = 3 * 16 + 16 + 8 + 16 + 12 + 6;
            assert_eq!((bytes.len() - arrays) % 16, 0);
        }
    }

    #[test]
    fn bytes_that_are_cut_short_or_too_long_are_refused() {
        let bytes = message().encode();
        assert!((0..bytes.len()).all(|end| Message::decode(&bytes[..end]).is_none()));
        assert_eq!(Message::decode(&[&bytes[..], &[0]].concat()), None);
    }
}
