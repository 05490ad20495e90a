//! Jobs whose ranks are threads, and the naive model that they are compared with.
#![allow(dead_code)] // each test uses a part

use std::collections::{BTreeMap, BTreeSet};

use broadphase::{Aabb, Pair, Real};
use broadphase_mpi::{CrossPair, Departure, Distributed, Error, Options, Reporting, Threads, Transport};

/// The boxes of a frame by global id; `None` where there is no such object.
pub type Boxes<const D: usize, T> = Vec<Option<Aabb<D, T>>>;

/// A frame: boxes, and which rank has which object.
#[derive(Clone, Debug)]
pub struct Scene<const D: usize, T> {
    pub boxes: Boxes<D, T>,
    pub owners: Vec<usize>,
}

/// How ranks hand over their objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// All of them in each frame, as arrays.
    Arrays,
    /// By index: insertions, removals, moves and migration.
    Table,
    /// Like `Table`, but boxes come as a list, after which some objects are moved again and some are inserted.
    List,
}

/// What a rank knows after a frame.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub ids: BTreeMap<u32, u64>,
    pub local: BTreeSet<Pair>,
    pub cross: Vec<CrossPair>,
    pub started: (Vec<Pair>, Vec<CrossPair>),
    pub ended: (Vec<Pair>, Vec<CrossPair>),
}

type Ids = BTreeSet<(u64, u64)>;

/// Numbers that look random.
pub struct Noise(pub u64);

impl Noise {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// All pairs of a frame by a double loop.
pub fn naive<const D: usize, T: Real>(boxes: &Boxes<D, T>) -> Ids {
    let mut pairs = Ids::new();
    for (i, a) in boxes.iter().enumerate() {
        for (j, b) in boxes.iter().enumerate().take(i) {
            if let (Some(a), Some(b)) = (a, b)
                && a.overlaps(b)
            {
                pairs.insert((j as u64, i as u64));
            }
        }
    }
    pairs
}

/// Hands over a list in which every seventh object has not moved yet, and free indices have boxes that are not valid.
fn set_boxes<const D: usize, T: Real>(
    space: &mut Distributed<D, T, Threads>,
    indices: &BTreeMap<u64, u32>,
    frame: &Scene<D, T>,
) -> Result<(), Error> {
    let mut list = vec![Aabb::empty(); space.slots()];
    for (&id, &index) in indices {
        let old = space.get_box(index).copied();
        let moved = old.filter(|_| id % 7 == 3).or(frame.boxes[id as usize]);
        list[index as usize] = moved.unwrap();
    }
    space.set_boxes(&list)
}

/// Runs one rank over all frames.
fn rank<const D: usize, T: Real>(
    transport: Threads,
    options: &Options,
    drive: Drive,
    frames: &[Scene<D, T>],
    domains: &[Aabb<D, T>],
) -> Result<Vec<Snapshot>, Error> {
    let me = transport.rank();
    let mut space = Distributed::<D, T, _>::new(transport, options.clone())?;
    if let Some(domain) = domains.get(me) {
        space.set_domain(&[*domain]);
    }
    let mut snapshots = Vec::new();
    let mut indices: BTreeMap<u64, u32> = BTreeMap::new();
    for frame in frames {
        let own = |id: &usize| frame.owners[*id] == me && frame.boxes[*id].is_some();
        if drive == Drive::Arrays {
            let ids: Vec<u64> = (0..frame.boxes.len()).filter(own).map(|id| id as u64).collect();
            let boxes: Vec<_> = ids.iter().map(|&id| frame.boxes[id as usize].unwrap()).collect();
            space.assign(&ids, &boxes)?;
        } else {
            let gone: Vec<u64> = indices.keys().copied().filter(|&id| frame.boxes[id as usize].is_none()).collect();
            for id in gone {
                space.remove(indices.remove(&id).unwrap())?;
            }
            let leaving: Vec<(u64, u32)> =
                indices.iter().filter(|&(&id, _)| frame.owners[id as usize] != me).map(|(&id, &index)| (id, index)).collect();
            let departures: Vec<Departure> =
                leaving.iter().map(|&(id, index)| Departure { to: frame.owners[id as usize], index }).collect();
            let by_index: BTreeMap<u32, u64> = indices.iter().map(|(&id, &index)| (index, id)).collect();
            for arrival in space.migrate(&departures, |index| [by_index[&index], 77])? {
                assert_eq!(arrival.payload, [arrival.id, 77]);
                indices.insert(arrival.id, arrival.index);
            }
            for (id, _) in &leaving {
                indices.remove(id);
            }
            if drive == Drive::List {
                set_boxes(&mut space, &indices, frame)?;
            }
            for id in (0..frame.boxes.len()).filter(own) {
                let aabb = frame.boxes[id].unwrap();
                match indices.get(&(id as u64)) {
                    Some(_) if drive == Drive::List && id % 7 != 3 => {}
                    Some(&index) => space.set_box(index, aabb)?,
                    None => drop(indices.insert(id as u64, space.insert(id as u64, aabb)?)),
                }
            }
        }
        space.update()?;
        snapshots.push(Snapshot {
            ids: space.indices().map(|index| (index, space.id(index).unwrap())).collect(),
            local: space.local_pairs().map_or(Vec::new(), |store| store.sorted()).into_iter().collect(),
            cross: space.cross_pairs().to_vec(),
            started: (space.local_started().to_vec(), space.cross_started().to_vec()),
            ended: (space.local_ended().to_vec(), space.cross_ended().to_vec()),
        });
    }
    Ok(snapshots)
}

/// Runs a job and compares every frame with the naive model. Returns the snapshots by rank.
pub fn check<const D: usize, T: Real>(
    ranks: usize,
    options: &Options,
    drive: Drive,
    frames: &[Scene<D, T>],
    domains: &[Aabb<D, T>],
) -> Vec<Vec<Snapshot>> {
    let results = Threads::run(ranks, |transport| rank(transport, options, drive, frames, domains));
    let jobs: Vec<Vec<Snapshot>> = results.into_iter().map(|result| result.unwrap_or_else(|error| panic!("{error}"))).collect();
    for (number, frame) in frames.iter().enumerate() {
        let state: Vec<&Snapshot> = jobs.iter().map(|job| &job[number]).collect();
        check_frame(&state, options, frame, number);
        if options.events {
            let before: Vec<Snapshot> =
                jobs.iter().map(|job| if number == 0 { Snapshot::default() } else { job[number - 1].clone() }).collect();
            before.iter().zip(&state).for_each(|(before, after)| check_events(before, after, number));
        }
    }
    jobs
}

fn check_frame<const D: usize, T: Real>(state: &[&Snapshot], options: &Options, frame: &Scene<D, T>, number: usize) {
    let mut times: BTreeMap<(u64, u64), usize> = BTreeMap::new();
    for (rank, snapshot) in state.iter().enumerate() {
        for pair in &snapshot.local {
            let (a, b) = (snapshot.ids[&pair.a], snapshot.ids[&pair.b]);
            *times.entry((a.min(b), a.max(b))).or_default() += 10;
        }
        let unique: BTreeSet<_> = snapshot.cross.iter().collect();
        assert_eq!(unique.len(), snapshot.cross.len(), "frame {number}, rank {rank}: a cross pair twice");
        for pair in &snapshot.cross {
            assert_eq!(snapshot.ids[&pair.local], pair.local_id);
            assert_ne!(pair.rank as usize, rank);
            assert_eq!(state[pair.rank as usize].ids[&pair.remote], pair.remote_id);
            *times.entry(pair.ids()).or_default() += 1;
        }
    }
    let found: Ids = times.keys().copied().collect();
    let wanted = naive(&frame.boxes);
    let shown = |&(a, b): &(u64, u64)| {
        let object = |id: u64| (id, frame.owners[id as usize], frame.boxes[id as usize]);
        (object(a), object(b))
    };
    let missing: Vec<_> = wanted.difference(&found).take(3).map(shown).collect();
    let extra: Vec<_> = found.difference(&wanted).take(3).map(shown).collect();
    assert!(missing.is_empty() && extra.is_empty(), "frame {number}: missing {missing:?}, extra {extra:?}");
    for (&(a, b), &count) in &times {
        let local = frame.owners[a as usize] == frame.owners[b as usize];
        let expected = if local {
            10
        } else if options.reporting == Reporting::Both {
            2
        } else {
            1
        };
        assert_eq!(count, expected, "frame {number}: pair {a} {b}");
    }
}

fn check_events(before: &Snapshot, after: &Snapshot, number: usize) {
    // A local pair is the same if its indices and its objects are.
    let named = |snapshot: &Snapshot, pairs: &mut dyn Iterator<Item = Pair>| -> BTreeSet<(Pair, u64, u64)> {
        pairs.map(|pair| (pair, snapshot.ids[&pair.a], snapshot.ids[&pair.b])).collect()
    };
    let (old, new) = (named(before, &mut before.local.iter().copied()), named(after, &mut after.local.iter().copied()));
    let started: BTreeSet<_> = new.difference(&old).copied().collect();
    let ended: BTreeSet<_> = old.difference(&new).copied().collect();
    assert_eq!(named(after, &mut after.started.0.iter().copied()), started, "frame {number}: local started");
    assert_eq!(named(before, &mut after.ended.0.iter().copied()), ended, "frame {number}: local ended");
    assert_eq!((after.started.0.len(), after.ended.0.len()), (started.len(), ended.len()), "frame {number}: events twice");
    let (old, new): (BTreeSet<_>, BTreeSet<_>) = (before.cross.iter().collect(), after.cross.iter().collect());
    assert_eq!(after.started.1.iter().collect::<Vec<_>>(), new.difference(&old).copied().collect::<Vec<_>>(), "frame {number}");
    assert_eq!(after.ended.1.iter().collect::<Vec<_>>(), old.difference(&new).copied().collect::<Vec<_>>(), "frame {number}");
}
