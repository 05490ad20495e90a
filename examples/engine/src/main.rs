//! A small rigid-body engine in one file: `cargo run --release` in this folder.
//!
//! [`Engine::step`] is the loop that every engine has. The broad phase ([`broadphase::World`]) finds which objects may touch, parry finds where two
//! shapes touch, and sequential impulses with warm starting keep them apart. What the broad phase does for the rest of the engine:
//!
//! - **Contacts live as long as their pair** ([`Engine::broad_phase`]). When a pair starts, it gets a slot in [`Engine::contacts`], whose number is
//!   the value of the pair. When it ends, the event brings the number back, also if a body was removed. No search, no table of pairs.
//! - **Sleeping is not moving** ([`Engine::move_bodies`]). A body that sleeps is not given a new box, so it costs nothing and keeps its pairs.
//! - **Layers and kinds** ([`Engine::add`]) decide before a pair is reported. The engine has no filter of its own.
//! - **Events** ([`Event`]) come from pairs that start and end, and from contacts that begin and cease to touch in between.
//! - **Rays** ([`Engine::cast_ray`]) visit boxes from near to far, and stop at the nearest shape.
//!
//! What the engine leaves out: joints, restitution, continuous detection. Shapes are balls and boxes, whose center of mass is their origin.

use std::ops::ControlFlow;

use broadphase::{Aabb, Error, Handle, Object, ObjectKind, Pairing, Ray, Tag, World3};
use parry3d::math::{Pose, Rotation, Vector};
use parry3d::query::{ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d::shape::SharedShape;

#[cfg(test)]
mod tests;

/// Shapes that are closer than this have contact points, before they touch.
const PREDICTION: f32 = 0.02;
/// Penetration that is not corrected, so that contacts at rest stay contacts.
const SLOP: f32 = 0.005;
/// The part of the remaining penetration that a step corrects.
const CORRECTION: f32 = 0.2;
/// The fastest that penetration is corrected, in units per second.
const CORRECTION_SPEED: f32 = 3.0;
/// Passes over all contact points per step.
const ITERATIONS: usize = 12;
/// Coulomb's coefficient, for all bodies.
const FRICTION: f32 = 0.6;
/// The part of its spin that a body loses per second: there is no rolling friction, and balls would roll forever.
const SPIN_DAMPING: f32 = 1.0;
/// A body slower than this, squared, is still.
const STILL_SPEED: f32 = 0.01;
/// Bodies that touch each other and are still for so many seconds fall asleep.
const STILL_TIME: f32 = 0.5;

/// The layer of bodies that meet each other.
const SOLID: Tag = Tag { layer: 1, mask: 1, group: 0, env: 0 };
/// A layer of its own: it meets nothing solid.
const GHOST: Tag = Tag { layer: 2, mask: 2, group: 0, env: 0 };

/// What to add to an engine.
#[derive(Clone)]
struct Description {
    shape: SharedShape,
    at: Vector,
    kind: ObjectKind,
    tag: Tag,
    is_sensor: bool,
    velocity: Vector,
}

impl Description {
    /// A dynamic body with that shape at that place.
    fn new(shape: SharedShape, at: Vector) -> Self {
        Self { shape, at, kind: ObjectKind::Dynamic, tag: SOLID, is_sensor: false, velocity: Vector::ZERO }
    }

    /// A body that never moves.
    fn fixed(shape: SharedShape, at: Vector) -> Self {
        Self { kind: ObjectKind::Static, ..Self::new(shape, at) }
    }
}

/// A rigid body.
struct Body {
    shape: SharedShape,
    pose: Pose,
    kind: ObjectKind,
    velocity: Vector,
    spin: Vector,
    /// 0 for a body that contacts do not move.
    inverse_mass: f32,
    /// About the axes of the body.
    inverse_inertia: Vector,
    is_sensor: bool,
    handle: Handle,
    /// For how many seconds it has been still.
    still: f32,
    is_asleep: bool,
}

impl Body {
    fn is_dynamic(&self) -> bool {
        self.kind == ObjectKind::Dynamic
    }

    /// Does it need no narrow phase, solver or new box?
    fn rests(&self) -> bool {
        self.is_asleep || self.kind == ObjectKind::Static
    }

    /// The velocity of the point at `arm` from its center.
    fn velocity_at(&self, arm: Vector) -> Vector {
        self.velocity + self.spin.cross(arm)
    }

    /// The change of its spin by an angular impulse.
    fn turn(&self, angular: Vector) -> Vector {
        let rotation = self.pose.rotation;
        rotation * (self.inverse_inertia * (rotation.inverse() * angular))
    }

    /// How much an impulse of 1 along `direction` at `arm` changes the velocity there.
    fn response(&self, arm: Vector, direction: Vector) -> f32 {
        self.inverse_mass + self.turn(arm.cross(direction)).cross(arm).dot(direction)
    }

    /// An impulse at `arm` from its center.
    fn push(&mut self, arm: Vector, impulse: Vector) {
        self.velocity += impulse * self.inverse_mass;
        self.spin += self.turn(arm.cross(impulse));
    }
}

/// The box that the broad phase sees: where contact points may be.
fn bounds(shape: &SharedShape, pose: &Pose) -> Aabb<3, f32> {
    let tight = shape.compute_aabb(pose);
    Aabb::new(tight.mins.to_array(), tight.maxs.to_array()).grow(PREDICTION)
}

/// The impulses of a contact point, kept from step to step by parry, which matches points by the features that touch.
#[derive(Clone, Copy, Default)]
struct Impulses {
    normal: f32,
    tangents: [f32; 2],
}

/// Two bodies whose boxes overlap, from the start of their pair to its end.
struct Contact {
    /// If one of the two is a sensor, it is the first, and the two have no contact points.
    bodies: [usize; 2],
    has_sensor: bool,
    manifolds: Vec<ContactManifold<(), Impulses>>,
    workspace: Option<ContactManifoldsWorkspace>,
    is_touching: bool,
}

/// One contact point in the solver.
struct Constraint {
    /// The contact, the manifold and the point that the impulses go back to.
    origin: [usize; 3],
    bodies: [usize; 2],
    arms: [Vector; 2],
    normal: Vector,
    tangents: [Vector; 2],
    /// The effective masses along the normal and the tangents.
    masses: [f32; 3],
    /// The normal velocity that is allowed.
    target: f32,
    impulses: Impulses,
}

/// What happened in a step. Numbers are those of [`Engine::add`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// Two bodies begin to touch.
    Began(usize, usize),
    /// Two bodies do not touch any more, or one of them is gone.
    Ended(usize, usize),
    /// The box of a body begins to overlap that of a sensor.
    Entered { sensor: usize, body: usize },
    /// It does not overlap any more, or one of the two is gone.
    Left { sensor: usize, body: usize },
}

/// Bodies, their contacts, and the broad phase between them.
struct Engine {
    bodies: Vec<Option<Body>>,
    world: World3,
    /// By the value of the pair; slots are used again.
    contacts: Vec<Option<Contact>>,
    free: Vec<usize>,
    gravity: Vector,
    events: Vec<Event>,
}

impl Engine {
    fn new() -> Self {
        let mut world = World3::new();
        world.set_pairing(Pairing::CONTACTS); // two bodies that contacts do not move have none
        let gravity = Vector::new(0.0, -9.81, 0.0);
        Self { bodies: Vec::new(), world, contacts: Vec::new(), free: Vec::new(), gravity, events: Vec::new() }
    }

    /// Adds a body; returns its number.
    fn add(&mut self, description: Description) -> Result<usize, Error> {
        let Description { shape, at, kind, tag, is_sensor, velocity } = description;
        let (number, pose) = (self.bodies.len(), Pose::from_translation(at));
        let object = Object::new(bounds(&shape, &pose)).with_kind(kind).with_tag(tag).with_user(number as u64);
        let handle = self.world.insert(if is_sensor { object.as_sensor() } else { object })?;
        let mass = shape.mass_properties(1.0);
        let is_moved = kind == ObjectKind::Dynamic && !is_sensor;
        self.bodies.push(Some(Body {
            inverse_mass: if is_moved { mass.inv_mass } else { 0.0 },
            inverse_inertia: if is_moved { mass.inv_principal_inertia } else { Vector::ZERO },
            spin: Vector::ZERO,
            still: 0.0,
            is_asleep: false,
            shape,
            pose,
            kind,
            velocity,
            is_sensor,
            handle,
        }));
        Ok(number)
    }

    /// Removes a body. Its contacts end, and what rested on it wakes up, with the next step.
    fn remove(&mut self, number: usize) -> Result<(), Error> {
        if let Some(body) = self.bodies.get_mut(number).and_then(Option::take) {
            self.world.remove(body.handle)?;
        }
        Ok(())
    }

    /// One step of `dt` seconds.
    fn step(&mut self, dt: f32) -> Result<(), Error> {
        self.events.clear();
        self.accelerate(dt);
        self.broad_phase()?;
        self.narrow_phase();
        self.solve(dt);
        self.sleep(dt);
        self.move_bodies(dt)
    }

    /// Gravity, and the loss of spin.
    fn accelerate(&mut self, dt: f32) {
        for body in self.bodies.iter_mut().flatten().filter(|body| body.inverse_mass > 0.0 && !body.is_asleep) {
            body.velocity += self.gravity * dt;
            body.spin /= 1.0 + SPIN_DAMPING * dt;
        }
    }

    /// Contacts for pairs that started; the end of those whose pair ended. Boxes were set when bodies moved.
    fn broad_phase(&mut self) -> Result<(), Error> {
        let update = self.world.update()?;
        for pair in update.ended() {
            if let Some(slot) = pair.value {
                self.end_contact(slot as usize);
            }
        }
        for pair in update.started() {
            let slot = self.begin_contact(pair.user_a as usize, pair.user_b as usize);
            self.world.set_pair_value(pair.a, pair.b, slot as u64)?;
        }
        Ok(())
    }

    /// The boxes of two bodies begin to overlap. Returns the slot of their contact.
    fn begin_contact(&mut self, a: usize, b: usize) -> usize {
        let is_sensor = |number: usize| self.bodies[number].as_ref().is_some_and(|body| body.is_sensor);
        let bodies = if is_sensor(b) { [b, a] } else { [a, b] };
        let has_sensor = is_sensor(bodies[0]);
        if has_sensor {
            self.events.push(Event::Entered { sensor: bodies[0], body: bodies[1] });
        }
        let contact = Contact { bodies, has_sensor, manifolds: Vec::new(), workspace: None, is_touching: false };
        match self.free.pop() {
            Some(slot) => {
                self.contacts[slot] = Some(contact);
                slot
            }
            None => {
                self.contacts.push(Some(contact));
                self.contacts.len() - 1
            }
        }
    }

    /// The boxes of two bodies parted, or one of them was removed: what rested on it wakes up.
    fn end_contact(&mut self, slot: usize) {
        let Some(contact) = self.contacts[slot].take() else { return };
        self.free.push(slot);
        let [a, b] = contact.bodies;
        if contact.has_sensor {
            self.events.push(Event::Left { sensor: a, body: b });
        } else if contact.is_touching {
            self.events.push(Event::Ended(a, b));
            for number in [a, b] {
                if let Some(body) = &mut self.bodies[number] {
                    body.still = 0.0;
                }
            }
        }
    }

    /// Contact points of all pairs of which one body is awake.
    fn narrow_phase(&mut self) {
        for contact in self.contacts.iter_mut().flatten().filter(|contact| !contact.has_sensor) {
            let [a, b] = contact.bodies;
            let (Some(body_a), Some(body_b)) = (&self.bodies[a], &self.bodies[b]) else { continue };
            if body_a.rests() && body_b.rests() {
                continue;
            }
            let between = body_a.pose.inv_mul(&body_b.pose);
            let Contact { manifolds, workspace, .. } = contact;
            DefaultQueryDispatcher
                .contact_manifolds(&between, &*body_a.shape, &*body_b.shape, PREDICTION, manifolds, workspace)
                .expect("parry supports balls and boxes");
            let touches = manifolds.iter().flat_map(|manifold| &manifold.points).any(|point| point.dist <= SLOP);
            if touches != std::mem::replace(&mut contact.is_touching, touches) {
                self.events.push(if touches { Event::Began(a, b) } else { Event::Ended(a, b) });
            }
        }
    }

    /// Groups of dynamic bodies that touch each other sleep and wake together.
    fn sleep(&mut self, dt: f32) {
        for body in self.bodies.iter_mut().flatten().filter(|body| body.is_dynamic() && !body.is_asleep) {
            let is_still = body.velocity.length_squared() + body.spin.length_squared() < STILL_SPEED;
            body.still = if is_still { body.still + dt } else { 0.0 };
        }
        let mut groups: Vec<usize> = (0..self.bodies.len()).collect();
        for contact in self.contacts.iter().flatten().filter(|contact| contact.is_touching) {
            let [a, b] = contact.bodies;
            let bodies = [a, b].map(|number| self.bodies[number].as_ref().is_some_and(Body::is_dynamic));
            if bodies == [true; 2] {
                let (a, b) = (root(&mut groups, a), root(&mut groups, b));
                groups[a.max(b)] = a.min(b);
            }
            // A platform that moves keeps awake what rides on it.
            for (number, other) in [(a, b), (b, a)] {
                let moves = |body: &Body| body.kind == ObjectKind::Kinematic && body.velocity != Vector::ZERO;
                if self.bodies[number].as_ref().is_some_and(moves)
                    && let Some(rider) = &mut self.bodies[other]
                {
                    rider.still = 0.0;
                }
            }
        }
        let mut least = vec![f32::INFINITY; self.bodies.len()];
        for (number, body) in self.bodies.iter().enumerate() {
            if let Some(body) = body.as_ref().filter(|body| body.is_dynamic()) {
                let group = root(&mut groups, number);
                least[group] = least[group].min(body.still);
            }
        }
        for (number, body) in self.bodies.iter_mut().enumerate() {
            if let Some(body) = body.as_mut().filter(|body| body.is_dynamic()) {
                let sleeps = least[root(&mut groups, number)] >= STILL_TIME;
                if sleeps {
                    (body.velocity, body.spin) = (Vector::ZERO, Vector::ZERO);
                } else if body.is_asleep {
                    body.still = 0.0;
                }
                body.is_asleep = sleeps;
            }
        }
    }

    /// Sequential impulses over all contact points of bodies that are awake.
    fn solve(&mut self, dt: f32) {
        let mut constraints = self.constraints(dt);
        for constraint in &mut constraints {
            let [u, v] = constraint.tangents;
            let impulses = constraint.impulses;
            self.apply(constraint, constraint.normal * impulses.normal + u * impulses.tangents[0] + v * impulses.tangents[1]);
        }
        for _ in 0..ITERATIONS {
            for constraint in &mut constraints {
                let limit = FRICTION * constraint.impulses.normal;
                for axis in 0..2 {
                    let wanted = constraint.impulses.tangents[axis]
                        - constraint.masses[axis + 1] * self.speed(constraint, constraint.tangents[axis]);
                    let total = wanted.clamp(-limit, limit);
                    let change = total - std::mem::replace(&mut constraint.impulses.tangents[axis], total);
                    self.apply(constraint, constraint.tangents[axis] * change);
                }
                let wanted = constraint.impulses.normal
                    - constraint.masses[0] * (self.speed(constraint, constraint.normal) - constraint.target);
                let total = wanted.max(0.0);
                let change = total - std::mem::replace(&mut constraint.impulses.normal, total);
                self.apply(constraint, constraint.normal * change);
            }
        }
        for constraint in &constraints {
            let [contact, manifold, point] = constraint.origin;
            if let Some(contact) = &mut self.contacts[contact] {
                contact.manifolds[manifold].points[point].data = constraint.impulses;
            }
        }
    }

    /// The contact points that the solver works on, with the impulses of the last step.
    fn constraints(&self, dt: f32) -> Vec<Constraint> {
        let mut constraints = Vec::new();
        for (slot, contact) in self.contacts.iter().enumerate() {
            let Some(contact) = contact else { continue };
            let (Some(a), Some(b)) = (&self.bodies[contact.bodies[0]], &self.bodies[contact.bodies[1]]) else { continue };
            if a.rests() && b.rests() {
                continue;
            }
            for (index, manifold) in contact.manifolds.iter().enumerate() {
                let normal = a.pose.rotation * manifold.local_n1;
                let tangent = normal.any_orthonormal_vector();
                let tangents = [tangent, normal.cross(tangent)];
                for (point, data) in manifold.points.iter().enumerate() {
                    let middle = (a.pose * data.local_p1 + b.pose * data.local_p2) * 0.5;
                    let arms = [middle - a.pose.translation, middle - b.pose.translation];
                    let mass = |along: Vector| 1.0 / (a.response(arms[0], along) + b.response(arms[1], along));
                    // Shapes with a gap may close it within the step; those that overlap are pushed apart.
                    let target = if data.dist > 0.0 {
                        -data.dist / dt
                    } else {
                        (CORRECTION / dt * (-data.dist - SLOP).max(0.0)).min(CORRECTION_SPEED)
                    };
                    constraints.push(Constraint {
                        origin: [slot, index, point],
                        bodies: contact.bodies,
                        masses: [mass(normal), mass(tangents[0]), mass(tangents[1])],
                        impulses: data.data,
                        arms,
                        normal,
                        tangents,
                        target,
                    });
                }
            }
        }
        constraints
    }

    /// The speed at which the second body moves away from the first, along a direction.
    fn speed(&self, constraint: &Constraint, along: Vector) -> f32 {
        let [a, b] = [0, 1].map(|k| {
            self.bodies[constraint.bodies[k]].as_ref().map_or(Vector::ZERO, |body| body.velocity_at(constraint.arms[k]))
        });
        (b - a).dot(along)
    }

    /// Pushes the two bodies of a contact point apart.
    fn apply(&mut self, constraint: &Constraint, impulse: Vector) {
        for (k, sign) in [(0, -1.0), (1, 1.0)] {
            if let Some(body) = &mut self.bodies[constraint.bodies[k]] {
                body.push(constraint.arms[k], impulse * sign);
            }
        }
    }

    /// Moves the bodies that are awake, and sets their boxes in the broad phase, so that rays between two steps see the new places.
    fn move_bodies(&mut self, dt: f32) -> Result<(), Error> {
        for body in self.bodies.iter_mut().flatten().filter(|body| !body.rests()) {
            body.pose.translation += body.velocity * dt;
            body.pose.rotation = (Rotation::from_scaled_axis(body.spin * dt) * body.pose.rotation).normalize();
            self.world.set_box(body.handle, bounds(&body.shape, &body.pose))?;
        }
        Ok(())
    }

    /// The nearest shape along a ray, among bodies in `layers`, and its distance in lengths of `direction`. Sensors are not hit.
    fn cast_ray(&mut self, origin: Vector, direction: Vector, length: f32, layers: u32) -> Result<Option<(usize, f32)>, Error> {
        let ray = Ray::new(origin.to_array(), direction.to_array(), length);
        let shape_ray = parry3d::query::Ray::new(origin, direction);
        let (bodies, mut nearest) = (&self.bodies, None);
        let reader = self.world.read()?.in_layers(layers);
        let world = reader.world();
        reader.along_ray(&ray, |handle, _| {
            let limit = nearest.map_or(length, |(_, distance)| distance);
            let number = world.user(handle).unwrap_or(u64::MAX) as usize;
            if let Some(body) = bodies.get(number).and_then(Option::as_ref).filter(|body| !body.is_sensor)
                && let Some(distance) = body.shape.cast_ray(&body.pose, &shape_ray, limit, true)
            {
                nearest = Some((number, distance));
            }
            ControlFlow::Continue(nearest.map_or(length, |(_, distance)| distance)) // nothing farther is of interest
        })?;
        Ok(nearest)
    }

    /// Kinetic and potential energy of all dynamic bodies.
    fn energy(&self) -> f32 {
        let of = |body: &Body| {
            let spin = body.pose.rotation.inverse() * body.spin;
            let turning = spin * spin / body.inverse_inertia;
            let moving = body.velocity.length_squared() - 2.0 * self.gravity.dot(body.pose.translation);
            0.5 * (moving / body.inverse_mass + turning.x + turning.y + turning.z)
        };
        self.bodies.iter().flatten().filter(|body| body.inverse_mass > 0.0).map(of).sum()
    }
}

/// The representative of a group of bodies, with paths made shorter on the way.
fn root(groups: &mut [usize], mut number: usize) -> usize {
    while groups[number] != number {
        groups[number] = groups[groups[number]];
        number = groups[number];
    }
    number
}

fn main() -> Result<(), Error> {
    let mut engine = Engine::new();
    let block = || SharedShape::cuboid(0.5, 0.5, 0.5);
    engine.add(Description::fixed(SharedShape::cuboid(50.0, 0.5, 50.0), Vector::new(0.0, -0.5, 0.0)))?;
    let tower: Vec<usize> = (0..10)
        .map(|k| engine.add(Description::new(block(), Vector::new(0.0, 0.5 + k as f32, 0.0))))
        .collect::<Result<_, _>>()?;
    for k in 0..200 {
        let at = Vector::new(6.0 + (k % 5) as f32 * 1.1, 1.0 + (k / 25) as f32 * 1.5, (k / 5 % 5) as f32 * 1.1);
        engine.add(Description::new(if k % 2 == 0 { block() } else { SharedShape::ball(0.5) }, at))?;
    }
    let ghost = engine.add(Description { tag: GHOST, ..Description::new(block(), Vector::new(0.0, 20.0, 0.0)) })?;
    let goal = Description::fixed(block(), Vector::new(0.0, 15.0, 0.0));
    engine.add(Description { is_sensor: true, tag: GHOST, ..goal })?;

    let (mut touches, mut entered) = (0, 0);
    for step in 0..600 {
        engine.step(1.0 / 60.0)?;
        touches += engine.events.iter().filter(|event| matches!(event, Event::Began(..))).count();
        entered += engine.events.iter().filter(|event| matches!(event, Event::Entered { .. })).count();
        if step % 100 == 99 {
            let awake = engine.bodies.iter().flatten().filter(|body| !body.rests()).count();
            println!(
                "step {}: {} pairs, {awake} bodies awake, energy {:.0}",
                step + 1,
                engine.world.pair_count(),
                engine.energy()
            );
        }
    }
    let top = engine.cast_ray(Vector::new(0.0, 100.0, 0.0), Vector::new(0.0, -1.0, 0.0), 1000.0, SOLID.layer)?;
    println!(
        "{touches} touches began; the ghost entered {entered} sensor; a ray from above hits body {:?}",
        top.map(|hit| hit.0)
    );
    assert_eq!(top.map(|hit| hit.0), tower.last().copied(), "the tower stands");
    assert!(entered == 1 && engine.bodies[ghost].as_ref().is_some_and(|body| body.pose.translation.y < -100.0));
    // Without its lowest box the tower wakes up and falls.
    engine.remove(tower[0])?;
    (0..30).try_for_each(|_| engine.step(1.0 / 60.0))?;
    assert!(engine.bodies[tower[9]].as_ref().is_some_and(|body| !body.is_asleep && body.pose.translation.y < 9.0));
    Ok(())
}
