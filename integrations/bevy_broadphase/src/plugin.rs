//! The plug-in, compiled once for each number of axes; the parent module has the `avian` and `D` for it.

use std::marker::PhantomData;
use std::num::NonZeroU32;

use bevy::ecs::system::{StaticSystemParam, SystemParamItem};
use bevy::platform::time::Instant;
use bevy::prelude::*;
use broadphase::{Aabb, Handle, ObjectKind, Reader};

use super::D;
use super::avian::{
    collider_tree::{
        ColliderTree, ColliderTreeDiagnostics, ColliderTreeProxy, ColliderTreeProxyFlags, ColliderTreeProxyKey, ColliderTreeType,
        ColliderTrees, MovedProxies, ProxyId,
    },
    collision::{CollisionDiagnostics, contact_types::ContactEdgeFlags},
    dynamics::solver::joint_graph::JointGraph,
    prelude::*,
};
use crate::mirror::{Key, Mirror};

/// Replaces avian's [`BvhBroadPhasePlugin`]. `H` are the app's collision hooks.
pub struct BroadphasePlugin<H: CollisionHooks = ()> {
    upkeep: TreeUpkeep,
    hooks: PhantomData<H>,
}

impl<H: CollisionHooks> Default for BroadphasePlugin<H> {
    fn default() -> Self {
        Self { upkeep: TreeUpkeep::default(), hooks: PhantomData }
    }
}

impl<H: CollisionHooks> BroadphasePlugin<H> {
    /// Sets how avian's trees are kept up; this is a resource, and can be changed later.
    pub fn with_upkeep(mut self, upkeep: TreeUpkeep) -> Self {
        self.upkeep = upkeep;
        self
    }
}

impl<H: CollisionHooks + 'static> Plugin for BroadphasePlugin<H>
where
    for<'w, 's> SystemParamItem<'w, 's, H>: CollisionHooks,
{
    fn build(&self, app: &mut App) {
        app.init_resource::<BroadphaseWorld>().insert_resource(self.upkeep);
        app.add_systems(PhysicsSchedule, collect_collision_pairs::<H>.in_set(BroadPhaseSystems::CollectCollisions));
    }
}

/// How avian's trees are kept efficient for spatial queries. The answers of queries are right with any choice, since avian refits the trees in every
/// step.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreeUpkeep {
    /// Avian restructures its trees in every step, as its `ColliderTreeOptimization` says.
    #[default]
    Avian,
    /// A tree in which something moved is rebuilt in every so many steps, and only refitted in between. For apps with a few spatial queries per step.
    RebuildEvery(NonZeroU32),
    /// Trees are only refitted. Spatial queries become slower as bodies move away from where they were. For apps without spatial queries.
    Refit,
}

/// If fewer than one collider in this many moved, avian's trees are queried for each that did. A search for all pairs costs about 20 ns per collider,
/// and a query of the trees 150 to 700 ns (`examples/bench.rs`: `stacks` and `statics`); trees that are only refitted are slower.
const FEW_MOVED: usize = 64;

/// The enlarged boxes of all colliders, as of the last [update](BroadphaseWorld::update).
#[derive(Resource, Default)]
pub struct BroadphaseWorld {
    mirror: Mirror<D>,
    candidates: Vec<Candidate>,
    /// Steps since the trees were rebuilt, and which of them have changed since.
    steps: u32,
    stale: [bool; 4],
    has_executor: bool,
}

impl BroadphaseWorld {
    /// Brings the boxes up to date with avian's trees. The broad phase does so in steps in which many colliders moved; call it before
    /// [`read`](BroadphaseWorld::read). Cost: one comparison per collider, and the upkeep of those that changed. If avian's trees are optimized in
    /// place (`ColliderTreeOptimization`), they are empty from the broad phase to the end of a step: call it outside of that.
    ///
    /// # Errors
    /// If there are more colliders than the broad phase can hold, or memory is short.
    pub fn update(&mut self, trees: &ColliderTrees) -> Result<(), broadphase::Error> {
        self.copy_boxes(trees)?;
        self.mirror.world_mut().read().map(|_| ())
    }

    /// Copies the boxes of all trees into the world, which does not apply them yet.
    fn copy_boxes(&mut self, trees: &ColliderTrees) -> Result<(), broadphase::Error> {
        if !std::mem::replace(&mut self.has_executor, true) {
            self.mirror.world_mut().set_context(crate::pool::context());
        }
        ColliderTreeType::ALL.into_iter().try_for_each(|kind| update_tree(&mut self.mirror, kind, trees.tree_for_type(kind)))
    }

    /// Queries over the boxes: areas, rays, moving boxes, camera frusta, nearest objects. They see enlarged boxes, not shapes; use avian's
    /// `SpatialQuery` where the shape matters. `None` before the first [update](BroadphaseWorld::update).
    pub fn read(&self) -> Option<Reader<'_, D, f32>> {
        self.mirror.world().try_read()
    }

    /// The collider of an object that a query found. `None` if it has been removed since the last update.
    pub fn collider(&self, trees: &ColliderTrees, handle: Handle) -> Option<Entity> {
        Some(trees.get_proxy(avian_key(self.mirror.key(handle)?))?.collider)
    }

    /// The algorithm that finds the pairs; the default is `auto`.
    ///
    /// # Errors
    /// If the algorithm does not exist or does not suit a world.
    pub fn set_algorithm(&mut self, spec: &broadphase::Spec) -> Result<(), broadphase::Error> {
        self.mirror.world_mut().set_algorithm(spec)
    }
}

/// A pair that needs an edge, unless a hook rejects it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// The position of the first proxy in the list of moved proxies. Edges are added in this order, which follows from avian's state alone.
    position: u32,
    second: Key,
    first: Key,
}

/// Finds pairs of colliders with overlapping boxes, and adds them to the contact graph. [`BroadphasePlugin`] runs it in
/// [`BroadPhaseSystems::CollectCollisions`].
pub fn collect_collision_pairs<H: CollisionHooks>(
    (mut trees, moved_proxies): (ResMut<ColliderTrees>, Res<MovedProxies>),
    (mut broadphase, upkeep): (ResMut<BroadphaseWorld>, Res<TreeUpkeep>),
    hooks: StaticSystemParam<H>,
    mut commands: Commands,
    mut contact_graph: ResMut<ContactGraph>,
    joint_graph: Res<JointGraph>,
    (mut diagnostics, mut tree_diagnostics): (ResMut<CollisionDiagnostics>, ResMut<ColliderTreeDiagnostics>),
) -> Result
where
    for<'w, 's> SystemParamItem<'w, 's, H>: CollisionHooks,
{
    let start = Instant::now();
    let hooks = hooks.into_inner();
    broadphase.candidates.clear();
    let rules = Rules { trees: &trees, contact_graph: &contact_graph, joint_graph: &joint_graph };
    let colliders: usize = trees.iter_trees().map(|tree| tree.proxies.len()).sum();
    if moved_proxies.proxies().len() < colliders / FEW_MOVED {
        rules.search_trees(&moved_proxies, &mut broadphase.candidates);
    } else if !moved_proxies.proxies().is_empty() {
        broadphase.copy_boxes(&trees)?;
        let BroadphaseWorld { mirror, candidates, .. } = &mut *broadphase;
        mirror.pairs_of_moved(moved_proxies.proxies().iter().map(our_key), |pair| rules.propose(pair, candidates))?;
    }
    let candidates = &mut broadphase.candidates;
    candidates.sort_unstable();
    for candidate in candidates.iter() {
        let proxies = [candidate.first, candidate.second].map(|key| trees.get_proxy(avian_key(key)));
        if let [Some(first), Some(second)] = proxies
            && !contact_graph.contains(first.collider, second.collider)
            && accepts(&hooks, first, second, &mut commands)
        {
            add_edge(&mut contact_graph, first, second);
        }
    }
    diagnostics.broad_phase += start.elapsed();

    let start = Instant::now();
    maintain_trees(&mut trees, *upkeep, &mut broadphase);
    tree_diagnostics.optimize += start.elapsed();
    Ok(())
}

/// Brings the objects of one tree up to date.
fn update_tree(mirror: &mut Mirror<D>, tree_type: ColliderTreeType, tree: &ColliderTree) -> Result<(), broadphase::Error> {
    let is_static = matches!(tree_type, ColliderTreeType::Static);
    let proxies = tree.proxies.iter().filter_map(|(id, proxy)| {
        // Statics are not compared with each other; but avian pairs static sensors with static bodies.
        let kind = if is_static && !proxy.is_sensor() { ObjectKind::Static } else { ObjectKind::Dynamic };
        let aabb = tree.get_proxy_aabb(ProxyId::new(id as u32))?;
        // A tree has three axes also in the plane.
        let [min, max] = [aabb.min, aabb.max].map(|corner| *corner.to_array().first_chunk().expect("D is at most 3"));
        Some((id as u32, Aabb::new(min, max), kind))
    });
    mirror.update_tree(tree_type as u8, proxies)
}

/// All rules but hooks, and what they depend on.
struct Rules<'a> {
    trees: &'a ColliderTrees,
    contact_graph: &'a ContactGraph,
    joint_graph: &'a JointGraph,
}

impl Rules<'_> {
    /// May the two have a new edge, if their boxes overlap?
    fn allow(&self, a: &ColliderTreeProxy, b: &ColliderTreeProxy) -> bool {
        !self.contact_graph.contains(a.collider, b.collider)
            && a.layers.interacts_with(b.layers)
            && a.body != b.body
            && !collision_disabled(self.joint_graph, a, b)
    }

    /// Examines a pair of overlapping boxes, and lists it in each order in which avian would find it.
    fn propose(&self, [a, b]: [(Key, Option<u32>); 2], candidates: &mut Vec<Candidate>) {
        let [Some(proxy_a), Some(proxy_b)] = [a, b].map(|(key, _)| self.trees.get_proxy(avian_key(key))) else { return };
        if !self.allow(proxy_a, proxy_b) {
            return;
        }
        for ((first, position), proxy, (second, other)) in [(a, proxy_a, b), (b, proxy_b, a)] {
            if let Some(position) = position
                && finds(first, proxy, second, other.is_some())
            {
                candidates.push(Candidate { position, second, first });
            }
        }
    }

    /// Lists the pairs of the proxies that moved as avian does: one query of each tree for each of them.
    fn search_trees(&self, moved: &MovedProxies, candidates: &mut Vec<Candidate>) {
        for (position, &key) in (0..).zip(moved.proxies()) {
            let (Some(proxy), Some(aabb)) =
                (self.trees.get_proxy(key), self.trees.tree_for_type(key.tree_type()).get_proxy_aabb(key.id()))
            else {
                continue;
            };
            for tree_type in ColliderTreeType::ALL {
                self.trees.tree_for_type(tree_type).bvh.aabb_traverse(aabb, |bvh, leaf| {
                    let leaf = &bvh.nodes[leaf as usize];
                    let ids = &bvh.primitive_indices[leaf.first_index as usize..][..leaf.prim_count as usize];
                    for other in ids.iter().map(|&id| ColliderTreeProxyKey::new(ProxyId::new(id), tree_type)) {
                        let (first, second) = (our_key(&key), our_key(&other));
                        if first != second
                            && let Some(other_proxy) = self.trees.get_proxy(other)
                            && finds(first, proxy, second, moved.contains(other))
                            && self.allow(proxy, other_proxy)
                        {
                            candidates.push(Candidate { position, second, first });
                        }
                    }
                    true
                });
            }
        }
    }
}

/// Does avian find the pair when it queries for `first`, which moved? Two statics pair only by a sensor that moved. Of two that moved, the smaller
/// key finds the pair; a sensor always does.
fn finds(first: Key, proxy: &ColliderTreeProxy, second: Key, second_moved: bool) -> bool {
    let fixed = ColliderTreeType::Static as u8;
    let both_static = first.tree == fixed && second.tree == fixed;
    proxy.is_sensor() || !both_static && (first < second || !second_moved)
}

/// Does a joint between the two bodies disable their collisions?
fn collision_disabled(joint_graph: &JointGraph, a: &ColliderTreeProxy, b: &ColliderTreeProxy) -> bool {
    match (a.body, b.body) {
        (Some(a), Some(b)) => joint_graph.joints_between(a, b).any(|edge| edge.collision_disabled),
        _ => false,
    }
}

/// Calls the app's hook, if one of the two colliders has a custom filter.
fn accepts(hooks: &impl CollisionHooks, first: &ColliderTreeProxy, second: &ColliderTreeProxy, commands: &mut Commands) -> bool {
    let is_asked = first.has_custom_filter() || second.has_custom_filter();
    !is_asked || hooks.filter_pairs(first.collider, second.collider, commands)
}

/// Adds a contact edge with the flags that the narrow phase expects.
fn add_edge(contact_graph: &mut ContactGraph, first: &ColliderTreeProxy, second: &ColliderTreeProxy) {
    let flags = first.flags.union(second.flags);
    let mut edge = ContactEdge::new(first.collider, second.collider);
    edge.body1 = first.body;
    edge.body2 = second.body;
    edge.flags.set(ContactEdgeFlags::CONTACT_EVENTS, flags.contains(ColliderTreeProxyFlags::CONTACT_EVENTS));
    contact_graph.add_edge_with(edge, |pair| {
        pair.body1 = first.body;
        pair.body2 = second.body;
        pair.flags.set(ContactPairFlags::MODIFY_CONTACTS, flags.contains(ColliderTreeProxyFlags::MODIFY_CONTACTS));
        let generates = !flags.intersects(ColliderTreeProxyFlags::BODY_DISABLED | ColliderTreeProxyFlags::SENSOR);
        pair.flags.set(ContactPairFlags::GENERATE_CONSTRAINTS, generates);
    });
}

/// Rebuilds avian's trees when it is time. Avian restructures a tree only if its list of moved proxies is not empty.
fn maintain_trees(trees: &mut ColliderTrees, upkeep: TreeUpkeep, broadphase: &mut BroadphaseWorld) {
    if upkeep == TreeUpkeep::Avian {
        return;
    }
    for (tree, stale) in trees.iter_trees_mut().zip(&mut broadphase.stale) {
        *stale |= !tree.moved_proxies.is_empty();
        tree.moved_proxies.clear();
    }
    broadphase.steps += 1;
    if let TreeUpkeep::RebuildEvery(steps) = upkeep
        && broadphase.steps >= steps.get()
    {
        broadphase.steps = 0;
        for (tree, stale) in trees.iter_trees_mut().zip(&mut broadphase.stale) {
            if std::mem::take(stale) && !tree.proxies.is_empty() {
                tree.rebuild_full();
            }
        }
    }
}

/// The mirror's key of a proxy.
fn our_key(key: &ColliderTreeProxyKey) -> Key {
    Key { tree: key.tree_type() as u8, id: key.id().id() }
}

/// Avian's key of a proxy.
fn avian_key(key: Key) -> ColliderTreeProxyKey {
    ColliderTreeProxyKey::new(ProxyId::new(key.id), ColliderTreeType::ALL[key.tree as usize])
}
