//! The result of an experiment: its set-up in words, charts, findings.

use serde_json::{Value, json};

use super::lab::Curves;
use super::verdict::Finding;
use broadphase_bench::charts::{BarChart, LineChart, RadarChart, Scale, Series};

/// The result of an experiment.
pub struct Report {
    /// What was run here, and what the paper ran.
    pub setup: String,
    /// The charts, the main one first.
    pub charts: Vec<Chart>,
    /// The paper's findings beside ours.
    pub findings: Vec<Finding>,
}

/// A chart of any kind.
pub enum Chart {
    /// Lines.
    Lines(LineChart),
    /// Bars.
    Bars(BarChart),
    /// A radar.
    Radar(RadarChart),
}

impl Chart {
    /// Lines over two logarithmic axes: the papers' way to show scaling.
    pub fn scaling(title: &str, x_label: &str, y_label: &str, curves: &Curves) -> Self {
        Self::lines(title, (x_label, Scale::Log), (y_label, Scale::Log), curves)
    }

    /// Lines; each axis is given by its label and its scale.
    pub fn lines(title: &str, x: (&str, Scale), y: (&str, Scale), curves: &Curves) -> Self {
        let series = curves.0.iter().map(|(name, points)| Series { name: name.clone(), points: points.clone() });
        Chart::Lines(LineChart {
            title: title.to_string(),
            x_label: x.0.to_string(),
            y_label: y.0.to_string(),
            x_scale: x.1,
            y_scale: y.1,
            reference: None,
            series: series.collect(),
        })
    }

    /// Lines of ratios, with a line at 1, where both are equal.
    pub fn ratios(title: &str, x: (&str, Scale), y: &str, curves: &Curves) -> Self {
        match Self::lines(title, x, (y, Scale::Linear), curves) {
            Chart::Lines(chart) => Chart::Lines(LineChart { reference: Some(("1: no difference".to_string(), 1.0)), ..chart }),
            other => other,
        }
    }

    /// Bars from zero.
    pub fn bars(title: &str, unit: &str, bars: Vec<(String, f64)>) -> Self {
        Chart::Bars(BarChart { title: title.to_string(), unit: unit.to_string(), bars, ..BarChart::default() })
    }

    /// Is it without points? That happens if time ran out before the first one.
    pub fn is_empty(&self) -> bool {
        match self {
            Chart::Lines(chart) => chart.series.iter().all(|series| series.points.is_empty()),
            Chart::Bars(chart) => chart.bars.is_empty(),
            Chart::Radar(chart) => chart.series.is_empty(),
        }
    }

    /// The picture.
    pub fn svg(&self) -> String {
        match self {
            Chart::Lines(chart) => chart.svg(),
            Chart::Bars(chart) => chart.svg(),
            Chart::Radar(chart) => chart.svg(),
        }
    }

    /// The same figures for scripts.
    pub fn json(&self) -> Value {
        match self {
            Chart::Lines(LineChart { title, x_label, y_label, series, .. }) => {
                let series: Vec<Value> = series.iter().map(|one| json!({ "name": one.name, "points": one.points })).collect();
                json!({ "title": title, "x": x_label, "y": y_label, "series": series })
            }
            Chart::Bars(BarChart { title, unit, bars, .. }) => json!({ "title": title, "unit": unit, "bars": bars }),
            Chart::Radar(RadarChart { title, unit, axes, series, .. }) => {
                json!({ "title": title, "unit": unit, "axes": axes, "series": series })
            }
        }
    }

    /// The same figures as an HTML table.
    pub fn table(&self) -> String {
        match self {
            Chart::Lines(chart) => chart.table(),
            Chart::Bars(chart) => chart.table(),
            Chart::Radar(chart) => chart.table(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_without_points_is_empty() {
        let mut curves = Curves::default();
        let chart = |curves: &Curves| Chart::scaling("t", "x", "y", curves);
        assert!(chart(&curves).is_empty() && Chart::bars("t", "ms", Vec::new()).is_empty());
        curves.0.push(("nothing".to_string(), Vec::new()));
        assert!(chart(&curves).is_empty());
        curves.add("something", 1.0, Some(2.0));
        assert!(!chart(&curves).is_empty());
        assert_eq!(chart(&curves).json()["series"][1]["points"][0], json!([1.0, 2.0]));
    }
}
