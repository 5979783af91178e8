//! What this tool itself writes and reads.

use super::{Form, of, typed};
use crate::agent::catalogue::Catalogue;
use crate::agent::why::Chain;
use crate::corpus::case::Case;
use crate::gc::survey::Survey;
use crate::render::jsonl;
use crate::repair::{plan::Plan, proof::Proof, salvage::Salvage};
use crate::report::{self, baseline, quota, reference};
use crate::session::discovery::answer::{Continue, List, Resume};
use crate::session::discovery::saved::Reply;

/// A form that only this tool writes.
const fn own(name: &'static str, about: &'static str, schema: fn() -> schemars::Schema) -> Form {
    Form { name, about, schema, typed: None, unsaid: &[] }
}

/// A form that this tool writes and reads again.
const fn read_again(name: &'static str, about: &'static str, schema: fn() -> schemars::Schema, typed: super::Typed) -> Form {
    const RANGE: &[(&str, &str)] = &[("range", "whole numbers fit into their type, most of them into 64 bits")];
    Form { name, about, schema, typed: Some(typed), unsaid: RANGE }
}

/// The forms of this tool.
pub(super) fn forms() -> Vec<Form> {
    vec![
        own("baseline", "The baseline that `check --baseline` reads.", baseline::schema),
        own("codes", "The list that `codes --format json` writes.", reference::schema),
        own("diff", "The differences that `diff --format json` writes.", crate::corpus::diff::schema),
        own("gc", "The journals that `gc --format json` writes.", || schemars::schema_for!(Survey)),
        own("continue", "The choice that `continue --format json` writes.", || report::schema_of::<Continue>("gjc-fsck/continue/1")),
        own("list", "The sessions that `list --format json` writes.", || report::schema_of::<Catalogue>("gjc-fsck/list/1")),
        own("other-list", "The sessions that `list --recent`, `--picker` or `--inventory` write with `--format json`.", || {
            report::schema_of::<List>("gjc-fsck/other-list/1")
        }),
        own("resume", "The choice that `resume --format json` writes.", || report::schema_of::<Resume>("gjc-fsck/resume/1")),
        own("saved-session", "The reply of the SDK that `resume --sdk-json` writes.", || {
            report::schema_of::<Reply>("gjc-fsck/saved-session/1")
        }),
        own("quota", "The readings that `quota --format json` writes.", quota::schema),
        own("report", "The report that `check --format json` writes.", report::schema),
        own("report-line", "One line of what `check --format jsonl` writes.", jsonl::schema),
        own("why", "The decisions that `why --format json` writes.", || report::schema_of::<Chain>("gjc-fsck/why/1")),
        read_again(
            "corpus-case",
            "A case of a corpus: `case.json`.",
            || of::<Case>("corpus-case", "A case of a corpus."),
            typed::own::<Case>,
        ),
        read_again(
            "plan",
            "The plan that `repair --plan` writes and `repair --apply` reads.",
            || of::<Plan>("plan", "A plan of repair."),
            typed::own::<Plan>,
        ),
        read_again(
            "proof",
            "The proof of one migrated session, which `repair --verify` reads.",
            || of::<Proof>("proof", "A proof of repair."),
            typed::own::<Proof>,
        ),
        read_again(
            "salvage-proof",
            "The proof of a salvaged copy.",
            || of::<Salvage>("salvage-proof", "A proof of a salvage."),
            typed::own::<Salvage>,
        ),
        Form {
            name: "breadcrumb",
            about: "A terminal breadcrumb (spec 04 §3.4) as a record; its file holds the two texts as lines.",
            schema: || of::<super::storage::Breadcrumb>("breadcrumb", "A terminal breadcrumb as a record."),
            typed: Some(typed::breadcrumb),
            unsaid: &[],
        },
    ]
}
