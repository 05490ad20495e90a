//! Worlds: made, configured, destroyed.

mod answers;
mod edit;
mod objects;
mod query;
mod results;
mod snapshot;
mod stats;

pub use answers::*;
pub use edit::*;
pub use objects::*;
pub use query::*;
pub use results::*;
pub use snapshot::*;
pub use stats::*;

use std::ffi::CString;

use broadphase::{Aabb, ContinuousDetection, Handle, Pairing, Real, Report, Shape, World};

use crate::arrays::{User, shape};
use crate::executor::context;
use crate::input::*;
use crate::object::{Keeper, call, last_error};
use crate::status::*;
use crate::types::*;

/// Objects in space, and the pairs among them. Insert objects, move them, and call bp_world_update once a frame.
#[derive(Debug)]
pub struct bp_world(Keeper<Inner>);

/// What a world holds, by format.
#[derive(Debug)]
pub(crate) enum Inner {
    F2(Typed<2, f32>),
    F3(Typed<3, f32>),
    D2(Typed<2, f64>),
    D3(Typed<3, f64>),
}

/// A world, its definition, and buffers of results that stay until the next call that fills them.
#[derive(Debug)]
pub(crate) struct Typed<const D: usize, T: Real> {
    world: World<D, T>,
    def: bp_world_def,
    /// What the pointers of `def` point to.
    algorithm: CString,
    static_algorithm: CString,
    moved: Vec<(Handle, Aabb<D, T>)>,
    pairs: Vec<(Handle, Handle)>,
    ids: Vec<Handle>,
    events: Vec<bp_pair_event>,
    snapshot: Vec<u8>,
    stats: stats::Texts,
}

/// The same code for each format.
macro_rules! each {
    ($inner:expr, $world:ident => $body:expr) => {
        match $inner {
            $crate::world::Inner::F2($world) => $body,
            $crate::world::Inner::F3($world) => $body,
            $crate::world::Inner::D2($world) => $body,
            $crate::world::Inner::D3($world) => $body,
        }
    };
}
pub(crate) use each;

/// A call that may change a world.
fn change(world: *mut bp_world, change: impl FnOnce(&mut Inner) -> Result<(), Fail>) -> bp_status {
    call(world, "world", |world| &world.0, change)
}

/// Makes an empty world, to be destroyed with bp_world_destroy. `def` may be null for the defaults; `error` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_create(def: *const bp_world_def, world: *mut *mut bp_world, error: *mut bp_error) -> bp_status {
    report(error, || {
        let world = Out::new("world", world)?;
        world.set(std::ptr::null_mut());
        let def = self::def("def", def)?;
        let inner = match def.format {
            BP_FORMAT_2F => Inner::F2(Typed::new(&def)?),
            BP_FORMAT_3F => Inner::F3(Typed::new(&def)?),
            BP_FORMAT_2D => Inner::D2(Typed::new(&def)?),
            BP_FORMAT_3D => Inner::D3(Typed::new(&def)?),
            other => return Err(bad_format(other)),
        };
        world.set(Box::into_raw(Box::new(bp_world(Keeper::new(inner)))));
        Ok(())
    })
}

/// Frees a world and all that it returned. Null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_destroy(world: *mut bp_world) {
    let _ = guard(|| {
        free(world);
        Ok(())
    });
}

/// The last error of this world; BP_OK if its last call had none. It may be called from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_last_error(world: *const bp_world, error: *mut bp_error) -> bp_status {
    last_error(world, "world", |world| &world.0, error)
}

/// Changes the settings of a world to those of a definition: all, or none on error. Objects, ids and pairs stay. Get the current ones with
/// bp_world_settings, change some, and pass them here. Unchanged settings cost nothing; another algorithm makes the next update build its
/// structure from scratch. The format cannot change.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_configure(world: *mut bp_world, def: *const bp_world_def) -> bp_status {
    change(world, |inner| {
        if def.is_null() {
            return Err(Fail::null("def"));
        }
        let def = self::def("def", def)?;
        each!(inner, world => world.configure(&def))
    })
}

/// The settings of a world. Its texts belong to the world, and stay until it is configured or restored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_world_settings(world: *mut bp_world, def: *mut bp_world_def) -> bp_status {
    change(world, |inner| {
        Out::new("def", def)?.set(each!(inner, world => world.settings()));
        Ok(())
    })
}

/// The settings of a definition, checked.
struct Settings<T> {
    report: Report,
    pairing: Pairing,
    shape: Shape,
    margin: T,
    continuous: ContinuousDetection,
}

impl<T: Real> Settings<T> {
    fn new(def: &bp_world_def) -> Result<Self, Fail> {
        let report = match def.report {
            BP_REPORT_COUNT => Report::Count,
            BP_REPORT_ALL => Report::All,
            BP_REPORT_DELTA => Report::Delta,
            BP_REPORT_BOTH => Report::Both,
            other => return Err(not_one_of("report", other, "one of BP_REPORT_*")),
        };
        let continuous = match def.continuous {
            BP_CONTINUOUS_NONE => ContinuousDetection::None,
            BP_CONTINUOUS_SUB_STEPS => ContinuousDetection::SubSteps { step: def.continuous_step, most: def.continuous_most },
            BP_CONTINUOUS_SWEPT => ContinuousDetection::Swept,
            other => return Err(not_one_of("continuous", other, "one of BP_CONTINUOUS_*")),
        };
        let pairing = Pairing {
            kinematic_kinematic: flag("kinematic_kinematic", def.kinematic_kinematic)?,
            kinematic_static: flag("kinematic_static", def.kinematic_static)?,
        };
        Ok(Self { report, pairing, shape: shape("shape", def.shape)?, margin: T::from_f64(def.margin), continuous })
    }
}

impl<const D: usize, T: Real> Typed<D, T> {
    fn new(def: &bp_world_def) -> Result<Self, Fail> {
        let standard = bp_world_def { format: def.format, ..bp_default_world_def() };
        let auto = CString::from(c"auto");
        let mut made = Self {
            world: World::new(),
            def: standard,
            algorithm: auto.clone(),
            static_algorithm: auto,
            moved: Vec::new(),
            pairs: Vec::new(),
            ids: Vec::new(),
            events: Vec::new(),
            snapshot: Vec::new(),
            stats: stats::Texts::default(),
        };
        made.configure(def)?;
        Ok(made)
    }

    /// Applies the settings that differ. Those that can fail come first, and are undone if a later one fails.
    fn configure(&mut self, def: &bp_world_def) -> Result<(), Fail> {
        if def.format != self.def.format {
            let text = format!("the world has format {}, and cannot change to {}", self.def.format, def.format);
            return Err(Fail::new(BP_INVALID_FORMAT, "format", text));
        }
        let settings = Settings::<T>::new(def)?;
        let algorithm = spec("algorithm", def.algorithm)?;
        let fixed =
            if def.static_algorithm.is_null() { algorithm.clone() } else { spec("static_algorithm", def.static_algorithm)? };
        algorithm.build::<D, T>()?;
        fixed.build::<D, T>()?;
        let same_threads = def.threads == self.def.threads && same_executor(&def.executor, &self.def.executor);
        let context = if same_threads { None } else { Some(context(def.threads, &def.executor)?) };
        let margin = self.world.world_margin();
        self.world.set_world_margin(settings.margin)?;
        if let Err(error) = self.world.set_continuous_detection(settings.continuous) {
            self.world.set_world_margin(margin)?;
            return Err(error.into());
        }
        // Nothing fails from here on.
        if let Some(context) = context {
            let kernels = self.world.context().kernels();
            self.world.set_context(context.with_kernels(kernels));
        }
        let fixed_differs = fixed != *self.world.static_algorithm();
        if algorithm != *self.world.algorithm() {
            self.world.set_algorithm(&algorithm)?;
            self.world.set_static_algorithm(&fixed)?;
        } else if fixed_differs {
            self.world.set_static_algorithm(&fixed)?;
        }
        if settings.report != self.world.report() {
            self.world.set_report(settings.report);
        }
        if def.pair_limit != self.world.pair_limit() {
            self.world.set_pair_limit(def.pair_limit);
        }
        self.world.set_world_shape(settings.shape);
        self.world.set_pairing(settings.pairing);
        self.set_filter(def);
        self.def = *def;
        Ok(())
    }

    fn set_filter(&mut self, def: &bp_world_def) {
        let address = |filter: bp_filter| filter.map(|filter| filter as usize);
        if address(def.filter) == address(self.def.filter) && def.filter_user == self.def.filter_user {
            return;
        }
        let Some(filter) = def.filter else { return self.world.clear_filter() };
        let user = User(def.filter_user);
        self.world.set_pair_filter(move |pair| {
            let (a, b) = (pair.a.into(), pair.b.into());
            let candidate = bp_pair_candidate { a, b, user_a: pair.user_a, user_b: pair.user_b };
            // SAFETY: (caller) a function of the header's type, with the user pointer that came with it.
            unsafe { filter(user.pointer(), &raw const candidate) != 0 }
        });
    }

    /// The definition, with the world's own values: a snapshot may have brought others.
    fn settings(&mut self) -> bp_world_def {
        let world = &self.world;
        self.algorithm = CString::new(world.algorithm().to_string()).unwrap_or_default();
        self.static_algorithm = CString::new(world.static_algorithm().to_string()).unwrap_or_default();
        let mut def = self.def;
        def.algorithm = self.algorithm.as_ptr();
        def.static_algorithm = self.static_algorithm.as_ptr();
        def.report = match world.report() {
            Report::Count => BP_REPORT_COUNT,
            Report::All => BP_REPORT_ALL,
            Report::Delta => BP_REPORT_DELTA,
            Report::Both => BP_REPORT_BOTH,
        };
        def.pair_limit = world.pair_limit();
        def.margin = world.world_margin().to_f64();
        def.shape = objects::shape_number(Some(world.world_shape()));
        def.kinematic_kinematic = world.pairing().kinematic_kinematic.into();
        def.kinematic_static = world.pairing().kinematic_static.into();
        def.continuous = match world.continuous_detection() {
            ContinuousDetection::None => BP_CONTINUOUS_NONE,
            ContinuousDetection::SubSteps { step, most } => {
                (def.continuous_step, def.continuous_most) = (step, most);
                BP_CONTINUOUS_SUB_STEPS
            }
            ContinuousDetection::Swept => BP_CONTINUOUS_SWEPT,
        };
        def
    }
}

fn same_executor(a: &bp_executor, b: &bp_executor) -> bool {
    let address = |executor: &bp_executor| executor.run.map(|run| run as usize);
    address(a) == address(b) && a.user == b.user && a.workers == b.workers
}
