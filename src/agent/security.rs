//! The owner-only policy (spec 02 §4.1 to §4.3): type, owner, mode, ACL, with gjc's tokens, in gjc's order.

use crate::fsys::{Acl, DaclEntry, Errno, Error, Fs, Kind, Meta, NO_ATTRIBUTE, NativeAcl, Watched};
use std::path::Path;

/// Which policy an object must meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// A real directory of mode 0700.
    Directory,
    /// A regular file of mode 0600.
    File,
}

impl Need {
    /// The mode that the policy demands.
    pub const fn mode(self) -> u32 {
        match self {
            Need::Directory => 0o700,
            Need::File => 0o600,
        }
    }
    const fn kind(self) -> Kind {
        match self {
            Need::Directory => Kind::Directory,
            Need::File => Kind::File,
        }
    }
}

/// Why an object fails the policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation {
    /// It does not exist.
    NotFound,
    /// It, or a component on the way to it, is a symlink.
    ReparsePoint,
    /// It has another type than demanded (the token is `not_directory` for files too).
    WrongType(Kind),
    /// Its owner is not the user.
    Owner(u32),
    /// Its permission bits.
    Mode(u32),
    /// An ACL, or a query for one that failed.
    Acl(Acl, AclViolation),
    /// An access control list of macOS or Windows.
    List(ListViolation),
    /// A query for such a list that failed.
    ListUnavailable(Errno),
    /// The object behind the name changed between two looks.
    Identity,
    /// A `..` in the path.
    Unavailable,
    /// Any other error.
    Io(Errno),
}

/// What is wrong with an ACL attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AclViolation {
    /// There is one.
    Present(usize),
    /// It has length 0.
    Malformed,
    /// The query was denied.
    Denied(Errno),
    /// The query failed with EIO.
    Io,
    /// The query failed otherwise.
    Unknown(Errno),
}

impl Violation {
    /// gjc's token.
    pub const fn token(self) -> &'static str {
        match self {
            Violation::NotFound => "not_found",
            Violation::ReparsePoint => "reparse_point",
            Violation::WrongType(_) => "not_directory",
            Violation::Owner(_) => "owner_mismatch",
            Violation::Mode(_) => "mode_mismatch",
            Violation::Acl(_, acl) => acl.token(),
            Violation::List(_) => "acl_verify_failed",
            Violation::ListUnavailable(_) => "acl_unavailable",
            Violation::Identity => "identity_mismatch",
            Violation::Unavailable => "identity_unavailable",
            Violation::Io(_) => "io_error",
        }
    }
}

impl AclViolation {
    /// gjc's token.
    pub const fn token(self) -> &'static str {
        match self {
            AclViolation::Present(_) => "acl_present",
            AclViolation::Malformed => "acl_malformed",
            AclViolation::Denied(_) => "acl_denied",
            AclViolation::Io => "acl_io_error",
            AclViolation::Unknown(_) => "acl_unknown",
        }
    }
}

/// What an ACL query proves when it does not refuse (spec 02 §4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AclState {
    /// There is none.
    Absent,
    /// The file system cannot store one.
    Unsupported,
}

/// Steps 2 to 4 of spec 02 §4.1 over the facts of an object: type, owner, exact mode. gjc stops at the first violation;
/// a user wants to know all of them. Nothing more is asked of an object of the wrong type.
pub fn violations(meta: &Meta, need: Need, uid: u32) -> impl Iterator<Item = Violation> {
    let wrong_type = match meta.kind {
        Kind::Symlink => Some(Violation::ReparsePoint),
        kind => (kind != need.kind()).then_some(Violation::WrongType(kind)),
    };
    let typed = wrong_type.is_none();
    let owner = (typed && meta.uid != uid).then_some(Violation::Owner(meta.uid));
    let mode = (typed && meta.permissions() != need.mode()).then_some(Violation::Mode(meta.permissions()));
    [wrong_type, owner, mode].into_iter().flatten()
}

/// Step 5: the ACL rule (spec 02 §4.2): the native list where the system keeps one, else the two attributes, access first, then
/// default for directories.
///
/// # Errors
/// The first violation.
pub fn judge_acl(fs: &dyn Fs, path: &Path, need: Need) -> Result<AclState, Violation> {
    judge_acl_by(fs, path, need, |attribute| fs.acl(path, attribute).map_err(|error| error.errno))
}

/// The same of the file at `path` when it is open: its descriptor is asked.
///
/// # Errors
/// The first violation.
pub fn judge_open_acl(fs: &dyn Fs, path: &Path, file: &Watched<'_>) -> Result<AclState, Violation> {
    judge_acl_by(fs, path, Need::File, |attribute| file.acl(attribute))
}

fn judge_acl_by(fs: &dyn Fs, path: &Path, need: Need, ask: impl Fn(Acl) -> Result<usize, Errno>) -> Result<AclState, Violation> {
    match fs.native_acl(path) {
        Ok(None) => {}
        Ok(Some(list)) => return judge_list(&list, need).map(|()| AclState::Absent).map_err(Violation::List),
        Err(Error { errno: Errno::NOENT | Errno::OPNOTSUPP, .. }) => return Ok(AclState::Absent),
        Err(error) => return Err(Violation::ListUnavailable(error.errno)),
    }
    let mut state = AclState::Absent;
    let attributes: &[Acl] = match need {
        Need::Directory => &[Acl::Access, Acl::Default],
        Need::File => &[Acl::Access],
    };
    for attribute in attributes {
        if acl_rule(ask(*attribute)).map_err(|v| Violation::Acl(*attribute, v))? == AclState::Unsupported {
            state = AclState::Unsupported;
        }
    }
    Ok(state)
}

fn acl_rule(answer: Result<usize, Errno>) -> Result<AclState, AclViolation> {
    match answer {
        Ok(0) => Err(AclViolation::Malformed),
        Ok(length) => Err(AclViolation::Present(length)),
        Err(NO_ATTRIBUTE) => Ok(AclState::Absent),
        Err(Errno::OPNOTSUPP) => Ok(AclState::Unsupported),
        Err(errno @ (Errno::ACCESS | Errno::PERM)) => Err(AclViolation::Denied(errno)),
        Err(Errno::IO) => Err(AclViolation::Io),
        Err(errno) => Err(AclViolation::Unknown(errno)),
    }
}

/// Why an access control list of macOS or Windows fails (spec 02 §4.2). gjc's token is `acl_verify_failed` for all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListViolation {
    /// macOS: an extended ACL with so many entries.
    Entries(usize),
    /// Windows: somebody else is named, or someone is denied.
    ForeignPrincipal,
    /// Windows: only the user is named, in another shape than gjc writes (inherited, several entries, other rights).
    OldShape,
}

fn judge_list(list: &NativeAcl, need: Need) -> Result<(), ListViolation> {
    match list {
        NativeAcl::Extended(0) => Ok(()),
        NativeAcl::Extended(entries) => Err(ListViolation::Entries(*entries)),
        NativeAcl::Dacl { protected, entries } => judge_windows(*protected, entries.as_deref(), need),
    }
}

/// Windows: the DACL is protected and is exactly one entry that allows the user everything, inherited by what is in a
/// directory. A missing DACL (everybody may do everything) names foreign principals.
fn judge_windows(protected: bool, dacl: Option<&[DaclEntry]>, need: Need) -> Result<(), ListViolation> {
    const GENERIC_ALL: u32 = 0x1000_0000;
    const FILE_ALL_ACCESS: u32 = 0x001F_01FF;
    const OBJECT_AND_CONTAINER_INHERIT: u8 = 3;
    let flags = match need {
        Need::Directory => OBJECT_AND_CONTAINER_INHERIT,
        Need::File => 0,
    };
    let entries = dacl.ok_or(ListViolation::ForeignPrincipal)?;
    if entries.iter().any(|entry| !entry.allows || !entry.of_user) {
        return Err(ListViolation::ForeignPrincipal);
    }
    match entries {
        [one] if protected && matches!(one.mask, GENERIC_ALL | FILE_ALL_ACCESS) && one.flags == flags => Ok(()),
        _ => Err(ListViolation::OldShape),
    }
}

/// `verifyOwnerOnlyPathSecurity` of spec 02 §4.1: every component of an absolute path, then the object, then every name
/// again. Nothing is changed.
///
/// # Errors
/// The first violation.
pub fn verify(fs: &dyn Fs, path: &Path, need: Need, uid: u32) -> Result<AclState, Violation> {
    let first = chain(fs, path)?;
    let meta = first.last().ok_or(Violation::NotFound)?;
    if let Some(first) = violations(meta, need, uid).next() {
        return Err(first);
    }
    let state = judge_acl(fs, path, need)?;
    let same = chain(fs, path)?.iter().map(seen).eq(first.iter().map(seen));
    if same { Ok(state) } else { Err(Violation::Identity) }
}

/// What must agree between the two walks over the chain.
fn seen(meta: &Meta) -> (Kind, u64, u64, u32) {
    (meta.kind, meta.dev, meta.ino, meta.uid)
}

/// The facts of every component from the root down; a symlink at any of them is refused.
fn chain(fs: &dyn Fs, path: &Path) -> Result<Vec<Meta>, Violation> {
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(Violation::Io(Errno::INVAL));
    }
    if path.components().any(|c| c == std::path::Component::ParentDir) {
        return Err(Violation::Unavailable);
    }
    let mut steps: Vec<&Path> = path.ancestors().filter(|p| !p.as_os_str().is_empty()).collect();
    steps.reverse();
    steps
        .into_iter()
        .map(|step| match fs.lstat(step) {
            Ok(meta) if meta.kind == Kind::Symlink => Err(Violation::ReparsePoint),
            Ok(meta) => Ok(meta),
            Err(e) if e.errno == Errno::NOENT => Err(Violation::NotFound),
            Err(e) if e.errno == Errno::LOOP => Err(Violation::ReparsePoint),
            Err(e) if e.errno == Errno::NOTDIR => Err(Violation::WrongType(Kind::File)),
            Err(e) => Err(Violation::Io(e.errno)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::{Inject, Memory, Phase};

    fn tree() -> Memory {
        let fs = Memory::new();
        fs.directory("/a/scope");
        fs.file("/a/scope/f", b"");
        fs
    }

    fn token(fs: &dyn Fs, path: &str, need: Need) -> &'static str {
        match verify(fs, Path::new(path), need, 1000) {
            Ok(AclState::Absent) => "absent",
            Ok(AclState::Unsupported) => "unsupported",
            Err(violation) => violation.token(),
        }
    }

    #[test]
    fn owner_only_objects_pass() {
        let fs = tree();
        assert_eq!(token(&fs, "/a/scope", Need::Directory), "absent");
        assert_eq!(token(&fs, "/a/scope/f", Need::File), "absent");
        fs.chmod("/a/scope", 0o3700);
        assert_eq!(token(&fs, "/a/scope", Need::Directory), "absent", "set-gid and sticky are ignored");
    }

    #[test]
    fn each_violation_has_the_token_of_gjc() {
        let fs = tree();
        fs.symlink("/a/link", "scope");
        assert_eq!(token(&fs, "/a/none", Need::File), "not_found");
        assert_eq!(token(&fs, "/a/link", Need::Directory), "reparse_point");
        assert_eq!(token(&fs, "/a/link/f", Need::File), "reparse_point");
        assert_eq!(token(&fs, "/a/scope", Need::File), "not_directory");
        assert_eq!(token(&fs, "/a/scope/f", Need::Directory), "not_directory");
        assert_eq!(token(&fs, "/a/../a/scope", Need::Directory), "identity_unavailable");
        assert_eq!(token(&fs, "/a\0", Need::Directory), "io_error");
        fs.chmod("/a/scope/f", 0o700);
        assert_eq!(token(&fs, "/a/scope/f", Need::File), "mode_mismatch");
        fs.set("/a/scope/f", |meta| meta.uid = 0);
        assert_eq!(token(&fs, "/a/scope/f", Need::File), "owner_mismatch", "the owner comes before the mode");
    }

    #[test]
    fn the_acl_rule_line_by_line() {
        let fs = tree();
        let answer = |answer| {
            fs.set_acl("/a/scope", Acl::Default, answer);
            token(&fs, "/a/scope", Need::Directory)
        };
        assert_eq!(answer(Err(NO_ATTRIBUTE)), "absent");
        assert_eq!(answer(Err(Errno::OPNOTSUPP)), "unsupported");
        assert_eq!(answer(Ok(28)), "acl_present");
        assert_eq!(answer(Ok(0)), "acl_malformed");
        assert_eq!(answer(Err(Errno::ACCESS)), "acl_denied");
        assert_eq!(answer(Err(Errno::PERM)), "acl_denied");
        assert_eq!(answer(Err(Errno::IO)), "acl_io_error");
        assert_eq!(answer(Err(Errno::RANGE)), "acl_unknown");
        // A file is never asked for a default ACL.
        fs.set_acl("/a/scope/f", Acl::Default, Ok(28));
        assert_eq!(token(&fs, "/a/scope/f", Need::File), "absent");
    }

    #[test]
    fn the_rule_of_macos() {
        let fs = tree();
        // Where a system has such lists nobody asks for the attributes of Linux.
        fs.set_acl("/a/scope", Acl::Access, Ok(28));
        let answer = |answer| {
            fs.set_native_acl("/a/scope", answer);
            token(&fs, "/a/scope", Need::Directory)
        };
        assert_eq!(answer(Ok(Some(NativeAcl::Extended(0)))), "absent");
        assert_eq!(answer(Err(Errno::NOENT)), "absent");
        assert_eq!(answer(Err(Errno::OPNOTSUPP)), "absent");
        assert_eq!(answer(Ok(Some(NativeAcl::Extended(1)))), "acl_verify_failed");
        assert_eq!(answer(Err(Errno::IO)), "acl_unavailable");
        assert_eq!(answer(Err(Errno::ACCESS)), "acl_unavailable");
        assert_eq!(answer(Ok(None)), "acl_present");
    }

    #[test]
    fn the_rule_of_windows() {
        let own = DaclEntry { allows: true, of_user: true, mask: 0x001F_01FF, flags: 3 };
        let directory = |protected, entries: &[DaclEntry]| judge_windows(protected, Some(entries), Need::Directory);
        assert_eq!(directory(true, &[own]), Ok(()));
        assert_eq!(directory(true, &[DaclEntry { mask: 0x1000_0000, ..own }]), Ok(()));
        assert_eq!(judge_windows(true, Some(&[DaclEntry { flags: 0, ..own }]), Need::File), Ok(()));
        assert_eq!(judge_windows(true, Some(&[own]), Need::File), Err(ListViolation::OldShape));
        assert_eq!(directory(false, &[own]), Err(ListViolation::OldShape));
        assert_eq!(directory(true, &[own, own]), Err(ListViolation::OldShape));
        assert_eq!(directory(true, &[]), Err(ListViolation::OldShape));
        assert_eq!(directory(true, &[DaclEntry { mask: 1, ..own }]), Err(ListViolation::OldShape));
        assert_eq!(directory(true, &[own, DaclEntry { of_user: false, ..own }]), Err(ListViolation::ForeignPrincipal));
        assert_eq!(directory(true, &[DaclEntry { allows: false, ..own }]), Err(ListViolation::ForeignPrincipal));
        assert_eq!(judge_windows(true, None, Need::File), Err(ListViolation::ForeignPrincipal));
    }

    #[test]
    fn an_object_swapped_during_the_check_is_noticed() {
        let fs = tree();
        let inject = Inject::new(&fs, |call| {
            if call.op == "getxattr" && call.phase == Phase::Before {
                fs.remove("/a/scope/f");
                fs.file("/a/scope/f", b"");
            }
            None
        });
        assert_eq!(token(&inject, "/a/scope/f", Need::File), "identity_mismatch");
    }
}
