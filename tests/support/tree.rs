//! Tree cases made real: a recipe of `tests/vectors/trees` becomes a directory tree (format: the README there, sections 2
//! to 4): nodes, placeholders, and what an `apply` question does.

use gjc_fsck::agent::identity::{Identity, Platform};
use gjc_fsck::agent::legacy::{PathRules, Surroundings};
use gjc_fsck::agent::world::World;
use gjc_fsck::check::run::Options;
use gjc_fsck::finding::Release;
use gjc_fsck::fsys::Real;
use gjc_fsck::fsys::host::{Liveness, Observation, ThisHost};
use rustix::fs::{CWD, FileType, Mode, XattrFlags, mknodat, setxattr};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Seek, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A tree below a fresh root, removed when dropped.
pub struct Tree {
    /// The real path of the root.
    pub root: PathBuf,
    aliases: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
    /// Operation names that expectations use, computed before the first question.
    frozen: BTreeMap<String, String>,
}

impl Drop for Tree {
    fn drop(&mut self) {
        // Directories of mode 0500 cannot be emptied by an ordinary user.
        let _ = fs::remove_dir_all(&self.root).or_else(|_| {
            make_writable(&self.root);
            fs::remove_dir_all(&self.root)
        });
    }
}

fn make_writable(directory: &Path) {
    let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

impl Tree {
    #[allow(dead_code, reason = "not every suite makes an empty one")]
    /// An empty root with `home`, `tmp`, the workspaces, and the agent directory unless a node makes it.
    pub fn new(workspaces: &[&str], nodes_make_agent: bool) -> Tree {
        Tree::new_in(&std::env::temp_dir(), workspaces, nodes_make_agent)
    }

    /// The same below this directory.
    pub fn new_in(below: &Path, workspaces: &[&str], nodes_make_agent: bool) -> Tree {
        let base = tempfile::Builder::new().prefix("gjct").tempdir_in(below).expect("a temp directory").keep();
        let root = fs::canonicalize(base).expect("the temp directory resolves");
        let tree = Tree { root, aliases: BTreeMap::new(), variables: BTreeMap::new(), frozen: BTreeMap::new() };
        tree.directory(Path::new("home"), 0o755);
        tree.directory(Path::new("tmp"), 0o755);
        for workspace in workspaces {
            tree.directory(Path::new(workspace), 0o755);
        }
        if !nodes_make_agent {
            tree.directory(Path::new("agent"), 0o700);
        }
        tree
    }

    /// The tree of a case, with the operation names that its expectations use.
    pub fn of_case(case: &Value) -> Tree {
        Tree::of_case_in(&std::env::temp_dir(), case)
    }

    /// The same below this directory.
    pub fn of_case_in(below: &Path, case: &Value) -> Tree {
        let nodes = case["nodes"].as_array().expect("a case has nodes");
        let workspaces: Vec<&str> = case["workspaces"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut tree = Tree::new_in(below, &workspaces, nodes.iter().any(|node| node["path"] == "agent"));
        tree.apply(nodes);
        let mut frozen = BTreeMap::new();
        for text in strings(&case["expect"]) {
            tree.freeze(&text, &mut frozen);
        }
        tree.frozen = frozen;
        tree
    }

    /// Makes nodes, in order.
    pub fn apply(&mut self, nodes: &[Value]) {
        for node in nodes {
            self.node(node);
        }
    }

    fn directory(&self, below: &Path, mode: u32) {
        let mut at = self.root.clone();
        for part in below {
            at.push(part);
            match fs::create_dir(&at) {
                Ok(()) => chmod(&at, mode),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => panic!("mkdir {}: {error}", at.display()),
            }
        }
    }
    fn parents_of(&self, path: &Path) {
        if let Some(parent) = path.parent().and_then(|parent| parent.strip_prefix(&self.root).ok()) {
            self.directory(parent, 0o700);
        }
    }

    fn node(&mut self, node: &Value) {
        let text = |key: &str| node[key].as_str();
        let kind = text("type").expect("a node has a type");
        if kind == "let" {
            let value = self.expand(text("value").expect("let has a value"));
            self.variables.insert(text("name").expect("let has a name").to_owned(), value);
            return;
        }
        let relative = self.expand(text("path").expect("a node has a path"));
        let mut path = self.root.join(&relative);
        if let Some(name) = text("nameB64") {
            let name = data_encoding::BASE64.decode(name.as_bytes()).expect("nameB64 is Base64");
            path = PathBuf::from(std::ffi::OsString::from_vec([path.as_os_str().as_bytes(), &name].concat()));
        }
        let mode = text("mode").map(|mode| u32::from_str_radix(mode, 8).expect("a mode is octal"));
        let target = || self.expand(text("target").expect("this node has a target"));
        match kind {
            "dir" => {
                self.parents_of(&path);
                match fs::create_dir(&path) {
                    Ok(()) => chmod(&path, mode.unwrap_or(0o700)),
                    Err(_) if path.is_dir() => {
                        if let Some(mode) = mode {
                            chmod(&path, mode);
                        }
                    }
                    Err(error) => panic!("mkdir {}: {error}", path.display()),
                }
            }
            "file" => {
                self.parents_of(&path);
                let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&path).expect("the file is new");
                self.content(node, &mut file);
                chmod(&path, mode.unwrap_or(0o600));
            }
            "symlink" => {
                self.parents_of(&path);
                std::os::unix::fs::symlink(target(), &path).expect("symlink");
            }
            "hardlink" => {
                self.parents_of(&path);
                fs::hard_link(self.root.join(target()), &path).expect("link");
            }
            "fifo" => {
                self.parents_of(&path);
                mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("mkfifo");
                chmod(&path, mode.unwrap_or(0o600));
            }
            "chmod" => chmod(&path, mode.expect("chmod has a mode")),
            "touch" => {}
            "write" => {
                let mut file = fs::OpenOptions::new().write(true).open(&path).expect("write to an existing file");
                self.content(node, &mut file);
                let end = file.stream_position().expect("position");
                file.set_len(end).expect("truncate");
            }
            "append" => {
                let mut file = fs::OpenOptions::new().append(true).open(&path).expect("append to an existing file");
                self.content(node, &mut file);
            }
            "extend" => {
                let file = fs::OpenOptions::new().write(true).open(&path).expect("extend an existing file");
                file.set_len(node["size"].as_u64().expect("extend has a size")).expect("ftruncate");
            }
            "rename" => {
                let from = self.root.join(target());
                fs::rename(from, &path).expect("rename");
            }
            "remove" => match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_dir() => fs::remove_dir_all(&path).expect("remove"),
                _ => fs::remove_file(&path).expect("remove"),
            },
            "absent" => {}
            "acl" => {
                let bytes = data_encoding::BASE64.decode(text("b64").expect("acl has b64").as_bytes()).expect("Base64");
                setxattr(&path, text("attr").expect("acl has attr"), &bytes, XattrFlags::empty()).expect("setxattr");
            }
            other => panic!("unknown node type {other}"),
        }
        if let Some(seconds) = node["mtime"].as_i64() {
            let time = rustix::fs::Timespec { tv_sec: seconds, tv_nsec: 0 };
            let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
            rustix::fs::utimensat(CWD, &path, &times, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).expect("utimensat");
        }
        if let Some(alias) = text("as") {
            self.aliases.insert(alias.to_owned(), relative);
        }
    }

    /// Writes the content of a node.
    fn content(&self, node: &Value, out: &mut fs::File) {
        let parts = node["parts"].as_array().map_or_else(|| vec![node.clone()], Clone::clone);
        let mut written = 0_u64;
        for part in &parts {
            written += if let Some(text) = part["text"].as_str() {
                write_all(out, self.expand(text).as_bytes())
            } else if let Some(base64) = part["b64"].as_str() {
                write_all(out, &data_encoding::BASE64.decode(base64.as_bytes()).expect("b64 is Base64"))
            } else if let Some(fill) = part.get("fill") {
                write_fill(out, byte_of(fill), fill["count"].as_u64().expect("fill has a count"))
            } else if let Some(pad) = part.get("padTo") {
                write_fill(out, byte_of(pad), pad["size"].as_u64().expect("padTo has a size").saturating_sub(written))
            } else {
                panic!("a node without content: {part}");
            };
        }
    }

    /// Replaces every placeholder by what the file system says now.
    pub fn expand(&self, text: &str) -> String {
        self.try_expand(text).unwrap_or_else(|why| panic!("{why} in {text:.200}"))
    }
    /// As [`Tree::expand`]; a placeholder that cannot be read is an error.
    pub fn try_expand(&self, text: &str) -> Result<String, String> {
        let mut text = text.to_owned();
        while let Some((from, to, kind, argument)) = placeholder(&text) {
            let value = match (kind.as_str(), self.frozen.get(&argument)) {
                ("opname", Some(frozen)) => frozen.clone(),
                _ => self.value(&kind, &argument)?,
            };
            text.replace_range(from..to, &value);
        }
        Ok(text)
    }
    /// Computes the operation names in a text of an expectation.
    fn freeze(&self, text: &str, frozen: &mut BTreeMap<String, String>) {
        let mut text = text.to_owned();
        while let Some((from, to, kind, argument)) = placeholder(&text) {
            let Ok(value) = self.value(&kind, &argument) else { return };
            if kind == "opname" {
                frozen.insert(argument, value.clone());
            }
            text.replace_range(from..to, &value);
        }
    }

    fn value(&self, kind: &str, argument: &str) -> Result<String, String> {
        let relative = match argument.strip_prefix('@') {
            Some(alias) => self.aliases.get(alias).ok_or_else(|| format!("no alias {alias}"))?.as_str(),
            None => argument,
        };
        let plain = if relative == "." { self.root.clone() } else { self.root.join(relative) };
        let resolved = || fs::canonicalize(&plain).unwrap_or_else(|_| plain.clone());
        let spelled = |path: &Path| path.to_str().expect("roots are UTF-8").to_owned();
        let meta = || fs::symlink_metadata(&plain).map_err(|error| format!("{kind} of {relative}: {error}"));
        let dashes = |text: &str| text.replace(['/', '\\', ':'], "-");
        Ok(match kind {
            "root" => spelled(&self.root),
            "digest" => Identity { platform: Platform::Posix, canonical_path: spelled(&resolved()) }.digest_text(),
            "legacy" => format!("--{}--", dashes(spelled(&resolved()).trim_start_matches('/'))),
            "legacylex" => format!("--{}--", dashes(spelled(&plain).trim_start_matches('/'))),
            "enc" => dashes(&spelled(&plain)),
            "dev" => meta()?.dev().to_string(),
            "ino" => meta()?.ino().to_string(),
            "devhex" => format!("{:x}", meta()?.dev()),
            "inohex" => format!("{:x}", meta()?.ino()),
            "nlink" => meta()?.nlink().to_string(),
            "size" => meta()?.len().to_string(),
            "mtimeNs" => nanoseconds(meta()?.mtime(), meta()?.mtime_nsec()).to_string(),
            "ctimeNs" => nanoseconds(meta()?.ctime(), meta()?.ctime_nsec()).to_string(),
            "mtimeMs" => nanoseconds(meta()?.mtime(), meta()?.mtime_nsec()).div_euclid(1_000_000).to_string(),
            "sha256" => sha256_of(&plain)?,
            "sha256text" => hex(&Sha256::digest(argument.as_bytes())),
            "utf8hex" => hex(argument.as_bytes()),
            "opname" => {
                let meta = meta()?;
                let mtime = nanoseconds(meta.mtime(), meta.mtime_nsec());
                let text = format!("{}\0{}\0{}\0{}\0{mtime}\0{}", spelled(&plain), meta.dev(), meta.ino(), meta.len(), sha256_of(&plain)?);
                hex(&Sha256::digest(text.as_bytes()))
            }
            "uid" => rustix::process::geteuid().as_raw().to_string(),
            "bootid" => ThisHost.boot_id().ok_or("no boot id")?,
            "hostname" => ThisHost.host().ok_or("no host name")?,
            "pid" if argument == "dead" => "2147483646".to_owned(),
            "pid" => std::process::id().to_string(),
            "incarnation" => match ThisHost.observe(std::process::id()) {
                Observation::Present(incarnation) => incarnation,
                other => return Err(format!("this process cannot be observed: {other:?}")),
            },
            "now" => {
                let plus: i64 = argument.trim_start_matches('+').parse().unwrap_or(0);
                (now_ms() as i64 + plus).to_string()
            }
            "var" => self.variables.get(argument).ok_or_else(|| format!("no variable {argument}"))?.clone(),
            other => return Err(format!("unknown placeholder {other}")),
        })
    }
}

/// The world of a tree at `root`, on the real file system.
#[allow(dead_code, reason = "not every suite that builds trees asks one")]
pub fn real_world(root: &Path, release: Release, now_ms: u64) -> World<'static> {
    let spelled = |name: &str| root.join(name).to_string_lossy().into_owned();
    let real =
        |name: &str| std::fs::canonicalize(root.join(name)).map_or_else(|_| spelled(name), |path| path.to_string_lossy().into_owned());
    World {
        fs: &Real,
        host: &ThisHost,
        now_ms,
        uid: rustix::process::geteuid().as_raw(),
        release,
        current_dir: root.to_owned(),
        agent_dir: root.join("agent"),
        sessions_root: root.join("agent/sessions"),
        around: Surroundings {
            rules: PathRules::Posix,
            home: spelled("home"),
            home_real: real("home"),
            temp: spelled("tmp"),
            temp_real: real("tmp"),
        },
        context_budget: gjc_fsck::transcript::context::budget::DEFAULT,
        is_copy: false,
    }
}

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// The folder of the recorded cases; `GJC_FSCK_VECTORS` names the one above it.
#[allow(dead_code, reason = "not every suite that builds trees reads all of them")]
pub fn recorded() -> PathBuf {
    let vectors =
        std::env::var_os("GJC_FSCK_VECTORS").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"), PathBuf::from);
    vectors.join("trees")
}

/// A check now, by this user, with so many threads.
#[allow(dead_code, reason = "not every suite that builds trees checks them")]
pub fn checking(release: Release, jobs: usize) -> Options {
    Options { jobs: Some(jobs), ..Options::new(release, rustix::process::geteuid().as_raw(), i128::from(now_ms()) * 1_000_000) }
}

/// All strings inside a JSON value.
pub fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(members) => members.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// The first innermost placeholder: where it stands, its kind and its argument.
fn placeholder(text: &str) -> Option<(usize, usize, String, String)> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find("{{") {
        let start = from + at;
        let body = text.get(start + 2..)?;
        if let Some(end) = body.find(['{', '}'])
            && body.get(end..)?.starts_with("}}")
        {
            let (kind, argument) = body.get(..end)?.split_once(':').unwrap_or((body.get(..end)?, ""));
            if !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                return Some((start, start + 2 + end + 2, kind.to_owned(), argument.to_owned()));
            }
        }
        from = start + 1;
    }
    None
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap_or_else(|error| panic!("chmod {}: {error}", path.display()));
}
fn write_all(out: &mut fs::File, bytes: &[u8]) -> u64 {
    out.write_all(bytes).expect("write");
    bytes.len() as u64
}
fn write_fill(out: &mut fs::File, byte: u8, count: u64) -> u64 {
    let block = vec![byte; 1 << 20];
    let mut left = count;
    while left > 0 {
        let take = left.min(block.len() as u64);
        out.write_all(&block[..take as usize]).expect("write");
        left -= take;
    }
    count
}
fn byte_of(part: &Value) -> u8 {
    u8::try_from(part["byte"].as_u64().expect("a byte")).expect("a byte")
}
fn nanoseconds(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}
fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}
fn sha256_of(path: &Path) -> Result<String, String> {
    let mut file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32)
        .open(path)
        .map_err(|error| format!("sha256 of {}: {error}", OsStr::to_string_lossy(path.as_os_str())))?;
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 20];
    loop {
        match file.read(&mut block).map_err(|error| error.to_string())? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&block[..read]),
        }
    }
}
