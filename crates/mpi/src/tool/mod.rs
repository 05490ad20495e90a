//! Runs a command: parses the command line, starts MPI, and prints one line of text if the command fails.

mod arguments;
mod bench;
mod pairs;
mod simulate;

use std::io::Write;
use std::process::ExitCode;

use broadphase_mpi::{Error, Gathered, Mpi, Transport, TransportError, abort_on_panic};
use clap::Parser;

use arguments::{Command, Line};

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The command line names something that does not exist: exit 2.
    Usage(String),
    /// The data is bad, or a result is wrong: exit 1.
    Data(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Data(error.to_string())
    }
}

impl From<TransportError> for Failure {
    fn from(error: TransportError) -> Self {
        Self::Data(error.to_string())
    }
}

/// Runs the tool.
pub fn run() -> ExitCode {
    let line = match Line::try_parse() {
        Ok(line) => line,
        Err(error) if !error.use_stderr() => {
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            // All ranks read the same command line, so only rank 0 prints the error.
            if std::env::var("OMPI_COMM_WORLD_RANK").is_ok_and(|rank| rank != "0") {
                return ExitCode::from(2);
            }
            let text = error.render().to_string();
            return report(Failure::Usage(text.trim_start_matches("error: ").lines().next().unwrap_or_default().to_string()));
        }
    };
    if let Command::Simulate(asked) = &line.command {
        return simulate::run(asked).map_or_else(report, |()| ExitCode::SUCCESS);
    }
    let mpi = match Mpi::world() {
        Ok(mpi) => mpi,
        Err(error) => return report(error.into()),
    };
    let rank = mpi.rank();
    abort_on_panic(rank);
    let result = match &line.command {
        Command::Pairs(asked) => pairs::run(mpi, asked),
        Command::Bench(asked) => bench::run(mpi, asked),
        Command::Simulate(_) => return ExitCode::SUCCESS,
    };
    match result {
        Ok(mpi) => mpi.finish().map_or_else(|error| report(error.into()), |()| ExitCode::SUCCESS),
        Err(failure) => {
            // The other ranks may be in another call by now: print the reason, and end the job.
            let code = match &failure {
                Failure::Usage(_) => 2,
                Failure::Data(_) => 1,
            };
            if rank != 0 && is_shared(&failure) {
                // Rank 0 prints the reason and ends the job; this rank waits, so that the job does not end before the line is printed. If the job still
                // runs afterwards, rank 0 has not failed.
                std::thread::sleep(std::time::Duration::from_secs(5));
            }
            report(in_words_of(rank, failure));
            Mpi::abort(code);
        }
    }
}

/// Do all ranks have this failure? So it is for the command line, which all read, and for failures that name the rank they are from.
fn is_shared(failure: &Failure) -> bool {
    matches!(failure, Failure::Usage(_)) || matches!(failure, Failure::Data(text) if text.starts_with("rank "))
}

/// The failure with the rank that it is from, unless it is shared.
fn in_words_of(rank: usize, failure: Failure) -> Failure {
    match failure {
        Failure::Data(text) if !text.starts_with("rank ") => Failure::Data(format!("rank {rank}: {text}")),
        shared => shared,
    }
}

fn report(failure: Failure) -> ExitCode {
    let (text, code) = match failure {
        Failure::Usage(text) => (text, 2),
        Failure::Data(text) => (text, 1),
    };
    let _ = writeln!(std::io::stderr(), "broadphase-mpi: {}", text.replace(char::is_control, " "));
    ExitCode::from(code)
}

/// Returns `mine` if no rank failed; otherwise all ranks get the failure of the lowest rank that did.
pub fn agree<R>(transport: &mut impl Transport, mine: Result<R, Failure>) -> Result<R, Failure> {
    let text = match &mine {
        Ok(_) => String::new(),
        Err(Failure::Usage(text)) => format!("2{text}"),
        Err(Failure::Data(text)) => format!("1{text}"),
    };
    let mut all = Gathered::default();
    transport.start_all_gather(text.as_bytes())?;
    transport.finish_all_gather(&mut all)?;
    match (0..all.ranks()).find(|&rank| !all.of(rank).is_empty()) {
        None => mine,
        Some(rank) => {
            let text = String::from_utf8_lossy(all.of(rank)).into_owned();
            let (code, text) = text.split_at(1);
            Err(if code == "2" { Failure::Usage(text.to_string()) } else { Failure::Data(format!("rank {rank}: {text}")) })
        }
    }
}
