//! The commands that the page sends.

use broadphase::Spec;
use serde_json::Value;

/// How a tab displays a frame. The page owns this state; the server keeps the last one that it received.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Send pairs?
    pub pairs: bool,
    /// Send the structure's regions?
    pub regions: bool,
    /// Send which of them each box is in?
    pub places: bool,
    /// The most boxes that are drawn.
    pub budget: usize,
    /// The part of the world that is looked at; all of it unless given.
    pub focus: Option<([f64; 3], [f64; 3])>,
    /// The picked object.
    pub pick: Option<u32>,
    /// The query, which runs again in every frame.
    pub query: Option<Query>,
}

impl Default for View {
    fn default() -> Self {
        Self { pairs: true, regions: true, places: false, budget: 150_000, focus: None, pick: None, query: None }
    }
}

/// A question about a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// What a ray enters.
    Ray {
        /// Where it starts.
        origin: [f64; 3],
        /// Where it goes.
        direction: [f64; 3],
    },
    /// What overlaps a box.
    Box {
        /// The lower corner.
        min: [f64; 3],
        /// The upper corner.
        max: [f64; 3],
    },
    /// The nearest objects.
    Nearest {
        /// From where.
        point: [f64; 3],
        /// How many.
        k: usize,
    },
}

/// One message of the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Frames go on.
    Play,
    /// Frames stop.
    Pause,
    /// Steps by a number of frames, forward or back, and pauses.
    Step(i64),
    /// A frame by number, paused or not.
    Seek(usize),
    /// Frames a second.
    Rate(f64),
    /// Another scene (`None`: the file or scene of the command line), and its number of objects.
    Scene(Option<String>, Option<usize>),
    /// Other algorithms.
    Algorithms(Vec<String>),
    /// Another view.
    View(View),
    /// The total number of messages that have been drawn.
    Drawn(u64),
}

/// The most answers to "nearest".
const MOST_NEAREST: usize = 1000;
/// Limits of the number of drawn boxes.
const BUDGET: std::ops::RangeInclusive<u64> = 100..=2_000_000;

impl Command {
    /// Reads a message; the error says what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        let number = |key: &str| value[key].as_f64().filter(|x| x.is_finite()).ok_or(format!("`{key}` must be a number"));
        let count = |key: &str| value[key].as_u64().ok_or(format!("`{key}` must be a number, 0 or more"));
        Ok(match value["do"].as_str().unwrap_or_default() {
            "play" => Command::Play,
            "pause" => Command::Pause,
            "step" => Command::Step(number("by")? as i64),
            "seek" => Command::Seek(count("frame")? as usize),
            "rate" => Command::Rate(number("rate")?.clamp(0.1, 240.0)),
            "scene" => Command::Scene(value["scene"].as_str().map(str::to_string), value["n"].as_u64().map(|n| n as usize)),
            "algorithms" => {
                let names = value["names"].as_array().ok_or("`names` must be a list")?;
                Command::Algorithms(names.iter().filter_map(Value::as_str).map(str::to_string).collect())
            }
            "view" => Command::View(View {
                pairs: value["pairs"] == true,
                regions: value["regions"] == true,
                places: value["places"] == true,
                budget: count("budget")?.clamp(*BUDGET.start(), *BUDGET.end()) as usize,
                focus: corner(&value["focus"][0]).zip(corner(&value["focus"][1])),
                pick: value["pick"].as_u64().and_then(|id| u32::try_from(id).ok()),
                query: query(&value["query"])?,
            }),
            "drawn" => Command::Drawn(count("count")?),
            other => return Err(format!("unknown command `{other}`")),
        })
    }
}

/// Three finite numbers; a missing third is 0.
fn corner(value: &Value) -> Option<[f64; 3]> {
    let at = |k: usize| value[k].as_f64().filter(|x| x.is_finite());
    Some([at(0)?, at(1)?, at(2).unwrap_or(0.0)])
}

fn query(value: &Value) -> Result<Option<Query>, String> {
    let place = |key: &str| corner(&value[key]).ok_or(format!("the query needs `{key}`, three numbers"));
    Ok(Some(match value["kind"].as_str() {
        None => return Ok(None),
        Some("ray") => Query::Ray { origin: place("origin")?, direction: place("direction")? },
        Some("box") => Query::Box { min: place("min")?, max: place("max")? },
        Some("nearest") => {
            Query::Nearest { point: place("point")?, k: (value["k"].as_u64().unwrap_or(8) as usize).clamp(1, MOST_NEAREST) }
        }
        Some(other) => return Err(format!("unknown query `{other}`; there are ray, box and nearest")),
    }))
}

/// Algorithms by name, each once; the error is that of the command line.
pub fn specs(names: &[String]) -> Result<Vec<Spec>, String> {
    let mut specs: Vec<Spec> = Vec::new();
    for name in names {
        let spec: Spec = name.parse().map_err(|error: broadphase::Error| error.to_string())?;
        if specs.iter().all(|known| known.to_string() != spec.to_string()) {
            specs.push(spec);
        }
    }
    if specs.is_empty() { Err("choose at least one algorithm".to_string()) } else { Ok(specs) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        assert_eq!(Command::read(r#"{"do":"play"}"#), Ok(Command::Play));
        assert_eq!(Command::read(r#"{"do":"step","by":-1}"#), Ok(Command::Step(-1)));
        assert_eq!(Command::read(r#"{"do":"rate","rate":1e9}"#), Ok(Command::Rate(240.0)));
        assert_eq!(Command::read(r#"{"do":"scene","scene":"pile"}"#), Ok(Command::Scene(Some("pile".to_string()), None)));
        let view = r#"{"do":"view","pairs":true,"regions":false,"budget":5,"pick":7,"query":{"kind":"nearest","point":[1,2]}}"#;
        let query = Some(Query::Nearest { point: [1.0, 2.0, 0.0], k: 8 });
        let expected = View { pairs: true, regions: false, places: false, budget: 100, focus: None, pick: Some(7), query };
        assert_eq!(Command::read(view), Ok(Command::View(expected)));
    }

    #[test]
    fn a_message_that_is_none_is_refused_with_a_reason() {
        for (text, word) in [
            ("", "JSON"),
            ("[]", "unknown command"),
            (r#"{"do":"seek","frame":-1}"#, "`frame`"),
            (r#"{"do":"view","budget":9,"query":{"kind":"ray","origin":[0,0,0]}}"#, "`direction`"),
            (r#"{"do":"view","budget":9,"query":{"kind":"cone"}}"#, "ray, box and nearest"),
        ] {
            let error = Command::read(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
        assert!(specs(&["kd-three".to_string()]).unwrap_err().contains("kd-tree"));
        assert!(specs(&[]).is_err());
    }
}
