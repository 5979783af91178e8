//! What stands on disk beside a journal now: the transcript it is about (spec 03 §11.1 step 4), and the owner whose
//! retirement it records (§10).

use super::attempt::{Live, Parent, Root};
use super::journal::Current;
use super::stored::Fault;
use super::{Identity, OwnerPaths, Target, TreeSnapshot};
use crate::agent::artifacts::{self, Fault as Unsurveyed};
use crate::agent::owner_evidence::Inode;
use crate::fsys::input::READ_CAP;
use crate::fsys::{Errno, Fs, Kind, Sha256Reader, Watched};
use crate::json::{JsString, View};
use crate::transcript::readers::owner::{self, owner};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The transcript at `path`, which a journal spells as `target` does. `elsewhere` says of a header's cwd that it surely leads
/// to another workspace.
///
/// # Errors
/// [`Fault::Unbound`] when the file cannot be read, moves, or does not tell its owner.
pub fn transcript(fs: &dyn Fs, path: &Path, target: &Target, elsewhere: impl Fn(&JsString) -> bool) -> Result<Current, Fault> {
    let meta = match fs.lstat(path) {
        Ok(meta) => meta,
        Err(error) if matches!(error.errno, Errno::NOENT | Errno::NOTDIR) => return Ok(Current::Absent),
        Err(_) => return Err(Fault::Unbound),
    };
    if meta.kind != Kind::File || meta.nlink != 1 {
        return Ok(Current::Irregular);
    }
    // Neither a larger file nor one of another size can be the prepared one.
    if meta.size > READ_CAP {
        return Err(Fault::Unbound);
    }
    let mut watched = Watched::open(fs, path).map_err(|_| Fault::Unbound)?;
    let mut reader = BufReader::with_capacity(256 * 1024, Sha256Reader::new((&mut watched).take(READ_CAP)));
    let mut first = Vec::new();
    reader.read_until(b'\n', &mut first).map_err(|_| Fault::Unbound)?;
    std::io::copy(&mut reader, &mut std::io::sink()).map_err(|_| Fault::Unbound)?;
    let (sha256, ..) = reader.into_inner().finish();
    let meta = watched.finish().map_err(|_| Fault::Unbound)?;
    let Some((session_id, cwd)) = header(&first) else { return Ok(Current::WithoutHeader) };
    if elsewhere(&cwd) {
        return Ok(Current::OtherWorkspace);
    }
    let file = fs.open(path).map_err(|_| Fault::Unbound)?;
    let locator = match owner(file, session_id.as_bytes()).map_err(|_| Fault::Unbound)? {
        Ok(Some(locator)) => locator,
        Ok(None) => return Ok(Current::WithoutOwner),
        Err(owner::Refusal::Header) => return Ok(Current::WithoutHeader),
        Err(owner::Refusal::Locator | owner::Refusal::Patch) => return Err(Fault::Unbound),
    };
    let identity = Identity { dev: meta.dev.into(), ino: meta.ino.into(), size: meta.size, mtime_ns: meta.mtime_ns.into(), sha256 };
    Ok(Current::Present(Box::new(Target { transcript_path: target.transcript_path.clone(), session_id, cwd, identity, locator })))
}

/// Session id and cwd of a first line, neither empty.
fn header(line: &[u8]) -> Option<(JsString, JsString)> {
    let header = owner::session(line).ok()?;
    let member = |key| header.str_member(key).filter(|text| !text.is_empty()).map(|text| JsString::from_wtf8(text.into_owned()));
    Some((member("id")?, member("cwd")?))
}

/// What stands of an owner. `here` says where a path that records spell lies on this machine.
///
/// # Errors
/// [`Fault::Unbound`] when the directory of owners cannot be looked at, or a tree moves or cannot be read while it is captured.
pub fn owner_roots(fs: &dyn Fs, paths: &OwnerPaths, here: impl Fn(&[u8]) -> PathBuf) -> Result<Live, Fault> {
    let parent = match fs.lstat(&here(&paths.owners)) {
        Ok(meta) if meta.kind == Kind::Directory => Parent::Is(Inode { dev: meta.dev, ino: meta.ino }),
        Ok(_) => Parent::Unavailable,
        Err(error) if matches!(error.errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Parent::Unavailable,
        // That it was not looked at says nothing of what it is.
        Err(_) => return Err(Fault::Unbound),
    };
    Ok(Live { parent, root: root(fs, &here(&paths.root))?, removing: root(fs, &here(&paths.removing))? })
}

fn root(fs: &dyn Fs, path: &Path) -> Result<Root, Fault> {
    let survey = match artifacts::survey(fs, path) {
        Ok(None) => return Ok(Root::Absent),
        Ok(Some(survey)) => survey,
        Err(Unsurveyed::Unsafe { .. } | Unsurveyed::Capacity { .. }) => return Ok(Root::Unavailable),
        Err(Unsurveyed::Unsupported(_)) => return Err(Fault::Unbound),
    };
    let tree = artifacts::snapshot(fs, &survey).map_err(|_| Fault::Unbound)?;
    Ok(TreeSnapshot::captured(&tree).map_or(Root::Unavailable, Root::Tree))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::owner_evidence::{EMPTY_SHA256, example};
    use crate::fsys::{Inject, Memory, Phase};
    use crate::gc::{Evidence, Refusal};
    use crate::json::Value;

    const PATH: &str = "/r/v2-d/t.jsonl";

    fn target() -> Target {
        let evidence = Evidence::read(&Value::parse(example("s").as_bytes()).unwrap()).unwrap();
        let identity = Identity { dev: 1_u64.into(), ino: 2_u64.into(), size: 0, mtime_ns: 0_u64.into(), sha256: EMPTY_SHA256 };
        Target { transcript_path: PATH.into(), session_id: "s".into(), cwd: "/w".into(), identity, locator: evidence.locator }
    }
    fn header(id: &str, cwd: &str) -> String {
        let evidence = Value::parse(example("s").as_bytes()).unwrap();
        let locator = crate::json::stringify::to_text(evidence.member("locator").unwrap());
        format!("{{\"type\":\"session\",\"version\":5,\"id\":\"{id}\",\"cwd\":\"{cwd}\",\"taskArtifactOwner\":{locator}}}\n")
    }
    fn standing(fs: &dyn Fs) -> Result<Current, Fault> {
        transcript(fs, Path::new(PATH), &target(), |cwd| *cwd == *"/elsewhere")
    }
    fn with(text: &str) -> (Memory, Result<Current, Fault>) {
        let fs = Memory::new();
        fs.file(PATH, text.as_bytes());
        let current = standing(&fs);
        (fs, current)
    }

    #[test]
    fn what_stands_at_the_path_is_told_in_gjcs_order() {
        assert_eq!(standing(&Memory::new()), Ok(Current::Absent));
        let (fs, current) = with(&header("s", "/w"));
        let Ok(Current::Present(found)) = current else { panic!("{current:?}") };
        assert_eq!((found.session_id.to_string(), found.cwd.to_string(), found.locator), ("s".into(), "/w".into(), target().locator));
        assert_eq!(found.identity.size, header("s", "/w").len() as u64);
        fs.hard_link(PATH, "/second");
        assert_eq!(standing(&fs), Ok(Current::Irregular), "two names");
        for text in ["", "\n", "{}\n", &header("", "/w"), &header("s", ""), &header("s", "/w").replace("\"session\"", "\"other\"")] {
            assert_eq!(with(text).1, Ok(Current::WithoutHeader), "{text}");
        }
        assert_eq!(with(&header("s", "/elsewhere")).1, Ok(Current::OtherWorkspace));
        let ownerless = header("s", "/w").replace("taskArtifactOwner", "owner");
        assert_eq!(with(&ownerless).1, Ok(Current::WithoutOwner));
        assert_eq!(with(&ownerless.replace("/w", "/elsewhere")).1, Ok(Current::OtherWorkspace), "before the owner is asked for");
        assert_eq!(Current::WithoutHeader.bind(&target()), Err(Refusal::TranscriptHeaderInvalid));
        assert_eq!(Current::OtherWorkspace.bind(&target()), Err(Refusal::ContinuationAuthorityMismatch));
    }
    /// §8: the line is trimmed as JavaScript trims, whose white space is more than that of JSON.
    #[test]
    fn a_header_is_read_as_the_reader_of_owners_reads_it() {
        let around = |before: &str| with(&format!("{before}{}", header("s", "/w"))).1;
        for space in ["", "\u{feff}", "\u{a0}", "\u{b}", "\u{2028} "] {
            assert!(matches!(around(space), Ok(Current::Present(_))), "{space:?}");
        }
        assert_eq!(around("\u{85}"), Ok(Current::WithoutHeader), "near miss: white space of Unicode and not of JavaScript");
    }
    /// The file is opened twice: the second reading meets another session.
    #[test]
    fn a_header_that_is_another_session_s_the_second_time_is_none() {
        let (fs, _) = with(&header("s", "/w"));
        let opened = std::sync::atomic::AtomicU64::new(0);
        let inject = Inject::new(&fs, |call| {
            if call.op == "open" && call.phase == Phase::Before && opened.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 1 {
                fs.remove(PATH);
                fs.file(PATH, header("t", "/w").as_bytes());
            }
            None
        });
        assert_eq!(standing(&inject), Ok(Current::WithoutHeader));
    }
    /// A transcript that moves while it is hashed is neither the prepared one nor another.
    #[test]
    fn a_transcript_that_grows_while_it_is_read_is_not_known() {
        let (fs, _) = with(&header("s", "/w"));
        let grown = std::sync::atomic::AtomicBool::new(false);
        let inject = Inject::new(&fs, |call| {
            let first = || !grown.swap(true, std::sync::atomic::Ordering::SeqCst);
            if call.op == "read" && call.phase == Phase::Before && first() {
                fs.append(PATH, b"{}\n");
            }
            None
        });
        assert_eq!(standing(&inject), Err(Fault::Unbound));
    }

    /// What nobody of gjc reads is not read here either.
    #[test]
    fn a_transcript_above_what_gjc_reads_is_not_opened() {
        let opened = |size: u64| {
            let fs = Memory::new();
            fs.sparse(PATH, size);
            let opened = std::sync::atomic::AtomicBool::new(false);
            let failing = Inject::new(&fs, |call| {
                opened.fetch_or(call.op == "open", std::sync::atomic::Ordering::SeqCst);
                (call.op == "read").then_some(Errno::IO)
            });
            assert_eq!(standing(&failing), Err(Fault::Unbound));
            opened.load(std::sync::atomic::Ordering::SeqCst)
        };
        assert!(opened(READ_CAP) && !opened(READ_CAP + 1));
    }

    /// The directory of owners and the two roots, while `hook` may fail what is asked.
    fn roots(change: impl FnOnce(&Memory), fails: Option<(&'static str, &'static str)>) -> Result<(Parent, bool), Fault> {
        let fs = Memory::new();
        fs.file("/r/.task-artifact-owners/o/0.bash.log", b"output");
        change(&fs);
        let root = crate::gc::SessionsRoot::new(b"/r").unwrap();
        let inject =
            Inject::new(&fs, |call| fails.filter(|fails| call.op == fails.0 && call.path == Path::new(fails.1)).map(|_| Errno::IO));
        let here = |path: &[u8]| PathBuf::from(std::str::from_utf8(path).unwrap());
        owner_roots(&inject, &root.owner("o"), here).map(|live| (live.parent, matches!(live.root, Root::Tree(_))))
    }
    #[test]
    fn what_stands_of_an_owner_is_unavailable_only_when_it_was_looked_at() {
        assert!(matches!(roots(|_| (), None), Ok((Parent::Is(_), true))));
        assert_eq!(roots(|fs| fs.remove("/r/.task-artifact-owners"), None), Ok((Parent::Unavailable, false)), "nothing is there");
        let file = |fs: &Memory| {
            fs.remove("/r/.task-artifact-owners");
            fs.file("/r/.task-artifact-owners", b"");
        };
        assert_eq!(roots(file, None), Ok((Parent::Unavailable, false)), "no directory");
        assert_eq!(roots(|_| (), Some(("lstat", "/r/.task-artifact-owners"))), Err(Fault::Unbound));
        assert_eq!(roots(|_| (), Some(("opendir", "/r/.task-artifact-owners/o"))), Err(Fault::Unbound), "its tree was not read");
    }
}
