//! SVG elements as text, the style they share, and the color, dashes and marker of each series.

use std::fmt::Write;

/// The width of every chart, in its own units. Small, so that a phone shows letters that can be read.
pub const WIDTH: f64 = 400.0;

/// The width of a letter, in a text long enough for letters to be mixed, and in the widest of the fonts that browsers fall back on.
const LETTER: f64 = 8.4;

/// Series beyond this number share a color with an earlier one, but not its marker.
const COLORS: usize = 8;

/// Lines with more points than this are thin, so that neighboring frames can be distinguished.
const FINE: usize = 150;

const DASHES: [&str; 8] = ["", "7 3", "2 3", "9 3 2 3", "4 2", "14 4", "8 2 2 2 2 2", "1 2"];

const STYLE: &str = "\
.bp{--fg:#1a1a1a;--mute:#555;--grid:#ddd;--bg:#fff;--s0:#0072b2;--s1:#d55e00;--s2:#008a64;--s3:#b8578b;--s4:#b87a00;--s5:#2f8fc4;\
--s6:#111;--s7:#7d7000;font:14px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\
@media screen and (prefers-color-scheme:dark){.bp{--fg:#eee;--mute:#b5b5b5;--grid:#444;--bg:#1c1c1e;--s0:#56b4e9;--s1:#ff8c42;\
--s2:#2fc79a;--s3:#e08fbd;--s4:#e6b800;--s5:#8ab4ff;--s6:#fff;--s7:#cfc46a}}\
.bp text{fill:var(--fg)}.bp .mute{fill:var(--mute);font-size:13px}.bp .title{font-weight:600;font-size:15px}.bp .strong{font-weight:600}\
.bp .halo{paint-order:stroke;stroke:var(--bg);stroke-width:4px;stroke-linejoin:round}.bp .back{fill:var(--bg)}.bp .grid{stroke:var(--grid);fill:none}.bp .axis{stroke:var(--mute);fill:none}\
.bp .line{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}.bp .line.c0{stroke-width:2.8}.bp .line.fine{stroke-width:1.2}.bp .mark{fill:var(--c);stroke:var(--c);stroke-width:1.5}\
.bp .area{fill:var(--c);fill-opacity:.15}.bp .fill{fill:var(--c)}.bp .solid{fill:var(--s0)}.bp .dot{fill:var(--s0);stroke:var(--s0);stroke-width:1.5}.bp .ring{fill:var(--bg);stroke:var(--s1);stroke-width:2}\
.bp .pale{fill:var(--s1);fill-opacity:.22;stroke:var(--s1);stroke-dasharray:3 2}.bp .limit{stroke:var(--fg);stroke-dasharray:5 3}\
.bp .c0{--c:var(--s0)}.bp .c1{--c:var(--s1)}.bp .c2{--c:var(--s2)}.bp .c3{--c:var(--s3)}\
.bp .c4{--c:var(--s4)}.bp .c5{--c:var(--s5)}.bp .c6{--c:var(--s6)}.bp .c7{--c:var(--s7)}";

/// Escapes text for HTML and XML; characters that XML forbids are replaced.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\r' | '\t' => out.push(' '),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// Which point of a text its position refers to.
#[derive(Clone, Copy)]
pub enum Anchor {
    /// At its start.
    Start,
    /// In its middle.
    Middle,
    /// At its end.
    End,
}

/// An SVG under construction.
pub struct Canvas(String);

impl Canvas {
    /// An empty SVG.
    pub fn new() -> Self {
        Self(String::new())
    }

    /// Text whose base line is at `y`.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escape(text);
        let _ = writeln!(self.0, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>");
    }

    /// A straight line.
    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let _ = writeln!(self.0, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{class}\"/>");
    }

    /// A rectangle, with `hint` as its tooltip.
    pub fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str, hint: &str) {
        let hint = escape(hint);
        let _ = writeln!(
            self.0,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" class=\"{class}\"><title>{hint}</title></rect>"
        );
    }

    /// A rectangle in the color of series `k`, with `hint` as its tooltip.
    pub fn bar(&mut self, place: (f64, f64), size: (f64, f64), k: usize, hint: &str) {
        self.rect(place, size, &format!("fill c{}", k % COLORS), hint);
    }

    /// A dot, or a ring if it is not `solid`, with `hint` as its tooltip.
    pub fn dot(&mut self, (x, y): (f64, f64), solid: bool, hint: &str) {
        let (class, hint) = (if solid { "dot" } else { "ring" }, escape(hint));
        let _ = writeln!(self.0, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" class=\"{class}\"><title>{hint}</title></circle>");
    }

    /// A line through points in the color and dashes of series `k`; closed if `closed`.
    pub fn path(&mut self, points: &[(f64, f64)], k: usize, closed: bool) {
        let mut d = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            let _ = write!(d, "{}{x:.1} {y:.1}", if at == 0 { "M" } else { "L" });
        }
        let color = k % COLORS;
        // Only the first is filled: where many fills overlap, none can be seen.
        if closed && k == 0 {
            let _ = writeln!(self.0, "<path d=\"{d}Z\" class=\"area c{color}\"/>");
        }
        let fine = if points.len() > FINE { " fine" } else { "" };
        let (end, dashes) = (if closed { "Z" } else { "" }, DASHES[k % DASHES.len()]);
        let _ = writeln!(self.0, "<path d=\"{d}{end}\" class=\"line c{color}{fine}\" stroke-dasharray=\"{dashes}\"/>");
    }

    /// A thin polygon or circle of the background grid.
    pub fn outline(&mut self, points: &[(f64, f64)], class: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(self.0, "<polygon points=\"{}\" class=\"{class}\"/>", points.join(" "));
    }

    /// The marker of series `k`, with `hint` as its tooltip.
    pub fn mark(&mut self, (x, y): (f64, f64), k: usize, hint: &str) {
        const SHAPES: [&str; 9] = [
            "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0Z", // disc
            "M-3.2-3.2H3.2V3.2H-3.2Z",                      // square
            "M0-4.2L4 3H-4Z",                               // triangle
            "M0-4.6L4 0L0 4.6L-4 0Z",                       // diamond
            "M-3.5-3.5L3.5 3.5M-3.5 3.5L3.5-3.5",           // cross
            "M0 4.2L4-3H-4Z",                               // triangle, tip down
            "M-4.2 0H4.2M0-4.2V4.2",                        // plus
            "M-4.4-1.6H4.4V1.6H-4.4Z",                      // bar
            "M-1.6-4.4H1.6V4.4H-1.6Z",                      // post
        ];
        let (color, shape, hint) = (k % COLORS, SHAPES[k % SHAPES.len()], escape(hint));
        let place = format!("transform=\"translate({x:.1} {y:.1})\"");
        let _ = writeln!(self.0, "<path d=\"{shape}\" {place} class=\"mark c{color}\"><title>{hint}</title></path>");
    }

    /// The title at the top, on as many lines as it needs; returns the place below it.
    pub fn title(&mut self, title: &str) -> f64 {
        let lines = wrap(title, 42, 4);
        for (k, line) in lines.iter().enumerate() {
            self.text((12.0, 22.0 + 18.0 * k as f64), Anchor::Start, "title", line);
        }
        14.0 + 18.0 * lines.len() as f64
    }

    /// Text in small print from `top` on, on as many lines as it needs; returns the place below it.
    pub fn small_print(&mut self, top: f64, text: &str) -> f64 {
        let lines = wrap(text, 48, 4);
        for (k, line) in lines.iter().enumerate() {
            self.text((12.0, top + 8.0 + 15.0 * k as f64), Anchor::Start, "mute", line);
        }
        top + 4.0 + 15.0 * lines.len() as f64
    }

    /// The legend from `top` on, in two columns, or in one if a name is long; returns the place below it.
    pub fn legend(&mut self, top: f64, names: &[(usize, &str)]) -> f64 {
        let width = |columns: usize| (WIDTH - 24.0) / columns as f64;
        let letters = |columns| letters(width(columns) - 38.0);
        let columns = if names.iter().any(|(_, name)| name.chars().count() > letters(2)) { 1 } else { 2 };
        let (width, letters) = (width(columns), letters(columns));
        for (place, (k, name)) in names.iter().enumerate() {
            let (x, y) = (12.0 + width * (place % columns) as f64, top + 9.0 + 18.0 * (place / columns) as f64);
            self.path(&[(x, y), (x + 28.0, y)], *k, false);
            self.mark((x + 14.0, y), *k, name);
            self.text((x + 35.0, y + 4.5), Anchor::Start, "", &shorten(name, letters));
        }
        top + 18.0 * names.len().div_ceil(columns) as f64
    }

    /// The whole SVG, `height` high.
    pub fn finish(self, height: f64, title: &str) -> String {
        let title = escape(title);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"bp\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" \
             aria-label=\"{title}\">\n<style>{STYLE}</style>\n\
             <rect width=\"{WIDTH:.0}\" height=\"{height:.0}\" rx=\"6\" class=\"back\"/>\n{}</svg>\n",
            self.0
        )
    }
}

/// How many letters fit into a width.
pub fn letters(width: f64) -> usize {
    (width / LETTER) as usize
}

/// The width of a number of letters.
pub fn width_of(letters: usize) -> f64 {
    letters as f64 * LETTER
}

/// A text of at most `most` letters.
pub fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A text cut into lines between words, or after hyphens, where it can be; what does not fit into `most` lines is cut off.
pub fn wrap(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for part in text.split_inclusive([' ', '-']) {
        let long = |line: &String| line.chars().count() + part.trim_end().chars().count() > width;
        if lines.last().is_some_and(|line| !line.is_empty() && long(line)) {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(part);
        }
    }
    if lines.len() > most {
        let rest = lines.split_off(most.max(1) - 1).concat();
        lines.push(rest);
    }
    lines.iter().map(|line| shorten(line.trim(), width)).collect()
}
