//! The regions of a structure, what each cost, and which object is in which.

use broadphase::{Aabb, Frame, Outline, Real, Region, pairs_between};
use serde_json::{Value, json};

use crate::quantize::Quantizer;
use crate::runner::Runner;
use crate::wire::RegionRecord;

/// The most regions that are drawn. Of a tree, the largest ones are: its upper levels.
const MOST: usize = 8192;

/// The regions of a frame.
pub struct Regions<const D: usize, T> {
    list: Vec<Region<D, T>>,
    /// How many the structure has.
    total: usize,
    /// What each of the list cost.
    costs: Vec<f64>,
    /// What is counted: tests, or objects where tests are not known by region.
    unit: &'static str,
}

impl<const D: usize, T: Real> Regions<D, T> {
    /// No regions.
    pub fn none() -> Self {
        Self { list: Vec::new(), total: 0, costs: Vec::new(), unit: "tests" }
    }

    /// Those of the structure, with the tests of the last frame.
    pub fn of(runner: &Runner<D, T>, boxes: &[Aabb<D, T>]) -> Self {
        let mut list = Vec::new();
        runner.structure().outline(&Frame::new(boxes), &mut |region| list.push(region));
        let total = list.len();
        thin_out(&mut list);
        let counted = list.iter().all(|region| region.chunk.is_some());
        let tests = |region: &Region<D, T>| region.chunk.map_or(0, |chunk| runner.store().chunk_tests(chunk)) as f64;
        let costs = list.iter().map(tests).collect();
        Self { list, total, costs, unit: if counted { "tests" } else { "objects" } }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Is the cost of a region the number of its objects, which [`places`](Regions::places) counts?
    pub fn counts_objects(&self) -> bool {
        !self.list.is_empty() && self.unit == "objects"
    }

    /// 1 + the smallest region that holds the center of a box, 0 for none.
    pub fn place(&self, value: &Aabb<D, T>) -> u16 {
        let Some(center) = center(value) else { return 0 };
        let holding = self.list.iter().zip(1..).filter(|(region, _)| region.bounds.overlaps(&center));
        let smallest = holding.min_by(|a, b| volume(&a.0.bounds).total_cmp(&volume(&b.0.bounds)));
        smallest.map_or(0, |(_, place)| place)
    }

    /// The same for many boxes. Where tests are not known, the objects are counted here.
    pub fn places(&mut self, boxes: &[Aabb<D, T>], drawn: impl Iterator<Item = usize>) -> Vec<u16> {
        let mut places = Vec::new();
        let (mut centers, mut owners) = (Vec::new(), Vec::new());
        for (position, id) in drawn.enumerate() {
            places.push(0);
            if let Some(at) = center(&boxes[id]) {
                centers.push(at);
                owners.push(position);
            }
        }
        let bounds: Vec<Aabb<D, T>> = self.list.iter().map(|region| region.bounds).collect();
        let volumes: Vec<f64> = bounds.iter().map(volume).collect();
        for pair in pairs_between(&bounds, &centers).unwrap_or_default() {
            let place = &mut places[owners[pair.b as usize]];
            let is_smaller = |other: u16| volumes[pair.a as usize] < volumes[usize::from(other) - 1];
            if *place == 0 || is_smaller(*place) {
                *place = pair.a as u16 + 1;
            }
        }
        if self.unit == "objects" {
            places.iter().filter(|&&place| place > 0).for_each(|&place| self.costs[usize::from(place) - 1] += 1.0);
        }
        places
    }

    /// On the wire.
    pub fn records(&self, quantizer: &Quantizer) -> Vec<RegionRecord> {
        let most = self.costs.iter().fold(0.0, |most: f64, &cost| most.max(cost)).max(1.0);
        let record = |(region, cost): (&Region<D, T>, &f64)| {
            let (min, max) = quantizer.corners(&region.bounds);
            let kind = match region.kind {
                Outline::Object => 0,
                Outline::Cell => 1,
                Outline::Node => 2,
                Outline::Tile => 3,
            };
            RegionRecord { min, cost: (cost / most * 65535.0) as u16, max, kind }
        };
        self.list.iter().zip(&self.costs).map(record).collect()
    }

    /// Where the cost is, in figures.
    pub fn summary(&self) -> Value {
        let Some(first) = self.list.first() else { return Value::Null };
        let mut costs = self.costs.clone();
        costs.sort_unstable_by(|a, b| b.total_cmp(a));
        let sum: f64 = costs.iter().sum();
        let tenth = costs.len().div_ceil(10);
        let top: f64 = costs[..tenth].iter().sum();
        let kind = match first.kind {
            Outline::Object => "box",
            Outline::Cell => "cell",
            Outline::Node => "node",
            Outline::Tile => "tile",
        };
        json!({
            "kind": kind, "total": self.total, "unit": self.unit, "most": costs[0], "sum": sum,
            "tenth": tenth, "share": if sum > 0.0 { top / sum } else { 0.0 },
        })
    }

    /// One region, for the picked object.
    pub fn describe(&self, place: u16) -> Value {
        let Some(index) = usize::from(place).checked_sub(1).filter(|&index| index < self.list.len()) else { return Value::Null };
        let corner = |at: &[T; D]| -> Vec<Value> {
            at.iter().map(|c| c.to_f64()).map(|c| if c.is_finite() { c.into() } else { Value::Null }).collect()
        };
        let bounds = &self.list[index].bounds;
        json!({
            "number": index, "cost": self.costs[index],
            "min": corner(&bounds.min), "max": corner(&bounds.max),
        })
    }
}

/// The center of a box; `None` if it is infinite.
fn center<const D: usize, T: Real>(value: &Aabb<D, T>) -> Option<Aabb<D, T>> {
    let at: [T; D] = std::array::from_fn(|k| value.min[k] * T::HALF + value.max[k] * T::HALF);
    at.iter().all(|c| c.is_finite()).then(|| Aabb::point(at))
}

fn volume<const D: usize, T: Real>(bounds: &Aabb<D, T>) -> f64 {
    let volume: f64 = (0..D).map(|k| bounds.max[k].to_f64() - bounds.min[k].to_f64()).product();
    if volume.is_nan() { 0.0 } else { volume }
}

/// Keeps what can be drawn: of cells every so-many-th, of nodes the largest.
fn thin_out<const D: usize, T: Real>(list: &mut Vec<Region<D, T>>) {
    if list.len() <= MOST {
        return;
    }
    if list.iter().all(|region| region.kind == Outline::Cell) {
        let step = list.len().div_ceil(MOST);
        let mut number = 0;
        list.retain(|_| {
            number += 1;
            number % step == 0
        });
    } else {
        list.sort_by(|a, b| volume(&b.bounds).total_cmp(&volume(&a.bounds)));
        list.truncate(MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowd() -> Vec<Aabb<2, f32>> {
        (0..6000).map(|i| ((i % 80) as f32, (i / 80) as f32)).map(|(x, y)| Aabb::new([x, y], [x + 1.5, y + 1.5])).collect()
    }

    fn regions(algorithm: &str) -> (Regions<2, f32>, Runner<2, f32>) {
        let mut runner = Runner::new(&algorithm.parse().unwrap(), 6000).unwrap();
        runner.step(0, &crowd()).unwrap();
        (Regions::of(&runner, &crowd()), runner)
    }

    #[test]
    fn every_object_is_in_the_tile_that_holds_its_center() {
        let (mut regions, runner) = regions("tiles:target=100");
        let boxes = crowd();
        let places = regions.places(&boxes, 0..boxes.len());
        for (value, place) in boxes.iter().zip(&places) {
            let bounds = regions.list[usize::from(*place) - 1].bounds;
            assert!(bounds.overlaps(&Aabb::point([value.min[0] + 0.75, value.min[1] + 0.75])));
            let alone = regions.list[usize::from(regions.place(value)) - 1].bounds;
            assert_eq!(volume(&alone), volume(&bounds), "one by one as all together");
        }
        assert_eq!(regions.costs.iter().sum::<f64>(), runner.store().tests() as f64);
        assert_eq!(regions.summary()["unit"], "tests");
    }

    #[test]
    fn where_tests_are_not_known_by_region_objects_are_counted() {
        let (mut regions, _) = regions("octree");
        let boxes = crowd();
        let places = regions.places(&boxes, 0..boxes.len());
        assert!(places.iter().all(|&place| place > 0));
        assert_eq!((regions.summary()["unit"].clone(), regions.costs.iter().sum::<f64>()), ("objects".into(), 6000.0));
        let (mut none, _) = self::regions("sweep");
        assert!(none.places(&boxes, 0..9).iter().all(|&place| place == 0) && none.summary().is_null());
    }

    /// The algorithms whose structures are made of regions; the others keep lists.
    const OUTLINED: [&str; 11] = [
        "auto",
        "dbvt-d",
        "dbvt-f",
        "hash-grid",
        "hash-grid-reinsert",
        "kd-tree",
        "kd-tree-complete",
        "kd-tree-incremental",
        "kd-tree-rebuilt",
        "octree",
        "tiles",
    ];

    /// Outline, places, costs and the description of a picked object's region, of one algorithm in one dimension; false if it has no regions.
    fn check_regions<const D: usize>(algorithm: &str, boxes: &[Aabb<D, f32>]) -> bool {
        let mut runner = Runner::new(&algorithm.parse().unwrap(), boxes.len()).unwrap();
        runner.step(0, boxes).unwrap();
        let mut regions = Regions::of(&runner, boxes);
        let places = regions.places(boxes, 0..boxes.len());
        if regions.is_empty() {
            assert!(places.iter().all(|&place| place == 0) && regions.summary().is_null(), "{algorithm}");
            return false;
        }
        let mut inside = vec![0.0; regions.list.len()];
        for (id, (value, &place)) in boxes.iter().zip(&places).enumerate() {
            let center = center(value).unwrap();
            let holding: Vec<usize> = (0..regions.list.len()).filter(|&i| regions.list[i].bounds.overlaps(&center)).collect();
            let least = holding.iter().map(|&i| volume(&regions.list[i].bounds)).fold(f64::INFINITY, f64::min);
            let Some(index) = usize::from(place).checked_sub(1) else {
                assert!(holding.is_empty(), "{algorithm}: object {id} is in a region");
                continue;
            };
            inside[index] += 1.0;
            assert!(holding.contains(&index) && volume(&regions.list[index].bounds) == least, "{algorithm}: object {id}");
            let alone = usize::from(regions.place(value)) - 1;
            assert_eq!(volume(&regions.list[alone].bounds), least, "{algorithm}: object {id}, one by one as all together");
            let told = regions.describe(place);
            assert_eq!(
                (told["number"].as_u64(), told["cost"].as_f64()),
                (Some(index as u64), Some(regions.costs[index])),
                "{algorithm}"
            );
        }
        let summary = regions.summary();
        let expected = if summary["unit"] == "tests" { runner.store().tests() as f64 } else { inside.iter().sum() };
        assert_eq!(summary["sum"], expected, "{algorithm}: the costs of the regions are what the frame cost");
        assert!(summary["unit"] == "tests" || regions.costs == inside, "{algorithm}: objects are counted where they are");
        assert!(summary["most"].as_f64().unwrap() > 0.0 && summary["total"].as_u64().unwrap() as usize >= regions.list.len());
        true
    }

    #[test]
    fn the_regions_of_every_algorithm_hold_its_objects_and_sum_up_to_its_cost() {
        let flat: Vec<Aabb<2, f32>> = crowd();
        let solid: Vec<Aabb<3, f32>> = (0..4096)
            .map(|i| [i % 16, i / 16 % 16, i / 256].map(|c| c as f32))
            .map(|at| Aabb::new(at, at.map(|c| c + if at[0] == 3.0 { 4.5 } else { 1.25 })))
            .collect();
        let mut outlined = Vec::new();
        for descriptor in broadphase::algorithms::list() {
            if !descriptor.shapes.contains(&broadphase::Shape::Box) {
                continue;
            }
            let (in_plane, in_space) = (check_regions(descriptor.name, &flat), check_regions(descriptor.name, &solid));
            assert_eq!(in_plane, in_space, "{}", descriptor.name);
            if in_plane {
                outlined.push(descriptor.name);
            }
        }
        outlined.sort_unstable();
        assert_eq!(outlined, OUTLINED);
    }

    #[test]
    fn a_tree_of_many_nodes_is_cut_to_its_largest() {
        let mut list: Vec<Region<2, f32>> =
            (0..20_000).map(|i| Region::new(Outline::Node, Aabb::new([0.0; 2], [i as f32; 2]))).collect();
        thin_out(&mut list);
        assert!(list.len() == MOST && list.iter().all(|region| region.bounds.max[0] > 11_000.0));
    }
}
