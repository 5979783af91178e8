//! The artifacts of a session: numbered tool outputs, named files, outputs of sub-agents, and the staging of an attempt
//! (spec 04 §6; seeds "Security boundary").
//!
//! Nothing that is published replaces anything. What is rolled back is exactly what was published, under its name: names that
//! gjc's protocols make are no authority to delete. Once an attempt's files are published, a staging directory that is only
//! detached yet changes nothing about it.

use super::storage::{Removal, SessionStorage, StorageError, join, split};
use crate::json::{Value, View};
use crate::transcript::blobs::name_of;
use std::collections::{BTreeMap, BTreeSet};

/// Largest safe integer of JavaScript.
const MAX_SAFE: u64 = 9_007_199_254_740_991;
/// Most bytes that a read without a range gives out.
pub const LONGEST_READ: u64 = 16 << 20;
/// The directory of attempts.
const STAGING: &str = ".staging";
/// Prefix of the files that claim a number.
const CLAIM: &str = ".artifact-id-";
/// Longest name of an attempt.
const LONGEST_ATTEMPT: usize = 128;

/// Answer of this room.
pub type Result<T> = std::result::Result<T, StorageError>;

/// The artifacts directory of one session, or of one attempt. It is made when something is first put into it.
pub struct Artifacts<'s> {
    storage: &'s dyn SessionStorage,
    directory: String,
    /// The next number to try; none before the directory was looked at.
    next: Option<u64>,
    allocated: BTreeSet<u64>,
    /// Numbers that are not given out again.
    retired: BTreeSet<u64>,
    committed: BTreeMap<String, Committed>,
    attempt: Option<Attempt>,
}

/// Which attempt a staging directory belongs to.
struct Attempt {
    name: String,
    /// The directory as it was made, where the storage knows directories.
    object: Option<(u64, u64)>,
}

/// What an attempt published, as long as it can be taken back.
struct Committed {
    start: u64,
    count: u64,
    names: Vec<String>,
}

/// The numbers of an attempt, and those that its artifacts have now.
pub type Mapping = BTreeMap<u64, u64>;

/// An exact text that was published for later (spec 04 §6.3, eviction handle v1).
#[derive(Clone, PartialEq, Debug)]
pub enum Exact {
    /// It is there, and this finds it.
    Saved(Value),
    /// It is longer than allowed; nothing was written.
    Incomplete {
        /// Its bytes.
        bytes: u64,
        /// The most that is allowed.
        limit: u64,
    },
    /// It could not be written.
    Failed(StorageError),
}

/// What a file of a range is: none is all of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Range {
    /// First byte.
    pub start: u64,
    /// Behind the last byte.
    pub end: Option<u64>,
}

impl<'s> Artifacts<'s> {
    /// The artifacts in a directory.
    pub fn new(storage: &'s dyn SessionStorage, directory: impl Into<String>) -> Self {
        Artifacts {
            storage,
            directory: directory.into(),
            next: None,
            allocated: BTreeSet::new(),
            retired: BTreeSet::new(),
            committed: BTreeMap::new(),
            attempt: None,
        }
    }
    /// The directory.
    pub fn directory(&self) -> &str {
        &self.directory
    }
    /// The numbers that were given out here.
    pub const fn allocated(&self) -> &BTreeSet<u64> {
        &self.allocated
    }

    fn path(&self, name: &str) -> String {
        join(&self.directory, name)
    }
    /// The names of the files, hidden ones too; none where there is no directory. What else lies in it is no matter.
    fn names(&self) -> Result<Vec<String>> {
        let files = |pattern| match self.storage.list_files_strict(&self.directory, pattern) {
            Err(error) if error.is("ENOENT") => Ok(Vec::new()),
            listed => listed,
        };
        let paths: BTreeSet<String> = [files(".*")?, files("*")?].into_iter().flatten().collect();
        Ok(paths.iter().map(|path| split(path).1.to_owned()).collect())
    }
    /// The next number: one more than any that is in use (spec 04 §6.2).
    fn first_free(&self) -> Result<u64> {
        let numbers = self.names()?.into_iter().filter_map(|name| number_in_use(&name).map(str::to_owned));
        let mut next = 0;
        for digits in numbers {
            let number = digits.parse::<u64>().ok().filter(|number| *number <= MAX_SAFE);
            next = next.max(number.ok_or_else(|| StorageError::token("artifact_id_out_of_range"))? + 1);
        }
        Ok(next)
    }

    /// Claims the next number, by a file that nothing replaces.
    ///
    /// # Errors
    /// `artifact_id_out_of_range`; the storage's.
    pub fn allocate(&mut self) -> Result<u64> {
        let mut number = match self.next {
            Some(next) => next,
            None => self.first_free()?,
        };
        loop {
            while self.retired.contains(&number) {
                number += 1;
            }
            if number > MAX_SAFE {
                return Err(StorageError::token("artifact_id_out_of_range"));
            }
            let claimed = self.storage.publish(&self.path(&format!("{CLAIM}{number}")), b"");
            self.next = Some(number + 1);
            match claimed {
                Err(error) if error.is("destination_conflict") => number += 1,
                claimed => {
                    claimed?;
                    self.allocated.insert(number);
                    return Ok(number);
                }
            }
        }
    }

    /// Saves the output of a tool; what is longer than `limit` is cut and says so.
    ///
    /// # Errors
    /// `Unsafe artifact tool type`; as [`Artifacts::allocate`].
    pub fn save(&mut self, content: &str, tool: &str, limit: usize) -> Result<u64> {
        must_be(is_tool(tool), "Unsafe artifact tool type")?;
        let number = self.allocate()?;
        self.storage.publish(&self.path(&format!("{number}.{tool}.log")), cut(content, limit).as_bytes())?;
        Ok(number)
    }

    /// Saves an exact text and reads it back.
    pub fn save_exact(&mut self, text: &str, tool: &str, limit: u64) -> Exact {
        let bytes = text.len() as u64;
        if bytes > limit {
            return Exact::Incomplete { bytes, limit };
        }
        let saved = must_be(is_tool(tool), "Unsafe artifact tool type").and_then(|()| self.allocate()).and_then(|number| {
            let name = format!("{number}.{tool}.log");
            let verified = self.storage.publish(&self.path(&name), text.as_bytes()).and_then(|()| {
                let written = self.storage.read(&self.path(&name))?;
                must_be(written == text.as_bytes(), "artifact publication verification failed")
            });
            verified.inspect_err(|_| _ = self.remove_named(&name)).map(|()| number)
        });
        match saved {
            Err(error) => Exact::Failed(error),
            Ok(number) => {
                let members = [
                    ("v", Value::Number(1.0)),
                    ("artifactId", Value::string(number.to_string())),
                    ("uri", Value::string(format!("artifact://{number}"))),
                    ("encoding", Value::string("utf-8")),
                    ("bytes", Value::Number(bytes as f64)),
                    ("sha256", Value::string(name_of(text.as_bytes()))),
                    ("complete", Value::Bool(true)),
                ];
                Exact::Saved(Value::Object(members.into_iter().collect()))
            }
        }
    }

    /// Publishes a named artifact.
    ///
    /// # Errors
    /// `Unsafe named artifact`, `destination_conflict`; the storage's.
    pub fn publish_named(&self, name: &str, bytes: &[u8]) -> Result<()> {
        must_be(is_safe(name), "Unsafe named artifact")?;
        self.storage.publish(&self.path(name), bytes)
    }
    /// Writes a named artifact, whatever it was.
    ///
    /// # Errors
    /// `Unsafe named artifact`; the storage's.
    pub fn replace_named(&self, name: &str, bytes: &[u8]) -> Result<()> {
        must_be(is_safe(name), "Unsafe named artifact")?;
        let path = self.path(name);
        match self.storage.exists(&path)?.then(|| self.storage.read(&path)).transpose()? {
            None => self.storage.publish(&path, bytes),
            Some(before) => must_be(self.storage.replace_exact(&path, &before, bytes)?, "identity_mismatch"),
        }
    }
    /// Removes a named artifact if it can; answers whether it did. Residue of gjc's protocols is left alone.
    pub fn remove_named(&self, name: &str) -> bool {
        let residue = name.starts_with(".gjc-") || name.ends_with(".removing");
        let path = self.path(name);
        is_safe(name) && !residue && self.storage.exists(&path).unwrap_or(false) && self.storage.unlink(&path).is_ok()
    }

    /// The name of the file of `artifact://<number>` (spec 04 §6.3).
    ///
    /// # Errors
    /// `No artifacts directory found`, `artifact://<number> not found`, `ambiguous id in authorized artifacts`.
    pub fn find(&self, number: u64) -> Result<String> {
        let names = self.names()?;
        if names.is_empty() && !self.storage.exists(&self.directory)? {
            return Err(StorageError::plain("No artifacts directory found"));
        }
        let prefix = format!("{number}.");
        let mut found = names.into_iter().filter(|name| name.starts_with(&prefix) && !name.ends_with(".meta.json"));
        match (found.next(), found.next()) {
            (None, _) => Err(StorageError::plain(format!("artifact://{number} not found"))),
            (Some(name), None) => Ok(name),
            (Some(_), Some(_)) => Err(StorageError::plain("ambiguous id in authorized artifacts")),
        }
    }
    /// The bytes of `artifact://<number>`, at most [`LONGEST_READ`] of them.
    ///
    /// # Errors
    /// As [`Artifacts::find`]; the storage's.
    pub fn read(&self, number: u64, range: Range) -> Result<Vec<u8>> {
        let path = self.path(&self.find(number)?);
        let size = self.storage.stat(&path)?.size;
        let start = range.start.min(size);
        let end = range.end.unwrap_or(size).clamp(start, size);
        self.storage.read_range(&path, start, (end - start).min(LONGEST_READ))
    }

    /// Publishes the output of a sub-agent with the metadata that it is verified by.
    ///
    /// # Errors
    /// As [`Artifacts::publish_named`]; an output without its metadata does not stay.
    pub fn publish_output(&self, id: &str, output: &[u8], created_at: &str) -> Result<()> {
        let name = format!("{id}.md");
        self.publish_named(&name, output)?;
        let metadata = self.publish_named(&format!("{name}.meta.json"), &metadata(id, output, created_at));
        metadata.inspect_err(|_| _ = self.remove_named(&name))
    }
    /// Publishes one generation of a managed output and selects it: output and metadata under names of the generation, verified,
    /// then the selector. Generations that are not selected any more may stay.
    ///
    /// # Errors
    /// `Unsafe managed output generation`, `managed_output_generation_verification_failed`,
    /// `managed_output_selector_verification_failed`; the storage's. Before the selector is replaced the old one holds.
    pub fn publish_generation(&self, selector: &str, prefix: &str, generation: &str, output: &[u8], metadata: &[u8]) -> Result<()> {
        must_be(is_safe(selector) && is_safe(prefix) && is_safe(generation), "Unsafe managed output generation")?;
        let output_name = format!("{prefix}.{generation}.output");
        let metadata_name = format!("{output_name}.meta.json");
        let before = self.storage.read(&self.path(selector)).ok().and_then(|bytes| Selected::parse(&bytes));
        self.publish_named(&output_name, output)?;
        self.publish_named(&metadata_name, metadata)?;
        let is = |name: &str, bytes: &[u8]| self.storage.read(&self.path(name)).is_ok_and(|read| read == bytes);
        must_be(is(&output_name, output) && is(&metadata_name, metadata), "managed_output_generation_verification_failed")?;
        let selected = Selected::new(output_name, output, metadata_name, metadata);
        self.replace_named(selector, &selected.text())?;
        must_be(is(selector, &selected.text()), "managed_output_selector_verification_failed")?;
        if let Some(before) = before.filter(|before| before.output != selected.output) {
            self.remove_named(&before.output);
            self.remove_named(&before.metadata);
        }
        Ok(())
    }
    /// The output behind `agent://<name>`: a generation that a selector names, or a file with its metadata. All of it is
    /// verified (spec 04 §6.3).
    ///
    /// # Errors
    /// Missing or malformed metadata or selector, or a size or hash that differs.
    pub fn read_output(&self, name: &str) -> Result<Vec<u8>> {
        must_be(is_safe(name), "Unsafe named artifact")?;
        let bytes = self.storage.read(&self.path(name))?;
        let differs = || StorageError::plain(format!("agent output {name} does not match its metadata"));
        let (output, metadata) = match Selected::parse(&bytes) {
            Some(selected) => {
                let output = self.storage.read(&self.path(&selected.output))?;
                let metadata = self.storage.read(&self.path(&selected.metadata))?;
                if selected != Selected::new(selected.output.clone(), &output, selected.metadata.clone(), &metadata) {
                    return Err(differs());
                }
                (output, metadata)
            }
            None => {
                let metadata = self.storage.read(&self.path(&format!("{name}.meta.json")))?;
                (bytes, metadata)
            }
        };
        let metadata = Value::parse(&metadata).ok_or_else(differs)?;
        let size = metadata.member("sizeBytes").and_then(View::as_f64) == Some(output.len() as f64);
        let hash = metadata.member("sha256").is_some_and(|hash| hash.is_str(&name_of(&output)));
        if size && hash { Ok(output) } else { Err(differs()) }
    }

    /// A staging directory for an attempt: a store of its own below this one, with numbers of its own.
    ///
    /// # Errors
    /// `Unsafe artifact attempt id`; the storage's.
    pub fn stage(&self, attempt: &str) -> Result<Artifacts<'s>> {
        let safe = attempt.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        must_be(safe && !attempt.is_empty() && attempt.len() <= LONGEST_ATTEMPT, "Unsafe artifact attempt id")?;
        let mut staging = Artifacts::new(self.storage, self.path(&join(STAGING, attempt)));
        self.storage.ensure_dir(&staging.directory)?;
        staging.attempt = Some(Attempt { name: attempt.to_owned(), object: staging.object() });
        Ok(staging)
    }

    /// Publishes what an attempt staged, under a block of numbers that follow each other, and retires the staging. `before`
    /// sees the mapping before anything is published.
    ///
    /// Once everything is published only a failure to retire the staging for another reason than its being pending takes it
    /// back; a staging that is detached and pending keeps mapping and reservation, with artifacts or without.
    ///
    /// # Errors
    /// The staging is another attempt's; `before` refuses; the storage's. What was published is then removed again; what
    /// cannot be removed keeps its number from being given out, and is named.
    pub fn commit(
        &mut self,
        staging: &mut Artifacts<'s>,
        attempt: &str,
        before: impl FnOnce(&Mapping) -> Result<()>,
    ) -> Result<(Mapping, Removal)> {
        must_be(staging.attempt.as_ref().is_some_and(|own| own.name == attempt), "Artifact staging ownership mismatch")?;
        let start = match self.next {
            Some(next) => next,
            None => self.first_free()?,
        };
        let count = staging.allocated.len() as u64;
        self.next = Some(start + count);
        let mapping: Mapping = staging.allocated.iter().copied().zip(start..).collect();
        let mut names = Vec::new();
        let published = before(&mapping).and_then(|()| self.take_over(staging, &mapping, &mut names)).and_then(|()| staging.discard());
        let committed = Committed { start, count, names };
        match published {
            Ok(removal) => {
                self.committed.insert(attempt.to_owned(), committed);
                Ok((mapping, removal))
            }
            Err(error) => Err(match self.take_back(&committed) {
                Ok(()) => error,
                Err(left) => StorageError { code: error.code, message: format!("{error}; {left}") },
            }),
        }
    }

    /// Publishes the files of a staging directory, renumbered. Claims stay behind: the numbers here are the mapped ones.
    fn take_over(&mut self, staging: &Artifacts<'s>, mapping: &Mapping, published: &mut Vec<String>) -> Result<()> {
        for name in staging.names()?.into_iter().filter(|name| !name.starts_with(CLAIM)) {
            let bytes = self.storage.read(&staging.path(&name))?;
            let number = name.split_once('.').and_then(|(digits, rest)| Some((mapping.get(&digits.parse().ok()?)?, rest)));
            let mapped = number.map_or_else(|| name.clone(), |(number, rest)| format!("{number}.{rest}"));
            self.storage.publish(&self.path(&mapped), &bytes)?;
            published.push(mapped);
        }
        Ok(())
    }

    /// Removes what was published.
    ///
    /// # Errors
    /// What could not be removed, or was gone already.
    fn take_back(&mut self, committed: &Committed) -> Result<()> {
        let left: Vec<&str> = committed.names.iter().rev().filter(|name| !self.remove_named(name)).map(String::as_str).collect();
        let end = committed.start + committed.count;
        if left.is_empty() && self.next == Some(end) {
            self.next = Some(committed.start);
        } else {
            // A number whose file may still be there, or behind which others were given out, is never given out again.
            self.retired.extend(committed.start..end);
        }
        let message = format!("Failed to roll back published artifacts: {}", left.join(", "));
        if left.is_empty() { Ok(()) } else { Err(StorageError::plain(message)) }
    }

    /// Takes back what an attempt published. An attempt that is not known, or final, is nothing to do.
    ///
    /// # Errors
    /// What could not be removed.
    pub fn roll_back(&mut self, attempt: &str) -> Result<()> {
        let committed = self.committed.remove(attempt);
        committed.map_or(Ok(()), |committed| self.take_back(&committed))
    }
    /// Makes what an attempt published final.
    pub fn finalize(&mut self, attempt: &str) {
        self.committed.remove(attempt);
    }

    /// Removes the staging directory of this attempt; a store that is no attempt's has nothing to remove.
    ///
    /// # Errors
    /// `artifact_staging_root_changed`; the storage's.
    pub fn discard(&mut self) -> Result<Removal> {
        let Some(attempt) = &self.attempt else { return Ok(Removal::Removed) };
        let there = self.object();
        if there.is_some() && there != attempt.object {
            return Err(StorageError::token("artifact_staging_root_changed"));
        }
        self.storage.remove_tree(&self.directory)
    }

    /// Which directory this is, where the storage knows directories.
    fn object(&self) -> Option<(u64, u64)> {
        self.storage.stat(&self.directory).ok().map(|stat| (stat.dev, stat.ino))
    }
}

/// A generation that a selector names.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Selected {
    output: String,
    output_facts: (u64, String),
    metadata: String,
    metadata_facts: (u64, String),
}

impl Selected {
    fn new(output: String, output_bytes: &[u8], metadata: String, metadata_bytes: &[u8]) -> Self {
        let facts = |bytes: &[u8]| (bytes.len() as u64, name_of(bytes));
        Selected { output, output_facts: facts(output_bytes), metadata, metadata_facts: facts(metadata_bytes) }
    }
    /// None for what is no selector.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let value = Value::parse(bytes)?;
        let text = |key: &str| value.str_member(key).and_then(|text| String::from_utf8(text.into_owned()).ok());
        let size = |key: &str| value.member(key).and_then(View::as_f64).filter(|size| *size >= 0.0).map(|size| size as u64);
        let (output, metadata) = (text("outputFilename")?, text("metadataFilename")?);
        let named = is_safe(&output) && output.ends_with(".output") && metadata == format!("{output}.meta.json");
        named.then_some(Selected {
            output,
            output_facts: (size("outputSizeBytes")?, text("outputSha256")?),
            metadata,
            metadata_facts: (size("metadataSizeBytes")?, text("metadataSha256")?),
        })
    }
    /// Compact JSON without a final line end.
    fn text(&self) -> Vec<u8> {
        let members = [
            ("outputFilename", Value::string(self.output.as_str())),
            ("metadataFilename", Value::string(self.metadata.as_str())),
            ("outputSizeBytes", Value::Number(self.output_facts.0 as f64)),
            ("outputSha256", Value::string(self.output_facts.1.as_str())),
            ("metadataSizeBytes", Value::Number(self.metadata_facts.0 as f64)),
            ("metadataSha256", Value::string(self.metadata_facts.1.as_str())),
        ];
        crate::json::stringify::to_text(&Value::Object(members.into_iter().collect())).into_bytes()
    }
}

/// The metadata of an output: JSON, indented by two spaces (spec 04 §6.1).
fn metadata(id: &str, output: &[u8], created_at: &str) -> Vec<u8> {
    let text = |text: &str| crate::json::stringify::to_text(&Value::string(text));
    let lines = memchr::memchr_iter(b'\n', output).count() + 1;
    let members = [
        ("id", text(id)),
        ("kind", text("agent-output")),
        ("sizeBytes", output.len().to_string()),
        ("lineCount", lines.to_string()),
        ("sha256", text(&name_of(output))),
        ("createdAt", text(created_at)),
    ];
    let members: Vec<String> = members.iter().map(|(key, value)| format!("  \"{key}\": {value}")).collect();
    format!("{{\n{}\n}}", members.join(",\n")).into_bytes()
}

fn must_be(holds: bool, message: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(StorageError::token(message)) }
}

/// The digits of a name that has a number in use: `<n>.<anything>.log`, or a claim.
fn number_in_use(name: &str) -> Option<&str> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let claimed = name.strip_prefix(CLAIM).filter(|rest| digits(rest));
    let logged = || name.strip_suffix(".log").and_then(|name| name.split_once('.')).map(|(number, _)| number).filter(|text| digits(text));
    claimed.or_else(logged)
}

fn is_tool(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn is_safe(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
    plain && !matches!(name, "" | "." | "..")
}

/// The text, cut before `limit` bytes at the end of a character, and a line that says so.
fn cut(content: &str, limit: usize) -> String {
    if content.len() <= limit {
        return content.to_owned();
    }
    let end = (0..=limit).rev().find(|end| content.is_char_boundary(*end)).unwrap_or_default();
    let kept = &content[..end];
    let omitted = content.len() - kept.len();
    format!("{kept}\n[artifact truncated after {} bytes; omitted at least {omitted} bytes]\n", kept.len())
}

#[cfg(test)]
mod tests {
    use super::super::storage::double::{Answer, Hooked};
    use super::super::storage::{Files, Memory};
    use super::*;
    use crate::fsys;
    use std::cell::Cell;

    const ROOT: &str = "/s/a";

    fn names(storage: &dyn SessionStorage) -> Vec<String> {
        storage.tree(ROOT).unwrap().unwrap_or_default().into_iter().map(|node| node.relative).collect()
    }
    fn text(storage: &dyn SessionStorage, name: &str) -> String {
        String::from_utf8(storage.read(&join(ROOT, name)).unwrap()).unwrap()
    }

    /// 04 §6.2
    #[test]
    fn numbers_begin_at_zero_and_behind_the_highest_in_use() {
        let storage = Memory::new();
        let mut artifacts = Artifacts::new(&storage, ROOT);
        assert_eq!((artifacts.save("out", "bash", 100), artifacts.allocate()), (Ok(0), Ok(1)));
        assert_eq!(names(&storage), [".artifact-id-0", ".artifact-id-1", "0.bash.log"]);
        storage.write("/s/a/7.grep.log", b"").unwrap();
        storage.write("/s/a/9-Agent.md", b"").unwrap();
        assert_eq!(Artifacts::new(&storage, ROOT).allocate(), Ok(8));
        // Another manager claimed the next one meanwhile.
        storage.write("/s/a/.artifact-id-2", b"").unwrap();
        assert_eq!(artifacts.allocate(), Ok(3));
        storage.write("/s/a/9007199254740992.x.log", b"").unwrap();
        assert!(Artifacts::new(&storage, ROOT).allocate().unwrap_err().is("artifact_id_out_of_range"));
    }

    /// 04 §6.2
    #[test]
    fn what_is_longer_than_allowed_is_cut_and_says_so() {
        let storage = Memory::new();
        let mut artifacts = Artifacts::new(&storage, ROOT);
        artifacts.save("aéb", "bash", 2).unwrap();
        assert_eq!(text(&storage, "0.bash.log"), "a\n[artifact truncated after 1 bytes; omitted at least 3 bytes]\n");
        assert!(artifacts.save("x", "../x", 9).unwrap_err().is("Unsafe artifact tool type"));
        assert_eq!(artifacts.save_exact("abc", "evicted", 2), Exact::Incomplete { bytes: 3, limit: 2 });
        let Exact::Saved(handle) = artifacts.save_exact("abc", "evicted", 3) else { panic!("not saved") };
        let hash = name_of(b"abc");
        assert_eq!(
            crate::json::stringify::to_text(&handle),
            format!(r#"{{"v":1,"artifactId":"1","uri":"artifact://1","encoding":"utf-8","bytes":3,"sha256":"{hash}","complete":true}}"#)
        );
        assert_eq!(text(&storage, "1.evicted.log"), "abc");
    }

    /// 04 §6.3
    #[test]
    fn a_reference_finds_one_file() {
        let storage = Memory::new();
        let mut artifacts = Artifacts::new(&storage, ROOT);
        assert_eq!(artifacts.find(0).unwrap_err().message, "No artifacts directory found");
        artifacts.save("0123456789", "bash", 100).unwrap();
        storage.write("/s/a/0.md.meta.json", b"{}").unwrap();
        assert_eq!(artifacts.find(0).as_deref(), Ok("0.bash.log"));
        assert_eq!(artifacts.read(0, Range::default()).unwrap(), b"0123456789");
        assert_eq!(artifacts.read(0, Range { start: 2, end: Some(4) }).unwrap(), b"23");
        assert_eq!(artifacts.read(0, Range { start: 20, end: Some(4) }).unwrap(), b"");
        assert_eq!(artifacts.find(1).unwrap_err().message, "artifact://1 not found");
        storage.write("/s/a/0.grep.log", b"").unwrap();
        assert_eq!(artifacts.find(0).unwrap_err().message, "ambiguous id in authorized artifacts");
    }

    /// 04 §6.4
    #[test]
    fn named_artifacts_are_never_replaced_by_publishing_and_residue_is_not_removed() {
        let storage = Memory::new();
        let artifacts = Artifacts::new(&storage, ROOT);
        artifacts.publish_named("plan.md", b"1").unwrap();
        assert!(artifacts.publish_named("plan.md", b"2").unwrap_err().is("destination_conflict"));
        artifacts.replace_named("plan.md", b"3").unwrap();
        assert_eq!(text(&storage, "plan.md"), "3");
        for unsafe_name in ["", "..", "a/b", "a b"] {
            assert!(artifacts.publish_named(unsafe_name, b"").is_err() && !artifacts.remove_named(unsafe_name), "{unsafe_name}");
        }
        for residue in [".gjc-publish-1-x", "x.removing"] {
            storage.write(&join(ROOT, residue), b"").unwrap();
            assert!(!artifacts.remove_named(residue));
        }
        assert!(artifacts.remove_named("plan.md") && !artifacts.remove_named("plan.md"));
        assert_eq!(names(&storage), [".gjc-publish-1-x", "x.removing"]);
    }

    /// 04 §6.1, §6.3
    #[test]
    fn an_agent_output_is_verified_by_its_metadata() {
        let storage = Memory::new();
        let artifacts = Artifacts::new(&storage, ROOT);
        artifacts.publish_output("1-A", b"l1\nl2", "t").unwrap();
        let hash = name_of(b"l1\nl2");
        assert_eq!(
            text(&storage, "1-A.md.meta.json"),
            format!(
                "{{\n  \"id\": \"1-A\",\n  \"kind\": \"agent-output\",\n  \"sizeBytes\": 5,\n  \"lineCount\": 2,\n  \"sha256\": \"{hash}\",\n  \"createdAt\": \"t\"\n}}"
            )
        );
        assert_eq!(artifacts.read_output("1-A.md"), Ok(b"l1\nl2".to_vec()));
        storage.write("/s/a/1-A.md", b"l1\nl3").unwrap();
        assert!(artifacts.read_output("1-A.md").is_err());
        storage.unlink("/s/a/1-A.md.meta.json").unwrap();
        assert!(artifacts.read_output("1-A.md").is_err());
    }

    /// 04 §6.1, §6.3
    #[test]
    fn a_generation_is_selected_when_all_of_it_is_there() {
        let storage = Memory::new();
        let artifacts = Artifacts::new(&storage, ROOT);
        let publish = |generation: &str, output: &[u8]| {
            artifacts.publish_generation("1-A.md", "1-A.md", generation, output, &metadata("1-A", output, "t"))
        };
        publish("g1", b"one").unwrap();
        publish("g2", b"two").unwrap();
        assert_eq!(names(&storage), ["1-A.md", "1-A.md.g2.output", "1-A.md.g2.output.meta.json"]);
        assert!(
            text(&storage, "1-A.md").starts_with(
                r#"{"outputFilename":"1-A.md.g2.output","metadataFilename":"1-A.md.g2.output.meta.json","outputSizeBytes":3,"#
            )
        );
        assert_eq!(artifacts.read_output("1-A.md"), Ok(b"two".to_vec()));
        assert!(publish("g2", b"three").unwrap_err().is("destination_conflict"));
        assert_eq!(artifacts.read_output("1-A.md"), Ok(b"two".to_vec()));
        storage.write("/s/a/1-A.md.g2.output", b"tw0").unwrap();
        assert!(artifacts.read_output("1-A.md").is_err());
    }

    /// What removing a tree answers next; none is to remove it.
    type Told = Cell<Option<Answer>>;

    /// Runs a test on artifacts in a file system.
    fn staging(test: impl FnOnce(&dyn SessionStorage, &Told, &mut Artifacts<'_>)) {
        let (fs, told) = (fsys::Memory::new(), Told::default());
        fs.directory("/s");
        let files = Files::new(&fs);
        let storage = Hooked::new(&files, |asked| match asked.operation {
            "remove_tree" => told.take().unwrap_or(Answer::GoOn),
            _ => Answer::GoOn,
        });
        test(&storage, &told, &mut Artifacts::new(&storage, ROOT));
    }
    fn files(storage: &dyn SessionStorage) -> Vec<String> {
        let tree = storage.tree(ROOT).unwrap().unwrap_or_default();
        tree.into_iter().filter(|node| !node.is_directory && !node.relative.starts_with(".staging")).map(|node| node.relative).collect()
    }
    fn staged<'s>(artifacts: &Artifacts<'s>) -> Artifacts<'s> {
        let mut staging = artifacts.stage("try-1").unwrap();
        assert_eq!((staging.save("one", "bash", 9), staging.save("two", "grep", 9)), (Ok(0), Ok(1)));
        staging.publish_named("notes.md", b"n").unwrap();
        staging
    }

    /// 04 §6.2, §6.3: only names count
    #[test]
    fn a_link_in_the_directory_hides_no_number_that_is_in_use() {
        let fs = fsys::Memory::new();
        fs.directory("/s");
        fs.file("/s/a/5.bash.log", b"five");
        fs.symlink("/s/a/link", "elsewhere");
        let storage = Files::new(&fs);
        let mut artifacts = Artifacts::new(&storage, ROOT);
        assert_eq!(artifacts.save("six", "bash", 9), Ok(6));
        assert_eq!(artifacts.read(5, Range::default()).as_deref(), Ok(&b"five"[..]));
    }

    #[test]
    fn a_directory_that_cannot_be_listed_gives_out_no_number() {
        let fs = fsys::Memory::new();
        fs.directory("/s/a");
        let closed = fsys::Inject::changing(&fs, |call: &fsys::Call<'_>| (call.op == "opendir").then_some(fsys::Errno::ACCESS));
        let storage = Files::new(&closed);
        assert!(Artifacts::new(&storage, ROOT).allocate().unwrap_err().is("EACCES"));
        assert_eq!(fs.content("/s/a/.artifact-id-0"), None);
    }

    #[test]
    fn an_attempt_is_published_under_a_block_of_numbers() {
        staging(|storage, _, artifacts| {
            artifacts.save("zero", "bash", 9).unwrap();
            let mut staging = staged(artifacts);
            let mut seen = Mapping::new();
            let committed = artifacts.commit(&mut staging, "try-1", |mapping| {
                seen = mapping.clone();
                Ok(())
            });
            assert_eq!(committed, Ok((Mapping::from([(0, 1), (1, 2)]), Removal::Removed)));
            assert_eq!(seen, Mapping::from([(0, 1), (1, 2)]));
            assert_eq!(files(storage), [".artifact-id-0", "0.bash.log", "1.bash.log", "2.grep.log", "notes.md"]);
            assert_eq!(storage.exists("/s/a/.staging/try-1"), Ok(false));
            // Taken back, the numbers are free again; finalised, nothing is taken back.
            artifacts.roll_back("try-1").unwrap();
            assert_eq!(files(storage), [".artifact-id-0", "0.bash.log"]);
            assert_eq!(artifacts.allocate(), Ok(1));
            artifacts.finalize("try-1");
            artifacts.roll_back("try-1").unwrap();
        });
    }

    /// Seeds "Security boundary": pending cleanup after publication
    #[test]
    fn a_staging_that_is_only_detached_yet_keeps_mapping_and_reservation() {
        staging(|storage, told, artifacts| {
            let mut staging = staged(artifacts);
            told.set(Some(Answer::Detach));
            let committed = artifacts.commit(&mut staging, "try-1", |_| Ok(()));
            assert_eq!(committed, Ok((Mapping::from([(0, 0), (1, 1)]), Removal::Pending)));
            assert_eq!(files(storage), ["0.bash.log", "1.grep.log", "notes.md"]);
            assert_eq!(artifacts.allocate(), Ok(2));
            // Also without a single artifact.
            let mut empty = artifacts.stage("try-2").unwrap();
            told.set(Some(Answer::Detach));
            assert_eq!(artifacts.commit(&mut empty, "try-2", |_| Ok(())), Ok((Mapping::new(), Removal::Pending)));
            // A direct discard says what became of it.
            let mut third = artifacts.stage("try-3").unwrap();
            told.set(Some(Answer::Detach));
            assert_eq!(third.discard(), Ok(Removal::Pending));
        });
    }

    #[test]
    fn any_other_failure_takes_back_exactly_what_was_published() {
        staging(|storage, told, artifacts| {
            let mut staging = staged(artifacts);
            told.set(Some(Answer::token("EIO")));
            assert!(artifacts.commit(&mut staging, "try-1", |_| Ok(())).unwrap_err().is("EIO"));
            assert_eq!(files(storage), Vec::<String>::new());
            // A name that is taken, a hook that refuses, another attempt's staging.
            artifacts.publish_named("notes.md", b"mine").unwrap();
            assert!(artifacts.commit(&mut staging, "try-1", |_| Ok(())).unwrap_err().is("destination_conflict"));
            assert_eq!((files(storage), text(storage, "notes.md").as_str()), (vec!["notes.md".to_owned()], "mine"));
            assert!(artifacts.commit(&mut staging, "try-1", |_| Err(StorageError::token("no"))).unwrap_err().is("no"));
            assert!(artifacts.commit(&mut staging, "try-2", |_| Ok(())).unwrap_err().is("Artifact staging ownership mismatch"));
            assert_eq!(artifacts.allocate(), Ok(0));
        });
    }

    #[test]
    fn a_staging_directory_that_is_another_one_by_now_is_not_removed() {
        staging(|storage, _, artifacts| {
            let mut staging = staged(artifacts);
            storage.rename_no_replace("/s/a/.staging/try-1", "/s/aside").unwrap();
            storage.ensure_dir("/s/a/.staging/try-1").unwrap();
            storage.write("/s/a/.staging/try-1/foreign", b"").unwrap();
            assert!(staging.discard().unwrap_err().is("artifact_staging_root_changed"));
            assert!(artifacts.commit(&mut staging, "try-1", |_| Ok(())).unwrap_err().is("artifact_staging_root_changed"));
            assert_eq!(storage.exists("/s/a/.staging/try-1/foreign"), Ok(true));
            assert_eq!(files(storage), Vec::<String>::new());
            assert!(artifacts.stage("a/b").is_err() && artifacts.stage("").is_err() && artifacts.stage(&"x".repeat(129)).is_err());
        });
    }

    #[test]
    fn a_number_whose_file_cannot_be_removed_is_never_given_out_again() {
        staging(|storage, _, artifacts| {
            let mut staging = staged(artifacts);
            artifacts.commit(&mut staging, "try-1", |_| Ok(())).unwrap();
            storage.unlink("/s/a/1.grep.log").unwrap();
            let error = artifacts.roll_back("try-1").unwrap_err();
            assert_eq!(error.message, "Failed to roll back published artifacts: 1.grep.log");
            assert_eq!(artifacts.allocate(), Ok(2));
        });
    }
}
