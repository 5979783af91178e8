//! Switching to another session in a running process (spec 04 §4.8, §5.7; seeds "Switching & recent listing"). The order is
//! fixed: the hook that may cancel, then aborting, flushing, the other file, its context, its settings, the second hook, and
//! last the display. Until the other file is installed nothing changes; then nothing fails.

use super::manager::{Manager, OpError, OpenError, World, id_of, open_session};
use super::successor::must_have_blobs;
use crate::json::Value;
use crate::transcript::EntryKind;
use crate::transcript::blobs::BlobStore;
use crate::transcript::persist::Refusal;
use crate::transcript::persist::settle::Origin;

/// What a session that was switched to asks for; each is restored where it is available.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Wanted {
    /// The default model, `provider/id`.
    pub model: Option<Value>,
    /// The thinking level.
    pub thinking_level: Option<Value>,
    /// The service tier.
    pub service_tier: Option<Value>,
}

/// The process around a manager. The methods are called in the order in which they stand here.
pub trait Surroundings {
    /// `session_before_switch`: whether the switch may go on. False cancels it, and nothing has happened.
    fn before_switch(&mut self, to: &str) -> bool;
    /// Work in flight is aborted.
    fn abort(&mut self);
    /// The context of the other session stands; its settings are restored as far as they are available.
    fn restore(&mut self, wanted: &Wanted);
    /// `session_switch`.
    fn switched(&mut self, from: Option<&str>, to: &str);
    /// The display shows the other session.
    fn refresh(&mut self);
}

/// What became of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Switched {
    /// The other session is the current one.
    Yes,
    /// The hook said no.
    Cancelled,
}

impl<W: World, B: BlobStore> Manager<'_, W, B> {
    /// Switches to the transcript at `path`; where there is none a new session begins there.
    ///
    /// # Errors
    /// `Could not switch session: …` for what is not opened, `ResidentBlobMissingError` for a missing blob; what was not
    /// written yet cannot be; the current session cannot be closed. The current session stays the current one.
    pub fn switch(&mut self, path: &str, around: &mut dyn Surroundings) -> Result<Switched, OpError> {
        if !around.before_switch(path) {
            return Ok(Switched::Cancelled);
        }
        around.abort();
        // A failure that is known ends with its session; one that is new keeps it.
        if self.failed.is_none() {
            self.flush()?;
        }
        let from = self.session_file().map(str::to_owned);
        self.set_session_file(path)?;
        around.restore(&self.wanted());
        around.switched(from.as_deref(), path);
        around.refresh();
        Ok(Switched::Yes)
    }

    /// Makes the transcript at `path` the current one.
    ///
    /// # Errors
    /// As [`Manager::switch`].
    pub fn set_session_file(&mut self, path: &str) -> Result<(), OpError> {
        let (session, _) =
            open_session(&mut self.world, &mut self.blobs, self.storage, &self.place, path).map_err(|error| match error {
                OpenError::Refused(Refusal::Inspection(reason)) => OpError::plain(format!("Could not switch session: {}", reason.token())),
                other => other.into(),
            })?;
        let read = session.entries().iter().enumerate().filter(|(number, _)| session.origin(*number) == Origin::File);
        let entries: Vec<&Value> = read.map(|(_, entry)| entry).filter(|entry| !EntryKind::of(*entry).is_header()).collect();
        must_have_blobs(entries, &self.blobs, &self.place, session.entries().first().and_then(id_of).as_ref(), path)?;
        self.install(path.to_owned(), session)
    }

    /// What the context of the current leaf asks for. A context that cannot be built asks for nothing.
    fn wanted(&self) -> Wanted {
        let Some(context) = self.context() else { return Wanted::default() };
        let of = |key| context.member(key).filter(|value| **value != Value::Null).cloned();
        let model = context.member("models").and_then(|models| models.member("default")).cloned();
        Wanted { model, thinking_level: of("thinkingLevel"), service_tier: of("serviceTier") }
    }
}

/// Surroundings of which nothing is asked: for scripts.
#[derive(Clone, Copy, Debug)]
pub struct Quiet {
    /// The hook cancels.
    pub cancels: bool,
}

impl Surroundings for Quiet {
    fn before_switch(&mut self, _: &str) -> bool {
        !self.cancels
    }
    fn abort(&mut self) {}
    fn restore(&mut self, _: &Wanted) {}
    fn switched(&mut self, _: Option<&str>, _: &str) {}
    fn refresh(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::super::storage::{Memory, SessionStorage};
    use super::super::tests::{FIRST, Tested, answer, ask, create, lines, talked};
    use super::*;
    use crate::json::stringify::to_text;
    use crate::transcript::blobs::name_of;

    const OTHER: &str = "/s/other.jsonl";
    const HEADER: &str = r#"{"type":"session","version":5,"id":"o","timestamp":"t","cwd":"/w"}"#;

    /// Writes down what it is told.
    #[derive(Default)]
    struct Log {
        cancels: bool,
        told: Vec<String>,
    }

    impl Surroundings for Log {
        fn before_switch(&mut self, to: &str) -> bool {
            self.told.push(format!("before {to}"));
            !self.cancels
        }
        fn abort(&mut self) {
            self.told.push("abort".into());
        }
        fn restore(&mut self, wanted: &Wanted) {
            let text = |value: &Option<Value>| value.as_ref().map(to_text).unwrap_or_default();
            self.told.push(format!("restore {} {} {}", text(&wanted.model), text(&wanted.thinking_level), text(&wanted.service_tier)));
        }
        fn switched(&mut self, from: Option<&str>, to: &str) {
            self.told.push(format!("switched {} {to}", from.unwrap_or("-")));
        }
        fn refresh(&mut self) {
            self.told.push("refresh".into());
        }
    }

    fn stored(storage: &Memory, entries: &[&str]) {
        storage.write(OTHER, format!("{HEADER}\n{}\n", entries.join("\n")).as_bytes()).unwrap();
    }

    /// Seeds, second document
    #[test]
    fn the_order_is_fixed() {
        let storage = Memory::new();
        stored(
            &storage,
            &[
                r#"{"type":"model_change","id":"a","parentId":null,"timestamp":"t","model":"p/m"}"#,
                r#"{"type":"thinking_level_change","id":"b","parentId":"a","timestamp":"t","thinkingLevel":"high"}"#,
                r#"{"type":"service_tier_change","id":"c","parentId":"b","timestamp":"t","serviceTier":"flex"}"#,
            ],
        );
        let (mut manager, mut log) = (talked(&storage), Log::default());
        assert_eq!(manager.switch(OTHER, &mut log), Ok(Switched::Yes));
        assert_eq!(
            log.told,
            [
                format!("before {OTHER}"),
                "abort".into(),
                "restore \"p/m\" \"high\" \"flex\"".into(),
                format!("switched {FIRST} {OTHER}"),
                "refresh".into(),
            ]
        );
        manager.append(ask("r")).unwrap();
        assert_eq!((lines(&storage, OTHER), lines(&storage, FIRST)), (5, 3));
    }

    #[test]
    fn a_cancelled_switch_changes_nothing() {
        let storage = Memory::new();
        let mut manager = talked(&storage);
        let before = storage.all();
        let mut log = Log { cancels: true, ..Log::default() };
        assert_eq!(manager.switch(OTHER, &mut log), Ok(Switched::Cancelled));
        assert_eq!(log.told, [format!("before {OTHER}")]);
        assert_eq!((manager.session_file(), storage.all()), (Some(FIRST), before));
    }

    /// 04 §4.8
    #[test]
    fn what_is_malformed_or_empty_is_refused_and_the_current_session_stays() {
        let storage = Memory::new();
        let mut manager = talked(&storage);
        for bytes in [&b""[..], b"garbage\n"] {
            storage.write(OTHER, bytes).unwrap();
            let mut log = Log::default();
            assert_eq!(manager.switch(OTHER, &mut log), Err(OpError::plain("Could not switch session: malformed")));
            assert_eq!(log.told.len(), 2, "{:?}", log.told);
            assert_eq!((manager.session_file(), storage.read(OTHER).unwrap()), (Some(FIRST), bytes.to_vec()));
        }
        manager.append(ask("r")).unwrap();
        assert_eq!(lines(&storage, FIRST), 4);
    }

    /// 04 §4.8
    #[test]
    fn what_is_not_there_begins_with_its_header() {
        let storage = Memory::new();
        let mut manager = create(&storage);
        manager.switch(OTHER, &mut Log::default()).unwrap();
        assert_eq!((manager.session_file(), lines(&storage, OTHER)), (Some(OTHER), 1));
        manager.append(answer("a")).unwrap();
        assert_eq!((lines(&storage, OTHER), storage.exists(FIRST)), (2, Ok(false)));
    }

    /// 04 §5.7
    #[test]
    fn a_missing_blob_fails_here_though_it_opens_at_startup() {
        let storage = Memory::new();
        let hash = name_of(b"abc");
        let image = format!(
            r#"{{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{{"role":"user","content":[{{"type":"image","data":"blob:sha256:{hash}"}}]}}}}"#
        );
        stored(&storage, &[&image]);
        let mut manager = talked(&storage);
        let error = manager.switch(OTHER, &mut Log::default()).unwrap_err();
        assert_eq!(error.class, "ResidentBlobMissingError");
        assert_eq!(error.message, format!("Missing resident imageData blob: {hash} (session o) [{OTHER}]"));
        assert_eq!((manager.session_file(), lines(&storage, OTHER)), (Some(FIRST), 2));
        assert!(super::super::tests::open(&storage, OTHER).is_ok());
    }

    /// 04 §4.8: the full rewrite waits for the first persistence
    #[test]
    fn a_file_of_an_older_version_that_is_left_stays_what_it_is() {
        let leave: [fn(&mut Tested<'_>); 5] = [
            |manager| _ = manager.switch(OTHER, &mut Quiet { cancels: false }).unwrap(),
            |manager| _ = manager.switch("/s/third.jsonl", &mut Quiet { cancels: false }).unwrap(),
            |manager| manager.new_session(None).unwrap(),
            |manager| manager.fork().map(|_| ()).unwrap(),
            |manager| manager.fork_file(OTHER).unwrap(),
        ];
        for leave in leave {
            let storage = Memory::new();
            let old = format!("{}\n", HEADER.replace(":5", ":4"));
            storage.write(OTHER, old.as_bytes()).unwrap();
            let mut manager = super::super::tests::open(&storage, OTHER).unwrap();
            leave(&mut manager);
            assert_eq!(storage.read(OTHER).unwrap(), old.as_bytes());
            manager.append(answer("a")).unwrap();
            let current = manager.session_file().unwrap().to_owned();
            assert_eq!((lines(&storage, &current), lines(&storage, OTHER)), (2, if current == OTHER { 2 } else { 1 }));
        }
    }

    /// 04 §7.3
    #[test]
    fn a_known_failure_ends_with_its_session() {
        let storage = Memory::new();
        stored(&storage, &[]);
        let mut manager = talked(&storage);
        manager.fail("ENOSPC");
        assert_eq!(manager.switch(OTHER, &mut Quiet { cancels: false }), Ok(Switched::Yes));
        manager.append(ask("r")).unwrap();
    }
}
