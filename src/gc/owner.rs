//! What an owner directory holds and what its names say (spec 03 §7.1, §7.3). The directories themselves are the disk's.

use super::{Locator, Refusal};
use crate::agent::owner_evidence::TreeSnapshot;
use crate::json::spelling::is_uuid;
use crate::json::stringify::object;
use crate::json::view::View;
use crate::json::{JsString, Value, text};

pub use crate::agent::owner_evidence::{is_safe_relative_path, owner_id};

/// The name of the manifest in an owner directory.
pub const MANIFEST: &str = ".gjc-task-artifact-owner-v1.json";

/// The manifest of an owner directory: published last, so that a directory without one is an interrupted provisioning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Manifest {
    /// Owner and directory.
    pub locator: Locator,
    /// The session that owns it; not empty. That its hash is the owner id is for the locator's user to see.
    pub session_id: JsString,
}

impl Manifest {
    /// Reads a manifest: JSON, exactly five members in any order, a final LF or none.
    ///
    /// # Errors
    /// [`Refusal::ManifestInvalid`].
    pub fn parse(bytes: &[u8]) -> Result<Manifest, Refusal> {
        let invalid = Refusal::ManifestInvalid;
        let value = Value::parse(&text::utf8_lossy(bytes)).ok_or(invalid)?;
        let session_id = value.str_member("sessionId").filter(|id| !id.is_empty()).ok_or(invalid)?.into_owned();
        // A locator has four members and no other, which makes five.
        let mut rest = value.as_object().ok_or(invalid)?.clone();
        rest.remove("sessionId");
        let locator = Locator::of(&Value::Object(rest)).ok_or(invalid)?;
        Ok(Manifest { locator, session_id: JsString::from_wtf8(session_id) })
    }
    /// Compares with the locator that was asked for.
    ///
    /// # Errors
    /// [`Refusal::ManifestMismatch`].
    pub fn is_of(&self, locator: &Locator) -> Result<(), Refusal> {
        if self.locator == *locator { Ok(()) } else { Err(Refusal::ManifestMismatch) }
    }
    /// The bytes that gjc writes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        object(&mut out, |members| {
            members.number("schemaVersion", 1.0);
            members.text("ownerId", &self.locator.owner_id);
            members.text("directoryDev", self.locator.directory_dev.to_string());
            members.text("directoryIno", self.locator.directory_ino.to_string());
            members.text("sessionId", self.session_id.as_bytes());
        });
        out.push(b'\n');
        out
    }
}

/// A name under which a writer has not yet published: `^\..+\.<uuid>\.(?:staging|replacement)$` for the last component.
/// One such entry anywhere in an owner's tree blocks its capture and its retirement.
pub fn is_pending_publication(relative_path: &[u8]) -> bool {
    // `path.basename` leaves slashes at the end out.
    let name = relative_path.rsplit(|byte| *byte == b'/').find(|name| !name.is_empty()).unwrap_or_default();
    let stem = name.strip_suffix(b".staging").or_else(|| name.strip_suffix(b".replacement"));
    let Some((front, uuid)) = stem.and_then(|stem| stem.split_at_checked(stem.len().checked_sub(36)?)) else { return false };
    let middle = front.strip_prefix(b".").and_then(|front| front.strip_suffix(b"."));
    let uuid = std::str::from_utf8(uuid).is_ok_and(is_uuid);
    uuid && middle.is_some_and(|middle| !middle.is_empty() && !has_line_end(middle))
}

/// A character that `.` of a JavaScript regular expression does not match.
fn has_line_end(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'\n' | b'\r')) || text.windows(3).any(|three| matches!(three, b"\xE2\x80\xA8" | b"\xE2\x80\xA9"))
}

/// True when some entry of the tree is a pending publication.
pub fn has_pending_publication(tree: &TreeSnapshot) -> bool {
    tree.entries.iter().any(|entry| is_pending_publication(entry.relative_path.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let locator = Locator { owner_id: "ab".repeat(32), directory_dev: 2049, directory_ino: 7 };
        Manifest { locator, session_id: "s".into() }
    }

    #[test]
    fn a_manifest_reads_back_and_knows_its_directory() {
        assert_eq!(Manifest::parse(&manifest().encode()), Ok(manifest()));
        assert_eq!(manifest().is_of(&manifest().locator), Ok(()));
        let other = Locator { directory_ino: 8, ..manifest().locator };
        assert_eq!(manifest().is_of(&other), Err(Refusal::ManifestMismatch));
    }
    #[test]
    fn a_manifest_has_exactly_its_five_members() {
        let text = String::from_utf8(manifest().encode()).unwrap();
        for (from, to) in [
            ("{", "{\"x\":1,"),
            ("\"sessionId\":\"s\"", "\"sessionId\":\"\""),
            ("\"sessionId\"", "\"session\""),
            ("{", "["),
            ("\"7\"", "7"),
        ] {
            assert_eq!(Manifest::parse(text.replacen(from, to, 1).as_bytes()), Err(Refusal::ManifestInvalid), "{to}");
        }
        assert_eq!(Manifest::parse(format!("\u{feff}{text}").as_bytes()), Err(Refusal::ManifestInvalid));
    }
    #[test]
    fn a_pending_publication_is_known_by_its_last_component() {
        const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";
        for name in [format!(".x.{UUID}.staging"), format!("a/b/.x.y.{UUID}.replacement"), format!(".ä.{UUID}.staging")] {
            assert!(is_pending_publication(name.as_bytes()), "{name}");
        }
        for name in [
            format!("x.{UUID}.staging"),
            format!("..{UUID}.staging"),
            format!(".{UUID}.staging"),
            format!(".x.{UUID}.stage"),
            format!(".x\u{2028}.{UUID}.staging"),
            format!(".x.{}.staging", UUID.to_uppercase()),
            format!(".x.{UUID}.staging/y"),
            ".staging".to_owned(),
            String::new(),
        ] {
            assert!(!is_pending_publication(name.as_bytes()), "{name}");
        }
    }
}
