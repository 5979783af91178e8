//! `scope CWD`: which scope gjc keeps the sessions of a working directory in, and under which names older releases did.

use super::options::Format;
use super::{Console, Failure, Status};
use crate::agent::identity::{self, Identity, Platform};
use crate::agent::walk::show;
use crate::agent::{binding, legacy, locate};
use crate::fsys::{Fs, Real};
use crate::render::style::plain;
use data_encoding::HEXLOWER;
use std::path::{Path, PathBuf};

/// Arguments of `scope`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Working directory (default: the current one)
    #[arg(value_name = "CWD")]
    pub cwd: Option<PathBuf>,
    /// Take CWD as the canonical path it is: nothing is looked up, so it need not exist here
    #[arg(long, requires = "cwd")]
    pub canonical: bool,
    /// Platform whose identity is computed; `win32` needs --canonical and a volume-GUID path
    #[arg(long, value_parser = platform, default_value = "posix", value_name = "PLATFORM")]
    pub platform: Platform,
}

/// What the command answers.
#[derive(serde::Serialize, Debug)]
#[serde(rename_all = "camelCase")]
struct Answer {
    directory_name: String,
    platform: &'static str,
    identity_version: u8,
    canonical_path: String,
    sha256: String,
    identity_digest: String,
    /// Where the scope lies in this user's storage; null when no home can be trusted.
    directory: Option<String>,
    /// Exact text of the binding file, its final line feed included.
    binding: String,
    /// Names of legacy directories below the sessions root, in the order in which a listing visits them.
    legacy_names: Vec<String>,
}

/// Prints the directory name on its own line, then everything behind it.
///
/// # Errors
/// The directory has no identity: the message bears gjc's scope error.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let answer = answer(&Real, args, console)?;
    if console.options.format == Format::Json {
        console.json(&answer)?;
        return Ok(Status::CLEAN);
    }
    let out = console.out();
    writeln!(out, "{}", answer.directory_name)?;
    writeln!(out)?;
    writeln!(out, "workspace  {}", plain(&answer.canonical_path))?;
    writeln!(out, "identity   {}, version {}", answer.platform, answer.identity_version)?;
    writeln!(out, "digest     {}", answer.identity_digest)?;
    writeln!(out, "sha256     {}", answer.sha256)?;
    writeln!(out, "directory  {}", plain(answer.directory.as_deref().unwrap_or("(unknown: no home directory can be trusted)")))?;
    writeln!(out, "binding    {}", plain(answer.binding.trim_end()))?;
    for (index, name) in answer.legacy_names.iter().enumerate() {
        writeln!(out, "{:<9}  {}", if index == 0 { "legacy" } else { "" }, plain(name))?;
    }
    Ok(Status::CLEAN)
}

fn answer(fs: &dyn Fs, args: &Args, console: &Console) -> Result<Answer, Failure> {
    let environment = &console.environment;
    let cwd = args.cwd.as_deref().unwrap_or(&environment.current_dir);
    let identity = identify(fs, args, cwd, &environment.current_dir)?;

    let location = environment.location(fs).ok();
    let lexical = if args.canonical {
        identity.canonical_path.clone()
    } else {
        locate::normalise(&environment.current_dir.join(cwd)).to_string_lossy().into_owned()
    };
    let temp =
        ["TMPDIR", "TMP", "TEMP"].into_iter().find_map(|name| environment.get(name)).map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    // Without a home gjc does not start, so there is no listing that could visit anything.
    let legacy_names = match location.as_ref().and_then(|l| l.home.as_deref()) {
        Some(home) => legacy::known_names(&identity.canonical_path, &lexical, &surroundings(fs, identity.platform, home, &temp)),
        None => Vec::new(),
    };

    let directory_name = identity.directory_name();
    let directory = location.map(|l| identity::canonical_root(fs, &l.sessions()).join(&directory_name).display().to_string());
    Ok(Answer {
        platform: identity.platform.text(),
        identity_version: 1,
        sha256: HEXLOWER.encode(&identity.digest()),
        identity_digest: identity.digest_text(),
        directory,
        binding: String::from_utf8_lossy(&binding::canonical_text(&identity)).into_owned(),
        legacy_names,
        canonical_path: identity.canonical_path,
        directory_name,
    })
}

fn identify(fs: &dyn Fs, args: &Args, cwd: &Path, current_dir: &Path) -> Result<Identity, Failure> {
    if args.canonical {
        let text = cwd.to_str().ok_or_else(|| Failure::Usage("a canonical path is UTF-8".into()))?;
        return Ok(Identity { platform: args.platform, canonical_path: text.to_owned() });
    }
    if args.platform == Platform::Win32 {
        return Err(Failure::Usage(
            "the identity of a Windows directory can be looked up on Windows only; give its volume-GUID path with --canonical".into(),
        ));
    }
    identity::posix(fs, current_dir, cwd).map_err(|failure| {
        let missing = failure.token() == "not_found";
        let hint = if missing { "; for a workspace that is not here, give its absolute path with --canonical" } else { "" };
        Failure::Operational(format!("{}: {} ({}){hint}", show(cwd.as_os_str()), failure.scope_error(), failure.token()))
    })
}

fn surroundings(fs: &dyn Fs, platform: Platform, home: &Path, temp: &Path) -> legacy::Surroundings {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let real = |path: &Path| fs.realpath(path).map_or_else(|_| text(path), |real| text(&real));
    legacy::Surroundings {
        rules: match platform {
            Platform::Posix => legacy::PathRules::Posix,
            Platform::Win32 => legacy::PathRules::Windows,
        },
        home: text(home),
        home_real: real(home),
        temp: text(temp),
        temp_real: real(temp),
    }
}

fn platform(text: &str) -> Result<Platform, String> {
    Platform::parse(text.as_bytes()).ok_or_else(|| "the platforms are posix and win32".into())
}
