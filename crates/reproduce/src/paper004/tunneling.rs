//! Section 4.1: short intervals between searches for objects that are fast for their size, long ones for slow objects; what that saves, and what it
//! misses.

use std::collections::{BTreeMap, BTreeSet};

use broadphase::{Aabb, BroadPhase, Context, Frame, Pair, PairStore, Probes, Report as Store, Spec, UpdateIntervals, pairs};
use broadphase_bench::DEFAULT_SEED;
use broadphase_bench::charts::Scale;
use broadphase_bench::failure::Failure;
use broadphase_scenes::{AnyScene, SceneSpec};
use serde_json::json;

use super::GRID;
use crate::lab::{Curves, Lab};
use crate::report::{Chart, Report};
use crate::verdict::{Finding, Rule};

type Boxes = Vec<Aabb<3, f32>>;

/// Moments in a frame: the close intervals.
const MOMENTS: usize = 8;
/// The longest interval, in moments: eight frames.
const MOST: u32 = 8 * MOMENTS as u32;
/// The shares of a bounding sphere's radius that objects move between two searches, and the one that is judged: a quarter of its diameter, so that
/// nothing as large as the object fits between two places.
const SHARES: [f64; 6] = [0.1, 0.25, 0.5, 0.75, 0.9, 1.0];
const JUDGED: f64 = 0.5;

/// Which objects search at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rate {
    /// Everything that moves, at every moment.
    Close,
    /// Everything that moves, at the end of every frame.
    Frame,
    /// Each object that has moved by a share of its radius.
    BySize(f64),
}

/// The boxes at all moments of a scene: those of each frame, and between two frames those on straight paths.
fn moments(scene: &str, n: usize, frames: usize) -> Result<Vec<Boxes>, Failure> {
    let spec: SceneSpec = scene.parse()?;
    let AnyScene::Three(mut scene) = spec.build(n, DEFAULT_SEED)? else {
        return Err(Failure::Usage(format!("{spec}: a scene in space is needed")));
    };
    let mut all = vec![scene.boxes().to_vec()];
    for _ in 0..frames {
        let before = scene.boxes().to_vec();
        scene.advance();
        let after = scene.boxes();
        for moment in 1..MOMENTS {
            let share = moment as f32 / MOMENTS as f32;
            let between =
                |(a, b): (&Aabb<3, f32>, &Aabb<3, f32>)| a.translate(std::array::from_fn(|k| (b.min[k] - a.min[k]) * share));
            all.push(before.iter().zip(after).map(between).collect());
        }
        all.push(after.to_vec());
    }
    Ok(all)
}

/// The pairs found at a rate, and the cost.
struct Outcome {
    /// The pairs known at each moment.
    known: Vec<BTreeSet<Pair>>,
    searches: u64,
    tests: u64,
}

/// Searches at a rate. The known pairs are those that an object found in its last search; a search replaces all known pairs of its object.
fn run(algorithm: &str, moments: &[Boxes], rate: Rate) -> Result<Outcome, Failure> {
    let spec: Spec = algorithm.parse()?;
    let mut structure: Box<dyn BroadPhase<3, f32>> = spec.build()?;
    let (mut context, mut found) = (Context::new().with_kernels(spec.kernels()), PairStore::new(Store::All));
    // With a share of 0, everything that has moved searches.
    let share = if let Rate::BySize(share) = rate { share } else { 0.0 };
    let mut intervals = UpdateIntervals::new(share, MOST)?;
    let mut outcome = Outcome { known: Vec::new(), searches: 0, tests: 0 };
    let mut known = BTreeSet::new();
    for (moment, boxes) in moments.iter().enumerate() {
        if rate != Rate::Frame || moment.is_multiple_of(MOMENTS) {
            let frame = intervals.show(&Frame::new(boxes))?;
            structure.update(&frame, &mut context)?;
            let shown = frame.boxes.to_vec();
            let due = intervals.due();
            let areas: Boxes = due.iter().map(|&id| shown[id as usize]).collect();
            let probes = Probes { boxes: &areas, ids: None, recurring: false };
            structure.probe(&Frame::new(&shown), probes, &mut context, &mut found)?;
            known.retain(|pair: &Pair| due.binary_search(&pair.a).is_err() && due.binary_search(&pair.b).is_err());
            // A pair is (number of the probe, object); each finds itself too.
            let others = found.to_vec().into_iter().map(|pair| (due[pair.a as usize], pair.b)).filter(|(a, b)| a != b);
            known.extend(others.map(|(a, b)| Pair::new(a, b)));
            if moment > 0 {
                outcome.searches += due.len() as u64;
                outcome.tests += found.tests() - due.len() as u64; // without the test of each object with itself
            }
        }
        outcome.known.push(known.clone());
    }
    Ok(outcome)
}

/// Two objects that overlap from one moment to another, both included, but not at the first moment of all.
struct Contact {
    pair: Pair,
    from: usize,
    to: usize,
}

/// The contacts, from the pairs known at each moment.
fn contacts(known: &[BTreeSet<Pair>]) -> Vec<Contact> {
    let (mut open, mut all) = (BTreeMap::new(), Vec::new());
    for (moment, now) in known.iter().enumerate() {
        let ended: Vec<Pair> = open.keys().filter(|pair| !now.contains(pair)).copied().collect();
        for pair in ended {
            all.extend(open.remove(&pair).map(|from| Contact { pair, from, to: moment - 1 }));
        }
        now.iter().for_each(|&pair| _ = open.entry(pair).or_insert(moment));
    }
    let last = known.len() - 1;
    all.extend(open.into_iter().map(|(pair, from)| Contact { pair, from, to: last }));
    all.retain(|contact| contact.from > 0);
    all
}

/// How the contacts were detected at a rate.
struct Detection {
    /// Contacts that were over before they were known.
    missed: usize,
    /// Moments from the start of a contact until it is known, on average over those that become known.
    delay: f64,
    /// The share of known pairs that do not overlap at the time, over all moments.
    outdated: f64,
}

fn judge(contacts: &[Contact], truth: &[BTreeSet<Pair>], known: &[BTreeSet<Pair>]) -> Detection {
    let seen = |contact: &Contact| (contact.from..=contact.to).find(|&moment| known[moment].contains(&contact.pair));
    let delays: Vec<f64> =
        contacts.iter().filter_map(|contact| seen(contact).map(|moment| (moment - contact.from) as f64)).collect();
    let (all, wrong) = known
        .iter()
        .zip(truth)
        .fold((0, 0), |(all, wrong), (known, truth)| (all + known.len(), wrong + known.difference(truth).count()));
    Detection {
        missed: contacts.len() - delays.len(),
        delay: delays.iter().sum::<f64>() / delays.len().max(1) as f64,
        outdated: wrong as f64 / all.max(1) as f64,
    }
}

/// Checks that searches at every moment know all pairs, once in each frame. Objects at rest search at the first moment only, and keep the pairs known
/// from then on.
fn check(moments: &[Boxes], close: &Outcome) -> Result<(), Failure> {
    for (moment, boxes) in moments.iter().enumerate().step_by(MOMENTS) {
        let expected: BTreeSet<Pair> = pairs(boxes)?.into_iter().collect();
        if expected != close.known[moment] {
            return Err(Failure::Data(format!("at moment {moment} the searches at close intervals do not find all pairs")));
        }
    }
    Ok(())
}

pub fn measure(lab: &mut Lab) -> Result<Report, Failure> {
    let (n, frames) = lab.pick((1600, 40), (6400, 100));
    let n = lab.objects(n);
    let moments = moments("city", n, frames)?;
    let close = run(GRID, &moments, Rate::Close)?;
    check(&moments, &close)?;
    let contacts = contacts(&close.known);
    let mut charted = [Curves::default(), Curves::default()];
    let mut outcomes = Vec::new();
    let progress = lab.progress("city", SHARES.len() + 2);
    for rate in [Rate::Close, Rate::Frame].into_iter().chain(SHARES.map(Rate::BySize)) {
        progress.step();
        let outcome = run(GRID, &moments, rate)?;
        let detection = judge(&contacts, &close.known, &outcome.known);
        lab.add_row(json!({
            "scene": "city", "n": n, "algorithm": GRID, "rate": format!("{rate:?}"), "contacts": contacts.len(), "searches": outcome.searches,
            "tests": outcome.tests, "missed": detection.missed, "delay_in_moments": detection.delay, "outdated_share": detection.outdated,
        }));
        outcomes.push((rate, outcome.tests as f64, detection));
    }
    let of = |rate: Rate| outcomes.iter().find(|outcome| outcome.0 == rate);
    let tests = |rate: Rate| of(rate).map_or(f64::NAN, |outcome| outcome.1);
    let missed = |rate: Rate| of(rate).map_or(f64::NAN, |outcome| outcome.2.missed as f64);
    for share in SHARES {
        let rate = Rate::BySize(share);
        charted[0].add("tests, of those at every moment", share, Some(tests(rate) / tests(Rate::Close)));
        charted[0].add("tests, of those once a frame", share, Some(tests(rate) / tests(Rate::Frame)));
        charted[1].add("missed, of all contacts", share, Some(missed(rate) / contacts.len() as f64));
        charted[1].add("missed once a frame", share, Some(missed(Rate::Frame) / contacts.len() as f64));
        charted[1].add("known pairs that do not overlap", share, of(rate).map(|outcome| outcome.2.outdated));
    }
    let judged = Rate::BySize(JUDGED);
    let source = "section 4.1, collision tunneling";
    let findings = vec![
        Finding::new(
            "Not all objects have to be looked at at close intervals.",
            source,
            "intervals by size and speed need {} of the tests of close intervals for all",
            Some(tests(judged) / tests(Rate::Close)),
            Rule::up_to(0.5)
                .because("half of the tests is the least that the paper's word unrealistic can mean; tests are counted"),
        ),
        Finding::new(
            "Tunneling is alleviated.",
            source,
            "they miss {} times as many contacts as one search a frame",
            (missed(Rate::Frame) > 0.0).then(|| missed(judged) / missed(Rate::Frame)),
            Rule::at_most(0.5, 0.9)
                .weaker("fewer, but not half")
                .because("alleviated is read as half of them; contacts are counted"),
        )
        .beside("{} of all contacts are missed", Some(missed(judged) / contacts.len() as f64)),
        Finding::new(
            "Performance is not affected significantly.",
            "section 5, conclusions",
            "they need {} of the tests of one search a frame",
            Some(tests(judged) / tests(Rate::Frame)),
            Rule::up_to(1.1).because("significantly is read as a tenth; tests are counted"),
        ),
    ];
    let detection = of(judged).map(|outcome| &outcome.2);
    let setup = format!(
        "Scene `city`, {n} balls, {frames} frames of {MOMENTS} moments each, `{GRID}`. An object searches at a moment if it has moved by a share of the radius of its \
         bounding sphere since its last search, and after 8 frames at the latest (`UpdateIntervals`); judged is a share of {JUDGED}. Beside it: all that moves, at every \
         moment and once a frame. A contact is the time in which two boxes overlap, by the searches at every moment; it is missed if it is over before the \
         pair is known. {} contacts; with the judged share a contact is known after {:.1} moments on average, and {:.1} % of the known pairs do not overlap at the time. A pair of \
         two slow objects may be missed for up to 8 frames: the price of looking less often.",
        contacts.len(),
        detection.map_or(f64::NAN, |detection| detection.delay),
        detection.map_or(f64::NAN, |detection| 100.0 * detection.outdated),
    );
    let x = ("share of the radius", Scale::Linear);
    let charts = vec![
        Chart::ratios("Tests with intervals by size and speed", x, "times", &charted[0]),
        Chart::lines("What is missed, and what is outdated", x, ("share", Scale::Linear), &charted[1]),
    ];
    Ok(Report { setup, charts, findings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_are_runs_and_late_or_missed_ones_are_counted() {
        let set = |text: &str| -> BTreeSet<Pair> { text.bytes().map(|c| Pair::new(0, u32::from(c))).collect() };
        let truth = ["a", "ab", "b", "", "b", "bc"].map(set);
        let found = contacts(&truth);
        assert_eq!(found.len(), 3, "b twice and c; a was there from the start");
        assert!(found.iter().any(|contact| (contact.from, contact.to) == (1, 2)));
        let known = ["a", "a", "ab", "b", "", "b"].map(set);
        let detection = judge(&found, &truth, &known);
        assert_eq!((detection.missed, detection.delay), (1, 1.0), "c is missed, b known a moment late, twice");
        assert_eq!(detection.outdated, 2.0 / 6.0);
    }

    #[test]
    fn close_intervals_find_what_a_double_loop_finds_and_long_ones_search_less() {
        let moments = moments("city-even", 200, 6).unwrap();
        let close = run("octree", &moments, Rate::Close).unwrap();
        for (boxes, known) in moments.iter().zip(&close.known) {
            let all = (0..200u32).flat_map(|b| (0..b).map(move |a| (a, b)));
            let touching = all.filter(|&(a, b)| boxes[a as usize].overlaps(&boxes[b as usize]));
            assert!(touching.map(|(a, b)| Pair::new(a, b)).eq(sorted_by_second(known)));
        }
        let long = run("octree", &moments, Rate::BySize(0.5)).unwrap();
        assert!(long.searches * 2 < close.searches, "{} searches instead of {}", long.searches, close.searches);
    }

    fn sorted_by_second(pairs: &BTreeSet<Pair>) -> impl Iterator<Item = Pair> {
        let mut all: Vec<Pair> = pairs.iter().copied().collect();
        all.sort_by_key(|pair| (pair.b, pair.a));
        all.into_iter()
    }
}
