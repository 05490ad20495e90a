//! The world that gives a wanted number of pairs per object, from a formula.
//!
//! Two centers that are uniform on a side of length L are at most s apart with probability `1 - (1 - s/L)^2`. Boxes overlap if
//! that holds on every axis with s = half the sum of their edges. So n cuboids have `n (n - 1) / 2 * mean(product)` pairs on average,
//! the mean taken over two edges: exact, the world's sides included. The side is then found by bisection.

/// How edges are spread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edges {
    /// Uniform between 1 and `ratio`, times the factor that makes the mean 1.
    Even { ratio: f64 },
    /// Log-uniform between 1 and `ratio`.
    Logarithmic { ratio: f64 },
}

impl Edges {
    /// The edge at quantile `q`.
    pub fn at(self, q: f64) -> f64 {
        match self {
            Self::Even { ratio } => (1.0 + (ratio - 1.0) * q) * 2.0 / (1.0 + ratio),
            Self::Logarithmic { ratio } => libm::exp(libm::log(ratio) * q),
        }
    }

    /// Is there one edge only?
    fn single(self) -> bool {
        matches!(self, Self::Even { ratio } | Self::Logarithmic { ratio } if ratio == 1.0)
    }
}

/// The shorter side of a world, its sides in the proportions of `stretch`, in which `n` boxes with edges of the given spread, times
/// `shape`, have `pairs_per_object` pairs per object on average. With too few objects for that, a world in which all overlap.
pub(crate) fn world_side<const D: usize>(
    edges: Edges,
    shape: [f64; D],
    stretch: [f64; D],
    n: usize,
    pairs_per_object: f64,
) -> f64 {
    let wanted = 2.0 * pairs_per_object / (n.max(2) - 1) as f64;
    let nodes = if edges.single() { 1 } else { 96 };
    let quantiles: Vec<f64> = (0..nodes).map(|i| edges.at((i as f64 + 0.5) / nodes as f64)).collect();
    // In a world as small as the smallest reach on every axis all objects overlap. The probability falls as the side grows.
    let mut low = (0..D).map(|k| edges.at(0.0) * shape[k] / stretch[k]).fold(f64::INFINITY, f64::min);
    if wanted >= 1.0 {
        return low;
    }
    let mut high = low;
    while probability(&quantiles, shape, stretch.map(|s| s * high)) > wanted {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if probability(&quantiles, shape, stretch.map(|s| s * middle)) > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The probability that two boxes overlap: the mean over all pairs of nodes.
fn probability<const D: usize>(edges: &[f64], shape: [f64; D], world: [f64; D]) -> f64 {
    let mut sum = 0.0;
    for &a in edges {
        for &b in edges {
            let mut product = 1.0;
            for k in 0..D {
                let apart = 1.0 - (0.5 * (a + b) * shape[k] / world[k]).min(1.0);
                product *= 1.0 - apart * apart;
            }
            sum += product;
        }
    }
    sum / (edges.len() * edges.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_equal_cubes_need_two_cells_of_volume_for_two_pairs() {
        // Far from the sides each object reaches a volume of 8; two pairs per object are four neighbors: one per 2 units of volume.
        let side = world_side(Edges::Even { ratio: 1.0 }, [1.0; 3], [1.0; 3], 1_000_000_000, 2.0);
        assert!((side * side * side / 2e9 - 1.0).abs() < 0.01, "{side}");
    }

    #[test]
    fn no_count_of_objects_breaks_the_world() {
        for n in 0..8 {
            let side = world_side(Edges::Logarithmic { ratio: 64.0 }, [1.0; 2], [1024.0, 1.0], n, 2.0);
            assert!(side.is_finite() && side > 0.0, "{n}: {side}");
        }
    }
}
