//! A cell list: points sorted into the cells of a grid, in fixed order.
//!
//! Cells are at least as wide as asked for, and at most about two per point, so a far outlier makes cells wider, not more. A counting sort
//! keeps points of one cell in the order of their ids. Cells of a row along x are
//! neighbors in memory: the 27 cells around a point are 9 runs of points.
//!
//! Bad case: when few outliers stretch the grid, the rest shares few cells and the cost per point grows with the crowd.

use std::ops::Range;

/// Points by cell. The plane is a space with one layer.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    low: [f32; 3],
    inverse: f32,
    dims: [usize; 3],
    /// First place of each cell in `ids`, and one more.
    starts: Vec<u32>,
    /// Ids by cell.
    ids: Vec<u32>,
    cell_of: Vec<u32>,
}

impl Cells {
    /// Sorts finite points into cells at least `width` wide.
    pub fn fill<const D: usize>(&mut self, points: &[[f32; D]], width: f32) {
        self.frame(points, width);
        let cells = self.dims.iter().product::<usize>();
        self.starts.clear();
        self.starts.resize(cells + 1, 0);
        self.cell_of.clear();
        for point in points {
            let cell = self.index(self.place(point));
            self.cell_of.push(cell as u32);
            self.starts[cell + 1] += 1;
        }
        for cell in 0..cells {
            self.starts[cell + 1] += self.starts[cell];
        }
        self.ids.clear();
        self.ids.resize(points.len(), 0);
        for (id, &cell) in self.cell_of.iter().enumerate() {
            let next = &mut self.starts[cell as usize];
            self.ids[*next as usize] = id as u32;
            *next += 1;
        }
        // Each start has become its cell's end, which is the next cell's start.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// Lays the grid over the points.
    fn frame<const D: usize>(&mut self, points: &[[f32; D]], mut width: f32) {
        let mut low = [f32::INFINITY; D];
        let mut high = [f32::NEG_INFINITY; D];
        for point in points {
            for k in 0..D {
                low[k] = low[k].min(point[k]);
                high[k] = high[k].max(point[k]);
            }
        }
        self.low = [0.0; 3];
        self.dims = [1; 3];
        if points.is_empty() {
            return;
        }
        self.low[..D].copy_from_slice(&low);
        loop {
            self.inverse = 1.0 / width;
            let mut cells = 1.0;
            for k in 0..D {
                let along = ((high[k] - low[k]) * self.inverse).floor() + 1.0;
                cells *= f64::from(along);
                self.dims[k] = along.min(1e9) as usize;
            }
            if cells <= 2.0 * points.len() as f64 + 64.0 {
                return;
            }
            width *= 1.26;
        }
    }

    #[inline]
    fn place<const D: usize>(&self, point: &[f32; D]) -> [usize; 3] {
        let mut place = [0; 3];
        for k in 0..D {
            // A cast saturates, so a point below the grid is in its first cell.
            place[k] = (((point[k] - self.low[k]) * self.inverse) as usize).min(self.dims[k] - 1);
        }
        place
    }

    #[inline]
    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.dims[1] + y) * self.dims[0] + x
    }

    /// Ids in the order of their cells.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The places in [`ids`](Cells::ids) of some cells of one row.
    #[inline]
    fn run(&self, x: Range<usize>, y: usize, z: usize) -> Range<usize> {
        let row = self.index([0, y, z]);
        self.starts[row + x.start] as usize..self.starts[row + x.end] as usize
    }

    /// Visits, as runs of places in [`ids`](Cells::ids), all points within `reach` of `point`, and others. Any reach will do.
    #[inline]
    pub fn around<const D: usize>(&self, point: &[f32; D], reach: f32, mut visit: impl FnMut(Range<usize>)) {
        let low = self.place(&point.map(|x| x - reach));
        let high = self.place(&point.map(|x| x + reach));
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                visit(self.run(low[0]..high[0] + 1, y, z));
            }
        }
    }

    /// Visits each pair of places in [`ids`](Cells::ids) whose points may be within the width, once, in fixed order.
    #[inline]
    pub fn pairs(&self, mut visit: impl FnMut(usize, usize)) {
        let mut cell = 0;
        for z in 0..self.dims[2] {
            for y in 0..self.dims[1] {
                for x in 0..self.dims[0] {
                    let own = self.starts[cell] as usize..self.starts[cell + 1] as usize;
                    cell += 1;
                    if own.is_empty() {
                        continue;
                    }
                    let near = x.saturating_sub(1)..(x + 2).min(self.dims[0]);
                    let same_row = self.run(near.clone(), y, z).end;
                    for a in own.clone() {
                        (a + 1..same_row).for_each(|b| visit(a, b));
                    }
                    // The rows that come after this one.
                    for (dy, dz) in [(1, 0), (-1, 1), (0, 1), (1, 1)] {
                        let (Some(y), z) = (y.checked_add_signed(dy), z + dz) else { continue };
                        if y < self.dims[1] && z < self.dims[2] {
                            let run = self.run(near.clone(), y, z);
                            for a in own.clone() {
                                run.clone().for_each(|b| visit(a, b));
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn close<const D: usize>(a: [f32; D], b: [f32; D], reach: f32) -> bool {
        (0..D).map(|k| (a[k] - b[k]) * (a[k] - b[k])).sum::<f32>() <= reach * reach
    }

    fn finds_what_brute_force_finds<const D: usize>(points: &[[f32; D]], reach: f32) {
        let mut cells = Cells::default();
        cells.fill(points, 0.4 * reach);
        for a in points {
            let mut near = 0;
            cells.around(a, reach, |run| {
                near += cells.ids()[run].iter().filter(|&&b| close(*a, points[b as usize], reach)).count()
            });
            assert_eq!(near, points.iter().filter(|&&b| close(*a, b, reach)).count(), "around {a:?}");
        }
        cells.fill(points, reach);
        let mut found = Vec::new();
        cells.pairs(|a, b| {
            let (a, b) = (cells.ids()[a], cells.ids()[b]);
            if close(points[a as usize], points[b as usize], reach) {
                found.push((a.min(b), a.max(b)));
            }
        });
        found.sort_unstable();
        let mut expected = Vec::new();
        for a in 0..points.len() {
            expected.extend((a + 1..points.len()).filter(|&b| close(points[a], points[b], reach)).map(|b| (a as u32, b as u32)));
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn pairs_and_neighbors_equal_brute_force() {
        let mut random = Random::new(5, 0);
        for n in [0, 1, 2, 300] {
            for spread in [0.0, 3.0, 40.0] {
                let space: Vec<[f32; 3]> = (0..n).map(|_| random.in_ball::<3>().map(|x| (x * spread) as f32)).collect();
                finds_what_brute_force_finds(&space, 1.5);
                let plane: Vec<[f32; 2]> = (0..n).map(|_| random.in_ball::<2>().map(|x| (x * spread) as f32)).collect();
                finds_what_brute_force_finds(&plane, 1.5);
            }
        }
    }

    #[test]
    fn an_outlier_does_not_blow_up_the_grid() {
        let mut points: Vec<[f32; 3]> = (0..100).map(|i| [i as f32 * 0.1; 3]).collect();
        points.push([1e9, -1e9, 0.0]);
        let mut cells = Cells::default();
        cells.fill(&points, 1.0);
        assert!(cells.starts.len() < 400, "{}", cells.starts.len());
        finds_what_brute_force_finds(&points, 1.0);
    }
}
