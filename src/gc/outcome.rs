//! What an attempt to retire an owner came to (spec 03 §5.6).

use super::{Continuation, List, Refusal, SessionsRoot};
use crate::agent::owner_evidence::Evidence;
use crate::agent::record::is_closed;
use crate::json::stringify::{Out, object};
use crate::json::view::{View, len_utf16};
use crate::json::{JsString, Kind};

/// The outcome of a retirement attempt. The evidence that it repeats is the receipt's and is not kept twice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// `completed`: the native removal said ok.
    Completed,
    /// Any other: something is left, or may be.
    Retained(Box<Retained>),
}

/// An outcome with something left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Retained {
    /// Why it is not completed.
    pub why: Why,
    /// What is left and where.
    pub continuation: Continuation,
    /// What the native removal answered; `payload_retired` always has it.
    pub native: Option<NativeOutcome>,
}

/// The kind of an outcome that is not `completed`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// `payload_retired`: every file is scrubbed, the empty namespace stays.
    PayloadRetired,
    /// `cleanup_pending`
    CleanupPending,
    /// `uncertain`
    Uncertain {
        /// 1 to 4,096 UTF-16 units.
        reason: JsString,
    },
}

/// The most UTF-16 units of a reason.
pub const MAX_REASON_UNITS: usize = 4_096;

impl Why {
    /// The word in the record.
    pub const fn word(&self) -> &'static str {
        match self {
            Why::PayloadRetired => "payload_retired",
            Why::CleanupPending => "cleanup_pending",
            Why::Uncertain { .. } => "uncertain",
        }
    }
}

impl Outcome {
    /// The word in the record.
    pub const fn word(&self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Retained(retained) => retained.why.word(),
        }
    }

    /// Reads an outcome of an owner with this evidence, with gjc's checks in gjc's order.
    ///
    /// # Errors
    /// The tokens of the evidence and the continuation inside it, [`Refusal::OutcomeInvalid`] for everything else.
    pub fn read<'a, V: View<'a>>(value: V, root: &SessionsRoot, evidence: &Evidence) -> Result<Outcome, Refusal> {
        let invalid = Refusal::OutcomeInvalid;
        let kind = value.str_member("kind").ok_or(invalid)?;
        let required: &[&str] = match kind.as_ref() {
            b"completed" => &["kind", "evidence"],
            b"payload_retired" => &["kind", "namespace", "evidence", "continuation"],
            b"cleanup_pending" => &["kind", "evidence", "continuation"],
            b"uncertain" => &["kind", "evidence", "continuation", "reason"],
            _ => return Err(invalid),
        };
        // Whether a kind needs a native outcome is a rule of the kind, asked when all members were read.
        if !is_closed(value, required, &["nativeOutcome"]) {
            return Err(invalid);
        }
        // Canonical re-encodings are compared: the order of members is free, the order of entries is not.
        if Evidence::read(value.get("evidence").ok_or(invalid)?)? != *evidence {
            return Err(invalid);
        }
        let continuation = match value.get("continuation") {
            Some(continuation) => Some(Continuation::read(continuation, root, evidence)?),
            None => None,
        };
        let native = match value.get("nativeOutcome") {
            Some(native) => Some(NativeOutcome::read(native, continuation.as_ref()).ok_or(invalid)?),
            None => None,
        };
        let Some(continuation) = continuation else {
            return if native.is_some_and(|native| native.ok) { Ok(Outcome::Completed) } else { Err(invalid) };
        };
        let why = match kind.as_ref() {
            b"payload_retired" => Why::PayloadRetired,
            b"cleanup_pending" => Why::CleanupPending,
            _ => Why::Uncertain { reason: JsString::from_wtf8(value.str_member("reason").ok_or(invalid)?.into_owned()) },
        };
        let namespace = value.get("namespace").is_none_or(|namespace| namespace.is_str("retained"));
        let retained = Retained { why, continuation, native };
        if namespace && retained.keeps_kind_rules(root, evidence) { Ok(Outcome::Retained(Box::new(retained))) } else { Err(invalid) }
    }

    /// The record form.
    pub fn write<O: Out>(&self, evidence: &Evidence, out: &mut O) {
        match self {
            Outcome::Completed => object(out, |members| {
                members.text("kind", self.word());
                members.with("evidence", |out| evidence.write(out));
                members.with("nativeOutcome", |out| object(out, |native| native.flag("ok", true)));
            }),
            Outcome::Retained(retained) => retained.write(evidence, out),
        }
    }
}

impl Retained {
    fn keeps_kind_rules(&self, root: &SessionsRoot, evidence: &Evidence) -> bool {
        match &self.why {
            Why::PayloadRetired => {
                let native = self.native.as_ref().is_some_and(|native| {
                    native.code.as_ref().is_some_and(|code| code.as_bytes() == b"cleanup_pending") && native.payload_durable == Some(true)
                });
                native
                    && self.continuation.retained_root.as_bytes() == root.owner(&evidence.locator.owner_id).removing
                    && !self.continuation.has_side_paths()
                    && self.continuation.tree.is_scrubbed()
            }
            Why::CleanupPending => self.native.as_ref().is_none_or(|native| !native.ok),
            Why::Uncertain { reason } => (1..=MAX_REASON_UNITS).contains(&len_utf16(reason.as_bytes())),
        }
    }
    /// The record form.
    pub fn write<O: Out>(&self, evidence: &Evidence, out: &mut O) {
        self.write_with(|out| evidence.write(out), |out| self.continuation.write(out), out);
    }
    /// The same with what is written for the evidence and for the continuation.
    pub(super) fn write_with<O: Out>(&self, evidence: impl FnOnce(&mut O), continuation: impl FnOnce(&mut O), out: &mut O) {
        object(out, |members| {
            members.text("kind", self.why.word());
            if self.why == Why::PayloadRetired {
                members.text("namespace", "retained");
            }
            members.with("evidence", evidence);
            members.with("continuation", continuation);
            if let Why::Uncertain { reason } = &self.why {
                members.text("reason", reason.as_bytes());
            }
            if let Some(native) = &self.native {
                members.with("nativeOutcome", |out| native.write(out));
            }
        });
    }
}

/// What the native removal answered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NativeOutcome {
    /// Whether it succeeded; then nothing else is said.
    pub ok: bool,
    /// `code`, one of the continuation's native codes.
    pub code: Option<JsString>,
    /// `detachedPath`
    pub detached: Option<JsString>,
    /// `retainedSuccessorPath`
    pub successor: Option<JsString>,
    /// `retainedPlaceholderPath`
    pub placeholder: Option<JsString>,
    /// `retainedUnknownPath`
    pub unknown: Option<JsString>,
    /// `payloadDurable`
    pub payload_durable: Option<bool>,
    /// `windowsErrorCode`, one of the continuation's.
    pub windows_code: Option<JsString>,
}

impl NativeOutcome {
    /// Reads a native outcome; whatever it names must be recorded in the continuation.
    pub fn read<'a, V: View<'a>>(value: V, continuation: Option<&Continuation>) -> Option<NativeOutcome> {
        const SAID: [&str; 7] = [
            "code",
            "detachedPath",
            "retainedSuccessorPath",
            "retainedPlaceholderPath",
            "retainedUnknownPath",
            "payloadDurable",
            "windowsErrorCode",
        ];
        if !is_closed(value, &["ok"], &SAID) {
            return None;
        }
        let ok = value.get("ok").and_then(View::as_bool)?;
        if ok && SAID.iter().any(|key| value.get(key).is_some()) {
            return None;
        }
        let recorded = |key: &str, list: List| match value.get(key) {
            None => Some(None),
            Some(text) => {
                let text = JsString::from_wtf8(text.as_str()?.into_owned());
                continuation.is_some_and(|continuation| continuation.list(list).contains(&text)).then_some(Some(text))
            }
        };
        let payload_durable = match value.get("payloadDurable") {
            None => None,
            Some(durable) if durable.kind() == Kind::Bool => durable.as_bool(),
            Some(_) => return None,
        };
        if payload_durable == Some(true) && continuation.is_none_or(|continuation| continuation.payload_durable != Some(true)) {
            return None;
        }
        Some(NativeOutcome {
            ok,
            code: recorded("code", List::NativeCodes)?,
            detached: recorded("detachedPath", List::Detached)?,
            successor: recorded("retainedSuccessorPath", List::Successors)?,
            placeholder: recorded("retainedPlaceholderPath", List::Placeholders)?,
            unknown: recorded("retainedUnknownPath", List::Unknown)?,
            payload_durable,
            windows_code: recorded("windowsErrorCode", List::WindowsCodes)?,
        })
    }
    /// The record form.
    pub fn write<O: Out>(&self, out: &mut O) {
        object(out, |members| {
            members.flag("ok", self.ok);
            let mut text = |key, value: &Option<JsString>| {
                if let Some(value) = value {
                    members.text(key, value.as_bytes());
                }
            };
            text("code", &self.code);
            text("detachedPath", &self.detached);
            text("retainedSuccessorPath", &self.successor);
            text("retainedPlaceholderPath", &self.placeholder);
            text("retainedUnknownPath", &self.unknown);
            if let Some(durable) = self.payload_durable {
                members.flag("payloadDurable", durable);
            }
            if let Some(code) = &self.windows_code {
                members.text("windowsErrorCode", code.as_bytes());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::owner_evidence::{EMPTY_SHA256, example};
    use crate::agent::record::NodeKind;
    use crate::json::Value;

    fn evidence() -> Evidence {
        Evidence::read(&Value::parse(example("s").as_bytes()).unwrap()).unwrap()
    }
    fn root() -> SessionsRoot {
        SessionsRoot::new(b"/r").unwrap()
    }
    /// A continuation at `.removing` whose files are all scrubbed.
    fn scrubbed() -> Continuation {
        let removing = JsString::from_wtf8(root().owner(&evidence().locator.owner_id).removing);
        let mut continuation = Continuation::new(evidence().parent, removing, evidence().tree);
        for file in continuation.tree.entries.iter_mut().filter(|entry| entry.kind == NodeKind::File) {
            (file.size, file.sha256) = (0, Some(EMPTY_SHA256));
        }
        continuation.append(List::NativeCodes, "cleanup_pending".into());
        continuation.append(List::NativeCodes, "other".into());
        continuation.payload_durable = Some(true);
        continuation
    }
    fn native() -> NativeOutcome {
        NativeOutcome { code: Some("cleanup_pending".into()), payload_durable: Some(true), ..NativeOutcome::default() }
    }
    fn outcome(why: Why, continuation: Continuation, native: Option<NativeOutcome>) -> String {
        let mut out = Vec::new();
        Retained { why, continuation, native }.write(&evidence(), &mut out);
        String::from_utf8(out).unwrap()
    }
    fn read(text: &str) -> Result<&'static str, Refusal> {
        Outcome::read(&Value::parse(text.as_bytes()).unwrap(), &root(), &evidence()).map(|outcome| outcome.word())
    }
    const INVALID: Result<&str, Refusal> = Err(Refusal::OutcomeInvalid);

    #[test]
    fn each_rule_of_a_retired_payload_by_itself() {
        let with = |change: &dyn Fn(&mut Continuation, &mut NativeOutcome)| {
            let (mut continuation, mut native) = (scrubbed(), native());
            change(&mut continuation, &mut native);
            read(&outcome(Why::PayloadRetired, continuation, Some(native)))
        };
        assert_eq!(with(&|_, _| ()), Ok("payload_retired"));
        assert_eq!(with(&|_, native| native.code = Some("other".into())), INVALID, "another code");
        assert_eq!(with(&|_, native| native.code = None), INVALID, "no code");
        assert_eq!(with(&|_, native| native.payload_durable = Some(false)), INVALID, "not durable");
        assert_eq!(with(&|_, native| native.payload_durable = None), INVALID, "nobody said that it is durable");
        assert_eq!(with(&|continuation, _| continuation.tree = evidence().tree), INVALID, "files with content");
        let canonical = |continuation: &mut Continuation, _: &mut NativeOutcome| {
            continuation.retained_root = JsString::from_wtf8(root().owner(&evidence().locator.owner_id).root);
        };
        assert_eq!(with(&canonical), INVALID, "at the canonical root");
        for side in List::SIDE {
            assert_eq!(with(&|continuation, _| continuation.append(side, "/r/.gjc-recovery/x".into())), INVALID, "{side:?}");
        }
        let text = outcome(Why::PayloadRetired, scrubbed(), Some(native()));
        assert_eq!(read(&text.replace("\"namespace\":\"retained\"", "\"namespace\":\"gone\"")), INVALID, "the namespace");
        assert_eq!(read(&outcome(Why::PayloadRetired, scrubbed(), None)), INVALID, "without the native answer");
    }
    #[test]
    fn what_native_removal_may_say_of_itself_by_kind() {
        let ok = || Some(NativeOutcome { ok: true, ..NativeOutcome::default() });
        let uncertain = || Why::Uncertain { reason: "r".into() };
        assert_eq!(read(&outcome(Why::CleanupPending, scrubbed(), ok())), INVALID);
        assert_eq!(read(&outcome(Why::CleanupPending, scrubbed(), Some(native()))), Ok("cleanup_pending"), "near miss: not ok");
        assert_eq!(read(&outcome(Why::CleanupPending, scrubbed(), None)), Ok("cleanup_pending"), "near miss: nothing said");
        assert_eq!(read(&outcome(uncertain(), scrubbed(), ok())), Ok("uncertain"), "near miss: ok is no proof");
        for more in ["\"code\":\"other\"", "\"payloadDurable\":false", "\"payloadDurable\":true"] {
            let text = outcome(uncertain(), scrubbed(), ok()).replace("{\"ok\":true}", &format!("{{\"ok\":true,{more}}}"));
            assert_eq!(read(&text), INVALID, "ok and {more}");
        }
    }
    /// Each of them is looked for in its own list, not in any.
    #[test]
    fn what_native_removal_names_stands_in_the_list_of_its_kind() {
        let paths = root().owner(&evidence().locator.owner_id);
        let mut continuation = scrubbed();
        let values: [(&str, List, JsString); 6] = [
            ("code", List::NativeCodes, "0x0000000a".into()),
            ("windowsErrorCode", List::WindowsCodes, "0x0000000b".into()),
            ("detachedPath", List::Detached, JsString::from_wtf8(paths.removing)),
            ("retainedSuccessorPath", List::Successors, "/r/.gjc-recovery/s".into()),
            ("retainedPlaceholderPath", List::Placeholders, "/r/.gjc-recovery/p".into()),
            ("retainedUnknownPath", List::Unknown, "/r/.gjc-recovery/u".into()),
        ];
        values.iter().for_each(|(_, list, value)| continuation.append(*list, value.clone()));
        let said = |key: &str, value: &JsString| {
            let text = outcome(Why::CleanupPending, continuation.clone(), Some(NativeOutcome::default()));
            read(&text.replace("{\"ok\":false}", &format!("{{\"ok\":false,\"{key}\":\"{value}\"}}")))
        };
        for (key, of, _) in &values {
            for (_, list, value) in &values {
                let expected = if of == list { Ok("cleanup_pending") } else { INVALID };
                assert_eq!(said(key, value), expected, "{key}: {value}");
            }
        }
    }
    #[test]
    fn only_a_durable_continuation_has_a_durable_native_answer() {
        let said = |recorded: Option<bool>, native: bool| {
            let mut continuation = scrubbed();
            continuation.payload_durable = recorded;
            read(&outcome(
                Why::CleanupPending,
                continuation,
                Some(NativeOutcome { payload_durable: Some(native), ..NativeOutcome::default() }),
            ))
        };
        assert_eq!(said(Some(true), true), Ok("cleanup_pending"));
        for recorded in [None, Some(false)] {
            assert_eq!(said(recorded, true), INVALID, "{recorded:?}");
            assert_eq!(said(recorded, false), Ok("cleanup_pending"), "false needs nothing: {recorded:?}");
        }
    }
}
