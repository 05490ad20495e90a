//! A robot's planner: 10,000 obstacles; in each step 1,000 links of candidate motions ask for their first hit and their clearance, all at once, into
//! buffers that stay. Compared with a scan: `cargo run --release --example robot`.

#[path = "support/picture.rs"]
mod picture;

use broadphase::{Aabb, Answers, Error, Handle, Object, Swept, World3};

fn main() -> Result<(), Error> {
    let mut state = 7u64;
    let mut random = move |from: f32, to: f32| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        from + (to - from) * (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let mut world = World3::new();
    let mut obstacles: Vec<(Handle, Aabb<3, f32>)> = Vec::new();
    for _ in 0..10_000 {
        let half = [random(0.05, 0.6), random(0.05, 0.6), random(0.05, 0.6)];
        let aabb = Aabb::from_center([random(0.0, 60.0), random(0.0, 60.0), random(0.0, 20.0)], half);
        obstacles.push((world.insert(Object::fixed(aabb))?, aabb));
    }
    let (mut hits, mut clearances) = (Answers::new(), Answers::new());
    let (mut blocked, mut narrow) = (0, f32::INFINITY);
    for step in 0..5 {
        let links: Vec<Swept<3, f32>> = (0..1000)
            .map(|_| {
                let start = Aabb::from_center([random(0.0, 60.0), random(0.0, 60.0), random(0.0, 20.0)], [0.1, 0.1, 0.4]);
                Swept::new(start, [random(-2.0, 2.0), random(-2.0, 2.0), random(-1.0, 1.0)])
            })
            .collect();
        let starts: Vec<Aabb<3, f32>> = links.iter().map(|link| link.start).collect();
        // Nothing has changed since the first step: a shared reference is enough.
        let reader = if step == 0 { world.read()? } else { world.try_read().expect("nothing is pending") };
        reader.first_along_sweeps(&links, &mut hits)?;
        reader.nearest_to_boxes(&starts, 1, f32::INFINITY, &mut clearances)?;
        for (k, link) in links.iter().enumerate() {
            let first = obstacles.iter().filter_map(|(handle, aabb)| Some((link.enters(aabb)?, *handle)));
            let first = first.min_by(|a, b| a.partial_cmp(b).expect("times are numbers"));
            assert_eq!(hits.get(k).first().map(|&(handle, time)| (time, handle)), first);
            let gap = |aabb: &Aabb<3, f32>| {
                let gaps = (0..3).map(|k| (aabb.min[k] - link.start.max[k]).max(link.start.min[k] - aabb.max[k]).max(0.0));
                gaps.map(|gap| gap * gap).sum::<f32>().sqrt()
            };
            let least = obstacles.iter().map(|(_, aabb)| gap(aabb)).fold(f32::INFINITY, f32::min);
            let (_, clearance) = clearances.get(k)[0];
            assert!((clearance - least).abs() <= 1e-5 * least, "{clearance} and {least}");
            narrow = narrow.min(if clearance > 0.0 { clearance } else { narrow });
        }
        blocked += hits.list().len();
        picture::save("robot", |picture| {
            let up = |c: [f32; 3]| [c[0], c[2], c[1]]; // the example's third axis points up, the picture's second
            let here = |center: [f32; 3]| center[0].max(center[1]) < 16.0 && center[2] < 8.0;
            let solid = |aabb: &Aabb<3, f32>| (Aabb::new(up(aabb.min), up(aabb.max)), picture::GRAY);
            picture.solids(obstacles.iter().filter(|obstacle| here(obstacle.1.center())).map(|obstacle| solid(&obstacle.1)));
            for (k, link) in links.iter().enumerate().filter(|(_, link)| here(link.start.center())) {
                let from = link.start.center();
                let to = std::array::from_fn(|axis| from[axis] + link.displacement[axis]);
                picture.line_in_space([up(from), up(to)], if hits.get(k).is_empty() { picture::BLUE } else { picture::ORANGE });
            }
        });
    }
    println!("{blocked} of 5000 motions are blocked; the least clearance is {narrow:.4} m; a scan agrees");
    assert!(blocked > 100 && blocked < 4900);
    Ok(())
}
