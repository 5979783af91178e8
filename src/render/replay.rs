//! A replay for a terminal: every entry with the line it came from, and every patch with what became of it.

use super::entry::{clip, id, preview, word};
use super::style::Palette;
use super::tree::remarks;
use super::words::{count, headed};
use crate::json::View;
use crate::transcript::EntryKind;
use crate::transcript::load::{Ignored, Outcome};
use crate::transcript::trace::{Patch, Traced};
use unicode_width::UnicodeWidthStr;

/// The replay as text.
pub fn text(traced: &Traced, palette: Palette, width: usize) -> String {
    let mut out = String::new();
    let last = traced.origins.iter().map(|origin| origin.at.line).chain(traced.patches.iter().map(|patch| patch.at.line)).max();
    let digits = last.unwrap_or(1).to_string().len();
    for (entry, origin) in traced.loaded.entries.iter().zip(&traced.origins) {
        let number = format!("{:>digits$} ", origin.at.line);
        let what = clip(&word(entry), width.saturating_sub(number.width()));
        let mut left = width.saturating_sub(number.width() + what.width());
        let own = clip(&id(entry.get("id")), left.saturating_sub(1).min(16));
        left = left.saturating_sub(own.width() + 1);
        let said = if left > 5 { preview(entry, left - 2) } else { String::new() };
        let line = format!("{}{} {}  {said}", palette.faint(&number), palette.strong(&what), palette.faint(&own));
        out.push_str(line.trim_end());
        out.push('\n');
        for patch in origin.patches.iter().filter_map(|patch| traced.patches.get(*patch)) {
            let line = format!("{:>digits$}   patched by line {}: {}", "", patch.at.line, effect(patch, traced));
            out.push_str(&palette.faint(&clip(&line, width)));
            out.push('\n');
        }
    }
    let ignored: Vec<String> = traced
        .patches
        .iter()
        .filter(|patch| matches!(patch.outcome, Outcome::PatchIgnored(_) | Outcome::EntryPatchEmpty(_)))
        .map(|patch| {
            format!("! line {} ({}) has no effect: {}", patch.at.line, patch.kind.name().unwrap_or("patch"), effect(patch, traced))
        })
        .collect();
    let total = format!(
        "{}, {}, {} without effect",
        headed(traced.loaded.entries.iter().filter(|entry| EntryKind::of(*entry) != EntryKind::Session).count() as u64),
        count(traced.patches.len() as u64, "patch", "patches"),
        ignored.len()
    );
    out.push('\n');
    remarks(&ignored, palette, width, &mut out);
    remarks(&[total], palette, width, &mut out);
    out
}

/// What a patch did, or why it did nothing.
fn effect(patch: &Patch, traced: &Traced) -> String {
    let sets = || patch.sets.join(", ");
    let line = |entry: &usize| traced.origins.get(*entry).map_or(0, |origin| origin.at.line);
    match &patch.outcome {
        Outcome::HeaderPatched { star_ignored: true } => {
            format!("{} (the star is ignored: the header has no starredPatchVersion 1)", sets())
        }
        Outcome::HeaderPatched { .. } if patch.sets.is_empty() => "nothing, it is empty".to_owned(),
        Outcome::HeaderPatched { .. } => sets(),
        Outcome::EntryPatched(_) => "message".to_owned(),
        Outcome::EntryPatchEmpty(entry) => format!("it changes no member of line {}", line(entry)),
        Outcome::PatchIgnored(Ignored::Invalid(fault)) => format!("it is not valid at {}", clip(fault.pointer(), 60)),
        Outcome::PatchIgnored(Ignored::BeforeHeader) => "no header stands before it".to_owned(),
        Outcome::PatchIgnored(Ignored::BeforeVersion4) => "the header's version is below 4".to_owned(),
        Outcome::PatchIgnored(Ignored::TargetMissing) => "no entry before it has that id".to_owned(),
        Outcome::PatchIgnored(Ignored::TargetNotMessage(entry)) => format!("its target, line {}, is no message", line(entry)),
        Outcome::Header(_) | Outcome::FurtherHeader(_) | Outcome::Entry(_) | Outcome::Throws(_) | Outcome::Dropped => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::transcript::trace::trace;

    #[test]
    fn entries_show_their_lines_and_patches_what_they_did() {
        let lines = [
            r#"{"type":"entry_patch","entryId":"a","patch":{"message":{}}}"#,
            r#"{"type":"session","version":5,"id":"sess-1","cwd":"/w/app"}"#,
            "garbage",
            r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"asked"}}"#,
            r#"{"type":"label","id":"l","parentId":"a","targetId":"a","label":"x"}"#,
            r#"{"type":"header_patch","patch":{"title":"t","titleSource":"user"}}"#,
            r#"{"type":"header_patch","patch":{"starred":true}}"#,
            r#"{"type":"header_patch","patch":{"colour":"red"}}"#,
            r#"{"type":"entry_patch","entryId":"a","patch":{"message":{"role":"user","content":"asked again"}}}"#,
            r#"{"type":"entry_patch","entryId":"a","patch":{}}"#,
            r#"{"type":"entry_patch","entryId":"l","patch":{"message":{}}}"#,
            r#"{"type":"entry_patch","entryId":"zz","patch":{"message":{}}}"#,
        ];
        let traced = trace(lines.join("\n").as_bytes(), Release::V0_17).unwrap().unwrap();
        insta::assert_snapshot!(text(&traced, Palette::new(false), 70));
    }
}
