//! Patch records: when one is valid (spec 01 §5.2). Applying them is [`super::load`]'s.

use crate::finding::{Difference, Release};
use crate::json::View;

/// Why a patch record is not valid. gjc ignores such a record as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A key that is not allowed; RFC 6901 pointer of the member.
    UnknownKey(String),
    /// A member that is missing or has the wrong type; RFC 6901 pointer of the member.
    WrongType(&'static str),
}

impl Fault {
    /// RFC 6901 pointer of the member that voids the record.
    pub fn pointer(&self) -> &str {
        match self {
            Fault::UnknownKey(pointer) => pointer,
            Fault::WrongType(pointer) => pointer,
        }
    }
}

/// What a valid `header_patch` sets; each value has the right type.
#[derive(Clone, Copy, Debug)]
pub struct HeaderPatch<V> {
    /// A string.
    pub cwd: Option<V>,
    /// A string.
    pub title: Option<V>,
    /// `auto` or `user`.
    pub title_source: Option<V>,
    /// A boolean (0.17; an unknown key in 0.15).
    pub starred: Option<V>,
}

/// What a valid `entry_patch` sets.
#[derive(Clone, Copy, Debug)]
pub struct EntryPatch<V> {
    /// The id of the entry, a string.
    pub entry_id: V,
    /// The object that replaces the entry's `message`.
    pub message: Option<V>,
}

/// Reads a `header_patch` record.
///
/// # Errors
/// The first fault that makes gjc ignore the record.
pub fn header_patch<'v, V: View<'v>>(record: V, release: Release) -> Result<HeaderPatch<V>, Fault> {
    let patch = patch_of(record)?;
    known_keys(record, "", &["type", "patch"])?;
    let keys = ["cwd", "title", "titleSource", "starred"];
    known_keys(patch, "/patch", if Difference::StarPatches.in_effect(release) { &keys } else { &keys[..3] })?;
    let field = |key, pointer, fits: fn(V) -> bool| match patch.get(key) {
        Some(value) if !fits(value) => Err(Fault::WrongType(pointer)),
        value => Ok(value),
    };
    Ok(HeaderPatch {
        cwd: field("cwd", "/patch/cwd", |v| v.as_str().is_some())?,
        title: field("title", "/patch/title", |v| v.as_str().is_some())?,
        title_source: field("titleSource", "/patch/titleSource", |v| v.is_str("auto") || v.is_str("user"))?,
        starred: field("starred", "/patch/starred", |v| v.as_bool().is_some())?,
    })
}

/// Reads an `entry_patch` record.
///
/// # Errors
/// The first fault that makes gjc ignore the record.
pub fn entry_patch<'v, V: View<'v>>(record: V) -> Result<EntryPatch<V>, Fault> {
    let entry_id = record.get("entryId").filter(|id| id.as_str().is_some()).ok_or(Fault::WrongType("/entryId"))?;
    let patch = patch_of(record)?;
    known_keys(record, "", &["type", "entryId", "patch"])?;
    known_keys(patch, "/patch", &["message"])?;
    match patch.get("message") {
        Some(message) if !message.is_record() => Err(Fault::WrongType("/patch/message")),
        message => Ok(EntryPatch { entry_id, message }),
    }
}

fn patch_of<'v, V: View<'v>>(record: V) -> Result<V, Fault> {
    record.get("patch").filter(|patch| patch.is_record()).ok_or(Fault::WrongType("/patch"))
}

fn known_keys<'v, V: View<'v>>(object: V, above: &str, known: &[&str]) -> Result<(), Fault> {
    match object.members().find(|(key, _)| !known.iter().any(|k| k.as_bytes() == &**key)) {
        None => Ok(()),
        Some((key, _)) => {
            let key = crate::json::text::wtf8_lossy(&key).replace('~', "~0").replace('/', "~1");
            Err(Fault::UnknownKey(format!("{above}/{key}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    fn header_fault(record: &str, release: Release) -> Option<String> {
        let record = Value::parse(record.as_bytes()).unwrap();
        header_patch(&record, release).err().map(|fault| fault.pointer().to_owned())
    }
    fn entry_fault(record: &str) -> Option<String> {
        let record = Value::parse(record.as_bytes()).unwrap();
        entry_patch(&record).err().map(|fault| fault.pointer().to_owned())
    }

    #[test]
    fn a_header_patch_may_set_what_it_knows_or_nothing() {
        for record in
            [r#"{"type":"header_patch","patch":{}}"#, r#"{"type":"header_patch","patch":{"cwd":"","title":"t","titleSource":"auto"}}"#]
        {
            assert_eq!(header_fault(record, Release::V0_15), None, "{record}");
        }
    }

    #[test]
    fn one_wrong_member_voids_a_header_patch() {
        for (record, pointer) in [
            (r#"{"type":"header_patch"}"#, "/patch"),
            (r#"{"type":"header_patch","patch":[]}"#, "/patch"),
            (r#"{"type":"header_patch","patch":{},"id":"x"}"#, "/id"),
            (r#"{"type":"header_patch","patch":{"title":"t","a/b":1}}"#, "/patch/a~1b"),
            (r#"{"type":"header_patch","patch":{"__proto__":{}}}"#, "/patch/__proto__"),
            (r#"{"type":"header_patch","patch":{"cwd":null}}"#, "/patch/cwd"),
            (r#"{"type":"header_patch","patch":{"titleSource":"robot"}}"#, "/patch/titleSource"),
            (r#"{"type":"header_patch","patch":{"starred":1}}"#, "/patch/starred"),
        ] {
            assert_eq!(header_fault(record, Release::V0_17).as_deref(), Some(pointer), "{record}");
        }
    }

    #[test]
    fn starred_is_an_unknown_key_in_0_15() {
        let record = r#"{"type":"header_patch","patch":{"starred":true}}"#;
        assert_eq!(header_fault(record, Release::V0_15).as_deref(), Some("/patch/starred"));
        assert_eq!(header_fault(record, Release::V0_17), None);
    }

    #[test]
    fn an_entry_patch_needs_an_id_and_an_object() {
        assert_eq!(entry_fault(r#"{"type":"entry_patch","entryId":"","patch":{"message":{}}}"#), None);
        for (record, pointer) in [
            (r#"{"type":"entry_patch","entryId":7,"patch":{}}"#, "/entryId"),
            (r#"{"type":"entry_patch","entryId":"a","patch":null}"#, "/patch"),
            (r#"{"type":"entry_patch","entryId":"a","patch":{"message":[]}}"#, "/patch/message"),
            (r#"{"type":"entry_patch","entryId":"a","patch":{"label":"x"}}"#, "/patch/label"),
            (r#"{"type":"entry_patch","entryId":"a","patch":{},"parentId":null}"#, "/parentId"),
        ] {
            assert_eq!(entry_fault(record).as_deref(), Some(pointer), "{record}");
        }
    }
}
