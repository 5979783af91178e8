//! The area *lock* of spec 05: lock files of the managed protocol (spec 02 §6.2).

pub mod codes;

use super::record;
use super::run::Site;
use crate::agent::candidates::RECORD_CEILING;
use crate::agent::lock::{self, Name, Standing};
use crate::agent::walk::Listing;
use crate::finding::{Finding, Sink};
use crate::fsys::host::Liveness;
use crate::fsys::{Bound, Kind};

/// Judges everything in `locks/`. Symlinks and further links have codes of their own.
pub fn check(site: &Site<'_>, locks: &Listing, host: &dyn Liveness, sink: &mut dyn Sink) {
    let now_ms = u64::try_from(site.now_ns / 1_000_000).unwrap_or(0);
    let mut residue = 0_u64;
    for object in &locks.objects {
        let path = locks.path_of(object);
        let kind = object.meta.kind;
        let push = |code, message: String, sink: &mut dyn Sink| sink.push(Finding::new(code, site.place(&path), message));
        match lock::parse_name(object.bytes()) {
            _ if kind == Kind::Symlink => {}
            Some(Name::Stale) if kind == Kind::File && object.meta.size == 0 => residue += 1,
            Some(Name::Stale) if kind == Kind::File => {
                let message = format!("A retired lock still holds {} bytes.", object.meta.size);
                push(&codes::MANAGED_GC_PROTOCOL_LOCK_QUARANTINE_INVALID, message, sink);
            }
            None | Some(Name::Stale) => {
                let message = format!("A {} of this name has no place in `locks/`.", kind.noun());
                push(&codes::MANAGED_GC_PROTOCOL_LOCK_ROLE_INVALID, message, sink);
            }
            Some(Name::Operation(_) | Name::Retirement(_)) if kind != Kind::File => {
                let message = format!("A {} stands in the place of a lock: its operation is `migration_busy` for ever.", kind.noun());
                push(&codes::MANAGED_GC_PROTOCOL_LOCK_INVALID, message, sink);
            }
            Some(Name::Operation(_) | Name::Retirement(_)) => match record::bytes(site, &path, Bound::Ceiling(RECORD_CEILING), sink) {
                Ok(None) => {}
                Ok(Some(captured)) if captured.bytes.is_empty() => {
                    push(
                        &codes::MANAGED_GC_PROTOCOL_LOCK_INVALID,
                        "The lock is empty: its owner died between creating and writing it.".into(),
                        sink,
                    );
                }
                Ok(Some(captured)) => match lock::parse(&captured.bytes) {
                    None => push(&codes::MANAGED_GC_PROTOCOL_LOCK_INVALID, "The lock does not parse.".into(), sink),
                    Some(lock) => match lock.standing(now_ms, host) {
                        Standing::Released => {}
                        Standing::LeaseRuns => {
                            push(&codes::LOCK_HELD, format!("Held by process {}: its lease still runs.", lock.pid), sink);
                        }
                        Standing::ExpiredOwnerGone => {
                            push(
                                &codes::LOCK_HELD,
                                format!("Expired, and process {} is gone: the next operation reclaims it.", lock.pid),
                                sink,
                            );
                        }
                        Standing::ExpiredUnproven => {
                            let message = format!("Expired, but process {} is not provably gone.", lock.pid);
                            push(&codes::LOCK_EXPIRED_UNPROVEN, message, sink);
                        }
                    },
                },
                Err(size) => record::too_large(site, &path, size, sink),
            },
        }
    }
    if residue > 0 {
        let message = format!("{residue} retired {} of 0 bytes.", if residue == 1 { "lock" } else { "locks" });
        sink.push(Finding::new(&codes::LOCK_RESIDUE, site.place(&locks.path), message));
    }
}

/// Most bytes of an exclusive lock file (spec 04 §7.7).
const EXCLUSIVE_LIMIT: u64 = 4_096;

/// Judges an exclusive lock file (spec 04 §7.7): JSON with `pid` and `token`, `incarnation` where it is known.
pub fn exclusive(site: &Site<'_>, path: &std::path::Path, host: &dyn Liveness, sink: &mut dyn Sink) {
    use crate::fsys::host::{Observation, Signal};
    use crate::json::View;
    let invalid = |why: String, sink: &mut dyn Sink| sink.push(Finding::new(&codes::EXCLUSIVE_LOCK_INVALID, site.place(path), why));
    // Link count 2 is legal here: the lock is made by a hard link. The prefix capture wants one link, so read what is there.
    let captured = match record::bytes(site, path, Bound::Prefix(EXCLUSIVE_LIMIT + 1), sink) {
        Ok(Some(captured)) => captured,
        Ok(None) | Err(_) => return,
    };
    if captured.meta.size > EXCLUSIVE_LIMIT {
        return invalid(format!("The lock has {} bytes; gjc writes at most 4,096.", captured.meta.size), sink);
    }
    let parsed = crate::agent::candidates::parse(&captured.bytes);
    let pid = parsed.as_ref().and_then(|record| record.member("pid")).and_then(View::as_f64);
    let (Some(record), Some(pid)) = (parsed.as_ref(), pid) else { return invalid("The lock does not parse.".into(), sink) };
    let incarnation = record.str_member("incarnation").map(|text| String::from_utf8_lossy(&text).into_owned());
    let observed =
        if pid.fract() == 0.0 && (1.0..=4_294_967_295.0).contains(&pid) { host.observe(pid as u32) } else { Observation::Inconclusive };
    let other = matches!((&observed, &incarnation), (Observation::Present(now), Some(then)) if now != then);
    if other || observed == Observation::Absent || host.signal(pid) == Signal::NoSuchProcess {
        let message = format!("Process {pid} that made the lock is gone.");
        sink.push(Finding::new(&codes::EXCLUSIVE_LOCK_STALE, site.place(path), message));
    }
}
