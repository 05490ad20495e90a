//! `pairs A B`: the pairs between two recordings.

mod tool;

use tool::{Folder, f32_bytes, f64_bytes, npy, read_u32};

/// Rows of a recording that the tool wrote as text, one frame.
fn boxes(folder: &Folder, name: &str, frame: usize) -> Vec<Vec<f64>> {
    let text = String::from_utf8(folder.read(name)).unwrap();
    let rows = text.lines().skip(1).map(|line| line.split(',').map(|field| field.parse().unwrap()).collect::<Vec<f64>>());
    rows.filter(|row| row[0] == frame as f64).map(|row| row[1..].to_vec()).collect()
}

/// The naive model: a double loop over closed boxes.
fn naive(a: &[Vec<f64>], b: &[Vec<f64>]) -> String {
    let dim = a[0].len() / 2;
    let overlap = |x: &[f64], y: &[f64]| (0..dim).all(|k| x[k] <= y[k + dim] && y[k] <= x[k + dim]);
    let pairs = a
        .iter()
        .enumerate()
        .flat_map(|(i, x)| b.iter().enumerate().filter(move |(_, y)| overlap(x, y)).map(move |(j, _)| format!("{i},{j}\n")));
    format!("a,b\n{}", pairs.collect::<String>())
}

#[test]
fn pairs_between_two_recordings_are_those_of_a_double_loop_in_every_frame() {
    let folder = Folder::new();
    for dim in [2, 3] {
        for ending in ["csv", "npy"] {
            folder.ok(&format!("record uniform:k=8:dim={dim} --n 200 --frames 3 --seed 1 -o a.{ending}"));
            folder.ok(&format!("record uniform:k=8:dim={dim} --n 200 --frames 3 --seed 2 -o b.{ending}"));
        }
        let mut counts = String::new();
        for frame in 0..3 {
            let expected = naive(&boxes(&folder, "a.csv", frame), &boxes(&folder, "b.csv", frame));
            assert!(expected.lines().count() > 20, "there are pairs: {expected}");
            counts += &format!("{frame} 400 {}\n", expected.lines().count() - 1);
            for options in ["", "--algorithm kd-tree", "--algorithm brute-force --threads 2", "--threads 2 -o -"] {
                let line = format!("pairs a.npy b.npy --frame {frame} {options}");
                assert_eq!(folder.ok(&line), expected, "{line}");
            }
            assert_eq!(folder.ok(&format!("pairs a.csv b.npy --frame {frame}")), expected, "float64 with float32");
            assert_eq!(folder.ok(&format!("pairs a.csv b.csv --frame {frame}")), expected);
        }
        assert_eq!(folder.ok("pairs a.npy b.npy --count"), counts);
        assert_eq!(folder.ok("pairs a.npy b.npy --count --frame 1"), counts.lines().nth(1).unwrap().to_string() + "\n");
    }
}

#[test]
fn a_recording_of_one_frame_is_paired_with_every_frame_of_the_other() {
    let folder = Folder::new();
    folder.ok("record settled --n 80 --frames 1 -o still.npy");
    folder.ok("record settled --n 80 --frames 4 -o moving.npy");
    let counts = folder.ok("pairs still.npy moving.npy --count");
    assert_eq!(counts.lines().count(), 4);
    assert!(counts.lines().next().unwrap().starts_with("0 160 "), "{counts}");
    assert_eq!(folder.ok("pairs moving.npy still.npy --count"), counts, "both ways");
    folder.ok("record settled --n 80 --frames 3 -o three.npy");
    folder.fails("pairs three.npy moving.npy", 1, &["three.npy and moving.npy", "3 and 4 frames"]);
    folder.fails("pairs still.npy moving.npy --frame 4", 2, &["no frame 4"]);
}

#[test]
fn pairs_of_two_files_are_written_as_an_array_too() {
    let folder = Folder::new();
    let point = [[1.0f32, 1.0, 1.0, 1.0], [9.0, 9.0, 9.0, 9.0]].concat();
    folder.write("points.npy", &npy("<f4", false, "(2, 4)", &f32_bytes(&point)));
    folder.write(
        "areas.npy",
        &npy("<f8", false, "(3, 4)", &f64_bytes(&[5.0, 5.0, 6.0, 6.0, 1.0, 1.0, 2.0, 2.0, 0.0, 0.0, 9.0, 9.0])),
    );
    folder.ok("pairs points.npy areas.npy -o p.npy");
    assert_eq!(read_u32(&folder.read("p.npy")), ("(3, 2)".to_string(), vec![0, 1, 0, 2, 1, 2]));
    folder.ok("pairs areas.npy points.npy -o p.csv");
    assert_eq!(folder.read("p.csv"), b"a,b\n1,0\n2,0\n2,1\n");
    folder.write("none.npy", &npy("<f4", false, "(0, 4)", &[]));
    folder.ok("pairs none.npy areas.npy -o p.npy");
    assert_eq!(read_u32(&folder.read("p.npy")), ("(0, 2)".to_string(), vec![]));
    assert_eq!(folder.ok("pairs areas.npy areas.npy --count"), "0 6 7\n", "a file with itself: every object meets itself");
}

#[test]
fn balls_between_two_files_are_inside_their_boxes() {
    let folder = Folder::new();
    folder.ok("record particles --n 200 --frames 1 --seed 3 -o a.npy");
    folder.ok("record particles --n 200 --frames 1 --seed 4 -o b.npy");
    let (boxes, balls) = (folder.ok("pairs a.npy b.npy"), folder.ok("pairs a.npy b.npy --shape ball"));
    assert!(balls.lines().count() > 10 && balls.lines().count() < boxes.lines().count());
    assert!(balls.lines().all(|line| boxes.lines().any(|other| other == line)));
    assert_eq!(folder.ok("pairs a.npy b.npy --shape ball --algorithm hash-grid"), balls);
    assert_eq!(folder.ok("pairs a.npy b.npy --shape ball --count"), format!("0 400 {}\n", balls.lines().count() - 1));
}

#[test]
fn what_is_wrong_with_either_file_is_named() {
    let folder = Folder::new();
    folder.write("flat.npy", &npy("<f4", false, "(1, 4)", &f32_bytes(&[0.0, 0.0, 1.0, 1.0])));
    folder.write("solid.npy", &npy("<f4", false, "(1, 6)", &f32_bytes(&[0.0; 6])));
    folder.write("nan.npy", &npy("<f4", false, "(1, 4)", &f32_bytes(&[0.0, f32::NAN, 1.0, 1.0])));
    folder.fails("pairs flat.npy solid.npy", 1, &["flat.npy and solid.npy", "2D and 3D"]);
    folder.fails("pairs flat.npy nan.npy", 1, &["nan.npy", "object 0", "NaN"]);
    folder.fails("pairs nan.npy flat.npy -o p.npy", 1, &["nan.npy", "object 0", "NaN"]);
    folder.fails("pairs flat.npy missing.npy", 1, &["missing.npy", "cannot open"]);
    folder.fails("pairs flat.npy nan.npy -o nan.npy", 2, &["this is the input"]);
    folder.fails("pairs - -", 2, &["standard input", "once"]);
    assert_eq!(folder.names(), ["flat.npy", "nan.npy", "solid.npy"]);
}
