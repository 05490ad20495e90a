//! `free-fall-*` and `gravity-*` (paper 001): objects fall and pile up, under a gravity that stays or swings.
//!
//! The world's volume is 50 times the objects' and gravity 10 % of its side (a second, squared), in steps of 1/30 s, so a fall takes as
//! long at any number of objects. Objects keep apart by [`Sites`]: one in each cell of a lattice with the density of a heap. A frame takes
//! them in the order in which gravity reaches them, lowest first, so that cells are vacated before they are wanted:
//!
//! 1. Gravity adds to the velocity, and the object goes along it cell by cell.
//! 2. Where the next cell is taken, it goes along the axes that are free. Along the others it takes over the velocity of what is in its
//!    way: none at a wall, that of the object in the cell otherwise. So a heap that falls or slides does so as one.
//! 3. Friction slows it against what is in its way, by half of what gravity presses.
//! 4. An object above a free cell beside its support rolls there.
//! 5. Under a gravity that stays, a heap comes to rest from below. As long as objects fall on it, it is shaken. Once the last has
//!    landed, an object on the ground, or on one at rest, comes to rest: one in so many a frame, whatever went before. From then on
//!    its box is the same, bit for bit. Under a gravity that swings, nothing rests.
//!
//! Objects turn while they move. What is left out: rotation by contact, and bars that lie across several objects.

use broadphase::Aabb;

use super::brownian::side;
use crate::Scene;
use crate::physics::Sites;
use crate::random::Random;
use crate::shapes::{Kind, Turn};

/// Frames a second.
pub(crate) const RATE: f64 = 30.0;
/// Gravity over the world's side.
pub(crate) const GRAVITY: f64 = 0.1;
/// Width of a cell: the space that an object of volume 1 has in a heap.
const ROOM: f64 = 1.33;
/// Friction over pressure.
const FRICTION: f32 = 0.5;
/// Tremble of an object that lies on something, over gravity: it keeps contacts from freezing.
const TREMBLE: f64 = 0.3;
/// Push of an object that can roll off its support, over gravity.
const ROLL: f32 = 2.0;
/// How long an object goes on moving after what it lies on has come to rest, on average, in falls from the height of a cube. In the heaps
/// of an engine each layer, from the ground up, takes as long after the one below it, and less the stronger gravity is.
const UNREST: f64 = 1.6;

/// Gravity in frame `frame`, a frame squared. A swinging one turns over once in 12 s, and the plane it swings in turns too.
pub(crate) fn gravity(side: f64, swings: bool, frame: u64) -> [f64; 3] {
    let strength = GRAVITY * side / (RATE * RATE);
    if !swings {
        return [0.0, -strength, 0.0];
    }
    let seconds = frame as f64 / RATE;
    let (over, around) = (seconds / 12.0 * std::f64::consts::TAU, seconds / 31.0 * std::f64::consts::TAU);
    [strength * libm::sin(over) * libm::cos(around), -strength * libm::cos(over), strength * libm::sin(over) * libm::sin(around)]
}

/// Frames of a fall from some height, under a gravity that stays.
fn fall(height: f64, side: f64) -> f64 {
    RATE * (2.0 * height / (GRAVITY * side)).sqrt()
}

/// One object.
#[derive(Clone, Copy, Debug)]
struct Body {
    center: [f32; 3],
    velocity: [f32; 3],
    half: [f32; 3],
    turn: Turn,
    spin: [f32; 3],
    cell: usize,
    /// Frames of lying on something at rest that are left before it rests.
    unrest: u16,
    resting: bool,
}

/// The scene.
pub(crate) struct Falling {
    side: f32,
    swings: bool,
    tumble: bool,
    frame: u64,
    bodies: Vec<Body>,
    sites: Sites,
    boxes: Vec<Aabb<3, f32>>,
    /// Objects that move, in the order of this frame, and the buffer of the sort.
    order: Vec<u32>,
    buckets: Vec<u32>,
    random: Random,
}

impl Falling {
    /// Frame 0: objects anywhere, at rest in the air.
    pub fn new(kind: Kind, swings: bool, tumble: bool, n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let side = side::<3>(n);
        let mut sites = Sites::new(side, ROOM);
        let halves = kind.halves::<3>(n, &mut random);
        let unrest = UNREST * fall(1.0, side);
        let bodies = halves.into_iter().enumerate().map(|(i, half)| {
            let (center, cell) = loop {
                let center: [f32; 3] = std::array::from_fn(|_| random.between(0.0, side) as f32);
                let cell = sites.cell(center);
                if sites.take(cell, i as u32) {
                    break (center, cell);
                }
            };
            Body {
                center,
                velocity: [0.0; 3],
                half,
                turn: Turn::random::<3>(&mut random),
                spin: random.in_ball::<3>().map(|x| (x * 0.05) as f32),
                cell,
                // The waiting time of an event that is as likely in every frame.
                unrest: (-unrest * libm::log(1.0 - random.unit())) as u16,
                resting: false,
            }
        });
        let bodies = bodies.collect();
        let mut scene = Self {
            side: side as f32,
            swings,
            tumble,
            frame: 0,
            bodies,
            sites,
            boxes: vec![Aabb::default(); n],
            order: Vec::new(),
            buckets: Vec::new(),
            random: Random::new(seed, 1),
        };
        for i in 0..n {
            scene.place(i);
        }
        scene
    }

    fn place(&mut self, i: usize) {
        let body = &self.bodies[i];
        let half = if self.tumble { body.turn.half_box(body.half) } else { body.half };
        self.boxes[i] = Aabb::from_center(body.center, half);
    }

    /// Sorts the objects that are not at rest by how far along gravity they are, the farthest first.
    fn sort(&mut self, gravity: [f64; 3]) {
        let length = gravity.iter().map(|x| x.abs()).sum::<f64>();
        // Weights that sum to 1 give a key between 0 and 1 for every point of the world.
        let weights = gravity.map(|x| (x / length) as f32 / self.side);
        let layers = 4 * self.sites.per_axis();
        let key = |body: &Body| {
            let along = (0..3)
                .map(|k| if weights[k] < 0.0 { -weights[k] * body.center[k] } else { weights[k] * (self.side - body.center[k]) });
            ((along.sum::<f32>() * layers as f32) as usize).min(layers)
        };
        self.buckets.clear();
        self.buckets.resize(layers + 2, 0);
        let moving = |body: &&Body| !body.resting;
        self.bodies.iter().filter(moving).for_each(|body| self.buckets[key(body) + 1] += 1);
        for layer in 0..=layers {
            self.buckets[layer + 1] += self.buckets[layer];
        }
        self.order.clear();
        self.order.resize(self.buckets[layers + 1] as usize, 0);
        for (i, body) in self.bodies.iter().enumerate().filter(|(_, body)| !body.resting) {
            let next = &mut self.buckets[key(body)];
            self.order[*next as usize] = i as u32;
            *next += 1;
        }
    }

    /// Moves one object along its velocity, at most a cell at a time. Returns whether something was in its way.
    fn travel(&mut self, i: usize) -> bool {
        let mut body = self.bodies[i];
        let farthest = body.velocity.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        let steps = (farthest / self.sites.width()).ceil().max(1.0);
        let mut blocked = false;
        for _ in 0..steps as usize {
            let by = body.velocity.map(|x| x / steps);
            if self.enter(i, &mut body, by).is_ok() {
                continue;
            }
            blocked = true;
            for k in 0..3 {
                let mut along = [0.0; 3];
                along[k] = by[k];
                if let Err(other) = self.enter(i, &mut body, along) {
                    body.meet(other, k);
                }
            }
        }
        self.bodies[i] = body;
        blocked
    }

    /// Moves an object, if its new cell is its own or free; otherwise gives the velocity of what is there.
    fn enter(&mut self, i: usize, body: &mut Body, by: [f32; 3]) -> Result<(), [f32; 3]> {
        let target: [f32; 3] = std::array::from_fn(|k| body.center[k] + by[k]);
        if !target.iter().all(|x| (0.0..=self.side).contains(x)) {
            return Err([0.0; 3]);
        }
        let cell = self.sites.cell(target);
        if cell != body.cell {
            if let Some(other) = self.sites.owner(cell) {
                return Err(self.bodies[other as usize].velocity);
            }
            self.sites.take(cell, i as u32);
            self.sites.free(body.cell);
            body.cell = cell;
        }
        body.center = target;
        Ok(())
    }

    /// Moves an object that lies on something: it trembles, and rolls off if a random side of it is free.
    fn lie(&mut self, i: usize, gravity: [f64; 3], strength: f64) {
        let (mut down, mut most) = (0, 0.0);
        for k in 0..3 {
            if gravity[k].abs() > most {
                (down, most) = (k, gravity[k].abs());
            }
        }
        let body = &mut self.bodies[i];
        for x in &mut body.velocity {
            *x += (self.random.between(-TREMBLE, TREMBLE) * strength) as f32;
        }
        let choice = self.random.below(4);
        let axis = (down + 1 + choice % 2) % 3;
        let step = if choice < 2 { self.sites.width() } else { -self.sites.width() };
        let mut beside = body.center;
        beside[axis] += step;
        let mut below = beside;
        below[down] += f32::copysign(self.sites.width(), gravity[down] as f32);
        if self.sites.is_free(beside) && self.sites.is_free(below) {
            body.velocity[axis] += f32::copysign(ROLL * strength as f32, step);
        }
    }

    /// Under a gravity that stays, counts the frames that an object lies on something at rest, and lays it to rest after the last.
    fn settle(&mut self, i: usize) {
        let side = f64::from(self.side);
        if (self.frame as f64) < fall(side, side) {
            return; // something may still fall
        }
        let body = &self.bodies[i];
        let below = [body.center[0], body.center[1] - self.sites.width(), body.center[2]];
        let supported =
            below[1] < 0.0 || self.sites.owner(self.sites.cell(below)).is_some_and(|j| self.bodies[j as usize].resting);
        if !supported {
            return;
        }
        let body = &mut self.bodies[i];
        body.resting = body.unrest == 0;
        if body.resting {
            body.velocity = [0.0; 3];
        }
        body.unrest = body.unrest.saturating_sub(1);
    }
}

impl Body {
    /// Contact on an axis: the object takes over the velocity of the other one there, and friction acts on the other axes.
    fn meet(&mut self, other: [f32; 3], axis: usize) {
        let lost = (self.velocity[axis] - other[axis]).abs();
        self.velocity[axis] = other[axis];
        let sliding: [f32; 3] = std::array::from_fn(|k| if k == axis { 0.0 } else { self.velocity[k] - other[k] });
        let speed = sliding.iter().map(|x| x * x).sum::<f32>().sqrt();
        let kept = if speed > FRICTION * lost { 1.0 - FRICTION * lost / speed } else { 0.0 };
        for k in (0..3).filter(|&k| k != axis) {
            self.velocity[k] = other[k] + sliding[k] * kept;
        }
    }
}

impl Scene<3> for Falling {
    fn boxes(&self) -> &[Aabb<3, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        let gravity = gravity(f64::from(self.side), self.swings, self.frame);
        let strength = GRAVITY * f64::from(self.side) / (RATE * RATE);
        self.frame += 1;
        self.sort(gravity);
        for place in 0..self.order.len() {
            let i = self.order[place] as usize;
            let body = &mut self.bodies[i];
            for k in 0..3 {
                body.velocity[k] += gravity[k] as f32;
            }
            body.turn.step::<3>(body.spin);
            if self.travel(i) {
                self.lie(i, gravity, strength);
                if !self.swings {
                    self.settle(i);
                }
            }
            self.place(i);
        }
    }
}
