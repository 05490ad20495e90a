//! `bench --drive`: the ways in that users take, each with exact pairs.

mod tool;

use serde_json::Value;
use tool::{Folder, contract_hash};

const ALL: &str = "step,world,oneshot,between,statics";

fn rows(folder: &Folder, line: &str) -> Vec<Value> {
    folder.json(&format!("{line} --json -"))["rows"].as_array().unwrap().clone()
}

/// The pairs of every frame by the naive double loop, of those that `keep` holds: their number and hash over the original ids.
fn naive(folder: &Folder, name: &str, frames: usize, keep: impl Fn(u32, u32) -> bool) -> (u64, String) {
    let text = String::from_utf8(folder.read(name)).unwrap();
    let all: Vec<Vec<f64>> =
        text.lines().skip(1).map(|line| line.split(',').map(|field| field.parse().unwrap()).collect()).collect();
    let (mut count, mut hash) = (0, 0u64);
    for frame in 0..frames {
        let boxes: Vec<&[f64]> = all.iter().filter(|row| row[0] == frame as f64).map(|row| &row[1..]).collect();
        let dim = boxes[0].len() / 2;
        let overlap = |a: &[f64], b: &[f64]| (0..dim).all(|k| a[k] <= b[k + dim] && b[k] <= a[k + dim]);
        let mut pairs = Vec::new();
        for a in 0..boxes.len() {
            for b in a + 1..boxes.len() {
                if overlap(boxes[a], boxes[b]) && keep(a as u32, b as u32) {
                    pairs.push((a as u32, b as u32));
                }
            }
        }
        count += pairs.len() as u64;
        hash = hash.wrapping_add(contract_hash(pairs.into_iter()));
    }
    (count, format!("{hash:016x}"))
}

#[test]
fn every_drive_finds_the_pairs_of_a_double_loop_over_the_original_ids() {
    let folder = Folder::new();
    for dim in [2, 3] {
        folder.ok(&format!("record settled:moving=0.3:dim={dim} --n 301 --frames 10 -o a.csv"));
        folder.ok(&format!("record settled:moving=0.3:dim={dim} --n 301 --frames 10 -o a.npy"));
        let text = String::from_utf8(folder.read("a.csv")).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).map(|line| line.split_once(',').unwrap().1).collect();
        let still: Vec<bool> = (0..301).map(|id| (0..10).all(|frame| lines[frame * 301 + id] == lines[id])).collect();
        assert!(still.iter().any(|&still| still) && still.iter().any(|&still| !still));
        let all = naive(&folder, "a.csv", 10, |_, _| true);
        let between = naive(&folder, "a.csv", 10, |a, b| (a + b) % 2 == 1);
        let statics = naive(&folder, "a.csv", 10, |a, b| !(still[a as usize] && still[b as usize]));
        assert!(all.0 > between.0 && all.0 > statics.0 && between.0 > 0 && statics.0 > 0);
        for file in ["a.npy", "a.csv"] {
            let rows = rows(&folder, &format!("bench {file} --algorithms auto,kd-tree,brute-force --drive {ALL}"));
            assert_eq!(rows.len(), 15, "three algorithms, five drives");
            for row in rows {
                let expected = match row["drive"].as_str().unwrap() {
                    "between" => &between,
                    "statics" => &statics,
                    _ => &all,
                };
                let found = (row["pairs_total"].as_u64().unwrap(), row["pairs_hash"].as_str().unwrap().to_string());
                assert_eq!(&found, expected, "{row}");
                assert!(row["wrong"].is_null() && row["frames"] == 10);
            }
        }
    }
}

#[test]
fn rows_name_their_drive_and_have_means_beside_medians() {
    let folder = Folder::new();
    let rows = rows(&folder, &format!("bench pile --n 200 --frames 9 --drive {ALL}"));
    let drives: Vec<&str> = rows.iter().map(|row| row["drive"].as_str().unwrap()).collect();
    assert_eq!(drives.join(","), ALL);
    for row in &rows {
        for key in ["ms_mean", "cpu_ms_mean", "ms_median", "cpu_ms_median"] {
            assert!(row[key].as_f64().is_some_and(|ms| ms > 0.0), "{key} in {row}");
        }
        assert!(row["ms_mean"].as_f64() <= row["ms_max"].as_f64() && row["ms_mean"].as_f64() >= row["ms_min"].as_f64());
    }
    let row = &folder.json("bench pile --n 50 --frames 4 --json -")["rows"][0];
    assert_eq!(row["drive"], "step", "unless another is asked for");
}

#[test]
fn drives_take_balls_and_threads_and_one_object() {
    let folder = Folder::new();
    for line in ["bench particles --n 300 --frames 4 --shape ball", "bench pile --n 400 --frames 4 --threads 2"] {
        let rows = rows(&folder, &format!("{line} --drive {ALL}"));
        assert!(rows.len() == 5 && rows.iter().all(|row| row["wrong"].is_null()), "{line}");
        assert_eq!(rows[0]["pairs_hash"], rows[1]["pairs_hash"], "{line}");
    }
    for n in [0, 1] {
        assert_eq!(rows(&folder, &format!("bench pile --n {n} --frames 3 --drive {ALL}")).len(), 5);
    }
}

#[test]
fn tables_name_the_drive_and_what_it_was_checked_against() {
    let folder = Folder::new();
    let text = folder.ok("bench pile --n 200 --frames 4 --drive world,between");
    for word in ["drive world", "drive between", "every frame checked against brute-force"] {
        assert!(text.contains(word), "no '{word}' in {text}");
    }
    let page = folder.ok("bench pile --n 200 --frames 4 --drive step,world --html -");
    assert!(page.contains("pile, n = 200, drive world"));
}

#[test]
fn an_unknown_drive_is_a_usage_error_that_offers_the_nearest() {
    let folder = Folder::new();
    folder.fails("bench pile --drive wolrd", 2, &["--drive", "did you mean 'world'?"]);
    folder.fails("bench pile --drive step,", 2, &["--drive"]);
}

/// Peers that a build has, with `--features peers` and others.
#[test]
fn peers_are_driven_in_every_way_and_find_the_pairs_of_their_drive() {
    let folder = Folder::new();
    for dim in [2, 3] {
        let line =
            format!("bench settled:moving=0.3:dim={dim} --n 300 --frames 10 --algorithms brute-force --peers all --drive {ALL}");
        let rows = rows(&folder, &line);
        for drive in ALL.split(',') {
            let rows: Vec<&Value> = rows.iter().filter(|row| row["drive"] == drive).collect();
            let ours = rows.iter().find(|row| row["algorithm"] == "brute-force").unwrap();
            for row in &rows {
                assert_eq!((&row["pairs_hash"], &row["pairs_total"]), (&ours["pairs_hash"], &ours["pairs_total"]), "{row}");
                assert!(row["wrong"].is_null() && row["cpu_ms_mean"].as_f64().is_some(), "{row}");
            }
        }
    }
}
