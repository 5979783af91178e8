//! `why ID-OR-PATH`: why a session is not listed, not resumable, not migrated: gjc's decisions about it, step by step.

use super::options::Format;
use super::{Console, Failure, Status};
use crate::agent::layout;
use crate::agent::why::{Chain, why};
use crate::fsys::host::ThisHost;
use crate::fsys::{Fs, Real};
use crate::render::style::plain;
use std::path::{Path, PathBuf};

/// Arguments of `why`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Steps: found, regular file, header, workspace, scope, binding, modes, receipts, tombstones, shadowing, strict reader, \
managed reader, bounded reader, listing, picker, open. The first one at which gjc turns away is the last one shown. Nothing is written."
)]
pub struct Args {
    /// Session id, or path of a transcript
    #[arg(value_name = "ID-OR-PATH")]
    pub session: String,
    /// Agent directory (default: the user's own)
    #[arg(long, value_name = "DIR")]
    pub agent_dir: Option<PathBuf>,
}

/// Prints the chain; exit bit 4 when gjc turns away somewhere.
///
/// # Errors
/// No home can be trusted.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let inferred = match args.agent_dir {
        None => agent_dir_of(&console.environment.current_dir.join(&args.session)),
        Some(_) => None,
    };
    if let Some(agent) = &inferred {
        console.note(&format!("agent directory taken from the path: {}", agent.display()));
    }
    let world = console.world(&Real, &ThisHost, args.agent_dir.as_deref().or(inferred.as_deref()))?;
    if !world.fs.present(&world.agent_dir).unwrap_or(true) && !args.session.contains('/') {
        return Err(Failure::Operational(format!("{}: there is no agent directory; name one with --agent-dir", world.agent_dir.display())));
    }
    let chain = why(&world, &args.session);
    let json = console.options.format == Format::Json;
    let out = console.out();
    if json {
        serde_json::to_writer_pretty(&mut *out, &chain).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        out.write_all(text(&chain).as_bytes())?;
    }
    Ok(if chain.opens { Status::CLEAN } else { Status::FINDINGS })
}

/// The agent directory that a transcript lies in, by its path: `<agent>/sessions/<scope or legacy directory>/<file>`.
fn agent_dir_of(transcript: &Path) -> Option<PathBuf> {
    let parent = Real.realpath(transcript.parent()?).ok()?;
    let sessions = parent.parent().filter(|above| above.file_name().is_some_and(|name| name == layout::SESSIONS))?;
    let managed = |name: &std::ffi::OsStr| {
        matches!(layout::sessions_name(name.as_encoded_bytes()), layout::SessionsName::Scope | layout::SessionsName::Legacy)
    };
    parent.file_name().is_some_and(managed).then(|| sessions.parent().map(Path::to_owned))?
}

/// The chain for people: one line per step, its evidence below it.
pub fn text(chain: &Chain) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    // Writing to a String cannot fail.
    let mut line = |text: String| _ = writeln!(out, "{}", plain(&text));
    line(chain.path.clone().unwrap_or_else(|| chain.asked.clone()));
    for step in &chain.steps {
        let mark = if step.turns_away { "✗" } else { "✓" };
        line(format!("{mark} {:<15} {}  (spec {})", step.step, step.answer, step.section));
        for evidence in &step.evidence {
            let place = evidence.line.map_or_else(|| evidence.path.clone(), |line| format!("{}:{line}", evidence.path));
            line(format!("    {place}"));
            line(format!("      {}", evidence.shows));
        }
        if let Some(advice) = &step.advice {
            line(format!("  → {advice}"));
        }
    }
    if chain.opens {
        line("gjc opens this session.".to_owned());
    } else if chain.steps.iter().any(|step| step.turns_away) {
        line("gjc turns away at the last step shown.".to_owned());
    }
    out
}
