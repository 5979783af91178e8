//! Retirement receipts, owners, journals and budgets: every case of `gc/cases.json` (its README.md describes the kinds).

use crate::support::{folder, json, same, string};
use gjc_fsck::agent::owner_evidence::{Evidence, Inode, Invalid, TreeSnapshot, is_safe_relative_path, owner_id, write_locator};
use gjc_fsck::agent::tombstone::{self, History as Cleanups, NotATombstone, Provenance, Replay, ReplayBudget, ReplayError};
use gjc_fsck::finding::Release;
use gjc_fsck::gc::budget::{History, scope_entries};
use gjc_fsck::gc::journal::{Current, replay};
use gjc_fsck::gc::names::receipt_name;
use gjc_fsck::gc::owner::{Manifest, is_pending_publication};
use gjc_fsck::gc::place::resolve;
use gjc_fsck::gc::publish::{Decision, Facts, publish};
use gjc_fsck::gc::{
    Continuation, Journal, Key, Locator, Names, Progress, Receipt, Refusal, Scope, SessionsRoot, State, Subject, Target, receipt,
};
use gjc_fsck::json::{JsString, Object, Tape, Value, View, stringify, text};
use gjc_fsck::transcript::readers::owner;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What a case is decided to be: an answer to be compared with `expected`, or gjc's token.
type Answer = Result<Value, String>;

/// Runs every case, prints what passed in all and by kind, and fails unless all hold. A kind that nobody decides fails.
pub fn run() {
    let path = folder().join("gc/cases.json");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let suite = Value::parse(&bytes).expect("the suite is JSON");
    let cases = suite.member("cases").and_then(Value::as_array).expect("the suite has cases");
    let mut kinds: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for case in cases {
        let (id, kind) = (member_text(case, "id"), member_text(case, "kind"));
        let (passed, total) = kinds.entry(kind.clone()).or_default();
        *total += 1;
        match catch_unwind(AssertUnwindSafe(|| judge(&kind, case))) {
            Ok(Ok(())) => *passed += 1,
            Ok(Err(why)) => println!("gc {id}: {why}"),
            Err(_) => println!("gc {id}: panicked"),
        }
    }
    let passed: u32 = kinds.values().map(|(passed, _)| passed).sum();
    println!("gc {passed}/{}", cases.len());
    for (kind, (passed, total)) in &kinds {
        println!("gc {kind} {passed}/{total}");
    }
    assert!(!cases.is_empty(), "gc has no case");
    assert_eq!(passed as usize, cases.len(), "gc: not every case holds");
}

fn judge(kind: &str, case: &Value) -> Result<(), String> {
    let input = case.member("input").ok_or("no input")?;
    let expected = case.member("expected").ok_or("no expected")?;
    let got = match decide(kind, input)? {
        Ok(answer) => answer,
        Err(token) => object([("accepted", Value::Bool(false)), ("error", Value::string(token))]),
    };
    // The members of an answer are compared without their order; the values inside keep it.
    let (want, got) = (sorted(expected), sorted(&got));
    same(&want, &got)
}

fn sorted(answer: &Value) -> String {
    let members: BTreeMap<String, String> =
        answer.members().map(|(key, value)| (String::from_utf8_lossy(&key).into_owned(), json(value))).collect();
    format!("{members:?}")
}

/// Decides a case; the outer error is the case's own.
fn decide(kind: &str, input: &Value) -> Result<Answer, String> {
    Ok(match kind {
        "receipt" => token(decode(input).map(|receipt| progress(&receipt.progress))),
        "encode" => token(encode(input)),
        "journal" => token(journal(input).map(|journal| match journal {
            Some(journal) => state(&journal.newest),
            None => accepted([("state", Value::Null)]),
        })),
        "publish" => token(publication(input)),
        "locator" => token(locator(input)),
        "manifest" => {
            token(Manifest::parse(member_text(input, "text").as_bytes()).map(|manifest| accepted([("value", parsed(&manifest.encode()))])))
        }
        "owner_id" => {
            let id = owner_id(member(input, "sessionId").as_js()).ok_or(Refusal::SessionIdInvalid);
            token(id.map(|id| accepted([("value", Value::string(id))])))
        }
        "continuation" => token(continuation(input)),
        "continuation_extends" => {
            let [previous, next] = ["previous", "next"].map(|key| standalone(input.member(key).expect("both are given")));
            Ok(object([("value", Value::Bool(next.extends(&previous)))]))
        }
        "tree" => token(tree(input)),
        "safe_relative_path" => match is_safe_relative_path(member(input, "value").as_bytes()) {
            true => Ok(accepted([("value", Value::Bool(true))])),
            false => Err(Refusal::RelativePathInvalid.token().into()),
        },
        "json_byte_length" => token(byte_length(input)),
        "receipt_name" => token(name(input)),
        "transcript_locator" => transcript_locator(input),
        "pending_publication_name" => {
            Ok(object([("value", Value::Bool(is_pending_publication(member(input, "relativePath").as_bytes())))]))
        }
        "cleanup_replay" => cleanup_replay(input),
        "cleanup_name" => Ok(cleanup_name(input)),
        "cleanup_budget" => cleanup_budget(input).map_err(|error| error.to_string()),
        "tombstone" => read_tombstone(input),
        "stored_quota" => token(stored_quota(input)),
        unknown => return Err(format!("the kind {unknown} is not decided")),
    })
}

fn token(answer: Result<Value, Refusal>) -> Answer {
    answer.map_err(|refusal| refusal.token().to_owned())
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(Object::from_iter(members))
}

fn accepted<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object([("accepted", Value::Bool(true))].into_iter().chain(members).collect())
}

fn parsed(bytes: &[u8]) -> Value {
    Value::parse(bytes).expect("what is written is JSON")
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Value {
    let mut out = Vec::new();
    write(&mut out);
    parsed(&out)
}

/// A member that must be a string.
fn member(value: &Value, key: &str) -> JsString {
    match value.member(key) {
        Some(Value::String(text)) => text.clone(),
        _ => panic!("no text {key}"),
    }
}

fn member_text(value: &Value, key: &str) -> String {
    value.member(key).and_then(string).unwrap_or_else(|| panic!("no text {key}"))
}

fn number(value: &Value, key: &str) -> Option<u64> {
    value.member(key).and_then(View::as_f64).map(|number| number as u64)
}

fn files(input: &Value) -> BTreeMap<String, Vec<u8>> {
    let files = input.member("files").expect("files are given");
    files.members().map(|(name, text)| (String::from_utf8_lossy(&name).into_owned(), string(text).unwrap().into_bytes())).collect()
}

fn sessions_root(input: &Value) -> JsString {
    member(input.member("ownerContext").expect("an owner context is given"), "sessionsRoot")
}

/// Strict decoding of one receipt.
fn decode(input: &Value) -> Result<Receipt, Refusal> {
    let bytes = match input.member("text").and_then(string) {
        Some(text) => text.into_bytes(),
        None => json(input.member("value").expect("a value is given")).into_bytes(),
    };
    let root = sessions_root(input);
    receipt::parse(&bytes, &mut Tape::default(), |value| {
        if !value.is_record() {
            return Err(Refusal::ContinuationCorrupt);
        }
        let target = Arc::new(Target::read(input.member("target").ok_or(Refusal::ContinuationAuthorityMismatch)?, root.as_bytes())?);
        Receipt::decode(value, &member_text(input, "scopeDigest"), &SessionsRoot::new(root.as_bytes())?, &target)
    })
}

fn progress(progress: &Progress) -> Value {
    let mut answer = state(progress);
    let kind = match progress {
        Progress::OwnerPending { outcome, .. } => Some(outcome.why.word()),
        Progress::OwnerRetired => Some("completed"),
        Progress::Prepared | Progress::ArtifactsRemoved => None,
    };
    if let (Some(kind), Some(answer)) = (kind, answer.as_object_mut()) {
        answer.set("outcomeKind", Value::string(kind));
    }
    answer
}

fn state(progress: &Progress) -> Value {
    let mut answer = accepted([("state", Value::string(progress.state().word()))]);
    if let (State::OwnerPending(attempt), Some(answer)) = (progress.state(), answer.as_object_mut()) {
        answer.set("ownerRetirementAttempt", Value::Number(attempt as f64));
    }
    answer
}

/// The canonical bytes of a receipt, which names its own target.
fn encode(input: &Value) -> Result<Value, Refusal> {
    let value = input.member("value").expect("a value is given");
    let digest = member_text(value, "scope");
    let path = member(value, "transcriptPath");
    let root = path.to_string().split("/v2-").next().unwrap_or_default().to_owned();
    let mut target = value.clone();
    let evidence = value.member("taskArtifactOwnerDeletionEvidence").expect("evidence is given");
    target.as_object_mut().unwrap().set("taskArtifactOwnerLocator", evidence.member("locator").expect("it has a locator").clone());
    let target = Arc::new(Target::read(&target, root.as_bytes())?);
    let receipt = Receipt::decode(value, &digest, &SessionsRoot::new(root.as_bytes())?, &target)?;
    let bytes = receipt.encode()?;
    assert!(receipt.is_canonical(&bytes) && !receipt.is_canonical(&[&bytes[..], b" "].concat()));
    Ok(object([
        ("text", Value::string(String::from_utf8(bytes.clone()).unwrap())),
        ("byteLength", Value::Number(bytes.len() as f64)),
        ("measured", Value::Number(receipt.measure() as f64)),
        ("sha256", Value::string(data_encoding::HEXLOWER.encode(&Sha256::digest(&bytes)))),
    ]))
}

fn byte_length(input: &Value) -> Result<Value, Refusal> {
    let value = match input.member("text_escaped_json").and_then(string) {
        Some(text) => parsed(text.as_bytes()),
        None => input.member("value").expect("a value is given").clone(),
    };
    let mut answer = object([("value", Value::Number(receipt::measure(&value)? as f64))]);
    if input.member("value").is_some() {
        answer.as_object_mut().unwrap().set("actual", Value::Number(stringify::to_text(&value).len() as f64 + 1.0));
    }
    Ok(answer)
}

/// Runs `with` on the scope of a case. The scope is known to be sound; what receipts are held to is the owner context's root.
fn in_scope<T>(input: &Value, with: impl FnOnce(Scope<'_>) -> Result<T, Refusal>) -> Result<T, Refusal> {
    let scope = input.member("scope").expect("a scope is given");
    let root = match input.member("ownerContext") {
        Some(_) => sessions_root(input),
        None => member(scope, "sessionsRoot"),
    };
    let root = SessionsRoot::new(root.as_bytes())?;
    with(Scope { digest: &member_text(scope, "digest"), directory: member(scope, "directoryPath").as_bytes(), root: &root })
}

/// Replay of the journal of one transcript.
fn replayed(input: &Value, transcript: &JsString) -> Result<Option<Journal>, Refusal> {
    let files = files(input);
    let key = Key::of(transcript.as_js());
    let names = Names::of(key, files.keys().map(|name| (name, true)));
    if names.is_empty() && in_scope(input, |_| Ok(())).is_err() {
        // Whose root it is is only asked of a receipt.
        return Ok(None);
    }
    in_scope(input, |scope| {
        replay(
            scope,
            Subject::Transcript(transcript),
            &names,
            &mut Tape::default(),
            |state| Ok::<_, Refusal>(files[&key.name(state)].clone()),
            |_| Ok(()),
        )
    })
}

fn journal(input: &Value) -> Result<Option<Journal>, Refusal> {
    replayed(input, &member(input, "transcriptPath"))
}

fn publication(input: &Value) -> Result<Value, Refusal> {
    let candidate = input.member("candidate").expect("a candidate is given");
    let journal = replayed(input, &member(candidate, "transcriptPath"))?;
    let mut history = History::default();
    let mut entries = scope_entries();
    for bytes in files(input).values() {
        entries.charge(1)?;
        history.admit(bytes.len() as u64)?;
    }
    let current =
        Target::read(candidate, sessions_root(input).as_bytes()).map_or(Current::Absent, |target| Current::Present(Box::new(target)));
    let facts = Facts { transcript: &current, evidence_is_fresh: true, gone: Ok(()), history: &history, scope_entries: &entries };
    let decision = in_scope(input, |scope| publish(candidate, &scope, journal.as_ref(), &facts))?;
    let (append, state) = match decision {
        Decision::Append { name, receipt } => (Value::string(name), receipt.state()),
        Decision::Keep(state) => (Value::Null, state),
    };
    let mut value = object([("append", append), ("state", Value::string(state.word()))]);
    if let (State::OwnerPending(attempt), Some(value)) = (state, value.as_object_mut()) {
        value.set("attempt", Value::Number(attempt as f64));
    }
    Ok(accepted([("value", value)]))
}

fn locator(input: &Value) -> Result<Value, Refusal> {
    if input.member("absent").is_some() {
        return Ok(accepted([("value", Value::Null)]));
    }
    let locator = Locator::of(input.member("value").expect("a value is given")).ok_or(Refusal::LocatorInvalid)?;
    Ok(accepted([("value", written(|out| write_locator(&locator, out)))]))
}

fn continuation(input: &Value) -> Result<Value, Refusal> {
    let root = SessionsRoot::new(sessions_root(input).as_bytes())?;
    let evidence = Evidence::read(input.member("evidence").expect("evidence is given"))?;
    let continuation = Continuation::read(input.member("value").expect("a value is given"), &root, &evidence)?;
    Ok(accepted([("value", written(|out| continuation.write(out)))]))
}

/// A continuation that is known to be valid, read against evidence of just itself.
fn standalone(value: &Value) -> Continuation {
    let path = member_text(value, "retainedRootPath");
    let (root, owner) = path.split_once("/.task-artifact-owners/").expect("it lies among the owners");
    let tree = TreeSnapshot::read(value.member("retainedTreeSnapshot").unwrap()).unwrap();
    let evidence = Evidence {
        session_id: JsString::default(),
        locator: Locator {
            owner_id: owner.trim_end_matches(".removing").to_owned(),
            directory_dev: tree.root.dev,
            directory_ino: tree.root.ino,
        },
        parent: Inode::read(value.member("parentIdentity").unwrap()).unwrap(),
        tree,
    };
    Continuation::read(value, &SessionsRoot::new(root.as_bytes()).unwrap(), &evidence).unwrap()
}

/// The generated trees: a root and files `f00000`, `f00001`, …
fn tree(input: &Value) -> Result<Value, Refusal> {
    let files = number(input.member("generator").expect("a generator is given"), "files").unwrap();
    let entry = |path: &str, kind: &str, ino: u64, nlink: u64, size: u64, sha256: &str| {
        format!(
            r#"{{"relativePath":"{path}","kind":"{kind}","dev":"2049","ino":"{ino}","nlink":"{nlink}","size":"{size}","mtimeNs":"1760000000000000000","ctimeNs":"1760000000000000001"{sha256}}}"#
        )
    };
    let empty = format!(r#","sha256":"{}""#, data_encoding::HEXLOWER.encode(&Sha256::digest(b"")));
    let mut entries = vec![entry("", "directory", 131_337, 3, 4096, "")];
    entries.extend((0..files).map(|n| entry(&format!("f{n:05}"), "file", 500_000 + n, 1, 0, &empty)));
    let text = format!(r#"{{"rootDev":"2049","rootIno":"131337","entries":[{}]}}"#, entries.join(","));
    let tree = TreeSnapshot::read(&parsed(text.as_bytes())).ok_or(Invalid::Evidence)?;
    Ok(accepted([("entries", Value::Number(tree.entries.len() as f64))]))
}

fn name(input: &Value) -> Result<Value, Refusal> {
    let state = match member_text(input, "state").as_str() {
        "prepared" => State::Prepared,
        "artifacts_removed" => State::ArtifactsRemoved,
        "owner_retired" => State::OwnerRetired,
        _ => {
            let attempt = input.member("attempt").and_then(View::as_f64).filter(|attempt| attempt.fract() == 0.0 && *attempt >= 1.0);
            State::OwnerPending(attempt.ok_or(Refusal::AttemptInvalid)? as u64)
        }
    };
    Ok(accepted([("value", Value::string(receipt_name(member(input, "transcriptPath").as_js(), state)?))]))
}

fn transcript_locator(input: &Value) -> Answer {
    let bytes = match input.member("base64").and_then(string) {
        Some(base64) => data_encoding::BASE64.decode(base64.as_bytes()).unwrap(),
        None => member(input, "text").as_bytes().to_vec(),
    };
    let found = owner::owner(&bytes[..], member(input, "sessionId").as_bytes()).unwrap().map_err(|refusal| refusal.to_string())?;
    Ok(accepted([("value", found.map_or(Value::Null, |locator| written(|out| write_locator(&locator, out))))]))
}

fn stored_quota(input: &Value) -> Result<Value, Refusal> {
    let mut entries = scope_entries();
    entries.charge(number(input, "scopeRetirementEntries").unwrap())?;
    let mut history = History::default();
    for (count, size) in runs(input) {
        for _ in 0..count {
            history.admit(size)?;
        }
    }
    if let Some(size) = number(input, "append") {
        history.project(size, &entries)?;
    }
    Ok(accepted([]))
}

/// Sizes, plain or in runs: (count, size).
fn runs(input: &Value) -> Vec<(u64, u64)> {
    let sizes = input.member("receiptSizes").and_then(Value::as_array).expect("sizes are given");
    sizes
        .iter()
        .map(|size| match size.as_f64() {
            Some(size) => (1, size as u64),
            None => (number(size, "count").unwrap(), number(size, "size").unwrap()),
        })
        .collect()
}

fn cleanup_budget(input: &Value) -> Result<Value, ReplayError> {
    let mut budget = ReplayBudget::default();
    for _ in 0..number(input, "directoryEntries").unwrap() {
        budget.entry()?;
    }
    for (count, size) in runs(input) {
        for _ in 0..count {
            budget.receipt(size)?;
        }
    }
    let used = |budget: gjc_fsck::gc::Budget| Value::Number(budget.used as f64);
    Ok(accepted([
        ("work", used(budget.work)),
        ("entries", used(budget.entries)),
        ("reads", used(budget.receipts)),
        ("bytes", used(budget.bytes)),
    ]))
}

fn cleanup_name(input: &Value) -> Value {
    match tombstone::parse_name(member(input, "name").as_bytes()) {
        tombstone::Name::Cleanup { tombstone, target, state, attempt } => object([
            ("ok", Value::Bool(true)),
            ("tombstone", Value::string(tombstone)),
            ("op", Value::string(target)),
            ("state", Value::string(state.word())),
            ("attempt", Value::Number(attempt as f64)),
        ]),
        _ => object([("ok", Value::Bool(false))]),
    }
}

/// Within the sessions root by text, both resolved, the root included.
fn within(root: &str) -> impl Fn(&JsString) -> bool {
    let root = resolve(root.as_bytes());
    move |path| {
        let absolute = path.as_bytes().starts_with(b"/");
        absolute && resolve(path.as_bytes()).strip_prefix(root.as_slice()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

fn no_tombstone(why: NotATombstone) -> Answer {
    match why {
        NotATombstone::Skipped => Ok(accepted([("value", Value::Null)])),
        NotATombstone::OwnerScope => Err(ReplayError::OwnerScope.to_string()),
        NotATombstone::Number => Err(ReplayError::Durability.to_string()),
    }
}

fn read_tombstone(input: &Value) -> Answer {
    let text = member_text(input, "text");
    let Some(record) = Value::parse(&text::utf8_lossy(text.as_bytes())) else { return Err(ReplayError::Durability.to_string()) };
    let (scope, directory, root) = (member_text(input, "scopeDigest"), member(input, "scopeDirectory"), member_text(input, "sessionsRoot"));
    match tombstone::read(&record, &scope, directory.as_bytes(), Release::V0_17, &within(&root)) {
        Ok(tombstone) => {
            let targets: Vec<Value> = tombstone.targets.iter().map(target).collect();
            Ok(accepted([("value", Value::Array(targets.into()))]))
        }
        Err(why) => no_tombstone(why),
    }
}

fn target(target: &tombstone::Target) -> Value {
    let big = |number: &gjc_fsck::agent::record::BigInt| Value::string(number.to_string());
    let text = |text: &JsString| Value::String(text.clone());
    let migration = match target.provenance {
        Provenance::V2 => "native_v2",
        Provenance::Legacy => "legacy_unmigrated",
    };
    let evidence = target.owner_evidence.as_ref().map(|evidence| written(|out| evidence.write(out)));
    let evidence = evidence.map(|evidence| ("taskArtifactOwnerDeletionEvidence", evidence));
    let rest = [
        ("path", text(&target.path)),
        ("sessionId", text(&target.session_id)),
        ("cwd", text(&target.cwd)),
        ("provenance", Value::string(target.provenance.word())),
        ("migrationState", Value::string(migration)),
        (
            "identity",
            object([
                ("canonicalPath", text(&target.canonical_path)),
                ("dev", big(&target.dev)),
                ("ino", big(&target.ino)),
                ("size", Value::Number(target.size)),
                ("mtimeMs", Value::Number(target.mtime_ms)),
                ("mtimeNs", big(&target.mtime_ns)),
                ("sha256", text(&target.sha256)),
                ("sessionId", text(&target.session_id)),
            ]),
        ),
    ];
    Value::Object(evidence.into_iter().chain(rest).collect())
}

/// The replay of a cleanup history: its records are chosen by name, read, and judged together.
fn cleanup_replay(input: &Value) -> Answer {
    let (scope, path) = (member_text(input, "scopeDigest"), member_text(input, "tombstone"));
    let directory = path.split("/.gjc-managed-session-internal/").next().unwrap_or_default().to_owned();
    let record = object([
        ("schemaVersion", Value::Number(2.0)),
        ("state", Value::string("retired")),
        ("scope", Value::string(scope.clone())),
        ("targets", Value::Array(vec![input.member("target").expect("a target is given").clone()].into())),
    ]);
    let tombstone = match tombstone::read(&record, &scope, directory.as_bytes(), Release::V0_17, &|_| true) {
        Ok(tombstone) => tombstone,
        Err(why) => return no_tombstone(why),
    };
    let target = &tombstone.targets[0];
    let operation = path.rsplit('/').next().and_then(|name| name.strip_suffix(".json")).unwrap_or_default();
    let mut budget = ReplayBudget::default();
    let files = files(input);
    for _ in &files {
        budget.entry().map_err(|error| error.to_string())?;
    }
    let names = files.iter();
    let records = names
        .filter_map(|(name, bytes)| Some((tombstone::pending_attempt(name.as_bytes(), operation, &target.operation())?, bytes)))
        .collect();
    let history = Cleanups { scope: &scope, tombstone_path: path.as_bytes(), target, release: Release::V0_17 };
    let replayed = history.replay(records, |bytes| {
        budget.receipt(bytes.len() as u64)?;
        Ok(Value::parse(&text::utf8_lossy(bytes)))
    });
    match replayed.map_err(|error| error.to_string())? {
        Replay::Unread => Ok(accepted([("value", Value::Null)])),
        Replay::Pending(all) if all.is_empty() => Ok(accepted([("value", Value::Null)])),
        Replay::Pending(all) => {
            let record = &all.last().expect("a history is not empty").record;
            let shown = [
                "attempt",
                "taskArtifactOwnerTranscriptDeleted",
                "artifactsRemovedAttempt",
                "detachedArtifactsPath",
                "detachedTranscriptPath",
                "plannedArtifactsPath",
                "plannedTranscriptPath",
            ];
            let latest: Object = shown.iter().filter_map(|key| Some((*key, record.member(key)?.clone()))).collect();
            Ok(accepted([("value", Value::Object(latest))]))
        }
    }
}
