//! Records a scene, and the pairs of its last frame as one process finds them: what a job's results are compared with.
//!
//! `record SCENE N FRAMES BOXES.npy PAIRS.npy`; without arguments, a small scene in the folder for temporary files.

use std::error::Error;
use std::path::{Path, PathBuf};

use broadphase::pairs;
use broadphase_scenes::{AnyScene, NpyWriter, Scene, SceneSpec, write_pairs_npy};

fn record<const D: usize>(
    mut scene: Box<dyn Scene<D>>,
    frames: usize,
    boxes: &Path,
    found: &Path,
) -> Result<usize, Box<dyn Error>> {
    let mut writer = NpyWriter::create(boxes, D, scene.boxes().len(), frames)?;
    for frame in 0..frames {
        if frame > 0 {
            scene.advance();
        }
        writer.write_frame(scene.boxes())?;
    }
    writer.finish()?;
    let pairs = pairs(scene.boxes())?;
    write_pairs_npy(found, &pairs)?;
    Ok(pairs.len())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = std::env::temp_dir();
    let path = |at: usize, name: &str| arguments.get(at).map_or_else(|| folder.join(name), PathBuf::from);
    let text = |at: usize, default: &'static str| arguments.get(at).map_or(default, String::as_str);
    let spec: SceneSpec = text(0, "sizes").parse()?;
    let (n, frames) = (text(1, "500").parse()?, text(2, "2").parse::<usize>()?.max(1));
    let (boxes, found) = (path(3, "broadphase-mpi-boxes.npy"), path(4, "broadphase-mpi-pairs.npy"));
    let count = match spec.build(n, 0)? {
        AnyScene::Two(scene) => record(scene, frames, &boxes, &found)?,
        AnyScene::Three(scene) => record(scene, frames, &boxes, &found)?,
    };
    println!("{}: {n} objects, {frames} frames; {}: {count} pairs of the last frame", boxes.display(), found.display());
    Ok(())
}
