//! Where an imported session says it came from: the `custom` entry `session-import` (spec 04 §9.8).

use super::codes;
use crate::check::transcript::content::Content;
use crate::check::transcript::held::Held;
use crate::json::{Kind, View};
use crate::transcript::entry::EntryKind;

/// The members that its `data` always has; `sourceSessionId` and `sourceTitle` may be absent.
const REQUIRED: [&str; 13] = [
    "schemaVersion",
    "provider",
    "format",
    "sourceFileName",
    "sourceSha256",
    "sourceBytes",
    "converterVersion",
    "sanitizerVersion",
    "counts",
    "truncated",
    "quarantine",
    "targetSessionId",
    "importedAt",
];

/// Judges the provenance that an entry holds. Only that the members are there is asked, and the shape of the hash.
pub fn judge(content: &Content<'_>, held: &mut Held) {
    let root = content.root;
    if content.kind != EntryKind::Custom || content.from_patch || !root.get("customType").is_some_and(|kind| kind.is_str("session-import"))
    {
        return;
    }
    let data = root.get("data");
    let missing: Vec<&str> = REQUIRED.into_iter().filter(|key| data.and_then(|data| data.get(key)).is_none()).collect();
    if !missing.is_empty() {
        let message = format!("The origin of the imported session lacks {}.", missing.join(", "));
        return content.found_in_entry(data.unwrap_or(root), "/data", held, &codes::IMPORT_PROVENANCE_INVALID, message);
    }
    let Some(hash) = data.and_then(|data| data.get("sourceSha256")) else { return };
    let is_hash =
        hash.kind() == Kind::String && hash.as_str().is_some_and(|hash| hash.len() == 64 && hash.iter().all(u8::is_ascii_hexdigit));
    if !is_hash {
        let message = "`sourceSha256` is not 64 hexadecimal digits.".to_owned();
        content.found_in_entry(hash, "/data/sourceSha256", held, &codes::IMPORT_PROVENANCE_INVALID, message);
    }
}

#[cfg(test)]
mod tests {
    use crate::check::transcript::{Options, check};
    use crate::finding::{Collected, Release};

    /// What is said of an import whose `data` is this text.
    fn said(custom_type: &str, data: &str) -> Vec<(&'static str, Option<String>, String)> {
        let text = format!(
            "{{\"type\":\"session\",\"version\":5,\"starredPatchVersion\":1,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}}\n\
             {{\"type\":\"custom\",\"id\":\"e0000001\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"customType\":\"{custom_type}\",\"data\":{data}}}\n"
        );
        let mut sink = Collected::default();
        check(text.as_bytes(), &Options::lone("t.jsonl", Release::V0_17), &mut sink).unwrap();
        sink.findings.into_iter().map(|finding| (finding.code.name, finding.place.pointer, finding.message)).collect()
    }
    fn data(hash: &str) -> String {
        let others = super::REQUIRED.iter().filter(|key| **key != "sourceSha256").map(|key| format!("\"{key}\":1")).collect::<Vec<_>>();
        format!("{{{},\"sourceSha256\":{hash}}}", others.join(","))
    }

    #[test]
    fn a_missing_member_is_named_and_the_hash_has_64_digits() {
        let sound = data(&format!("\"{}\"", "aB".repeat(32)));
        assert_eq!(said("session-import", &sound), []);
        let found = said("session-import", &sound.replace("\"format\":1,", ""));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].0, found[0].1.as_deref()), ("import_provenance_invalid", Some("/data")));
        assert!(found[0].2.contains("lacks format."), "{}", found[0].2);
        for hash in [format!("\"{}\"", "a".repeat(63)), format!("\"{}g\"", "a".repeat(63)), "64".to_owned()] {
            let found = said("session-import", &data(&hash));
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].1.as_deref(), Some("/data/sourceSha256"));
        }
        assert_eq!(said("session-import", "null").len(), 1);
        assert_eq!(said("another", "null"), []);
    }
}
