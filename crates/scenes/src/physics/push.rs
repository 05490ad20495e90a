//! Equal balls that overlap are pushed apart: each of two by a share of the overlap, along the line between their centers.
//!
//! All pushes are taken from the same positions and added up, so the result does not depend on the order of objects. A full share
//! (one half each) would overshoot where many balls meet; a smaller one leaves some overlap for the next frame.

use super::Cells;

/// The pushing, with its buffers.
#[derive(Debug, Default)]
pub(crate) struct PushApart<const D: usize> {
    cells: Cells,
    /// Positions and pushes by cell: neighbors in space are neighbors in memory.
    sorted: Vec<[f32; D]>,
    pushes: Vec<[f32; D]>,
}

impl<const D: usize> PushApart<D> {
    /// Moves each center by what its neighbors push. Two balls of the given diameter each take `share` of their overlap.
    pub fn step(&mut self, centers: &mut [[f32; D]], diameter: f32, share: f32) {
        self.cells.fill(centers, diameter);
        self.sorted.clear();
        self.sorted.extend(self.cells.ids().iter().map(|&id| centers[id as usize]));
        self.pushes.clear();
        self.pushes.resize(centers.len(), [0.0; D]);
        let (sorted, pushes) = (&self.sorted, &mut self.pushes);
        let reach = diameter * diameter;
        self.cells.pairs(|a, b| {
            let mut between = [0.0; D];
            let mut square = 0.0;
            for k in 0..D {
                between[k] = sorted[b][k] - sorted[a][k];
                square += between[k] * between[k];
            }
            if square < reach {
                // At one point, any direction is as good: x.
                if square < 1e-12 {
                    between[0] = 1e-6;
                    square = 1e-12;
                }
                let distance = square.sqrt();
                let push = share * (diameter - distance) / distance;
                for k in 0..D {
                    pushes[a][k] -= push * between[k];
                    pushes[b][k] += push * between[k];
                }
            }
        });
        for (&id, push) in self.cells.ids().iter().zip(&self.pushes) {
            for k in 0..D {
                centers[id as usize][k] += push[k];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_overlapping_balls_part_and_others_stay() {
        let mut centers = vec![[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [3.0, 0.0, 0.0], [4.0, 0.0, 0.0]];
        PushApart::default().step(&mut centers, 1.0, 0.5);
        assert_eq!(centers, [[-0.25, 0.0, 0.0], [0.75, 0.0, 0.0], [3.0, 0.0, 0.0], [4.0, 0.0, 0.0]]);
    }

    #[test]
    fn balls_at_one_point_part_too() {
        let mut centers = vec![[1.0f32, 1.0]; 2];
        PushApart::default().step(&mut centers, 1.0, 0.5);
        assert!((centers[0][0] - centers[1][0]).abs() > 0.9, "{centers:?}");
    }
}
