//! The three hash functions of the text, for any number of axes.

/// How a cell's coordinates become a slot of the table, for space without an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Hash {
    /// `((x * p1 + y) * p2 + z) ... % n`.
    Chain,
    /// `(x * p1 ^ y * p2 ^ z * p3 ...) % n`.
    #[default]
    Xor,
    /// `((x * p1 + y) % p2) % n`, and for more axes `((((x * p1 + y) % p2) * p1 + z) % p2) ... % n`.
    Modular,
}

/// The primes; axes beyond the last start over.
const PRIMES: [u64; 6] = [73_856_093, 19_349_663, 83_492_791, 67_867_967, 49_979_687, 86_028_121];
/// The modulus between two axes of [`Hash::Modular`].
const MODULUS: u64 = 2_147_483_647;

impl Hash {
    /// All of them, with the names that options use.
    pub const ALL: [(&'static str, Hash); 3] = [("chain", Hash::Chain), ("xor", Hash::Xor), ("modular", Hash::Modular)];

    /// The size of the table for `count` particles, if none is given: a power of two, whose remainder is a mask; but the modular
    /// function divides anyway, and with a power of two it puts twice as many particles into a slot.
    pub(super) fn usual_slots(self, count: usize) -> usize {
        if self == Hash::Modular { 2 * count + 1 } else { (2 * count).next_power_of_two() }
    }

    /// The slot of a cell in a table of `slots`.
    #[inline(always)]
    pub fn slot<const D: usize>(self, cell: &[i64; D], slots: usize) -> usize {
        let at = |k: usize| cell[k] as u64; // negative coordinates wrap: any slot will do, if it is always the same
        let hash = match self {
            Hash::Chain => (1..D).fold(at(0), |hash, k| hash.wrapping_mul(PRIMES[(k - 1) % 6]).wrapping_add(at(k))),
            Hash::Xor => (0..D).fold(0, |hash, k| hash ^ at(k).wrapping_mul(PRIMES[k % 6])),
            Hash::Modular => (1..D).fold(at(0), |hash, k| hash.wrapping_mul(PRIMES[0]).wrapping_add(at(k)) % MODULUS),
        };
        // A division takes as long as all the rest.
        if slots.is_power_of_two() { hash as usize & (slots - 1) } else { (hash % slots as u64) as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_spreads_a_block_of_cells_evenly_in_two_three_and_four_dimensions() {
        for (name, hash) in Hash::ALL {
            let mut counts = vec![0u32; 4099];
            let mut cells = 0;
            for x in -8..8 {
                for y in -8..8 {
                    for z in -8..8i64 {
                        counts[hash.slot(&[x, y, z], 4099)] += 1;
                        cells += 1;
                    }
                }
            }
            let most = counts.iter().max().unwrap();
            let used = counts.iter().filter(|&&c| c > 0).count();
            assert!(*most <= 12 && used > cells / 3, "{name}: {used} slots for {cells} cells, up to {most} in one");
            assert!(hash.slot(&[-3, 5], 7) < 7 && hash.slot(&[1, -2, 3, -4], 1) == 0);
        }
    }
}
