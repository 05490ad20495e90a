//! The values of options.

use std::str::FromStr;

use broadphase::Shape;
use lexopt::Parser;

use crate::failure::Failure;

/// An error of the splitter, in one line.
pub fn usage(error: lexopt::Error) -> Failure {
    Failure::Usage(format!("{error}; broadphase --help shows what is possible"))
}

/// The next value, as text.
pub fn text(parser: &mut Parser) -> Result<String, Failure> {
    Ok(parser.value().map_err(usage)?.to_string_lossy().into_owned())
}

/// The next value, as a number; `expected` says in words what it takes.
pub fn number<V: FromStr>(parser: &mut Parser, option: &str, expected: &str) -> Result<V, Failure> {
    parse_number(&text(parser)?, option, expected)
}

/// A number; underscores between digits are allowed.
pub fn parse_number<V: FromStr>(text: &str, option: &str, expected: &str) -> Result<V, Failure> {
    let plain = text.replace('_', "");
    plain.parse().map_err(|_| Failure::Usage(format!("{option} cannot be '{text}'; it takes {expected}")))
}

/// `--shape`.
pub fn shape(parser: &mut Parser) -> Result<Shape, Failure> {
    match text(parser)?.as_str() {
        "box" => Ok(Shape::Box),
        "ball" => Ok(Shape::Ball),
        other => Err(Failure::Usage(format!("--shape cannot be '{other}'; it takes box or ball"))),
    }
}

/// The name of a shape in options and results.
pub fn shape_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Box => "box",
        Shape::Ball => "ball",
    }
}

/// `--threads`: at least 1, at most what a pool can sensibly hold.
pub fn threads(parser: &mut Parser) -> Result<usize, Failure> {
    let count: usize = number(parser, "--threads", "a number of threads, 1 to 1024")?;
    match count {
        1..=1024 => Ok(count),
        _ => Err(Failure::Usage(format!("--threads cannot be '{count}'; it takes 1 to 1024"))),
    }
}

/// What a recording can count.
const MAX_FRAMES: usize = u32::MAX as usize;

/// `--frames`: at least 1.
pub fn frames(parser: &mut Parser) -> Result<usize, Failure> {
    match number(parser, "--frames", "a number of frames, 1 or more")? {
        count if (1..=MAX_FRAMES).contains(&count) => Ok(count),
        count => Err(Failure::Usage(format!("--frames cannot be '{count}'; it takes 1 to {MAX_FRAMES}"))),
    }
}
