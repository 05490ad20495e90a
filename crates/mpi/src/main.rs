//! `broadphase-mpi`, the command-line tool: pairs and benchmarks over many ranks, and one rank of a job of any size.
//!
//! `mpirun -n R broadphase-mpi pairs FILE.npy -o OUT.npy` writes what `broadphase pairs` writes, byte for byte.

mod tool;

use std::process::ExitCode;

fn main() -> ExitCode {
    tool::run()
}
