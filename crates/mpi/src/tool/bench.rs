//! `bench`: a scene over all ranks, timed by the CPU time of each.
//!
//! Every rank generates the whole scene, which is the same everywhere, and takes its share of it. A frame's time runs from passing this rank's boxes to
//! having its pairs. Generating the scene and migration are not timed.
//!
//! Generating the scene between frames takes more memory than the caches have. With `--in-advance` it is done before the first frame.

use std::time::{Duration, Instant};

use broadphase::{Aabb, Context, Frame, PairStore, Spec, pairs_hash, step};
use broadphase_mpi::split::{Shares, Split, share};
use broadphase_mpi::{Departure, Distributed, Gathered, Mpi, Options, Reduce, Reporting, Stages, Traffic, Transport};
use broadphase_scenes::{AnyScene, PendingFile, Scene, SceneSpec};
use cpu_time::ThreadTime;
use serde_json::{Value, json};

use super::arguments::BenchLine;
use super::pairs::job_pairs;
use super::{Failure, agree};

/// What a rank measured.
#[derive(Default)]
struct Measured {
    stages: Vec<Stages>,
    traffic: Vec<Traffic>,
    input: Vec<Duration>,
    wall: Vec<Duration>,
    migrated: u64,
    pairs: u64,
    hash: u64,
    expected: (u64, u64),
    objects: usize,
    bytes: usize,
}

/// Runs the command.
pub fn run(mut mpi: Mpi, asked: &BenchLine) -> Result<Mpi, Failure> {
    let n = asked.per_rank.saturating_mul(mpi.size());
    let usage = |error: broadphase_scenes::SceneError| Failure::Usage(error.to_string());
    let built = asked.scene.parse::<SceneSpec>().and_then(|spec| spec.build(n, asked.seed)).map_err(usage);
    let built = built.and_then(|scene| match asked.frames {
        0 => Err(Failure::Usage("--frames must be 1 or more".to_string())),
        _ => Ok(scene),
    });
    match agree(&mut mpi, built)? {
        AnyScene::Two(scene) => measure(mpi, asked, scene),
        AnyScene::Three(scene) => measure(mpi, asked, scene),
    }
}

fn measure<const D: usize>(mpi: Mpi, asked: &BenchLine, mut scene: Box<dyn Scene<D>>) -> Result<Mpi, Failure> {
    let reporting = if asked.both { Reporting::Both } else { Reporting::Once };
    let mut options = Options::default().with_reporting(reporting).with_boxes(asked.boxes);
    options.events = asked.events;
    let mut space = Distributed::<D, f32, _>::new(mpi, options)?;
    let (me, size) = (space.rank(), space.size());
    let shares = share(scene.boxes(), size, asked.split);
    for (id, aabb) in scene.boxes().iter().enumerate().filter(|&(id, _)| shares.ranks[id] as usize == me) {
        space.insert(id as u64, *aabb)?;
    }
    // Without domains the lower rank reports. Slabs lie in a row, so ghosts then travel in one direction, and each face is joined once.
    if asked.split == Split::Bisect
        && let Some(region) = shares.regions.get(me)
    {
        space.set_domain(&[*region]);
    }
    let mut measured = Measured::default();
    let mut alone = OneProcess::new(asked.check && me == 0)?;
    let recorded = if asked.in_advance { own_frames(&space, &mut *scene, asked) } else { Vec::new() };
    let mut boxes = Vec::new();
    for frame in 0..asked.frames {
        if let Some(recorded) = recorded.get(frame) {
            boxes.clone_from(recorded);
        } else {
            if frame > 0 {
                scene.advance();
            }
            if frame > 0 && !asked.apart {
                measured.migrated += migrate(&mut space, &shares, scene.boxes())?;
            }
            boxes = own_boxes(&space, scene.boxes(), asked.apart);
        }
        if frame == 1 {
            inject_fault(asked, me);
        }
        if frame == 1 && asked.nan_on == Some(me) && !boxes.is_empty() {
            boxes[0].min[0] = f32::NAN;
        }
        // All ranks start the frame together.
        let mut nothing = [0];
        space.transport_mut().all_reduce(&mut nothing, Reduce::Sum)?;
        let (start, cpu) = (Instant::now(), ThreadTime::now());
        let handed = space.set_boxes(&boxes);
        let input = cpu.elapsed();
        // A rejected list makes the update fail on all ranks, so that none of them waits.
        space.update()?;
        handed?;
        measured.wall.push(start.elapsed());
        measured.input.push(input);
        measured.stages.push(*space.stages());
        measured.traffic.push(*space.traffic());
        let pairs = job_pairs(&space);
        measured.pairs += pairs.len() as u64;
        measured.hash = measured.hash.wrapping_add(pairs_hash(&pairs));
        alone.add(scene.boxes(), &mut measured.expected)?;
    }
    measured.objects = space.len();
    measured.bytes = space.bytes();
    let mut mpi = space.into_transport();
    report(&mut mpi, asked, &measured)?;
    Ok(mpi)
}

/// The boxes of this rank's objects by index, from those of the whole scene; with `apart`, far from those of other ranks.
fn own_boxes<const D: usize>(space: &Distributed<D, f32, Mpi>, scene: &[Aabb<D, f32>], apart: bool) -> Vec<Aabb<D, f32>> {
    let mut boxes = vec![Aabb::default(); space.slots()];
    space.indices().for_each(|index| boxes[index as usize] = scene[space.id(index).unwrap_or(0) as usize]);
    if apart {
        let by = std::array::from_fn(|k| if k == 0 { 4096.0 * space.rank() as f32 } else { 0.0 });
        boxes.iter_mut().for_each(|aabb| *aabb = aabb.translate(by));
    }
    boxes
}

/// The boxes of this rank's objects in all frames, in which no object migrates.
fn own_frames<const D: usize>(
    space: &Distributed<D, f32, Mpi>,
    scene: &mut dyn Scene<D>,
    asked: &BenchLine,
) -> Vec<Vec<Aabb<D, f32>>> {
    let next = |frame| {
        if frame > 0 {
            scene.advance();
        }
        own_boxes(space, scene.boxes(), asked.apart)
    };
    (0..asked.frames).map(next).collect()
}

/// Faults for tests: this rank panics, or is killed.
fn inject_fault(asked: &BenchLine, me: usize) {
    if asked.panic_on == Some(me) {
        panic!("as asked with --panic-on");
    }
    if asked.kill_on == Some(me) {
        let id = std::process::id().to_string();
        let _ = std::process::Command::new("kill").args(["-KILL", &id]).status();
    }
}

/// Migrates objects whose centers have left their rank's region.
fn migrate<const D: usize>(
    space: &mut Distributed<D, f32, Mpi>,
    shares: &Shares<D, f32>,
    boxes: &[Aabb<D, f32>],
) -> Result<u64, Failure> {
    if shares.regions.is_empty() {
        return Ok(0);
    }
    let (me, region) = (space.rank(), shares.regions[space.rank()]);
    let mut departures = Vec::new();
    for index in space.indices() {
        let aabb = &boxes[space.id(index).unwrap_or(0) as usize];
        let center = aabb.center();
        let stays = (0..D).all(|k| region.min[k] <= center[k] && center[k] < region.max[k]);
        if !stays && let Some(to) = shares.rank_of(aabb).map(|rank| rank as usize).filter(|&to| to != me) {
            departures.push(Departure { to, index });
        }
    }
    space.migrate(&departures, |_| ())?;
    Ok(departures.len() as u64)
}

/// The whole scene on one process, for comparison; `None` if it is not wanted.
struct OneProcess<const D: usize>(Option<(Box<dyn broadphase::BroadPhase<D, f32>>, Context, PairStore)>);

impl<const D: usize> OneProcess<D> {
    fn new(wanted: bool) -> Result<Self, Failure> {
        let build = || Ok((Spec::default().build()?, Context::new(), PairStore::default()));
        let built: Result<_, broadphase::Error> = wanted.then(build).transpose();
        built.map(Self).map_err(|error| Failure::Data(error.to_string()))
    }

    fn add(&mut self, boxes: &[Aabb<D, f32>], to: &mut (u64, u64)) -> Result<(), Failure> {
        let Some((structure, context, store)) = &mut self.0 else { return Ok(()) };
        step(&mut **structure, &Frame::new(boxes), context, store).map_err(|error| Failure::Data(error.to_string()))?;
        store.for_each_chunk(|pairs| {
            to.0 += pairs.len() as u64;
            to.1 = to.1.wrapping_add(pairs_hash(pairs));
        });
        Ok(())
    }
}

/// The median in milliseconds, without the first frame if there are others.
fn median(values: impl Iterator<Item = Duration>) -> f64 {
    let mut values: Vec<f64> = values.map(|value| value.as_secs_f64() * 1e3).collect();
    if values.len() > 1 {
        values.remove(0);
    }
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn mean(values: impl ExactSizeIterator<Item = usize>) -> f64 {
    let count = values.len().max(1);
    values.sum::<usize>() as f64 / count as f64
}

fn row(rank: usize, measured: &Measured) -> Value {
    let stage = |of: fn(&Stages) -> Duration| median(measured.stages.iter().map(of));
    let traffic = |of: fn(&Traffic) -> usize| mean(measured.traffic.iter().skip(usize::from(measured.traffic.len() > 1)).map(of));
    let outside = measured.stages.iter().zip(&measured.input).map(|(stages, input)| stages.outside_transport() + *input);
    json!({
        "rank": rank,
        "objects": measured.objects,
        "ms_median": median(measured.wall.iter().copied()),
        "cpu_ms_outside_mpi": median(outside),
        "input_ms": median(measured.input.iter().copied()),
        "local_ms": stage(|stages| stages.local),
        "exchange_ms": stage(|stages| stages.exchange),
        "cross_ms": stage(|stages| stages.cross),
        "mpi_ms": stage(|stages| stages.transport),
        "ghosts": traffic(|traffic| traffic.ghosts),
        "copies": traffic(|traffic| traffic.copies),
        "neighbors": traffic(|traffic| traffic.neighbors),
        "messages": traffic(|traffic| traffic.messages),
        "bytes_sent": traffic(|traffic| traffic.bytes_sent),
        "bytes_received": traffic(|traffic| traffic.bytes_received),
        "table_bytes": traffic(|traffic| traffic.table_bytes),
        "migrated": measured.migrated,
        "memory_bytes": measured.bytes,
    })
}

fn report(mpi: &mut Mpi, asked: &BenchLine, measured: &Measured) -> Result<(), Failure> {
    let mut sums = [measured.pairs, measured.hash];
    mpi.all_reduce(&mut sums, Reduce::Sum)?;
    let mut all = Gathered::default();
    mpi.start_all_gather(row(mpi.rank(), measured).to_string().as_bytes())?;
    mpi.finish_all_gather(&mut all)?;
    let is_right = !asked.check || (sums[0], sums[1]) == measured.expected;
    let verdict = if mpi.rank() == 0 && !is_right {
        Err(Failure::Data(format!("the job has {} pairs, one process has {}", sums[0], measured.expected.0)))
    } else {
        Ok(())
    };
    if mpi.rank() == 0 {
        let rows: Vec<Value> = (0..all.ranks()).filter_map(|rank| serde_json::from_slice(all.of(rank)).ok()).collect();
        let result = json!({
            "scene": asked.scene,
            "ranks": mpi.size(),
            "per_rank": asked.per_rank,
            "n": asked.per_rank * mpi.size(),
            "frames": asked.frames,
            "split": asked.split.name(),
            "boxes": asked.boxes,
            "events": asked.events,
            "apart": asked.apart,
            "in_advance": asked.in_advance,
            "pairs_total": sums[0],
            "pairs_hash": format!("{:016x}", sums[1]),
            "checked": asked.check.then_some(is_right),
            "rows": rows,
        });
        print(asked, &result)?;
    }
    agree(mpi, verdict)
}

fn print(asked: &BenchLine, result: &Value) -> Result<(), Failure> {
    if let Some(path) = &asked.json {
        let text = format!("{result:#}\n");
        if path.as_os_str() == "-" {
            print!("{text}");
            return Ok(());
        }
        let failed = |error: &dyn std::fmt::Display| Failure::Data(format!("{}: cannot write: {error}", path.display()));
        let mut file = PendingFile::create(path).map_err(|error| failed(&error))?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(|error| failed(&error))?;
        file.finish().map_err(|error| failed(&error))?;
    }
    println!(
        "{}, {} ranks x {}, {} frames, split {}: {} pairs, hash {}",
        asked.scene,
        result["ranks"],
        asked.per_rank,
        asked.frames,
        asked.split.name(),
        result["pairs_total"],
        result["pairs_hash"].as_str().unwrap_or_default()
    );
    println!("CPU ms a frame (medians)                                     | per frame");
    println!(
        "rank  outside MPI  input  local  exchange  cross    MPI   wall |  ghosts  neighbors  sent kB  table kB  moved  memory MB"
    );
    for row in result["rows"].as_array().into_iter().flatten() {
        let number = |name: &str| row[name].as_f64().unwrap_or(0.0);
        println!(
            "{:>4}  {:>11.3}  {:>5.3}  {:>5.3}  {:>8.3}  {:>5.3}  {:>5.2}  {:>5.1} | {:>7.0}  {:>9.1}  {:>7.1}  {:>8.1}  {:>5}  {:>9.1}",
            number("rank"),
            number("cpu_ms_outside_mpi"),
            number("input_ms"),
            number("local_ms"),
            number("exchange_ms"),
            number("cross_ms"),
            number("mpi_ms"),
            number("ms_median"),
            number("ghosts"),
            number("neighbors"),
            number("bytes_sent") / 1e3,
            number("table_bytes") / 1e3,
            number("migrated"),
            number("memory_bytes") / 1e6,
        );
    }
    Ok(())
}
