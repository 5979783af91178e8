//! The bytes of every receipt that a repair writes, spelled out (spec 02 §6.5), and gjc's own matching of them.

use super::common::Clock;
use super::scenes::{LEGACY, NOW, SCENES, resolved, run, scope, source, world};
use gjc_fsck::agent::artifacts;
use gjc_fsck::agent::candidates::{self, Candidate, Provenance};
use gjc_fsck::agent::collation::locale_compare;
use gjc_fsck::agent::migration_receipt::State;
use gjc_fsck::agent::world::Scope;
use gjc_fsck::corpus::clean;
use gjc_fsck::fsys::{Fs, Memory};
use gjc_fsck::repair::Outside;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn with_artifacts() -> Memory {
    let scene = SCENES.iter().find(|scene| scene.name == "with artifacts").unwrap();
    (scene.build)()
}

/// `{"path":…,"sessionId":…,"header":{…}` of one side, and its identity where the record has one.
fn party(fs: &Memory, path: &Path, with_identity: bool) -> String {
    let text = path.display();
    let mut party = format!(r#"{{"path":"{text}","sessionId":"s1","header":{{"id":"s1","cwd":"/ws"}}"#);
    if with_identity {
        let meta = fs.lstat(path).unwrap();
        let identity = Candidate::read(fs, path, Provenance::Legacy).unwrap().identity(fs).unwrap();
        party += &format!(
            r#","identity":{{"canonicalPath":"{text}","sessionId":"s1","dev":"{}","ino":"{}","nlink":"1","size":{},"mtimeNs":"{}","ctimeNs":"{}","sha256":"{sha}","mtimeMs":{}}},"sha256":"{sha}""#,
            meta.dev,
            meta.ino,
            meta.size,
            meta.mtime_ns,
            meta.ctime_ns,
            meta.mtime_ns / 1_000_000,
            sha = identity.sha256,
        );
    }
    party + "}"
}

fn kept(fs: &Memory, word: &str) -> String {
    let recovery = PathBuf::from(scope()).join(".gjc-recovery");
    let all = fs.list(&recovery).unwrap().into_iter().filter_map(|entry| fs.content(recovery.join(entry.name)));
    let texts: Vec<String> = all.map(|bytes| String::from_utf8(bytes).unwrap()).filter(|text| text.contains(word)).collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
    texts.into_iter().next().unwrap()
}

#[test]
fn each_receipt_has_its_exact_bytes() {
    let fs = with_artifacts();
    let source_at = PathBuf::from(format!("{LEGACY}/{}", clean::name("s1")));
    let artifacts_at = source_at.with_extension("");
    let survey = artifacts::survey(&fs, &artifacts_at).unwrap().unwrap();
    let (root, parent) = (survey.items[0].meta, fs.lstat(Path::new(LEGACY)).unwrap());
    let tree = String::from_utf8(gjc_fsck::agent::record::json_text(&artifacts::snapshot(&fs, &survey).unwrap().to_value())).unwrap();
    run(&fs, NOW, 12);
    let destination = PathBuf::from(scope()).join(clean::name("s1"));
    let operation = source(&fs).identity(&fs).unwrap().operation();
    // The first UUID that a process of this number asks for is the attempt of its lock.
    let attempt = Clock::new(NOW, 12).uuid();
    let digest = resolved(&fs).digest();
    let head = |state: &str| {
        format!(r#"{{"schemaVersion":2,"state":"{state}","policy":"copy-retain","attemptId":"{attempt}","scope":"{digest}","#)
    };
    let hash = |name: &str| artifacts::hash(&fs, &artifacts_at.join(name)).unwrap();
    let manifest = format!(
        r#"[{{"kind":"directory","path":""}},{{"kind":"file","path":"0.bash.log","size":700,"sha256":"{}"}},{{"kind":"directory","path":"empty"}},{{"kind":"directory","path":"sub"}},{{"kind":"file","path":"sub/1.read.md","size":4,"sha256":"{}"}}]"#,
        hash("0.bash.log"),
        hash("sub/1.read.md"),
    );
    let source = party(&fs, &source_at, true);
    let finished = |state: &str| {
        format!("{}\"source\":{source},\"destination\":{},\"artifactManifest\":{manifest}}}\n", head(state), party(&fs, &destination, true))
    };
    let committed = fs.content(resolved(&fs).protocol("receipts").join(State::Committed.file_name(&operation))).unwrap();
    assert_eq!(String::from_utf8(committed).unwrap(), finished("committed"));
    assert_eq!(kept(&fs, r#""state":"published""#), finished("published"));
    let quarantine = format!(
        r#"{{"path":"{0}","detachedPath":"{LEGACY}/.gjc-migrate-{operation}-artifacts","identity":{{"dev":"{1}","ino":"{2}","size":"{3}","mtimeNs":"{4}","parentDev":"{5}","parentIno":"{6}"}},"tree":{tree}}}"#,
        artifacts_at.display(),
        root.dev,
        root.ino,
        root.size,
        root.mtime_ns,
        parent.dev,
        parent.ino,
    );
    let prepared = format!(
        "{}\"source\":{source},\"destination\":{},\"artifactManifest\":[],\"sourceArtifactQuarantine\":{quarantine}}}\n",
        head("prepared"),
        party(&fs, &destination, false)
    );
    assert_eq!(kept(&fs, r#""state":"prepared""#), prepared);
}

/// A migrated session with its receipt, and gjc's matching of the three (spec 02 §7.2), by the reader that the listing uses.
struct Migrated {
    fs: Memory,
    scope: Scope,
    source: Candidate,
    receipt: PathBuf,
    destination: PathBuf,
}

impl Migrated {
    fn new() -> Self {
        let fs = with_artifacts();
        run(&fs, NOW, 12);
        let (scope, source) = (resolved(&fs), source(&fs));
        let operation = source.identity(&fs).unwrap().operation();
        let receipt = scope.protocol("receipts").join(State::Committed.file_name(&operation));
        let destination = scope.directory.join(clean::name("s1"));
        Migrated { fs, scope, source, receipt, destination }
    }
    /// The number of the first clause that does not hold; 0 when all do.
    fn broken(&self) -> u8 {
        let copy = Candidate::read(&self.fs, &self.destination, Provenance::V2).unwrap();
        let matched = candidates::matches(&self.fs, &self.scope.digest(), &self.receipt, &self.source, &copy);
        matched.map_or_else(|clause| clause.number(), |()| 0)
    }
    fn rewrite(&self, bytes: &[u8]) {
        self.fs.truncate(&self.receipt, 0);
        self.fs.append(&self.receipt, bytes);
    }
}

/// One edit of the receipt each: the clause that it breaks.
#[test]
fn gjcs_matching_accepts_the_receipt_and_sees_each_edit_of_it() {
    let migrated = Migrated::new();
    assert_eq!(migrated.broken(), 0);
    let bytes = migrated.fs.content(&migrated.receipt).unwrap();
    let written: Value = serde_json::from_slice(&bytes).unwrap();
    let manifest = |entry: Value| json!([entry]);
    let hash = "0123456789abcdef".repeat(4);
    let placeholder = json!({"state": "cleanup_pending", "role": "exchange_placeholder", "retainedPath": format!("{LEGACY}/gone")});
    let edits: [(&str, Value, u8); 40] = [
        ("/source/path", json!("/elsewhere.jsonl"), 2),
        ("/source/sha256", json!(hash), 2),
        ("/destination/path", json!("/elsewhere.jsonl"), 2),
        ("/artifactManifest", json!({}), 4),
        ("/artifactManifest", manifest(json!(null)), 4),
        ("/artifactManifest", manifest(json!({"kind": "directory", "path": 1})), 4),
        ("/artifactManifest", manifest(json!({"kind": "directory", "path": "/sub"})), 4),
        ("/artifactManifest", manifest(json!({"kind": "directory", "path": "sub/../sub"})), 4),
        ("/artifactManifest", manifest(json!({"kind": "directory", "path": "sub\\..\\sub"})), 4),
        ("/artifactManifest", manifest(json!({"kind": "link", "path": "sub"})), 4),
        ("/artifactManifest", manifest(json!({"kind": "file", "path": "0.bash.log", "size": 700})), 4),
        ("/artifactManifest", manifest(json!({"kind": "file", "path": "0.bash.log", "size": 700, "sha256": hash.to_uppercase()})), 4),
        ("/artifactManifest", manifest(json!({"kind": "file", "path": "0.bash.log", "size": -1, "sha256": hash})), 4),
        ("/artifactManifest", manifest(json!({"kind": "file", "path": "0.bash.log", "size": 0.5, "sha256": hash})), 4),
        ("/sourceArtifactCleanup", placeholder, 5),
        ("/schemaVersion", json!(1), 6),
        ("/state", json!("published"), 6),
        ("/policy", json!("disabled"), 6),
        ("/scope", json!("a".repeat(52)), 6),
        ("/artifactManifest", manifest(json!({"kind": "directory", "path": "another"})), 7),
        ("/artifactManifest", manifest(json!({"kind": "file", "path": "sub", "size": 0, "sha256": hash})), 7),
        ("/artifactManifest", manifest(json!({"kind": "file", "path": "0.bash.log", "size": 700, "sha256": hash})), 7),
        ("/source/sessionId", json!("other"), 8),
        ("/source/header/id", json!("other"), 8),
        ("/source/header/cwd", json!("/other"), 8),
        ("/source/identity/dev", json!("0"), 8),
        ("/source/identity/ino", json!(1), 8),
        ("/source/identity/size", json!(1), 8),
        ("/source/identity/mtimeNs", json!("1"), 8),
        ("/destination/sessionId", json!("other"), 9),
        ("/destination/header/id", json!("other"), 9),
        ("/destination/header/cwd", json!("/other"), 9),
        ("/destination/identity/dev", json!("0"), 9),
        ("/destination/identity/ino", json!("1"), 9),
        // What no clause asks for.
        ("/attemptId", json!("other"), 0),
        ("/destination/identity/size", json!(1), 0),
        ("/destination/identity/mtimeNs", json!("1"), 0),
        ("/destination/identity/sha256", json!(hash), 0),
        ("/artifactManifest", json!([]), 0),
        ("/more", json!("keys"), 0),
    ];
    for (pointer, value, clause) in edits {
        let mut edited = written.clone();
        match edited.pointer_mut(pointer) {
            Some(place) => *place = value.clone(),
            None => _ = edited.as_object_mut().unwrap().insert(pointer[1..].to_owned(), value.clone()),
        }
        migrated.rewrite(edited.to_string().as_bytes());
        assert_eq!(migrated.broken(), clause, "{pointer} = {value}");
    }
    for (bytes, clause) in [(&b"{\"schemaVersion\":2"[..], 1), (b"null", 1), (b"", 1), (&bytes, 0)] {
        migrated.rewrite(bytes);
        assert_eq!(migrated.broken(), clause, "{}", String::from_utf8_lossy(bytes));
    }
}

/// One change of the files each.
#[test]
fn gjcs_matching_sees_each_change_of_the_files() {
    let artifact = |migrated: &Migrated| migrated.destination.with_extension("").join("0.bash.log");
    type Change<'c> = &'c dyn Fn(&Migrated);
    let changes: [(&str, Change<'_>, u8); 10] = [
        ("nothing", &|_| (), 0),
        ("the session goes on", &|m| m.fs.append(&m.destination, clean::label("more").as_bytes()), 0),
        ("an artifact more", &|m| m.fs.file(m.destination.with_extension("").join("new"), b"new"), 0),
        ("the receipt has a second name", &|m| m.fs.hard_link(&m.receipt, "/second"), 1),
        ("the legacy file grows", &|m| m.fs.append(&m.source.path, clean::label("more").as_bytes()), 3),
        ("the legacy file is another one", &|m| copy_over(&m.fs, &m.source.path), 3),
        ("the copy is cut", &|m| m.fs.truncate(&m.destination, m.source.meta.size as usize - 1), 3),
        ("an artifact is gone", &|m| m.fs.remove(artifact(m)), 7),
        ("an artifact has other bytes", &|m| m.fs.append(artifact(m), b"x"), 7),
        ("the copy is another file", &|m| copy_over(&m.fs, &m.destination), 9),
    ];
    for (what, change, clause) in changes {
        let migrated = Migrated::new();
        change(&migrated);
        assert_eq!(migrated.broken(), clause, "{what}");
        let listing = candidates::list(&world(&migrated.fs, NOW), &migrated.scope).unwrap();
        assert_eq!(listing.owned.len(), if clause == 0 { 1 } else { 2 }, "{what}: then both are listed");
    }
}

/// Another file with the same bytes.
fn copy_over(fs: &Memory, path: &Path) {
    let bytes = fs.content(path).unwrap();
    fs.remove(path);
    fs.file(path, &bytes);
}

#[test]
fn a_manifest_is_in_the_order_of_the_collation() {
    let mut paths = ["sub/1.read.md", "sub", "", "empty", "0.bash.log", "Sub", "a-b", "a/b"];
    paths.sort_by(|a, b| locale_compare(a, b));
    assert_eq!(paths, ["", "0.bash.log", "a-b", "a/b", "empty", "sub", "Sub", "sub/1.read.md"]);
}
