//! Single objects inserted, removed and queried one at a time, timed by the same clocks as frames.

use std::ops::ControlFlow;
use std::time::Duration;

use broadphase::{Aabb, Ball, BroadPhase, Changes, Context, Frame, Live, PairStore, Probes, Report, Spec};
use broadphase_scenes::{AnyScene, SceneSpec};

use broadphase_bench::DEFAULT_SEED;
use broadphase_bench::failure::Failure;
use broadphase_bench::timed;

/// A structure whose objects are inserted, removed and queried one at a time.
#[derive(Clone)]
pub struct Single<'a> {
    structure: Box<dyn BroadPhase<3, f32>>,
    context: Context,
    boxes: &'a [Aabb<3, f32>],
    live: Vec<u64>,
}

impl<'a> Single<'a> {
    /// A structure with room for all of `boxes`, the first `present` of which are in it.
    pub fn new(algorithm: &str, boxes: &'a [Aabb<3, f32>], present: usize) -> Result<Self, Failure> {
        let spec: Spec = algorithm.parse()?;
        let context = Context::new().with_kernels(spec.kernels());
        let mut live = vec![0; boxes.len().div_ceil(64)];
        (0..present).for_each(|id| live[id / 64] |= 1 << (id % 64));
        let mut single = Self { structure: spec.build()?, context, boxes, live };
        single.update(Changes::All)?;
        Ok(single)
    }

    fn update(&mut self, changes: Changes<'_>) -> Result<(), Failure> {
        let mut frame = Frame::new(self.boxes).with_changes(changes);
        frame.live = Live::Bits(&self.live);
        Ok(self.structure.update(&frame, &mut self.context)?)
    }

    /// Inserts objects into each of the structures, one after the other. Returns the total time.
    pub fn insert(structures: &mut [Self], ids: &[u32]) -> Result<Duration, Failure> {
        Self::change(structures, ids, |single, id| {
            single.live[id as usize / 64] |= 1 << (id % 64);
            single.update(Changes::Listed { moved: &[], inserted: &[id], removed: &[] })
        })
    }

    /// Removes objects from each of the structures, one after the other. Returns the total time.
    pub fn remove(structures: &mut [Self], ids: &[u32]) -> Result<Duration, Failure> {
        Self::change(structures, ids, |single, id| {
            single.live[id as usize / 64] &= !(1 << (id % 64));
            single.update(Changes::Listed { moved: &[], inserted: &[], removed: &[id] })
        })
    }

    fn change(
        structures: &mut [Self],
        ids: &[u32],
        change: impl Fn(&mut Self, u32) -> Result<(), Failure>,
    ) -> Result<Duration, Failure> {
        let mut structures = structures;
        let all = |structures: &mut &mut [Self]| {
            structures.iter_mut().try_for_each(|single| ids.iter().try_for_each(|&id| change(single, id)))
        };
        let timing = timed(&mut structures, all, |_| Ok(()))?;
        Ok(timing.cpu.unwrap_or(timing.wall))
    }

    /// Queries everything that the ball of each of `ids` overlaps, `rounds` times over. Returns the time of one query. The structure finds the boxes
    /// that overlap, and their balls are tested.
    pub fn query(&mut self, ids: &[u32], rounds: usize) -> Result<Duration, Failure> {
        let mut found = 0u64;
        let timing = timed(
            self,
            |single| {
                let frame = Frame::new(single.boxes);
                let Some(reader) = single.structure.reader() else { return Ok(()) };
                for &id in (0..rounds).flat_map(|_| ids) {
                    let area = &single.boxes[id as usize];
                    let ball = Ball::of_box(area);
                    reader.in_box(&frame, area, &mut |other| {
                        found += u64::from(ball.overlaps(&Ball::of_box(&single.boxes[other as usize])));
                        ControlFlow::Continue(())
                    });
                }
                Ok(())
            },
            |_| Ok::<(), Failure>(()),
        )?;
        std::hint::black_box(found);
        Ok(timing.cpu.unwrap_or(timing.wall) / (ids.len() * rounds).max(1) as u32)
    }

    /// The number of tests of a query with the box of one of `ids`, on average, not counting the test with the object itself.
    pub fn tests(&mut self, ids: &[u32]) -> Result<f64, Failure> {
        let boxes: Vec<_> = ids.iter().map(|&id| self.boxes[id as usize]).collect();
        let mut out = PairStore::new(Report::All);
        let frame = Frame::new(self.boxes);
        self.structure.probe(&frame, Probes { boxes: &boxes, ids: None, recurring: false }, &mut self.context, &mut out)?;
        Ok(out.tests() as f64 / ids.len().max(1) as f64 - 1.0)
    }

    /// The bytes that the structure holds.
    pub fn bytes(&self) -> usize {
        self.structure.stats().bytes
    }
}

/// The boxes of a scene in space after some frames, and the objects that moved into the last of them.
pub fn snapshot(scene: &str, n: usize, frames: usize) -> Result<(Vec<Aabb<3, f32>>, Vec<u32>), Failure> {
    let spec: SceneSpec = scene.parse()?;
    let AnyScene::Three(mut scene) = spec.build(n, DEFAULT_SEED)? else {
        return Err(Failure::Usage(format!("{spec}: a scene in space is needed")));
    };
    (1..frames).for_each(|_| scene.advance());
    let before = scene.boxes().to_vec();
    scene.advance();
    let now = scene.boxes().to_vec();
    let moved = (0..n as u32).filter(|&id| before[id as usize] != now[id as usize]).collect();
    Ok((now, moved))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_come_go_and_ask() {
        let (boxes, moved) = snapshot("city-even", 200, 2).unwrap();
        assert_eq!((boxes.len(), moved.len()), (200, 40), "one in five moves");
        let ids: Vec<u32> = (150..200).collect();
        for algorithm in [
            "brute-force:paper=true",
            "octree:paper=true",
            "level-grid:paper=true",
            "octree",
            "hash-grid:paper=true",
            "hash-grid",
            "sweep-3axis",
        ] {
            let mut both = vec![Single::new(algorithm, &boxes, 150).unwrap(); 2];
            Single::insert(&mut both, &ids).unwrap();
            let frame = Frame::new(&boxes);
            both.iter().for_each(|single| single.structure.validate(&frame, broadphase::Strength::Geometry).unwrap());
            Single::remove(&mut both, &ids).unwrap();
            for single in both {
                let mut some = Frame::new(&boxes);
                some.live = Live::Bits(&single.live);
                assert_eq!(some.count(), 150);
                single.structure.validate(&some, broadphase::Strength::Geometry).unwrap();
            }
        }
    }

    #[test]
    fn the_naive_case_tests_all_others_and_the_grid_fewer() {
        let (boxes, moved) = snapshot("city", 400, 2).unwrap();
        let tests = |algorithm: &str| Single::new(algorithm, &boxes, 400).unwrap().tests(&moved).unwrap();
        assert_eq!(tests("brute-force"), 399.0);
        assert!(tests("level-grid") < tests("octree") && tests("octree") < 399.0);
    }
}
