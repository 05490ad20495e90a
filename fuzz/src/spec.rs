//! `spec`: option strings of algorithms and scenes. Every text gives a typed error or a structure that finds the pairs of the naive model.

use broadphase::{Aabb, Context, Frame, PairStore, Real, Shape, Spec, Strength, algorithms, step};
use broadphase_scenes::SceneSpec;
use broadphase_testing::{Random, naive};

use crate::{Bytes, Counts};

/// Runs an input.
pub fn run(data: &[u8]) -> Counts {
    let mut bytes = Bytes::new(data);
    let mut counts = Counts::default();
    let text = text(&mut bytes);
    counts.operations += 1;
    match text.parse::<Spec>() {
        Ok(spec) => {
            assert_eq!(spec.to_string(), text, "a spec repeats its text");
            assert_eq!(text.parse::<Spec>().expect("the same text"), spec);
            counts.meet(spec.descriptor().name);
            match bytes.below(4) {
                0 => follow::<2, f32>(&spec, &mut counts),
                1 => follow::<3, f32>(&spec, &mut counts),
                2 => follow::<2, f64>(&spec, &mut counts),
                _ => follow::<3, f64>(&spec, &mut counts),
            }
        }
        Err(error) => {
            let known = ["unknown-algorithm", "unknown-option", "invalid-option", "missing-feature"];
            assert!(known.contains(&error.code()), "{text:?}: {error}");
            let line = error.to_string();
            assert!(!line.is_empty(), "{text:?}: an error without a text");
            counts.meet(error.code());
        }
    }
    if let Ok(scene) = text.replace("brute-force", "pile").parse::<SceneSpec>() {
        counts.meet(scene.descriptor().name);
        counts.operations += 1;
    }
    counts
}

/// A name that exists or nearly does, with options that exist or nearly do, and values of every kind; or any text.
fn text(bytes: &mut Bytes) -> String {
    if bytes.one_in(8) {
        return String::from_utf8_lossy(bytes.take(40)).into_owned();
    }
    let entry = bytes.pick(algorithms::list());
    let mut text = entry.name.to_string();
    if bytes.one_in(16) {
        text.truncate(bytes.below(text.len()));
    }
    for _ in 0..bytes.below(4) {
        let mut names: Vec<(&str, &str)> = entry.options.iter().map(|option| (option.name, option.default)).collect();
        names.extend([("isa", "best"), ("isa", "scalar"), ("nothing", "1")]);
        let (name, default) = *bytes.pick(&names);
        text.push(':');
        text.push_str(name);
        if !bytes.one_in(12) {
            text.push('=');
            text.push_str(&value(bytes, default));
        }
    }
    text
}

fn value(bytes: &mut Bytes, default: &str) -> String {
    match bytes.below(20) {
        0..4 => default.to_string(),
        4..8 => bytes.byte().to_string(),
        8 => "0".to_string(),
        9 => "1".to_string(),
        10 => "-1".to_string(),
        11 => bytes.pick(&["true", "false", "inf", "-inf", "nan", "NaN", "1e400", "-0.0", "1e-40"]).to_string(),
        12 => bytes.long().to_string(),
        13 => (f64::from(bytes.byte()) / 16.0).to_string(),
        14 => f64::from_bits(bytes.long()).to_string(),
        15 => bytes.pick(&["x", "xy", "yz", "tree", "blocks", "hashed", "dense", "parallel", "sequential", "auto"]).to_string(),
        16 => bytes.pick(&["0,0,10,10", "0,0,0,10,10,10", "0,0,0,0", "nan,0,1,1", "1,1,0,0", "0,0,inf,inf"]).to_string(),
        17 => String::new(),
        18 => bytes.pick(&["2", "3", "4", "8", "16", "32", "64", "512", "1000", "65536"]).to_string(),
        _ => String::from_utf8_lossy(bytes.take(6)).replace(':', ""),
    }
}

/// A parsed spec can be built, or gives an error; a structure that was built finds the pairs of two frames.
fn follow<const D: usize, T: Real>(spec: &Spec, counts: &mut Counts) {
    let mut structure = match spec.build::<D, T>() {
        Ok(structure) => structure,
        Err(error) => {
            assert!(["invalid-option", "unsuited", "unknown-option", "out-of-memory"].contains(&error.code()), "{spec}: {error}");
            counts.meet(&format!("build: {}", error.code()));
            return;
        }
    };
    let descriptor = spec.descriptor();
    let shape = if descriptor.shapes.contains(&Shape::Box) { Shape::Box } else { Shape::Ball };
    let mut random = Random(7);
    let (mut context, mut store) = (Context::new(), PairStore::default());
    for _ in 0..2 {
        let boxes: Vec<Aabb<D, T>> = (0..24).map(|_| random.cube::<D, T>(8.0, 2.0)).collect();
        let snapped = |value: &Aabb<D, T>| {
            let min = value.min.map(|c| (c * T::from_f64(4.0)).floor() / T::from_f64(4.0));
            Aabb::new(min, min.map(|c| c + T::from_f64(2.0)))
        };
        let boxes: Vec<_> = boxes.iter().map(snapped).collect();
        let frame = Frame { shape, ..Frame::new(&boxes) };
        match step(&mut *structure, &frame, &mut context, &mut store) {
            Ok(()) => {
                let expected = naive::pairs(&frame);
                naive::assert_holds(&store, &expected, &spec.to_string());
                structure.validate(&frame, Strength::Geometry).unwrap_or_else(|error| panic!("{spec}: {error}"));
                counts.compared += expected.len() as u64;
            }
            Err(error) => {
                assert!(["unsuited", "invalid-option", "out-of-memory"].contains(&error.code()), "{spec}: {error}");
                counts.meet(&format!("step: {}", error.code()));
            }
        }
        counts.operations += 1;
    }
}
