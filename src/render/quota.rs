//! The answer to `quota` for people: a bar for the fullest reading of each measure, and how many others there are.

use super::human::{Layout, amount, bar};
use super::style::{Palette, plain, wrap};
use super::words::count;
use crate::finding::Severity;
use crate::report::quota::{Quota, Reading, Readings};
use std::fmt::Write;

/// Readings of one measure that are shown when they are near the limit.
const NEAR: usize = 8;

/// Every measure, those near their limit first.
pub fn text(quota: &Quota, layout: Layout) -> String {
    let palette = Palette::new(layout.colour);
    let width = layout.width.clamp(40, 120);
    let mut out = String::new();
    let is_near = |measure: &&Readings| measure.readings.iter().any(|reading| reading.near);
    let near: Vec<&Readings> = quota.measures.iter().filter(is_near).collect();
    let calm: Vec<&Readings> = quota.measures.iter().filter(|measure| !is_near(measure)).collect();
    if quota.measures.is_empty() {
        let _ = writeln!(out, "nothing that has a limit was found");
        return out;
    }
    if !near.is_empty() {
        let _ = writeln!(out, "{}", palette.strong("At or near a limit"));
        for measure in &near {
            block(measure, &palette, width, &mut out);
        }
        out.push('\n');
    }
    if !calm.is_empty() && (near.is_empty() || !layout.quiet) {
        let _ = writeln!(out, "{}", palette.strong(if near.is_empty() { "Room everywhere" } else { "Room" }));
        for measure in &calm {
            block(measure, &palette, width, &mut out);
        }
    }
    if !layout.quiet {
        let _ = writeln!(out, "\n{}", palette.faint(&wrap(advice(quota), 0, width)));
    }
    out
}

fn advice(quota: &Quota) -> &'static str {
    if quota.measures.iter().any(|measure| measure.name == crate::check::quota::RETIREMENT_ENTRIES.name) {
        "A limit that is reached is no damage, and no reason to delete anything healthy. `gjc-fsck gc` shows each retirement \
         journal and what its next receipt needs."
    } else {
        "A limit that is reached is no damage, and no reason to delete anything healthy."
    }
}

fn block(measure: &Readings, palette: &Palette, width: usize, out: &mut String) {
    let shown = measure.readings.iter().filter(|reading| reading.near).count().clamp(1, NEAR);
    let limit = amount(measure.limit, measure.unit);
    let _ = writeln!(out, "\n  {}", wrap(&format!("{} (limit {limit}; {})", measure.counts, measure.section), 2, width));
    for reading in measure.readings.iter().take(shown) {
        line(measure, reading, palette, width, out);
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

fn line(measure: &Readings, reading: &Reading, palette: &Palette, width: usize, out: &mut String) {
    let cells = bar(reading.percent);
    let cells = match (reading.exceeded, reading.near) {
        (true, _) => palette.aside(&cells),
        (false, true) => palette.severity(Severity::Warning, &cells),
        (false, false) => palette.faint(&cells),
    };
    let left = if reading.exceeded {
        format!("{} above the limit", amount(reading.used - measure.limit, measure.unit))
    } else {
        format!("{} left", amount(reading.headroom, measure.unit))
    };
    let _ = writeln!(out, "  {cells} {:>3} %  {}, {left}", reading.percent, amount(reading.used, measure.unit));
    if let Some(appends) = reading.appends_left {
        let text = match appends {
            0 => palette.aside("the next receipt does not fit"),
            appends => format!("{} of the next size", count(appends.into(), "more receipt fits", "more receipts fit")),
        };
        let _ = writeln!(out, "  {}", wrap(&text, 2, width));
    }
    let _ = writeln!(out, "  {}", palette.faint(&wrap(&plain(&reading.path), 2, width)));
}

/// One line a reading: path, measure, used, limit, per cent.
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
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::quota::{RETIREMENT_ENTRIES, SCOPE_BYTES, TRANSCRIPT_BYTES};
    use crate::finding::{Gauge, Release};
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
        text(&quota(&gauges, Release::default(), "agent".into()), Layout { colour: false, width, quiet: false })
    }

    #[test]
    fn what_is_near_comes_first_with_what_gjc_does_about_it() {
        insta::assert_snapshot!(page(80));
    }
    #[test]
    fn nothing_measured_is_said() {
        let none = quota(&[], Release::default(), "agent".into());
        assert_eq!(text(&none, Layout { colour: false, width: 80, quiet: false }), "nothing that has a limit was found\n");
        assert_eq!(concise(&none), "");
    }
}
