//! Objects of a periodic space as a structure for plain space sees them: wrapped boxes, and images of those that reach over a border.
//!
//! # The structure
//! Slot `i` below [`base`](Images::base) is the object in slot `i` of the caller's frame; its box is wrapped. Further slots are images: copies
//! of objects that touch or cross an upper end of the space, moved down by a period. An object's images are a linked list. An image keeps its
//! slot as long as its object needs it, and changes only when its object does. So whatever a structure keeps for unchanged slots stays right.

use std::sync::Mutex;

use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Period, Real};
use crate::objects::{Changes, Filter, Frame, Live, MAX_OBJECTS, Shape, Tag};

/// No image.
const NONE: u32 = u32::MAX;
/// Objects per job of the pass that wraps boxes.
const PER_JOB: usize = 1 << 14;
/// What an object costs in that pass, in the units of [`Context::run_weighted`].
const WRAP: usize = 2;

/// See the module's text.
#[derive(Clone, Debug)]
pub(super) struct Images<const D: usize, T> {
    /// Slots of the caller's frame.
    objects: usize,
    /// The slot of the first image.
    base: usize,
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
    /// Images that are not in use.
    free: Vec<u32>,
    /// Has the structure seen the last frame? If not, the next one is taken in as a whole.
    ready: bool,
    /// Are the changes of the last frame listed?
    listed: bool,
    lists: Lists,
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
            lists: Lists::default(),
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

    fn is_live(&self, slot: usize) -> bool {
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
    }
}

/// # Following the caller's frame
impl<const D: usize, T: Real> Images<D, T> {
    /// The next frame is taken in as a whole: a structure has not seen this one.
    pub(super) fn forget(&mut self) {
        self.ready = false;
    }

    /// Takes in a frame. On error nothing has changed.
    pub(super) fn follow(&mut self, frame: &Frame<'_, D, T>, period: &Period<D, T>, context: &Context) -> Result<(), Error> {
        let lists = match frame.changes {
            Changes::Listed { moved, inserted, removed } => Some([moved, inserted, removed]),
            Changes::Unknown | Changes::All => None,
        };
        check(frame, lists, period)?;
        let fits = self.ready && frame.slots() <= self.base && frame.tags.is_some() != self.tags.is_empty();
        let Lists { moved, inserted, removed, images } = &mut self.lists;
        [moved, inserted, removed].into_iter().for_each(Vec::clear);
        images.clear();
        self.ready = false;
        match lists {
            Some(lists) if fits => self.follow_listed(frame, period, lists)?,
            _ if fits && frame.may_compare() => self.follow_unknown(frame, period)?,
            _ => self.follow_all(frame, period, context, fits)?,
        }
        self.ready = true;
        Ok(())
    }

    /// Follows listed changes.
    fn follow_listed(&mut self, frame: &Frame<'_, D, T>, period: &Period<D, T>, lists: [&[u32]; 3]) -> Result<(), Error> {
        let [moved, inserted, removed] = lists;
        self.objects = frame.slots();
        let known = removed.iter().copied().filter(|&id| (id as usize) < self.base);
        for id in known.collect::<Vec<_>>() {
            self.set_live(id as usize, false);
            self.place(id, None, period)?;
            self.lists.removed.push(id);
        }
        for &id in inserted.iter().chain(moved) {
            self.set_live(id as usize, true);
            if let Some(tags) = frame.tags {
                self.tags[id as usize] = tags[id as usize];
            }
            self.place(id, Some(&frame.boxes[id as usize]), period)?;
        }
        self.lists.moved.extend_from_slice(moved);
        self.lists.inserted.extend_from_slice(inserted);
        self.list_images();
        self.listed = true;
        Ok(())
    }

    /// Compares with the last frame, since a structure that is shown a filter does not.
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
            list.push(slot as u32);
            self.place(slot as u32, is.then(|| &frame.boxes[slot]), period)?;
        }
        self.list_images();
        self.listed = changed <= slots / 2;
        Ok(())
    }

    /// Takes in everything. If it `fits`, images keep their slots.
    fn follow_all(&mut self, frame: &Frame<'_, D, T>, period: &Period<D, T>, context: &Context, fits: bool) -> Result<(), Error> {
        let slots = frame.slots();
        if !fits {
            // A world that has grown before is given room to grow.
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
        let near = self.wrap_all(frame, period, context);
        // Objects at a border, and those that had images.
        for id in near {
            let value = frame.live.contains(id).then(|| &frame.boxes[id as usize]);
            self.place(id, value, period)?;
        }
        self.lists.images.clear();
        self.listed = false;
        self.all_live = self.free.is_empty() && self.base == slots && frame.count() == slots;
        Ok(())
    }

    /// Other numbers for the images: none exist for now.
    fn renumber(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        if self.base > MAX_OBJECTS {
            return Err(Error::TooManyObjects { count: self.base, limit: MAX_OBJECTS });
        }
        [&mut self.next, &mut self.owners, &mut self.free].into_iter().for_each(Vec::clear);
        self.shifts.clear();
        self.objects = 0;
        let room = |_| Error::OutOfMemory { what: "boxes" };
        let more = |len: usize| self.base.saturating_sub(len);
        self.boxes.try_reserve(more(self.boxes.len())).map_err(room)?;
        self.first.try_reserve(more(self.first.len())).map_err(room)?;
        self.boxes.clear();
        self.boxes.resize(self.base, Aabb::default());
        self.first.clear();
        self.first.resize(self.base, NONE);
        self.live.clear();
        self.live.resize(self.base.div_ceil(64), 0);
        self.tags.clear();
        if frame.tags.is_some() {
            self.tags.resize(self.base, Tag::default());
        }
        Ok(())
    }

    /// Wraps all boxes, and lists the objects that have images or need some, ascending.
    fn wrap_all(&mut self, frame: &Frame<'_, D, T>, period: &Period<D, T>, context: &Context) -> Vec<u32> {
        let slots = frame.slots();
        let first = &self.first;
        let parts: Vec<_> = self.boxes[..slots].chunks_mut(PER_JOB).map(|part| Mutex::new((part, Vec::new()))).collect();
        context.run_weighted(parts.len(), WRAP * slots, |job, _| {
            let (part, near) = &mut *parts[job].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let from = job * PER_JOB;
            for (at, (own, given)) in part.iter_mut().zip(&frame.boxes[from..]).enumerate() {
                *own = period.wrap_box(given);
                let id = from + at;
                if period.crossed(own) != 0 || first[id] != NONE {
                    near.push(id as u32);
                }
            }
        });
        parts.into_iter().flat_map(|part| part.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).1).collect()
    }

    /// Gives an object that changed its box, or none, and the images that it needs.
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
            self.lists.images.push((image, true));
            if let (true, Some(wrapped)) = (stays, wrapped) {
                there |= 1 << shift;
                self.show(image, id, period.image(&wrapped, shift));
            } else {
                self.set_live(self.base + image as usize, false);
                self.free.push(image);
            }
            image = after;
        }
        let Some(wrapped) = wrapped else { return Ok(()) };
        for shift in (1..1u8 << D).filter(|shift| shift & !crossed == 0 && there >> shift & 1 == 0) {
            let image = self.take_image()?;
            self.shifts[image as usize] = shift;
            self.lists.images.push((image, false));
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
        self.boxes.try_reserve(1).map_err(|_| Error::OutOfMemory { what: "boxes" })?;
        self.boxes.push(Aabb::default());
        if !self.tags.is_empty() {
            self.tags.push(Tag::default());
        }
        self.next.push(NONE);
        self.owners.push(0);
        self.shifts.push(0);
        self.live.resize((slot + 1).div_ceil(64), 0);
        Ok(self.owners.len() as u32 - 1)
    }

    fn set_live(&mut self, slot: usize, live: bool) {
        let word = &mut self.live[slot / 64];
        *word = *word & !(1 << (slot % 64)) | u64::from(live) << (slot % 64);
        self.all_live &= live;
    }

    /// Lists the images that changed: each once, by what it was and what it is.
    fn list_images(&mut self) {
        let mut images = std::mem::take(&mut self.lists.images);
        // Of an image that changed twice, the first entry says what it was.
        images.sort_by_key(|&(image, _)| image);
        images.dedup_by_key(|&mut (image, _)| image);
        for &(image, was) in &images {
            let slot = self.base + image as usize;
            let list = match (was, self.is_live(slot)) {
                (true, true) => &mut self.lists.moved,
                (false, true) => &mut self.lists.inserted,
                (true, false) => &mut self.lists.removed,
                (false, false) => continue,
            };
            list.push(slot as u32);
        }
        images.clear();
        self.lists.images = images;
        let Lists { moved, inserted, removed, .. } = &mut self.lists;
        [moved, inserted, removed].into_iter().for_each(|list| list.sort_unstable());
    }
}

/// Are the boxes valid that are new, and none longer than half the period? The culprit is searched for only on failure.
fn check<const D: usize, T: Real>(
    frame: &Frame<'_, D, T>,
    lists: Option<[&[u32]; 3]>,
    period: &Period<D, T>,
) -> Result<(), Error> {
    frame.check_lists()?;
    let fits = |value: &Aabb<D, T>| value.is_valid() & period.is_short(value);
    let fine = match (lists, frame.live) {
        (Some([moved, inserted, _]), _) => [moved, inserted].into_iter().flatten().all(|&id| fits(&frame.boxes[id as usize])),
        (None, Live::All) => frame.boxes.iter().fold(true, |all, value| all & fits(value)),
        (None, Live::Bits(_)) => frame.ids().all(|id| fits(&frame.boxes[id as usize])),
    };
    if fine {
        return Ok(());
    }
    frame.check()?;
    frame.ids().try_for_each(|id| period.check_box(&frame.boxes[id as usize], id as usize))
}

/// # Invariants
impl<const D: usize, T: Real> Images<D, T> {
    /// What is wrong, if anything: with the boxes of the frame, and with the lists of images.
    pub(super) fn fault(&self, frame: &Frame<'_, D, T>, period: &Period<D, T>) -> Option<String> {
        let mut seen = 0;
        for slot in 0..self.base {
            let is = slot < frame.slots() && frame.live.contains(slot as u32);
            if is != self.is_live(slot) {
                return Some(format!("slot {slot} is live or not, other than in the frame"));
            }
            let crossed = if is {
                let wrapped = period.wrap_box(&frame.boxes[slot]);
                if wrapped != self.boxes[slot] {
                    return Some(format!("the wrapped box of slot {slot} is out of date"));
                }
                period.crossed(&wrapped)
            } else {
                0
            };
            let mut there = 0u32;
            for image in self.slots_of(slot as u32).skip(1) {
                let (wrapped, shift) = self.origin(image);
                if self.owner(image) != slot as u32 || !self.is_live(image as usize) || there >> shift & 1 == 1 {
                    return Some(format!("image {image} is not slot {slot}'s, or not live, or there twice"));
                }
                if *self.boxed(image) != period.image(wrapped, shift) {
                    return Some(format!("image {image} of slot {slot} is elsewhere"));
                }
                there |= 1 << shift;
                seen += 1;
            }
            let needed = (1..1u8 << D).filter(|shift| shift & !crossed == 0).fold(0u32, |bits, shift| bits | 1 << shift);
            if there != needed {
                return Some(format!("slot {slot} has other images than it needs"));
            }
        }
        (seen != self.count()).then(|| format!("{} images, but {seen} belong to an object", self.count()))
    }
}
