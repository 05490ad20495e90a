//! What JavaScript needs besides the functions of the header: memory for arrays, and the offset of each member of the header's types.

use std::alloc::{Layout, alloc, dealloc};

/// The alignment of all memory that is handed out.
const ALIGN: usize = 16;

/// cbindgen:ignore
/// Allocates this many bytes; null if there is not enough memory.
#[unsafe(no_mangle)]
pub extern "C" fn bp_wasm_alloc(size: usize) -> *mut u8 {
    match Layout::from_size_align(size.max(1), ALIGN) {
        // SAFETY: (size) at least one byte.
        Ok(layout) => unsafe { alloc(layout) },
        Err(_) => std::ptr::null_mut(),
    }
}

/// cbindgen:ignore
/// Gives them back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_wasm_free(memory: *mut u8, size: usize) {
    if let (false, Ok(layout)) = (memory.is_null(), Layout::from_size_align(size.max(1), ALIGN)) {
        // SAFETY: (caller) from `bp_wasm_alloc`, with the same size.
        unsafe { dealloc(memory, layout) };
    }
}

/// The members that `npm/src/layout.js` reads and writes are where it expects them.
macro_rules! at {
    ($($type:ident: $size:literal { $($member:ident $offset:literal),+ $(,)? })+) => {$(
        const _: () = assert!(size_of::<crate::$type>() == $size, stringify!($type));
        $(const _: () = assert!(std::mem::offset_of!(crate::$type, $member) == $offset, stringify!($type.$member));)+
    )+};
}

at! {
    bp_error: 304 { status 0, axis 4, object 8, argument 16, text 48 }
    bp_world_def: 88 {
        format 4, algorithm 8, static_algorithm 12, report 20, pair_limit 40, margin 48, shape 56, continuous 60, continuous_step 64,
        continuous_most 72, kinematic_kinematic 76, kinematic_static 77,
    }
    bp_object_def: 56 { kind 4, tag 8, user 24, margin 32, shape 40, sensor 44, previous 48 }
    bp_search_def: 112 { algorithm 20, margin 24, shape 32, half_open 36, unsorted 37, period 40, period_origin 64, tags 88, tags_b 92, pair_limit 96 }
    bp_neighbor_def: 72 { half 20, distances 21, period 24, period_origin 48 }
    bp_query_def: 44 { layers 4, has_tag 8, tag 12, excluded 28 }
    bp_pair_list: 12 { pairs 0, count 4 }
    bp_neighbor_list: 28 { offsets 0, indices 4, distances 8, point_count 12, count 16 }
    bp_update: 24 { pair_count 0, started 8, started_count 12, ended 16, ended_count 20 }
    bp_id_list: 8 { ids 0, count 4 }
    bp_id_pair_list: 8 { pairs 0, count 4 }
    bp_event_list: 8 { events 0, count 4 }
    bp_pair_event: 56 { a 0, b 8, user_a 16, user_b 24, value 32, time 40, has_value 48 }
    bp_answer_list: 20 { starts 0, ids 4, distances 8, question_count 12, count 16 }
    bp_world_stats: 64 {
        dynamic_count 0, static_count 4, kinematic_count 8, pair_count 16, test_count 24, table_bytes 32, structure_bytes 36, pair_bytes 40,
        list_bytes 44, algorithm 48, choice 52, text 56,
    }
}
