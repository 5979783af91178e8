//! What the entries of a path settle: everything of the context except its messages (spec 01 §9.2–§9.5).
//!
//! Wrong types throw only where JavaScript uses the value: names that are a string are split into characters, a
//! number cannot be spread.

use super::js::{Js, character_value, characters};
use super::{ContextEntries, roles::Roles};
use crate::finding::{Difference, Release};
use crate::json::{JsString, Kind, Value, View, coerce};
use crate::steps;
use crate::transcript::entry::{EntryKind, Role};
use crate::transcript::facts::MessageForm;
use crate::transcript::throw::Throw;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// What a path settles, root to leaf.
pub struct Settings<'v> {
    thinking_level: Option<&'v Value>,
    service_tier: Option<&'v Value>,
    models: Roles<Cow<'v, Value>>,
    /// An explicit default model, or its removal, ends the inference from assistant messages.
    infer: bool,
    chains: Roles<Chain<'v>>,
    /// The keys of the object that became the prototype of the chains: a chain for the role `__proto__`.
    chain_prototype: Option<Chain<'v>>,
    ownership: Option<&'v Value>,
    rules: Rules<'v>,
    mcp_tools: Option<Names<'v>>,
    builtin_tools: Option<Names<'v>>,
    /// The last `mode_change`.
    mode: Option<&'v Value>,
}

/// A configured chain of models for a role.
struct Chain<'v> {
    role: &'v JsString,
    entries: Vec<&'v Value>,
    /// Absent: `session`.
    origin: Option<&'v Value>,
    identity: Option<&'v Value>,
    explicit_head: bool,
}

/// The injected rules: names in order of appearance, and the record of each.
#[derive(Default)]
struct Rules<'v> {
    names: Vec<Option<Cow<'v, Value>>>,
    known: HashSet<Vec<u8>>,
    records: Vec<Record<'v>>,
    record_of: HashMap<Vec<u8>, usize>,
    message_count: f64,
}

enum Record<'v> {
    /// Only the name is known; never injected.
    Named(Cow<'v, Value>),
    /// As the entry holds it.
    Rich(Cow<'v, Value>),
}

/// A value that JavaScript can iterate.
#[derive(Clone, Copy)]
enum Names<'v> {
    Items(&'v [Value]),
    Characters(&'v JsString),
}

impl<'v> Names<'v> {
    fn of(value: Option<&'v Value>) -> Option<Self> {
        match value? {
            Value::Array(items) => Some(Names::Items(items.as_slice())),
            Value::String(text) => Some(Names::Characters(text)),
            _ => None,
        }
    }
    /// `[...value]`
    fn spread(value: Option<&'v Value>) -> Result<Self, Throw> {
        Self::of(value).ok_or(Throw::Type(match value.map_or(Kind::Null, View::kind) {
            Kind::Null => "Spread syntax requires ...iterable not be null or undefined",
            _ => "Spread syntax requires ...iterable[Symbol.iterator] to be a function",
        }))
    }
    fn js(self) -> Js<'v> {
        match self {
            Names::Items(items) => Js::Array(items.iter().map(Js::Value).collect()),
            Names::Characters(text) => Js::Characters(text),
        }
    }
    fn each(self) -> Box<dyn Iterator<Item = Cow<'v, Value>> + 'v> {
        match self {
            Names::Items(items) => Box::new(items.iter().map(Cow::Borrowed)),
            Names::Characters(text) => Box::new(characters(text).map(|character| Cow::Owned(character_value(character)))),
        }
    }
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Settings {
            thinking_level: None,
            service_tier: None,
            models: Roles::default(),
            infer: true,
            chains: Roles::default(),
            chain_prototype: None,
            ownership: None,
            rules: Rules::default(),
            mcp_tools: None,
            builtin_tools: None,
            mode: None,
        }
    }
}

impl<'v> Settings<'v> {
    /// Takes the next entry of the path.
    ///
    /// # Errors
    /// What gjc throws at this entry.
    pub fn take<L: ContextEntries + ?Sized>(&mut self, list: &'v L, at: usize, release: Release) -> Result<(), Throw> {
        steps::take(1);
        let kind = list.kind(at);
        if kind == EntryKind::Message {
            return self.message(list, at);
        }
        let Some(entry) = list.value(at) else { return Ok(()) };
        match kind {
            EntryKind::ThinkingLevelChange => self.thinking_level = entry.get_present("thinkingLevel"),
            EntryKind::ServiceTierChange => self.service_tier = entry.get_present("serviceTier"),
            EntryKind::ModelChange => self.model(entry)?,
            EntryKind::ConfiguredModelChain => self.chain(entry),
            EntryKind::Custom if Difference::OwnershipMarker.in_effect(release) && is_ownership(entry) => {
                // A later valid entry does not mend an invalid one: chapters 2.4 and 9.2 leave it open, and gjc's
                // answer at the first invalid one is the safe reading.
                self.ownership = Some(entry.get("data").filter(|data| is_ownership_data(*data)).ok_or(Throw::OwnershipInvalid)?);
            }
            EntryKind::TtsrInjection => self.rules.take(entry)?,
            EntryKind::McpToolSelection => {
                self.mcp_tools = Some(Names::spread(entry.get("selectedToolNames"))?);
                // The combined form of version 4.
                if let Some(names) = entry.get("selectedDiscoveredBuiltinToolNames") {
                    self.builtin_tools = Some(Names::spread(Some(names))?);
                }
            }
            EntryKind::DiscoveredBuiltinToolSelection => self.builtin_tools = Some(Names::spread(entry.get("selectedToolNames"))?),
            EntryKind::ModeChange => self.mode = Some(entry),
            _ => {}
        }
        Ok(())
    }

    fn message<L: ContextEntries + ?Sized>(&mut self, list: &L, at: usize) -> Result<(), Throw> {
        match list.message(at) {
            MessageForm::Absent => Err(Throw::Type("undefined is not an object (evaluating 'entry.message.role')")),
            MessageForm::Null => Err(Throw::Type("null is not an object (evaluating 'entry.message.role')")),
            _ if self.infer && list.role(at) == Role::Assistant => {
                self.models.set(&JsString::from(DEFAULT_ROLE), Cow::Owned(Value::String(list.assistant_model(at)?)));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn model(&mut self, entry: &'v Value) -> Result<(), Throw> {
        let role = entry.get_present("role");
        let cleared = entry.get("cleared").is_some_and(View::truthy);
        let model = entry.get("model").filter(|model| model.truthy());
        if !cleared && model.is_none() {
            return Ok(());
        }
        // The role becomes a property name; the test for the default is made on the value itself.
        let name = match role {
            None => JsString::from(DEFAULT_ROLE),
            Some(role) => coerce::to_text(role).ok_or(NO_PRIMITIVE)?,
        };
        match model {
            _ if cleared => self.models.remove(&name),
            Some(model) => self.models.set(&name, Cow::Borrowed(model)),
            None => {}
        }
        self.infer &= !role.is_none_or(|role| role.is_str(DEFAULT_ROLE));
        Ok(())
    }

    fn chain(&mut self, entry: &'v Value) {
        let Some(Value::String(role)) = entry.get("role").filter(|role| role.truthy()) else { return };
        if entry.get("cleared").and_then(View::as_bool) == Some(true) {
            self.chains.remove(role);
            return;
        }
        let names = entry.get("entries").and_then(Value::as_array).unwrap_or_default();
        let entries: Vec<&Value> = names.iter().filter(|name| name.kind() == Kind::String && name.truthy()).collect();
        if entries.is_empty() {
            return;
        }
        let text = |key| entry.get(key).filter(|value| value.kind() == Kind::String);
        let explicit_head = entry.get("explicitHead").and_then(View::as_bool) == Some(true);
        let chain = Chain { role, entries, origin: text("origin"), identity: text("identity"), explicit_head };
        if *role == PROTO {
            self.chain_prototype = Some(chain);
        } else {
            self.chains.set(role, chain);
        }
    }

    /// True when `role in configuredModelChains`.
    fn has_chain(&self, role: &JsString) -> bool {
        let inherited = self.chain_prototype.as_ref().is_some_and(|chain| {
            let keys = ["role", "entries", "origin", "explicitHead"];
            keys.iter().any(|key| *role == **key) || (*role == "identity" && chain.identity.is_some())
        });
        inherited || self.chains.has(role) || OBJECT_PROTOTYPE.iter().any(|name| *role == **name)
    }

    /// The members of the context behind `messages`, in order.
    pub fn members(&self) -> Vec<(&'static str, Js<'_>)> {
        let models = self.models.in_order();
        let mut chains: Vec<(&JsString, Js<'_>)> = self.chains.in_order().into_iter().map(|(role, chain)| (role, chain.js())).collect();
        chains.extend(models.iter().filter(|(role, _)| !self.has_chain(role)).map(|(role, model)| (*role, legacy_chain(role, model))));
        super::roles::order_keys(&mut chains, |(role, _)| role);
        let models = models.into_iter().map(|(role, model)| (Cow::Borrowed(role), Js::Value(model))).collect();
        let chains = chains.into_iter().map(|(role, chain)| (Cow::Borrowed(role), chain)).collect();

        let mut members = vec![
            ("thinkingLevel", self.thinking_level.map_or_else(|| Js::text("off"), Js::Value)),
            ("serviceTier", Js::member(self.service_tier)),
            ("models", Js::Object(models)),
            ("configuredModelChains", Js::Object(chains)),
        ];
        members.extend(self.ownership.map(|marker| ("modelProfileOwnershipMarker", Js::Value(marker))));
        members.extend([
            ("injectedTtsrRules", Js::Array(self.rules.names.iter().map(|name| Js::member(name.as_deref())).collect())),
            ("injectedTtsrRuleRecords", Js::Array(self.rules.records.iter().map(Record::js).collect())),
            ("ttsrMessageCount", Js::Number(self.rules.message_count)),
            ("selectedMCPToolNames", self.mcp_tools.map_or(Js::Array(Vec::new()), Names::js)),
            ("selectedDiscoveredBuiltinToolNames", self.builtin_tools.map_or(Js::Undefined, Names::js)),
            ("hasPersistedMCPToolSelection", Js::Bool(self.mcp_tools.is_some())),
            ("hasPersistedDiscoveredBuiltinToolSelection", Js::Bool(self.builtin_tools.is_some())),
            ("mode", self.mode.map_or_else(|| Js::text("none"), |entry| Js::member(entry.get("mode")))),
            ("modeData", Js::member(self.mode.and_then(|entry| entry.get("data")))),
        ]);
        members
    }

    /// The thinking level.
    pub fn thinking_level(&self) -> Value {
        self.thinking_level.cloned().unwrap_or_else(|| Value::string("off"))
    }

    /// The model of the default role, if one is set or was inferred.
    pub fn default_model(&self) -> Option<&Value> {
        self.models.get(&JsString::from(DEFAULT_ROLE)).map(AsRef::as_ref)
    }
}

/// The role that messages of an assistant speak for.
const DEFAULT_ROLE: &str = "default";
const PROTO: &str = "__proto__";
/// Names that every object inherits.
const OBJECT_PROTOTYPE: [&str; 12] = [
    "constructor",
    "__defineGetter__",
    "__defineSetter__",
    "hasOwnProperty",
    "__lookupGetter__",
    "__lookupSetter__",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toString",
    "valueOf",
    "toLocaleString",
    PROTO,
];
/// What JavaScript throws where a value has no text.
pub(super) const NO_PRIMITIVE: Throw = Throw::NO_PRIMITIVE;

/// True for the `custom` entry that holds a model profile ownership marker.
pub fn is_ownership<'v, V: View<'v>>(entry: V) -> bool {
    entry.get("customType").is_some_and(|name| name.is_str("model_profile_ownership"))
}

/// True for the data of a valid ownership entry: exactly `{"kind":"inherit"}`, `{"kind":"cleared"}`, or
/// `{"kind":"profile","profile":<not blank>}` (spec 01 §4.2).
pub fn is_ownership_data<'v, V: View<'v>>(data: V) -> bool {
    let Some(kind) = data.str_member("kind").filter(|_| data.is_record()) else { return false };
    let members = data.members().count();
    match &*kind {
        b"inherit" | b"cleared" => members == 1,
        b"profile" => members == 2 && data.str_member("profile").is_some_and(|profile| !is_blank(&profile)),
        _ => false,
    }
}

/// True when JavaScript's `trim` leaves nothing.
fn is_blank(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.chars().all(|c| (c.is_whitespace() && c != '\u{85}') || c == '\u{FEFF}'))
}

impl Chain<'_> {
    fn js(&self) -> Js<'_> {
        let mut members = vec![
            ("role", Js::Text(Cow::Borrowed(self.role))),
            ("entries", Js::Array(self.entries.iter().map(|name| Js::Value(name)).collect())),
            ("origin", self.origin.map_or_else(|| Js::text("session"), Js::Value)),
        ];
        members.extend(self.identity.map(|identity| ("identity", Js::Value(identity))));
        members.push(("explicitHead", Js::Bool(self.explicit_head)));
        Js::Object(members.into_iter().map(|(key, value)| (Cow::Owned(key.into()), value)).collect())
    }
}

/// The chain that a role with a model but without a chain gets.
fn legacy_chain<'s>(role: &'s JsString, model: &'s Value) -> Js<'s> {
    Js::object([
        ("role", Js::Text(Cow::Borrowed(role))),
        ("entries", Js::Array(vec![Js::Value(model)])),
        ("origin", Js::text("legacy_session")),
        ("explicitHead", Js::Bool(true)),
    ])
}

impl<'v> Rules<'v> {
    fn take(&mut self, entry: &'v Value) -> Result<(), Throw> {
        let names = entry.get("injectedRules");
        for name in iterate(names, "ruleName of entry.injectedRules")?.each() {
            let key = map_key(Some(&name));
            self.add_name(key.clone(), Some(name.clone()));
            self.add_record(key, Record::Named(name), false);
        }
        if let Some(records) = entry.get_present("injectedRuleRecords") {
            for record in iterate(Some(records), "")?.each() {
                if record.kind() == Kind::Null {
                    return Err(Throw::Type("null is not an object (evaluating 'record.name')"));
                }
                let name = match &record {
                    Cow::Borrowed(record) => record.get("name").map(Cow::Borrowed),
                    // A character has no name.
                    Cow::Owned(_) => None,
                };
                let key = map_key(name.as_deref());
                self.add_name(key.clone(), name);
                self.add_record(key, Record::Rich(record), true);
            }
        }
        if let Some(count) = entry.get("ttsrMessageCount").and_then(View::as_f64).filter(|count| count.is_finite()) {
            self.message_count = count;
        }
        Ok(())
    }
    fn add_name(&mut self, key: Option<Vec<u8>>, name: Option<Cow<'v, Value>>) {
        if key.is_none_or(|key| self.known.insert(key)) {
            self.names.push(name);
        }
    }
    fn add_record(&mut self, key: Option<Vec<u8>>, record: Record<'v>, replace: bool) {
        match key.as_ref().and_then(|key| self.record_of.get(key)) {
            Some(at) if replace => self.records[*at] = record,
            Some(_) => {}
            None => {
                if let Some(key) = key {
                    self.record_of.insert(key, self.records.len());
                }
                self.records.push(record);
            }
        }
    }
}

impl Record<'_> {
    fn js(&self) -> Js<'_> {
        match self {
            Record::Named(name) => Js::object([("name", Js::Value(name)), ("lastInjectedAt", Js::Number(0.0))]),
            Record::Rich(record) => Js::Value(record),
        }
    }
}

/// `for (… of value)`
fn iterate<'v>(value: Option<&'v Value>, what: &'static str) -> Result<Names<'v>, Throw> {
    Names::of(value).ok_or(Throw::Type(match value {
        None if what.is_empty() => "undefined is not an object",
        None => "undefined is not an object (evaluating 'ruleName of entry.injectedRules')",
        Some(Value::Null) => "null is not an object (evaluating 'ruleName of entry.injectedRules')",
        Some(Value::Bool(true)) => "true is not iterable",
        Some(Value::Bool(false)) => "false is not iterable",
        Some(Value::Number(_)) => "number is not iterable",
        Some(_) => "object is not iterable",
    }))
}

/// The value as a key of a `Map` or `Set`; none for objects and arrays, which are equal to nothing else.
fn map_key(value: Option<&Value>) -> Option<Vec<u8>> {
    let tagged = |tag: u8, bytes: &[u8]| Some([&[tag], bytes].concat());
    match value {
        None => tagged(0, &[]),
        Some(Value::Null) => tagged(1, &[]),
        Some(Value::Bool(value)) => tagged(2, &[u8::from(*value)]),
        // A Map does not tell -0 from 0.
        Some(Value::Number(number)) => tagged(3, &(number + 0.0).to_bits().to_le_bytes()),
        Some(Value::String(text)) => tagged(4, text.as_bytes()),
        Some(Value::Array(_) | Value::Object(_)) => None,
    }
}
