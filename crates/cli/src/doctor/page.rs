//! The findings as a page of text.

use std::fmt::Write;

use super::Findings;
use super::facts::{Facts, Outlier};
use super::sample::Invalid;
use broadphase::BoxFault;

use broadphase_bench::table::{digits, thousands};

/// Columns of the page.
const WIDTH: usize = 80;
/// Where texts start, behind their labels.
const INDENT: usize = 13;

/// The page.
pub fn render(found: &Findings) -> String {
    let mut page = Page(String::new());
    let frames = counted(found.frames, "frame", "frames");
    page.wrapped(
        0,
        &format!("{}: {}, {}D {}, {frames}", found.name, counted(found.n, "object", "objects"), found.dim, found.scalar),
    );
    if found.looked_at < found.frames {
        page.wrapped(0, &format!("(looked at {} of them: {})", found.looked_at, found.windows.join(", ")));
    }
    page.heading("What is in it");
    contents(&mut page, found);
    if let Some(trial) = &found.trial {
        page.heading(&format!("Which algorithm wins (by {})", trial.clock.name()));
        algorithms(&mut page, found);
        if let Some(why) = trial.why() {
            page.wrapped(2, &why);
        }
    }
    page.heading("What to change");
    if found.advice.is_empty() {
        page.wrapped(2, "Nothing: `auto` does it, and nothing in the recording looks like a mistake.");
    }
    for (number, advice) in found.advice.iter().enumerate() {
        page.item(&format!("  {}. ", number + 1), advice);
    }
    page.0
}

fn contents(page: &mut Page, found: &Findings) {
    let facts = &found.facts;
    if found.invalid_boxes > 0 {
        let places: Vec<String> = found.invalid.iter().map(place).collect();
        let more = found.invalid_boxes - places.len();
        let more = if more > 0 { format!("; and {} more", thousands(more as u64)) } else { String::new() };
        let (boxes, objects) =
            (counted(found.invalid_boxes, "box", "boxes"), counted(found.invalid_objects, "object", "objects"));
        let text = format!("{boxes} of {objects}: {}{more}", places.join("; "));
        page.entry("INVALID", &text);
        page.entry("", "All that follows is about the other objects.");
    }
    sizes(page, facts);
    if let Some(space) = &facts.space {
        let sides: Vec<String> = space.sides.iter().map(|&side| figure(side)).collect();
        let filled = match space.filled {
            filled if filled > 1.5 => format!("the boxes' volume is {} times that", figure(filled)),
            filled => format!("boxes fill {} of it", percent(filled)),
        };
        page.entry("space", &format!("{} (98 % of the objects); {filled}", sides.join(" x ")));
        outliers(page, "giants", "largest edge", &space.giants);
        outliers(page, "far away", "distance", &space.far);
    }
    if facts.infinite > 0 {
        let have = if facts.infinite == 1 { "object has" } else { "objects have" };
        page.entry("infinite", &format!("{} {have} an infinite side", thousands(facts.infinite as u64)));
    }
    motion(page, found);
    pair_stats(page, found);
    if facts.duplicates > 0 {
        let have = if facts.duplicates == 1 { "object has" } else { "objects have" };
        page.entry("duplicates", &format!("{} {have} the same box as an earlier one", thousands(facts.duplicates as u64)));
    }
    if facts.equal_x > 0.01 {
        page.entry("ties", &format!("{} of the objects start at the same x as another", percent(facts.equal_x)));
    }
}

fn sizes(page: &mut Page, facts: &Facts) {
    let Some(sizes) = &facts.sizes else { return };
    let kind = match () {
        () if sizes.max == 0.0 => "all are points".to_string(),
        () if sizes.max - sizes.min <= 1e-3 * sizes.max && !sizes.equal => {
            format!("all as long, largest edge {}", figure(sizes.median))
        }
        () if sizes.equal => format!("all alike, edge {}", figure(sizes.median)),
        () => format!(
            "largest edge {} to {}, median {}, 99 % up to {}",
            figure(sizes.min),
            figure(sizes.max),
            figure(sizes.median),
            figure(sizes.p99)
        ),
    };
    let mut text = kind;
    if sizes.elongated > 0.01 {
        let _ = write!(text, "; {} are over 4 times as long as thick", percent(sizes.elongated));
    }
    for (count, what) in [(facts.points, "points"), (facts.flat, "flat (no extent on an axis)")] {
        if count > 0 && sizes.max > 0.0 {
            let _ = write!(text, "; {} {what}", thousands(count as u64));
        }
    }
    page.entry("sizes", &text);
}

fn outliers(page: &mut Page, label: &str, what: &str, found: &[Outlier]) {
    if found.is_empty() {
        return;
    }
    let mut worst: Vec<&Outlier> = found.iter().collect();
    worst.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.object.cmp(&b.object)));
    let named: Vec<String> = worst.iter().take(3).map(|one| format!("{} ({what} {})", one.object, figure(one.value))).collect();
    let rest = if worst.len() > named.len() { ", ..." } else { "" };
    let objects = if worst.len() == 1 { "object" } else { "objects" };
    page.entry(label, &format!("{} {objects}: {}{rest}", thousands(worst.len() as u64), named.join(", ")));
}

fn motion(page: &mut Page, found: &Findings) {
    let Some(motion) = found.facts.motion else {
        let text = if found.frames < 2 { "unknown: one frame" } else { "none to see: no objects" };
        return page.entry("motion", text);
    };
    if motion.moved == 0.0 {
        return page.entry("motion", "none: every object stands still");
    }
    let mut text = format!("{} of the objects move in a frame", percent(motion.moved));
    if motion.still > 0.0 {
        let _ = write!(text, ", {} never move", percent(motion.still));
    }
    let _ = write!(text, "; steps of {} on average", figure(motion.mean));
    if motion.has_sizes {
        let (median, p99, max) = (figure(motion.median), figure(motion.p99), figure(motion.max));
        let _ = write!(text, "; in sizes of the object: {median} (median), 99 % up to {p99}, at most {max}");
    }
    if motion.drift > 0.5 {
        text.push_str("; most of it is common to all");
    }
    page.entry("motion", &text);
}

fn pair_stats(page: &mut Page, found: &Findings) {
    let Some(pair_stats) = &found.pair_stats else { return };
    let mut text = match found.looked_at {
        1 => format!("{} per object", figure(pair_stats.mean)),
        _ => format!(
            "{} per object, {} to {} over the frames",
            figure(pair_stats.mean),
            figure(pair_stats.least),
            figure(pair_stats.most)
        ),
    };
    if let Some(started) = pair_stats.started {
        let _ = write!(text, "; {} are new in frame 1", percent(started));
    }
    page.entry("pairs", &text);
    let Some(detail) = &pair_stats.detail else { return };
    let Some((object, partners)) = detail.busiest else { return };
    let mut text = format!(
        "object {object} has most, {}; {} of the objects have none",
        thousands(u64::from(partners)),
        percent(detail.alone)
    );
    if detail.touching > 0.0 {
        let _ = write!(text, "; {} of the pairs only touch", percent(detail.touching));
    }
    if detail.with_giants > 0.0 {
        let _ = write!(text, "; {} are with a giant or infinite object", percent(detail.with_giants));
    }
    page.entry("", &text);
}

fn algorithms(page: &mut Page, found: &Findings) {
    let Some(trial) = &found.trial else { return };
    let winner = trial.winner().map_or("", |winner| winner.name.as_str());
    for row in &trial.rows {
        let ms = row.rank(trial.clock);
        let per_object = digits(Some(ms * 1e6 / found.n.max(1) as f64));
        let mark = if row.name == winner { "  <- wins" } else { "" };
        let _ = writeln!(page.0, "  {:<16}{:>9} ms a frame{per_object:>9} ns per object{mark}", row.name, digits(Some(ms)));
    }
}

/// A number of things.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count as u64), if count == 1 { one } else { many })
}

/// Where an invalid box is, and what is wrong with it.
pub fn place(invalid: &Invalid) -> String {
    let line = invalid.line.map_or(String::new(), |line| format!("line {line}, "));
    let fault = fault_name(invalid.fault);
    format!("{line}frame {}, object {}: {fault} on {}", invalid.frame, invalid.object, ["x", "y", "z"][invalid.axis.min(2)])
}

/// What is wrong with a box, in words.
pub fn fault_name(fault: BoxFault) -> &'static str {
    match fault {
        BoxFault::NotANumber => "NaN",
        BoxFault::MinAboveMax => "min above max",
    }
}

/// Lines of text.
struct Page(String);

impl Page {
    fn heading(&mut self, text: &str) {
        let _ = writeln!(self.0, "\n{text}");
    }

    /// A label and its text, wrapped behind it.
    fn entry(&mut self, label: &str, text: &str) {
        self.item(&format!("  {label:<width$}", width = INDENT - 2), text);
    }

    fn wrapped(&mut self, indent: usize, text: &str) {
        self.item(&" ".repeat(indent), text);
    }

    /// A text behind a beginning; further lines start below its first word.
    fn item(&mut self, beginning: &str, text: &str) {
        let indent = beginning.chars().count();
        let (mut line, mut used) = (beginning.to_string(), indent);
        for word in text.split_whitespace() {
            let length = word.chars().count();
            if used > indent && used + 1 + length > WIDTH {
                let _ = writeln!(self.0, "{}", line.trim_end());
                (line, used) = (" ".repeat(indent), indent);
            }
            if used > indent {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += length;
        }
        let _ = writeln!(self.0, "{}", line.trim_end());
    }
}

/// A figure with three significant digits.
pub fn figure(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !value.is_finite() => format!("{value}"),
        _ if size == 0.0 => "0".to_string(),
        _ if !(1e-3..1e6).contains(&size) => format!("{value:.1e}"),
        _ if size >= 999.5 => thousands(value.round() as u64),
        _ => {
            let places = (2 - size.log10().floor() as i32).max(0) as usize;
            let text = format!("{value:.places$}");
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
        }
    }
}

/// A share in percent; small ones are not rounded to nothing.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 0.1 => "less than 0.1 %".to_string(),
        percent if percent < 9.95 => format!("{} %", figure((percent * 10.0).round() / 10.0)),
        percent => format!("{percent:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_shares_do_not_vanish() {
        let shown = [0.0, 1.0, 0.5, 0.12345, 12.345, 1234.5, 1e9, 1e-7, 99.96].map(figure);
        assert_eq!(shown, ["0", "1", "0.5", "0.123", "12.3", "1,235", "1.0e9", "1.0e-7", "100"]);
        assert_eq!([0.0, 0.00001, 0.0123, 0.5, 1.0].map(percent), ["0 %", "less than 0.1 %", "1.2 %", "50 %", "100 %"]);
    }

    #[test]
    fn long_texts_are_wrapped_behind_their_label() {
        let mut page = Page(String::new());
        page.entry("label", &"word ".repeat(40));
        assert!(page.0.lines().all(|line| line.len() <= WIDTH));
        assert!(page.0.lines().skip(1).all(|line| line.starts_with(&" ".repeat(INDENT)) && !line.ends_with(' ')), "{}", page.0);
    }
}
