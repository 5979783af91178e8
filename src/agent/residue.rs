//! Reserved names: every temporary, quarantine and residue name that gjc's write protocols leave behind, as one closed
//! grammar (spec 02 §1.4, §8.5, §8.6; spec 04 §10.6). Pure: names in, parsed fields out; nothing is looked at on disk.
//!
//! A name is never authority. What it proves, and whether the object under it is what the name says, is for the checks.

use crate::json::spelling::{canonical_decimal, is_hex, is_hex64, is_uuid};

/// A lower-case hexadecimal number without leading zeros, as the names of spec 02 carry device and inode numbers.
///
/// The newest release also writes the signed form of a 64-bit value (`-1f`); it is reduced to the unsigned value here
/// (spec 02 §8.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Hex(pub u64);

/// Device and inode as a name records them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Inode {
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
}

/// What a `.gjc-delete-…` name was made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeleteOwner<'a> {
    /// A verified deletion: operation name and attempt.
    Operation {
        /// 64 lower-case hex.
        operation: &'a str,
        /// Attempt number text, canonical decimal.
        attempt: u64,
    },
    /// The retention pass of 0.15.0 (`gjc gc --disk`): a UUID, no tombstone.
    DiskGc {
        /// The UUID.
        uuid: &'a str,
    },
}

/// Which part of a session a `.gjc-delete-…` name holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeletePart {
    /// The artifact tree, detached.
    Artifacts,
    /// The artifact tree in its last phase (name + `.removing`).
    ArtifactsRemoving,
    /// The transcript.
    Transcript,
}

/// Families of names inside `.gjc-recovery/` (spec 02 §8.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecoveryFamily {
    /// `.gjc-managed-replace`
    Replace,
    /// `.gjc-managed-replace-complete`
    ReplaceComplete,
    /// `.gjc-managed-remove`
    Remove,
    /// `.gjc-managed-tree-remove`
    TreeRemove,
    /// `.gjc-managed-exchange`
    Exchange,
}

/// Which release's name format a recovery entry has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecoveryFormat {
    /// `<family>-<pid>-<n>` (0.15.0 and 0.17.4).
    Old,
    /// `<family>-<pid>-<pid namespace>-<boot id>-<start ticks>-<n>-<created>`.
    New {
        /// Seconds since 1970.
        created: u64,
    },
    /// `<family>-<pid>-<n>-<created>`.
    NewWithoutProcess {
        /// Seconds since 1970.
        created: u64,
    },
    /// Anything else behind the family name.
    Other,
}

/// One reserved name with its fields. The variants are the rows of spec 02 §1.4 and of spec 04 §10.6.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Residue<'a> {
    /// `.<destination>.<uuid>.staging`: a no-replace publication.
    Staging {
        /// Basename of the destination.
        destination: &'a [u8],
    },
    /// `.gjc-publish-<pid>-<uuid>`: a retained no-replace publication.
    Publish {
        /// Process that wrote it.
        pid: u64,
    },
    /// `.<destination>.<uuid>.replacement`: staging of a replacement, or the retired predecessor.
    Replacement {
        /// Basename of the destination.
        destination: &'a [u8],
        /// The attempt.
        attempt: &'a str,
    },
    /// `.gjc-replace-receipt-pending-…`: a pending replacement receipt; any rest is accepted (02a.15).
    ReplaceReceiptPending,
    /// `.gjc-replace-cleanup-<p>-receipt-<r>.json`: a canonical replacement receipt.
    ReplaceReceiptCanonical {
        /// The predecessor's device and inode.
        predecessor: Inode,
        /// The receipt file's own device and inode.
        receipt: Inode,
    },
    /// `.gjc-replace-cleanup-<dev>-<ino>.json`: a version-1 replacement receipt.
    ReplaceReceiptV1 {
        /// The predecessor's device and inode, as in the name's text.
        predecessor: Inode,
        /// False when a number has leading zeros, which only 0.15.0 accepts (spec 02 §8.4).
        canonical: bool,
    },
    /// Any other name with one of the two replacement-receipt prefixes.
    ReplaceReceiptOther,
    /// `.gjc-receipt-remove-…`: a scrubbed or detached receipt; version 1 has no predecessor.
    ReceiptRemove {
        /// The receipt.
        receipt: Inode,
        /// The predecessor.
        predecessor: Option<Inode>,
    },
    /// `.gjc-receipt-placeholder-remove-` and six numbers.
    ReceiptPlaceholderRemove,
    /// `.gjc-replace-retry-<dev>-<ino>`
    ReplaceRetry {
        /// The predecessor.
        predecessor: Inode,
    },
    /// `.gjc-exact-replace-source-<dev>-<ino>[-<pid>]`: a pinned hard link of the successor.
    ExactReplaceSource {
        /// The pinned object.
        source: Inode,
    },
    /// `.gjc-exact-replace-source-cleanup-<ino>-<pid>`
    ExactReplaceSourceCleanup,
    /// `.gjc-exact-replace-retained-source-cleanup-…` (name seen in the published binary; use UNVERIFIED).
    ExactReplaceRetainedSourceCleanup,
    /// `.gjc-exact-replace-destination-<a>-<b>`: `<ino>-<pid>`, or `<dev>-<ino>` on Windows and in version 1.
    ExactReplaceDestination {
        /// The two numbers.
        numbers: (u64, u64),
    },
    /// `.gjc-exact-unlink-placeholder-<dev>-<ino>`
    ExactUnlinkPlaceholder {
        /// The removed object.
        object: Inode,
    },
    /// `.gjc-substitution-cleanup-<dev>-<ino>-<pid>`
    SubstitutionCleanup,
    /// `.gjc-remove-<pid>-<uuid>`
    Remove {
        /// Process that wrote it.
        pid: u64,
    },
    /// `.gjc-remnant-reap-<hex of the destination name>-<uuid>`: a surplus hard link on its way out.
    RemnantReap {
        /// Hex of the destination's UTF-8 basename.
        destination_hex: &'a [u8],
    },
    /// `.gjc-lock-<uuid>.stale`: a retired lock.
    LockStale,
    /// `.gjc-migrate-<op>-artifacts`: an artifact root detached while it is copied.
    MigrateArtifacts {
        /// The operation name.
        operation: &'a str,
    },
    /// `.gjc-delete-…`
    Delete {
        /// The deletion that made it.
        owner: DeleteOwner<'a>,
        /// What it holds.
        part: DeletePart,
    },
    /// `.pi-tree-detached-<64 hex>`: a child renamed during an older native tree removal.
    TreeDetached {
        /// SHA-256 of relative path, dev and ino.
        sha256: &'a str,
    },
    /// `.<name>.<uuid>.fork-staging` (directory)
    ForkStaging {
        /// The artifact directory that was to be published.
        destination: &'a [u8],
    },
    /// `.<dir>.fork-staging-XXXXXX` (directory)
    ForkStagingDirectory {
        /// The directory that was to be published.
        destination: &'a [u8],
    },
    /// A quarantine of `.gjc-recovery/`.
    Recovery {
        /// What kind of write left it.
        family: RecoveryFamily,
        /// Old or new name format.
        format: RecoveryFormat,
    },
    /// `.gjc-reaper-cursor`
    ReaperCursor,
    /// `.gjc-reaper-first-seen-<64 hex>`
    ReaperFirstSeen,
    /// `.<base>.<16 hex>.tmp` or `….default-selection.tmp`: an incomplete rewrite.
    RewriteTemp {
        /// The file that was to be rewritten.
        base: &'a [u8],
    },
    /// `<base>.<middle>.bak`: the EPERM fallback of a rewrite. `base` ends in `.jsonl` only when gjc would restore it
    /// (spec 04 §2.2); the middle is not validated by gjc.
    Backup {
        /// The primary that gjc would restore, when the name has that form.
        primary: Option<&'a [u8]>,
    },
    /// `.<base>.<uuid>.staged` or `.staged-final`: the staged writer.
    Staged {
        /// The transcript that was to be written.
        base: &'a [u8],
    },
    /// `.<id>.memory-guard.<uuid>.jsonl`
    MemoryGuard {
        /// The session id.
        id: &'a [u8],
    },
    /// `<lock>.<uuid>.owner.tmp`
    OwnerTemp {
        /// The lock file.
        lock: &'a [u8],
    },
    /// `<transcript>.spill.<rest>`: a disposable derived file (spec 02 §1.3).
    Spill {
        /// The transcript it belongs to.
        transcript: &'a [u8],
    },
    /// Another name beginning `.gjc-`.
    OtherGjc,
    /// Another name of a deletion: beginning `.gjc-delete-`, or ending `.removing`. A newer release may have made it.
    OtherDeletion,
}

/// The reserved name that `name` is, or none. Rules in the order of the tables; the general prefixes come last.
pub fn parse(name: &[u8]) -> Option<Residue<'_>> {
    // Nearly all names of a directory begin without a dot.
    let hidden = || name.starts_with(b".").then(|| gjc_name(name).or_else(|| dotted_name(name))).flatten();
    hidden().or_else(|| plain_name(name)).or_else(|| {
        if name.starts_with(b".gjc-delete-") || name.ends_with(b".removing") {
            Some(Residue::OtherDeletion)
        } else if name.starts_with(b".gjc-") && !is_directory_name_of_gjc(name) {
            Some(Residue::OtherGjc)
        } else {
            None
        }
    })
}

/// Names beginning `.gjc-` that are regular parts of a scope, not residue.
fn is_directory_name_of_gjc(name: &[u8]) -> bool {
    matches!(name, b".gjc-managed-session-scope.v2.json" | b".gjc-managed-session-internal" | b".gjc-recovery")
}

/// True for the five prefixes that the remnant reaper accepts (spec 02 §8.5) when the object is an old empty file.
pub fn is_reapable_prefix(name: &[u8]) -> bool {
    const PREFIXES: [&[u8]; 5] = [
        b".gjc-exact-unlink-placeholder-",
        b".gjc-exact-replace-destination-",
        b".gjc-receipt-remove-",
        b".gjc-receipt-placeholder-remove-",
        b".gjc-replace-retry-",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// True for the two prefixes under which replacement receipts are looked for (spec 02 §8.1).
pub fn is_replacement_receipt(name: &[u8]) -> bool {
    name.starts_with(REPLACE_PENDING) || name.starts_with(REPLACE_CLEANUP)
}

const REPLACE_PENDING: &[u8] = b".gjc-replace-receipt-pending-";
const REPLACE_CLEANUP: &[u8] = b".gjc-replace-cleanup-";

/// Names beginning with a fixed `.gjc-…` or `.pi-…` prefix.
fn gjc_name(name: &[u8]) -> Option<Residue<'_>> {
    if name.starts_with(REPLACE_PENDING) {
        return Some(Residue::ReplaceReceiptPending);
    }
    if let Some(rest) = name.strip_prefix(REPLACE_CLEANUP) {
        return Some(replace_cleanup(rest).unwrap_or(Residue::ReplaceReceiptOther));
    }
    let text = std::str::from_utf8(name).ok()?;
    if let Some(rest) = text.strip_prefix(".gjc-publish-") {
        return pid_and_uuid(rest).map(|pid| Residue::Publish { pid });
    }
    if let Some(rest) = text.strip_prefix(".gjc-receipt-remove-") {
        return match *hex_fields(rest)?.as_slice() {
            [dev, ino] => Some(Residue::ReceiptRemove { receipt: Inode { dev, ino }, predecessor: None }),
            [dev, ino, p_dev, p_ino] => {
                Some(Residue::ReceiptRemove { receipt: Inode { dev, ino }, predecessor: Some(Inode { dev: p_dev, ino: p_ino }) })
            }
            _ => None,
        };
    }
    if let Some(rest) = text.strip_prefix(".gjc-receipt-placeholder-remove-") {
        return (hex_fields(rest)?.len() == 6).then_some(Residue::ReceiptPlaceholderRemove);
    }
    if let Some(rest) = text.strip_prefix(".gjc-replace-retry-") {
        return match *hex_fields(rest)?.as_slice() {
            [dev, ino] => Some(Residue::ReplaceRetry { predecessor: Inode { dev, ino } }),
            _ => None,
        };
    }
    if text.starts_with(".gjc-exact-replace-retained-source-cleanup-") {
        return Some(Residue::ExactReplaceRetainedSourceCleanup);
    }
    if let Some(rest) = text.strip_prefix(".gjc-exact-replace-source-cleanup-") {
        return (hex_fields(rest)?.len() == 2).then_some(Residue::ExactReplaceSourceCleanup);
    }
    if let Some(rest) = text.strip_prefix(".gjc-exact-replace-source-") {
        return match *hex_fields(rest)?.as_slice() {
            [dev, ino] | [dev, ino, _] => Some(Residue::ExactReplaceSource { source: Inode { dev, ino } }),
            _ => None,
        };
    }
    if let Some(rest) = text.strip_prefix(".gjc-exact-replace-destination-") {
        return match *hex_fields(rest)?.as_slice() {
            [first, second] => Some(Residue::ExactReplaceDestination { numbers: (first, second) }),
            _ => None,
        };
    }
    if let Some(rest) = text.strip_prefix(".gjc-exact-unlink-placeholder-") {
        return match *hex_fields(rest)?.as_slice() {
            [dev, ino] => Some(Residue::ExactUnlinkPlaceholder { object: Inode { dev, ino } }),
            _ => None,
        };
    }
    if let Some(rest) = text.strip_prefix(".gjc-substitution-cleanup-") {
        return (hex_fields(rest)?.len() == 3).then_some(Residue::SubstitutionCleanup);
    }
    if let Some(rest) = text.strip_prefix(".gjc-remove-") {
        return pid_and_uuid(rest).map(|pid| Residue::Remove { pid });
    }
    if let Some(rest) = text.strip_prefix(".gjc-remnant-reap-") {
        let (hex, uuid) = rest.split_once('-')?;
        let whole = !hex.is_empty() && hex.len().is_multiple_of(2) && hex.bytes().all(is_hex);
        return (whole && is_uuid(uuid)).then_some(Residue::RemnantReap { destination_hex: hex.as_bytes() });
    }
    if let Some(uuid) = text.strip_prefix(".gjc-lock-").and_then(|rest| rest.strip_suffix(".stale")) {
        return is_uuid(uuid).then_some(Residue::LockStale);
    }
    if let Some(operation) = text.strip_prefix(".gjc-migrate-").and_then(|rest| rest.strip_suffix("-artifacts")) {
        return is_hex64(operation).then_some(Residue::MigrateArtifacts { operation });
    }
    if let Some(rest) = text.strip_prefix(".gjc-delete-") {
        return delete_name(rest);
    }
    if let Some(sha256) = text.strip_prefix(".pi-tree-detached-") {
        return is_hex64(sha256).then_some(Residue::TreeDetached { sha256 });
    }
    if text == ".gjc-reaper-cursor" {
        return Some(Residue::ReaperCursor);
    }
    if let Some(sha256) = text.strip_prefix(".gjc-reaper-first-seen-") {
        return is_hex64(sha256).then_some(Residue::ReaperFirstSeen);
    }
    recovery_name(text)
}

/// What follows `.gjc-replace-cleanup-`.
fn replace_cleanup(rest: &[u8]) -> Option<Residue<'_>> {
    let text = std::str::from_utf8(rest).ok()?.strip_suffix(".json")?;
    if let Some((predecessor, receipt)) = text.split_once("-receipt-") {
        let (predecessor, receipt) = (signed_hex_pair(predecessor)?, signed_hex_pair(receipt)?);
        return Some(Residue::ReplaceReceiptCanonical { predecessor, receipt });
    }
    if let Some(predecessor) = signed_hex_pair(text) {
        return Some(Residue::ReplaceReceiptV1 { predecessor, canonical: true });
    }
    let (dev, ino) = text.split_once('-')?;
    let trimmed = |digits: &str| {
        unsigned_hex(Some(digits.trim_start_matches('0')).filter(|rest| !rest.is_empty() || digits.is_empty()).unwrap_or("0"))
    };
    Some(Residue::ReplaceReceiptV1 { predecessor: Inode { dev: trimmed(dev)?, ino: trimmed(ino)? }, canonical: false })
}

/// What follows `.gjc-delete-`.
fn delete_name(rest: &str) -> Option<Residue<'_>> {
    if let Some(rest) = rest.strip_prefix("gc-") {
        let (uuid, part) = match rest {
            _ if rest.ends_with("-artifacts.removing") => (rest.strip_suffix("-artifacts.removing")?, DeletePart::ArtifactsRemoving),
            _ if rest.ends_with("-artifacts") => (rest.strip_suffix("-artifacts")?, DeletePart::Artifacts),
            _ => (rest.strip_suffix("-transcript")?, DeletePart::Transcript),
        };
        return is_uuid(uuid).then_some(Residue::Delete { owner: DeleteOwner::DiskGc { uuid }, part });
    }
    let (operation, rest) = rest.split_once('-')?;
    let (part, attempt) = if let Some(attempt) = rest.strip_prefix("artifacts-") {
        match attempt.strip_suffix(".removing") {
            Some(attempt) => (DeletePart::ArtifactsRemoving, attempt),
            None => (DeletePart::Artifacts, attempt),
        }
    } else {
        (DeletePart::Transcript, rest.strip_prefix("transcript-")?)
    };
    let attempt = canonical_decimal(attempt)?;
    is_hex64(operation).then_some(Residue::Delete { owner: DeleteOwner::Operation { operation, attempt }, part })
}

/// Names of quarantined objects below `.gjc-recovery/`.
fn recovery_name(text: &str) -> Option<Residue<'_>> {
    const FAMILIES: [(&str, RecoveryFamily); 5] = [
        (".gjc-managed-replace-complete-", RecoveryFamily::ReplaceComplete),
        (".gjc-managed-replace-", RecoveryFamily::Replace),
        (".gjc-managed-remove-", RecoveryFamily::Remove),
        (".gjc-managed-tree-remove-", RecoveryFamily::TreeRemove),
        (".gjc-managed-exchange-", RecoveryFamily::Exchange),
    ];
    let (family, rest) = FAMILIES.iter().find_map(|(prefix, family)| text.strip_prefix(prefix).map(|rest| (*family, rest)))?;
    let fields: Vec<&str> = rest.split('-').take(8).collect();
    let decimal = |field: &str| canonical_decimal(field);
    let format = match fields.as_slice() {
        [pid, n] if decimal(pid).is_some() && decimal(n).is_some() => RecoveryFormat::Old,
        [pid, n, created] => match (decimal(pid), decimal(n), decimal(created)) {
            (Some(_), Some(_), Some(created)) if family != RecoveryFamily::Replace => RecoveryFormat::NewWithoutProcess { created },
            _ => RecoveryFormat::Other,
        },
        [pid, namespace, boot, ticks, n, created] if boot.len() == 32 && boot.bytes().all(is_hex) => {
            match (decimal(pid), decimal(namespace), decimal(ticks), decimal(n), decimal(created)) {
                (Some(_), Some(_), Some(_), Some(_), Some(created)) => RecoveryFormat::New { created },
                _ => RecoveryFormat::Other,
            }
        }
        _ => RecoveryFormat::Other,
    };
    Some(Residue::Recovery { family, format })
}

/// Names of the form `.<something>.<uuid or hex>.<suffix>`.
fn dotted_name(name: &[u8]) -> Option<Residue<'_>> {
    let inner = name.strip_prefix(b".")?;
    if let Some(rest) = inner.strip_suffix(b".staging") {
        return base_and_uuid(rest).map(|(destination, _)| Residue::Staging { destination });
    }
    if let Some(rest) = inner.strip_suffix(b".replacement") {
        return base_and_uuid(rest).map(|(destination, attempt)| Residue::Replacement { destination, attempt });
    }
    if let Some(rest) = inner.strip_suffix(b".fork-staging") {
        return base_and_uuid(rest).map(|(destination, _)| Residue::ForkStaging { destination });
    }
    if let Some(rest) = inner.strip_suffix(b".staged").or_else(|| inner.strip_suffix(b".staged-final")) {
        return base_and_uuid(rest).map(|(base, _)| Residue::Staged { base });
    }
    if let Some(rest) = inner.strip_suffix(b".default-selection.tmp").or_else(|| inner.strip_suffix(b".tmp")) {
        let (base, hex) = split_last_dot(rest)?;
        return (!base.is_empty() && hex.len() == 16 && hex.iter().copied().all(is_hex)).then_some(Residue::RewriteTemp { base });
    }
    if let Some(rest) = inner.strip_suffix(b".jsonl") {
        let (left, _) = base_and_uuid(rest)?;
        return left.strip_suffix(b".memory-guard").filter(|id| !id.is_empty()).map(|id| Residue::MemoryGuard { id });
    }
    // mkdtemp: six characters behind the last `-`.
    let at = inner.len().checked_sub(7)?;
    let (head, random) = inner.split_at(at);
    let destination = head.strip_suffix(b".fork-staging")?;
    let whole = !destination.is_empty() && random.starts_with(b"-") && random.iter().skip(1).all(u8::is_ascii_alphanumeric);
    whole.then_some(Residue::ForkStagingDirectory { destination })
}

/// Reserved names that need no leading dot.
fn plain_name(name: &[u8]) -> Option<Residue<'_>> {
    if let Some(rest) = name.strip_suffix(b".owner.tmp") {
        return base_and_uuid(rest).map(|(lock, _)| Residue::OwnerTemp { lock });
    }
    if let Some(rest) = name.strip_suffix(b".bak") {
        // gjc looks for the names with a glob, which leaves out those that begin with a dot.
        let primary = split_last_dot(rest).map(|(left, _)| left).filter(|left| !left.starts_with(b".") && left.ends_with(b".jsonl"));
        return Some(Residue::Backup { primary });
    }
    let at = super::layout::SPILL.rfind(name)?;
    let transcript = name.get(..at + b".jsonl".len())?;
    super::layout::is_spill_name(name).then_some(Residue::Spill { transcript })
}

fn split_last_dot(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memrchr(b'.', name)?;
    let (left, right) = name.split_at(at);
    Some((left, right.strip_prefix(b".")?))
}

/// `<base>.<uuid>` with a base that is not empty.
fn base_and_uuid(name: &[u8]) -> Option<(&[u8], &str)> {
    let (base, uuid) = split_last_dot(name)?;
    let uuid = std::str::from_utf8(uuid).ok()?;
    (!base.is_empty() && is_uuid(uuid)).then_some((base, uuid))
}

/// `<pid>-<uuid>`
fn pid_and_uuid(text: &str) -> Option<u64> {
    let (pid, uuid) = text.split_once('-')?;
    is_uuid(uuid).then(|| canonical_decimal(pid)).flatten()
}

/// Numbers in lower-case hex without leading zeros, separated by `-`; at most six.
fn hex_fields(text: &str) -> Option<Vec<u64>> {
    let fields: Option<Vec<u64>> = text.split('-').take(7).map(unsigned_hex).collect();
    fields.filter(|fields| fields.len() <= 6)
}

fn unsigned_hex(text: &str) -> Option<u64> {
    let digits = text.as_bytes();
    let canonical = match digits {
        [b'0'] => true,
        [first, ..] => *first != b'0' && digits.iter().copied().all(is_hex),
        [] => false,
    };
    if canonical && digits.len() <= 16 { u64::from_str_radix(text, 16).ok() } else { None }
}

/// Two groups `-?(0|[1-9a-f][0-9a-f]*)` separated by `-`: at most 16 digits, or `-` and a magnitude of at most 2^63.
fn signed_hex_pair(text: &str) -> Option<Inode> {
    let (dev, rest) = signed_hex(text)?;
    let (ino, rest) = signed_hex(rest.strip_prefix('-')?)?;
    rest.is_empty().then_some(Inode { dev, ino })
}

fn signed_hex(text: &str) -> Option<(u64, &str)> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (digits, rest) = text.split_at(text.find('-').unwrap_or(text.len()));
    let magnitude = unsigned_hex(digits)?;
    match negative {
        false => Some((magnitude, rest)),
        true if magnitude <= 1 << 63 => Some((magnitude.wrapping_neg(), rest)),
        true => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "47173f68-71c9-4058-8e21-0e199166ede8";
    const OP: &str = "e72be1d8d97a4b603ecca64947562fc2fa0f119f859bcb03c496014e83245a44";

    fn is(name: &str, expected: Residue<'_>) {
        assert_eq!(parse(name.as_bytes()), Some(expected), "{name}");
    }
    fn not(name: &str, unexpected: impl Fn(&Residue<'_>) -> bool) {
        assert!(!parse(name.as_bytes()).as_ref().is_some_and(unexpected), "{name}");
    }

    #[test]
    fn staging_of_a_destination_that_starts_with_a_dot_has_two_dots() {
        is(
            &format!("..gjc-managed-session-scope.v2.json.{UUID}.staging"),
            Residue::Staging { destination: b".gjc-managed-session-scope.v2.json" },
        );
        is(&format!(".a.jsonl.{UUID}.staging"), Residue::Staging { destination: b"a.jsonl" });
        not(&format!(".a.jsonl.{}.staging", UUID.to_uppercase()), |r| matches!(r, Residue::Staging { .. }));
        not(&format!(".{UUID}.staging"), |r| matches!(r, Residue::Staging { .. }));
    }
    #[test]
    fn publications_and_removals_carry_a_pid() {
        is(&format!(".gjc-publish-77-{UUID}"), Residue::Publish { pid: 77 });
        is(&format!(".gjc-publish-077-{UUID}"), Residue::OtherGjc);
        is(&format!(".gjc-remove-1-{UUID}"), Residue::Remove { pid: 1 });
        is(".gjc-remove-1-x", Residue::OtherGjc);
    }
    #[test]
    fn replacement_names_its_destination_and_attempt() {
        is(&format!(".a.jsonl.{UUID}.replacement"), Residue::Replacement { destination: b"a.jsonl", attempt: UUID });
        assert_eq!(parse(b".a.jsonl.x.replacement"), None);
    }
    #[test]
    fn replacement_receipts() {
        is(&format!(".gjc-replace-receipt-pending-{UUID}.json"), Residue::ReplaceReceiptPending);
        is(".gjc-replace-receipt-pending-anything", Residue::ReplaceReceiptPending);
        is(
            ".gjc-replace-cleanup-fe00-a1-receipt-fe00-0.json",
            Residue::ReplaceReceiptCanonical { predecessor: Inode { dev: 0xfe00, ino: 0xa1 }, receipt: Inode { dev: 0xfe00, ino: 0 } },
        );
        is(
            ".gjc-replace-cleanup-fe00-a1.json",
            Residue::ReplaceReceiptV1 { predecessor: Inode { dev: 0xfe00, ino: 0xa1 }, canonical: true },
        );
        for bad in ["FE00-a1.json", "fe00-a1", "fe00.json", "1-2-receipt-3.json", "11111111111111111-1.json"] {
            is(&format!(".gjc-replace-cleanup-{bad}"), Residue::ReplaceReceiptOther);
        }
    }
    #[test]
    fn leading_zeros_of_a_version_1_name_are_kept_in_mind() {
        let predecessor = Inode { dev: 0xfe00, ino: 0 };
        is(".gjc-replace-cleanup-0fe00-000.json", Residue::ReplaceReceiptV1 { predecessor, canonical: false });
        is(".gjc-replace-cleanup-0fe00-0-receipt-1-1.json", Residue::ReplaceReceiptOther);
        is(".gjc-replace-cleanup-0fe00-.json", Residue::ReplaceReceiptOther);
    }
    #[test]
    fn signed_hex_is_reduced_to_the_unsigned_value() {
        is(".gjc-replace-cleanup--1-2.json", Residue::ReplaceReceiptV1 { predecessor: Inode { dev: u64::MAX, ino: 2 }, canonical: true });
        is(
            ".gjc-replace-cleanup--8000000000000000-2.json",
            Residue::ReplaceReceiptV1 { predecessor: Inode { dev: 1 << 63, ino: 2 }, canonical: true },
        );
        is(".gjc-replace-cleanup--8000000000000001-2.json", Residue::ReplaceReceiptOther);
    }
    #[test]
    fn retired_receipts() {
        let receipt = Inode { dev: 1, ino: 2 };
        is(".gjc-receipt-remove-1-2", Residue::ReceiptRemove { receipt, predecessor: None });
        is(".gjc-receipt-remove-1-2-3-4", Residue::ReceiptRemove { receipt, predecessor: Some(Inode { dev: 3, ino: 4 }) });
        is(".gjc-receipt-remove-1-2-3", Residue::OtherGjc);
        is(".gjc-receipt-placeholder-remove-1-2-3-4-5-6", Residue::ReceiptPlaceholderRemove);
        is(".gjc-receipt-placeholder-remove-1-2-3-4-5", Residue::OtherGjc);
        is(".gjc-replace-retry-1-2", Residue::ReplaceRetry { predecessor: receipt });
        is(".gjc-replace-retry-1", Residue::OtherGjc);
    }
    #[test]
    fn exact_replace_and_unlink() {
        let source = Inode { dev: 0xfe00, ino: 0xa };
        is(".gjc-exact-replace-source-fe00-a-4d2", Residue::ExactReplaceSource { source });
        is(".gjc-exact-replace-source-fe00-a", Residue::ExactReplaceSource { source });
        is(".gjc-exact-replace-source-cleanup-a-4d2", Residue::ExactReplaceSourceCleanup);
        is(".gjc-exact-replace-retained-source-cleanup-x", Residue::ExactReplaceRetainedSourceCleanup);
        is(".gjc-exact-replace-destination-a-4d2", Residue::ExactReplaceDestination { numbers: (0xa, 0x4d2) });
        is(".gjc-exact-unlink-placeholder-fe00-a", Residue::ExactUnlinkPlaceholder { object: source });
        is(".gjc-exact-unlink-placeholder-fe00-0a", Residue::OtherGjc);
        is(".gjc-substitution-cleanup-1-2-3", Residue::SubstitutionCleanup);
    }
    #[test]
    fn remnant_reap_spells_the_destination_in_hex() {
        let hex = "323032362d30322d31365431302d32302d33302d3030305a5f316639643261366239633064313233342e6a736f6e6c";
        is(&format!(".gjc-remnant-reap-{hex}-{UUID}"), Residue::RemnantReap { destination_hex: hex.as_bytes() });
        is(&format!(".gjc-remnant-reap-323-{UUID}"), Residue::OtherGjc);
    }
    #[test]
    fn locks_migrations_and_deletions() {
        is(&format!(".gjc-lock-{UUID}.stale"), Residue::LockStale);
        is(&format!(".gjc-migrate-{OP}-artifacts"), Residue::MigrateArtifacts { operation: OP });
        let owner = |attempt| DeleteOwner::Operation { operation: OP, attempt };
        is(&format!(".gjc-delete-{OP}-artifacts-1"), Residue::Delete { owner: owner(1), part: DeletePart::Artifacts });
        is(&format!(".gjc-delete-{OP}-artifacts-2.removing"), Residue::Delete { owner: owner(2), part: DeletePart::ArtifactsRemoving });
        is(&format!(".gjc-delete-{OP}-transcript-3"), Residue::Delete { owner: owner(3), part: DeletePart::Transcript });
        is(&format!(".gjc-delete-{OP}-transcript-03"), Residue::OtherDeletion);
        let gc = DeleteOwner::DiskGc { uuid: UUID };
        is(&format!(".gjc-delete-gc-{UUID}-artifacts"), Residue::Delete { owner: gc, part: DeletePart::Artifacts });
        is(&format!(".gjc-delete-gc-{UUID}-artifacts.removing"), Residue::Delete { owner: gc, part: DeletePart::ArtifactsRemoving });
        is(&format!(".gjc-delete-gc-{UUID}-transcript"), Residue::Delete { owner: gc, part: DeletePart::Transcript });
    }
    #[test]
    fn detached_children_and_fork_staging() {
        is(&format!(".pi-tree-detached-{OP}"), Residue::TreeDetached { sha256: OP });
        assert_eq!(parse(b".pi-tree-detached-1"), None);
        is(&format!(".2026_a.{UUID}.fork-staging"), Residue::ForkStaging { destination: b"2026_a" });
        is(".dest.fork-staging-aB3xYz", Residue::ForkStagingDirectory { destination: b"dest" });
        assert_eq!(parse(b".dest.fork-staging-aB3x"), None);
    }
    #[test]
    fn recovery_names_of_both_formats() {
        let recovery = |family, format| Residue::Recovery { family, format };
        is(".gjc-managed-replace-12-3", recovery(RecoveryFamily::Replace, RecoveryFormat::Old));
        is(".gjc-managed-remove-12-3", recovery(RecoveryFamily::Remove, RecoveryFormat::Old));
        is(".gjc-managed-tree-remove-12-3", recovery(RecoveryFamily::TreeRemove, RecoveryFormat::Old));
        is(".gjc-managed-exchange-whatever", recovery(RecoveryFamily::Exchange, RecoveryFormat::Other));
        let boot = "1b054e456d4149118057 81f07a9118a2".replace(' ', "");
        is(
            &format!(".gjc-managed-replace-complete-12-4026531836-{boot}-777-3-1796034430"),
            recovery(RecoveryFamily::ReplaceComplete, RecoveryFormat::New { created: 1_796_034_430 }),
        );
        is(
            ".gjc-managed-remove-12-3-1796034430",
            recovery(RecoveryFamily::Remove, RecoveryFormat::NewWithoutProcess { created: 1_796_034_430 }),
        );
        is(".gjc-managed-replace-12-3-1796034430", recovery(RecoveryFamily::Replace, RecoveryFormat::Other));
        is(".gjc-reaper-cursor", Residue::ReaperCursor);
        is(&format!(".gjc-reaper-first-seen-{OP}"), Residue::ReaperFirstSeen);
    }
    #[test]
    fn temporaries_of_spec_04() {
        is(".a.jsonl.016a0b0c0d0e0f10.tmp", Residue::RewriteTemp { base: b"a.jsonl" });
        is(".a.jsonl.016a0b0c0d0e0f10.default-selection.tmp", Residue::RewriteTemp { base: b"a.jsonl" });
        assert_eq!(parse(b".a.jsonl.016a.tmp"), None);
        is("orphan.jsonl.016a0b0c0d0e0f10.bak", Residue::Backup { primary: Some(b"orphan.jsonl") });
        is("x.jsonl.bak", Residue::Backup { primary: None });
        is(".jsonl.1.bak", Residue::Backup { primary: None });
        is(".d.jsonl.1.bak", Residue::Backup { primary: None });
        is(&format!(".a.jsonl.{UUID}.staged"), Residue::Staged { base: b"a.jsonl" });
        is(&format!(".a.jsonl.{UUID}.staged-final"), Residue::Staged { base: b"a.jsonl" });
        is(&format!(".s1.memory-guard.{UUID}.jsonl"), Residue::MemoryGuard { id: b"s1" });
        is(&format!("x.lock.{UUID}.owner.tmp"), Residue::OwnerTemp { lock: b"x.lock" });
    }
    #[test]
    fn spill_files_are_a_closed_list() {
        for rest in
            ["idx", "tail", "commit", "buckets", "build-1", "dict-1", "capture-1", "fork-1", "overlay-1", "parent-1", "metadata-1", "x.tmp"]
        {
            is(&format!("a.jsonl.spill.{rest}"), Residue::Spill { transcript: b"a.jsonl" });
        }
        for rest in ["", "other", "build-", ".tmp", "idx2"] {
            assert_eq!(parse(format!("a.jsonl.spill.{rest}").as_bytes()), None, "{rest}");
        }
    }
    #[test]
    fn regular_parts_of_a_scope_are_no_residue() {
        for name in
            [".gjc-managed-session-scope.v2.json", ".gjc-managed-session-internal", ".gjc-recovery", ".staging", "a.jsonl", "a", ".hidden"]
        {
            assert_eq!(parse(name.as_bytes()), None, "{name}");
        }
        is(".gjc-new-thing", Residue::OtherGjc);
        is("x.removing", Residue::OtherDeletion);
        is(".gjc-new-thing.removing", Residue::OtherDeletion);
    }
    #[test]
    fn bytes_that_are_no_utf8_are_read_as_far_as_the_grammar_allows() {
        let name = [b".\xff.".as_slice(), UUID.as_bytes(), b".staging"].concat();
        assert_eq!(parse(&name), Some(Residue::Staging { destination: b"\xff" }));
        assert_eq!(parse(b".gjc-\xff"), Some(Residue::OtherGjc));
        assert_eq!(parse(b".gjc-replace-cleanup-\xff.json"), Some(Residue::ReplaceReceiptOther));
    }
    #[test]
    fn reaper_prefixes_do_not_include_locks_or_deletions() {
        assert!(is_reapable_prefix(b".gjc-replace-retry-1-2"));
        assert!(!is_reapable_prefix(b".gjc-lock-x.stale"));
        assert!(!is_reapable_prefix(b".gjc-delete-x"));
    }
}
