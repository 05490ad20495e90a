//! Boxes as text: a header that names the columns, then one box a line.
//!
//! Numbers are read as float64: nothing that the text says is rounded away. One file is one frame.

use super::FileFault;

/// The columns of a dimension, in the order of a row.
fn columns(dim: usize) -> Vec<String> {
    ["min", "max"].iter().flat_map(|end| ["x", "y", "z"][..dim].iter().map(move |axis| format!("{end}_{axis}"))).collect()
}

fn wrong<T>(line: usize, column: usize, reason: impl Into<String>) -> Result<T, FileFault> {
    Err(FileFault::BadText { line, column, reason: reason.into() })
}

/// The dimension, and all rows `min..., max...` one after the other. The columns may stand in any order.
pub(super) fn parse(bytes: &[u8]) -> Result<(usize, Vec<f64>), FileFault> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = bytes.split(|&byte| byte == b'\n').enumerate();
    let header = lines.next().map(|(_, line)| line).unwrap_or_default();
    let (dim, places) = header_places(&String::from_utf8_lossy(header))?;
    let width = places.len();
    let mut values = Vec::new();
    for (index, line) in lines {
        let Ok(line_text) = std::str::from_utf8(line) else { return wrong(index + 1, 1, "not text (UTF-8); write it as text") };
        let text = line_text.trim();
        if text.is_empty() {
            continue;
        }
        let start = values.len();
        values.resize(start + width, 0.0);
        let mut fields = 0;
        for field in text.split(',') {
            let Some(&place) = places.get(fields) else {
                return wrong(index + 1, fields + 1, format!("more than {width} columns; remove the extra ones"));
            };
            let Ok(value) = field.trim().parse::<f64>() else {
                return wrong(index + 1, fields + 1, format!("`{}` is not a number; write it as in 1.5 or 2e-3", shorten(field)));
            };
            values[start + place] = value;
            fields += 1;
        }
        if fields < width {
            return wrong(index + 1, fields + 1, format!("column missing: {fields} of {width}; give every value"));
        }
    }
    Ok((dim, values))
}

/// The dimension, and for each column of the file its place in a row.
fn header_places(header: &str) -> Result<(usize, Vec<usize>), FileFault> {
    let found: Vec<&str> = header.trim().split(',').map(str::trim).collect();
    let dim = if found.iter().any(|name| name.ends_with("_z")) { 3 } else { 2 };
    let expected = columns(dim);
    let remedy = format!("the header is {}", expected.join(","));
    let mut places = Vec::new();
    for (index, name) in found.iter().enumerate() {
        match expected.iter().position(|column| column == name) {
            Some(place) if places.contains(&place) => return wrong(1, index + 1, format!("column `{name}` twice; {remedy}")),
            Some(place) => places.push(place),
            None => return wrong(1, index + 1, format!("unknown column `{}`; {remedy}", shorten(name))),
        }
    }
    match (0..expected.len()).find(|place| !places.contains(place)) {
        Some(missing) => wrong(1, found.len() + 1, format!("column `{}` is missing; {remedy}", expected[missing])),
        None => Ok((dim, places)),
    }
}

/// A field as it may stand in a one-line message.
fn shorten(field: &str) -> String {
    let clean: String = field.trim().chars().filter(|c| !c.is_control()).take(24).collect();
    if field.trim().chars().count() > 24 { clean + "…" } else { clean }
}
