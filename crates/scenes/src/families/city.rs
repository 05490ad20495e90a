//! `city` and `city-even` (paper 004, section 2.2): balls of many sizes in a cube of one kilometer.
//!
//! Diameters are uniform between 1/1000 and 1/10 of the side. In `city`, 80 % of the balls lie in the lowest tenth of y and the rest
//! anywhere; in `city-even` all lie anywhere. One in five moves, by up to 5 m a frame. A moving ball that touches another one is deflected,
//! as by a wall between them; one that stands is never set in motion. Above 6,400 objects, the paper's largest number, diameters shrink
//! with the cube root of their number, so that the crowding stays.
//!
//! All deflections follow from the same positions, so no order of objects matters. A moving ball looks at everything within its own radius
//! and the largest one: about 400 balls in `city`, at any number of objects.

use broadphase::Aabb;

use crate::Scene;
use crate::physics::{Cells, reflect};
use crate::random::Random;

/// The cube's side in meters.
const SIDE: f64 = 1000.0;
/// Largest move a frame.
const SPEED: f64 = 5.0;

/// The scene.
pub(crate) struct City {
    centers: Vec<[f32; 3]>,
    radii: Vec<f32>,
    /// Moving balls, ascending, and their velocities.
    movers: Vec<(u32, [f32; 3])>,
    /// Place in `movers` of each ball; beyond its end for those that stand.
    mover_of: Vec<u32>,
    cells: Cells,
    /// Centers and radii by cell.
    sorted: Vec<([f32; 3], f32)>,
    /// The largest radius.
    largest: f32,
    boxes: Vec<Aabb<3, f32>>,
}

impl City {
    /// Frame 0. `even`: spread evenly, not near the ground.
    pub fn new(even: bool, n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let scale = libm::cbrt(6400.0 / n.max(6400) as f64);
        let low = random.choose(n, if even { 0 } else { n * 4 / 5 });
        let mut centers = Vec::with_capacity(n);
        let mut radii = Vec::with_capacity(n);
        for &low in &low {
            let radius = 0.5 * random.between(SIDE / 1000.0, SIDE / 10.0) * scale;
            let height = if low { SIDE / 10.0 } else { SIDE };
            centers.push([SIDE, height, SIDE].map(|high| random.between(radius, (high - radius).max(radius)) as f32));
            radii.push(radius as f32);
        }
        let moving = random.choose(n, n / 5);
        let movers = (0..n as u32).filter(|&i| moving[i as usize]).map(|i| {
            let speed = random.between(0.0, SPEED);
            (i, random.direction::<3>().map(|x| (x * speed) as f32))
        });
        let movers: Vec<(u32, [f32; 3])> = movers.collect();
        let mut mover_of = vec![u32::MAX; n];
        for (place, (i, _)) in movers.iter().enumerate() {
            mover_of[*i as usize] = place as u32;
        }
        let boxes = centers.iter().zip(&radii).map(|(center, radius)| Aabb::from_center(*center, [*radius; 3])).collect();
        let largest = (0.5 * SIDE / 10.0 * scale) as f32;
        Self { centers, radii, movers, mover_of, cells: Cells::default(), sorted: Vec::new(), largest, boxes }
    }

    /// Deflects each mover at everything that it touches and comes nearer to.
    fn deflect(&mut self) {
        self.cells.fill(&self.centers, 0.5 * self.largest);
        self.sorted.clear();
        self.sorted.extend(self.cells.ids().iter().map(|&i| (self.centers[i as usize], self.radii[i as usize])));
        // By cell: what one mover looks at, the next one finds in the cache.
        for (&i, &(center, radius)) in self.cells.ids().iter().zip(&self.sorted) {
            let Some((_, velocity)) = self.movers.get_mut(self.mover_of[i as usize] as usize) else { continue };
            self.cells.around(&center, radius + self.largest, |run| {
                for (other, other_radius) in &self.sorted[run] {
                    let between: [f32; 3] = std::array::from_fn(|k| other[k] - center[k]);
                    let square = between[0] * between[0] + between[1] * between[1] + between[2] * between[2];
                    let touch = radius + other_radius;
                    // Itself is at distance 0, and has no direction to be deflected in.
                    if square <= touch * touch && square > 0.0 {
                        let towards = (0..3).map(|k| velocity[k] * between[k]).sum::<f32>();
                        if towards > 0.0 {
                            *velocity = std::array::from_fn(|k| velocity[k] - 2.0 * towards / square * between[k]);
                        }
                    }
                }
            });
        }
    }
}

impl Scene<3> for City {
    fn boxes(&self) -> &[Aabb<3, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        self.deflect();
        for (i, velocity) in &mut self.movers {
            let (center, radius) = (&mut self.centers[*i as usize], self.radii[*i as usize]);
            for k in 0..3 {
                (center[k], velocity[k]) = reflect(center[k] + velocity[k], velocity[k], radius, SIDE as f32 - radius);
            }
            self.boxes[*i as usize] = Aabb::from_center(*center, [radius; 3]);
        }
    }
}
