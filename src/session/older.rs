//! Transcripts as older versions of the format had them: what migration does, undone (spec 01 §6). For corpora.
//!
//! Version 4 has another number in its header. Version 3 knows no patches: they are folded in. Version 2 calls the role
//! `custom` `hookMessage`. Version 1 has no version, no ids and no parents, so only one chain of entries that refer to nothing
//! but the first kept one can be told in it.

use crate::finding::Release;
use crate::json::{Object, Value, View, stringify};
use crate::transcript::load::{Whole, load};
use crate::transcript::{EntryKind, Throw};

/// Why a transcript has no older form.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotThen {
    /// It is no transcript.
    #[error("{0}")]
    Throws(Throw),
    /// It has no header, or one of another version than 5.
    #[error("it is no transcript of version 5")]
    NotCurrent,
    /// Version 1: this entry is not the child of the one before it.
    #[error("version 1 knows one chain only, and entry {0} is not the child of the one before it")]
    Branches(usize),
    /// Version 1: this entry refers to another one by its id.
    #[error("version 1 has no ids, and entry {0} refers to one")]
    Refers(usize),
}

/// The transcript as this version (1 to 4) of the format had it; 5 is what it is.
///
/// # Errors
/// Why it has none.
pub fn at_version(file: &[u8], version: u8, release: Release) -> Result<Vec<u8>, NotThen> {
    if version >= 5 {
        return Ok(file.to_vec());
    }
    // Patches are records of version 4 too: there the other lines stay as they are.
    let (head, rest) =
        if version == 4 { file.split_at(memchr::memchr(b'\n', file).map_or(file.len(), |end| end + 1)) } else { (file, &[][..]) };
    // Memory can be read.
    let loaded = load(head, Whole, release).map_err(|_| NotThen::NotCurrent)?.map_err(NotThen::Throws)?;
    let mut entries = loaded.entries;
    let header = entries.first().filter(|entry| entry.member("version") == Some(&Value::Number(5.0)));
    header.ok_or(NotThen::NotCurrent)?;
    if version < 2 {
        unchain(&mut entries)?;
    }
    for entry in &mut entries {
        let kind = EntryKind::of(&*entry);
        let Some(object) = entry.as_object_mut() else { continue };
        match kind {
            EntryKind::Session if version < 2 => _ = object.remove("version"),
            EntryKind::Session => object.set("version", Value::Number(f64::from(version))),
            EntryKind::Message if version < 3 => rename_custom(object),
            _ => {}
        }
    }
    let mut old = Vec::with_capacity(file.len());
    for entry in &entries {
        stringify::write(entry, &mut old);
        old.push(b'\n');
    }
    old.extend_from_slice(rest);
    Ok(old)
}

fn rename_custom(entry: &mut Object) {
    let message = entry.get_mut("message").and_then(Value::as_object_mut);
    if let Some(message) = message.filter(|message| message.get("role").is_some_and(|role| role.is_str("custom"))) {
        message.set("role", Value::string("hookMessage"));
    }
}

/// Takes ids and parents away; the first kept entry is named by its place in the file.
fn unchain(entries: &mut [Value]) -> Result<(), NotThen> {
    let ids: Vec<Value> = entries.iter().map(|entry| entry.member("id").cloned().unwrap_or_default()).collect();
    let mut previous = Value::Null;
    for (number, entry) in entries.iter_mut().enumerate() {
        let kind = EntryKind::of(&*entry);
        if kind.is_header() {
            continue;
        }
        if entry.member("parentId") != Some(&previous) {
            return Err(NotThen::Branches(number));
        }
        let refers = matches!(kind, EntryKind::Label | EntryKind::BranchSummary) || entry.member("evictedContent").is_some();
        let Some(object) = entry.as_object_mut().filter(|_| !refers) else { return Err(NotThen::Refers(number)) };
        previous = object.remove("id").unwrap_or_default();
        object.remove("parentId");
        if kind == EntryKind::Compaction
            && let Some(kept) = object.remove("firstKeptEntryId")
        {
            let place = ids.iter().take(number + 1).rposition(|id| *id == kept).ok_or(NotThen::Refers(number))?;
            object.set("firstKeptEntryIndex", Value::Number(place as f64));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::stringify::to_text;
    use crate::transcript::migrate::{IdSource, migrate};

    const FILE: &str = concat!(
        r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/w"}"#,
        "\n",
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"custom","customType":"k","content":"c","display":true}}"#,
        "\n",
        r#"{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"assistant","content":[]}}"#,
        "\n",
        r#"{"type":"header_patch","patch":{"title":"T"}}"#,
        "\n",
        r#"{"type":"compaction","id":"c","parentId":"b","timestamp":"t","summary":"s","firstKeptEntryId":"b","tokensBefore":1}"#,
        "\n",
    );

    fn at(version: u8) -> String {
        String::from_utf8(at_version(FILE.as_bytes(), version, Release::V0_17).unwrap()).unwrap()
    }

    #[test]
    fn each_version_is_told_as_it_was() {
        assert_eq!(at(5), FILE);
        assert_eq!(at(4), FILE.replace("\"version\":5", "\"version\":4"));
        let folded =
            FILE.replace("\"/w\"", "\"/w\",\"title\":\"T\"").replace("{\"type\":\"header_patch\",\"patch\":{\"title\":\"T\"}}\n", "");
        assert_eq!(at(3), folded.replace("\"version\":5", "\"version\":3"));
        assert_eq!(at(2), folded.replace("\"version\":5", "\"version\":2").replace("\"role\":\"custom\"", "\"role\":\"hookMessage\""));
        let first = at(1);
        assert!(first.starts_with(r#"{"type":"session","id":"s","timestamp":"t""#) && !first.contains("parentId"), "{first}");
        assert!(first.ends_with("\"summary\":\"s\",\"tokensBefore\":1,\"firstKeptEntryIndex\":2}\n"), "{first}");
    }

    /// Gives the ids that the transcript had.
    struct Again(std::vec::IntoIter<&'static str>);

    impl IdSource for Again {
        fn next_id(&mut self) -> crate::json::JsString {
            self.0.next().unwrap_or("none").into()
        }
    }

    /// 01 §6
    #[test]
    fn migration_brings_back_what_was_taken() {
        let entries = |text: &str| {
            let mut loaded = load(text.as_bytes(), Whole, Release::V0_17).unwrap().unwrap();
            migrate(&mut loaded, &mut Again(vec!["a", "b", "c"].into_iter())).unwrap();
            // Migration puts what it adds at the end.
            let sorted = |entry: &Value| {
                let mut members: Vec<String> =
                    entry.as_object().unwrap().iter().map(|(key, value)| format!("{key}={}", to_text(value))).collect();
                members.sort();
                members
            };
            loaded.entries.iter().map(sorted).collect::<Vec<_>>()
        };
        for version in 1..=4 {
            assert_eq!(entries(&at(version)), entries(FILE), "version {version}");
        }
    }

    #[test]
    fn what_version_1_cannot_tell_is_refused() {
        let line = |text: &str| format!("{}{text}\n", FILE.replace("\"firstKeptEntryId\":\"b\"", "\"firstKeptEntryId\":\"none\""));
        let refused = |text: String| at_version(text.as_bytes(), 1, Release::V0_17).unwrap_err();
        assert_eq!(refused(line("")), NotThen::Refers(3));
        let branch = r#"{"type":"custom","customType":"k","id":"d","parentId":"a","timestamp":"t"}"#;
        assert_eq!(refused(format!("{FILE}{branch}\n")), NotThen::Branches(4));
        let label = r#"{"type":"label","id":"d","parentId":"c","timestamp":"t","targetId":"a"}"#;
        assert_eq!(refused(format!("{FILE}{label}\n")), NotThen::Refers(4));
        assert_eq!(refused("{}\n".to_owned()), NotThen::NotCurrent);
        assert_eq!(refused(FILE.replace(":5", ":4")), NotThen::NotCurrent);
    }
}
