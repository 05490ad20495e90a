//! `record`, `pairs` and `bench` on the same frames say the same.

mod tool;

use std::process::{Command, Stdio};

use tool::{Folder, contract_hash, f32_bytes, f64_bytes, npy, read_u32};

fn csv_pairs(text: &str) -> Vec<(u32, u32)> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("a,b"));
    lines.map(|line| line.split_once(',').map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap())).unwrap()).collect()
}

#[test]
fn recording_pairs_and_bench_agree() {
    let folder = Folder::new();
    folder.ok("record brownian-cubes --n 2000 --frames 5 -o a.npy");
    let counts = folder.ok("pairs a.npy --algorithm brute-force --count");
    let (mut hash, mut total) = (0u64, 0);
    for frame in 0..5 {
        folder.ok(&format!("pairs a.npy --algorithm brute-force --frame {frame} -o p.npy"));
        let (shape, ids) = read_u32(&folder.read("p.npy"));
        let pairs: Vec<(u32, u32)> = ids.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        assert_eq!(shape, format!("({}, 2)", pairs.len()));
        assert!(
            pairs.windows(2).all(|two| two[0] < two[1]) && pairs.iter().all(|pair| pair.0 < pair.1),
            "sorted, canonical, once"
        );
        assert_eq!(counts.lines().nth(frame), Some(format!("{frame} 2000 {}", pairs.len()).as_str()));
        assert_eq!(csv_pairs(&folder.ok(&format!("pairs a.npy --algorithm brute-force --frame {frame}"))), pairs);
        hash = hash.wrapping_add(contract_hash(pairs.iter().copied()));
        total += pairs.len() as u64;
    }
    assert!(total > 500, "the scene has pairs: {total}");
    for line in [
        "bench a.npy --algorithms brute-force --json -",
        "bench brownian-cubes --n 2000 --frames 5 --algorithms brute-force --json -",
    ] {
        let row = &folder.json(line)["rows"][0];
        assert_eq!((row["pairs_total"].as_u64(), row["frames"].as_u64()), (Some(total), Some(5)), "{line}");
        assert_eq!(row["pairs_hash"].as_str(), Some(format!("{hash:016x}").as_str()), "{line}");
        assert_eq!(row["tests_total"].as_u64(), Some(5 * 2000 * 1999 / 2), "{line}");
    }
}

#[test]
fn a_result_never_takes_the_place_of_its_input_by_whatever_name() {
    let folder = Folder::new();
    folder.ok("record pile --n 50 --frames 2 -o a.npy");
    let recording = folder.read("a.npy");
    for line in [
        "pairs a.npy -o a.npy",
        "pairs a.npy -o ./a.npy",
        "bench a.npy --json a.npy",
        "bench pile a.npy --html ./a.npy",
        "bench a.npy --json x.out --html ./x.out",
    ] {
        folder.fails(line, 2, &["another name"]);
        assert!(folder.read("a.npy") == recording, "{line}");
    }
    assert_eq!(folder.names(), ["a.npy"]);
    folder.ok("bench a.npy --json /dev/null");
}

#[test]
fn outputs_are_the_same_in_every_form() {
    let folder = Folder::new();
    folder.ok("record pile:dim=2 --n 300 --frames 2 --seed 7 -o a.npy");
    let text = folder.ok("pairs a.npy --algorithm brute-force --frame 1");
    assert_eq!(folder.ok("pairs a.npy --algorithm brute-force --frame 1 -o -"), text);
    assert_eq!(folder.ok("pairs a.npy --algorithm brute-force --frame 1 --threads 2"), text);
    assert_eq!(folder.ok("pairs a.npy --algorithm brute-force:isa=scalar --frame 1"), text);
    folder.ok("pairs a.npy --algorithm brute-force --frame 1 -o p.csv");
    assert_eq!(folder.read("p.csv"), text.as_bytes());
    let balls = csv_pairs(&folder.ok("pairs a.npy --algorithm brute-force --frame 1 --shape ball"));
    let boxes = csv_pairs(&text);
    assert!(balls.len() < boxes.len() && balls.iter().all(|pair| boxes.contains(pair)), "balls are inside their boxes");
}

#[test]
fn the_default_algorithm_is_auto_and_finds_the_same_pairs() {
    let folder = Folder::new();
    for scene in ["pile", "sizes:dim=2"] {
        folder.ok(&format!("record {scene} --n 1500 --frames 3 -o a.npy"));
        let expected = folder.ok("pairs a.npy --algorithm brute-force --frame 2");
        assert_eq!(folder.ok("pairs a.npy --frame 2"), expected);
        assert_eq!(folder.ok("pairs a.npy --count"), folder.ok("pairs a.npy --count --algorithm brute-force"));
        let row = &folder.json("bench a.npy --check --json -")["rows"][0];
        assert_eq!((row["algorithm"].as_str(), row["wrong"].is_null()), (Some("auto"), true));
        assert!(row["choice"].as_str().is_some_and(|choice| !choice.is_empty()), "auto says what it chose: {row}");
    }
}

#[test]
fn seeds_decide_every_bit() {
    let folder = Folder::new();
    for (seed, name) in
        [("--seed 3", "a.npy"), ("--seed 3", "b.npy"), ("--seed 4", "c.npy"), ("", "d.npy"), ("--seed 0", "e.npy")]
    {
        folder.ok(&format!("record uniform --n 100 --frames 2 {seed} -o {name}"));
    }
    assert_eq!(folder.read("a.npy"), folder.read("b.npy"));
    assert_ne!(folder.read("a.npy"), folder.read("c.npy"));
    assert_eq!(folder.read("d.npy"), folder.read("e.npy"));
    assert_eq!(folder.names(), ["a.npy", "b.npy", "c.npy", "d.npy", "e.npy"]);
}

#[test]
fn no_object_and_one_object_are_legal() {
    let folder = Folder::new();
    for n in [0, 1] {
        folder.ok(&format!("record pile --n {n} --frames 2 -o a.npy"));
        assert_eq!(folder.ok("pairs a.npy --algorithm brute-force"), "a,b\n");
        assert_eq!(folder.ok("pairs a.npy --algorithm brute-force --count"), format!("0 {n} 0\n1 {n} 0\n"));
        folder.ok("pairs a.npy --algorithm brute-force -o p.npy");
        assert_eq!(read_u32(&folder.read("p.npy")), ("(0, 2)".to_string(), vec![]));
        folder.ok("bench a.npy --algorithms all --check");
        let row = &folder.json(&format!("bench pile --n {n} --frames 3 --algorithms brute-force --json -"))["rows"][0];
        assert_eq!((row["n"].as_u64(), row["pairs_total"].as_u64()), (Some(n), Some(0)));
        assert_eq!(row["pairs_hash"].as_str(), Some("0000000000000000"));
    }
}

#[test]
fn float64_is_never_rounded_to_float32() {
    let folder = Folder::new();
    // The gap between the boxes exists in float64 only.
    let gap = 1.0 + 1e-12;
    folder.write("gap.npy", &npy("<f8", false, "(2, 4)", &f64_bytes(&[0.0, 0.0, 1.0, 1.0, gap, 0.0, 2.0, 1.0])));
    assert_eq!(folder.ok("pairs gap.npy --algorithm brute-force"), "a,b\n");
    folder.write("gap.csv", format!("min_x,min_y,max_x,max_y\n0,0,1,1\n{gap},0,2,1\n").as_bytes());
    assert_eq!(folder.ok("pairs gap.csv --algorithm brute-force"), "a,b\n");
    folder.write("touch.csv", b"min_x,min_y,min_z,max_x,max_y,max_z\n0,0,0,1,1,1\n1,1,1,2,2,2\n");
    assert_eq!(folder.ok("pairs touch.csv --algorithm brute-force"), "a,b\n0,1\n");
    let row = &folder.json("bench gap.npy --algorithms brute-force --json -")["rows"][0];
    assert_eq!((row["scalar"].as_str(), row["dim"].as_u64(), row["pairs_total"].as_u64()), (Some("float64"), Some(2), Some(0)));
}

#[test]
fn infinite_sides_are_legal() {
    let folder = Folder::new();
    let plane = [f32::NEG_INFINITY, f32::NEG_INFINITY, -1.0, f32::INFINITY, f32::INFINITY, 0.0];
    let data = f32_bytes(&[plane, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [5.0, 5.0, 5.0, 6.0, 6.0, 6.0]].concat());
    folder.write("plane.npy", &npy("<f4", false, "(3, 6)", &data));
    assert_eq!(folder.ok("pairs plane.npy --algorithm brute-force"), "a,b\n0,1\n");
}

#[test]
fn broadmark_recordings_hold_the_same_boxes() {
    let folder = Folder::new();
    folder.ok("record sizes --n 200 --frames 3 -o a.npy");
    folder.ok("record sizes --n 200 --frames 3 -o a.aabbs");
    let line = |name: &str| folder.ok(&format!("pairs {name} --algorithm brute-force --count"));
    assert_eq!(line("a.npy"), line("a.aabbs"));
    folder.fails("record sizes:dim=2 --n 5 --frames 1 -o b.aabbs", 2, &["3D"]);
}

#[test]
fn a_reader_that_leaves_early_ends_the_tool_quietly() {
    let folder = Folder::new();
    folder.ok("record pile --n 3000 --frames 1 -o a.npy");
    let mut child = Command::new(env!("CARGO_BIN_EXE_broadphase"))
        .args(["pairs", "a.npy", "--algorithm", "brute-force"])
        .current_dir(&folder.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[cfg(unix)]
#[test]
fn an_interrupted_recording_leaves_nothing() {
    let folder = Folder::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_broadphase"))
        .args(["record", "pile", "--n", "2000", "--frames", "100000", "-o", "a.npy"])
        .current_dir(&folder.0)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while folder.names().is_empty() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before its file appeared");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(kill.success() && child.wait().is_ok());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), folder.names()), (Some(130), vec![]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted"));
}
