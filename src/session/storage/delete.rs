//! Verified deletion, as far as files in memory know it (spec 04 §7.6): all of the evidence agrees, or nothing changes.
//!
//! Memory cannot carry out the retirement of a task-artifact owner: whatever names one is refused before anything else is
//! looked at that could change. That a transcript is absent proves no physical retirement either, so an owner-retirement
//! target is refused then too.

use super::{Snapshot, Stat, artifacts_directory};
use crate::json::{Value, View};
use crate::transcript::blobs::name_of;
use crate::transcript::readers::owner;
use std::path::{Component, Path, PathBuf};

/// The evidence that a deletion is bound to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The root that the transcript lies in.
    pub root: String,
    /// The transcript: a path that ends `.jsonl`.
    pub transcript: String,
    /// The header's `id`.
    pub session_id: String,
    /// The header's `cwd`.
    pub cwd: String,
    /// The facts of the file as they were captured.
    pub stat: Stat,
    /// SHA-256 of its bytes as they were captured.
    pub sha256: String,
    /// The target asks for the retirement of a task-artifact owner.
    pub retires_owner: bool,
}

/// The transcript is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deleted;

/// Which check refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeleteKind {
    /// The path.
    Containment,
    /// The file's facts, its content, or the header's id.
    Identity,
    /// There is no header.
    Header,
    /// The header's workspace.
    Cwd,
    /// Something stands where the artifacts directory would.
    Artifacts,
    /// A task-artifact owner is involved.
    Owner,
}

/// A refusal: nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct DeleteError {
    /// Which check.
    pub kind: DeleteKind,
    /// gjc's token or message.
    pub message: &'static str,
}

const fn refused<T>(kind: DeleteKind, message: &'static str) -> Result<T, DeleteError> {
    Err(DeleteError { kind, message })
}

const UNSUPPORTED: &str = "task_artifact_owner_memory_backend_unsupported";

/// Verifies a target against files in memory, in gjc's order. `read` answers none for an absent file. An absent transcript is
/// deleted already.
///
/// # Errors
/// The first check that fails.
pub fn in_memory(target: &Target, read: impl Fn(&str) -> Option<Snapshot>) -> Result<(), DeleteError> {
    use DeleteKind::{Artifacts, Containment, Cwd, Header, Identity, Owner};
    if !target.transcript.ends_with(crate::agent::layout::TRANSCRIPT_SUFFIX) {
        return refused(Containment, "Transcript path is not a .jsonl file");
    }
    if !normal(&target.transcript).starts_with(normal(&target.root)) {
        return refused(Containment, "Transcript is outside the sessions root");
    }
    if target.retires_owner {
        return refused(Owner, UNSUPPORTED);
    }
    let Some(Snapshot { bytes, stat }) = read(&target.transcript) else { return Ok(()) };
    let first_line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(header) = Value::parse(first_line.trim_ascii()) else {
        return refused(Header, "Transcript header is missing or unreadable");
    };
    let Some(id) = header.str_member("id").filter(|_| header.member("type").is_some_and(|kind| kind.is_str("session"))) else {
        return refused(Header, "Transcript header is not a valid session header");
    };
    if *id != *target.session_id.as_bytes() {
        return refused(Identity, "Transcript header id mismatch");
    }
    let Some(cwd) = header.str_member("cwd") else { return refused(Cwd, "Transcript header is missing a cwd") };
    if std::str::from_utf8(&cwd).ok().is_none_or(|cwd| normal(cwd) != normal(&target.cwd)) {
        return refused(Cwd, "Transcript header cwd mismatch");
    }
    if stat != target.stat || name_of(&bytes) != target.sha256 {
        return refused(Identity, "Transcript identity mismatch");
    }
    // The header's own owner, or one that a patch brought: reading from memory cannot fail, and what the owner reader refuses
    // carries an owner that it cannot name.
    if !matches!(owner::owner(&bytes[..], &id), Ok(Ok(None))) {
        return refused(Owner, UNSUPPORTED);
    }
    if read(artifacts_directory(&target.transcript)).is_some() {
        return refused(Artifacts, "Artifact path exists but is not a directory");
    }
    Ok(())
}

/// The path without `.` and `..`, by its text.
fn normal(path: &str) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::super::{Memory, SessionStorage};
    use super::*;

    const HEADER: &str = r#"{"type":"session","version":5,"id":"s1","timestamp":"t","cwd":"/w"}"#;
    const PATH: &str = "/a/sessions/x/s.jsonl";

    fn stored(text: &str) -> (Memory, Target) {
        let memory = Memory::new();
        memory.write(PATH, text.as_bytes()).unwrap();
        let target = Target {
            root: "/a/sessions".into(),
            transcript: PATH.into(),
            session_id: "s1".into(),
            cwd: "/w/x/..".into(),
            stat: memory.stat(PATH).unwrap(),
            sha256: name_of(text.as_bytes()),
            retires_owner: false,
        };
        (memory, target)
    }
    /// The refusal of a target that was changed; the file must still be there.
    fn refusal(text: &str, change: impl FnOnce(&mut Target, &Memory)) -> (DeleteKind, &'static str) {
        let (memory, mut target) = stored(text);
        change(&mut target, &memory);
        let before = memory.all();
        let error = memory.delete_session_verified(&target).unwrap_err();
        assert_eq!(memory.all(), before);
        (error.kind, error.message)
    }

    #[test]
    fn what_agrees_is_deleted_and_what_is_absent_is_deleted_already() {
        let (memory, target) = stored(&format!("{HEADER}\n"));
        assert_eq!(memory.delete_session_verified(&target), Ok(Deleted));
        assert_eq!(memory.all(), []);
        assert_eq!(memory.delete_session_verified(&target), Ok(Deleted));
    }

    /// 04 §7.6, in its order
    #[test]
    fn each_check_refuses() {
        use DeleteKind::*;
        let text = format!("{HEADER}\n");
        assert_eq!(refusal(&text, |target, _| target.transcript = "/a/sessions/x/s".into()).0, Containment);
        assert_eq!(refusal(&text, |target, _| target.transcript = "/a/sessions/../s.jsonl".into()).0, Containment);
        assert_eq!(refusal(&text, |target, _| target.root = "/a/sess".into()).0, Containment);
        assert_eq!(refusal(&text, |target, _| target.session_id = "s2".into()).0, Identity);
        assert_eq!(refusal(&text, |target, _| target.cwd = "/other".into()).0, Cwd);
        assert_eq!(refusal(&text, |target, _| target.sha256 = name_of(b"")).0, Identity);
        assert_eq!(refusal(&text, |_, memory| memory.write(PATH, format!("{HEADER}\n\n").as_bytes()).unwrap()).0, Identity);
        assert_eq!(refusal(&text, |_, memory| memory.write("/a/sessions/x/s", b"").unwrap()).0, Artifacts);
        assert_eq!(refusal("", |_, _| {}).1, "Transcript header is missing or unreadable");
        assert_eq!(refusal("{\"type\":\"x\",\"id\":\"s1\"}\n", |_, _| {}).1, "Transcript header is not a valid session header");
        assert_eq!(refusal("{\"type\":\"session\",\"id\":\"s1\"}\n", |_, _| {}).1, "Transcript header is missing a cwd");
    }

    /// 04 §7.6, seeds "Storage Abstractions"
    #[test]
    fn an_owner_is_refused_in_the_header_and_in_a_patch() {
        let owner = format!(r#"{{"schemaVersion":1,"ownerId":"{}","directoryDev":"1","directoryIno":"2"}}"#, name_of(b"s1"));
        let in_header = HEADER.replace("\"cwd\"", &format!("\"taskArtifactOwner\":{owner},\"cwd\""));
        let in_patch = format!("{HEADER}\n{{\"type\":\"header_patch\",\"patch\":{{\"taskArtifactOwner\":{owner}}}}}");
        let broken_patch = format!("{HEADER}\n{}", r#"{"type":"header_patch","patch":{"taskArtifactOwner":null}}"#);
        for text in [in_header, in_patch, broken_patch] {
            assert_eq!(refusal(&format!("{text}\n"), |_, _| {}), (DeleteKind::Owner, UNSUPPORTED), "{text}");
        }
    }

    #[test]
    fn an_absent_transcript_proves_no_retirement_of_an_owner() {
        let (memory, mut target) = stored(&format!("{HEADER}\n"));
        memory.unlink(PATH).unwrap();
        target.retires_owner = true;
        assert_eq!(memory.delete_session_verified(&target).unwrap_err().message, UNSUPPORTED);
    }
}
