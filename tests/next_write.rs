//! What the next write by gjc would do to a transcript is told by findings.
//!
//! [`next_write`] finds out by doing it: what an append glues, what opening for writing appends, what closing rewrites, and
//! what a full rewrite changes, drops or replaces for good. Each of its facts that costs something has its codes here, and
//! over every recorded input and every case of the corpus one of them is reported where the fact is true.
//!
//! Three facts cost nothing and have no code: patches that are folded into what they patch, an entry patch that changes
//! nothing, and a reference whose small blob is stored inline from then on.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test reads its own files and fails loudly"
)]

#[allow(dead_code, reason = "other tests use the rest of it")]
mod support;

use gjc_fsck::check::transcript::{Options, check};
use gjc_fsck::finding::{Collected, Finding, Release};
use gjc_fsck::json::jsonl::Lines;
use gjc_fsck::transcript::blobs::MemoryStore;
use gjc_fsck::transcript::load::{Loader, Outcome, Whole};
use gjc_fsck::transcript::persist::{FullRewrite, NextWrite, Tally, next_write};
use std::collections::BTreeSet;
use std::path::Path;

/// A fact of a prediction: its name, how often, and the codes of which one tells of it.
type Fact = (&'static str, u64, &'static [&'static str]);

/// Of a line that is no record of its own.
const DAMAGE: &[&str] = &[
    "json_syntax",
    "truncated_last_line",
    "nul_run",
    "fused_line",
    "glued_records",
    "lenient_swallow",
    "conflict_markers",
    "invalid_utf8",
    "utf8_bom_repeated",
    "utf16_bom",
];

/// Every fact of a prediction. A fact that is added does not compile until it is told of here.
fn facts(next: NextWrite) -> Vec<Fact> {
    let NextWrite { glued_to_line, sanitised_on_open, rewritten_on_close, rewrite } = next;
    let FullRewrite {
        // The size of the whole, and whether anything below is true.
        bytes: _,
        changes_nothing: _,
        lost_lines,
        lost_tails,
        // Costs nothing.
        folded_patches: _,
        dropped_patches,
        duplicate_keys,
        changed_numbers,
        refused_afterwards,
        content,
    } = rewrite;
    let Tally {
        edit_snapshots,
        transient_members,
        moved_out,
        moved_out_bytes: _,
        cut_strings,
        emptied_signatures,
        reencoded_images,
        lone_surrogates,
        lost_references,
        sentinels,
        // Costs nothing.
        inlined_references: _,
    } = content;
    vec![
        ("the next record is glued", u64::from(glued_to_line.is_some()), GLUED),
        ("opening appends a patch", sanitised_on_open, &["replay_sanitation_pending"]),
        ("closing rewrites the file", u64::from(rewritten_on_close), &["legacy_version", "version_out_of_range"]),
        ("lines are dropped", lost_lines, DAMAGE),
        ("ends of lines are dropped", lost_tails, DAMAGE),
        (
            "patches are dropped",
            dropped_patches,
            &["header_patch_invalid", "entry_patch_invalid", "patch_before_v4", "entry_patch_target_missing", "owner_patch_shadows_fields"],
        ),
        ("repeated keys collapse", duplicate_keys, &["duplicate_json_key"]),
        ("numbers change", changed_numbers, &["number_precision"]),
        ("gjc refuses what it wrote", u64::from(refused_afterwards), &["number_precision"]),
        ("edit snapshots are replaced", edit_snapshots, &["edit_snapshot_inline"]),
        ("transient members are dropped", transient_members, &["transient_field_present"]),
        // In 0.17 a text that only begins like a reference is decoded as an image.
        (
            "images move to the blob store",
            moved_out,
            &["inline_image_over_threshold", "image_base64_noncanonical", "blob_ref_noncanonical"],
        ),
        ("strings are cut", cut_strings, &["string_over_limit"]),
        ("signatures are emptied", emptied_signatures, &["string_over_limit"]),
        ("images are encoded anew", reencoded_images, &["image_base64_noncanonical", "blob_ref_noncanonical"]),
        ("surrogates are replaced", lone_surrogates, &["lone_surrogate"]),
        // In 0.15 any text behind `blob:sha256:` is a reference, and has no blob. A sentinel of an image is one too.
        ("references are replaced for good", lost_references, &["blob_missing", "blob_ref_noncanonical", "resident_sentinel_on_disk"]),
        ("sentinels are replaced", sentinels, &["resident_sentinel_on_disk"]),
    ]
}

/// The last line has no line end: the record is complete, or the line is damaged.
const GLUED: &[&str] = &[
    "missing_final_newline",
    "json_syntax",
    "truncated_last_line",
    "nul_run",
    "lenient_swallow",
    "record_spans_lines",
    "conflict_markers",
    "whitespace_only_line",
    "utf16_bom",
];

const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"2026-01-02T03:04:00.000Z","cwd":"/w"}"#;

/// A file of a header and an assistant message with this block.
fn with_block(block: &str) -> Vec<u8> {
    let message = format!(r#"{{"role":"assistant","content":[{block}],"provider":"p","model":"m","stopReason":"stop","timestamp":1}}"#);
    let entry = format!(r#"{{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-02T03:04:01.000Z","message":{message}}}"#);
    format!("{HEADER}\n{entry}\n").into_bytes()
}

/// The inputs: their names and bytes. The suites have no long signature and no long text with half a surrogate pair.
fn inputs() -> Vec<(String, Vec<u8>)> {
    let mut inputs = vec![
        (
            "a signature of 500,001 units".to_owned(),
            with_block(&format!(r#"{{"type":"thinking","thinking":"","thinkingSignature":"{}"}}"#, "x".repeat(500_001))),
        ),
        ("half a pair in 1,024 units".to_owned(), with_block(&format!(r#"{{"type":"text","text":"\ud83d{}"}}"#, "x".repeat(1_023)))),
    ];
    for suite in ["load", "migrate", "context", "open", "persist", "n17", "inspect"] {
        let own = support::cases(suite).into_iter().filter(|case| case.text("input").is_some() || case.text("input_b64").is_some());
        inputs.extend(own.map(|case| (format!("{suite}/{}", case.name()), case.input())));
    }
    for version in 1..=5 {
        for case in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("corpus/v{version}"))).unwrap() {
            let path = case.unwrap().path();
            inputs.push((path.display().to_string(), std::fs::read(path.join("trigger.jsonl")).unwrap()));
        }
    }
    inputs
}

/// Entry patches that are valid and change nothing.
fn empty_patches(file: &[u8], release: Release) -> u64 {
    let (mut loader, mut lines, mut empty) = (Loader::new(Whole, release), Lines::new(file), 0);
    while let Some(event) = lines.next().unwrap() {
        empty += u64::from(matches!(loader.event(&event), Some(Outcome::EntryPatchEmpty(_))));
    }
    empty
}

#[test]
fn whatever_the_next_write_costs_is_told_by_a_finding() {
    let store = MemoryStore::default();
    let (mut untold, mut happened) = (Vec::new(), BTreeSet::new());
    for (name, input) in inputs() {
        for release in [Release::V0_15, Release::V0_17] {
            // What throws is not written to.
            let Ok(mut next) = next_write(&input, &store, release) else { continue };
            let mut sink = Collected::default();
            let outcome = check(&input[..], &Options { store: Some(&store), ..Options::lone("t", release) }, &mut sink).unwrap();
            if outcome.counts.entries == 0 {
                continue;
            }
            next.rewrite.dropped_patches -= empty_patches(&input, release);
            if next.rewrite.refused_afterwards {
                let said = |finding: &Finding| finding.message.ends_with("gjc refuses the file from then on.");
                assert!(sink.findings.iter().any(said), "{name}: the finding says what comes of the infinite number");
            }
            let codes: BTreeSet<&str> = sink.findings.iter().map(|finding| finding.code.name).collect();
            for (fact, count, telling) in facts(next) {
                if count > 0 {
                    happened.insert(fact);
                    if !telling.iter().any(|code| codes.contains(code)) {
                        untold.push(format!("{name}, {release:?}: {fact}; the findings are {codes:?}"));
                    }
                }
            }
        }
    }
    assert!(untold.is_empty(), "{}", untold.join("\n"));
    let nothing = next_write(HEADER.as_bytes(), &store, Release::V0_17).unwrap();
    let never: Vec<&str> = facts(nothing).into_iter().map(|(fact, ..)| fact).filter(|fact| !happened.contains(fact)).collect();
    assert!(never.is_empty(), "no input shows that {never:?}");
}
