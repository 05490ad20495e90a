//! The pictures of the README, drawn from the recorded runs in `benchmarks`: how far ahead of other libraries over scenes and sizes, the same for the
//! other ways to call the library, and what an object costs over numbers of objects.
//!
//! Without arguments it checks that the committed pictures are those of the record; `benchmarks/pictures` writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use broadphase_bench::charts::{self, BarChart, Entry, LineChart, Scale, Series};
use serde_json::Value;

/// The fewest numbers of objects of a curve.
const FEWEST: usize = 3;
/// The scenes of the first chart: those of every size. The other charts are about one of these sizes.
const SCENES: [&str; 5] = ["brownian-cubes", "brownian-assorted", "pile", "settled", "sizes"];
const SIZES: [u64; 4] = [1000, 16_000, 128_000, 1_000_000];
/// The other ways in, as the bench names them, and as the chart does.
const WAYS: [(&str, &str); 4] = [("world", "World"), ("oneshot", "one call"), ("between", "two sets"), ("statics", "statics")];
const WAYS_SIZE: u64 = 128_000;

/// One row of a record.
struct Row {
    drive: String,
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
    let Some(scene) = longest(&rows) else {
        return Err("pictures: the records have too few numbers of objects; run benchmarks/record".into());
    };
    let pictures =
        [("ahead.svg", ahead(&rows).svg()), ("ways.svg", ways(&rows).svg()), ("scaling.svg", scaling(&rows, scene).svg())];
    for (name, svg) in pictures {
        let path = folder.join(name);
        if write {
            fs::write(&path, svg)?;
        } else if fs::read_to_string(&path).unwrap_or_default() != svg {
            return Err(format!("pictures: benchmarks/{name} is not that of the record; run benchmarks/pictures").into());
        }
    }
    Ok(())
}

/// The rows of all records that are right and ran on one thread, in the order of the files' names.
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
        let found = record["rows"].as_array().into_iter().flatten().filter(right);
        rows.extend(found.filter_map(|row| {
            Some(Row {
                drive: row["drive"].as_str().unwrap_or("step").to_string(),
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
    rows.retain(|row: &Row| seen.insert((row.drive.clone(), row.scene.clone(), row.n, row.name.clone())));
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

/// The scene that was recorded with most numbers of objects, the first in the alphabet where several are.
fn longest(rows: &[Row]) -> Option<&str> {
    let mut sizes: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.drive == "step" && row.n > 0) {
        sizes.entry(&row.scene).or_default().insert(row.n);
    }
    let (scene, sizes) = sizes.into_iter().rev().max_by_key(|(_, sizes)| sizes.len())?;
    (sizes.len() >= FEWEST).then_some(scene)
}

/// How many times as fast as the fastest peer of the same run `auto` is, where both were measured.
fn times_as_fast(rows: &[Row], drive: &str, scene: &str, n: u64) -> Option<f64> {
    let here = || rows.iter().filter(|row| row.drive == drive && row.scene == scene && row.n == n);
    let ours = here().find(|row| row.name == "auto")?.ms;
    let best = here().filter(|row| row.peer).map(|row| row.ms).min_by(f64::total_cmp)?;
    Some(best / ours)
}

/// The name of a scene, short enough for a chart.
fn label(scene: &str) -> String {
    scene.replace("brownian", "br.").replace(":movers=0.1", " 10%")
}

/// How far ahead, over scenes and sizes.
fn ahead(rows: &[Row]) -> BarChart {
    let places = SCENES.iter().flat_map(|scene| SIZES.iter().map(move |&n| (*scene, n)));
    let bars = places.filter_map(|(scene, n)| {
        let name = format!("{}, {}", label(scene), charts::short(n as f64));
        Some((name, times_as_fast(rows, "step", scene, n)?))
    });
    comparison("a moving array, every frame", "scene (br.: brownian) and number of objects", bars.collect(), rows, "step")
}

/// How far ahead, over the other ways in.
fn ways(rows: &[Row]) -> BarChart {
    let bars = WAYS.iter().flat_map(|(drive, title)| {
        let mut scenes: Vec<&str> = rows.iter().filter(|row| row.drive == *drive).map(|row| row.scene.as_str()).collect();
        scenes.sort_unstable();
        scenes.dedup();
        let bar = move |scene: &str| Some((format!("{title}: {}", label(scene)), times_as_fast(rows, drive, scene, WAYS_SIZE)?));
        scenes.into_iter().filter_map(bar).collect::<Vec<_>>()
    });
    comparison(
        &format!("other ways in, {} objects", charts::short(WAYS_SIZE as f64)),
        "way and scene (br.: brownian; 10%: share that moves)",
        bars.collect(),
        rows,
        "world",
    )
}

fn comparison(what: &str, of: &str, bars: Vec<(String, f64)>, rows: &[Row], drive: &str) -> BarChart {
    BarChart {
        title: format!("Times as fast as the best other library: {what}"),
        unit: format!("by {of}; CPU time of a frame, one thread, {}", machines(rows.iter().filter(|row| row.drive == drive))),
        highlight: bars.iter().map(|bar| bar.0.clone()).collect(),
        bars,
        reference: Some(("that library".to_string(), 1.0)),
        scale: Scale::Linear,
    }
}

/// Cost of an object over numbers of objects.
fn scaling(rows: &[Row], scene: &str) -> LineChart {
    let here = || rows.iter().filter(|row| row.drive == "step" && row.scene == scene && row.n > 0);
    let names = chosen(here(), FEWEST);
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
    charts::rows_to_draw(&entries, fewest)
}
