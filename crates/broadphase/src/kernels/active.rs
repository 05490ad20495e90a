//! The input of a pairing sweep: its events, and the members of its partition.
//!
//! Boxes lie in rank order, ascending on column 0, the primary axis; the last column is the secondary axis, whose endpoints
//! are the events. An object that starts is tested against the active *members* of a partition, and if it is a member, it is
//! active until it ends. A pair is found where the object that started first is a member. Every object is a member of exactly
//! one partition, so every pair is found once.

/// One endpoint on the secondary axis: a rank, and whether it starts or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event(u32);

impl Event {
    /// The most ranks, so that a bit is left.
    pub(crate) const MAX_RANKS: usize = 1 << 31;

    /// The object of this rank starts.
    #[inline(always)]
    pub(crate) fn start(rank: u32) -> Self {
        Self(rank << 1)
    }

    /// The object of this rank ends.
    #[inline(always)]
    pub(crate) fn end(rank: u32) -> Self {
        Self(rank << 1 | 1)
    }

    /// Whose endpoint it is.
    #[inline(always)]
    pub(crate) fn rank(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Does it end?
    #[inline(always)]
    pub(crate) fn is_end(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The candidate range of a rank. Both ends are wanted together, so they share a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The first candidate.
    pub lower: u32,
    /// One past the last candidate, which is above the rank itself.
    pub upper: u32,
}

impl Bounds {
    /// The number of candidates from `rank` on, itself included.
    #[inline(always)]
    pub(crate) fn width(self, rank: usize) -> u32 {
        self.upper.wrapping_sub(rank as u32)
    }
}

/// The members of a partition, numbered from 0.
pub(crate) trait Members: Copy {
    /// How many there are.
    fn len(&self) -> usize;
    /// Panics unless all ranks of members are below `ranks`: the kernels rely on it.
    fn check(&self, ranks: usize);
    /// The number of the object of `rank`, if it is a member.
    fn member(&self, rank: usize) -> Option<usize>;
    /// Like [`member`](Members::member), but may also return the number of an object that is long and so never active. Enough to deactivate an object
    /// that ends, and reads less.
    #[inline(always)]
    fn member_or_long(&self, rank: usize) -> Option<usize> {
        self.member(rank)
    }
    /// The rank of a member.
    fn rank(&self, member: usize) -> usize;
    /// The members `from..to` that can overlap the object of `rank` on the primary axis.
    fn candidates(&self, rank: usize) -> (usize, usize);
}

/// The ranks `begin..end`, less the long ones.
#[derive(Clone, Copy)]
pub(crate) struct Ranks<'a> {
    /// The candidates of each rank: the first, and one past the last.
    pub bounds: &'a [Bounds],
    /// See the type.
    pub begin: usize,
    /// See the type.
    pub end: usize,
    /// Ranks of a greater width are long.
    pub longest: u32,
}

impl Members for Ranks<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.end - self.begin
    }

    fn check(&self, ranks: usize) {
        assert!(self.begin <= self.end && self.end <= ranks && self.bounds.len() == ranks);
    }

    #[inline(always)]
    fn member(&self, rank: usize) -> Option<usize> {
        self.member_or_long(rank).filter(|_| self.bounds[rank].width(rank) <= self.longest)
    }

    #[inline(always)]
    fn member_or_long(&self, rank: usize) -> Option<usize> {
        let member = rank.wrapping_sub(self.begin);
        (member < self.len()).then_some(member)
    }

    #[inline(always)]
    fn rank(&self, member: usize) -> usize {
        self.begin + member
    }

    #[inline(always)]
    fn candidates(&self, rank: usize) -> (usize, usize) {
        let Bounds { lower, upper } = self.bounds[rank];
        let from = (lower as usize).max(self.begin);
        let to = (upper as usize).min(self.end).max(from);
        (from - self.begin, to - self.begin)
    }
}

/// The long ranks, ascending. They are few, and candidates of every object.
#[derive(Clone, Copy)]
pub(crate) struct Long<'a> {
    /// Their ranks.
    pub ranks: &'a [u32],
}

impl Members for Long<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.ranks.len()
    }

    fn check(&self, ranks: usize) {
        assert!(self.ranks.is_sorted() && self.ranks.last().is_none_or(|&last| (last as usize) < ranks));
    }

    #[inline(always)]
    fn member(&self, rank: usize) -> Option<usize> {
        self.ranks.binary_search(&(rank as u32)).ok()
    }

    #[inline(always)]
    fn rank(&self, member: usize) -> usize {
        self.ranks[member] as usize
    }

    #[inline(always)]
    fn candidates(&self, _: usize) -> (usize, usize) {
        (0, self.ranks.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_remembers_rank_and_kind() {
        for rank in [0, 1, 77, (Event::MAX_RANKS - 1) as u32] {
            assert_eq!((Event::start(rank).rank(), Event::start(rank).is_end()), (rank as usize, false));
            assert_eq!((Event::end(rank).rank(), Event::end(rank).is_end()), (rank as usize, true));
        }
    }

    #[test]
    fn every_rank_is_a_member_once() {
        let bounds: Vec<_> = (0..10).map(|rank| Bounds { lower: 0, upper: if rank == 4 { 10 } else { rank + 1 } }).collect();
        let part = |begin, end| Ranks { bounds: &bounds, begin, end, longest: 1 };
        let (first, second, long) = (part(0, 6), part(6, 10), Long { ranks: &[4] });
        for rank in 0..10 {
            let members = [first.member(rank), second.member(rank), long.member(rank)];
            assert_eq!(members.iter().flatten().count(), 1, "rank {rank}");
            assert!(members[0].is_none_or(|member| first.member_or_long(rank) == Some(member)), "rank {rank}");
        }
        assert_eq!((first.candidates(4), second.candidates(4), long.candidates(7)), ((0, 6), (0, 4), (0, 1)));
        assert_eq!(second.candidates(3), (0, 0), "a range that ends before the partition is empty");
        assert_eq!((second.rank(second.member(8).unwrap()), long.rank(0)), (8, 4));
    }
}
