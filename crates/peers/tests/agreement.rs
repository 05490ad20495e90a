//! Every peer of this build against a plain loop over all pairs, as sets.

use std::collections::BTreeSet;

use broadphase::{Aabb, Ball, Pair, Real};
use broadphase_peers::{Groups, PeerDescriptor, PeerSpec, list};

/// A small generator of its own (splitmix64), so that the frames never change under the tests.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform in `from..to`, on a grid of 1/64, so that sides often touch exactly.
    fn within(&mut self, from: f64, to: f64) -> f64 {
        let steps = ((to - from) * 64.0) as u64;
        from + (self.next() % steps.max(1)) as f64 / 64.0
    }
}

/// How the objects of a recording move and what sizes they have.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Edges from 1/64 to 2, a few of 12, every object moves.
    Mixed,
    /// The same, one in ten moves.
    Settled,
    /// The same, one in forty moves: few enough for structures that treat a few movers apart.
    Calm,
    /// Cubes of edge 1, every object moves.
    Equal,
}

fn recording<const D: usize, T: Real>(n: usize, frames: usize, kind: Kind) -> Vec<Vec<Aabb<D, T>>> {
    let mut random = Random(n as u64 * 31 + D as u64);
    let side = (n as f64 * 4.0).powf(1.0 / D as f64).max(2.0);
    let mut objects: Vec<([f64; D], [f64; D])> = (0..n)
        .map(|i| {
            let largest = if i % 100 == 7 { 12.0 } else { 2.0 };
            let at = std::array::from_fn(|_| random.within(-side / 2.0, side / 2.0));
            let size = std::array::from_fn(|_| if kind == Kind::Equal { 1.0 } else { random.within(1.0 / 64.0, largest) });
            (at, size)
        })
        .collect();
    let mut all = Vec::new();
    for _ in 0..frames {
        all.push(
            objects
                .iter()
                .map(|(at, size)| {
                    let max = std::array::from_fn(|k| T::from_f64(at[k] + size[k]));
                    Aabb::new(at.map(T::from_f64), max)
                })
                .collect(),
        );
        for (i, (at, _)) in objects.iter_mut().enumerate() {
            let moves = match kind {
                Kind::Mixed | Kind::Equal => true,
                Kind::Settled => i % 10 == 0,
                Kind::Calm => i % 40 == 0,
            };
            if moves {
                at.iter_mut().for_each(|x| *x += random.within(-0.5, 0.5));
            }
        }
    }
    all
}

fn expected<const D: usize, T: Real>(boxes: &[Aabb<D, T>], balls: bool) -> BTreeSet<Pair> {
    let mut pairs = BTreeSet::new();
    for a in 0..boxes.len() {
        for b in a + 1..boxes.len() {
            let overlap = match balls {
                true => Ball::of_box(&boxes[a]).overlaps(&Ball::of_box(&boxes[b])),
                false => boxes[a].overlaps(&boxes[b]),
            };
            if overlap {
                pairs.insert(Pair::new(a as u32, b as u32));
            }
        }
    }
    pairs
}

/// Runs the frames through one peer and compares every frame as a set.
fn agree<const D: usize, T: Real>(peer: &PeerDescriptor, frames: &[Vec<Aabb<D, T>>], what: &str) {
    let spec: PeerSpec = peer.name.parse().unwrap();
    let mut built = spec.build::<D, T>().unwrap();
    let mut out = vec![Pair::new(8, 9)];
    for (number, boxes) in frames.iter().enumerate() {
        built.frame(boxes, &mut out).unwrap();
        let found: BTreeSet<Pair> = out.iter().copied().collect();
        let wanted = expected(boxes, peer.balls);
        let (missing, extra) = (wanted.difference(&found).next(), found.difference(&wanted).next());
        let name = peer.name;
        assert!(found == wanted, "{name} {D}D {} {what} frame {number}: missing {missing:?}, extra {extra:?}", T::NAME);
        assert_eq!(out.len(), found.len(), "{name} {D}D {} {what} frame {number}: a pair is reported twice", T::NAME);
        assert!(boxes.is_empty() || built.bytes() != Some(0), "{name} holds {} objects in no memory", boxes.len());
    }
}

/// Calls `check` for each dimension and scalar that each built peer supports.
fn each_peer(check: impl Fn(&PeerDescriptor, usize, &str)) {
    for peer in list().iter().filter(|peer| peer.built) {
        for &dim in peer.dims {
            for &scalar in peer.scalars {
                check(peer, dim, scalar);
            }
        }
    }
}

fn kinds(peer: &PeerDescriptor) -> &'static [Kind] {
    if peer.balls { &[Kind::Equal] } else { &[Kind::Mixed, Kind::Settled, Kind::Calm, Kind::Equal] }
}

fn agree_on<const D: usize, T: Real>(peer: &PeerDescriptor, n: usize, frames: usize) {
    for &kind in kinds(peer) {
        agree(peer, &recording::<D, T>(n, frames, kind), &format!("n = {n}"));
    }
}

fn agree_on_any(peer: &PeerDescriptor, dim: usize, scalar: &str, n: usize, frames: usize) {
    match (dim, scalar) {
        (2, "float32") => agree_on::<2, f32>(peer, n, frames),
        (2, "float64") => agree_on::<2, f64>(peer, n, frames),
        (3, "float32") => agree_on::<3, f32>(peer, n, frames),
        (3, "float64") => agree_on::<3, f64>(peer, n, frames),
        other => panic!("{} claims {other:?}", peer.name),
    }
}

#[test]
fn few_objects() {
    each_peer(|peer, dim, scalar| {
        for n in [0, 1, 2, 3, 5, 17] {
            agree_on_any(peer, dim, scalar, n, 6);
        }
    });
}

#[test]
fn five_hundred_moving_objects_of_mixed_sizes() {
    each_peer(|peer, dim, scalar| agree_on_any(peer, dim, scalar, 500, 20));
}

/// Objects that stay, go, come to rest and leap far away: what a structure keeps between frames must not survive them.
#[test]
fn objects_that_rest_and_leap() {
    each_peer(|peer, dim, scalar| {
        if (dim, scalar) == (3, "float32") {
            let moving = recording::<3, f32>(200, 12, Kind::Equal);
            let mut frames = moving.clone();
            frames.extend(vec![moving[11].clone(); 6]);
            frames.extend(moving.iter().map(|boxes| boxes.iter().map(|at| at.translate([1000.0, -500.0, 0.0])).collect()));
            frames.extend([moving[0].clone(), moving[11].clone(), moving[0].clone()]);
            agree(peer, &frames, "rest and leap");
        }
    });
}

#[test]
fn a_changed_number_of_objects() {
    each_peer(|peer, dim, scalar| {
        if (dim, scalar) == (3, "float32") {
            let mut frames = recording::<3, f32>(60, 2, Kind::Equal);
            frames.extend(recording::<3, f32>(40, 2, Kind::Equal));
            frames.extend(recording::<3, f32>(0, 1, Kind::Equal));
            frames.extend(recording::<3, f32>(80, 2, Kind::Equal));
            agree(peer, &frames, "n changes");
        }
    });
}

#[test]
fn all_objects_at_one_place() {
    each_peer(|peer, dim, scalar| {
        if (dim, scalar) == (3, "float32") {
            let frame = vec![Aabb::<3, f32>::new([1.0; 3], [2.0; 3]); 40];
            agree(peer, &[frame.clone(), frame], "one place");
        }
    });
}

/// Runs frames in which odd objects are a group of their own, fresh and kept, and compares what the groups allow.
fn agree_in_groups<const D: usize, T: Real>(peer: &PeerDescriptor, frames: &[Vec<Aabb<D, T>>], still: bool) {
    let second: Vec<bool> = (0..frames[0].len()).map(|id| id % 2 == 1).collect();
    let groups = if still { Groups::scenery(second) } else { Groups::two_sets(second) };
    let spec: PeerSpec = peer.name.parse().unwrap();
    let mut built = spec.build::<D, T>().unwrap();
    let native = built.set_groups(&groups);
    let mut out = Vec::new();
    for (number, boxes) in frames.iter().enumerate() {
        built.frame(boxes, &mut out).unwrap();
        if !native {
            out.retain(|pair| groups.allows(pair));
        }
        let found: BTreeSet<Pair> = out.iter().copied().collect();
        let mut wanted = expected(boxes, peer.balls);
        wanted.retain(|pair| groups.allows(pair));
        let (missing, extra) = (wanted.difference(&found).next(), found.difference(&wanted).next());
        let what = format!("{} {D}D {} n = {}, still: {still}, frame {number}", peer.name, T::NAME, boxes.len());
        assert!(found == wanted && out.len() == found.len(), "{what}: missing {missing:?}, extra {extra:?}");
    }
}

#[test]
fn groups_leave_out_the_pairs_that_they_forbid() {
    /// The odd objects keep their first boxes.
    fn scenery<const D: usize, T: Real>(mut frames: Vec<Vec<Aabb<D, T>>>) -> Vec<Vec<Aabb<D, T>>> {
        let first = frames[0].clone();
        for boxes in &mut frames {
            boxes.iter_mut().zip(&first).skip(1).step_by(2).for_each(|(at, first)| *at = *first);
        }
        frames
    }
    fn both<const D: usize, T: Real>(peer: &PeerDescriptor) {
        for n in [0, 1, 2, 3, 5, 300] {
            let frames = recording::<D, T>(n, 12, Kind::Equal);
            agree_in_groups(peer, &frames, false);
            agree_in_groups(peer, &scenery(frames), true);
        }
    }
    each_peer(|peer, dim, scalar| match (dim, scalar) {
        (2, "float32") => both::<2, f32>(peer),
        (2, _) => both::<2, f64>(peer),
        (_, "float32") => both::<3, f32>(peer),
        _ => both::<3, f64>(peer),
    });
}

#[test]
fn boxes_whose_volume_underflows_and_a_list_instead_of_a_tree() {
    each_peer(|peer, dim, scalar| {
        if (dim, scalar) == (3, "float32") && !peer.balls {
            let boxes: Vec<Aabb<3, f32>> = (0..3000)
                .map(|k| {
                    let x = (k % 50) as f32 * 1e-18;
                    Aabb::new([x, 0.0, (k / 50) as f32 * 1e-18], [x + 1.5e-18, 1e-18, (k / 50) as f32 * 1e-18])
                })
                .collect();
            agree(peer, &[boxes], "tiny boxes");
        }
    });
}

/// A peer may do what it does with a plane or a half-space, but the process goes on.
#[test]
fn infinite_sides_do_not_end_the_process() {
    each_peer(|peer, dim, scalar| {
        if (dim, scalar) == (3, "float32") && !peer.balls {
            let mut frames = recording::<3, f32>(50, 4, Kind::Equal);
            for boxes in &mut frames {
                boxes[3] = Aabb::everything();
                boxes[4].max[1] = f32::INFINITY;
            }
            let mut built = peer.name.parse::<PeerSpec>().unwrap().build::<3, f32>().unwrap();
            let mut out = Vec::new();
            for boxes in &frames {
                if built.frame(boxes, &mut out).is_err() {
                    break;
                }
                assert!(out.iter().all(|pair| boxes[pair.a as usize].overlaps(&boxes[pair.b as usize])), "{}", peer.name);
            }
        }
    });
}
