//! rapier: its own broad phase, feature `rapier`.

use broadphase::{Aabb, Pair};
use rapier3d::math::Vector;
use rapier3d::parry::utils::hashmap::HashMap;
use rapier3d::prelude::{
    ActiveCollisionTypes, BroadPhaseBvh, BroadPhasePairEvent, ColliderBuilder, ColliderHandle, ColliderPair, ColliderSet, Group,
    IntegrationParameters, InteractionGroups, InteractionTestMode, RigidBodySet,
};

use crate::any::{AnyPeer, Erase};
use crate::guard::Guard;
use crate::{Groups, Peer, PeerError};

const NAME: &str = "rapier";

pub(crate) fn open(name: &str, dim: usize, scalar: &str) -> Option<AnyPeer> {
    ((name, dim, scalar) == (NAME, 3, "float32")).then(|| <f32 as Erase<3>>::erase(Box::new(Guard::new(NAME, Rapier::default()))))
}

/// `BroadPhaseBvh` as the physics pipeline drives it: at the end of a step each collider that moved gets its new box by `set_aabb`, and at the
/// start of the next one `update` repairs the tree, searches for the pairs of changed leaves, and reports those that were added and
/// deleted. One collider per object, without a body, that may collide with any other; groups are rapier's collision groups. Colliders are put in one
/// by one: there is no bulk build.
///
/// Its pairs are those of boxes with a skin of 0.04; they are kept as a list with a map of places, and filtered to the exact boxes.
#[derive(Default)]
pub(crate) struct Rapier {
    broad_phase: BroadPhaseBvh,
    parameters: IntegrationParameters,
    colliders: ColliderSet,
    bodies: RigidBodySet,
    handles: Vec<ColliderHandle>,
    last: Vec<Aabb<3, f32>>,
    groups: Option<Groups>,
    events: Vec<BroadPhasePairEvent>,
    /// The pairs of fat boxes, and where each of them stands.
    pairs: Vec<Pair>,
    places: HashMap<u64, u32>,
}

impl Rapier {
    fn start(&mut self, boxes: &[Aabb<3, f32>]) {
        *self = Self { groups: self.groups.take(), ..Self::default() };
        for id in 0..boxes.len() as u32 {
            let mut collider = ColliderBuilder::ball(0.5).active_collision_types(ActiveCollisionTypes::all());
            if let Some(groups) = &self.groups {
                let (member, filter) = match (groups.in_second(id), groups.still()) {
                    (true, _) => (Group::GROUP_2, Group::GROUP_1),
                    (false, true) => (Group::GROUP_1, Group::ALL),
                    (false, false) => (Group::GROUP_1, Group::GROUP_2),
                };
                collider = collider.collision_groups(InteractionGroups::new(member, filter, InteractionTestMode::And));
            }
            self.handles.push(self.colliders.insert(collider));
        }
        for (handle, at) in self.handles.iter().zip(boxes) {
            self.broad_phase.set_aabb(&self.parameters, *handle, bounds(at));
        }
        self.last = boxes.to_vec();
    }

    fn add(&mut self, pair: Pair) {
        let place = self.pairs.len() as u32;
        if self.places.insert(pair.key(), place).is_none() {
            self.pairs.push(pair);
        }
    }

    fn delete(&mut self, pair: Pair) {
        let Some(place) = self.places.remove(&pair.key()) else { return };
        self.pairs.swap_remove(place as usize);
        if let Some(moved) = self.pairs.get(place as usize) {
            self.places.insert(moved.key(), place);
        }
    }
}

fn bounds(of: &Aabb<3, f32>) -> rapier3d::geometry::Aabb {
    rapier3d::geometry::Aabb { mins: Vector::from(of.min), maxs: Vector::from(of.max) }
}

/// The objects of two colliders. Colliders are inserted in the order of their objects and never removed, so the index of a handle is its object.
fn pair_of(pair: &ColliderPair) -> Pair {
    Pair::new(pair.collider1.into_raw_parts().0, pair.collider2.into_raw_parts().0)
}

impl Peer<3, f32> for Rapier {
    fn set_groups(&mut self, groups: &Groups) -> bool {
        self.groups = Some(groups.clone());
        true
    }

    fn update(&mut self, boxes: &[Aabb<3, f32>]) -> Result<(), PeerError> {
        if boxes.len() != self.handles.len() {
            self.start(boxes);
        }
        for ((now, last), handle) in boxes.iter().zip(&mut self.last).zip(&self.handles) {
            if now != last {
                self.broad_phase.set_aabb(&self.parameters, *handle, bounds(now));
                *last = *now;
            }
        }
        self.events.clear();
        self.broad_phase.update(&self.parameters, &self.colliders, &self.bodies, &[], &[], &mut self.events);
        Ok(())
    }

    fn detect(&mut self, boxes: &[Aabb<3, f32>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        let events = std::mem::take(&mut self.events);
        for event in &events {
            match event {
                BroadPhasePairEvent::AddPair(pair) => self.add(pair_of(pair)),
                BroadPhasePairEvent::DeletePair(pair) => self.delete(pair_of(pair)),
            }
        }
        self.events = events;
        out.clear();
        out.extend(self.pairs.iter().filter(|pair| boxes[pair.a as usize].overlaps(&boxes[pair.b as usize])));
        Ok(())
    }

    /// Its tree and its pairs are private.
    fn bytes(&self) -> Option<usize> {
        None
    }
}
