//! The binding file of a scope (spec 02 §3): its exact bytes, and gjc's validation in gjc's order.

use super::identity::{Identity, Platform};
use super::layout::BINDING;
use crate::fsys::{Bound, Fs, Refusal, capture};
use crate::json::{Value, View, stringify, text};
use std::path::Path;

/// No canonical binding is larger than 32 KiB (a path has at most 4,096 bytes, and JSON writes a byte as at most six), but gjc
/// reads what is there; this much is read so that padding is told from an unreadable file.
pub const CEILING: u64 = 16 << 20;

/// What a binding file says, after steps 1 to 3.
#[derive(Clone, PartialEq, Debug)]
pub struct Binding {
    /// `platform`.
    pub platform: Platform,
    /// `canonicalPath`, as WTF-8.
    pub canonical_path: Vec<u8>,
    /// `identityDigest`: 52 characters of `[a-z2-7]`.
    pub identity_digest: String,
    /// The decoded text of the whole file.
    text: Vec<u8>,
}

/// Why a binding is refused. The step is that of spec 02 §3.2.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// Step 1: the file could not be captured.
    Capture(Refusal),
    /// Step 2: no JSON.
    NotJson,
    /// Step 3: the first field that is wrong.
    Shape(&'static str),
    /// Step 4: the fields that belong to another workspace.
    Conflict(Vec<&'static str>),
    /// Step 5: not the canonical text; what differs, in words.
    NotCanonical(String),
}

impl Fault {
    /// The step of spec 02 §3.2 that refuses.
    pub const fn step(&self) -> u8 {
        match self {
            Fault::Capture(_) => 1,
            Fault::NotJson => 2,
            Fault::Shape(_) => 3,
            Fault::Conflict(_) => 4,
            Fault::NotCanonical(_) => 5,
        }
    }
    /// `binding_conflict` for step 4, else `binding_invalid`.
    pub const fn code(&self) -> &'static str {
        match self {
            Fault::Conflict(_) => "binding_conflict",
            _ => "binding_invalid",
        }
    }
    /// `cause.classification`: step 1 keeps `EACCES` and `EPERM` (spec 02 §3.2), all else is the code itself.
    pub fn classification(&self) -> &'static str {
        match self {
            Fault::Capture(refusal) if matches!(refusal.token(), "EACCES" | "EPERM") => refusal.token(),
            other => other.code(),
        }
    }
}

/// The exact bytes of the binding of a workspace (spec 02 §3.1), final LF included.
pub fn canonical_text(identity: &Identity) -> Vec<u8> {
    spell(identity.platform, identity.canonical_path.as_bytes(), &identity.digest_text())
}

fn spell(platform: Platform, canonical_path: &[u8], digest: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(160 + canonical_path.len());
    out.extend_from_slice(br#"{"schemaVersion":1,"layoutVersion":2,"identityVersion":1,"platform":""#);
    out.extend_from_slice(platform.text().as_bytes());
    out.extend_from_slice(br#"","canonicalPath":"#);
    stringify::write_string(canonical_path, &mut out);
    out.extend_from_slice(br#","identityDigest":""#);
    out.extend_from_slice(digest.as_bytes());
    out.extend_from_slice(b"\"}\n");
    out
}

/// Steps 2 and 3 over the bytes of a binding file.
///
/// # Errors
/// [`Fault::NotJson`] or [`Fault::Shape`].
pub fn parse(bytes: &[u8]) -> Result<Binding, Fault> {
    // A byte order mark stays U+FEFF here, and JSON.parse refuses it.
    let decoded = text::utf8_lossy(bytes);
    let value = Value::parse(&decoded).ok_or(Fault::NotJson)?;
    let value = &value;
    if !value.is_record() {
        return Err(Fault::Shape("not an object"));
    }
    for (key, number) in [("schemaVersion", 1.0), ("layoutVersion", 2.0), ("identityVersion", 1.0)] {
        if value.get(key).and_then(View::as_f64) != Some(number) {
            return Err(Fault::Shape(key));
        }
    }
    let platform = value.str_member("platform").and_then(|text| Platform::parse(&text)).ok_or(Fault::Shape("platform"))?;
    let canonical_path = value.str_member("canonicalPath").ok_or(Fault::Shape("canonicalPath"))?.into_owned();
    let digest = value.str_member("identityDigest").ok_or(Fault::Shape("identityDigest"))?;
    if digest.len() != 52 || !digest.iter().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7')) {
        return Err(Fault::Shape("identityDigest"));
    }
    let identity_digest = String::from_utf8_lossy(&digest).into_owned();
    Ok(Binding { platform, canonical_path, identity_digest, text: decoded.into_owned() })
}

impl Binding {
    /// The workspace that the binding names; none when its path is no text that a workspace can have.
    pub fn identity(&self) -> Option<Identity> {
        let canonical_path = String::from_utf8(self.canonical_path.clone()).ok()?;
        Some(Identity { platform: self.platform, canonical_path })
    }
    /// Steps 4 and 5 against the workspace that gjc resolved.
    ///
    /// # Errors
    /// [`Fault::Conflict`] or [`Fault::NotCanonical`].
    pub fn belongs_to(&self, identity: &Identity) -> Result<(), Fault> {
        let differing = [
            ("platform", self.platform == identity.platform),
            ("canonicalPath", self.canonical_path == identity.canonical_path.as_bytes()),
            ("identityDigest", self.identity_digest == identity.digest_text()),
        ];
        self.settle(differing.into_iter().filter_map(|(name, same)| (!same).then_some(name)).collect())
    }
    /// Steps 4 and 5 as a checker can take them without knowing the workspace: the digest must be that of platform and
    /// path, and the directory must bear it.
    ///
    /// # Errors
    /// [`Fault::Conflict`] or [`Fault::NotCanonical`].
    pub fn belongs_in(&self, directory_name: &[u8]) -> Result<(), Fault> {
        let recomputed = self.identity().is_some_and(|i| i.digest_text() == self.identity_digest);
        let named = directory_name.strip_prefix(b"v2-") == Some(self.identity_digest.as_bytes());
        let differing = [("identityDigest", recomputed), ("directory name", named)];
        self.settle(differing.into_iter().filter_map(|(name, same)| (!same).then_some(name)).collect())
    }
    fn settle(&self, differing: Vec<&'static str>) -> Result<(), Fault> {
        if !differing.is_empty() {
            return Err(Fault::Conflict(differing));
        }
        let canonical = spell(self.platform, &self.canonical_path, &self.identity_digest);
        if canonical != self.text {
            return Err(Fault::NotCanonical(difference(&self.text, &canonical)));
        }
        Ok(())
    }
}

/// How a binding's text differs from the canonical one, which ends in a line feed.
fn difference(text: &[u8], canonical: &[u8]) -> String {
    let same = text.iter().zip(canonical).take_while(|(a, b)| a == b).count();
    let body = canonical.strip_suffix(b"\n").unwrap_or(canonical);
    match text.strip_prefix(body) {
        Some(b"") => "the line feed at the end is missing".to_owned(),
        Some(b"\r\n") => "the line ends in CR LF instead of LF".to_owned(),
        Some(_) => format!("something follows from byte {} on", same + 1),
        None => {
            let shown = |bytes: &[u8]| {
                let piece = bytes.get(same..).unwrap_or_default();
                String::from_utf8_lossy(&piece[..piece.len().min(24)]).into_owned()
            };
            format!("from byte {} on it is `{}` instead of `{}`", same + 1, shown(text), shown(canonical).trim_end())
        }
    }
}

/// Steps 1 to 3 for the binding of a scope directory; none when there is no binding file.
///
/// # Errors
/// The fault of the first step that refuses.
pub fn read(fs: &dyn Fs, scope: &Path) -> Result<Option<Binding>, Fault> {
    match capture(fs, &scope.join(BINDING), Bound::Ceiling(CEILING)) {
        Ok(captured) => parse(&captured.bytes).map(Some),
        Err(refusal) if refusal.is_absent() => Ok(None),
        Err(refusal) => Err(Fault::Capture(refusal)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::{Errno, Inject, Kind, Memory, Phase};

    fn identity(platform: Platform, path: &str) -> Identity {
        Identity { platform, canonical_path: path.into() }
    }

    #[test]
    fn a_text_that_is_not_canonical_says_what_differs() {
        let identity = identity(Platform::Posix, "/work/pi");
        let canonical = String::from_utf8(canonical_text(&identity)).unwrap();
        let body = canonical.trim_end();
        let said = |text: &str| match parse(text.as_bytes()).unwrap().belongs_to(&identity) {
            Err(Fault::NotCanonical(difference)) => difference,
            other => panic!("{other:?}"),
        };
        assert_eq!(said(body), "the line feed at the end is missing");
        assert_eq!(said(&format!("{body}\r\n")), "the line ends in CR LF instead of LF");
        assert_eq!(said(&format!("{canonical}\n")), "something follows from byte 177 on");
        assert_eq!(
            said(&canonical.replacen('{', "{ ", 1)),
            "from byte 2 on it is ` \"schemaVersion\":1,\"layo` instead of `\"schemaVersion\":1,\"layou`"
        );
    }

    #[test]
    fn the_three_examples_of_the_spec() {
        let examples = [
            (Platform::Posix, "/work/pi", 176, "6ec751cd630e802c577d6c44eeea67147148971c84928459634c9b0d441488ed"),
            (Platform::Posix, "/home/ana/Projekt-\u{fc}", 188, "1f61f7b2034072f94fa4bf97937e84dce8f75d9d1c4328582fa5ef78f0ceb84c"),
            (
                Platform::Win32,
                r"\\?\Volume{01234567-89ab-cdef-0123-456789abcdef}\Users\ana\app",
                236,
                "465ba2d0996bccfca1cd58d33e549966f6db9afb05fd6a5664e1068e0dc0754b",
            ),
        ];
        for (platform, path, length, sha256) in examples {
            use sha2::Digest;
            let text = canonical_text(&identity(platform, path));
            assert_eq!(text.len(), length, "{path}");
            assert_eq!(data_encoding::HEXLOWER.encode(&sha2::Sha256::digest(&text)), sha256, "{path}");
            let binding = parse(&text).unwrap();
            assert_eq!(binding.belongs_to(&identity(platform, path)), Ok(()));
            assert_eq!(binding.belongs_in(identity(platform, path).directory_name().as_bytes()), Ok(()));
        }
    }

    /// One row of the table "Outcomes (observed)": an edit of the canonical text and the step that refuses it.
    #[test]
    fn each_fault_is_refused_at_its_step() {
        let own = identity(Platform::Posix, "/work/pi-\u{e9}");
        let good = String::from_utf8(canonical_text(&own)).unwrap();
        let other = identity(Platform::Posix, "/work/other");
        let step = |text: &str| match parse(text.as_bytes()).and_then(|b| b.belongs_to(&own)) {
            Ok(()) => 0,
            Err(fault) => fault.step(),
        };
        assert_eq!(step(&good), 0);
        assert_eq!(step(&format!("\u{feff}{good}")), 2);
        assert_eq!(step(""), 2);
        assert_eq!(step("[]"), 3);
        assert_eq!(step("null"), 3);
        assert_eq!(step(&good.replace("\"schemaVersion\":1", "\"schemaVersion\":2")), 3);
        assert_eq!(step(&good.replace("\"schemaVersion\":1", "\"schemaVersion\":\"1\"")), 3);
        assert_eq!(step(&good.replace("posix", "linux")), 3);
        assert_eq!(step(&good.replace(&own.digest_text(), &own.digest_text().to_uppercase())), 3);
        assert_eq!(step(&good.replace(&own.canonical_path, "/work/other")), 4);
        assert_eq!(step(&good.replace(&own.digest_text(), &other.digest_text())), 4);
        assert_eq!(step(&good.replace("posix", "win32")), 4);
        assert_eq!(step(good.trim_end()), 5);
        assert_eq!(step(&good.replace('\n', "\r\n")), 5);
        assert_eq!(step(&good.replace("}", ",\"extra\":1}")), 5);
        assert_eq!(step(&good.replace("\"schemaVersion\":1", "\"schemaVersion\":1.0")), 5);
        assert_eq!(step(&good.replace('\u{e9}', "\\u00e9")), 5);
        assert_eq!(step(&good.replace("{\"schema", "{\"schemaVersion\":1,\"schema")), 5);
    }

    #[test]
    fn a_copied_directory_is_a_conflict_without_knowing_the_workspace() {
        let own = identity(Platform::Posix, "/work/pi");
        let binding = parse(&canonical_text(&own)).unwrap();
        let elsewhere = identity(Platform::Posix, "/work/other").directory_name();
        assert_eq!(binding.belongs_in(elsewhere.as_bytes()), Err(Fault::Conflict(vec!["directory name"])));
    }

    #[test]
    fn a_binding_that_is_no_plain_file_fails_at_step_one() {
        let own = identity(Platform::Posix, "/work/pi");
        let build = |make: &dyn Fn(&Memory)| {
            let fs = Memory::new();
            fs.directory("/s");
            make(&fs);
            read(&fs, Path::new("/s")).map_err(|f| (f.step(), f.classification()))
        };
        let name = format!("/s/{BINDING}");
        assert_eq!(build(&|_| {}), Ok(None));
        assert!(matches!(build(&|fs| fs.file(&name, &canonical_text(&own))), Ok(Some(_))));
        assert_eq!(build(&|fs| fs.symlink(&name, "x")), Err((1, "binding_invalid")));
        assert_eq!(build(&|fs| fs.directory(&name)), Err((1, "binding_invalid")));
        assert_eq!(build(&|fs| fs.special(&name, Kind::Fifo)), Err((1, "binding_invalid")));
        let linked = |fs: &Memory| {
            fs.file(&name, &canonical_text(&own));
            fs.hard_link(&name, "/s/second");
        };
        assert_eq!(build(&linked), Err((1, "binding_invalid")));

        let fs = Memory::new();
        fs.file(&name, &canonical_text(&own));
        let denied = Inject::new(&fs, |call| (call.op == "open" && call.phase == Phase::Before).then_some(Errno::ACCESS));
        assert_eq!(read(&denied, Path::new("/s")).map_err(|f| f.classification()), Err("EACCES"));
    }
}
