//! What a tab draws of a frame: boxes, pairs, regions, the picked object, the answers of a query.

use broadphase::{Aabb, Pair, Real};
use serde_json::{Map, Value, json};

use crate::commands::View;
use crate::quantize::{Quantizer, Window, is_logarithmic, level};
use crate::queries;
use crate::regions::Regions;
use crate::runner::Runner;
use crate::wire::{HIT, Message, NEIGHBOR, PICKED, Record};

/// The most pairs that are drawn, and as many started ones.
const MOST_PAIRS: usize = 150_000;

/// The most neighbors of the picked object that are listed by name; all are drawn.
const LISTED: usize = 50;

/// The ranges of the colors. They only grow, so that colors keep their meaning from frame to frame.
#[derive(Clone, Copy, Debug)]
pub struct Legend {
    size: [f64; 2],
    speed: [f64; 2],
    pairs: [f64; 2],
}

impl Default for Legend {
    fn default() -> Self {
        Self { size: [f64::INFINITY, 0.0], speed: [0.0, 0.0], pairs: [0.0, 1.0] }
    }
}

impl Legend {
    fn json(&self) -> Value {
        let range = |range: [f64; 2]| json!({ "range": range, "log": is_logarithmic(range) });
        json!({ "size": range(self.size), "speed": range(self.speed), "pairs": range(self.pairs) })
    }
}

/// A frame and all that is known about it.
pub struct Picture<'a, const D: usize, T: Real> {
    /// The boxes.
    pub boxes: &'a [Aabb<D, T>],
    /// Those of the frame before, if it was shown.
    pub before: Option<&'a [Aabb<D, T>]>,
    /// The algorithm that is drawn.
    pub runner: &'a Runner<D, T>,
    /// The world.
    pub stage: Window,
    /// What the tab wants to see.
    pub view: &'a View,
}

/// How far a box moved: the distance of its center, 0 where it is infinite.
fn moved<const D: usize, T: Real>(now: &Aabb<D, T>, before: &Aabb<D, T>) -> f64 {
    let along =
        |k: usize| 0.5 * ((now.min[k].to_f64() - before.min[k].to_f64()) + (now.max[k].to_f64() - before.max[k].to_f64()));
    let distance = (0..D).map(|k| along(k).powi(2)).sum::<f64>().sqrt();
    if distance.is_finite() { distance } else { 0.0 }
}

/// The longest finite edge.
fn size<const D: usize, T: Real>(value: &Aabb<D, T>) -> f64 {
    (0..D).map(|k| value.max[k].to_f64() - value.min[k].to_f64()).filter(|edge| edge.is_finite()).fold(0.0, f64::max)
}

/// A fixed number for each id, evenly spread: which objects are left out does not change from frame to frame.
fn spread(id: u32) -> u32 {
    id.wrapping_mul(2_654_435_761)
}

impl<const D: usize, T: Real> Picture<'_, D, T> {
    /// The message of the frame.
    pub fn compose(&self, legend: &mut Legend) -> Message {
        let (view, n) = (self.view, self.boxes.len());
        let pick = view.pick.filter(|&id| (id as usize) < n);
        let counts = self.pair_counts();
        let neighbors = pick.map(|id| self.neighbors(id)).unwrap_or_default();
        let answers = view.query.as_ref().map(|query| queries::ask(query, self.runner, self.boxes));

        let mut flags = Flags::default();
        flags.set(pick.iter(), PICKED);
        flags.set(neighbors.iter(), NEIGHBOR);
        flags.set(answers.iter().flat_map(|answers| &answers.ids), HIT);

        let window = self.window();
        let (drawn, reached) = self.select(&window, &flags);
        let quantizer = Quantizer::new(&window);
        let is_all = drawn.len() == n;
        let id_at = |position: usize| if is_all { position as u32 } else { drawn[position] };
        let positions = (0..drawn.len()).map(|position| id_at(position) as usize);

        self.widen(legend, positions.clone(), &counts);
        let records = positions.clone().map(|id| self.record(id, &quantizer, legend, counts[id], flags.of(id as u32))).collect();

        let mut regions = if view.regions { Regions::of(self.runner, self.boxes) } else { Regions::none() };
        let places = (view.places || regions.counts_objects()).then(|| regions.places(self.boxes, positions));
        let places = places.filter(|_| view.places && !regions.is_empty());

        let mut head = Map::new();
        self.describe(&mut head, &window, reached);
        head.insert("legend".to_string(), legend.json());
        head.insert("cost".to_string(), regions.summary());
        let picked = pick.map(|id| {
            self.describe_pick(id, &neighbors, counts[id as usize], regions.describe(regions.place(&self.boxes[id as usize])))
        });
        head.insert("pick".to_string(), picked.into());
        head.insert("query".to_string(), answers.map(|answers| answers.json).into());

        let index = (!is_all).then(|| Index::of(&drawn, n));
        let (started, pairs) = if view.pairs { self.pairs(index.as_ref()) } else { Default::default() };
        let ids = (!is_all).then_some(drawn);
        Message { head, records, regions: regions.records(&quantizer), started, pairs, ids, places }
    }

    /// Everything, or what the tab looks at.
    fn window(&self) -> Window {
        let Some((min, max)) = self.view.focus else { return self.stage };
        let window = Window {
            min: std::array::from_fn(|k| min[k].max(self.stage.min[k])),
            max: std::array::from_fn(|k| max[k].min(self.stage.max[k])),
        };
        if (0..D).all(|k| window.min[k] < window.max[k]) { window } else { self.stage }
    }

    /// The objects that are drawn, and how many reach into the window.
    fn select(&self, window: &Window, flags: &Flags) -> (Vec<u32>, usize) {
        let all = 0..self.boxes.len() as u32;
        let mut reaching: Vec<u32> = if *window == self.stage {
            all.collect()
        } else {
            all.filter(|&id| window.reaches(&self.boxes[id as usize])).collect()
        };
        let (reached, budget) = (reaching.len(), self.view.budget);
        if reached > budget {
            let limit = (budget as f64 / reached as f64 * f64::from(u32::MAX)) as u32;
            reaching.retain(|&id| spread(id) <= limit || flags.of(id) != 0);
        }
        (reaching, reached)
    }

    fn record(&self, id: usize, quantizer: &Quantizer, legend: &Legend, pairs: u32, flags: u8) -> Record {
        let value = &self.boxes[id];
        let (min, max) = quantizer.corners(value);
        let speed = self.before.map_or(0.0, |before| moved(value, &before[id]));
        Record {
            min,
            max,
            size: level(size(value), legend.size, 255.0) as u8,
            speed: level(speed, legend.speed, 255.0) as u8,
            pairs: level(f64::from(pairs), legend.pairs, 255.0) as u8,
            flags,
        }
    }

    /// Grows the ranges of the colors to what this frame has.
    fn widen(&self, legend: &mut Legend, ids: impl Iterator<Item = usize>, counts: &[u32]) {
        for id in ids {
            let edge = size(&self.boxes[id]);
            legend.size = [legend.size[0].min(edge), legend.size[1].max(edge)];
            legend.pairs[1] = legend.pairs[1].max(f64::from(counts[id]));
            if let Some(before) = self.before {
                legend.speed[1] = legend.speed[1].max(moved(&self.boxes[id], &before[id]));
            }
        }
        legend.size[0] = legend.size[0].min(legend.size[1]);
    }

    /// In how many pairs each object is.
    fn pair_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.boxes.len()];
        self.runner.store().for_each_chunk(|pairs| {
            for pair in pairs {
                counts[pair.a as usize] += 1;
                counts[pair.b as usize] += 1;
            }
        });
        counts
    }

    fn neighbors(&self, id: u32) -> Vec<u32> {
        let mut neighbors = Vec::new();
        let other = |pair: &Pair| if pair.a == id { Some(pair.b) } else { (pair.b == id).then_some(pair.a) };
        self.runner.store().for_each_chunk(|pairs| neighbors.extend(pairs.iter().filter_map(other)));
        neighbors.sort_unstable();
        neighbors
    }

    /// Started pairs, and all pairs or every so-many-th, as positions among the drawn boxes.
    fn pairs(&self, index: Option<&Index>) -> (Vec<[u32; 2]>, Vec<[u32; 2]>) {
        let store = self.runner.store();
        let place = |pair: &Pair| match index {
            None => Some([pair.a, pair.b]),
            Some(index) => Some([index.position(pair.a)?, index.position(pair.b)?]),
        };
        let thin = |count: usize| count.div_ceil(MOST_PAIRS).max(1);
        let started = store.started();
        let started: Vec<_> = started.iter().step_by(thin(started.len())).filter_map(place).collect();
        let (step, mut number, mut list) = (thin(store.len() as usize), 0, Vec::new());
        store.for_each_chunk(|pairs| {
            for pair in pairs {
                number += 1;
                if number % step == 0 {
                    list.extend(place(pair));
                }
            }
        });
        (started, list)
    }

    fn describe(&self, head: &mut Map<String, Value>, window: &Window, reached: usize) {
        let store = self.runner.store();
        let resting = self.before.map(|before| before.iter().zip(self.boxes).filter(|(a, b)| a == b).count());
        let moving = resting.map(|count| 1.0 - count as f64 / self.boxes.len().max(1) as f64);
        let facts = json!({
            "n": self.boxes.len(), "dim": D, "pairs": store.len(), "fresh": store.started().len(), "ended": store.ended().len(),
            "moving": moving, "reached": reached, "origin": window.min, "step": window.step(),
            "stage": [self.stage.min, self.stage.max],
        });
        if let Value::Object(facts) = facts {
            head.extend(facts);
        }
    }

    fn describe_pick(&self, id: u32, neighbors: &[u32], pairs: u32, region: Value) -> Value {
        let value = &self.boxes[id as usize];
        let corner = |at: &[T; D]| -> Vec<Value> {
            at.iter().map(|c| c.to_f64()).map(|c| if c.is_finite() { c.into() } else { c.to_string().into() }).collect()
        };
        json!({
            "id": id, "min": corner(&value.min), "max": corner(&value.max), "pairs": pairs,
            "speed": self.before.map(|before| moved(value, &before[id as usize])),
            "neighbors": neighbors.iter().take(LISTED).collect::<Vec<_>>(), "region": region,
        })
    }
}

/// Marks of a few objects.
#[derive(Default)]
struct Flags(std::collections::HashMap<u32, u8>);

impl Flags {
    fn set<'a>(&mut self, ids: impl Iterator<Item = &'a u32>, flag: u8) {
        ids.for_each(|&id| *self.0.entry(id).or_default() |= flag);
    }

    fn of(&self, id: u32) -> u8 {
        if self.0.is_empty() { 0 } else { self.0.get(&id).copied().unwrap_or(0) }
    }
}

/// Where each object is among the drawn ones.
struct Index(Vec<u32>);

impl Index {
    fn of(drawn: &[u32], n: usize) -> Self {
        let mut index = vec![u32::MAX; n];
        drawn.iter().zip(0..).for_each(|(&id, position)| index[id as usize] = position);
        Self(index)
    }

    fn position(&self, id: u32) -> Option<u32> {
        Some(self.0[id as usize]).filter(|&position| position != u32::MAX)
    }
}
