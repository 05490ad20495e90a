//! Objects that move along one axis, whose candidates are cached.

use super::*;

/// Boxes of width 1 on a lattice of wide meshes across an axis and anywhere along it, and their speeds along it. One in `close` is at the same place
/// across as the one before.
fn along_one_axis(n: usize, axis: usize, close: usize, random: &mut Random) -> Vec<(Aabb<3, f32>, f32)> {
    let side = (n as f32).sqrt().ceil() as usize;
    let mut site = 0;
    let one = |i: usize| {
        site = if i % close == close - 1 { site } else { i };
        let mut at = [(site % side) as f32 * 1.5, (site / side) as f32 * 1.5, random.unit_f32() * side as f32];
        at.rotate_right((axis + 1) % 3);
        (Aabb::new(at, at.map(|x| x + 1.0)), random.unit_f32() * 0.02 - 0.01)
    };
    (0..n).map(one).collect()
}

fn advance(objects: &mut [(Aabb<3, f32>, f32)], axis: usize) -> Vec<Aabb<3, f32>> {
    for (value, speed) in &mut *objects {
        (value.min[axis], value.max[axis]) = (value.min[axis] + *speed, value.max[axis] + *speed);
    }
    objects.iter().map(|(value, _)| *value).collect()
}

#[test]
fn objects_that_move_along_one_axis_agree_while_they_cross_tiles_leave_the_axis_and_meet() {
    for axis in 0..3 {
        let mut random = Random(axis as u64);
        let (mut objects, mut both) = (along_one_axis(2500, axis, 20, &mut random), Both::of("tiles:target=200"));
        for step in 0..40 {
            let across = (axis + 1) % 3;
            match step {
                12..16 => {
                    // One moves across the axis, another jumps along it, a third grows across it.
                    let [a, b, c] = [0; 3].map(|_| random.below(2500) as usize);
                    objects[a].0 = objects[a].0.translate(std::array::from_fn(|k| if k == across { 1.5 } else { 0.0 }));
                    objects[b].0 =
                        objects[b].0.translate(std::array::from_fn(|k| if k == axis { 30.0 * random.unit_f32() } else { 0.0 }));
                    objects[c].0.max[across] += 1.0;
                }
                20 => objects.iter_mut().for_each(|(_, speed)| *speed *= 100.0), // many come and go
                23 => objects.iter_mut().for_each(|(_, speed)| *speed *= 0.01),
                30 => objects.iter_mut().for_each(|(value, _)| value.min[across] -= 3.0), // and have many neighbors
                _ => (),
            }
            both.frame(&advance(&mut objects, axis), &format!("along {axis}, step {step}"));
        }
    }
}

#[test]
fn objects_that_are_removed_while_a_candidate_list_names_them_are_not_reported() {
    let mut random = Random(7);
    let (mut objects, mut run) = (along_one_axis(2500, 0, 3, &mut random), Run::<3>::of("tiles:target=200"));
    let mut live = vec![u64::MAX; 2500 / 64 + 1];
    live[2500 / 64] = (1 << (2500 % 64)) - 1;
    for step in 0..30 {
        let boxes = advance(&mut objects, 0);
        for _ in 0..if step % 3 == 2 { 5 } else { 0 } {
            let id = random.below(2500) as usize;
            live[id / 64] ^= 1 << (id % 64);
        }
        run.frame(&Frame { live: Live::Bits(&live), ..Frame::new(&boxes) }, &format!("step {step}"));
    }
}

#[test]
fn objects_that_move_along_one_axis_make_few_tests_once_their_neighbors_are_known() {
    let mut random = Random(8);
    let mut objects = along_one_axis(20_000, 2, 5, &mut random);
    let (mut tiles, mut context, mut store) = (build::<3, f32>("tiles"), Context::new(), PairStore::default());
    for frame in 0..20 {
        let boxes = advance(&mut objects, 2);
        step(&mut *tiles, &Frame::new(&boxes), &mut context, &mut store).unwrap();
        assert!(frame < 8 || store.tests() < 3 * boxes.len() as u64, "frame {frame}: {} tests", store.tests());
        assert!(store.len() > 10, "some meet");
        let (mut copy, mut its_context, mut its_store) = (tiles.boxed_clone(), Context::new(), PairStore::default());
        let next: Vec<_> = boxes.iter().map(|value| value.translate([0.0, 0.0, 0.01])).collect();
        step(&mut *copy, &Frame::new(&next), &mut its_context, &mut its_store).unwrap();
        assert!(frame < 8 || its_store.tests() < 3 * boxes.len() as u64, "a clone has the lists too");
    }
}
