//! The frames of `bench/update.c` through the Rust interface: `benchmarks/c-overhead` compares the two.
//!
//! `update N FRAMES` prints the medians of setting all boxes and of updating, in milliseconds, and a sum over all numbers of pairs.

use std::time::{Duration, Instant};

use broadphase::{Aabb, World3};

struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / 16_777_216.0
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let n: usize = arguments.next().map_or(Ok(1000), |text| text.parse())?;
    let frames: usize = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let mut random = Random(1);
    let side = (n as f64 * 8.0 / 3.0).cbrt();
    let mut boxes: Vec<Aabb<3, f32>> = Vec::new();
    for _ in 0..n {
        let min = [(); 3].map(|()| (random.uniform() * side) as f32);
        boxes.push(Aabb::new(min, min.map(|x| x + 1.0)));
    }
    let mut world = World3::new();
    world.insert_many(&boxes)?;
    world.update()?;
    let (mut set, mut update, mut sum) = (Vec::new(), Vec::new(), 0);
    for _ in 0..frames {
        for aabb in &mut boxes {
            for k in 0..3 {
                let step = (random.uniform() - 0.5) as f32 * 0.2;
                aabb.min[k] += step;
                aabb.max[k] += step;
            }
        }
        let start = Instant::now();
        world.set_mover_boxes(&boxes)?;
        let middle = Instant::now();
        let found = world.update()?;
        update.push(middle.elapsed());
        set.push(middle - start);
        sum += found.len() * 3 + found.started().len() as u64 * 5 + found.ended().len() as u64 * 7;
    }
    println!("{:.4} {:.4} {sum}", median(set), median(update));
    Ok(())
}
