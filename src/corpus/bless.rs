//! `corpus bless`: what would have to be written so that the cases say what this implementation answers. It only proposes;
//! whoever has read the differences writes them.

use super::case::{Answer, Case, Input, Kind};
use super::folder::{self, Folder, Only};
use super::manifest;
use super::observe::{self, Memo, Observed};
use super::run::is_canary;
use super::side_by_side;
use crate::finding::Release;
use std::collections::BTreeMap;
use std::path::Path;

/// A file that would be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Path relative to the corpus.
    pub path: String,
    /// What it holds; none when it is not there.
    pub old: Option<Vec<u8>>,
    /// What it would hold.
    pub new: Vec<u8>,
}

/// A case that gives no answer.
#[derive(Debug, thiserror::Error)]
#[error("{}{error}", if case.is_empty() { String::new() } else { format!("{case}: ") })]
pub struct Unblessed {
    case: String,
    error: observe::Failure,
}

/// What would be written, by path: cases, the files that their answers name, and the manifest. Of new cases without answers
/// every release is asked. A canary is wrong on purpose and stays so. `only`: of the cases that are meant; the
/// manifest is that of the whole corpus.
///
/// # Errors
/// A file cannot be read, a case or a recipe is wrong.
pub fn proposals(root: &Path, only: &Only) -> Result<Vec<Change>, Unblessed> {
    let failed = |error: folder::Error| Unblessed { case: String::new(), error: error.into() };
    let corpus = folder::walk(root).and_then(|corpus| corpus.only(root, only)).map_err(failed)?;
    let cases: Vec<Folder> = corpus.cases.into_iter().filter(|folder| !is_canary(folder)).collect();
    let memo = Memo::default();
    let proposed: Vec<BTreeMap<String, Vec<u8>>> =
        side_by_side::map(&cases, |case| proposed(case, &memo).map_err(|error| Unblessed { case: case.name.clone(), error }))
            .into_iter()
            .collect::<Result<_, _>>()?;
    let mut changes = Vec::new();
    let mut written = BTreeMap::new();
    for (path, new) in proposed.into_iter().flatten() {
        let old = folder::read(&root.join(&path)).ok();
        if old.as_deref() != Some(new.as_slice()) {
            written.insert(path.clone(), new.clone());
            changes.push(Change { path, old, new });
        }
    }
    let new = manifest::text(root, &written).map_err(failed)?;
    let old = folder::read(&root.join(manifest::NAME)).ok();
    if old.as_deref() != Some(new.as_bytes()) {
        changes.push(Change { path: manifest::NAME.to_owned(), old, new: new.into_bytes() });
    }
    Ok(changes)
}

/// Writes what was proposed.
///
/// # Errors
/// The system's.
pub fn write(root: &Path, changes: &[Change]) -> Result<(), folder::Error> {
    changes.iter().try_for_each(|change| folder::write(&root.join(&change.path), &change.new))
}

/// The files of a case as they should be.
fn proposed(folder: &Folder, memo: &Memo) -> Result<BTreeMap<String, Vec<u8>>, observe::Failure> {
    let mut case = folder.case()?;
    let mut files = BTreeMap::new();
    let mut kind = None;
    for (name, input) in case.inputs_mut() {
        let worst = answer(name, input, folder, memo, &mut files)?;
        kind = kind.or(Some(worst));
    }
    case.kind = kind.unwrap_or(case.kind);
    files.insert(folder.case_file(), text(&case));
    Ok(files)
}

fn text(case: &Case) -> Vec<u8> {
    // A case is made of texts, numbers and lists: each has a JSON form.
    case.text().unwrap_or_default()
}

/// Fills in the answers of an input, and says what kind it is under the newest release that it is asked for.
fn answer(
    name: &str,
    input: &mut Input,
    folder: &Folder,
    memo: &Memo,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<Kind, observe::Failure> {
    let releases: Vec<Release> = if input.answers.is_empty() {
        Release::ALL.to_vec()
    } else {
        Release::ALL.into_iter().filter(|release| input.answers.iter().any(|answer| answer.releases.contains(release))).collect()
    };
    let wants = |wanted: fn(&Answer) -> bool| input.answers.iter().any(wanted);
    let (gauges, migrated, context) =
        (wants(|answer| answer.gauges.is_some()), wants(|answer| answer.migrated.is_some()), wants(|answer| answer.context.is_some()));
    let stem = name.replace(' ', "-");
    let mut answers: Vec<(Answer, Observed)> = Vec::new();
    let mut kind = Kind::Valid;
    {
        let ready = observe::ready(input, folder)?;
        for release in releases {
            let mut observed = ready.observe(release, memo)?;
            kind = Kind::of(observed.severities.iter().copied());
            if !gauges {
                observed.answer.gauges = None;
            }
            let same = |other: &Observed| {
                let (mut a, mut b) = (other.answer.clone(), observed.answer.clone());
                a.releases.clear();
                b.releases.clear();
                a == b && (!migrated || other.migrated == observed.migrated) && (!context || other.context == observed.context)
            };
            match answers.iter_mut().find(|(_, other)| same(other)) {
                Some((answer, _)) => answer.releases.push(release),
                None => answers.push((observed.answer.clone(), observed)),
            }
        }
    }
    let differ = |of: fn(&Observed) -> &Option<Vec<u8>>| answers.windows(2).any(|pair| matches!(pair, [(_, a), (_, b)] if of(a) != of(b)));
    let (migrated_differs, context_differs) = (differ(|observed| &observed.migrated), differ(|observed| &observed.context));
    for (answer, observed) in &mut answers {
        let release = answer.releases.first().map_or("", |release| release.text());
        let wanted = [
            (migrated, "migrated", migrated_differs, &mut answer.migrated, &observed.migrated),
            (context, "context", context_differs, &mut answer.context, &observed.context),
        ];
        for (wanted, what, by_release, named, bytes) in wanted {
            if let Some(bytes) = bytes.as_ref().filter(|_| wanted) {
                let name = if by_release { format!("{stem}.{release}.{what}.json") } else { format!("{stem}.{what}.json") };
                files.insert(folder.inside(&name)?, [bytes.as_slice(), b"\n"].concat());
                *named = Some(name);
            }
        }
    }
    input.answers = answers.into_iter().map(|(answer, _)| answer).collect();
    Ok(kind)
}
