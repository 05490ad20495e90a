//! The instruction sets: one file or folder each, and nothing else in the library names an instruction.
//!
//! Joins are written once above, generic over [`Simd`]. To add an instruction set:
//! 1. Add a file with a token type, a value of which is the proof that the CPU has the instructions.
//! 2. Implement the registers for it (`lanes.rs`): [`Lanes`] twice, [`Bytes`], [`Words`], and [`Registers`], which ties them together.
//! 3. Implement [`Simd`], and the empty [`Quantize`] and [`Confirmation`]. Their methods have portable defaults, which a set replaces
//!    where its own instructions are faster.
//! 4. Add a line to the table of `../isa.rs`, and a name to [`Isa`](super::Isa).
//!
//! Every method is `#[inline(always)]`, down to the instruction: a function in between would not have the instruction set, and each
//! instruction would become a call (`scripts/check-inlined`).

pub(crate) mod lanes;
#[cfg(target_arch = "aarch64")]
pub(super) mod neon;
mod scalar;
#[cfg(target_feature = "simd128")]
pub(super) mod wasm;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

pub(crate) use lanes::{Bytes, Lanes, Mask, Registers, Truncate, Words};
pub(crate) use scalar::Scalar;

use super::quantize::Quantize;
use super::tile::Confirmation;

/// What every CPU of the target has.
#[cfg(target_arch = "x86_64")]
pub(super) const BASELINE: x86::Sse2 = x86::Sse2::BASELINE;
#[cfg(target_feature = "simd128")]
pub(super) const BASELINE: wasm::Simd128 = wasm::Simd128::BASELINE;
#[cfg(not(any(target_arch = "x86_64", target_feature = "simd128")))]
pub(super) const BASELINE: Scalar = Scalar;

/// One instruction set. A value of an implementing type is the proof that the CPU has it.
pub(crate) trait Simd: Registers + Quantize + Confirmation {
    /// The set that runs kernels which do not gain from registers of more than 256 bits: itself, or a part of it.
    type Narrow: Simd;

    /// A value, if this CPU has the instructions.
    fn detect() -> Option<Self>;

    /// The proof for the narrower set.
    fn narrow(self) -> Self::Narrow;

    /// Runs a kernel. A set that is not part of the target enters it through a function with `#[target_feature]`.
    #[inline(always)]
    fn enter<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }
}

/// A whole join, written once over [`Simd`]. Its `run` and all that it calls are `#[inline(always)]`, so that the features of
/// [`Simd::enter`] reach the innermost instruction.
pub(crate) trait Kernel {
    /// What the join returns.
    type Output;
    /// Runs it.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}
