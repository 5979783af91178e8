//! Names of retirement receipts (spec 03 §2, §11.2).

use super::{Refusal, place};
use crate::agent::owner_evidence::sha256;
use crate::json::spelling::{hex64, is_hex64};
use crate::json::{JsStr, JsString};
use std::borrow::Cow;

/// How the name of every retirement receipt begins.
pub const PREFIX: &str = "gc-retirement-";

/// 2^53 − 1: the largest attempt.
pub const MAX_ATTEMPT: u64 = 9_007_199_254_740_991;

/// The transcript that a receipt is about: SHA-256 of its resolved path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key(pub [u8; 32]);

impl Key {
    /// The key of an absolute transcript path, resolved by text and not on disk.
    pub fn of(transcript: JsStr<'_>) -> Key {
        if place::is_normal(transcript.as_bytes()) {
            return Key(sha256(transcript));
        }
        let resolved = JsString::from_wtf8(place::resolve(transcript.as_bytes()));
        Key(sha256(resolved.as_js()))
    }
    /// 64 lower-case hexadecimal digits.
    pub fn hex(&self) -> String {
        data_encoding::HEXLOWER.encode(&self.0)
    }
    /// Bytes of a [`Key::prefix`].
    pub const PREFIX_LENGTH: usize = PREFIX.len() + 65;
    /// What the names of all receipts of this transcript begin with.
    pub fn prefix(&self) -> String {
        format!("{PREFIX}{}-", self.hex())
    }
    /// The name of a receipt.
    pub fn name(&self, state: State) -> String {
        self.prefix() + &state.suffix()
    }
}

/// The name of a receipt that is to be written.
///
/// # Errors
/// [`Refusal::AttemptInvalid`] for an attempt that is no safe integer from 1.
pub fn receipt_name(transcript: JsStr<'_>, state: State) -> Result<String, Refusal> {
    match state {
        State::OwnerPending(attempt) if !(1..=MAX_ATTEMPT).contains(&attempt) => Err(Refusal::AttemptInvalid),
        _ => Ok(Key::of(transcript).name(state)),
    }
}

/// How far a retirement is. Ordered as gjc reads the files of a journal, not as they come into being.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum State {
    /// The owner's tree is evidenced; nothing was removed.
    Prepared,
    /// The transcript's own artifacts are gone.
    ArtifactsRemoved,
    /// The owner is gone, it says.
    OwnerRetired,
    /// The owner is not, or not surely, gone; with the attempt, from 1.
    OwnerPending(u64),
}

impl State {
    /// The word in names and records.
    pub const fn word(self) -> &'static str {
        match self {
            State::Prepared => "prepared",
            State::ArtifactsRemoved => "artifacts_removed",
            State::OwnerRetired => "owner_retired",
            State::OwnerPending(_) => "owner_pending",
        }
    }
    /// What the name of a receipt ends with, behind what all names of its transcript begin with.
    pub fn suffix(self) -> Cow<'static, str> {
        match self {
            State::Prepared => "prepared.json".into(),
            State::ArtifactsRemoved => "artifacts_removed.json".into(),
            State::OwnerRetired => "owner_retired.json".into(),
            State::OwnerPending(attempt) => format!("{}-{attempt:08}.json", self.word()).into(),
        }
    }
}

/// What a name in `receipts/` is for the retirement of owners.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Name {
    /// A canonical receipt name.
    Receipt(Key, State),
    /// `owner_pending-` and at least eight digits that are no canonical attempt: discovery lets it pass, its journal does not.
    OddAttempt(Key),
    /// `owner_pending-` and anything else: discovery does not let it pass; its journal meets it where it meets an odd attempt.
    NoAttempt(Key),
    /// Begins like the receipts of this transcript and is none.
    Malformed(Key),
    /// Begins `gc-retirement-` and names no transcript.
    Nobody,
    /// Not a retirement receipt.
    Foreign,
}

impl Name {
    /// The transcript whose names begin like this one.
    pub const fn key(self) -> Option<Key> {
        match self {
            Name::Receipt(key, _) | Name::OddAttempt(key) | Name::NoAttempt(key) | Name::Malformed(key) => Some(key),
            Name::Nobody | Name::Foreign => None,
        }
    }
    /// Reads a name.
    pub fn parse(name: &[u8]) -> Name {
        let Some(rest) = name.strip_prefix(PREFIX.as_bytes()) else { return Name::Foreign };
        let key = rest.split_at_checked(64).and_then(|(hex, rest)| Some((Key(hex64(hex)?), rest.strip_prefix(b"-")?)));
        let Some((key, suffix)) = key else { return Name::Nobody };
        match suffix {
            b"prepared.json" => Name::Receipt(key, State::Prepared),
            b"artifacts_removed.json" => Name::Receipt(key, State::ArtifactsRemoved),
            b"owner_retired.json" => Name::Receipt(key, State::OwnerRetired),
            _ => match attempt(suffix) {
                Some(Some(attempt)) => Name::Receipt(key, State::OwnerPending(attempt)),
                Some(None) => Name::OddAttempt(key),
                None if suffix.starts_with(PENDING) => Name::NoAttempt(key),
                None => Name::Malformed(key),
            },
        }
    }
    /// The grammar of a whole directory (§2), which discovery and the inspector ask of every `gc-retirement-` name.
    pub const fn fits_directory(self) -> bool {
        matches!(self, Name::Receipt(..) | Name::OddAttempt(_) | Name::Foreign)
    }
}

/// How what follows the key begins in the name of a pending receipt.
const PENDING: &[u8] = b"owner_pending-";

/// The attempt of `owner_pending-<digits>.json`: none when it has not this shape, an inner none when the digits are not
/// canonical (padded to eight, 1 to 2^53−1).
fn attempt(suffix: &[u8]) -> Option<Option<u64>> {
    let digits = suffix.strip_prefix(PENDING)?.strip_suffix(b".json")?;
    if digits.len() < 8 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u64>().ok());
    Some(number.filter(|number| (1..=MAX_ATTEMPT).contains(number) && (digits.len() == 8 || digits.first() != Some(&b'0'))))
}

/// The key that a lock name `gc-retirement-<key>.lock` is about.
pub fn lock_key(name: &str) -> Option<Key> {
    let hex = name.strip_prefix(PREFIX)?.strip_suffix(".lock").filter(|hex| is_hex64(hex))?;
    hex64(hex.as_bytes()).map(Key)
}

/// The name of the lease that newest takes over a whole scope (§12).
pub const SCOPE_LOCK: &str = "gc-retirement-1ae1b281db036cdee027348822ca79ffb78428294d450307586e76794a9228d8.lock";

/// The receipts of one transcript by their names, and what is wrong with the names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    states: Vec<State>,
    corrupt: bool,
    odd_attempt: bool,
    outside_grammar: bool,
}

impl Names {
    /// Collects the names of one transcript's receipts out of a directory, in whatever order: (name, is a regular file).
    pub fn of<N: AsRef<[u8]>>(key: Key, entries: impl IntoIterator<Item = (N, bool)>) -> Names {
        Names::parsed(key, entries.into_iter().map(|(name, regular)| (Name::parse(name.as_ref()), regular)))
    }
    /// The same of names that were read already.
    pub fn parsed(key: Key, entries: impl IntoIterator<Item = (Name, bool)>) -> Names {
        let mut names = Names::default();
        for (name, regular) in entries {
            names.add(key, name, regular);
        }
        names.states.sort_unstable();
        names
    }
    fn add(&mut self, key: Key, name: Name, regular: bool) {
        match name {
            Name::Receipt(of, state) if of == key => {
                self.corrupt |= !regular;
                self.states.push(state);
            }
            Name::OddAttempt(of) | Name::NoAttempt(of) if of == key => {
                self.corrupt |= !regular;
                self.odd_attempt = true;
            }
            Name::Malformed(of) if of == key => self.corrupt = true,
            _ => {}
        }
        self.outside_grammar |= name.key() == Some(key) && (!regular || !name.fits_directory());
    }
    /// No receipt and no name like one.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty() && !self.corrupt && !self.odd_attempt
    }
    /// The canonical states, in gjc's reading order; attempts ascend by number.
    pub fn states(&self) -> &[State] {
        &self.states
    }
    /// A name that is none of the four kinds, or an entry that is no regular file.
    pub const fn are_corrupt(&self) -> bool {
        self.corrupt
    }
    /// A pending receipt whose attempt is not canonical, or is none.
    pub const fn have_odd_attempt(&self) -> bool {
        self.odd_attempt
    }
    /// A name, or an entry, that discovery does not let pass in a receipts directory (§13).
    pub const fn are_outside_grammar(&self) -> bool {
        self.outside_grammar
    }
    /// Whether the state has its file.
    pub fn has(&self, state: State) -> bool {
        self.states.binary_search(&state).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::owner_evidence::sha256_hex;

    const TRANSCRIPT: &str = "/home/u/.gjc/agent/sessions/v2-ox5grhpntk6cpox2wvz6zsu5rydv5ovfp7jdwmawhifjconsdi4q/2026-02-16T10-20-30-000Z_1f9d2a6b9c0d1234.jsonl";
    const KEY: &str = "ea3e6bea96ce064a382988a65459e55c2234b557c52bff6840da77c0e14ef84c";

    fn key() -> Key {
        Key::of(JsStr::from(TRANSCRIPT))
    }
    fn suffix(text: &str) -> Name {
        Name::parse(format!("gc-retirement-{KEY}-{text}").as_bytes())
    }

    #[test]
    fn the_worked_example_of_the_spec() {
        assert_eq!(key().hex(), KEY);
        assert_eq!(key().name(State::OwnerPending(1)), format!("gc-retirement-{KEY}-owner_pending-00000001.json"));
        assert_eq!(Key::of(JsStr::from(TRANSCRIPT.replace("/v2-", "/./x/..//v2-").as_str())), key());
    }
    #[test]
    fn every_name_that_is_built_reads_back() {
        for state in [State::Prepared, State::ArtifactsRemoved, State::OwnerRetired]
            .into_iter()
            .chain([1, 99_999_999, 100_000_000, MAX_ATTEMPT].map(State::OwnerPending))
        {
            assert_eq!(Name::parse(key().name(state).as_bytes()), Name::Receipt(key(), state));
        }
    }
    #[test]
    fn an_attempt_is_padded_to_eight_digits_and_safe() {
        for odd in ["000000001", "00000000", "9007199254740992", "99999999999999999999999"] {
            let name = suffix(&format!("owner_pending-{odd}.json"));
            assert_eq!(name, Name::OddAttempt(key()), "{odd}");
            assert!(name.fits_directory());
        }
        for none in [
            "owner_pending-1.json",
            "owner_pending-1234567.json",
            "owner_pending-0000000x.json",
            "owner_pending-00000001.json.tmp",
            "owner_pending-",
        ] {
            let name = suffix(none);
            assert_eq!(name, Name::NoAttempt(key()), "{none}");
            assert!(!name.fits_directory());
        }
        for malformed in ["owner_pending", "prepared", "done.json", ""] {
            let name = suffix(malformed);
            assert_eq!(name, Name::Malformed(key()), "{malformed}");
            assert!(!name.fits_directory());
        }
        assert_eq!(receipt_name(JsStr::from(TRANSCRIPT), State::OwnerPending(0)), Err(Refusal::AttemptInvalid));
        assert_eq!(receipt_name(JsStr::from(TRANSCRIPT), State::OwnerPending(MAX_ATTEMPT + 1)), Err(Refusal::AttemptInvalid));
    }
    #[test]
    fn other_names_are_nobodys_or_foreign() {
        assert_eq!(Name::parse(b"gc-retirement-xyz-prepared.json"), Name::Nobody);
        assert_eq!(Name::parse(KEY.to_uppercase().as_bytes()), Name::Foreign);
        assert_eq!(Name::parse(format!("gc-retirement-{}-prepared.json", KEY.to_uppercase()).as_bytes()), Name::Nobody);
        assert_eq!(Name::parse(format!("{KEY}.json").as_bytes()), Name::Foreign);
    }
    #[test]
    fn names_are_read_in_gjcs_order_whatever_the_directorys() {
        let other = Key([7; 32]);
        let names = [
            key().name(State::OwnerPending(10)),
            key().name(State::OwnerPending(9)),
            other.name(State::Prepared),
            key().name(State::OwnerRetired),
            key().name(State::Prepared),
        ];
        let found = Names::of(key(), names.iter().map(|name| (name, true)));
        assert_eq!(found.states(), [State::Prepared, State::OwnerRetired, State::OwnerPending(9), State::OwnerPending(10)]);
        assert!(!found.are_corrupt() && found.has(State::OwnerPending(10)) && !found.has(State::ArtifactsRemoved));
        assert!(Names::of(key(), [(key().name(State::Prepared), false)]).are_corrupt());
        assert!(!Names::of(key(), [(other.name(State::Prepared), false)]).are_corrupt());
    }
    #[test]
    fn what_is_no_regular_file_is_corrupt_and_outside_the_grammar_whatever_its_name() {
        for suffix in ["prepared.json", "owner_pending-00000001.json", "owner_pending-000000001.json", "owner_pending-1.json", "done.json"]
        {
            let names = Names::of(key(), [(format!("{}{suffix}", key().prefix()), false)]);
            assert!(names.are_corrupt() && names.are_outside_grammar() && !names.is_empty(), "{suffix}");
        }
    }
    #[test]
    fn a_journal_and_discovery_take_offence_at_different_names() {
        let judged = |suffix: &str| {
            let names = Names::of(key(), [(format!("{}{suffix}", key().prefix()), true)]);
            (names.are_corrupt(), names.have_odd_attempt(), names.are_outside_grammar())
        };
        assert_eq!(judged("prepared.json"), (false, false, false));
        assert_eq!(judged("owner_pending-000000001.json"), (false, true, false));
        assert_eq!(judged("owner_pending-1.json"), (false, true, true));
        assert_eq!(judged("done.json"), (true, false, true));
    }
    #[test]
    fn the_receipts_directory_as_a_whole_knows_the_same_names() {
        use crate::agent::migration_receipt::{Name as InDirectory, parse_name};
        let suffixes = [
            "prepared.json",
            "owner_pending-00000001.json",
            "owner_pending-000000001.json",
            "owner_pending-1.json",
            "done.json",
            "prepared",
        ];
        let names = suffixes.map(|suffix| format!("{}{suffix}", key().prefix()));
        for name in
            names.into_iter().chain([format!("gc-retirement-{KEY}"), "gc-retirement-x-prepared.json".to_owned(), format!("{KEY}.json")])
        {
            let retirement = matches!(parse_name(name.as_bytes()), InDirectory::Retirement(_));
            let ours = Name::parse(name.as_bytes());
            assert_eq!(retirement, ours != Name::Foreign && ours.fits_directory(), "{name}");
        }
    }
    #[test]
    fn the_scope_lease_has_one_name() {
        let hex = sha256_hex(JsStr::from("managed-gc-retirement-scope-lock-v1"));
        assert_eq!(SCOPE_LOCK, format!("{PREFIX}{hex}.lock"));
        assert_eq!(lock_key(SCOPE_LOCK).map(|key| key.hex()), Some(hex));
        assert_eq!(lock_key("gc-retirement-1.lock"), None);
    }
}
