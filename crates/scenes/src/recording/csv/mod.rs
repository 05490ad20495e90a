//! Boxes as text: one box a line, with or without a header that names the columns.
//!
//! Numbers are read as float64: nothing that the text says is rounded away. Fields are separated by commas, semicolons, tabs or, where
//! there is none of these, by spaces. With semicolons, tabs and spaces a number may have a decimal comma. Without a header, and without
//! columns named by the caller, four columns are `min_x,min_y,max_x,max_y` and six the same in 3D. Blank lines and lines that start with
//! `#` are passed over. A column `frame` cuts the rows into frames.

mod columns;

pub use columns::{Columns, ColumnsError};

use super::FileFault;
use columns::unquoted;

/// What a text holds.
#[derive(Debug)]
pub(super) struct Text {
    pub dim: usize,
    pub frames: usize,
    /// All rows `min..., max...`, one after the other.
    pub values: Vec<f64>,
    /// The line of each row, from 1.
    pub lines: Vec<u32>,
    /// Is there a column that is not read, such as an id?
    pub ignores: bool,
}

fn wrong<T>(line: usize, column: usize, reason: impl Into<String>) -> Result<T, FileFault> {
    Err(FileFault::BadText { line, column, reason: reason.into() })
}

/// What stands between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    Character(char),
    Spaces,
}

impl Separator {
    /// The separator of a line: the first of tab, semicolon and comma that it has, else spaces.
    fn of(line: &str) -> Self {
        let found = ['\t', ';', ','].into_iter().find(|&character| line.contains(character));
        found.map_or(Separator::Spaces, Separator::Character)
    }

    fn split(self, line: &str) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Separator::Character(character) => Box::new(line.split(character)),
            Separator::Spaces => Box::new(line.split_whitespace()),
        }
    }

    /// A number, with a decimal comma if commas do not separate.
    fn number(self, field: &str) -> Option<f64> {
        let field = unquoted(field);
        match field.parse() {
            Ok(number) => Some(number),
            Err(_) if self != Separator::Character(',') && field.contains(',') => field.replace(',', ".").parse().ok(),
            Err(_) => None,
        }
    }
}

/// Reads a text; `named` are the columns, if the caller names them instead of the file.
pub(super) fn parse(bytes: &[u8], named: Option<&Columns>) -> Result<Text, FileFault> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut rows: Option<Rows> = None;
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let text = std::str::from_utf8(line).ok().filter(|text| !text.contains('\0'));
        let Some(text) = text else { return wrong(index + 1, 1, "not text in UTF-8; save it as UTF-8, or as .npy") };
        let text = text.trim_matches([' ', '\r']);
        if text.trim().is_empty() || text.starts_with('#') {
            continue;
        }
        match &mut rows {
            Some(rows) => rows.add(index + 1, text)?,
            None => rows = Some(Rows::start(index + 1, text, named)?),
        }
    }
    match rows {
        Some(rows) => rows.finish(),
        None => wrong(1, 1, "no header and no row; write one box a line, as in min_x,min_y,max_x,max_y"),
    }
}

/// Rows as they come in.
struct Rows {
    columns: Columns,
    separator: Separator,
    row: Vec<f64>,
    text: Text,
    /// The number of the current frame as the file gives it, and the rows in it.
    frame: Option<(f64, usize)>,
    /// Rows in each frame, known after the first.
    per_frame: Option<usize>,
}

impl Rows {
    /// Starts at the first line, which is a header if none of its fields is a number.
    fn start(line: usize, text: &str, named: Option<&Columns>) -> Result<Self, FileFault> {
        let separator = Separator::of(text);
        let mut fields: Vec<&str> = separator.split(text).collect();
        if fields.len() > 1 && fields.last().is_some_and(|field| field.trim().is_empty()) {
            fields.pop(); // a separator at the end of the line
        }
        let is_header = fields.iter().all(|field| separator.number(field).is_none());
        let columns = match named {
            Some(columns) => columns.clone(),
            None if is_header => match Columns::of_names(fields.iter().copied()) {
                Ok(columns) => columns,
                Err(error) => return wrong(line, error.column, error.reason),
            },
            None => match Columns::corners(fields.len()) {
                Some(columns) => columns,
                None => {
                    let reason = format!("{} columns without a header, not 4 or 6; name them, as in id,x,y,w,h", fields.len());
                    return wrong(line, fields.len().min(5), reason);
                }
            },
        };
        if is_header && fields.len() != columns.count() {
            let reason = format!(
                "the file has {} columns, and {} are named; name every one (- for one to leave out)",
                fields.len(),
                columns.count()
            );
            return wrong(line, fields.len().min(columns.count()) + 1, reason);
        }
        let text_of = Text { dim: columns.dim(), frames: 1, values: Vec::new(), lines: Vec::new(), ignores: columns.ignores() };
        let row = vec![0.0; columns.count()];
        let mut rows = Self { columns, separator, row, text: text_of, frame: None, per_frame: None };
        if !is_header {
            rows.add(line, text)?;
        }
        Ok(rows)
    }

    /// Adds the row of a line.
    fn add(&mut self, line: usize, text: &str) -> Result<(), FileFault> {
        let width = self.columns.count();
        let mut found = 0;
        for field in self.separator.split(text) {
            if found == width && field.trim().is_empty() {
                continue; // a separator at the end of the line
            }
            if found == width {
                return wrong(line, found + 1, format!("more than {width} columns; remove the extra ones"));
            }
            if self.columns.is_read(found) {
                let Some(value) = self.separator.number(field) else {
                    let field = shorten(field);
                    return wrong(line, found + 1, format!("`{field}` is not a number; write it as in 1.5 or 2e-3"));
                };
                if value.is_infinite() && field.contains(|c: char| c.is_ascii_digit()) {
                    let field = shorten(field);
                    return wrong(
                        line,
                        found + 1,
                        format!("`{field}` is beyond float64; write inf or -inf for a side without end"),
                    );
                }
                if value < 0.0 && self.columns.is_size(found) {
                    return wrong(line, found + 1, format!("the size {value} is below 0; give 0 or more"));
                }
                self.row[found] = value;
            }
            found += 1;
        }
        if found < width {
            return wrong(line, found + 1, format!("column missing: {found} of {width}; give every value"));
        }
        if let Some(column) = self.columns.frame() {
            self.count_frame(line, column)?;
        }
        self.columns.push_box(&self.row, &mut self.text.values);
        self.text.lines.push(u32::try_from(line).unwrap_or(u32::MAX));
        Ok(())
    }

    /// Counts a row into its frame. Frames have rising numbers and as many rows each.
    fn count_frame(&mut self, line: usize, column: usize) -> Result<(), FileFault> {
        let number = self.row[column];
        match &mut self.frame {
            None => self.frame = Some((number, 1)),
            Some((current, rows)) if *current == number => *rows += 1,
            Some((current, _)) if number > *current => {
                self.end_frame(line, column)?;
                (self.frame, self.text.frames) = (Some((number, 1)), self.text.frames + 1);
            }
            Some((current, _)) => {
                let reason = format!("frame {number} comes after frame {current}; sort the rows by frame");
                return wrong(line, column + 1, reason);
            }
        }
        Ok(())
    }

    /// Errors if the frame that ends before `line` has another number of rows than the first one.
    fn end_frame(&mut self, line: usize, column: usize) -> Result<(), FileFault> {
        let Some((number, rows)) = self.frame else { return Ok(()) };
        let expected = *self.per_frame.get_or_insert(rows);
        if rows != expected {
            let reason =
                format!("frame {number} has {rows} objects, the first has {expected}; every frame needs the same objects");
            return wrong(line, column + 1, reason);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Text, FileFault> {
        if let Some(column) = self.columns.frame() {
            let last = self.text.lines.last().map_or(1, |&line| line as usize);
            self.end_frame(last, column)?;
        }
        Ok(self.text)
    }
}

/// A field as it appears in a one-line message.
fn shorten(field: &str) -> String {
    let clean: String = field.trim().chars().filter(|c| !c.is_control()).take(24).collect();
    if field.trim().chars().count() > 24 { clean + "…" } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        parse(text.as_bytes(), None).unwrap().values
    }

    #[test]
    fn separators_and_decimal_commas_are_seen_from_the_first_line() {
        let expected = [0.5, 0.0, 1.5, 2.0];
        for text in [
            "0.5,0,1.5,2",
            "0.5;0;1.5;2",
            "0,5;0;1,5;2\n",
            "0.5\t0\t1.5\t2",
            "0.5 0   1.5 2",
            "0.5,0,1.5,2,\n",
            "min_x,min_y,max_x,max_y,\r\n0.5,0,1.5,2,\r\n",
            "min_x;min_y;max_x;max_y\n0,5;0;1,5;2",
            "# saved by hand\n\nx y w h\n0.5 0 1 2\n",
        ] {
            assert_eq!(values(text), expected, "{text}");
        }
    }

    #[test]
    fn a_number_that_overflows_is_refused_and_infinity_is_a_word() {
        let refusal = parse(b"0,0,1e400,1\n", None).map(|_| ()).unwrap_err().to_string();
        assert_eq!(refusal, "line 1, column 3: `1e400` is beyond float64; write inf or -inf for a side without end");
        assert_eq!(values("-inf,0,inf,1"), [f64::NEG_INFINITY, 0.0, f64::INFINITY, 1.0]);
        let refusal = parse(b"0,0,1,1\n0,\0,1,1\n", None).map(|_| ()).unwrap_err().to_string();
        assert!(refusal.starts_with("line 2, column 1: not text"), "{refusal}");
    }

    #[test]
    fn frames_are_cut_by_their_column() {
        let text = parse(b"frame,x,y,r\n0,0,0,1\n0,5,5,1\n3,0,1,1\n3,5,6,1\n", None).unwrap();
        assert_eq!((text.frames, text.values.len(), text.lines), (2, 16, vec![2, 3, 4, 5]));
        let refusal = |text: &str| parse(text.as_bytes(), None).map(|_| ()).unwrap_err().to_string();
        assert_eq!(
            refusal("frame,x,y,r\n0,0,0,1\n0,5,5,1\n1,0,1,1\n"),
            "line 4, column 1: frame 1 has 1 objects, the first has 2; every frame needs the same objects"
        );
        assert_eq!(
            refusal("frame,x,y,r\n1,0,0,1\n0,5,5,1\n"),
            "line 3, column 1: frame 0 comes after frame 1; sort the rows by frame"
        );
    }
}
