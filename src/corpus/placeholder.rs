//! Placeholders of recipes: what a text cannot know before the tree is made.
//!
//! | placeholder | stands for |
//! |---|---|
//! | `{{scope:/ws}}` | name of the scope directory of a workspace |
//! | `{{digest:/ws}}` | digest of a workspace |
//! | `{{legacy:/ws}}` | name of its legacy directory |
//! | `{{binding:/ws}}` | its canonical binding |
//! | `{{scope}}`, `{{transcript}}` | path of the clean base's scope directory, and of the transcript in it |
//! | `{{name:s1}}` | file name of the transcript of a session |
//! | `{{session:s1}}` | text of a healthy transcript of this session in `/ws` |
//! | `{{ino:PATH}}`, `{{dev:…}}`, `{{size:…}}`, `{{mtime:…}}`, `{{ctime:…}}` | facts of an object that is already there, in decimal |
//! | `{{inox:PATH}}` | the inode in hex, as names of receipts have it |
//! | `{{sha256:PATH}}` | SHA-256 of a file that is already there, in hex |
//! | `{{operation:PATH}}` | what gjc calls the migration or deletion of a transcript that is already there: the name of its lock and records |
//! | `{{i}}`, `{{i-1}}`, `{{i:x}}` | the turn of a repetition, the one before, and the turn in hex |
//! | `{{byte:ff}}` | one byte |

use super::clean;
use super::recipe::{AGENT, Mistake, WORKSPACE};
use crate::agent::binding::canonical_text;
use crate::agent::candidates::{Candidate, Provenance};
use crate::agent::identity::{Identity, Platform};
use crate::agent::legacy;
use crate::fsys::{Fs, Memory, hash_file};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Writes texts for a tree.
#[derive(Clone, Copy)]
pub struct Scribe<'m> {
    /// The tree, as far as it is made.
    pub fs: &'m Memory,
    /// What stands before every path: empty, or the folder in which the tree is to lie.
    pub root: &'m str,
    /// The turn of the repetition.
    pub count: Option<u64>,
}

impl Scribe<'_> {
    /// A text with its placeholders filled in.
    ///
    /// # Errors
    /// A placeholder that does not exist, or that names nothing.
    pub fn bytes(self, text: &str) -> Result<Vec<u8>, Mistake> {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            bytes.extend_from_slice(before.as_bytes());
            let Some((word, after)) = behind.split_once("}}") else {
                return Err(Mistake::Placeholder(behind.chars().take(40).collect()));
            };
            bytes.extend(self.value(word).ok_or_else(|| Mistake::Placeholder(word.to_owned()))?);
            rest = after;
        }
        bytes.extend_from_slice(rest.as_bytes());
        Ok(bytes)
    }
    /// A path with its placeholders filled in.
    ///
    /// # Errors
    /// As for [`Scribe::bytes`].
    pub fn path(self, text: &str) -> Result<PathBuf, Mistake> {
        let path = self.bytes(text)?;
        let path =
            if path.starts_with(b"/") && !path.starts_with(self.root.as_bytes()) { [self.root.as_bytes(), &path].concat() } else { path };
        Ok(PathBuf::from(OsString::from_vec(path)))
    }

    fn operation(self, transcript: &Path) -> Option<String> {
        let candidate = Candidate::read(self.fs, transcript, Provenance::Legacy).ok()?;
        Some(candidate.identity(self.fs).ok()?.operation())
    }

    fn value(self, word: &str) -> Option<Vec<u8>> {
        let (kind, subject) = word.split_once(':').unwrap_or((word, ""));
        let there = format!("{}{subject}", self.root);
        let identity = || Identity { platform: Platform::Posix, canonical_path: there.clone() };
        let fact = |fact: fn(&crate::fsys::Meta) -> i128| self.fs.lstat(Path::new(&there)).ok().map(|meta| fact(&meta).to_string());
        let text = match (kind, subject) {
            ("i", "") => self.count?.to_string(),
            ("i-1", "") => self.count?.checked_sub(1)?.to_string(),
            ("i", "x") => format!("{:x}", self.count?),
            ("scope", "") => scope_path(self.root),
            ("transcript", "") => format!("{}/{}", scope_path(self.root), clean::name("s1")),
            (_, "") => return None,
            ("byte", hex) => return data_encoding::HEXLOWER.decode(hex.as_bytes()).ok().filter(|bytes| bytes.len() == 1),
            ("scope", _) => identity().directory_name(),
            ("digest", _) => identity().digest_text(),
            ("legacy", _) => legacy::absolute_name(&there),
            ("binding", _) => return Some(canonical_text(&identity())),
            ("name", id) => clean::name(id),
            ("session", id) => clean::transcript(id, &format!("{}{WORKSPACE}", self.root), ""),
            ("ino", _) => fact(|meta| i128::from(meta.ino))?,
            ("inox", _) => format!("{:x}", self.fs.lstat(Path::new(&there)).ok()?.ino),
            ("dev", _) => fact(|meta| i128::from(meta.dev))?,
            ("size", _) => fact(|meta| i128::from(meta.size))?,
            ("mtime", _) => fact(|meta| meta.mtime_ns)?,
            ("ctime", _) => fact(|meta| meta.ctime_ns)?,
            ("sha256", _) => data_encoding::HEXLOWER.encode(&hash_file(self.fs, Path::new(&there)).ok()?.0),
            ("operation", _) => self.operation(Path::new(&there))?,
            _ => return None,
        };
        Some(text.into_bytes())
    }
}

/// The scope directory of the clean base, below a folder.
pub fn scope_path(root: &str) -> String {
    let workspace = Identity { platform: Platform::Posix, canonical_path: format!("{root}{WORKSPACE}") };
    format!("{root}{AGENT}/sessions/{}", workspace.directory_name())
}

/// A path of a report with the names of scope directories put back into placeholders, as an expectation spells it:
/// `workspaces` are those that may have one.
pub fn spelled(path: &str, workspaces: &[String]) -> String {
    let mut path = path.to_owned();
    for workspace in workspaces {
        let identity = Identity { platform: Platform::Posix, canonical_path: workspace.clone() };
        path = path.replace(&identity.directory_name(), &format!("{{{{scope:{workspace}}}}}"));
    }
    path
}

/// The workspaces that a text's placeholders name.
pub fn workspaces(text: &str) -> Vec<String> {
    let mut found = vec![WORKSPACE.to_owned()];
    for word in ["{{scope:", "{{digest:", "{{binding:"] {
        for behind in text.split(word).skip(1) {
            if let Some((workspace, _)) = behind.split_once("}}")
                && !found.iter().any(|known| known == workspace)
            {
                found.push(workspace.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, count: Option<u64>) -> Result<String, String> {
        let fs = Memory::new();
        fs.file("/f", b"x");
        let written = Scribe { fs: &fs, root: "", count }.bytes(text);
        written.map(|bytes| String::from_utf8(bytes).unwrap()).map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn placeholders_are_filled_in_and_other_braces_stay() {
        assert_eq!(said(r#"{"a":{"b":{}}}"#, None).unwrap(), r#"{"a":{"b":{}}}"#);
        assert_eq!(said("{{i-1}} {{i}} {{i:x}}", Some(255)).unwrap(), "254 255 ff");
        assert_eq!(said("{{size:/f}}", None).unwrap(), "1");
        assert!(said("{{sha256:/f}}", None).unwrap().starts_with("2d711642b726b044"));
        assert_eq!(said("{{legacy:/w/app}}", None).unwrap(), "--w-app--");
    }

    #[test]
    fn a_placeholder_that_says_nothing_is_a_mistake() {
        for text in ["{{i}}", "{{ino:/nowhere}}", "{{colour:red}}", "{{", "{{ino}}", "{{byte:f}}"] {
            assert!(said(text, None).is_err(), "{text}");
        }
    }

    #[test]
    fn the_name_of_a_scope_becomes_a_placeholder_again() {
        let fs = Memory::new();
        let name = String::from_utf8(Scribe { fs: &fs, root: "", count: None }.bytes("sessions/{{scope:/ws2}}/x").unwrap()).unwrap();
        let known = workspaces("… {{scope:/ws2}} …");
        assert_eq!(known, ["/ws", "/ws2"]);
        assert_eq!(spelled(&name, &known), "sessions/{{scope:/ws2}}/x");
    }
}
