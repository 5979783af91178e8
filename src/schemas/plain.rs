//! What this tool itself writes and reads.

use super::{Form, of};
use crate::agent::catalogue::Catalogue;
use crate::agent::why::Chain;
use crate::gc::survey::Survey;
use crate::render::jsonl;
use crate::report::{self, baseline, quota, reference};

/// A form that only this tool writes.
const fn own(name: &'static str, about: &'static str, schema: fn() -> schemars::Schema) -> Form {
    Form { name, about, schema, typed: None, unsaid: &[] }
}

/// The forms of this tool.
pub(super) fn forms() -> Vec<Form> {
    vec![
        own("baseline", "The baseline that `check --baseline` reads.", baseline::schema),
        own("codes", "The list that `codes --format json` writes.", reference::schema),
        own("diff", "The differences that `diff --format json` writes.", crate::corpus::diff::schema),
        own("gc", "The journals that `gc --format json` writes.", || schemars::schema_for!(Survey)),
        own("list", "The sessions that `list --format json` writes.", || report::schema_of::<Catalogue>("gjc-fsck/list/1")),
        own("quota", "The readings that `quota --format json` writes.", quota::schema),
        own("report", "The report that `check --format json` writes.", report::schema),
        own("report-line", "One line of what `check --format jsonl` writes.", jsonl::schema),
        own("why", "The decisions that `why --format json` writes.", || report::schema_of::<Chain>("gjc-fsck/why/1")),
        Form {
            name: "breadcrumb",
            about: "A terminal breadcrumb (spec 04 §3.4) as a record; its file holds the two texts as lines.",
            schema: || of::<super::storage::Breadcrumb>("breadcrumb", "A terminal breadcrumb as a record."),
            typed: Some(super::typed::breadcrumb),
            unsaid: &[],
        },
    ]
}
