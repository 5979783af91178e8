//! Reader M: the inspection that every session below the managed root passes before it is opened for writing, and
//! every fork source (spec 01 §2.8).

use crate::fsys::Fs;
use crate::json::View;
use crate::json::jsonl::{Event, Line, Lines, Strict};
use crate::json::text::Encoding;
use crate::transcript::EntryKind;
use crate::transcript::inspect::EAGER_MAX;
use std::io::{self, Read};
use std::path::Path;

/// Longest line, its LF included.
pub const LONGEST_LINE: u64 = 8_388_608;

/// Why the bytes are `malformed`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Malformed {
    /// This line has more than [`LONGEST_LINE`] bytes.
    #[error("line {0} is longer than 8 MiB")]
    LineTooLong(u64),
    /// This line is no UTF-8.
    #[error("line {0} is not UTF-8")]
    Utf8(u64),
    /// This line (a lone CR included) is not accepted by `JSON.parse`.
    #[error("line {0} is no JSON by itself")]
    Syntax(u64),
    /// The first line with content is no header with a string `id`.
    #[error("the first line with content is no header")]
    Header,
}

/// Judges a file line by line. Feed it every line of [`Lines`] in order.
#[derive(Default, Debug)]
pub struct Managed {
    header_seen: bool,
    malformed: Option<Malformed>,
    header_cwd: Option<Vec<u8>>,
}

impl Managed {
    /// Takes the next line.
    pub fn line(&mut self, line: &Line<'_>) {
        if self.malformed.is_none() {
            self.malformed = self.judge(line).err();
        }
    }

    fn judge(&mut self, line: &Line<'_>) -> Result<(), Malformed> {
        let mark = line.mark();
        if (line.raw.len() + mark) as u64 + u64::from(line.has_lf) > LONGEST_LINE {
            return Err(Malformed::LineTooLong(line.number));
        }
        // Only a line that is exactly one LF is skipped: neither behind a mark nor with a CR.
        if line.raw.is_empty() && mark == 0 {
            return Ok(());
        }
        if line.invalid_utf8.is_some() {
            return Err(Malformed::Utf8(line.number));
        }
        let header = |value: Option<bool>| if value == Some(true) { Ok(()) } else { Err(Malformed::Header) };
        match line.strict {
            Strict::Value if self.header_seen => Ok(()),
            Strict::Value => {
                self.header_seen = true;
                self.header_cwd = line.value.and_then(|value| value.str_member("cwd")).map(|cwd| cwd.into_owned());
                header(line.value.map(is_header))
            }
            Strict::Empty => Err(Malformed::Syntax(line.number)),
            // Each line is decoded by itself, and that drops one mark at its start.
            Strict::Refused { .. } => match line.value_behind_mark() {
                Some(_) if self.header_seen => Ok(()),
                Some(value) => {
                    self.header_seen = true;
                    self.header_cwd = value.str_member("cwd").map(|cwd| cwd.into_owned());
                    header(Some(is_header(&value)))
                }
                None => Err(Malformed::Syntax(line.number)),
            },
        }
    }

    /// True when the first line with content is a header with a string `id`.
    pub fn has_header(&self) -> bool {
        self.header_seen && self.malformed != Some(Malformed::Header)
    }

    /// The header's `cwd` as it stands in the file, before any patch (WTF-8); none when it is absent or no string.
    pub fn header_cwd(&self) -> Option<&[u8]> {
        self.header_cwd.as_deref()
    }

    /// The verdict on the bytes, after the last line; `encoding` is that of the file.
    ///
    /// # Errors
    /// Why gjc says `malformed`.
    pub fn finish(&self, encoding: Encoding) -> Result<(), Malformed> {
        match self.malformed {
            _ if encoding == Encoding::Utf16Le => Err(Malformed::Utf8(1)),
            Some(malformed) => Err(malformed),
            None if !self.header_seen => Err(Malformed::Header),
            None => Ok(()),
        }
    }
}

fn is_header<'v, V: View<'v>>(value: V) -> bool {
    EntryKind::of(value).is_header() && value.str_member("id").is_some()
}

/// What the inspection says of a whole file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inspected {
    /// The verdict on the bytes.
    pub verdict: Result<(), Malformed>,
    /// The unpatched `cwd` of the header (WTF-8).
    pub header_cwd: Option<Vec<u8>>,
}

/// Reads a whole file.
///
/// # Errors
/// The input cannot be read.
pub fn inspect(input: impl Read) -> io::Result<Inspected> {
    let mut lines = Lines::new(input);
    let mut managed = Managed::default();
    while let Some(event) = lines.next()? {
        if let Event::Line(line) = event {
            managed.line(&line);
        }
    }
    Ok(Inspected { verdict: managed.finish(lines.encoding()), header_cwd: managed.header_cwd })
}

/// The verdict on a file below the sessions root; none when it cannot be read to its end, or is above 128 MiB: there the bounded
/// open alone decides, and nothing says that this reader is asked first.
pub fn file(fs: &dyn Fs, path: &Path) -> Option<Result<(), Malformed>> {
    let mut file = fs.open(path).ok()?;
    let inspected = if file.stat().ok()?.size > EAGER_MAX { None } else { inspect(&mut file).ok() };
    // A file that cannot be closed was not read.
    file.close().ok()?;
    inspected.map(|inspected| inspected.verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"type":"session","id":"s","cwd":"/w"}"#;

    fn verdict(text: &[u8]) -> Result<(), Malformed> {
        inspect(text).unwrap().verdict
    }
    fn after_header(rest: &[u8]) -> Result<(), Malformed> {
        verdict(&[HEADER.as_bytes(), b"\n", rest].concat())
    }

    #[test]
    fn empty_lines_are_skipped_and_the_last_line_needs_no_lf() {
        assert_eq!(verdict(format!("\n\n{HEADER}\n\n7\r\n{{}}").as_bytes()), Ok(()));
    }

    #[test]
    fn a_line_of_one_cr_is_not_empty() {
        assert_eq!(after_header(b"\r\n7\n"), Err(Malformed::Syntax(2)));
        assert_eq!(after_header(b" \n"), Err(Malformed::Syntax(2)));
    }

    #[test]
    fn every_line_is_utf8_and_json() {
        assert_eq!(after_header(b"\"\xFF\"\n"), Err(Malformed::Utf8(2)));
        assert_eq!(after_header(b"{} {}\n"), Err(Malformed::Syntax(2)));
        assert_eq!(verdict(b"\xFF\xFE{\x00}\x00"), Err(Malformed::Utf8(1)));
    }

    #[test]
    fn the_first_line_with_content_is_the_header() {
        assert_eq!(verdict(b""), Err(Malformed::Header));
        assert_eq!(verdict(b"{\"type\":\"header_patch\",\"patch\":{}}\n"), Err(Malformed::Header));
        assert_eq!(verdict(b"{\"type\":\"session\",\"id\":7}\n"), Err(Malformed::Header));
    }

    #[test]
    fn a_mark_is_dropped_from_any_line_but_makes_no_line_empty() {
        assert_eq!(verdict(format!("\u{feff}{HEADER}\n\u{feff}7\n").as_bytes()), Ok(()));
        assert_eq!(verdict(format!("\u{feff}\n{HEADER}\n").as_bytes()), Err(Malformed::Syntax(1)));
        assert_eq!(verdict(format!("\u{feff}\u{feff}{HEADER}\n").as_bytes()), Err(Malformed::Syntax(1)), "one mark, not two");
    }

    #[test]
    fn a_line_has_at_most_8_mib_with_its_lf() {
        let line = |bytes: usize, end: &str| format!("\"{}\"{end}", "x".repeat(bytes - 2 - end.len()));
        assert_eq!(after_header(line(8_388_608, "\n").as_bytes()), Ok(()));
        assert_eq!(after_header(line(8_388_608, "").as_bytes()), Ok(()));
        assert_eq!(after_header(line(8_388_609, "\n").as_bytes()), Err(Malformed::LineTooLong(2)));
    }

    #[test]
    fn the_cwd_is_that_of_the_unpatched_header() {
        let text = format!("{HEADER}\n{{\"type\":\"header_patch\",\"patch\":{{\"cwd\":\"/x\"}}}}\n");
        assert_eq!(inspect(text.as_bytes()).unwrap().header_cwd.as_deref(), Some(&b"/w"[..]));
    }
}
