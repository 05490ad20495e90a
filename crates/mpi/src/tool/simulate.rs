//! `simulate`: measures one real rank of a job of any size, and models the time of the whole job.

use std::time::Duration;

use broadphase::Aabb;
use broadphase_mpi::simulate::{Simulated, Walkers};
use broadphase_mpi::{Distributed, Options, Reporting, Stages, Threads, Traffic, Transport};
use broadphase_scenes::PendingFile;
use cpu_time::ThreadTime;
use serde_json::{Value, json};

use super::Failure;
use super::arguments::SimulateLine;

/// What a rank measured, medians in milliseconds.
struct Run {
    input: f64,
    local: f64,
    exchange: f64,
    cross: f64,
    traffic: Traffic,
    bytes: usize,
}

impl Run {
    fn total(&self) -> f64 {
        self.input + self.local + self.exchange + self.cross
    }
}

/// Runs the command.
pub fn run(asked: &SimulateLine) -> Result<(), Failure> {
    let (mut others, own) = Simulated::new(asked.ranks, asked.per_rank, asked.boxes, Reporting::Once)?;
    others.advance();
    let region = others.region();
    let job = drive(asked, others, own.clone(), region, Simulated::advance)?;
    let one = Threads::job(1).pop().ok_or_else(|| Failure::Data("no transport".to_string()))?;
    let alone = drive(asked, one, own, region, |_| ())?;
    let result = describe(asked, &job, &alone);
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
    print(&result);
    Ok(())
}

fn drive<C: Transport>(
    asked: &SimulateLine,
    transport: C,
    mut own: Walkers,
    region: Aabb<3, f32>,
    advance: fn(&mut C),
) -> Result<Run, Failure> {
    let mut space = Distributed::<3, f32, C>::new(transport, Options::default().with_boxes(asked.boxes))?;
    space.set_domain(&[region]);
    let ids: Vec<u64> = (0..own.boxes().len() as u64).collect();
    space.assign(&ids, own.boxes())?;
    let (mut stages, mut inputs): (Vec<Stages>, Vec<Duration>) = (Vec::new(), Vec::new());
    for frame in 0..asked.frames.max(2) {
        if frame > 0 {
            own.advance();
            advance(space.transport_mut());
        }
        let start = ThreadTime::now();
        space.set_boxes(own.boxes())?;
        let input = start.elapsed();
        space.update()?;
        if frame > 0 {
            inputs.push(input);
            stages.push(*space.stages());
        }
    }
    let median = |of: &dyn Fn(usize) -> Duration| {
        let mut values: Vec<Duration> = (0..stages.len()).map(of).collect();
        values.sort_unstable();
        values[values.len() / 2].as_secs_f64() * 1e3
    };
    Ok(Run {
        input: median(&|at| inputs[at]),
        local: median(&|at| stages[at].local),
        exchange: median(&|at| stages[at].exchange),
        cross: median(&|at| stages[at].cross),
        traffic: *space.traffic(),
        bytes: space.bytes(),
    })
}

fn describe(asked: &SimulateLine, job: &Run, alone: &Run) -> Value {
    let (latency, per_ms) = (asked.latency * 1e-3, asked.bandwidth * 1e6);
    let rounds = (asked.ranks as f64).log2().ceil();
    let table_ms = rounds * latency + job.traffic.table_bytes as f64 / per_ms;
    let bytes = job.traffic.bytes_sent.max(job.traffic.bytes_received);
    let messages_ms = job.traffic.neighbors as f64 * latency + bytes as f64 / per_ms;
    let frame = job.total() + table_ms + messages_ms;
    json!({
        "ranks": asked.ranks,
        "per_rank": asked.per_rank,
        "objects": asked.ranks as u64 * asked.per_rank as u64,
        "frames": asked.frames,
        "boxes": asked.boxes,
        "cpu_ms": job.total(),
        "input_ms": job.input,
        "local_ms": job.local,
        "exchange_ms": job.exchange,
        "cross_ms": job.cross,
        "alone_cpu_ms": alone.total(),
        "cpu_ratio": job.total() / alone.total(),
        "neighbors": job.traffic.neighbors,
        "ghosts": job.traffic.ghosts,
        "bytes_sent": job.traffic.bytes_sent,
        "bytes_received": job.traffic.bytes_received,
        "table_bytes": job.traffic.table_bytes,
        "memory_bytes": job.bytes,
        "alone_memory_bytes": alone.bytes,
        "assumed_latency_us": asked.latency,
        "assumed_bandwidth_gb": asked.bandwidth,
        "model_table_ms": table_ms,
        "model_messages_ms": messages_ms,
        "model_frame_ms": frame,
        "model_communication_share": (table_ms + messages_ms) / frame,
        "model_efficiency": alone.total() / frame,
    })
}

fn print(result: &Value) {
    let number = |name: &str| result[name].as_f64().unwrap_or(0.0);
    println!("One rank of {} with {} objects each: {} objects", result["ranks"], result["per_rank"], result["objects"]);
    println!(
        "measured, CPU ms a frame: {:.3} (input {:.3}, local {:.3}, exchange {:.3}, cross {:.3}); the same rank alone {:.3}: ratio {:.3}",
        number("cpu_ms"),
        number("input_ms"),
        number("local_ms"),
        number("exchange_ms"),
        number("cross_ms"),
        number("alone_cpu_ms"),
        number("cpu_ratio")
    );
    println!(
        "measured: {} neighbors, {} ghosts, {:.1} kB sent, {:.1} kB received, table of all ranks' boxes {:.1} kB; memory {:.1} MB, alone {:.1} MB",
        result["neighbors"],
        result["ghosts"],
        number("bytes_sent") / 1e3,
        number("bytes_received") / 1e3,
        number("table_bytes") / 1e3,
        number("memory_bytes") / 1e6,
        number("alone_memory_bytes") / 1e6
    );
    println!(
        "modeled, {} us a message and {} GB/s: table {:.3} ms, messages {:.3} ms; frame {:.3} ms, communication {:.1} % of it, efficiency {:.2}",
        number("assumed_latency_us"),
        number("assumed_bandwidth_gb"),
        number("model_table_ms"),
        number("model_messages_ms"),
        number("model_frame_ms"),
        100.0 * number("model_communication_share"),
        number("model_efficiency")
    );
}
