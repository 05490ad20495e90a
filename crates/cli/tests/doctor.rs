//! `doctor`: what it says about good recordings and broken ones.

mod tool;

use serde_json::Value;
use tool::{Folder, f32_bytes, npy};

/// Runs `doctor` on a source, as a page and for scripts; the page fits eighty columns.
fn examine(folder: &Folder, source: &str) -> (String, Value) {
    let page = folder.ok(&format!("doctor {source}"));
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    assert!(page.lines().count() <= 60, "more than a page: {page}");
    for heading in ["What is in it", "What to change"] {
        assert!(page.contains(heading), "{page}");
    }
    (page, folder.json(&format!("doctor {source} --json")))
}

fn advice(found: &Value) -> String {
    found["advice"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_scene_has_a_page_with_a_winner() {
    let folder = Folder::new();
    let list = folder.json("list --json");
    for scene in list["scenes"].as_array().unwrap() {
        let name = scene["name"].as_str().unwrap();
        if name.ends_with("-simulated") {
            continue;
        }
        let (page, found) = examine(&folder, &format!("{name} --n 300 --frames 4"));
        assert!(page.contains("Which algorithm wins") && page.contains("<- wins"), "{page}");
        assert_eq!((found["n"].as_u64(), found["frames_looked_at"].as_u64()), (Some(300), Some(4)), "{name}");
        assert!(found["winner"].is_string() && found["why"].is_string(), "{found}");
        assert!(found["invalid"]["boxes"] == 0 && found["sizes"]["median"].as_f64().unwrap() > 0.0, "{found}");
    }
}

#[test]
fn points_are_no_giants_and_their_steps_are_lengths() {
    let folder = Folder::new();
    let mut rows: Vec<[f32; 4]> = Vec::new();
    for frame in 0..3 {
        rows.extend((0..50).map(|k| [k as f32 + 0.25 * frame as f32, 0.0]).map(|[x, y]| [x, y, x, y]));
        rows.push([-5.0, -5.0, 60.0, 5.0]); // the only giant
    }
    folder.write("points.npy", &npy("<f4", false, "(3, 51, 4)", &f32_bytes(&rows.concat())));
    let (page, found) = examine(&folder, "points.npy");
    let text = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("1 object: 50 (largest edge 65)") && text.contains("steps of 0.25 on average"), "{page}");
    assert_eq!(found["space"]["giants"]["count"], 1, "{found}");
    folder.write("one.npy", &npy("<f4", false, "(2, 1, 4)", &f32_bytes(&[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0])));
    let (page, _) = examine(&folder, "one.npy");
    assert!(page.starts_with("one.npy: 1 object, 2D float32, 2 frames") && !page.contains("static objects"), "{page}");
}

#[test]
fn still_objects_are_counted_and_static_ones_advised() {
    let folder = Folder::new();
    folder.ok("record settled --n 1000 --frames 40 -o a.npy");
    let (page, found) = examine(&folder, "a.npy");
    assert!((found["motion"]["still_share"].as_f64().unwrap() - 0.9).abs() < 1e-9, "{}", found["motion"]);
    assert!((found["motion"]["moved_share"].as_f64().unwrap() - 0.1).abs() < 1e-3, "{}", found["motion"]);
    assert!(page.contains("90 % never move") && advice(&found).contains("static objects"), "{page}");
    assert!(page.contains("looked at 24 of them: 0-7, 16-23, 32-39"), "{page}");
}

#[test]
fn pairs_duplicates_ties_giants_and_far_objects_are_counted() {
    let folder = Folder::new();
    let mut rows: Vec<[f32; 4]> =
        (0..100).map(|k| [(k % 10) as f32, (k / 10) as f32]).map(|[x, y]| [x, y, x + 1.0, y + 1.0]).collect();
    rows.push([0.0, 0.0, 10.0, 10.0]); // a giant
    rows.push([1e6, 0.0, 1e6 + 1.0, 1.0]); // far away
    rows.push([5.0, 5.0, 6.0, 6.0]); // the same as object 55
    folder.write("grid.npy", &npy("<f4", false, "(103, 4)", &f32_bytes(&rows.concat())));
    let (page, found) = examine(&folder, "grid.npy");
    assert_eq!((found["duplicates"].as_u64(), found["space"]["far"]["count"].as_u64()), (Some(1), Some(1)));
    assert_eq!(found["space"]["far"]["first"][0]["object"], 101);
    assert_eq!(
        (found["space"]["giants"]["count"].as_u64(), &found["space"]["giants"]["first"][0]["object"]),
        (Some(1), &100.into())
    );
    let pairs = folder.ok("pairs grid.npy").lines().count() - 1;
    let first = &found["pairs"]["first_frame"];
    assert_eq!((first["pairs"].as_u64(), first["busiest"]["object"].as_u64()), (Some(pairs as u64), Some(100)));
    assert_eq!(first["busiest"]["pairs"], 101, "the giant meets all but the one far away");
    // Bricks of a wall touch beside, above and at corners; so do the eight around the duplicate. The giant contains them all.
    let touching = first["touching_share"].as_f64().unwrap() * pairs as f64;
    assert!((touching - (180.0 + 162.0 + 8.0)).abs() < 1e-6, "{touching}");
    assert!(found["equal_x_share"].as_f64().unwrap() > 0.8 && found["motion"].is_null());
    for word in ["giants", "far away", "duplicates", "ties", "only touch", "motion     unknown: one frame"] {
        assert!(page.contains(word), "no '{word}' in {page}");
    }
    let advice = advice(&found);
    assert!(advice.contains("far from all others") && advice.contains("inserted twice") && advice.contains("giant"), "{advice}");
}

#[test]
fn invalid_boxes_are_named_with_their_places_and_the_rest_is_looked_at() {
    let folder = Folder::new();
    folder.ok("record pile --n 200 --frames 3 -o a.npy");
    let mut bytes = folder.read("a.npy");
    let start = bytes.len() - 3 * 200 * 24;
    let at = |frame: usize, object: usize, column: usize| start + ((frame * 200 + object) * 6 + column) * 4;
    bytes[at(1, 7, 1)..at(1, 7, 1) + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    bytes[at(2, 9, 5)..at(2, 9, 5) + 4].copy_from_slice(&(-1e9f32).to_le_bytes());
    folder.write("bad.npy", &bytes);
    let run = folder.run("doctor bad.npy");
    assert_eq!((run.code, run.stderr.lines().count()), (1, 1), "{}", run.stderr);
    assert!(run.stderr.contains("bad.npy: 2 invalid boxes, the first in frame 1, object 7: NaN on y"), "{}", run.stderr);
    let page = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in
        ["INVALID", "frame 1, object 7: NaN on y", "frame 2, object 9: min above max on z", "<- wins", "Repair or remove 2"]
    {
        assert!(page.contains(word), "no '{word}' in {page}");
    }
    let found: Value = serde_json::from_str(&folder.run("doctor bad.npy --json").stdout).unwrap();
    assert_eq!((found["invalid"]["boxes"].as_u64(), found["invalid"]["objects"].as_u64()), (Some(2), Some(2)));
    assert_eq!(found["invalid"]["first"][0]["fault"], "NaN");
    folder.write("bad.csv", b"0,0,1,1\n2,0,1,1\n0,0,2,2\n");
    let run = folder.run("doctor bad.csv");
    assert!(run.code == 1 && run.stdout.contains("line 2, frame 0, object 1: min above max on x"), "{}", run.stdout);
}

#[test]
fn files_that_cannot_be_read_are_one_line() {
    let folder = Folder::new();
    folder.write("cut.npy", &npy("<f4", false, "(2, 6)", &f32_bytes(&[0.0; 6])));
    folder.write("none.npy", &npy("<f4", false, "(0, 3, 6)", &[]));
    folder.fails("doctor cut.npy", 1, &["cut.npy", "cut off"]);
    folder.fails("doctor none.npy", 1, &["none.npy", "no frames"]);
    folder.fails("doctor missing.npy", 1, &["missing.npy", "cannot open"]);
    folder.fails("doctor plie", 2, &["`pile`"]);
    folder.fails("doctor", 2, &["FILE or SCENE"]);
    folder.fails("doctor cut.npy --n 5", 2, &["--n and --frames are for scenes"]);
}

#[test]
fn few_or_no_objects_have_a_page_too() {
    let folder = Folder::new();
    for n in [0, 1, 2] {
        let (page, found) = examine(&folder, &format!("pile --n {n} --frames 2"));
        assert_eq!(found["pairs"].is_null(), n < 2, "{page}");
    }
    let inf = f32::INFINITY;
    let rows = [[-inf, -inf, inf, 0.0], [0.0, 0.0, 1.0, 1.0], [3.0, 3.0, 3.0, 3.0]].concat();
    folder.write("plane.npy", &npy("<f4", false, "(3, 4)", &f32_bytes(&rows)));
    let (page, found) = examine(&folder, "plane.npy");
    assert_eq!((found["sizes"]["infinite"].as_u64(), found["sizes"]["points"].as_u64()), (Some(1), Some(1)), "{page}");
    let all = folder.run_with("doctor - --format csv", b"0,0,1,1\n0.5,0,1,1\n");
    assert!(all.code == 0 && all.stdout.starts_with("stdin: 2 objects, 2D float64, 1 frame\n"), "{}", all.stdout);
}
