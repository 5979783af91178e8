//! `list`: gjc's managed listing of a workspace, or of all, with the reason for everything that it does not show.

use super::options::Format;
use super::{Console, Failure, Status};
use crate::agent::candidates::{Hidden, Invalid, Listing, list_all};
use crate::agent::predict;
use crate::agent::world::World;
use crate::fsys::Real;
use crate::fsys::host::ThisHost;
use crate::render::style::plain;
use std::path::{Path, PathBuf};

/// Arguments of `list`.
#[derive(clap::Args, Debug)]
#[command(after_help = "A session that is listed may still fail to open: `gjc-fsck why ID` follows the whole chain.")]
pub struct Args {
    /// Working directory whose sessions are listed (default: the current one)
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    pub cwd: Option<PathBuf>,
    /// List the sessions of all workspaces
    #[arg(long)]
    pub all: bool,
    /// Agent directory (default: the user's own)
    #[arg(long, value_name = "DIR")]
    pub agent_dir: Option<PathBuf>,
}

/// What the command answers, in the order of gjc's listing.
#[derive(serde::Serialize, Debug)]
#[serde(rename_all = "camelCase")]
struct Answer {
    workspaces: Vec<Workspace>,
    /// Files that belong to no workspace.
    invalid: Vec<Refused>,
}

/// One workspace.
#[derive(serde::Serialize, Debug)]
#[serde(rename_all = "camelCase")]
struct Workspace {
    workspace: String,
    scope: String,
    /// gjc's refusal of the whole listing.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
    sessions: Vec<Session>,
    hidden: Vec<HiddenSession>,
    invalid: Vec<Refused>,
    /// Files in the scope that belong to other workspaces.
    foreign: Vec<Foreign>,
    /// Legacy directories beyond the limit, which are not visited.
    #[serde(skip_serializing_if = "is_zero")]
    beyond_limit: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A session that is listed.
#[derive(serde::Serialize, Debug)]
#[serde(rename_all = "camelCase")]
struct Session {
    id: String,
    path: String,
    provenance: &'static str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    messages: Option<u64>,
}

/// A session that is kept from the listing.
#[derive(serde::Serialize, Debug)]
#[serde(rename_all = "camelCase")]
struct HiddenSession {
    id: String,
    path: String,
    reason: &'static str,
    /// The tombstone, or the copy that stands for it.
    by: String,
}

/// Something that gjc refuses.
#[derive(serde::Serialize, Debug)]
struct Refused {
    path: String,
    code: &'static str,
    detail: String,
}

/// A transcript of another workspace.
#[derive(serde::Serialize, Debug)]
struct Foreign {
    path: String,
    cwd: String,
    workspace: String,
}

/// Prints the listing.
///
/// # Errors
/// No home can be trusted, or gjc refuses to resolve the working directory.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let world = console.world(&Real, &ThisHost, args.agent_dir.as_deref())?;
    if !world.fs.present(&world.agent_dir).unwrap_or(true) {
        return Err(Failure::Operational(format!("{}: there is no agent directory; name one with --agent-dir", world.agent_dir.display())));
    }
    let answer = answer(&world, args);
    let refused = answer.workspaces.iter().any(|workspace| workspace.refused.is_some());
    let json = console.options.format == Format::Json;
    let out = console.out();
    if json {
        serde_json::to_writer_pretty(&mut *out, &answer).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        out.write_all(text(&answer).as_bytes())?;
    }
    Ok(if refused { Status::FINDINGS } else { Status::CLEAN })
}

fn answer(world: &World<'_>, args: &Args) -> Answer {
    if args.all {
        let (workspaces, invalid) = list_all(world);
        let workspaces = workspaces.iter().map(|one| workspace(world, &one.identity.canonical_path, &one.scope, &one.listing)).collect();
        return Answer { workspaces, invalid: invalid.iter().map(refused_file).collect() };
    }
    let cwd = args.cwd.as_deref().unwrap_or(&world.current_dir);
    let one = match predict::resolve(world, cwd) {
        Err(refused) => refusal(cwd, refused.path.as_deref().unwrap_or(cwd), refused.code, refused.detail),
        Ok(scope) => match predict::list(world, &scope) {
            Ok(listing) => workspace(world, &scope.identity.canonical_path, &scope.directory, &listing),
            Err(error) => refusal(cwd, &scope.sessions_root, error.code(), error.to_string()),
        },
    };
    Answer { workspaces: vec![one], invalid: Vec::new() }
}

fn refusal(cwd: &Path, path: &Path, code: &'static str, detail: String) -> Workspace {
    Workspace {
        workspace: cwd.display().to_string(),
        scope: String::new(),
        refused: Some(Refused { path: path.display().to_string(), code, detail }),
        sessions: Vec::new(),
        hidden: Vec::new(),
        invalid: Vec::new(),
        foreign: Vec::new(),
        beyond_limit: 0,
    }
}

fn workspace(world: &World<'_>, name: &str, scope: &Path, listing: &Listing) -> Workspace {
    let sessions = listing.owned.iter().map(|listed| {
        let shown = predict::shown(world, listed.candidate.path.clone()).map(|(_, shown)| shown);
        Session {
            id: listed.candidate.session_id.to_string(),
            path: listed.candidate.path.display().to_string(),
            provenance: listed.candidate.provenance.word(),
            state: listed.state.word(),
            messages: shown.as_ref().map(|shown| shown.messages),
            title: shown.and_then(|shown| shown.title).map(|title| title.to_string()),
        }
    });
    let hidden = listing.hidden.iter().map(|(candidate, hidden)| {
        let (reason, by) = match hidden {
            Hidden::Retired { tombstone } => ("retired", tombstone),
            Hidden::Shadowed { by, .. } => ("shadowed", by),
        };
        HiddenSession {
            id: candidate.session_id.to_string(),
            path: candidate.path.display().to_string(),
            reason,
            by: by.display().to_string(),
        }
    });
    let foreign = listing.foreign.iter().map(|(path, cwd, workspace)| Foreign {
        path: path.display().to_string(),
        cwd: cwd.to_string(),
        workspace: workspace.clone(),
    });
    Workspace {
        workspace: name.to_owned(),
        scope: scope.display().to_string(),
        refused: None,
        sessions: sessions.collect(),
        hidden: hidden.collect(),
        invalid: listing.invalid.iter().map(refused_file).collect(),
        foreign: foreign.collect(),
        beyond_limit: listing.beyond_limit,
    }
}

fn refused_file(invalid: &Invalid) -> Refused {
    Refused { path: invalid.path.display().to_string(), code: invalid.code, detail: invalid.detail.clone() }
}

/// The answer for people: one block per workspace, paths relative to its scope's parent.
fn text(answer: &Answer) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    // Writing to a String cannot fail.
    let mut line = |text: String| _ = writeln!(out, "{}", plain(&text));
    for workspace in &answer.workspaces {
        line(workspace.workspace.clone());
        if let Some(refused) = &workspace.refused {
            line(format!("  refused   {}: {}", refused.code, refused.detail));
            line(format!("            {}", refused.path));
            continue;
        }
        let base = Path::new(&workspace.scope).parent().map(|parent| format!("{}/", parent.display())).unwrap_or_default();
        let short = |path: &str| path.strip_prefix(&base).unwrap_or(path).to_owned();
        for session in &workspace.sessions {
            let title = session.title.as_ref().map(|title| format!("  {title}")).unwrap_or_default();
            let messages = session.messages.map_or_else(
                || "not in the picker".to_owned(),
                |count| if count == 1 { "1 message".to_owned() } else { format!("{count} messages") },
            );
            line(format!("  {:<18} {}  {messages}{title}", session.state, session.id));
            line(format!("    {}", short(&session.path)));
        }
        for hidden in &workspace.hidden {
            line(format!("  {:<18} {}", hidden.reason, hidden.id));
            line(format!("    {}", short(&hidden.path)));
            line(format!("    by {}", short(&hidden.by)));
        }
        for invalid in &workspace.invalid {
            line(format!("  {:<18} {}", invalid.code, short(&invalid.path)));
            line(format!("    {}", invalid.detail));
        }
        for foreign in &workspace.foreign {
            line(format!("  foreign            {}", short(&foreign.path)));
            line(format!("    belongs to {}", foreign.workspace));
        }
        if workspace.beyond_limit > 0 {
            line(format!("  {} legacy directories beyond the limit of 256 are not visited", workspace.beyond_limit));
        }
        if workspace.sessions.is_empty() {
            line("  no session is listed".to_owned());
        }
    }
    for invalid in &answer.invalid {
        line(format!("{:<20} {}", invalid.code, invalid.path));
        line(format!("    {}", invalid.detail));
    }
    if answer.workspaces.is_empty() && answer.invalid.is_empty() {
        line("no session is kept here".to_owned());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_workspace_shows_gjcs_code() {
        let answer =
            Answer { workspaces: vec![refusal(Path::new("/w"), Path::new("/a/s"), "binding_invalid", "why".into())], invalid: Vec::new() };
        assert_eq!(text(&answer), "/w\n  refused   binding_invalid: why\n            /a/s\n");
    }
    #[test]
    fn an_empty_root_says_so() {
        assert_eq!(text(&Answer { workspaces: Vec::new(), invalid: Vec::new() }), "no session is kept here\n");
    }
}
