//! The protocol of adapters: how another implementation is asked. Requests and replies are JSON, one a line, on the adapter's
//! standard input and output; each reply has the `id` of its request. What an adapter writes to standard error is shown when
//! it fails.
//!
//! | request | reply |
//! |---|---|
//! | `{"id":1,"op":"start","protocol":"gjc-fsck/adapter/1"}` | `{"id":1,"name":"…","operations":["load",…],"releases":["0.17"]}` |
//! | `{"id":2,"op":"load","release":"0.17","path":"/…/trigger.jsonl"}` | `{"id":2,"answer":{"entries":[…]}}` or `{"throws":"…"}` |
//! | `{"id":3,"op":"migrate",…}` | the same, migrated to version 5; entries of version 1 have the ids `#0`, `#1`, … |
//! | `{"id":4,"op":"context",…}` | `{"id":4,"answer":{"context":…,"message_entry_ids":[…]}}` or `{"throws":"…"}` |
//! | `{"id":5,"op":"check",…}` | `{"id":5,"answer":{"verdicts":{"S":"malformed"}}}`: the readers it speaks for; `findings`, if it likes |
//! | `{"id":6,"op":"list","release":"0.17","agentDir":"/…","cwd":"/…"}` | `{"id":6,"answer":{"sessions":[{"id":"…","path":"…"}]}}`, paths relative to `agentDir`, in any order |
//! | `{"id":7,"op":"stop"}` | none is needed; the adapter ends |
//!
//! Whatever it cannot answer: `{"id":…,"error":"why"}`. Only the operations and releases that it names are asked.

use crate::finding::Release;
use crate::json::{Value, View, stringify};

/// Name of this protocol.
pub const PROTOCOL: &str = "gjc-fsck/adapter/1";

/// What can be asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Operation {
    /// The entries of a transcript.
    Load,
    /// Its version-5 form.
    Migrate,
    /// Its context.
    Context,
    /// What readers answer about it.
    Check,
    /// The sessions of a workspace.
    List,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Operation; 5] = [Operation::Load, Operation::Migrate, Operation::Context, Operation::Check, Operation::List];

    /// Its name in a request.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Load => "load",
            Operation::Migrate => "migrate",
            Operation::Context => "context",
            Operation::Check => "check",
            Operation::List => "list",
        }
    }
}

/// Who an adapter is, and what it answers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Introduction {
    /// Its name.
    pub name: String,
    /// What can be asked.
    pub operations: Vec<Operation>,
    /// For which releases.
    pub releases: Vec<Release>,
}

impl Introduction {
    /// Reads the reply to `start`. An adapter that names no releases speaks for the newest one.
    ///
    /// # Errors
    /// What is wrong with the reply.
    pub fn of(reply: &Value) -> Result<Introduction, String> {
        let text = |value: &Value| value.as_str().map(|text| String::from_utf8_lossy(&text).into_owned());
        let words = |key: &str| -> Option<Vec<String>> { reply.member(key)?.as_array()?.iter().map(text).collect() };
        let name = reply.member("name").and_then(text).ok_or("its reply to `start` has no `name`")?;
        let operations = words("operations").ok_or("its reply to `start` has no list of `operations`")?;
        let known = |word: &String| Operation::ALL.into_iter().find(|operation| operation.name() == word);
        let releases = match words("releases") {
            None => vec![Release::default()],
            Some(words) => Release::ALL.into_iter().filter(|release| words.iter().any(|word| word == release.text())).collect(),
        };
        Ok(Introduction { name, operations: operations.iter().filter_map(known).collect(), releases })
    }
}

/// A text of a request or reply.
pub fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    stringify::write_string(text.as_bytes(), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}
