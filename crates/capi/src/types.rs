//! Plain data, and definitions with their defaults.

use std::ffi::{c_char, c_void};

use broadphase::{Handle, Tag};

/// How the numbers of an array are stored: the dimension, and float (F) or double (D). See the introduction.
pub type bp_format = u32;
/// Rows of float in the plane.
pub const BP_FORMAT_2F: bp_format = 0;
/// Rows of float in space.
pub const BP_FORMAT_3F: bp_format = 1;
/// Rows of double in the plane.
pub const BP_FORMAT_2D: bp_format = 2;
/// Rows of double in space.
pub const BP_FORMAT_3D: bp_format = 3;

/// The name of an object of a world, by value. Zeroed, it names no object of any world.
///
/// An index is reused after its object was removed, with another generation, so that an old id is detected; generations of different worlds
/// start far apart, so that an id of another world is detected too.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct bp_object_id {
    /// A small number, unique among the objects of a world: good as an index into arrays of your own.
    pub index: u32,
    /// Distinguishes the objects that have had this index.
    pub generation: u32,
}

/// Two objects by position: `a < b` for pairs of one list; for pairs of two lists, `a` is of the first and `b` of the second.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct bp_pair {
    /// The first object.
    pub a: u32,
    /// The second object.
    pub b: u32,
}

/// Two objects of a world, the smaller index first.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct bp_id_pair {
    /// The object with the smaller index.
    pub a: bp_object_id,
    /// The other object.
    pub b: bp_object_id,
}

// The library's lists are handed out as they are.
const _: () = assert!(size_of::<Handle>() == 8 && align_of::<Handle>() == align_of::<bp_object_id>());
const _: () = assert!(std::mem::offset_of!(Handle, index) == 0 && std::mem::offset_of!(Handle, generation) == 4);
const _: () = assert!(size_of::<(Handle, Handle)>() == size_of::<bp_id_pair>());
const _: () = assert!(std::mem::offset_of!((Handle, Handle), 0) == 0 && std::mem::offset_of!((Handle, Handle), 1) == 8);
const _: () = assert!(size_of::<broadphase::Pair>() == size_of::<bp_pair>());
const _: () = assert!(std::mem::offset_of!(broadphase::Pair, a) == 0 && std::mem::offset_of!(broadphase::Pair, b) == 4);

impl From<bp_object_id> for Handle {
    fn from(id: bp_object_id) -> Self {
        Self { index: id.index, generation: id.generation }
    }
}

impl From<Handle> for bp_object_id {
    fn from(handle: Handle) -> Self {
        Self { index: handle.index, generation: handle.generation }
    }
}

/// Which objects may pair: both must allow the other.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct bp_tag {
    /// The layers the object is in, one bit each.
    pub layer: u32,
    /// The layers it meets, one bit each.
    pub mask: u32,
    /// Objects of the same group never pair, as the parts of one body; 0 means no group.
    pub group: u32,
    /// Objects of different environments never pair, except that environment 0 pairs with all.
    pub env: u32,
}

const _: () = assert!(size_of::<bp_tag>() == size_of::<Tag>() && align_of::<bp_tag>() == align_of::<Tag>());

impl From<bp_tag> for Tag {
    fn from(tag: bp_tag) -> Self {
        let bp_tag { layer, mask, group, env } = tag;
        Self { layer, mask, group, env }
    }
}

impl From<Tag> for bp_tag {
    fn from(tag: Tag) -> Self {
        let Tag { layer, mask, group, env } = tag;
        Self { layer, mask, group, env }
    }
}

/// The tag of an object in all layers, which meets all layers, in no group and in environment 0.
#[unsafe(no_mangle)]
pub extern "C" fn bp_default_tag() -> bp_tag {
    Tag::default().into()
}

/// How an object moves, which decides which pairs it forms.
pub type bp_kind = u32;
/// Pairs with everything.
pub const BP_KIND_DYNAMIC: bp_kind = 0;
/// Rarely changes. Pairs with dynamic objects. Statics have a structure of their own.
pub const BP_KIND_STATIC: bp_kind = 1;
/// Moved by the program, not by contacts. Pairs with dynamic objects, and with others if the world's definition says so.
pub const BP_KIND_KINEMATIC: bp_kind = 2;

/// What a box represents.
pub type bp_shape = u32;
/// Itself.
pub const BP_SHAPE_BOX: bp_shape = 0;
/// Its inscribed ball: center `(min + max) / 2`, radius `(max.x - min.x) / 2`.
pub const BP_SHAPE_BALL: bp_shape = 1;
/// For an object: the shape of the world.
pub const BP_SHAPE_OF_WORLD: bp_shape = 2;

/// What an update finds.
pub type bp_report = u32;
/// The number of pairs; no list is kept.
pub const BP_REPORT_COUNT: bp_report = 0;
/// The pairs.
pub const BP_REPORT_ALL: bp_report = 1;
/// What started and what ended since the last update.
pub const BP_REPORT_DELTA: bp_report = 2;
/// The pairs, and what started and ended.
pub const BP_REPORT_BOTH: bp_report = 3;

/// How to find objects that pass through each other between two updates.
pub type bp_continuous = u32;
/// They are not found: pairs are those of the current boxes.
pub const BP_CONTINUOUS_NONE: bp_continuous = 0;
/// Fast objects are tested several times along their path: see continuous_step and continuous_most.
pub const BP_CONTINUOUS_SUB_STEPS: bp_continuous = 1;
/// Two objects are a pair if they touch at any time of the frame; each event has its time.
pub const BP_CONTINUOUS_SWEPT: bp_continuous = 2;

/// Set by bp_default_..., so that a definition that was not made by it is detected.
pub(crate) const COOKIE: u32 = 0x6270_0001;

/// The function that an engine's threads call, once for each worker that takes part: it works until no job is left.
/// Call it with the `task_context` that came with it, and a worker number below `workers`, from any thread. Two threads must not use
/// the same worker number at the same time (if they do, the second call returns at once).
pub type bp_task = Option<unsafe extern "C" fn(task_context: *mut c_void, worker: u32)>;

/// Runs `task(task_context, worker)` for each worker in `0 .. workers`, at the same time where there are threads, and returns when all calls
/// have returned. Worker 0 is best the calling thread. Jobs are handed out inside the task: a call that comes late finds nothing to do,
/// and one that never comes costs speed, never a pair.
pub type bp_run = Option<unsafe extern "C" fn(user: *mut c_void, workers: u32, task: bp_task, task_context: *mut c_void)>;

/// An engine's own threads.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_executor {
    /// Starts workers and waits for them. Null: the library's own threads, as many as `threads` of the definition says.
    pub run: bp_run,
    /// Passed to `run`.
    pub user: *mut c_void,
    /// The most workers that `run` is called with: 1 to 1024.
    pub workers: u32,
}

impl bp_executor {
    pub(crate) const NONE: Self = Self { run: None, user: std::ptr::null_mut(), workers: 0 };
}

/// Two objects that form a pair unless the filter rejects them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_pair_candidate {
    /// The object with the smaller index.
    pub a: bp_object_id,
    /// The other object.
    pub b: bp_object_id,
    /// The user number of `a`.
    pub user_a: u64,
    /// The user number of `b`.
    pub user_b: u64,
}

/// Decides on a pair of a world: not 0 keeps it. Called from any of the world's threads, for new pairs only.
pub type bp_filter = Option<unsafe extern "C" fn(user: *mut c_void, pair: *const bp_pair_candidate) -> u8>;

/// Decides whether a query sees an object: not 0 for yes. Called from any of the world's threads.
pub type bp_matching = Option<unsafe extern "C" fn(user: *mut c_void, object: bp_object_id) -> u8>;

/// The definition of a new world. Make it with bp_default_world_def, then change what you want.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_world_def {
    /// Set by bp_default_world_def.
    pub cookie: u32,
    /// The numbers of all arrays of this world. It cannot be changed later.
    pub format: bp_format,
    /// The algorithm of the movers, such as "auto" or "kd-tree:t=256"; null for "auto". Read during the call.
    pub algorithm: *const c_char,
    /// The algorithm of the static objects; null for that of the movers.
    pub static_algorithm: *const c_char,
    /// Number of threads, the calling one included: 1 for the calling one alone, 0 for one per core.
    pub threads: u32,
    /// What an update finds.
    pub report: bp_report,
    /// An engine's own threads instead.
    pub executor: bp_executor,
    /// More pairs than this are BP_TOO_MANY_PAIRS.
    pub pair_limit: u64,
    /// Grows every box on every side, beside each object's own margin.
    pub margin: f64,
    /// What boxes represent.
    pub shape: bp_shape,
    /// Whether, and how, objects that pass through each other between two updates are found: BP_CONTINUOUS_*.
    pub continuous: bp_continuous,
    /// With BP_CONTINUOUS_SUB_STEPS: the longest sub-step, in sizes of the object, above 0 and up to 1.
    pub continuous_step: f64,
    /// With BP_CONTINUOUS_SUB_STEPS: the most sub-steps, 1 to 1024.
    pub continuous_most: u32,
    /// Do two kinematic objects pair? 0 or 1.
    pub kinematic_kinematic: u8,
    /// Do a kinematic and a static object pair? 0 or 1.
    pub kinematic_static: u8,
    /// A rule of your own; null for none.
    pub filter: bp_filter,
    /// Passed to `filter`.
    pub filter_user: *mut c_void,
}

/// A world in space of float, with the default algorithm, one thread, reporting pairs and events.
#[unsafe(no_mangle)]
pub extern "C" fn bp_default_world_def() -> bp_world_def {
    bp_world_def {
        cookie: COOKIE,
        format: BP_FORMAT_3F,
        algorithm: std::ptr::null(),
        static_algorithm: std::ptr::null(),
        threads: 1,
        report: BP_REPORT_BOTH,
        executor: bp_executor::NONE,
        pair_limit: broadphase::PairStore::DEFAULT_LIMIT,
        margin: 0.0,
        shape: BP_SHAPE_BOX,
        continuous: BP_CONTINUOUS_NONE,
        continuous_step: 0.5,
        continuous_most: 16,
        kinematic_kinematic: 0,
        kinematic_static: 0,
        filter: None,
        filter_user: std::ptr::null_mut(),
    }
}

/// The properties of a new object, except its box. Make it with bp_default_object_def.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_object_def {
    /// Set by bp_default_object_def.
    pub cookie: u32,
    /// How it takes part.
    pub kind: bp_kind,
    /// What it may pair with.
    pub tag: bp_tag,
    /// A number of yours.
    pub user: u64,
    /// How much its box is grown on every side, beside the world's margin. Finite and not negative.
    pub margin: f64,
    /// What its box represents.
    pub shape: bp_shape,
    /// Is it a sensor (a trigger volume)? 0 or 1. Sensors pair with objects of every kind, but not with each other, and a static one not with statics.
    pub sensor: u8,
    /// One box: where a new object was at the last update, for continuous detection; null for where it is inserted.
    pub previous: *const c_void,
}

/// A dynamic box without margin, with the default tag and user number 0.
#[unsafe(no_mangle)]
pub extern "C" fn bp_default_object_def() -> bp_object_def {
    bp_object_def {
        cookie: COOKIE,
        kind: BP_KIND_DYNAMIC,
        tag: bp_default_tag(),
        user: 0,
        margin: 0.0,
        shape: BP_SHAPE_OF_WORLD,
        sensor: 0,
        previous: std::ptr::null(),
    }
}

/// Which objects queries see. Make it with bp_default_query_def.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_query_def {
    /// Set by bp_default_query_def.
    pub cookie: u32,
    /// Only objects in one of these layers, one bit each.
    pub layers: u32,
    /// Is `tag` used? 0 or 1.
    pub has_tag: u8,
    /// Only objects that would pair with an object of this tag.
    pub tag: bp_tag,
    /// Not this object; zeroed for none.
    pub excluded: bp_object_id,
    /// Only objects that this function accepts; null for all.
    pub matching: bp_matching,
    /// Passed to `matching`.
    pub matching_user: *mut c_void,
}

/// Queries that see all objects.
#[unsafe(no_mangle)]
pub extern "C" fn bp_default_query_def() -> bp_query_def {
    bp_query_def {
        cookie: COOKIE,
        layers: u32::MAX,
        has_tag: 0,
        tag: bp_default_tag(),
        excluded: bp_object_id::default(),
        matching: None,
        matching_user: std::ptr::null_mut(),
    }
}

/// Decides on a pair of positions: not 0 keeps it. Called from any of the search's threads, at least once for each pair.
pub type bp_keep = Option<unsafe extern "C" fn(user: *mut c_void, pair: bp_pair) -> u8>;

/// Options of bp_pairs and its like. Make it with bp_default_search_def.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_search_def {
    /// Set by bp_default_search_def.
    pub cookie: u32,
    /// Threads, started for this call: 1 for the calling one alone, 0 for one per core.
    pub threads: u32,
    /// An engine's own threads instead.
    pub executor: bp_executor,
    /// Such as "auto" or "kd-tree:t=256"; null for "auto".
    pub algorithm: *const c_char,
    /// Grows every box on every side.
    pub margin: f64,
    /// What boxes represent.
    pub shape: bp_shape,
    /// Are boxes half-open, so that boxes that only touch are no pair? 0 or 1.
    pub half_open: u8,
    /// Leave the list unsorted? 0 or 1. Its order is the same for any number of threads.
    pub unsorted: u8,
    /// The lengths of a space that repeats, by axis; 0 for an axis on which it does not.
    pub period: [f64; 3],
    /// The lower corner of a space that repeats.
    pub period_origin: [f64; 3],
    /// One tag for each box of the (first) list, or null.
    pub tags: *const bp_tag,
    /// One tag for each box of the second list, or null.
    pub tags_b: *const bp_tag,
    /// More pairs than this are BP_TOO_MANY_PAIRS.
    pub pair_limit: u64,
    /// A rule of your own; null for none.
    pub keep: bp_keep,
    /// Passed to `keep`.
    pub keep_user: *mut c_void,
}

/// All overlapping pairs, sorted, found by the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn bp_default_search_def() -> bp_search_def {
    bp_search_def {
        cookie: COOKIE,
        threads: 1,
        executor: bp_executor::NONE,
        algorithm: std::ptr::null(),
        margin: 0.0,
        shape: BP_SHAPE_BOX,
        half_open: 0,
        unsorted: 0,
        period: [0.0; 3],
        period_origin: [0.0; 3],
        tags: std::ptr::null(),
        tags_b: std::ptr::null(),
        pair_limit: broadphase::PairStore::DEFAULT_LIMIT,
        keep: None,
        keep_user: std::ptr::null_mut(),
    }
}

/// Options of bp_neighbors. Make it with bp_default_neighbor_def.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_neighbor_def {
    /// Set by bp_default_neighbor_def.
    pub cookie: u32,
    /// Threads, started for this call: 1 for the calling one alone, 0 for one per core.
    pub threads: u32,
    /// An engine's own threads instead.
    pub executor: bp_executor,
    /// List each pair once: in the row of a point, only neighbors with a larger index? 0 or 1.
    pub half: u8,
    /// List distances too? 0 or 1.
    pub distances: u8,
    /// The lengths of a space that repeats, by axis; 0 for an axis on which it does not.
    pub period: [f64; 3],
    /// The lower corner of a space that repeats.
    pub period_origin: [f64; 3],
}

/// All neighbors of each point, without distances, found by the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn bp_default_neighbor_def() -> bp_neighbor_def {
    bp_neighbor_def {
        cookie: COOKIE,
        threads: 1,
        executor: bp_executor::NONE,
        half: 0,
        distances: 0,
        period: [0.0; 3],
        period_origin: [0.0; 3],
    }
}

/// May two vertices of a mesh collide? Not 0 for yes. Called from any of the mesh's threads.
pub type bp_can_collide = Option<unsafe extern "C" fn(user: *mut c_void, a: u32, b: u32) -> u8>;

/// The properties of a new mesh, except its elements. Make it with bp_default_mesh_def.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_mesh_def {
    /// Set by bp_default_mesh_def.
    pub cookie: u32,
    /// Threads of the library: 1 for the calling one alone, 0 for one per core.
    pub threads: u32,
    /// An engine's own threads instead.
    pub executor: bp_executor,
    /// Grows the box of every element on every side: half the distance within which two elements are candidates.
    pub inflation: f64,
    /// The body of each vertex, or null if all are of one body. Read when the mesh is made.
    pub bodies: *const u32,
    /// With bodies: leave out candidates within one body? 0 or 1.
    pub no_self_collision: u8,
    /// A rule of your own; null for none.
    pub can_collide: bp_can_collide,
    /// Passed to `can_collide`.
    pub can_collide_user: *mut c_void,
}

/// One body, without inflation, on the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn bp_default_mesh_def() -> bp_mesh_def {
    bp_mesh_def {
        cookie: COOKIE,
        threads: 1,
        executor: bp_executor::NONE,
        inflation: 0.0,
        bodies: std::ptr::null(),
        no_self_collision: 0,
        can_collide: None,
        can_collide_user: std::ptr::null_mut(),
    }
}
