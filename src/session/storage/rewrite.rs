//! The atomic rewrite of a transcript in an explicit destination (spec 04 §7.4): a complete temporary file takes its name.

use super::{Begin, Result, SessionStorage, StorageError, join, split};

/// Milliseconds since 1970 at which snowflakes begin.
const SNOWFLAKE_EPOCH_MS: u64 = 1_420_070_400_000;

/// Names of temporary files: 16 lower-case hexadecimal digits each, of a time and a number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Snowflakes {
    /// Milliseconds since 1970.
    pub now_ms: u64,
    /// The next number, of 22 bits.
    pub sequence: u32,
}

impl Snowflakes {
    /// The next name.
    pub fn name(&mut self) -> String {
        let sequence = u64::from(self.sequence & 0x3F_FFFF);
        self.sequence = self.sequence.wrapping_add(1);
        format!("{:016x}", (self.now_ms.saturating_sub(SNOWFLAKE_EPOCH_MS) << 22) | sequence)
    }
}

/// Puts `bytes` in place of the file at `path`. What stands there is never half written: a crash leaves the old file, or the
/// new one, or, where a rename is not permitted, a backup that listing restores (spec 04 §2.2). The directory is not synced.
///
/// # Errors
/// The first that the storage answers; the file is then what it was.
pub fn rewrite(storage: &dyn SessionStorage, path: &str, bytes: &[u8], names: &mut Snowflakes) -> Result<()> {
    let (directory, name) = split(path);
    let temporary = join(directory, &format!(".{name}.{}.tmp", names.name()));
    let replaced = write_durably(storage, &temporary, bytes).and_then(|()| match storage.rename(&temporary, path) {
        Err(error) if error.is("EPERM") => by_backup(storage, &temporary, path, names),
        renamed => renamed,
    });
    replaced.inspect_err(|_| discard(storage, &temporary))
}

/// Writes a temporary file as a whole: complete and durable when this returns.
pub(super) fn write_durably(storage: &dyn SessionStorage, path: &str, bytes: &[u8]) -> Result<()> {
    let mut writer = storage.open_writer(path, Begin::Truncate)?;
    let synced = writer.write_line(bytes).and_then(|()| writer.fsync());
    // The error of writing comes first; a file that cannot be closed is not complete either.
    let closed = writer.close();
    synced.and(closed)
}

/// Where a file cannot be renamed over another: the old one is set aside, and comes back when the new one cannot take its
/// place.
fn by_backup(storage: &dyn SessionStorage, temporary: &str, path: &str, names: &mut Snowflakes) -> Result<()> {
    let failed = |error: StorageError| StorageError {
        code: error.code,
        message: format!("Failed to replace session file after EPERM ({path}): {error}"),
    };
    let backup = format!("{path}.{}.bak", names.name());
    match storage.rename(path, &backup) {
        // There is nothing to set aside after all.
        Err(error) if error.is("ENOENT") => return storage.rename(temporary, path).map_err(failed),
        renamed => renamed.map_err(failed)?,
    }
    if let Err(error) = storage.rename(temporary, path) {
        // If this fails too the backup stays: it is what listing restores.
        let _ = storage.rename(&backup, path);
        return Err(failed(error));
    }
    discard(storage, &backup);
    Ok(())
}

/// A temporary file or a backup that stays is residue, not an error.
pub(super) fn discard(storage: &dyn SessionStorage, path: &str) {
    let _ = storage.unlink(path);
}

#[cfg(test)]
mod tests {
    use super::super::Memory;
    use super::super::double::{Answer, Hooked};
    use super::*;
    use std::cell::RefCell;

    /// 04 §7.4
    #[test]
    fn the_worked_snowflake() {
        let mut names = Snowflakes { now_ms: 1_771_237_230_000, sequence: 5 };
        assert_eq!(names.name(), "1470cb256c000005");
        assert_eq!(names.name(), "1470cb256c000006");
    }

    type Left = Vec<(String, Vec<u8>)>;

    /// The outcome, the renames, and the files afterwards, when renames answer `answers`, the first one first.
    fn rewritten(answers: &[Option<&'static str>]) -> (Result<()>, Vec<String>, Left) {
        let memory = Memory::new();
        memory.write("/s/a.jsonl", b"old\n").unwrap();
        let (answers, renamed) = (RefCell::new(answers.iter()), RefCell::new(Vec::new()));
        let storage = Hooked::new(&memory, |asked| {
            let Some(next) = asked.next else { return Answer::GoOn };
            renamed.borrow_mut().push(format!("{} -> {}", split(asked.path).1, split(next).1));
            answers.borrow_mut().next().copied().flatten().map_or(Answer::GoOn, Answer::token)
        });
        let outcome = rewrite(&storage, "/s/a.jsonl", b"new\n", &mut Snowflakes { now_ms: SNOWFLAKE_EPOCH_MS, sequence: 1 });
        drop(storage);
        (outcome, renamed.into_inner(), memory.all())
    }

    #[test]
    fn a_complete_file_takes_the_name() {
        let (outcome, renamed, files) = rewritten(&[]);
        assert_eq!(outcome, Ok(()));
        assert_eq!(renamed, [".a.jsonl.0000000000000001.tmp -> a.jsonl"]);
        assert_eq!(files, [("/s/a.jsonl".to_owned(), b"new\n".to_vec())]);
    }

    #[test]
    fn a_rename_that_fails_leaves_the_old_file_and_no_residue() {
        let (outcome, renamed, files) = rewritten(&[Some("EIO")]);
        assert!(outcome.unwrap_err().is("EIO"));
        assert_eq!(renamed.len(), 1);
        assert_eq!(files, [("/s/a.jsonl".to_owned(), b"old\n".to_vec())]);
    }

    #[test]
    fn where_renaming_over_a_file_is_not_permitted_the_old_one_is_set_aside() {
        let (outcome, renamed, files) = rewritten(&[Some("EPERM")]);
        assert_eq!(outcome, Ok(()));
        assert_eq!(renamed[1..], ["a.jsonl -> a.jsonl.0000000000000002.bak", ".a.jsonl.0000000000000001.tmp -> a.jsonl"]);
        assert_eq!(files, [("/s/a.jsonl".to_owned(), b"new\n".to_vec())]);
    }

    #[test]
    fn where_there_is_nothing_to_set_aside_the_new_one_takes_its_place() {
        let (outcome, renamed, files) = rewritten(&[Some("EPERM"), Some("ENOENT")]);
        assert_eq!((outcome, renamed.len()), (Ok(()), 3));
        assert_eq!(files, [("/s/a.jsonl".to_owned(), b"new\n".to_vec())]);
    }

    #[test]
    fn and_comes_back_when_the_new_one_cannot_take_its_place() {
        let (outcome, _, files) = rewritten(&[Some("EPERM"), None, Some("EIO")]);
        let error = outcome.unwrap_err();
        assert!(error.to_string().starts_with("Failed to replace session file after EPERM"), "{error}");
        assert_eq!(files, [("/s/a.jsonl".to_owned(), b"old\n".to_vec())]);
    }

    #[test]
    fn if_that_fails_too_the_backup_is_what_is_left() {
        let (outcome, _, files) = rewritten(&[Some("EPERM"), None, Some("EIO"), Some("EIO")]);
        assert!(outcome.is_err());
        assert_eq!(files, [("/s/a.jsonl.0000000000000002.bak".to_owned(), b"old\n".to_vec())]);
    }
}
