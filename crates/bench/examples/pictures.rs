//! The pictures of the README, drawn from the recorded runs in `benchmarks`: how fast over scenes, and over numbers of objects.
//!
//! Without arguments it checks that the committed pictures are those of the record; `benchmarks/pictures` writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use broadphase_bench::charts::{self, Entry, LineChart, RadarChart, Scale, Series};
use serde_json::Value;

/// The fewest scenes of a radar chart, and the fewest numbers of objects of a curve.
const FEWEST: usize = 3;

/// One row of a record.
struct Row {
    scene: String,
    n: u64,
    name: String,
    peer: bool,
    /// CPU time of a frame where one thread works, else wall time.
    ms: f64,
    machine: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks");
    let write = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--write") => true,
        Some(other) => return Err(format!("pictures: unknown argument '{other}'; the only one is --write").into()),
    };
    let rows = read(&folder)?;
    let (Some((n, scenes)), Some(scene)) = (common(&rows), longest(&rows)) else {
        return Err("pictures: the records have too few scenes or numbers of objects; run benchmarks/record".into());
    };
    // The same names in both, so that each has one color.
    let names = chosen(rows.iter().filter(|row| row.n == n || row.scene == scene), FEWEST);
    let (radar, scaling) = (radar(&rows, (n, &scenes), &names), scaling(&rows, scene, &names));
    for (name, svg) in [("radar.svg", radar.svg()), ("scaling.svg", scaling.svg())] {
        let path = folder.join(name);
        if write {
            fs::write(&path, svg)?;
        } else if fs::read_to_string(&path).unwrap_or_default() != svg {
            return Err(format!("pictures: benchmarks/{name} is not that of the record; run benchmarks/pictures").into());
        }
    }
    Ok(())
}

/// The rows of all records that are right and driven by `step` on one thread, in the order of the files' names.
fn read(folder: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    let mut rows = Vec::new();
    for path in paths {
        let record: Value =
            serde_json::from_str(&fs::read_to_string(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
        let machine = machine(&record["machine"]);
        let right = |row: &&Value| row["wrong"].is_null() && row["threads"] == 1;
        let by_step = |row: &&Value| row["drive"].is_null() || row["drive"] == "step";
        let found = record["rows"].as_array().into_iter().flatten().filter(right).filter(by_step);
        rows.extend(found.filter_map(|row| {
            Some(Row {
                scene: row["scene"].as_str()?.to_string(),
                n: row["n"].as_u64()?,
                name: row["algorithm"].as_str()?.to_string(),
                peer: row["peer"].as_bool()?,
                ms: row["cpu_ms_median"].as_f64().or_else(|| row["ms_median"].as_f64())?,
                machine: machine.clone(),
            })
        }));
    }
    // A row that two groups measured is that of the first.
    let mut seen = BTreeSet::new();
    rows.retain(|row: &Row| seen.insert((row.scene.clone(), row.n, row.name.clone())));
    Ok(rows)
}

/// The machine in a few words.
fn machine(machine: &Value) -> String {
    let best = machine["isa"].as_array().and_then(|sets| sets.last()).and_then(Value::as_str);
    format!("{} ({})", machine["cpu"].as_str().unwrap_or("unknown CPU"), best.unwrap_or("unknown instruction set"))
}

/// The machines that rows come from: one, or all of them.
fn machines<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let mut names: Vec<&str> = rows.map(|row| row.machine.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

/// The largest number of objects that (nearly) most scenes were recorded with, and these scenes.
fn common(rows: &[Row]) -> Option<(u64, Vec<&str>)> {
    let mut scenes: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for row in rows {
        let known = scenes.entry(row.n).or_default();
        if !known.contains(&row.scene.as_str()) {
            known.push(&row.scene);
        }
    }
    let enough = scenes.values().map(Vec::len).max()?.saturating_sub(1).max(FEWEST);
    scenes.into_iter().rev().find(|(_, scenes)| scenes.len() >= enough)
}

/// The scene that was recorded with most numbers of objects, the first in the alphabet where several are.
fn longest(rows: &[Row]) -> Option<&str> {
    let mut sizes: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.n > 0) {
        sizes.entry(&row.scene).or_default().insert(row.n);
    }
    let (scene, sizes) = sizes.into_iter().rev().max_by_key(|(_, sizes)| sizes.len())?;
    (sizes.len() >= FEWEST).then_some(scene)
}

/// Time of a frame over scenes.
fn radar(rows: &[Row], (n, scenes): (u64, &[&str]), names: &[String]) -> RadarChart {
    let here = || rows.iter().filter(move |row| row.n == n);
    let value =
        |name: &str, scene: &str| here().find(|row| row.name == name && row.scene == scene).map_or(f64::NAN, |row| row.ms);
    let series = names.iter().map(|name| (name.clone(), scenes.iter().map(|scene| value(name, scene)).collect()));
    RadarChart {
        title: format!("A frame of {} objects over scenes, one thread, {}", charts::number(n as f64), machines(here())),
        unit: "CPU ms per frame, logarithmic; further in is faster".to_string(),
        axes: scenes.iter().map(|scene| scene.to_string()).collect(),
        rings: Vec::new(),
        reference: None,
        scale: Scale::Log,
        series: series.collect(),
    }
}

/// Cost of an object over numbers of objects.
fn scaling(rows: &[Row], scene: &str, names: &[String]) -> LineChart {
    let here = || rows.iter().filter(|row| row.scene == scene && row.n > 0);
    let series = names.iter().map(|name| {
        let of_name = here().filter(|row| row.name == *name);
        let mut points: Vec<(f64, f64)> = of_name.map(|row| (row.n as f64, row.ms * 1e6 / row.n as f64)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name: name.clone(), points }
    });
    LineChart {
        title: format!("{scene}: cost of an object over the number of objects, one thread, {}", machines(here())),
        x_label: "objects".to_string(),
        y_label: "CPU ns per object and frame; a level line is linear scaling".to_string(),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        reference: None,
        series: series.collect(),
    }
}

/// The names to draw, of those with at least `fewest` rows.
fn chosen<'a>(rows: impl Iterator<Item = &'a Row>, fewest: usize) -> Vec<String> {
    let mut places: Vec<(&str, u64)> = Vec::new();
    let entries: Vec<Entry<'_>> = rows
        .map(|row| {
            let known = places.iter().position(|&(scene, n)| scene == row.scene && n == row.n);
            let place = known.unwrap_or_else(|| {
                places.push((&row.scene, row.n));
                places.len() - 1
            });
            Entry { place, name: &row.name, peer: row.peer, time: row.ms }
        })
        .collect();
    charts::cast(&entries, fewest)
}
