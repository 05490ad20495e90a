//! An update: insertions and removals, then static and dynamic objects, then refit and optimize.

use std::sync::atomic::{AtomicBool, Ordering};

use super::optimize::{Loose, Work};
use super::parts::Arrangement;
use super::policy::{self, Evidence, Motion};
use super::{Found, KdTree, Pruning, Variant};
use crate::bits::each_bit;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::changes::differing;
use crate::objects::unbounded::is_bounded;
use crate::objects::{Changes, Frame};

/// Words of 64 slots that one job surveys.
const SURVEYED: usize = 64;

/// The most boxes of a word that are checked one by one; if more have to be checked, all of the word's are.
const ONE_BY_ONE: u32 = 24;

/// What a survey finds out about 64 slots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Surveyed {
    /// Live objects that the tree can hold.
    bounded: u64,
    /// Slots that may have another box than in the last update.
    differing: u64,
}

impl<const D: usize, T: Real> KdTree<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        let clock = context.clock();
        let listed = matches!(frame.changes, Changes::Listed { .. });
        frame.check_lists()?;
        if listed {
            frame.check()?;
        } else {
            self.survey(frame, context)?;
        }
        self.cover(frame.slots());
        self.loose.clear();
        self.entering.clear();
        self.leaves = false;
        if listed {
            self.follow_list(frame)
        } else {
            self.follow_all(frame)
        }
        self.change_members();
        context.record("take in", clock);

        let clock = context.clock();
        self.work = Work::default();
        self.choose(frame);
        self.arrange(frame, listed, context);
        context.record("arrange", clock);
        Ok(())
    }

    /// One pass over all boxes: checks that they are valid, and finds which are bounded, and which differ from those of the last update if they are
    /// remembered. An object with the same box as then is known to be valid and bounded. Nothing changes before all are checked.
    fn survey(&mut self, frame: &Frame<'_, D, T>, context: &Context) -> Result<(), Error> {
        let (slots, work) = (frame.slots(), self.frame_work(frame.slots()));
        self.surveyed.clear();
        self.surveyed.resize(slots.div_ceil(64), Surveyed::default());
        // If everything is said to have changed, there is nothing to compare.
        let remembered = self.coherency.as_ref().filter(|_| !matches!(frame.changes, Changes::All));
        let last = remembered.map_or(&[][..], |coherency| coherency.last_boxes());
        let members = self.members.words();
        let valid = AtomicBool::new(true);
        let parts = self.surveyed.chunks_mut(SURVEYED).zip(frame.boxes.chunks(64 * SURVEYED)).zip((0..).step_by(SURVEYED));
        context.run_each(parts, slots.div_ceil(64 * SURVEYED), work, |((words, boxes), first), _| {
            let mut all = true;
            for ((surveyed, boxes), word) in words.iter_mut().zip(boxes.chunks(64)).zip(first..) {
                surveyed.differing = match last.get(64 * word..64 * word + boxes.len()) {
                    Some(last) => differing(boxes, last),
                    None => !0,
                };
                let live = frame.live.word(word, slots);
                let known = live & !surveyed.differing & members.get(word).copied().unwrap_or(0);
                let (valid, bounded) = check(boxes, live & !known);
                all &= live & !known & !valid == 0;
                surveyed.bounded = known | live & bounded;
            }
            if !all {
                valid.store(false, Ordering::Relaxed);
            }
        });
        if valid.into_inner() { Ok(()) } else { frame.check_boxes() }
    }

    /// Makes room for all slots, and removes those beyond the last one.
    fn cover(&mut self, slots: usize) {
        self.members.cover(slots);
        self.loose.cover(self.members.words().len() * 64);
        if let Some(coherency) = &mut self.coherency {
            coherency.cover(slots);
        }
    }

    fn follow_list(&mut self, frame: &Frame<'_, D, T>) {
        self.cut(frame.slots());
        let Changes::Listed { moved, inserted, removed } = frame.changes else { return };
        self.touched |= !(moved.is_empty() && inserted.is_empty() && removed.is_empty());
        if let Some(coherency) = &mut self.coherency {
            coherency.set_margin(frame, self.options.epsilon, moved.len() + inserted.len());
        }
        for &id in removed {
            self.unbounded.remove(id);
            self.leave(id);
        }
        for &id in moved.iter().chain(inserted) {
            let value = &frame.boxes[id as usize];
            if !is_bounded(value) {
                self.leave(id);
                self.unbounded.insert(id);
                continue;
            }
            self.unbounded.remove(id);
            if !self.members.contains(id) {
                self.members.insert(id);
                self.entering.push(id);
            }
            self.loose.insert(id);
            if let Some(coherency) = &mut self.coherency {
                coherency.changed.insert(id); // the tag may have changed, if not the box
                coherency.take(id, value);
            }
        }
    }

    /// Removes slots beyond the frame's end, listed or not.
    fn cut(&mut self, slots: usize) {
        for word in slots / 64..self.members.words().len() {
            let beyond = if word == slots / 64 { !0 << (slots % 64) } else { !0 };
            each_bit(self.members.words()[word] & beyond, word * 64, |id| self.leave(id));
        }
        while let Some(&last) = self.unbounded.ids().last().filter(|&&id| id as usize >= slots) {
            self.unbounded.remove(last);
            self.touched = true;
        }
    }

    fn follow_all(&mut self, frame: &Frame<'_, D, T>) {
        self.unbounded.clear();
        for word in 0..self.members.words().len() {
            let (here, before) = (self.surveyed.get(word).map_or(0, |surveyed| surveyed.bounded), self.members.words()[word]);
            if here != before {
                each_bit(before & !here, word * 64, |id| self.leave(id));
                self.members.words_mut()[word] = here;
                each_bit(here & !before, word * 64, |id| self.entering.push(id));
            }
            if here != !0 {
                let end = ((word + 1) * 64).min(frame.slots());
                for id in (word * 64).min(end)..end {
                    if here >> (id % 64) & 1 == 0 && frame.live.contains(id as u32) {
                        self.unbounded.insert(id as u32);
                    }
                }
            }
        }
        let share = self.options.epsilon;
        let Some(coherency) = &mut self.coherency else {
            self.touched = true;
            return;
        };
        coherency.set_margin(frame, share, frame.slots());
        // Unbounded objects are not compared: with them, every frame is new.
        let compares = frame.may_compare() && coherency.remembers;
        self.touched |= !compares || !self.unbounded.is_empty() || !self.entering.is_empty() || self.leaves;
        if !compares {
            coherency.changed.insert_all(frame.slots());
        }
        for (word, &bits) in self.members.words().iter().enumerate() {
            let differing = self.surveyed.get(word).map_or(!0, |surveyed| surveyed.differing);
            self.loose.words_mut()[word] |= coherency.take_word(word, bits, differing, frame.boxes);
        }
        self.touched |= coherency.changed.words().iter().any(|&word| word != 0);
    }

    /// Removes an object from the tree, if it is in it.
    fn leave(&mut self, id: u32) {
        if (id as usize) < self.members.words().len() * 64 && self.members.contains(id) {
            self.members.remove(id);
            self.leaves = true;
            self.touched = true;
            if let Some(coherency) = &mut self.coherency {
                coherency.forget(id);
            }
        }
    }

    /// Takes objects out of the array, each by a swap with the last one, and appends those that enter.
    fn change_members(&mut self) {
        if self.leaves {
            let (members, loose) = (&self.members, &mut self.loose);
            self.tree.remove(|id| members.contains(id), |id| loose.insert(id));
        }
        for &id in &self.entering {
            self.tree.append(id);
            self.loose.insert(id);
        }
    }

    /// Chooses a complete or an incremental search, by the predicted work or the share of static objects.
    fn choose(&mut self, frame: &Frame<'_, D, T>) {
        let Some(coherency) = &mut self.coherency else { return };
        // Complete and incremental frames count the same slots: counts that differ would switch back and forth.
        let stride = if self.options.paper { 1 } else { coherency.counted_stride() };
        self.found.static_share = coherency.static_share(&self.members, stride);
        if self.options.counts_work() {
            let dynamic = 1.0 - self.found.static_share;
            let changed = if Motion::is_open(dynamic) {
                coherency.changed_share(&self.members, frame, stride).max(dynamic)
            } else {
                coherency.forget_sample();
                1.0
            };
            let motion = Motion { dynamic, changed };
            self.found.incremental_share = self.found.experience.incremental_share(motion);
        }
        let Found { static_share, incremental_share, .. } = self.found;
        self.found.mode = policy::decide(&self.options, self.found.mode, Evidence { static_share, incremental_share });
        if self.found.mode.incremental || self.options.paper {
            coherency.hold_all(&self.members, frame.boxes);
        } else {
            coherency.sample(&self.members, frame.boxes);
        }
    }

    /// Refit and optimize, or a new tree. If only listed or dynamic objects can be out of place, only those are looked at.
    pub(super) fn arrange(&mut self, frame: &Frame<'_, D, T>, listed: bool, context: &Context) {
        let held = self.found.mode.incremental;
        let work = self.frame_work(frame.slots());
        let (mut boxes, mut noted) = (frame.boxes, listed);
        if let Some(coherency) = &mut self.coherency {
            let same = std::mem::replace(&mut coherency.arranged, held) == held;
            self.tree.version = coherency.searches + 1;
            noted = same && (listed || held);
            if held {
                boxes = &coherency.held;
            }
        }
        let rebuilt = self.options.variant == Variant::Rebuilt;
        if rebuilt && !self.touched {
            // A new tree of the same objects may have other nodes, and the pairs that are kept are in the chunks of these.
            return;
        }
        if rebuilt {
            self.tree.reset();
        } else if noted && self.loose.words().iter().all(|&word| word == 0) && !self.leaves {
            return;
        }
        let noted = noted && !policy::looks_at_all(self.loose.count(), self.tree.order.len());
        let loose = if noted { Loose::These(&self.loose) } else { Loose::All };
        let threshold = if self.options.pruning == Pruning::SweepOnly { usize::MAX } else { self.options.threshold };
        let arrangement = Arrangement { boxes, loose, threshold, context, work };
        let raised = if rebuilt { 0 } else { self.parts.refit(&mut self.tree, arrangement) };
        self.work = self.parts.optimize(&mut self.tree, arrangement);
        self.work.raised = raised;
    }
}

/// Bits for those of up to 64 boxes that are valid, and that are bounded; only `wanted` are looked at for certain.
#[inline(always)]
fn check<const D: usize, T: Real>(boxes: &[Aabb<D, T>], wanted: u64) -> (u64, u64) {
    let mut both = 0;
    let mut look = |bit: u32, value: &Aabb<D, T>| both |= u64::from(value.is_valid() & is_bounded(value)) << bit;
    if wanted.count_ones() <= ONE_BY_ONE {
        each_bit(wanted, 0, |bit| look(bit, &boxes[bit as usize]));
    } else {
        (0..).zip(boxes).for_each(|(bit, value)| look(bit, value));
    }
    let mut valid = both;
    each_bit(wanted & !both, 0, |bit| valid |= u64::from(boxes[bit as usize].is_valid()) << bit);
    let mut bounded = both;
    each_bit(wanted & !both, 0, |bit| bounded |= u64::from(is_bounded(&boxes[bit as usize])) << bit);
    (valid, bounded)
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;

    fn scatter(count: usize, size: f32, step: usize) -> Vec<Aabb<3, f32>> {
        let place = |i: usize, k: usize| ((i * (7919 + 104_729 * k) + step * (i % 7)) % 10_007) as f32 * 0.01;
        (0..count).map(|i| Aabb::from_center(std::array::from_fn(|k| place(i, k)), [size; 3])).collect()
    }

    #[test]
    fn a_second_update_without_motion_changes_not_one_index() {
        for variant in [Variant::Complete, Variant::Incremental, Variant::Adaptive] {
            for (size, count, steps) in [(0.0, 2000, 12), (0.5, 2000, 12), (8.0, 2000, 12), (40.0, 2000, 12), (0.5, 20_000, 3)] {
                let mut tree = KdTree::new(Options { threshold: 24, ..Options::new(variant) });
                let mut context = Context::new();
                for step in 0..steps {
                    let boxes = scatter(count, size, step * step);
                    let frame = Frame::new(&boxes).with_changes(Changes::All);
                    tree.update(&frame, &mut context).unwrap();
                    let (nodes, order) = (tree.tree.nodes.clone(), tree.tree.order.clone());
                    tree.update(&frame, &mut context).unwrap();
                    assert!(nodes == tree.tree.nodes && order == tree.tree.order, "{variant:?}, size {size}, step {step}");
                    assert_eq!(tree.work, Work::default(), "{variant:?}, size {size}, step {step}");
                }
            }
        }
    }

    /// Large enough that subtrees are walked on their own.
    #[cfg(feature = "parallel")]
    #[test]
    fn nodes_indices_and_pairs_are_the_same_for_any_thread_count() {
        for variant in [Variant::Complete, Variant::Incremental, Variant::Adaptive, Variant::Rebuilt] {
            let run = |mut context: Context| {
                let mut tree = KdTree::new(Options { threshold: 64, ..Options::new(variant) });
                let mut store = crate::PairStore::default();
                let mut history = Vec::new();
                for step in [0, 1, 1, 40, 3] {
                    let mut boxes = scatter(20_000, 0.8, step);
                    if step == 40 {
                        // Everything crowds into a corner: planes move, nodes go and come.
                        let crowd = |c: f32| 100.0 * (c / 100.0).abs().powf(2.5);
                        boxes.iter_mut().for_each(|value| *value = Aabb::from_center(value.center().map(crowd), [0.8; 3]));
                    }
                    let frame = Frame::new(&boxes);
                    crate::step(&mut tree, &frame, &mut context, &mut store).unwrap();
                    tree.validate(&frame, crate::Strength::Geometry).unwrap();
                    history.push((tree.tree.nodes.clone(), tree.tree.order.clone(), tree.work, store.to_vec()));
                }
                history
            };
            let expected = run(Context::new());
            for threads in [2, 3, 8] {
                let found = run(Context::new().with_executor(crate::Threads::new(threads).unwrap()));
                assert!(found == expected, "{variant:?} with {threads} threads");
            }
        }
    }

    #[test]
    fn all_operators_take_part_when_the_distribution_changes() {
        let mut tree = KdTree::new(Options { threshold: 24, ..Options::new(Variant::Complete) });
        let mut context = Context::new();
        let mut sum = Work::default();
        for step in 0..40 {
            let mut boxes = scatter(2000, 0.5, step);
            // Everything falls towards one corner, then spreads again; in between, most objects vanish.
            let pull = 1.0 + (step % 20) as f32 * 0.2;
            boxes.iter_mut().for_each(|value| value.min = value.min.map(|c| 100.0 * (c / 100.0).abs().powf(pull)));
            boxes.iter_mut().for_each(|value| value.max = value.min.map(|c| c + 1.0));
            boxes.truncate(if step % 10 == 9 { 300 } else { 2000 });
            let frame = Frame::new(&boxes);
            tree.update(&frame, &mut context).unwrap();
            tree.validate(&frame, crate::Strength::Geometry).unwrap();
            sum.raised += tree.work.raised;
            sum.lowered += tree.work.lowered;
            sum.partitions += tree.work.partitions;
            sum.collapses += tree.work.collapses;
            sum.translations += tree.work.translations;
            sum.erasures += tree.work.erasures;
        }
        let all = [sum.raised, sum.lowered, sum.partitions, sum.collapses, sum.translations, sum.erasures];
        assert!(all.iter().all(|&count| count > 0), "{sum:?}");
    }

    #[test]
    fn a_box_is_not_taken_for_valid_because_its_empty_slot_remembers_the_same() {
        let mut boxes = scatter(200, 0.5, 0);
        let (mut tree, mut context) = (KdTree::new(Options::new(Variant::Incremental)), Context::new());
        let mut live = [!0u64; 4];
        live[1] = !(1 << 5);
        for _ in 0..3 {
            let frame = Frame { live: crate::Live::Bits(&live), ..Frame::new(&boxes) };
            crate::step(&mut tree, &frame, &mut context, &mut crate::PairStore::default()).unwrap();
        }
        // What the tree stores for slots without an object.
        boxes[64 + 5] = Aabb::empty();
        tree.update(&Frame { live: crate::Live::Bits(&live), ..Frame::new(&boxes) }, &mut context).unwrap();
        assert!(tree.update(&Frame::new(&boxes), &mut context).is_err());
        // One changed box among 63 known ones.
        boxes[64 + 5] = boxes[0];
        boxes[70].min[1] = f32::NAN;
        assert!(tree.update(&Frame::new(&boxes), &mut context).is_err());
        boxes[70] = Aabb::everything();
        tree.update(&Frame::new(&boxes), &mut context).unwrap();
        assert_eq!(tree.unbounded.ids(), [70]);
        tree.validate(&Frame::new(&boxes), crate::Strength::Geometry).unwrap();
    }

    #[test]
    fn an_invalid_box_leaves_the_tree_as_it_was() {
        let mut boxes = scatter(200, 0.5, 0);
        let mut tree = KdTree::new(Options { threshold: 24, ..Options::new(Variant::Adaptive) });
        tree.update(&Frame::new(&boxes), &mut Context::new()).unwrap();
        let before = (tree.tree.nodes.clone(), tree.tree.order.clone());
        let good = boxes.clone();
        boxes[100].max[1] = f32::NAN;
        boxes[3] = boxes[3].translate([1000.0; 3]);
        assert!(tree.update(&Frame::new(&boxes), &mut Context::new()).is_err());
        assert!(before == (tree.tree.nodes.clone(), tree.tree.order.clone()));
        tree.validate(&Frame::new(&good), crate::Strength::Geometry).unwrap();
    }
}
