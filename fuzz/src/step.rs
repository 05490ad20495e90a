//! `step`: every listed algorithm on a table of slots that changes, with changes listed, unknown, wrong and false.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use broadphase::{
    Aabb, BroadPhase, Changes, Context, Frame, Isa, Kernels, Live, Pair, PairStore, Real, Report, Shape, Spec, Strength, Tag,
    algorithms, step,
};
use broadphase_testing::Random;
use broadphase_testing::executors::{Racing, Serialized};
use broadphase_testing::naive;

use crate::nasty::Coordinates;
use crate::{Bytes, Counts};

/// Options that bring small inputs onto paths that otherwise need thousands of objects.
const EXTRA: &[&str] = &[
    "tiles:target=32",
    "tiles:target=32:coherence=false",
    "tiles:target=16",
    "kd-tree:t=8",
    "kd-tree-rebuilt:t=4",
    "kd-tree-incremental:t=64",
    "hash-grid:threshold=0:patience=0",
    "hash-grid-reinsert:threshold=0",
    "sweep:partitions=5:path=parallel",
    "sweep:partitions=3:active=tree:axes=yx",
    "octree:split=4:depth=10",
    "level-grid:levels=2:ratio=1",
    "particle-grid:grid=hashed:hash=modular",
];

/// Every listed algorithm, and some with options.
pub(crate) fn specs() -> &'static [Spec] {
    static SPECS: OnceLock<Vec<Spec>> = OnceLock::new();
    SPECS.get_or_init(|| {
        let names = algorithms::list().iter().map(|descriptor| descriptor.name);
        names.chain(EXTRA.iter().copied()).filter_map(|text| text.parse().ok()).collect()
    })
}

/// One of several contexts: more workers, other orders, real threads, another instruction set.
pub(crate) fn context(bytes: &mut Bytes) -> Context {
    let context = match bytes.below(32) {
        0..16 => Context::new(),
        16..22 => Context::new().with_executor(Serialized::shuffled(3, u64::from(bytes.byte()))),
        22..30 => Context::new().with_executor(Serialized::reversed(2)),
        _ => Context::new().with_executor(Racing(2)),
    };
    let sets: Vec<Isa> = Isa::available().collect();
    match Kernels::new(*bytes.pick(&sets)).filter(|_| bytes.one_in(2)) {
        Some(kernels) => context.with_kernels(kernels),
        None => context,
    }
}

/// Runs an input.
pub fn run(data: &[u8]) -> Counts {
    let mut bytes = Bytes::new(data);
    match bytes.below(4) {
        0 => Run::<2, f32>::new(&mut bytes).drive(&mut bytes),
        1 => Run::<3, f32>::new(&mut bytes).drive(&mut bytes),
        2 => Run::<2, f64>::new(&mut bytes).drive(&mut bytes),
        _ => Run::<3, f64>::new(&mut bytes).drive(&mut bytes),
    }
}

/// A structure with its store.
struct Subject<const D: usize, T: Real> {
    structure: Box<dyn BroadPhase<D, T>>,
    context: Context,
    store: PairStore,
}

/// A table of slots, the structure that follows it, and perhaps a second one that must give the same lists under another context.
struct Run<const D: usize, T: Real> {
    spec: &'static Spec,
    shape: Shape,
    coordinates: Coordinates,
    boxes: Vec<Aabb<D, T>>,
    live: Vec<bool>,
    tags: Option<Vec<Tag>>,
    /// Which slots were live in the last successful frame, and which have changed since.
    was: Vec<bool>,
    touched: BTreeSet<u32>,
    subjects: Vec<Subject<D, T>>,
    /// The pairs of the stores' last frame.
    last: Vec<Pair>,
    counts: Counts,
}

/// The most slots of a run.
const MOST: usize = 400;

impl<const D: usize, T: Real> Run<D, T> {
    fn new(bytes: &mut Bytes) -> Self {
        let spec = bytes.pick(specs());
        let shapes = spec.descriptor().shapes;
        let shape = *bytes.pick(shapes);
        let coordinates = Coordinates::draw(bytes);
        let tags = bytes.one_in(4).then(Vec::new);
        let mut subjects = vec![Self::subject(spec, context(bytes))];
        if bytes.one_in(3) {
            subjects.push(Self::subject(spec, context(bytes)));
        }
        let mut counts = Counts::default();
        counts.meet(&spec.to_string());
        counts.meet(&format!("{D}D {}", T::NAME));
        let (boxes, live, was) = (Vec::new(), Vec::new(), Vec::new());
        Self { spec, shape, coordinates, boxes, live, tags, was, touched: BTreeSet::new(), subjects, last: Vec::new(), counts }
    }

    fn subject(spec: &Spec, context: Context) -> Subject<D, T> {
        let structure = spec.build().unwrap_or_else(|error| panic!("{spec}: {error}"));
        Subject { structure, context, store: PairStore::new(Report::Both) }
    }

    fn drive(mut self, bytes: &mut Bytes) -> Counts {
        let mut left = 200;
        while !bytes.is_empty() && left > 0 {
            left -= 1;
            match bytes.below(16) {
                0..5 => self.set_some(bytes),
                5 => self.fill(bytes),
                6 | 7 => self.remove_some(bytes),
                8 => self.resize(bytes),
                9 => self.set_tags(bytes),
                10 => self.fail(bytes),
                11 => self.lie(bytes),
                tell => self.step(tell % 3),
            }
        }
        self.step(0);
        self.step(1);
        self.counts
    }

    fn set(&mut self, id: usize, value: Aabb<D, T>) {
        // What works on equal balls only gets cubes of one size, on a lattice that no rounding disturbs.
        let equal = !self.spec.descriptor().shapes.contains(&Shape::Box);
        let cube = |corner: [T; D]| {
            let min = corner.map(|c| (c.to_f64().clamp(-1e6, 1e6) * 4.0).round() / 4.0);
            Aabb::new(min.map(T::from_f64), min.map(|c| T::from_f64(c + 2.0)))
        };
        self.boxes[id] = if equal { cube(value.min) } else { value };
        self.live[id] = true;
        self.touched.insert(id as u32);
        self.counts.operations += 1;
    }

    fn set_some(&mut self, bytes: &mut Bytes) {
        for _ in 0..1 + bytes.below(12) {
            let id = bytes.below(self.boxes.len().clamp(1, 40));
            if id >= self.boxes.len() {
                self.grow_to(id + 1 + bytes.below(8));
            }
            let value = self.coordinates.aabb(bytes, &self.boxes);
            self.set(id, value);
        }
        self.counts.meet("set");
    }

    /// Many boxes from a few bytes: around a place, in a cloud that is as large as they are many.
    fn fill(&mut self, bytes: &mut Bytes) {
        let (count, mut random) = (bytes.below(MOST), Random(u64::from(bytes.word())));
        self.grow_to(count);
        let (at, world) =
            (T::from_f64(f64::from(bytes.byte())), (count as f64).powf(1.0 / D as f64) * f64::from(1 + bytes.byte() % 4));
        let snap = bytes.one_in(2);
        for id in 0..count {
            let size = [0.5, 1.0, 1.5, 4.0][random.below(4) as usize];
            let mut value: Aabb<D, T> = random.cube(world, size);
            if snap {
                value = Aabb::new(value.min.map(T::floor), value.max.map(T::floor));
            }
            self.set(id, value.translate([at; D]));
        }
        self.counts.meet("fill");
    }

    fn remove_some(&mut self, bytes: &mut Bytes) {
        for _ in 0..1 + bytes.below(6) {
            let id = bytes.below(self.boxes.len().max(1));
            if self.live.get(id) == Some(&true) {
                self.vacate(id, bytes.one_in(2));
            }
        }
        self.counts.meet("remove");
    }

    /// What an empty slot holds must not matter.
    fn vacate(&mut self, id: usize, nan: bool) {
        self.boxes[id] = if nan { Aabb::point([T::NAN; D]) } else { Aabb::everything() };
        self.live[id] = false;
        self.touched.insert(id as u32);
        self.counts.operations += 1;
    }

    fn grow_to(&mut self, slots: usize) {
        let slots = slots.max(self.boxes.len());
        self.boxes.resize(slots, Aabb::everything());
        self.live.resize(slots, false);
        if let Some(tags) = &mut self.tags {
            tags.resize(slots, Tag::default());
        }
    }

    fn resize(&mut self, bytes: &mut Bytes) {
        let slots = bytes.below(80);
        (slots..self.boxes.len()).for_each(|id| self.vacate(id, false));
        self.boxes.truncate(slots);
        self.live.truncate(slots);
        self.grow_to(slots);
        self.counts.meet("resize");
    }

    fn set_tags(&mut self, bytes: &mut Bytes) {
        if self.boxes.is_empty() || self.tags.is_none() {
            return;
        }
        for _ in 0..1 + bytes.below(6) {
            let id = bytes.below(self.boxes.len());
            let code = bytes.byte();
            let tag = match code % 4 {
                0 => Tag::default(),
                1 => Tag::new(1 << (code >> 6), u32::from(code >> 4)),
                2 => Tag::default().with_group(u32::from(code >> 6)),
                _ => Tag::default().with_env(u32::from(code >> 6)),
            };
            self.tags.iter_mut().for_each(|tags| tags[id] = tag);
            self.touched.insert(id as u32);
            self.counts.operations += 1;
        }
        self.counts.meet("tags");
    }

    /// The slots that stayed live, became live, and ceased to be live.
    fn changes(&self) -> [Vec<u32>; 3] {
        let holds = |list: &[bool], id: u32| list.get(id as usize).copied().unwrap_or(false);
        let of = |was: bool, is: bool| {
            let fits = |id: &u32| (holds(&self.was, *id), holds(&self.live, *id)) == (was, is);
            self.touched.iter().copied().filter(fits).collect()
        };
        [of(true, true), of(false, true), of(true, false)]
    }

    fn bits(&self) -> Vec<u64> {
        let mut bits = vec![0; self.live.len().div_ceil(64)];
        (0..self.live.len()).filter(|&id| self.live[id]).for_each(|id| bits[id / 64] |= 1 << (id % 64));
        bits
    }

    fn frame<'a>(&'a self, bits: &'a [u64], changes: Changes<'a>) -> Frame<'a, D, T> {
        let live = if self.live.iter().all(|&live| live) { Live::All } else { Live::Bits(bits) };
        Frame { live, tags: self.tags.as_deref(), shape: self.shape, ..Frame::new(&self.boxes).with_changes(changes) }
    }

    /// A frame with true changes: 0 all, 1 unknown, 2 listed. Checks pairs, events, invariants, and the order of the twin's list.
    fn step(&mut self, tell: usize) {
        let ([moved, inserted, removed], bits) = (self.changes(), self.bits());
        let changes = match tell {
            0 => Changes::All,
            1 => Changes::Unknown,
            _ => Changes::Listed { moved: &moved, inserted: &inserted, removed: &removed },
        };
        let mut subjects = std::mem::take(&mut self.subjects);
        let frame = self.frame(&bits, changes);
        let expected = naive::pairs(&frame);
        for Subject { structure, context, store } in &mut subjects {
            let what = format!("{} in {D}D {}, {} slots", self.spec, T::NAME, frame.slots());
            step(&mut **structure, &frame, context, store).unwrap_or_else(|error| panic!("{what}: {error}"));
            structure.validate(&frame, Strength::Geometry).unwrap_or_else(|error| panic!("{what}: {error}"));
            naive::assert_holds(store, &expected, &what);
            naive::assert_events(store, &self.last, &expected, &what);
        }
        let lists: Vec<Vec<Pair>> = subjects.iter().map(|subject| subject.store.to_vec()).collect();
        assert!(lists.windows(2).all(|two| two[0] == two[1]), "{}: the order of pairs depends on the context", self.spec);
        self.subjects = subjects;
        self.counts.operation(["step all", "step unknown", "step listed"][tell]);
        self.counts.compared += expected.len() as u64 * self.subjects.len() as u64;
        self.last = expected;
        self.was.clone_from(&self.live);
        self.touched.clear();
    }

    /// A frame with a fault that can be noticed: an error, and nothing has changed.
    fn fail(&mut self, bytes: &mut Bytes) {
        let Some(id) = self.live.iter().position(|&live| live) else { return };
        let (bits, before) = (self.bits(), self.boxes[id]);
        let (outside, this) = ([self.boxes.len() as u32 + u32::from(bytes.byte())], [id as u32]);
        let ([moved, inserted, removed], code) = (self.changes(), bytes.below(5));
        let changes = match code {
            0 => Changes::Listed { moved: &outside, inserted: &[], removed: &[] },
            1 => Changes::Listed { moved: &moved, inserted: &inserted, removed: &this },
            2 => Changes::All,
            3 => Changes::Unknown,
            _ => Changes::Listed { moved: &this, inserted: &inserted, removed: &removed },
        };
        if code >= 2 {
            self.boxes[id] = self.coordinates.invalid(bytes);
        }
        let mut subjects = std::mem::take(&mut self.subjects);
        let frame = self.frame(&bits, changes);
        for Subject { structure, context, store } in &mut subjects {
            let error = step(&mut **structure, &frame, context, store).expect_err("a fault that can be noticed");
            let expected = if code < 2 { "invalid-frame" } else { "invalid-box" };
            assert_eq!(error.code(), expected, "{}: {error}", self.spec);
        }
        self.subjects = subjects;
        self.boxes[id] = before;
        self.counts.operation(if code < 2 { "a wrong list" } else { "an invalid box" });
    }

    /// A list that names more than what changed, which is allowed; or one that is false and cannot be noticed: then nothing panics. What
    /// the structure holds afterwards is not specified, so a fresh one goes on.
    fn lie(&mut self, bytes: &mut Bytes) {
        let ([mut moved, inserted, mut removed], bits) = (self.changes(), self.bits());
        let code = bytes.below(4);
        let ours = ["auto", "tiles", "brute-force"].contains(&self.spec.descriptor().name);
        if code == 0 || !ours {
            let still =
                |id: &u32| self.live[*id as usize] && self.was.get(*id as usize) == Some(&true) && !self.touched.contains(id);
            let more: Vec<u32> = (0..self.live.len() as u32).filter(still).step_by(3).collect();
            self.touched.extend(more);
            self.counts.meet("too long a list");
            return self.step(2);
        }
        match code {
            1 => moved.clear(),
            2 => removed.clear(),
            _ => moved.extend_from_within(..),
        }
        let mut subjects = std::mem::take(&mut self.subjects);
        let changes = Changes::Listed { moved: &moved, inserted: &inserted, removed: &removed };
        let frame = self.frame(&bits, changes);
        for Subject { structure, context, store } in &mut subjects {
            _ = step(&mut **structure, &frame, context, store);
            *structure = self.spec.build().expect("it was built before");
            *store = PairStore::new(Report::Both);
        }
        self.subjects = subjects;
        self.was.clear();
        self.last.clear();
        self.counts.operation("a false list");
        self.step(0);
    }
}
