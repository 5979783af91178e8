//! The area *breadcrumb* of spec 05: the last sessions of terminals, as `--continue` would take them (spec 04 §3.4). What the
//! run has already learned of the transcripts is used; a transcript outside the checked tree is inspected here.

pub mod codes;

use super::operational;
use super::run::Site;
use crate::agent::candidates::{Cwds, State};
use crate::agent::layout::{SessionsName, sessions_name};
use crate::agent::walk;
use crate::agent::world::World;
use crate::finding::{Finding, Outcome, Sink};
use crate::fsys::{Errno, Kind};
use crate::session::discovery::breadcrumb::{self, Breadcrumb, Found, Header, Ignored, Owned, Strict};
use crate::session::discovery::resume::{self, Tail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Looks at every breadcrumb of a directory, which may be absent. `outcomes`: the transcripts of this run, with what the
/// managed listing answered of each.
pub fn check(site: &Site<'_>, directory: &Path, sessions_root: &Path, outcomes: &[Outcome], sink: &mut dyn Sink) {
    let listing = match walk::list(site.fs, directory, &site.limits) {
        Ok(listing) => listing,
        // Anything but a directory there is named with the names of its parent.
        Err(error) if matches!(error.errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return,
        Err(error) => return operational::unreadable(site, &error, sink),
    };
    for trouble in &listing.troubles {
        operational::trouble(site, trouble, sink);
    }
    let files = listing.objects.iter().filter(|object| object.meta.kind == Kind::File);
    let crumbs: Vec<(PathBuf, Found)> =
        files.map(|object| listing.path_of(object)).map(|path| (path.clone(), breadcrumb::read(site.fs, &path))).collect();
    if crumbs.is_empty() {
        return;
    }
    let world = world(site, sessions_root);
    let mut known = Known { site, world: &world, by_name: BTreeMap::new(), inspected: BTreeMap::new(), listed: None };
    known.by_name.extend(outcomes.iter().map(|outcome| (&*outcome.path, outcome)));
    for (path, found) in crumbs {
        match found {
            Found::Breadcrumb(crumb) if !crumb.has_carriage_return() => known.judge(&path, crumb, sink),
            Found::Breadcrumb(_) => {
                malformed(site, &path, "a line ends in a carriage return, which gjc takes for a part of the path", sink)
            }
            Found::Malformed => malformed(site, &path, "it has not the two lines of a breadcrumb", sink),
            // It went, or cannot be read; which, the next look tells.
            Found::Absent => {}
            Found::Unreadable(_) => {
                if let Err(error) = site.fs.open(&path).and_then(|file| file.close()) {
                    operational::unreadable(site, &error, sink);
                }
            }
        }
    }
}

fn malformed(site: &Site<'_>, path: &Path, what: &str, sink: &mut dyn Sink) {
    let message = format!("The note of this terminal's last session is ignored: {what}.");
    sink.push(Finding::new(&codes::BREADCRUMB_MALFORMED, site.place(path), message));
}

/// The surroundings in which paths of breadcrumbs are compared.
fn world<'a>(site: &Site<'a>, sessions_root: &Path) -> World<'a> {
    World {
        sessions_root: sessions_root.to_owned(),
        is_copy: site.assumed_root.is_some(),
        around: site.around.clone(),
        ..World::of_agent(site.fs, site.host, site.release, site.uid, site.root)
    }
}

/// What is known of transcripts.
struct Known<'s, 'a> {
    site: &'s Site<'a>,
    world: &'s World<'a>,
    by_name: BTreeMap<&'s str, &'s Outcome>,
    /// Transcripts outside the checked tree; several terminals may name one.
    inspected: BTreeMap<PathBuf, Strict>,
    /// Owned candidates by the name of their scope, when a breadcrumb asked for them.
    listed: Option<BTreeMap<String, Rc<Owned>>>,
}

impl Known<'_, '_> {
    fn judge(&mut self, path: &Path, mut crumb: Breadcrumb, sink: &mut dyn Sink) {
        // A copy is judged as if it lay where it came from.
        let here = self.site.here(&crumb.path(self.world));
        crumb.file = here.to_string_lossy().into_owned();
        let strict = self.strict(&here);
        let ignored = match breadcrumb::follow(self.world, &crumb, |_| strict, |cwd| Some(self.owned(cwd))) {
            Ok(_) | Err(Ignored::NoScope) => return,
            Err(ignored) => ignored,
        };
        let code = match ignored {
            Ignored::Gone { .. } => &codes::BREADCRUMB_DANGLING,
            _ => &codes::BREADCRUMB_MISMATCH,
        };
        let message = format!("The note of this terminal's last session is ignored: {}.", ignored.words());
        sink.push(Finding::new(code, self.site.place(path), message).related("the session that it names", self.site.place(&here)));
    }
    /// What reader S answers: from this run, or by looking.
    fn strict(&mut self, file: &Path) -> Strict {
        // Names of the run are those of real paths.
        let real = self.site.fs.realpath(file).unwrap_or_else(|_| file.to_owned());
        if let Some(outcome) = self.by_name.get(&*self.site.name(&real)) {
            return of_outcome(outcome);
        }
        if let Some(known) = self.inspected.get(&real) {
            return known.clone();
        }
        let inspection = resume::inspect(self.world, file, self.site.budget);
        let strict = match inspection.tail {
            Tail::Resumable(identity) | Tail::Terminal(identity) => {
                Ok(Header { id: identity.session_id.to_string(), cwd: inspection.cwd.map(|cwd| cwd.to_string()).unwrap_or_default() })
            }
            Tail::Error(refused) => Err(refused.reason),
        };
        self.inspected.insert(real, strict.clone());
        strict
    }
    /// The owned candidates of a workspace.
    fn owned(&mut self, cwd: &Path) -> Rc<Owned> {
        let Ok(identity) = self.world.identity(cwd) else { return Rc::default() };
        if self.listed.is_none() {
            self.listed = Some(self.listed());
        }
        self.listed.as_ref().and_then(|listed| listed.get(&identity.directory_name())).cloned().unwrap_or_default()
    }
    /// Every owned candidate, by the name of its workspace's scope: those of a scope are of its workspace, those of a legacy
    /// directory of the one that the header names.
    fn listed(&self) -> BTreeMap<String, Rc<Owned>> {
        let cwds = Cwds::default();
        let mut listed: BTreeMap<String, Owned> = BTreeMap::new();
        for outcome in self.by_name.values().filter(|outcome| is_listed(outcome)) {
            let directory = outcome.path.rsplit('/').nth(1).unwrap_or_default();
            let scope = match sessions_name(directory.as_bytes()) {
                SessionsName::Scope => Some(directory.to_owned()),
                _ => {
                    let identity = |cwd: &str| cwds.identity(self.world, &cwd.into()).ok();
                    outcome.cwd.as_deref().and_then(identity).map(|identity| identity.directory_name())
                }
            };
            let path = self.site.root.join(&*outcome.path);
            if let Some(scope) = scope {
                listed.entry(scope).or_default().add(path, outcome.id.as_deref().unwrap_or_default());
            }
        }
        listed.into_iter().map(|(scope, owned)| (scope, Rc::new(owned))).collect()
    }
}

/// The answer of one reader.
fn answer<'o>(outcome: &'o Outcome, reader: &str) -> Option<&'o str> {
    outcome.verdicts.iter().find(|(name, _)| *name == reader).map(|(_, answer)| &**answer)
}

fn is_listed(outcome: &Outcome) -> bool {
    let states = [State::NativeV2, State::LegacyUnmigrated, State::MigratedV2];
    answer(outcome, "list").is_some_and(|answer| states.iter().any(|state| state.word() == answer))
}

fn of_outcome(outcome: &Outcome) -> Strict {
    const REASONS: [&str; 6] = ["missing", "malformed", "unstable", "read-failed", "oversized", "context_too_large"];
    let refused = answer(outcome, "S").and_then(|answer| REASONS.into_iter().find(|reason| *reason == answer));
    match refused {
        Some(reason) => Err(reason),
        None => Ok(Header {
            id: outcome.id.as_deref().unwrap_or_default().to_owned(),
            cwd: outcome.cwd.as_deref().unwrap_or_default().to_owned(),
        }),
    }
}
