//! A thousand environments of a thousand objects at the same place, beside the same objects spread far apart without environments.
//!
//! `cargo run --release -p broadphase-peers --example environments`
//!
//! Both worlds have the same pairs, which is checked. Frames take turns; times are CPU times of the thread, all objects move.

use std::time::Duration;

use broadphase::{Aabb, Object, Tag, World3};
use cpu_time::ThreadTime;

const ENVIRONMENTS: usize = 1000;
const OBJECTS: usize = 1000;
const FRAMES: usize = 12;

struct Random(u64);

impl Random {
    /// In 0..1.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }
}

fn main() {
    // Coordinates are multiples of 1/256, so that moving an environment far away rounds nothing.
    let side = (OBJECTS as f32 * 4.0).cbrt();
    let mut random = Random(1);
    let round = |x: f32| (x * 256.0).round() / 256.0;
    let mut places: Vec<[f32; 3]> =
        (0..ENVIRONMENTS * OBJECTS).map(|_| std::array::from_fn(|_| round(random.next() * side))).collect();
    let far = |id: usize| -> [f32; 3] {
        let env = id / OBJECTS;
        [env % 10, env / 10 % 10, env / 100].map(|k| k as f32 * 64.0)
    };
    let apart = |places: &[[f32; 3]]| -> Vec<Aabb<3, f32>> {
        let at = |id: usize| std::array::from_fn(|k| places[id][k] + far(id)[k]);
        (0..places.len()).map(|id| Aabb::from_center(at(id), [0.5; 3])).collect()
    };
    let together =
        |places: &[[f32; 3]]| -> Vec<Aabb<3, f32>> { places.iter().map(|&at| Aabb::from_center(at, [0.5; 3])).collect() };
    let (mut spread, mut stacked) = (World3::new(), World3::new());
    spread.insert_many(&apart(&places)).expect("valid boxes");
    let tag = |id: usize| Tag::default().with_env(1 + (id / OBJECTS) as u32);
    let objects: Vec<Object<3, f32>> =
        together(&places).into_iter().enumerate().map(|(id, aabb)| Object::new(aabb).with_tag(tag(id))).collect();
    stacked.insert_many(&objects).expect("valid boxes");

    let mut times = [Vec::new(), Vec::new()];
    for frame in 0..=FRAMES {
        let boxes = [apart(&places), together(&places)];
        for (which, world) in [&mut spread, &mut stacked].into_iter().enumerate() {
            let start = ThreadTime::now();
            world.set_mover_boxes(&boxes[which]).expect("valid boxes");
            world.update().expect("a frame");
            if frame > 0 {
                times[which].push(start.elapsed());
            }
        }
        let index = |(a, b): (broadphase::Handle, broadphase::Handle)| (a.index, b.index);
        let (a, b) = (spread.sorted_pairs(), stacked.sorted_pairs());
        assert!(a.into_iter().map(index).eq(b.into_iter().map(index)), "frame {frame}: the pairs differ");
        places.iter_mut().flatten().for_each(|c| *c = round(*c + random.next() * 0.25 - 0.125));
    }
    let median = |list: &mut Vec<Duration>| {
        list.sort_unstable();
        list[list.len() / 2].as_secs_f64() * 1e3
    };
    let [a, b] = times.each_mut().map(median);
    println!("{ENVIRONMENTS} environments of {OBJECTS} objects, {} pairs", stacked.pair_count());
    println!("far apart, without environments {a:8.1} ms a frame");
    println!("at the same place               {b:8.1} ms a frame, {:.2} of the other", b / a);
    println!("{}", stacked.stats());
}
