//! The choice between a complete and an incremental search: pure functions, and their constants.
//!
//! Both searches are predicted in counted work: objects read, tests, pairs visited and compared ([`Counts`]), each with its weight ([`WEIGHTS`]). The
//! counts of a complete search are those of the last one. Those of an incremental search follow from what moves in this frame, and from how
//! the counts of past incremental searches depended on what moved then ([`Experience`]). The share of static objects alone does not decide: in a dense
//! heap an incremental search compares far more pairs than in a sparse scene.
//!
//! With a K that the caller gives, and by the paper, the share decides.

use super::{Options, Variant};

/// The incremental search is chosen when its predicted work is less than this share of the complete one's, and kept while it is less than
/// [`STAY`]. Within the two, both searches cost about the same, so small fluctuations must not switch.
const ENTER: f64 = 0.95;
const STAY: f64 = 1.0;
/// What the first incremental search, which fills the cache, costs more than a complete one, in complete searches.
const FILLING: f64 = 0.5;
/// An incremental tree with a given K goes back to complete searches when the share of static objects falls this far below K, in percentage points.
const BAND: f64 = 5.0;
/// With a given K: incremental frames in a row that pay for the cache, which the first of them fills.
const PAYS_OFF: u32 = 2;
/// The most frames with enough static objects that are waited for before the next switch. The wait doubles with each switch that
/// did not pay off.
const LONGEST_WAIT: u32 = 16;

/// The paper's K, in percent.
const PAPER_K: f64 = 60.0;

/// What each count costs, in nanoseconds of an AMD EPYC with AVX-512; only their ratios matter. Fitted to 1,700 frames of `settled:moving=0.05` to
/// `0.5`, `brownian-cubes`, `gravity-cubes` and `free-fall-cubes` with 16,000 objects (`broadphase bench SCENE --n 16000 --algorithms
/// kd-tree-complete,kd-tree-incremental`): the prediction is within 5 % of the CPU time in two of three frames.
struct Weights {
    object: f64,
    read: f64,
    changed: f64,
    test: f64,
    visited: f64,
    compared: f64,
}

/// Of a complete search: every object is read, and every pair that is found is compared.
const COMPLETE: Weights = Weights { object: 24.2, read: 0.0, changed: 0.0, test: 0.14, visited: 0.0, compared: 4.2 };
/// Of an incremental one: its runs are shorter, and each pair goes through the cache.
const INCREMENTAL: Weights = Weights { object: 7.8, read: 9.4, changed: 8.3, test: 0.33, visited: 1.8, compared: 9.0 };

/// What a pair of a dynamic object and one in a node cache costs more where the boxes do not fit into the second-level cache, and the numbers of
/// objects from which on the first boxes do not and practically none do. (Without it, the incremental search is predicted at 0.69 of the complete
/// one. It takes 0.81 to 1.09, depending on what else uses the third-level cache: `broadphase bench settled:moving=0.2 --n 128000 --algorithms
/// kd-tree,kd-tree-complete,kd-tree-incremental`.)
const FAR: f64 = 23.0;
const FIRST_FAR: f64 = 16_000.0;
const ALL_FAR: f64 = 128_000.0;

/// From this share of dynamic objects on, jobs do without node caches, and read and test everything.
const READS_ALL: f64 = 0.4;
/// The weight of the last search among all that were learned from, so that a search that fills node caches again counts as one of several.
const LEARNED: f64 = 1.0 / 8.0;
/// How fast a complete search forgets what incremental ones have shown, so that they are tried again some time.
const FORGOTTEN: f64 = 1.0 / 64.0;
/// Fewer dynamic objects than this share teach nothing about what a dynamic object costs.
const TELLING: f64 = 0.01;

/// An update looks at every object if more than one in this many may be out of place: whether an object is one of them is then too unpredictable.
const MANY_LOOSE: usize = 16;

/// Does an update look at every object, if only `loose` of them can be out of place?
pub(super) fn looks_at_all(loose: usize, objects: usize) -> bool {
    loose > objects / MANY_LOOSE
}

/// What a search did, in counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) objects: usize,
    /// Objects that are not static.
    pub(super) dynamic: usize,
    /// Own objects of nodes whose boxes were read; the others were in node caches.
    pub(super) read: usize,
    pub(super) tests: u64,
    /// Pairs that overlap.
    pub(super) touching: u64,
    /// Pairs in the cache.
    pub(super) cached: u64,
}

/// What moves in a frame, as shares of the objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Motion {
    /// Objects that left their held boxes.
    pub(super) dynamic: f64,
    /// Objects whose boxes changed at all.
    pub(super) changed: f64,
}

impl Motion {
    /// With this share of dynamic objects, does it matter how many have changed? If not, the complete search is better anyway.
    pub(super) fn is_open(dynamic: f64) -> bool {
        dynamic < READS_ALL
    }
}

/// What past searches have shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Experience {
    objects: f64,
    /// Of a search for all pairs, per object.
    tests: f64,
    touching: f64,
    /// Cached pairs per touching one.
    cached: f64,
    /// Of incremental searches: objects read per dynamic one, and tests over the share of all tests that has a dynamic object.
    read: f64,
    tested: f64,
}

impl Default for Experience {
    /// Before the first incremental search, the factors of `settled`.
    fn default() -> Self {
        Self { objects: 0.0, tests: 0.0, touching: 0.0, cached: 1.15, read: 1.25, tested: 1.15 }
    }
}

/// The share of pairs with at least one of two objects in this share of all.
fn either(share: f64) -> f64 {
    1.0 - (1.0 - share) * (1.0 - share)
}

impl Experience {
    /// After a search for all pairs. If it filled the cache, that shows how many pairs are cached.
    pub(super) fn learn_all(&mut self, counts: &Counts) {
        let objects = counts.objects.max(1) as f64;
        (self.objects, self.tests, self.touching) = (objects, counts.tests as f64 / objects, counts.touching as f64 / objects);
        self.learn_cached(counts);
        let first = Self::default();
        self.read += FORGOTTEN * (first.read - self.read);
        self.tested += FORGOTTEN * (first.tested - self.tested);
    }

    /// After an incremental search.
    pub(super) fn learn_incremental(&mut self, counts: &Counts) {
        let objects = counts.objects.max(1) as f64;
        (self.objects, self.touching) = (objects, counts.touching as f64 / objects);
        self.learn_cached(counts);
        let dynamic = counts.dynamic as f64 / objects;
        let read = counts.read as f64 / objects;
        if dynamic >= TELLING && Motion::is_open(dynamic) {
            let all = self.tests * objects * either(dynamic);
            let blend = |before: f64, now: f64| before + LEARNED * (now.clamp(0.5, 8.0) - before);
            self.read = blend(self.read, read / dynamic);
            self.tested = blend(self.tested, counts.tests as f64 / all.max(1.0));
        }
    }

    fn learn_cached(&mut self, counts: &Counts) {
        if counts.cached > 0 {
            self.cached = counts.cached as f64 / counts.touching.max(1) as f64;
        }
    }

    /// The predicted work of an incremental search over that of a complete one.
    pub(super) fn incremental_share(&self, motion: Motion) -> f64 {
        let complete = COMPLETE.object + COMPLETE.test * self.tests + COMPLETE.compared * self.touching;
        let (read, tests) = if Motion::is_open(motion.dynamic) {
            ((self.read * motion.dynamic).min(1.0), (self.tested * either(motion.dynamic)).min(1.0) * self.tests)
        } else {
            (1.0, self.tests)
        };
        let far = ((self.objects - FIRST_FAR) / (ALL_FAR - FIRST_FAR)).clamp(0.0, 1.0);
        let cached = self.cached * self.touching;
        let incremental = INCREMENTAL.object
            + INCREMENTAL.read * read
            + INCREMENTAL.changed * motion.changed
            + INCREMENTAL.test * tests
            + INCREMENTAL.visited * cached
            + INCREMENTAL.compared * either(motion.changed) * cached
            + FAR * far * (1.0 - read) * either(motion.dynamic);
        incremental / complete
    }
}

/// What a decision is based on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    /// Of the objects that are static.
    pub(super) static_share: f64,
    /// The predicted work of an incremental search over that of a complete one.
    pub(super) incremental_share: f64,
}

/// How the last frame was searched, and what the next decision depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mode {
    pub(super) incremental: bool,
    /// If incremental: frames so far. If not: frames in a row in which the incremental search would have been better.
    frames: u32,
    /// How many of those the next switch waits for.
    wait: u32,
    /// What the incremental frames have saved, less the cost of filling the cache, in complete searches.
    saved: f64,
}

impl Default for Mode {
    fn default() -> Self {
        Self { incremental: false, frames: 0, wait: 1, saved: 0.0 }
    }
}

/// How the next frame is searched.
pub(super) fn decide(options: &Options, last: Mode, evidence: Evidence) -> Mode {
    let percent = evidence.static_share * 100.0;
    match (options.variant, options.adaptive_percent) {
        (Variant::Complete | Variant::Rebuilt, _) => last,
        (Variant::Incremental, _) => Mode { incremental: true, ..last },
        (Variant::Adaptive, k) if options.paper => Mode { incremental: percent > k.unwrap_or(PAPER_K), ..last },
        (Variant::Adaptive, Some(k)) => {
            let better = percent > if last.incremental { k - BAND } else { k };
            follow(last, better, |mode| mode.frames >= PAYS_OFF)
        }
        (Variant::Adaptive, None) => {
            let better = evidence.incremental_share < if last.incremental { STAY } else { ENTER };
            let mode = follow(last, better, |mode| mode.saved >= 0.0);
            let saved = if last.incremental { last.saved + 1.0 - evidence.incremental_share } else { -FILLING };
            Mode { saved, ..mode }
        }
    }
}

/// The next mode, if the incremental search is now `better` or not. `paid` says whether a switch to it has paid for the cache.
fn follow(last: Mode, better: bool, paid: impl Fn(&Mode) -> bool) -> Mode {
    let frames = if better || last.incremental { last.frames.saturating_add(1) } else { 0 };
    match (last.incremental, better) {
        (true, true) => {
            let mode = Mode { frames, ..last };
            Mode { wait: if paid(&mode) { 1 } else { last.wait }, ..mode }
        }
        (true, false) => {
            let wait = if paid(&last) { 1 } else { (2 * last.wait).min(LONGEST_WAIT) };
            Mode { incremental: false, frames: 0, wait, ..last }
        }
        (false, _) if frames >= last.wait => Mode { incremental: true, frames: 1, ..last },
        (false, _) => Mode { frames, ..last },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The searches of successive frames with these percentages of static objects: `c` for complete, `i` for incremental.
    fn searches(options: &Options, percentages: &[u32]) -> String {
        let mut mode = Mode::default();
        let mut search = |&percent: &u32| {
            mode = decide(options, mode, Evidence { static_share: f64::from(percent) / 100.0, incremental_share: 1.0 });
            if mode.incremental { 'i' } else { 'c' }
        };
        percentages.iter().map(&mut search).collect()
    }

    #[test]
    fn the_table_of_decisions() {
        let cases: &[(Variant, f64, &[u32], &str)] = &[
            (Variant::Complete, 75.0, &[0, 100, 100], "ccc"),
            (Variant::Rebuilt, 75.0, &[0, 100, 100], "ccc"),
            (Variant::Incremental, 75.0, &[0, 0, 100], "iii"),
            // More than K is needed to switch, K - 5 to stay.
            (Variant::Adaptive, 75.0, &[0, 75, 76, 75, 71, 70, 75, 76], "cciiicci"),
            (Variant::Adaptive, 60.0, &[0, 61, 56, 54], "ciic"),
            // The limits of K.
            (Variant::Adaptive, 100.0, &[0, 100, 100], "ccc"),
            (Variant::Adaptive, 0.0, &[0, 1, 0, 0], "ciii"),
            // A fluctuation around K does not switch every frame.
            (Variant::Adaptive, 75.0, &[0, 76, 74, 76, 74, 76, 74], "ciiiiii"),
            // Switches that do not pay off are followed by longer and longer waits.
            (Variant::Adaptive, 75.0, &[0, 90, 0, 90, 90, 0, 90, 90, 90, 90, 0], "cicciccccic"),
            // One that pays off ends the waiting.
            (Variant::Adaptive, 75.0, &[0, 90, 0, 90, 90, 90, 0, 90], "cicciici"),
            // Alternation of motion and rest: the complete search prevails.
            (Variant::Adaptive, 75.0, &[0, 90, 0, 90, 0, 90, 0, 90, 0], "ciccccccc"),
        ];
        for &(variant, k, percentages, expected) in cases {
            let options = Options { adaptive_percent: Some(k), ..Options::new(variant) };
            assert_eq!(searches(&options, percentages), expected, "{variant:?}, K = {k}, {percentages:?}");
        }
    }

    #[test]
    fn by_the_paper_nothing_but_k_decides() {
        let paper = Options { paper: true, ..Options::new(Variant::Adaptive) };
        assert_eq!(searches(&paper, &[0, 60, 61, 0, 61, 59, 100]), "ccicici");
        assert_eq!(searches(&Options { adaptive_percent: Some(80.0), ..paper }, &[0, 61, 81, 80]), "ccic");
        assert_eq!(searches(&Options { variant: Variant::Complete, ..paper }, &[100]), "c");
        assert_eq!(searches(&Options { variant: Variant::Incremental, ..paper }, &[0]), "i");
    }

    /// The searches of successive frames in which the incremental one is predicted to take these percentages of the complete one's work.
    fn by_work(percentages: &[u32]) -> String {
        let (options, mut mode) = (Options::new(Variant::Adaptive), Mode::default());
        let mut search = |&percent: &u32| {
            mode = decide(&options, mode, Evidence { static_share: 0.5, incremental_share: f64::from(percent) / 100.0 });
            if mode.incremental { 'i' } else { 'c' }
        };
        percentages.iter().map(&mut search).collect()
    }

    #[test]
    fn the_table_of_decisions_by_work() {
        let cases: &[(&[u32], &str)] = &[
            // Less than 95 % is needed to switch, 100 % to stay.
            (&[120, 97, 95, 94, 97, 99, 100, 97, 94], "ccciiiccc"),
            // A fluctuation around break-even does not switch every frame.
            (&[120, 94, 98, 94, 98, 94, 98], "ciiiiii"),
            // Savings of half a complete search pay for the cache: the next switch does not wait.
            (&[120, 40, 40, 120, 40], "ciici"),
            (&[120, 90, 90, 90, 90, 90, 90, 90, 120, 90], "ciiiiiiici"),
            (&[120, 90, 90, 90, 90, 120, 90, 90], "ciiiicci"),
            // Switches that do not pay off are followed by longer and longer waits.
            (&[120, 90, 120, 90, 90, 120, 90, 90, 90, 90, 120], "cicciccccic"),
            // Alternation of motion and rest: the complete search prevails.
            (&[120, 40, 120, 40, 120, 40, 120, 40, 120], "ciccccccc"),
        ];
        for &(percentages, expected) in cases {
            assert_eq!(by_work(percentages), expected, "{percentages:?}");
        }
    }

    /// A frame of a scene with 16,000 objects: what moves, per object the tests and pairs of a complete search, cached pairs per pair, objects
    /// read per dynamic one, the share of the complete search's tests, and the measured time of the incremental frame over that of the complete one.
    struct Measured {
        scene: &'static str,
        motion: [f64; 2],
        tests: f64,
        pairs: f64,
        cached: f64,
        read: f64,
        tested: f64,
        time: f64,
    }

    /// Medians of `broadphase bench SCENE --n 16000 --algorithms kd-tree-complete,kd-tree-incremental`; `heap` is `free-fall-cubes` by its share of
    /// static objects.
    #[rustfmt::skip]
    const MEASURED: [Measured; 13] = [
        Measured { scene: "brownian", motion: [0.99, 1.0], tests: 19.9, pairs: 0.26, cached: 1.06, read: 1.0, tested: 1.02, time: 1.27 },
        Measured { scene: "gravity", motion: [0.99, 1.0], tests: 20.8, pairs: 0.25, cached: 1.09, read: 1.0, tested: 1.02, time: 1.25 },
        Measured { scene: "settled 5 %", motion: [0.05, 0.05], tests: 42.9, pairs: 1.41, cached: 1.12, read: 0.05, tested: 0.11, time: 0.40 },
        Measured { scene: "settled 10 %", motion: [0.1, 0.1], tests: 42.9, pairs: 1.41, cached: 1.12, read: 0.1, tested: 0.20, time: 0.50 },
        Measured { scene: "settled 20 %", motion: [0.2, 0.2], tests: 42.9, pairs: 1.41, cached: 1.12, read: 0.2, tested: 0.39, time: 0.69 },
        Measured { scene: "settled 30 %", motion: [0.3, 0.3], tests: 42.9, pairs: 1.41, cached: 1.12, read: 0.3, tested: 0.55, time: 0.89 },
        Measured { scene: "settled 40 %", motion: [0.4, 0.4], tests: 42.9, pairs: 1.41, cached: 1.12, read: 0.71, tested: 0.86, time: 1.18 },
        Measured { scene: "settled 50 %", motion: [0.5, 0.5], tests: 42.9, pairs: 1.41, cached: 1.12, read: 1.0, tested: 1.04, time: 1.33 },
        Measured { scene: "heap 50 %", motion: [0.52, 1.0], tests: 38.7, pairs: 4.15, cached: 1.20, read: 1.0, tested: 1.06, time: 1.89 },
        Measured { scene: "heap 75 %", motion: [0.25, 0.57], tests: 38.7, pairs: 4.74, cached: 1.22, read: 0.39, tested: 0.60, time: 1.45 },
        Measured { scene: "heap 85 %", motion: [0.15, 0.38], tests: 38.7, pairs: 4.88, cached: 1.22, read: 0.27, tested: 0.38, time: 1.17 },
        Measured { scene: "heap 90 %", motion: [0.1, 0.25], tests: 38.7, pairs: 4.92, cached: 1.22, read: 0.18, tested: 0.26, time: 0.92 },
        Measured { scene: "heap 95 %", motion: [0.04, 0.12], tests: 38.7, pairs: 4.96, cached: 1.22, read: 0.09, tested: 0.12, time: 0.66 },
    ];

    #[test]
    fn predicted_work_follows_measured_times_before_and_after_the_first_incremental_search() {
        for frame in &MEASURED {
            let objects = 16_000;
            let of = |per_object: f64| (per_object * objects as f64) as u64;
            let all = Counts { objects, tests: of(frame.tests), touching: of(frame.pairs), ..Counts::default() };
            let motion = Motion { dynamic: frame.motion[0], changed: frame.motion[1] };
            let mut experience = Experience::default();
            experience.learn_all(&all);
            let predicted = experience.incremental_share(motion);
            assert!((predicted / frame.time - 1.0).abs() < 0.15, "{}: {predicted} before, {} measured", frame.scene, frame.time);
            let one = Counts {
                dynamic: of(frame.motion[0]) as usize,
                read: of(frame.read) as usize,
                tests: of(frame.tests * frame.tested),
                cached: of(frame.pairs * frame.cached),
                ..all
            };
            (0..20).for_each(|_| experience.learn_incremental(&one));
            let predicted = experience.incremental_share(motion);
            assert!((predicted / frame.time - 1.0).abs() < 0.12, "{}: {predicted} after, {} measured", frame.scene, frame.time);
        }
    }

    #[test]
    fn equal_shares_of_static_objects_decide_differently_in_sparse_and_dense_scenes() {
        let share = |tests: u64, touching: u64| {
            let mut experience = Experience::default();
            experience.learn_all(&Counts { objects: 1000, tests, touching, ..Counts::default() });
            experience.incremental_share(Motion { dynamic: 0.2, changed: 0.4 })
        };
        assert!(share(43_000, 1000) < ENTER && share(43_000, 6000) > STAY, "{} and {}", share(43_000, 1000), share(43_000, 6000));
    }

    #[test]
    fn a_search_that_filled_node_caches_again_does_not_end_the_incremental_mode_for_good() {
        let all = Counts { objects: 16_000, tests: 687_000, touching: 22_500, ..Counts::default() };
        let refill = Counts { dynamic: 3200, read: 16_000, tests: 687_000, cached: 25_200, ..all };
        let motion = Motion { dynamic: 0.2, changed: 0.2 };
        let mut experience = Experience::default();
        experience.learn_all(&all);
        experience.learn_incremental(&refill);
        assert!(experience.incremental_share(motion) < STAY, "{}", experience.incremental_share(motion));
        (0..40).for_each(|_| experience.learn_incremental(&refill));
        assert!(experience.incremental_share(motion) > STAY, "{}", experience.incremental_share(motion));
        (0..200).for_each(|_| experience.learn_all(&all));
        assert!(experience.incremental_share(motion) < ENTER, "forgotten: {}", experience.incremental_share(motion));
    }

    #[test]
    fn nothing_is_predicted_of_nothing_without_a_number() {
        let mut experience = Experience::default();
        experience.learn_all(&Counts::default());
        experience.learn_incremental(&Counts::default());
        assert!(experience.incremental_share(Motion { dynamic: 0.0, changed: 0.0 }).is_finite());
    }
}
