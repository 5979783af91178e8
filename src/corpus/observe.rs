//! What this implementation makes of an input: the answer in the words of the case format.

use super::case::{Answer, Expected, Input, Reading};
use super::folder::Folder;
use super::operations::{self, Operations};
use super::placeholder::{Scribe, spelled, workspaces};
use super::recipe::{AGENT, Host, Mistake, Recipe, Settings};
use crate::agent::legacy::Surroundings;
use crate::agent::world::World;
use crate::check::run::{self, Run, Target};
use crate::finding::{Code, Mute, Release, Severity};
use crate::fsys::Memory;
use crate::report::gate::Told;
use crate::report::{self, Audit, config};
use crate::transcript::answer;
use crate::transcript::context::answer::{LeafName, contexts};
use crate::transcript::migrate::Numbered;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Why an input gives no answer.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file cannot be read.
    #[error(transparent)]
    Folder(#[from] super::folder::Error),
    /// The recipe is wrong.
    #[error("the recipe: {0}")]
    Recipe(#[from] Mistake),
    /// The same tree failed before.
    #[error("{0}")]
    Known(String),
    /// It has a file and a tree, or neither.
    #[error("an input is a file or a tree")]
    Shape,
}

/// What an input gave under one release.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Findings, verdicts and gauges, in the words of the case format; without file names.
    pub answer: Answer,
    /// The severities of the findings.
    pub severities: Vec<Severity>,
    /// The version-5 form, when the input is a file.
    pub migrated: Option<Vec<u8>>,
    /// The context, when the input is a file.
    pub context: Option<Vec<u8>>,
}

/// An input made ready: its bytes are read, its tree is made.
pub enum Ready<'i> {
    /// A transcript, by its name.
    File(String, Vec<u8>),
    /// A tree, its text, and what of it is asked.
    Tree(&'i Recipe, String, Asked),
}

/// What is asked of a tree besides its findings and verdicts.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The workspaces whose scopes it names: paths are spelled by them.
    workspaces: Vec<String>,
    /// What gjc's operations answer. They take a tree of their own.
    operations: bool,
}

/// What trees gave that were looked at in this run. Many near misses are one tree, and some trees are large.
#[derive(Default)]
pub struct Memo {
    seen: Mutex<BTreeMap<(String, bool, Release), Arc<Look>>>,
}

/// One tree under one release: looked at once, whoever asks first.
type Look = OnceLock<Result<Observed, String>>;

impl Memo {
    fn tree(&self, recipe: &Recipe, text: &str, asked: &Asked, release: Release) -> Result<Observed, Failure> {
        let place = {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(seen.entry((text.to_owned(), asked.operations, release)).or_default())
        };
        let observed = place.get_or_init(|| of_tree(recipe, asked, release, Mute::default()).map_err(|error| error.to_string()));
        observed.clone().map_err(Failure::Known)
    }
}

/// Findings of one code above which their places are not listed.
const LISTED: usize = 12;
/// Transcripts above which their verdicts are not listed.
const JUDGED: usize = 8;

/// Reads an input.
///
/// # Errors
/// The file cannot be read; the input is neither file nor tree.
pub fn ready<'i>(input: &'i Input, folder: &Folder) -> Result<Ready<'i>, Failure> {
    match (&input.file, &input.tree) {
        (Some(file), None) => {
            let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok(Ready::File(name, folder.read(file)?))
        }
        (None, Some(recipe)) => {
            let text = serde_json::to_string(recipe).unwrap_or_default();
            let operations = input.answers.iter().any(|answer| answer.operations.is_some());
            let asked = Asked { workspaces: workspaces(&text), operations };
            Ok(Ready::Tree(recipe, text, asked))
        }
        _ => Err(Failure::Shape),
    }
}

impl Ready<'_> {
    /// What the check, the migration and the context builder of this implementation make of it.
    ///
    /// # Errors
    /// The recipe is wrong.
    pub fn observe(&self, release: Release, memo: &Memo) -> Result<Observed, Failure> {
        match self {
            Ready::File(name, bytes) => Ok(of_file(name, bytes, release, Mute::default())),
            Ready::Tree(recipe, text, asked) => memo.tree(recipe, text, asked, release),
        }
    }
    /// The same with a code switched off: for the test that the cases guard every code.
    ///
    /// # Errors
    /// The recipe is wrong.
    #[doc(hidden)]
    pub fn observe_without(&self, code: &'static Code, release: Release) -> Result<Observed, Failure> {
        let mute = Mute(Some(code));
        match self {
            Ready::File(name, bytes) => Ok(of_file(name, bytes, release, mute)),
            Ready::Tree(recipe, _, asked) => of_tree(recipe, asked, release, mute),
        }
    }
}

/// What a transcript of this name gives.
pub(super) fn of_file(name: &str, bytes: &[u8], release: Release, mute: Mute) -> Observed {
    let fs = Memory::new();
    fs.file(Path::new("/").join(name), bytes);
    let options = run::Options { mute, ..options(&Settings::default(), 0, release) };
    let run = run::run_on(&Host::default(), vec![Target::Path(name.into())], &options, &fs, &|_| {});
    let mut observed = in_words(run, report_settings(release, mute), &|_| None);
    // Memory does not fail.
    observed.migrated = answer::migrated(bytes, release, &mut Numbered::default()).ok();
    observed.context = contexts(bytes, release, &[LeafName::Last], &mut Numbered::default()).ok().and_then(|mut all| all.pop());
    observed
}

/// How the one transcript of an input that is a file is called among the verdicts.
pub const LONE: &str = "file";

fn of_tree(recipe: &Recipe, asked: &Asked, release: Release, mute: Mute) -> Result<Observed, Failure> {
    let fs = recipe.make()?;
    let target = recipe.target(&fs)?;
    let options = run::Options { mute, ..options(&recipe.settings, recipe.settings.later.unwrap_or(0), release) };
    let host = recipe.host.clone().unwrap_or_default();
    let failed = Mutex::new(None);
    let run = if recipe.during.is_empty() {
        run::run_on(&host, vec![Target::Path(target)], &options, &fs, &|_| {})
    } else {
        let playing = recipe.playing(&fs, &failed)?;
        run::run_on(&host, vec![Target::Path(target)], &options, &playing, &|_| {})
    };
    if let Some(mistake) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(mistake.into());
    }
    let mut settings = report_settings(release, mute);
    if let Some(text) = &recipe.settings.config {
        let text = Scribe { fs: &fs, root: "", count: None }.bytes(text)?;
        let config = config::parse(config::NAME, &String::from_utf8_lossy(&text), config::Kind::Settings);
        let config = config.map_err(|fault| Failure::Known(fault.to_string()))?;
        settings.overrides = config.severity;
        settings.told = Told { config: Some(config::NAME.to_owned()), remarks: config.remarks, skips: config.skips, ..Told::default() };
    }
    let mut observed = in_words(run, settings, &|path| Some(spelled(path, &asked.workspaces)));
    if asked.operations {
        observed.answer.operations = Some(operations_of(recipe, &options, &host)?);
    }
    Ok(observed)
}

/// What gjc's operations answer, on a tree that no check has looked at: events happen to them anew.
fn operations_of(recipe: &Recipe, options: &run::Options, host: &Host) -> Result<Operations, Failure> {
    let fs = recipe.make()?;
    let failed = Mutex::new(None);
    let told = {
        let playing = recipe.playing(&fs, &failed)?;
        let uid = options.as_uid.unwrap_or(options.uid);
        operations::of(&World {
            now_ms: u64::try_from(options.now_ns / 1_000_000).unwrap_or_default(),
            around: options.around.clone(),
            context_budget: options.budget,
            is_copy: options.assume_root.is_some(),
            ..World::of_agent(&playing, host, options.release, uid, AGENT)
        })
    };
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(told), |mistake| Err(mistake.into()))
}

fn options(settings: &Settings, later: i64, release: Release) -> run::Options {
    let made = Recipe::default().now_ns();
    let around = Surroundings {
        home: settings.home.clone().unwrap_or_default(),
        home_real: settings.home.clone().unwrap_or_default(),
        temp: settings.temp.clone().unwrap_or_default(),
        temp_real: settings.temp.clone().unwrap_or_default(),
        ..Surroundings::default()
    };
    let mut options = run::Options::new(release, settings.uid.unwrap_or(1000), made + i128::from(later) * 1_000_000_000);
    options.blobs = settings.blobs.as_ref().map(PathBuf::from);
    options.assume_root = settings.assume_root.as_ref().map(PathBuf::from);
    options.as_uid = settings.as_uid;
    // One worker: cases run side by side, and events count operations.
    options.jobs = Some(1);
    options.around = around;
    options.budget = settings.budget.unwrap_or(options.budget);
    options
}

fn report_settings(release: Release, mute: Mute) -> report::Settings {
    report::Settings { release, mute, ..report::Settings::default() }
}

/// A report in the words of the case format. `path` spells a path, or says that paths are left out.
fn in_words(run: Run, settings: report::Settings, path: &dyn Fn(&str) -> Option<String>) -> Observed {
    let release = settings.release;
    let audit = Audit { findings: run.findings, gauges: run.gauges, outcomes: run.outcomes, ..Audit::default() };
    let report = report::build(audit, &settings);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &report.findings {
        *counts.entry(finding.code.name).or_default() += 1;
    }
    let many = |code: &str| counts.get(code).is_some_and(|count| *count > LISTED);
    let one_by_one = report.findings.iter().filter(|finding| !many(finding.code.name));
    let mut findings: Vec<Expected> = one_by_one
        .map(|finding| Expected {
            code: finding.code.name.to_owned(),
            path: path(&finding.place.path),
            line: finding.place.line,
            pointer: finding.place.pointer.clone(),
            entry: finding.place.entry.clone(),
            times: None,
        })
        .collect();
    findings.extend(counts.iter().filter(|(code, _)| many(code)).map(|(code, count)| Expected {
        code: (*code).to_owned(),
        times: Some(*count as u64),
        ..Expected::default()
    }));
    sort(&mut findings);
    let mut verdicts = BTreeMap::new();
    if report.transcripts.len() <= JUDGED {
        for transcript in &report.transcripts {
            let answers = transcript.verdicts.iter().map(|(reader, answer)| ((*reader).to_owned(), answer.to_string())).collect();
            verdicts.insert(path(&transcript.path).unwrap_or_else(|| LONE.to_owned()), answers);
        }
    }
    let gauges = report.gauges.iter().map(|gauge| Reading {
        name: gauge.name.to_owned(),
        path: path(&gauge.path).unwrap_or_else(|| LONE.to_owned()),
        used: gauge.used,
        limit: gauge.limit,
    });
    let mut gauges: Vec<Reading> = gauges.collect();
    gauges.sort();
    let severities = report.findings.iter().map(|finding| finding.severity).collect();
    let answer = Answer { releases: vec![release], findings, verdicts, gauges: Some(gauges), ..Answer::default() };
    Observed { answer, severities, migrated: None, context: None }
}

/// The order of findings in an expectation: by path, then by line.
pub fn sort(findings: &mut [Expected]) {
    findings.sort_by(|a, b| (&a.path, a.line, a).cmp(&(&b.path, b.line, b)));
}
