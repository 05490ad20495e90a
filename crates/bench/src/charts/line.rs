//! Lines over an axis: scaling curves, frame times.

use super::axis::{Axis, drawable};
use super::numbers::{figure, short};
use super::svg::{Anchor, Canvas, WIDTH, shorten};
use super::{Scale, html_table};

/// A named line.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Points, in the order in which the line visits them.
    pub points: Vec<(f64, f64)>,
}

/// Lines over a common pair of axes.
#[derive(Clone, Debug, Default)]
pub struct LineChart {
    /// What it shows.
    pub title: String,
    /// The label of the horizontal axis, with its unit.
    pub x_label: String,
    /// The label of the vertical axis, with its unit.
    pub y_label: String,
    /// The horizontal scale.
    pub x_scale: Scale,
    /// The vertical scale. A linear one reaches to 0.
    pub y_scale: Scale,
    /// A level line across the chart, with its name: 1 in a chart of ratios.
    pub reference: Option<(String, f64)>,
    /// The lines. Color, dashes and marker follow from the place in this list, so that a series without points keeps its place free.
    pub series: Vec<Series>,
}

/// The frame of the plot.
const LEFT: f64 = 48.0;
const RIGHT: f64 = WIDTH - 14.0;
const HEIGHT: f64 = 220.0;

/// Up to this many places on the horizontal axis, each is labeled.
const OWN_TICKS: usize = 8;

/// Up to this many points, each has a marker; above, markers are spread along the line.
const MARKED: usize = 24;

impl LineChart {
    /// The picture.
    pub fn svg(&self) -> String {
        let mut canvas = Canvas::new();
        let top = canvas.title(&self.title) + 8.0;
        let Some((x, y)) = self.axes() else {
            canvas.text((12.0, top + 20.0), Anchor::Start, "mute", "No figures to draw.");
            return canvas.finish(top + 40.0, &self.title);
        };
        let top = canvas.small_print(top, &self.y_label) + 2.0;
        let bottom = top + HEIGHT;
        for (value, place) in y.ticks(6) {
            let at = bottom - place * HEIGHT;
            canvas.line((LEFT, at), (RIGHT, at), "grid");
            canvas.text((LEFT - 6.0, at + 4.0), Anchor::End, "mute", &short(value));
        }
        for (value, place) in self.x_ticks(&x) {
            let at = LEFT + place * (RIGHT - LEFT);
            canvas.line((at, bottom), (at, bottom + 5.0), "axis");
            canvas.text((at, bottom + 18.0), Anchor::Middle, "mute", &short(value));
        }
        canvas.line((LEFT, bottom), (RIGHT, bottom), "axis");
        let reference = self.reference.as_ref().and_then(|(name, value)| Some((name, bottom - y.place(*value)? * HEIGHT)));
        if let Some((_, at)) = reference {
            canvas.line((LEFT, at), (RIGHT, at), "limit");
        }
        canvas.text(((LEFT + RIGHT) / 2.0, bottom + 35.0), Anchor::Middle, "mute", &shorten(&self.x_label, 42));
        let mut names = Vec::new();
        for (k, series) in self.series.iter().enumerate().rev() {
            let place = |&(a, b): &(f64, f64)| {
                Some((LEFT + x.place(a)? * (RIGHT - LEFT), bottom - y.place(b)? * HEIGHT)).filter(|_| self.has_place(a, b))
            };
            if draw(&mut canvas, k, series, place) {
                names.push((k, series.name.as_str()));
            }
        }
        if let Some((name, at)) = reference {
            canvas.text((RIGHT, at - 5.0), Anchor::End, "mute halo", &shorten(name, 30));
        }
        names.reverse(); // the first is drawn last, over the others
        let end = canvas.legend(bottom + 44.0, &names);
        canvas.finish(end + 10.0, &self.title)
    }

    /// A column for each series, a row for each x.
    pub fn table(&self) -> String {
        let mut places: Vec<f64> =
            self.series.iter().flat_map(|series| series.points.iter().map(|point| point.0 + 0.0)).collect();
        places.sort_unstable_by(f64::total_cmp);
        places.dedup();
        let lookups: Vec<Vec<(f64, f64)>> = self.series.iter().map(|series| sorted(&series.points)).collect();
        let head: Vec<String> =
            [self.x_label.clone()].into_iter().chain(self.series.iter().map(|series| series.name.clone())).collect();
        let rows = places.iter().map(|&x| {
            let cells = lookups.iter().map(|points| {
                let found = points.binary_search_by(|point| point.0.total_cmp(&x));
                found.map_or("-".to_string(), |at| figure(points[at].1))
            });
            [figure(x)].into_iter().chain(cells).collect()
        });
        html_table(&format!("{} ({})", self.title, self.y_label), &head, &rows.collect::<Vec<_>>())
    }

    /// The places of the points themselves if they are few and far enough apart, else round values.
    fn x_ticks(&self, axis: &Axis) -> Vec<(f64, f64)> {
        let points = self.series.iter().flat_map(|series| &series.points).filter(|(x, y)| self.has_place(*x, *y));
        let mut values: Vec<f64> = points.map(|point| point.0 + 0.0).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let ticks: Vec<(f64, f64)> = values.into_iter().filter_map(|value| Some((value, axis.place(value)?))).collect();
        let apart = ticks.windows(2).all(|two| two[1].1 - two[0].1 > 0.11);
        if (2..=OWN_TICKS).contains(&ticks.len()) && apart { ticks } else { axis.ticks(5) }
    }

    fn has_place(&self, x: f64, y: f64) -> bool {
        drawable(x, self.x_scale) && drawable(y, self.y_scale)
    }

    fn axes(&self) -> Option<(Axis, Axis)> {
        let points = || self.series.iter().flat_map(|series| &series.points).filter(|(x, y)| self.has_place(*x, *y));
        let x = Axis::over(points().map(|point| point.0), self.x_scale, false)?.widened(0.02, 0.02);
        let reference = self.reference.iter().map(|reference| reference.1);
        let y = Axis::over(points().map(|point| point.1).chain(reference), self.y_scale, true)?;
        let below = if self.y_scale == Scale::Log { 0.05 } else { 0.0 };
        Some((x, y.widened(below, 0.05)))
    }
}

/// Draws one series; a point without a place interrupts the line. Returns whether there was anything to draw.
fn draw(canvas: &mut Canvas, k: usize, series: &Series, place: impl Fn(&(f64, f64)) -> Option<(f64, f64)>) -> bool {
    let placed: Vec<Option<(f64, f64)>> = series.points.iter().map(place).collect();
    for run in placed.split(Option::is_none) {
        let run: Vec<(f64, f64)> = run.iter().flatten().copied().collect();
        if run.len() > 1 {
            canvas.path(&thinned(&run), k, false);
        }
    }
    let every = if placed.len() <= MARKED { 1 } else { placed.len().div_ceil(MARKED / 3) };
    // Series mark different points where not all are marked, so that markers of lines close together do not hide each other.
    let offset = k % every;
    let mut any = false;
    for (at, (point, place)) in series.points.iter().zip(&placed).enumerate() {
        let Some(place) = *place else { continue };
        if !any || at % every == offset {
            canvas.mark(place, k, &format!("{}: {} at {}", series.name, figure(point.1), figure(point.0)));
        }
        any = true;
    }
    any
}

/// At most two points for each unit of width, the lowest and the highest, so that a spike stays visible and the file small.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= 2 * WIDTH as usize {
        return points.to_vec();
    }
    let mut out = Vec::new();
    for column in points.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        let (mut low, mut high) = (0, 0);
        for (at, point) in column.iter().enumerate() {
            if point.1 < column[low].1 {
                low = at;
            }
            if point.1 > column[high].1 {
                high = at;
            }
        }
        out.push(column[low.min(high)]);
        if low != high {
            out.push(column[low.max(high)]);
        }
    }
    out
}

/// Points by x, one for each.
fn sorted(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x + 0.0, y)).collect(); // -0 is 0
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    points
}
