//! The one list of scenes, in the order in which it is printed. Tests, the tool and benchmarks loop over it.

/// One scene in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SceneDescriptor {
    /// The name in lists, commands and results.
    pub name: &'static str,
    /// The paper it comes from, `"000"` to `"004"`; `None` if it is ours.
    pub paper: Option<&'static str>,
    /// The dimensions it exists in; the first one is the default.
    pub dims: &'static [usize],
    /// Its options.
    pub options: &'static [OptionDescriptor],
    /// The default number of objects.
    pub default_n: usize,
    /// The default number of frames.
    pub default_frames: usize,
    /// The cargo feature that the scene needs.
    pub feature: Option<&'static str>,
    /// What moves, and how, in one line.
    pub summary: &'static str,
}

/// One option of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionDescriptor {
    /// The key in `NAME:key=value`.
    pub name: &'static str,
    /// The value if it is not given.
    pub default: &'static str,
    /// What it does and which values it takes.
    pub help: &'static str,
}

/// Every scene.
///
/// ```
/// let names: Vec<_> = broadphase_scenes::list().iter().map(|scene| scene.name).collect();
/// assert!(names.contains(&"uniform") && names.contains(&"gravity-assorted-simulated"));
/// ```
pub fn list() -> &'static [SceneDescriptor] {
    SCENES
}

const fn option(name: &'static str, default: &'static str, help: &'static str) -> OptionDescriptor {
    OptionDescriptor { name, default, help }
}

const DIM: OptionDescriptor = option("dim", "3", "dimensions: 2 or 3");
const TUMBLE: OptionDescriptor = option("tumble", "1", "1: objects turn, so boxes change size; 0: boxes keep their size");

const UNIFORM: &[OptionDescriptor] = &[
    option("k", "2", "pairs per object that the size is tuned to; above 0"),
    option("motion", "0.2", "largest move a frame as a share of the size, or `jump`: every object changes its cell"),
    option("sizes", "1", "largest edge over smallest, uniform between; 1 or more, the paper has 1 and 12"),
    option("shape", "cube", "cube, long (10x1x1) or flat (10x10x1)"),
    option("world", "1", "world's x side over its others; 1 or more, the paper has 1 and 1024"),
    option("sparse", "0", "1: every size, and with it the motion, divided by 100,000"),
    DIM,
];
const SIZES: &[OptionDescriptor] = &[option("ratio", "64", "largest edge over smallest, log-uniform between; 1 or more"), DIM];
const SETTLED: &[OptionDescriptor] = &[option("moving", "0.1", "share of the objects that move; 0 to 1"), DIM];
const BOXES: &[OptionDescriptor] = &[option("d", "0.2", "volume of the boxes over that of the world; above 0, to 1"), DIM];
const SCENERY: &[OptionDescriptor] = &[option("movers", "0.5", "share of the objects that move; 0 to 1")];
const PLANE: &[OptionDescriptor] = &[
    option("u", "x", "the coordinate that all objects cross at mid-run: x, y or z"),
    option("frames", "500", "length of the run: the crossing is at half of it; 2 or more"),
];

/// The part of a descriptor that most scenes share.
const fn scene(name: &'static str, paper: Option<&'static str>, summary: &'static str) -> SceneDescriptor {
    SceneDescriptor { name, paper, dims: &[3], options: &[], default_n: 16_000, default_frames: 100, feature: None, summary }
}

/// A scene of paper 001, by the approximate motion of this crate.
const fn rigid(name: &'static str, options: &'static [OptionDescriptor], summary: &'static str) -> SceneDescriptor {
    SceneDescriptor { options, default_frames: 1000, ..scene(name, Some("001"), summary) }
}

/// A scene of paper 001, simulated by a physics engine.
const fn simulated(name: &'static str, summary: &'static str) -> SceneDescriptor {
    SceneDescriptor { default_n: 4000, feature: Some("simulate"), ..rigid(name, &[], summary) }
}

const SCENES: &[SceneDescriptor] = &[
    SceneDescriptor {
        dims: &[3, 2],
        options: UNIFORM,
        ..scene("uniform", Some("000"), "cuboids in straight flight, wrapping at the world's sides, k pairs per object")
    },
    SceneDescriptor {
        dims: &[3, 2],
        ..rigid("brownian-cubes", &[TUMBLE, DIM], "cubes in random walks, evenly spread, 2 % of the world's volume")
    },
    rigid("brownian-assorted", &[TUMBLE], "bars, planks, squares and cubes of three kinds in random walks"),
    rigid("free-fall-cubes", &[TUMBLE], "cubes fall, pile up and come to rest"),
    rigid("free-fall-assorted", &[TUMBLE], "bars, planks, squares and cubes fall, pile up and come to rest"),
    rigid("gravity-cubes", &[TUMBLE], "cubes in dense heaps, thrown about by a gravity that swings"),
    rigid("gravity-assorted", &[TUMBLE], "bars, planks, squares and cubes in dense heaps, gravity swings"),
    simulated("brownian-cubes-simulated", "brownian-cubes by a physics engine"),
    simulated("brownian-assorted-simulated", "brownian-assorted by a physics engine"),
    simulated("free-fall-cubes-simulated", "free-fall-cubes by a physics engine"),
    simulated("free-fall-assorted-simulated", "free-fall-assorted by a physics engine"),
    simulated("gravity-cubes-simulated", "gravity-cubes by a physics engine"),
    simulated("gravity-assorted-simulated", "gravity-assorted by a physics engine"),
    SceneDescriptor {
        dims: &[3, 2],
        options: &[DIM],
        ..scene("pile", None, "unit cubes on a jittered lattice at 65 % volume, all of them moving")
    },
    SceneDescriptor {
        dims: &[3, 2],
        options: SETTLED,
        ..scene("settled", None, "the pile with 90 % of the objects exactly still, always the same ones")
    },
    SceneDescriptor {
        dims: &[3, 2],
        options: SIZES,
        ..scene("sizes", None, "cubes of edges 1 to 64, log-uniform, 2 pairs per object")
    },
    SceneDescriptor {
        dims: &[3, 2],
        options: BOXES,
        ..scene("boxes", Some("002"), "boxes of varying size bounce in a cube and pass through each other")
    },
    SceneDescriptor {
        default_n: 1 << 19,
        default_frames: 500,
        ..scene("implosion", Some("002"), "a ball of objects collapses to its center, collides and flies apart")
    },
    SceneDescriptor {
        options: PLANE,
        default_n: 750 * 750,
        default_frames: 500,
        ..scene("plane-crossing", Some("002"), "equal cubes that all cross one plane at mid-run, side by side, without a pair")
    },
    SceneDescriptor { default_n: 6400, ..scene("city", Some("004"), "balls of many sizes, 80 % near the ground, 20 % moving") },
    SceneDescriptor { default_n: 6400, ..scene("city-even", Some("004"), "balls of many sizes, evenly spread, 20 % moving") },
    SceneDescriptor {
        dims: &[3, 2],
        options: &[DIM],
        ..scene("particles", Some("003"), "equal balls at 40 % volume, jostling and pushed apart each frame")
    },
    scene("scales", None, "two crowds of cubes, one 2^30 times as large and as wide as the other, all of them moving"),
    scene("telescope", None, "cubes of a hundred octaves, each crowd in the middle of the next larger one, all of them moving"),
    scene("lifts", None, "cars in shafts, forty to a shaft, up and down; nothing moves across the axis"),
    SceneDescriptor {
        options: SCENERY,
        ..scene("scenery", None, "cubes in straight flight among boxes of edges 0.5 to 8 that never move")
    },
    scene("jumps", None, "clusters of cubes that jump far every eighth frame, and wander in between"),
];
