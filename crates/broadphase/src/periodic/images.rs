//! Objects of a periodic space as a structure for plain space sees them: wrapped boxes, and images of those that reach over a border.
//!
//! # The structure
//! Slot `i` below [`base`](Images::base) is the object in slot `i` of the caller's frame; its box is wrapped. Further slots are images: copies
//! of objects that touch or cross an upper end of the space, moved down by a period. An object's images are a linked list. An image keeps its
//! slot as long as its object needs it, and changes only when its object does. So whatever a structure keeps for unchanged slots stays right.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::bounds::Bounds;
use crate::context::{Context, PerWorker};
use crate::error::Error;
use crate::geometry::{Aabb, Period, Real};
use crate::memory::{push, refill, reserve};
use crate::objects::{Changes, Filter, Frame, Live, MAX_OBJECTS, Shape, Tag};

/// No image.
const NONE: u32 = u32::MAX;
/// Objects per job of the pass that wraps boxes.
const PER_JOB: usize = 1 << 14;
/// What an object costs in that pass, in the units of [`Context::run_weighted`].
const WRAP: usize = 2;
/// What the memory is for, in errors.
const BOXES: &str = "boxes";
const IMAGES: &str = "images of boxes";
const CHANGES: &str = "lists of changes";

/// Wrapped boxes and images of a periodic space. See the module documentation.
#[derive(Clone, Debug)]
pub(super) struct Images<const D: usize, T> {
    /// Slots of the caller's frame.
    objects: usize,
    /// The slot of the first image.
    pub(super) base: usize,
    boxes: Vec<Aabb<D, T>>,
    tags: Vec<Tag>,
    /// A bit for each slot that holds an object or an image.
    live: Vec<u64>,
    /// Is every slot live?
    all_live: bool,
    /// By object: its first image.
    first: Vec<u32>,
    /// By image: the next one of the same object.
    next: Vec<u32>,
    /// By image: its object, and the axes along which it is moved, one bit each.
    owners: Vec<u32>,
    shifts: Vec<u8>,
    /// Images that are not in use; the last one is taken first.
    free: Vec<u32>,
    /// Has the structure been updated with the last frame? If not, everything in the next one counts as changed.
    ready: bool,
    /// Are the changes of the last frame listed?
    listed: bool,
    /// How many boxes changed in the last frame whose changes were not listed by the caller. If most did, the next one is not compared.
    changed: usize,
    lists: Lists,
    /// By job of the pass that wraps boxes: the objects that have images, or need some now, ascending. Scratch.
    near: PerWorker<Vec<u32>>,
}

/// Slots that changed, as [`Changes::Listed`] has them.
#[derive(Clone, Debug, Default)]
struct Lists {
    moved: Vec<u32>,
    inserted: Vec<u32>,
    removed: Vec<u32>,
    /// Images that changed, and whether each was in use before.
    images: Vec<(u32, bool)>,
}

impl<const D: usize, T> Default for Images<D, T> {
    fn default() -> Self {
        Self {
            objects: 0,
            base: 0,
            boxes: Vec::new(),
            tags: Vec::new(),
            live: Vec::new(),
            all_live: true,
            first: Vec::new(),
            next: Vec::new(),
            owners: Vec::new(),
            shifts: Vec::new(),
            free: Vec::new(),
            ready: false,
            listed: false,
            changed: 0,
            lists: Lists::default(),
            near: PerWorker::default(),
        }
    }
}

/// # Reading
impl<const D: usize, T: Real> Images<D, T> {
    /// The frame that a structure for plain space sees, in which nothing changed.
    pub(super) fn frame<'a>(&'a self, shape: Shape, filter: Option<Filter<'a>>) -> Frame<'a, D, T> {
        let live = if self.all_live { Live::All } else { Live::Bits(&self.live) };
        let tags = (!self.tags.is_empty()).then_some(&self.tags[..]);
        let changes = Changes::Listed { moved: &[], inserted: &[], removed: &[] };
        Frame { boxes: &self.boxes, live, tags, changes, shape, filter }
    }

    /// The frame, with the changes of the last [`follow`](Images::follow).
    pub(super) fn changed_frame<'a>(&'a self, shape: Shape, filter: Option<Filter<'a>>) -> Frame<'a, D, T> {
        let Lists { moved, inserted, removed, .. } = &self.lists;
        let changes = if self.listed { Changes::Listed { moved, inserted, removed } } else { Changes::All };
        self.frame(shape, filter).with_changes(changes)
    }

    /// Is the slot an image?
    #[inline(always)]
    pub(super) fn is_image(&self, slot: u32) -> bool {
        slot as usize >= self.base
    }

    /// The object of a slot.
    #[inline(always)]
    pub(super) fn owner(&self, slot: u32) -> u32 {
        if self.is_image(slot) { self.owners[slot as usize - self.base] } else { slot }
    }

    /// The box of a slot.
    #[inline(always)]
    pub(super) fn boxed(&self, slot: u32) -> &Aabb<D, T> {
        &self.boxes[slot as usize]
    }

    /// The wrapped box of a slot's object, and the axes along which the slot is moved.
    #[inline(always)]
    pub(super) fn origin(&self, slot: u32) -> (&Aabb<D, T>, u8) {
        let shift = if self.is_image(slot) { self.shifts[slot as usize - self.base] } else { 0 };
        (&self.boxes[self.owner(slot) as usize], shift)
    }

    /// The number of images.
    pub(super) fn count(&self) -> usize {
        self.owners.len() - self.free.len()
    }

    /// An object's slots: its own, then those of its images.
    pub(super) fn slots_of(&self, object: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.first.get(object as usize).copied().unwrap_or(NONE);
        std::iter::once(object).chain(std::iter::from_fn(move || {
            let image = Some(next).filter(|&image| image != NONE)?;
            next = self.next[image as usize];
            Some(self.base as u32 + image)
        }))
    }

    pub(super) fn is_live(&self, slot: usize) -> bool {
        self.live[slot / 64] >> (slot % 64) & 1 == 1
    }

    pub(super) fn bytes(&self) -> usize {
        let Lists { moved, inserted, removed, images } = &self.lists;
        let numbers = [&self.first, &self.next, &self.owners, &self.free, moved, inserted, removed];
        self.boxes.capacity() * size_of::<Aabb<D, T>>()
            + self.tags.capacity() * size_of::<Tag>()
            + self.live.capacity() * 8
            + numbers.iter().map(|list| list.capacity() * 4).sum::<usize>()
            + self.shifts.capacity()
            + images.capacity() * size_of::<(u32, bool)>()
            + self.near.iter().map(|list| list.capacity() * 4).sum::<usize>()
    }
}

/// # Following the caller's frame
impl<const D: usize, T: Real> Images<D, T> {
    /// Makes everything count as changed in the next frame, since the structure was not updated with this one.
    pub(super) fn forget(&mut self) {
        self.ready = false;
    }

    /// Follows a frame whose boxes are at most `longest` periods long. On error nothing has changed.
    pub(super) fn follow(
        &mut self,
        frame: &Frame<'_, D, T>,
        period: &Period<D, T>,
        longest: T,
        context: &Context,
    ) -> Result<(), Error> {
        let lists = match frame.changes {
            Changes::Listed { moved, inserted, removed } => Some([moved, inserted, removed]),
            Changes::Unknown | Changes::All => None,
        };
        let bounds = Bounds::new(period, longest);
        check(frame, lists, period, longest, &bounds)?;
        let fits = self.ready && frame.slots() <= self.base && frame.tags.is_some() != self.tags.is_empty();
        let Lists { moved, inserted, removed, images } = &mut self.lists;
        [moved, inserted, removed].into_iter().for_each(Vec::clear);
        images.clear();
        // The lowest one is taken first, so that images stay close together and a motion that repeats uses the same slots again.
        self.free.sort_unstable();
        self.free.reverse();
        self.ready = false;
        let most = frame.slots() / 2;
        match lists {
            Some(lists) if fits && lists.iter().map(|list| list.len()).sum::<usize>() <= most => {
                self.follow_listed(frame, period, lists)?;
            }
            None if fits && frame.may_compare() && self.changed <= most => self.follow_unknown(frame, period)?,
            _ => self.follow_all(frame, period, &bounds, context, fits)?,
        }
        self.ready = true;
        Ok(())
    }

    /// Follows listed changes.
    fn follow_listed(&mut self, frame: &Frame<'_, D, T>, period: &Period<D, T>, lists: [&[u32]; 3]) -> Result<(), Error> {
        let [moved, inserted, removed] = lists;
        self.objects = frame.slots();
        for &id in removed {
            if (id as usize) < self.base {
                self.set_live(id as usize, false);
                self.place(id, None, period)?;
                push(&mut self.lists.removed, id, CHANGES)?;
            }
        }
        for &id in inserted.iter().chain(moved) {
            self.set_live(id as usize, true);
            if let Some(tags) = frame.tags {
                self.tags[id as usize] = tags[id as usize];
            }
            self.place(id, Some(&frame.boxes[id as usize]), period)?;
        }
        reserve(&mut self.lists.moved, moved.len(), CHANGES)?;
        self.lists.moved.extend_from_slice(moved);
        reserve(&mut self.lists.inserted, inserted.len(), CHANGES)?;
        self.lists.inserted.extend_from_slice(inserted);
        self.list_images()?;
        self.listed = true;
        Ok(())
    }

    /// Compares with the last frame, since a structure does not compare if the frame has a filter.
    fn follow_unknown(&mut self, frame: &Frame<'_, D, T>, period: &Period<D, T>) -> Result<(), Error> {
        let slots = self.objects.max(frame.slots());
        self.objects = frame.slots();
        let mut changed = 0;
        for slot in 0..slots {
            let (was, is) = (self.is_live(slot), slot < frame.slots() && frame.live.contains(slot as u32));
            let value = if is { Some(period.wrap_box(&frame.boxes[slot])) } else { None };
            if was == is && value.is_none_or(|value| value == self.boxes[slot]) {
                continue;
            }
            changed += 1;
            self.set_live(slot, is);
            let list = match (was, is) {
                (true, true) => &mut self.lists.moved,
                (false, _) => &mut self.lists.inserted,
                (true, false) => &mut self.lists.removed,
            };
            push(list, slot as u32, CHANGES)?;
            self.place(slot as u32, is.then(|| &frame.boxes[slot]), period)?;
        }
        self.list_images()?;
        self.listed = changed <= slots / 2;
        self.changed = changed;
        Ok(())
    }

    /// Follows everything. If it `fits`, images keep their slots.
    fn follow_all(
        &mut self,
        frame: &Frame<'_, D, T>,
        period: &Period<D, T>,
        bounds: &Bounds<D, T>,
        context: &Context,
        fits: bool,
    ) -> Result<(), Error> {
        let slots = frame.slots();
        if !fits {
            // If the number of slots has grown before, leave room for growth.
            self.base = if self.base == 0 { slots } else { slots + slots / 8 };
            self.renumber(frame)?;
        }
        for id in slots as u32..self.objects as u32 {
            self.place(id, None, period)?; // if there are fewer slots than before
        }
        self.objects = slots;
        self.live.iter_mut().take(self.base.div_ceil(64)).for_each(|word| *word = 0);
        for index in 0..slots.div_ceil(64) {
            self.live[index] = frame.live.word(index, slots);
        }
        for image in 0..self.owners.len() {
            self.set_live(self.base + image, false);
        }
        if let Some(tags) = frame.tags {
            self.tags[..slots].copy_from_slice(&tags[..slots]);
        }
        self.changed = self.wrap_all(frame, period, bounds, context)?;
        for job in 0..slots.div_ceil(PER_JOB) {
            let near = std::mem::take(&mut *self.near.get(job));
            for &id in &near {
                let value = frame.live.contains(id).then(|| &frame.boxes[id as usize]);
                self.place(id, value, period)?;
            }
            *self.near.get(job) = near;
        }
        self.lists.images.clear();
        self.listed = false;
        self.all_live = self.free.is_empty() && self.base == slots && frame.count() == slots;
        Ok(())
    }

    /// Renumbers the images, by removing all of them.
    fn renumber(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        if self.base > MAX_OBJECTS {
            return Err(Error::TooManyObjects { count: self.base, limit: MAX_OBJECTS });
        }
        [&mut self.next, &mut self.owners, &mut self.free].into_iter().for_each(Vec::clear);
        self.shifts.clear();
        self.objects = 0;
        refill(&mut self.boxes, self.base, Aabb::default(), BOXES)?;
        refill(&mut self.first, self.base, NONE, BOXES)?;
        refill(&mut self.live, self.base.div_ceil(64), 0, BOXES)?;
        refill(&mut self.tags, if frame.tags.is_some() { self.base } else { 0 }, Tag::default(), BOXES)
    }

    /// Wraps all boxes, lists the objects that have images or need some, and returns how many boxes changed.
    fn wrap_all(
        &mut self,
        frame: &Frame<'_, D, T>,
        period: &Period<D, T>,
        bounds: &Bounds<D, T>,
        context: &Context,
    ) -> Result<usize, Error> {
        let slots = frame.slots();
        let jobs = slots.div_ceil(PER_JOB);
        self.near.try_prepare_for(jobs)?;
        let (first, near, changed, refused) = (&self.first, &self.near, AtomicUsize::new(0), AtomicBool::new(false));
        let parts = self.boxes[..slots].chunks_mut(PER_JOB).enumerate();
        context.run_each(parts, jobs, WRAP * slots, |(job, part), _| {
            let near = &mut *near.get(job);
            near.clear();
            let (from, mut count) = (job * PER_JOB, 0);
            let firsts = &first[from..from + part.len()];
            for (at, (own, given)) in part.iter_mut().zip(&frame.boxes[from..]).enumerate() {
                let is_simple = bounds.hold(given) & (firsts[at] == NONE);
                let wrapped = if is_simple { *given } else { period.wrap_box(given) };
                count += usize::from(wrapped != *own);
                *own = wrapped;
                let has_images = !is_simple && (period.crossed(own) != 0 || firsts[at] != NONE);
                if has_images && push(near, (from + at) as u32, IMAGES).is_err() {
                    refused.store(true, Ordering::Relaxed);
                }
            }
            changed.fetch_add(count, Ordering::Relaxed);
        });
        if refused.into_inner() { Err(Error::OutOfMemory { what: IMAGES }) } else { Ok(changed.into_inner()) }
    }

    /// Stores the wrapped box of an object that changed, or removes it if there is none, and makes the images that it needs now.
    fn place(&mut self, id: u32, value: Option<&Aabb<D, T>>, period: &Period<D, T>) -> Result<(), Error> {
        let wrapped = value.map(|value| period.wrap_box(value));
        let crossed = wrapped.map_or(0, |wrapped| period.crossed(&wrapped));
        if let Some(wrapped) = wrapped {
            self.boxes[id as usize] = wrapped;
        }
        if crossed == 0 && self.first[id as usize] == NONE {
            return Ok(());
        }
        let mut image = std::mem::replace(&mut self.first[id as usize], NONE);
        let mut there = 0u8; // a bit for each combination of axes
        while image != NONE {
            let after = self.next[image as usize];
            let shift = self.shifts[image as usize];
            let stays = shift & !crossed == 0;
            push(&mut self.lists.images, (image, true), CHANGES)?;
            if let (true, Some(wrapped)) = (stays, wrapped) {
                there |= 1 << shift;
                self.show(image, id, period.image(&wrapped, shift));
            } else {
                self.set_live(self.base + image as usize, false);
                push(&mut self.free, image, IMAGES)?;
            }
            image = after;
        }
        let Some(wrapped) = wrapped else { return Ok(()) };
        for shift in (1..1u8 << D).filter(|shift| shift & !crossed == 0 && there >> shift & 1 == 0) {
            let image = self.take_image()?;
            self.shifts[image as usize] = shift;
            push(&mut self.lists.images, (image, false), CHANGES)?;
            self.show(image, id, period.image(&wrapped, shift));
        }
        Ok(())
    }

    /// Puts an image in its slot, and in the list of its object.
    fn show(&mut self, image: u32, id: u32, value: Aabb<D, T>) {
        let slot = self.base + image as usize;
        self.boxes[slot] = value;
        self.owners[image as usize] = id;
        self.next[image as usize] = std::mem::replace(&mut self.first[id as usize], image);
        self.set_live(slot, true);
        if !self.tags.is_empty() {
            self.tags[slot] = self.tags[id as usize];
        }
    }

    /// An image that is not in use.
    fn take_image(&mut self) -> Result<u32, Error> {
        if let Some(image) = self.free.pop() {
            return Ok(image);
        }
        let slot = self.base + self.owners.len();
        if slot >= MAX_OBJECTS {
            return Err(Error::TooManyObjects { count: slot + 1, limit: MAX_OBJECTS });
        }
        push(&mut self.boxes, Aabb::default(), IMAGES)?;
        if !self.tags.is_empty() {
            push(&mut self.tags, Tag::default(), IMAGES)?;
        }
        push(&mut self.next, NONE, IMAGES)?;
        push(&mut self.owners, 0, IMAGES)?;
        push(&mut self.shifts, 0, IMAGES)?;
        if slot / 64 >= self.live.len() {
            push(&mut self.live, 0, IMAGES)?;
        }
        Ok(self.owners.len() as u32 - 1)
    }

    fn set_live(&mut self, slot: usize, live: bool) {
        let word = &mut self.live[slot / 64];
        *word = *word & !(1 << (slot % 64)) | u64::from(live) << (slot % 64);
        self.all_live &= live;
    }

    /// Lists the images that changed: each once, by what it was and what it is.
    fn list_images(&mut self) -> Result<(), Error> {
        let mut images = std::mem::take(&mut self.lists.images);
        // An image that changed twice was given up by one object and then taken by another: it was in use.
        images.sort_unstable_by_key(|&(image, was)| (image, !was));
        images.dedup_by_key(|&mut (image, _)| image);
        for &(image, was) in &images {
            let slot = self.base + image as usize;
            let list = match (was, self.is_live(slot)) {
                (true, true) => &mut self.lists.moved,
                (false, true) => &mut self.lists.inserted,
                (true, false) => &mut self.lists.removed,
                (false, false) => continue,
            };
            push(list, slot as u32, CHANGES)?;
        }
        images.clear();
        self.lists.images = images;
        let Lists { moved, inserted, removed, .. } = &mut self.lists;
        [moved, inserted, removed].into_iter().for_each(|list| list.sort_unstable());
        Ok(())
    }
}

/// Checks that the new boxes are valid, and none longer than `longest` periods. The offending box is searched for only on failure.
fn check<const D: usize, T: Real>(
    frame: &Frame<'_, D, T>,
    lists: Option<[&[u32]; 3]>,
    period: &Period<D, T>,
    longest: T,
    bounds: &Bounds<D, T>,
) -> Result<(), Error> {
    frame.check_lists()?;
    let fits = |value: &Aabb<D, T>| bounds.allow(value);
    let fine = match (lists, frame.live) {
        (Some([moved, inserted, _]), _) => [moved, inserted].into_iter().flatten().all(|&id| fits(&frame.boxes[id as usize])),
        (None, Live::All) => frame.boxes.iter().fold(true, |all, value| all & fits(value)),
        (None, Live::Bits(_)) => frame.ids().all(|id| fits(&frame.boxes[id as usize])),
    };
    if fine {
        return Ok(());
    }
    frame.check()?;
    frame.ids().try_for_each(|id| period.check_length(&frame.boxes[id as usize], id as usize, longest))
}
