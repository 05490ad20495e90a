//! Scenes that move boxes, and recordings of such scenes: what algorithms are tested and measured on.
//!
//! A *scene* is a generator of frames ([`list`], [`SceneSpec`], [`Scene`]): deterministic from a seed, the same bits on every
//! platform, for any number of objects. A *recording* is frames in a file ([`Recording`], [`NpyWriter`]), memory-mapped, as NumPy,
//! CSV or Broadmark data.

mod density;
mod error;
mod families;
mod list;
mod physics;
mod random;
mod recording;
mod scene;
mod shapes;
mod spec;
mod values;

pub use error::SceneError;
pub use list::{OptionDescriptor, SceneDescriptor, list};
pub use recording::{
    AabbsWriter, Columns, ColumnsError, CsvWriter, FileFault, Format, NpyWriter, PendingFile, ReadOptions, Recording,
    RecordingError, Scalar, write_aabbs, write_pairs_csv, write_pairs_npy,
};
pub use scene::{AnyScene, Scene};
pub use spec::SceneSpec;
