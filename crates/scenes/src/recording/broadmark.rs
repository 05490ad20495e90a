//! `.aabbs`, the recordings of the Broadmark benchmark.
//!
//! Little-endian, no magic: 128 bytes scene name, 128 bytes object type, i32 objects N, i32 frames F, two zero i32, the world as one box,
//! N initial boxes, then F blocks of N boxes. A box is 8 f32: min x, y, z, 0, max x, y, z, 0. So a file has 304 + 32 N (F + 1) bytes.
//! The initial boxes are what a structure is set up with: here they are frame 0, and the blocks are frames 1 to F.

use broadphase::Aabb;

use super::{FileFault, Layout, Scalar};

/// Bytes before the initial boxes.
pub(super) const HEAD: usize = 304;
/// Bytes of one box.
pub(super) const BOX: usize = 32;
/// Where N stands.
const COUNTS: usize = 256;

/// Reads the head.
pub(super) fn layout(bytes: &[u8]) -> Result<Layout, FileFault> {
    let short = FileFault::WrongLength { expected: HEAD as u128, found: bytes.len() as u64 };
    let count = |name: &str, at: usize| match bytes[at..at + 4].try_into().map(i32::from_le_bytes) {
        Ok(count) if count >= 0 => Ok(count as usize),
        _ => Err(FileFault::BadHeader {
            byte: at,
            reason: format!("the number of {name} is negative; this is no Broadmark recording"),
        }),
    };
    if bytes.len() < HEAD {
        return Err(short);
    }
    let (n, blocks) = (count("objects", COUNTS)?, count("frames", COUNTS + 4)?);
    Ok(Layout { dim: 3, scalar: Scalar::F32, n, frames: blocks + 1, start: HEAD, stride: BOX })
}

/// The head of a file with `n` objects and `blocks` blocks after the initial boxes. Names are cut to what fits, at a character.
pub(super) fn head_bytes(scene: &str, object_type: &str, n: i32, blocks: i32, world: &Aabb<3, f32>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD);
    for name in [scene, object_type] {
        // One byte stays zero, for readers that expect a C string.
        let end = (0..=name.len().min(127)).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
        let next = bytes.len() + 128;
        bytes.extend(&name.as_bytes()[..end]);
        bytes.resize(next, 0);
    }
    for count in [n, blocks, 0, 0] {
        bytes.extend(count.to_le_bytes());
    }
    bytes.extend(pad(world));
    bytes
}

/// A box as the file has it.
pub(super) fn pad(aabb: &Aabb<3, f32>) -> [u8; BOX] {
    let mut bytes = [0; BOX];
    for k in 0..3 {
        bytes[4 * k..4 * k + 4].copy_from_slice(&aabb.min[k].to_le_bytes());
        bytes[16 + 4 * k..20 + 4 * k].copy_from_slice(&aabb.max[k].to_le_bytes());
    }
    bytes
}

/// The six numbers of each box, without the padding.
pub(super) fn unpad(bytes: &[u8]) -> Vec<[f32; 6]> {
    let number = |chunk: &[u8], at: usize| f32::from_le_bytes([chunk[at], chunk[at + 1], chunk[at + 2], chunk[at + 3]]);
    let row = |chunk| [0, 4, 8, 16, 20, 24].map(|at| number(chunk, at));
    bytes.chunks_exact(BOX).map(row).collect()
}
