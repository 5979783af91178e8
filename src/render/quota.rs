//! The answer to `quota` for people: what is near a limit first, with everything about it; of the rest a bar for the fullest
//! reading of each measure.

use super::human::{Layout, amount, bar};
use super::style::{Palette, plain, wrap};
use super::words::{count, grouped, near_limits};
use crate::check::quota::{RETIREMENT_ENTRIES, measure};
use crate::finding::Severity;
use crate::report::quota::{Quota, Reading, Readings};
use std::fmt::Write;

/// Readings of one measure that are shown when they are near the limit.
const NEAR: usize = 8;

/// Columns in front of what is said of a bar.
const BEHIND_BAR: usize = 20;

/// Every measure, those near their limit first, and of these the fullest.
pub fn text(quota: &Quota, layout: Layout) -> String {
    let palette = Palette::new(layout.colour);
    let width = layout.width.clamp(40, 120);
    let mut out = String::new();
    let is_near = |measure: &&Readings| measure.readings.iter().any(|reading| reading.near);
    let (mut near, mut calm): (Vec<&Readings>, Vec<&Readings>) = quota.measures.iter().partition(is_near);
    let fullest = |measure: &&Readings| std::cmp::Reverse(measure.readings.first().map(|reading| (reading.exceeded, reading.percent)));
    near.sort_by_key(fullest);
    calm.sort_by_key(fullest);
    if quota.measures.is_empty() {
        let _ = writeln!(out, "nothing that has a limit was found");
        return out;
    }
    if !near.is_empty() {
        let exceeded = near.iter().flat_map(|measure| &measure.readings).any(|reading| reading.exceeded);
        let _ = writeln!(out, "{}", palette.strong(near_limits(exceeded)));
        for measure in &near {
            block(quota, measure, &palette, width, &mut out);
        }
        out.push('\n');
    }
    if !calm.is_empty() && (near.is_empty() || !layout.quiet) {
        let title = match (near.is_empty(), quota.unread.is_empty()) {
            (true, true) => "Room everywhere",
            (true, false) => "Room in everything that could be read",
            (false, _) => "Room",
        };
        let _ = writeln!(out, "{}", palette.strong(title));
        for measure in &calm {
            room(quota, measure, &palette, width, &mut out);
        }
    }
    if !quota.unread.is_empty() {
        let _ = writeln!(out, "\n{}", palette.strong("Not read, so what it uses is not counted"));
    }
    for unread in &quota.unread {
        let _ = writeln!(out, "  {}", palette.severity(Severity::Error, &wrap(&plain(unread), 4, width)));
    }
    if !layout.quiet {
        let _ = writeln!(out, "\n{}", palette.faint(&wrap(&advice(quota, &near), 0, width)));
    }
    out
}

fn advice(quota: &Quota, near: &[&Readings]) -> String {
    let mut advice = "A limit that is reached is no damage, and no reason to delete anything healthy.".to_owned();
    if quota.measures.iter().any(|measure| measure.name == RETIREMENT_ENTRIES.name) {
        advice.push_str(" `gjc-fsck gc` shows each retirement journal and what its next receipt needs.");
    }
    // Above the limit the code of what gjc then says, else that of the warning.
    let code = |near: &&Readings| {
        let exceeded = near.readings.iter().any(|reading| reading.exceeded);
        let measure = measure(near.name)?;
        Some(measure.beyond().filter(|_| exceeded).unwrap_or(measure.warning).name)
    };
    let mut codes: Vec<&str> = near.iter().filter_map(code).collect();
    codes.sort_unstable();
    codes.dedup();
    if !codes.is_empty() {
        let _ = write!(advice, " What to do: gjc-fsck explain {}.", codes.join(" "));
    }
    if quota.measures.len() > near.len() {
        advice.push_str(" Which file or directory each reading is of: --format concise.");
    }
    advice
}

/// A measure with room: its fullest reading.
fn room(quota: &Quota, measure: &Readings, palette: &Palette, width: usize, out: &mut String) {
    let Some(reading) = measure.readings.first() else { return };
    // A unit that is a word is said once.
    let bytes = measure.unit == "bytes";
    let short = |used: u64| if bytes { amount(used, measure.unit) } else { grouped(used) };
    let left = if bytes { left(measure, reading) } else { format!("{} left", short(reading.headroom)) };
    let used = format!("{} of {}, {left}", short(reading.used), amount(measure.limit, measure.unit));
    let _ = writeln!(out, "  {} {:>3} %  {}", palette.faint(&bar(reading.percent)), reading.percent, wrap(&used, BEHIND_BAR, width));
    let appends = more(quota, measure, reading).map_or(String::new(), |more| format!("; {more}"));
    let counts = format!("{} ({}){appends}", measure.counts, measure.section);
    let _ = writeln!(out, "{:BEHIND_BAR$}{}", "", palette.faint(&wrap(&counts, BEHIND_BAR, width)));
}

fn left(measure: &Readings, reading: &Reading) -> String {
    if reading.exceeded {
        format!("{} above the limit", amount(reading.used - measure.limit, measure.unit))
    } else {
        let headroom = if reading.headroom == 0 { "nothing".to_owned() } else { amount(reading.headroom, measure.unit) };
        format!("{headroom} left")
    }
}

/// How many more records of the size that comes next fit; of none, what leaves no room.
fn more(quota: &Quota, measure: &Readings, reading: &Reading) -> Option<String> {
    Some(match reading.appends_left? {
        0 if is_counted_out(quota, &reading.path) => {
            "no receipt more fits, whatever its size: the count of the scope is the reason".to_owned()
        }
        0 if measure.name == RETIREMENT_ENTRIES.name => {
            "the count has room, the next receipt of one of its journals does not fit: its size is the reason".to_owned()
        }
        0 => "the next receipt does not fit: its size is the reason".to_owned(),
        1 => "1 more receipt of the next size fits".to_owned(),
        appends => format!("{} more receipts of the next size fit", grouped(appends.into())),
    })
}

/// Whether the scope of a receipts directory, or of a receipt in it, has as many entries as gjc reads.
fn is_counted_out(quota: &Quota, path: &str) -> bool {
    let mut entries = quota.measures.iter().filter(|measure| measure.name == RETIREMENT_ENTRIES.name).flat_map(|measure| &measure.readings);
    entries.any(|scope| scope.headroom == 0 && path.strip_prefix(&*scope.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

fn block(quota: &Quota, measure: &Readings, palette: &Palette, width: usize, out: &mut String) {
    let shown = measure.readings.iter().filter(|reading| reading.near).count().clamp(1, NEAR);
    let limit = amount(measure.limit, measure.unit);
    let _ = writeln!(out, "\n  {}", wrap(&format!("{} (limit {limit}; {})", measure.counts, measure.section), 2, width));
    for reading in measure.readings.iter().take(shown) {
        line(quota, measure, reading, palette, width, out);
    }
    let rest = measure.readings.len().saturating_sub(shown) as u64;
    if rest > 0 {
        let near = measure.readings.iter().skip(shown).filter(|reading| reading.near).count();
        let rest = count(rest, "other", "others");
        let text = if near > 0 { format!("and {rest}, {near} of them at or near the limit") } else { format!("and {rest} with less") };
        let _ = writeln!(out, "  {}", palette.faint(&text));
    }
    if measure.readings.iter().any(|reading| reading.near) {
        let _ = writeln!(out, "  {}", wrap(&format!("Above the limit {}.", measure.above), 2, width));
    }
}

fn line(quota: &Quota, measure: &Readings, reading: &Reading, palette: &Palette, width: usize, out: &mut String) {
    let cells = bar(reading.percent);
    let cells = match (reading.exceeded, reading.near) {
        (true, _) => palette.aside(&cells),
        (false, true) => palette.severity(Severity::Warning, &cells),
        (false, false) => palette.faint(&cells),
    };
    let used = if measure.unit == "bytes" { amount(reading.used, measure.unit) } else { grouped(reading.used) };
    let used = format!("{used}, {}", left(measure, reading));
    let _ = writeln!(out, "  {cells} {:>3} %  {}", reading.percent, wrap(&used, BEHIND_BAR, width));
    if let Some(text) = more(quota, measure, reading) {
        let text = wrap(&text, 2, width);
        let _ = writeln!(out, "  {}", if reading.appends_left == Some(0) { palette.aside(&text) } else { text });
    }
    if let Some(workspace) = &reading.workspace {
        let _ = writeln!(out, "  {}", wrap(&format!("workspace {}", plain(workspace)), 2, width));
    }
    // A path is not broken: it is to be copied.
    let _ = writeln!(out, "  {}", palette.faint(&plain(&reading.path)));
}

/// One line a reading: path, measure, used, limit, per cent; then what was not read.
pub fn concise(quota: &Quota) -> String {
    let mut out = String::new();
    for measure in &quota.measures {
        for reading in &measure.readings {
            let _ = writeln!(
                out,
                "{}: {}[{} %] {} of {} {}{}",
                plain(&reading.path),
                measure.name,
                reading.percent,
                reading.used,
                measure.limit,
                measure.unit,
                reading.appends_left.map_or(String::new(), |appends| format!(", {appends} appends left"))
            );
        }
    }
    for unread in &quota.unread {
        let _ = writeln!(out, "not read: {}", plain(unread));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::quota::{RETIREMENT_ENTRIES, SCOPE_BYTES, TRANSCRIPT_BYTES};
    use crate::finding::{Gauge, Outcome, Release};
    use crate::report::quota::quota;

    fn page(width: usize) -> String {
        let scope = "sessions/v2-4qyznztikc5tcwalrrghpgbmnmgm7edvcgvqpmyufsyzj7ke3gda";
        let gauges = [
            TRANSCRIPT_BYTES.gauge(format!("{scope}/a.jsonl").into(), 12_345),
            TRANSCRIPT_BYTES.gauge(format!("{scope}/b.jsonl").into(), 678),
            Gauge {
                appends_left: Some(4_998),
                ..RETIREMENT_ENTRIES.gauge(format!("{scope}/.gjc-managed-session-internal/receipts").into(), 45_002)
            },
            SCOPE_BYTES.gauge(scope.into(), 600 << 20),
        ];
        let outcome = Outcome { path: format!("{scope}/a.jsonl").into(), cwd: Some("/home/ana/dev/app".into()), ..Outcome::default() };
        text(&quota(&gauges, &[outcome], Release::default(), "agent".into()), Layout { colour: false, width, quiet: false })
    }

    #[test]
    fn what_is_near_comes_first_with_what_gjc_does_about_it() {
        insta::assert_snapshot!(page(80));
    }
    fn of(gauges: &[Gauge], unread: &[&str]) -> String {
        let answer = quota(gauges, &[], Release::default(), "agent".into());
        let answer = Quota { unread: unread.iter().map(|unread| (*unread).to_owned()).collect(), ..answer };
        text(&answer, Layout { colour: false, width: 120, quiet: false })
    }
    #[test]
    fn room_everywhere_is_said_of_what_was_read() {
        let gauges = [TRANSCRIPT_BYTES.gauge("a.jsonl".into(), 1)];
        assert!(of(&gauges, &[]).starts_with("Room everywhere\n"));
        let page = of(&gauges, &["opendir v2-a: EACCES"]);
        assert!(page.starts_with("Room in everything that could be read\n"), "{page}");
        assert!(page.contains("Not read, so what it uses is not counted\n  opendir v2-a: EACCES\n"), "{page}");
        assert!(
            concise(&Quota { unread: vec!["opendir v2-a: EACCES".into()], ..quota(&[], &[], Release::default(), "r".into()) })
                .ends_with("not read: opendir v2-a: EACCES\n")
        );
    }
    #[test]
    fn what_leaves_no_room_for_a_receipt_is_named() {
        use crate::check::quota::LARGEST_RETIREMENT_HISTORY;
        let page = |entries: u64| {
            let entries = Gauge { appends_left: Some(0), ..RETIREMENT_ENTRIES.gauge("v2-a/receipts".into(), entries) };
            let history =
                Gauge { appends_left: Some(0), ..LARGEST_RETIREMENT_HISTORY.gauge("v2-a/receipts/x-prepared.json".into(), 500 << 20) };
            of(&[entries, history], &[])
        };
        let reasons =
            |page: &str| (page.matches("the count of the scope is the reason").count(), page.matches("its size is the reason").count());
        assert_eq!(reasons(&page(50_000)), (2, 0));
        assert_eq!(reasons(&page(49_999)), (0, 2));
    }
    #[test]
    fn a_narrow_terminal_is_enough() {
        use unicode_width::UnicodeWidthStr;
        let page = page(50);
        let too_wide = page.lines().filter(|line| line.width() > 50 && line.split_whitespace().count() > 1).collect::<Vec<_>>();
        assert!(too_wide.is_empty(), "{too_wide:?}");
    }
    #[test]
    fn nothing_measured_is_said() {
        let none = quota(&[], &[], Release::default(), "agent".into());
        assert_eq!(text(&none, Layout { colour: false, width: 80, quiet: false }), "nothing that has a limit was found\n");
        assert_eq!(concise(&none), "");
    }
}
