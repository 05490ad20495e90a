//! Distributes objects to groups, and changes to the structures of the groups.

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::pairs::Failure;
use super::{Changed, Environments, Group, open, write};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::{Changes, Frame, Tag};
use crate::pairs::Revision;

/// The environment of a slot.
fn env_of<const D: usize, T: Real>(frame: &Frame<'_, D, T>, slot: u32) -> u32 {
    frame.tags.map_or(0, |tags| tags[slot as usize].env)
}

impl<const D: usize, T: Real> Group<D, T> {
    /// Copies the boxes of its objects from the frame; false if they are no longer the same objects.
    fn refill(&mut self, frame: &Frame<'_, D, T>) -> bool {
        let tag = Tag::default().with_env(self.env);
        let (mut same, mut plain) = (self.shape == frame.shape, true);
        for (value, &slot) in self.boxes.iter_mut().zip(&self.slots) {
            let at = slot as usize;
            if at >= frame.slots() {
                return false;
            }
            *value = frame.boxes[at];
            let now = frame.tags.map_or(Tag::default(), |tags| tags[at]);
            same &= frame.live.contains(slot) & (now.env == self.env);
            plain &= now == tag;
        }
        self.plain = plain;
        self.touched = true;
        self.moved.clear();
        if self.changed == Changed::Listed {
            self.changed = Changed::Boxes;
        }
        same
    }
}

impl<const D: usize, T: Real> Environments<D, T> {
    pub(super) fn update_groups(&mut self, frame: &Frame<'_, D, T>, context: &Context) -> Result<(), Error> {
        frame.check_lists()?;
        match frame.changes {
            Changes::Listed { moved, inserted: [], removed: [] } if self.stay(frame, moved) => {
                self.move_listed(frame, moved);
                self.each(context, |group| group.update_structure(context))
            }
            _ => {
                // Usually all objects have moved and none was inserted or removed: each group checks its own, while its boxes are in the cache.
                let count: usize = self.groups.iter_mut().map(|group| open(group).slots.len()).sum();
                let same = AtomicBool::new(count == frame.count() && self.places.len() == frame.slots());
                if same.load(Ordering::Relaxed) {
                    self.each(context, |group| {
                        if group.refill(frame) {
                            return group.update_structure(context);
                        }
                        same.store(false, Ordering::Relaxed);
                        Ok(())
                    })?;
                }
                if same.load(Ordering::Relaxed) {
                    return Ok(());
                }
                self.regroup(frame)?;
                self.each(context, |group| group.update_structure(context))
            }
        }
    }

    /// Runs a job for each group.
    fn each(&mut self, context: &Context, job: impl Fn(&mut Group<D, T>) -> Result<(), Error> + Sync) -> Result<(), Error> {
        let (groups, failure) = (&self.groups, Failure::default());
        context.run(groups.len(), |number, _| failure.note(number, job(&mut write(&groups[number]))));
        let result = failure.finish();
        if result.is_err() {
            self.groups.iter_mut().for_each(|group| open(group).changed = Changed::All);
        }
        result
    }

    /// Are the listed objects in the groups of their environments already, so that no group gains or loses one?
    fn stay(&mut self, frame: &Frame<'_, D, T>, moved: &[u32]) -> bool {
        let Self { groups, places, .. } = self;
        places.len() == frame.slots()
            && moved.iter().all(|&slot| {
                let (group, local) = places[slot as usize];
                let group = groups.get_mut(group as usize).map(open);
                group.is_some_and(|group| {
                    group.slots.get(local as usize) == Some(&slot)
                        && group.env == env_of(frame, slot)
                        && group.shape == frame.shape
                })
            })
    }

    fn move_listed(&mut self, frame: &Frame<'_, D, T>, moved: &[u32]) {
        for &slot in moved {
            let (group, local) = self.places[slot as usize];
            let group = open(&mut self.groups[group as usize]);
            group.boxes[local as usize] = frame.boxes[slot as usize];
            group.moved.push(local);
            group.touched = true;
            group.plain &= frame.tags.is_none_or(|tags| tags[slot as usize] == Tag::default().with_env(group.env));
        }
    }

    /// Rebuilds all groups. Structures of groups with the same objects compare boxes, if they can.
    fn regroup(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        self.make_groups(frame)?;
        self.places.resize(frame.slots(), (0, 0));
        let Self { groups, places, .. } = self;
        // A group is overwritten from the front: as long as the slots agree, it has the same objects.
        let mut filled = vec![0u32; groups.len()];
        let envs: Vec<u32> = groups.iter_mut().map(|group| open(group).env).collect();
        let mut last = 0;
        for slot in frame.ids() {
            let env = env_of(frame, slot);
            if envs[last] != env {
                last = envs.binary_search(&env).unwrap_or(0);
            }
            let group = open(&mut groups[last]);
            let local = filled[last] as usize;
            filled[last] += 1;
            if local < group.slots.len() {
                if group.slots[local] != slot {
                    group.changed = Changed::All;
                }
                (group.slots[local], group.boxes[local]) = (slot, frame.boxes[slot as usize]);
            } else {
                group.changed = Changed::All;
                group.slots.push(slot);
                group.boxes.push(frame.boxes[slot as usize]);
            }
            places[slot as usize] = (last as u32, local as u32);
        }
        for (group, &filled) in groups.iter_mut().zip(&filled) {
            let group = open(group);
            if group.slots.len() > filled as usize || group.shape != frame.shape {
                group.changed = Changed::All;
            }
            group.slots.truncate(filled as usize);
            group.boxes.truncate(filled as usize);
            group.shape = frame.shape;
            group.touched = true;
            let tag = Tag::default().with_env(group.env);
            group.plain = frame.tags.is_none_or(|tags| group.slots.iter().all(|&slot| tags[slot as usize] == tag));
            group.moved.clear();
            if group.changed == Changed::Listed {
                group.changed = Changed::Boxes;
            }
        }
        Ok(())
    }

    /// Makes a group for every environment of the frame and for environment 0, and drops all others. On error nothing has changed.
    fn make_groups(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        let mut envs: Vec<u32> = vec![0];
        let mut last = 0;
        for slot in frame.ids() {
            let env = env_of(frame, slot);
            if env != last {
                envs.push(env);
                last = env;
            }
        }
        envs.sort_unstable();
        envs.dedup();
        if self.groups.iter_mut().map(|group| open(group).env).eq(envs.iter().copied()) {
            return Ok(());
        }
        let had: Vec<u32> = self.groups.iter_mut().map(|group| open(group).env).collect();
        let mut fresh = Vec::new();
        for &env in envs.iter().filter(|env| had.binary_search(env).is_err()) {
            fresh.push(RwLock::new(Group::new(env, &self.spec)?));
        }
        self.groups.retain_mut(|group| envs.binary_search(&open(group).env).is_ok());
        self.groups.append(&mut fresh);
        self.groups.sort_by_key(|group| super::read(group).env);
        self.revision = Revision::default();
        Ok(())
    }
}
