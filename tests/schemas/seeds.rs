//! The records that the comparison begins with: every record of the corpus and of the field inputs, every receipt of the
//! vectors, and what this crate's own writers write.

use gjc_fsck::agent::binding::canonical_text;
use gjc_fsck::agent::identity::{Identity, Platform};
use gjc_fsck::corpus::folder;
use gjc_fsck::corpus::recipe::Recipe;
use gjc_fsck::fsys::Kind;
use gjc_fsck::json::{Value, View, stringify, text};
use gjc_fsck::schemas::{self, check};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn parse(text: &str) -> Value {
    Value::parse(text.as_bytes()).unwrap_or_else(|| panic!("{text}"))
}

/// The records that a form is compared on.
pub fn of(form: &str) -> Vec<Value> {
    let mut seeds = match form {
        "binding" => bindings(),
        "corpus-case" => cases(),
        "plan" => plans(),
        "proof" => proofs(),
        "salvage-proof" => salvages(),
        "breadcrumb" => vec![parse(r#"{"cwd":"/w","file":"/w/a.jsonl"}"#)],
        "lock" => locks(),
        "migration-receipt" => migrations(),
        "replacement-receipt" => replacements(),
        "replacement-receipt-v1" => replacements_v1(),
        "retirement-receipt" => retirements(),
        "tombstone" => vectors("tombstone"),
        "cleanup-record" => cleanups(),
        "cleanup-record-owner" => cleanups_with_owner(),
        "header-patch" | "entry-patch" => patches(form),
        _ => Vec::new(),
    };
    seeds.extend(transcripts(form));
    for record in OF_RECIPES.get(form.strip_suffix("-owner").unwrap_or(form)).into_iter().flatten() {
        if !seeds.contains(record) {
            seeds.push(record.clone());
        }
    }
    seeds
}

/// The records in the trees that the recipes of the corpus make, by form: bindings, locks, receipts, tombstones, cleanup
/// records, breadcrumbs.
static OF_RECIPES: LazyLock<BTreeMap<&'static str, Vec<Value>>> = LazyLock::new(|| {
    let mut records: BTreeMap<&'static str, Vec<Value>> = BTreeMap::new();
    for folder in folder::walk(&root().join("corpus")).unwrap().cases {
        let case = folder.case().unwrap();
        for recipe in case.inputs().filter_map(|(_, input)| input.tree.as_ref()).filter(|recipe| is_small(recipe)) {
            let fs = recipe.make().unwrap();
            for (path, meta) in fs.snapshot().iter().filter(|(_, meta)| meta.kind == Kind::File) {
                let Some(bytes) = fs.content(path).filter(|_| meta.size < 1 << 20) else { continue };
                let breadcrumb = path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "terminal-sessions");
                let (form, record) = match check::by_path(path) {
                    _ if breadcrumb => ("breadcrumb", breadcrumb_record(&bytes)),
                    Some(form) => (form.name, Value::parse(&text::utf8_lossy(&bytes))),
                    None => continue,
                };
                let Some(record) = record else { continue };
                let known = records.entry(form).or_default();
                if !known.contains(&record) {
                    known.push(record);
                }
            }
        }
    }
    records
});

/// Large trees and files hold nothing that small ones do not.
fn is_small(recipe: &Recipe) -> bool {
    fn times(value: &Json) -> u64 {
        let own = value.get("times").and_then(Json::as_u64).unwrap_or_default();
        let below = |values: &mut dyn Iterator<Item = &Json>| values.map(times).max().unwrap_or_default();
        match value {
            Json::Object(members) => own.max(below(&mut members.values())),
            Json::Array(items) => below(&mut items.iter()),
            _ => own,
        }
    }
    times(&serde_json::to_value(recipe).unwrap()) < 1_000
}

/// The two lines of a breadcrumb as a record.
fn breadcrumb_record(bytes: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut lines = text.lines();
    let (cwd, file) = (lines.next()?, lines.next()?);
    Some(parse(&serde_json::json!({ "cwd": cwd, "file": file }).to_string()))
}

/// Every form of storage is met in some recipe of the corpus.
#[test]
fn the_recipes_of_the_corpus_hold_records_of_every_form_of_storage() {
    let forms = [
        "binding",
        "breadcrumb",
        "cleanup-record",
        "lock",
        "migration-receipt",
        "replacement-receipt",
        "replacement-receipt-v1",
        "retirement-receipt",
        "tombstone",
    ];
    let lacking: Vec<&str> = forms.into_iter().filter(|form| !OF_RECIPES.contains_key(form)).collect();
    assert_eq!(lacking, [] as [&str; 0]);
    let counts: Vec<(&str, usize)> = OF_RECIPES.iter().map(|(form, records)| (*form, records.len())).collect();
    assert!(counts.iter().map(|(_, count)| count).sum::<usize>() > 40, "{counts:?}");
}

/// Every case of the corpus.
fn cases() -> Vec<Value> {
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(root().join("corpus"))
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.file_name().is_some_and(|name| name == "case.json"))
        .collect();
    files.sort();
    files.iter().map(|file| Value::parse(&std::fs::read(file).unwrap()).unwrap()).collect()
}

fn plans() -> Vec<Value> {
    let hash = "ab".repeat(32);
    let session = format!(
        r#"{{"sessionId":"s","source":"/s/l/x.jsonl","destination":"/s/v2/x.jsonl","operation":"{hash}","size":3,"sha256":"{hash}","copiedAlready":false,"setAside":["/r"]"#
    );
    let whole = format!(
        r#"{session},"artifacts":{{"files":1,"directories":1,"bytes":3,"tree":"{hash}"}},"putBack":{{"from":"/a","to":"/b"}},"refused":{{"code":"c","detail":"d","path":"/p"}}}}"#
    );
    let plan = |scope: &str| {
        parse(&format!(
            r#"{{"schema":"gjc-fsck/plan/1","agentDir":"/a","policy":"copy-retain","scopes":[{scope}],"invalid":[{{"code":"c","detail":"d"}}],"unread":[]}}"#
        ))
    };
    let scope = |session: &str| {
        format!(
            r#"{{"workspace":"/w","directory":"/s/v2","modeChanges":[{{"path":"/s","from":"755","to":"700","acl":true}}],"makes":["/s/v2"],"sessions":[{session}}},{whole}],"leftovers":[{{"operation":"{hash}","setAside":[]}}],"staleReceipts":[{{"path":"/r","wants":"w"}}]}}"#
        )
    };
    vec![plan(""), plan(&scope(&session)), plan(&scope(&session.replace("\"size\":3", "\"size\":18446744073709551616")))]
}

fn proofs() -> Vec<Value> {
    let proof = |size: &str| {
        let file = format!(r#"{{"path":"/x","dev":"1","ino":"2","size":{size},"mtimeNs":"4","sha256":"{}"}}"#, "ab".repeat(32));
        parse(&format!(
            r#"{{"schema":"gjc-fsck/proof/1","tool":"0.1.0","sessionId":"s","workspace":"/w","scope":"d","operation":"o","source":{{"before":{file},"after":{file}}},"destination":{file},"bytesEqual":true,"artifacts":[{{"path":"","kind":"directory"}},{{"path":"a","kind":"file","size":3,"sha256":"x"}}],"receipt":{{"path":"/r","sha256":"x"}},"leftOut":[{{"path":"/l","reason":"r"}}]}}"#
        ))
    };
    vec![proof("3"), proof("18446744073709551616")]
}

fn salvages() -> Vec<Value> {
    let (file, reading) = (r#"{"path":"/x","size":3,"sha256":"x"}"#, r#"{"entries":2,"messages":1,"strict":"malformed","because":"b"}"#);
    vec![parse(&format!(
        r#"{{"schema":"gjc-fsck/salvage-proof/1","tool":"0.1.0","source":{file},"copy":{file},"before":{reading},"after":{reading},"lines":[{{"line":1,"sourceLine":1,"from":0,"to":9,"changed":"c"}}],"left":[{{"sourceLine":2,"from":9,"to":12,"reason":"r"}}]}}"#
    ))]
}

fn bindings() -> Vec<Value> {
    let text = |platform, path: &str| canonical_text(&Identity { platform, canonical_path: path.into() });
    [text(Platform::Posix, "/work/pi"), text(Platform::Win32, r"\\?\Volume{0}\app")]
        .iter()
        .map(|text| Value::parse(text).unwrap())
        .chain([parse(
            // Its members stand in another order.
            &String::from_utf8(text(Platform::Posix, "/work/pi")).unwrap().replacen(
                "\"schemaVersion\":1,\"layoutVersion\":2",
                "\"layoutVersion\":2,\"schemaVersion\":1",
                1,
            ),
        )])
        .collect()
}

fn locks() -> Vec<Value> {
    let lock =
        r#"{"attemptId":"a","pid":7,"bootId":"b","processStartId":"p","createdAt":1,"heartbeatAt":2,"leaseExpiresAt":3,"released":true}"#;
    vec![parse(lock), parse(&lock.replace(",\"released\":true", "").replace("\"bootId\":\"b\",", ""))]
}

fn migrations() -> Vec<Value> {
    let hash = "ab".repeat(32);
    let identity = format!(
        r#"{{"canonicalPath":"/s/l/x.jsonl","sessionId":"s1","dev":"65024","ino":"1","nlink":"1","size":100,"mtimeNs":"1767225600123456789","ctimeNs":"5","sha256":"{hash}","mtimeMs":1767225600123}}"#
    );
    let party =
        |path: &str, identity: &str| format!(r#"{{"path":"{path}","sessionId":"s1","header":{{"id":"s1","cwd":"/srv/pi"}}{identity}}}"#);
    let with = format!(r#","identity":{identity},"sha256":"{hash}""#);
    let tree = r#"{"rootDev":"65024","rootIno":"9","entries":[{"relativePath":"","kind":"directory","dev":"65024","ino":"9","nlink":"2","size":"4096","mtimeNs":"3","ctimeNs":"4"}]}"#;
    let place = r#"{"dev":"65024","ino":"9","size":"4096","mtimeNs":"3","parentDev":"65024","parentIno":"8"}"#;
    let quarantine = |role: &str| {
        format!(
            r#""sourceArtifactQuarantine":{{"path":"/s/l/x","detachedPath":"/s/l/.gjc-migrate-a-artifacts","identity":{place},"tree":{tree}{role}}}"#
        )
    };
    let role = r#","role":"detached_artifact_root""#;
    let cleanup = format!(
        r#""sourceArtifactCleanup":{{"state":"cleanup_pending","role":"exchange_placeholder","retainedPath":"/s/l/.gjc-y","identity":{place},"tree":{tree}}}"#
    );
    let receipt = |state: &str, manifest: &str, destination: &str, rest: &str| {
        let (source, destination) = (party("/s/l/x.jsonl", &with), party("/s/v2/x.jsonl", destination));
        parse(&format!(
            r#"{{"schemaVersion":2,"state":"{state}","policy":"copy-retain","attemptId":"a","scope":"d","source":{source},"destination":{destination},"artifactManifest":[{manifest}]{rest}}}"#
        ))
    };
    let manifest = format!(r#"{{"kind":"directory","path":""}},{{"kind":"file","path":"a/b","size":3,"sha256":"{hash}"}}"#);
    vec![
        receipt("committed", "", &with, ""),
        receipt("committed", &manifest, &with, &format!(",{},{cleanup}", quarantine(role))),
        receipt("published", &manifest, &with, &format!(",{}", quarantine(role))),
        receipt("prepared", "", "", ""),
        receipt("prepared", "", "", &format!(",{}", quarantine(""))),
        receipt("artifact_detached", "", "", &format!(r#",{},"detachOutcome":"clean""#, quarantine(role))),
        receipt("artifact_detached", "", "", &format!(r#",{},{cleanup},"detachOutcome":"cleanup_pending""#, quarantine(role))),
        receipt("committed", "", &with.replace("65024", "18446744073709551616"), ""),
    ]
}

fn replacements() -> Vec<Value> {
    let file = |ino: &str| {
        format!(r#"{{"dev":"65024","ino":"{ino}","nlink":"1","size":"200","mtimeNs":"17","ctimeNs":"18","sha256":"{}"}}"#, "ab".repeat(32))
    };
    let attempt = "47173f68-71c9-4058-8e21-0e199166ede8";
    let receipt = |publisher: &str| {
        parse(&format!(
            r#"{{"version":3,"staging":"/s/.x.jsonl.{attempt}.replacement","destination":"/s/x.jsonl","successor":{},"predecessor":{}{publisher}}}"#,
            file("2"),
            file("-1")
        ))
    };
    let publisher = |incarnation: &str| {
        format!(r#","publisher":{{"attemptId":"{attempt}","ownerId":"{attempt}","pid":7,"incarnation":"{incarnation}","host":"h"}}"#)
    };
    let large = parse(&stringify::to_text(&receipt("")).replace("\"size\":\"200\"", "\"size\":\"9007199254740992\""));
    vec![receipt(""), receipt(&publisher("linux:77")), receipt(&publisher("darwin:1:2")), receipt(&publisher("windows:5")), large]
}

fn replacements_v1() -> Vec<Value> {
    let receipt = r#"{"version":1,"predecessor":"/s/.gjc-exact-replace-destination-10-2","successor":"/s/x.jsonl","identity":{"dev":"16","ino":"2","nlink":"1","size":"3","mtimeNs":"4","ctimeNs":"5","sha256":"HASH"}}"#;
    let receipt = receipt.replace("HASH", &"ab".repeat(32));
    vec![parse(&receipt), parse(&receipt.replace("10-2", "10-3")), parse(&receipt.replace("/s/x.jsonl", "/t/x.jsonl"))]
}

/// The values of the receipts of the vectors' cases of a kind, and the texts that are JSON.
fn vectors(kind: &str) -> Vec<Value> {
    let cases = std::fs::read(root().join("tests/vectors/gc/cases.json")).unwrap();
    let cases = Value::parse(&cases).unwrap();
    let mut values = Vec::new();
    for case in cases.member("cases").unwrap().items().filter(|case| case.get("kind").is_some_and(|found| found.is_str(kind))) {
        let input = case.member("input").unwrap();
        if let Some(value) = input.member("value") {
            values.push(value.clone());
        } else if let Some(text) = input.str_member("text") {
            values.extend(Value::parse(&text));
        }
    }
    assert!(values.len() > 5, "{kind}: {}", values.len());
    values
}

/// The receipts of the vectors, and from one that left something: what is left without its root, and another rest beside it.
fn retirements() -> Vec<Value> {
    let mut seeds = vectors("receipt");
    let outcome =
        |seed: &Value| seed.member("taskArtifactOwnerRetirementOutcome").is_some_and(|outcome| outcome.member("continuation").is_some());
    let read = schemas::form("retirement-receipt").unwrap().typed.unwrap();
    let pending = seeds.iter().find(|seed| outcome(seed) && read(seed).is_ok()).unwrap();
    let pending: Json = serde_json::from_str(&stringify::to_text(pending)).unwrap();
    let mut with = |change: &dyn Fn(&mut Json)| {
        let mut changed = pending.clone();
        change(&mut changed);
        seeds.push(parse(&changed.to_string()));
    };
    with(&|receipt| {
        let rest = receipt.pointer_mut("/taskArtifactOwnerRetirementOutcome/continuation/retainedTreeSnapshot/rootIno").unwrap();
        *rest = "7".into();
    });
    with(&|receipt| receipt["taskArtifactOwnerRetirementContinuation"]["payloadDurable"] = false.into());
    seeds
}

fn cleanups() -> Vec<Value> {
    let identity = format!(
        r#"{{"canonicalPath":"/s/v2/x.jsonl","sessionId":"s","dev":"1","ino":"2","nlink":"1","size":3,"mtimeNs":"4","ctimeNs":"5","sha256":"{}","mtimeMs":0}}"#,
        "ab".repeat(32)
    );
    let record = |schema: u8, state: &str, rest: &str| {
        parse(&format!(
            r#"{{"schemaVersion":{schema},"state":"{state}","scope":"d","tombstone":"/s/v2/t.json","attempt":1,"target":{{"path":"/s/v2/x.jsonl","sessionId":"s","cwd":"/w","identity":{identity}}}{rest}}}"#
        ))
    };
    let planned = r#","plannedArtifactsPath":"/s/v2/.gjc-delete-a","plannedTranscriptPath":"/s/v2/.gjc-delete-b""#;
    let tree = r#"{"rootDev":"1","rootIno":"9","entries":[{"relativePath":"","kind":"directory","dev":"1","ino":"9","size":"0","mtimeNs":"3","ctimeNs":"4"}]}"#;
    let whole = format!(
        r#"{planned},"detachedArtifactsPath":"/s/v2/.gjc-delete-a","detachedTranscriptPath":"/s/v2/.gjc-delete-b","retainedArtifactsUnknownPath":"/s/v2/.gjc-z","artifactsPayloadDurable":true,"transcriptPayloadDurable":true,"artifactsRemovedAttempt":1,"expectedArtifactsIdentity":{{"dev":"1","ino":"9","size":0,"mtimeNs":"3","sha256":"x"}},"expectedArtifactsTree":{tree}"#
    );
    vec![
        record(2, "cleanup_pending", planned),
        record(2, "cleanup_pending", &whole),
        record(
            2,
            "cleanup_pending",
            &whole.replace(
                "\"dev\":\"1\",\"ino\":\"9\",\"size\":0,\"mtimeNs\":\"3\",\"sha256\"",
                "\"dev\":\"x\",\"ino\":\"9\",\"size\":0,\"mtimeNs\":\"3\",\"sha256\"",
            ),
        ),
        record(1, "cleanup_completed", ""),
        record(2, "artifacts_removed", ""),
        record(
            2,
            "artifacts_removed",
            &format!(
                r#"{planned},"artifactsPayloadDurable":true,"retainedArtifactsRoot":{{"path":"/s/v2/.gjc-delete-a.removing","identity":{{"dev":"1","ino":"9","size":0,"mtimeNs":"3","sha256":""}},"tree":{tree}}}"#
            ),
        ),
    ]
}

/// The same of a session with task artifacts.
fn cleanups_with_owner() -> Vec<Value> {
    let with = |record: &Value, members: &[&str]| {
        let mut record: Json = serde_json::from_str(&stringify::to_text(record)).unwrap();
        members.iter().for_each(|member| record[*member] = true.into());
        parse(&record.to_string())
    };
    let deleted = "taskArtifactOwnerTranscriptDeleted";
    let all = ["taskArtifactOwnerDeletionEvidence", "taskArtifactOwnerRetirementOutcome", "taskArtifactOwnerRetired", deleted];
    let plain = cleanups();
    let mut seeds: Vec<Value> = plain.iter().flat_map(|record| [record.clone(), with(record, &[deleted])]).collect();
    seeds.extend(
        plain.iter().filter(|record| record.str_member("state").is_some_and(|s| *s == *b"cleanup_completed")).map(|r| with(r, &all)),
    );
    seeds
}

fn patches(form: &str) -> Vec<Value> {
    let texts: &[&str] = match form {
        "header-patch" => &[
            r#"{"type":"header_patch","patch":{}}"#,
            r#"{"type":"header_patch","patch":{"cwd":"/","title":"t","titleSource":"auto","starred":true}}"#,
        ],
        _ => &[
            r#"{"type":"entry_patch","entryId":"a","patch":{}}"#,
            r#"{"type":"entry_patch","entryId":"a","patch":{"message":{"role":"user"}}}"#,
        ],
    };
    texts.iter().map(|text| parse(text)).collect()
}

/// Transcripts of the repository: corpus and field.
fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(root().join("corpus"))
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    files
}

/// Records of the transcripts that have this form, and for each type of entry one that is whole.
fn transcripts(form: &str) -> Vec<Value> {
    let Some(version) =
        form.rsplit_once("-v").and_then(|(_, version)| version.parse::<u8>().ok()).or(form.ends_with("-patch").then_some(5))
    else {
        return Vec::new();
    };
    if form.starts_with("replacement") {
        return Vec::new();
    }
    let mut records = Vec::new();
    for file in files() {
        let bytes = std::fs::read(&file).unwrap();
        let mut first = true;
        for line in text::utf8_lossy(&bytes).split(|byte| *byte == b'\n') {
            let Some(record) = Value::parse(line) else { continue };
            let header = first && record.str_member("type").is_some_and(|kind| *kind == *b"session");
            first &= !header;
            // A record is compared as one of every version, a header as one of the version that it names.
            if schemas::of_record(&record, version, header).is_some_and(|found| found.name == form) && !records.contains(&record) {
                records.push(record);
            }
        }
    }
    if form.starts_with("entry-v") {
        records.extend(whole_entries(version));
    }
    if form.starts_with("header-v") {
        records.push(parse(&format!(r#"{{"type":"session","version":{version},"id":"s","timestamp":"t","cwd":"/","title":"t"}}"#)));
    }
    // The largest add nothing.
    records.retain(|record| gjc_fsck::json::stringify::to_text(record).len() < 20_000);
    records
}

fn whole_entries(version: u8) -> Vec<Value> {
    let payloads = [
        r#""type":"message","message":{"role":"hookMessage","content":"x"}"#,
        r#""type":"model_change","model":"a/b""#,
        r#""type":"model_change","provider":"a","modelId":"b""#,
        r#""type":"configured_model_chain","role":"r","entries":["","m"]"#,
        r#""type":"configured_model_chain","role":"r","cleared":true"#,
        r#""type":"compaction","summary":"s","firstKeptEntryId":"a","tokensBefore":1"#,
        r#""type":"branch_summary","fromId":"root","summary":"s""#,
        r#""type":"custom","customType":"c","data":1"#,
        r#""type":"custom_message","customType":"c","content":[],"display":true"#,
        r#""type":"label","targetId":"a","label":"x""#,
        r#""type":"ttsr_injection","injectedRules":["a"]"#,
        r#""type":"mcp_tool_selection","selectedToolNames":["a"],"selectedDiscoveredBuiltinToolNames":[],"mutationCorrelationId":"m""#,
        r#""type":"discovered_builtin_tool_selection","selectedToolNames":[],"mutationCorrelationId":"m""#,
        r#""type":"session_init","systemPrompt":"p","task":"t","tools":["a"]"#,
        r#""type":"mode_change","mode":"plan""#,
        r#""type":"thinking_level_change","thinkingLevel":"high","operatorIntent":true"#,
        r#""type":"service_tier_change","serviceTier":null"#,
        r#""type":"session","version":5,"cwd":"/""#,
    ];
    let mut entries: Vec<Value> =
        payloads.iter().map(|payload| parse(&format!(r#"{{"id":"a","parentId":null,"timestamp":"t",{payload}}}"#))).collect();
    if version == 1 {
        for index in ["1", "5", "0", "99", "6", "\"1\"", "null"] {
            entries.push(parse(&format!(
                r#"{{"timestamp":"t","type":"compaction","summary":"s","tokensBefore":1,"firstKeptEntryIndex":{index}}}"#
            )));
        }
    }
    entries
}
