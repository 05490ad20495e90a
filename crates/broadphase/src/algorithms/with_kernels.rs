//! A structure that uses kernels of its own instead of the context's, for the option `isa`.

use super::{BroadPhase, Probes, Query, Region, Spec, Stats, Strength, Violation};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::Kernels;
use crate::objects::Frame;
use crate::pairs::PairStore;

impl Spec {
    /// The structure, with the kernels that the option `isa` names, if it is given.
    pub(super) fn apply_isa<const D: usize, T: Real>(&self, structure: Box<dyn BroadPhase<D, T>>) -> Box<dyn BroadPhase<D, T>> {
        match self.text("isa") {
            Some(_) => Box::new(WithKernels { inner: structure, kernels: self.kernels() }),
            None => structure,
        }
    }
}

/// Calls the structure inside with the context's kernels replaced.
struct WithKernels<const D: usize, T: Real> {
    inner: Box<dyn BroadPhase<D, T>>,
    kernels: Kernels,
}

/// Calls `call` with other kernels in the context.
fn with<R>(kernels: Kernels, context: &mut Context, call: impl FnOnce(&mut Context) -> R) -> R {
    let before = context.replace_kernels(kernels);
    let result = call(context);
    context.replace_kernels(before);
    result
}

impl<const D: usize, T: Real> BroadPhase<D, T> for WithKernels<D, T> {
    fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        with(self.kernels, context, |context| self.inner.update(frame, context))
    }

    fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        with(self.kernels, context, |context| self.inner.pairs(frame, context, out))
    }

    fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        with(self.kernels, context, |context| self.inner.probe(frame, probes, context, out))
    }

    fn probe_envs(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        envs: &[u32],
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        with(self.kernels, context, |context| self.inner.probe_envs(frame, probes, envs, context, out))
    }

    fn reader(&self) -> Option<&dyn Query<D, T>> {
        self.inner.reader()
    }

    fn outline(&self, frame: &Frame<'_, D, T>, visit: &mut dyn FnMut(Region<D, T>)) {
        self.inner.outline(frame, visit);
    }

    fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        self.inner.validate(frame, strength)
    }

    fn stats(&self) -> Stats {
        self.inner.stats()
    }

    fn boxed_clone(&self) -> Box<dyn BroadPhase<D, T>> {
        Box::new(Self { inner: self.inner.clone(), kernels: self.kernels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Isa;

    /// Finds nothing, and expects to be called with these kernels.
    #[derive(Clone)]
    struct Expects(Isa);

    impl Expects {
        fn check(&self, context: &Context) -> Result<(), Error> {
            assert_eq!(context.kernels().isa(), self.0);
            Ok(())
        }
    }

    impl BroadPhase<2, f32> for Expects {
        fn update(&mut self, _: &Frame<'_, 2, f32>, context: &mut Context) -> Result<(), Error> {
            self.check(context)
        }

        fn pairs(&mut self, _: &Frame<'_, 2, f32>, context: &mut Context, _: &mut PairStore) -> Result<(), Error> {
            self.check(context)
        }

        fn probe(
            &self,
            _: &Frame<'_, 2, f32>,
            _: Probes<'_, 2, f32>,
            context: &mut Context,
            _: &mut PairStore,
        ) -> Result<(), Error> {
            self.check(context)
        }

        fn validate(&self, _: &Frame<'_, 2, f32>, _: Strength) -> Result<(), Violation> {
            Ok(())
        }

        fn stats(&self) -> Stats {
            Stats::default()
        }

        fn boxed_clone(&self) -> Box<dyn BroadPhase<2, f32>> {
            Box::new(self.clone())
        }
    }

    #[test]
    fn a_structure_built_with_isa_uses_it_whatever_the_context_says() {
        for isa in Isa::available() {
            for other in Isa::available() {
                let mut context = Context::new().with_kernels(Kernels::new(other).unwrap());
                for (spec, expected) in [(format!("auto:isa={}", isa.name()), isa), ("auto".to_string(), other)] {
                    let mut structure = spec.parse::<Spec>().unwrap().apply_isa(Box::new(Expects(expected)));
                    let (frame, mut store) = (Frame::new(&[]), PairStore::default());
                    structure.update(&frame, &mut context).unwrap();
                    structure.pairs(&frame, &mut context, &mut store).unwrap();
                    let probes = Probes { boxes: &[], ids: None, recurring: false };
                    structure.boxed_clone().probe(&frame, probes, &mut context, &mut store).unwrap();
                    structure.probe_envs(&frame, probes, &[], &mut context, &mut store).unwrap();
                    assert_eq!(context.kernels().isa(), other, "the context is as it was");
                }
            }
        }
    }
}
