//! Pictures of the examples for the gallery (`scripts/gallery`). No part of the library: an example draws only while the variable
//! `BROADPHASE_PICTURES` names a folder.
#![allow(dead_code)] // no example draws everything

use std::fmt::Write;

use broadphase::Aabb;

pub const GRAY: &str = "#9aa0a6";
pub const BLUE: &str = "#0072b2";
pub const ORANGE: &str = "#d55e00";
pub const GREEN: &str = "#009e73";

/// The width of a picture.
const WIDTH: f32 = 640.0;

/// What is drawn, in the order of drawing, with points of the drawing plane (y up).
#[derive(Default)]
pub struct Picture {
    shapes: Vec<Shape>,
}

struct Shape {
    points: Vec<[f32; 2]>,
    fill: Option<&'static str>,
    stroke: &'static str,
    opacity: f32,
}

/// Draws a picture and writes it as `NAME.svg`, if pictures are requested.
pub fn save(name: &str, draw: impl FnOnce(&mut Picture)) {
    let Some(folder) = std::env::var_os("BROADPHASE_PICTURES") else { return };
    let mut picture = Picture::default();
    draw(&mut picture);
    let path = std::path::Path::new(&folder).join(name).with_extension("svg");
    std::fs::write(&path, picture.svg()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

impl Picture {
    /// Outlines of rectangles, filled thinly.
    pub fn rectangles(&mut self, boxes: impl IntoIterator<Item = Aabb<2, f32>>, color: &'static str) {
        for Aabb { min, max } in boxes {
            let points = vec![min, [max[0], min[1]], max, [min[0], max[1]]];
            self.shapes.push(Shape { points, fill: Some(color), stroke: color, opacity: 0.25 });
        }
    }

    /// Discs, as polygons of twelve corners.
    pub fn discs(&mut self, centers: impl IntoIterator<Item = [f32; 2]>, radius: f32, color: &'static str) {
        let corner = |k: usize| (k as f32 * std::f32::consts::TAU / 12.0).sin_cos();
        for center in centers {
            let points = (0..12).map(corner).map(|(s, c)| [center[0] + radius * c, center[1] + radius * s]).collect();
            self.shapes.push(Shape { points, fill: Some(color), stroke: color, opacity: 0.25 });
        }
    }

    /// A line through points.
    pub fn line(&mut self, points: impl IntoIterator<Item = [f32; 2]>, color: &'static str) {
        self.shapes.push(Shape { points: points.into_iter().collect(), fill: None, stroke: color, opacity: 1.0 });
    }

    /// Solid boxes seen from above (y up), the hidden ones behind: three faces each.
    pub fn solids(&mut self, boxes: impl IntoIterator<Item = (Aabb<3, f32>, &'static str)>) {
        let mut boxes: Vec<_> = boxes.into_iter().collect();
        // Back to front: exact where boxes do not overlap, close enough where they do.
        let depth = |aabb: &Aabb<3, f32>| (0..3).map(|k| aabb.min[k] + aabb.max[k]).sum::<f32>();
        boxes.sort_by(|a, b| depth(&a.0).total_cmp(&depth(&b.0)));
        for (aabb, color) in boxes {
            let corner = |x: bool, y: bool, z: bool| {
                let at = |k: usize, high: bool| if high { aabb.max[k] } else { aabb.min[k] };
                project([at(0, x), at(1, y), at(2, z)])
            };
            let top = [(false, false), (true, false), (true, true), (false, true)].map(|(x, z)| corner(x, true, z));
            let left = [(false, false), (true, false), (true, true), (false, true)].map(|(x, y)| corner(x, y, true));
            let right = [(false, false), (true, false), (true, true), (false, true)].map(|(z, y)| corner(true, y, z));
            for (face, opacity) in [(top, 0.45), (left, 0.7), (right, 0.95)] {
                self.shapes.push(Shape { points: face.to_vec(), fill: Some("white"), stroke: "none", opacity: 1.0 });
                self.shapes.push(Shape { points: face.to_vec(), fill: Some(color), stroke: "white", opacity });
            }
        }
    }

    /// A line through points in space, seen as [`Picture::solids`] are.
    pub fn line_in_space(&mut self, points: impl IntoIterator<Item = [f32; 3]>, color: &'static str) {
        self.line(points.into_iter().map(project), color);
    }

    /// The drawing, fitted to its width on white, which reads on a dark page too.
    fn svg(&self) -> String {
        let points = || self.shapes.iter().flat_map(|shape| &shape.points);
        let least = |k: usize| points().map(|p| p[k]).fold(f32::INFINITY, f32::min);
        let most = |k: usize| points().map(|p| p[k]).fold(f32::NEG_INFINITY, f32::max);
        let (low, high) = ([least(0), least(1)], [most(0), most(1)]);
        let scale = (WIDTH - 20.0) / (high[0] - low[0]);
        let height = (high[1] - low[1]) * scale + 20.0;
        let mut svg = format!("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height:.0}'>\n");
        svg += "<rect width='100%' height='100%' fill='white'/>\n";
        for shape in &self.shapes {
            let at = |p: &[f32; 2]| format!("{:.1},{:.1}", 10.0 + (p[0] - low[0]) * scale, 10.0 + (high[1] - p[1]) * scale);
            let corners: Vec<String> = shape.points.iter().map(at).collect();
            let (tag, fill) = shape.fill.map_or(("polyline", "none"), |fill| ("polygon", fill));
            let Shape { stroke, opacity, .. } = shape;
            let written =
                writeln!(svg, "<{tag} points='{}' fill='{fill}' fill-opacity='{opacity}' stroke='{stroke}'/>", corners.join(" "));
            written.expect("writing to a string does not fail");
        }
        svg + "</svg>\n"
    }
}

/// A point in space on the drawing plane: x to the right, z to the left, both downwards; y up.
fn project(at: [f32; 3]) -> [f32; 2] {
    [(at[0] - at[2]) * 0.866, at[1] - (at[0] + at[2]) * 0.5]
}
