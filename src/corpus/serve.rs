//! This implementation as an adapter: so the protocol is tested against ourselves, and another runner can ask us.

use super::adapter::listed;
use super::folder;
use super::observe::{self, LONE};
use super::protocol::{Operation, PROTOCOL, quoted};
use crate::finding::{Mute, Release};
use crate::json::{Value, View};
use crate::transcript::answer;
use std::io::{self, BufRead, Write};
use std::path::Path;

/// Answers requests until `stop` or the end of the input.
///
/// # Errors
/// Reading or writing fails.
pub fn serve(input: impl BufRead, output: &mut dyn Write) -> io::Result<()> {
    for line in input.split(b'\n') {
        let line = line?;
        let Some(request) = Value::parse(&line) else {
            writeln!(output, "{{\"id\":null,\"error\":\"this is no JSON\"}}")?;
            output.flush()?;
            continue;
        };
        let text = |key: &str| request.member(key).and_then(View::as_str).map(|text| String::from_utf8_lossy(&text).into_owned());
        let op = text("op").unwrap_or_default();
        if op == "stop" {
            return Ok(());
        }
        let id = request.member("id").and_then(View::as_f64).map_or_else(|| "null".to_owned(), |id| id.to_string());
        let reply = match op.as_str() {
            "start" => Ok(introduction()),
            op => reply(op, &text).map(|answer| format!("\"answer\":{answer}")),
        };
        let reply = reply.unwrap_or_else(|error| format!("\"error\":{}", quoted(&error)));
        writeln!(output, "{{\"id\":{id},{reply}}}")?;
        output.flush()?;
    }
    Ok(())
}

fn introduction() -> String {
    let quoted_all = |words: &[&str]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(",");
    let operations = Operation::ALL.map(Operation::name);
    let releases = Release::ALL.map(Release::text);
    format!(
        "\"protocol\":{},\"name\":\"gjc-fsck {}\",\"operations\":[{}],\"releases\":[{}]",
        quoted(PROTOCOL),
        env!("CARGO_PKG_VERSION"),
        quoted_all(&operations),
        quoted_all(&releases)
    )
}

/// The JSON text of an answer.
fn reply(op: &str, text: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let named = |key: &str| text(key).ok_or_else(|| format!("the request has no `{key}`"));
    let release = named("release")?;
    let release = Release::ALL.into_iter().find(|known| known.text() == release).ok_or_else(|| format!("{release} is no release"))?;
    let operation = Operation::ALL.into_iter().find(|known| known.name() == op).ok_or_else(|| format!("{op} is no operation"))?;
    if operation == Operation::List {
        let sessions: Vec<String> = listed(&named("agentDir")?, &named("cwd")?, release)
            .into_iter()
            .map(|(id, path)| format!("{{\"id\":{},\"path\":{}}}", quoted(&id), quoted(&path)))
            .collect();
        return Ok(format!("{{\"sessions\":[{}]}}", sessions.join(",")));
    }
    let path = named("path")?;
    let bytes = folder::read(Path::new(&path)).map_err(|error| error.to_string())?;
    if operation == Operation::Load {
        return answer::replay(&bytes[..], release).map(|text| lossless(&text)).map_err(|error| error.to_string());
    }
    let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let observed = observe::of_file(&name, &bytes, release, Mute::default());
    Ok(match operation {
        Operation::Migrate => lossless(&observed.migrated.unwrap_or_default()),
        Operation::Context => lossless(&observed.context.unwrap_or_default()),
        Operation::Load | Operation::List | Operation::Check => {
            let verdicts = observed.answer.verdicts.get(LONE).cloned().unwrap_or_default();
            let findings: Vec<serde_json::Value> =
                observed.answer.findings.iter().map(|finding| serde_json::json!({"code": finding.code, "line": finding.line})).collect();
            serde_json::json!({"verdicts": verdicts, "findings": findings}).to_string()
        }
    })
}

/// Answers are JSON texts, and JSON texts are UTF-8.
fn lossless(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(requests: &str) -> String {
        let mut out = Vec::new();
        serve(requests.as_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn whoever_starts_learns_what_can_be_asked() {
        let reply = said("{\"id\":1,\"op\":\"start\"}\n{\"id\":2,\"op\":\"stop\"}\n{\"id\":3,\"op\":\"start\"}\n");
        assert!(reply.starts_with("{\"id\":1,\"protocol\":\"gjc-fsck/adapter/1\","), "{reply}");
        assert_eq!(reply.lines().count(), 1, "nothing is answered behind `stop`");
    }

    #[test]
    fn what_cannot_be_answered_is_an_error_with_the_id_of_its_request() {
        let reply = said("{\"id\":7,\"op\":\"sing\",\"release\":\"0.17\"}\n{\"id\":8,\"op\":\"load\",\"release\":\"9\"}\nx\n");
        let lines: Vec<&str> = reply.lines().collect();
        assert_eq!(lines[0], "{\"id\":7,\"error\":\"sing is no operation\"}");
        assert_eq!(lines[1], "{\"id\":8,\"error\":\"9 is no release\"}");
        assert_eq!(lines[2], "{\"id\":null,\"error\":\"this is no JSON\"}");
    }
}
