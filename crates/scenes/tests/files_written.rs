//! What writers leave behind: whole files that are read back, or nothing.

mod support;

use broadphase::{Aabb, Pair};
use broadphase_scenes::{
    AabbsWriter, AnyScene, CsvWriter, FileFault, NpyWriter, Recording, SceneSpec, write_aabbs, write_pairs_npy,
};
use support::Folder;

fn frames(count: usize) -> Vec<Vec<Aabb<3, f32>>> {
    let AnyScene::Three(mut scene) = "pile".parse::<SceneSpec>().unwrap().build(50, 1).unwrap() else { panic!("pile is 3D") };
    (0..count)
        .map(|_| {
            let boxes = scene.boxes().to_vec();
            scene.advance();
            boxes
        })
        .collect()
}

#[test]
fn a_text_recording_is_read_back_bit_by_bit() {
    let folder = Folder::new("text");
    let path = folder.path().join("a.csv");
    for count in [1, 3] {
        let frames = frames(count);
        let mut writer = CsvWriter::create(&path, 3, 50, count).unwrap();
        frames.iter().for_each(|frame| writer.write_frame(frame).unwrap());
        writer.finish().unwrap();
        let recording = Recording::open(&path).unwrap();
        assert_eq!((recording.dim(), recording.n(), recording.frames()), (3, 50, count));
        for (k, frame) in frames.iter().enumerate() {
            let read = recording.frame::<3, f64>(k).unwrap();
            let narrow: Vec<Aabb<3, f32>> =
                read.iter().map(|aabb| Aabb::new(aabb.min.map(|x| x as f32), aabb.max.map(|x| x as f32))).collect();
            assert_eq!(narrow, *frame);
        }
    }
    let mut writer = CsvWriter::create(&path, 3, 50, 2).unwrap();
    writer.write_frame(&frames(1)[0]).unwrap();
    assert!(matches!(writer.finish().unwrap_err().fault, FileFault::WrongFrames { expected: 2, found: 1 }));
}

#[test]
fn a_numpy_recording_is_read_back_bit_by_bit() {
    let folder = Folder::new("round");
    let path = folder.path().join("a.npy");
    let frames = frames(3);
    let mut writer = NpyWriter::create(&path, 3, 50, 3).unwrap();
    for frame in &frames {
        writer.write_frame(frame).unwrap();
    }
    assert!(!path.exists(), "nothing under the name before the end");
    writer.finish().unwrap();
    assert_eq!(folder.names(), ["a.npy"]);
    let recording = Recording::open(&path).unwrap();
    for (k, frame) in frames.iter().enumerate() {
        assert_eq!(*recording.frame::<3, f32>(k).unwrap(), frame[..]);
        recording.check_frame(k).unwrap();
    }
    assert_eq!(&std::fs::read(&path).unwrap()[..8], b"\x93NUMPY\x01\x00");
}

#[test]
fn a_broadmark_recording_is_read_back_bit_by_bit() {
    let folder = Folder::new("aabbs");
    let path = folder.path().join("a.aabbs");
    let frames = frames(4);
    write_aabbs(&path, "pile", "Cubes", &frames.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 304 + 32 * 50 * 4);
    assert_eq!((&bytes[..5], &bytes[128..134]), (&b"pile\0"[..], &b"Cubes\0"[..]));
    assert_eq!(&bytes[256..272], [50, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let number = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let lowest = frames.iter().flatten().map(|aabb| aabb.min[1]).fold(f32::INFINITY, f32::min);
    assert_eq!((number(276), number(284), number(300)), (lowest, 0.0, 0.0), "world box with its padding");
    let recording = Recording::open(&path).unwrap();
    assert_eq!((recording.n(), recording.frames()), (50, 4));
    for (k, frame) in frames.iter().enumerate() {
        assert_eq!(*recording.frame::<3, f32>(k).unwrap(), frame[..]);
    }
}

#[test]
fn long_names_are_cut_at_a_character() {
    let folder = Folder::new("names");
    let path = folder.path().join("a.aabbs");
    write_aabbs(&path, &"ä".repeat(100), "Cubes", &[&[]]).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(std::str::from_utf8(&bytes[..126]).unwrap(), "ä".repeat(63));
    assert_eq!(bytes[126..130], [0, 0, b'C', b'u']);
}

#[test]
fn nothing_half_written_stays() {
    let folder = Folder::new("half");
    let path = folder.path().join("a.npy");
    let frames = frames(1);
    let mut writer = NpyWriter::create(&path, 3, 50, 2).unwrap();
    writer.write_frame(&frames[0]).unwrap();
    assert_eq!(folder.names().len(), 1, "the temporary file");
    drop(writer);
    assert!(folder.names().is_empty(), "dropped");

    let mut writer = NpyWriter::create(&path, 3, 50, 2).unwrap();
    writer.write_frame(&frames[0]).unwrap();
    assert!(matches!(writer.finish().unwrap_err().fault, FileFault::WrongFrames { expected: 2, found: 1 }));
    assert!(folder.names().is_empty(), "finished too early");

    std::fs::write(&path, b"older").unwrap();
    drop(AabbsWriter::create(&path, "", "", 1, 1).unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), b"older", "an older file survives");
}

#[test]
fn a_frame_that_does_not_fit_is_refused() {
    let folder = Folder::new("fit");
    let mut writer = NpyWriter::create(&folder.path().join("a.npy"), 3, 50, 1).unwrap();
    let frames = frames(1);
    let error = writer.write_frame(&frames[0][..49]).unwrap_err();
    assert!(error.to_string().ends_with("frame 0 has 49 boxes in 3D, the file was created for 50 boxes in 3D"), "{error}");
    assert!(writer.write_frame(&[Aabb::new([0.0f32; 2], [1.0; 2]); 50]).is_err(), "another dimension");
    writer.write_frame(&frames[0]).unwrap();
    assert!(writer.write_frame(&frames[0]).is_err(), "one frame too many");
    writer.finish().unwrap();
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let folder = Folder::new("place");
    let absent = folder.path().join("absent").join("a.npy");
    let error = write_pairs_npy(&absent, &[]).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: cannot create", absent.display())), "{error}");
    assert!(write_pairs_npy(folder.path(), &[]).is_err());
}

#[test]
fn pairs_are_a_numpy_array_of_two_columns() {
    let folder = Folder::new("pairs");
    let path = folder.path().join("p.npy");
    for pairs in [vec![], vec![Pair::new(0, 1), Pair::new(2, 7)]] {
        write_pairs_npy(&path, &pairs).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes[10..]).into_owned();
        assert!(text.contains(&format!("'descr': '<u4', 'fortran_order': False, 'shape': ({}, 2)", pairs.len())), "{text}");
        let data: Vec<u8> = pairs.iter().flat_map(|pair| [pair.a, pair.b]).flat_map(u32::to_le_bytes).collect();
        assert_eq!(bytes[bytes.len() - data.len()..], data);
        assert_eq!((bytes.len() - data.len()) % 64, 0);
    }
}
