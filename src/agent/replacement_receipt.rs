//! Replacement receipts: content, publisher, and who owns one (spec 02 §8.1 to §8.4, 02a.15). Pure; names are in
//! [`residue`](super::residue), processes are asked of [`Liveness`].

use super::posix;
use super::record::{decimal, equals, json_text};
use crate::finding::{Difference, Release};
use crate::fsys::host::{Liveness, Observation};
use crate::json::spelling::{canonical_decimal, is_uuid};
use crate::json::view::View;
use crate::json::{JsString, Kind, Object, Value};

/// Only so many first bytes of a receipt are ever read.
pub const READ_LIMIT: usize = 65_536;
/// More names than this in one directory: `managed_replace_cleanup_receipt_limit_exceeded`.
pub const NAME_LIMIT: u64 = 50_000;

/// Identity of the old or the new transcript in a receipt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileIdentity {
    /// Device, reduced to unsigned.
    pub dev: u64,
    /// Inode, reduced to unsigned.
    pub ino: u64,
    /// Link count.
    pub nlink: u64,
    /// Bytes.
    pub size: u64,
    /// Nanoseconds.
    pub mtime_ns: u128,
    /// Nanoseconds.
    pub ctime_ns: u128,
    /// 64 lower-case hex.
    pub sha256: String,
}

/// The process that published a receipt (newest release only).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Publisher {
    /// The replacement attempt.
    pub attempt_id: String,
    /// UUID per JavaScript isolate.
    pub owner_id: String,
    /// Process.
    pub pid: u32,
    /// `linux:<start ticks>`, `darwin:<s>:<µs>` or `windows:<ticks>`.
    pub incarnation: String,
    /// Host name.
    pub host: JsString,
}

/// A valid version-3 receipt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Receipt {
    /// Staging file of the replacement.
    pub staging: JsString,
    /// The transcript.
    pub destination: JsString,
    /// What the transcript becomes.
    pub successor: FileIdentity,
    /// What it was.
    pub predecessor: FileIdentity,
    /// Absent: an older writer, unowned.
    pub publisher: Option<Publisher>,
}

/// A valid version-1 receipt, by name and content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReceiptV1 {
    /// Path of the predecessor.
    pub predecessor: JsString,
    /// Path of the successor.
    pub successor: JsString,
    /// What the predecessor is.
    pub identity: FileIdentity,
}

/// The content breaks a rule of spec 02 §8.2: `managed_replace_cleanup_receipt_invalid`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Invalid {
    /// The bytes are not JSON, or the value is no object.
    #[error("it is no JSON object")]
    NotAnObject,
    /// Not `version` 3.
    #[error("its version is not the one its name asks for")]
    Version,
    /// `staging` or `destination` is no string.
    #[error("staging or destination is no string")]
    Paths,
    /// `successor` or `predecessor`.
    #[error("successor or predecessor is no valid identity")]
    Identity,
    /// `publisher` is there and invalid, or `staging` is not the path that it makes.
    #[error("its publisher is not valid")]
    Publisher,
    /// `staging` or `destination` lies elsewhere.
    #[error("staging or destination does not lie directly in the receipt's directory")]
    Elsewhere,
}

/// Reads the content of a pending receipt and judges it for `directory` (absolute path, no trailing slash).
///
/// `bytes` are the first [`READ_LIMIT`] bytes; a longer receipt is cut and then usually no JSON, as for gjc.
pub fn parse(bytes: &[u8], directory: &[u8], release: Release) -> Result<Receipt, Invalid> {
    let bytes = bytes.get(..READ_LIMIT).unwrap_or(bytes);
    let value =
        Value::parse(&crate::json::text::utf8_lossy(bytes)).filter(|value| value.kind() == Kind::Object).ok_or(Invalid::NotAnObject)?;
    if !equals(&value, "version", 3.0) {
        return Err(Invalid::Version);
    }
    let path = |key: &str| value.str_member(key).map(|text| JsString::from_wtf8(text.into_owned())).ok_or(Invalid::Paths);
    let (staging, destination) = (path("staging")?, path("destination")?);
    let side = |key: &str| value.member(key).and_then(|side| file_identity(side, release)).ok_or(Invalid::Identity);
    let (successor, predecessor) = (side("successor")?, side("predecessor")?);
    let publisher = match value.member("publisher") {
        // 0.15.0 knows no publisher and does not look.
        Some(found) if Difference::ReceiptPublisher.in_effect(release) => {
            Some(publisher(found, &staging, &destination).ok_or(Invalid::Publisher)?)
        }
        _ => None,
    };
    if !is_direct_child(staging.as_bytes(), directory) || !is_direct_child(destination.as_bytes(), directory) {
        return Err(Invalid::Elsewhere);
    }
    Ok(Receipt { staging, destination, successor, predecessor, publisher })
}

/// Reads a version-1 receipt whose name carries `dev` and `ino` of the predecessor.
pub fn parse_v1(bytes: &[u8], directory: &[u8], name: super::residue::Inode) -> Result<ReceiptV1, Invalid> {
    let bytes = bytes.get(..READ_LIMIT).unwrap_or(bytes);
    let value =
        Value::parse(&crate::json::text::utf8_lossy(bytes)).filter(|value| value.kind() == Kind::Object).ok_or(Invalid::NotAnObject)?;
    if !equals(&value, "version", 1.0) {
        return Err(Invalid::Version);
    }
    let path = |key: &str| value.str_member(key).map(|text| JsString::from_wtf8(text.into_owned())).ok_or(Invalid::Paths);
    let (predecessor, successor) = (path("predecessor")?, path("successor")?);
    let identity =
        value.member("identity").and_then(|identity| whole_identity(identity, &|text| canonical_decimal(text))).ok_or(Invalid::Identity)?;
    if (identity.dev, identity.ino) != (name.dev, name.ino) {
        return Err(Invalid::Identity);
    }
    let expected = format!(".gjc-exact-replace-destination-{:x}-{:x}", name.dev, name.ino);
    let in_place =
        is_direct_child(predecessor.as_bytes(), directory) && posix::basename(&resolved(predecessor.as_bytes())) == expected.as_bytes();
    if !in_place || !is_direct_child(successor.as_bytes(), directory) {
        return Err(Invalid::Elsewhere);
    }
    Ok(ReceiptV1 { predecessor, successor, identity })
}

/// True when this release accepts the numbers of a `.gjc-replace-cleanup-…` name: signed ones are for 0.17, leading zeros in
/// version-1 names for 0.15 (spec 02 §8.2, §8.4).
pub fn accepts_name(name: &[u8], release: Release) -> bool {
    use super::residue::Residue;
    let fits = || Difference::SignedReceiptNumbers.in_effect(release) || memchr::memmem::find(name, b"--").is_none();
    match super::residue::parse(name) {
        Some(Residue::ReplaceReceiptPending) => true,
        Some(Residue::ReplaceReceiptCanonical { .. }) => fits(),
        // No group of digits is longer than 16, zeros at its front included; no other part of the name is either.
        Some(Residue::ReplaceReceiptV1 { canonical, .. }) => {
            name.split(|byte| matches!(byte, b'-' | b'.')).all(|part| part.len() <= 16)
                && fits()
                && (canonical || !Difference::CanonicalReceiptNames.in_effect(release))
        }
        _ => false,
    }
}

/// True when the path, resolved, is `directory` + `/` + one segment. A relative one would lie wherever gjc was started: it counts
/// as elsewhere.
pub fn is_direct_child(path: &[u8], directory: &[u8]) -> bool {
    let resolved = resolved(path);
    path.starts_with(b"/") && posix::dirname(&resolved) == directory && !posix::basename(&resolved).is_empty()
}

fn resolved(path: &[u8]) -> Vec<u8> {
    posix::resolve(b"/", path)
}

/// An identity of a version-3 receipt: its size is a safe integer.
fn file_identity(value: &Value, release: Release) -> Option<FileIdentity> {
    whole_identity(value, &|text| node_number(text, release)).filter(|identity| identity.size <= 9_007_199_254_740_991)
}

/// All seven members; six of them canonical decimals of 64 bits, of which `node` reads device and inode.
fn whole_identity(value: &Value, node: &dyn Fn(&str) -> Option<u64>) -> Option<FileIdentity> {
    let text = |key: &str| value.str_member(key).and_then(|text| String::from_utf8(text.into_owned()).ok());
    let number = |key: &str| canonical_decimal(&text(key)?);
    Some(FileIdentity {
        dev: node(&text("dev")?)?,
        ino: node(&text("ino")?)?,
        nlink: number("nlink")?,
        size: number("size")?,
        mtime_ns: number("mtimeNs")?.into(),
        ctime_ns: number("ctimeNs")?.into(),
        sha256: text("sha256").filter(|text| crate::json::spelling::is_hex64(text))?,
    })
}

fn is_canonical(text: &str) -> bool {
    text == "0" || (!text.starts_with('0') && !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()))
}

/// A device or inode number: canonical unsigned decimal; the newest release also takes a negative one down to −2^63.
fn node_number(text: &str, release: Release) -> Option<u64> {
    match text.strip_prefix('-') {
        None => canonical_decimal(text),
        Some(magnitude) if Difference::SignedReceiptNumbers.in_effect(release) => {
            canonical_decimal(magnitude).filter(|magnitude| (1..=1 << 63).contains(magnitude)).map(u64::wrapping_neg)
        }
        Some(_) => None,
    }
}

fn publisher(value: &Value, staging: &JsString, destination: &JsString) -> Option<Publisher> {
    let text = |key: &str| value.str_member(key).and_then(|text| String::from_utf8(text.into_owned()).ok());
    let (attempt_id, owner_id) = (text("attemptId").filter(|id| is_uuid(id))?, text("ownerId").filter(|id| is_uuid(id))?);
    let pid = value.member("pid").and_then(View::as_f64).filter(|pid| pid.fract() == 0.0 && (1.0..=2_147_483_647.0).contains(pid))?;
    let incarnation = text("incarnation").filter(|text| is_incarnation(text))?;
    let host = value.str_member("host").filter(|host| !host.is_empty()).map(|host| JsString::from_wtf8(host.into_owned()))?;
    let expected = staging_path(destination.as_bytes(), &attempt_id)?;
    (staging.as_bytes() == expected).then_some(Publisher { attempt_id, owner_id, pid: pid as u32, incarnation, host })
}

/// `.<dest basename>.<attempt>.replacement` next to the destination.
pub fn staging_path(destination: &[u8], attempt_id: &str) -> Option<Vec<u8>> {
    let at = memchr::memrchr(b'/', destination)? + 1;
    let (directory, base) = destination.split_at(at);
    Some([directory, b".", base, b".", attempt_id.as_bytes(), b".replacement"].concat())
}

/// `linux:<digits>`, `darwin:<seconds>:<microseconds>`, `windows:<ticks>`.
fn is_incarnation(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    if let Some(ticks) = text.strip_prefix("linux:") {
        digits(ticks)
    } else if let Some(time) = text.strip_prefix("darwin:") {
        time.split_once(':').is_some_and(|(seconds, micros)| is_canonical(seconds) && digits(micros))
    } else {
        text.strip_prefix("windows:").is_some_and(|ticks| canonical_decimal(ticks).is_some())
    }
}

/// Who owns a valid receipt (spec 02 §8.3). Age is never evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ownership {
    /// No publisher: an older writer.
    Unowned,
    /// Its publisher is gone, or its pid belongs to another incarnation.
    PublisherGone,
    /// Another host: owned for ever on this one.
    ForeignHost,
    /// The publisher runs.
    Owned,
    /// It could not be told; counts as owned.
    Unproven,
}

impl Ownership {
    /// True when reconciliation leaves the receipt alone.
    pub const fn is_owned(self) -> bool {
        matches!(self, Ownership::ForeignHost | Ownership::Owned | Ownership::Unproven)
    }
    /// One word for messages.
    pub const fn word(self) -> &'static str {
        match self {
            Ownership::Unowned => "unowned",
            Ownership::PublisherGone => "unowned: its publisher is gone",
            Ownership::ForeignHost => "owned by another host",
            Ownership::Owned => "owned by a running process",
            Ownership::Unproven => "ownership unproven",
        }
    }
}

/// Asks the host about the publisher. (A checker is never the publishing isolate itself.)
pub fn ownership(publisher: Option<&Publisher>, host: &dyn Liveness) -> Ownership {
    let Some(publisher) = publisher else { return Ownership::Unowned };
    match host.host() {
        None => return Ownership::Unproven,
        Some(here) if publisher.host != *here.as_str() => return Ownership::ForeignHost,
        Some(_) => {}
    }
    match host.observe(publisher.pid) {
        Observation::Absent => Ownership::PublisherGone,
        Observation::Present(incarnation) if incarnation == publisher.incarnation => Ownership::Owned,
        Observation::Present(_) => Ownership::PublisherGone,
        Observation::Inconclusive => Ownership::Unproven,
    }
}

/// The canonical name of a receipt file.
pub fn canonical_name(predecessor: &FileIdentity, receipt: super::residue::Inode) -> String {
    format!(".gjc-replace-cleanup-{:x}-{:x}-receipt-{:x}-{:x}.json", predecessor.dev, predecessor.ino, receipt.dev, receipt.ino)
}

/// The name under which a retired receipt waits (receipt first, then predecessor).
pub fn removed_name(receipt: super::residue::Inode, predecessor: super::residue::Inode) -> String {
    format!(".gjc-receipt-remove-{:x}-{:x}-{:x}-{:x}", receipt.dev, receipt.ino, predecessor.dev, predecessor.ino)
}

impl Receipt {
    /// The file's bytes: JSON text without a final newline.
    pub fn encode(&self) -> Vec<u8> {
        let side = |identity: &FileIdentity| {
            Value::Object(Object::from_iter([
                ("dev", decimal(identity.dev)),
                ("ino", decimal(identity.ino)),
                ("nlink", decimal(identity.nlink)),
                ("size", decimal(identity.size)),
                ("mtimeNs", decimal(identity.mtime_ns)),
                ("ctimeNs", decimal(identity.ctime_ns)),
                ("sha256", Value::string(identity.sha256.clone())),
            ]))
        };
        let mut record = Object::from_iter([
            ("version", Value::Number(3.0)),
            ("staging", Value::String(self.staging.clone())),
            ("destination", Value::String(self.destination.clone())),
            ("successor", side(&self.successor)),
            ("predecessor", side(&self.predecessor)),
        ]);
        if let Some(publisher) = &self.publisher {
            record.set(
                "publisher",
                Value::Object(Object::from_iter([
                    ("attemptId", Value::string(publisher.attempt_id.clone())),
                    ("ownerId", Value::string(publisher.owner_id.clone())),
                    ("pid", Value::Number(f64::from(publisher.pid))),
                    ("incarnation", Value::string(publisher.incarnation.clone())),
                    ("host", Value::String(publisher.host.clone())),
                ])),
            );
        }
        json_text(&Value::Object(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::residue::{self, Inode, Residue};
    use crate::fsys::host::{Nowhere, Signal};

    const ATTEMPT: &str = "47173f68-71c9-4058-8e21-0e199166ede8";

    fn identity(ino: u64) -> FileIdentity {
        FileIdentity { dev: 65024, ino, nlink: 1, size: 10, mtime_ns: 5, ctime_ns: 6, sha256: "a".repeat(64) }
    }
    fn receipt() -> Receipt {
        Receipt {
            staging: format!("/s/v2/.x.jsonl.{ATTEMPT}.replacement").into(),
            destination: "/s/v2/x.jsonl".into(),
            successor: identity(2),
            predecessor: identity(1),
            publisher: Some(Publisher {
                attempt_id: ATTEMPT.into(),
                owner_id: "531d736f-57d1-489b-82eb-97c9d64a8e26".into(),
                pid: 7,
                incarnation: "linux:100".into(),
                host: "here".into(),
            }),
        }
    }
    fn edited(from: &str, to: &str, release: Release) -> Result<Receipt, Invalid> {
        let text = String::from_utf8(receipt().encode()).unwrap();
        assert!(text.contains(from), "the edit must change something: {from}");
        parse(text.replacen(from, to, 1).as_bytes(), b"/s/v2", release)
    }

    struct Host(Observation);
    impl Liveness for Host {
        fn boot_id(&self) -> Option<String> {
            None
        }
        fn host(&self) -> Option<String> {
            Some("here".into())
        }
        fn signal(&self, _: f64) -> Signal {
            Signal::Unknown
        }
        fn observe(&self, _: u32) -> Observation {
            self.0.clone()
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        assert_eq!(parse(&receipt().encode(), b"/s/v2", Release::V0_17), Ok(receipt()));
        assert!(!receipt().encode().ends_with(b"\n"));
    }
    #[test]
    fn rules_of_the_content() {
        for (from, to, why) in [
            ("\"version\":3", "\"version\":2", Invalid::Version),
            ("\"/s/v2/x.jsonl\"", "7", Invalid::Paths),
            ("\"ino\":\"2\"", "\"ino\":2", Invalid::Identity),
            ("\"ino\":\"2\"", "\"ino\":\"02\"", Invalid::Identity),
            ("\"dev\":\"65024\"", "\"dev\":\"18446744073709551616\"", Invalid::Identity),
            ("\"size\":\"10\"", "\"size\":\"9007199254740992\"", Invalid::Identity),
            ("aaaa\"", "aaaA\"", Invalid::Identity),
            ("\"pid\":7", "\"pid\":0", Invalid::Publisher),
            ("linux:100", "linux:", Invalid::Publisher),
            ("\"host\":\"here\"", "\"host\":\"\"", Invalid::Publisher),
        ] {
            assert_eq!(edited(from, to, Release::V0_17), Err(why), "{from} -> {to}");
        }
    }
    #[test]
    fn the_largest_device_number_passes() {
        assert!(edited("\"dev\":\"65024\"", "\"dev\":\"18446744073709551615\"", Release::V0_15).is_ok());
    }
    #[test]
    fn negative_numbers_are_for_the_newest_release() {
        let negative = edited("\"dev\":\"65024\"", "\"dev\":\"-1\"", Release::V0_17).expect("0.17 takes it");
        assert_eq!(negative.successor.dev, u64::MAX);
        assert_eq!(edited("\"dev\":\"65024\"", "\"dev\":\"-1\"", Release::V0_15), Err(Invalid::Identity));
    }
    #[test]
    fn old_release_does_not_look_at_the_publisher() {
        assert!(edited("\"pid\":7", "\"pid\":0", Release::V0_15).is_ok_and(|receipt| receipt.publisher.is_none()));
    }
    #[test]
    fn both_paths_lie_in_the_directory_of_the_receipt() {
        assert_eq!(parse(&receipt().encode(), b"/s/other", Release::V0_17), Err(Invalid::Elsewhere));
        assert!(!is_direct_child(b"/s/v2/a/b", b"/s/v2"));
        assert!(!is_direct_child(b"/s/v2/", b"/s/v2"));
    }
    #[test]
    fn a_receipt_longer_than_64k_is_cut() {
        let mut long = receipt().encode();
        long.extend(std::iter::repeat_n(b' ', READ_LIMIT));
        assert!(parse(&long, b"/s/v2", Release::V0_17).is_ok());
        let padded = [b" ".repeat(READ_LIMIT - 10), receipt().encode()].concat();
        assert_eq!(parse(&padded, b"/s/v2", Release::V0_17), Err(Invalid::NotAnObject));
    }
    #[test]
    fn ownership_table() {
        let of = |observation| ownership(receipt().publisher.as_ref(), &Host(observation));
        assert_eq!(of(Observation::Absent), Ownership::PublisherGone);
        assert_eq!(of(Observation::Present("linux:101".into())), Ownership::PublisherGone);
        assert_eq!(of(Observation::Present("linux:100".into())), Ownership::Owned);
        assert_eq!(of(Observation::Inconclusive), Ownership::Unproven);
        assert_eq!(ownership(None, &Host(Observation::Absent)), Ownership::Unowned);
        let foreign = Publisher { host: "there".into(), ..receipt().publisher.unwrap() };
        assert_eq!(ownership(Some(&foreign), &Host(Observation::Absent)), Ownership::ForeignHost);
        assert_eq!(ownership(Some(&foreign), &Nowhere), Ownership::Unproven);
        assert!(Ownership::Unproven.is_owned() && !Ownership::PublisherGone.is_owned());
    }
    #[test]
    fn canonical_names_parse_back() {
        let own = Inode { dev: 65024, ino: 77 };
        let name = canonical_name(&identity(1), own);
        assert_eq!(
            residue::parse(name.as_bytes()),
            Some(Residue::ReplaceReceiptCanonical { predecessor: Inode { dev: 65024, ino: 1 }, receipt: own })
        );
        let removed = removed_name(own, Inode { dev: 65024, ino: 1 });
        assert_eq!(
            residue::parse(removed.as_bytes()),
            Some(Residue::ReceiptRemove { receipt: own, predecessor: Some(Inode { dev: 65024, ino: 1 }) })
        );
    }
    #[test]
    fn releases_differ_in_the_names_they_accept() {
        for (name, old, new) in [
            (".gjc-replace-cleanup-1-2-receipt-3-4.json", true, true),
            (".gjc-replace-cleanup--1-2-receipt-3-4.json", false, true),
            (".gjc-replace-cleanup-01-2.json", true, false),
            (".gjc-replace-cleanup-1-2.json", true, true),
            (".gjc-replace-receipt-pending-x", true, true),
            (".gjc-replace-cleanup-x", false, false),
        ] {
            assert_eq!(accepts_name(name.as_bytes(), Release::V0_15), old, "{name} 0.15");
            assert_eq!(accepts_name(name.as_bytes(), Release::V0_17), new, "{name} 0.17");
        }
    }
    #[test]
    fn version_1_receipts() {
        let text = r#"{"version":1,"predecessor":"/s/v2/.gjc-exact-replace-destination-fe00-1","successor":"/s/v2/x.jsonl","identity":{"dev":"65024","ino":"1","nlink":"1","size":"9007199254740993","mtimeNs":"5","ctimeNs":"6","sha256":"SHA"}}"#;
        let text = text.replace("SHA", &"a".repeat(64));
        let name = Inode { dev: 65024, ino: 1 };
        assert!(parse_v1(text.as_bytes(), b"/s/v2", name).is_ok());
        assert_eq!(parse_v1(text.as_bytes(), b"/s/v2", Inode { dev: 65024, ino: 2 }), Err(Invalid::Identity));
        assert_eq!(parse_v1(text.replace("/s/v2/.gjc", "/s/other/.gjc").as_bytes(), b"/s/v2", name), Err(Invalid::Elsewhere));
        for (from, to) in [
            ("\"size\":\"9007199254740993\",", ""),
            (",\"ctimeNs\":\"6\"", ""),
            ("\"mtimeNs\":\"5\"", "\"mtimeNs\":\"18446744073709551616\""),
        ] {
            assert_ne!(text.replace(from, to), text);
            assert_eq!(parse_v1(text.replace(from, to).as_bytes(), b"/s/v2", name), Err(Invalid::Identity), "{from}");
        }
        assert!(parse_v1(text.replace("/s/v2/.gjc", "/s//v2/x/../.gjc").as_bytes(), b"/s/v2", name).is_ok());
    }
    #[test]
    fn times_have_64_bits() {
        assert!(edited("\"mtimeNs\":\"5\"", "\"mtimeNs\":\"18446744073709551615\"", Release::V0_15).is_ok());
        for key in ["mtimeNs\":\"5", "ctimeNs\":\"6", "nlink\":\"1"] {
            let (name, _) = key.split_once('"').unwrap();
            let to = format!("{name}\":\"18446744073709551616");
            assert_eq!(edited(key, &to, Release::V0_15), Err(Invalid::Identity), "{name}");
        }
    }
    #[test]
    fn paths_are_resolved_before_they_are_compared() {
        for path in ["/s/v2/a/../x.jsonl", "/s/v2/x.jsonl/", "/s/v2//x.jsonl", "/s/./v2/x.jsonl"] {
            assert!(edited("/s/v2/x.jsonl\"", &format!("{path}\""), Release::V0_15).is_ok(), "{path}");
        }
        for path in ["/s/v2/a/x.jsonl", "/s/v2/..", "x.jsonl", "", "/s/v2/"] {
            assert_eq!(edited("\"/s/v2/x.jsonl\"", &format!("\"{path}\""), Release::V0_15), Err(Invalid::Elsewhere), "{path}");
        }
    }
    #[test]
    fn a_group_of_a_version_1_name_has_at_most_16_digits() {
        let name = |zeros: usize| format!(".gjc-replace-cleanup-{}1-2.json", "0".repeat(zeros));
        assert!(accepts_name(name(15).as_bytes(), Release::V0_15));
        assert!(!accepts_name(name(16).as_bytes(), Release::V0_15));
    }
}
