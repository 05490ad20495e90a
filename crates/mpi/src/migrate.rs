//! Objects that change their rank.

use std::collections::BTreeMap;

use broadphase::{Aabb, Real};
use bytemuck::Pod;

use crate::collective::{self, Call};
use crate::distributed::Distributed;
use crate::error::{Error, TransportError};
use crate::transport::{Channel, Transport, all_gather};
use crate::wire::{Malformed, Reader, put};

/// An object that leaves this rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Departure {
    /// The rank that it goes to. If that is this rank itself, the object stays.
    pub to: usize,
    /// Its index here, which becomes free.
    pub index: u32,
}

/// An object that has come to this rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<P> {
    /// Its index here.
    pub index: u32,
    /// Its global id.
    pub id: u64,
    /// The rank that it comes from.
    pub from: usize,
    /// The payload that its old rank attached.
    pub payload: P,
}

impl<const D: usize, T: Real, C: Transport> Distributed<D, T, C> {
    /// Moves objects to other ranks, each with its id, its box and a payload of the caller's (velocity, mass, a key into other tables). Collective: a
    /// rank without departures passes an empty list.
    ///
    /// O(1) for each object, and a message to each rank that gets any. Arrivals are ordered by the rank they come from, then by their order there.
    /// Pairs change with the next [`update`](Distributed::update).
    ///
    /// ```
    /// use broadphase::Aabb;
    /// use broadphase_mpi::{Departure, Distributed, Options, Threads};
    /// let arrived = Threads::run(2, |transport| {
    ///     let mut space = Distributed::<2, f32, _>::new(transport, Options::default())?;
    ///     let mut leaving = Vec::new();
    ///     if space.rank() == 0 {
    ///         let index = space.insert(7, Aabb::point([0.0, 0.0]))?;
    ///         leaving.push(Departure { to: 1, index });
    ///     }
    ///     let velocity = |_index: u32| [1.0f32, 0.5];
    ///     space.migrate(&leaving, velocity)
    /// });
    /// let arrival = arrived[1].as_ref().unwrap()[0];
    /// assert_eq!((arrival.id, arrival.from, arrival.payload), (7, 0, [1.0, 0.5]));
    /// # Ok::<(), broadphase_mpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Rank`], on all ranks, if one of them names an object or a rank that does not exist, or an object twice: nothing has moved.
    pub fn migrate<P: Pod>(
        &mut self,
        departures: &[Departure],
        mut payload: impl FnMut(u32) -> P,
    ) -> Result<Vec<Arrival<P>>, Error> {
        let me = self.rank();
        let fault = self.fault.clone().or_else(|| self.fault_of(departures));
        let mut leaving: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        if fault.is_none() {
            let others = departures.iter().filter(|departure| departure.to != me);
            others.for_each(|departure| leaving.entry(departure.to).or_default().push(departure.index));
        }
        let mut message = self.transport.buffer();
        collective::head(&mut message, Call::Migrate, fault.as_deref());
        leaving.keys().for_each(|&rank| put(&mut message, &[rank as u32]));
        all_gather(&mut self.transport, &message, &mut self.table)?;
        collective::check(&self.table, Call::Migrate)?;
        for (&rank, indices) in &leaving {
            let message = self.pack(indices, &mut payload);
            self.transport.send(rank, Channel::Migration, message)?;
        }
        let mut arrivals = Vec::new();
        let mut message = Vec::new();
        for rank in (0..self.size()).filter(|&rank| rank != me) {
            let mut targets = collective::body(&self.table, rank)?;
            let mut comes = false;
            while let Ok(target) = targets.one::<u32>() {
                comes |= target as usize == me;
            }
            if comes {
                self.transport.receive(rank, Channel::Migration, &mut message)?;
                self.unpack(rank, &message, &mut arrivals)?;
            }
        }
        Ok(arrivals)
    }

    /// Why these departures are not possible.
    fn fault_of(&self, departures: &[Departure]) -> Option<String> {
        let size = self.size();
        let mut indices: Vec<u32> = departures.iter().map(|departure| departure.index).collect();
        indices.sort_unstable();
        let wrong_rank = departures.iter().find(|departure| departure.to >= size);
        let unknown = indices.iter().find(|&&index| !self.objects.is_live(index));
        let twice = indices.windows(2).find(|pair| pair[0] == pair[1]);
        wrong_rank
            .map(|departure| Error::UnknownRank { rank: departure.to, size }.to_string())
            .or_else(|| unknown.map(|&index| Error::UnknownObject { index }.to_string()))
            .or_else(|| twice.map(|pair| format!("object {} is to leave twice; list it once", pair[0])))
    }

    fn pack<P: Pod>(&mut self, indices: &[u32], payload: &mut impl FnMut(u32) -> P) -> Vec<u8> {
        let mut message = self.transport.buffer();
        put(&mut message, &[indices.len() as u32, size_of::<P>() as u32]);
        for &index in indices {
            put(&mut message, &[self.objects.value(index)]);
            put(&mut message, &[self.objects.boxes()[index as usize]]);
            put(&mut message, &[payload(index)]);
            self.objects.remove(index);
        }
        message
    }

    fn unpack<P: Pod>(&mut self, from: usize, message: &[u8], arrivals: &mut Vec<Arrival<P>>) -> Result<(), Error> {
        let malformed = |Malformed| Error::Transport(TransportError::Malformed { rank: from });
        let mut reader = Reader::new(message);
        let (count, size) = (reader.one::<u32>().map_err(malformed)?, reader.one::<u32>().map_err(malformed)?);
        if size as usize != size_of::<P>() {
            return Err(malformed(Malformed));
        }
        for _ in 0..count {
            let id = reader.one::<u64>().map_err(malformed)?;
            let aabb = reader.one::<Aabb<D, T>>().map_err(malformed)?;
            let payload = reader.one::<P>().map_err(malformed)?;
            let index = self.insert(id, aabb)?;
            arrivals.push(Arrival { index, id, from, payload });
        }
        reader.end().map_err(malformed)
    }
}
