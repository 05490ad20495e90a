//! Ranks ascend, ranges hold all candidates and no more than they must, events are in order.

use super::Sweep;
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::objects::Frame;

impl<const D: usize, T: Real> Sweep<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let n = self.boxes.len();
        ensure!(n == frame.count(), "{n} ranks for {} objects", frame.count());
        let columns = self.boxes.columns();
        ensure!(columns.min(0)[..n].is_sorted(), "the ranks do not ascend on the primary axis");
        ensure!(columns.min(0)[n..].iter().all(|v| v.is_nan()), "padding is a box");
        let mut seen = vec![false; frame.slots()];
        for rank in 0..n {
            let id = columns.ids()[rank];
            ensure!((id as usize) < frame.slots() && frame.live.contains(id), "rank {rank} holds {id}, which is not live");
            ensure!(!std::mem::replace(&mut seen[id as usize], true), "object {id} has two ranks");
        }
        if self.options.paper {
            self.ranges.validate(&columns.min(0)[..n], &columns.max(0)[..n])?;
        } else {
            self.check_ranges()?;
        }
        self.check_events()?;
        for which in [0, 1] {
            ensure!(self.axes.clone().boundaries(which).are_sorted(), "the boundaries of axis {which} do not ascend");
        }
        if strength == Strength::Geometry {
            let current = self.boxes.is_current(frame.boxes, n, |id| frame.live.contains(id));
            ensure!(current, "a rank holds another box than the frame");
        }
        Ok(())
    }

    /// Against the definition: `upper` by bisection, `lower` by a window that moves forward.
    fn check_ranges(&self) -> Result<(), Violation> {
        let n = self.boxes.len();
        let candidates = &self.candidates;
        let bounds = &candidates.bounds;
        ensure!(bounds.len() == n, "{} bounds for {n} ranks", bounds.len());
        let columns = self.boxes.columns();
        let (starts, ends) = (&columns.min(0)[..n], &columns.max(0)[..n]);
        let mut first = 0;
        for rank in 0..n {
            let expected = starts.partition_point(|&start| start <= ends[rank]);
            ensure!(bounds[rank].upper as usize == expected, "rank {rank} ends at {}, not {expected}", bounds[rank].upper);
        }
        for rank in 0..n {
            while first < rank && (ends[first] < starts[rank] || candidates.is_long(first)) {
                first += 1;
            }
            ensure!(bounds[rank].lower as usize == first, "rank {rank} begins at {}, not {first}", bounds[rank].lower);
        }
        let long = (0..n).filter(|&rank| candidates.is_long(rank)).map(|rank| rank as u32);
        ensure!(long.eq(candidates.long().iter().copied()), "the list of long objects is not that of the long ranks");
        Ok(())
    }

    /// The events are all endpoints, once, in order; of equal coordinates, starts first.
    fn check_events(&self) -> Result<(), Violation> {
        let n = self.boxes.len();
        ensure!(self.order.len() == 2 * n, "{} endpoints of {n} objects", self.order.len());
        let columns = self.boxes.columns();
        // In paper mode endpoints are those of objects.
        let rank_of: Option<Vec<usize>> = self.options.paper.then(|| {
            let mut ranks = vec![0; n];
            (0..n).for_each(|rank| ranks[self.ranges.object(rank)] = rank);
            ranks
        });
        let rank_of = |i: usize| rank_of.as_ref().map_or(i, |ranks| ranks[i]);
        let mut seen = vec![false; 2 * n];
        let mut last = None;
        for &endpoint in &self.order {
            let endpoint = endpoint as usize;
            ensure!(endpoint < 2 * n && !std::mem::replace(&mut seen[endpoint], true), "endpoint {endpoint} comes twice");
            let key = match endpoint.checked_sub(n) {
                None => (columns.min(D - 1)[rank_of(endpoint)].order_key(), false),
                Some(other) => (columns.max(D - 1)[rank_of(other)].order_key(), true),
            };
            ensure!(last <= Some(key), "endpoint {endpoint} is out of order");
            last = Some(key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aabb, Context, Spec};

    #[test]
    fn the_validator_detects_every_damaged_part() {
        let boxes: Vec<_> = (0..40).map(|i| Aabb::new([i as f32; 3], [i as f32 + 2.5; 3])).collect();
        let frame = Frame::new(&boxes);
        let mut sound = Sweep::new(&"sweep".parse::<Spec>().unwrap()).unwrap();
        sound.update(&frame, &mut Context::new()).unwrap();
        sound.validate(&frame, Strength::Geometry).unwrap();

        type Damage = fn(&mut Sweep<3, f32>);
        let damages: [(&str, Damage, Strength); 7] = [
            ("a lower bound", |s| s.candidates.bounds[9].lower += 1, Strength::Structure),
            ("an upper bound", |s| s.candidates.bounds[9].upper -= 1, Strength::Structure),
            ("the order of events", |s| s.order.swap(3, 50), Strength::Structure),
            ("a lost event", |s| s.order[3] = s.order[4], Strength::Structure),
            ("who is long", |s| s.candidates.longest = 2, Strength::Structure),
            ("a double", |s| s.boxes.set(7, 8, &s.boxes.get(7).1), Strength::Structure),
            ("a stale box", |s| s.boxes.set(7, 7, &Aabb::new([7.0, 6.0, 7.0], [9.5; 3])), Strength::Geometry),
        ];
        for (name, damage, strength) in damages {
            let mut copy = sound.clone();
            damage(&mut copy);
            assert!(copy.validate(&frame, strength).is_err(), "{name}");
            assert!(strength == Strength::Structure || copy.validate(&frame, Strength::Structure).is_ok(), "{name}");
        }
        assert!(sound.validate(&Frame::new(&boxes[..39]), Strength::Structure).is_err());
    }
}
