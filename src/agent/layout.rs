//! The names of an agent directory (spec 02 §1.2, §1.3; spec 04 §1.2). Pure: names in, meanings out.

use super::identity::is_digest;
use memchr::memmem::FinderRev;
use std::sync::LazyLock;

/// Below the agent directory: managed scopes and legacy directories.
pub const SESSIONS: &str = "sessions";
/// Below the agent directory: one file per blob.
pub const BLOBS: &str = "blobs";
/// Below the agent directory: one file per terminal.
pub const TERMINAL_SESSIONS: &str = "terminal-sessions";
/// Below the agent directory: the prompt history.
pub const HISTORY: &str = "history.db";
/// Below a scope: which workspace it belongs to.
pub const BINDING: &str = ".gjc-managed-session-scope.v2.json";
/// Below a scope: the protocol directory.
pub const INTERNAL: &str = ".gjc-managed-session-internal";
/// Below the protocol directory: lock files.
pub const LOCKS: &str = "locks";
/// Below the protocol directory: migration and retirement receipts.
pub const RECEIPTS: &str = "receipts";
/// Below the protocol directory: tombstones and cleanup records.
pub const TOMBSTONES: &str = "tombstones";
/// The three directories of the protocol directory, in gjc's order.
pub const PROTOCOL: [&str; 3] = [LOCKS, RECEIPTS, TOMBSTONES];
/// Below a scope or artifact directory: what is not yet published.
pub const STAGING: &str = ".staging";
/// Below an agent directory or scope: the quarantine of the native write protocol.
pub const RECOVERY: &str = ".gjc-recovery";
/// Below the sessions root: owners of task artifacts (0.17).
pub const TASK_ARTIFACT_OWNERS: &str = ".task-artifact-owners";
/// Below the sessions root: their locks (0.17).
pub const TASK_ARTIFACT_OWNER_LOCKS: &str = ".task-artifact-owner-locks";
/// How the name of a transcript ends.
pub const TRANSCRIPT_SUFFIX: &str = ".jsonl";

/// What a directory of the sessions root is by its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SessionsName {
    /// `v2-` and 52 characters that a digest can have.
    Scope,
    /// Begins `v2-` and can belong to no workspace; `blocks_owners` when gjc's own syntax refuses it too (spec 03 §9).
    MalformedScope {
        /// Not even `^v2-[a-z2-7]{52}$`.
        blocks_owners: bool,
    },
    /// Begins with `-`: the legacy layout.
    Legacy,
    /// A name that gjc itself makes here.
    Reserved,
    /// Anything else: never visited by a managed listing.
    Unknown,
}

/// Reads a name of the sessions root.
pub fn sessions_name(name: &[u8]) -> SessionsName {
    if let Some(digest) = name.strip_prefix(b"v2-") {
        let shaped = digest.len() == 52 && digest.iter().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7'));
        return if is_digest(digest) { SessionsName::Scope } else { SessionsName::MalformedScope { blocks_owners: !shaped } };
    }
    if name.starts_with(b"-") {
        return SessionsName::Legacy;
    }
    let reserved = [TASK_ARTIFACT_OWNERS, TASK_ARTIFACT_OWNER_LOCKS, RECOVERY];
    if reserved.iter().any(|r| r.as_bytes() == name) { SessionsName::Reserved } else { SessionsName::Unknown }
}

/// True for a name that a listing examines: it ends in exactly `.jsonl`.
pub fn is_transcript_name(name: &[u8]) -> bool {
    name.ends_with(TRANSCRIPT_SUFFIX.as_bytes())
}

/// The name of the artifact directory of a transcript: its name without `.jsonl`.
pub fn artifacts_name(transcript: &[u8]) -> Option<&[u8]> {
    transcript.strip_suffix(TRANSCRIPT_SUFFIX.as_bytes()).filter(|rest| !rest.is_empty())
}

/// The file name that gjc gives a session: stamp (`:` and `.` of the header's timestamp replaced by `-`), `_`, id.
pub fn transcript_name(timestamp: &[u8], id: &[u8]) -> Vec<u8> {
    let mut name: Vec<u8> = stamp(timestamp);
    name.push(b'_');
    name.extend_from_slice(id);
    name.extend_from_slice(TRANSCRIPT_SUFFIX.as_bytes());
    name
}

/// The stamp of a header's timestamp.
pub fn stamp(timestamp: &[u8]) -> Vec<u8> {
    timestamp.iter().map(|b| if matches!(b, b':' | b'.') { b'-' } else { *b }).collect()
}

/// What is in the names of derived files, asked of every name there is.
pub static SPILL: LazyLock<FinderRev<'_>> = LazyLock::new(|| FinderRev::new(".jsonl.spill."));

/// True for a disposable derived file `<transcript>.jsonl.spill.<rest>` (spec 02 §1.3).
pub fn is_spill_name(name: &[u8]) -> bool {
    const EXACT: [&[u8]; 4] = [b"idx", b"tail", b"commit", b"buckets"];
    const PREFIX: [&[u8]; 7] = [b"build-", b"dict-", b"capture-", b"fork-", b"overlay-", b"parent-", b"metadata-"];
    let Some(at) = SPILL.rfind(name) else { return false };
    let rest = name.get(at + SPILL.needle().len()..).unwrap_or_default();
    at > 0
        && (EXACT.contains(&rest)
            || PREFIX.iter().any(|p| rest.len() > p.len() && rest.starts_with(p))
            || (rest.len() > 4 && rest.ends_with(b".tmp")))
}

/// True for a name that the agent directory may hold and that is no session storage, or is session storage with a room
/// of its own (spec 02 §1.2, spec 04 §1.2).
pub fn is_agent_name(name: &[u8]) -> bool {
    const EXACT: &[&str] = &[
        "config.yml",
        "models.yml",
        "settings.json",
        ".env",
        "mcp.json",
        "ssh.json",
        "secrets.yml",
        "keybindings.json",
        "commands",
        "prompts",
        "themes",
        "tools",
        "modules",
        "agents",
        "skills",
        "plugins",
        "plans",
        "memories",
        TERMINAL_SESSIONS,
        BLOBS,
        SESSIONS,
        "resident-cache",
        "sidecar-cache",
        "notifications",
        "share.ts",
        "share.js",
        "share.mjs",
        "sdk",
        "python-gateway",
        RECOVERY,
    ];
    const PREFIX: &[&str] = &["agent.db", "models.db", HISTORY, "gjc-crash", "gjc-error"];
    let log = name.starts_with(b"gjc-") && name.ends_with(b".log");
    log || EXACT.iter().any(|known| known.as_bytes() == name) || PREFIX.iter().any(|p| name.starts_with(p.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_the_sessions_root_is_what_its_name_says() {
        let digest = "5rv7jbgitapagoa4ocoosggzxmdsobetnarxtc2pjcty2dxyl2yq";
        assert_eq!(sessions_name(format!("v2-{digest}").as_bytes()), SessionsName::Scope);
        let never = format!("v2-{}b", &digest[..51]);
        assert_eq!(sessions_name(never.as_bytes()), SessionsName::MalformedScope { blocks_owners: false });
        assert_eq!(sessions_name(b"v2-short"), SessionsName::MalformedScope { blocks_owners: true });
        assert_eq!(sessions_name(b"v2-"), SessionsName::MalformedScope { blocks_owners: true });
        assert_eq!(sessions_name(b"--work-pi--"), SessionsName::Legacy);
        assert_eq!(sessions_name(b"-"), SessionsName::Legacy);
        assert_eq!(sessions_name(b".gjc-recovery"), SessionsName::Reserved);
        assert_eq!(sessions_name(b"old"), SessionsName::Unknown);
    }

    #[test]
    fn a_transcript_is_named_by_stamp_and_id() {
        assert_eq!(transcript_name(b"2026-02-16T10:20:30.000Z", b"abc"), b"2026-02-16T10-20-30-000Z_abc.jsonl");
        assert_eq!(artifacts_name(b"a.jsonl"), Some(&b"a"[..]));
        assert_eq!(artifacts_name(b".jsonl"), None);
        assert_eq!(artifacts_name(b"a.jsonl.bak"), None);
    }

    #[test]
    fn spill_files_are_known_by_the_closed_list() {
        for name in ["a.jsonl.spill.idx", "a.jsonl.spill.build-1", "a.jsonl.spill.x.tmp"] {
            assert!(is_spill_name(name.as_bytes()), "{name}");
        }
        for name in ["a.jsonl.spill.build-", "a.jsonl.spill..tmp", "a.jsonl.spill.other", "a.spill.idx", ".jsonl.spill.idx"] {
            assert!(!is_spill_name(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn names_of_the_agent_directory() {
        for name in ["config.yml", "agent.db-wal", "history.db", "gjc-debug.log", ".gjc-recovery"] {
            assert!(is_agent_name(name.as_bytes()), "{name}");
        }
        for name in ["notes.txt", "session.jsonl", "Sessions"] {
            assert!(!is_agent_name(name.as_bytes()), "{name}");
        }
    }
}
