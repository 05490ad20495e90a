//! Whatever is wrong: one line on stderr with file, place and remedy, the right exit code, and nothing half-written.

mod tool;

use tool::{Folder, f32_bytes, f64_bytes, npy};

const GOOD: [f32; 6] = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];

/// Every command that reads a file rejects it in the same way.
fn refused(folder: &Folder, name: &str, words: &[&str]) {
    let words: Vec<&str> = words.iter().copied().chain([name]).collect();
    let before = folder.names();
    folder.fails(&format!("pairs {name} --algorithm brute-force -o out.npy"), 1, &words);
    let bench = folder.run(&format!("bench {name} --algorithms brute-force --json out.json"));
    assert_eq!((bench.code, bench.stderr.lines().count()), (1, 1), "{name}: {}", bench.stderr);
    assert!(words.iter().all(|word| bench.stderr.contains(word)), "{name}: {}", bench.stderr);
    assert_eq!(folder.names(), before, "{name}: nothing half-written stays");
}

#[test]
fn a_numpy_file_of_the_wrong_kind_is_refused_with_the_remedy() {
    let folder = Folder::new();
    let data = f32_bytes(&GOOD);
    folder.write("dtype.npy", &npy("<i4", false, "(1, 6)", &data));
    refused(&folder, "dtype.npy", &["<i4", "float32 or float64"]);
    folder.write("order.npy", &npy(">f4", false, "(1, 6)", &data));
    refused(&folder, "order.npy", &["big-endian"]);
    folder.write("shape.npy", &npy("<f4", false, "(1, 5)", &data[..20]));
    refused(&folder, "shape.npy", &["(1, 5)", "(n, 6)"]);
    folder.write("flat.npy", &npy("<f4", false, "(6,)", &data));
    refused(&folder, "flat.npy", &["(n, 6)"]);
    folder.write("fortran.npy", &npy("<f4", true, "(1, 6)", &data));
    refused(&folder, "fortran.npy", &["Fortran", "ascontiguousarray"]);
    folder.write("magic.npy", b"not numpy data at all, but long enough for a header");
    refused(&folder, "magic.npy", &["byte 0"]);
}

#[test]
fn a_file_that_is_cut_off_or_empty_is_refused() {
    let folder = Folder::new();
    folder.write("short.npy", &npy("<f4", false, "(2, 6)", &f32_bytes(&GOOD)));
    refused(&folder, "short.npy", &["cut off"]);
    folder.write("long.npy", &npy("<f4", false, "(1, 4)", &f32_bytes(&GOOD)));
    refused(&folder, "long.npy", &["too many"]);
    folder.write("empty.npy", b"");
    refused(&folder, "empty.npy", &["empty"]);
    folder.write("empty.csv", b"");
    refused(&folder, "empty.csv", &["empty"]);
    std::fs::create_dir(folder.path("folder.npy")).unwrap();
    refused(&folder, "folder.npy", &["not a regular file"]);
    std::fs::create_dir(folder.path("folder")).unwrap();
    refused(&folder, "folder", &["not a regular file"]);
    refused(&folder, "missing.npy", &["cannot open"]);
    folder.write("none.npy", &npy("<f4", false, "(0, 3, 6)", &[]));
    refused(&folder, "none.npy", &["no frame"]);
}

#[test]
fn a_bad_box_is_named_by_frame_object_and_axis() {
    let folder = Folder::new();
    let bad = [0.0, 0.0, 0.0, 1.0, f32::NAN, 1.0];
    let data = f32_bytes(&[GOOD, GOOD, GOOD, bad].concat());
    folder.write("nan.npy", &npy("<f4", false, "(2, 2, 6)", &data));
    folder.fails(
        "pairs nan.npy --frame 1 --algorithm brute-force -o out.npy",
        1,
        &["nan.npy", "frame 1", "object 1", "axis y", "NaN"],
    );
    let counted = folder.run("pairs nan.npy --algorithm brute-force --count");
    assert_eq!((counted.code, counted.stdout.as_str()), (1, "0 2 1\n"), "frames before the bad one are counted");
    let bench = folder.run("bench nan.npy --algorithms brute-force --json out.json");
    assert_eq!(bench.code, 1);
    assert!(bench.stderr.contains("frame 1, object 1"), "{}", bench.stderr);
    assert_eq!(folder.ok("pairs nan.npy --algorithm brute-force"), "a,b\n0,1\n", "frame 0 is good");
    let crossed = f64_bytes(&[0.0, 5.0, 1.0, 4.0]);
    folder.write("crossed.npy", &npy("<f8", false, "(1, 4)", &crossed));
    refused(&folder, "crossed.npy", &["frame 0", "object 0", "axis y", "min is above max"]);
    assert_eq!(folder.names(), ["crossed.npy", "nan.npy"]);
}

#[test]
fn a_csv_file_with_something_missing_is_refused_with_its_line() {
    let folder = Folder::new();
    folder.write("header.csv", b"min_x,min_y,max_x\n0,0,1\n");
    refused(&folder, "header.csv", &["line 1", "max_y"]);
    folder.write("row.csv", b"min_x,min_y,max_x,max_y\n0,0,1,1\n0,0,1\n");
    refused(&folder, "row.csv", &["line 3"]);
    folder.write("word.csv", b"min_x,min_y,max_x,max_y\n0,zero,1,1\n");
    refused(&folder, "word.csv", &["line 2", "column 2"]);
    folder.write("boxes.json", b"0 0 1 1\n");
    refused(&folder, "boxes.json", &["unknown ending", ".npy, .csv"]);
}

#[test]
fn unknown_names_are_usage_errors_that_offer_the_nearest() {
    let folder = Folder::new();
    folder.write("good.npy", &npy("<f4", false, "(1, 6)", &f32_bytes(&GOOD)));
    folder.fails("pairs good.npy --algorithm brute-forse", 2, &["'brute-force'"]);
    folder.fails("pairs good.npy --algorithm brute-force:speed=9", 2, &["speed", "isa"]);
    folder.fails("pairs good.npy --algorithm brute-force:isa=mmx", 2, &["isa", "mmx", "scalar"]);
    folder.fails("bench good.npy --algorithms brute-force,brute-forc", 2, &["'brute-force'"]);
    folder.fails("bench brownian-cube", 2, &["brownian-cubes"]);
    folder.fails("bench pile:dimm=2", 2, &["dimm", "dim"]);
    folder.fails("bench pile:dim=5", 2, &["dim", "5"]);
    folder.fails("record plie --n 5 --frames 1 -o out.npy", 2, &["pile"]);
    folder.fails("bench pile --algorithms brute-force --peers pary", 2, &["parry"]);
    folder.fails("bench pile --algorithms brute-force --peers bulet", 2, &["bullet-dbvt-f"]);
    folder.fails("lsit", 2, &["list"]);
    folder.fails("list --jsno", 2, &["--json"]);
    assert_eq!(folder.names(), ["good.npy"]);
}

#[test]
fn bad_values_are_usage_errors() {
    let folder = Folder::new();
    folder.write("good.npy", &npy("<f4", false, "(1, 6)", &f32_bytes(&GOOD)));
    folder.fails("pairs", 2, &["FILE"]);
    folder.fails("pairs good.npy --algorithm brute-force --frame 1", 2, &["no frame 1", "1 frames"]);
    folder.fails("pairs good.npy --algorithm brute-force --frame -1", 2, &["--frame"]);
    folder.fails("pairs good.npy --algorithm brute-force -o out.txt", 2, &[".npy or .csv"]);
    folder.fails("pairs good.npy good.npy other.npy --algorithm brute-force", 2, &["other.npy"]);
    folder.fails("pairs good.npy --algorithm brute-force --threads 0", 2, &["--threads"]);
    folder.fails("bench good.npy --n 100 --algorithms brute-force", 2, &["--n is for scenes"]);
    folder.fails("bench --algorithms brute-force", 2, &["SCENE or FILE"]);
    folder.fails("bench pile --algorithms brute-force --n 10,many", 2, &["many"]);
    folder.fails("bench pile --algorithms brute-force --row-limit 0", 2, &["--row-limit"]);
    folder.fails("bench pile --algorithms brute-force --frames 0", 2, &["--frames"]);
    folder.fails("bench pile --algorithms brute-force --shape cone", 2, &["box or ball"]);
    folder.fails("record pile --n 5 --frames 1", 2, &["-o"]);
    folder.fails("record pile --n 5 --frames 1 -o", 2, &["-o"]);
    assert_eq!(folder.names(), ["good.npy"]);
}

#[test]
fn an_output_that_cannot_be_written_is_reported_before_the_work() {
    let folder = Folder::new();
    folder.fails("record pile --n 5 --frames 1 -o nowhere/out.npy", 1, &["nowhere/out.npy"]);
    folder.fails("bench pile --n 50 --frames 2 --algorithms brute-force --json nowhere/out.json", 1, &["nowhere/out.json"]);
    std::fs::create_dir(folder.path("taken.npy")).unwrap();
    folder.fails("record pile --n 5 --frames 1 -o taken.npy", 1, &["taken.npy"]);
    assert_eq!(folder.names(), ["taken.npy"]);
}

/// Reached through a link, so that the mistake, a file moved over the device, could replace no more than the link.
#[cfg(unix)]
#[test]
fn a_device_is_written_to_and_never_replaced_by_a_file() {
    let folder = Folder::new();
    for name in ["sink.json", "sink.csv", "sink.npy"] {
        std::os::unix::fs::symlink("/dev/null", folder.path(name)).unwrap();
    }
    folder.ok("bench pile --n 20 --frames 2 --algorithms brute-force --json sink.json");
    folder.ok("record pile --n 20 --frames 1 -o a.npy");
    folder.ok("pairs a.npy --algorithm brute-force -o sink.csv");
    folder.fails("pairs a.npy --algorithm brute-force -o sink.npy", 1, &["sink.npy", "not a regular file"]);
    folder.fails("record pile --n 20 --frames 1 -o sink.npy", 1, &["sink.npy", "not a regular file"]);
    for name in ["sink.json", "sink.csv", "sink.npy"] {
        assert!(folder.path(name).is_symlink(), "{name}");
    }
}

/// `ulimit -f` counts in 512 or 1024 bytes, as the shell likes.
#[cfg(unix)]
#[test]
fn a_file_beyond_the_size_that_the_shell_allows_does_not_stay() {
    let folder = Folder::new();
    let line = format!("ulimit -f 8; {} record pile --n 5000 --frames 2 -o a.npy", env!("CARGO_BIN_EXE_broadphase"));
    let output = std::process::Command::new("sh").args(["-c", &line]).current_dir(&folder.0).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(1), 1), "{stderr}");
    assert!(stderr.contains("a.npy: cannot write"), "{stderr}");
    assert_eq!(folder.names(), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_stays_a_link() {
    let folder = Folder::new();
    folder.write("old.npy", b"old");
    std::os::unix::fs::symlink("old.npy", folder.path("link.npy")).unwrap();
    folder.ok("record pile --n 20 --frames 1 -o link.npy");
    assert!(folder.path("link.npy").is_symlink());
    assert_eq!(folder.read("old.npy"), folder.read("link.npy"));
    assert_eq!(folder.ok("pairs old.npy --count"), folder.ok("pairs link.npy --count"));
    assert_eq!(folder.names(), ["link.npy", "old.npy"]);
}

#[cfg(not(feature = "peers"))]
#[test]
fn a_peer_that_the_build_lacks_names_its_feature() {
    let folder = Folder::new();
    folder.fails("bench pile --algorithms brute-force --peers parry", 2, &["parry", "peers"]);
    let all = folder.run("bench pile --n 20 --frames 2 --algorithms brute-force --peers all");
    assert_eq!(all.code, 0, "all peers of a build without any: {}", all.stderr);
    assert!(all.stderr.contains("--features peers"));
}

#[cfg(not(feature = "simulate"))]
#[test]
fn a_scene_that_the_build_lacks_names_its_feature() {
    let folder = Folder::new();
    folder.fails("record gravity-cubes-simulated --n 5 --frames 1 -o out.npy", 2, &["simulate"]);
    folder.fails("bench pile gravity-cubes-simulated --algorithms brute-force", 2, &["simulate"]);
}
