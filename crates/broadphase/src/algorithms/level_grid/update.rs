//! Objects are inserted, moved and removed one by one; all of them are placed again when the world changes.

use super::LevelGrid;
use super::sections::Sections;
use crate::algorithms::common::LinkedBins;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Frame;

impl<const D: usize, T: Real> LevelGrid<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, _context: &mut Context) -> Result<(), Error> {
        self.tracked.update(frame)?;
        if self.bounds.follow(&self.tracked) || self.sections.is_none() {
            self.place_all(frame.slots());
            return Ok(());
        }
        let Self { sections: Some(sections), bins, tracked, population, passed, section_changes, options, .. } = self else {
            return Ok(());
        };
        // The object's section is stored. In paper mode, the section's list is searched for it.
        let mut take = |bins: &mut LinkedBins, id: u32| match bins.bin_of(id).filter(|_| options.paper) {
            Some(section) => {
                *passed += bins.search_and_take(id, section).unwrap_or(0);
                section
            }
            None => bins.take(id),
        };
        for &id in tracked.removed() {
            population[sections.level_of(take(bins, id))] -= 1;
        }
        bins.resize_slots(frame.slots());
        for &id in tracked.moved() {
            let section = sections.of(tracked.get(id));
            if bins.bin_of(id) != Some(section) {
                population[sections.level_of(take(bins, id))] -= 1;
                population[sections.level_of(section)] += 1;
                *section_changes += 1;
                bins.place(id, section);
            }
        }
        for &id in tracked.inserted() {
            let section = sections.of(tracked.get(id));
            population[sections.level_of(section)] += 1;
            bins.place(id, section);
        }
        Ok(())
    }

    /// Subdivides the current world, and puts every object into its section.
    fn place_all(&mut self, slots: usize) {
        let Some(world) = self.bounds.world() else { return };
        let sections = Sections::new(world, self.options.levels, self.options.ratio);
        self.bins.clear(sections.oversize as usize + 1);
        self.bins.resize_slots(slots);
        self.population.fill(0);
        for id in self.tracked.ids() {
            let section = sections.of(self.tracked.get(id));
            self.population[sections.level_of(section)] += 1;
            self.bins.place(id, section);
        }
        self.sections = Some(sections);
    }
}
