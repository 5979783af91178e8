//! What the tests of repair share: a clock that only runs when somebody waits, a host of chosen processes, and looks at a tree.

use gjc_fsck::agent::world::World;
use gjc_fsck::fsys::Change;
use gjc_fsck::fsys::host::{Liveness, Observation, Signal};
use gjc_fsck::repair::outside::uuid_of;
use gjc_fsck::repair::{Ground, Outside};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A clock that runs when somebody waits, and UUIDs in order.
pub struct Clock {
    now_ms: AtomicU64,
    ids: AtomicU64,
    pid: u32,
    process: String,
}

impl Clock {
    pub fn new(now_ms: u64, pid: u32) -> Self {
        let process = uuid_of(u128::from(pid));
        Clock { now_ms: AtomicU64::new(now_ms), ids: AtomicU64::new(u64::from(pid) << 32), pid, process }
    }
    pub fn forward(&self, ms: u64) {
        self.now_ms.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Outside for Clock {
    fn now_ms(&self) -> u64 {
        self.now_ms.load(Ordering::SeqCst)
    }
    fn uuid(&self) -> String {
        uuid_of(u128::from(self.ids.fetch_add(1, Ordering::SeqCst)) << 80)
    }
    fn wait(&self, ms: u64) {
        self.forward(ms);
    }
    fn pid(&self) -> u32 {
        self.pid
    }
    fn process_start_id(&self) -> &str {
        &self.process
    }
}

/// A host on which nothing runs, booted once.
pub struct NothingRuns;

impl Liveness for NothingRuns {
    fn boot_id(&self) -> Option<String> {
        Some("1b054e45-6d41-4911-8057-81f07a9118a2".to_owned())
    }
    fn host(&self) -> Option<String> {
        Some("here".to_owned())
    }
    fn signal(&self, _: f64) -> Signal {
        Signal::NoSuchProcess
    }
    fn observe(&self, _: u32) -> Observation {
        Observation::Absent
    }
}

pub fn ground<'a>(fs: &'a dyn Change, world: World<'a>, outside: &'a dyn Outside) -> Ground<'a> {
    Ground { fs, world, outside }
}

/// Everything of one object but its access time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    pub object: (u64, u64),
    pub mode: u32,
    pub links: u64,
    pub size: u64,
    pub modified: (i64, i64),
    pub changed: (i64, i64),
    pub bytes: Vec<u8>,
}

/// Every object below a directory.
pub fn snapshot(root: &Path) -> BTreeMap<PathBuf, Facts> {
    let mut all = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(path) = pending.pop() {
        let meta = std::fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            pending.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        let bytes = if meta.is_file() && meta.len() < 1 << 20 { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
        let facts = Facts {
            object: (meta.dev(), meta.ino()),
            mode: meta.mode(),
            links: meta.nlink(),
            size: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
            bytes,
        };
        all.insert(path, facts);
    }
    all
}

/// Where trees are made that are synced again and again: in memory, where there is such a place.
pub fn quick() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let usable = memory.is_dir() && tempfile::tempdir_in(&memory).is_ok();
    if usable { memory } else { std::env::temp_dir() }
}

/// Does each once, by as many threads as there are processors. (A run waits for a thread pool of its own: a thread of the common
/// pool would begin other runs meanwhile, one inside the other.)
pub fn in_all_threads<T: Sync>(all: &[T], each: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    each(one);
                }
            });
        }
    });
}
