//! The area *patch* of spec 05: patch records that have no effect, or another effect than their writer meant.
//!
//! Loading decides what becomes of a patch ([`Outcome`]); [`PatchPass`] says it.

pub mod codes;

use super::transcript::Source;
use super::transcript::content::{Content, Message};
use super::transcript::held::Held;
use super::words::count;
use crate::finding::{Code, Difference, Finding, Place, Release, Sink};
use crate::json::jsonl::Found;
use crate::json::text::wtf8_lossy;
use crate::json::{Node, Value, View};
use crate::transcript::entry::{EntryKind, Role};
use crate::transcript::load::{Ignored, Outcome};
use crate::transcript::{header, patch};

/// The latest title that a patch set.
#[derive(Clone, Debug)]
pub struct TitlePatch {
    /// Where the patch stands.
    pub place: Place,
    /// The title (WTF-8).
    pub title: Vec<u8>,
}

/// The pass over patch records.
pub struct PatchPass<'s> {
    source: &'s Source,
    release: Release,
    /// Findings wait until it is known that the file loads.
    findings: Held,
    /// The header is star capable (0.17).
    star_capable: bool,
    /// The record before this one is a valid header patch with `starred`.
    after_star: bool,
    /// The first title or cwd patch without a star patch before it, and how many there are.
    unchecked: Option<(Place, u64)>,
    title: Option<TitlePatch>,
    /// Patches that changed something.
    pub applied: u64,
    /// Patches that did not.
    pub ignored: u64,
    /// Bytes of all of them, with the LF of each.
    pub bytes: u64,
}

impl<'s> PatchPass<'s> {
    /// A pass that has seen nothing.
    pub fn new(source: &'s Source, release: Release) -> Self {
        PatchPass {
            source,
            release,
            findings: Held::default(),
            star_capable: false,
            after_star: false,
            unchecked: None,
            title: None,
            applied: 0,
            ignored: 0,
            bytes: 0,
        }
    }

    /// Takes the next value and what loading made of it.
    pub fn value(&mut self, found: &Found<'_>, kind: EntryKind, outcome: &Outcome) {
        let after_star = std::mem::take(&mut self.after_star);
        if matches!(kind, EntryKind::HeaderPatch | EntryKind::EntryPatch) {
            self.bytes += found.text.len() as u64 + 1;
        }
        match outcome {
            Outcome::Header(_) => {
                self.star_capable = Difference::StarCheckpoint.in_effect(self.release) && header::star_capable(found.node);
            }
            Outcome::HeaderPatched { star_ignored } => {
                self.applied += 1;
                self.header_patched(found, *star_ignored, after_star);
            }
            Outcome::EntryPatched(_) | Outcome::EntryPatchEmpty(_) => self.applied += 1,
            Outcome::PatchIgnored(why) => {
                self.ignored += 1;
                self.ignored(found, kind, why);
            }
            _ => {}
        }
    }

    fn push(&mut self, found: &Found<'_>, code: &'static Code, pointer: Option<&str>, message: String) {
        let entry = found.node.str_member("entryId").map(|id| wtf8_lossy(&id));
        let place = Place { pointer: pointer.map(str::to_owned), entry, ..self.source.found(found) };
        // Of no entry: nothing replaces what a patch record is.
        self.findings.push(0, false, Finding::new(code, place, message));
    }

    fn header_patched(&mut self, found: &Found<'_>, star_ignored: bool, after_star: bool) {
        let Some(patch) = found.node.get("patch") else { return };
        if star_ignored {
            let message = "The patch stars the session, but the header lacks `starredPatchVersion` 1.".to_owned();
            self.push(found, &codes::STAR_WITHOUT_CAPABILITY, Some("/patch/starred"), message);
        }
        self.after_star = patch.get("starred").is_some();
        if let Some(title) = patch.str_member("title") {
            self.title = Some(TitlePatch { place: self.source.found(found), title: title.into_owned() });
        }
        let renames = patch.get("title").is_some() || patch.get("cwd").is_some();
        if self.star_capable && renames && !self.after_star && !after_star {
            let place = self.source.found(found);
            self.unchecked.get_or_insert((place, 0)).1 += 1;
        }
    }

    fn ignored(&mut self, found: &Found<'_>, kind: EntryKind, why: &Ignored) {
        let is_header = kind == EntryKind::HeaderPatch;
        match why {
            Ignored::Invalid(fault) => {
                let pointer = fault.pointer().to_owned();
                let what = match fault {
                    patch::Fault::UnknownKey(_) => format!("the key `{pointer}` is not allowed"),
                    patch::Fault::WrongType(_) => format!("`{pointer}` is absent or has the wrong type"),
                };
                if is_header && Difference::TaskArtifactOwnerPatches.in_effect(self.release) {
                    match owner_fields(found.node, self.release) {
                        // A record for the owner scanner alone; replay has nothing to take from it.
                        Some(fields) if fields.is_empty() => return,
                        Some(fields) => {
                            let message = format!("The patch names a task artifact owner, so its {} not replayed.", are(&fields));
                            self.push(found, &codes::OWNER_PATCH_SHADOWS_FIELDS, Some("/patch/taskArtifactOwner"), message);
                            return;
                        }
                        None => {}
                    }
                }
                let code = if is_header { &codes::HEADER_PATCH_INVALID } else { &codes::ENTRY_PATCH_INVALID };
                self.push(found, code, Some(&pointer), format!("The whole patch is ignored: {what}."));
            }
            Ignored::BeforeHeader => {
                self.push(found, &codes::PATCH_BEFORE_V4, None, "The patch stands before the header and is ignored.".to_owned());
            }
            Ignored::BeforeVersion4 => {
                let message = "The header's version is below 4, so the patch is ignored.".to_owned();
                self.push(found, &codes::PATCH_BEFORE_V4, None, message);
            }
            Ignored::TargetMissing => {
                let message = "No entry before the patch has its `entryId`.".to_owned();
                self.push(found, &codes::ENTRY_PATCH_TARGET_MISSING, Some("/entryId"), message);
            }
            Ignored::TargetNotMessage(_) => {
                let message = "The latest entry with the patch's `entryId` is no message.".to_owned();
                self.push(found, &codes::ENTRY_PATCH_TARGET_MISSING, Some("/entryId"), message);
            }
        }
    }

    /// Reports, when loading yields entries; answers the title patch in effect.
    pub fn finish(self, loads: bool, sink: &mut dyn Sink) -> Option<TitlePatch> {
        if !loads {
            return None;
        }
        self.findings.release(sink, |_, _| false);
        if let Some((place, times)) = self.unchecked {
            let message = format!("{} not preceded by a star patch.", count(times, "title or cwd patch is", "title or cwd patches are"));
            sink.push(Finding::new(&codes::STAR_CHECKPOINT_MISSING, place, message));
        }
        self.title
    }
}

/// `title is`, `title and cwd are`.
fn are(fields: &[&str]) -> String {
    format!("`{}` {}", fields.join("` and `"), if fields.len() == 1 { "is" } else { "are" })
}

/// For a header patch that would be valid without its `taskArtifactOwner`: the other fields that it carries.
fn owner_fields(record: Node<'_>, release: Release) -> Option<Vec<&'static str>> {
    let mut owned = Value::from_node(record);
    let patch = owned.as_object_mut()?.get_mut("patch")?.as_object_mut()?;
    patch.remove("taskArtifactOwner")?;
    patch::header_patch(&owned, release).ok()?;
    let patch = owned.get("patch")?;
    Some(["title", "titleSource", "cwd", "starred"].into_iter().filter(|key| patch.get(key).is_some()).collect())
}

/// A star that stands in the header itself.
pub fn inline_star(place: &Place, value: &Value, release: Release, sink: &mut dyn Sink) {
    let inline = value.get("starred").is_some_and(|starred| starred.as_bool().is_some());
    if Difference::StarPatches.in_effect(release) && inline && !header::star_capable(value) {
        let place = Place { pointer: Some("/starred".to_owned()), ..place.clone() };
        let message = "The header is starred, but lacks `starredPatchVersion` 1.";
        sink.push(Finding::new(&codes::STAR_WITHOUT_CAPABILITY, place, message));
    }
}

/// A message that opening for writing patches.
pub fn judge_message(content: &Content<'_>, message: &Message<'_>, held: &mut Held) {
    let Some(payload) = message.provider_payload.filter(|_| message.role == Role::Assistant) else { return };
    if payload.get("type").is_some_and(|name| name.is_str("openaiResponsesHistory")) {
        let text = "The message carries a native OpenAI replay payload, which opening for writing removes.".to_owned();
        content.found_in_message(payload, "/providerPayload", held, &codes::REPLAY_SANITATION_PENDING, text);
    }
}
