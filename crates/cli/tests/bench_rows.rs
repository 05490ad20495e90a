//! `bench`: every key, every row, every mark.

mod tool;

use serde_json::Value;
use tool::Folder;

const KEYS: [&str; 32] = [
    "scene",
    "n",
    "dim",
    "scalar",
    "shape",
    "frames",
    "algorithm",
    "peer",
    "threads",
    "drive",
    "isa",
    "setup_ms",
    "ms_median",
    "ms_mean",
    "ms_min",
    "ms_p95",
    "ms_p99",
    "ms_max",
    "cpu_ms_median",
    "cpu_ms_mean",
    "update_ms_median",
    "detect_ms_median",
    "stages",
    "pairs_total",
    "pairs_hash",
    "tests_total",
    "bytes",
    "choice",
    "stopped",
    "wrong",
    "parallel",
    "extra",
];

fn keys(row: &Value) -> Vec<&str> {
    row.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn every_row_has_the_keys_of_the_contract_in_its_order() {
    let folder = Folder::new();
    let result =
        folder.json("bench pile settled:dim=2 --n 50,200 --frames 10 --algorithms brute-force,brute-force:isa=scalar --json -");
    assert_eq!(keys(&result), ["machine", "rows"]);
    for key in ["cpu", "cores", "isa", "os", "rustc"] {
        assert!(result["machine"].get(key).is_some(), "{key}");
    }
    let rows = result["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    for row in rows {
        assert_eq!(keys(row), KEYS);
        assert_eq!((row["frames"].as_u64(), row["stopped"].as_bool(), row["wrong"].is_null()), (Some(10), Some(false), true));
        assert_eq!((row["threads"].as_u64(), row["peer"].as_bool()), (Some(1), Some(false)));
        let figure = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key} in {row}"));
        let ladder = ["ms_min", "ms_median", "ms_p95", "ms_p99", "ms_max"].map(figure);
        assert!(ladder.is_sorted() && ladder[0] > 0.0, "{row}");
        assert!(figure("setup_ms") > 0.0 && figure("cpu_ms_median") > 0.0 && figure("bytes") > 0.0);
        assert!(figure("update_ms_median") <= figure("ms_max") && figure("detect_ms_median") <= figure("ms_max"));
    }
    let places: Vec<_> = rows.iter().map(|row| (row["scene"].as_str().unwrap(), row["n"].as_u64().unwrap())).collect();
    let pile = ("pile", 50);
    assert_eq!([places[0], places[1], places[2], places[4]], [pile, pile, ("pile", 200), ("settled:dim=2", 50)]);
    assert_eq!((rows[1]["algorithm"].as_str(), rows[1]["isa"].as_str()), (Some("brute-force:isa=scalar"), Some("scalar")));
    assert_eq!(rows[0]["pairs_hash"], rows[1]["pairs_hash"]);
    assert_eq!((rows[0]["dim"].as_u64(), rows[4]["dim"].as_u64()), (Some(3), Some(2)));
}

#[test]
fn series_hold_every_frame() {
    let folder = Folder::new();
    let result = folder.json("bench settled --n 100 --frames 11 --algorithms brute-force --series --json -");
    let row = &result["rows"][0];
    let expected: Vec<&str> = KEYS.into_iter().chain(["ms", "pairs", "moved_share"]).collect();
    assert_eq!(keys(row), expected);
    for key in ["ms", "pairs", "moved_share"] {
        assert_eq!(row[key].as_array().map(Vec::len), Some(11), "{key}");
    }
    let total: u64 = row["pairs"].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    assert_eq!(Some(total), row["pairs_total"].as_u64());
    assert_eq!(row["ms"][0], row["setup_ms"]);
    assert!(row["moved_share"][0].is_null());
    assert_eq!(row["moved_share"][10].as_f64(), Some(0.1), "a tenth of a settled pile moves");
}

#[test]
fn one_frame_is_its_own_measurement() {
    let folder = Folder::new();
    let row = &folder.json("bench pile --n 100 --frames 1 --algorithms brute-force --json -")["rows"][0];
    assert_eq!((&row["ms_median"], row["frames"].as_u64()), (&row["setup_ms"], Some(1)));
}

#[test]
fn a_row_beyond_its_limit_stops_and_is_marked() {
    let folder = Folder::new();
    let line = "bench pile --n 400 --frames 20 --algorithms brute-force,brute-force:isa=scalar --row-limit 0.000001";
    let result = folder.json(&format!("{line} --json -"));
    for row in result["rows"].as_array().unwrap() {
        assert_eq!((row["stopped"].as_bool(), row["frames"].as_u64()), (Some(true), Some(1)));
        assert_eq!((&row["ms_median"], row["wrong"].is_null()), (&row["setup_ms"], true));
    }
    assert!(folder.ok(line).contains("stopped at its limit after 1 of 20 frames"));
}

#[test]
fn all_algorithms_agree_with_the_oracle() {
    let folder = Folder::new();
    let names: Vec<String> = folder.json("list --json")["algorithms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|algorithm| algorithm["name"].as_str().unwrap().to_string())
        .collect();
    for line in [
        "bench sizes --n 300 --frames 9",
        "bench pile:dim=2 --n 300 --frames 9 --threads 2",
        "bench pile --n 300 --frames 4 --shape ball",
    ] {
        let result = folder.json(&format!("{line} --algorithms all --check --json -"));
        let rows = result["rows"].as_array().unwrap();
        assert!(!rows.is_empty() && rows.iter().all(|row| names.contains(&row["algorithm"].as_str().unwrap().to_string())));
        for row in rows {
            assert_eq!((&row["pairs_hash"], row["wrong"].is_null()), (&rows[0]["pairs_hash"], true), "{line}: {row}");
        }
    }
}

#[test]
fn cpu_time_is_unknown_with_more_than_one_thread() {
    let folder = Folder::new();
    let row = &folder.json("bench pile --n 2000 --frames 3 --algorithms brute-force --threads 2 --json -")["rows"][0];
    assert_eq!((row["threads"].as_u64(), row["cpu_ms_median"].is_null()), (Some(2), true));
    let share = row["extra"]["largest_worker_share"].as_f64().unwrap();
    assert!((0.5..=1.0).contains(&share), "{share}");
}

#[test]
fn rows_of_several_numbers_of_threads_take_turns_in_one_run() {
    let folder = Folder::new();
    let line = "bench pile --n 3000 --frames 17 --algorithms auto,sort-and-sweep --threads 1,2,4,2 --drive step,world";
    let result = folder.json(&format!("{line} --json -"));
    let rows = result["rows"].as_array().unwrap();
    let threads: Vec<_> = rows.iter().map(|row| row["threads"].as_u64().unwrap()).collect();
    assert_eq!(threads, [1, 2, 4].repeat(4), "each number once, for both algorithms and drives");
    for row in rows {
        assert_eq!((&row["pairs_hash"], row["wrong"].is_null()), (&rows[0]["pairs_hash"], true), "{row}");
        assert!(row["parallel"]["regions"].as_f64().unwrap() >= 1.0, "{row}");
        let (jobs, longest) = (row["parallel"]["jobs_ms"].as_f64().unwrap(), row["parallel"]["longest_ms"].as_f64().unwrap());
        assert!(jobs > 0.0 && longest > 0.0 && row["parallel"]["projected_speed_up"]["64"].as_f64().unwrap() >= 1.0, "{row}");
        let speed_up = &row["parallel"]["speed_up"];
        assert_eq!(speed_up.is_null(), row["threads"] == 1, "{row}");
        if !speed_up.is_null() {
            let [low, median, high] = ["low", "median", "high"].map(|key| speed_up[key].as_f64().unwrap());
            assert!(0.0 < low && low <= median && median <= high && speed_up["threads"] == 1, "{row}");
            assert!(speed_up["work_ratio"].as_f64().unwrap() > 0.0, "{row}");
        }
    }
    let text = folder.ok(line);
    for words in
        ["1, 2, 4 threads", "auto on 2 threads", "times as fast as auto [", "% sequential", "projected speed-up by work and span"]
    {
        assert!(text.contains(words), "no '{words}' in {text}");
    }
    folder.fails("bench pile --threads 1,0", 2, &["--threads", "1,2,4"]);
}

#[test]
fn the_table_is_for_people_and_the_file_for_scripts() {
    let folder = Folder::new();
    let line = "bench pile --n 300 --frames 24 --algorithms brute-force:isa=scalar,brute-force";
    let text = folder.ok(&format!("{line} --json out.json"));
    assert_eq!(folder.names(), ["out.json"]);
    let result: Value = serde_json::from_slice(&folder.read("out.json")).unwrap();
    assert_eq!(result["rows"].as_array().map(Vec::len), Some(2));
    for word in ["pile: 300 objects, 3D float32", "Mtests/s", "brute-force:isa=scalar", " times as fast as ", "["] {
        assert!(text.contains(word), "no '{word}' in: {text}");
    }
}

#[test]
fn a_recording_is_cut_to_the_frames_asked_for() {
    let folder = Folder::new();
    folder.ok("record pile --n 50 --frames 6 -o a.npy");
    let row = &folder.json("bench a.npy --frames 4 --algorithms brute-force --json -")["rows"][0];
    assert_eq!((row["frames"].as_u64(), row["scene"].as_str()), (Some(4), Some("a.npy")));
    let more = folder.run("bench a.npy --frames 9 --algorithms brute-force --json -");
    assert!(more.code == 0 && more.stderr.contains("has 6 frames"), "{}", more.stderr);
}

#[test]
fn what_is_skipped_is_told_once_with_the_number_of_objects_if_that_decides() {
    let told = Folder::new().run("bench pile sizes --n 20,2000,3000 --frames 3 --algorithms all --row-limit 0.00001 --json -");
    assert_eq!(told.code, 0, "{}", told.stderr);
    for scene in ["pile", "sizes"] {
        let notes: Vec<&str> =
            told.stderr.lines().filter(|line| line.starts_with(&format!("note: skipped on {scene}:"))).collect();
        let with = |text: &str| notes.iter().filter(|note| note.contains(text)).count();
        assert_eq!((with("particle-grid"), with("brute-force"), notes.len()), (1, 2, 3), "{}", told.stderr);
        assert_eq!((with("with 2000 objects"), with("with 3000 objects")), (1, 1), "{}", told.stderr);
    }
}

#[cfg(feature = "peers")]
#[test]
fn peers_agree_and_those_that_do_not_suit_are_skipped() {
    let folder = Folder::new();
    for line in
        ["bench sizes --n 300 --frames 9", "bench pile:dim=2 --n 200 --frames 9", "bench pile --n 200 --frames 3 --shape ball"]
    {
        let result = folder.json(&format!("{line} --algorithms brute-force --peers all --check --json -"));
        let rows = result["rows"].as_array().unwrap();
        assert!(rows.iter().filter(|row| row["peer"] == true).count() > 3);
        for row in rows {
            assert_eq!((&row["pairs_hash"], row["wrong"].is_null()), (&rows[0]["pairs_hash"], true), "{line}: {row}");
        }
    }
    folder.fails("bench pile --n 20 --algorithms brute-force --peers broccoli", 2, &["broccoli", "3D"]);
    folder.fails("bench pile --n 20 --algorithms brute-force --peers kiddo", 2, &["kiddo", "--shape ball"]);
}

/// The option has no comma, which separates algorithms.
#[test]
fn a_bounded_structure_takes_its_world_from_the_command_line() {
    let folder = Folder::new();
    let all = "octree:world=0/0/0/5/5/5,level-grid:world=-1e2/-1e2/-1e2/1e2/1e2/1e2,grid-sap:world=auto,level-grid";
    let result = folder.json(&format!("bench pile --n 300 --frames 4 --algorithms {all} --check --json -"));
    let rows = result["rows"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["algorithm"].as_str().unwrap()).collect::<Vec<_>>(), all.split(',').collect::<Vec<_>>());
    assert!(rows.iter().all(|row| row["wrong"].is_null() && row["pairs_hash"] == rows[0]["pairs_hash"]));
    // The sections of a world that is far too large hold more objects.
    let tests = |row: usize| rows[row]["tests_total"].as_u64().unwrap();
    assert!(tests(1) > 2 * tests(3), "{} and {}", tests(1), tests(3));
}
