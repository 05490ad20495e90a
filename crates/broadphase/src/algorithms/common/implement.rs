//! The macro that implements the trait for a structure.

/// Implements [`BroadPhase`](crate::BroadPhase) for a structure by its own methods of the same names, each in the file of its name: `update`
/// in `update.rs`, `pairs` and `probe` in `pairs.rs`, `validate` in `validate.rs`, `stats` in `mod.rs`. With `reader`, the structure
/// implements [`Query`](crate::Query) itself, in `query.rs`; with `outline`, it has a method `outline` there.
macro_rules! implement_broad_phase {
    ($structure:ident $(, $optional:ident)*) => {
        impl<const D: usize, T: $crate::Real> $crate::BroadPhase<D, T> for $structure<D, T> {
            fn update(&mut self, frame: &$crate::Frame<'_, D, T>, context: &mut $crate::Context) -> Result<(), $crate::Error> {
                Self::update(self, frame, context)
            }

            fn pairs(
                &mut self,
                frame: &$crate::Frame<'_, D, T>,
                context: &mut $crate::Context,
                out: &mut $crate::PairStore,
            ) -> Result<(), $crate::Error> {
                Self::pairs(self, frame, context, out)
            }

            fn probe(
                &self,
                frame: &$crate::Frame<'_, D, T>,
                probes: $crate::Probes<'_, D, T>,
                context: &mut $crate::Context,
                out: &mut $crate::PairStore,
            ) -> Result<(), $crate::Error> {
                Self::probe(self, frame, probes, context, out)
            }

            fn validate(&self, frame: &$crate::Frame<'_, D, T>, strength: $crate::Strength) -> Result<(), $crate::Violation> {
                Self::validate(self, frame, strength)
            }

            fn stats(&self) -> $crate::Stats {
                Self::stats(self)
            }

            fn boxed_clone(&self) -> Box<dyn $crate::BroadPhase<D, T>> {
                Box::new(self.clone())
            }

            $($crate::algorithms::common::implement_broad_phase!(@ $optional);)*
        }
    };
    (@ reader) => {
        fn reader(&self) -> Option<&dyn $crate::Query<D, T>> {
            Some(self)
        }
    };
    (@ outline) => {
        fn outline(&self, frame: &$crate::Frame<'_, D, T>, visit: &mut dyn FnMut($crate::Region<D, T>)) {
            Self::outline(self, frame, visit);
        }
    };
}
pub(crate) use implement_broad_phase;
