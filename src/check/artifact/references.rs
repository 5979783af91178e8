//! References to artifacts in the tool results of a transcript: `artifact://<number>` and `agent://<id>` (spec 04 §6.3).
//!
//! Only tool results are searched, because there gjc writes them; what a user or a model says about such links is prose.

use crate::agent::walk::Object;
use crate::check::transcript::content::{Content, Message};
use crate::check::transcript::held::Held;
use crate::finding::Place;
use crate::fsys::Kind;
use crate::transcript::entry::Role;
use memchr::memmem::Finder;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

/// Different references of one file that are remembered; what a file has beyond them is not judged.
const MOST: usize = 4_096;
/// Places of one reference that are remembered: a later patch may take away the message it stands in.
const PLACES: usize = 2;

/// The end of both schemes.
static SCHEME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("t://"));

/// What a reference names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reference {
    /// `artifact://` and decimal digits, as they are written.
    Artifact(String),
    /// `agent://` and the id of an agent output.
    Agent(String),
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reference::Artifact(number) => write!(f, "artifact://{number}"),
            Reference::Agent(id) => write!(f, "agent://{id}"),
        }
    }
}

impl Reference {
    /// The reference whose scheme ends where `rest` begins.
    fn parse(scheme: &[u8], rest: &[u8]) -> Option<Reference> {
        let leading = |of: fn(u8) -> bool| rest.get(..rest.iter().take_while(|byte| of(**byte)).count()).unwrap_or_default();
        let text = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).into_owned()).filter(|text| !text.is_empty());
        if scheme.ends_with(b"artifact://") {
            let number = leading(|byte| byte.is_ascii_digit());
            let ends = !rest.get(number.len()).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
            return text(number).filter(|_| ends).map(Reference::Artifact);
        }
        if scheme.ends_with(b"agent://") {
            let id = leading(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
            // The end of a sentence is no part of the id.
            let id = id.strip_suffix(b".").unwrap_or(id);
            return text(id).map(Reference::Agent);
        }
        None
    }

    /// Whether a file of an artifact directory (its objects in order of name) is what the reference names: for a number any
    /// `<number>.…` but metadata; for an agent its output `<id>.md`, a selector of that name, or a generation of it.
    pub fn is_among(&self, objects: &[Object]) -> bool {
        let (Reference::Artifact(stem) | Reference::Agent(stem)) = self;
        let from = objects.partition_point(|object| object.bytes() < stem.as_bytes());
        let like = objects.get(from..).unwrap_or_default().iter();
        like.take_while(|object| object.bytes().starts_with(stem.as_bytes())).filter(|object| object.meta.kind == Kind::File).any(
            |object| {
                let rest = object.bytes().get(stem.len()..).unwrap_or_default();
                match self {
                    Reference::Artifact(_) => rest.starts_with(b".") && !rest.ends_with(b".meta.json"),
                    Reference::Agent(_) => matches!(rest, b"" | b".md") || (rest.starts_with(b".") && rest.ends_with(b".output")),
                }
            },
        )
    }
}

/// The references of a file while it is read.
#[derive(Default)]
pub struct References {
    found: BTreeMap<Reference, Vec<Found>>,
}

/// One place of a reference.
struct Found {
    entry: u32,
    /// The message as it stood after this many patches.
    version: u32,
    place: Place,
}

impl References {
    /// Takes the references of a message.
    pub fn take(&mut self, content: &Content<'_>, message: &Message<'_>, held: &Held) {
        if message.role != Role::ToolResult {
            return;
        }
        let text = message.node.raw();
        for at in SCHEME.find_iter(text) {
            let (scheme, rest) = text.split_at(at + SCHEME.needle().len());
            let Some(reference) = Reference::parse(scheme, rest) else { continue };
            if self.found.len() >= MOST && !self.found.contains_key(&reference) {
                continue;
            }
            let places = self.found.entry(reference).or_default();
            if places.len() < PLACES {
                let entry = content.entry as u32;
                places.push(Found { entry, version: held.version(entry), place: content.whole() });
            }
        }
    }

    /// Each reference that stands in a message as it is now, with its first place.
    pub fn settle(self, held: &Held) -> Vec<(Reference, Place)> {
        let first =
            |places: Vec<Found>| places.into_iter().find(|found| held.version(found.entry) == found.version).map(|found| found.place);
        self.found.into_iter().filter_map(|(reference, places)| Some((reference, first(places)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::{Fs, Memory};

    fn all(text: &str) -> Vec<String> {
        let text = text.as_bytes();
        let found = SCHEME.find_iter(text).filter_map(|at| {
            let (scheme, rest) = text.split_at(at + 4);
            Reference::parse(scheme, rest)
        });
        found.map(|reference| reference.to_string()).collect()
    }

    #[test]
    fn references_are_found_in_prose_and_escapes() {
        assert_eq!(
            all(r"Full output: artifact://12\nand [agent://1-A.2-B]. See agent://0-Task."),
            ["artifact://12", "agent://1-A.2-B", "agent://0-Task"]
        );
        assert_eq!(all("artifact://<id> artifact://12ab agent://<id> agent:// git://x"), [""; 0]);
        assert_eq!(all("artifact://3?range=0-9 agent://1-A?q=.x"), ["artifact://3", "agent://1-A"]);
    }

    #[test]
    fn a_file_of_the_directory_answers_a_reference() {
        let fs = Memory::new();
        for name in ["1-A.md", "1-A.md.meta.json", "10.bash.log", "2-B.md.0b6b.output", "3.md.meta.json", "4-C.jsonl"] {
            fs.file(format!("/a/{name}"), b"");
        }
        fs.directory("/a/5.d");
        assert!(fs.lstat(std::path::Path::new("/a")).is_ok());
        let listing = crate::agent::walk::list(&fs, std::path::Path::new("/a"), &crate::agent::walk::Limits::default()).unwrap();
        let there = |reference| Reference::is_among(&reference, &listing.objects);
        assert!(there(Reference::Artifact("10".into())) && !there(Reference::Artifact("1".into())), "the whole number");
        assert!(!there(Reference::Artifact("3".into())), "metadata is no artifact");
        assert!(!there(Reference::Artifact("5".into())), "nor is a directory");
        assert!(there(Reference::Agent("1-A".into())) && there(Reference::Agent("2-B".into())));
        assert!(!there(Reference::Agent("4-C".into())), "the transcript of an agent is not its output");
        assert!(!there(Reference::Agent("1".into())));
    }
}
