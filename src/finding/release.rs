//! The releases of gjc, and the table of what they do differently.
//!
//! A difference has one name, and the places that decide by release ask [`Difference::in_effect`] of it; no other room
//! compares releases. `tests/release_differences.rs` runs the cases of every entry under both releases.

/// The release of gjc whose behaviour is asked for (`--gjc`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub enum Release {
    /// 0.15.0, the column B of the spec.
    #[serde(rename = "0.15")]
    V0_15,
    /// The 0.17 line, the column N of the spec.
    #[serde(rename = "0.17")]
    #[default]
    V0_17,
}

impl Release {
    /// Every release, oldest first.
    pub const ALL: [Release; 2] = [Release::V0_15, Release::V0_17];

    /// The release with this text.
    ///
    /// # Errors
    /// No release is called so; says which are.
    pub fn named(text: &str) -> Result<Release, String> {
        let known = Release::ALL.map(Release::text);
        Release::ALL
            .into_iter()
            .find(|release| release.text() == text)
            .ok_or_else(|| format!("the releases known are {}", known.join(" and ")))
    }

    /// `0.15` or `0.17`.
    pub const fn text(self) -> &'static str {
        match self {
            Release::V0_15 => "0.15",
            Release::V0_17 => "0.17",
        }
    }
}

/// How sure a difference is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// 0.15.0 was run; the other side is 0.15.0 run with the rule of 0.17 in its place.
    Run,
    /// 0.15.0 was run or read; what 0.17 does was read, not run.
    Read,
    /// One side is told by users only; the spec marks it UNVERIFIED.
    Reported,
}

impl Known {
    /// `run`, `read` or `reported`.
    pub const fn word(self) -> &'static str {
        match self {
            Known::Run => "run",
            Known::Read => "read",
            Known::Reported => "reported",
        }
    }
}

/// A case that the releases answer differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Case {
    /// The cases of a rule of the suite `n17`.
    Rule(&'static str),
    /// A case of the suite `trees`.
    Tree(&'static str),
    /// An input of `tests/release_differences.rs`.
    Input(&'static str),
}

/// What the table says of a difference.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Stable snake_case name.
    pub name: &'static str,
    /// What 0.15 does.
    pub before: &'static str,
    /// What 0.17 does.
    pub after: &'static str,
    /// Section(s) of the specification.
    pub section: &'static str,
    /// How sure it is.
    pub known: Known,
    /// Cases that show it; at least one.
    pub cases: &'static [Case],
}

/// Declares [`Difference`] and what the table says of each.
macro_rules! differences {
    ($($(#[$doc:meta])* $difference:ident { $($member:ident: $value:expr),* $(,)? })*) => {
        /// Something that 0.17 does and 0.15 does not, or does otherwise.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Difference {
            $($(#[$doc])* $difference,)*
        }

        impl Difference {
            /// The table, in the order of the chapters of the spec.
            pub const ALL: &[Difference] = &[$(Difference::$difference),*];

            /// What the table says of it.
            pub const fn entry(self) -> Entry {
                match self {
                    $(Difference::$difference => Entry { $($member: $value),* },)*
                }
            }
        }
    };
}

differences! {
    /// Header patches may star a session, and its header says whether they take effect.
    StarPatches {
        name: "star_patches",
        before: "`starred` is an unknown key of a header patch: the whole patch is ignored. In a header it is plain data.",
        after: "`starred` is a boolean that a header patch may set; it takes effect when the header's `starredPatchVersion` is 1.",
        section: "01 §3.1, §5.2, §5.3",
        known: Known::Run,
        cases: &[Case::Rule("star_patch"), Case::Rule("star_capability"), Case::Rule("star_inline"), Case::Rule("star_rewrite")],
    }
    /// A new session can be starred.
    StarCapableHeaders {
        name: "star_capable_headers",
        before: "A new header has no `starredPatchVersion`.",
        after: "Every new header carries `starredPatchVersion` 1 behind `version`.",
        section: "01 §3.1, §3.2; 04 §9.1",
        known: Known::Read,
        cases: &[Case::Input("the_header_of_a_new_session")],
    }
    /// The star is said again before another header patch.
    StarCheckpoint {
        name: "star_checkpoint",
        before: "A new title or workspace appends one patch.",
        after: "In a transcript that can be starred, a patch with the current star stands before each patch of title or workspace.",
        section: "01 §5.4; 04 §2.6",
        known: Known::Read,
        cases: &[Case::Input("a_new_title_of_a_starred_session"), Case::Input("a_title_patch_without_star_before_it")],
    }
    /// The picker shows stars.
    ListedStars {
        name: "listed_stars",
        before: "The picker has no stars.",
        after: "The picker shows the star in effect: of the header, or of the newest trailing patch, when the header is capable.",
        section: "01 §2.6; 04 §2.4, §2.6",
        known: Known::Read,
        cases: &[Case::Input("a_starred_session_in_the_picker")],
    }
    /// Reader K: the picker can star a session.
    PickerStar {
        name: "picker_star",
        before: "The picker cannot star a session.",
        after: "The picker stars a session by appending a patch, or rewrites the first line of one whose header cannot be starred.",
        section: "01 §2, §5.4; 04 §2.6",
        known: Known::Read,
        cases: &[Case::Input("the_readers_of_a_transcript")],
    }
    /// The picker finds the version of a header that is longer than what it reads.
    PickerTextualVersion {
        name: "picker_textual_version",
        before: "The version of a header longer than 4,096 bytes is not recognised, so trailing patches do not apply in the picker.",
        after: "The number behind the top-level `version` counts, so trailing patches apply.",
        section: "01 §2.6; 04 §2.4",
        known: Known::Read,
        cases: &[Case::Input("a_title_patch_behind_a_long_header")],
    }
    /// Project transcripts are read under guard.
    GuardedProjectReader {
        name: "guarded_project_reader",
        before: "A transcript below a project's `.gjc` is read like any other.",
        after: "One with more than one hard link, or that changes while it is read, is left out of the picker.",
        section: "04 §2.9",
        known: Known::Read,
        cases: &[Case::Input("a_project_transcript_with_two_links")],
    }
    /// The list of all sessions keeps what no scope claims.
    SessionsOfNoScope {
        name: "sessions_of_no_scope",
        before: "The list of all sessions shows owned candidates only.",
        after: "It also shows the files of workspaces whose scope cannot be resolved or listed.",
        section: "04 §2.7",
        known: Known::Read,
        cases: &[Case::Input("a_session_whose_workspace_is_gone")],
    }
    /// The SDK says why a saved session is left out.
    SavedSessionOmission {
        name: "saved_session_omission",
        before: "A saved session that is not found, or not the only one, is left out without a word.",
        after: "`savedSessionOmission` says why.",
        section: "04 §3.5",
        known: Known::Read,
        cases: &[Case::Input("a_saved_session_that_is_not_found")],
    }
    /// A header patch can name the owner of task artifacts.
    TaskArtifactOwnerPatches {
        name: "task_artifact_owner_patches",
        before: "`taskArtifactOwner` is an unknown key like any other: the patch is invalid.",
        after: "A reader of its own takes the owner from the patch; replay still ignores the whole patch, its other fields included.",
        section: "01 §3.3; 03 §8",
        known: Known::Read,
        cases: &[Case::Input("a_patch_that_names_an_owner")],
    }
    /// References to blobs have a grammar.
    BlobReferenceGrammar {
        name: "blob_reference_grammar",
        before: "Any non-empty text behind `blob:sha256:` is a reference and part of a path: more than 255 bytes or a NUL make opening fail.",
        after: "Only 64 lower-case hexadecimal digits make a reference; other texts are plain data, as an image decoded as Base64.",
        section: "01 §4.4; 01a.7, 01a.10; 04 §5.3, §5.4",
        known: Known::Run,
        cases: &[
            Case::Rule("blob_grammar"),
            Case::Rule("blob_rewrite"),
            Case::Input("a_reference_longer_than_a_file_name"),
            Case::Input("a_reference_with_a_nul"),
        ],
    }
    /// The entry `model_profile_ownership` is part of the context.
    OwnershipMarker {
        name: "model_profile_ownership",
        before: "A custom entry like any other.",
        after: "The last one on the path is in the context; an invalid one throws, and strict inspection calls the file malformed.",
        section: "01 §2.4, §4.2, §9.2; 01a.8, 01a.9",
        known: Known::Run,
        cases: &[Case::Rule("ownership_marker"), Case::Rule("ownership_error")],
    }
    /// Codes of what came with 0.17.
    LaterCodes {
        name: "later_codes",
        before: "There are no task artifact owners, retirement receipts, quotas or strict inspection of the protocol: their codes are not reported.",
        after: "They are there, and their codes are reported.",
        section: "02 §9.8; 03; 05 §1",
        known: Known::Read,
        cases: &[Case::Input("a_finding_of_a_later_code")],
    }
    /// The self-heal of modes ends.
    HealLimit {
        name: "self_heal_limit",
        before: "Preparing a scope looks at every entry below it, however many there are.",
        after: "It looks at 8,192 entries and leaves the rest to the background.",
        section: "02 §4.6",
        known: Known::Read,
        cases: &[Case::Input("a_drifted_fifo_behind_8192_entries")],
    }
    /// A transcript that may not be read is told from one that cannot be.
    CandidateSourceChanged {
        name: "candidate_source_changed",
        before: "A transcript that is a link, no file, or changes while it is read is an `unreadable_candidate`.",
        after: "It is `source_changed`; only a failing operation makes an `unreadable_candidate`.",
        section: "02 §5.3, §10.4",
        known: Known::Read,
        cases: &[
            Case::Tree("delete-hard-linked"),
            Case::Tree("migration-destination-directory"),
            Case::Tree("residue-remnant-reap-linked"),
            Case::Tree("residue-replacement-linked"),
            Case::Tree("transcript-directory"),
            Case::Tree("transcript-fifo"),
            Case::Tree("transcript-hard-link-outside"),
        ],
    }
    /// Replacement receipts name the process that wrote them.
    ReceiptPublisher {
        name: "replacement_receipt_publisher",
        before: "The publisher of a pending receipt is not looked at.",
        after: "An invalid publisher makes the receipt invalid; a receipt whose publisher still runs, or ran on another host, is left alone.",
        section: "02 §8.2, §8.3, §8.4",
        known: Known::Read,
        cases: &[Case::Tree("replace-pending-publisher-invalid"), Case::Input("a_receipt_without_publisher")],
    }
    /// Device and inode numbers with a sign.
    SignedReceiptNumbers {
        name: "replacement_receipt_signed_numbers",
        before: "Device and inode numbers of receipts are unsigned.",
        after: "They may be negative down to −2^63, in names and in contents.",
        section: "02 §8.2, §8.4",
        known: Known::Read,
        cases: &[Case::Input("a_receipt_name_with_a_sign"), Case::Input("a_receipt_number_with_a_sign")],
    }
    /// Numbers in the names of version-1 receipts.
    CanonicalReceiptNames {
        name: "replacement_receipt_canonical_names",
        before: "The name of a version-1 receipt may have leading zeros.",
        after: "It may not: such a receipt is invalid.",
        section: "02 §8.4",
        known: Known::Read,
        cases: &[Case::Tree("replace-v1-leading-zero")],
    }
    /// Which names fill the list of receipts.
    RemnantsAreNoReceipts {
        name: "remnants_are_no_receipts",
        before: "Scrubbed remnants count with the receipts, of which there may be 50,000 in a directory.",
        after: "Only receipts count.",
        section: "02 §8.4, §8.5; 05 §2",
        known: Known::Reported,
        cases: &[Case::Input("a_scrubbed_remnant")],
    }
    /// A file of `tombstones/` that is no JSON, or whose numbers are none.
    MalformedTombstones {
        name: "malformed_tombstones",
        before: "Preparing a scope ignores it.",
        after: "Preparing and opening fail with `durability_failed`.",
        section: "02 §9.2; 03 §15.2",
        known: Known::Read,
        cases: &[
            Case::Tree("residue-tombstones-staging-empty"),
            Case::Tree("tombstone-bom"),
            Case::Tree("tombstone-empty-file"),
            Case::Tree("tombstone-malformed-json"),
            Case::Input("a_tombstone_whose_inode_is_no_number"),
        ],
    }
    /// Owner members in tombstones and cleanup records.
    TombstoneOwners {
        name: "tombstone_owner_members",
        before: "Members that begin with `taskArtifactOwner` mean nothing.",
        after: "Where they are not supported they fail with `task_artifact_owner_legacy_scope_unsupported`.",
        section: "02 §9.2, §9.4; 03 §15.2",
        known: Known::Read,
        cases: &[Case::Input("a_tombstone_with_an_owner_member"), Case::Tree("cleanup-pending-owner-key")],
    }
    /// What numbers a cleanup record.
    CleanupAttemptOfName {
        name: "cleanup_attempt_of_name",
        before: "A pending record counts by its own `attempt`; what is no object is skipped.",
        after: "The number in the file name is canonical and is the record's `attempt`, else `durability_failed`.",
        section: "02 §9.4",
        known: Known::Read,
        cases: &[Case::Tree("cleanup-pending-leading-zero"), Case::Tree("cleanup-pending-name-mismatch")],
    }
    /// The budget of a replay.
    ReplayBudget {
        name: "replay_budget",
        before: "A replay of cleanup records has no budget.",
        after: "50,000 entries, 64 MiB a record, 512 MiB and 100,000 units of work; beyond: `managed_gc_journal_capacity_exceeded`.",
        section: "02 §9.4; 03 §14.2",
        known: Known::Read,
        cases: &[Case::Input("a_pending_record_of_more_than_64_mib")],
    }
    /// Retirement of owners: journals, owners and their quotas.
    Retirement {
        name: "retirement",
        before: "There are no retirement journals and no owners of task artifacts; a `gc-retirement-` name is a foreign one.",
        after: "`receipts/` holds retirement journals, and their rules and quotas apply.",
        section: "03 §0, §2, §14",
        known: Known::Read,
        cases: &[Case::Input("a_name_of_a_retirement_receipt")],
    }
    /// The members of a `completed` record.
    ClosedCompletedRecord {
        name: "cleanup_completed_members",
        before: "A completed record may have further members.",
        after: "It has exactly its members.",
        section: "02 §9.5",
        known: Known::Read,
        cases: &[Case::Input("a_completed_record_with_a_further_member")],
    }
}

impl Difference {
    /// True when this release does what the later one does.
    pub fn in_effect(self, release: Release) -> bool {
        // All of them came between the two releases.
        release >= Release::V0_17
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_snake_case() {
        let mut names: Vec<&str> = Difference::ALL.iter().map(|difference| difference.entry().name).collect();
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')), "{names:?}");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Difference::ALL.len());
    }

    #[test]
    fn what_came_with_0_17_is_not_in_0_15() {
        assert!(Difference::StarPatches.in_effect(Release::V0_17));
        assert!(!Difference::StarPatches.in_effect(Release::V0_15));
    }
}
