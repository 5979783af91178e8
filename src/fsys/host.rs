//! Questions about processes and this host: is a pid in use, which boot, when did it start, what is the host called.
//!
//! Locks and replacement receipts ask them (spec 02 §6.2, §8.3). One small interface, so that tests can answer; "not
//! known" is an answer and never counts as proof.

/// What signal 0 to a pid says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// The process exists (success or EPERM).
    InUse,
    /// ESRCH: no such process.
    NoSuchProcess,
    /// Anything else, pid 0, negative or fractional pids: proves nothing.
    Unknown,
}

/// What can be observed of one process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Observation {
    /// There is no such process.
    Absent,
    /// It exists, with this incarnation text (`linux:<start ticks>`).
    Present(String),
    /// It could not be told.
    Inconclusive,
}

/// Answers questions about processes and the host.
pub trait Liveness: Sync {
    /// The trimmed boot id, when this system has one.
    fn boot_id(&self) -> Option<String>;
    /// The host name.
    fn host(&self) -> Option<String>;
    /// Signal 0 to the pid of a record (a JavaScript number).
    fn signal(&self, pid: f64) -> Signal;
    /// The process with this pid, as an incarnation.
    fn observe(&self, pid: u32) -> Observation;
}

/// Knows nothing: for trees that are judged as if they lay elsewhere. Nothing is ever provable.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nowhere;

impl Liveness for Nowhere {
    fn boot_id(&self) -> Option<String> {
        None
    }
    fn host(&self) -> Option<String> {
        None
    }
    fn signal(&self, _: f64) -> Signal {
        Signal::Unknown
    }
    fn observe(&self, _: u32) -> Observation {
        Observation::Inconclusive
    }
}

/// The host this program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThisHost;

#[expect(clippy::disallowed_methods, reason = "this room reads /proc for everybody")]
fn proc_text(path: &str) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}

impl Liveness for ThisHost {
    fn boot_id(&self) -> Option<String> {
        proc_text("/proc/sys/kernel/random/boot_id").ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }
    fn host(&self) -> Option<String> {
        rustix::system::uname().nodename().to_str().ok().map(str::to_owned).filter(|name| !name.is_empty())
    }
    fn signal(&self, pid: f64) -> Signal {
        if pid.fract() != 0.0 || !(1.0..=f64::from(i32::MAX)).contains(&pid) {
            return Signal::Unknown;
        }
        let Some(pid) = rustix::process::Pid::from_raw(pid as i32) else { return Signal::Unknown };
        match rustix::process::test_kill_process(pid) {
            Ok(()) | Err(rustix::io::Errno::PERM) => Signal::InUse,
            Err(rustix::io::Errno::SRCH) => Signal::NoSuchProcess,
            Err(_) => Signal::Unknown,
        }
    }
    fn observe(&self, pid: u32) -> Observation {
        match proc_text(&format!("/proc/{pid}/stat")) {
            // Field 22; the command (field 2) may hold spaces and parentheses, so count behind its last `)`.
            Ok(stat) => match stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(19)) {
                Some(ticks) => Observation::Present(format!("linux:{ticks}")),
                None => Observation::Inconclusive,
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && self.boot_id().is_some() => match self.signal(f64::from(pid)) {
                Signal::NoSuchProcess => Observation::Absent,
                _ => Observation::Inconclusive,
            },
            Err(_) => Observation::Inconclusive,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_in_use_and_an_impossible_pid_is_not() {
        assert_eq!(ThisHost.signal(f64::from(std::process::id())), Signal::InUse);
        assert_eq!(ThisHost.signal(2_147_483_646.0), Signal::NoSuchProcess);
    }
    #[test]
    fn odd_pids_prove_nothing() {
        for pid in [0.0, -1.0, 1.5, f64::INFINITY, f64::NAN, 4e9] {
            assert_eq!(ThisHost.signal(pid), Signal::Unknown, "{pid}");
        }
    }
    #[test]
    #[cfg(target_os = "linux")]
    fn a_running_process_has_an_incarnation() {
        assert!(matches!(ThisHost.observe(std::process::id()), Observation::Present(text) if text.starts_with("linux:")));
        assert_eq!(ThisHost.observe(2_147_483_646), Observation::Absent);
    }
    #[test]
    fn nowhere_proves_nothing() {
        assert_eq!(Nowhere.signal(1.0), Signal::Unknown);
        assert_eq!(Nowhere.observe(1), Observation::Inconclusive);
        assert_eq!((Nowhere.boot_id(), Nowhere.host()), (None, None));
    }
}
