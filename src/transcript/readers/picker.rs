//! Reader P: what the session picker shows of a file (spec 04 §2.4, §2.5; spec 01 §2.6). It sees the first 4,096 bytes
//! and, for large files, the trailing header patches; it accepts files that opening refuses.

use super::trailing;
use crate::finding::{Difference, Release};
use crate::json::jsonl::Lines;
use crate::json::text::{BYTE_ORDER_MARK, trim, utf8_lossy};
use crate::json::view::View;
use crate::json::{JsString, Kind, Value, coerce};
use crate::transcript::EntryKind;
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
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text).to_vec()
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
    let mut loader = Loader::without_header(Whole, release);
    let mut lines = Lines::of_text(text, text.len() as u64);
    while let Some(event) = lines.next().map_err(|_| Skip::Unreadable)? {
        loader.event(&event);
    }
    let throws = |throw| if matches!(throw, Throw::UnsupportedVersion(_)) { Skip::Version } else { Skip::Throws };
    let entries = loader.finish().map_err(throws)?.entries;
    let is_header = |entry: &&Value| EntryKind::of(*entry).is_header() && entry.str_member("id").is_some();
    let parsed = entries.first().filter(is_header).map(|header| parsed_header(header, release));
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
    // Whatever the first record is, it counts as the header.
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
    let member = |name: &str| textual_string(line, name, 0);
    let id = member("id").filter(|id| !id.as_bytes().is_empty())?;
    member("type").filter(|kind| *kind == *"session")?;
    Some(Header {
        id,
        cwd: member("cwd"),
        title: member("title"),
        timestamp: member("timestamp"),
        parent_session: member("parentSession"),
        starred: textual_member(line, "starred").is_some_and(|rest| rest.starts_with(b"true")),
        star_capable: Difference::ListedStars.in_effect(release) && textual_number(line, "starredPatchVersion") == Some(1.0),
        // 0.15.0 looked for a string here and so never recognised a number (vector `prefix_header_version_string`).
        version: if Difference::PickerTextualVersion.in_effect(release) {
            textual_number(line, "version")
        } else {
            member("version").map(|text| number_of(&text.to_string()))
        },
    })
}

/// `Number(text)` of JavaScript, as far as a version goes: what is no number compares with nothing.
fn number_of(text: &str) -> f64 {
    let text = String::from_utf8_lossy(trim(text.as_bytes())).into_owned();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = text.to_ascii_lowercase().strip_prefix(prefix) {
            let is_digits = digits.chars().all(|digit| digit.is_digit(radix));
            return u32::from_str_radix(digits, radix).ok().filter(|_| is_digits).map_or(f64::NAN, f64::from);
        }
    }
    // Rust knows words for infinity and for what is no number, JavaScript others.
    let decimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    text.parse().ok().filter(|_| decimal).unwrap_or(f64::NAN)
}

fn skip_space(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The first `needle` at or behind `from`.
fn find(text: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    memchr::memmem::find(text.get(from..)?, needle).map(|at| from + at)
}

/// The string behind the first colon behind the first `"name"` at or behind `from`; none where something else stands there.
/// A string that the cut ends is taken as far as it goes.
fn textual_string(text: &[u8], name: &str, from: usize) -> Option<JsString> {
    let quoted = format!("\"{name}\"");
    let key = find(text, quoted.as_bytes(), from)?;
    let colon = find(text, b":", key + quoted.len())?;
    let start = skip_space(text, colon + 1);
    if text.get(start) != Some(&b'"') {
        return None;
    }
    let mut end = start + 1;
    while let Some(byte) = text.get(end).filter(|byte| **byte != b'"') {
        end += if *byte == b'\\' { 2 } else { 1 };
    }
    text.get(start + 1..end.min(text.len())).map(decoded_string)
}

/// What gjc makes of the inside of a textual string: one backslash at its end is dropped, for the cut may have left half an
/// escape; then it is what `JSON.parse` says, and where that throws, the five common escapes are replaced one after another.
fn decoded_string(inside: &[u8]) -> JsString {
    let inside = inside.strip_suffix(b"\\").unwrap_or(inside);
    match Value::parse(&[b"\"", inside, b"\""].concat()) {
        Some(Value::String(value)) => value,
        _ => {
            let text = String::from_utf8_lossy(inside).into_owned();
            let escapes = [("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t"), ("\\\"", "\""), ("\\\\", "\\")];
            escapes.iter().fold(text, |text, (escape, meant)| text.replace(escape, meant)).into()
        }
    }
}

/// How often `"type"` is followed by a colon, wherever, and the string `message`. A key and a value look alike here.
fn textual_messages(text: &[u8]) -> u64 {
    const KEY: &[u8] = b"\"type\"";
    let (mut count, mut from) = (0, 0);
    while let Some(key) = find(text, KEY, from)
        && let Some(colon) = find(text, b":", key + KEY.len())
    {
        count += u64::from(textual_string(text, "type", key).is_some_and(|kind| kind == *"message"));
        from = colon + 1;
    }
    count
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
                // A missing or null message is skipped; content that is neither text nor list makes the picker throw.
                let Some(message) = entry.member("message").filter(|message| message.truthy()) else { continue };
                parsed += 1;
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
    info.message_count = textual_messages(text).max(parsed);
    info.title = info.title.take().or(summary);
    let first = first.or_else(|| textual_prompt(text)).filter(|prompt| !prompt.as_bytes().is_empty());
    let mut joined = JsString::default();
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            joined.push_js(" ".into());
        }
        joined.push_js(crate::json::JsStr::from_wtf8(text));
    }
    // The prompt that only the text tells stands for the texts where there are none, not among them.
    info.all_messages_text = if texts.is_empty() { first.clone().unwrap_or_default() } else { joined };
    info.first_message = first.unwrap_or_else(|| "(no messages)".into());
    Some(())
}

/// String content, or what all `text` blocks hold, whatever it is, joined with a space.
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
                if let Some(text) = block.get("text").filter(|text| text.kind() != Kind::Null) {
                    out.push_js(coerce::to_text(text)?.as_js());
                }
            }
            Some(out.as_bytes().to_vec())
        }
        _ => None,
    }
}

/// The first `"role"` whose value is `user`, then the string `content` or `text` behind it.
fn textual_prompt(text: &[u8]) -> Option<JsString> {
    const KEY: &[u8] = b"\"role\"";
    let mut at = find(text, KEY, 0)?;
    while textual_string(text, "role", at).is_none_or(|role| role != *"user") {
        at = find(text, KEY, at + KEY.len())?;
    }
    textual_string(text, "content", at).or_else(|| textual_string(text, "text", at))
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
    /// One mark is dropped; the other belongs to the header's line, of which then only the text tells: no version, so that
    /// trailing patches are not looked for.
    #[test]
    fn behind_two_byte_order_marks_only_the_text_tells_the_header() {
        let patch = r#"{"type":"header_patch","patch":{"title":"New"}}"#;
        let file = format!("{HEADER}\n{USER}\n\"{}\"\n{patch}\n", "x".repeat(5_000));
        let title = |marks: &str| info(&format!("{marks}{file}")).unwrap().title.map(|title| title.to_string());
        assert_eq!(title("\u{feff}").as_deref(), Some("New"));
        assert_eq!(title("\u{feff}\u{feff}"), None);
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

    /// `firstMessage` and `allMessagesText`.
    fn texts(lines: &str) -> (String, String) {
        let info = info(&format!("{HEADER}\n{lines}\n")).unwrap();
        (info.first_message.to_string(), info.all_messages_text.to_string())
    }
    fn told(first: &str, all: &str) -> (String, String) {
        (first.to_owned(), all.to_owned())
    }
    fn message(role: &str, content: &str) -> String {
        format!(r#"{{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{{"role":"{role}","content":{content}}}}}"#)
    }

    #[test]
    fn messages_are_counted_by_their_text_however_it_is_spelled() {
        let count = |line: &str| info(&format!("{HEADER}\n{line}\n")).unwrap().message_count;
        assert_eq!(count(r#"{ "type" : "message" , "id":"a", "message":{"role":"user","content":"cut"#), 1);
        assert_eq!(count(r#"{"type":"custom","data":{"type": "message"}}"#), 1);
        assert_eq!(count(r#"{"type":"mess\u0061ge"} x"#), 1);
        assert_eq!(count(r#"{"type":"label","label":"type","x":"message"}"#), 1, "a value looks like a key");
        assert_eq!(count(r#"{"type":"messages"}"#), 0);
        assert_eq!(count(r#"{"type":"mess\u0061ge","message":null}"#), 1);
        assert_eq!(count(r#"{"t\u0079pe":"message","message":null}"#), 0, "without a message the record does not count");
        assert_eq!(count(r#"{"t\u0079pe":"message","message":{}}"#), 1);
    }
    #[test]
    fn a_textual_string_that_does_not_parse_is_not_absent() {
        let title = |cut: &str| {
            let long = format!(r#"{{"type":"session","version":5,"id":"s","cwd":"/w","title":"{cut}"#);
            info(&format!("{long}\n{USER}\n")).unwrap().title.map(|title| title.to_string())
        };
        assert_eq!(title(r"a\u00").as_deref(), Some(r"a\u00"), "half an escape");
        assert_eq!(title("a\\").as_deref(), Some("a"), "the backslash of half an escape");
        assert_eq!(title(r"a\\").as_deref(), Some(r"a\"), "one backslash of a pair, and the rest is no string");
        assert_eq!(title("raw\tTAB, \\n and \\u00e9").as_deref(), Some("raw\tTAB, \n and \\u00e9"));
        assert_eq!(title(r"caf\u00e9").as_deref(), Some("café"));
    }
    #[test]
    fn text_blocks_are_joined_whatever_they_hold() {
        let blocks = r#"[{"type":"text","text":5},{"type":"text"},{"type":"image","text":"no"},{"type":"text","text":["a",null,"b"]},{"type":"text","text":{}}]"#;
        assert_eq!(texts(&message("user", blocks)), told("5  a,,b [object Object]", "5  a,,b [object Object]"));
        let throws = message("user", r#"[{"type":"text","text":{"toString":1}}]"#);
        assert_eq!(info(&format!("{HEADER}\n{throws}\n")), None);
    }
    #[test]
    fn a_prompt_that_only_the_text_tells_is_not_among_the_texts() {
        let cut = message("user", "\"prompt\"").replace("}}", "");
        assert_eq!(texts(&format!("{}\n{cut}", message("assistant", "\"A\""))), told("prompt", "A"));
        assert_eq!(texts(&cut), told("prompt", "prompt"));
        assert_eq!(texts(&format!("{cut}\n{}", message("user", "\"later\""))), told("later", "later"), "a parsed one comes first");
    }
    #[test]
    fn an_empty_prompt_is_none() {
        assert_eq!(texts(&message("user", "\"\"")), told("(no messages)", ""));
    }
    #[test]
    fn behind_a_header_that_only_the_text_tells_the_second_record_is_the_first_that_counts() {
        let torn = r#"{"type":"session","version":5,"id":"s1","timestamp":"2026-0"#;
        let records = [message("user", "\"one\""), message("assistant", "\"two\""), message("user", "\"three\"")].join("\n");
        let text = format!("{torn}\n{records}\n{{\"type\":\"compaction\",\"shortSummary\":\"S\"}}\n");
        let info = info(&text).unwrap();
        assert_eq!((info.id.to_string(), info.title, info.cwd), ("s1".into(), Some("S".into()), "".into()));
        assert_eq!((info.first_message.to_string(), info.all_messages_text.to_string()), ("three".into(), "two three".into()));
        let later = HEADER.replace(":5", ":6");
        assert_eq!(super::tests::info(&format!("{torn}\n{records}\n{later}\n")), None, "the first header that is a record has a version");
    }
    #[test]
    fn a_version_that_is_text_is_a_number_as_javascript_reads_it() {
        for (text, number) in [(" 4 ", 4.0), ("0x5", 5.0), ("5e0", 5.0), (".5", 0.5)] {
            assert_eq!(number_of(text).to_bits(), f64::to_bits(number), "{text:?}");
        }
        for text in ["inf", "NaN", "4_0", "0x", "-0x5", "five"] {
            assert!(number_of(text).is_nan(), "{text:?}");
        }
    }
}
