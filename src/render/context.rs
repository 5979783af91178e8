//! The rebuilt context for a terminal: where it comes from, its messages, its settings.

use super::entry::{clip, glimpse, id, message_preview, pad, preview, word};
use super::style::Palette;
use super::tree::{Sheet, head, remarks, summary};
use crate::json::{Value, View};
use crate::transcript::context::js::Js;
use crate::transcript::context::{Context, Message, Values};
use unicode_width::UnicodeWidthStr;

/// Widest name of a role that is shown in full.
const ROLE_COLUMNS: usize = 17;
/// Widest id that is shown in full.
const ID_COLUMNS: usize = 12;

/// Columns that the values of settings need beside the names.
const VALUE_COLUMNS: usize = 12;

/// The context as text.
pub fn text(sheet: Sheet<'_>, context: &Context<'_, Values<'_>>, palette: Palette, width: usize) -> String {
    let mut out = head(sheet, palette, width);
    out.push('\n');
    remarks(&summary(sheet), palette, width, &mut out);

    out.push_str(&format!("\n{}\n", palette.strong("Messages")));
    let digits = sheet.origins.last().map_or(1, |origin| origin.at.line.to_string().len());
    for message in &context.messages {
        out.push_str(&row(sheet, message, palette, width, digits));
    }
    if context.messages.is_empty() {
        out.push_str("  none\n");
    }

    out.push_str(&format!("\n{}\n", palette.strong("Settings")));
    let members = context.settings.members();
    let columns = members.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    for (key, value) in &members {
        let mut json = Vec::new();
        match value {
            Js::Undefined => json.extend_from_slice(b"not set"),
            value => value.write(&mut json),
        }
        out.push_str(&setting(key, &json, columns, palette, width));
    }
    out
}

/// One setting. Its name is never cut where the line holds it: on a narrow terminal the value stands below it.
fn setting(key: &str, json: &[u8], columns: usize, palette: Palette, width: usize) -> String {
    let name = |name: &str| palette.faint(name);
    if columns + 4 + VALUE_COLUMNS <= width {
        return format!("  {}  {}\n", name(&pad(key, columns)), glimpse(json, width - columns - 4));
    }
    let value = glimpse(json, width.saturating_sub(4));
    if 2 + key.len() + 2 + value.width() <= width {
        return format!("  {}  {value}\n", name(key));
    }
    format!("  {}\n    {value}\n", name(&clip(key, width.saturating_sub(2))))
}

fn row(sheet: Sheet<'_>, message: &Message, palette: Palette, width: usize, digits: usize) -> String {
    let number = format!("{:>digits$}", sheet.line(message.entry()));
    let entry = sheet.entries.get(message.entry()).unwrap_or(&Value::Null);
    let role = match message {
        Message::Stored(_) => word(entry),
        Message::Custom(_) => "custom".to_owned(),
        Message::BranchSummary(_) => "branchSummary".to_owned(),
        Message::CompactionSummary(_) => "compactionSummary".to_owned(),
    };
    let role = pad(&clip(&role, ROLE_COLUMNS.min(width / 4)), ROLE_COLUMNS.min(width / 4));
    let own = pad(&clip(&id(entry.get("id")), ID_COLUMNS.min(width / 5)), ID_COLUMNS.min(width / 5));
    let room = width.saturating_sub(2 + number.width() + 1 + role.width() + 1 + own.width() + 1);
    let said = match message {
        Message::Stored(_) => entry.get("message").map(|message| message_preview(message, room)).unwrap_or_default(),
        _ => preview(entry, room),
    };
    let line = format!("  {} {} {} {said}", palette.faint(&number), palette.strong(&role), palette.faint(&own));
    format!("{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::transcript::context::{budget, build};
    use crate::transcript::outline::Outline;
    use crate::transcript::trace::trace;
    use crate::transcript::tree::{Leaf, Tree};

    fn shown(lines: &[&str], leaf: Leaf, width: usize) -> String {
        let mut traced = trace(lines.join("\n").as_bytes(), Release::V0_17).unwrap().unwrap();
        let list = Values::new(&traced.loaded.entries, &mut traced.loaded.ids);
        let outline = Outline::new(&list, &mut traced.loaded.ids, leaf, Release::V0_17);
        let context = build(&Tree::new(&list), leaf, Release::V0_17).unwrap();
        let sheet = Sheet { entries: &traced.loaded.entries, origins: &traced.origins, outline: &outline, budget: budget::DEFAULT };
        text(sheet, &context, Palette::new(false), width)
    }
    const LINES: [&str; 6] = [
        r#"{"type":"session","version":5,"id":"sess-1","cwd":"/w/app"}"#,
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"an old question"}}"#,
        r#"{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"assistant","content":[{"type":"text","text":"an answer"}],"provider":"p","model":"m"}}"#,
        r#"{"type":"compaction","id":"k","parentId":"b","timestamp":"t","summary":"what was","firstKeptEntryId":"b","tokensBefore":5}"#,
        r#"{"type":"custom_message","id":"c","parentId":"k","timestamp":"t","customType":"note","content":"by the way","display":true}"#,
        r#"{"type":"branch_summary","id":"d","parentId":"c","timestamp":"t","fromId":"a","summary":"tried"}"#,
    ];

    #[test]
    fn messages_and_settings() {
        insta::assert_snapshot!(shown(&LINES, Leaf::Last, 80));
    }

    #[test]
    fn on_a_narrow_terminal_the_names_of_settings_stay_whole() {
        for width in [46, 80] {
            let shown = shown(&LINES, Leaf::Last, width);
            assert!(shown.contains("hasPersistedDiscoveredBuiltinToolSelection"), "{shown}");
        }
        insta::assert_snapshot!(shown(&LINES, Leaf::Last, 40));
    }

    #[test]
    fn the_place_before_the_first_entry_is_empty() {
        let shown = shown(&LINES, Leaf::BeforeFirst, 80);
        assert!(
            shown.contains(
                "0 on the path to the leaf\nthe context holds 0 messages and weighs 0 of 536,870,912 bytes\n\nMessages\n  none\n"
            ),
            "{shown}"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 24..100 {
            for line in shown(&LINES, Leaf::Last, width).lines() {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
    }
}
