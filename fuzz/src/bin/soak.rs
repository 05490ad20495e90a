//! The plain driver: runs targets on random inputs and on changed inputs of the corpus, counts, and keeps what fails.
//!
//! ```text
//! soak TARGET|all [--seconds S] [--seed N] [--collect]   random inputs for so long; with --collect, keeps inputs that meet something new
//! soak TARGET --replay FILE...                           runs these inputs
//! soak TARGET --minimize FILE                            prints a shorter input that fails too, and writes it beside the file
//! ```
//!
//! An input follows from the seed and its number alone, so a run can be repeated. An input that fails is written to `artifacts/TARGET-SEED-NUMBER`,
//! and the driver exits with 1.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use broadphase_fuzz::{Counts, TARGETS, target};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// All inputs of a target's corpus, in the order of their names.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder("corpus").join(target)) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

/// Bytes of any length up to 4,000, mostly short; or an input of the corpus with some bytes changed, or two of them joined.
fn input(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    if corpus.is_empty() || random.below(4) > 0 {
        let most = [64, 256, 1000, 4000][random.below(4)];
        let mut data: Vec<u8> = (0..random.below(most)).map(|_| random.next() as u8).collect();
        // Half of the inputs have runs of equal bytes: the same operation, the same coordinate.
        if random.below(2) == 0 {
            for _ in 0..random.below(6) {
                let (at, length, value) = (random.below(data.len()), random.below(40), random.next() as u8);
                data.iter_mut().skip(at).take(length).for_each(|byte| *byte = value);
            }
        }
        return data;
    }
    let mut data = corpus[random.below(corpus.len())].clone();
    if random.below(3) == 0 {
        data.extend_from_slice(&corpus[random.below(corpus.len())]);
    }
    for _ in 0..1 + random.below(8) {
        let at = random.below(data.len());
        match random.below(3) {
            0 => data.insert(at, random.next() as u8),
            1 if !data.is_empty() => _ = data.remove(at),
            _ => data.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.next() as u8),
        }
    }
    data
}

fn fails(run: fn(&[u8]) -> Counts, data: &[u8]) -> Result<Counts, String> {
    catch_unwind(AssertUnwindSafe(|| run(data))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_else(|| "a panic".to_string())
    })
}

/// Removes and zeroes stretches of an input while it still passes the test.
fn shrink(mut data: Vec<u8>, holds: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut length = data.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        while at < data.len() {
            let mut shorter = data.clone();
            shorter.drain(at..(at + length).min(data.len()));
            if holds(&shorter) {
                data = shorter;
                continue;
            }
            let mut zeroed = data.clone();
            zeroed[at..(at + length).min(data.len())].fill(0);
            if zeroed != data && holds(&zeroed) {
                data = zeroed;
            }
            at += length;
        }
        if length == 1 {
            return data;
        }
        length = length.div_ceil(2);
    }
}

/// Random inputs for some time. Returns whether all passed.
fn soak(name: &str, run: fn(&[u8]) -> Counts, seconds: f64, seed: u64, collect: bool) -> bool {
    let (corpus, start) = (corpus(name), Instant::now());
    let mut known: BTreeSet<String> = BTreeSet::new();
    if collect {
        corpus.iter().for_each(|data| known.extend(run(data).seen));
    }
    let (mut counts, mut inputs, mut kept) = (Counts::default(), 0u64, 0u64);
    while start.elapsed() < Duration::from_secs_f64(seconds) {
        let data = input(&mut Random(seed.wrapping_mul(0x1000_0001).wrapping_add(inputs)), &corpus);
        match fails(run, &data) {
            Ok(found) => {
                let fresh: BTreeSet<String> = found.seen.difference(&known).cloned().collect();
                if collect && !fresh.is_empty() {
                    let data = shrink(data, |data| run(data).seen.is_superset(&fresh));
                    known.extend(run(&data).seen);
                    let to = folder("corpus").join(name);
                    let written =
                        std::fs::create_dir_all(&to).and_then(|()| std::fs::write(to.join(format!("{seed}-{inputs}")), data));
                    written.unwrap_or_else(|error| panic!("{}: {error}", to.display()));
                    kept += 1;
                }
                counts.add(found);
            }
            Err(text) => {
                let to = folder("artifacts");
                let path = to.join(format!("{name}-{seed}-{inputs}"));
                let written = std::fs::create_dir_all(&to).and_then(|()| std::fs::write(&path, &data));
                println!("{name}: FAILED on input {inputs} of seed {seed}: {text}");
                println!(
                    "{name}: {}",
                    written.map_or_else(|error| error.to_string(), |()| format!("written to {}", path.display()))
                );
                return false;
            }
        }
        inputs += 1;
    }
    let kept = if collect { format!(", {kept} kept for the corpus") } else { String::new() };
    println!(
        "{name}: {inputs} inputs, {} operations, {} values compared, {} situations, {:.0} s, seed {seed}, no failure{kept}",
        counts.operations,
        counts.compared,
        counts.seen.len(),
        start.elapsed().as_secs_f64()
    );
    true
}

fn minimize(run: fn(&[u8]) -> Counts, path: &str) -> Result<(), String> {
    let data = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let first = fails(run, &data).err().ok_or("this input does not fail")?;
    std::panic::set_hook(Box::new(|_| ()));
    let data = shrink(data, |data| fails(run, data).is_err());
    let last = fails(run, &data).err().unwrap_or_default();
    let to = format!("{path}.min");
    std::fs::write(&to, &data).map_err(|error| format!("{to}: {error}"))?;
    println!("{first}\n{} bytes in {to}: {last}\n{data:?}", data.len());
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage =
        "soak TARGET|all [--seconds S] [--seed N] [--collect] | soak TARGET --replay FILE... | soak TARGET --minimize FILE";
    let value = |name: &str| arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1));
    let Some(name) = arguments.first() else {
        eprintln!("{usage}");
        return ExitCode::from(2);
    };
    let chosen: Vec<_> = TARGETS.iter().filter(|target| name == "all" || target.0 == *name).collect();
    if chosen.is_empty() {
        eprintln!("soak: no target is called '{name}'; there are {}", TARGETS.map(|target| target.0).join(", "));
        return ExitCode::from(2);
    }
    if let (Some(path), Some(run)) = (value("--minimize"), target(name)) {
        return match minimize(run, path) {
            Ok(()) => ExitCode::SUCCESS,
            Err(text) => {
                eprintln!("soak: {text}");
                ExitCode::FAILURE
            }
        };
    }
    if let (Some(at), Some(run)) = (arguments.iter().position(|a| a == "--replay"), target(name)) {
        for path in &arguments[at + 1..] {
            let data = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
            println!("{path}: {:?}", run(&data));
        }
        return ExitCode::SUCCESS;
    }
    let seconds = value("--seconds").and_then(|text| text.parse().ok()).unwrap_or(20.0);
    let seed = value("--seed").and_then(|text| text.parse().ok()).unwrap_or(1);
    let collect = arguments.iter().any(|a| a == "--collect");
    let passed = chosen.iter().map(|(name, run)| soak(name, *run, seconds, seed, collect)).collect::<Vec<_>>();
    if passed.contains(&false) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
