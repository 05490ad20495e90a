//! The values of options. An error says what the option takes; the line around it is made by `errors`.

use std::str::FromStr;
use std::time::Duration;

use broadphase::Shape;
use broadphase_scenes::{Columns, ColumnsError};

use super::cli::{Counts, Drives};
use broadphase_bench::Drive;

/// A number; underscores between digits are allowed.
fn number<V: FromStr>(text: &str, expected: &str) -> Result<V, String> {
    text.replace('_', "").parse().map_err(|_| expected.to_string())
}

/// `--n` of `record`.
pub fn count(text: &str) -> Result<usize, String> {
    number(text, "a number of objects")
}

/// `--n` of `bench`.
pub fn counts(text: &str) -> Result<Counts, String> {
    let each = text.split(',').map(|part| number(part, "numbers of objects with commas between, as in 1000,16000"));
    each.collect::<Result<_, _>>().map(Counts)
}

/// `--drive`.
pub fn drives(text: &str) -> Result<Drives, String> {
    let mut drives = Vec::new();
    for name in text.split(',') {
        let known = Drive::ALL.map(Drive::name);
        let drive = name.parse().map_err(|()| {
            let nearest = broadphase::spec_text::nearest(name, known).unwrap_or("step");
            format!("{} with commas between; did you mean '{nearest}'?", known.join(", "))
        })?;
        if !drives.contains(&drive) {
            drives.push(drive);
        }
    }
    Ok(Drives(drives))
}

/// `--frame`.
pub fn frame(text: &str) -> Result<usize, String> {
    number(text, "a frame number, from 0")
}

/// `--seed`.
pub fn seed(text: &str) -> Result<u64, String> {
    number(text, "a whole number, 0 or more")
}

/// The most frames that a recording can count.
const MAX_FRAMES: usize = u32::MAX as usize;

/// `--frames`: at least 1.
pub fn frames(text: &str) -> Result<usize, String> {
    let count: usize = number(text, "a number of frames, 1 or more")?;
    if (1..=MAX_FRAMES).contains(&count) { Ok(count) } else { Err(format!("1 to {MAX_FRAMES}")) }
}

/// `--threads`: at least 1, at most what a pool can sensibly hold.
pub fn threads(text: &str) -> Result<usize, String> {
    let expected = "a number of threads, 1 to 1024";
    number(text, expected).and_then(|count| if (1..=1024).contains(&count) { Ok(count) } else { Err(expected.to_string()) })
}

/// `--threads` of `bench`: each number once, in the order given.
pub fn thread_counts(text: &str) -> Result<Counts, String> {
    let expected = |_| "numbers of threads with commas between, as in 1,2,4, each 1 to 1024".to_string();
    let mut counts = text.split(',').map(threads).collect::<Result<Vec<usize>, _>>().map_err(expected)?;
    let mut seen = std::collections::HashSet::new();
    counts.retain(|&count| seen.insert(count));
    Ok(Counts(counts))
}

/// `--port`.
pub fn port(text: &str) -> Result<u16, String> {
    let expected = "a port number, 1 to 65535";
    number(text, expected).and_then(|port| if port > 0 { Ok(port) } else { Err(expected.to_string()) })
}

/// `--row-limit`.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|&seconds| seconds > 0.0);
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(|| "seconds, above 0".to_string())
}

/// `--columns`.
pub fn columns(text: &str) -> Result<Columns, String> {
    text.parse().map_err(|error: ColumnsError| format!("names such as id,x,y,w,h; {error}"))
}

/// `--shape`; clap has checked the name.
pub fn shape(name: &str) -> Shape {
    if name == "ball" { Shape::Ball } else { Shape::Box }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_above_zero() {
        assert!(seconds("0.5").is_ok());
        for bad in ["0", "-1", "nan", "inf", "soon"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
