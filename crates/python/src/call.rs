//! Long calls: without the interpreter, and ended by Ctrl-C.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use broadphase::{Cancel, Error, Threads};
use pyo3::prelude::*;

use crate::errors::{Fault, OrRaise, wrong_value};
use crate::memory::{self, Footprint};

/// From this many objects on, a call may take long enough for someone to press Ctrl-C.
const LONG: usize = 1 << 15;
/// How often signals are checked.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs `work` over `size` objects while other Python threads run.
///
/// Python handles signals only on its main thread, and only when asked to. So a long call works on a thread of its own, while the calling
/// one asks; if a handler raises, as that of Ctrl-C does, the work is cancelled and the exception is passed on.
pub(crate) fn run<R: Send + Footprint>(
    py: Python<'_>,
    size: usize,
    work: impl FnOnce(Option<&Cancel>) -> Result<R, Error> + Send,
) -> PyResult<R> {
    let work = |cancel: Option<&Cancel>| {
        let result = work(cancel);
        memory::settle(size, result.as_ref().map_or(0, Footprint::bytes));
        result
    };
    if size < LONG {
        return py.detach(|| work(None)).or_raise(py);
    }
    let cancel = Cancel::new();
    let (result, interrupt) = py.detach(|| {
        std::thread::scope(|scope| {
            let (done, is_done) = channel::<()>();
            let worker = scope.spawn(|| {
                let result = work(Some(&cancel));
                drop(done); // tells the waiting thread, as a panic does
                result
            });
            let mut interrupt = None;
            while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(PATIENCE) {
                if let Err(error) = Python::attach(|py| py.check_signals()) {
                    cancel.cancel();
                    interrupt = Some(error);
                    break;
                }
            }
            (worker.join(), interrupt)
        })
    });
    match (interrupt, result) {
        (Some(error), _) => Err(error),
        (None, Ok(result)) => result.or_raise(py),
        (None, Err(panic)) => std::panic::resume_unwind(panic),
    }
}

/// Why a loop over blocks of questions ended early.
pub(crate) enum Stop {
    /// The library rejected a query.
    Refused(Error),
    /// A signal's handler raised.
    Interrupted(PyErr),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Refused(error)
    }
}

impl Stop {
    pub(crate) fn raise(self, py: Python<'_>, index: impl FnOnce() -> Option<usize>) -> PyErr {
        match self {
            Stop::Interrupted(error) => error,
            Stop::Refused(error) => {
                let mut fault = Fault::from(error);
                if let Some(index) = index().filter(|_| fault.index.is_none()) {
                    fault.message = format!("question {index}: {}", fault.message);
                    fault.index = Some(index);
                }
                fault.raise(py)
            }
        }
    }
}

/// Checks for signals from time to time, between blocks of work, on the calling thread.
pub(crate) struct Watch(Instant);

impl Watch {
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn check(&mut self) -> Result<(), Stop> {
        if self.0.elapsed() < PATIENCE {
            return Ok(());
        }
        self.0 = Instant::now();
        Python::attach(|py| py.check_signals()).map_err(Stop::Interrupted)
    }
}

/// The pools of a process, by width.
struct Pools {
    process: u32,
    by_width: HashMap<usize, Threads>,
}

static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

/// The argument `workers`: 1 or more, or -1 for all cores.
pub(crate) fn width(py: Python<'_>, workers: i64) -> PyResult<usize> {
    match workers {
        -1 => Ok(0),
        1.. => Ok(usize::try_from(workers).unwrap_or(usize::MAX)),
        _ => Err(wrong_value(py, "workers", "1 or more, or -1 for all cores", &workers.to_string())),
    }
}

/// A pool of that many threads, kept for the next call; 0 means one per core.
///
/// After a fork the child has no threads of its parent's pools, so it starts its own.
pub(crate) fn pool(width: usize) -> Result<Threads, Error> {
    let Ok(mut pools) = POOLS.try_lock() else { return Threads::new(width) };
    let process = std::process::id();
    if pools.as_ref().is_some_and(|pools| pools.process != process) {
        // Dropping them would wait for threads that do not exist here.
        std::mem::forget(pools.take());
    }
    let pools = pools.get_or_insert_with(|| Pools { process, by_width: HashMap::new() });
    if let Some(threads) = pools.by_width.get(&width) {
        return Ok(threads.clone());
    }
    let threads = Threads::new(width)?;
    pools.by_width.insert(width, threads.clone());
    Ok(threads)
}
