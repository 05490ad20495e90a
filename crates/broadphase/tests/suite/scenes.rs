//! Every listed scene over a few frames.

use broadphase::{Aabb, Pair, Real};
use broadphase_scenes::{AnyScene, Scene, SceneSpec};

use crate::script::{Run, Table, Tell};
use crate::subjects::{Trial, conclude};
use broadphase_testing::naive as oracle;

const N: usize = 1200;
const FRAMES: usize = 3;

/// The frames of a scene in another scalar, exactly.
fn frames<const D: usize, T: Real>(scene: &mut dyn Scene<D>) -> Vec<Vec<Aabb<D, T>>> {
    let mut frames = Vec::new();
    for _ in 0..FRAMES {
        let exact = |corner: [f32; D]| corner.map(|c| T::from_f64(c.into()));
        frames.push(scene.boxes().iter().map(|b| Aabb::new(exact(b.min), exact(b.max))).collect());
        scene.advance();
    }
    frames
}

fn follow<const D: usize, T: Real>(name: &str, frames: &[Vec<Aabb<D, T>>], failures: &mut Vec<String>) {
    let mut trial = Trial::new::<D, T>(failures);
    let plain = trial.subjects.iter().find(|subject| !subject.equal_balls);
    let pairs: Vec<Vec<Pair>> =
        plain.map_or(Vec::new(), |subject| frames.iter().map(|boxes| oracle::pairs(&subject.frame(boxes))).collect());
    trial.each(|subject| {
        let mut run = Run::new(subject);
        let mut table = Table::default();
        for (number, boxes) in frames.iter().enumerate() {
            let mut boxes = boxes.clone();
            subject.fit(&mut boxes);
            table.resize(boxes.len());
            for (id, value) in boxes.iter().enumerate() {
                if table.boxes[id] != *value {
                    table.set(id as u32, *value);
                }
            }
            table.settle();
            let tell = if number % 2 == 0 { Tell::Unknown } else { Tell::Listed };
            let (frame, what) = (table.frame(subject, tell), format!("{name}, frame {number}"));
            if subject.equal_balls { run.step(&frame, &what) } else { run.step_expecting(&frame, &pairs[number], &what) }
        }
    });
}

#[test]
fn every_scene_is_followed_over_frames() {
    let mut failures = Vec::new();
    for scene in broadphase_scenes::list() {
        for dim in scene.dims {
            let options = if scene.dims.len() > 1 { format!(":dim={dim}") } else { String::new() };
            let name = format!("{}{options}", scene.name);
            let spec: SceneSpec = name.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
            // A scene of a feature that this build lacks has its tests where the feature is on.
            let Ok(scene) = spec.build(N, 1) else { continue };
            match scene {
                AnyScene::Two(mut scene) => {
                    let boxes = frames::<2, f64>(&mut *scene);
                    follow(&name, &boxes, &mut failures);
                    let narrow: Vec<Vec<Aabb<2, f32>>> = boxes.iter().map(|frame| narrowed(frame)).collect();
                    follow(&name, &narrow, &mut failures);
                }
                AnyScene::Three(mut scene) => {
                    let boxes = frames::<3, f64>(&mut *scene);
                    follow(&name, &boxes, &mut failures);
                    let narrow: Vec<Vec<Aabb<3, f32>>> = boxes.iter().map(|frame| narrowed(frame)).collect();
                    follow(&name, &narrow, &mut failures);
                }
            }
        }
    }
    conclude(&failures);
}

/// Back to the scalar in which scenes are made.
fn narrowed<const D: usize>(boxes: &[Aabb<D, f64>]) -> Vec<Aabb<D, f32>> {
    boxes.iter().map(|b| Aabb::new(b.min.map(|c| c as f32), b.max.map(|c| c as f32))).collect()
}
