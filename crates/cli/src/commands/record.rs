//! `broadphase record`: frames of a scene into a file.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use broadphase::Aabb;
use broadphase_scenes::{AabbsWriter, AnyScene, CsvWriter, NpyWriter, RecordingError, Scene};

use crate::arguments::{RecordArguments, ending};
use broadphase_bench::failure::Failure;
use broadphase_bench::output;
use broadphase_bench::progress::Progress;

/// Runs the command.
pub fn run(asked: &RecordArguments) -> Result<(), Failure> {
    output::must_be_file(&asked.output)?;
    let interrupted = watch_signals(); // before the file exists
    let (n, frames) = (asked.n, asked.frames);
    match asked.scene.build(n, asked.seed)? {
        AnyScene::Three(scene) if ending(&asked.output).as_deref() == Some("aabbs") => {
            let mut writer = AabbsWriter::create(&asked.output, &asked.scene.to_string(), "", n, frames)?;
            record(asked, scene, &interrupted, |boxes| writer.write_frame(boxes))?;
            Ok(writer.finish()?)
        }
        AnyScene::Three(scene) => save(asked, scene, &interrupted),
        AnyScene::Two(scene) => save(asked, scene, &interrupted),
    }
}

/// Records as NumPy data or as text.
fn save<const D: usize>(asked: &RecordArguments, scene: Box<dyn Scene<D>>, interrupted: &AtomicBool) -> Result<(), Failure> {
    if ending(&asked.output).as_deref() == Some("csv") {
        let mut writer = CsvWriter::create(&asked.output, D, asked.n, asked.frames)?;
        record(asked, scene, interrupted, |boxes| writer.write_frame(boxes))?;
        return Ok(writer.finish()?);
    }
    let mut writer = NpyWriter::create(&asked.output, D, asked.n, asked.frames)?;
    record(asked, scene, interrupted, |boxes| writer.write_frame(boxes))?;
    Ok(writer.finish()?)
}

/// A flag that Ctrl-C and a request to end set, instead of ending the process at once. If the handlers cannot be installed, signals end the
/// process as usual.
fn watch_signals() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    flag
}

/// Passes every frame to `write`.
fn record<const D: usize>(
    asked: &RecordArguments,
    mut scene: Box<dyn Scene<D>>,
    interrupted: &AtomicBool,
    mut write: impl FnMut(&[Aabb<D, f32>]) -> Result<(), RecordingError>,
) -> Result<(), Failure> {
    let progress = Progress::new("record", asked.frames);
    for frame in 0..asked.frames {
        if frame > 0 {
            scene.advance();
        }
        write(scene.boxes())?;
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted); // the writer is dropped, and its file with it
        }
        progress.step();
    }
    Ok(())
}
