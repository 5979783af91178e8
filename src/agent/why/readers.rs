//! The steps that need nothing but the file: what gjc's readers S, M, R and the picker make of its bytes (spec 01 §2, spec
//! 04 §2.4).

use super::{Evidence, Step, passes, saw, saw_line, stops};
use crate::agent::predict::{self, Shown};
use crate::agent::world::World;
use crate::fsys::Fs;
use crate::transcript::Throw;
use crate::transcript::inspect::{self, Cause, Inspected, Options, Reason, Verdict};
use crate::transcript::readers::{bounded, managed, picker};
use std::path::Path;

/// The answer of the first of S, M and R that refuses the file, else that of S. `is_managed`: M is asked.
pub fn first_refusal(world: &World<'_>, path: &Path, is_managed: bool) -> Step {
    let (strict, _) = strict(world, path);
    if strict.turns_away {
        return strict;
    }
    let others = [is_managed.then(|| managed(world, path)).flatten(), bounded(world, path)];
    others.into_iter().flatten().find(|step| step.turns_away).unwrap_or(strict)
}

/// Reader S, and what it read.
pub(super) fn strict(world: &World<'_>, path: &Path) -> (Step, Option<Inspected>) {
    const SECTION: &str = "01 §2.3";
    let passed = |answer: &'static str, shows: &str| passes("strict reader", SECTION, answer, vec![saw(path, shows)]);
    let refused =
        |reason: &Reason, shows: String, advice: &str| stops("strict reader", SECTION, reason.token(), vec![saw(path, shows)], advice);
    let looked = match inspect::file(world.fs, path, Options { release: world.release, budget: world.context_budget }) {
        Ok(looked) => looked,
        Err(reason @ Reason::Oversized { .. }) => {
            return (passed(reason.token(), "above 128 MiB, which is more than gjc loads whole: the bounded reader decides"), None);
        }
        Err(reason) => {
            let shows = match reason {
                Reason::Missing => "is gone, or its path leads nowhere",
                Reason::Unstable => "changed while it was read",
                _ => "cannot be read",
            };
            let advice = "Make the file readable for the user that runs gjc, and let no process write it meanwhile.";
            return (refused(&reason, shows.to_owned(), advice), None);
        }
    };
    let step = match &looked.inspected.verdict {
        Verdict::Resumable => passed("resumable", "the last message is not from the assistant"),
        Verdict::Terminal => passed("terminal", "nothing is under way: the last message is from the assistant, or there is none"),
        Verdict::Error(reason @ Reason::Malformed(cause)) => {
            let (line, shows) = cause_of(cause, &looked.inspected);
            let evidence = Evidence { line, ..saw(path, shows) };
            stops("strict reader", SECTION, reason.token(), vec![evidence], advice_on(cause))
        }
        Verdict::Error(reason) => {
            let shows = reason
                .size()
                .map_or_else(|| reason.token().to_owned(), |bytes| format!("its context takes {bytes} bytes, more than the budget"));
            refused(reason, shows, "Raise GJC_SESSION_CONTEXT_BUDGET_BYTES (at most 8 GiB) and compact the session.")
        }
    };
    (step, Some(looked.inspected))
}

/// Reader M; none when the file cannot be read any more.
pub(super) fn managed(world: &World<'_>, path: &Path) -> Option<Step> {
    const SECTION: &str = "01 §2.8";
    if world.fs.stat(path).ok()?.size > inspect::EAGER_MAX {
        return Some(passes("managed reader", SECTION, "not asked", vec![saw(path, "above 128 MiB: the bounded reader decides")]));
    }
    Some(match managed::file(world.fs, path)? {
        Ok(()) => passes("managed reader", SECTION, "accepted", vec![saw(path, "every line can be read by itself")]),
        Err(malformed) => {
            use managed::Malformed;
            let (line, shows, advice) = match malformed {
                Malformed::LineTooLong(line) => (
                    Some(line),
                    "the line is longer than 8 MiB: gjc wrote it, and no longer takes it from its sessions directory",
                    "Copy the file out of the sessions directory and open the copy by its path (`gjc --resume PATH`): there lines may be longer.",
                ),
                Malformed::Utf8(line) => (
                    Some(line),
                    "the line is not UTF-8",
                    "Keep the original and mend the line in a copy. `gjc-fsck repair --salvage FILE -o DIR` copies every complete record.",
                ),
                Malformed::Syntax(line) => (
                    Some(line),
                    "the line is no JSON by itself (a line that holds nothing but a carriage return is none)",
                    "Keep the original and take the line out of a copy, or mend it there. `gjc-fsck repair --salvage FILE -o DIR` copies every complete record.",
                ),
                Malformed::Header => {
                    (None, "the first line with content is no header", "Mend the first line in a copy and keep the original.")
                }
            };
            stops("managed reader", SECTION, "malformed", vec![Evidence { line, ..saw(path, shows) }], advice)
        }
    })
}

/// Reader R; none when the file cannot be read any more.
pub(super) fn bounded(world: &World<'_>, path: &Path) -> Option<Step> {
    const SECTION: &str = "01 §2.7";
    // Outside managed storage links are followed.
    let real = world.fs.realpath(path).ok()?;
    let size = world.fs.lstat(&real).ok()?.size;
    if size <= inspect::EAGER_MAX {
        return Some(passes("bounded reader", SECTION, "not asked", vec![saw(path, "at most 128 MiB: the file is loaded whole")]));
    }
    let advice = "A file of this size opens only when every line of it passes the bounded scan. Keep it, and go on in a new session; its records can be read with `gjc-fsck records`.";
    if size > bounded::BOUNDED_MAX {
        let shows = format!("{size} bytes, more than the bounded scan reads");
        return Some(stops("bounded reader", SECTION, "oversized", vec![saw(path, shows)], advice));
    }
    let mut file = world.fs.open(&real).ok()?;
    let scanned = bounded::scan(&mut file).ok()?;
    file.close().ok()?;
    Some(match scanned {
        Ok(()) => passes("bounded reader", SECTION, "accepted", vec![saw(path, "the bounded scan accepts every line")]),
        Err(refused) => {
            let shows = format!("{}: {}", refused.refusal.token(), refused.refusal.words());
            stops("bounded reader", SECTION, "oversized", vec![saw_line(path, refused.line, shows)], advice)
        }
    })
}

/// The picker's view of the file by itself.
///
/// A session that passes every reader can still be left out. The picker reads 4,096 bytes where S reads the whole file and
/// the candidate check 65,536: it misses a header whose `id` stands further behind (spec 04 §2.4 step 3), and it throws at
/// messages of the beginning whose content is neither text nor a list of objects, of which S asks no more than a role
/// (step 8). And of several sessions with one id it shows one: that is for the caller, who knows the others.
pub(super) fn picker(world: &World<'_>, path: &Path) -> Result<Shown, Box<Step>> {
    const SECTION: &str = "04 §2.4";
    predict::shown(world, path.to_owned()).ok_or_else(|| {
        let header_ends = first_line_ends_in_prefix(world.fs, path);
        let (line, shows, advice) = if header_ends {
            (
                None,
                "the picker throws at a message among the first 4,096 bytes, because its content is neither text nor a list of objects",
                "Open it by its path (`gjc --resume PATH`): the picker leaves it out silently.",
            )
        } else {
            (
                Some(1),
                "the header is longer than the 4,096 bytes that the picker reads, and these hold no `id` for it",
                "Open it by its path (`gjc --resume PATH`). In a copy, move `id` to the front of the header, or shorten what stands before it (the title): then it shows again.",
            )
        };
        Box::new(stops("picker", SECTION, "skipped", vec![Evidence { line, ..saw(path, shows) }], advice))
    })
}

fn first_line_ends_in_prefix(fs: &dyn Fs, path: &Path) -> bool {
    let mut prefix = vec![0; picker::PREFIX];
    let read = fs.open(path).ok().and_then(|file| file.read_at(&mut prefix, 0).ok()).unwrap_or(0);
    prefix.iter().take(read).any(|byte| *byte == b'\n')
}

/// Line and words of what makes a file malformed.
pub fn cause_of(cause: &Cause, inspected: &Inspected) -> (Option<u64>, String) {
    let entries = inspected.loaded.as_ref().map_or(&[][..], |loaded| &loaded.entries[..]);
    match cause {
        Cause::Utf8 { line } => (Some(*line), "the line is not UTF-8".into()),
        Cause::Syntax { line } => (Some(*line), "the line is not one whole JSON value".into()),
        Cause::Load(throw) => (None, format!("loading it throws: {throw}")),
        Cause::Header if entries.is_empty() => (None, "the file holds no session: no header, and nothing behind it".into()),
        Cause::Header => (None, "the first entry is no header with a string id".into()),
        Cause::Migration(throw) => (None, format!("lifting the old version throws: {throw}")),
        Cause::Context(throw) => (None, format!("building the context throws: {throw}")),
        Cause::Schema { entry, faults } => {
            let line = entries.get(*entry).map(|fact| u64::from(fact.line));
            let members: Vec<&str> = faults.iter().map(|field| field.pointer()).collect();
            let words = match &*members.join(", ") {
                "" | "/type" => "the entry has a type that gjc does not know, or none".to_owned(),
                members => format!("missing in the entry, or not of the kind that gjc demands: {members}"),
            };
            (line, words)
        }
    }
}

/// What the user can do about it.
fn advice_on(cause: &Cause) -> &'static str {
    match cause {
        Cause::Load(Throw::UnsupportedVersion(_)) => {
            "gjc reads versions 1 to 5, written as a number: another program or a newer gjc wrote the file, or the number was edited."
        }
        Cause::Header => "The file is no session of gjc, or it lost its first line: put the header back in a copy, and keep the original.",
        Cause::Utf8 { .. } | Cause::Syntax { .. } => {
            "Keep the original and mend the line in a copy: until then gjc refuses the file, and never overwrites it. \
             `gjc-fsck repair --salvage FILE -o DIR` copies every complete record."
        }
        Cause::Schema { .. } => "Keep the original and mend the line in a copy: until then gjc refuses the file, and never overwrites it.",
        Cause::Load(_) | Cause::Migration(_) | Cause::Context(_) => {
            "Mend the record that the check names, in a copy, and keep the original: until then gjc refuses the file, and never overwrites it."
        }
    }
}
