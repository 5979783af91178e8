//! How the bytes of two files stand to each other: one may be the beginning of the other, as an old copy of an append-only
//! transcript is.

use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, BufRead, BufReader, Read};

/// How two files stand to each other.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The same bytes.
    Identical,
    /// The first is the beginning of the second.
    AIsPrefix,
    /// The second is the beginning of the first.
    BIsPrefix,
    /// They part somewhere.
    Diverge,
}

/// How the bytes of two files stand to each other.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Copies {
    /// In one word.
    pub relation: Relation,
    /// Bytes that both begin with.
    pub common_bytes: u64,
    /// Whole lines among them.
    pub common_lines: u64,
    /// Line of the first byte that differs, or with which the longer one goes on; from 1.
    pub line: u64,
    /// Byte column of it, from 1.
    pub column: u64,
    /// Bytes of the first file behind the common ones.
    pub more_a: u64,
    /// Bytes of the second file behind the common ones.
    pub more_b: u64,
}

/// Compares two files byte by byte, to the end of both.
///
/// # Errors
/// What the inputs answer.
pub fn copies(a: impl Read, b: impl Read) -> io::Result<Copies> {
    let (mut a, mut b) = (BufReader::with_capacity(1 << 16, a), BufReader::with_capacity(1 << 16, b));
    let (mut common, mut lines, mut line_start) = (0_u64, 0_u64, 0_u64);
    loop {
        let (left, right) = (a.fill_buf()?, b.fill_buf()?);
        let offered = left.len().min(right.len());
        let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
        for at in memchr::memchr_iter(b'\n', left.get(..same).unwrap_or_default()) {
            lines += 1;
            line_start = common + at as u64 + 1;
        }
        common += same as u64;
        a.consume(same);
        b.consume(same);
        if offered == 0 || same < offered {
            break;
        }
    }
    let (more_a, more_b) = (rest(a)?, rest(b)?);
    let relation = match (more_a, more_b) {
        (0, 0) => Relation::Identical,
        (0, _) => Relation::AIsPrefix,
        (_, 0) => Relation::BIsPrefix,
        _ => Relation::Diverge,
    };
    Ok(Copies { relation, common_bytes: common, common_lines: lines, line: lines + 1, column: common - line_start + 1, more_a, more_b })
}

/// Bytes that are left.
fn rest(mut input: impl Read) -> io::Result<u64> {
    io::copy(&mut input, &mut io::sink())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: &str, b: &str) -> (Relation, u64, u64, u64) {
        let copies = copies(a.as_bytes(), b.as_bytes()).unwrap();
        (copies.relation, copies.common_bytes, copies.line, copies.column)
    }

    #[test]
    fn the_first_divergence_is_named_by_line_and_column() {
        assert_eq!(of("a\nbc\n", "a\nbc\n"), (Relation::Identical, 5, 3, 1));
        assert_eq!(of("a\nbc\n", "a\nbc\nd\n"), (Relation::AIsPrefix, 5, 3, 1));
        assert_eq!(of("a\nbc\nd", "a\nb"), (Relation::BIsPrefix, 3, 2, 2));
        assert_eq!(of("a\nbX\n", "a\nbY\n"), (Relation::Diverge, 3, 2, 2));
        assert_eq!(of("", "a"), (Relation::AIsPrefix, 0, 1, 1));
    }

    #[test]
    fn pieces_of_any_size_are_compared_as_one() {
        let long = "x".repeat(200_000);
        let copies =
            copies((long.as_bytes()).chain(&b"A"[..]), (&long.as_bytes()[..1]).chain(&long.as_bytes()[1..]).chain(&b"B"[..])).unwrap();
        assert_eq!((copies.relation, copies.common_bytes, copies.more_a), (Relation::Diverge, 200_000, 1));
    }
}
