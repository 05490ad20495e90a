//! For authors of structures: how a structure writes its pairs. Other users do not need this module.
//!
//! A structure implements [`BroadPhase`], and writes its pairs in chunks: [`WritePairs::begin`], then [`rewrite`](WritePairs::rewrite) or
//! [`edit`](WritePairs::edit) for the chunks that changed, from any worker, then [`finish`](WritePairs::finish). A chunk may be a tile, a node, a run of
//! cells, or everything. The store applies tags, shapes and filters, counts pairs against the limit, and finds what started and ended.
//!
//! ```
//! use broadphase::implement::WritePairs;
//! use broadphase::{Aabb, BroadPhase, Context, Error, Frame, Pair, PairStore, Probes, Real, Stats, Strength, Violation, World2};
//!
//! /// A double loop: all pairs are one chunk, written anew in each frame.
//! #[derive(Clone)]
//! struct DoubleLoop;
//!
//! impl<const D: usize, T: Real> BroadPhase<D, T> for DoubleLoop {
//!     fn update(&mut self, frame: &Frame<'_, D, T>, _: &mut Context) -> Result<(), Error> {
//!         frame.check() // no structure: all boxes are in the frame
//!     }
//!
//!     fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
//!         out.begin(frame, context, Default::default(), 1)?;
//!         out.rewrite(0, 0, frame, |sink| {
//!             for a in frame.ids() {
//!                 for b in frame.ids().filter(|&b| a < b) {
//!                     if frame.boxes[a as usize].overlaps(&frame.boxes[b as usize]) {
//!                         sink.push(Pair { a, b });
//!                     }
//!                 }
//!             }
//!         });
//!         out.finish(context, 1).map(|_| ())
//!     }
//!
//!     fn probe(&self, frame: &Frame<'_, D, T>, probes: Probes<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
//!         // Without ids, pairs are (index of the probe, object) and are not filtered.
//!         let plain = Frame::new(frame.boxes);
//!         let view = if probes.ids.is_some() { frame } else { &plain };
//!         out.begin(view, context, Default::default(), 1)?;
//!         out.rewrite(0, 0, view, |sink| {
//!             for (index, probe) in probes.boxes.iter().enumerate() {
//!                 for id in frame.ids().filter(|&id| probe.overlaps(&frame.boxes[id as usize])) {
//!                     sink.push(match probes.ids {
//!                         Some(ids) => Pair::new(ids[index], id),
//!                         None => Pair { a: index as u32, b: id },
//!                     });
//!                 }
//!             }
//!         });
//!         out.finish(context, 1).map(|_| ())
//!     }
//!
//!     fn validate(&self, _: &Frame<'_, D, T>, _: Strength) -> Result<(), Violation> {
//!         Ok(())
//!     }
//!
//!     fn stats(&self) -> Stats {
//!         Stats::default()
//!     }
//!
//!     fn boxed_clone(&self) -> Box<dyn BroadPhase<D, T>> {
//!         Box::new(self.clone())
//!     }
//! }
//!
//! let mut world = World2::new();
//! world.set_structures(Box::new(DoubleLoop), Box::new(DoubleLoop));
//! let [a, b, c] = world.insert_many(&[0.0, 0.5, 3.0].map(|x| Aabb::new([x, 0.0], [x + 1.0, 1.0])))?[..] else { unreachable!() };
//! assert_eq!(world.update()?.started(), [(a, b)]);
//! world.set_box(c, Aabb::new([1.5, 0.0], [2.5, 1.0]))?;
//! assert_eq!(world.update()?.started(), [(b, c)]);
//! # Ok::<(), broadphase::Error>(())
//! ```

pub use crate::kernels::PairSink;
pub use crate::pairs::Revision;

#[allow(unused_imports, reason = "for the links of the text")]
use crate::algorithms::BroadPhase;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore};

/// The half of a [`PairStore`] that structures write to.
pub trait WritePairs {
    /// Starts a frame of `chunks` chunks. Returns whether the content is what the structure wrote last (its `revision`), so that
    /// chunks may be kept; if not, every chunk starts empty and must be rewritten. `Revision::default()` keeps nothing.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; the content stays as it is.
    fn begin<const D: usize, T: Real>(
        &mut self,
        frame: &Frame<'_, D, T>,
        context: &Context,
        revision: Revision,
        chunks: usize,
    ) -> Result<bool, Error>;

    /// The current pairs of a chunk.
    ///
    /// # Panics
    /// If [`begin`](WritePairs::begin) was called with fewer chunks. So do [`rewrite`](WritePairs::rewrite) and [`edit`](WritePairs::edit).
    fn chunk(&mut self, chunk: usize) -> &[Pair];

    /// Replaces a chunk by the pairs that `fill` pushes and the frame's filters allow.
    fn rewrite<const D: usize, T: Real>(
        &self,
        chunk: usize,
        worker: usize,
        frame: &Frame<'_, D, T>,
        fill: impl FnOnce(&mut PairSink<'_>),
    );

    /// Keeps the pairs of a chunk for which `stays` is true, and adds the pairs that `fill` pushes and the frame's filters allow.
    fn edit<const D: usize, T: Real>(
        &self,
        chunk: usize,
        worker: usize,
        frame: &Frame<'_, D, T>,
        stays: impl Fn(Pair) -> bool,
        fill: impl FnOnce(&mut PairSink<'_>),
    );

    /// Ends the frame, which used `chunks` chunks: counts, finds what started and ended, and returns the revision of the content.
    ///
    /// # Errors
    /// [`Error::TooManyPairs`] and [`Error::OutOfMemory`]. The new pairs are then dropped; if differences are reported, those of the last frame are
    /// restored, so that the next difference is correct.
    fn finish(&mut self, context: &Context, chunks: usize) -> Result<Revision, Error>;
}

impl WritePairs for PairStore {
    fn begin<const D: usize, T: Real>(
        &mut self,
        frame: &Frame<'_, D, T>,
        context: &Context,
        revision: Revision,
        chunks: usize,
    ) -> Result<bool, Error> {
        PairStore::begin(self, frame, context, revision, chunks)
    }

    fn chunk(&mut self, chunk: usize) -> &[Pair] {
        PairStore::chunk(self, chunk)
    }

    fn rewrite<const D: usize, T: Real>(
        &self,
        chunk: usize,
        worker: usize,
        frame: &Frame<'_, D, T>,
        fill: impl FnOnce(&mut PairSink<'_>),
    ) {
        PairStore::rewrite(self, chunk, worker, frame, fill);
    }

    fn edit<const D: usize, T: Real>(
        &self,
        chunk: usize,
        worker: usize,
        frame: &Frame<'_, D, T>,
        stays: impl Fn(Pair) -> bool,
        fill: impl FnOnce(&mut PairSink<'_>),
    ) {
        PairStore::edit(self, chunk, worker, frame, stays, fill);
    }

    fn finish(&mut self, context: &Context, chunks: usize) -> Result<Revision, Error> {
        PairStore::finish(self, context, chunks)
    }
}
