//! Text as people have it: with and without header, any separator, ids, named columns, standard input; and text that is written.

mod tool;

use tool::{Folder, f32_bytes, npy};

/// Three boxes, of which the first two touch.
const PAIRS: &str = "a,b\n0,1\n";

#[test]
fn the_same_boxes_in_every_form_have_the_same_pairs() {
    let folder = Folder::new();
    for (name, text) in [
        ("header.csv", "min_x,min_y,max_x,max_y\n0,0,1,1\n1,1,2,2\n5,5,6,6\n"),
        ("plain.csv", "0,0,1,1\n1,1,2,2\n5,5,6,6\n"),
        ("semicolon.csv", "min_x;min_y;max_x;max_y\n0;0;1;1\n1;1;2,0;2,0\n5;5;6;6\n"),
        ("tab.csv", "0\t0\t1\t1\r\n1\t1\t2\t2\r\n5\t5\t6\t6\r\n"),
        ("space.csv", "# numpy.savetxt\n0 0 1 1\n1 1 2 2\n5 5 6 6\n"),
        ("space.txt", "0 0 1 1\n1 1 2 2\n5 5 6 6\n"),
        ("Aligned.TXT", "  0.0   0.0   1.0   1.0\n  1.0   1.0   2.0   2.0\n  5.0   5.0   6.0   6.0\n"),
        ("tab.tsv", "minX\tminY\tmaxX\tmaxY\n0\t0\t1\t1\n1\t1\t2\t2\n5\t5\t6\t6\n"),
        ("bounds.dat", "xlo,ylo,xhi,yhi,\n0,0,1,1,\n1,1,2,2,\n5,5,6,6,\n"),
        ("corner.csv", "x,y,w,h\n0,0,1,1\n1,1,1,1\n5,5,1,1\n"),
        ("center.csv", "cx,cy,w,h\n0.5,0.5,1,1\n1.5,1.5,1,1\n5.5,5.5,1,1\n"),
        ("radius.csv", "x,y,r\n0.5,0.5,0.5\n1.5,1.5,0.5\n5.5,5.5,0.5\n"),
    ] {
        folder.write(name, text.as_bytes());
        assert_eq!(folder.ok(&format!("pairs {name}")), PAIRS, "{name}");
        assert_eq!(
            folder.ok(&format!("bench {name} --algorithms brute-force --json -")).matches("\"pairs_total\": 1").count(),
            1
        );
    }
}

#[test]
fn an_id_column_is_passed_over_and_said() {
    let folder = Folder::new();
    folder.write("ids.csv", b"id,min_x,min_y,max_x,max_y\n100,0,0,1,1\n200,1,1,2,2\n300,5,5,6,6\n");
    folder.write("bare.csv", b"car,0,0,1,1\nbus,1,1,1,1\ntram,5,5,1,1\n");
    for line in ["pairs ids.csv", "pairs bare.csv --columns id,x,y,w,h"] {
        let run = folder.run(line);
        assert_eq!((run.code, run.stdout.as_str()), (0, PAIRS), "{}", run.stderr);
        assert!(run.stderr.contains("ids are not read") && run.stderr.lines().count() == 1, "{}", run.stderr);
    }
}

#[test]
fn columns_named_on_the_command_line_replace_the_header() {
    let folder = Folder::new();
    folder.write("a.csv", b"left,bottom,breadth,length,weight\n0,0,1,1,7\n1,1,1,1,heavy\n5,5,1,1,7\n");
    folder.fails("pairs a.csv", 1, &["a.csv", "line 1, column 1", "`left`"]);
    assert_eq!(folder.run("pairs a.csv --columns x,y,w,h,-").stdout, PAIRS);
    folder.fails("pairs a.csv --columns x,y,w,h", 1, &["a.csv", "line 1, column 5", "5 columns"]);
    folder.fails("pairs a.csv --columns x,y,w", 2, &["--columns cannot be 'x,y,w'", "add h"]);
    folder.fails("pairs a.csv --columns x,y,w,g", 2, &["--columns", "unknown column `g`"]);
    folder.write("a.npy", &npy("<f4", false, "(1, 4)", &f32_bytes(&[0.0, 0.0, 1.0, 1.0])));
    folder.fails("pairs a.npy --columns x,y,w,h", 2, &["--columns is for text", "a.npy"]);
}

#[test]
fn errors_of_a_text_name_file_line_and_column() {
    let folder = Folder::new();
    folder.write("word.csv", b"x;y;w;h\n0;0;1;1\n0;0;one;1\n");
    folder.fails("pairs word.csv", 1, &["word.csv", "line 3, column 3", "`one`"]);
    folder.write("negative.csv", b"x,y,r\n0,0,1\n0,0,-1\n");
    folder.fails("pairs negative.csv", 1, &["negative.csv", "line 3, column 3", "below 0"]);
    folder.write("crossed.csv", b"0,0,1,1\n\n3,0,2,1\n");
    folder.fails("pairs crossed.csv", 1, &["crossed.csv", "line 3", "axis x", "min is above max"]);
    folder.write("five.csv", b"1,0,0,1,1\n");
    folder.fails("pairs five.csv", 1, &["five.csv", "line 1", "5 columns without a header"]);
}

#[test]
fn standard_input_is_read_as_text_or_numpy_data() {
    let folder = Folder::new();
    let text = b"0,0,1,1\n1,1,2,2\n5,5,6,6\n";
    let data = npy("<f4", false, "(3, 4)", &f32_bytes(&[0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 5.0, 5.0, 6.0, 6.0]));
    for (line, bytes) in [
        ("pairs - --format csv", &text[..]),
        ("pairs - --format npy", &data),
        ("pairs -", text),
        ("pairs -", &data),
        ("pairs - --columns x1,y1,x2,y2", text),
    ] {
        let run = folder.run_with(line, bytes);
        assert_eq!((run.code, run.stdout.as_str()), (0, PAIRS), "{line}: {}", run.stderr);
    }
    folder.write("b.csv", b"0.5,0.5,0.6,0.6\n");
    assert_eq!(folder.run_with("pairs - b.csv", text).stdout, "a,b\n0,0\n");
    assert_eq!(folder.run_with("pairs b.csv -", text).stdout, "a,b\n0,0\n");
    let bench = folder.run_with("bench - --algorithms brute-force --json -", text);
    assert!(bench.code == 0 && bench.stdout.contains("\"scene\": \"stdin\""), "{}", bench.stderr);
    let bad = folder.run_with("pairs - --format csv", b"0,0,1,1\n0,x,1,1\n");
    assert_eq!(
        (bad.code, bad.stderr.as_str()),
        (1, "broadphase: stdin: line 2, column 2: `x` is not a number; write it as in 1.5 or 2e-3\n")
    );
    let empty = folder.run_with("pairs -", b"");
    assert_eq!((empty.code, empty.stderr.lines().count()), (1, 1), "{}", empty.stderr);
    folder.fails("pairs a.csv --format xml", 2, &["--format", "csv or npy or aabbs"]);
}

#[test]
fn a_format_reads_a_file_whose_name_does_not_say_it() {
    let folder = Folder::new();
    folder.write("boxes.out", b"0 0 1 1\n1 1 2 2\n5 5 6 6\n");
    folder.fails("pairs boxes.out", 1, &["boxes.out", ".npy, .csv, .tsv, .txt, .dat or .aabbs", "--format"]);
    assert_eq!(folder.ok("pairs boxes.out --format csv"), PAIRS);
}

#[test]
fn packed_files_and_numbers_that_overflow_are_refused_with_the_remedy() {
    let folder = Folder::new();
    let gzip = b"\x1f\x8b\x08\0\0\0\0\0\0\x03";
    for name in ["a.csv.gz", "renamed.npy", "renamed.csv"] {
        folder.write(name, gzip);
        folder.fails(&format!("pairs {name}"), 1, &[name, "gzip", "gunzip"]);
    }
    folder.write("a.npz", b"PK\x03\x04");
    folder.fails("pairs a.npz", 1, &["a.npz", "archive", "numpy.save"]);
    folder.write("large.csv", b"0,0,1,1\n0,0,1e400,1\n");
    folder.fails("pairs large.csv", 1, &["large.csv", "line 2, column 3", "`1e400`", "inf"]);
    folder.fails("pairs missing.txt", 1, &["missing.txt", "no such file", "check the name"]);
}

#[test]
fn a_recording_as_text_holds_the_same_pairs_in_every_frame() {
    let folder = Folder::new();
    for frames in [1, 4] {
        for scene in ["pile", "boxes:dim=2"] {
            folder.ok(&format!("record {scene} --n 300 --frames {frames} -o a.npy"));
            folder.ok(&format!("record {scene} --n 300 --frames {frames} -o a.csv"));
            assert_eq!(folder.ok("pairs a.csv --count"), folder.ok("pairs a.npy --count"));
            let last = format!("--frame {}", frames - 1);
            assert_eq!(folder.ok(&format!("pairs a.csv {last}")), folder.ok(&format!("pairs a.npy {last}")));
        }
    }
    assert!(folder.read("a.csv").starts_with(b"frame,min_x,min_y,max_x,max_y\n0,"));
    assert_eq!(folder.names(), ["a.csv", "a.npy"]);
}
