//! `tests/c/layout.h` says how large every type of the header is; C and C++ assert it there, Rust here.

use std::collections::BTreeMap;

use broadphase_c::*;

macro_rules! layouts {
    ($($name:ident),+ $(,)?) => {
        [$((stringify!($name), size_of::<$name>(), align_of::<$name>())),+]
    };
}

#[test]
fn rust_and_c_agree_on_every_type() {
    if size_of::<usize>() != 8 {
        return;
    }
    let layouts = layouts![
        bp_object_id,
        bp_pair,
        bp_id_pair,
        bp_tag,
        bp_error,
        bp_executor,
        bp_pair_candidate,
        bp_world_def,
        bp_object_def,
        bp_query_def,
        bp_search_def,
        bp_neighbor_def,
        bp_mesh_def,
        bp_distance_def,
        bp_near,
        bp_near_list,
        bp_pair_list,
        bp_neighbor_list,
        bp_between_pairs,
        bp_mesh_candidates,
        bp_id_list,
        bp_update,
        bp_pair_event,
        bp_event_list,
        bp_id_pair_list,
        bp_answer_list,
        bp_world_stats,
    ];
    let text = include_str!("c/layout.h");
    let in_c: BTreeMap<&str, (usize, usize)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("LAYOUT(")?.strip_suffix(')'))
        .map(|line| {
            let parts: Vec<&str> = line.split(", ").collect();
            (parts[0], (parts[1].parse().expect("a size"), parts[2].parse().expect("an alignment")))
        })
        .collect();
    for (name, size, align) in layouts {
        assert_eq!(in_c.get(name), Some(&(size, align)), "LAYOUT({name}, {size}, {align})");
    }
    assert_eq!(in_c.len(), layouts.len());
    // A type that is missing above is found in the header.
    let header = include_str!("../include/broadphase.h");
    let types = header.lines().filter_map(|line| line.strip_prefix("typedef struct ")?.strip_suffix(" {"));
    assert_eq!(types.filter(|name| !in_c.contains_key(name)).collect::<Vec<_>>(), [] as [&str; 0]);
}
