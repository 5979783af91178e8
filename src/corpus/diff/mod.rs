//! The golden diff: two transcripts, one transcript under two releases, or a transcript and its version-5 form, compared at
//! three levels: what the lenient reader yields, what migration makes of it, what the rebuilt context holds.
//!
//! Work is bounded by the input: items are paired by lookup, never by trying; members are compared once. What is listed is
//! bounded too, and what is left out is counted. Nothing is read or written here.

pub mod align;
pub mod copies;
mod member;
mod sides;

pub use align::{Item, align};
pub use copies::{Copies, Relation, copies};
pub use member::{MemberChange, MemberKind};
pub use sides::version_5;

use crate::finding::Release;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Name of this form.
pub const SCHEMA: &str = "gjc-fsck/diff/1";

/// Bytes of the largest file whose records are compared. Of larger ones only the bytes are.
pub const MOST_BYTES: u64 = 64 << 20;
/// Changes of one level that are listed.
const MOST_CHANGES: usize = 1_000;

/// What is compared.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The records that the lenient reader yields: key order, types, values
    Records,
    /// The entries after patches and migration
    Migrated,
    /// The rebuilt context of the default leaf: messages and settings
    Context,
}

impl Level {
    /// All of them.
    pub const ALL: [Level; 3] = [Level::Records, Level::Migrated, Level::Context];

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Level::Records => "records",
            Level::Migrated => "migrated",
            Level::Context => "context",
        }
    }
}

/// One side: a transcript as a release reads it.
#[derive(Clone, Copy, Debug)]
pub struct Side<'s> {
    /// The bytes of the transcript.
    pub bytes: &'s [u8],
    /// The release that reads it.
    pub release: Release,
}

/// The answer to `diff`.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// `gjc-fsck/diff/1`.
    pub schema: &'static str,
    /// What the first side is.
    pub a: String,
    /// What the second side is.
    pub b: String,
    /// Pairs of transcripts that were compared.
    pub compared: u64,
    /// Those that differ, in order of path.
    pub files: Vec<FileDiff>,
    /// Transcripts that only the first side has.
    pub only_a: Vec<String>,
    /// Transcripts that only the second side has.
    pub only_b: Vec<String>,
    /// Transcripts that could not be compared, and why.
    pub not_compared: Vec<NotCompared>,
}

/// A transcript that could not be compared.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub struct NotCompared {
    /// Its path.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// Two transcripts that differ.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub struct FileDiff {
    /// The path below the compared folders; empty when two files were named.
    pub path: String,
    /// How the bytes of the two stand to each other; null when they are those of one file.
    pub copies: Option<Copies>,
    /// The levels that were asked for; none of files that are too large.
    pub levels: Vec<LevelDiff>,
}

/// The difference of one level.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct LevelDiff {
    /// Which level.
    pub level: Level,
    /// What the first side has: a number of items, or what gjc throws.
    pub a: Has,
    /// What the second side has.
    pub b: Has,
    /// What differs, in order; at most 1,000 changes.
    pub changes: Vec<Change>,
    /// Changes that are not listed.
    pub not_listed: u64,
}

/// What a side has at a level.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Has {
    /// So many records, entries, or messages and settings.
    Items(u64),
    /// gjc throws this.
    Throws(String),
    /// gjc loads nothing.
    Nothing,
}

/// A difference of one item.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What happened to the item.
    pub kind: ChangeKind,
    /// What it is: its type and, when it has one, its id.
    pub item: String,
    /// Its `type` alone.
    pub of_type: String,
    /// Where it stands on the first side: a line, or a number from 1.
    pub a: Option<u64>,
    /// Where it stands on the second side.
    pub b: Option<u64>,
    /// The item itself, shortened, when only one side has it.
    pub text: Option<String>,
    /// What differs in it.
    pub members: Vec<MemberChange>,
    /// Members that differ and are not listed.
    pub not_listed: u64,
}

/// What happened to an item.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Only the first side has it.
    OnlyA,
    /// Only the second side has it.
    OnlyB,
    /// Both have it, and it differs.
    Changed,
    /// Both have it, in another order.
    Moved,
}

impl ChangeKind {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            ChangeKind::OnlyA => "only in a",
            ChangeKind::OnlyB => "only in b",
            ChangeKind::Changed => "changed",
            ChangeKind::Moved => "moved",
        }
    }
}

impl LevelDiff {
    /// True when the level does not differ.
    pub fn is_same(&self) -> bool {
        self.changes.is_empty() && self.a == self.b
    }
}

impl FileDiff {
    /// True when nothing that was compared differs.
    pub fn is_same(&self) -> bool {
        self.levels.iter().all(LevelDiff::is_same) && self.copies.as_ref().is_none_or(|copies| copies.relation == Relation::Identical)
    }
}

impl Answer {
    /// True when the two sides do not differ, and all of them was compared.
    pub fn is_same(&self) -> bool {
        self.files.is_empty() && self.only_a.is_empty() && self.only_b.is_empty() && self.not_compared.is_empty()
    }
    /// How often each kind of difference occurs, in how many files, and where first: what a reviewer reads.
    pub fn by_rule(&self) -> BTreeMap<Rule, Occurrences> {
        let mut rules: BTreeMap<Rule, Occurrences> = BTreeMap::new();
        for file in &self.files {
            for level in &file.levels {
                let mut take = |what: String, of_type: &str, example: String| {
                    let rule = Rule { level: level.level, of_type: of_type.to_owned(), what };
                    let found = rules.entry(rule).or_insert_with(|| Occurrences { count: 0, files: BTreeSet::new(), example });
                    found.count += 1;
                    found.files.insert(file.path.clone());
                };
                if std::mem::discriminant(&level.a) != std::mem::discriminant(&level.b) {
                    take("loaded".to_owned(), "", format!("{} → {}", level.a.text(), level.b.text()));
                }
                for change in &level.changes {
                    if change.kind != ChangeKind::Changed {
                        take(change.kind.word().to_owned(), &change.of_type, change.item.clone());
                    }
                    for member in &change.members {
                        take(format!("{} {}", member.general_pointer(), member.kind.word()), &change.of_type, member.example());
                    }
                }
            }
        }
        rules
    }
}

impl Has {
    /// In words.
    pub fn text(&self) -> String {
        match self {
            Has::Items(count) => count.to_string(),
            Has::Throws(said) => format!("throws: {said}"),
            Has::Nothing => "nothing".to_owned(),
        }
    }
}

/// A kind of difference.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rule {
    /// Where it shows.
    pub level: Level,
    /// The type of the items.
    pub of_type: String,
    /// Which member, and what happened.
    pub what: String,
}

/// How often a kind of difference occurs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Occurrences {
    /// How often.
    pub count: u64,
    /// In which files.
    pub files: BTreeSet<String>,
    /// The first one, in short.
    pub example: String,
}

/// Compares two sides at the levels that are asked for.
pub fn compare(a: Side<'_>, b: Side<'_>, levels: &[Level]) -> Vec<LevelDiff> {
    levels.iter().map(|level| level_diff(*level, sides::items(a, *level), sides::items(b, *level))).collect()
}

fn level_diff(level: Level, a: sides::Items, b: sides::Items) -> LevelDiff {
    let (said_a, said_b) = (a.has(), b.has());
    let drawn = (matches!(a, sides::Items::Drawn(_)), matches!(b, sides::Items::Drawn(_)));
    let (mut a, mut b) = (a.into_items(), b.into_items());
    match drawn {
        (true, _) => sides::adopt(&mut a, &b),
        (false, true) => sides::adopt(&mut b, &a),
        (false, false) => {}
    }
    let mut changes = align::changes(&a, &b);
    let not_listed = changes.len().saturating_sub(MOST_CHANGES) as u64;
    changes.truncate(MOST_CHANGES);
    LevelDiff { level, a: said_a, b: said_b, changes, not_listed }
}

/// The JSON Schema of an answer.
pub fn schema() -> schemars::Schema {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Answer>();
    schema.insert("$id".to_owned(), SCHEMA.into());
    schema
}

#[cfg(test)]
mod tests;
