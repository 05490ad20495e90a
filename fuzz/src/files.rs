//! `files`: NumPy, text and Broadmark bytes, sound ones with known values and broken ones, and the bytes of snapshots.

use std::io::Cursor;

use broadphase::{Aabb, Object, ObjectKind, Snapshot, Strength, World};
use broadphase_scenes::{Format, ReadOptions, Recording, Scalar};
use broadphase_testing::naive::touch;

use crate::nasty::Coordinates;
use crate::{Bytes, Counts};

/// Runs an input.
pub fn run(data: &[u8]) -> Counts {
    let mut bytes = Bytes::new(data);
    let mut counts = Counts::default();
    match bytes.below(8) {
        0..2 => npy(&mut bytes, &mut counts),
        2..4 => csv(&mut bytes, &mut counts),
        4 => aabbs(&mut bytes, &mut counts),
        5 => snapshot(&mut bytes, &mut counts),
        6 => {
            let format = *bytes.pick(&[Format::Npy, Format::Csv, Format::Aabbs]);
            _ = read(bytes.rest(), Some(format), &mut counts);
        }
        _ => _ = read(bytes.rest(), None, &mut counts),
    }
    counts
}

/// Reads bytes: a typed error of one line, or a recording all of whose frames can be had.
fn read(data: &[u8], format: Option<Format>, counts: &mut Counts) -> Option<Recording> {
    counts.operation("read");
    let options = ReadOptions { format, ..ReadOptions::default() };
    match Recording::read("input", Cursor::new(data), &options) {
        Ok(recording) => {
            let (dim, n) = (recording.dim(), recording.n());
            assert!(dim == 2 || dim == 3, "dimension {dim}");
            for frame in 0..recording.frames().min(8) {
                let found = values(&recording, frame).unwrap_or_else(|| panic!("frame {frame} of {}", recording.frames()));
                assert_eq!(found.len(), n * 2 * dim, "frame {frame}");
                _ = recording.check_frame(frame);
            }
            assert!(values(&recording, recording.frames()).is_none(), "a frame behind the last");
            counts.meet(&format!("read {dim}D {}", recording.scalar()));
            Some(recording)
        }
        Err(error) => {
            let line = error.to_string();
            assert!(!line.is_empty() && !line.contains('\n'), "one line: {line:?}");
            let fault = format!("{:?}", error.fault);
            counts.meet(fault.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default());
            None
        }
    }
}

/// All numbers of a frame, by the types that the recording says it has.
fn values(recording: &Recording, frame: usize) -> Option<Vec<f64>> {
    fn flat<const D: usize, T: broadphase::Real>(recording: &Recording, frame: usize) -> Option<Vec<f64>> {
        let boxes = recording.frame::<D, T>(frame).ok()?;
        Some(boxes.iter().flat_map(|b| b.min.iter().chain(&b.max).map(|c| c.to_f64()).collect::<Vec<_>>()).collect())
    }
    match (recording.dim(), recording.scalar()) {
        (2, Scalar::F32) => flat::<2, f32>(recording, frame),
        (2, Scalar::F64) => flat::<2, f64>(recording, frame),
        (_, Scalar::F32) => flat::<3, f32>(recording, frame),
        (_, Scalar::F64) => flat::<3, f64>(recording, frame),
    }
}

/// Some bytes changed, cut off or appended; returns whether anything was.
fn damage(bytes: &mut Bytes, file: &mut Vec<u8>) -> bool {
    let mut damaged = false;
    for _ in 0..bytes.below(4) {
        match bytes.below(4) {
            0 if !file.is_empty() => {
                let (at, by) = (bytes.below(file.len().min(60_000)), bytes.byte());
                damaged |= by != 0;
                file[at] ^= by;
            }
            1 if !file.is_empty() => {
                file.truncate(file.len() - 1 - bytes.below(file.len().min(60_000)));
                damaged = true;
            }
            2 => {
                file.extend_from_slice(bytes.take(5));
                damaged = true;
            }
            _ => {
                let at = bytes.below(file.len().clamp(1, 60_000));
                file.splice(at..at, bytes.take(3).iter().copied());
                damaged = true;
            }
        }
    }
    damaged
}

/// Numbers that a file has: as they are as bits, so that every one comes back.
fn numbers(bytes: &mut Bytes, count: usize, coordinates: Coordinates) -> Vec<f64> {
    (0..count).map(|_| coordinates.coordinate::<f32>(bytes)).map(f64::from).collect()
}

fn same(recording: &Recording, expected: &[f64], counts: &mut Counts) {
    let mut found = Vec::new();
    (0..recording.frames()).for_each(|frame| found.extend(values(recording, frame).expect("a frame")));
    counts.compared += expected.len() as u64;
    assert!(found.iter().map(|c| c.to_bits()).eq(expected.iter().map(|c| c.to_bits())), "{found:?} for {expected:?}");
}

fn npy(bytes: &mut Bytes, counts: &mut Counts) {
    let (dim, double) = (2 + bytes.below(2), bytes.one_in(2));
    let (frames, n) = (if bytes.one_in(2) { Some(bytes.below(4)) } else { None }, bytes.below(5));
    let coordinates = Coordinates::draw(bytes);
    let data = numbers(bytes, frames.unwrap_or(1) * n * 2 * dim, coordinates);
    let shape = frames.map_or(format!("({n}, {})", 2 * dim), |frames| format!("({frames}, {n}, {})", 2 * dim));
    let descr = if double { "<f8" } else { "<f4" };
    let mut head = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    head.push_str(&" ".repeat(bytes.below(70)));
    head.push('\n');
    let version = 1 + bytes.below(3) as u8;
    let mut file = b"\x93NUMPY".to_vec();
    file.extend([version, 0]);
    match version {
        1 => file.extend((head.len() as u16).to_le_bytes()),
        _ => file.extend((head.len() as u32).to_le_bytes()),
    }
    file.extend(head.as_bytes());
    match double {
        true => data.iter().for_each(|c| file.extend(c.to_le_bytes())),
        false => data.iter().for_each(|c| file.extend((*c as f32).to_le_bytes())),
    }
    let damaged = damage(bytes, &mut file);
    let read = read(&file, Some(Format::Npy), counts);
    if !damaged {
        same(&read.expect("a sound file"), &data, counts);
        counts.meet("a sound npy");
    }
}

fn csv(bytes: &mut Bytes, counts: &mut Counts) {
    let (dim, n, header) = (2 + bytes.below(2), 1 + bytes.below(5), bytes.one_in(2));
    let data = numbers(bytes, n * 2 * dim, Coordinates::Lattice);
    let axes = ["x", "y", "z"];
    let mut text = String::new();
    if header {
        let names = ["min", "max"].iter().flat_map(|end| axes[..dim].iter().map(move |axis| format!("{end}_{axis}")));
        text.push_str(&names.collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    let separator = *bytes.pick(&[",", ", ", ";", "\t"]);
    let end = *bytes.pick(&["\n", "\r\n"]);
    for row in data.chunks(2 * dim) {
        text.push_str(&row.iter().map(f64::to_string).collect::<Vec<_>>().join(separator));
        text.push_str(end);
    }
    let mut file = text.into_bytes();
    let damaged = damage(bytes, &mut file);
    let read = read(&file, Some(Format::Csv), counts);
    if !damaged && header && separator == "," {
        same(&read.expect("a sound text"), &data, counts);
        counts.meet("a sound csv");
    }
}

/// A Broadmark recording: names, counts, the world, the boxes of all frames, each with padding.
fn aabbs(bytes: &mut Bytes, counts: &mut Counts) {
    let (n, blocks) = (bytes.below(5), bytes.below(4));
    let data = numbers(bytes, (blocks + 1) * n * 6, Coordinates::Mixed);
    let mut file = vec![b'a'; 256];
    [n as i32, blocks as i32, 0, 0].iter().for_each(|count| file.extend(count.to_le_bytes()));
    file.resize(304, 0);
    for corner in data.chunks(3) {
        corner.iter().chain(&[0.0]).for_each(|c| file.extend((*c as f32).to_le_bytes()));
    }
    let damaged = damage(bytes, &mut file);
    let read = read(&file, Some(Format::Aabbs), counts);
    if !damaged {
        same(&read.expect("a sound file"), &data, counts);
        counts.meet("a sound recording");
    }
}

/// A world through bytes that were changed: an error, or a world that works and whose pairs are those of its boxes.
fn snapshot(bytes: &mut Bytes, counts: &mut Counts) {
    let mut world = World::<2, f32>::new();
    let coordinates = Coordinates::draw(bytes);
    for _ in 0..bytes.below(12) {
        let kind = if bytes.one_in(4) { ObjectKind::Static } else { ObjectKind::Dynamic };
        world.insert(Object::new(coordinates.aabb(bytes, &[])).with_kind(kind)).expect("a valid object");
    }
    if bytes.one_in(2) {
        world.update().expect("sound objects");
    }
    let mut file = postcard::to_stdvec(&world.snapshot()).expect("a snapshot has bytes");
    let damaged = damage(bytes, &mut file);
    counts.operation("snapshot");
    let mut restored = World::<2, f32>::new();
    let result = postcard::from_bytes::<Snapshot<2, f32>>(&file).map(|snapshot| restored.restore(&snapshot));
    match result {
        Err(_) | Ok(Err(_)) => {
            assert!(damaged, "its own bytes");
            assert!(restored.is_empty(), "a world that refused a snapshot has changed");
            counts.meet("a broken snapshot");
        }
        Ok(Ok(())) => {
            counts.meet("a restored snapshot");
            if restored.update().is_err() {
                return; // a limit of pairs, or an algorithm that does not suit, is part of the snapshot
            }
            restored.validate(Strength::Geometry).unwrap_or_else(|error| panic!("{error}"));
            if !damaged {
                let all: Vec<_> = restored.iter().collect();
                let mobile = |at: usize| restored.kind(all[at].0).expect("living") == ObjectKind::Dynamic;
                let pair = |a: usize, b: usize| (mobile(a) || mobile(b)) && touch::<2, f32>(&all[a].1, &all[b].1);
                let expected = (0..all.len()).flat_map(|a| (a + 1..all.len()).map(move |b| (a, b))).filter(|&(a, b)| pair(a, b));
                let expected: Vec<_> = expected.map(|(a, b)| (all[a].0, all[b].0)).collect();
                assert_eq!(restored.sorted_pairs(), expected, "a restored world");
                counts.compared += expected.len() as u64;
            }
            restored.insert(Aabb::point([0.0, 0.0])).expect("a restored world takes objects");
            restored.update().expect("one more object");
        }
    }
}
