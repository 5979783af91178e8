//! Opening a session for writing, from its strict inspection on: what still refuses it or throws (spec 01 §2.5, §2.8;
//! 01a 1–7). Nothing is opened here; this says what gjc would do.
//!
//! Two destinations: an explicit path, whose live context is built at once, and the managed root, which inspects the
//! file again, looks for it among the candidates of its workspace, and builds the context later.

use super::context::{Compaction, Context, Kept, build};
use super::facts::{Fact, Facts};
use super::hazard::Hazards;
use super::inspect::{Reason, Verdict};
use super::load::Loaded;
use super::readers::candidate;
use super::tree::{Leaf, Tree};
use crate::finding::Release;

/// What opening does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Opening {
    /// It opens.
    Opens,
    /// gjc refuses with this message.
    Refused(String),
    /// The engine, or the operating system, throws.
    Throws {
        /// `ENAMETOOLONG` or `EISDIR` when the operating system does.
        code: Option<&'static str>,
    },
}

/// What opening from the managed root does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ManagedOpening {
    /// The opening itself.
    pub opening: Opening,
    /// What building the first context does, when it opens.
    pub context: Opening,
}

/// The message for a file below `.staging`.
pub const STAGED: &str = "Staged session paths are not resumable";
/// The message for a file below the managed root that the candidate listing does not name.
pub const NOT_A_CANDIDATE: &str = "Session is inside managed storage but is not an authorized managed candidate.";

/// Opens with an explicit destination. `staged`: the path lies in a folder `.staging`. A missing file is created.
pub fn explicit(verdict: &Verdict, loaded: Option<&Loaded<Facts>>, staged: bool, release: Release) -> Opening {
    let refused = refusal(verdict, staged);
    if refused != Opening::Opens {
        return refused;
    }
    match loaded.map(|loaded| (anywhere(loaded), loaded)) {
        Some((Opening::Opens, loaded)) => in_context(loaded, release),
        Some((opening, _)) => opening,
        None => Opening::Opens,
    }
}

/// What the strict inspection before the opening leads to.
fn refusal(verdict: &Verdict, staged: bool) -> Opening {
    match verdict {
        _ if staged => Opening::Refused(STAGED.to_owned()),
        Verdict::Resumable | Verdict::Terminal | Verdict::Error(Reason::Missing) => Opening::Opens,
        Verdict::Error(reason) => Opening::Refused(format!("Could not open session: {}", reason.token())),
    }
}

/// What the hazards of all entries do that throw wherever the entry stands: all are walked by functions that recurse, the
/// references of all are asked for, then all replay payloads are sanitised.
pub fn anywhere(loaded: &Loaded<Facts>) -> Opening {
    if loaded.entries.iter().any(Fact::is_deep) {
        return Opening::Throws { code: None };
    }
    match loaded.entries.iter().find(|fact| fact.hazards.any(Hazards::REFERENCE)) {
        Some(fact) => Opening::Throws { code: fact.hazards.of(Hazards::REFERENCE).code() },
        None if loaded.entries.iter().any(|fact| fact.hazards.any(Hazards::ANYWHERE)) => Opening::Throws { code: None },
        None => Opening::Opens,
    }
}

/// What gjc throws when it opens a session that the strict reader took, and builds its first context: `TypeError`, or what the
/// operating system answers; none when nothing throws.
pub fn throws(loaded: &Loaded<Facts>, release: Release) -> Option<&'static str> {
    let opening = match anywhere(loaded) {
        Opening::Opens => in_context(loaded, release),
        opening => opening,
    };
    match opening {
        Opening::Opens => None,
        Opening::Throws { code: Some(code) } => Some(code),
        Opening::Refused(_) | Opening::Throws { code: None } => Some("TypeError"),
    }
}

/// What building the live context does: it throws when an entry with a hazard is materialised. That is every entry of
/// the path that the winning compaction does not cover; a compaction that finds no kept entry covers nothing.
pub fn in_context(loaded: &Loaded<Facts>, release: Release) -> Opening {
    if !loaded.entries.iter().any(|fact| fact.hazards.any(Hazards::IN_CONTEXT)) {
        return Opening::Opens;
    }
    let tree = Tree::new(loaded);
    match build(&tree, Leaf::Last, release) {
        Ok(Context { path, compaction, .. }) => {
            let hazards = materialised(&path.entries, compaction).iter().map(|entry| loaded.entries[*entry].hazards);
            match hazards.map(|hazards| hazards.of(Hazards::IN_CONTEXT)).find(|hazards| !hazards.is_empty()) {
                Some(first) => Opening::Throws { code: first.code() },
                None => Opening::Opens,
            }
        }
        Err(_) => Opening::Throws { code: None },
    }
}

/// The entries of a path that a live context materialises, given the compaction that counts on it.
pub fn materialised(path: &[usize], compaction: Option<Compaction>) -> &[usize] {
    let from = compaction.map_or(0, |compaction| match compaction.kept {
        Kept::From(first) => first,
        Kept::Replaced => compaction.place,
        Kept::NotFound => 0,
    });
    &path[from..]
}

/// Where the identity of a workspace path leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Workspace {
    /// To the workspace in whose folder the file lies.
    Same,
    /// To another workspace.
    Other,
    /// Nowhere: the directory does not exist.
    Missing,
    /// To something that is no directory.
    NotADirectory,
}

/// What is known of a file that is to be opened as a managed session.
pub struct ManagedFile<'a> {
    /// The path lies in a folder `.staging`.
    pub staged: bool,
    /// The path itself is a symbolic link.
    pub symlink: bool,
    /// Link count of the file.
    pub links: u64,
    /// The file lies below the managed root.
    pub inside: bool,
    /// The file stands where the listing of a scope looks: directly in it, under a name that ends with `.jsonl`.
    pub listed_place: bool,
    /// Reader M calls the bytes malformed.
    pub malformed: bool,
    /// The first bytes of the file ([`candidate::WINDOW`] are enough).
    pub first_bytes: &'a [u8],
    /// `cwd` of the header as it stands in the file.
    pub header_cwd: Option<&'a [u8]>,
}

/// Opens a session of the managed root. `workspace` answers where a `cwd` leads.
pub fn managed(
    verdict: &Verdict,
    loaded: Option<&Loaded<Facts>>,
    file: &ManagedFile<'_>,
    workspace: impl Fn(&[u8]) -> Workspace,
    release: Release,
) -> ManagedOpening {
    let opening = managed_steps(verdict, loaded, file, workspace);
    let context = match loaded {
        Some(loaded) if opening == Opening::Opens => in_context(loaded, release),
        _ => Opening::Opens,
    };
    ManagedOpening { opening, context }
}

fn managed_steps(
    verdict: &Verdict,
    loaded: Option<&Loaded<Facts>>,
    file: &ManagedFile<'_>,
    workspace: impl Fn(&[u8]) -> Workspace,
) -> Opening {
    let refused = refusal(verdict, file.staged);
    if refused != Opening::Opens || *verdict == Verdict::Error(Reason::Missing) {
        return refused;
    }
    let refuse = |message: &str| Opening::Refused(message.to_owned());
    if file.inside && file.symlink {
        return refuse("reparse_point");
    }
    if file.inside && file.links > 1 {
        return refuse("hard_link");
    }
    if file.links > 1 {
        return refuse("Could not inspect managed session: read-failed");
    }
    if file.malformed {
        return refuse("Could not inspect managed session: malformed");
    }
    // The listing is asked for the workspace of the unpatched header; without one it is not asked.
    if let Some(cwd) = file.header_cwd.filter(|cwd| file.inside && !cwd.is_empty()) {
        match workspace(cwd) {
            Workspace::Missing => {
                return refuse("Could not resolve managed session scope: The workspace directory does not exist.");
            }
            Workspace::NotADirectory => {
                return refuse("Could not resolve managed session scope: The workspace path is not a directory.");
            }
            Workspace::Same if file.listed_place && candidate::header(file.first_bytes).is_ok() => {}
            Workspace::Same | Workspace::Other => return refuse(NOT_A_CANDIDATE),
        }
    }
    loaded.map_or(Opening::Opens, anywhere)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::inspect::{Inspected, Options, bytes};

    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/w"}"#;

    fn inspected(lines: &[&str]) -> Inspected {
        let text = [&[HEADER], lines].concat().join("\n");
        bytes(text.as_bytes(), text.len() as u64, Options::new(Release::V0_17)).unwrap()
    }
    fn entry(id: &str, parent: &str, rest: &str) -> String {
        format!(r#"{{"id":"{id}","parentId":{parent},"timestamp":"t",{rest}}}"#)
    }
    const NULL_BLOCK: &str = r#""type":"message","message":{"role":"assistant","content":[null]}"#;
    const REPLAY: &str =
        r#""type":"message","message":{"role":"assistant","content":"","providerPayload":{"type":"openaiResponsesHistory"}}"#;

    fn opens(lines: &[&str]) -> bool {
        let inspected = inspected(lines);
        assert!(matches!(inspected.verdict, Verdict::Resumable | Verdict::Terminal), "{:?}", inspected.verdict);
        explicit(&inspected.verdict, inspected.loaded.as_ref().ok(), false, Release::V0_17) == Opening::Opens
    }
    fn compaction(kept: &str) -> String {
        entry("k", "\"b\"", &format!(r#""type":"compaction","summary":"","tokensBefore":0,"firstKeptEntryId":"{kept}""#))
    }

    /// What is measured must not be deep; anything deep keeps a session from being opened.
    #[test]
    fn values_nested_too_deeply_overflow_the_stack() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let of = |more: &str, details: &str| {
            let message = format!(r#"{{"role":"user","details":{details}}}"#);
            let user = format!(r#"{{"type":"message","id":"a","parentId":null,"timestamp":"t"{more},"message":{message}}}"#);
            let text = format!("{HEADER}\n{user}\n");
            let Inspected { verdict, loaded, .. } = bytes(text.as_bytes(), text.len() as u64, Options::new(Release::V0_17)).unwrap();
            let opening = explicit(&verdict, loaded.as_ref().ok(), false, Release::V0_17);
            (verdict, opening)
        };
        assert_eq!(of("", &nested(50_000)), (Verdict::Resumable, Opening::Opens));
        assert!(matches!(of("", &nested(100_000)), (Verdict::Error(Reason::Malformed(_)), Opening::Refused(_))));
        let unknown = format!(",\"unknown\":{}", nested(100_000));
        assert_eq!(of(&unknown, "[]"), (Verdict::Resumable, Opening::Throws { code: None }));
    }

    #[test]
    fn a_null_block_throws_where_the_context_materialises_it() {
        let (a, b) = (entry("a", "null", NULL_BLOCK), entry("b", "\"a\"", r#""type":"custom","customType":"""#));
        assert!(!opens(&[&a]));
        assert!(opens(&[&a, &entry("b", "null", r#""type":"custom","customType":"""#)]), "off the path");
        assert!(opens(&[&a, &b, &compaction("b")]), "covered");
        assert!(!opens(&[&a, &b, &compaction("a")]), "kept");
        assert!(!opens(&[&a, &b, &compaction("nope")]), "covered by nothing");
    }

    #[test]
    fn a_replay_payload_throws_anywhere() {
        let (a, b) = (entry("a", "null", REPLAY), entry("b", "null", r#""type":"custom","customType":"""#));
        assert!(!opens(&[&a, &b]));
    }

    #[test]
    fn the_managed_root_asks_the_candidates_of_the_unpatched_workspace() {
        let file = |first_bytes, header_cwd| ManagedFile {
            staged: false,
            symlink: false,
            links: 1,
            inside: true,
            listed_place: true,
            malformed: false,
            first_bytes,
            header_cwd,
        };
        let open = |file: ManagedFile<'_>, workspace| {
            let inspected = inspected(&[]);
            managed(&inspected.verdict, inspected.loaded.as_ref().ok(), &file, |_| workspace, Release::V0_17).opening
        };
        let line = format!("{HEADER}\n");
        assert_eq!(open(file(line.as_bytes(), Some(b"/w")), Workspace::Same), Opening::Opens);
        assert_eq!(open(file(HEADER.as_bytes(), Some(b"/w")), Workspace::Same), Opening::Refused(NOT_A_CANDIDATE.to_owned()));
        assert_eq!(open(file(line.as_bytes(), Some(b"/w")), Workspace::Other), Opening::Refused(NOT_A_CANDIDATE.to_owned()));
        assert_eq!(open(file(HEADER.as_bytes(), Some(b"")), Workspace::Missing), Opening::Opens);
        let linked = ManagedFile { links: 2, ..file(line.as_bytes(), Some(b"/w")) };
        assert_eq!(open(linked, Workspace::Same), Opening::Refused("hard_link".to_owned()));
    }
}
