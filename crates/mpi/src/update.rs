//! One frame of a rank, from its boxes to its pairs.

use std::time::Duration;

use broadphase::{Aabb, Real};

use crate::collective::{self, Call};
use crate::distributed::Distributed;
use crate::error::{Error, TransportError};
use crate::local::Local;
use crate::near::Near;
use crate::pairs::{CrossPair, Reporters, Reporting, difference, reports};
use crate::select::{Chosen, Surroundings};
use crate::stats::{Clock, Stages, Traffic};
use crate::table::{self, Neighbor, Row};
use crate::transport::{Channel, Transport, all_gather};
use crate::wire::{Malformed, Reader};

/// # Frames
impl<const D: usize, T: Real, C: Transport> Distributed<D, T, C> {
    /// Finds all pairs of this rank's objects, with each other and with those of all other ranks. Collective.
    ///
    /// 1. A few tight boxes around this rank's objects are found and sent to all ranks. Meanwhile the structure of the local objects is updated.
    /// 2. From the table of all ranks' boxes each rank finds its neighbors, and its objects that overlap their boxes. The changes of these lists
    ///    are sent to the neighbors, without waiting.
    /// 3. The local objects are joined.
    /// 4. The neighbors' messages bring the ghosts up to date, which are joined with the objects that overlap a neighbor's boxes.
    /// 5. With [`Reporting::Both`], owners of wide objects are sent the pairs that other ranks found for them.
    ///
    /// # Errors
    /// [`Error::Rank`] on all ranks if one has passed boxes that are not valid; objects and pairs are then unchanged. [`Error::Local`] on a rank that
    /// has too many pairs: the results of the other ranks are right, and so is this rank's next frame. After [`Error::Transport`] the job is over.
    pub fn update(&mut self) -> Result<(), Error> {
        (self.stages, self.traffic) = (Stages::default(), Traffic::default());
        let mut clock = Clock::start();
        self.agree_on_structure(&mut clock)?;
        self.objects.list_changes();
        self.bounds.update(&self.objects);
        self.start_table(&mut clock)?;
        let mut result = self.local_update();
        clock.lap(&mut self.stages.local);
        self.finish_table(&mut clock)?;
        self.find_neighbors()?;
        self.select()?;
        if !self.objects.few_changed() {
            self.cross.ghosts().expect_many();
        }
        self.send_ghosts(&mut clock)?;
        clock.lap(&mut self.stages.exchange);
        self.timed(&mut clock, |this| this.transport.poll())?;
        result = result.and_then(|()| self.local_pairs_of_frame());
        clock.lap(&mut self.stages.local);
        self.receive_ghosts(&mut clock)?;
        result = result.and(self.cross.join(self.selection.boundary(), &mut self.context).map_err(Error::from));
        self.collect_pairs();
        clock.lap(&mut self.stages.cross);
        self.exchange_wide_pairs(&mut clock)?;
        self.find_events();
        clock.lap(&mut self.stages.cross);
        self.objects.settle();
        self.traffic.ghosts = self.cross.ghost_count() + self.wide.count();
        self.traffic.wide_ghosts = self.wide.count();
        self.traffic.copies = self.links.values().map(|link| link.outgoing.len() + link.outgoing_wide.len()).sum();
        result
    }

    /// Runs a call of the transport and adds its CPU time to that stage. The time since the last lap is added to the exchange.
    fn timed<R>(&mut self, clock: &mut Clock, call: impl FnOnce(&mut Self) -> Result<R, TransportError>) -> Result<R, Error> {
        clock.lap(&mut self.stages.exchange);
        let result = call(self);
        let mut spent = Duration::ZERO;
        clock.lap(&mut spent);
        self.stages.transport += spent;
        Ok(result?)
    }

    /// Makes the structure of the local objects. The cell sizes of the paper's hash grid follow from its option `base`: all ranks compute it from the
    /// first object of the lowest rank that has one. Until some rank has one, there are no pairs to find.
    fn agree_on_structure(&mut self, clock: &mut Clock) -> Result<(), Error> {
        if self.local.is_some() {
            return Ok(());
        }
        let mut spec = self.options.algorithm.clone();
        let has_base = spec.descriptor().options.iter().any(|option| option.name == "base");
        if has_base && spec.text("base").is_none() {
            let first = self.objects.ids().next().map(|slot| self.objects.boxes()[slot as usize]);
            // NaN: this rank has no object.
            let size = first.map_or(f64::NAN, |first| first.size().iter().fold(0.0, |most, side| side.to_f64().max(most)));
            let mut table = std::mem::take(&mut self.table);
            let gathered = self.timed(clock, |this| all_gather(&mut this.transport, bytemuck::bytes_of(&size), &mut table));
            self.table = table;
            gathered?;
            let sizes = (0..self.table.ranks()).map(|rank| {
                bytemuck::try_pod_read_unaligned::<f64>(self.table.of(rank)).map_err(|_| TransportError::Malformed { rank })
            });
            let sizes = sizes.collect::<Result<Vec<_>, _>>()?;
            let Some(size) = sizes.into_iter().find(|size| !size.is_nan()) else { return Ok(()) };
            // A point (size 0) or a plane (infinite) gives no cell size.
            let size = if size.is_finite() && size > 0.0 { size } else { 1.0 };
            // As the grid itself chooses: the size is in the middle of a level.
            let listed = spec.descriptor().options.iter().find(|option| option.name == "factor").map(|option| option.default);
            let factor = spec.text("factor").or(listed).and_then(|text| text.parse::<f64>().ok()).unwrap_or(1.0);
            spec = format!("{spec}:base={:e}", size * factor.sqrt()).parse()?;
        }
        self.local = Some(Local::new(spec, self.options.events, self.options.pair_limit)?);
        Ok(())
    }

    /// Starts to send this rank's boxes to all ranks.
    fn start_table(&mut self, clock: &mut Clock) -> Result<(), Error> {
        let mut message = self.transport.buffer();
        collective::head(&mut message, Call::Update, self.fault.as_deref());
        if self.fault.is_none() {
            let rank = self.rank();
            let domain = self.domain_changed.then_some(&self.domains[rank][..]);
            table::write(&mut message, self.bounds.sent(), domain);
        }
        self.timed(clock, |this| this.transport.start_all_gather(&message))
    }

    fn local_update(&mut self) -> Result<(), Error> {
        let Self { local, objects, context, fault, .. } = self;
        match local {
            Some(local) if fault.is_none() => Ok(local.update(objects, context)?),
            _ => Ok(()),
        }
    }

    fn local_pairs_of_frame(&mut self) -> Result<(), Error> {
        let Self { local, objects, context, .. } = self;
        local.as_mut().map_or(Ok(()), |local| Ok(local.pairs(objects, context)?))
    }

    /// Waits for the boxes of all ranks.
    fn finish_table(&mut self, clock: &mut Clock) -> Result<(), Error> {
        let mut table = std::mem::take(&mut self.table);
        let finished = self.timed(clock, |this| this.transport.finish_all_gather(&mut table));
        self.table = table;
        finished?;
        if let Err(error) = collective::check(&self.table, Call::Update) {
            // The frame is given up on all ranks, but the structure may have been updated already.
            self.local.iter_mut().for_each(Local::expect_all_changed);
            return Err(error);
        }
        self.traffic.table_bytes = self.table.bytes();
        Ok(())
    }

    fn row(&self, rank: usize) -> Result<Row<'_, D, T>, Error> {
        Row::read(collective::body(&self.table, rank)?).map_err(|Malformed| TransportError::Malformed { rank }.into())
    }

    /// Finds the ranks with which messages are exchanged. Ghosts of all other ranks are dropped; those ranks do the same.
    fn find_neighbors(&mut self) -> Result<(), Error> {
        let mut neighbors = std::mem::take(&mut self.neighbors);
        neighbors.clear();
        self.domains_changed = std::mem::take(&mut self.domain_changed);
        for rank in (0..self.size()).filter(|&rank| rank != self.transport.rank()) {
            let row = self.row(rank)?;
            neighbors.extend(Neighbor::of(rank, self.bounds.sent(), &row));
            if let Some(domain) = row.domain {
                let domain = domain.iter().collect();
                self.domains[rank] = domain;
                self.domains_changed = true;
            }
        }
        let Self { links, cross, wide, .. } = self;
        links.retain(|rank, link| {
            let stays = neighbors.iter().any(|neighbor| neighbor.rank == *rank);
            if !stays {
                link.incoming.clear(cross.ghosts());
                link.incoming_wide.clear(wide.ghosts());
            }
            stays
        });
        for neighbor in &neighbors {
            links.entry(neighbor.rank).or_default();
        }
        self.traffic.neighbors = neighbors.len();
        self.neighbors = neighbors;
        Ok(())
    }

    /// Chooses what travels to which neighbor, and what is joined with ghosts.
    fn select(&mut self) -> Result<(), Error> {
        let bound = self.bounds.sent().bound;
        let mut near = std::mem::take(&mut self.near);
        near.clear();
        for (position, neighbor) in self.neighbors.iter().enumerate().filter(|(_, neighbor)| neighbor.normal) {
            let boxes = self.row(neighbor.rank)?.normal.iter().filter(|aabb| aabb.overlaps(&bound));
            near.extend(boxes.map(|aabb| Near { neighbor: position as u32, rank: neighbor.rank as u32, aabb }));
        }
        let rank = self.rank();
        let Self { selection, bounds, objects, neighbors, domains, options, .. } = self;
        let reporters = |neighbor: &Neighbor| Reporters {
            reporting: options.reporting,
            own_domain: &domains[rank],
            other_domain: &domains[neighbor.rank],
            is_lower: rank < neighbor.rank,
        };
        let reporters: Vec<_> = neighbors.iter().map(reporters).collect();
        let around = Surroundings { near: &near, reporters: &reporters, domains_changed: self.domains_changed };
        selection.update(objects, bounds, around);
        bounds.watch(selection.probable_interior(&bounds.sent().bound));
        self.near = near;
        Ok(())
    }

    /// Sends the changes of their ghosts to the neighbors.
    fn send_ghosts(&mut self, clock: &mut Clock) -> Result<(), Error> {
        let mut messages = Vec::new();
        for position in 0..self.neighbors.len() {
            let neighbor = self.neighbors[position];
            let wide = self.wide_objects_for(&neighbor)?;
            let mut message = self.transport.buffer();
            let Self { links, selection, objects, .. } = self;
            let link = links.entry(neighbor.rank).or_default();
            match neighbor.normal {
                true => link.outgoing.write(selection.chosen(position), objects, &mut message),
                false => link.outgoing.clear(),
            }
            match neighbor.wide_out {
                true => link.outgoing_wide.write(&wide, objects, &mut message),
                false => link.outgoing_wide.clear(),
            }
            if neighbor.sends() {
                self.traffic.messages += 1;
                self.traffic.bytes_sent += message.len();
                messages.push((neighbor.rank, message));
            }
        }
        self.timed(clock, |this| {
            let mut messages = messages.into_iter();
            messages.try_for_each(|(rank, message)| this.transport.send(rank, Channel::Ghosts, message))
        })
    }

    /// The wide objects that overlap a box of a neighbor, ascending.
    fn wide_objects_for(&self, neighbor: &Neighbor) -> Result<Vec<Chosen<D, T>>, Error> {
        if !neighbor.wide_out {
            return Ok(Vec::new());
        }
        let row = self.row(neighbor.rank)?;
        let wide = self.bounds.wide().iter().map(|&slot| (slot, self.objects.boxes()[slot as usize]));
        Ok(wide.filter(|(_, value)| row.touches(value)).collect())
    }

    /// Brings the ghosts up to date.
    fn receive_ghosts(&mut self, clock: &mut Clock) -> Result<(), Error> {
        let mut messages = vec![Vec::new(); self.neighbors.len()];
        self.timed(clock, |this| {
            let expected = this.neighbors.iter().zip(&mut messages).filter(|(neighbor, _)| neighbor.receives());
            for (neighbor, message) in expected {
                this.transport.receive(neighbor.rank, Channel::Ghosts, message)?;
            }
            Ok(())
        })?;
        for (position, message) in messages.iter().enumerate() {
            let neighbor = self.neighbors[position];
            let rank = neighbor.rank;
            self.traffic.bytes_received += message.len();
            let Self { links, cross, wide, .. } = self;
            let link = links.entry(rank).or_default();
            let mut reader = Reader::new(message);
            let mut read = Ok(());
            match neighbor.normal {
                true => read = link.incoming.read(&mut reader, rank as u32, cross.ghosts()),
                false => link.incoming.clear(cross.ghosts()),
            }
            match neighbor.wide_in {
                true => read = read.and_then(|()| link.incoming_wide.read(&mut reader, rank as u32, wide.ghosts())),
                false => link.incoming_wide.clear(wide.ghosts()),
            }
            read.and_then(|()| reader.end()).map_err(|Malformed| TransportError::Malformed { rank })?;
        }
        clock.lap(&mut self.stages.exchange);
        Ok(())
    }

    /// Collects the cross pairs that this rank reports.
    fn collect_pairs(&mut self) {
        let rank = self.rank();
        let Self { selection, cross, wide, results, domains, options, objects, bounds, .. } = self;
        let is_reported = |other: usize, own: &Aabb<D, T>, ghost: &Aabb<D, T>| {
            options.reporting == Reporting::Both || reports((rank, own), (other, ghost), domains)
        };
        results.pairs.clear();
        let (slots, boxes) = (selection.boundary().slots(), selection.boundary().boxes());
        cross.for_each(|own, ghost| {
            let (ghost, ghost_box) = cross.ghost(ghost);
            if is_reported(ghost.rank as usize, &boxes[own], ghost_box) {
                results.pairs.push(CrossPair::new((slots[own], 0), ghost));
            }
        });
        // In a pass of their own, in which the cache misses of many pairs overlap.
        results.pairs.iter_mut().for_each(|pair| pair.local_id = objects.value(pair.local));
        wide.join(objects, bounds.wide(), is_reported, &mut results.pairs);
    }

    /// Sends the owners of wide objects the pairs found for them, and receives those of this rank's own wide objects.
    fn exchange_wide_pairs(&mut self, clock: &mut Clock) -> Result<(), Error> {
        if self.options.reporting == Reporting::Once {
            return Ok(());
        }
        clock.lap(&mut self.stages.cross);
        let neighbors = std::mem::take(&mut self.neighbors);
        let related = |rank: usize, how: fn(&Neighbor) -> bool| neighbors.iter().any(|other| other.rank == rank && how(other));
        self.wide.forget(|rank| related(rank, |other| other.wide_in), |rank| related(rank, |other| other.wide_out));
        for neighbor in neighbors.iter().filter(|neighbor| neighbor.wide_in) {
            let mut message = self.transport.buffer();
            self.wide.write(neighbor.rank, &mut message);
            self.traffic.messages += 1;
            self.traffic.bytes_sent += message.len();
            self.timed(clock, |this| this.transport.send(neighbor.rank, Channel::Pairs, message))?;
        }
        let mut message = Vec::new();
        for rank in neighbors.iter().filter(|neighbor| neighbor.wide_out).map(|neighbor| neighbor.rank) {
            self.timed(clock, |this| this.transport.receive(rank, Channel::Pairs, &mut message))?;
            self.traffic.bytes_received += message.len();
            self.wide.read(rank, &message).map_err(|Malformed| TransportError::Malformed { rank })?;
        }
        self.wide.append_received(&mut self.results.pairs);
        self.neighbors = neighbors;
        clock.lap(&mut self.stages.exchange);
        Ok(())
    }

    fn find_events(&mut self) {
        if !self.options.events {
            return;
        }
        let results = &mut self.results;
        let mut new = results.pairs.clone();
        new.sort_unstable();
        difference(&results.last, &new, &mut results.started, &mut results.ended);
        results.last = new;
    }
}
