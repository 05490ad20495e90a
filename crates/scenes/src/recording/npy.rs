//! The head of a NumPy file: a magic string, a version, and a Python dictionary with type, order and shape.
//!
//! Versions 1.0 (u16 length), 2.0 and 3.0 (u32 length; 3.0 allows UTF-8) are read, 1.0 is written. The dictionary is parsed strictly:
//! the three keys in any order, each once, nothing else.

use super::{FileFault, Layout, Scalar};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads the head of a file of boxes.
pub(super) fn layout(bytes: &[u8]) -> Result<Layout, FileFault> {
    let (head, start) = head(bytes)?;
    let scalar = match head.descr.as_str() {
        "<f4" => Scalar::F32,
        "<f8" => Scalar::F64,
        ">f4" | ">f8" => return Err(FileFault::ByteOrder { found: head.descr }),
        _ => return Err(FileFault::WrongType { found: head.descr }),
    };
    let (frames, n, columns) = match head.shape[..] {
        [n, columns @ (4 | 6)] => (1, n, columns),
        [frames, n, columns @ (4 | 6)] => (frames, n, columns),
        _ => return Err(FileFault::WrongShape { shape: shape_text(&head.shape) }),
    };
    if head.fortran {
        return Err(FileFault::FortranOrder);
    }
    Ok(Layout { dim: columns / 2, scalar, n, frames, start, stride: columns * scalar.bytes() })
}

/// The head of a C-ordered array, padded so that data starts at a multiple of 64.
pub(super) fn head_bytes(descr: &str, shape: &[usize]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {}, }}", shape_text(shape));
    let length = (MAGIC.len() + 4 + text.len() + 1).next_multiple_of(64);
    let mut bytes = [MAGIC, &[1, 0], &((length - MAGIC.len() - 4) as u16).to_le_bytes(), text.as_bytes()].concat();
    bytes.resize(length - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// A shape as Python writes it.
fn shape_text(shape: &[usize]) -> String {
    let numbers: Vec<String> = shape.iter().map(usize::to_string).collect();
    match numbers.len() {
        1 => format!("({},)", numbers[0]),
        _ => format!("({})", numbers.join(", ")),
    }
}

/// The dictionary.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

fn wrong<T>(byte: usize, reason: impl Into<String>) -> Result<T, FileFault> {
    Err(FileFault::BadHeader { byte, reason: reason.into() })
}

/// The dictionary and the byte at which data starts.
fn head(bytes: &[u8]) -> Result<(Head, usize), FileFault> {
    if !bytes.starts_with(MAGIC) {
        return wrong(0, "not a NumPy file: it does not start with \\x93NUMPY; write it with numpy.save");
    }
    let (text_at, length): (usize, usize) = match bytes.get(6..) {
        Some([1, _, a, b, ..]) => (10, usize::from(u16::from_le_bytes([*a, *b]))),
        Some([2 | 3, _, a, b, c, d, ..]) => (12, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
        Some([1..=3, ..]) | Some([]) | None => return wrong(bytes.len(), "the file ends inside its header; write it again"),
        Some([version, ..]) => return wrong(6, format!("NumPy format version {version} is not known; write version 1, 2 or 3")),
    };
    let Some(text) = bytes.get(text_at..text_at.saturating_add(length)) else {
        return wrong(bytes.len(), format!("the file ends inside its header of {length} bytes; write it again"));
    };
    let head = Parser { text, at: 0, start: text_at }.dictionary()?;
    Ok((head, text_at + length))
}

/// Reads the small part of Python's syntax that NumPy writes.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    /// Where the text lies in the file, for messages.
    start: usize,
}

impl Parser<'_> {
    fn fail<T>(&self, reason: &str) -> Result<T, FileFault> {
        wrong(self.start + self.at, format!("bad NumPy header: {reason}; write the file with numpy.save"))
    }

    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Takes `token` if it comes next, after spaces.
    fn take(&mut self, token: &[u8]) -> bool {
        self.space();
        let found = self.text[self.at..].starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn dictionary(mut self) -> Result<Head, FileFault> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        if !self.take(b"{") {
            return self.fail("`{` expected");
        }
        while !self.take(b"}") {
            let Some(key) = self.string() else { return self.fail("a key in quotes expected") };
            if !self.take(b":") {
                return self.fail("`:` expected");
            }
            let first = match key.as_str() {
                "descr" => descr.replace(self.descr()?).is_none(),
                "fortran_order" => fortran.replace(self.truth()?).is_none(),
                "shape" => shape.replace(self.shape()?).is_none(),
                _ => return self.fail("only `descr`, `fortran_order` and `shape` are known"),
            };
            if !first {
                return self.fail("a key is given twice");
            }
            if !self.take(b",") && !self.take(b"}") {
                return self.fail("`,` or `}` expected");
            } else if self.text[self.at - 1] == b'}' {
                break;
            }
        }
        match (descr, fortran, shape) {
            (Some(descr), Some(fortran), Some(shape)) => Ok(Head { descr, fortran, shape }),
            _ => self.fail("`descr`, `fortran_order` or `shape` is missing"),
        }
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<String> {
        self.space();
        let quote = *self.text.get(self.at).filter(|quote| matches!(quote, b'\'' | b'"'))?;
        let rest = &self.text[self.at + 1..];
        let length = rest.iter().position(|&byte| byte == quote)?;
        self.at += length + 2;
        Some(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    /// The type: a string. A list stands for a record type, which is never a box.
    fn descr(&mut self) -> Result<String, FileFault> {
        if self.take(b"[") {
            return Err(FileFault::WrongType { found: "record".to_string() });
        }
        match self.string() {
            Some(text) => Ok(text),
            None => self.fail("a type in quotes expected"),
        }
    }

    fn truth(&mut self) -> Result<bool, FileFault> {
        if self.take(b"True") {
            return Ok(true);
        }
        if self.take(b"False") { Ok(false) } else { self.fail("True or False expected") }
    }

    fn shape(&mut self) -> Result<Vec<usize>, FileFault> {
        if !self.take(b"(") {
            return self.fail("`(` expected");
        }
        let mut shape = Vec::new();
        while !self.take(b")") {
            self.space();
            let digits = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = std::str::from_utf8(&self.text[self.at..self.at + digits]).unwrap_or_default();
            let Ok(number) = number.parse() else { return self.fail("a number of rows below 2^64 expected") };
            shape.push(number);
            self.at += digits;
            if !self.take(b",") && !self.text[self.at..].starts_with(b")") {
                return self.fail("`,` or `)` expected");
            }
        }
        Ok(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Head, FileFault> {
        Parser { text: text.as_bytes(), at: 0, start: 10 }.dictionary()
    }

    #[test]
    fn what_is_written_is_read() {
        for shape in [vec![7], vec![3, 6], vec![8500, 20000, 6]] {
            let bytes = head_bytes("<f4", &shape);
            assert_eq!(bytes.len() % 64, 0);
            assert_eq!(head(&bytes).unwrap(), (Head { descr: "<f4".into(), fortran: false, shape }, bytes.len()));
        }
    }

    #[test]
    fn python_spelling_is_free() {
        let expected = Head { descr: "<f8".into(), fortran: false, shape: vec![2, 4] };
        for text in [
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 4), }",
            "{\"shape\":(2,4,),\"descr\":\"<f8\",\"fortran_order\":False}   \n",
            " { 'fortran_order' : False , 'shape' : ( 2 , 4 ) , 'descr' : '<f8' } ",
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn broken_dictionaries_are_refused_at_their_place() {
        for text in [
            "",
            "{",
            "{'descr'",
            "{'descr': }",
            "{'descr': '<f4', 'shape': (1, 4)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1, -4)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 4)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1 4)}",
            "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1, 4)}",
            "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 4)}",
            "{'descr': '<f4', 'color': 3}",
        ] {
            assert!(matches!(parse(text), Err(FileFault::BadHeader { byte, .. }) if byte >= 10), "{text}");
        }
        assert!(matches!(parse("{'descr': [('x', '<f4')]}"), Err(FileFault::WrongType { .. })));
    }
}
