//! The suite `list`: a directory to its listing, its recent list and its most recent session, with times, order and names;
//! and what the listing itself does to the directory.

use crate::support::{self, Case, json, same, string};
use gjc_fsck::agent::world::World;
use gjc_fsck::finding::Release;
use gjc_fsck::fsys::host::Nowhere;
use gjc_fsck::fsys::{Fs, Memory};
use gjc_fsck::json::{JsString, Object, Value, View};
use gjc_fsck::session::discovery::directory::Restored;
use gjc_fsck::session::discovery::{Shown, picker, recent};
use gjc_fsck::transcript::date;
use std::collections::BTreeSet;
use std::path::Path;

const DIRECTORY: &str = "/d";

pub fn run() {
    support::run("list", |case| {
        let fs = directory(case)?;
        let world = World::of_agent(&fs, &Nowhere, Release::V0_15, 1000, "/a");
        let (picked, restored) = picker::of_directory(&world, Path::new(DIRECTORY));
        let mut got: Vec<String> = picked.sessions.iter().map(listed).collect();
        let want = match (case.expect("list"), case.expect("list_unordered")) {
            (Some(list), _) => lines(list),
            (None, Some(list)) => {
                got.sort();
                let mut lines = lines(list);
                lines.sort();
                lines
            }
            (None, None) => return Err("no list".into()),
        };
        same(&want.join("\n"), &got.join("\n"))?;

        let limit = case.get("limit").and_then(View::as_f64).map_or(recent::LIMIT, |limit| limit as usize);
        let latest = recent::list(&world, Path::new(DIRECTORY), limit, true);
        let got: Vec<String> = latest.sessions.iter().map(recent_line).collect();
        same(&lines(case.expect("recent").ok_or("no recent list")?).join("\n"), &got.join("\n"))?;

        let most = recent::most_recent(&world, Path::new(DIRECTORY), true).map(|path| name_of(&path));
        let want = case.expect("most_recent").and_then(string);
        same(&want.unwrap_or_default(), &most.unwrap_or_default())?;
        match case.expect("files_after").and_then(Value::as_array) {
            Some(want) => same(&want.iter().filter_map(string).collect::<Vec<_>>().join(" "), &after(&fs, &restored)),
            None if restored.is_empty() => Ok(()),
            None => Err("a backup is restored that gjc leaves alone".into()),
        }
    });
}

/// The directory of a case.
fn directory(case: &Case) -> Result<Memory, String> {
    let fs = Memory::new();
    fs.directory(DIRECTORY);
    for file in case.get("files").and_then(Value::as_array).ok_or("no files")? {
        let text = |key: &str| file.member(key).and_then(string);
        let path = format!("{DIRECTORY}/{}", text("file").ok_or("a file without a name")?);
        if let Some(target) = text("symlink") {
            fs.symlink(&path, target);
        } else if file.member("dir").is_some() {
            fs.directory(&path);
        } else {
            let bytes = match (file.member("content"), text("content_b64")) {
                (Some(recipe), _) => support::bytes(recipe),
                (None, Some(base64)) => data_encoding::BASE64.decode(base64.as_bytes()).map_err(|error| error.to_string())?,
                (None, None) => return Err(format!("{path} has no content")),
            };
            fs.file(&path, &bytes);
        }
        if let Some(mtime) = text("mtime") {
            fs.set(&path, |meta| meta.mtime_ns = date::parse(mtime.as_bytes()) as i128 * 1_000_000);
        }
    }
    Ok(fs)
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A session as the suite writes it.
fn listed(shown: &Shown) -> String {
    let info = &shown.info;
    let text = |text: &JsString| Value::String(text.clone());
    let created = date::time_of(info.timestamp.as_ref().map(text).as_ref());
    let members = [
        ("path", Some(Value::string(name_of(&shown.path)))),
        ("id", Some(text(&info.id))),
        ("cwd", Some(text(&info.cwd))),
        ("title", info.title.as_ref().map(text)),
        ("parentSessionPath", info.parent_session.as_ref().map(text)),
        ("created", Some(if created.is_nan() { Value::Null } else { Value::Number(created) })),
        ("modified", Some(Value::Number(shown.modified_ms as f64))),
        ("messageCount", Some(Value::Number(info.message_count as f64))),
        ("messageCountIsEstimate", Some(Value::Bool(info.message_count_is_estimate))),
        ("size", Some(Value::Number(shown.size as f64))),
        ("firstMessage", Some(text(&info.first_message))),
        ("allMessagesText", Some(text(&info.all_messages_text))),
    ];
    line(members.into_iter().filter_map(|(key, value)| value.map(|value| (key, value))))
}

fn recent_line(session: &recent::Session) -> String {
    let name = match &session.recent.name {
        Some(name) => Value::String(name.clone()),
        // Time and language are the user's.
        None => Value::string("Untitled · <time>"),
    };
    let members = [("path", Value::string(name_of(&session.path))), ("mtime", Value::Number(session.modified_ms() as f64)), ("name", name)];
    line(members)
}

fn line(members: impl IntoIterator<Item = (&'static str, Value)>) -> String {
    json(&Value::Object(Object::from_iter(members)))
}

/// The lines of a list of the suite, times as numbers, keys in one order.
fn lines(list: &Value) -> Vec<String> {
    let keys = [
        "path",
        "id",
        "cwd",
        "title",
        "parentSessionPath",
        "created",
        "modified",
        "mtime",
        "name",
        "messageCount",
        "messageCountIsEstimate",
        "size",
        "firstMessage",
        "allMessagesText",
    ];
    let times = ["created", "modified", "mtime"];
    let shown = |session: &Value| {
        let known: BTreeSet<String> = session.as_object().into_iter().flat_map(Object::iter).map(|(key, _)| key.to_string()).collect();
        assert!(known.iter().all(|key| keys.contains(&key.as_str())), "{known:?}");
        line(keys.into_iter().filter_map(|key| {
            let value = session.member(key)?;
            let time = times.contains(&key).then(|| string(value)).flatten();
            Some((key, time.map_or_else(|| value.clone(), |time| Value::Number(date::parse(time.as_bytes())))))
        }))
    };
    list.as_array().unwrap_or_default().iter().map(shown).collect()
}

/// The names of the directory once the backups are renamed.
fn after(fs: &Memory, restored: &[Restored]) -> String {
    let mut names: BTreeSet<String> =
        fs.list(Path::new(DIRECTORY)).unwrap_or_default().iter().map(|entry| entry.name.to_string_lossy().into_owned()).collect();
    for one in restored {
        names.remove(&name_of(&one.backup));
        names.insert(name_of(&one.primary));
    }
    names.into_iter().collect::<Vec<_>>().join(" ")
}
