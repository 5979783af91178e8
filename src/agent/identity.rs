//! Workspace identity, version 1 (spec 02 §2): which scope directory belongs to a working directory.
//!
//! POSIX identity is asked of the file system; the Windows rules are a pure function over the facts that the native
//! calls answer there, so that they can be judged on any machine.

use crate::fsys::{Errno, Fs, Kind};
use data_encoding::{Encoding, Specification};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The platform that an identity was made on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Platform {
    /// Linux and macOS.
    Posix,
    /// Windows.
    Win32,
}

impl Platform {
    /// `posix` or `win32`.
    pub const fn text(self) -> &'static str {
        match self {
            Platform::Posix => "posix",
            Platform::Win32 => "win32",
        }
    }
    /// Reads `posix` or `win32`.
    pub fn parse(text: &[u8]) -> Option<Self> {
        [Platform::Posix, Platform::Win32].into_iter().find(|p| p.text().as_bytes() == text)
    }
}

/// Why a working directory has no identity: the native codes of spec 02 §2.1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NoIdentity {
    /// It does not exist.
    NotFound,
    /// It is no directory.
    NotDirectory,
    /// Its canonical path is not UTF-8.
    NotUtf8,
    /// Any other failure: no permission, a loop of links, a NUL in the text, …
    IoError,
    /// Windows: a network path.
    NetworkUnsupported,
    /// Windows: no volume-GUID path.
    IdentityUnavailable,
}

impl NoIdentity {
    /// The native code: `not_found`, … .
    pub const fn token(self) -> &'static str {
        match self {
            NoIdentity::NotFound => "not_found",
            NoIdentity::NotDirectory => "not_directory",
            NoIdentity::NotUtf8 => "not_utf8",
            NoIdentity::IoError => "io_error",
            NoIdentity::NetworkUnsupported => "network_unsupported",
            NoIdentity::IdentityUnavailable => "identity_unavailable",
        }
    }
    /// The scope error that resolving answers (spec 02 §2.2).
    pub const fn scope_error(self) -> &'static str {
        match self {
            NoIdentity::NotFound => "cwd_missing",
            NoIdentity::NotDirectory => "cwd_not_directory",
            NoIdentity::NetworkUnsupported => "network_unsupported",
            NoIdentity::NotUtf8 | NoIdentity::IdentityUnavailable | NoIdentity::IoError => "identity_unavailable",
        }
    }
    /// The code of an invalid candidate whose header names such a directory (spec 02 §5.3).
    pub const fn candidate_code(self) -> &'static str {
        match self {
            NoIdentity::NotFound => "cwd_not_found",
            NoIdentity::NotDirectory => "cwd_not_directory",
            NoIdentity::NotUtf8 => "cwd_not_utf8",
            NoIdentity::IoError => "cwd_io_error",
            NoIdentity::NetworkUnsupported => "cwd_network_unsupported",
            NoIdentity::IdentityUnavailable => "cwd_identity_unavailable",
        }
    }
}

/// What names a scope: platform and canonical path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Identity {
    /// The platform.
    pub platform: Platform,
    /// POSIX: the real path. Windows: the volume-GUID path.
    pub canonical_path: String,
}

impl Identity {
    /// SHA-256 of the tagged platform and path (spec 02 §2.3).
    pub fn digest(&self) -> [u8; 32] {
        Sha256::new()
            .chain_update(b"gjc-managed-session-scope\0identity-v1\0")
            .chain_update(self.platform.text())
            .chain_update(b"\0")
            .chain_update(&self.canonical_path)
            .finalize()
            .into()
    }
    /// The digest in base32, lower case, without padding: 52 characters.
    pub fn digest_text(&self) -> String {
        BASE32.encode(&self.digest())
    }
    /// The name of the scope directory: `v2-` and the digest.
    pub fn directory_name(&self) -> String {
        format!("v2-{}", self.digest_text())
    }
}

/// RFC 4648 order in lower case, most significant bits first, no padding.
static BASE32: LazyLock<Encoding> = LazyLock::new(|| {
    let mut specification = Specification::new();
    specification.symbols.push_str("abcdefghijklmnopqrstuvwxyz234567");
    specification.encoding().expect("32 distinct ASCII symbols make an encoding")
});

/// True for 52 characters that the digest of some workspace can have: `[a-z2-7]`, the last of them `a` or `q`, because
/// 256 bits leave it one bit.
pub fn is_digest(text: &[u8]) -> bool {
    text.len() == 52 && text.iter().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7')) && text.last().is_some_and(|b| matches!(b, b'a' | b'q'))
}

/// The identity of a directory on POSIX (spec 02 §2.1). `text` is what the user or a header says; a relative one is
/// resolved against `current_dir`, physically: `x/..` needs `x` to exist (spec 02a.12).
///
/// # Errors
/// The native code.
pub fn posix(fs: &dyn Fs, current_dir: &Path, text: &Path) -> Result<Identity, NoIdentity> {
    let bytes = text.as_os_str().as_encoded_bytes();
    if bytes.contains(&0) {
        return Err(NoIdentity::IoError);
    }
    if bytes.is_empty() {
        return Err(NoIdentity::NotFound);
    }
    let failure = |errno: Errno| match errno {
        Errno::NOENT => NoIdentity::NotFound,
        Errno::NOTDIR | Errno::INVAL => NoIdentity::NotDirectory,
        _ => NoIdentity::IoError,
    };
    let canonical: PathBuf = fs.realpath(&current_dir.join(text)).map_err(|e| failure(e.errno))?;
    let meta = fs.stat(&canonical).map_err(|e| failure(e.errno))?;
    if meta.kind != Kind::Directory {
        return Err(NoIdentity::NotDirectory);
    }
    match canonical.into_os_string().into_string() {
        Ok(canonical_path) => Ok(Identity { platform: Platform::Posix, canonical_path }),
        Err(_) => Err(NoIdentity::NotUtf8),
    }
}

/// The identity of a workspace that cannot be asked for here, because the agent directory is a copy from elsewhere: an
/// absolute path is taken at its word, as existing and canonical.
pub fn at_its_word(text: &Path) -> Option<Identity> {
    let canonical_path = text.to_str().filter(|_| text.is_absolute())?.to_owned();
    Some(Identity { platform: Platform::Posix, canonical_path })
}

/// What opening the directory answers on Windows (backup semantics, reparse points followed).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowsOpen {
    /// Opened; whether it has the directory attribute.
    Opened {
        /// `FILE_ATTRIBUTE_DIRECTORY`.
        directory: bool,
    },
    /// `ERROR_FILE_NOT_FOUND` or `ERROR_PATH_NOT_FOUND`.
    NotFound,
    /// Any other error.
    Failed,
}

/// What asking for the final path by handle, in its volume-GUID form, answers on Windows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WindowsFinalPath {
    /// The path; none when it is no Unicode text.
    Path(Option<String>),
    /// `ERROR_PATH_NOT_FOUND`: how SMB-mapped drives answer.
    PathNotFound,
    /// Any other error.
    Failed,
}

/// The identity of a directory on Windows, over given native facts (spec 02 §2.1). The facts are asked for lazily, in
/// gjc's order.
///
/// # Errors
/// The native code.
pub fn windows(
    text: &str,
    open: impl FnOnce() -> WindowsOpen,
    final_path: impl FnOnce() -> WindowsFinalPath,
) -> Result<Identity, NoIdentity> {
    if text.starts_with(r"\\?\UNC\") || (text.starts_with(r"\\") && !text.starts_with(r"\\?\")) {
        return Err(NoIdentity::NetworkUnsupported);
    }
    match open() {
        WindowsOpen::Opened { directory: true } => {}
        WindowsOpen::Opened { directory: false } => return Err(NoIdentity::NotDirectory),
        WindowsOpen::NotFound => return Err(NoIdentity::NotFound),
        WindowsOpen::Failed => return Err(NoIdentity::IoError),
    }
    match final_path() {
        WindowsFinalPath::PathNotFound => Err(NoIdentity::NetworkUnsupported),
        WindowsFinalPath::Path(Some(path)) if path.starts_with(r"\\?\UNC\") => Err(NoIdentity::NetworkUnsupported),
        WindowsFinalPath::Path(Some(canonical_path)) if canonical_path.starts_with(r"\\?\Volume{") => {
            Ok(Identity { platform: Platform::Win32, canonical_path })
        }
        WindowsFinalPath::Path(_) | WindowsFinalPath::Failed => Err(NoIdentity::IdentityUnavailable),
    }
}

/// Canonicalises a storage root (spec 02 §2.4): the deepest existing ancestor directory is replaced by its canonical path
/// and the missing tail is appended unchanged. `path` is absolute. Only absence makes the walk go up; any other failure
/// leaves the path as it is.
pub fn canonical_root(fs: &dyn Fs, path: &Path) -> PathBuf {
    let mut tail: Vec<&std::ffi::OsStr> = Vec::new();
    let mut here = path;
    loop {
        match posix(fs, Path::new("/"), here) {
            Ok(identity) => {
                let mut root = PathBuf::from(identity.canonical_path);
                root.extend(tail.iter().rev());
                return root;
            }
            Err(NoIdentity::NotFound | NoIdentity::NotDirectory) => {}
            Err(_) => return path.to_owned(),
        }
        match (here.parent(), here.file_name()) {
            (Some(parent), Some(name)) => {
                tail.push(name);
                here = parent;
            }
            _ => return path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::{Acl, Inject, Memory, Phase};

    fn identity(platform: Platform, path: &str) -> Identity {
        Identity { platform, canonical_path: path.into() }
    }

    /// Spec 02 §2.3, every row: platform, path, SHA-256 (empty where the table has none), directory.
    const WORKED: &[(Platform, &str, &str, &str)] = &[
        (
            Platform::Posix,
            "/",
            "4b0edc9a8637d4d1dccf181ec37c3a979827da0ceb9253d08e7ae8e9f5fc20e3",
            "v2-jmhnzgugg7kndxgpdapmg7b2s6mcpwqm5ojfhueopluot5p4edrq",
        ),
        (
            Platform::Posix,
            "/tmp",
            "ec6bf484c8981e03381c709ce918d9bb072704936823798b4f48a78d0ef85eb1",
            "v2-5rv7jbgitapagoa4ocoosggzxmdsobetnarxtc2pjcty2dxyl2yq",
        ),
        (
            Platform::Posix,
            "/private/tmp",
            "e339c0644f0c35d0f758875d0f9a952cd8a2d6694bc00f946a9004b2084e2892",
            "v2-4m44azcpbq25b52yq5oq7guvftmkfvtjjpaa7fdksacleccofcja",
        ),
        (
            Platform::Posix,
            "/work/pi",
            "75fa689ded9abc27bafab573ecca9d8e075ebaa57fd23b30163a0a9139b21a39",
            "v2-ox5grhpntk6cpox2wvz6zsu5rydv5ovfp7jdwmawhifjconsdi4q",
        ),
        (Platform::Posix, "/srv/pi", "", "v2-526fp3m4ekf6ylauiugh45dkg5idljyahgf623hfifqcbxkavw2a"),
        (
            Platform::Posix,
            "/home/ana/dev/app",
            "98b6a940170680ae67235becd1aa76b510afd3382c862579fb4a5d6c67078e2b",
            "v2-tc3ksqaxa2ak4zzdlpwndktwwuik7uzyfsdck6p3jjowyzyhryvq",
        ),
        (
            Platform::Posix,
            "/home/ana/dev/app ",
            "cd2df4f998e81e69a54389816d7febf49e5896190fc3d7eb31c286c3e9b945c0",
            "v2-zuw7j6my5apgtjkdrgaw277l6spfrfqzb7b5p2zrykdmh2nzixaa",
        ),
        (
            Platform::Posix,
            "/home/ana/Projekt-\u{fc}",
            "e43196e66850bb31580b8c4c77982c6b0ccf907511ab07b3142cb194fd44d986",
            "v2-4qyznztikc5tcwalrrghpgbmnmgm7edvcgvqpmyufsyzj7ke3gda",
        ),
        (
            Platform::Posix,
            "/home/ana/Projekt-u\u{308}",
            "c3591d4c793f0659db0ce517d1cf474102b297e64ad662ee7a5e3c295a3814d3",
            "v2-ynmr2tdzh4dftwym4ul5dt2hieblff7gjllgf3t2ly6cswryctjq",
        ),
        (
            Platform::Win32,
            r"\\?\Volume{01234567-89ab-cdef-0123-456789abcdef}\Users\ana\app",
            "7cf580b757af1291de504fa017acfea7ab2f2d9348c5507374e5cc5678ea6cb0",
            "v2-pt2ybn2xv4jjdxsqj6qbplh6u6vs6lmtjdcva43u4xgfm6hknsya",
        ),
    ];

    #[test]
    fn every_worked_example_of_the_spec() {
        for (platform, path, sha256, directory) in WORKED {
            let identity = identity(*platform, path);
            assert_eq!(identity.directory_name(), *directory, "{path}");
            assert!(is_digest(identity.digest_text().as_bytes()), "{path}");
            if !sha256.is_empty() {
                assert_eq!(data_encoding::HEXLOWER.encode(&identity.digest()), *sha256, "{path}");
            }
        }
    }

    #[test]
    fn a_posix_identity_is_physical() {
        let fs = Memory::new();
        fs.directory("/real/sub");
        fs.directory("/ws");
        fs.file("/ws/file", b"");
        fs.symlink("/ws/link", "/real/sub");
        fs.symlink("/ws/loop", "loop");
        let of = |text: &str| posix(&fs, Path::new("/ws"), Path::new(text)).map(|i| i.canonical_path).map_err(NoIdentity::token);
        assert_eq!(of("."), Ok("/ws".into()));
        assert_eq!(of("/ws/"), Ok("/ws".into()));
        assert_eq!(of("/ws/link"), Ok("/real/sub".into()));
        assert_eq!(of("/ws/link/.."), Ok("/real".into()));
        assert_eq!(of("/ws/absent/.."), Err("not_found"));
        assert_eq!(of("/ws/absent"), Err("not_found"));
        assert_eq!(of(""), Err("not_found"));
        assert_eq!(of("/ws/file"), Err("not_directory"));
        assert_eq!(of("/ws/file/x"), Err("not_directory"));
        assert_eq!(of("/ws/loop"), Err("io_error"));
        assert_eq!(of("/ws\0"), Err("io_error"));
        let denied = Inject::new(&fs, |call| (call.op == "realpath" && call.phase == Phase::Before).then_some(Errno::ACCESS));
        assert_eq!(posix(&denied, Path::new("/"), Path::new("/ws")), Err(NoIdentity::IoError));
        assert!(fs.acl(Path::new("/ws"), Acl::Access).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn a_canonical_path_that_is_not_utf8_has_no_identity() {
        use std::os::unix::ffi::OsStrExt;
        let fs = Memory::new();
        let bad = Path::new(std::ffi::OsStr::from_bytes(b"/ws-\xff"));
        fs.directory(bad);
        fs.symlink("/good", bad);
        assert_eq!(posix(&fs, Path::new("/"), Path::new("/good")), Err(NoIdentity::NotUtf8));
    }

    #[test]
    fn windows_rules_over_given_facts() {
        let volume = r"\\?\Volume{01234567-89ab-cdef-0123-456789abcdef}\a";
        let directory = || WindowsOpen::Opened { directory: true };
        let path = |p: &str| WindowsFinalPath::Path(Some(p.into()));
        let of = |text: &str, open: WindowsOpen, last: WindowsFinalPath| {
            windows(text, || open, || last).map(|i| i.canonical_path).map_err(NoIdentity::token)
        };
        assert_eq!(of(r"C:\a", directory(), path(volume)), Ok(volume.into()));
        assert_eq!(of(r"\\?\C:\a", directory(), path(volume)), Ok(volume.into()));
        for text in [r"\\?\UNC\host\share", r"\\host\share", r"\\.\C:\x"] {
            assert_eq!(of(text, directory(), path(volume)), Err("network_unsupported"), "{text}");
        }
        assert_eq!(of("//host/share", directory(), path(r"\\?\UNC\host\share")), Err("network_unsupported"));
        assert_eq!(of(r"Z:\a", directory(), WindowsFinalPath::PathNotFound), Err("network_unsupported"));
        assert_eq!(of(r"C:\a", WindowsOpen::NotFound, path(volume)), Err("not_found"));
        assert_eq!(of(r"C:\a", WindowsOpen::Failed, path(volume)), Err("io_error"));
        assert_eq!(of(r"C:\a", WindowsOpen::Opened { directory: false }, path(volume)), Err("not_directory"));
        assert_eq!(of(r"C:\a", directory(), path(r"C:\a")), Err("identity_unavailable"));
        assert_eq!(of(r"C:\a", directory(), WindowsFinalPath::Failed), Err("identity_unavailable"));
        assert_eq!(of(r"C:\a", directory(), WindowsFinalPath::Path(None)), Err("identity_unavailable"));
        // What a listing calls it when the header of a transcript names such a directory.
        let listing = |text: &str, last| windows(text, directory, || last).map_err(NoIdentity::candidate_code).unwrap_err();
        assert_eq!(listing(r"\\host\share", path(volume)), "cwd_network_unsupported");
        assert_eq!(listing(r"C:\a", WindowsFinalPath::Failed), "cwd_identity_unavailable");
    }

    #[test]
    fn a_storage_root_keeps_its_missing_tail() {
        let fs = Memory::new();
        fs.directory("/data/agent");
        fs.symlink("/home", "/data");
        fs.symlink("/loop", "loop");
        let of = |text: &str| canonical_root(&fs, Path::new(text));
        assert_eq!(of("/home/agent/sessions"), Path::new("/data/agent/sessions"));
        assert_eq!(of("/home/a/b/c"), Path::new("/data/a/b/c"));
        assert_eq!(of("/loop/sessions"), Path::new("/loop/sessions"));
    }

    #[test]
    fn every_failure_has_its_three_names() {
        assert_eq!(NoIdentity::NotFound.scope_error(), "cwd_missing");
        assert_eq!(NoIdentity::NotDirectory.scope_error(), "cwd_not_directory");
        assert_eq!(NoIdentity::NotUtf8.scope_error(), "identity_unavailable");
        assert_eq!(NoIdentity::NetworkUnsupported.scope_error(), "network_unsupported");
        assert_eq!(NoIdentity::IoError.candidate_code(), "cwd_io_error");
        assert_eq!(NoIdentity::NotFound.candidate_code(), "cwd_not_found");
    }
}
