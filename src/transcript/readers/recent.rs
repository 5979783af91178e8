//! The reader of the recent list (spec 04 §2.3): a name for each file, from its first 4,096 bytes and, in larger files, the
//! trailing header patches. Patches inside the prefix are not applied, so a small file keeps its old title here.

use super::picker::{self, PREFIX, ReadAt, Skip};
use super::trailing;
use crate::finding::Release;
use crate::json::jsonl::{Event, Lines};
use crate::json::text::trim;
use crate::json::view::View;
use crate::json::{JsString, Kind, Value};

/// What a name was taken from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NamedBy {
    /// The title of the header, or of the newest trailing patch.
    Title,
    /// The first prompt.
    Prompt,
    /// Neither: the list shows `Untitled` and a time.
    Time,
}

impl NamedBy {
    /// `title`, `prompt` or `time`.
    pub const fn word(self) -> &'static str {
        match self {
            NamedBy::Title => "title",
            NamedBy::Prompt => "prompt",
            NamedBy::Time => "time",
        }
    }
}

/// A file as the recent list shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recent {
    /// Header id.
    pub id: JsString,
    /// Header cwd, patched.
    pub cwd: Option<JsString>,
    /// The name, sanitised; none for [`NamedBy::Time`].
    pub name: Option<JsString>,
    /// What it was taken from.
    pub named_by: NamedBy,
    /// Header timestamp, as it is.
    pub timestamp: Option<JsString>,
}

/// What the recent list shows of a file of `size` bytes.
///
/// # Errors
/// Why it leaves the file out.
pub fn read(size: u64, read_at: ReadAt<'_>, release: Release) -> Result<Recent, Skip> {
    let prefix = picker::prefix(read_at).map_err(|_| Skip::Unreadable)?;
    let values = values(&prefix, usize::MAX);
    let header = header(&values)?;
    let mut title = header.member("title").cloned();
    let mut cwd = string(header, "cwd");
    if header.member("version").and_then(View::as_f64).is_some_and(|version| version >= 4.0) {
        let found = trailing::scan(size, read_at, false, release).map_err(|_| Skip::Unreadable)?;
        title = found.title.map(Value::String).or(title);
        cwd = found.cwd.or(cwd);
    }
    // A title that is no text, or of which nothing is left, still keeps the prompt away.
    let (name, named_by) = if title.as_ref().is_some_and(View::truthy) {
        (title.as_ref().and_then(View::as_str).and_then(|title| sanitised(&title)), NamedBy::Title)
    } else {
        (first_prompt(&values)?.and_then(|prompt| sanitised(prompt.as_bytes())), NamedBy::Prompt)
    };
    let named_by = if name.is_some() { named_by } else { NamedBy::Time };
    Ok(Recent { id: string(header, "id").unwrap_or_default(), cwd, name, named_by, timestamp: string(header, "timestamp") })
}

/// The title that the recent list sees in the prefix of a file, before patches; none when it leaves the file out.
pub fn unpatched_title(prefix: &[u8]) -> Option<Option<JsString>> {
    let values = values(&picker::decoded(prefix.get(..PREFIX).unwrap_or(prefix)), 1);
    header(&values).ok().map(|header| string(header, "title"))
}

/// The first values of a prefix that can be parsed.
fn values(text: &[u8], most: usize) -> Vec<Value> {
    let mut found = Vec::new();
    let mut lines = Lines::of_text(text, text.len() as u64);
    // Bytes in memory can always be read.
    while let Ok(Some(event)) = lines.next() {
        if let Event::Value(one) = event {
            found.push(Value::from_node(one.node));
        }
        if found.len() >= most {
            break;
        }
    }
    found
}

/// The first value, when it is a header that the list accepts.
fn header(values: &[Value]) -> Result<&Value, Skip> {
    let header = values.first().ok_or(Skip::NoHeader)?;
    if !header.member("type").is_some_and(|kind| kind.is_str("session")) || string(header, "id").is_none() {
        return Err(Skip::NoHeader);
    }
    crate::transcript::header::version(header).map_err(|_| Skip::Version)?;
    Ok(header)
}

fn string(value: &Value, key: &str) -> Option<JsString> {
    value.str_member(key).map(|text| JsString::from_wtf8(text.into_owned()))
}

/// The text of the first user message that has one. A `null` record before it makes the list throw.
fn first_prompt(values: &[Value]) -> Result<Option<&JsString>, Skip> {
    for value in values {
        if value.kind() == Kind::Null {
            return Err(Skip::Throws);
        }
        let Some(message) = value.member("message").filter(|_| value.member("type").is_some_and(|kind| kind.is_str("message"))) else {
            continue;
        };
        if !message.member("role").is_some_and(|role| role.is_str("user")) {
            continue;
        }
        let text = match message.member("content") {
            Some(Value::String(text)) => Some(text),
            Some(Value::Array(blocks)) => blocks.as_slice().iter().find_map(|block| match block.member("text") {
                Some(Value::String(text)) => Some(text),
                _ => None,
            }),
            _ => None,
        };
        if text.is_some() {
            return Ok(text);
        }
    }
    Ok(None)
}

/// The first line without control characters and without space around it; none when nothing is left.
fn sanitised(text: &[u8]) -> Option<JsString> {
    let line = text.get(..memchr::memchr(b'\n', text).unwrap_or(text.len())).unwrap_or_default();
    // A carriage return before the line feed is a control character like any other.
    let shown: Vec<u8> = line.iter().copied().filter(|byte| *byte >= 0x20 && *byte != 0x7f).collect();
    Some(trim(&shown)).filter(|shown| !shown.is_empty()).map(|shown| JsString::from_wtf8(shown.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recent(text: &str) -> Result<Recent, Skip> {
        let bytes = text.as_bytes();
        let mut read_at = |buffer: &mut [u8], offset: u64| {
            let from = bytes.get(offset as usize..).unwrap_or_default();
            let take = from.len().min(buffer.len());
            buffer[..take].copy_from_slice(&from[..take]);
            Ok(take)
        };
        read(bytes.len() as u64, &mut read_at, Release::V0_17)
    }
    fn named(text: &str) -> (Option<String>, NamedBy) {
        let recent = recent(text).unwrap();
        (recent.name.map(|name| name.to_string()), recent.named_by)
    }
    fn header(title: &str) -> String {
        format!(r#"{{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/w"{title}}}"#)
    }
    const USER: &str = r#"{"type":"message","message":{"role":"user","content":"first\nsecond"}}"#;

    #[test]
    fn the_title_names_and_without_one_the_first_prompt() {
        let title = header(r#","title":"\u0007 Hi\tthere \n second""#);
        assert_eq!(named(&format!("{title}\n{USER}\n")), (Some("Hithere".into()), NamedBy::Title));
        assert_eq!(named(&format!("{}\n{USER}\n", header(""))), (Some("first".into()), NamedBy::Prompt));
        assert_eq!(named(&format!("{}\n", header(""))), (None, NamedBy::Time));
    }
    #[test]
    fn a_title_that_shows_nothing_keeps_the_prompt_away_and_an_empty_one_does_not() {
        for title in [r#","title":"  ""#, r#","title":5"#, r#","title":{}"#] {
            assert_eq!(named(&format!("{}\n{USER}\n", header(title))), (None, NamedBy::Time), "{title}");
        }
        for title in [r#","title":"""#, r#","title":0"#, r#","title":null"#] {
            assert_eq!(named(&format!("{}\n{USER}\n", header(title))).1, NamedBy::Prompt, "{title}");
        }
    }
    #[test]
    fn a_patch_of_the_title_is_seen_in_large_files_only() {
        let patch = r#"{"type":"header_patch","patch":{"title":"New","cwd":"/moved"}}"#;
        assert_eq!(named(&format!("{}\n{USER}\n{patch}\n", header(""))).0, Some("first".into()));
        let large = format!("{}\n{USER}\n\"{}\"\n{patch}\n", header(""), "x".repeat(5_000));
        assert_eq!(named(&large).0, Some("New".into()));
        assert_eq!(recent(&large).unwrap().cwd, Some("/moved".into()));
        let old = large.replace("\"version\":5", "\"version\":3");
        assert_eq!(named(&old).0, Some("first".into()), "version 3 has no patches");
    }
    #[test]
    fn one_byte_order_mark_is_dropped_and_a_second_one_hides_the_header() {
        let file = format!("{}\n{USER}\n", header(""));
        assert_eq!(named(&format!("\u{feff}{file}")).0, Some("first".into()));
        assert_eq!(recent(&format!("\u{feff}\u{feff}{file}")), Err(Skip::NoHeader));
    }
    #[test]
    fn each_reason_to_leave_a_file_out() {
        let long = header(&format!(r#","title":"{}""#, "t".repeat(5_000)));
        for (text, why) in [
            (String::new(), Skip::NoHeader),
            ("oops\n".into(), Skip::NoHeader),
            (long, Skip::NoHeader),
            (header("").replace("\"id\"", "\"no\""), Skip::NoHeader),
            (header("").replace(":5", ":6"), Skip::Version),
            (format!("{}\nnull\n{USER}\n", header("")), Skip::Throws),
        ] {
            assert_eq!(recent(&text).unwrap_err(), why, "{text}");
        }
        let titled = format!("{}\nnull\n", header(r#","title":"T""#));
        assert_eq!(named(&titled).0, Some("T".into()), "with a title nobody looks at the records");
    }
    #[test]
    fn the_first_block_with_text_counts_whatever_its_type() {
        let blocks = r#"{"type":"message","message":{"role":"user","content":[{"type":"image"},null,7,{"text":7},{"text":"seen"}]}}"#;
        assert_eq!(named(&format!("{}\n{blocks}\n", header(""))).0, Some("seen".into()));
        let empty = r#"{"type":"message","message":{"role":"user","content":""}}"#;
        assert_eq!(named(&format!("{}\n{empty}\n{USER}\n", header(""))), (None, NamedBy::Time), "an empty prompt is the first one");
    }
}
