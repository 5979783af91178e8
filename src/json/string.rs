//! JavaScript strings without loss: UTF-16 code unit sequences held as WTF-8.
//!
//! A well-formed string is plain UTF-8. A lone surrogate is held as the three bytes of its generalised UTF-8 form
//! (`ED A0..BF xx`); a surrogate pair is always the one four-byte character, so equality of bytes is equality of strings.

use std::borrow::{Borrow, Cow};
use std::fmt;

/// A borrowed JavaScript string (WTF-8 bytes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JsStr<'a>(&'a [u8]);

/// An owned JavaScript string (WTF-8 bytes). Look-ups by `&[u8]` or `str::as_bytes` find it in maps.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct JsString(Vec<u8>);

impl<'a> JsStr<'a> {
    /// Wraps bytes that are already WTF-8 (the scanner's output, or any UTF-8).
    pub const fn from_wtf8(bytes: &'a [u8]) -> Self {
        JsStr(bytes)
    }
    /// The WTF-8 bytes.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }
    /// True when there is no unit.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }
    /// Number of UTF-16 code units: JavaScript's `length`.
    pub fn len_utf16(self) -> usize {
        if self.0.is_ascii() {
            return self.0.len();
        }
        // One unit for each byte that is no continuation byte, one more for each four-byte character. Counted in runs
        // whose sum fits a byte, which the compiler turns into vector instructions.
        let units = |b: &u8| u8::from(b & 0xC0 != 0x80) + u8::from(*b >= 0xF0);
        self.0.chunks(127).map(|run| usize::from(run.iter().map(units).sum::<u8>())).sum()
    }
    /// The text when it holds no lone surrogate.
    pub fn to_utf8(self) -> Option<&'a str> {
        std::str::from_utf8(self.0).ok()
    }
    /// The text with every lone surrogate shown as U+FFFD.
    pub fn to_string_lossy(self) -> Cow<'a, str> {
        match self.to_utf8() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(super::text::wtf8_lossy(self.0)),
        }
    }
    /// An owned copy.
    pub fn to_owned(self) -> JsString {
        JsString(self.0.to_vec())
    }
    /// True when a lone surrogate occurs.
    pub fn has_lone_surrogate(self) -> bool {
        self.0.windows(2).any(|w| w[0] == 0xED && w[1] >= 0xA0)
    }
}

impl PartialEq<str> for JsStr<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}
impl PartialEq<&str> for JsStr<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}
impl<'a> From<&'a str> for JsStr<'a> {
    fn from(text: &'a str) -> Self {
        JsStr(text.as_bytes())
    }
}
impl fmt::Debug for JsStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string_lossy())
    }
}
impl fmt::Display for JsStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_string_lossy())
    }
}

impl JsString {
    /// Wraps bytes that are already WTF-8.
    pub const fn from_wtf8(bytes: Vec<u8>) -> Self {
        JsString(bytes)
    }
    /// The borrowed form.
    pub fn as_js(&self) -> JsStr<'_> {
        JsStr(&self.0)
    }
    /// The WTF-8 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
    /// Appends WTF-8 and joins a high surrogate at the end with a low one at the beginning, as JavaScript's `+` does.
    pub fn push_js(&mut self, tail: JsStr<'_>) {
        super::text::push_wtf8(&mut self.0, tail.0);
    }
}

impl Borrow<[u8]> for JsString {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}
impl From<&str> for JsString {
    fn from(text: &str) -> Self {
        JsString(text.as_bytes().to_vec())
    }
}
impl From<String> for JsString {
    fn from(text: String) -> Self {
        JsString(text.into_bytes())
    }
}
impl PartialEq<str> for JsString {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}
impl PartialEq<&str> for JsString {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}
impl fmt::Debug for JsString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_js().fmt(f)
    }
}
impl fmt::Display for JsString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_js(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_counts_units_in_runs_of_any_size() {
        for count in [0, 1, 42, 126, 127, 128, 1_000] {
            for (character, units) in [("x", 1), ("ä", 1), ("€", 1), ("😀", 2)] {
                let text = format!("{}ä", character.repeat(count));
                assert_eq!(JsStr::from(text.as_str()).len_utf16(), units * count + 1, "{count} × {character}");
            }
        }
    }
}
