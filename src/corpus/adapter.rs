//! Drives an adapter: starts it, asks, waits no longer than it may, reads no more than it should, and says clearly when it
//! crashes. Answers are compared with those of the cases, and where a case does not say, with this implementation's own.

use super::case::{Expected, Input};
use super::expected::Expectations;
use super::folder::{self, Folder, Only};
use super::observe::{self, LONE, Memo, Observed, Ready};
use super::protocol::{Introduction, Operation, PROTOCOL, quoted};
use super::recipe::{AGENT, Recipe, WORKSPACE};
use super::run::{Failure, Outcome, answer_for, is_canary, unanswered, unlike};
use crate::agent::catalogue;
use crate::agent::world::World;
use crate::finding::Release;
use crate::fsys::host::ThisHost;
use crate::fsys::plant::{Plant, plant};
use crate::fsys::{Fs, Kind, Memory, Real};
use crate::json::{Value, View, stringify};
use crate::transcript::answer;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Bytes that one reply may have.
const MOST_REPLY: u64 = 64 << 20;
/// Bytes of standard error that are kept.
const MOST_NOISE: usize = 2_000;
/// How long the last words of an adapter that ended are waited for.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// Crashes after which nothing more is asked.
const MOST_CRASHES: usize = 20;

/// An adapter, running or not.
pub struct Adapter {
    command: String,
    patience: Duration,
    running: Option<Running>,
    asked: u64,
    crashes: usize,
}

struct Running {
    child: Child,
    input: ChildStdin,
    replies: Receiver<Result<Vec<u8>, String>>,
    noise: Arc<Mutex<Vec<u8>>>,
    /// Ends when nobody can write to standard error any more.
    quiet: Receiver<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // With whatever it started. It may be gone already; then there is nothing to end.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Adapter {
    /// An adapter that this command starts (`sh -c`), and that answers within `patience`.
    pub fn new(command: &str, patience: Duration) -> Adapter {
        Adapter { command: command.to_owned(), patience, running: None, asked: 0, crashes: 0 }
    }

    /// Starts it and asks who it is.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub fn start(&mut self) -> Result<Introduction, String> {
        self.running = Some(Running::start(&self.command)?);
        let reply = self.exchange("start", &format!(",\"protocol\":{}", quoted(PROTOCOL)))?;
        Introduction::of(&reply)
    }

    /// Asks for an answer. A crashed adapter is started again for the next question, a number of times.
    fn ask(&mut self, operation: Operation, members: &str) -> Result<Value, String> {
        if self.running.is_none() {
            if self.crashes >= MOST_CRASHES {
                return Err(format!("not asked: the adapter failed {MOST_CRASHES} times before"));
            }
            self.start()?;
        }
        let reply = self.exchange(operation.name(), members)?;
        if let Some(error) = reply.member("error").and_then(View::as_str) {
            return Err(format!("the adapter says: {}", String::from_utf8_lossy(&error)));
        }
        reply.member("answer").cloned().ok_or_else(|| "the reply has neither `answer` nor `error`".to_owned())
    }

    fn exchange(&mut self, op: &str, members: &str) -> Result<Value, String> {
        self.asked += 1;
        let id = self.asked;
        let Some(running) = self.running.as_mut() else { return Err("the adapter does not run".to_owned()) };
        let request = format!("{{\"id\":{id},\"op\":{}{members}}}\n", quoted(op));
        // An adapter that ended does not read any more; why it did is said below.
        let _ = running.input.write_all(request.as_bytes()).and_then(|()| running.input.flush());
        let wrong = match running.replies.recv_timeout(self.patience) {
            Ok(Ok(line)) => match Value::parse(&line) {
                Some(reply) if reply.member("id").and_then(View::as_f64) == Some(id as f64) => return Ok(reply),
                Some(_) => format!("the reply has not the id {id} of its request"),
                None => format!("the reply is no JSON: {}", shortened(&line)),
            },
            Ok(Err(why)) => why,
            Err(RecvTimeoutError::Timeout) => format!("no reply within {} ms", self.patience.as_millis()),
            Err(RecvTimeoutError::Disconnected) => match running.child.wait() {
                Ok(status) => {
                    // Its last words are on their way; whoever it left behind may hold the pipe open.
                    let _ = running.quiet.recv_timeout(LAST_WORDS);
                    format!("the adapter ended ({status}) instead of answering")
                }
                Err(error) => format!("the adapter ended instead of answering ({error})"),
            },
        };
        let noise = running.noise.lock().map_or_else(|poisoned| poisoned.into_inner().clone(), |noise| noise.clone());
        let noise = String::from_utf8_lossy(&noise).trim().replace(['\n', '\r', '\t'], " ");
        // What comes next could be the reply to this.
        self.running = None;
        self.crashes += 1;
        Err(if noise.is_empty() { wrong } else { format!("{wrong}; it wrote: {noise}") })
    }

    /// Asks it to end, and ends it.
    pub fn stop(mut self) {
        if let Some(running) = self.running.as_mut() {
            let _ = running.input.write_all(b"{\"id\":0,\"op\":\"stop\"}\n").and_then(|()| running.input.flush());
        }
    }
}

impl Running {
    fn start(command: &str) -> Result<Running, String> {
        let mut child = Command::new("sh")
            .args(["-c", command])
            // A group of its own, so that the shell is ended together with what it runs.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("the adapter does not start: {error}"))?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
            return Err("the adapter has no pipes".to_owned());
        };
        // One reply at a time waits here; an adapter that writes without being asked is held up by its pipe.
        let (send, replies) = sync_channel(1);
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let mut line = Vec::new();
                let read = output.by_ref().take(MOST_REPLY).read_until(b'\n', &mut line);
                let message = match read {
                    Ok(0) => return,
                    Ok(_) if line.ends_with(b"\n") => Ok(line),
                    Ok(read) if read as u64 == MOST_REPLY => Err(format!("a reply of more than {MOST_REPLY} bytes")),
                    Ok(_) => Err(format!("the adapter ended in the middle of a reply: {}", shortened(&line))),
                    Err(error) => Err(format!("its reply cannot be read: {error}")),
                };
                let last = message.is_err();
                if send.send(message).is_err() || last {
                    return;
                }
            }
        });
        let noise = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&noise);
        let (ended, quiet) = sync_channel(0);
        std::thread::spawn(move || {
            // Dropped at the end, which ends the waiting.
            let _ended: SyncSender<()> = ended;
            let mut errors = errors;
            let mut buffer = [0; 4096];
            while let Ok(read) = errors.read(&mut buffer) {
                if read == 0 {
                    return;
                }
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(buffer.get(..read).unwrap_or_default());
                let over = kept.len().saturating_sub(MOST_NOISE);
                kept.drain(..over);
            }
        });
        Ok(Running { child, input, replies, noise, quiet })
    }
}

fn shortened(text: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(text).trim_end().chars().take(80).collect();
    text.replace(['\n', '\r', '\t'], " ")
}

/// Runs a corpus with an adapter. Transcripts are asked about where they lie; trees that an ordinary user can make are made in
/// a folder of their own and listed.
///
/// # Errors
/// The corpus cannot be walked, or the adapter does not start.
pub fn run(root: &Path, only: &Only, adapter: &mut Adapter, expectations: &Expectations) -> Result<Outcome, String> {
    let corpus = folder::walk(root).and_then(|corpus| corpus.only(root, only)).map_err(|error| error.to_string())?;
    let introduction = adapter.start()?;
    let mut judge = Judge { adapter, introduction: &introduction, outcome: Outcome::default() };
    judge.outcome.subject.clone_from(&introduction.name);
    for folder in corpus.cases.iter().filter(|folder| !is_canary(folder)) {
        judge.outcome.cases += 1;
        if let Err(error) = judge.case(folder) {
            judge.fail(folder, "", None, error.to_string());
        }
    }
    Ok(judge.outcome.sorted_out(&expectations.only(only)))
}

struct Judge<'j> {
    adapter: &'j mut Adapter,
    introduction: &'j Introduction,
    outcome: Outcome,
}

impl Judge<'_> {
    fn fail(&mut self, folder: &Folder, input: &str, release: Option<Release>, message: String) {
        self.outcome.failures.push(Failure { case: folder.name.clone(), input: input.to_owned(), release, message });
    }

    fn case(&mut self, folder: &Folder) -> Result<(), observe::Failure> {
        let case = folder.case()?;
        self.outcome.failures.extend(unanswered(&case, folder));
        for (name, input) in case.inputs() {
            let ready = observe::ready(input, folder)?;
            for release in input.answers.iter().flat_map(|answer| answer.releases.clone()) {
                if !self.introduction.releases.contains(&release) {
                    continue;
                }
                match &ready {
                    Ready::File(_, bytes) => self.transcript(folder, name, input, bytes, release)?,
                    Ready::Tree(recipe, ..) => self.tree(folder, name, recipe, release),
                }
            }
        }
        Ok(())
    }

    /// Puts a question, if the adapter answers such.
    fn ask(&mut self, operation: Operation, members: &str) -> Option<Result<Value, String>> {
        if !self.introduction.operations.contains(&operation) {
            self.outcome.not_asked += 1;
            return None;
        }
        self.outcome.compared += 1;
        *self.outcome.asked.entry(operation.name().to_owned()).or_default() += 1;
        Some(self.adapter.ask(operation, members))
    }

    fn transcript(&mut self, folder: &Folder, name: &str, input: &Input, bytes: &[u8], release: Release) -> Result<(), observe::Failure> {
        let Some(file) = &input.file else { return Ok(()) };
        let path = folder.root.join(folder.inside(file)?);
        let members = format!(",\"release\":{},\"path\":{}", quoted(release.text()), quoted(&path.to_string_lossy()));
        let said = answer_for(input, release);
        let own: Observed = observe::ready(input, folder)?.observe(release, &Memo::default())?;
        let of_case = |file: Option<&String>| file.map(|file| folder.read(file)).transpose();
        let migrated = of_case(said.and_then(|answer| answer.migrated.as_ref()))?.or(own.migrated).unwrap_or_default();
        let context = of_case(said.and_then(|answer| answer.context.as_ref()))?.or(own.context).unwrap_or_default();
        // Bytes in memory do not fail.
        let loaded = answer::replay(bytes, release).unwrap_or_default();
        for (operation, expected) in [(Operation::Load, loaded), (Operation::Migrate, migrated), (Operation::Context, context)] {
            let message = match self.ask(operation, &members) {
                None => continue,
                Some(Err(message)) => Some(message),
                Some(Ok(answer)) => differs(&expected, &answer),
            };
            if let Some(message) = message {
                self.fail(folder, name, Some(release), format!("{}: {message}", operation.name()));
            }
        }
        let messages = match self.ask(Operation::Check, &members) {
            None => Vec::new(),
            Some(Err(message)) => vec![message],
            Some(Ok(answer)) => {
                let verdicts = said.and_then(|answer| answer.verdicts.get(LONE)).cloned().unwrap_or_default();
                judged(&verdicts, said.map(|answer| answer.findings.as_slice()).unwrap_or_default(), &answer)
            }
        };
        for message in messages {
            self.fail(folder, name, Some(release), format!("check: {message}"));
        }
        Ok(())
    }

    fn tree(&mut self, folder: &Folder, name: &str, recipe: &Recipe, release: Release) {
        if !recipe.is_ordinary() || !self.introduction.operations.contains(&Operation::List) {
            self.outcome.not_asked += 1;
            return;
        }
        let Some(made) = Planted::of(recipe) else {
            self.outcome.not_asked += 1;
            return;
        };
        let members = format!(
            ",\"release\":{},\"agentDir\":{},\"cwd\":{}",
            quoted(release.text()),
            quoted(&made.at(AGENT)),
            quoted(&made.at(WORKSPACE))
        );
        let expected = listed(&made.at(AGENT), &made.at(WORKSPACE), release);
        let message = match self.ask(Operation::List, &members) {
            None => None,
            Some(Err(message)) => Some(message),
            Some(Ok(answer)) => listing(&answer).map_or_else(Some, |got| sessions_differ(&expected, &got)),
        };
        if let Some(message) = message {
            self.fail(folder, name, Some(release), format!("list: {message}"));
        }
    }
}

/// A tree on the disk, in a folder that goes away with it.
struct Planted {
    /// Keeps the folder.
    _folder: tempfile::TempDir,
    root: String,
}

impl Planted {
    /// Makes the tree; none when the disk refuses it, when it holds more than files and directories, or when it is another
    /// tree elsewhere.
    fn of(recipe: &Recipe) -> Option<Planted> {
        let folder = tempfile::Builder::new().prefix("gjc-fsck-case-").tempdir().ok()?;
        let root = Real.realpath(folder.path()).ok()?.to_string_lossy().into_owned();
        // A step that counts on a text which names the place of the tree finds another one here.
        let fs = recipe.make_below(&root).ok()?;
        plant(Path::new(&root), &plants(&fs, &root)?).ok()?;
        Some(Planted { _folder: folder, root })
    }
    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.root)
    }
}

/// What stands below a folder in memory, deepest modes last; none when it is more than files and directories.
fn plants(fs: &Memory, root: &str) -> Option<Vec<Plant>> {
    let mut plants = Vec::new();
    for (path, meta) in fs.snapshot() {
        let Ok(below) = path.strip_prefix(root) else { continue };
        if below.as_os_str().is_empty() {
            continue;
        }
        plants.push(match meta.kind {
            // A directory that its owner may not write to is narrowed when its children are there.
            Kind::Directory => Plant::directory(below),
            Kind::File => Plant::file(below, fs.content(&path)?).with_mode(meta.mode),
            _ => return None,
        });
    }
    let modes = fs.snapshot().into_iter().rev().filter(|(_, meta)| meta.kind == Kind::Directory && meta.mode != 0o700);
    plants.extend(modes.filter_map(|(path, meta)| {
        let below = path.strip_prefix(root).ok().filter(|below| !below.as_os_str().is_empty())?;
        Some(Plant::directory(below).with_mode(meta.mode))
    }));
    Some(plants)
}

/// Id and path (relative to the agent directory) of the sessions that gjc lists.
pub fn listed(agent_dir: &str, cwd: &str, release: Release) -> BTreeSet<(String, String)> {
    let uid = Real.lstat(Path::new(agent_dir)).map_or(0, |meta| meta.uid);
    let world = World::of_agent(&Real, &ThisHost, release, uid, agent_dir);
    let catalogue = catalogue::of_workspace(&world, Path::new(cwd));
    let sessions =
        catalogue.workspaces.into_iter().filter(|workspace| workspace.refused.is_none()).flat_map(|workspace| workspace.sessions);
    let below = |path: &str| path.strip_prefix(agent_dir).map_or_else(|| path.to_owned(), |rest| rest.trim_start_matches('/').to_owned());
    sessions.map(|session| (session.id, below(&session.path))).collect()
}

fn listing(answer: &Value) -> Result<BTreeSet<(String, String)>, String> {
    let text = |session: &Value, key: &str| {
        session
            .member(key)
            .and_then(View::as_str)
            .map(|text| String::from_utf8_lossy(&text).into_owned())
            .ok_or(format!("a session without `{key}`"))
    };
    let sessions = answer.member("sessions").and_then(Value::as_array).ok_or("the answer has no list of `sessions`")?;
    sessions.iter().map(|session| Ok((text(session, "id")?, text(session, "path")?))).collect()
}

fn sessions_differ(expected: &BTreeSet<(String, String)>, got: &BTreeSet<(String, String)>) -> Option<String> {
    let named = |(id, path): &(String, String)| {
        let file = path.rsplit('/').next().unwrap_or(path);
        format!("{id} ({file})")
    };
    let missing: Vec<String> = expected.difference(got).map(named).collect();
    let more: Vec<String> = got.difference(expected).map(named).collect();
    match (missing.is_empty(), more.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("does not list {}", missing.join(", "))),
        (true, false) => Some(format!("lists {}, which gjc does not", more.join(", "))),
        (false, false) => Some(format!("does not list {}; lists {}, which gjc does not", missing.join(", "), more.join(", "))),
    }
}

/// What differs between an answer of a case and an adapter's, in a sentence that a person can use.
fn differs(expected: &[u8], answer: &Value) -> Option<String> {
    let expected = expected.strip_suffix(b"\n").unwrap_or(expected);
    let got = stringify::to_text(answer);
    let parsed = Value::parse(expected);
    let canonical = parsed.as_ref().map_or_else(|| String::from_utf8_lossy(expected).into_owned(), stringify::to_text);
    if canonical == got {
        return None;
    }
    let entries = |value: &Value| value.member("entries").and_then(Value::as_array).map(<[Value]>::to_vec);
    let throws = |value: &Value| value.member("throws").and_then(View::as_str).map(|text| String::from_utf8_lossy(&text).into_owned());
    let parsed = parsed?;
    Some(match (entries(&parsed), entries(answer), throws(&parsed), throws(answer)) {
        (Some(expected), Some(got), ..) => {
            let same = expected.iter().zip(&got).take_while(|(a, b)| stringify::to_text(a) == stringify::to_text(b)).count();
            match (expected.len(), got.len()) {
                (0, count) => format!("{count} entries, but gjc loads none"),
                (count, 0) => format!("no entry, but gjc loads {count}"),
                (wanted, count) if wanted == count => format!("entry {} of {count} differs", same + 1),
                (wanted, count) => format!("{count} entries instead of {wanted}; the first that differs is number {}", same + 1),
            }
        }
        (_, _, Some(why), None) => format!("an answer, but gjc throws: {why}"),
        (_, _, None, Some(why)) => format!("throws ({why}), but gjc answers"),
        (_, _, Some(_), Some(why)) => format!("throws something else: {why}"),
        _ => format!("differs {}", unlike(canonical.as_bytes(), Some(got.as_bytes())).unwrap_or_default()),
    })
}

/// Verdicts of the readers that the adapter speaks for, and its findings, if it has any to tell.
fn judged(verdicts: &BTreeMap<String, String>, findings: &[Expected], answer: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(|text| String::from_utf8_lossy(&text).into_owned());
    let mut messages = Vec::new();
    for (reader, expected) in verdicts {
        if let Some(got) = answer.member("verdicts").and_then(|verdicts| verdicts.member(reader)).and_then(text)
            && got != *expected
        {
            messages.push(format!("reader {reader} answers {got}, but gjc answers {expected}"));
        }
    }
    if let Some(told) = answer.member("findings").and_then(Value::as_array) {
        let expected: BTreeSet<(String, Option<u64>)> = findings.iter().map(|finding| (finding.code.clone(), finding.line)).collect();
        let line = |finding: &Value| finding.member("line").and_then(View::as_f64).map(|line| line as u64);
        let got: BTreeSet<(String, Option<u64>)> =
            told.iter().filter_map(|finding| Some((text(finding.member("code")?)?, line(finding)))).collect();
        messages.extend(expected.difference(&got).map(|(code, line)| format!("does not find {code}{}", at(*line))));
        messages.extend(got.difference(&expected).map(|(code, line)| format!("finds {code}{}, which is not there", at(*line))));
    }
    messages
}

fn at(line: Option<u64>) -> String {
    line.map(|line| format!(" at line {line}")).unwrap_or_default()
}
