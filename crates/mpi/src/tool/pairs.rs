//! `pairs`: the pairs of a frame of a recording, distributed over all ranks.

use std::path::Path;

use broadphase::{Pair, Real};
use broadphase_mpi::split::share;
use broadphase_mpi::{Channel, Distributed, Mpi, Options, Transport};
use broadphase_scenes::{PendingFile, Recording, Scalar, write_pairs_csv, write_pairs_npy};

use super::arguments::PairsLine;
use super::{Failure, agree};

/// Runs the command.
pub fn run(mut mpi: Mpi, asked: &PairsLine) -> Result<Mpi, Failure> {
    let opened = open(asked);
    let recording = agree(&mut mpi, opened)?;
    match (recording.dim(), recording.scalar()) {
        (2, Scalar::F32) => find::<2, f32>(mpi, asked, &recording),
        (2, Scalar::F64) => find::<2, f64>(mpi, asked, &recording),
        (_, Scalar::F32) => find::<3, f32>(mpi, asked, &recording),
        (_, Scalar::F64) => find::<3, f64>(mpi, asked, &recording),
    }
}

fn ending(path: &Path) -> Option<String> {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase())
}

fn open(asked: &PairsLine) -> Result<Recording, Failure> {
    let target = asked.output.as_deref().unwrap_or(Path::new("-"));
    if target.as_os_str() != "-" && !matches!(ending(target).as_deref(), Some("npy" | "csv")) {
        let text = format!("{}: pairs are written as .npy or .csv; give such a name, or -", target.display());
        return Err(Failure::Usage(text));
    }
    let data = |error: broadphase_scenes::RecordingError| Failure::Data(error.to_string());
    let recording = Recording::open(&asked.file).map_err(data)?;
    let (frame, has) = (asked.frame, recording.frames());
    if frame >= has {
        let file = asked.file.display();
        return Err(Failure::Usage(format!("{file}: there is no frame {frame}; it has {has} frames, counted from 0")));
    }
    recording.check_frame(frame).map_err(data)?;
    Ok(recording)
}

fn find<const D: usize, T: Real>(mpi: Mpi, asked: &PairsLine, recording: &Recording) -> Result<Mpi, Failure> {
    let boxes = recording.frame::<D, T>(asked.frame).map_err(|error| Failure::Data(error.to_string()))?;
    let mut space = Distributed::<D, T, _>::new(mpi, Options::default())?;
    let shares = share(&boxes, space.size(), asked.split);
    let me = space.rank() as u32;
    let ids: Vec<u64> = (0..boxes.len() as u64).filter(|&id| shares.ranks[id as usize] == me).collect();
    let own: Vec<_> = ids.iter().map(|&id| boxes[id as usize]).collect();
    space.assign(&ids, &own)?;
    if let Some(region) = shares.regions.get(me as usize) {
        space.set_domain(&[*region]);
    }
    space.update()?;
    let pairs = job_pairs(&space);
    let size = space.size();
    let mut mpi = space.into_transport();
    let gathered = gather(&mut mpi, size, pairs)?;
    let written = if me == 0 { write(asked, &gathered) } else { Ok(()) };
    agree(&mut mpi, written)?;
    Ok(mpi)
}

/// The pairs that this rank reports, by global ids.
pub fn job_pairs<const D: usize, T: Real, C: Transport>(space: &Distributed<D, T, C>) -> Vec<Pair> {
    let id = |index: u32| space.id(index).unwrap_or_default() as u32;
    let mut pairs = Vec::new();
    if let Some(store) = space.local_pairs() {
        store.for_each_chunk(|chunk| pairs.extend(chunk.iter().map(|pair| Pair::new(id(pair.a), id(pair.b)))));
    }
    let me = space.rank();
    let cross = space.cross_pairs().iter();
    // If both ranks report a pair, that of the lower rank counts.
    let once = |rank: u32| space.options().reporting == broadphase_mpi::Reporting::Once || me < rank as usize;
    pairs.extend(cross.filter(|pair| once(pair.rank)).map(|pair| Pair::new(pair.local_id as u32, pair.remote_id as u32)));
    pairs
}

/// All pairs of the job, sorted, on rank 0.
fn gather(mpi: &mut Mpi, size: usize, mut pairs: Vec<Pair>) -> Result<Vec<Pair>, Failure> {
    if mpi.rank() > 0 {
        mpi.send(0, Channel::Pairs, bytemuck::cast_slice(&pairs).to_vec())?;
        return Ok(Vec::new());
    }
    let mut message = Vec::new();
    for rank in 1..size {
        mpi.receive(rank, Channel::Pairs, &mut message)?;
        pairs.extend(message.chunks_exact(size_of::<Pair>()).map(bytemuck::pod_read_unaligned::<Pair>));
    }
    pairs.sort_unstable();
    Ok(pairs)
}

fn write(asked: &PairsLine, pairs: &[Pair]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Data(format!("cannot write: {error}"));
    match asked.output.as_deref().filter(|path| path.as_os_str() != "-") {
        None => write_pairs_csv(&mut std::io::stdout().lock(), pairs).map_err(failed),
        Some(path) if ending(path).as_deref() == Some("csv") => {
            let mut file = PendingFile::create(path).map_err(|error| Failure::Data(error.to_string()))?;
            write_pairs_csv(&mut file, pairs).map_err(failed)?;
            file.finish().map_err(|error| Failure::Data(error.to_string()))
        }
        Some(path) => write_pairs_npy(path, pairs).map_err(|error| Failure::Data(error.to_string())),
    }
}
