//! Queries of the structure that is drawn: rays, boxes and nearest objects.

use std::ops::ControlFlow;
use std::time::Instant;

use broadphase::geometry::{Measure, Nearest};
use broadphase::{Aabb, Found, Frame, Query as Reader, Ray, Real};
use serde_json::{Value, json};

use crate::commands::Query;
use crate::runner::Runner;

/// The most answers that are listed by name; all are drawn.
const LISTED: usize = 50;

/// The answers to a query.
pub struct Answers {
    /// The objects.
    pub ids: Vec<u32>,
    /// For the page: how many, how long it took, the first ones.
    pub json: Value,
}

/// Every object in turn, for structures without queries of their own.
struct Scan;

impl<const D: usize, T: Real> Reader<D, T> for Scan {
    fn search(&self, frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, mut limit: T, visit: Found<'_, T>) {
        for id in frame.ids() {
            let target = &frame.boxes[id as usize];
            let at = measure.bound(target).filter(|&bound| bound <= limit).and_then(|bound| measure.distance(target, bound));
            if let Some(at) = at.filter(|&at| at <= limit) {
                match visit(id, at) {
                    ControlFlow::Continue(next) => limit = next,
                    ControlFlow::Break(()) => return,
                }
            }
        }
    }
}

/// Runs a query on the structure, or on each object in turn if it has no queries.
pub fn ask<const D: usize, T: Real>(query: &Query, runner: &Runner<D, T>, boxes: &[Aabb<D, T>]) -> Answers {
    let (frame, reader) = (Frame::new(boxes), runner.structure().reader());
    let asked = reader.map_or("scan", |_| runner.name()).to_string();
    let start = Instant::now();
    let found = answers(query, reader.unwrap_or(&Scan), &frame);
    let micros = start.elapsed().as_secs_f64() * 1e6;
    let (kind, mut found) = match found {
        Ok(found) => found,
        Err(text) => return Answers { ids: Vec::new(), json: json!({ "fault": text }) },
    };
    found.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal).then(a.0.cmp(&b.0)));
    let listed: Vec<Value> = found.iter().take(LISTED).map(|(id, at)| json!([id, at.to_f64()])).collect();
    let json = json!({ "kind": kind, "count": found.len(), "micros": micros, "asked": asked, "listed": listed });
    Answers { ids: found.into_iter().map(|(id, _)| id).collect(), json }
}

/// Objects with their distances.
type Hits<T> = Vec<(u32, T)>;

fn answers<const D: usize, T: Real>(
    query: &Query,
    reader: &dyn Reader<D, T>,
    frame: &Frame<'_, D, T>,
) -> Result<(&'static str, Hits<T>), &'static str> {
    let place = |at: &[f64; 3]| -> [T; D] { std::array::from_fn(|k| T::from_f64(at[k])) };
    let mut hits = Vec::new();
    match query {
        Query::Ray { origin, direction } => {
            let ray = Ray::new(place(origin), place(direction), T::MAX);
            if !ray.is_valid() {
                return Err("the ray has no direction");
            }
            reader.along_ray(frame, &ray, &mut |id, at| {
                hits.push((id, at));
                ControlFlow::Continue(T::MAX)
            });
            Ok(("ray", hits))
        }
        Query::Box { min, max } => {
            let area = Aabb::new(place(min), place(max));
            if !area.is_valid() {
                return Err("the box has a lower corner above its upper one");
            }
            reader.in_box(frame, &area, &mut |id| {
                hits.push((id, T::ZERO));
                ControlFlow::Continue(())
            });
            Ok(("box", hits))
        }
        Query::Nearest { point, k } => {
            reader.search(frame, &Nearest(place(point)), T::INFINITY, &mut |id, at| {
                let position = hits.partition_point(|&(other, least)| least < at || (least == at && other < id));
                if position < *k {
                    hits.truncate(k - 1);
                    hits.insert(position, (id, at));
                }
                ControlFlow::Continue(if hits.len() < *k { T::INFINITY } else { hits[k - 1].1 })
            });
            hits.iter_mut().for_each(|(_, at)| *at = at.sqrt());
            Ok(("nearest", hits))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Vec<Aabb<3, f64>> {
        (0..100).map(|i| 2.0 * f64::from(i)).map(|x| Aabb::new([x, 0.0, 0.0], [x + 1.0, 1.0, 1.0])).collect()
    }

    #[test]
    fn every_algorithm_gives_the_answers_of_a_scan() {
        let boxes = row();
        let queries = [
            (Query::Ray { origin: [-5.0, 0.5, 0.5], direction: [1.0, 0.0, 0.0] }, 100),
            (Query::Box { min: [10.0, 0.0, 0.0], max: [20.0, 9.0, 9.0] }, 6),
            (Query::Nearest { point: [50.2, 4.0, 0.5], k: 8 }, 8),
        ];
        for name in ["auto", "tiles", "kd-tree", "hash-grid", "octree", "sweep", "grid-sap", "sweep-3axis", "dbvt-f"] {
            let mut runner = Runner::new(&name.parse().unwrap(), 100).unwrap();
            runner.step(0, &boxes).unwrap();
            for (query, count) in &queries {
                let found = ask(query, &runner, &boxes);
                assert_eq!(found.ids.len(), *count, "{name}: {query:?}");
                let (_, mut scanned) = answers(query, &Scan, &Frame::new(&boxes)).unwrap();
                scanned.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
                assert_eq!(found.ids, scanned.iter().map(|hit| hit.0).collect::<Vec<_>>(), "{name}: {query:?}");
            }
        }
    }

    #[test]
    fn a_query_that_makes_no_sense_says_so() {
        let mut runner = Runner::new(&"tiles".parse().unwrap(), 100).unwrap();
        runner.step(0, &row()).unwrap();
        let nowhere = ask(&Query::Ray { origin: [0.0; 3], direction: [0.0; 3] }, &runner, &row());
        assert_eq!(nowhere.json["fault"], "the ray has no direction");
        let inverted = ask(&Query::Box { min: [1.0; 3], max: [0.0; 3] }, &runner, &row());
        assert!(inverted.ids.is_empty() && inverted.json["fault"].is_string());
    }
}
