//! Objects come, move and go, one by one.

use super::LevelGrid;
use super::sections::Sections;
use crate::algorithms::common::World;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Frame;

impl<const D: usize, T: Real> LevelGrid<D, T> {
    pub(super) fn take_in(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        self.ledger.take_in(frame)?;
        if self.sections.is_none() {
            let Some(world) = World::around(self.ledger.ids().map(|id| self.ledger.get(id))) else { return Ok(()) };
            let sections = Sections::new(&world, self.options.levels, self.options.ratio);
            self.bins.extend_to(sections.oversize as usize + 1);
            self.sections = Some(sections);
        }
        let Self { sections: Some(sections), bins, ledger, population, .. } = self else { return Ok(()) };
        for &id in ledger.gone() {
            population[sections.level_of(bins.take(id))] -= 1;
        }
        bins.resize_slots(frame.slots());
        for &id in ledger.moved() {
            let section = sections.of(ledger.get(id));
            if bins.bin_of(id) != Some(section) {
                population[sections.level_of(bins.take(id))] -= 1;
                population[sections.level_of(section)] += 1;
                bins.place(id, section);
            }
        }
        for &id in ledger.come() {
            let section = sections.of(ledger.get(id));
            population[sections.level_of(section)] += 1;
            bins.place(id, section);
        }
        Ok(())
    }
}
