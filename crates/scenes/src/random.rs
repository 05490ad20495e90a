//! The one random generator of all scenes.
//!
//! SplitMix64 (Steele, Lea and Flood, 2014): a counter in steps of the golden ratio, mixed by a finalizer. It is written out
//! here, and not taken from a crate, because golden hashes and other people's recordings must not change with a crate's version.

/// A stream of random numbers, the same on every platform.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// The stream of a seed. `stream` keeps the uses within one scene apart.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self { state: seed };
        random.state = random.bits() ^ stream.wrapping_mul(0xd134_2543_de82_ef95);
        random
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform in `[0, 1)`, on a lattice of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `[low, high)`.
    #[inline]
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A whole number below `limit`, which is not zero. The bias of the multiplication is below 2^-32 for limits of objects.
    #[inline]
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.bits()) * limit as u128) >> 64) as usize
    }

    /// Uniform in the unit ball: drawn from the cube until one is inside. No sine, no cosine.
    #[inline]
    pub fn in_ball<const D: usize>(&mut self) -> [f64; D] {
        loop {
            let at: [f64; D] = std::array::from_fn(|_| self.between(-1.0, 1.0));
            let square: f64 = at.iter().map(|x| x * x).sum();
            if square <= 1.0 && square > 1e-12 {
                return at;
            }
        }
    }

    /// A direction: uniform on the unit sphere.
    #[inline]
    pub fn direction<const D: usize>(&mut self) -> [f64; D] {
        let at = self.in_ball::<D>();
        let length = at.iter().map(|x| x * x).sum::<f64>().sqrt();
        at.map(|x| x / length)
    }

    /// The numbers below `n` in random order: ids must not follow places, or every cache would look better than it is.
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }

    /// Exactly `count` of `n` marked, each choice equally likely.
    pub fn choose(&mut self, n: usize, count: usize) -> Vec<bool> {
        let mut wanted = count.min(n);
        (0..n)
            .map(|i| {
                let taken = self.below(n - i) < wanted;
                wanted -= usize::from(taken);
                taken
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_never_changes() {
        let mut random = Random { state: 1234567 };
        assert_eq!(random.bits(), 6457827717110365317, "the published first value of SplitMix64 for this seed");
        let mut named = Random::new(7, 1);
        assert_eq!([named.bits(), named.bits()], [7681392708378949626, 9858095391612618991]);
    }

    #[test]
    fn streams_and_seeds_differ() {
        let first = |seed, stream| Random::new(seed, stream).bits();
        assert_ne!(first(0, 0), first(0, 1));
        assert_ne!(first(0, 0), first(1, 0));
    }

    #[test]
    fn choose_marks_exactly_as_many_as_asked() {
        for (n, count) in [(0, 0), (1, 0), (1, 1), (10, 3), (1000, 100), (5, 9)] {
            assert_eq!(Random::new(3, 0).choose(n, count).iter().filter(|&&b| b).count(), count.min(n));
        }
    }

    #[test]
    fn a_permutation_has_every_number_once() {
        let mut order = Random::new(3, 0).permutation(1000);
        assert_ne!(order[..4], [0, 1, 2, 3]);
        order.sort_unstable();
        assert!(order.iter().enumerate().all(|(i, &x)| i == x as usize));
    }
}
