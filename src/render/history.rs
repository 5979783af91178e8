//! Prompts of the history, for a terminal of any width and for programs.

use super::entry::glimpse;
use super::style::{Palette, plain, wrap};
use crate::agent::history::search::Prompt;
use crate::transcript::date;
use unicode_width::UnicodeWidthStr;

/// For people: when, the beginning of what was typed, and where.
pub fn text(prompts: &[Prompt], palette: Palette, width: usize) -> String {
    let mut out = String::new();
    for prompt in prompts {
        let when = when(prompt);
        let said = glimpse(prompt.text.as_bytes(), width.saturating_sub(when.width() + 2));
        out.push_str(&format!("{}  {said}\n", palette.faint(&when)));
        if let Some(cwd) = &prompt.cwd {
            let indent = when.width() + 2;
            out.push_str(&" ".repeat(indent));
            out.push_str(&palette.faint(&wrap(&plain(cwd), indent, width)));
            out.push('\n');
        }
    }
    out
}

/// One prompt a line: number, time, workspace, text; separated by tabs, nothing in them that a terminal obeys.
pub fn concise(prompts: &[Prompt]) -> String {
    let line = |prompt: &Prompt| {
        let cwd = prompt.cwd.as_deref().unwrap_or("-");
        format!("{}\t{}\t{}\t{}\n", prompt.id, when(prompt), plain(cwd), plain(&prompt.text))
    };
    prompts.iter().map(line).collect()
}

/// `[{"id","prompt","created_at","cwd"?}]`, as gjc hands its rows on.
pub fn json(prompts: &[Prompt]) -> String {
    let rows: Vec<serde_json::Value> = prompts
        .iter()
        .map(|prompt| {
            let mut row = serde_json::json!({ "id": prompt.id, "prompt": prompt.text, "created_at": prompt.created_at });
            if let (Some(cwd), Some(row)) = (&prompt.cwd, row.as_object_mut()) {
                row.insert("cwd".into(), cwd.clone().into());
            }
            row
        })
        .collect();
    format!("{}\n", serde_json::Value::from(rows))
}

/// The minute in which a prompt was typed (UTC).
fn when(prompt: &Prompt) -> String {
    let minute = prompt.created_at.and_then(|seconds| date::minute(seconds as f64 * 1_000.0));
    minute.unwrap_or_else(|| "no time".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompts() -> Vec<Prompt> {
        let prompt =
            |id, text: &str, created_at, cwd: Option<&str>| Prompt { id, text: text.into(), created_at, cwd: cwd.map(str::to_owned) };
        vec![prompt(2, "fix the\n\ttest\u{1b}[2J", Some(1_767_323_040), Some("/w/demo")), prompt(1, "hello", None, None)]
    }

    #[test]
    fn for_people() {
        let wanted = "2026-01-02T03:04Z  fix the test\\u{1b}[2J\n                   /w/demo\nno time  hello\n";
        assert_eq!(text(&prompts(), Palette::new(false), 60), wanted);
    }

    #[test]
    fn one_a_line() {
        let wanted = "2\t2026-01-02T03:04Z\t/w/demo\tfix the\\n\\ttest\\u{1b}[2J\n1\tno time\t-\thello\n";
        assert_eq!(concise(&prompts()), wanted);
    }

    #[test]
    fn for_programs() {
        let rows: serde_json::Value = serde_json::from_str(&json(&prompts())).unwrap();
        assert_eq!(rows[0]["cwd"], "/w/demo");
        assert_eq!(rows[1], serde_json::json!({ "id": 1, "prompt": "hello", "created_at": null }));
    }
}
