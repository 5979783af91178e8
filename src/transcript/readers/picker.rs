//! Reader P: what the session picker shows of a file (spec 04 §2.4, §2.5; spec 01 §2.6). It sees the first 4,096 bytes
//! and, for large files, the trailing header patches; it accepts files that opening refuses.

use super::trailing;
use crate::finding::{Difference, Release};
use crate::json::jsonl::Lines;
use crate::json::text::utf8_lossy;
use crate::json::view::View;
use crate::json::{JsString, Kind, Value};
use crate::transcript::load::{Loader, Whole};
use crate::transcript::throw::Throw;
use std::io;

/// Bytes of a file that the picker reads.
pub const PREFIX: usize = 4_096;

/// A session as the picker lists it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SessionInfo {
    /// Header id.
    pub id: JsString,
    /// Header cwd, patched; empty if it is no string.
    pub cwd: JsString,
    /// Header title, patched, else the last compaction summary of the prefix.
    pub title: Option<JsString>,
    /// Starred in effect: a capable header, and its own `starred` or that of the newest patch (0.17).
    pub starred: bool,
    /// Header `parentSession`, as it is.
    pub parent_session: Option<JsString>,
    /// Header timestamp, as it is.
    pub timestamp: Option<JsString>,
    /// Messages of the prefix.
    pub message_count: u64,
    /// True when the file is larger than the prefix.
    pub message_count_is_estimate: bool,
    /// First user text, else `(no messages)`.
    pub first_message: JsString,
    /// User and assistant texts of the prefix, joined with one space.
    pub all_messages_text: JsString,
}

/// Reads bytes at an offset, as `File::read_at` does.
pub type ReadAt<'a> = &'a mut dyn FnMut(&mut [u8], u64) -> io::Result<usize>;

/// What a header says, from the parsed value or from the text of the first line.
#[derive(Default)]
struct Header {
    id: JsString,
    cwd: Option<JsString>,
    title: Option<JsString>,
    timestamp: Option<JsString>,
    parent_session: Option<JsString>,
    version: Option<f64>,
    starred: bool,
    star_capable: bool,
}

/// Why the picker, or the recent list, leaves a file out. Both do so silently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Skip {
    /// It cannot be read.
    Unreadable,
    /// The first 4,096 bytes hold no session header with an id.
    NoHeader,
    /// The header's version is not supported.
    Version,
    /// A record among the first 4,096 bytes makes the reader throw.
    Throws,
}

impl Skip {
    /// The reason, for people.
    pub const fn words(self) -> &'static str {
        match self {
            Skip::Unreadable => "it cannot be read",
            Skip::NoHeader => "its first 4,096 bytes hold no session header with an id",
            Skip::Version => "gjc does not know the version of its header",
            Skip::Throws => "a record among its first 4,096 bytes makes the list throw: null, or a message without usable content",
        }
    }
}

/// The first [`PREFIX`] bytes as the lists decode them: leniently, a leading byte order mark dropped.
///
/// # Errors
/// The file cannot be read.
pub(super) fn prefix(read_at: ReadAt<'_>) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; PREFIX];
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match read_at(rest, filled as u64)? {
            0 => break,
            read => filled += read,
        }
    }
    buffer.truncate(filled);
    Ok(decoded(&buffer))
}

/// A prefix, decoded.
pub(super) fn decoded(bytes: &[u8]) -> Vec<u8> {
    let text = utf8_lossy(bytes);
    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&text).to_vec()
}

/// What the picker lists of a file of `size` bytes; none when it skips the file.
pub fn read(size: u64, read_at: ReadAt<'_>, release: Release) -> Option<SessionInfo> {
    examine(size, read_at, release).ok()
}

/// The same, with the reason.
///
/// # Errors
/// Why the picker skips the file.
pub fn examine(size: u64, read_at: ReadAt<'_>, release: Release) -> Result<SessionInfo, Skip> {
    let text = prefix(read_at).map_err(|_| Skip::Unreadable)?;
    let text = &text[..];
    let mut loader = Loader::new(Whole, release);
    let mut lines = Lines::expecting(text, text.len() as u64);
    while let Some(event) = lines.next().map_err(|_| Skip::Unreadable)? {
        loader.event(&event);
    }
    let throws = |throw| if matches!(throw, Throw::UnsupportedVersion(_)) { Skip::Version } else { Skip::Throws };
    let entries = loader.finish().map_err(throws)?.entries;
    let parsed = entries.first().map(|header| parsed_header(header, release));
    let header = parsed.or_else(|| textual_header(text, release)).ok_or(Skip::NoHeader)?;
    let mut info = SessionInfo {
        id: header.id,
        cwd: header.cwd.unwrap_or_default(),
        title: header.title,
        parent_session: header.parent_session,
        timestamp: header.timestamp,
        starred: header.star_capable && header.starred,
        message_count_is_estimate: size > PREFIX as u64,
        ..SessionInfo::default()
    };
    if header.version.is_some_and(|version| (4.0..=5.0).contains(&version)) {
        let found = trailing::scan(size, read_at, header.star_capable, release).map_err(|_| Skip::Unreadable)?;
        info.title = found.title.or(info.title);
        info.cwd = found.cwd.unwrap_or(info.cwd);
        info.starred = found.starred.unwrap_or(info.starred);
    }
    walk(entries.get(1..).unwrap_or_default(), text, &mut info).ok_or(Skip::Throws)?;
    Ok(info)
}

fn string(value: &Value, key: &str) -> Option<JsString> {
    value.str_member(key).map(|text| JsString::from_wtf8(text.into_owned()))
}

fn parsed_header(header: &Value, release: Release) -> Header {
    Header {
        starred: header.get("starred").and_then(View::as_bool) == Some(true),
        star_capable: Difference::ListedStars.in_effect(release) && crate::transcript::header::star_capable(header),
        id: string(header, "id").unwrap_or_default(),
        cwd: string(header, "cwd"),
        title: string(header, "title"),
        timestamp: string(header, "timestamp"),
        parent_session: string(header, "parentSession"),
        version: header.member("version").and_then(View::as_f64),
    }
}

/// The textual extraction from the first physical line, for headers longer than the prefix.
fn textual_header(text: &[u8], release: Release) -> Option<Header> {
    let line = text.get(..memchr::memchr(b'\n', text).unwrap_or(text.len()))?;
    let id = textual_string(line, "id").filter(|id| !id.as_bytes().is_empty())?;
    textual_string(line, "type").filter(|kind| *kind == *"session")?;
    Some(Header {
        id,
        cwd: textual_string(line, "cwd"),
        title: textual_string(line, "title"),
        timestamp: textual_string(line, "timestamp"),
        parent_session: textual_string(line, "parentSession"),
        starred: textual_member(line, "starred").is_some_and(|rest| rest.starts_with(b"true")),
        star_capable: Difference::ListedStars.in_effect(release) && textual_number(line, "starredPatchVersion") == Some(1.0),
        // 0.15.0 looked for a string here and so never recognised a number (vector `prefix_header_version_string`).
        version: if Difference::PickerTextualVersion.in_effect(release) {
            textual_number(line, "version")
        } else {
            textual_string(line, "version").and_then(|text| text.to_string().parse().ok())
        },
    })
}

fn skip_space(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The first `"name"` that is followed by a colon and a string.
fn textual_string(text: &[u8], name: &str) -> Option<JsString> {
    let quoted = format!("\"{name}\"");
    let at = memchr::memmem::find(text, quoted.as_bytes())? + quoted.len();
    textual_value(text, at).map(|(value, _)| value)
}

/// The string behind the next colon, and where it ends. A string that the cut ends is taken as far as it goes.
fn textual_value(text: &[u8], from: usize) -> Option<(JsString, usize)> {
    let colon = from + memchr::memchr(b':', text.get(from..)?)?;
    let start = skip_space(text, colon + 1);
    if text.get(start) != Some(&b'"') {
        return None;
    }
    let mut end = start + 1;
    let closed = loop {
        match text.get(end) {
            None => break false,
            Some(b'"') => break true,
            Some(b'\\') if text.get(end + 1).is_none() => break false,
            Some(b'\\') => end += 2,
            Some(_) => end += 1,
        }
    };
    let quoted = [text.get(start..end.min(text.len()))?, b"\""].concat();
    match Value::parse(&quoted)? {
        Value::String(value) => Some((value, if closed { end + 1 } else { text.len() })),
        _ => None,
    }
}

/// The integer member `name` at object depth 1.
fn textual_number(line: &[u8], name: &str) -> Option<f64> {
    let rest = textual_member(line, name)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

/// What stands behind `"name":` at object depth 1.
fn textual_member<'t>(line: &'t [u8], name: &str) -> Option<&'t [u8]> {
    let quoted = format!("\"{name}\"");
    let (mut depth, mut at) = (0_i64, 0);
    while let Some(byte) = line.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b'"' => {
                let start = at;
                at += 1;
                while line.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if line.get(at) == Some(&b'\\') { 2 } else { 1 };
                }
                if depth == 1 && line.get(start..=at) == Some(quoted.as_bytes()) {
                    let colon = skip_space(line, at + 1);
                    if line.get(colon) == Some(&b':') {
                        return line.get(skip_space(line, colon + 1)..);
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Steps 5 to 7: counts, texts, fallback title. None when an entry makes the picker throw.
fn walk(entries: &[Value], text: &[u8], info: &mut SessionInfo) -> Option<()> {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    let (mut parsed, mut summary, mut first) = (0, None, None);
    for entry in entries {
        let kind = entry.str_member("type");
        match kind.as_deref() {
            Some(b"compaction") => summary = string(entry, "shortSummary").or(summary),
            Some(b"message") => {
                parsed += 1;
                // A missing or null message is skipped; content that is neither text nor list makes the picker throw.
                let Some(message) = entry.member("message").filter(|message| message.truthy()) else { continue };
                let role = message.str_member("role");
                if !matches!(role.as_deref(), Some(b"user" | b"assistant")) {
                    continue;
                }
                let content = message_text(message.member("content"))?;
                if content.is_empty() {
                    continue;
                }
                if first.is_none() && role.as_deref() == Some(b"user") {
                    first = Some(JsString::from_wtf8(content.clone()));
                }
                texts.push(content);
            }
            _ => {}
        }
    }
    let literal = memchr::memmem::find_iter(text, br#""type":"message""#).count() as u64;
    info.message_count = literal.max(parsed);
    info.title = info.title.take().or(summary);
    if first.is_none()
        && let Some(prompt) = textual_prompt(text)
    {
        texts.insert(0, prompt.as_bytes().to_vec());
        first = Some(prompt);
    }
    info.first_message = first.unwrap_or_else(|| "(no messages)".into());
    let mut joined = JsString::default();
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            joined.push_js(" ".into());
        }
        joined.push_js(crate::json::JsStr::from_wtf8(text));
    }
    info.all_messages_text = joined;
    Some(())
}

/// String content, or all `text` blocks joined with a space.
fn message_text(content: Option<&Value>) -> Option<Vec<u8>> {
    let content = content?;
    match content.kind() {
        Kind::String => content.as_str().map(std::borrow::Cow::into_owned),
        Kind::Array => {
            let mut out = JsString::default();
            let mut any = false;
            for block in content.items() {
                if block.kind() == Kind::Null {
                    return None;
                }
                if !block.get("type").is_some_and(|kind| kind.is_str("text")) {
                    continue;
                }
                if any {
                    out.push_js(" ".into());
                }
                any = true;
                if let Some(text) = block.str_member("text") {
                    out.push_js(crate::json::JsStr::from_wtf8(&text));
                }
            }
            Some(out.as_bytes().to_vec())
        }
        _ => None,
    }
}

/// The first `"role"` whose value is `user`, then the following string `content` or `text`.
fn textual_prompt(text: &[u8]) -> Option<JsString> {
    let mut from = 0;
    loop {
        let at = from + memchr::memmem::find(text.get(from..)?, b"\"role\"")? + b"\"role\"".len();
        from = at;
        let Some((role, end)) = textual_value(text, at) else { continue };
        if role != *"user" {
            continue;
        }
        let rest = text.get(end..)?;
        return textual_string(rest, "content").or_else(|| textual_string(rest, "text"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(text: &str) -> Option<SessionInfo> {
        info_in(text, Release::V0_15)
    }
    fn info_in(text: &str, release: Release) -> Option<SessionInfo> {
        let bytes = text.as_bytes();
        read(
            bytes.len() as u64,
            &mut |buffer, offset| {
                let from = bytes.get(offset as usize..).unwrap_or_default();
                let take = from.len().min(buffer.len());
                buffer[..take].copy_from_slice(&from[..take]);
                Ok(take)
            },
            release,
        )
    }
    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/w"}"#;
    const USER: &str = r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"hello"}}"#;

    #[test]
    fn a_star_shows_on_a_capable_header_in_0_17() {
        let capable = HEADER.replace("\"id\"", "\"starredPatchVersion\":1,\"id\"");
        let star = "\n{\"type\":\"header_patch\",\"patch\":{\"starred\":true}}\n";
        let long = format!("\"{}\"", "x".repeat(5_000));
        let starred = |text: String, release| info_in(&text, release).unwrap().starred;
        for between in ["", &long] {
            assert!(starred(format!("{capable}\n{between}{star}"), Release::V0_17));
            assert!(!starred(format!("{capable}\n{between}{star}"), Release::V0_15));
            assert!(!starred(format!("{HEADER}\n{between}{star}"), Release::V0_17));
        }
        let cut = capable.replace("}", &format!(",\"starred\":true,\"x\":\"{}\"}}", "x".repeat(5_000)));
        assert!(starred(cut, Release::V0_17), "a header longer than the prefix");
    }
    #[test]
    fn a_session_without_messages_is_shown() {
        let info = info(&format!("{HEADER}\n")).unwrap();
        assert_eq!((info.message_count, info.first_message), (0, "(no messages)".into()));
    }
    #[test]
    fn garbage_before_the_header_does_not_hide_it() {
        assert_eq!(info(&format!("oops\n{HEADER}\n{USER}\n")).map(|info| info.message_count), Some(1));
    }
    #[test]
    fn a_header_longer_than_the_prefix_is_read_as_text() {
        let long = HEADER.replace("\"cwd\"", &format!("\"title\":\"{}\",\"cwd\"", "t".repeat(5_000)));
        let info = info(&format!("{long}\n{USER}\n")).unwrap();
        assert_eq!((info.id, info.message_count, info.message_count_is_estimate), ("s".into(), 0, true));
    }
    #[test]
    fn an_unsupported_version_and_a_missing_id_are_skipped() {
        assert_eq!(info(&format!("{}\n", HEADER.replace(":5", ":6"))), None);
        assert_eq!(info(&format!("{}\n", HEADER.replace("\"id\"", "\"no\""))), None);
    }
    #[test]
    fn the_newest_trailing_patch_of_a_large_file_counts() {
        let patch = |title: &str| format!("{{\"type\":\"header_patch\",\"patch\":{{\"title\":\"{title}\"}}}}\n");
        let filler = format!("{USER}\n").repeat(2_000);
        let info = info(&format!("{HEADER}\n{filler}{}{filler}{}", patch("old"), patch("new"))).unwrap();
        assert_eq!(info.title, Some("new".into()));
    }
}
