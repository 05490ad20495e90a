//! Which instruction set runs the kernels: detected once, carried by value, forceable.

use std::fmt;
use std::str::FromStr;

use super::lanes::Simd;
use super::scalar::Scalar;
use crate::error::Error;

/// An instruction set by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// One lane, any CPU. On x86-64, which always has SSE2, only with the feature `papers`: tests compare with it.
    Scalar,
    /// x86-64 with SSE2: every x86-64.
    Sse2,
    /// x86-64 with AVX2, BMI1, BMI2, LZCNT and POPCNT.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ, VL and VBMI2.
    Avx512,
    /// aarch64 with NEON: every aarch64.
    Neon,
}

impl Isa {
    /// All names, whether this CPU has them or not.
    pub const ALL: [Isa; 5] = [Isa::Scalar, Isa::Sse2, Isa::Avx2, Isa::Avx512, Isa::Neon];

    /// The instruction sets of this CPU, narrowest first.
    pub fn available() -> impl Iterator<Item = Isa> {
        Self::ALL.into_iter().filter(|&isa| Kernels::new(isa).is_some())
    }

    /// The name in options and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Scalar => "scalar",
            Isa::Sse2 => "sse2",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
            Isa::Neon => "neon",
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Isa {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let error = || Error::InvalidOption {
            algorithm: "kernels",
            option: "isa",
            value: name.to_string(),
            expected: format!("one of {}", Self::ALL.map(Self::name).join(", ")),
        };
        Self::ALL.into_iter().find(|isa| isa.name() == name).ok_or_else(error)
    }
}

/// The proof that the CPU has an instruction set, and the door to the kernels of that set.
///
/// ```
/// use broadphase::{Isa, Kernels};
/// let best = Kernels::best();
/// assert!(Isa::available().any(|isa| isa == best.isa()));
/// assert!(Kernels::new(Isa::Neon).is_none() || cfg!(target_arch = "aarch64"));
/// ```
#[derive(Clone, Copy)]
pub struct Kernels(Token);

#[derive(Clone, Copy)]
enum Token {
    #[cfg(any(not(target_arch = "x86_64"), feature = "papers"))]
    Scalar(Scalar),
    #[cfg(target_arch = "x86_64")]
    Sse2(super::x86::Sse2),
    #[cfg(target_arch = "x86_64")]
    Avx2(super::x86::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(super::x86::Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(super::neon::Neon),
}

impl Token {
    /// What every CPU of the target has.
    #[cfg(target_arch = "x86_64")]
    const BASELINE: Self = Self::Sse2(super::x86::Sse2::BASELINE);
    #[cfg(not(target_arch = "x86_64"))]
    const BASELINE: Self = Self::Scalar(Scalar);
}

impl fmt::Debug for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernels({})", self.isa())
    }
}

impl Default for Kernels {
    fn default() -> Self {
        Self::best()
    }
}

impl Kernels {
    /// The kernels of `isa`, or `None` if this CPU does not have it.
    pub fn new(isa: Isa) -> Option<Self> {
        let token = match isa {
            #[cfg(any(not(target_arch = "x86_64"), feature = "papers"))]
            Isa::Scalar => Some(Token::Scalar(Scalar)),
            #[cfg(target_arch = "x86_64")]
            Isa::Sse2 => Some(Token::BASELINE),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => super::x86::Avx2::detect().map(Token::Avx2),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => super::x86::Avx512::detect().map(Token::Avx512),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => super::neon::Neon::detect().map(Token::Neon),
            #[allow(unreachable_patterns)] // which arms are left depends on the architecture
            _ => None,
        };
        token.map(Self)
    }

    /// The widest kernels of this CPU.
    pub fn best() -> Self {
        Isa::ALL.into_iter().rev().find_map(Self::new).unwrap_or(Self(Token::BASELINE))
    }

    /// Which instruction set this is.
    pub fn isa(self) -> Isa {
        match self.0 {
            #[cfg(any(not(target_arch = "x86_64"), feature = "papers"))]
            Token::Scalar(_) => Isa::Scalar,
            #[cfg(target_arch = "x86_64")]
            Token::Sse2(_) => Isa::Sse2,
            #[cfg(target_arch = "x86_64")]
            Token::Avx2(_) => Isa::Avx2,
            #[cfg(target_arch = "x86_64")]
            Token::Avx512(_) => Isa::Avx512,
            #[cfg(target_arch = "aarch64")]
            Token::Neon(_) => Isa::Neon,
        }
    }

    /// Runs a kernel with this instruction set: the one place where the sets part.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            #[cfg(any(not(target_arch = "x86_64"), feature = "papers"))]
            Token::Scalar(simd) => kernel.run(simd),
            #[cfg(target_arch = "x86_64")]
            Token::Sse2(simd) => kernel.run(simd), // part of the target: no shell needed
            // SAFETY: (isa) the token exists only where all features of the shell were detected.
            #[cfg(target_arch = "x86_64")]
            Token::Avx2(simd) => unsafe { avx2(kernel, simd) },
            // SAFETY: (isa) as above.
            #[cfg(target_arch = "x86_64")]
            Token::Avx512(simd) => unsafe { avx512(kernel, simd) },
            #[cfg(target_arch = "aarch64")]
            Token::Neon(simd) => kernel.run(simd), // part of the target: no shell needed
        }
    }
}

/// A whole join, written once over [`Simd`]; its `run` and all that it calls are `#[inline(always)]`, so that the shell's
/// features reach the innermost instruction.
pub(crate) trait Kernel {
    /// What the join returns.
    type Output;
    /// Runs it.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<K: Kernel>(kernel: K, simd: super::x86::Avx2) -> K::Output {
    kernel.run(simd)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx512<K: Kernel>(kernel: K, simd: super::x86::Avx512) -> K::Output {
    kernel.run(simd)
}
