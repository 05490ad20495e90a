//! `capi`: sequences of calls of the C interface, sound and hostile: null and misaligned pointers, impossible counts, definitions that were not made by
//! their function, numbers that no enumeration has, stale ids, broken snapshots. Every status is one that the call can have, no call panics
//! inside (a caught panic is `BP_INTERNAL_ERROR`), and after all that the pairs are those of the naive model.

use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

use broadphase::{Aabb, Real};
use broadphase_c::*;
use broadphase_testing::naive::{pairs_of, touch};

use crate::nasty::Coordinates;
use crate::{Bytes, Counts};

/// Runs an input.
pub fn run(data: &[u8]) -> Counts {
    let mut bytes = Bytes::new(data);
    match bytes.below(4) {
        0 => Run::<2, f32>::new(BP_FORMAT_2F, &mut bytes).drive(&mut bytes),
        1 => Run::<3, f32>::new(BP_FORMAT_3F, &mut bytes).drive(&mut bytes),
        2 => Run::<2, f64>::new(BP_FORMAT_2D, &mut bytes).drive(&mut bytes),
        _ => Run::<3, f64>::new(BP_FORMAT_3D, &mut bytes).drive(&mut bytes),
    }
}

/// Is it a status at all, and not the one of a caught panic?
fn sound(status: bp_status, what: &str) -> bp_status {
    assert!(status != BP_INTERNAL_ERROR, "{what}: a panic inside");
    // SAFETY: (caller) any number is fine.
    let name = unsafe { std::ffi::CStr::from_ptr(bp_status_name(status)) };
    assert!(!name.is_empty(), "{what}: status {status} has no name");
    status
}

type Id = (u32, u32);

struct Run<const D: usize, T: Real> {
    format: bp_format,
    coordinates: Coordinates,
    world: *mut bp_world,
    answers: *mut bp_answers,
    model: BTreeMap<Id, Aabb<D, T>>,
    dead: Vec<bp_object_id>,
    counts: Counts,
}

impl<const D: usize, T: Real> Run<D, T> {
    fn new(format: bp_format, bytes: &mut Bytes) -> Self {
        let coordinates = Coordinates::draw(bytes);
        let (mut world, mut answers) = (null_mut(), null_mut());
        let text = CString::new(bytes.pick(crate::step::specs()).to_string()).expect("no zero");
        // SAFETY: (caller) pointers to values that live during the calls.
        unsafe {
            let mut def = bp_default_world_def();
            (def.format, def.threads) = (format, 1);
            def.algorithm = if bytes.one_in(2) { text.as_ptr() } else { null() };
            sound(bp_world_create(&def, &mut world, null_mut()), "create");
            if !text.as_bytes().starts_with(b"particle") {
                assert!(!world.is_null(), "a listed algorithm");
            }
            assert_eq!(bp_answers_create(&mut answers), BP_OK);
            if text.as_bytes().starts_with(b"particle") {
                bp_world_destroy(world); // it refuses worlds of boxes
                def.algorithm = null();
                assert_eq!(bp_world_create(&def, &mut world, null_mut()), BP_OK);
            }
        }
        let mut counts = Counts::default();
        counts.meet(&format!("format {format}"));
        Self { format, coordinates, world, answers, model: BTreeMap::new(), dead: Vec::new(), counts }
    }

    fn drive(mut self, bytes: &mut Bytes) -> Counts {
        let mut left = 100;
        while !bytes.is_empty() && left > 0 {
            left -= 1;
            match bytes.below(16) {
                0..4 => self.insert(bytes),
                4 | 5 => self.move_some(bytes),
                6 => self.remove(bytes),
                7 => self.hostile_pointers(bytes),
                8 => self.hostile_definitions(bytes),
                9 => self.hostile_numbers(bytes),
                10 => self.snapshot(bytes),
                11 => self.arrays(bytes),
                12 => self.queries(bytes),
                _ => self.update(),
            }
        }
        self.update();
        // SAFETY: (caller) made by their functions, and not used again. Null is fine.
        unsafe {
            sound(bp_world_validate(self.world, 1), "validate");
            bp_world_destroy(self.world);
            bp_answers_destroy(self.answers);
            bp_world_destroy(null_mut());
            bp_pair_list_free(null_mut());
        }
        self.counts
    }

    fn boxes(&self, bytes: &mut Bytes, most: usize) -> Vec<Aabb<D, T>> {
        (0..bytes.below(most)).map(|_| self.coordinates.aabb(bytes, &[])).collect()
    }

    fn ids(&self) -> Vec<bp_object_id> {
        self.model.keys().map(|&(index, generation)| bp_object_id { index, generation }).collect()
    }

    fn insert(&mut self, bytes: &mut Bytes) {
        let mut boxes = self.boxes(bytes, 8);
        let bad = bytes.one_in(8);
        if bad {
            boxes.push(self.coordinates.invalid(bytes));
        }
        let mut ids = vec![bp_object_id { index: 0, generation: 0 }; boxes.len()];
        // SAFETY: (caller) as many boxes and ids as the count says.
        let status = unsafe { bp_world_insert(self.world, boxes.as_ptr().cast(), null(), 0, ids.as_mut_ptr(), boxes.len()) };
        assert_eq!(sound(status, "insert"), if bad { BP_INVALID_BOX } else { BP_OK });
        self.counts.operations += boxes.len() as u64;
        self.counts.operation("insert");
        if !bad {
            self.model.extend(ids.iter().map(|id| (id.index, id.generation)).zip(boxes));
        }
    }

    fn move_some(&mut self, bytes: &mut Bytes) {
        let all = self.ids();
        if all.is_empty() {
            return;
        }
        let ids: Vec<_> = (0..bytes.below(6)).map(|_| *bytes.pick(&all)).collect();
        let boxes: Vec<Aabb<D, T>> = ids.iter().map(|_| self.coordinates.aabb(bytes, &[])).collect();
        let call = if bytes.one_in(3) { bp_world_teleport } else { bp_world_set_boxes_of };
        // SAFETY: (caller) as many ids and boxes as the count says.
        let status = unsafe { call(self.world, ids.as_ptr(), boxes.as_ptr().cast(), ids.len()) };
        assert_eq!(sound(status, "move"), BP_OK);
        self.model.extend(ids.iter().map(|id| (id.index, id.generation)).zip(boxes));
        self.counts.operation("move");
    }

    fn remove(&mut self, bytes: &mut Bytes) {
        let all = self.ids();
        if all.is_empty() {
            return;
        }
        let mut ids = vec![*bytes.pick(&all)];
        let stale = bytes.one_in(3) && !self.dead.is_empty();
        if stale {
            ids.push(*bytes.pick(&self.dead));
        }
        // SAFETY: (caller) as many ids as the count says.
        let status = unsafe { bp_world_remove(self.world, ids.as_ptr(), ids.len()) };
        assert_eq!(sound(status, "remove"), if stale { BP_STALE_HANDLE } else { BP_OK });
        if !stale {
            self.model.remove(&(ids[0].index, ids[0].generation));
            self.dead.push(ids[0]);
        }
        self.counts.operation(if stale { "remove what is gone" } else { "remove" });
    }

    /// Null where something is needed, pointers that are not aligned, counts that no array can have.
    fn hostile_pointers(&mut self, bytes: &mut Bytes) {
        let (mut list, mut update) = (bp_id_pair_list::default_of(), bp_update_of());
        let odd = [0u64; 8];
        // SAFETY: (caller) the calls check what is hostile here before they read anything: null, alignment and count.
        unsafe {
            let misaligned = odd.as_ptr().cast::<u8>().add(1);
            let results = [
                (bp_world_update(null_mut(), &mut update), BP_NULL_POINTER),
                (bp_world_update(self.world, misaligned.cast_mut().cast()), BP_MISALIGNED_POINTER),
                (bp_world_sorted_pairs(self.world, null_mut()), BP_NULL_POINTER),
                (bp_world_sorted_pairs(null_mut(), &mut list), BP_NULL_POINTER),
                (bp_world_remove(self.world, null(), 1 + bytes.below(9)), BP_NULL_POINTER),
                (bp_world_remove(self.world, misaligned.cast(), 1), BP_MISALIGNED_POINTER),
                (bp_world_set_boxes(self.world, null(), usize::MAX), BP_INVALID_COUNT),
                (bp_world_set_boxes_of(self.world, null(), null(), usize::MAX / 2), BP_INVALID_COUNT),
                (bp_world_insert(self.world, null(), null(), 0, null_mut(), 3), BP_NULL_POINTER),
                (bp_world_restore(self.world, null(), 7), BP_NULL_POINTER),
                (bp_world_configure(self.world, null()), BP_NULL_POINTER),
                (bp_pairs(self.format, null(), 4, null(), null_mut(), null_mut()), BP_NULL_POINTER),
                (bp_answers_create(null_mut()), BP_NULL_POINTER),
            ];
            for (number, (status, expected)) in results.into_iter().enumerate() {
                assert_eq!(sound(status, "a hostile pointer"), expected, "call {number}");
                self.counts.operation("hostile pointer");
            }
        }
    }

    /// Definitions of zeros or of noise, formats and numbers that do not exist, texts that are no algorithm.
    fn hostile_definitions(&mut self, bytes: &mut Bytes) {
        let text = CString::new(bytes.take(12).iter().copied().filter(|&byte| byte != 0).collect::<Vec<u8>>()).expect("no zero");
        let mut world = null_mut();
        // SAFETY: (caller) definitions that live during the call; their pointers are null or live as well.
        unsafe {
            let mut def = bp_default_world_def();
            def.threads = 1;
            let code = bytes.below(7);
            let expected: &[bp_status] = match code {
                0 => {
                    def.cookie ^= 1 + bytes.word() % 1000;
                    &[BP_INVALID_DEF]
                }
                1 => {
                    def.format = 4 + bytes.word() % 1000;
                    &[BP_INVALID_FORMAT]
                }
                2 => {
                    def.report = 4 + bytes.word() % 1000;
                    &[BP_INVALID_ARGUMENT]
                }
                3 => {
                    def.margin = *bytes.pick(&[-1.0, f64::NAN, f64::INFINITY]);
                    &[BP_INVALID_MARGIN]
                }
                4 => {
                    (def.continuous, def.continuous_step) = (BP_CONTINUOUS_SUB_STEPS, f64::from(bytes.byte()) - 100.5);
                    &[BP_INVALID_ARGUMENT, BP_OK]
                }
                5 => {
                    def.kinematic_static = 2 + bytes.byte() % 200;
                    &[BP_INVALID_ARGUMENT]
                }
                _ => {
                    def.algorithm = text.as_ptr();
                    &[BP_UNKNOWN_ALGORITHM, BP_INVALID_ARGUMENT, BP_INVALID_OPTION, BP_UNKNOWN_OPTION, BP_OTHER_ERROR, BP_OK]
                }
            };
            let status = sound(bp_world_create(&def, &mut world, null_mut()), "a hostile definition");
            assert!(expected.contains(&status), "definition {code}: status {status}");
            assert_eq!(world.is_null(), status != BP_OK);
            bp_world_destroy(world);
            self.counts.operation(&format!("definition {code}: {status}"));
        }
    }

    /// Numbers that no list has, and ids of nothing.
    fn hostile_numbers(&mut self, bytes: &mut Bytes) {
        let ids = self.ids();
        let ghost = [bp_object_id { index: bytes.word(), generation: bytes.word() }];
        let known = self.model.contains_key(&(ghost[0].index, ghost[0].generation));
        let mut pair = bp_id_list { ids: null(), count: 0 };
        // SAFETY: (caller) one id and one value for a count of 1.
        unsafe {
            let status = sound(bp_world_contains(self.world, ghost[0]), "contains");
            assert_eq!(status == BP_OK, known);
            assert_eq!(sound(bp_world_pairs_of(self.world, ghost[0], &mut pair), "pairs of a ghost") == BP_OK, known);
            if let Some(id) = ids.first() {
                let (kind, shape, sensor, margin) =
                    ([3 + bytes.word() % 9], [3 + bytes.word() % 9], [2 + bytes.byte() % 9], [-1.0]);
                assert_eq!(sound(bp_world_set_kinds(self.world, id, kind.as_ptr(), 1), "kinds"), BP_INVALID_ARGUMENT);
                assert_eq!(sound(bp_world_set_shapes(self.world, id, shape.as_ptr(), 1), "shapes"), BP_INVALID_ARGUMENT);
                assert_eq!(sound(bp_world_set_sensors(self.world, id, sensor.as_ptr(), 1), "sensors"), BP_INVALID_ARGUMENT);
                assert_eq!(sound(bp_world_set_margins(self.world, id, margin.as_ptr(), 1), "margins"), BP_INVALID_MARGIN);
            }
            sound(bp_world_reserve(self.world, bytes.below(100), bytes.below(100)), "reserve");
            let status = bp_world_reserve(self.world, usize::MAX, usize::MAX);
            assert!(matches!(sound(status, "reserve"), BP_TOO_MANY_OBJECTS | BP_OUT_OF_MEMORY | BP_INVALID_COUNT), "{status}");
        }
        self.counts.operation("hostile numbers");
    }

    /// Its own bytes restore the world; bytes that were changed give an error or a world that works.
    fn snapshot(&mut self, bytes: &mut Bytes) {
        let (mut data, mut size) = (null(), 0);
        // SAFETY: (caller) the bytes belong to the world and are copied at once.
        let mut copy = unsafe {
            assert_eq!(sound(bp_world_snapshot(self.world, &mut data, &mut size), "snapshot"), BP_OK);
            std::slice::from_raw_parts(data, size).to_vec()
        };
        for _ in 0..1 + bytes.below(3) {
            let at = bytes.below(copy.len().min(60_000));
            copy[at] ^= bytes.byte();
        }
        copy.truncate(copy.len() - bytes.below(2) * bytes.below(9).min(copy.len()));
        let (mut world, mut update) = (null_mut(), bp_update_of());
        // SAFETY: (caller) as many bytes as the size says; a world of this function's own.
        unsafe {
            let mut def = bp_default_world_def();
            (def.format, def.threads) = (self.format, 1);
            assert_eq!(bp_world_create(&def, &mut world, null_mut()), BP_OK);
            let status = sound(bp_world_restore(world, copy.as_ptr(), copy.len()), "restore");
            if status == BP_OK {
                sound(bp_world_update(world, &mut update), "update after a changed snapshot");
            }
            sound(bp_world_validate(world, 1), "validate after restore");
            bp_world_destroy(world);
            assert_eq!(sound(bp_world_restore(self.world, data, size), "restore its own"), BP_OK);
            self.counts.operation(&format!("restore: {status}"));
        }
    }

    fn arrays(&mut self, bytes: &mut Bytes) {
        let (a, b) = (self.boxes(bytes, 24), self.boxes(bytes, 12));
        let mut list = bp_pair_list { pairs: null(), count: 0, owner: null_mut() };
        // SAFETY: (caller) as many boxes as the counts say; lists are freed once.
        unsafe {
            let status = bp_pairs(self.format, a.as_ptr().cast(), a.len(), null(), &mut list, null_mut());
            assert_eq!(sound(status, "pairs"), BP_OK);
            let expected = pairs_of(&a, |_| true);
            let found: Vec<_> = (0..list.count).map(|at| *list.pairs.add(at)).collect();
            assert!(found.iter().map(|p| (p.a, p.b)).eq(expected.iter().map(|p| (p.a, p.b))), "pairs of an array");
            bp_pair_list_free(&mut list);
            assert_eq!(list.count, 0);
            let (pa, pb) = (a.as_ptr().cast::<c_void>(), b.as_ptr().cast::<c_void>());
            let status = bp_pairs_between(self.format, pa, a.len(), pb, b.len(), null(), &mut list, null_mut());
            assert_eq!(sound(status, "between"), BP_OK);
            let touching = a.iter().flat_map(|x| b.iter().map(move |y| touch(x, y))).filter(|&yes| yes).count();
            assert_eq!(list.count, touching, "pairs between arrays");
            bp_pair_list_free(&mut list);
            self.counts.compared += (expected.len() + touching) as u64;
        }
        self.counts.operations += (a.len() + b.len()) as u64;
        self.counts.operation("arrays");
    }

    fn queries(&mut self, bytes: &mut Bytes) {
        let mut areas = self.boxes(bytes, 5);
        let bad = bytes.one_in(6);
        if bad {
            areas.push(self.coordinates.invalid(bytes));
        }
        let mut list = bp_answer_list { starts: null(), ids: null(), distances: null(), question_count: 0, count: 0 };
        // SAFETY: (caller) as many boxes as the count says; the list belongs to the answers and is read before the next call.
        unsafe {
            assert_eq!(sound(bp_world_prepare_queries(self.world), "prepare"), BP_OK);
            let areas_at = areas.as_ptr().cast();
            let status = bp_world_in_boxes(self.world, null(), areas_at, areas.len(), self.answers, &mut list);
            assert_eq!(sound(status, "in boxes"), if bad { BP_INVALID_QUERY } else { BP_OK });
            if !bad {
                let expected: usize =
                    areas.iter().map(|area| self.model.values().filter(|value| touch(area, value)).count()).sum();
                assert_eq!((list.count, list.question_count), (expected, areas.len()), "answers");
                self.counts.compared += expected as u64;
            }
        }
        self.counts.operation("queries");
    }

    fn update(&mut self) {
        let (mut update, mut list) = (bp_update_of(), bp_id_pair_list::default_of());
        let all: Vec<_> = self.model.iter().collect();
        let mut expected = Vec::new();
        for (at, (a, x)) in all.iter().enumerate() {
            let meets = all[at + 1..].iter().filter(|(_, y)| touch(*x, y));
            expected.extend(meets.map(|(b, _)| (**a, **b)));
        }
        // SAFETY: (caller) the lists belong to the world and are read before its next call.
        unsafe {
            assert_eq!(sound(bp_world_update(self.world, &mut update), "update"), BP_OK);
            assert_eq!(update.pair_count, expected.len() as u64, "the number of pairs");
            assert_eq!(sound(bp_world_sorted_pairs(self.world, &mut list), "sorted pairs"), BP_OK);
            let found = (0..list.count).map(|at| *list.pairs.add(at));
            let found: Vec<_> = found.map(|p| ((p.a.index, p.a.generation), (p.b.index, p.b.generation))).collect();
            assert_eq!(found, expected, "the pairs of the world");
        }
        self.counts.compared += expected.len() as u64;
        self.counts.operation("update");
    }
}

fn bp_update_of() -> bp_update {
    bp_update { pair_count: 0, started: null(), started_count: 0, ended: null(), ended_count: 0 }
}

/// An empty list to be filled.
trait DefaultOf {
    fn default_of() -> Self;
}

impl DefaultOf for bp_id_pair_list {
    fn default_of() -> Self {
        bp_id_pair_list { pairs: null(), count: 0 }
    }
}
