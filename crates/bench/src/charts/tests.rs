//! Whatever the figures, a chart is well-formed, and its table has them all.

use super::*;

const NASTY: &str =
    "</svg><script>alert('1')</script> & \"quotes\" \u{0} with a name that is very, very long: kd-tree:t=64:isa=sse2:and=more";

/// Panics unless tags close in the order in which they opened, attributes are quoted, and no figure is NaN or infinite.
fn well_formed(text: &str) {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').unwrap_or_else(|| panic!("a tag does not end: {}", &rest[start..]));
        let tag = &rest[start + 1..end];
        assert!(tag.matches('"').count().is_multiple_of(2), "an attribute does not end: {tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed in the wrong order");
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap());
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "left open: {open:?}");
    for word in ["NaN", "inf", "script", "\u{0}"] {
        let drawn = text.replace("&lt;script", "").replace("&lt;/script", "");
        assert!(!drawn.contains(word), "{word} in {drawn}");
    }
}

fn degenerate_points() -> Vec<Vec<(f64, f64)>> {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -5.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 1.0];
    let mixed = odd.iter().flat_map(|&x| odd.iter().map(move |&y| (x, y))).collect();
    vec![
        vec![],
        vec![(1.0, 1.0)],
        vec![(0.0, 0.0)],
        vec![(f64::NAN, f64::NAN)],
        vec![(1.0, 2.0), (1.0, 2.0)],
        mixed,
        (0..5000).map(|k| (f64::from(k), if k == 2500 { 90.0 } else { 1.0 })).collect(),
    ]
}

#[test]
fn degenerate_lines_are_valid_charts() {
    let scales = [Scale::Linear, Scale::Log];
    for points in degenerate_points() {
        for (x_scale, y_scale) in scales.into_iter().flat_map(|x| scales.map(|y| (x, y))) {
            let series = vec![Series { name: NASTY.to_string(), points: points.clone() }, Series::default()];
            let label = NASTY.to_string();
            let reference = points.first().map(|point| (label.clone(), point.1));
            let chart =
                LineChart { title: label.clone(), x_label: label.clone(), y_label: label, x_scale, y_scale, reference, series };
            well_formed(&chart.svg());
            well_formed(&chart.table());
        }
    }
    well_formed(&LineChart::default().svg());
    well_formed(&LineChart::default().table());
}

#[test]
fn degenerate_bars_and_radars_are_valid_charts() {
    let nasty = || NASTY.to_string();
    for points in degenerate_points() {
        for scale in [Scale::Linear, Scale::Log] {
            let values: Vec<f64> = points.iter().map(|point| point.1).take(100).collect();
            let bars = values.iter().map(|&value| (nasty(), value)).collect();
            let reference = values.first().map(|&value| (nasty(), value));
            let bar = BarChart { title: nasty(), unit: nasty(), bars, highlight: vec![nasty()], reference, scale };
            well_formed(&bar.svg());
            well_formed(&bar.table());
            for axes in [0, 1, 2, 3, 40] {
                let axes = vec![nasty(); axes];
                let series = vec![(nasty(), values.clone()), (nasty(), vec![])];
                let reference = values.first().map(|&value| (nasty(), value));
                let radar = RadarChart { title: nasty(), unit: nasty(), axes, rings: values.clone(), reference, scale, series };
                well_formed(&radar.svg());
                well_formed(&radar.table());
            }
        }
    }
}

#[test]
fn a_spike_among_many_frames_is_drawn() {
    let spike = |k: u32| if k == 33_333 { 50.0 } else { 1.0 };
    let points = (0..100_000).map(|k| (f64::from(k), spike(k))).collect();
    let series = vec![Series { name: "auto".to_string(), points }];
    let svg = LineChart { title: "t".to_string(), series, ..Default::default() }.svg();
    assert!(svg.len() < 60_000, "100,000 points are thinned: {} bytes", svg.len());
    let line = svg.lines().find(|line| line.contains("class=\"line")).unwrap();
    let top = line.split(['M', 'L', '"']).filter_map(|point| point.split_once(' ')?.1.parse().ok()).fold(f64::MAX, f64::min);
    let low = line.split(['M', 'L', '"']).filter_map(|point| point.split_once(' ')?.1.parse().ok()).fold(0.0, f64::max);
    assert!(low - top > 200.0, "the spike reaches over the whole height: {top} to {low}");
}

#[test]
fn a_logarithmic_chart_has_dots_and_a_linear_one_bars() {
    let bars = vec![("a".to_string(), 1.0), ("b".to_string(), 100.0)];
    let chart = |scale| BarChart { bars: bars.clone(), highlight: vec!["a".to_string()], scale, ..Default::default() }.svg();
    let count = |scale, tag: &str| chart(scale).matches(tag).count();
    assert_eq!(
        (count(Scale::Log, "<circle"), count(Scale::Log, "class=\"solid\"") + count(Scale::Log, "class=\"pale\"")),
        (2, 0)
    );
    assert_eq!((count(Scale::Linear, "<circle"), count(Scale::Linear, "<rect")), (0, 3));
}

#[test]
fn under_five_axes_a_radar_is_rows_by_group_with_a_line_at_its_reference() {
    let radar = |axes: usize| {
        let series = vec![("auto".to_string(), vec![1.0; axes]), ("other".to_string(), vec![3.0; axes])];
        let axes = (0..axes).map(|k| format!("scene {k}")).collect();
        let reference = Some(("the fastest".to_string(), 1.0));
        RadarChart { axes, series, reference, scale: Scale::Log, ..Default::default() }.svg()
    };
    assert!(radar(5).contains("<polygon") && !radar(4).contains("<polygon"));
    assert_eq!(radar(4).matches("class=\"mark").count(), 8);
    assert!(radar(4).contains("dashed line: the fastest") && radar(4).contains("class=\"limit\""));
}

#[test]
fn a_chart_of_ratios_has_a_line_at_one_even_if_no_point_is_near() {
    let series = vec![Series { name: "a".to_string(), points: vec![(1.0, 5.0), (2.0, 9.0)] }];
    let svg = LineChart { series, reference: Some(("equal".to_string(), 1.0)), y_scale: Scale::Log, ..Default::default() }.svg();
    assert!(svg.contains("class=\"limit\"") && svg.contains(">equal</text>"));
}

#[test]
fn tables_hold_every_figure_under_its_name() {
    let series = |name: &str, points: &[(f64, f64)]| Series { name: name.to_string(), points: points.to_vec() };
    let chart = LineChart {
        x_label: "objects".to_string(),
        series: vec![series("auto", &[(1000.0, 31.0), (16000.0, 40.5)]), series("<b>", &[(16000.0, 99.0)])],
        ..Default::default()
    };
    let table = chart.table();
    assert!(table.contains("<tr><th>objects</th><th>auto</th><th>&lt;b&gt;</th></tr>"), "{table}");
    assert!(table.contains("<tr><th>1,000</th><td>31</td><td>-</td></tr>"), "{table}");
    assert!(table.contains("<tr><th>16,000</th><td>40.5</td><td>99</td></tr>"), "{table}");
    let radar = RadarChart {
        axes: vec!["pile".to_string(), "sizes".to_string()],
        series: vec![("auto".to_string(), vec![1.5])],
        ..Default::default()
    };
    assert!(radar.table().contains("<tr><th>pile</th><td>1.5</td></tr>\n<tr><th>sizes</th><td>-</td></tr>"));
    let bars = vec![("parry".to_string(), 4.25)];
    let bar = BarChart { bars, reference: Some(("goal".to_string(), 4.0)), ..Default::default() };
    assert!(bar.table().contains("<tr><th>parry</th><td>4.25</td></tr>\n<tr><th>goal</th><td>4</td></tr>"));
}

#[test]
fn series_differ_in_more_than_color() {
    let point = vec![(1.0, 1.0), (2.0, 2.0)];
    let series = (0..16).map(|k| Series { name: format!("s{k}"), points: point.clone() }).collect();
    let svg = LineChart { series, ..Default::default() }.svg();
    let signs = |class: &str, attribute: &str| -> Vec<String> {
        let lines = svg.lines().filter(|line| line.contains(&format!("class=\"{class}")) && line.contains(attribute));
        let values = lines.map(|line| line.split(attribute).nth(1).unwrap().split('"').nth(1).unwrap().to_string());
        let mut values: Vec<String> = values.collect();
        values.sort();
        values.dedup();
        values
    };
    assert!(signs("line", "stroke-dasharray").len() >= 5, "dashes");
    assert!(signs("mark", " d").len() >= 8, "markers");
}

#[test]
fn a_table_that_would_fill_pages_is_not_printed() {
    let table = |rows: usize| html_table("t", &["a".to_string()], &vec![vec!["1".to_string()]; rows]);
    assert!(!figure("", &table(30), "").contains("long") && figure("", &table(200), "").contains("<details class=\"long\">"));
}

#[test]
fn a_page_is_whole_and_loads_nothing() {
    let chart = BarChart { title: "t".to_string(), bars: vec![("a".to_string(), 1.0)], ..Default::default() };
    let text = page("<Title>", &figure(&chart.svg(), &chart.table(), ""));
    assert!(text.starts_with("<!DOCTYPE html>") && text.contains("<title>&lt;Title&gt;</title>"));
    assert!(text.contains("<svg") && text.contains("<table>") && text.contains("default-src 'none'"));
    let outside = text.replace("http://www.w3.org/2000/svg", "");
    assert!(["http:", "https:", "src=", "@import", "url("].iter().all(|word| !outside.contains(word)));
}
