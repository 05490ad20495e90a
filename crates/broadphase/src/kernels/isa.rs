//! The instruction set that runs the kernels: detected once, carried by value, and selectable for tests.

use std::fmt;
use std::str::FromStr;

use super::arch::{self, Kernel, Simd};
use crate::error::Error;

/// An instruction set by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// One lane, any CPU. On targets whose CPUs all have a wider set, only with the feature `papers`, for tests that compare with it.
    Scalar,
    /// x86-64 with SSE2: every x86-64.
    Sse2,
    /// x86-64 with AVX2, BMI1, BMI2, LZCNT and POPCNT.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ, VL and VBMI2.
    Avx512,
    /// aarch64 with NEON: every aarch64.
    Neon,
    /// WebAssembly with vectors of 128 bits, if it is compiled for them.
    Simd128,
}

impl Isa {
    /// All names, whether this CPU has them or not.
    pub const ALL: [Isa; 6] = [Isa::Scalar, Isa::Sse2, Isa::Avx2, Isa::Avx512, Isa::Neon, Isa::Simd128];

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
            Isa::Simd128 => "simd128",
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

/// The proof that the CPU has an instruction set, and the entry to the kernels of that set.
///
/// ```
/// use broadphase::{Isa, Kernels};
/// let best = Kernels::best();
/// assert!(Isa::available().any(|isa| isa == best.isa()));
/// assert!(Kernels::new(Isa::Neon).is_none() || cfg!(target_arch = "aarch64"));
/// ```
#[derive(Clone, Copy)]
pub struct Kernels(Token);

/// The table of instruction sets: under which condition each is compiled, its name in [`Isa`], and its token type. From it follow the
/// tokens, and the three functions that match on them.
macro_rules! instruction_sets {
    ($($condition:meta => $name:ident($token:ty);)*) => {
        #[derive(Clone, Copy)]
        enum Token {
            $(#[cfg($condition)] $name($token),)*
        }

        impl Kernels {
            /// The kernels of `isa`, or `None` if this CPU does not have it.
            pub fn new(isa: Isa) -> Option<Self> {
                let token = match isa {
                    $(#[cfg($condition)] Isa::$name => <$token>::detect().map(Token::$name),)*
                    #[allow(unreachable_patterns)] // which arms are left depends on the architecture
                    _ => None,
                };
                token.map(Self)
            }

            /// Which instruction set this is.
            pub fn isa(self) -> Isa {
                match self.0 {
                    $(#[cfg($condition)] Token::$name(_) => Isa::$name,)*
                }
            }

            /// Runs a kernel with this instruction set: the only place that matches on the set.
            #[inline]
            pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
                match self.0 {
                    $(#[cfg($condition)] Token::$name(simd) => simd.enter(kernel),)*
                }
            }

            /// Runs a kernel that does not gain from the widest registers with [`Simd::narrow`]: one copy less is compiled.
            #[inline]
            pub(crate) fn run_narrow<K: Kernel>(self, kernel: K) -> K::Output {
                match self.0 {
                    $(#[cfg($condition)] Token::$name(simd) => simd.narrow().enter(kernel),)*
                }
            }
        }
    };
}

instruction_sets! {
    any(not(any(target_arch = "x86_64", target_feature = "simd128")), feature = "papers") => Scalar(arch::Scalar);
    target_arch = "x86_64" => Sse2(arch::x86::Sse2);
    target_arch = "x86_64" => Avx2(arch::x86::Avx2);
    target_arch = "x86_64" => Avx512(arch::x86::Avx512);
    target_arch = "aarch64" => Neon(arch::neon::Neon);
    target_feature = "simd128" => Simd128(arch::wasm::Simd128);
}

impl Token {
    /// What every CPU of the target has.
    #[cfg(target_arch = "x86_64")]
    const BASELINE: Self = Self::Sse2(arch::BASELINE);
    #[cfg(target_feature = "simd128")]
    const BASELINE: Self = Self::Simd128(arch::BASELINE);
    #[cfg(not(any(target_arch = "x86_64", target_feature = "simd128")))]
    const BASELINE: Self = Self::Scalar(arch::BASELINE);
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
    /// The widest kernels of this CPU.
    pub fn best() -> Self {
        Isa::ALL.into_iter().rev().find_map(Self::new).unwrap_or(Self(Token::BASELINE))
    }
}
