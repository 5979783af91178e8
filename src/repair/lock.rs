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
