//! A radar chart, as in figure 1 of paper 001: one axis for each scene, one outline for each algorithm. Smaller is better, so the best
//! outline is the innermost, and a general algorithm's is round. With fewer than five axes an outline says nothing, and rows by group are
//! drawn instead (`groups.rs`).

use std::f64::consts::{FRAC_PI_2, TAU};

use super::axis::Axis;
use super::numbers::{figure, short};
use super::svg::{Anchor, Canvas, WIDTH, letters, wrap};
use super::{Scale, groups, html_table};

/// Values of several series on the same axes, around a center.
#[derive(Clone, Debug, Default)]
pub struct RadarChart {
    /// What it shows.
    pub title: String,
    /// The unit of the values.
    pub unit: String,
    /// The names of the axes, clockwise from the top.
    pub axes: Vec<String>,
    /// The values at which rings are drawn; round ones if empty.
    pub rings: Vec<f64>,
    /// The scale along each axis, the same for all. A linear one has 0 in the center.
    pub scale: Scale,
    /// A value to compare with, with its name; drawn as a line where there are too few axes for a radar.
    pub reference: Option<(String, f64)>,
    /// Names, with a value for each axis. Missing values are NaN.
    pub series: Vec<(String, Vec<f64>)>,
}

const RADIUS: f64 = 118.0;

/// A radar with fewer axes is drawn as groups of rows.
const FEWEST_AXES: usize = 5;

impl RadarChart {
    /// The picture.
    pub fn svg(&self) -> String {
        let mut canvas = Canvas::new();
        let top = canvas.title(&self.title) + 8.0;
        let Some(axis) = self.axis() else {
            canvas.text((12.0, top + 20.0), Anchor::Start, "mute", "No figures to draw.");
            return canvas.finish(top + 40.0, &self.title);
        };
        if self.axes.len() < FEWEST_AXES {
            let mark = self.reference.as_ref().map_or(String::new(), |(name, _)| format!("; dashed line: {name}"));
            let top = canvas.small_print(top, &format!("{}{mark}", self.unit)) + 2.0;
            let end = groups::draw(&mut canvas, self, &axis, top);
            return canvas.finish(end, &self.title);
        }
        let top = canvas.small_print(top, &self.unit);
        let center = (WIDTH / 2.0, top + 30.0 + RADIUS);
        let at = |k: usize, place: f64| {
            let angle = TAU * k as f64 / self.axes.len() as f64 - FRAC_PI_2;
            (center.0 + angle.cos() * place * RADIUS, center.1 + angle.sin() * place * RADIUS)
        };
        let rings = self.ring_places(&axis);
        for (_, place) in &rings {
            canvas.outline(&(0..self.axes.len()).map(|k| at(k, *place)).collect::<Vec<_>>(), "grid");
        }
        for (k, name) in self.axes.iter().enumerate() {
            canvas.line(center, at(k, 1.0), "grid");
            label(&mut canvas, name, at(k, 1.06), center);
        }
        let mut names = Vec::new();
        for (k, (name, values)) in self.series.iter().enumerate().rev() {
            let placed: Vec<Option<(f64, f64)>> =
                (0..self.axes.len()).map(|axis_at| Some(at(axis_at, axis.place(*values.get(axis_at)?)?.max(0.0)))).collect();
            if placed.iter().any(Option::is_some) {
                names.push((k, name.as_str()));
                outline(&mut canvas, k, &placed);
            }
            for (axis_at, place) in placed.iter().enumerate() {
                if let Some(place) = place {
                    let hint = format!("{name}, {}: {} {}", self.axes[axis_at], figure(values[axis_at]), self.unit);
                    canvas.mark(*place, k, &hint);
                }
            }
        }
        for (value, place) in &rings {
            let (x, y) = at(0, *place);
            canvas.text((x + 5.0, y + 4.0), Anchor::Start, "mute halo", &short(*value));
        }
        names.reverse(); // the first is drawn last, over the others
        let end = canvas.legend(center.1 + RADIUS + 46.0, &names);
        canvas.finish(end + 10.0, &self.title)
    }

    /// A row for each axis, a column for each series.
    pub fn table(&self) -> String {
        let head: Vec<String> = [String::new()].into_iter().chain(self.series.iter().map(|(name, _)| name.clone())).collect();
        let rows = self.axes.iter().enumerate().map(|(k, name)| {
            let cells = self.series.iter().map(|(_, values)| figure(values.get(k).copied().unwrap_or(f64::NAN)));
            [name.clone()].into_iter().chain(cells).collect()
        });
        html_table(&format!("{} ({})", self.title, self.unit), &head, &rows.collect::<Vec<_>>())
    }

    /// The common axis from the center outwards; `None` if there is nothing to draw.
    fn axis(&self) -> Option<Axis> {
        let count = self.axes.len();
        let values = self.series.iter().flat_map(|(_, values)| values.iter().take(count).copied());
        Axis::over(values.clone(), self.scale, true)?;
        let marks = self.rings.iter().copied().chain(self.reference.iter().map(|reference| reference.1));
        let axis = Axis::over(values.chain(marks), self.scale, true)?;
        // A logarithmic scale has no zero, so the smallest value is drawn at some distance from the center.
        Some(if self.scale == Scale::Log { axis.widened(0.18, 0.02) } else { axis.widened(0.0, 0.02) })
    }

    fn ring_places(&self, axis: &Axis) -> Vec<(f64, f64)> {
        if self.rings.is_empty() {
            return axis.ticks(5).into_iter().filter(|(_, place)| *place > 0.02).collect();
        }
        self.rings.iter().filter_map(|&value| Some((value, axis.place(value)?))).collect()
    }
}

/// The name of an axis, beyond its end, on the side where there is room.
fn label(canvas: &mut Canvas, name: &str, (x, y): (f64, f64), center: (f64, f64)) {
    let (dx, dy) = (x - center.0, y - center.1);
    let (anchor, room) = match dx {
        dx if dx.abs() < 8.0 => (Anchor::Middle, WIDTH / 2.0),
        dx if dx > 0.0 => (Anchor::Start, WIDTH - x),
        _ => (Anchor::End, x),
    };
    let lines = wrap(name, letters(room - 4.0), 3);
    let height = 14.0 * (lines.len() - 1) as f64;
    let first =
        y + 4.0 - height * (1.0 - dy / RADIUS.max(dy.abs())) / 2.0 + if dy > 0.0 { dy / RADIUS * 8.0 } else { dy / RADIUS * 4.0 };
    for (k, line) in lines.iter().enumerate() {
        canvas.text((x, first + 14.0 * k as f64), anchor, "", line);
    }
}

/// The closed outline, or its pieces between neighbors that have a place.
fn outline(canvas: &mut Canvas, k: usize, placed: &[Option<(f64, f64)>]) {
    let whole: Option<Vec<(f64, f64)>> = placed.iter().copied().collect();
    if let Some(points) = whole {
        canvas.path(&points, k, true);
        return;
    }
    for (at, place) in placed.iter().enumerate() {
        if let (Some(a), Some(b)) = (place, placed[(at + 1) % placed.len()]) {
            canvas.path(&[*a, b], k, false);
        }
    }
}
