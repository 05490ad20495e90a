//! `bench --html`: what was measured, as one page that opens without a server and loads nothing.
//!
//! From the whole to the parts: how far ahead of the best peer (`whole`), the same over scenes and over n
//! (`whole`), then each scene and n by itself (`parts`). The first line is the conclusion (`conclusion`). Sections without charts are left out. All
//! charts show the same few rows in the same colors (`DrawnRows`); the tables have every row.

mod conclusion;
mod parts;
mod whole;

use std::collections::HashSet;
use std::rc::Rc;

use crate::charts::{self, DEFAULT, Entry, escape};
use crate::machine;
use crate::{Clock, Drive, Outcome, ratios, table};

/// What goes into a page.
pub struct Report<'a> {
    /// All rows, those of a setting together.
    pub outcomes: &'a [Outcome],
    /// The results for scripts, embedded for download.
    pub json: &'a str,
    /// The command line as it was typed.
    pub command: &'a str,
}

impl Report<'_> {
    /// The page.
    pub fn render(&self) -> String {
        let clock = Clock::of(self.outcomes);
        let settings: Vec<&[Outcome]> = self.outcomes.chunk_by(|a, b| Rc::ptr_eq(&a.setting, &b.setting)).collect();
        let drawn = DrawnRows::of(&settings, clock);
        let mut body = head(&settings, clock, &drawn);
        // Times of different drives are not comparable: the charts over scenes and n show the first one.
        let drive = self.outcomes.first().map(|outcome| outcome.drive);
        let of_one: Vec<&[Outcome]> =
            settings.iter().copied().filter(|outcomes| outcomes.first().map(|outcome| outcome.drive) == drive).collect();
        body.push_str(&whole::render(&of_one, clock, &drawn));
        for outcomes in &settings {
            body.push_str(&parts::render(outcomes, clock, &drawn));
        }
        body.push_str(&self.machine());
        body.push_str(&embedded(self.json));
        charts::page("broadphase bench", &body)
    }

    /// The machine, the command, and the results for scripts.
    fn machine(&self) -> String {
        let machine = machine::describe();
        let entries = machine.as_object().into_iter().flatten().map(|(key, value)| {
            let text = match value {
                serde_json::Value::Array(parts) => parts.iter().filter_map(|part| part.as_str()).collect::<Vec<_>>().join(", "),
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Null => "unknown".to_string(),
                other => other.to_string(),
            };
            format!("<dt>{}</dt><dd>{}</dd>\n", escape(key), escape(&text))
        });
        format!(
            "<h2>Machine and command</h2>\n<dl>\n{}</dl>\n<pre><code>{}</code></pre>\n\
             <p class=\"screen\"><a id=\"save\" download=\"broadphase.json\" href=\"#results\">Download the results as JSON</a></p>\n",
            entries.collect::<String>(),
            escape(self.command),
        )
    }
}

/// The conclusion in a line, and what the figures mean.
fn head(settings: &[&[Outcome]], clock: Clock, drawn: &DrawnRows) -> String {
    let times = match clock {
        Clock::Cpu => "All times are CPU time of the one thread that works, which a busy machine does not disturb",
        Clock::Wall => "All times are wall time, since a row ran on several threads",
    };
    let left_out = match drawn.left_out {
        0 => String::new(),
        count => {
            format!(
                " Lines are drawn for {} rows, the same in every chart; {count} more are in bars and tables.",
                drawn.names.len()
            )
        }
    };
    format!(
        "<h1>broadphase bench</h1>\n<p class=\"lead\"><strong>{}</strong></p>\n<p>{times}; a frame is everything from boxes in to exact pairs \
         out. All rows of a scene saw the same frames, in turns, and their pairs were compared.{left_out}</p>\n",
        escape(&conclusion::of(settings, clock)),
    )
}

/// Which rows are drawn as lines, in which order: the same names in every chart, so that each keeps its color and marker.
pub struct DrawnRows {
    /// The names.
    names: Vec<String>,
    /// How many rows have no line.
    left_out: usize,
}

impl DrawnRows {
    fn of(settings: &[&[Outcome]], clock: Clock) -> Self {
        let right = settings.iter().enumerate().flat_map(|(place, outcomes)| {
            let right = outcomes.iter().filter(|outcome| outcome.right());
            right.map(move |outcome| Entry { place, name: &outcome.name, peer: outcome.peer, time: outcome.rank(clock) })
        });
        let entries: Vec<Entry<'_>> = right.collect();
        let names = charts::rows_to_draw(&entries, 1);
        let all: HashSet<&str> = entries.iter().map(|entry| entry.name).collect();
        Self { left_out: all.len() - names.len(), names }
    }

    /// The right row of each name in a setting, or none.
    fn rows<'a>(&self, outcomes: &'a [Outcome]) -> Vec<(String, Option<&'a Outcome>)> {
        let find = |name: &String| outcomes.iter().find(|outcome| outcome.name == *name && outcome.right());
        self.names.iter().map(|name| (name.clone(), find(name))).collect()
    }
}

/// The name of a time by that clock.
fn unit(clock: Clock) -> &'static str {
    match clock {
        Clock::Cpu => "CPU ms per frame",
        Clock::Wall => "ms per frame",
    }
}

/// A scene with its number of objects.
fn label(outcome: &Outcome) -> String {
    let drive = if outcome.drive == Drive::Step { String::new() } else { format!(", drive {}", outcome.drive) };
    format!("{}, n = {}{drive}", outcome.setting.scene, table::thousands(outcome.setting.n as u64))
}

/// The row that represents ours, and the fastest peer.
fn ours_and_best_peer(outcomes: &[Outcome], clock: Clock) -> Option<(&Outcome, &Outcome)> {
    let (ours, peers) = (ratios::ranked(outcomes, false, clock), ratios::ranked(outcomes, true, clock));
    let our = ours.iter().find(|outcome| outcome.name == DEFAULT).or(ours.first())?;
    Some((our, peers.first()?))
}

/// The JSON inside the page. `<` is escaped, so that no text in it can end the element early.
fn embedded(json: &str) -> String {
    let json = json.replace('<', "\\u003c");
    format!(
        "<script type=\"application/json\" id=\"results\">\n{json}</script>\n<script>\n\
         document.getElementById(\"save\").href = URL.createObjectURL(new Blob([document.getElementById(\"results\").textContent], \
         {{type: \"application/json\"}}));\n</script>\n"
    )
}

/// The command line, quoted for a shell.
pub fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    ["broadphase".to_string()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// A word, quoted for a shell if needed.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./:=,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests;
