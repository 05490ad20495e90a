//! Recordings that are read, and every way in which a file can be wrong.

mod support;

use std::borrow::Cow;

use broadphase::Aabb;
use broadphase_scenes::{FileFault, Format, ReadOptions, Recording, Scalar};
use support::Folder;

/// A NumPy file with any header text, version and data.
fn npy(version: u8, text: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((text.len() as u16).to_le_bytes()),
        _ => bytes.extend((text.len() as u32).to_le_bytes()),
    }
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

fn head(descr: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n")
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Opens a file of that name with those bytes, which must fail, and gives the message without the folder.
fn refusal(name: &str, bytes: &[u8]) -> String {
    let folder = Folder::new(&format!("refusal-{name}"));
    let path = folder.file(name, bytes);
    let text = Recording::open(&path).unwrap_err().to_string();
    assert!(!text.contains('\n'), "one line: {text}");
    text.strip_prefix(path.to_str().unwrap()).expect("the file is named").to_string()
}

#[test]
fn all_versions_of_a_header_are_read() {
    let folder = Folder::new("versions");
    for version in 1..=3 {
        let path = folder.file("a.npy", &npy(version, &head("<f4", "(1, 4)"), &floats(&[0.0, 1.0, 2.0, 3.0])));
        let recording = Recording::open(&path).unwrap();
        assert_eq!((recording.dim(), recording.scalar(), recording.n(), recording.frames()), (2, Scalar::F32, 1, 1));
        assert_eq!(*recording.frame::<2, f32>(0).unwrap(), [Aabb::new([0.0, 1.0], [2.0, 3.0])]);
    }
}

#[test]
fn an_unaligned_file_is_copied_and_an_aligned_one_borrowed() {
    let folder = Folder::new("aligned");
    let text = head("<f8", "(2, 1, 6)");
    let data: Vec<u8> = (0..12).flat_map(|x| f64::from(x).to_le_bytes()).collect();
    for shift in 0..8 {
        let padded = format!("{}{}\n", &text[..text.len() - 1], " ".repeat(shift));
        let path = folder.file("a.npy", &npy(1, &padded, &data));
        let recording = Recording::open(&path).unwrap();
        let frame = recording.frame::<3, f64>(1).unwrap();
        assert_eq!(*frame, [Aabb::new([6.0, 7.0, 8.0], [9.0, 10.0, 11.0])]);
        assert_eq!(matches!(frame, Cow::Borrowed(_)), (10 + padded.len()) % 8 == 0, "shift {shift}");
    }
}

#[test]
fn no_objects_and_no_frames_are_legal() {
    let folder = Folder::new("none");
    for (shape, n, frames) in [("(0, 6)", 0, 1), ("(3, 0, 6)", 0, 3), ("(0, 5, 6)", 5, 0)] {
        let recording = Recording::open(&folder.file("a.npy", &npy(1, &head("<f4", shape), &[]))).unwrap();
        assert_eq!((recording.n(), recording.frames()), (n, frames));
        if frames > 0 {
            assert!(recording.frame::<3, f32>(frames - 1).unwrap().is_empty());
            recording.check_frame(0).unwrap();
        }
        let error = recording.frame::<3, f32>(frames).unwrap_err();
        assert!(matches!(error.fault, FileFault::NoSuchFrame { .. }), "{error}");
    }
}

#[test]
fn a_wrong_type_order_or_shape_is_named() {
    let ask = |descr: &str, shape: &str| refusal("a.npy", &npy(1, &head(descr, shape), &[]));
    assert_eq!(ask("<i4", "(0, 6)"), ": the array has type <i4; save it as float32 or float64, as in `a.astype('<f4')`");
    assert_eq!(ask(">f8", "(0, 6)"), ": the array is big-endian (>f8); save it as `a.astype('<f4')` or `'<f8'`");
    for shape in ["(0, 5)", "()", "(6,)", "(1, 1, 1, 6)", "(2, 3)"] {
        assert!(
            ask("<f4", shape).starts_with(&format!(": the array has shape {shape}; it must be (n, 4)")),
            "{}",
            ask("<f4", shape)
        );
    }
    let fortran = "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 6), }\n";
    let text = refusal("a.npy", &npy(1, fortran, &floats(&[0.0; 6])));
    assert_eq!(text, ": the array is in Fortran order; save `numpy.ascontiguousarray(a)`");
}

#[test]
fn truncated_data_and_trailing_garbage_are_measured() {
    let text = head("<f4", "(2, 1, 6)");
    let start = 10 + text.len();
    let short = refusal("a.npy", &npy(1, &text, &floats(&[0.0; 11])));
    assert_eq!(
        short,
        format!(": cut off at byte {}: the header promises {} bytes; copy or record it again", start + 44, start + 48)
    );
    let long = refusal("a.npy", &npy(1, &text, &floats(&[0.0; 13])));
    assert_eq!(long, format!(": 4 bytes too many after byte {}; copy or record it again", start + 48));
}

#[test]
fn a_header_that_lies_about_sizes_neither_overflows_nor_allocates() {
    let huge = u64::MAX;
    for shape in [format!("({huge}, {huge}, 6)"), format!("({}, 6)", huge / 24 + 1), "(4294967296, 4294967296, 4)".into()] {
        let text = refusal("a.npy", &npy(1, &head("<f8", &shape), &[0; 96]));
        assert!(text.contains("the header promises"), "{text}");
    }
    let text = refusal("a.npy", &npy(1, &head("<f4", "(18446744073709551616, 6)"), &[]));
    assert!(text.contains("a number of rows below 2^64 expected"), "{text}");
    for shape in [format!("({huge}, 0, 6)"), format!("(0, {huge}, 6)")] {
        assert!(refusal("a.npy", &npy(1, &head("<f8", &shape), &[])).contains("at most 2^32 - 1 objects and frames"));
    }
    let mut bytes = npy(2, "{", &[]);
    bytes[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(refusal("a.npy", &bytes).contains("the file ends inside its header of 4294967295 bytes"));
}

/// Frames without objects take no bytes: a file of 304 bytes could promise two thousand million of them.
#[test]
fn a_file_without_objects_cannot_promise_frames_without_end() {
    let aabbs = |blocks: i32| {
        let mut bytes = vec![0; 304];
        bytes[260..264].copy_from_slice(&blocks.to_le_bytes());
        bytes
    };
    for blocks in [1 << 16, i32::MAX - 1, i32::MAX] {
        assert_eq!(refusal("a.aabbs", &aabbs(blocks)), ": too large: a recording without objects has at most 2^16 frames");
    }
    let text = refusal("a.npy", &npy(1, &head("<f4", "(65537, 0, 6)"), &[]));
    assert_eq!(text, ": too large: a recording without objects has at most 2^16 frames");
    let folder = Folder::new("empty frames");
    let recording = Recording::open(&folder.file("a.aabbs", &aabbs((1 << 16) - 1))).unwrap();
    assert_eq!((recording.n(), recording.frames()), (0, 1 << 16));
}

#[test]
fn every_prefix_of_a_good_file_is_refused() {
    let whole = npy(1, &head("<f4", "(1, 4)"), &floats(&[0.0; 4]));
    for length in 1..whole.len() {
        refusal("a.npy", &whole[..length]);
    }
}

#[test]
fn another_format_under_the_name_is_noticed() {
    let text = refusal("a.npy", b"PK\x03\x04 a zip archive");
    assert_eq!(text, ": a .npz or .zip archive; unpack it, or save one array with numpy.save");
    let text = refusal("a.npy", b"something else, and long enough for a header");
    assert_eq!(text, ": byte 0: not a NumPy file: it does not start with \\x93NUMPY; write it with numpy.save");
    assert!(refusal("a.npy", &npy(9, "{}", &[])).starts_with(": byte 6: NumPy format version 9 is not known"));
}

#[test]
fn a_directory_an_empty_file_and_an_unknown_ending_are_refused() {
    let folder = Folder::new("kinds");
    std::fs::create_dir(folder.path().join("d.npy")).unwrap();
    for name in ["d.npy", "."] {
        let error = Recording::open(&folder.path().join(name)).unwrap_err();
        assert!(matches!(error.fault, FileFault::NotAFile), "{error}");
    }
    for name in ["a.npy", "a.csv", "a.aabbs"] {
        assert_eq!(refusal(name, b""), ": the file is empty; write it again");
    }
    for name in ["a.out", "npy"] {
        assert_eq!(refusal(name, b"x"), ": unknown ending; name it .npy, .csv, .tsv, .txt, .dat or .aabbs, or say its --format");
    }
    let error = Recording::open(&folder.path().join("absent.npy")).unwrap_err();
    assert!(matches!(error.fault, FileFault::Io { tried: "open", .. }), "{error}");
}

#[test]
fn bad_values_are_found_by_frame_object_and_axis() {
    let folder = Folder::new("values");
    let good = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    let nan = [0.0, 0.0, 0.0, 1.0, f32::NAN, 1.0];
    let swapped = [0.0, 0.0, 2.0, 1.0, 1.0, 1.0];
    let infinite = [f32::NEG_INFINITY, 0.0, 0.0, f32::INFINITY, 1.0, 1.0];
    let data: Vec<u8> = [good, infinite, good, nan, good, swapped].iter().flat_map(|row| floats(row)).collect();
    let path = folder.file("a.npy", &npy(1, &head("<f4", "(3, 2, 6)"), &data));
    let recording = Recording::open(&path).unwrap();
    recording.check_frame(0).unwrap();
    let text = |k| recording.check_frame(k).unwrap_err().to_string();
    assert!(text(1).ends_with("frame 1, object 1: a corner is NaN on axis y; remove or mend the object"), "{}", text(1));
    assert!(text(2).ends_with("frame 2, object 1: min is above max on axis z; swap the corners"), "{}", text(2));
    assert!(text(3).ends_with("no frame 3; the last one is 2"), "{}", text(3));
}

#[test]
fn asking_for_the_wrong_dimension_or_scalar_is_an_error() {
    let folder = Folder::new("mismatch");
    let recording = Recording::open(&folder.file("a.npy", &npy(1, &head("<f4", "(0, 6)"), &[]))).unwrap();
    let error = recording.frame::<3, f64>(0).unwrap_err().to_string();
    assert!(error.ends_with("holds 3D float32 boxes, not 3D float64; ask for what it holds"), "{error}");
    assert!(recording.frame::<2, f32>(0).is_err());
}

#[test]
fn text_is_read_in_any_column_order_with_windows_line_ends() {
    let folder = Folder::new("csv");
    let path = folder.file("a.CSV", b"\xef\xbb\xbfmin_y, min_x,max_x,max_y\r\n1,0,2.5e0,3\r\n\r\n-1,-inf,0.1,inf\r\n");
    let recording = Recording::open(&path).unwrap();
    assert_eq!((recording.dim(), recording.scalar(), recording.n(), recording.frames()), (2, Scalar::F64, 2, 1));
    let expected = [Aabb::new([0.0, 1.0], [2.5, 3.0]), Aabb::new([f64::NEG_INFINITY, -1.0], [0.1, f64::INFINITY])];
    assert_eq!(*recording.frame::<2, f64>(0).unwrap(), expected);
    let none = Recording::open(&folder.file("b.csv", b"min_x,min_y,min_z,max_x,max_y,max_z")).unwrap();
    assert_eq!((none.dim(), none.n()), (3, 0));
}

#[test]
fn broken_text_is_named_by_line_and_column() {
    let header = "min_x,min_y,max_x,max_y\n";
    let ask = |rest: &str| refusal("a.csv", format!("{header}{rest}").as_bytes());
    assert_eq!(ask("0,0,1,1\n0,0,1\n"), ": line 3, column 4: column missing: 3 of 4; give every value");
    assert_eq!(ask("0,0,1,one\n"), ": line 2, column 4: `one` is not a number; write it as in 1.5 or 2e-3");
    assert_eq!(ask("0,0,1,1,1\n"), ": line 2, column 5: more than 4 columns; remove the extra ones");
    assert_eq!(ask("0,,1,1\n"), ": line 2, column 2: `` is not a number; write it as in 1.5 or 2e-3");
    assert_eq!(
        refusal("a.csv", b"min_x,min_y,min_z,max_x,max_y\n"),
        ": line 1, column 6: column `max_z` is missing; name it max_z, or give a size d"
    );
    assert!(
        refusal("a.csv", b"a,b,c,d\n")
            .starts_with(": line 1, column 1: unknown column `a`; the header is min_x,min_y,max_x,max_y")
    );
    assert_eq!(
        refusal("a.csv", b"1,0,0,1,1\n"),
        ": line 1, column 5: 5 columns without a header, not 4 or 6; name them, as in id,x,y,w,h"
    );
    assert_eq!(refusal("a.csv", b"0,0,zero,1\n"), ": line 1, column 3: `zero` is not a number; write it as in 1.5 or 2e-3");
    assert_eq!(refusal("a.csv", b"x,y,w,h\n0,0,1,-1\n"), ": line 2, column 4: the size -1 is below 0; give 0 or more");
    assert!(refusal("a.csv", b"# only a comment\n").contains("no header and no row"));
    assert!(refusal("a.csv", b"min_x,min_x,max_x,max_y\n").contains("column `min_x` twice"));
    assert!(refusal("a.csv", b"min_x,min_y,max_x,max_y\n\xff\xfe,0,1,1\n").contains("line 2, column 1: not text"));
}

#[test]
fn a_bad_box_of_a_text_is_named_by_its_line() {
    let folder = Folder::new("csv-line");
    let recording = Recording::open(&folder.file("a.csv", b"min_x,min_y,max_x,max_y\n0,0,1,1\n\n5,0,4,1\n")).unwrap();
    let error = recording.check_frame(0).unwrap_err().to_string();
    assert!(error.ends_with("line 4, frame 0, object 1: min is above max on axis x; swap the corners"), "{error}");
}

#[test]
fn columns_named_by_the_caller_take_the_place_of_the_header() {
    let folder = Folder::new("csv-named");
    let path = folder.file("a.txt", b"a;b;c;d;e\ncar;1,5;2;3;4\n");
    let options = ReadOptions { format: Some(Format::Csv), columns: Some("name,x,y,w,h".parse().unwrap()) };
    let recording = Recording::open_with(&path, &options).unwrap();
    assert_eq!(*recording.frame::<2, f64>(0).unwrap(), [Aabb::new([1.5, 2.0], [4.5, 6.0])]);
    assert!(recording.ignores_ids());
    let short = ReadOptions { columns: Some("x,y,w,h".parse().unwrap()), ..options };
    let error = Recording::open_with(&path, &short).unwrap_err().to_string();
    assert!(
        error.ends_with("line 1, column 5: the file has 5 columns, and 4 are named; name every one (- for one to leave out)"),
        "{error}"
    );
}

#[test]
fn a_stream_is_read_like_a_file_and_named_in_errors() {
    let data = npy(1, &head("<f4", "(2, 1, 4)"), &floats(&[0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]));
    let read = |bytes: &[u8], format: Option<Format>| Recording::read("stdin", bytes, &ReadOptions { format, columns: None });
    for format in [None, Some(Format::Npy)] {
        let recording = read(&data, format).unwrap();
        assert_eq!((recording.frames(), recording.n(), recording.scalar()), (2, 1, Scalar::F32));
        assert_eq!(*recording.frame::<2, f32>(1).unwrap(), [Aabb::new([2.0, 2.0], [3.0, 3.0])]);
    }
    assert!(read(&data[..data.len() - 1], None).unwrap_err().to_string().starts_with("stdin: cut off"));
    assert!(read(&data, Some(Format::Csv)).unwrap_err().to_string().starts_with("stdin: line 1"));
    assert_eq!(read(b"", None).unwrap_err().to_string(), "stdin: the file is empty; write it again");
    let mut broadmark = vec![0; 304 + 32];
    broadmark[256] = 1;
    assert_eq!(read(&broadmark, Some(Format::Aabbs)).unwrap().frame::<3, f32>(0).unwrap().len(), 1);
}

#[test]
fn a_broadmark_header_is_checked() {
    let mut bytes = vec![0; 304 + 32 * 2 * 3];
    bytes[256..260].copy_from_slice(&2i32.to_le_bytes());
    bytes[260..264].copy_from_slice(&2i32.to_le_bytes());
    let folder = Folder::new("broadmark");
    let recording = Recording::open(&folder.file("a.aabbs", &bytes)).unwrap();
    assert_eq!((recording.dim(), recording.n(), recording.frames()), (3, 2, 3), "the initial boxes are frame 0");
    assert!(refusal("a.aabbs", &bytes[..495]).contains("cut off at byte 495"));
    assert!(refusal("a.aabbs", &bytes[..100]).contains("cut off at byte 100: the header promises 304 bytes"));
    bytes[260..264].copy_from_slice(&i32::MAX.to_le_bytes());
    assert!(refusal("a.aabbs", &bytes).contains("cut off"));
    bytes[256..260].copy_from_slice(&(-2i32).to_le_bytes());
    assert!(refusal("a.aabbs", &bytes).starts_with(": byte 256: the number of objects is negative"));
}

#[test]
fn a_line_break_in_a_header_does_not_break_the_message() {
    let text = refusal("a.npy", &npy(1, &head("<f\n4", "(1, 4)"), &floats(&[0.0; 4])));
    assert!(text.contains("type <f\\n4;"), "{text}");
}
