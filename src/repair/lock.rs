//! The lock of one migration: acquire, renew, release (spec 02 §6.2).
//!
//! The record is complete and durable before it gets the lock's name. While the lock is held the record carries so many spaces
//! behind its JSON that the released record is just as long: renewing and releasing write over the same bytes of the same
//! sector through the descriptor that is kept, so that no crash leaves an empty or torn lock, and no successor's lock can be
//! written to.

use super::store::{NotPublished, Store};
use super::{Outside, Refused, failed};
use crate::agent::layout;
use crate::agent::lock::{LEASE_MS, Lock, PATIENCE_MS, Standing, parse};
use crate::agent::security::{self, Need};
use crate::agent::world::Scope;
use crate::fsys::host::Liveness;
use crate::fsys::{Bound, Captured, Errno, Meta, Refusal, WriteFile, capture};
use crate::json::{JsString, Value};
use std::path::{Path, PathBuf};

/// How long between two looks at a held lock, in milliseconds.
const RETRY_MS: u64 = 50;
/// How old a heartbeat may get, in milliseconds.
const HEARTBEAT_MS: u64 = 10_000;
/// Larger files are no lock records.
const RECORD_LIMIT: u64 = 1 << 20;

/// A lock that is held.
pub struct Held<'a> {
    store: &'a Store<'a>,
    outside: &'a dyn Outside,
    uid: u32,
    path: PathBuf,
    file: Option<Box<dyn WriteFile + 'a>>,
    object: (u64, u64),
    record: Lock,
    length: usize,
}

fn busy(why: impl Into<String>, path: &Path) -> Refused {
    Refused::new("migration_busy", why).at(path)
}

/// The record with spaces before its line feed, so many bytes long.
fn padded(record: &Lock, length: usize) -> Vec<u8> {
    let mut bytes = record.encode();
    bytes.pop();
    bytes.resize(length.saturating_sub(1).max(bytes.len()), b' ');
    bytes.push(b'\n');
    bytes
}

/// Acquires the lock of an operation, waiting for a holder as long as gjc does.
///
/// # Errors
/// `migration_busy`, or the failing operation.
pub fn acquire<'a>(
    store: &'a Store<'a>,
    scope: &Scope,
    operation: &str,
    uid: u32,
    host: &dyn Liveness,
    outside: &'a dyn Outside,
) -> Result<Held<'a>, Refused> {
    let path = scope.protocol(layout::LOCKS).join(format!("{operation}.lock"));
    let mut waited = 0;
    loop {
        let why = match standing(store, &path, host, outside.now_ms())? {
            Found::Free => match create(store, &path, uid, host, outside)? {
                Some(held) => return Ok(held),
                None => "another process was faster".to_owned(),
            },
            Found::Reclaimable(meta) => match store.set_aside(&path, &meta) {
                Ok(_) => continue,
                // A successor has the name by now, or took it away.
                Err(refused) if refused.code == "source_changed" || !store.fs().present(&path).unwrap_or(true) => refused.detail,
                Err(refused) => return Err(refused),
            },
            Found::Held(why) => why,
        };
        if waited >= PATIENCE_MS {
            return Err(busy(why, &path));
        }
        outside.wait(RETRY_MS);
        waited += RETRY_MS;
    }
}

enum Found {
    Free,
    Reclaimable(Meta),
    Held(String),
}

fn standing(store: &Store<'_>, path: &Path, host: &dyn Liveness, now_ms: u64) -> Result<Found, Refused> {
    match capture(store.fs(), path, Bound::Ceiling(RECORD_LIMIT)) {
        Err(refusal) if refusal.is_absent() => Ok(Found::Free),
        // A lock that is being rewritten is held.
        Err(Refusal::Changed(_)) => Ok(Found::Held("the lock is being written".to_owned())),
        Err(Refusal::Failed(error)) if error.errno != Errno::LOOP => Err(failed(&error)),
        Err(refusal) => Ok(Found::Held(format!("the lock {refusal}"))),
        Ok(Captured { bytes, meta }) => Ok(match parse(&bytes) {
            None => Found::Held("the lock does not parse, so it is never reclaimed".to_owned()),
            Some(record) => match record.standing(now_ms, host) {
                Standing::Released | Standing::ExpiredOwnerGone => Found::Reclaimable(meta),
                Standing::LeaseRuns => Found::Held(format!("the lease of process {} runs", record.pid)),
                Standing::ExpiredUnproven => Found::Held(format!("the lease expired, but process {} is not provably gone", record.pid)),
            },
        }),
    }
}

/// Writes the record and gives it the lock's name; none when the name was taken meanwhile.
fn create<'a>(
    store: &'a Store<'a>,
    path: &Path,
    uid: u32,
    host: &dyn Liveness,
    outside: &'a dyn Outside,
) -> Result<Option<Held<'a>>, Refused> {
    let now = outside.now_ms();
    let record = Lock {
        attempt_id: JsString::from(outside.uuid()),
        pid: f64::from(outside.pid()),
        boot_id: host.boot_id().map(Value::string),
        process_start_id: JsString::from(outside.process_start_id()),
        created_at: now as f64,
        heartbeat_at: now as f64,
        lease_expires_at: (now + LEASE_MS) as f64,
        released: None,
    };
    let length = Lock { released: Some(true), ..record.clone() }.encode().len();
    let bytes = padded(&record, length);
    let staged = store.stage(|file| file.write_all(&bytes).map_err(|e| failed(&e)))?;
    match store.publish(&staged, path) {
        Ok(meta) => {
            Ok(Some(Held { store, outside, uid, path: path.to_owned(), file: Some(staged.file), object: meta.object(), record, length }))
        }
        Err(NotPublished::Taken) => staged.file.close().map(|()| None).map_err(|e| failed(&e)),
        Err(NotPublished::Failed(refused)) => {
            // The record may have its name: it is taken back with all else that this attempt made.
            let _ = staged.file.close();
            Err(refused)
        }
    }
}

impl Held<'_> {
    /// The acquisition attempt, as receipts record it.
    pub fn attempt_id(&self) -> &JsString {
        &self.record.attempt_id
    }
    /// The lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// The lock is still ours: the name stands for the kept file, and the record in it is of this attempt and not released.
    /// A heartbeat that got old is renewed.
    ///
    /// # Errors
    /// `migration_busy` when it is not ours, or the failing operation.
    pub fn consent(&mut self) -> Result<(), Refused> {
        let lost = |why: &str| busy(why, &self.path);
        let Some(file) = &mut self.file else { return Err(lost("the lock is released")) };
        let there = match self.store.fs().lstat(&self.path) {
            Ok(there) => there,
            Err(error) if error.errno == Errno::NOENT => return Err(lost("the lock is gone")),
            Err(error) => return Err(failed(&error)),
        };
        let own = file.stat().map_err(|e| failed(&e))?;
        if own.object() != self.object || there.object() != self.object {
            return Err(lost("another lock has this name"));
        }
        if !is_of(&**file, &self.record)? {
            return Err(lost("the record is of another attempt, or released"));
        }
        let now = self.outside.now_ms() as f64;
        if now - self.record.heartbeat_at >= HEARTBEAT_MS as f64 {
            let renewed = Lock { heartbeat_at: now, lease_expires_at: now + LEASE_MS as f64, ..self.record.clone() };
            file.write_all_at(&padded(&renewed, self.length), 0).and_then(|()| file.sync()).map_err(|e| failed(&e))?;
            self.record = renewed;
        }
        Ok(())
    }
    /// Releases the lock; a second time does nothing. The record is written through the kept descriptor. When that cannot be
    /// used any more, the name is opened again, if it still stands for the same file, owner-only, with this attempt's record.
    ///
    /// # Errors
    /// `migration_busy` when the lock is not ours any more: nothing is written then. Else the failing operation.
    pub fn release(&mut self) -> Result<(), Refused> {
        let Some(mut file) = self.file.take() else { return Ok(()) };
        let released = self.write_released(&mut *file);
        let closed = file.close().map_err(|e| failed(&e));
        match released {
            Ok(()) => closed,
            Err(refused) if refused.code == "migration_busy" => Err(refused),
            Err(_) => {
                security::verify(self.store.fs(), &self.path, Need::File, self.uid)
                    .map_err(|violation| busy(violation.token(), &self.path))?;
                let mut again = self.store.fs().reopen(&self.path).map_err(|e| failed(&e))?;
                let released = self.write_released(&mut *again);
                super::store::close_after(released, again)
            }
        }
    }
    fn write_released(&self, file: &mut dyn WriteFile) -> Result<(), Refused> {
        let own = file.stat().map_err(|e| failed(&e))?;
        let there = self.store.fs().lstat(&self.path).map_err(|e| failed(&e))?;
        if own.object() != self.object || there.object() != self.object || !is_of(file, &self.record)? {
            return Err(busy("the lock is another attempt's by now", &self.path));
        }
        let now = self.outside.now_ms() as f64;
        let released = Lock { heartbeat_at: now, lease_expires_at: now, released: Some(true), ..self.record.clone() };
        file.write_all_at(&padded(&released, self.length), 0).and_then(|()| file.sync()).map_err(|e| failed(&e))
    }
}

/// Whether the file holds an unreleased record of this attempt.
fn is_of(file: &dyn WriteFile, record: &Lock) -> Result<bool, Refused> {
    let mut bytes = vec![0; 4096];
    let (mut read, mut interrupted) = (0, 0_u32);
    while let Some(rest) = bytes.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.errno == Errno::INTR && interrupted < 100 => interrupted += 1,
            Err(error) => return Err(failed(&error)),
        }
    }
    let found = parse(bytes.get(..read).unwrap_or_default());
    Ok(found.is_some_and(|found| found.attempt_id == record.attempt_id && found.released != Some(true)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::identity::{Identity, Platform};
    use crate::fsys::host::{Nowhere, Observation, Signal};
    use crate::fsys::{Change, Fs, Inject, Memory, Phase};
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    const OPERATION: &str = "5e55104f5e55104f5e55104f5e55104f5e55104f5e55104f5e55104f5e55104f";

    /// A clock that runs when somebody waits.
    struct Clock(AtomicU64);
    impl Outside for Clock {
        fn now_ms(&self) -> u64 {
            self.0.load(Ordering::SeqCst)
        }
        fn uuid(&self) -> String {
            super::super::outside::uuid_of(9)
        }
        fn wait(&self, ms: u64) {
            self.0.fetch_add(ms, Ordering::SeqCst);
        }
        fn pid(&self) -> u32 {
            7
        }
        fn process_start_id(&self) -> &str {
            "531d736f-57d1-489b-82eb-97c9d64a8e26"
        }
    }
    /// Nothing runs here.
    struct Empty;
    impl Liveness for Empty {
        fn boot_id(&self) -> Option<String> {
            Some("boot".into())
        }
        fn host(&self) -> Option<String> {
            None
        }
        fn signal(&self, _: f64) -> Signal {
            Signal::NoSuchProcess
        }
        fn observe(&self, _: u32) -> Observation {
            Observation::Absent
        }
    }

    fn clock() -> Clock {
        Clock(AtomicU64::new(1_800_000_000_000))
    }
    fn scope() -> Scope {
        Scope {
            identity: Identity { platform: Platform::Posix, canonical_path: "/w".into() },
            lexical_cwd: "/w".into(),
            agent_dir: "/a".into(),
            sessions_root: "/a/sessions".into(),
            directory: "/s".into(),
        }
    }
    fn tree() -> Memory {
        let fs = Memory::new();
        fs.directory("/s/.gjc-recovery");
        fs.directory(scope().protocol(layout::LOCKS));
        fs
    }
    fn path() -> PathBuf {
        scope().protocol(layout::LOCKS).join(format!("{OPERATION}.lock"))
    }
    fn store(fs: &dyn Change) -> Store<'_> {
        Store::new(fs, Path::new("/s"), 1000, 7)
    }
    fn record(fs: &Memory) -> Lock {
        parse(&fs.content(path()).unwrap()).unwrap()
    }
    fn take<'a>(store: &'a Store<'a>, clock: &'a Clock) -> Result<Held<'a>, Refused> {
        acquire(store, &scope(), OPERATION, 1000, &Empty, clock)
    }

    #[test]
    fn a_lock_is_held_then_released_with_the_same_length() {
        let (fs, clock) = (tree(), clock());
        let store = store(&fs);
        let mut held = take(&store, &clock).unwrap();
        let taken = fs.content(path()).unwrap();
        let lock = record(&fs);
        assert_eq!((lock.pid, lock.released, lock.lease_expires_at - lock.created_at), (7.0, None, 60_000.0));
        assert_eq!(fs.lstat(&path()).unwrap().mode, 0o600);
        clock.wait(5);
        held.release().unwrap();
        let released = record(&fs);
        assert_eq!((released.released, released.lease_expires_at), (Some(true), lock.created_at + 5.0));
        assert_eq!(fs.content(path()).unwrap().len(), taken.len());
        assert_eq!(fs.content(path()).unwrap(), released.encode(), "a released record has gjc's exact bytes");
    }
    #[test]
    fn a_second_release_does_nothing() {
        let (fs, clock) = (tree(), clock());
        let store = store(&fs);
        let mut held = take(&store, &clock).unwrap();
        held.release().unwrap();
        let before = fs.snapshot();
        held.release().unwrap();
        assert_eq!(fs.snapshot(), before);
        assert_eq!(held.consent().unwrap_err().code, "migration_busy");
    }
    #[test]
    fn a_successor_is_never_written_to() {
        let (fs, clock) = (tree(), clock());
        let store = store(&fs);
        let mut held = take(&store, &clock).unwrap();
        // Somebody else's lock has the name now, and even carries the same attempt.
        let bytes = fs.content(path()).unwrap();
        fs.rename(path(), "/s/away");
        fs.file(path(), &bytes);
        let before = fs.snapshot();
        assert_eq!(held.consent().unwrap_err().code, "migration_busy");
        assert_eq!(held.release().unwrap_err().code, "migration_busy");
        assert_eq!(fs.snapshot(), before);
    }
    #[test]
    fn a_record_of_another_attempt_is_not_released() {
        let (fs, clock) = (tree(), clock());
        let store = store(&fs);
        let mut held = take(&store, &clock).unwrap();
        let other = Lock { attempt_id: "other".into(), ..record(&fs) };
        fs.truncate(path(), 0);
        fs.append(path(), &other.encode());
        assert_eq!(held.consent().unwrap_err().code, "migration_busy");
        assert_eq!(held.release().unwrap_err().code, "migration_busy");
        assert_eq!(record(&fs), other);
    }
    #[test]
    fn a_descriptor_that_fails_is_replaced_by_the_same_file_only() {
        for insecure in [false, true] {
            let (fs, clock) = (tree(), clock());
            let broken = AtomicU64::new(0);
            let inject = Inject::changing(&fs, |call| {
                let breaks = call.op == "write" && call.phase == Phase::Before && broken.load(Ordering::SeqCst) == 1;
                (breaks && broken.fetch_add(1, Ordering::SeqCst) == 1).then_some(Errno::BADF)
            });
            let store = store(&inject);
            let mut held = take(&store, &clock).unwrap();
            broken.store(1, Ordering::SeqCst);
            if insecure {
                fs.chmod(path(), 0o644);
            }
            let answer = held.release().map_err(|refused| refused.code);
            assert_eq!(answer, if insecure { Err("migration_busy") } else { Ok(()) });
            assert_eq!(record(&fs).released, if insecure { None } else { Some(true) });
        }
    }
    #[test]
    fn an_old_heartbeat_is_renewed_in_place() {
        let (fs, clock) = (tree(), clock());
        let store = store(&fs);
        let mut held = take(&store, &clock).unwrap();
        let (before, first) = (fs.lstat(&path()).unwrap(), record(&fs));
        clock.wait(HEARTBEAT_MS - 1);
        held.consent().unwrap();
        assert_eq!(record(&fs), first);
        clock.wait(1);
        held.consent().unwrap();
        let renewed = record(&fs);
        assert_eq!(renewed.lease_expires_at - first.lease_expires_at, 10_000.0);
        assert_eq!((renewed.created_at, renewed.attempt_id), (first.created_at, first.attempt_id));
        assert_eq!(fs.lstat(&path()).unwrap().object(), before.object());
    }
    #[test]
    fn who_holds_it_is_waited_for_five_seconds() {
        let (fs, clock) = (tree(), clock());
        let lock = |change: fn(&mut Lock)| {
            let mut lock = Lock {
                attempt_id: "theirs".into(),
                pid: 1.0,
                boot_id: Some(Value::string("boot")),
                process_start_id: "p".into(),
                created_at: 1.0,
                heartbeat_at: 1.0,
                lease_expires_at: clock.now_ms() as f64 + 1e9,
                released: None,
            };
            change(&mut lock);
            lock.encode()
        };
        let runs = lock(|_| {});
        let expired = lock(|lock| lock.lease_expires_at = 1.0);
        for (bytes, host, code) in [
            (runs, &Empty as &dyn Liveness, Some("migration_busy")),
            (expired.clone(), &Nowhere, Some("migration_busy")),
            (b"".to_vec(), &Empty, Some("migration_busy")),
            (expired, &Empty, None),
            (lock(|lock| lock.released = Some(true)), &Nowhere, None),
        ] {
            fs.remove(path());
            fs.file(path(), &bytes);
            let (store, began) = (store(&fs), clock.now_ms());
            let answer = acquire(&store, &scope(), OPERATION, 1000, host, &clock);
            assert_eq!(answer.as_ref().err().map(|refused| refused.code), code, "{}", String::from_utf8_lossy(&bytes));
            assert_eq!(clock.now_ms() - began, if code.is_some() { PATIENCE_MS } else { 0 });
            if code.is_some() {
                assert_eq!(fs.content(path()).unwrap(), bytes);
            }
        }
        // What was taken over is kept, with its content.
        assert_eq!(fs.list(Path::new("/s/.gjc-recovery")).unwrap().len(), 2);
    }
    #[test]
    fn no_crash_leaves_a_torn_lock() {
        let (fs, clock) = (tree(), clock());
        fs.settle();
        let seen = AtomicUsize::new(0);
        let check = |what: &str| {
            for crash in fs.crashes() {
                let Some(bytes) = crash.left.content(path()) else { continue };
                assert!(parse(&bytes).is_some(), "{what}: {}", crash.what);
                seen.fetch_add(1, Ordering::Relaxed);
            }
        };
        let inject = Inject::changing(&fs, |call| {
            check(call.op);
            None
        });
        let store = store(&inject);
        let mut held = take(&store, &clock).unwrap();
        clock.wait(HEARTBEAT_MS);
        held.consent().unwrap();
        held.release().unwrap();
        check("released");
        assert!(seen.load(Ordering::Relaxed) > 10, "few crashes leave a lock");
    }
}
