//! A recording far larger than the memory we allow is read frame by frame. Alone in its process: the peak belongs to it.
#![cfg(target_os = "linux")]

mod support;

use std::fs::OpenOptions;

use broadphase_scenes::{NpyWriter, Recording};
use support::Folder;

/// The peak resident memory of this process so far, in MB.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
}

#[test]
fn four_hundred_megabytes_pass_through_a_small_window() {
    const N: usize = 20_000;
    const FRAMES: usize = 850;
    let folder = Folder::new("streaming");
    let path = folder.path().join("big.npy");
    // An empty file of the same shape gives the header; the data is a hole, which costs no disk.
    let header = folder.path().join("header.npy");
    NpyWriter::create(&header, 3, N, 0).unwrap().finish().unwrap();
    let text = String::from_utf8_lossy(&std::fs::read(&header).unwrap()[10..]).replace("(0, 20000, 6)", "(850, 20000, 6)");
    let mut bytes = std::fs::read(&header).unwrap()[..10].to_vec();
    let text = format!("{}\n", text.trim_end());
    bytes[8..10].copy_from_slice(&(text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    std::fs::write(&path, &bytes).unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().set_len((bytes.len() + N * FRAMES * 24) as u64).unwrap();

    let before = peak();
    let recording = Recording::open(&path).unwrap();
    let mut sum = 0.0;
    for k in 0..FRAMES {
        sum += recording.frame::<3, f32>(k).unwrap().iter().map(|aabb| aabb.max[2]).sum::<f32>();
    }
    assert_eq!(sum, 0.0);
    assert!(peak() - before < 150, "{} MB before, {} MB after", before, peak());
}
