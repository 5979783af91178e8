//! Recipes: trees that no repository can hold, made in memory step by step. Owners, modes, times, inodes, ACL facts, sizes
//! of gigabytes, fifty thousand names, a disk that fails, a file that changes while it is read.
//!
//! Texts and paths may hold placeholders; [`super::placeholder`] has the list.

use super::clean;
use super::placeholder::{Scribe, scope_path};
use crate::agent::identity::{Identity, Platform};
use crate::fsys::host::{Liveness, Observation, Signal};
use crate::fsys::{Acl, Call, DaclEntry, Errno, Fs, Inject, Kind, Memory, NativeAcl, Phase, errno_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A tree and how it is checked.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Recipe {
    /// What the steps begin with.
    #[serde(default)]
    pub base: Base,
    /// What is made of it, in order.
    pub steps: Vec<Step>,
    /// What happens while the check runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub during: Vec<Event>,
    /// The host that the check runs on (default: named `host`, of boot `boot`, on which no process runs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// What is checked (default: the agent directory `/a`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// How it is checked.
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    pub settings: Settings,
}

/// What a recipe begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Base {
    /// The workspace `/ws`, and the agent directory `/a` with its scope: canonical binding, protocol directories, and the healthy
    /// transcript of session `s1`.
    #[default]
    Clean,
    /// The directory `/` alone.
    Empty,
}

/// How the tree is checked, where it is not as usual.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Settings {
    /// The blob store that the user names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blobs: Option<String>,
    /// `--assume-root`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assume_root: Option<String>,
    /// The effective user (default: 1000, who owns whatever a recipe makes).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// `--as-uid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_uid: Option<u32>,
    /// Seconds between the making of the tree and the check (default: none).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later: Option<i64>,
    /// The home directory of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// The temp directory of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temp: Option<String>,
    /// Bytes that a rebuilt context may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// Text of the settings file `gjc-fsck.toml` that is in force: severities and the skip list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
}

impl Settings {
    fn is_default(&self) -> bool {
        *self == Settings::default()
    }
}

/// One step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Step {
    /// A file of mode 0600. What stands there goes.
    File {
        /// Where.
        path: String,
        /// Its bytes.
        content: Content,
        /// What is not as usual about it.
        #[serde(default, skip_serializing_if = "Facts::is_default")]
        facts: Facts,
    },
    /// A file of so many zero bytes that takes no room.
    Sparse {
        /// Where.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// A directory of mode 0700. One that exists stays.
    Directory {
        /// Where.
        path: String,
        /// What is not as usual about it.
        #[serde(default, skip_serializing_if = "Facts::is_default")]
        facts: Facts,
    },
    /// A symlink.
    Symlink {
        /// Where.
        path: String,
        /// Where it points to.
        target: String,
    },
    /// A second name for a file.
    HardLink {
        /// The new name.
        path: String,
        /// The file.
        target: String,
    },
    /// A FIFO, a socket or a device.
    Special {
        /// Where.
        path: String,
        /// Which.
        kind: Special,
    },
    /// Takes a name away, with everything below it.
    Remove {
        /// Which.
        path: String,
    },
    /// Gives an object another name.
    Rename {
        /// Its name.
        path: String,
        /// The new one.
        to: String,
    },
    /// Writes to the end of a file.
    Append {
        /// Which.
        path: String,
        /// What.
        content: Content,
    },
    /// Cuts a file.
    Truncate {
        /// Which.
        path: String,
        /// Bytes that stay.
        bytes: u64,
    },
    /// Puts one text in place of another one, at its first place in a file. It must be there.
    Replace {
        /// Which file.
        path: String,
        /// The text.
        from: String,
        /// What comes in its place.
        to: String,
    },
    /// Sets facts of an object.
    Facts {
        /// Which.
        path: String,
        /// What.
        facts: Facts,
    },
    /// Decides what questions about an ACL are answered.
    Acl {
        /// Which object; everything that there is when it is left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// Which ACL; both when it is left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        which: Option<WhichAcl>,
        /// The answer: the bytes of the attribute, or an errno.
        answer: AclAnswer,
    },
    /// Decides what a question about the access rules of macOS or Windows is answered. Where one is answered, nobody asks for the
    /// ACLs of Linux.
    NativeAcl {
        /// Which object; everything that there is when it is left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The answer: the list, or an errno.
        answer: NativeAnswer,
    },
    /// Does steps many times; `{{i}}` counts from 1.
    Repeat {
        /// How often.
        times: u64,
        /// What.
        steps: Vec<Step>,
    },
}

/// The bytes of a file: a text, or parts one behind the other.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Content {
    /// A text.
    Text(String),
    /// Parts.
    Parts(Vec<Part>),
}

/// A part of the bytes of a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A text.
    Text(String),
    /// Bytes, in Base64.
    Base64(String),
    /// One text so many times.
    Fill {
        /// The text, without placeholders.
        text: String,
        /// How often.
        times: u64,
    },
    /// Parts many times; `{{i}}` counts from 1, and `{{i-1}}` is one less.
    Repeat {
        /// How often.
        times: u64,
        /// What.
        parts: Vec<Part>,
    },
}

/// Facts of an object.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Facts {
    /// Permission bits, in octal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// Group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
    /// Device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dev: Option<u64>,
    /// Inode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ino: Option<u64>,
    /// Number of names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nlink: Option<u64>,
    /// Time of the last change of the content, in nanoseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtime: Option<i64>,
    /// Time of the last change of the facts, in nanoseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ctime: Option<i64>,
    /// The size that is told, whatever the file holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl Facts {
    fn is_default(&self) -> bool {
        *self == Facts::default()
    }
}

/// What is neither file, directory nor link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Special {
    /// A FIFO.
    Fifo,
    /// A socket.
    Socket,
    /// A block or character device.
    Device,
}

/// Which ACL of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhichAcl {
    /// The one that decides who may do what.
    Access,
    /// The one that new objects in a directory get.
    Default,
}

/// What a question about an ACL is answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AclAnswer {
    /// The attribute has so many bytes.
    Bytes(u64),
    /// `EACCES`, `ENOTSUP`, …
    Errno(String),
}

/// What a question about the access rules of macOS or Windows is answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NativeAnswer {
    /// macOS: the extended ACL has so many entries.
    Extended(u64),
    /// Windows: the DACL.
    Dacl(Dacl),
    /// macOS: `EIO`, …
    Errno(String),
}

/// A Windows DACL.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Dacl {
    /// Nothing is inherited from above.
    pub protected: bool,
    /// Its entries; left out for an object without a list, to which everybody may do everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<Ace>>,
}

/// An entry of a Windows DACL.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ace {
    /// It allows; otherwise it denies.
    pub allows: bool,
    /// It is about the user; otherwise about somebody else.
    pub of_user: bool,
    /// Access mask, in hexadecimal digits (`1f01ff` = everything).
    pub mask: String,
    /// Inheritance flags (3 = by files and directories below, 0 = by nothing).
    pub flags: u8,
}

impl NativeAnswer {
    fn answer(&self) -> Result<Result<Option<NativeAcl>, Errno>, Mistake> {
        let entry = |ace: &Ace| {
            let mask = u32::from_str_radix(&ace.mask, 16).map_err(|_| Mistake::Text(ace.mask.clone(), "mask (hexadecimal digits)"))?;
            Ok(DaclEntry { allows: ace.allows, of_user: ace.of_user, mask, flags: ace.flags })
        };
        Ok(match self {
            NativeAnswer::Extended(entries) => Ok(Some(NativeAcl::Extended(usize::try_from(*entries).unwrap_or(usize::MAX)))),
            NativeAnswer::Dacl(dacl) => {
                let entries = dacl.entries.as_ref().map(|all| all.iter().map(entry).collect::<Result<_, Mistake>>()).transpose()?;
                Ok(Some(NativeAcl::Dacl { protected: dacl.protected, entries }))
            }
            NativeAnswer::Errno(name) => Err(errno(name)?),
        })
    }
}

/// Something that happens while the check runs: around every operation that it names.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Event {
    /// The operation: `open`, `read`, `fstat`, `lstat`, `opendir`, `readdir`, `readlink`, `getxattr`, `getacl`, …; any when it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Its object; any when it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Behind the operation instead of before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after: bool,
    /// So many such operations pass first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skip: u64,
    /// So many times; every time when it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// The operation fails with this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errno: Option<String>,
    /// The tree changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What can be observed of the host and its processes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Host {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// Pids in use, and the incarnation of each (`linux:<start ticks>`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub running: BTreeMap<u32, String>,
}

impl Default for Host {
    fn default() -> Self {
        Host { name: Some("host".to_owned()), boot: Some("boot".to_owned()), running: BTreeMap::new() }
    }
}

impl Liveness for Host {
    fn boot_id(&self) -> Option<String> {
        self.boot.clone()
    }
    fn host(&self) -> Option<String> {
        self.name.clone()
    }
    fn signal(&self, pid: f64) -> Signal {
        if pid.fract() != 0.0 || !(1.0..=f64::from(i32::MAX)).contains(&pid) {
            return Signal::Unknown;
        }
        let in_use = self.running.keys().any(|running| f64::from(*running) == pid);
        if in_use { Signal::InUse } else { Signal::NoSuchProcess }
    }
    fn observe(&self, pid: u32) -> Observation {
        self.running.get(&pid).map_or(Observation::Absent, |incarnation| Observation::Present(incarnation.clone()))
    }
}

/// Why a recipe makes no tree.
#[derive(Debug, thiserror::Error)]
pub enum Mistake {
    /// A placeholder that does not exist, or names nothing.
    #[error("`{{{{{0}}}}}` is no placeholder, or what it names is not there")]
    Placeholder(String),
    /// A text that is not what it should be.
    #[error("{0:?} is no {1}")]
    Text(String, &'static str),
    /// A file that a step changes is not there, or holds something else.
    #[error("{0}: {1}")]
    File(String, &'static str),
    /// More than a recipe may ask for.
    #[error("the recipe asks for more than {MOST_BYTES} bytes or {MOST_STEPS} steps")]
    TooMuch,
}

/// Bytes that all files of a recipe may have together: as many as gjc's largest file, and some.
pub const MOST_BYTES: u64 = 1 << 29;
/// Steps that a recipe may come to.
pub const MOST_STEPS: u64 = 1_000_000;
/// Repetitions inside repetitions; what is deeper is refused by the reader of JSON too.
const DEEPEST: usize = 16;

/// The workspace of the clean base.
pub const WORKSPACE: &str = "/ws";
/// The agent directory of the clean base.
pub const AGENT: &str = "/a";
/// When the tree is made.
const MADE_NS: i128 = 1_700_000_000_000_000_000;

impl Recipe {
    /// Makes the tree.
    ///
    /// # Errors
    /// A mistake of the recipe.
    pub fn make(&self) -> Result<Memory, Mistake> {
        self.make_below("")
    }
    /// Makes the tree below a folder (an absolute path): placeholders and paths are those of that place; what texts say in so
    /// many words stays.
    ///
    /// # Errors
    /// A mistake of the recipe.
    pub fn make_below(&self, root: &str) -> Result<Memory, Mistake> {
        let fs = Memory::new();
        if self.base == Base::Clean {
            clean_base(&fs, root);
        }
        Maker { fs: &fs, root, bytes: 0, steps: 0 }.steps(&self.steps, None, 0)?;
        Ok(fs)
    }
    /// True when an ordinary user can make the tree on a disk and it is then what it was: nothing of it depends on facts,
    /// events or processes.
    pub fn is_ordinary(&self) -> bool {
        fn ordinary(step: &Step) -> bool {
            let plain = |facts: &Facts| *facts == Facts { mode: facts.mode.clone(), ..Facts::default() };
            match step {
                Step::File { facts, .. } | Step::Directory { facts, .. } | Step::Facts { facts, .. } => plain(facts),
                Step::Append { .. } | Step::Truncate { .. } | Step::Replace { .. } | Step::Remove { .. } | Step::Rename { .. } => true,
                _ => false,
            }
        }
        self.base == Base::Clean
            && self.target.is_none()
            && self.settings.is_default()
            && self.during.is_empty()
            && self.host.is_none()
            && self.steps.iter().all(ordinary)
    }
    /// What is checked.
    ///
    /// # Errors
    /// A placeholder that does not exist.
    pub fn target(&self, fs: &Memory) -> Result<PathBuf, Mistake> {
        match &self.target {
            None => Ok(AGENT.into()),
            Some(target) => Scribe { fs, root: "", count: None }.path(target),
        }
    }
    /// The tree under a host that plays the events. Every event's errno and path is looked at first.
    ///
    /// # Errors
    /// A mistake of the recipe.
    pub fn playing<'m>(&'m self, fs: &'m Memory, failed: &'m Mutex<Option<Mistake>>) -> Result<Inject<'m>, Mistake> {
        let scribe = Scribe { fs, root: "", count: None };
        let mut cues = Vec::new();
        for event in &self.during {
            let path = event.path.as_deref().map(|path| scribe.path(path)).transpose()?;
            let errno = event.errno.as_deref().map(errno).transpose()?;
            cues.push(Cue { event, path, errno, seen: Mutex::new(0) });
        }
        Ok(Inject::new(fs, move |call| {
            let mut answer = None;
            for cue in &cues {
                match cue.play(fs, call) {
                    Ok(errno) => answer = answer.or(errno),
                    Err(mistake) => {
                        failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(mistake);
                    }
                }
            }
            answer
        }))
    }
    /// The time of the check, in nanoseconds since the epoch.
    pub fn now_ns(&self) -> i128 {
        MADE_NS + i128::from(self.settings.later.unwrap_or(0)) * 1_000_000_000
    }
}

/// An event that waits for its operation.
struct Cue<'r> {
    event: &'r Event,
    path: Option<PathBuf>,
    errno: Option<Errno>,
    seen: Mutex<u64>,
}

impl Cue<'_> {
    fn play(&self, fs: &Memory, call: &Call<'_>) -> Result<Option<Errno>, Mistake> {
        let at = if self.event.after { Phase::After } else { Phase::Before };
        let meant = call.phase == at
            && self.event.op.as_deref().is_none_or(|op| op == call.op)
            && self.path.as_deref().is_none_or(|path| path == call.path);
        if !meant {
            return Ok(None);
        }
        {
            let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *seen += 1;
            let turn = *seen;
            if turn <= self.event.skip || self.event.times.is_some_and(|times| turn - self.event.skip > times) {
                return Ok(None);
            }
        }
        Maker { fs, root: "", bytes: 0, steps: 0 }.steps(&self.event.steps, None, 0)?;
        Ok(self.errno)
    }
}

fn clean_base(fs: &Memory, root: &str) {
    let workspace = Identity { platform: Platform::Posix, canonical_path: format!("{root}{WORKSPACE}") };
    fs.directory(&workspace.canonical_path);
    fs.directory(format!("{root}{AGENT}"));
    let name = clean::name("s1");
    let text = clean::transcript("s1", &workspace.canonical_path, "");
    fs.plant(scope_path(root), &clean::scope(&workspace, [(name.as_str(), text.as_str())]));
}

/// Makes steps, within bounds.
struct Maker<'m> {
    fs: &'m Memory,
    root: &'m str,
    bytes: u64,
    steps: u64,
}

impl Maker<'_> {
    fn steps(&mut self, steps: &[Step], count: Option<u64>, depth: usize) -> Result<(), Mistake> {
        for step in steps {
            self.steps += 1;
            if self.steps > MOST_STEPS || depth > DEEPEST {
                return Err(Mistake::TooMuch);
            }
            match step {
                // As deep as the recipe is nested, which is bounded.
                Step::Repeat { times, steps } => {
                    for turn in 1..=*times {
                        self.steps(steps, Some(turn), depth + 1)?;
                    }
                }
                step => self.step(step, count)?,
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, count: Option<u64>) -> Result<(), Mistake> {
        let fs = self.fs;
        let scribe = Scribe { fs, root: self.root, count };
        match step {
            Step::File { path, content, facts } => {
                let path = scribe.path(path)?;
                let bytes = self.content(content, count)?;
                fs.remove(&path);
                fs.file(&path, &bytes);
                set(fs, &path, facts)?;
            }
            Step::Sparse { path, bytes } => fs.sparse(scribe.path(path)?, *bytes),
            Step::Directory { path, facts } => {
                let path = scribe.path(path)?;
                fs.directory(&path);
                set(fs, &path, facts)?;
            }
            Step::Symlink { path, target } => fs.symlink(scribe.path(path)?, scribe.path(target)?),
            Step::HardLink { path, target } => fs.hard_link(scribe.path(target)?, scribe.path(path)?),
            Step::Special { path, kind } => fs.special(
                scribe.path(path)?,
                match kind {
                    Special::Fifo => Kind::Fifo,
                    Special::Socket => Kind::Socket,
                    Special::Device => Kind::Device,
                },
            ),
            Step::Remove { path } => fs.remove(there(fs, scribe.path(path)?)?),
            Step::Rename { path, to } => fs.rename(there(fs, scribe.path(path)?)?, scribe.path(to)?),
            Step::Append { path, content } => {
                let bytes = self.content(content, count)?;
                fs.append(there(fs, scribe.path(path)?)?, &bytes);
            }
            Step::Truncate { path, bytes } => {
                fs.truncate(there(fs, scribe.path(path)?)?, usize::try_from(*bytes).unwrap_or(usize::MAX));
            }
            Step::Replace { path, from, to } => {
                let path = scribe.path(path)?;
                let (from, to) = (scribe.bytes(from)?, scribe.bytes(to)?);
                let said = path.display().to_string();
                let bytes = fs.content(&path).ok_or_else(|| Mistake::File(said.clone(), "it is no file"))?;
                let at = memchr::memmem::find(&bytes, &from).ok_or(Mistake::File(said, "the text to replace is not in it"))?;
                let (head, tail) = bytes.split_at(at);
                let edited = [head, &to, tail.get(from.len()..).unwrap_or_default()].concat();
                fs.truncate(&path, 0);
                fs.append(&path, &edited);
            }
            Step::Facts { path, facts } => set(fs, &there(fs, scribe.path(path)?)?, facts)?,
            Step::Acl { path, which, answer } => {
                let answer = match answer {
                    AclAnswer::Bytes(bytes) => Ok(usize::try_from(*bytes).unwrap_or(usize::MAX)),
                    AclAnswer::Errno(name) => Err(errno(name)?),
                };
                for path in meant(fs, &scribe, path.as_deref())? {
                    if *which != Some(WhichAcl::Default) {
                        fs.set_acl(&path, Acl::Access, answer);
                    }
                    if *which != Some(WhichAcl::Access) {
                        fs.set_acl(&path, Acl::Default, answer);
                    }
                }
            }
            Step::NativeAcl { path, answer } => {
                let answer = answer.answer()?;
                for path in meant(fs, &scribe, path.as_deref())? {
                    fs.set_native_acl(&path, answer.clone());
                }
            }
            // `steps` takes these apart.
            Step::Repeat { .. } => {}
        }
        Ok(())
    }

    fn content(&mut self, content: &Content, count: Option<u64>) -> Result<Vec<u8>, Mistake> {
        let mut bytes = Vec::new();
        match content {
            Content::Text(text) => bytes = Scribe { fs: self.fs, root: self.root, count }.bytes(text)?,
            Content::Parts(parts) => self.parts(parts, count, 0, &mut bytes)?,
        }
        self.bytes += bytes.len() as u64;
        if self.bytes > MOST_BYTES { Err(Mistake::TooMuch) } else { Ok(bytes) }
    }

    fn parts(&mut self, parts: &[Part], count: Option<u64>, depth: usize, bytes: &mut Vec<u8>) -> Result<(), Mistake> {
        for part in parts {
            self.steps += 1;
            if self.steps > MOST_STEPS || depth > DEEPEST {
                return Err(Mistake::TooMuch);
            }
            match part {
                Part::Text(text) => bytes.extend(Scribe { fs: self.fs, root: self.root, count }.bytes(text)?),
                Part::Base64(text) => match data_encoding::BASE64.decode(text.as_bytes()) {
                    Ok(decoded) => bytes.extend(decoded),
                    Err(_) => return Err(Mistake::Text(text.clone(), "Base64")),
                },
                Part::Fill { text, times } => {
                    if (text.len() as u64).saturating_mul(*times) > MOST_BYTES {
                        return Err(Mistake::TooMuch);
                    }
                    // As one copy of the whole: a file of a hundred megabytes may be one letter many times.
                    bytes.extend_from_slice(&text.as_bytes().repeat(*times as usize));
                }
                // As deep as the recipe is nested, which is bounded.
                Part::Repeat { times, parts } => {
                    for turn in 1..=*times {
                        self.parts(parts, Some(turn), depth + 1, bytes)?;
                    }
                }
            }
            if bytes.len() as u64 > MOST_BYTES {
                return Err(Mistake::TooMuch);
            }
        }
        Ok(())
    }
}

/// The object that is named, or all that there are.
fn meant(fs: &Memory, scribe: &Scribe<'_>, path: Option<&str>) -> Result<Vec<PathBuf>, Mistake> {
    match path {
        Some(path) => Ok(vec![there(fs, scribe.path(path)?)?]),
        None => Ok(fs.snapshot().into_iter().map(|(path, _)| path).collect()),
    }
}

/// The path, when something stands there: a step that changes nothing is a slip of the pen.
fn there(fs: &Memory, path: PathBuf) -> Result<PathBuf, Mistake> {
    match fs.lstat(&path) {
        Ok(_) => Ok(path),
        Err(_) => Err(Mistake::File(path.display().to_string(), "nothing stands there")),
    }
}

fn errno(name: &str) -> Result<Errno, Mistake> {
    errno_of(name).ok_or_else(|| Mistake::Text(name.to_owned(), "errno"))
}

fn set(fs: &Memory, path: &Path, facts: &Facts) -> Result<(), Mistake> {
    let mode = match &facts.mode {
        None => None,
        Some(text) => Some(u32::from_str_radix(text, 8).map_err(|_| Mistake::Text(text.clone(), "mode (octal digits)"))?),
    };
    if let Some(ino) = facts.ino {
        fs.renumber(path, ino);
    }
    fs.set(path, |meta| {
        meta.mode = mode.unwrap_or(meta.mode);
        meta.uid = facts.uid.unwrap_or(meta.uid);
        meta.gid = facts.gid.unwrap_or(meta.gid);
        meta.dev = facts.dev.unwrap_or(meta.dev);
        meta.nlink = facts.nlink.unwrap_or(meta.nlink);
        meta.mtime_ns = facts.mtime.map_or(meta.mtime_ns, i128::from);
        meta.ctime_ns = facts.ctime.map_or(meta.ctime_ns, i128::from);
        meta.size = facts.size.unwrap_or(meta.size);
    });
    Ok(())
}
