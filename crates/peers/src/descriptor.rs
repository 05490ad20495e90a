//! The one list of peers: what the tool prints, what a spec is checked against, what the tests loop over.

/// What is known about a peer without building it.
#[derive(Clone, Copy, Debug)]
pub struct PeerDescriptor {
    /// The name in lists, on the command line and in result files.
    pub name: &'static str,
    /// The cargo feature that builds it.
    pub feature: &'static str,
    /// Is it in this build?
    pub built: bool,
    /// The version of the library, or of the crate that brings it; empty when it is not known without the library.
    pub version: &'static str,
    /// The dimensions it supports.
    pub dims: &'static [usize],
    /// The scalars it supports, as NumPy names them.
    pub scalars: &'static [&'static str],
    /// Does it find balls instead of boxes? Then each box stands for its inscribed ball, and all must have one size.
    pub balls: bool,
    /// Its options: name, default, and what it does.
    pub options: &'static [(&'static str, &'static str, &'static str)],
    /// The least nanoseconds that its set-up takes, times the number of objects squared; 0 unless objects are put in one by one at a cost
    /// that grows with those already there.
    pub setup: f64,
    /// How it is driven, in one sentence.
    pub driven: &'static str,
}

const BOTH_DIMS: &[usize] = &[2, 3];
const F32: &[&str] = &["float32"];
const BOTH_SCALARS: &[&str] = &["float32", "float64"];

/// A peer written in Rust that works on boxes of both dimensions.
const RUST: PeerDescriptor = PeerDescriptor {
    name: "",
    feature: "peers",
    built: cfg!(feature = "peers"),
    version: "",
    dims: BOTH_DIMS,
    scalars: BOTH_SCALARS,
    balls: false,
    options: &[],
    setup: 0.0,
    driven: "",
};

/// A broad phase of Bullet's.
const BULLET: PeerDescriptor = PeerDescriptor {
    feature: "cpp-peers",
    built: cfg!(bullet),
    version: known(option_env!("PEERS_BULLET")),
    scalars: F32,
    ..RUST
};

const fn known(version: Option<&'static str>) -> &'static str {
    match version {
        Some(version) => version,
        None => "",
    }
}

/// The broad phase of a physics engine: 3D and f32.
const ENGINE: PeerDescriptor = PeerDescriptor { dims: &[3], scalars: F32, ..RUST };

const SEARCH: (&str, &str, &str) = ("search", "1", "neighbors that PLOC looks at: 1, 2, 6 or 14");

static LIST: &[PeerDescriptor] = &[
    PeerDescriptor {
        name: "parry",
        version: "0.31.1",
        scalars: F32,
        options: &[("skin", "0.04", "how far a leaf is fattened, in units of length")],
        driven: "Bvh as rapier drives it: fat leaves, partial or full refit, traversal of changed leaves, pair map with a scan for stale pairs",
        ..RUST
    },
    PeerDescriptor {
        name: "parry-refit",
        version: "0.31.1",
        scalars: F32,
        driven: "Bvh with exact leaves: every leaf updated, incremental optimization, refit, full self-traversal",
        ..RUST
    },
    PeerDescriptor {
        name: "obvhs",

        version: "0.4.0",
        scalars: F32,
        options: &[SEARCH],
        driven: "Bvh2 rebuilt each frame into the same buffers, then a dual self-traversal of ours over its nodes",
        ..RUST
    },
    PeerDescriptor {
        name: "obvhs-refit",

        version: "0.4.0",
        scalars: F32,
        options: &[SEARCH, ("every", "8", "frames between rebuilds")],
        driven: "Bvh2 refitted, rebuilt every 8th frame, then a dual self-traversal of ours over its nodes",
        ..RUST
    },
    PeerDescriptor { name: "bvh", version: "0.13.0", driven: "Bvh rebuilt each frame, one box query per object", ..RUST },
    PeerDescriptor {
        name: "rstar",

        version: "0.14.0",
        driven: "R*-tree bulk-loaded each frame, then joined with itself",
        ..RUST
    },
    PeerDescriptor {
        name: "box-intersect-ze",

        version: "0.1.1",
        driven: "self intersection over boxes whose maxima are the next float up, since its intervals are half open",
        ..RUST
    },
    PeerDescriptor {
        name: "broccoli",

        version: "6.3.0",
        dims: &[2],
        driven: "tree built each frame over the same boxes, then its colliding pairs",
        ..RUST
    },
    PeerDescriptor {
        name: "kiddo",

        version: "6.3.0",
        balls: true,
        driven: "k-d tree over the centers built each frame, one radius query per object, exact ball test",
        ..RUST
    },
    PeerDescriptor {
        name: "bvh-arena",
        version: "1.4.0",
        scalars: F32,
        driven: "Bvh cleared and filled one object at a time each frame, then its overlapping pairs",
        ..RUST
    },
    PeerDescriptor {
        name: "bullet-dbvt-f",
        driven: "btDbvtBroadphase, pairs found at each move (m_deferedcollide off)",
        ..BULLET
    },
    PeerDescriptor {
        name: "bullet-dbvt-d",
        driven: "btDbvtBroadphase, pairs found once a frame (m_deferedcollide on)",
        ..BULLET
    },
    PeerDescriptor {
        name: "bullet-axis-sweep",
        setup: 5.0, // 27 were measured with 128 k objects of `pile`, and fewer with fewer objects
        driven: "bt32BitAxisSweep3 over the first frame's box plus 10 %: incremental sweep and prune on three axes",
        ..BULLET
    },
    PeerDescriptor {
        name: "cgal",
        feature: "cpp-peers",
        built: cfg!(cgal),
        version: known(option_env!("PEERS_CGAL")),
        options: &[("cutoff", "1000", "below this many boxes a segment tree gives way to a sweep")],
        driven: "box_self_intersection_d on boxes by value, closed intervals",
        ..RUST
    },
    PeerDescriptor {
        name: "rapier",
        feature: "rapier",
        built: cfg!(feature = "rapier"),
        version: "0.36.1",
        driven: "BroadPhaseBvh as the pipeline drives it: set_aabb for what moved, update, added and deleted pairs kept as a set, filtered",
        ..ENGINE
    },
    PeerDescriptor {
        name: "box3d",
        feature: "box3d",
        built: cfg!(feature = "box3d"),
        version: "0.1.16",
        driven: "b3DynamicTree: fat boxes enlarged, partial rebuild, a query for what moved, pairs kept as a set, filtered",
        ..ENGINE
    },
    PeerDescriptor {
        name: "physx-abp",
        feature: "physx",
        built: cfg!(feature = "physx"),
        version: "0.11.5",
        driven: "PxBroadPhase of type ABP on one thread: changed boxes in, found and lost pairs kept as a set, filtered",
        ..ENGINE
    },
    PeerDescriptor {
        name: "jolt",
        feature: "jolt",
        built: cfg!(feature = "jolt"),
        version: "5.0.0",
        driven: "BroadPhaseQuadTree on one thread: changed bounds in, pairs of what is awake, pairs of two sleepers kept",
        ..ENGINE
    },
];

/// All peers, built or not, in the order in which they are printed.
///
/// ```
/// let names: Vec<_> = broadphase_peers::list().iter().map(|peer| peer.name).collect();
/// assert_eq!(names[..2], ["parry", "parry-refit"]);
/// ```
pub fn list() -> &'static [PeerDescriptor] {
    LIST
}

impl PeerDescriptor {
    /// The least seconds that its first frame takes, as far as is known beforehand.
    pub fn least_setup(&self, n: usize) -> f64 {
        self.setup * 1e-9 * n as f64 * n as f64
    }

    /// What to do when the peer is not in this build.
    pub(crate) fn remedy(&self) -> String {
        let package = if self.name == "cgal" { "libcgal-dev" } else { "libbullet-dev" };
        match self.feature {
            "cpp-peers" if cfg!(feature = "cpp-peers") => {
                format!("built without {package}: run scripts/install-peers and build again")
            }
            feature => format!("add the cargo feature `{feature}`"),
        }
    }
}
