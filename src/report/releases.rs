//! The table of release differences as a page of Markdown (`reports/releases.md`).

use crate::check;
use crate::finding::release::Case;
use crate::finding::{Difference, Releases};
use std::fmt::Write;

/// The page.
pub fn markdown() -> String {
    let mut page = String::from(
        "# What the releases of gjc do differently\n\n\
         Generated from the table of differences; do not edit. `GJC_FSCK_BLESS=1 cargo test` writes it anew, and the test fails when it differs.\n\
         `--gjc 0.15` and `--gjc 0.17` (default) change exactly this.\n\n\
         **run**: 0.15.0 was run, and 0.15.0 with the rule of 0.17 in its place. **read**: what 0.17 does was read in its source or\n\
         documents, not run. **reported**: one side is known from users only.\n\n\
         Cases: rules of the suite `n17`, trees of the suite `trees`, inputs of `tests/release_differences/inputs.rs`. Every one of them is\n\
         run under both releases, and the test fails when the answers are the same.\n",
    );
    for difference in Difference::ALL {
        let entry = difference.entry();
        let cases: Vec<String> = entry.cases.iter().map(named).collect();
        // Writing into a String cannot fail.
        let _ = write!(
            page,
            "\n## `{}`\n\n* 0.15: {}\n* 0.17: {}\n* Known: {}\n* Spec: {}\n* Cases: {}\n",
            entry.name,
            entry.before,
            entry.after,
            entry.known.word(),
            entry.section,
            cases.join(", ")
        );
        if *difference == Difference::LaterCodes {
            let codes: Vec<String> =
                check::codes().filter(|code| code.releases == Releases::Only017).map(|code| format!("`{}`", code.name)).collect();
            let _ = writeln!(page, "* Codes ({}): {}", codes.len(), codes.join(", "));
        }
    }
    page
}

fn named(case: &Case) -> String {
    match case {
        Case::Rule(rule) => format!("n17 `{rule}`"),
        Case::Tree(tree) => format!("tree `{tree}`"),
        Case::Input(input) => format!("input `{input}`"),
    }
}
