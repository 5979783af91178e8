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
use crate::json::text::utf8_lossy;
use crate::json::{JsString, Value, View};
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
    let text = utf8_lossy(line);
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&text);
    let header = Value::parse(text.trim_ascii()).filter(|value| value.str_member("type").is_some_and(|kind| *kind == *b"session"))?;
    let member = |key| header.str_member(key).filter(|text| !text.is_empty()).map(|text| JsString::from_wtf8(text.into_owned()));
    Some((member("id")?, member("cwd")?))
}

/// What stands of an owner. `here` says where a path that records spell lies on this machine.
///
/// # Errors
/// [`Fault::Unbound`] when a tree moves or cannot be read while it is captured.
pub fn owner_roots(fs: &dyn Fs, paths: &OwnerPaths, here: impl Fn(&[u8]) -> PathBuf) -> Result<Live, Fault> {
    let parent = match fs.lstat(&here(&paths.owners)) {
        Ok(meta) if meta.kind == Kind::Directory => Parent::Is(Inode { dev: meta.dev, ino: meta.ino }),
        _ => Parent::Unavailable,
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
