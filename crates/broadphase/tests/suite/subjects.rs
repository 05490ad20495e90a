//! The structures under test: every listed algorithm, and a few with options with which small inputs reach rarely used code.

use std::panic::{AssertUnwindSafe, catch_unwind};

use broadphase::{Aabb, BroadPhase, Frame, Real, Shape, Spec, algorithms};

/// Specs beside the listed names: options that make a few hundred objects visit what else needs thousands.
const EXTRA: &[&str] = &[
    "sweep:partitions=5:path=parallel",
    "sweep:partitions=3:active=tree:axes=yx",
    "sweep:partitions=64:buckets=17",
    "sweep:paper=true",
    "octree:split=4:depth=10",
    "level-grid:levels=2:ratio=1",
    "tiles:target=32",
    "hash-grid:threshold=0:patience=0",
    "hash-grid:threshold=0:base=0.3",
    "tiles:target=32:coherence=false",
    "hash-grid-reinsert:threshold=0",
    "particle-grid:grid=hashed:hash=modular",
    "hash-grid:paper=true:threshold=0:dims=4:factor=1.5",
    "hash-grid-reinsert:paper=true:threshold=0:dims=4:factor=1.5",
    "particle-grid:paper=true",
    "particle-grid:paper=true:grid=hashed:hash=chain",
    "octree:paper=true",
    "level-grid:paper=true",
    "brute-force:paper=true",
    "grid-sap:cells=5",
    "grid-sap:resweep=true",
    "kd-tree:t=8",
    "kd-tree-rebuilt:t=4",
    "kd-tree-incremental:t=64",
    "kd-tree:paper=true:t=8",
    "kd-tree-complete:paper=true:t=16",
    "kd-tree-incremental:paper=true:t=64",
    "kd-tree-rebuilt:paper=true:t=16",
];

/// The side of every box that [`Subject::fit`] makes for an algorithm that wants equal sizes.
const SIDE: f64 = 2.0;

/// One algorithm under test.
pub struct Subject {
    pub spec: Spec,
    /// It works on equal balls only, and gets such data.
    pub equal_balls: bool,
}

impl Subject {
    fn new(text: &str) -> Self {
        let spec: Spec = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let equal_balls = !spec.descriptor().shapes.contains(&Shape::Box);
        Self { spec, equal_balls }
    }

    pub fn build<const D: usize, T: Real>(&self) -> Box<dyn BroadPhase<D, T>> {
        self.spec.build().unwrap_or_else(|error| panic!("{}: {error}", self.spec))
    }

    /// What its boxes stand for unless a test says otherwise.
    pub fn shape(&self) -> Shape {
        if self.equal_balls { Shape::Ball } else { Shape::Box }
    }

    /// A frame of boxes that suit it.
    pub fn frame<'a, const D: usize, T: Real>(&self, boxes: &'a [Aabb<D, T>]) -> Frame<'a, D, T> {
        Frame { shape: self.shape(), ..Frame::new(boxes) }
    }

    /// The boxes as they suit it: as they are, or as cubes of one side on a lattice so coarse that no rounding disturbs the side.
    pub fn fit<const D: usize, T: Real>(&self, boxes: &mut [Aabb<D, T>]) {
        if self.equal_balls {
            boxes.iter_mut().filter(|b| b.is_valid()).for_each(|b| *b = cube_at(b.min));
        }
    }
}

fn cube_at<const D: usize, T: Real>(corner: [T; D]) -> Aabb<D, T> {
    let min = corner.map(|c| (c.to_f64().clamp(-1e6, 1e6) * 4.0).round() / 4.0);
    Aabb::new(min.map(T::from_f64), min.map(|c| T::from_f64(c + SIDE)))
}

/// All subjects that work in `dim` dimensions, less what `BROADPHASE_ONLY` leaves out.
fn subjects(dim: usize) -> Vec<Subject> {
    let only = std::env::var("BROADPHASE_ONLY").unwrap_or_default();
    let wanted = |subject: &Subject| only.is_empty() || only.split(',').any(|name| name == subject.spec.descriptor().name);
    let names = algorithms::list().iter().map(|descriptor| descriptor.name);
    let all = names.chain(EXTRA.iter().copied()).map(Subject::new);
    all.filter(|subject| subject.spec.descriptor().dims.contains(&dim) && wanted(subject)).collect()
}

/// One space (D, T) in which a property is tested on all subjects; collects failures, so that one does not hide the others.
pub struct Trial<'a> {
    space: String,
    pub subjects: Vec<Subject>,
    failures: &'a mut Vec<String>,
}

impl<'a> Trial<'a> {
    pub fn new<const D: usize, T: Real>(failures: &'a mut Vec<String>) -> Self {
        Self { space: format!("{D}D {}", T::NAME), subjects: subjects(D), failures }
    }

    /// Tries the property on every subject.
    pub fn each(&mut self, property: impl Fn(&Subject)) {
        for subject in &self.subjects {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| property(subject))) {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without text");
                self.failures.push(format!("{} in {}: {text}", subject.spec, self.space));
            }
        }
    }
}

/// Fails with all failures of a test, one paragraph each.
pub fn conclude(failures: &[String]) {
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// A test for each name: the function of that name, called as `name::<D, T>(&mut Trial)` in all four spaces.
macro_rules! in_every_space {
    ($($name:ident),+ $(,)?) => {
        mod in_every_space {
            $(
                #[test]
                fn $name() {
                    let mut failures = Vec::new();
                    super::$name::<2, f32>(&mut $crate::subjects::Trial::new::<2, f32>(&mut failures));
                    super::$name::<3, f32>(&mut $crate::subjects::Trial::new::<3, f32>(&mut failures));
                    super::$name::<2, f64>(&mut $crate::subjects::Trial::new::<2, f64>(&mut failures));
                    super::$name::<3, f64>(&mut $crate::subjects::Trial::new::<3, f64>(&mut failures));
                    $crate::subjects::conclude(&failures);
                }
            )+
        }
    };
}
pub(crate) use in_every_space;

/// How many times as many random cases as usual: `BROADPHASE_CASES`, or 1.
pub fn effort() -> usize {
    std::env::var("BROADPHASE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}
