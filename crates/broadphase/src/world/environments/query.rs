//! Queries: search one group after the other, or only that of one environment.

use std::ops::ControlFlow;

use super::{Environments, read};
use crate::algorithms::{Found, Query, scan};
use crate::geometry::{Measure, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> Environments<D, T> {
    /// Searches these groups, one after the other, until the visitor breaks.
    fn search_groups(&self, groups: impl Iterator<Item = usize>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        let mut left = Some(limit);
        for number in groups {
            let Some(limit) = left else { return };
            let group = read(&self.groups[number]);
            let mut show = |local: u32, at: T| {
                let flow = visit(group.slots[local as usize], at);
                left = match flow {
                    ControlFlow::Continue(limit) => Some(limit),
                    ControlFlow::Break(()) => None,
                };
                flow
            };
            match group.structure.reader() {
                Some(query) => query.search(&group.frame(), measure, limit, &mut show),
                None => scan(&group.frame(), measure, limit, &mut show),
            }
        }
    }
}

impl<const D: usize, T: Real> Query<D, T> for Environments<D, T> {
    /// Searches all groups: as many searches as there are environments.
    fn search(&self, _: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        self.search_groups(0..self.groups.len(), measure, limit, visit);
    }

    fn search_env(&self, _: &Frame<'_, D, T>, env: u32, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        let own = self.groups.binary_search_by_key(&env, |group| read(group).env);
        self.search_groups([0].into_iter().chain(own.ok().filter(|&number| number > 0)), measure, limit, visit);
    }
}
