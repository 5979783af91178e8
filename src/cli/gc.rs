//! `gc [PATH]`: the retirement journals of a profile or of one scope, and how far each is.

use super::list::{named, no_agent_directory};
use super::{Console, Failure, Status};
use crate::agent::layout::is_transcript_name;
use crate::agent::locate::{Part, part_of};
use crate::finding::{Class, Difference};
use crate::fsys::host::ThisHost;
use crate::fsys::{Fs, Kind, Real};
use crate::gc::inspector::{Answer, inspect};
use crate::gc::survey::{Around, Survey, one, survey, token};
use crate::render::journals;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Arguments of `gc`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Nothing is collected: the receipts are read, and what stands at the paths they name is looked at. \
Exit status: 0 when gjc would read every journal and its inspector accepts, 4 when one of them refuses, 2 when a journal is beyond a capacity, \
8 when receipts cannot be read.")]
pub struct Args {
    /// Agent directory, scope, or transcript, which may be gone (default: the user's agent directory)
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
}

/// Prints the journals.
///
/// # Errors
/// No home can be trusted, there is no agent directory, PATH is neither, or the release asked for has no such journals.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    if !Difference::Retirement.in_effect(console.options.gjc) {
        return Err(Failure::Usage("gjc 0.15 keeps no retirement journals; ask for --gjc 0.17".into()));
    }
    let path = args.path.as_deref();
    let transcript = path.and_then(|path| transcript(path, console));
    let scope = transcript.as_ref().map(|(scope, _)| scope.as_path());
    let part = scope.or(path).map(|path| named(path, console)).transpose()?;
    let agent = match &part {
        Some(Part::Agent(agent) | Part::Directory { agent, .. }) => Some(agent.as_path()),
        None => None,
    };
    let world = console.world(&Real, &ThisHost, agent)?;
    if !Real.present(&world.agent_dir).unwrap_or(true) {
        return Err(no_agent_directory(&world.agent_dir));
    }
    // Records spell canonical paths.
    let canonical = |path: &Path| Real.realpath(path).unwrap_or_else(|_| path.to_owned());
    let (agent, sessions) = (canonical(&world.agent_dir), canonical(&world.sessions_root));
    let directory = match &part {
        Some(Part::Directory { directory, .. }) => directory.clone(),
        _ => sessions,
    };
    if !Real.present(&directory).unwrap_or(true) {
        return Err(Failure::Operational(format!("{}: there are no sessions", directory.display())));
    }
    let assumed = console.options.assume_root.clone();
    let other = |path: &Path, from: &Path, to: &Path| path.strip_prefix(from).map_or_else(|_| path.to_owned(), |below| to.join(below));
    let recorded = |path: &Path| assumed.as_deref().map_or_else(|| path.to_owned(), |assumed| other(path, &agent, assumed));
    let here = |path: &Path| assumed.as_deref().map_or_else(|| path.to_owned(), |assumed| other(path, assumed, &agent));
    let bar = console.bar("{spinner} {pos} of {len} journals {wide_bar}");
    let told = |read: u64, known: u64| {
        bar.set_length(known);
        bar.set_position(read);
    };
    let around = Around { recorded: &recorded, here: &here, is_copy: assumed.is_some(), told: &told };
    let only = matches!(part, Some(Part::Directory { .. })).then_some(directory.as_path());
    // Before the journals are collected: the inspector lists the same directories, and needs that memory only meanwhile.
    let inspection = assumed.is_none().then(|| inspect(&world, only));
    if inspection.is_none() {
        console.note("a copied directory: what gjc's inspector would refuse is not asked here; `gjc-fsck check` reports it");
    }
    let surveyed = match &transcript {
        Some((_, name)) => one(&Real, &directory, name, &around).map_err(|fault| {
            let name = directory.join(name);
            Failure::Operational(format!("{}: {}", name.display(), token(&fault)))
        }),
        None => survey(&Real, &directory, &around).map_err(|error| Failure::Operational(error.to_string())),
    };
    bar.finish_and_clear();
    let mut survey = surveyed?;
    survey.inspection = inspection;
    let layout = console.layout();
    console.answer(&survey, || journals::text(&survey, layout), || journals::concise(&survey))?;
    Ok(status(&survey))
}

/// Scope and name of a transcript that is named by its path; none when the path is none of one in a scope. Whether it still
/// stands there does not matter: its receipts may outlive it.
fn transcript(path: &Path, console: &Console) -> Option<(PathBuf, OsString)> {
    let path = console.environment.current_dir.join(path);
    let name = path.file_name().filter(|name| is_transcript_name(name.as_encoded_bytes()))?;
    match part_of(&Real, path.parent()?)? {
        Part::Directory { directory, .. } if !Real.stat(&path).is_ok_and(|meta| meta.kind == Kind::Directory) => {
            Some((directory, name.to_owned()))
        }
        Part::Directory { .. } | Part::Agent(_) => None,
    }
}

/// What gjc would not read, by kind.
fn status(survey: &Survey) -> Status {
    // By the class of its code: a capacity has several tokens, and none of them speaks of damage.
    let full = |token: &str| crate::check::code(token).is_some_and(|code| code.class == Some(Class::Capacity));
    let mut status = if survey.unread.is_empty() { Status::CLEAN } else { Status::OPERATIONAL };
    status = match survey.inspection.as_ref().map(|inspection| &inspection.answer) {
        Some(Answer::Refuses { message, .. }) if full(message) => status | Status::INCONCLUSIVE,
        Some(Answer::Refuses { .. }) => status | Status::FINDINGS,
        Some(Answer::Unknown { .. }) => status | Status::OPERATIONAL,
        Some(Answer::Accepts) | None => status,
    };
    for scope in &survey.scopes {
        if scope.full {
            status = status | Status::INCONCLUSIVE;
        }
        if !scope.strays.is_empty() {
            status = status | Status::FINDINGS;
        }
        for token in scope.journals.iter().filter_map(|row| row.refused.as_deref()) {
            status = status | if full(token) { Status::INCONCLUSIVE } else { Status::FINDINGS };
        }
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gc::inspector::Inspection;

    /// The status when the inspector refuses with this message, and nothing else is wrong.
    fn refused(message: &str) -> Status {
        let answer = Answer::Refuses { message: message.into(), path: "/a/sessions".into() };
        let inspection = Some(Inspection { answer, scopes: Vec::new() });
        let root = "/a/sessions".to_owned();
        status(&Survey { schema: crate::gc::survey::SCHEMA, root, scopes: Vec::new(), looked_at: 0, unread: Vec::new(), inspection })
    }

    #[test]
    fn every_capacity_of_the_inspector_is_a_capacity_and_no_damage() {
        let capacities = [
            "managed_gc_journal_capacity_exceeded",
            "managed_gc_protocol_entry_limit_exceeded",
            "managed_gc_protocol_scope_limit_exceeded",
        ];
        for capacity in capacities {
            assert_eq!(refused(capacity), Status::INCONCLUSIVE, "{capacity}");
        }
        for other in ["managed_gc_protocol_roles_invalid", "managed_gc_protocol_lock_invalid [locks/x]"] {
            assert_eq!(refused(other), Status::FINDINGS, "near miss: {other}");
        }
    }
}
