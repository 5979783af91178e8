//! The bytes of every receipt that a repair writes, spelled out (spec 02 §6.5), and gjc's own matching of them.

use super::common::Clock;
use super::scenes::{LEGACY, NOW, SCENES, resolved, run, scope, source, world};
use gjc_fsck::agent::artifacts;
use gjc_fsck::agent::candidates::{self, Candidate, Provenance};
use gjc_fsck::agent::migration_receipt::State;
use gjc_fsck::corpus::clean;
use gjc_fsck::fsys::{Fs, Memory};
use gjc_fsck::repair::Outside;
use gjc_fsck::repair::receipts::locale_compare;
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

/// Nine clauses of spec 02 §7.2, asked of the reader that the listing uses; and one edit a clause that breaks it.
#[test]
fn gjcs_matching_accepts_the_receipt_and_sees_each_change() {
    let fs = with_artifacts();
    run(&fs, NOW, 12);
    let scope = resolved(&fs);
    let source = source(&fs);
    let operation = source.identity(&fs).unwrap().operation();
    let receipt = scope.protocol("receipts").join(State::Committed.file_name(&operation));
    let destination = scope.directory.join(clean::name("s1"));
    let matches = || {
        let copy = Candidate::read(&fs, &destination, Provenance::V2).unwrap();
        candidates::matches(&fs, &scope.digest(), &receipt, &source, &copy)
    };
    assert_eq!(matches(), Ok(()));
    // A session that goes on keeps its receipt; one that loses an artifact does not.
    fs.append(&destination, clean::label("more").as_bytes());
    assert_eq!(matches(), Ok(()));
    fs.remove(destination.with_extension("").join("0.bash.log"));
    assert_eq!(matches().map_err(|clause| clause.number()), Err(7));
    let listing = candidates::list(&world(&fs, NOW), &scope).unwrap();
    assert_eq!(listing.stale.len(), 1, "and then both copies are listed");
}

#[test]
fn a_manifest_is_in_the_order_of_the_collation() {
    let mut paths = ["sub/1.read.md", "sub", "", "empty", "0.bash.log", "Sub", "a-b", "a/b"];
    paths.sort_by(|a, b| locale_compare(a, b));
    assert_eq!(paths, ["", "0.bash.log", "a-b", "a/b", "empty", "sub", "Sub", "sub/1.read.md"]);
}
