//! The exclusive lock file (spec 04 §7.7): a complete file that nothing replaces says who holds it.

use super::{Result, SessionStorage, StorageError};
use crate::json::{Value, View, stringify};

/// Most bytes of a lock file.
const LONGEST: usize = 4_096;

/// Who holds a lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// Which process of that number it is, where the system tells.
    pub incarnation: Option<String>,
    /// What only this holder knows.
    pub token: String,
}

impl Holder {
    /// The content of the file: `{"pid","incarnation"?,"token"}` and LF.
    fn text(&self) -> Vec<u8> {
        let members = [
            ("pid", Some(Value::Number(f64::from(self.pid)))),
            ("incarnation", self.incarnation.as_deref().map(Value::string)),
            ("token", Some(Value::string(self.token.as_str()))),
        ];
        let mut text = Vec::new();
        stringify::write(&Value::Object(members.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()), &mut text);
        text.push(b'\n');
        text
    }
    /// None for a file that is too long or malformed.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let value = Value::parse(bytes.strip_suffix(b"\n")?).filter(|_| bytes.len() <= LONGEST)?;
        let text = |key: &str| value.str_member(key).and_then(|text| String::from_utf8(text.into_owned()).ok());
        let pid =
            value.member("pid").and_then(View::as_f64).filter(|pid| pid.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(pid))?;
        let incarnation = match value.member("incarnation") {
            None => None,
            Some(_) => Some(text("incarnation")?),
        };
        Some(Holder { pid: pid as u32, incarnation, token: text("token")? })
    }
}

/// A lock that is held. It is given back by [`Lock::release`]; dropped, it stays until its process ends.
pub struct Lock<'s> {
    storage: &'s dyn SessionStorage,
    path: String,
    text: Vec<u8>,
}

/// Takes the lock at `path`. `alive` says whether a holder's process still is what it was; one that is not loses the lock.
///
/// # Errors
/// `lock_held`; `lock_malformed` for a file that says nobody, which is never taken over; the storage's.
pub fn acquire<'s>(storage: &'s dyn SessionStorage, path: &str, holder: &Holder, alive: impl Fn(&Holder) -> bool) -> Result<Lock<'s>> {
    let lock = Lock { storage, path: path.to_owned(), text: holder.text() };
    match storage.publish(path, &lock.text) {
        Err(error) if error.is("destination_conflict") => {}
        published => return published.map(|()| lock),
    }
    let there = storage.read(path)?;
    let other = Holder::parse(&there).ok_or_else(|| StorageError::token("lock_malformed"))?;
    // Whoever came first replaced what was read.
    if !alive(&other) && storage.replace_exact(path, &there, &lock.text)? { Ok(lock) } else { Err(StorageError::token("lock_held")) }
}

impl Lock<'_> {
    /// Gives the lock back; one that is another's by now stays.
    ///
    /// # Errors
    /// `lock_lost`; the storage's.
    pub fn release(self) -> Result<()> {
        if self.storage.read(&self.path)? != self.text {
            return Err(StorageError::token("lock_lost"));
        }
        self.storage.unlink(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Memory;
    use super::*;

    fn holder(token: &str) -> Holder {
        Holder { pid: 7, incarnation: Some("i".into()), token: token.into() }
    }
    fn taken<'s>(storage: &'s Memory, token: &str, alive: bool) -> std::result::Result<Lock<'s>, String> {
        acquire(storage, "/s/x.lock", &holder(token), |_| alive).map_err(|error| error.message)
    }

    /// 04 §7.7
    #[test]
    fn a_lock_is_held_until_it_is_given_back() {
        let storage = Memory::new();
        let lock = taken(&storage, "a", true).unwrap();
        assert_eq!(storage.read("/s/x.lock").unwrap(), b"{\"pid\":7,\"incarnation\":\"i\",\"token\":\"a\"}\n");
        assert_eq!(taken(&storage, "b", true).err().as_deref(), Some("lock_held"));
        lock.release().unwrap();
        taken(&storage, "b", true).unwrap();
    }

    #[test]
    fn a_holder_that_is_gone_loses_it_and_cannot_give_it_back() {
        let storage = Memory::new();
        let lock = taken(&storage, "a", true).unwrap();
        let new = taken(&storage, "b", false).unwrap();
        assert!(lock.release().unwrap_err().is("lock_lost"));
        new.release().unwrap();
        assert_eq!(storage.all(), []);
    }

    #[test]
    fn what_says_nobody_is_never_taken_over() {
        let long = format!("{{\"pid\":1,\"token\":\"{}\"}}\n", "x".repeat(LONGEST));
        for text in [
            "",
            "{}\n",
            "{\"pid\":1,\"token\":\"a\"}",
            "{\"pid\":0,\"token\":\"a\"}\n",
            "{\"pid\":1,\"incarnation\":2,\"token\":\"a\"}\n",
            &long,
        ] {
            let storage = Memory::new();
            storage.write("/s/x.lock", text.as_bytes()).unwrap();
            assert_eq!(taken(&storage, "a", false).err().as_deref(), Some("lock_malformed"), "{text:.60}");
        }
        assert_eq!(Holder::parse(b"{\"pid\":1,\"token\":\"a\"}\n").map(|holder| holder.incarnation), Some(None));
    }
}
