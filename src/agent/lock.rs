//! Lock files of the managed protocol: names, record, lease and what a later acquirer makes of one (spec 02 §6.2). Pure;
//! what is not known about a process is asked of [`Liveness`].

use super::record::{json_text, record_bytes};
use crate::fsys::host::{Liveness, Signal};
use crate::json::spelling::is_hex64;
use crate::json::view::View;
use crate::json::{JsString, Kind, Object, Value};

/// Length of a lease in milliseconds.
pub const LEASE_MS: u64 = 60_000;
/// How long gjc waits for a held lock before `migration_busy`, in milliseconds.
pub const PATIENCE_MS: u64 = 5_000;

/// A name of `locks/` that may be there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Name<'a> {
    /// `<op>.lock`: migration or deletion.
    Operation(&'a str),
    /// `gc-retirement-<hex>.lock`: a retirement journal.
    Retirement(&'a str),
    /// `.gjc-lock-<uuid>.stale`
    Stale,
}

/// The name's meaning (L1 of spec 02 §9.8, or a retired lock); none for a foreign name.
pub fn parse_name(name: &[u8]) -> Option<Name<'_>> {
    if super::residue::parse(name) == Some(super::residue::Residue::LockStale) {
        return Some(Name::Stale);
    }
    let stem = std::str::from_utf8(name).ok()?.strip_suffix(".lock")?;
    match stem.strip_prefix("gc-retirement-") {
        Some(hex) => is_hex64(hex).then_some(Name::Retirement(hex)),
        None => is_hex64(stem).then_some(Name::Operation(stem)),
    }
}

/// A lock record that parses.
#[derive(Clone, PartialEq, Debug)]
pub struct Lock {
    /// UUID of the acquisition attempt.
    pub attempt_id: JsString,
    /// Process that holds or held it; any JavaScript number.
    pub pid: f64,
    /// The boot id as stored: any JSON value, absent on systems without one.
    pub boot_id: Option<Value>,
    /// UUID made once per process.
    pub process_start_id: JsString,
    /// Milliseconds since 1970.
    pub created_at: f64,
    /// Milliseconds since 1970.
    pub heartbeat_at: f64,
    /// Milliseconds since 1970.
    pub lease_expires_at: f64,
    /// True after release; absent while held.
    pub released: Option<bool>,
}

/// The record in these bytes, by gjc's rule: extra members are fine, `bootId` is not type-checked. None = unparseable,
/// and an unparseable lock is never reclaimed.
pub fn parse(bytes: &[u8]) -> Option<Lock> {
    read(&Value::parse(&crate::json::text::utf8_lossy(bytes))?)
}

/// The same of a record whose text is parsed.
pub fn read(record: &Value) -> Option<Lock> {
    let text = |key: &str| record.str_member(key).map(|text| JsString::from_wtf8(text.into_owned()));
    let number = |key: &str| View::get(record, key).and_then(View::as_f64);
    let released = match record.member("released") {
        None => None,
        Some(Value::Bool(released)) => Some(*released),
        Some(_) => return None,
    };
    Some(Lock {
        attempt_id: text("attemptId")?,
        pid: number("pid")?,
        boot_id: record.member("bootId").cloned(),
        process_start_id: text("processStartId")?,
        created_at: number("createdAt")?,
        heartbeat_at: number("heartbeatAt")?,
        lease_expires_at: number("leaseExpiresAt")?,
        released,
    })
}

impl Lock {
    /// The file as gjc writes it: keys in order, one LF.
    pub fn encode(&self) -> Vec<u8> {
        let mut record = Object::new();
        record.set("attemptId", Value::String(self.attempt_id.clone()));
        record.set("pid", Value::Number(self.pid));
        if let Some(boot_id) = &self.boot_id {
            record.set("bootId", boot_id.clone());
        }
        record.set("processStartId", Value::String(self.process_start_id.clone()));
        record.set("createdAt", Value::Number(self.created_at));
        record.set("heartbeatAt", Value::Number(self.heartbeat_at));
        record.set("leaseExpiresAt", Value::Number(self.lease_expires_at));
        if let Some(released) = self.released {
            record.set("released", Value::Bool(released));
        }
        record_bytes(&Value::Object(record))
    }

    /// What the next acquirer makes of this lock at `now_ms`.
    pub fn standing(&self, now_ms: u64, host: &dyn Liveness) -> Standing {
        if self.released == Some(true) {
            Standing::Released
        } else if self.lease_expires_at < now_ms as f64 {
            match self.owner_gone(host) {
                true => Standing::ExpiredOwnerGone,
                false => Standing::ExpiredUnproven,
            }
        } else {
            Standing::LeaseRuns
        }
    }

    /// The owner is definitely gone: another boot, or no process with that pid.
    fn owner_gone(&self, host: &dyn Liveness) -> bool {
        let other_boot = match (&self.boot_id, host.boot_id()) {
            // "Non-empty" is JavaScript's truthiness: a number passes, the empty string does not.
            (Some(stored), Some(current)) if stored.truthy() => {
                !(stored.kind() == Kind::String && json_text(stored) == json_text(&Value::string(current)))
            }
            _ => false,
        };
        other_boot || host.signal(self.pid) == Signal::NoSuchProcess
    }
}

/// What the next acquirer makes of an existing lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Released: the normal resting state; it is retired and taken over.
    Released,
    /// The lease runs: wait, then `migration_busy`.
    LeaseRuns,
    /// Expired and the owner is provably gone: reclaimed.
    ExpiredOwnerGone,
    /// Expired, but the owner is not provably gone: `migration_busy`.
    ExpiredUnproven,
}

impl Standing {
    /// True when gjc takes the lock over.
    pub const fn reclaimable(self) -> bool {
        matches!(self, Standing::Released | Standing::ExpiredOwnerGone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::host::{Nowhere, Observation};

    const NOW: u64 = 1_000_000;
    const RECORD: &str =
        r#"{"attemptId":"a","pid":7,"bootId":"boot","processStartId":"p","createdAt":1,"heartbeatAt":2,"leaseExpiresAt":3}"#;

    /// A host whose boot id is `boot` and on which only pid 7 runs.
    struct OnlySeven;
    impl Liveness for OnlySeven {
        fn boot_id(&self) -> Option<String> {
            Some("boot".into())
        }
        fn host(&self) -> Option<String> {
            Some("here".into())
        }
        fn signal(&self, pid: f64) -> Signal {
            if pid == 7.0 { Signal::InUse } else { Signal::NoSuchProcess }
        }
        fn observe(&self, _: u32) -> Observation {
            Observation::Inconclusive
        }
    }

    fn standing(record: &str) -> Standing {
        parse(record.as_bytes()).expect("the record parses").standing(NOW, &OnlySeven)
    }

    #[test]
    fn the_observed_example_is_written_byte_for_byte() {
        let text = concat!(
            r#"{"attemptId":"47173f68-71c9-4058-8e21-0e199166ede8","pid":21549,"bootId":"1b054e45-6d41-4911-8057-81f07a9118a2","processStartId":"531d736f-57d1-489b-82eb-97c9d64a8e26","#,
            r#""createdAt":1796034430328,"heartbeatAt":1796034430360,"leaseExpiresAt":1796034430360,"released":true}"#,
            "\n"
        );
        let lock = parse(text.as_bytes()).expect("the example parses");
        assert_eq!(String::from_utf8(lock.encode()).unwrap(), text);
        assert_eq!(text.len(), 270);
    }
    #[test]
    fn released_is_reclaimable_whatever_else_it_says() {
        assert_eq!(standing(&RECORD.replace("\"leaseExpiresAt\":3", "\"leaseExpiresAt\":1e400,\"released\":true")), Standing::Released);
    }
    #[test]
    fn a_running_lease_blocks_even_when_its_process_is_dead() {
        let record = RECORD.replace("\"leaseExpiresAt\":3", "\"leaseExpiresAt\":1000000").replace("\"pid\":7", "\"pid\":8");
        assert_eq!(standing(&record), Standing::LeaseRuns);
    }
    #[test]
    fn an_expired_lock_of_a_pid_in_use_is_unproven() {
        assert_eq!(standing(RECORD), Standing::ExpiredUnproven);
    }
    #[test]
    fn an_expired_lock_of_a_dead_pid_is_reclaimed() {
        assert_eq!(standing(&RECORD.replace("\"pid\":7", "\"pid\":8")), Standing::ExpiredOwnerGone);
    }
    #[test]
    fn another_boot_proves_the_owner_gone() {
        assert_eq!(standing(&RECORD.replace("\"boot\"", "\"other\"")), Standing::ExpiredOwnerGone);
        assert_eq!(standing(&RECORD.replace("\"boot\"", "9")), Standing::ExpiredOwnerGone);
        assert_eq!(standing(&RECORD.replace("\"boot\"", "\"\"")), Standing::ExpiredUnproven);
    }
    #[test]
    fn without_knowledge_of_the_host_nothing_is_proven() {
        let lock = parse(RECORD.replace("\"boot\"", "\"other\"").as_bytes()).unwrap();
        assert_eq!(lock.standing(NOW, &Nowhere), Standing::ExpiredUnproven);
    }
    #[test]
    fn unparseable_records() {
        for bad in [
            "",
            "{oops",
            "[]",
            "null",
            &RECORD.replace("\"pid\":7,", ""),
            &RECORD.replace("\"pid\":7", "\"pid\":\"7\""),
            &RECORD.replace("\"leaseExpiresAt\":3", "\"leaseExpiresAt\":3,\"released\":null"),
            &format!("\u{feff}{RECORD}"),
        ] {
            assert_eq!(parse(bad.as_bytes()), None, "{bad}");
        }
    }
    #[test]
    fn extra_members_are_allowed() {
        assert!(parse(RECORD.replace("\"pid\":7", "\"pid\":7,\"note\":[1]").as_bytes()).is_some());
    }
    #[test]
    fn names_of_the_locks_directory() {
        let op = "a".repeat(64);
        assert_eq!(parse_name(format!("{op}.lock").as_bytes()), Some(Name::Operation(&op)));
        assert_eq!(parse_name(format!("gc-retirement-{op}.lock").as_bytes()), Some(Name::Retirement(&op)));
        assert_eq!(parse_name(b".gjc-lock-47173f68-71c9-4058-8e21-0e199166ede8.stale"), Some(Name::Stale));
        assert_eq!(parse_name(format!("{}.lock", "A".repeat(64)).as_bytes()), None);
        assert_eq!(parse_name(b"x.lock"), None);
        assert_eq!(parse_name(b".gjc-lock-x.stale"), None);
    }
}
