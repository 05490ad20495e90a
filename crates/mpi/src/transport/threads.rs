//! Ranks as threads of one process: for tests, for experiments, and as the smallest example of a transport.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::{Channel, Gathered, Reduce, Transport};
use crate::error::TransportError;

/// One rank of a job whose ranks are threads of this process.
///
/// ```
/// use broadphase_mpi::{Reduce, Threads, Transport};
/// let sums = Threads::run(4, |mut rank| {
///     let mut value = [rank.rank() as u64];
///     rank.all_reduce(&mut value, Reduce::Sum).map(|()| value[0])
/// });
/// assert_eq!(sums, [Ok(6), Ok(6), Ok(6), Ok(6)]);
/// ```
#[derive(Debug)]
pub struct Threads {
    shared: Arc<Shared>,
    rank: usize,
    /// Collective calls so far.
    calls: u64,
    timeout: Duration,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Messages by receiver, in the order in which they were sent.
    mail: Vec<Vec<(usize, Channel, Vec<u8>)>>,
    /// Contributions to collective calls that not all ranks have finished, by number of the call.
    gathers: HashMap<u64, Gather>,
    /// By rank: why it has left, if it has.
    gone: Vec<Option<&'static str>>,
}

#[derive(Debug)]
struct Gather {
    parts: Vec<Option<Arc<[u8]>>>,
    finished: usize,
}

impl Threads {
    /// How long a rank waits for another one by default.
    pub const TIMEOUT: Duration = Duration::from_secs(60);

    /// The ranks of a job, to be moved to their threads.
    pub fn job(ranks: usize) -> Vec<Self> {
        let state = State { mail: vec![Vec::new(); ranks], gathers: HashMap::new(), gone: vec![None; ranks] };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        (0..ranks).map(|rank| Self { shared: shared.clone(), rank, calls: 0, timeout: Self::TIMEOUT }).collect()
    }

    /// Runs `rank` on one thread per rank, and returns their results, by rank.
    ///
    /// # Panics
    /// If one of them does; the others then get [`TransportError::Gone`] when they wait for it.
    pub fn run<R: Send>(ranks: usize, rank: impl Fn(Self) -> R + Sync) -> Vec<R> {
        let rank = &rank;
        std::thread::scope(|scope| {
            let threads: Vec<_> = Self::job(ranks).into_iter().map(|job| scope.spawn(move || rank(job))).collect();
            let results: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            results.into_iter().map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        })
    }

    /// Waits no longer than this for another rank.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits until `ready` returns a value. `missing` names a rank that has left and without which it never will, if there is one; `whom` is the rank
    /// that a time-out names.
    fn wait<R>(
        &self,
        mut ready: impl FnMut(&mut State) -> Option<R>,
        missing: impl Fn(&State) -> Option<usize>,
        whom: Option<usize>,
    ) -> Result<R, TransportError> {
        let end = Instant::now() + self.timeout;
        let mut state = self.lock();
        loop {
            if let Some(found) = ready(&mut state) {
                return Ok(found);
            }
            if let Some(rank) = missing(&state) {
                return Err(TransportError::Gone { rank, reason: state.gone[rank].unwrap_or("it left").to_string() });
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(TransportError::TimedOut { rank: whom, seconds: self.timeout.as_secs() });
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
    }

    fn check(&self, rank: usize) -> Result<(), TransportError> {
        let size = self.size();
        if rank < size { Ok(()) } else { Err(TransportError::System(format!("there is no rank {rank} of {size}"))) }
    }
}

impl Transport for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.lock().mail.len()
    }

    fn start_all_gather(&mut self, mine: &[u8]) -> Result<(), TransportError> {
        self.calls += 1;
        let size = self.size();
        let mut state = self.lock();
        let gather = state.gathers.entry(self.calls).or_insert_with(|| Gather { parts: vec![None; size], finished: 0 });
        gather.parts[self.rank] = Some(mine.into());
        drop(state);
        self.shared.changed.notify_all();
        Ok(())
    }

    fn finish_all_gather(&mut self, all: &mut Gathered) -> Result<(), TransportError> {
        let (call, size) = (self.calls, self.size());
        let missing = |state: &State| {
            let gather = state.gathers.get(&call)?;
            (0..size).find(|&rank| gather.parts[rank].is_none() && state.gone[rank].is_some())
        };
        let ready = |state: &mut State| {
            let gather = state.gathers.get_mut(&call)?;
            let parts: Option<Vec<_>> = gather.parts.iter().cloned().collect();
            let parts = parts?;
            gather.finished += 1;
            if gather.finished == size {
                state.gathers.remove(&call);
            }
            Some(parts)
        };
        let parts = self.wait(ready, missing, None)?;
        all.clear();
        parts.iter().for_each(|part| all.push(part));
        Ok(())
    }

    fn all_reduce(&mut self, values: &mut [u64], how: Reduce) -> Result<(), TransportError> {
        let mut all = Gathered::default();
        super::all_gather(self, bytemuck::cast_slice(values), &mut all)?;
        for rank in (0..all.ranks()).filter(|&rank| rank != self.rank) {
            let theirs = all.of(rank);
            if theirs.len() != size_of_val(values) {
                return Err(TransportError::Malformed { rank });
            }
            for (value, other) in values.iter_mut().zip(theirs.chunks_exact(size_of::<u64>())) {
                *value = how.apply(*value, bytemuck::pod_read_unaligned(other));
            }
        }
        Ok(())
    }

    fn send(&mut self, to: usize, channel: Channel, message: Vec<u8>) -> Result<(), TransportError> {
        self.check(to)?;
        self.lock().mail[to].push((self.rank, channel, message));
        self.shared.changed.notify_all();
        Ok(())
    }

    fn receive(&mut self, from: usize, channel: Channel, message: &mut Vec<u8>) -> Result<(), TransportError> {
        self.check(from)?;
        let me = self.rank;
        let ready = |state: &mut State| {
            let at = state.mail[me].iter().position(|mail| (mail.0, mail.1) == (from, channel))?;
            Some(state.mail[me].remove(at).2)
        };
        *message = self.wait(ready, |state| state.gone[from].map(|_| from), Some(from))?;
        Ok(())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let reason = if std::thread::panicking() { "it panicked" } else { "it left the job" };
        self.lock().gone[self.rank] = Some(reason);
        self.shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_that_leaves_or_panics_is_an_error_for_those_who_wait() {
        let results = Threads::run(3, |mut rank| match rank.rank() {
            1 => Ok(()),
            _ => super::super::all_gather(&mut rank, b"x", &mut Gathered::default()),
        });
        assert_eq!(results[0], Err(TransportError::Gone { rank: 1, reason: "it left the job".to_string() }));
        let mut job = Threads::job(2);
        let (mut one, zero) = (job.pop().unwrap(), job.pop().unwrap());
        let panicked = std::thread::spawn(move || {
            let _zero = zero;
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert!(panicked.join().is_err());
        let error = one.receive(0, Channel::Ghosts, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "rank 0 is gone: it panicked");
    }

    #[test]
    fn nothing_waits_forever() {
        let mut job = Threads::job(2).into_iter();
        let mut zero = job.next().unwrap().with_timeout(Duration::from_millis(20));
        let error = zero.receive(1, Channel::Pairs, &mut Vec::new()).unwrap_err();
        assert_eq!(error, TransportError::TimedOut { rank: Some(1), seconds: 0 });
    }
}
