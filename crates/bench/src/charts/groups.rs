//! Rows by group: how long each takes, scene by scene. Used in place of a radar chart if there are too few axes for one.

use super::Scale;
use super::axis::Axis;
use super::numbers::{figure, short};
use super::radar::RadarChart;
use super::svg::{Anchor, Canvas, WIDTH, shorten, width_of};

/// The longest label; where rows end and figures begin; from row to row, and from group to group.
const MOST_LETTERS: usize = 17;
const RIGHT: f64 = WIDTH - 56.0;
const PITCH: f64 = 20.0;
const HEADING: f64 = 24.0;

/// Draws the groups from `top` on: bars from 0, or dots where a logarithmic scale has no 0. Returns the place below.
pub fn draw(canvas: &mut Canvas, chart: &RadarChart, axis: &Axis, top: f64) -> f64 {
    let longest = chart.series.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(MOST_LETTERS);
    let left = width_of(longest) + 20.0;
    let x = |place: f64| left + place.clamp(0.0, 1.0) * (RIGHT - left);
    let value =
        |k: usize, group: usize| chart.series[k].1.get(group).copied().and_then(|value| Some((value, axis.place(value)?)));
    let rows = |group: usize| (0..chart.series.len()).filter(move |&k| value(k, group).is_some());
    let bottom = top + (0..chart.axes.len()).map(|group| HEADING + PITCH * rows(group).count() as f64).sum::<f64>();
    for (value, place) in axis.ticks_apart(4, 0.2) {
        canvas.line((x(place), top), (x(place), bottom), "grid");
        canvas.text((x(place), bottom + 17.0), Anchor::Middle, "mute", &short(value));
    }
    let mut y = top;
    for (group, name) in chart.axes.iter().enumerate() {
        canvas.text((12.0, y + 17.0), Anchor::Start, "halo strong", &shorten(name, 42));
        y += HEADING;
        for k in rows(group) {
            let Some((value, place)) = value(k, group) else { continue };
            let (series, hint) = (&chart.series[k].0, format!("{name}, {}: {} {}", chart.series[k].0, figure(value), chart.unit));
            canvas.text((left - 8.0, y + 14.5), Anchor::End, "", &shorten(series, MOST_LETTERS));
            match chart.scale {
                Scale::Linear => {
                    let (start, end) = (x(axis.place(0.0).unwrap_or(0.0)), x(place));
                    canvas.bar((start.min(end), y + 3.0), ((end - start).abs().max(1.0), PITCH - 6.0), k, &hint);
                }
                Scale::Log => {
                    canvas.line((left, y + 10.0), (x(place), y + 10.0), "grid");
                    canvas.mark((x(place), y + 10.0), k, &hint);
                }
            }
            canvas.text((x(place) + 8.0, y + 14.5), Anchor::Start, "halo", &figure(value));
            y += PITCH;
        }
    }
    if let Some(place) = chart.reference.as_ref().and_then(|(_, value)| axis.place(*value)) {
        canvas.line((x(place), top), (x(place), bottom), "limit");
    }
    bottom + 24.0
}
