//! `corpus lint`: what a reader of a corpus relies on. Names, the form of every case, one fault a case, no file that nothing
//! uses, bytes that are those of the manifest and that no checkout changes.

use super::case::{Case, Input};
use super::expected::Expectations;
use super::folder::{self, Folder};
use super::manifest;
use super::run::{REASONS, is_canary};
use crate::check;
use crate::finding::{Release, Severity};
use crate::fsys::input;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Something to mend.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Complaint {
    /// Path relative to the corpus.
    pub path: String,
    /// What is wrong, one sentence.
    pub message: String,
}

/// The file that keeps the bytes of a corpus from being changed by a checkout.
pub const ATTRIBUTES: &str = ".gitattributes";
/// A line of it that does so for everything below.
pub const KEEP_BYTES: &str = "* -text";
/// Files that a corpus may hold beside its cases, at any place.
const BESIDE: [&str; 2] = ["README.md", manifest::NAME];
/// A folder with this file holds what others use; the text says what.
pub const EXTRA: &str = "README.md";

/// Looks at a whole corpus.
///
/// # Errors
/// Something in it cannot be read.
pub fn lint(root: &Path) -> Result<Vec<Complaint>, folder::Error> {
    let corpus = folder::walk(root)?;
    let mut complaints = Vec::new();
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut titles: BTreeMap<String, String> = BTreeMap::new();
    if corpus.cases.is_empty() {
        complaints.push(Complaint { path: ".".to_owned(), message: "there is no case in it".to_owned() });
    }
    for folder in &corpus.cases {
        let file = folder.case_file();
        let mut complain = |message: String| complaints.push(Complaint { path: file.clone(), message });
        used.insert(file.clone());
        let (case, bytes) = match (folder.case(), folder::read(&root.join(&file))) {
            (Ok(case), Ok(bytes)) => (case, bytes),
            (Err(error), _) | (_, Err(error)) => {
                complain(error.to_string());
                continue;
            }
        };
        for name in case.inputs().flat_map(|(_, input)| input.files()) {
            match folder.inside(name) {
                Ok(path) if corpus.files.binary_search(&path).is_ok() => _ = used.insert(path),
                Ok(path) => complain(format!("it names {path}, which is not there")),
                Err(error) => complain(error.to_string()),
            }
        }
        if case.text().is_ok_and(|text| text != bytes) {
            complain("it is not spelled as `corpus bless` spells it".to_owned());
        }
        if let Some(other) = titles.insert(case.title.clone(), file.clone()) {
            complain(format!("{other} has the same title"));
        }
        form(&case, folder, &mut complain);
        if !is_canary(folder) {
            one_fault(&case, &mut complain);
        }
    }
    let explained: Vec<&str> = corpus.files.iter().filter_map(|name| name.strip_suffix(EXTRA)?.strip_suffix('/')).collect();
    for name in &corpus.files {
        let base = name.rsplit('/').next().unwrap_or(name);
        let is_explained = || explained.iter().any(|folder| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
        if !used.contains(name) && !BESIDE.contains(&base) && name != REASONS && !is_explained() {
            complaints.push(Complaint { path: name.clone(), message: "no case uses it".to_owned() });
        }
    }
    match manifest::differences(root) {
        Ok(differences) => {
            complaints.extend(differences.into_iter().map(|(path, message)| Complaint { path, message: message.to_owned() }))
        }
        // A link, a pipe, a file that is too large: one of its files has no bytes that a manifest could keep.
        Err(error) => complaints.push(Complaint { path: manifest::NAME.to_owned(), message: format!("it cannot be compared: {error}") }),
    }
    let attributes = folder::read(&root.join(ATTRIBUTES)).unwrap_or_default();
    if !String::from_utf8_lossy(&attributes).lines().any(|line| line.trim() == KEEP_BYTES) {
        complaints.push(Complaint {
            path: ATTRIBUTES.to_owned(),
            message: format!("a line `{KEEP_BYTES}` keeps a checkout from changing bytes"),
        });
    }
    complaints.sort();
    Ok(complaints)
}

fn form(case: &Case, folder: &Folder, complain: &mut dyn FnMut(String)) {
    let is_word =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-.".contains(&b));
    if !folder.name.split('/').all(is_word) {
        complain("names of folders are made of a-z, 0-9, `_`, `-` and `.`".to_owned());
    }
    if case.title.trim().is_empty() || case.title.contains('\n') || case.title.len() > 160 {
        complain("the title is one line of at most 160 bytes".to_owned());
    }
    if case.section.trim().is_empty() {
        complain("it names no section".to_owned());
    }
    if case.tags.is_empty() || !case.tags.iter().all(|tag| is_word(tag)) {
        complain("tags are words of a-z, 0-9, `_`, `-` and `.`; there is at least one".to_owned());
    }
    if case.code.is_none() && case.near_miss.is_some() {
        complain("a near miss needs a code that it has not".to_owned());
    }
    for (name, input) in case.inputs() {
        if input.file.is_some() == input.tree.is_some() {
            complain(format!("the {name} is a file or a tree"));
        }
        if input.answers.is_empty() {
            complain(format!("the {name} has no answer; `corpus bless` proposes one"));
        }
        let mut releases: Vec<Release> = input.answers.iter().flat_map(|answer| answer.releases.clone()).collect();
        releases.sort();
        if releases.windows(2).any(|pair| pair.first() == pair.last()) {
            complain(format!("the {name} has two answers for one release"));
        }
        for finding in input.answers.iter().flat_map(|answer| &answer.findings) {
            if check::code(&finding.code).is_none() {
                complain(format!("{} is no code", finding.code));
            }
        }
    }
}

/// The codes of an input, under any release.
fn codes(input: &Input) -> BTreeSet<&str> {
    input.answers.iter().flat_map(|answer| &answer.findings).map(|finding| finding.code.as_str()).collect()
}

/// A fault is one edit: the trigger has its code, the near miss has it not, and nothing to object to that the trigger has not.
fn one_fault(case: &Case, complain: &mut dyn FnMut(String)) {
    use super::case::Kind;
    use check::quota::codes as quota;
    // What has no answer is told already.
    if case.inputs().any(|(_, input)| input.answers.is_empty()) {
        return;
    }
    let newest = Release::ALL.into_iter().rev().find_map(|release| super::run::answer_for(&case.trigger, release));
    let severities = newest.iter().flat_map(|answer| &answer.findings).filter_map(|finding| check::code(&finding.code));
    let kind = Kind::of(severities.map(|code| code.severity).collect::<Vec<Severity>>());
    if kind != case.kind {
        let (is, said) = (kind.word(), case.kind.word());
        complain(format!("its kind is {said}, and the findings of its trigger make it {is}; `corpus bless` proposes what is right"));
    }
    let Some(code) = case.code.as_deref() else { return };
    let trigger = codes(&case.trigger);
    if !trigger.contains(code) {
        complain(format!("the trigger does not give {code}"));
    }
    if let Some(input) = &case.near_miss {
        let near = codes(input);
        if near.contains(code) {
            complain(format!("the near miss gives {code}"));
        }
        // What is just below a limit is near it, and what is sound may be worth a note that a refusal leaves unsaid.
        let is_near = |code: &str| [&quota::LIMIT_NEAR, &quota::SCOPE_NEAR_CAPACITY].iter().any(|near| near.name == code);
        let is_note = |code: &str| check::code(code).is_some_and(|code| code.severity == Severity::Info);
        for new in near.iter().filter(|new| !trigger.contains(*new) && !is_near(new) && !is_note(new)) {
            complain(format!("the near miss gives {new}, which the trigger does not"));
        }
        if input.file.is_some() && input.file == case.trigger.file || input.tree.is_some() && input.tree == case.trigger.tree {
            complain("the near miss is the trigger".to_owned());
        }
    }
}

/// What is wrong with a list of expected failures, before it is used.
///
/// # Errors
/// The list cannot be read.
pub fn expectations(path: &Path) -> Result<Expectations, String> {
    let text = input::bounded(path, folder::MOST).map_err(|error| format!("{}: {error}", path.display()))?;
    Expectations::parse(&String::from_utf8_lossy(&text)).map_err(|error| format!("{}: {error}", path.display()))
}
