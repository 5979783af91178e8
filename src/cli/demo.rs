//! `demo`: a sample agent directory with every common kind of damage, in a temporary folder, checked.

use super::check::{Files, audit, observed, options, settings, write};
use super::console::quoted;
use super::{Console, Failure, Status, destination};
use crate::agent::walk::show;
use crate::check::run::{Depth, Target};
use crate::corpus::sample;
use crate::finding::Release;
use crate::fsys::plant::plant;
use crate::fsys::{Fs, Real};
use crate::report;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Arguments of `demo`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Make the sample in this new or empty folder and leave it there (default: a temporary folder that goes away)
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

/// Makes the sample, checks it, and answers the exit bits of the check.
///
/// # Errors
/// The folder cannot be made, or the report cannot be written.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    // Held to the end: it goes away when it is dropped.
    let temporary;
    let root = match &args.keep {
        Some(folder) => {
            let folder = console.environment.current_dir.join(folder);
            // The sample is planted among nothing: not into somebody's agent directory.
            destination::outside(console, &folder)?;
            match Real.present(&folder) {
                Ok(false) => {}
                Ok(true) if Real.realpath(&folder).and_then(|real| Real.list(&real)).is_ok_and(|names| names.is_empty()) => {}
                _ => return Err(Failure::Usage(format!("{}: the sample needs a new or empty folder", folder.display()))),
            }
            folder
        }
        None => {
            temporary = tempfile::Builder::new()
                .prefix("gjc-fsck-demo-")
                .permissions(Permissions::from_mode(0o700))
                .tempdir()
                .map_err(Failure::Output)?;
            temporary.path().to_owned()
        }
    };
    plant(&root, &sample::plants()).map_err(|error| Failure::at(&root, &error))?;

    let mut options = options(Depth::Full, console);
    options.assume_root.get_or_insert_with(|| PathBuf::from(sample::ROOT));
    let mut audit = audit(observed(vec![Target::Path(root.clone())], &options, console), console);
    audit.assumed_root = options.assume_root.as_ref().map(|path| path.to_string_lossy().into_owned());
    if args.keep.is_none() {
        // The temporary folder's name is different every time and leads nowhere afterwards.
        audit.root = "the sample agent directory".to_owned();
        audit.blobs.store = audit.blobs.store.map(|_| "blobs".to_owned());
    }
    let report = report::build(audit, &settings(console));
    // A temporary folder has no name that leads anywhere.
    let name = args.keep.as_ref().map_or_else(String::new, |_| show(root.as_os_str()));
    if args.keep.is_some() {
        console.note(&format!("the sample stays there; this gives its answer again: {}", again(&root, console)));
    }
    let base = console.environment.current_dir.clone();
    write(&report, &Files { fs: &Real, targets: vec![(name, root)], own: Vec::new(), base }, console)
}

/// The command that gives the answer about a kept sample again.
fn again(root: &Path, console: &Console) -> String {
    let options = &console.options;
    let assumed = options.assume_root.as_deref().unwrap_or(Path::new(sample::ROOT));
    let mut command = format!("gjc-fsck check --assume-root {}", quoted(assumed));
    if options.gjc != Release::default() {
        command += &format!(" --gjc {}", options.gjc.text());
    }
    if let Some(uid) = options.as_uid {
        command += &format!(" --as-uid {uid}");
    }
    format!("{command} {}", quoted(root))
}
