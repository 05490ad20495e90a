//! Invariants of the images.

use super::images::Images;
use crate::geometry::{Period, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> Images<D, T> {
    /// The first fault, if there is one: a box that is not that of the frame, or images that an object lacks or should not have.
    pub(super) fn fault(&self, frame: &Frame<'_, D, T>, period: &Period<D, T>) -> Option<String> {
        let mut seen = 0;
        for slot in 0..self.base {
            let is = slot < frame.slots() && frame.live.contains(slot as u32);
            if is != self.is_live(slot) {
                return Some(format!("slot {slot} is live here or in the frame, but not in both"));
            }
            let crossed = if is {
                let wrapped = period.wrap_box(&frame.boxes[slot]);
                if wrapped != *self.boxed(slot as u32) {
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
