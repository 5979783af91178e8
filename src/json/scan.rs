//! The scanner: one strict JSON value (ECMA-404) into a [`Tape`], in one pass, without recursion.
//!
//! `JSON.parse` and gjc's lenient JSONL reader accept the same values; they differ in what they do with a text that
//! holds no complete value. For that the scanner reports how far its *lexer* had come when the grammar was violated
//! (the paragraph on the lenient parser in `tests/vectors/README.md`).

use super::tape::{Slot, Tape, flag};
use super::view::Kind;
use crate::steps;

/// What became of one scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A complete value; `end` is the first byte behind it.
    Complete {
        /// First byte behind the value.
        end: usize,
    },
    /// No complete value; the lexer had consumed everything before `at` when the grammar failed.
    Failed {
        /// Position of the lexer at that moment.
        at: usize,
    },
}

/// Texts longer than this are not scanned (spans are 32-bit); far above every cap of gjc.
pub const MAX_TEXT: usize = u32::MAX as usize;

/// More levels of containers than this are told ([`View::is_deep`](super::View::is_deep)): gjc's recursive functions overflow
/// their stack there. UNVERIFIED: where exactly; 5,000 levels do not (vectors).
pub const DEEP: usize = 100_000;

/// JSON white space: space, TAB, CR, LF and nothing else.
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// First position at or behind `at` that is no JSON white space.
pub fn skip_space(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && is_space(text[at]) {
        at += 1;
    }
    at
}

/// Scans the value that begins at `from` (white space before it is skipped).
///
/// The text must be UTF-8 (or WTF-8); bytes at or above 0x80 are only looked at inside strings. Any depth is accepted.
pub fn scan(text: &[u8], from: usize, tape: &mut Tape) -> Outcome {
    let outcome = value(text, from, tape);
    let (Outcome::Complete { end: at } | Outcome::Failed { at }) = outcome;
    steps::take(at - from);
    outcome
}

/// The same, uncounted.
fn value(text: &[u8], from: usize, tape: &mut Tape) -> Outcome {
    tape.slots.clear();
    tape.open.clear();
    tape.flags = 0;
    tape.deep = false;
    if text.len() > MAX_TEXT {
        return Outcome::Failed { at: from };
    }
    let mut at = from;
    loop {
        // A value must begin here.
        at = skip_space(text, at);
        let Some(&byte) = text.get(at) else {
            return Outcome::Failed { at };
        };
        match byte {
            b'"' => match string_end(text, at) {
                Ok(string) => {
                    push_string(tape, at, string, 0);
                    at = string.end;
                }
                Err(at) => return Outcome::Failed { at },
            },
            b'{' => {
                open(tape);
                push(tape, at, at + 1, Kind::Object, 0);
                at = skip_space(text, at + 1);
                if text.get(at) == Some(&b'}') {
                    close(text, tape, at + 1);
                    at += 1;
                } else {
                    match key(text, at, tape) {
                        Ok(next) => at = next,
                        Err(at) => return Outcome::Failed { at },
                    }
                    continue;
                }
            }
            b'[' => {
                open(tape);
                push(tape, at, at + 1, Kind::Array, 0);
                at = skip_space(text, at + 1);
                if text.get(at) == Some(&b']') {
                    close(text, tape, at + 1);
                    at += 1;
                } else {
                    continue;
                }
            }
            b'-' | b'0'..=b'9' => match number_end(text, at) {
                Ok((end, flags)) => {
                    push(tape, at, end, Kind::Number, flags);
                    at = end;
                }
                Err(at) => return Outcome::Failed { at },
            },
            b't' if text[at..].starts_with(b"true") => {
                push(tape, at, at + 4, Kind::Bool, flag::TRUE);
                at += 4;
            }
            b'f' if text[at..].starts_with(b"false") => {
                push(tape, at, at + 5, Kind::Bool, 0);
                at += 5;
            }
            b'n' if text[at..].starts_with(b"null") => {
                push(tape, at, at + 4, Kind::Null, 0);
                at += 4;
            }
            _ => {
                return Outcome::Failed { at: token_end(text, at) };
            }
        }
        // A value ended here: close what can be closed, then find the next place for a value.
        loop {
            let Some(&container) = tape.open.last() else {
                return Outcome::Complete { end: at };
            };
            at = skip_space(text, at);
            let object = tape.slots[container as usize].kind == Kind::Object;
            match text.get(at) {
                Some(b',') if object => match key(text, skip_space(text, at + 1), tape) {
                    Ok(next) => {
                        at = next;
                        break;
                    }
                    Err(at) => return Outcome::Failed { at },
                },
                Some(b',') => {
                    at += 1;
                    break;
                }
                Some(b'}') if object => close(text, tape, at + 1),
                Some(b']') if !object => close(text, tape, at + 1),
                Some(_) => {
                    return Outcome::Failed { at: token_end(text, at) };
                }
                None => return Outcome::Failed { at },
            }
            at += 1;
        }
    }
}

/// Opens a container, which is pushed next.
fn open(tape: &mut Tape) {
    tape.open.push(tape.slots.len() as u32);
    tape.deep |= tape.open.len() > DEEP;
}

fn push(tape: &mut Tape, start: usize, end: usize, kind: Kind, flags: u8) {
    let next = tape.slots.len() as u32 + 1;
    tape.flags |= flags;
    tape.slots.push(Slot { start: start as u32, end: end as u32, next, kind, flags, excess: 0 });
}

/// A string or key; `more` are flags beside its own.
fn push_string(tape: &mut Tape, start: usize, string: Str, more: u8) {
    let next = tape.slots.len() as u32 + 1;
    let flags = string.flags | more;
    tape.flags |= flags;
    tape.slots.push(Slot { start: start as u32, end: string.end as u32, next, kind: Kind::String, flags, excess: string.excess });
}

/// Reads `"key" :` at `at`; the answer is the first byte behind the colon.
fn key(text: &[u8], at: usize, tape: &mut Tape) -> Result<usize, usize> {
    if text.get(at) != Some(&b'"') {
        return Err(if at < text.len() { token_end(text, at) } else { at });
    }
    let string = string_end(text, at)?;
    push_string(tape, at, string, flag::KEY);
    let colon = skip_space(text, string.end);
    match text.get(colon) {
        Some(b':') => Ok(colon + 1),
        Some(_) => Err(token_end(text, colon)),
        None => Err(colon),
    }
}

/// Closes the innermost container, whose text ends before `end`.
fn close(text: &[u8], tape: &mut Tape, end: usize) {
    let Some(container) = tape.open.pop() else {
        return;
    };
    let next = tape.slots.len() as u32;
    let flags = if tape.slots[container as usize].kind == Kind::Object { object_flags(text, tape, container) } else { 0 };
    tape.flags |= flags;
    let slot = &mut tape.slots[container as usize];
    slot.end = end as u32;
    slot.next = next;
    slot.flags = flags;
}

/// Looks through the keys of the object that is being closed: repeated ones, array indices.
fn object_flags(text: &[u8], tape: &Tape, object: u32) -> u8 {
    let end = tape.slots.len();
    let mut flags = 0;
    let mut at = object as usize + 1;
    let mut keys = 0usize;
    let mut escaped = false;
    // One bit for each length and first byte that was seen: most objects are proved free of duplicates by it.
    let mut seen = 0u128;
    let mut suspicious = false;
    while at < end {
        let key = tape.slots[at];
        let raw = &text[key.start as usize + 1..key.end as usize - 1];
        escaped |= key.flags & flag::ESCAPED != 0;
        let first = raw.first().copied().unwrap_or(0);
        if first.is_ascii_digit() && super::value::array_index(raw).is_some() {
            flags |= flag::INDEX_KEY;
        }
        let last = raw.last().copied().unwrap_or(0);
        let bit = (raw.len() as u32).wrapping_mul(41) ^ u32::from(first).wrapping_mul(7) ^ u32::from(last).wrapping_mul(19);
        let bit = 1u128 << (bit & 127);
        suspicious |= seen & bit != 0;
        seen |= bit;
        keys += 1;
        steps::take(1);
        at = tape.slots[at + 1].next as usize;
    }
    if escaped {
        // An escape may hide a digit or a twin: decide by the decoded keys.
        let decoded: Vec<Vec<u8>> =
            written_keys(tape, object).map(|s| super::text::unescape(&text[s.start as usize + 1..s.end as usize - 1])).collect();
        if decoded.iter().any(|k| super::value::array_index(k).is_some()) {
            flags |= flag::INDEX_KEY;
        }
        let distinct: std::collections::HashSet<&[u8]> = decoded.iter().map(Vec::as_slice).collect();
        return if distinct.len() < keys { flags | flag::DUPLICATE_KEY } else { flags };
    }
    if suspicious {
        let raw = |s: Slot| &text[s.start as usize..s.end as usize];
        let repeated = if keys <= 16 {
            let list: Vec<Slot> = written_keys(tape, object).collect();
            list.iter().enumerate().any(|(i, a)| list[..i].iter().any(|b| raw(*a) == raw(*b)))
        } else {
            written_keys(tape, object).map(raw).collect::<std::collections::HashSet<_>>().len() < keys
        };
        if repeated {
            flags |= flag::DUPLICATE_KEY;
        }
    }
    flags
}

fn written_keys(tape: &Tape, object: u32) -> impl Iterator<Item = Slot> + '_ {
    let mut at = object as usize + 1;
    std::iter::from_fn(move || {
        let key = *tape.slots.get(at)?;
        at = tape.slots.get(at + 1)?.next as usize;
        Some(key)
    })
}

/// A string token.
#[derive(Clone, Copy)]
struct Str {
    /// First byte behind the closing quote.
    end: usize,
    flags: u8,
    excess: u16,
}

/// The string token that begins with the quote at `at`; or where the lexer stood when it failed.
fn string_end(text: &[u8], at: usize) -> Result<Str, usize> {
    let mut flags = 0;
    let mut excess = 0u16;
    let mut specials = Specials::default();
    let mut i = first_special(text, at + 1, &mut specials);
    loop {
        match text.get(i) {
            Some(b'"') => return Ok(Str { end: i + 1, flags, excess }),
            Some(b'\\') => {
                flags |= flag::ESCAPED;
                match text.get(i + 1) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                        excess = excess.saturating_add(1);
                        i = specials.next(text, i + 2);
                    }
                    Some(b'u') => {
                        let digits = text[i + 2..].iter().take(4).take_while(|b| b.is_ascii_hexdigit()).count();
                        if digits < 4 {
                            return Err(cut_escape(text, i));
                        }
                        flags |= flag::UNICODE_ESCAPE;
                        if matches!(text[i + 2..], [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]) {
                            flags |= flag::SURROGATE_ESCAPE;
                        }
                        excess = excess.saturating_add(5);
                        i = specials.next(text, i + 6);
                    }
                    Some(_) => return Err(i + 1),
                    None => return Err(i + 1),
                }
            }
            Some(_) => return Err(i),
            None => return Err(i),
        }
    }
}

/// A `\u` with fewer than four hex digits fails where it stands, also when the text ends there.
fn cut_escape(_text: &[u8], backslash: usize) -> usize {
    backslash + 1
}

/// True for the bytes that end a run inside a string: quote, backslash, control characters.
const fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// Position of the first special byte at or behind `from`; the end when there is none. Most strings are short: sixteen
/// bytes are looked at before blocks are.
fn first_special(text: &[u8], from: usize, specials: &mut Specials) -> usize {
    let Some((low, high)) = text.get(from..from + 16).and_then(two_words) else { return specials.next(text, from) };
    let (low, high) = (special(low), special(high));
    if low != 0 {
        from + (low.trailing_zeros() / 8) as usize
    } else if high != 0 {
        from + 8 + (high.trailing_zeros() / 8) as usize
    } else {
        specials.next(text, from + 16)
    }
}

fn two_words(bytes: &[u8]) -> Option<(u64, u64)> {
    let (low, high) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*low), u64::from_le_bytes(*high.first_chunk::<8>()?)))
}

/// The high bit of every special byte; above the first one also of others.
const fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let quote = (word ^ (ONES * 0x22)).wrapping_sub(ONES);
    let slash = (word ^ (ONES * 0x5C)).wrapping_sub(ONES);
    let control = word.wrapping_sub(ONES * 0x20);
    // A byte of 0x80 and above is none of them, whatever the subtraction says.
    (quote | slash | control) & !word & HIGH
}

/// The special bytes of one block of 64: a text full of escapes is looked at once, not once for each escape.
#[derive(Clone, Copy, Default)]
struct Specials {
    /// First byte of the block.
    base: usize,
    /// One bit for each special byte of the block.
    mask: u64,
    /// First byte behind the block; 0 before the first one.
    end: usize,
}

impl Specials {
    /// Position of the first special byte at or behind `from`; the end of the text when there is none.
    fn next(&mut self, text: &[u8], mut from: usize) -> usize {
        loop {
            if from < self.end {
                let mask = self.mask & (u64::MAX << (from - self.base));
                if mask != 0 {
                    return self.base + mask.trailing_zeros() as usize;
                }
                from = self.end;
            }
            let Some(block) = text.get(from..).and_then(|rest| rest.first_chunk::<64>()) else {
                return from + text.get(from..).unwrap_or_default().iter().take_while(|byte| !is_special(**byte)).count();
            };
            *self = Specials { base: from, mask: mask(block), end: from + 64 };
        }
    }
}

/// One bit for each special byte of a block, the first byte lowest.
fn mask(block: &[u8; 64]) -> u64 {
    let mut hits = [0u8; 64];
    for (hit, byte) in hits.iter_mut().zip(block) {
        *hit = u8::from((*byte == b'"') | (*byte == b'\\') | (*byte < 0x20));
    }
    let mut mask = 0;
    for (at, hits) in hits.as_chunks::<8>().0.iter().enumerate() {
        // Eight bytes of 0 or 1 become eight bits: each product lands in the top byte at its own place.
        let bits = u64::from_le_bytes(*hits).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * at);
    }
    mask
}

/// End of the number token at `at`, and its flags. An exponent without digits is not part of it.
fn number_end(text: &[u8], at: usize) -> Result<(usize, u8), usize> {
    let digits = |mut i: usize| {
        while text.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        i
    };
    let mut i = at + usize::from(text[at] == b'-');
    i = match text.get(i) {
        Some(b'0') => i + 1,
        Some(b'1'..=b'9') => digits(i),
        _ => return Err(i),
    };
    if text.get(i) == Some(&b'.') {
        let end = digits(i + 1);
        if end == i + 1 {
            return Err(end);
        }
        i = end;
    }
    if matches!(text.get(i), Some(b'e' | b'E')) {
        let sign = i + 1 + usize::from(matches!(text.get(i + 1), Some(b'+' | b'-')));
        let end = digits(sign);
        if end > sign {
            return Ok((end, flag::LONG_NUMBER));
        }
    }
    Ok((i, if i - at > 15 { flag::LONG_NUMBER } else { 0 }))
}

/// End of whatever token stands at `at`, for a token that the grammar does not allow there.
fn token_end(text: &[u8], at: usize) -> usize {
    match text[at] {
        b'"' => string_end(text, at).map_or_else(|at| at, |string| string.end),
        b'-' | b'0'..=b'9' => number_end(text, at).map_or_else(|at| at, |(end, _)| end),
        b'[' | b']' | b'{' | b'}' | b':' | b',' | b'(' | b')' | b';' | b'=' | b'.' => at + 1,
        b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'$' => {
            for word in [&b"true"[..], b"false", b"null"] {
                if text[at..].starts_with(word) {
                    return at + word.len();
                }
            }
            let word = text[at..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_' || **b == b'$').count();
            at + word
        }
        _ => at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::View;

    fn outcome(text: &str) -> Outcome {
        scan(text.as_bytes(), 0, &mut Tape::default())
    }

    #[test]
    fn what_json_does_not_allow_fails() {
        for text in [
            "01x",
            "+1",
            ".5",
            "5.",
            "0x10{",
            "NaN",
            "Infinity",
            "{'a':1}",
            "{a:1}",
            "[1,]",
            "{\"a\":1,}",
            "{//c\n}",
            "\"\\x41\"",
            "\"\\'\"",
            "{\"a\":\"\\u00g1\"}",
            "\"\t\"",
            "\u{FEFF}1",
            "[1e]",
            "{\"a\":12e+}",
            "tru",
            "nul",
            "-",
            "\"\\u12",
            "{\"a\"}",
            "{\"a\":}",
            "[,1]",
            "]",
            "}",
        ] {
            let complete = matches!(outcome(text), Outcome::Complete { end } if end == text.len());
            assert!(!complete, "{text}");
        }
    }

    #[test]
    fn a_number_ends_before_an_exponent_without_digits() {
        assert_eq!(outcome("1e"), Outcome::Complete { end: 1 });
        assert_eq!(outcome("12e+"), Outcome::Complete { end: 2 });
        assert_eq!(outcome("12e+1"), Outcome::Complete { end: 5 });
    }

    #[test]
    fn a_mask_has_a_bit_for_each_special_byte() {
        for at in 0..64 {
            for byte in [b'"', b'\\', 0, 0x1F] {
                let mut block = [b'x'; 64];
                block[at] = byte;
                block[63 - at] = 0xFF;
                block[at] = byte;
                assert_eq!(mask(&block), 1 << at, "{at} {byte}");
            }
        }
        assert_eq!(mask(&[b'"'; 64]), u64::MAX);
        assert_eq!(mask(&[0x20; 64]), 0);
        assert_eq!(mask(&[0x80; 64]), 0);
    }

    #[test]
    fn escapes_are_found_wherever_blocks_end() {
        for length in 0..200 {
            for escape in ["\\\\", "\\\"", "\\u00e9", "\\n"] {
                let text = format!("\"{}{escape}{}{escape}\"", "x".repeat(length), "y".repeat(length % 67));
                assert_eq!(outcome(&text), Outcome::Complete { end: text.len() }, "{text}");
                let cut = format!("\"{}{escape}{}\\q\"", "x".repeat(length), "y".repeat(length % 67));
                assert_eq!(outcome(&cut), Outcome::Failed { at: cut.len() - 2 }, "{cut}");
            }
        }
    }

    #[test]
    fn strings_end_at_the_first_bare_quote_wherever_blocks_end() {
        for length in 0..300 {
            let text = format!("\"{}\"", "x".repeat(length));
            assert_eq!(outcome(&text), Outcome::Complete { end: length + 2 }, "{length}");
            let control = format!("\"{}\u{1}\"", "x".repeat(length));
            assert_eq!(outcome(&control), Outcome::Failed { at: length + 1 }, "{length}");
        }
    }

    #[test]
    fn repeated_keys_are_seen_also_behind_escapes_and_among_many() {
        let repeats = |text: &str| {
            let mut tape = Tape::default();
            scan(text.as_bytes(), 0, &mut tape);
            tape.root(text.as_bytes()).is_some_and(crate::json::Node::repeats_a_key)
        };
        assert!(repeats(r#"{"a":1,"b":{"a":2},"a":3}"#));
        assert!(repeats(r#"{"a":1,"\u0061":3}"#));
        assert!(!repeats(r#"{"a":1,"b":{"b":2},"c":{"a":1}}"#));
        let many: Vec<String> = (0..40).map(|n| format!("\"k{n}\":{n}")).collect();
        assert!(!repeats(&format!("{{{}}}", many.join(","))));
        assert!(repeats(&format!("{{{},\"k7\":0}}", many.join(","))));
    }

    #[test]
    fn the_last_of_repeated_members_is_the_one_that_counts() {
        let text = br#"{"a":1,"b":2,"a":3}"#;
        let mut tape = Tape::default();
        scan(text, 0, &mut tape);
        assert_eq!(tape.root(text).and_then(|node| node.get("a")).and_then(View::as_f64), Some(3.0));
    }
}
