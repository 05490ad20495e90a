//! The plan balances weights, covers space, and moves what it says.

mod support;

use broadphase::Aabb;
use broadphase_mpi::{Distributed, Error, Options, Plan, Threads, Transport};
use support::Noise;

/// Objects that a rank starts with: a cluster of its own, of its own size.
fn objects(rank: usize) -> Vec<Aabb<3, f32>> {
    let mut noise = Noise(rank as u64 + 1);
    let count = [3000, 10, 0, 700, 1500][rank % 5];
    let place = |noise: &mut Noise, k: usize| (noise.unit() * 10.0) as f32 + [20.0, 5.0, 0.0][k] * rank as f32;
    (0..count).map(|_| Aabb::point(std::array::from_fn(|k| place(&mut noise, k)))).collect()
}

fn plan(ranks: usize, weigh: fn(usize) -> u32) -> Vec<(Plan<3, f32>, usize, f64)> {
    let results = Threads::run(ranks, |transport| {
        let me = transport.rank();
        let mut space = Distributed::<3, f32, _>::new(transport, Options::default())?;
        for (id, aabb) in objects(me).into_iter().enumerate() {
            space.insert((me * 10_000 + id) as u64, aabb)?;
        }
        let weights: Vec<u32> = (0..space.slots()).map(weigh).collect();
        let plan = space.plan(Some(&weights))?;
        let arrivals = space.migrate(&plan.departures, |index| weights[index as usize])?;
        let stayed = plan.departures.len();
        for index in space.indices() {
            let center = space.get_box(index).unwrap().center();
            assert_eq!(plan.rank_of(&center), Some(me), "an object outside its region");
        }
        space.set_domain(&[plan.regions[me]]);
        space.update()?;
        // A plan for balanced ranks moves few objects.
        let again = space.plan(None)?.departures.len();
        assert!(again <= space.len() / 2, "{again} of {}", space.len());
        Ok::<_, Error>((plan.clone(), arrivals.len() + stayed, plan.imbalance()))
    });
    results.into_iter().map(|result| result.unwrap()).collect()
}

#[test]
fn weights_are_shared_equally_by_any_number_of_ranks() {
    for ranks in [1, 2, 3, 5, 8, 13] {
        for weigh in [(|_| 1) as fn(usize) -> u32, |index| 1 + index as u32 % 10] {
            let plans = plan(ranks, weigh);
            assert!(plans.iter().all(|(plan, ..)| plan.regions == plans[0].0.regions && plan.weights == plans[0].0.weights));
            let (first, _, imbalance) = &plans[0];
            let total: u64 = (0..ranks).flat_map(|rank| (0..objects(rank).len()).map(weigh)).map(u64::from).sum();
            assert_eq!(first.weights.iter().sum::<u64>(), total);
            assert!(*imbalance < 1.05, "{ranks}: {imbalance}");
        }
    }
}

#[test]
fn nothing_one_point_and_planes_have_a_plan_too() {
    let results = Threads::run(4, |transport| {
        let me = transport.rank();
        let mut space = Distributed::<2, f64, _>::new(transport, Options::default())?;
        let nothing = space.plan(None)?;
        assert!(nothing.departures.is_empty() && nothing.imbalance() == 1.0);
        for id in 0..10 * me as u64 {
            space.insert(id, Aabb::point([1.0, 1.0]))?;
        }
        space.insert(99, Aabb::everything())?;
        let point = space.plan(None)?;
        assert_eq!(point.weights.iter().sum::<u64>(), 60);
        assert!(point.departures.iter().all(|departure| space.id(departure.index) != Some(99)));
        space.migrate(&point.departures, |_| ())?;
        let missing = space.plan(Some(&[])).unwrap_err();
        assert!(missing.to_string().contains("weights: there are 0"), "{missing}");
        Ok::<_, Error>(())
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}
