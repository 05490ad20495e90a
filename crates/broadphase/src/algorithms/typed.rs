//! Typed options: each structure's `Options` becomes a [`Spec`].

use super::{Descriptor, Spec, list, tiles};

/// A spec of the algorithm `name` with the options whose value is not the listed default. Values are checked when the structure is built.
fn spec(name: &str, given: &[(&'static str, String)]) -> Spec {
    let descriptor = descriptor(name);
    let is_other = |&&(option, ref value): &&(&'static str, String)| {
        let listed = descriptor.options.iter().find(|listed| listed.name == option);
        listed.is_some_and(|listed| listed.default != value)
    };
    Spec::of(descriptor, given.iter().filter(is_other).cloned().collect())
}

fn descriptor(name: &str) -> &'static Descriptor {
    let Some(descriptor) = list().iter().find(|descriptor| descriptor.name == name) else {
        unreachable!("every algorithm with options is listed")
    };
    descriptor
}

/// `tiles` with these options.
///
/// ```
/// use broadphase::algorithms::tiles;
/// use broadphase::{Spec, World3};
/// let mut world = World3::new();
/// world.set_algorithm(&tiles::Options { target: 500, ..Default::default() }.into())?;
/// assert_eq!(world.algorithm(), &"tiles:target=500".parse::<Spec>()?);
/// # Ok::<(), broadphase::Error>(())
/// ```
impl From<tiles::Options> for Spec {
    fn from(options: tiles::Options) -> Self {
        let tiles::Options { target, coherence } = options;
        spec("tiles", &[("target", target.to_string()), ("coherence", coherence.to_string())])
    }
}

#[cfg(feature = "papers")]
mod papers {
    use super::{descriptor, spec};
    use crate::algorithms::baselines::{dbvt, grid_sap};
    use crate::algorithms::{Spec, hash_grid, kd_tree, level_grid, octree, particle_grid, sweep};

    /// `kd-tree`, or the variant that the options name.
    ///
    /// ```
    /// use broadphase::Spec;
    /// use broadphase::algorithms::kd_tree::{Options, Variant};
    /// let options = Options { threshold: 64, ..Options::new(Variant::Complete) };
    /// assert_eq!(Spec::from(options).to_string(), "kd-tree-complete:t=64");
    /// ```
    impl From<kd_tree::Options> for Spec {
        fn from(options: kd_tree::Options) -> Self {
            let kd_tree::Options { variant, threshold, paper, adaptive_percent, epsilon, pruning } = options;
            let name = match variant {
                kd_tree::Variant::Adaptive => "kd-tree",
                kd_tree::Variant::Complete => "kd-tree-complete",
                kd_tree::Variant::Incremental => "kd-tree-incremental",
                kd_tree::Variant::Rebuilt => "kd-tree-rebuilt",
            };
            let mode = match pruning {
                kd_tree::Pruning::Both => "both",
                kd_tree::Pruning::TreeOnly => "tree",
                kd_tree::Pruning::SweepOnly => "sweep",
            };
            let k = adaptive_percent.map_or("auto".to_string(), |k| k.to_string());
            let given = [
                ("t", threshold.to_string()),
                ("mode", mode.to_string()),
                ("paper", paper.to_string()),
                ("epsilon", epsilon.to_string()),
                ("k", k),
            ];
            spec(name, &given)
        }
    }

    /// `hash-grid` or `hash-grid-reinsert`.
    impl From<hash_grid::Options> for Spec {
        fn from(options: hash_grid::Options) -> Self {
            let hash_grid::Options { factor, base, dims, density, threshold, strategy, capacity, shapes, merge, patience } =
                options;
            let name = match strategy {
                hash_grid::Strategy::Individual => "hash-grid",
                hash_grid::Strategy::Reinsert => "hash-grid-reinsert",
            };
            let dims = if dims == [dims[0]; 3] { dims[0].to_string() } else { dims.map(|cells| cells.to_string()).join("x") };
            let given = [
                ("factor", factor.to_string()),
                ("base", base.map_or("first".to_string(), |base| base.to_string())),
                ("dims", dims),
                ("density", density.to_string()),
                ("threshold", threshold.to_string()),
                ("capacity", capacity.to_string()),
                ("merge", merge.to_string()),
                ("patience", patience.to_string()),
                ("shapes", shapes.to_string()),
            ];
            spec(name, &given)
        }
    }

    /// `octree`, which fits its bounds to the objects.
    impl From<octree::Options> for Spec {
        fn from(options: octree::Options) -> Self {
            let octree::Options { depth, split, paper } = options;
            if split == 0 {
                return spec("octree", &[("depth", depth.to_string()), ("paper", paper.to_string())]);
            }
            // The default depth depends on the split, so it is always written.
            let mut given = vec![("depth", depth.to_string()), ("split", split.to_string())];
            given.extend(paper.then(|| ("paper", paper.to_string())));
            Spec::of(descriptor("octree"), given)
        }
    }

    /// `level-grid`, which fits its bounds to the objects.
    impl From<level_grid::Options> for Spec {
        fn from(options: level_grid::Options) -> Self {
            let level_grid::Options { levels, ratio, paper } = options;
            let [levels, ratio] = [levels.to_string(), ratio.to_string()];
            spec("level-grid", &[("levels", levels), ("ratio", ratio), ("paper", paper.to_string())])
        }
    }

    /// `dbvt-f` or `dbvt-d`.
    impl From<dbvt::Options> for Spec {
        fn from(options: dbvt::Options) -> Self {
            let dbvt::Options { mode, margin } = options;
            let name = match mode {
                dbvt::Mode::Eager => "dbvt-f",
                dbvt::Mode::Deferred => "dbvt-d",
            };
            spec(name, &[("margin", margin.to_string())])
        }
    }

    /// `grid-sap`, which fits its bounds to the objects.
    impl From<grid_sap::Options> for Spec {
        fn from(options: grid_sap::Options) -> Self {
            let grid_sap::Options { cells, resweep } = options;
            spec("grid-sap", &[("cells", cells.to_string()), ("resweep", resweep.to_string())])
        }
    }

    /// `sweep` with these options. In paper mode, options that have our default get the paper's.
    ///
    /// ```
    /// use broadphase::Spec;
    /// use broadphase::algorithms::sweep::{Active, Options};
    /// let options = Options { axes: Some([2, 0]), active: Active::Tree, ..Options::default() };
    /// assert_eq!(Spec::from(options).to_string(), "sweep:axes=zx:active=tree");
    /// ```
    impl From<sweep::Options> for Spec {
        fn from(options: sweep::Options) -> Self {
            let on = |flag: bool| if flag { "on" } else { "off" }.to_string();
            let axis = |axis: usize| "xyz".chars().nth(axis).unwrap_or('?');
            let path = match options.path {
                sweep::Path::Auto => "auto",
                sweep::Path::Sequential => "sequential",
                sweep::Path::Parallel => "parallel",
            };
            let active = match options.active {
                sweep::Active::Blocks => "blocks",
                sweep::Active::Tree => "tree",
            };
            let partitions = if options.partitions == 0 { "auto".to_string() } else { options.partitions.to_string() };
            let axes = options.axes.map_or("auto".to_string(), |[first, second]| [axis(first), axis(second)].iter().collect());
            let given = [
                ("paper", options.paper.to_string()),
                ("partitions", partitions),
                ("buckets", options.buckets.to_string()),
                ("swap", on(options.swap)),
                ("threshold", options.threshold.to_string()),
                ("patrol", options.patrol.to_string()),
                ("axes", axes),
                ("path", path.to_string()),
                ("active", active.to_string()),
            ];
            spec("sweep", &given)
        }
    }

    /// `particle-grid` with this storage, which fits its world to the particles.
    ///
    /// ```
    /// use broadphase::Spec;
    /// use broadphase::algorithms::particle_grid::{Hash, Storage};
    /// let storage = Storage::Hashed { hash: Hash::Chain, slots: Some(4096) };
    /// assert_eq!(Spec::from(storage).to_string(), "particle-grid:grid=hashed:hash=chain:slots=4096");
    /// ```
    impl From<particle_grid::Storage> for Spec {
        fn from(storage: particle_grid::Storage) -> Self {
            let particle_grid::Storage::Hashed { hash, slots } = storage else { return spec("particle-grid", &[]) };
            let name = particle_grid::Hash::ALL.iter().find(|(_, known)| *known == hash).map_or("xor", |(name, _)| *name);
            let slots = slots.unwrap_or(0).to_string();
            spec("particle-grid", &[("grid", "hashed".to_string()), ("hash", name.to_string()), ("slots", slots)])
        }
    }
}
