//! The core on which a sleeping worker wakes up.
//!
//! Linux can wake a thread on the core of the caller that wakes it, though another core is idle. Where this was counted (6.18 on two virtual
//! cores, with the boot parameter `sched_vcpu_pack`), it did so nearly always. The worker is then queued behind the caller and misses the
//! region, or takes the core from it and does all the jobs by itself; and it goes to sleep on the same core again.
//!
//! So a caller that finds that a sleeping worker last ran on the caller's own core takes that core out of the worker's affinity mask. The mask
//! stays so while callers run on that core; the first wake-up from another one puts it back. As long as nothing changes, the system is not
//! asked for anything but the number of the current core.
//!
//! The mask that is narrowed is the one that the worker has at that moment, so cores that a user excludes are never used, and a worker with one
//! core keeps it. A mask that was set by someone else in the meantime is left as it is. From then on the worker has a mask of its own, so
//! cores that its control group gains later are not used. Where these calls do not exist, or fail, the worker is woken wherever the system
//! chooses.

pub(super) use system::{Placement, current_core};

/// A core: its number, or something negative if it is not known.
pub(super) type Core = i32;

#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"), not(miri)))]
mod system {
    use std::ffi::{c_int, c_ulong};
    use std::os::unix::thread::{JoinHandleExt, RawPthread};
    use std::thread::JoinHandle;

    use super::Core;

    /// The cores that a set can name. On a machine with more, the calls fail.
    pub(super) const CORES: usize = 1024;
    /// The cores in a word of a set.
    const BITS: usize = c_ulong::BITS as usize;

    /// A set of cores, `cpu_set_t` in C.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub(super) struct CoreSet([c_ulong; CORES / BITS]);

    // Declared in <sched.h> and <pthread.h>, in the C library that the standard library links anyway.
    unsafe extern "C" {
        safe fn sched_getcpu() -> c_int;
        fn pthread_getaffinity_np(thread: RawPthread, size: usize, cores: *mut CoreSet) -> c_int;
        fn pthread_setaffinity_np(thread: RawPthread, size: usize, cores: *const CoreSet) -> c_int;
    }

    /// The core that the calling thread runs on.
    pub(in crate::par) fn current_core() -> Core {
        sched_getcpu()
    }

    /// The cores that a thread, which must not have ended, may run on.
    pub(super) fn cores_of<T>(thread: &JoinHandle<T>) -> Option<CoreSet> {
        let mut cores = CoreSet([0; CORES / BITS]);
        // SAFETY: (the thread exists) it is joined and detached by its handle only, which is borrowed. (the size is right) that many bytes are
        // written at most, and any bits are a set.
        let error = unsafe { pthread_getaffinity_np(thread.as_pthread_t(), size_of::<CoreSet>(), &mut cores) };
        (error == 0).then_some(cores)
    }

    /// Says which cores a thread, which must not have ended, may run on. Returns whether the system has accepted that.
    pub(super) fn set_cores_of<T>(thread: &JoinHandle<T>, cores: &CoreSet) -> bool {
        // SAFETY: (the thread exists) as above. (the size is right) that many bytes are read.
        unsafe { pthread_setaffinity_np(thread.as_pthread_t(), size_of::<CoreSet>(), cores) == 0 }
    }

    impl CoreSet {
        /// The others, if this core and another one are in the set.
        pub(super) fn without(&self, core: Core) -> Option<Self> {
            let core = usize::try_from(core).ok().filter(|&core| core < CORES)?;
            let mut rest = self.clone();
            rest.0[core / BITS] &= !(1 << (core % BITS));
            (rest != *self && rest.0.iter().any(|&word| word != 0)).then_some(rest)
        }
    }

    /// Where a worker may wake up.
    #[derive(Debug, Default)]
    pub(in crate::par) struct Placement(Option<Exclusion>);

    /// A core that is out of a worker's mask.
    #[derive(Debug)]
    struct Exclusion {
        core: Core,
        mask: CoreSet,
        others: CoreSet,
    }

    impl Placement {
        /// Prepares a worker, which must not have ended, to be woken by a caller on the core `here`. `last` is the core on which it last ran.
        pub(in crate::par) fn prepare<T>(&mut self, worker: &JoinHandle<T>, last: Core, here: Core) {
            if self.0.as_ref().is_some_and(|excluded| excluded.core != here) {
                self.restore(worker);
            }
            if self.0.is_none() && last == here {
                self.exclude(worker, here);
            }
        }

        fn exclude<T>(&mut self, worker: &JoinHandle<T>, core: Core) {
            let Some(mask) = cores_of(worker) else { return };
            let Some(others) = mask.without(core) else { return };
            if set_cores_of(worker, &others) {
                self.0 = Some(Exclusion { core, mask, others });
            }
        }

        fn restore<T>(&mut self, worker: &JoinHandle<T>) {
            if let Some(Exclusion { mask, others, .. }) = self.0.take()
                && cores_of(worker) == Some(others)
            {
                set_cores_of(worker, &mask);
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"), not(miri))))]
mod system {
    use std::thread::JoinHandle;

    use super::Core;

    /// Not known here.
    pub(in crate::par) fn current_core() -> Core {
        -1
    }

    /// Where a worker may wake up: anywhere.
    #[derive(Debug, Default)]
    pub(in crate::par) struct Placement;

    impl Placement {
        pub(in crate::par) fn prepare<T>(&mut self, _worker: &JoinHandle<T>, _last: Core, _here: Core) {}
    }
}

#[cfg(all(test, target_os = "linux", any(target_env = "gnu", target_env = "musl"), not(miri)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::{self, JoinHandle};

    use super::system::{CORES, cores_of, set_cores_of};
    use super::*;

    /// A thread that sleeps, however often it is woken, until it is ended.
    struct Sleeper {
        ends: Arc<AtomicBool>,
        thread: JoinHandle<()>,
    }

    impl Sleeper {
        fn start() -> Self {
            let ends = Arc::new(AtomicBool::new(false));
            let until = Arc::clone(&ends);
            let thread = thread::spawn(move || {
                while !until.load(Ordering::SeqCst) {
                    thread::park();
                }
            });
            Self { ends, thread }
        }

        fn end(self) {
            self.ends.store(true, Ordering::SeqCst);
            self.thread.thread().unpark();
            self.thread.join().unwrap();
        }
    }

    #[test]
    fn a_worker_is_kept_off_the_core_of_its_caller_and_has_its_mask_again_when_the_caller_moves() {
        let sleeper = Sleeper::start();
        let mask = cores_of(&sleeper.thread).expect("this system has masks");
        let mut placement = Placement::default();
        for here in 0..CORES as Core {
            placement.prepare(&sleeper.thread, Core::MAX, here);
            assert_eq!(cores_of(&sleeper.thread).unwrap(), mask, "it last ran elsewhere, core {here}");
            let others = mask.without(here).unwrap_or_else(|| mask.clone());
            for last in [here, Core::MAX, here] {
                placement.prepare(&sleeper.thread, last, here);
                sleeper.thread.thread().unpark();
                assert_eq!(cores_of(&sleeper.thread).unwrap(), others, "core {here}");
            }
        }
        placement.prepare(&sleeper.thread, Core::MAX, -1);
        assert_eq!(cores_of(&sleeper.thread).unwrap(), mask);
        sleeper.end();
    }

    #[test]
    fn a_mask_that_a_user_sets_stays() {
        let sleeper = Sleeper::start();
        let mask = cores_of(&sleeper.thread).expect("this system has masks");
        let cores = || 0..CORES as Core;
        let one = cores().fold(mask.clone(), |set, core| set.without(core).unwrap_or(set));
        let mut placement = Placement::default();
        for user in [&one, &mask] {
            cores().for_each(|here| placement.prepare(&sleeper.thread, here, here));
            assert!(set_cores_of(&sleeper.thread, user));
            placement.prepare(&sleeper.thread, Core::MAX, -1);
            assert_eq!(cores_of(&sleeper.thread).unwrap(), *user);
        }
        assert!(set_cores_of(&sleeper.thread, &one));
        for here in cores().chain([-1, Core::MIN, Core::MAX]) {
            placement.prepare(&sleeper.thread, here, here);
            assert_eq!(cores_of(&sleeper.thread).unwrap(), one, "a worker with one core keeps it, core {here}");
        }
        sleeper.end();
    }
}
