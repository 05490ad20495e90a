//! The scenes of paper 001 as rigid bodies of a physics engine (rapier): slow, and the reference for the approximate ones.
//!
//! The world, the objects and the forces are those of `brownian`, `free-fall` and `gravity`. The engine adds what they leave out:
//! collisions between turned cuboids, friction, and bodies that push each other. It runs on one thread, in its deterministic mode.

use broadphase::Aabb;
use rapier3d::prelude::{
    BroadPhaseBvh, CCDSolver, ColliderBuilder, ColliderHandle, ColliderSet, ImpulseJointSet, IntegrationParameters,
    IslandManager, MultibodyJointSet, NarrowPhase, PhysicsPipeline, Real, RigidBodyBuilder, RigidBodyHandle, RigidBodySet,
    Vector,
};

use super::Motion;
use super::brownian::{KEPT, KICK, side};
use super::falling::{RATE, gravity};
use crate::Scene;
use crate::random::Random;
use crate::shapes::Kind;

/// The scene.
pub(crate) struct Simulated {
    side: f64,
    motion: Motion,
    frame: u64,
    world: Engine,
    bodies: Vec<(RigidBodyHandle, ColliderHandle)>,
    boxes: Vec<Aabb<3, f32>>,
    random: Random,
}

/// All that the engine needs for a step.
#[derive(Default)]
struct Engine {
    parameters: IntegrationParameters,
    pipeline: PhysicsPipeline,
    islands: IslandManager,
    broad_phase: BroadPhaseBvh,
    narrow_phase: NarrowPhase,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    impulse_joints: ImpulseJointSet,
    multibody_joints: MultibodyJointSet,
    ccd: CCDSolver,
}

impl Engine {
    fn step(&mut self, gravity: Vector<Real>) {
        self.pipeline.step(
            &gravity,
            &self.parameters,
            &mut self.islands,
            &mut self.broad_phase,
            &mut self.narrow_phase,
            &mut self.bodies,
            &mut self.colliders,
            &mut self.impulse_joints,
            &mut self.multibody_joints,
            &mut self.ccd,
            &(),
            &(),
        );
    }
}

fn vector(x: [f64; 3]) -> Vector<Real> {
    Vector::new(x[0] as f32, x[1] as f32, x[2] as f32)
}

impl Simulated {
    /// Frame 0.
    pub fn new(kind: Kind, motion: Motion, n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let side = side::<3>(n);
        let mut world = Engine::default();
        world.parameters.dt = (1.0 / RATE) as f32;
        // Walls as thick as the world hold bodies in at any speed. (Half-spaces would too, and be tested against every body.)
        for k in 0..3 {
            for beyond in [-0.5, 1.5] {
                let center = std::array::from_fn(|j| if j == k { beyond * side } else { 0.5 * side });
                let half: [f32; 3] = std::array::from_fn(|j| (if j == k { 0.5 * side } else { 1.5 * side }) as f32);
                world.colliders.insert(ColliderBuilder::cuboid(half[0], half[1], half[2]).translation(vector(center)));
            }
        }
        let halves = kind.halves::<3>(n, &mut random);
        let bodies = halves.into_iter().map(|half| {
            let center = std::array::from_fn(|_| random.between(1.0, (side - 1.0).max(1.0)));
            let angle = random.between(0.0, std::f64::consts::PI);
            let body = RigidBodyBuilder::dynamic()
                .translation(vector(center))
                .rotation(vector(random.direction::<3>().map(|x| x * angle)))
                .angvel(vector(random.in_ball::<3>()))
                .can_sleep(motion == Motion::FreeFall);
            let body = world.bodies.insert(body);
            let shape = ColliderBuilder::cuboid(half[0], half[1], half[2]);
            (body, world.colliders.insert_with_parent(shape, body, &mut world.bodies))
        });
        let bodies = bodies.collect();
        let boxes = vec![Aabb::default(); n];
        let mut scene = Self { side, motion, frame: 0, world, bodies, boxes, random: Random::new(seed, 1) };
        scene.place();
        scene
    }

    fn place(&mut self) {
        for (aabb, (_, collider)) in self.boxes.iter_mut().zip(&self.bodies) {
            let found = self.world.colliders[*collider].compute_aabb();
            *aabb = Aabb::new(found.mins.into(), found.maxs.into());
        }
    }

    /// The kicks of `brownian`, in units a second.
    fn kick(&mut self) {
        for (body, _) in &self.bodies {
            let body = &mut self.world.bodies[*body];
            let kick = vector(std::array::from_fn(|_| self.random.between(-KICK, KICK) * RATE));
            body.set_linvel(body.linvel() * KEPT as f32 + kick, true);
        }
    }
}

impl Scene<3> for Simulated {
    fn boxes(&self) -> &[Aabb<3, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        let pull = match self.motion {
            Motion::Brownian => {
                self.kick();
                [0.0; 3]
            }
            Motion::FreeFall | Motion::Gravity => gravity(self.side, self.motion == Motion::Gravity, self.frame),
        };
        self.world.step(vector(pull.map(|x| x * RATE * RATE)));
        self.frame += 1;
        self.place();
    }
}
