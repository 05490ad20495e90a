//! Messages over MPI, through its C interface, because messages under way own their buffers here; the safe wrappers of the crate `mpi` tie them to a scope.
//!
//! All ranks' messages are gathered in slots of equal size, so that one `MPI_Iallgather` is enough, without a round for lengths. If a message is longer
//! than a slot, all ranks see its length, enlarge the slots and gather again.

use std::ffi::c_int;
use std::ptr;

use ::mpi::ffi;

use super::{Channel, Gathered, Reduce, Transport};
use crate::error::TransportError;

/// Each slot starts with the length of its message, in this many bytes.
const HEAD: usize = 8;

/// One rank of an MPI job.
///
/// [`world`](Mpi::world) starts MPI if the program has not, and [`finish`](Mpi::finish) ends it. [`from_fortran`](Mpi::from_fortran) takes any
/// communicator, of which a private copy is made. Errors of MPI end the job, which is MPI's default. Call [`abort_on_panic`] first, so that a rank that
/// panics does not leave the others waiting.
///
/// Must be used from the thread that started MPI.
#[derive(Debug)]
pub struct Mpi {
    comm: ffi::MPI_Comm,
    rank: usize,
    size: usize,
    /// Bytes of a slot, the same on all ranks.
    slot: usize,
    mine: Vec<u8>,
    all: Vec<u8>,
    gather: Option<ffi::MPI_Request>,
    sends: Vec<(ffi::MPI_Request, Vec<u8>)>,
    /// Messages that arrived before `receive` was called for them: sender, tag, request and buffer.
    early: Vec<(c_int, c_int, ffi::MPI_Request, Vec<u8>)>,
    spare: Vec<Vec<u8>>,
}

fn count(bytes: usize) -> Result<c_int, TransportError> {
    c_int::try_from(bytes).map_err(|_| TransportError::TooLong { bytes, limit: c_int::MAX as usize })
}

fn checked(code: c_int, what: &str) -> Result<(), TransportError> {
    if code == 0 { Ok(()) } else { Err(TransportError::System(format!("{what} failed with code {code}"))) }
}

/// An empty status; MPI fills it.
fn status() -> ffi::MPI_Status {
    // SAFETY: a status is plain numbers, for which zero bits are valid.
    unsafe { std::mem::zeroed() }
}

impl Mpi {
    /// All ranks that `mpirun` started. Starts MPI if the program has not; call [`finish`](Mpi::finish) at the end in that case, or `mpirun` reports a
    /// process that left without finalizing MPI.
    ///
    /// # Errors
    /// [`TransportError::System`] if MPI does not start.
    pub fn world() -> Result<Self, TransportError> {
        let mut initialized = 0;
        // SAFETY: may be called at any time; the pointer is valid.
        checked(unsafe { ffi::MPI_Initialized(&mut initialized) }, "MPI_Initialized")?;
        if initialized == 0 {
            // SAFETY: MPI allows null for both arguments, and is not initialized yet.
            checked(unsafe { ffi::MPI_Init(ptr::null_mut(), ptr::null_mut()) }, "MPI_Init")?;
        }
        // SAFETY: the constant is set by the library and never changes.
        Self::of(unsafe { ffi::RSMPI_COMM_WORLD })
    }

    /// The ranks of a communicator, by its Fortran handle: what `mpi4py`'s `comm.py2f()` and C's `MPI_Comm_c2f` give.
    ///
    /// # Safety
    /// MPI is initialized, and the handle names a communicator that exists.
    pub unsafe fn from_fortran(handle: i32) -> Result<Self, TransportError> {
        // SAFETY: the caller's duty.
        Self::of(unsafe { ffi::MPI_Comm_f2c(handle) })
    }

    fn of(parent: ffi::MPI_Comm) -> Result<Self, TransportError> {
        // SAFETY: set by the library.
        let mut comm = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: `parent` exists, by the callers' duty; a copy keeps our messages apart from the program's own.
        checked(unsafe { ffi::MPI_Comm_dup(parent, &mut comm) }, "MPI_Comm_dup")?;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the communicator exists, the pointers are valid.
        checked(unsafe { ffi::MPI_Comm_rank(comm, &mut rank) }, "MPI_Comm_rank")?;
        // SAFETY: the same.
        checked(unsafe { ffi::MPI_Comm_size(comm, &mut size) }, "MPI_Comm_size")?;
        Ok(Self {
            comm,
            rank: rank as usize,
            size: size as usize,
            slot: 1024,
            mine: Vec::new(),
            all: Vec::new(),
            gather: None,
            sends: Vec::new(),
            early: Vec::new(),
            spare: Vec::new(),
        })
    }

    /// Ends the job at once, on all ranks, with an exit code. Print the reason to stderr first.
    pub fn abort(code: i32) -> ! {
        // SAFETY: may be called from anywhere once MPI is initialized; the constant is set by the library.
        unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code) };
        std::process::exit(code)
    }

    /// Ends MPI. All ranks call it, after their last message, unless another part of the program ends MPI.
    pub fn finish(mut self) -> Result<(), TransportError> {
        self.wait_for_sends(true)?;
        // SAFETY: no message is under way, and by this method's contract MPI is not used after it.
        checked(unsafe { ffi::MPI_Finalize() }, "MPI_Finalize")
    }

    fn wait(request: &mut ffi::MPI_Request) -> Result<(), TransportError> {
        // SAFETY: the request comes from MPI and has not been waited for; statuses may be ignored.
        checked(unsafe { ffi::MPI_Wait(request, ffi::RSMPI_STATUS_IGNORE) }, "MPI_Wait")
    }

    /// Takes back the buffers of messages that were sent; with `all`, waits for all messages under way.
    fn wait_for_sends(&mut self, all: bool) -> Result<(), TransportError> {
        let mut at = 0;
        while at < self.sends.len() {
            let mut done = 1;
            let request = &mut self.sends[at].0;
            if all {
                Self::wait(request)?;
            } else {
                // SAFETY: as in `wait`; the flag is valid.
                checked(unsafe { ffi::MPI_Test(request, &mut done, ffi::RSMPI_STATUS_IGNORE) }, "MPI_Test")?;
            }
            if done == 0 {
                at += 1;
            } else {
                let (_, buffer) = self.sends.swap_remove(at);
                self.spare.push(buffer);
            }
        }
        Ok(())
    }

    /// Starts to gather the slots of all ranks.
    fn gather_slots(&mut self) -> Result<(), TransportError> {
        let bytes = count(self.slot)?;
        count(self.slot.saturating_mul(self.size))?;
        self.all.resize(self.slot * self.size, 0);
        // SAFETY: set by the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: `mine` has `slot` bytes and `all` has `slot` for each rank; neither is touched before `finish_all_gather` has waited.
        let code = unsafe {
            ffi::MPI_Iallgather(
                self.mine.as_ptr().cast(),
                bytes,
                ffi::RSMPI_UINT8_T,
                self.all.as_mut_ptr().cast(),
                bytes,
                ffi::RSMPI_UINT8_T,
                self.comm,
                &mut request,
            )
        };
        self.gather = Some(request);
        checked(code, "MPI_Iallgather")
    }

    fn finish_slots(&mut self) -> Result<(), TransportError> {
        self.gather.take().map_or(Ok(()), |mut request| Self::wait(&mut request))
    }

    fn length(&self, rank: usize) -> usize {
        let at = rank * self.slot;
        bytemuck::pod_read_unaligned::<u64>(&self.all[at..at + HEAD]) as usize
    }

    /// Receives a message that a probe has matched, without waiting.
    fn start_receive(
        &mut self,
        mut message: ffi::MPI_Message,
        found: &ffi::MPI_Status,
    ) -> Result<(ffi::MPI_Request, Vec<u8>), TransportError> {
        let mut bytes = 0;
        // SAFETY: the status is of a matched message of bytes.
        checked(unsafe { ffi::MPI_Get_count(found, ffi::RSMPI_UINT8_T, &mut bytes) }, "MPI_Get_count")?;
        let mut buffer = self.buffer();
        buffer.resize(bytes as usize, 0);
        // SAFETY: set by the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: the buffer has as many bytes as the message, and is kept beside the request until that is waited for; moving the
        // vector does not move its bytes.
        let code = unsafe { ffi::MPI_Imrecv(buffer.as_mut_ptr().cast(), bytes, ffi::RSMPI_UINT8_T, &mut message, &mut request) };
        checked(code, "MPI_Imrecv")?;
        Ok((request, buffer))
    }
}

impl Transport for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn start_all_gather(&mut self, mine: &[u8]) -> Result<(), TransportError> {
        self.finish_slots()?;
        self.mine.clear();
        self.mine.extend_from_slice(&(mine.len() as u64).to_ne_bytes());
        self.mine.extend_from_slice(mine);
        if self.mine.len() < self.slot {
            self.mine.resize(self.slot, 0);
        }
        self.gather_slots()
    }

    fn finish_all_gather(&mut self, all: &mut Gathered) -> Result<(), TransportError> {
        self.finish_slots()?;
        let longest = (0..self.size).map(|rank| self.length(rank)).max().unwrap_or(0);
        if longest + HEAD > self.slot {
            self.slot = (longest + HEAD).next_power_of_two();
            self.mine.resize(self.slot, 0);
            self.gather_slots()?;
            self.finish_slots()?;
        }
        all.clear();
        for rank in 0..self.size {
            let at = rank * self.slot + HEAD;
            all.push(&self.all[at..at + self.length(rank)]);
        }
        Ok(())
    }

    fn all_reduce(&mut self, values: &mut [u64], how: Reduce) -> Result<(), TransportError> {
        let mine = values.to_vec();
        // SAFETY: constants set by the library.
        let op = unsafe {
            match how {
                Reduce::Sum => ffi::RSMPI_SUM,
                Reduce::Min => ffi::RSMPI_MIN,
                Reduce::Max => ffi::RSMPI_MAX,
            }
        };
        // SAFETY: both lists have as many values; they do not overlap.
        let code = unsafe {
            ffi::MPI_Allreduce(
                mine.as_ptr().cast(),
                values.as_mut_ptr().cast(),
                count(values.len())?,
                ffi::RSMPI_UINT64_T,
                op,
                self.comm,
            )
        };
        checked(code, "MPI_Allreduce")
    }

    fn buffer(&mut self) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    fn send(&mut self, to: usize, channel: Channel, message: Vec<u8>) -> Result<(), TransportError> {
        let bytes = count(message.len())?;
        if to >= self.size {
            return Err(TransportError::System(format!("there is no rank {to} of {}", self.size)));
        }
        // SAFETY: set by the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: the message is kept beside the request until that is done; moving the vector does not move its bytes.
        let code = unsafe {
            ffi::MPI_Isend(
                message.as_ptr().cast(),
                bytes,
                ffi::RSMPI_UINT8_T,
                to as c_int,
                channel as c_int,
                self.comm,
                &mut request,
            )
        };
        self.sends.push((request, message));
        checked(code, "MPI_Isend")
    }

    fn poll(&mut self) -> Result<(), TransportError> {
        self.wait_for_sends(false)?;
        loop {
            let (mut flag, mut found) = (0, status());
            // SAFETY: set by the library.
            let mut message = unsafe { ffi::RSMPI_MESSAGE_NULL };
            // SAFETY: all pointers are valid.
            let code = unsafe {
                ffi::MPI_Improbe(ffi::RSMPI_ANY_SOURCE, ffi::RSMPI_ANY_TAG, self.comm, &mut flag, &mut message, &mut found)
            };
            checked(code, "MPI_Improbe")?;
            if flag == 0 {
                return Ok(());
            }
            let (request, buffer) = self.start_receive(message, &found)?;
            self.early.push((found.MPI_SOURCE, found.MPI_TAG, request, buffer));
        }
    }

    fn receive(&mut self, from: usize, channel: Channel, message: &mut Vec<u8>) -> Result<(), TransportError> {
        let (from, tag) = (from as c_int, channel as c_int);
        let early = self.early.iter().position(|early| (early.0, early.1) == (from, tag));
        let (mut request, buffer) = match early {
            Some(at) => {
                let (_, _, request, buffer) = self.early.remove(at);
                (request, buffer)
            }
            None => {
                let mut found = status();
                // SAFETY: set by the library.
                let mut matched = unsafe { ffi::RSMPI_MESSAGE_NULL };
                // SAFETY: all pointers are valid.
                let code = unsafe { ffi::MPI_Mprobe(from, tag, self.comm, &mut matched, &mut found) };
                checked(code, "MPI_Mprobe")?;
                self.start_receive(matched, &found)?
            }
        };
        Self::wait(&mut request)?;
        self.spare.push(std::mem::replace(message, buffer));
        Ok(())
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        // Buffers of messages under way belong to MPI until they were sent. A rank that panics or has lost its peers would wait forever, so it
        // leaks the buffers instead.
        let mut finished = 0;
        // SAFETY: may be called at any time; the pointer is valid.
        let known = unsafe { ffi::MPI_Finalized(&mut finished) } == 0;
        if std::thread::panicking() || !known || finished != 0 || self.wait_for_sends(true).is_err() {
            self.sends.drain(..).for_each(|(_, buffer)| std::mem::forget(buffer));
        }
        self.early.drain(..).for_each(|(_, _, _, buffer)| std::mem::forget(buffer));
        if self.gather.is_some() {
            std::mem::forget(std::mem::take(&mut self.mine));
            std::mem::forget(std::mem::take(&mut self.all));
        }
    }
}

/// Installs a panic hook that prints one line with the rank and ends the job. Without it the other ranks would wait forever.
pub fn abort_on_panic(rank: usize) {
    std::panic::set_hook(Box::new(move |panic| {
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("no message").replace(char::is_control, " ");
        let place = panic.location().map_or(String::new(), |place| format!(" ({}:{})", place.file(), place.line()));
        eprintln!("broadphase-mpi: rank {rank} panicked: {text}{place}; the job ends");
        Mpi::abort(101);
    }));
}
