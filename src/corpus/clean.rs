//! A clean managed scope: what cases of single faults begin with, in memory ([`crate::fsys::Memory::plant`]) or on a real file
//! system ([`crate::fsys::plant::plant`]).

use crate::agent::binding::canonical_text;
use crate::agent::identity::Identity;
use crate::agent::layout::{BINDING, INTERNAL, PROTOCOL};
use crate::fsys::plant::Plant;

/// The name of a transcript as gjc gives it, for a session of this id.
pub fn name(id: &str) -> String {
    format!("2026-01-01T00-00-00-000Z_{id}.jsonl")
}

/// A healthy transcript of one message. `more` stands in the header behind `cwd`: empty, or a comma and further members.
pub fn transcript(id: &str, cwd: &str, more: &str) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":5,\"starredPatchVersion\":1,\"id\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"{cwd}\"{more}}}\n\
         {{\"type\":\"message\",\"id\":\"e0000001\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"hello\",\"timestamp\":1767225601000}}}}\n"
    )
}

/// A line that makes a transcript of [`transcript`] longer and leaves it healthy: a label on its message, with this text.
pub fn label(text: &str) -> String {
    format!(
        "{{\"type\":\"label\",\"id\":\"e0000002\",\"parentId\":\"e0000001\",\"timestamp\":\"2026-01-01T00:00:02.000Z\",\"targetId\":\"e0000001\",\"label\":\"{text}\"}}\n"
    )
}

/// The scope of a workspace: its binding, its empty protocol directories, and its transcripts by name. Paths are relative to
/// the scope directory.
pub fn scope<'t>(workspace: &Identity, transcripts: impl IntoIterator<Item = (&'t str, &'t str)>) -> Vec<Plant> {
    let mut plants = vec![Plant::directory(""), Plant::file(BINDING, canonical_text(workspace))];
    plants.extend(PROTOCOL.map(|role| Plant::directory(format!("{INTERNAL}/{role}"))));
    plants.extend(transcripts.into_iter().map(|(name, text)| Plant::file(name, text)));
    plants
}
