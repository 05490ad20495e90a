//! Bars side by side: how long each row takes. On a logarithmic scale, which has no zero, dots instead.

use super::axis::Axis;
use super::numbers::{figure, short};
use super::svg::{Anchor, Canvas, WIDTH, shorten, width_of};
use super::{Scale, html_table};

/// A horizontal bar for each name; a dot on a logarithmic scale, where the length of a bar would mean nothing.
#[derive(Clone, Debug, Default)]
pub struct BarChart {
    /// What it shows.
    pub title: String,
    /// The unit of the values.
    pub unit: String,
    /// Names and values, from top to bottom.
    pub bars: Vec<(String, f64)>,
    /// Names whose bars or dots are solid; the others are pale with a dashed edge, or rings.
    pub highlight: Vec<String>,
    /// A line across all bars, with its name.
    pub reference: Option<(String, f64)>,
    /// The scale. A linear one starts at 0.
    pub scale: Scale,
}

/// The longest label; where bars end and figures begin; from bar to bar.
const MOST_LETTERS: usize = 20;
const RIGHT: f64 = WIDTH - 62.0;
const PITCH: f64 = 21.0;

impl BarChart {
    /// The picture.
    pub fn svg(&self) -> String {
        let mut canvas = Canvas::new();
        let top = canvas.title(&self.title) + 8.0;
        let reference = self.reference.as_ref().map(|reference| reference.1);
        let values = || self.bars.iter().map(|bar| bar.1);
        let Some(axis) = Axis::over(values().chain(reference), self.scale, true).filter(|_| !self.bars.is_empty()) else {
            canvas.text((12.0, top + 20.0), Anchor::Start, "mute", "No figures to draw.");
            return canvas.finish(top + 40.0, &self.title);
        };
        // Space on the left separates the lowest dot from its name.
        let axis = if self.scale == Scale::Log { axis.widened(0.06, 0.0) } else { axis };
        let longest = self.bars.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(MOST_LETTERS);
        let left = width_of(longest) + 20.0;
        let x = |place: f64| left + place.clamp(0.0, 1.0) * (RIGHT - left);
        let unit = reference.map_or(self.unit.clone(), |value| format!("{}; dashed line: {}", self.unit, self.mark(value)));
        let top = canvas.small_print(top, &unit) + 2.0;
        let bottom = top + PITCH * self.bars.len() as f64;
        for (value, place) in axis.ticks_apart(4, 0.2) {
            canvas.line((x(place), top), (x(place), bottom), "grid");
            canvas.text((x(place), bottom + 17.0), Anchor::Middle, "mute", &short(value));
        }
        let start = x(axis.place(0.0).unwrap_or(0.0));
        for (k, (name, value)) in self.bars.iter().enumerate() {
            let y = top + PITCH * k as f64;
            let solid = self.highlight.contains(name);
            canvas.text((left - 8.0, y + 15.0), Anchor::End, "", &shorten(name, MOST_LETTERS));
            let end = axis.place(*value).map(x);
            let hint = format!("{name}: {} {}", figure(*value), self.unit);
            match (end, self.scale) {
                (None, _) => {}
                (Some(end), Scale::Linear) => {
                    let size = ((end - start).abs().max(1.0), PITCH - 6.0);
                    canvas.rect((start.min(end), y + 3.0), size, if solid { "solid" } else { "pale" }, &hint);
                }
                (Some(end), Scale::Log) => {
                    canvas.line((left, y + 10.5), (end, y + 10.5), "grid");
                    canvas.dot((end, y + 10.5), solid, &hint);
                }
            }
            let text = if end.is_some() { figure(*value) } else { "no figure".to_string() };
            let gap = if self.scale == Scale::Log { 9.0 } else { 5.0 };
            canvas.text((end.map_or(start, |end| end.max(start)) + gap, y + 15.0), Anchor::Start, "halo", &text);
        }
        if let Some(place) = reference.and_then(|value| axis.place(value)) {
            canvas.line((x(place), top - 2.0), (x(place), bottom), "limit");
        }
        canvas.finish(bottom + 28.0, &self.title)
    }

    /// A row for each bar.
    pub fn table(&self) -> String {
        let reference = self.reference.as_ref().map(|(name, value)| vec![name.clone(), figure(*value)]);
        let rows = self.bars.iter().map(|(name, value)| vec![name.clone(), figure(*value)]).chain(reference);
        html_table(&self.title, &["name".to_string(), self.unit.clone()], &rows.collect::<Vec<_>>())
    }

    /// The reference in words.
    fn mark(&self, value: f64) -> String {
        self.reference.as_ref().map_or(String::new(), |(name, _)| format!("{} ({})", shorten(name, 30), figure(value)))
    }
}
