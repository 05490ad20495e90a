//! What worlds, meshes and lists have in common: the last error, and that an object is not used again after a panic inside it.

use std::cell::UnsafeCell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::input::{Out, guard, one};
use crate::status::*;

/// Something that C code holds a pointer to.
pub(crate) struct Keeper<X> {
    inner: UnsafeCell<X>,
    /// The status of the last call, which says whether `error` is of that call.
    status: AtomicI32,
    error: Mutex<bp_error>,
    /// A call has panicked: what is inside may be in any state.
    broken: AtomicBool,
}

impl<X> fmt::Debug for Keeper<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").field("broken", &self.broken).finish_non_exhaustive()
    }
}

impl<X> Keeper<X> {
    pub(crate) fn new(inner: X) -> Self {
        let (status, error) = (AtomicI32::new(BP_OK), Mutex::new(bp_error::NONE));
        Self { inner: UnsafeCell::new(inner), status, error, broken: AtomicBool::new(false) }
    }

    /// Runs a call and keeps its error.
    fn run(&self, call: impl FnOnce() -> Result<(), Fail>) -> bp_status {
        let result = if self.broken.load(Ordering::Relaxed) {
            Err(Fail::new(
                BP_INTERNAL_ERROR,
                "",
                "an earlier call failed inside the library; this can only be destroyed".to_string(),
            ))
        } else {
            guard(call)
        };
        let status = result.as_ref().map_or_else(|fail| fail.status, |()| BP_OK);
        if let Err(fail) = result {
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = fail.record();
        }
        if status == BP_INTERNAL_ERROR {
            self.broken.store(true, Ordering::Relaxed);
        }
        self.status.store(status, Ordering::Relaxed);
        status
    }

    /// The record of the last error.
    fn last(&self) -> bp_error {
        match self.status.load(Ordering::Relaxed) {
            BP_OK => bp_error::NONE,
            _ => *self.error.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    pub(crate) fn get(&self) -> *mut X {
        self.inner.get()
    }
}

/// A call that may change the object.
pub(crate) fn call<H, X>(
    handle: *mut H,
    argument: &'static str,
    keeper: impl FnOnce(&H) -> &Keeper<X>,
    change: impl FnOnce(&mut X) -> Result<(), Fail>,
) -> bp_status {
    match one(argument, handle) {
        Err(fail) => fail.status,
        Ok(handle) => {
            let keeper = keeper(handle);
            keeper.run(|| {
                // SAFETY: (caller) the header says that a call that may change an object is the only one at that time.
                change(unsafe { &mut *keeper.get() })
            })
        }
    }
}

/// A call that only reads the object: several threads may make such calls at once.
pub(crate) fn look<H, X>(
    handle: *const H,
    argument: &'static str,
    keeper: impl FnOnce(&H) -> &Keeper<X>,
    read: impl FnOnce(&X) -> Result<(), Fail>,
) -> bp_status {
    match one(argument, handle) {
        Err(fail) => fail.status,
        Ok(handle) => {
            let keeper = keeper(handle);
            keeper.run(|| {
                // SAFETY: (caller) the header says that no call that may change the object runs at that time.
                read(unsafe { &*keeper.get() })
            })
        }
    }
}

/// Copies the record of the last error; does not change it.
pub(crate) fn last_error<H, X>(
    handle: *const H,
    argument: &'static str,
    keeper: impl FnOnce(&H) -> &Keeper<X>,
    error: *mut bp_error,
) -> bp_status {
    let result = guard(|| {
        let record = keeper(one(argument, handle)?).last();
        Out::new("error", error)?.set(record);
        Ok(())
    });
    result.map_or_else(|fail| fail.status, |()| BP_OK)
}
