//! `list` and `why` as a user calls them: what may be named, what is answered to a mistake, and the exit bits.

use super::{err, out, program, run, status};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The sample agent directory, and what judges it as if it lay at its user's.
fn sample() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("agent");
    run(&["demo", "--quiet", "--keep", agent.to_str().unwrap()]);
    (folder, agent)
}
const ASSUMED: [&str; 2] = ["--assume-root", "/home/ana/.gjc/agent"];

fn ask(command: &str, rest: &[&str]) -> std::process::Output {
    run(&[&[command], rest, &ASSUMED].concat())
}
/// The directory of the sessions root whose name begins like this.
fn directory(agent: &Path, start: &str) -> String {
    let names = fs::read_dir(agent.join("sessions")).unwrap().map(|entry| entry.unwrap().path());
    let mut found = names.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(start));
    found.next().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn list_takes_an_agent_directory_its_sessions_a_scope_or_a_legacy_directory() {
    let (_folder, agent) = sample();
    let lines = |path: &str| {
        let output = ask("list", &[path, "--format", "concise"]);
        assert!([0, 4].contains(&status(&output)), "{path}: {}", err(&output));
        out(&output).lines().filter(|line| line.contains(".jsonl: ")).count()
    };
    let (whole, sessions) = (agent.to_str().unwrap(), agent.join("sessions"));
    assert_eq!(lines(whole), 10);
    assert_eq!(lines(sessions.to_str().unwrap()), 10);
    assert_eq!(lines(&directory(&agent, "v2-tc3k")), 5);
    assert_eq!(lines(&directory(&agent, "--home")), 3);
}

#[test]
fn list_exits_4_when_gjc_refuses_a_workspace_and_0_when_it_lists_it() {
    let (_folder, agent) = sample();
    assert_eq!(status(&ask("list", &[agent.to_str().unwrap()])), 4);
    assert_eq!(status(&ask("list", &[&directory(&agent, "v2-tc3k")])), 0);
    assert_eq!(status(&ask("list", &[&directory(&agent, "v2-gdwa")])), 4);
}

#[test]
fn list_answers_a_mistake_with_what_was_meant() {
    let (_folder, agent) = sample();
    let cases =
        [("src", 8, "neither an agent directory"), ("Cargo.toml", 16, "`gjc-fsck why`"), ("nowhere-at-all", 8, "nothing stands here")];
    for (path, bits, said) in cases {
        let output = run(&["list", path]);
        assert_eq!(status(&output), bits, "{path}");
        assert!(err(&output).contains(said), "{path}: {}", err(&output));
    }
    let both = ask("list", &[&directory(&agent, "--home"), "--cwd", "/home/ana/dev/app"]);
    assert_eq!(status(&both), 16);
    assert_eq!(status(&ask("list", &["--agent-dir", "/nowhere/at/all"])), 8);
}

#[test]
fn list_as_json_carries_what_the_human_form_shows() {
    let (_folder, agent) = sample();
    let json: serde_json::Value = serde_json::from_slice(&ask("list", &[agent.to_str().unwrap(), "--format", "json"]).stdout).unwrap();
    let sessions: Vec<_> = json["workspaces"].as_array().unwrap().iter().flat_map(|one| one["sessions"].as_array().unwrap()).collect();
    assert_eq!(sessions.len(), 10);
    for member in ["id", "path", "provenance", "state", "answer", "modified", "begun"] {
        assert!(sessions.iter().all(|session| session[member].is_string()), "{member}");
    }
    let refused = sessions.iter().filter(|session| session["doesNotOpen"].is_object()).count();
    assert_eq!(refused, 3);
}

#[test]
fn a_limit_that_is_no_number_is_told_what_was_expected() {
    for (args, said) in [
        (&["list", "--recent", "--limit", "abc"][..], "expected a whole number, as in --limit 20"),
        (&["history", "search", "x", "--limit", "abc"], "expected a number, as in --limit 20"),
    ] {
        let output = run(args);
        assert_eq!(status(&output), 16);
        assert!(err(&output).contains(said), "{}", err(&output));
    }
}

/// A published schema, made stricter: an object has no member that it does not name.
fn strict(schema: &str) -> jsonschema::Validator {
    fn close(schema: &mut serde_json::Value) {
        match schema {
            serde_json::Value::Object(members) => {
                if members.contains_key("properties") {
                    members.insert("unevaluatedProperties".to_owned(), false.into());
                }
                members.values_mut().for_each(close);
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(close),
            _ => {}
        }
    }
    let mut schema = serde_json::from_slice(&run(&["schema", schema]).stdout).unwrap();
    close(&mut schema);
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn whatever_a_command_writes_as_json_follows_its_published_schema() {
    let (_folder, agent) = sample();
    let agent = agent.to_str().unwrap();
    let scope = directory(Path::new(agent), "v2-tc3k");
    let in_agent = ["--agent-dir", agent, "--cwd", "/home/ana/dev/app"];
    let app = ["--cwd", "/home/ana/dev/app"];
    let id = "01a22bfd-a266-7001";
    for (schema, args) in [
        ("report", [&["check", agent][..], &[]]),
        ("list", [&["list", agent], &[]]),
        ("list", [&["list", &scope], &[]]),
        ("other-list", [&["list", "--recent"], &in_agent]),
        ("other-list", [&["list", "--recent", &scope], &[]]),
        ("other-list", [&["list", "--picker"], &in_agent]),
        ("other-list", [&["list", "--picker", agent], &[]]),
        ("other-list", [&["list", "--inventory"], &in_agent]),
        ("other-list", [&["list", "--inventory", &scope], &app]),
        ("resume", [&["resume", id], &in_agent]),
        ("resume", [&["resume", "nobody"], &in_agent]),
        ("resume", [&["resume", "corpus/field/01-torn-tail.jsonl"], &in_agent]),
        ("resume", [&["resume", "nowhere/at/all.jsonl"], &in_agent]),
        ("saved-session", [&["resume", id, "--sdk-json"], &in_agent]),
        ("saved-session", [&["resume", "nobody", "--sdk-json"], &in_agent]),
        ("continue", [&["continue"], &in_agent]),
        ("continue", [&["continue", "--session-dir", &scope, "--terminal", "ttys001"], &in_agent]),
        ("gc", [&["gc", agent], &[]]),
        ("quota", [&["quota", agent], &[]]),
        ("why", [&["why", id], &in_agent[..2]]),
        ("why", [&["why", "nobody"], &in_agent[..2]]),
    ] {
        let output = run(&[args[0], args[1], &ASSUMED, &["--format", "json"]].concat());
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{args:?}: {}", err(&output)));
        let validator = strict(schema);
        let complaints: Vec<String> = validator.iter_errors(&answer).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(complaints.is_empty(), "{args:?}: {complaints:?}");
        assert!(!validator.is_valid(&serde_json::json!({ "noSuchMember": 1 })), "{schema} can refuse");
    }
}

#[test]
fn why_names_the_codes_of_the_check() {
    let (_folder, agent) = sample();
    let output = ask("why", &["01a22bfd-a266-7003", "--agent-dir", agent.to_str().unwrap()]);
    assert_eq!(status(&output), 4);
    assert!(out(&output).contains("fused_line (error, line 5)"), "{}", out(&output));
    assert!(out(&output).contains("→ `gjc-fsck explain fused_line`"), "{}", out(&output));
    // What stands in the way is the binding, not the file.
    let output = ask("why", &["01a22bfd-a266-7006", "--agent-dir", agent.to_str().unwrap(), "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let codes: Vec<_> = json["reported"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"binding_invalid"), "{codes:?}");
}

/// What the check says of a session in its storage, `why` says too: the listing's codes, the missing blob, all of them.
#[test]
fn why_names_every_code_that_the_check_has_for_a_session() {
    let (_folder, agent) = sample();
    let parsed = |output: &std::process::Output| serde_json::from_str::<serde_json::Value>(&out(output)).unwrap();
    let report = parsed(&ask("check", &[agent.to_str().unwrap(), "--format", "json"]));
    let mut codes: std::collections::BTreeMap<&str, Vec<&str>> = std::collections::BTreeMap::new();
    for finding in report["findings"].as_array().unwrap() {
        codes.entry(finding["path"].as_str().unwrap()).or_default().push(finding["code"].as_str().unwrap());
    }
    let mut asked = 0;
    for transcript in report["transcripts"].as_array().unwrap() {
        let path = transcript["path"].as_str().unwrap();
        let chain = parsed(&ask("why", &[agent.join(path).to_str().unwrap(), "--format", "json"]));
        let reported: Vec<&str> = chain["reported"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
        for code in codes.get(path).into_iter().flatten() {
            assert!(reported.contains(code), "{path}: {code} is missing in {reported:?}");
            asked += 1;
        }
    }
    assert!(asked > 10, "the sample is damaged in many ways");
}

#[test]
fn why_exits_by_what_was_found() {
    let (folder, agent) = sample();
    let scope = PathBuf::from(directory(&agent, "v2-tc3k"));
    let file = fs::read_dir(&scope)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_str().unwrap().ends_with("7001-bec6-7deb7dfe0001.jsonl"));
    let agent_dir = ["--agent-dir", agent.to_str().unwrap()];
    let asked = |session: &str| status(&ask("why", &[&[session], &agent_dir[..]].concat()));
    assert_eq!(asked(file.unwrap().to_str().unwrap()), 0, "it opens");
    assert_eq!(asked("01a22bfd-a266-7002"), 4, "it is torn");
    assert_eq!(asked("nobody"), 4, "there is none");
    assert_eq!(asked("01a22bfd"), 16, "there are many");
    assert_eq!(asked("./nothing.jsonl"), 4, "there is no such file");
    for directory in ["src", scope.to_str().unwrap(), ""] {
        let output = ask("why", &[directory]);
        assert_eq!(status(&output), 16, "{directory}");
        assert!(err(&output).contains("`gjc-fsck list`"), "{}", err(&output));
    }
    // What cannot be reached is not called absent.
    let below = folder.path().join("file.jsonl");
    fs::write(&below, "").unwrap();
    let output = ask("why", &[below.join("x.jsonl").to_str().unwrap()]);
    assert_eq!(status(&output), 4);
    assert!(out(&output).starts_with("✗ the file cannot be reached\n"), "{}", out(&output));
    assert!(out(&output).contains("what stands on the way to it is no folder"), "{}", out(&output));
    let empty = out(&ask("why", &[below.to_str().unwrap()]));
    assert!(empty.contains("not asked · the file is empty;"), "{empty}");
    let fifo = folder.path().join("x.jsonl");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0).unwrap();
    let output = ask("why", &[fifo.to_str().unwrap()]);
    assert_eq!(status(&output), 4);
    assert!(out(&output).contains("regular file"), "{}", out(&output));
}

#[test]
fn why_takes_a_path_that_is_not_utf_8() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(OsStr::from_bytes(b"caf\xe9.jsonl"));
    fs::copy("corpus/field/00-ok.jsonl", &path).unwrap();
    let output = program().arg("why").arg(&path).args(["--agent-dir", "/nowhere/at/all"]).output().unwrap();
    assert_eq!(status(&output), 0, "{}{}", out(&output), err(&output));
    assert!(out(&output).contains(r"caf\xe9.jsonl") && out(&output).contains("not UTF-8"), "{}", out(&output));
}

#[test]
fn a_kept_demo_names_its_files_so_that_they_can_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("kept");
    let output = run(&["demo", "--keep", root.to_str().unwrap(), "--format", "concise"]);
    let text = out(&output);
    let path = |line: &str| PathBuf::from(line.split_inclusive(".jsonl").next().unwrap());
    let of_files: Vec<&str> = text.lines().filter(|line| line.contains(".jsonl")).collect();
    assert!(!of_files.is_empty() && of_files.iter().all(|line| path(line).is_file()), "{text}");
}

#[test]
fn a_mistyped_command_is_no_path() {
    for words in [&["chek"][..], &["chek", "src"], &["lits", "--format", "json"]] {
        let output = run(words);
        assert_eq!(status(&output), 16, "{words:?}");
        assert!(err(&output).contains("no such command or path; did you mean `"), "{}", err(&output));
    }
    assert_eq!(status(&run(&["check", "chek"])), 8, "behind the command it is a path");
}

#[test]
fn list_hints_look_at_the_same_agent_directory() {
    let (_folder, agent) = sample();
    let whole = agent.to_str().unwrap();
    let words = |output: std::process::Output| out(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    let hint = format!("`gjc-fsck why --agent-dir {whole} --assume-root /home/ana/.gjc/agent ID`");
    assert!(words(ask("list", &[whole])).contains(&hint));
    assert!(words(ask("list", &["--agent-dir", whole, "--all"])).contains(&hint));
    let elsewhere = words(run(&["list", "--agent-dir", whole, "--cwd", "/"]));
    assert!(elsewhere.contains(&format!("`gjc-fsck list --agent-dir {whole} --all`")), "{elsewhere}");
}

#[test]
fn list_all_keeps_a_refused_file_of_a_scope_with_its_workspace() {
    let (_folder, agent) = sample();
    let scope = directory(&agent, "v2-tc3k");
    fs::write(format!("{scope}/garbage.jsonl"), "garbage\n").unwrap();
    let json = |args: &[&str]| -> serde_json::Value { serde_json::from_slice(&ask("list", args).stdout).unwrap() };
    let all = json(&[agent.to_str().unwrap(), "--format", "json"]);
    assert_eq!(all["invalid"].as_array().map(Vec::len), Some(0), "{all}");
    let own = all["workspaces"].as_array().unwrap().iter().find(|one| one["workspace"] == "/home/ana/dev/app").unwrap();
    assert_eq!(own["invalid"][0]["code"], "unreadable_candidate");
}

#[test]
fn list_searches_and_shows_the_other_lists() {
    let (_folder, agent) = sample();
    let whole = agent.to_str().unwrap();
    let json = |args: &[&str]| -> serde_json::Value { serde_json::from_slice(&ask("list", args).stdout).unwrap() };
    let count = |list: &serde_json::Value| list["sessions"].as_array().unwrap().len();
    let found = json(&[whole, "--search", "RELEASE notes", "--format", "json"]);
    assert_eq!(found["workspaces"][0]["sessions"].as_array().map(Vec::len), Some(1));
    assert_eq!(status(&ask("list", &[whole, "--search", "RELEASE notes"])), 0, "it opens, whatever became of other workspaces");
    assert_eq!(status(&ask("list", &[whole, "--search", "7006"])), 4, "near miss: its workspace is refused");
    assert_eq!(count(&json(&[whole, "--picker", "--format", "json"])), 10);
    let of_app = ["--agent-dir", whole, "--cwd", "/home/ana/dev/app", "--format", "json"];
    assert_eq!(count(&json(&[&["--picker"][..], &of_app].concat())), 8);
    assert_eq!(count(&json(&[&["--inventory"][..], &of_app].concat())), 8);
    assert_eq!(count(&json(&[&["--recent", "--limit", "2"][..], &of_app].concat())), 2);
    // Any folder, as gjc's --session-dir takes it.
    let folder = json(&["--picker", "corpus/field", "--format", "json"]);
    assert!(count(&folder) > 5, "{folder}");
    assert_eq!(status(&ask("list", &["--recent", whole])), 16, "of all workspaces there is no recent list");
    assert_eq!(status(&ask("list", &["--inventory", "--agent-dir", whole, "--cwd", "/nowhere/at/all"])), 0, "a copy is taken at its word");
    assert_eq!(status(&run(&["list", "--inventory", "--agent-dir", whole, "--cwd", "/nowhere/at/all"])), 4);
}

#[test]
fn resume_and_continue_say_what_gjc_would_open() {
    let (_folder, agent) = sample();
    let whole = agent.to_str().unwrap();
    let of_app = ["--agent-dir", whole, "--cwd", "/home/ana/dev/app"];
    let resume = |rest: &[&str]| ask("resume", &[rest, &of_app].concat());
    let opened = resume(&["01A22BFD-a266-7005", "--format", "concise"]);
    assert_eq!((status(&opened), out(&opened).contains(": opens[terminal]")), (0, true), "{}", out(&opened));
    let broken = resume(&["01a22bfd-a266-7003"]);
    assert_eq!((status(&broken), out(&broken).contains("Could not open session: malformed")), (4, true));
    assert!(out(&broken).contains("line 5: the line is not one whole JSON value"), "{}", out(&broken));
    assert_eq!(status(&resume(&["nobody"])), 4);
    let reply = |rest: &[&str]| -> serde_json::Value { serde_json::from_slice(&resume(&[rest, &["--sdk-json"]].concat()).stdout).unwrap() };
    assert_eq!(reply(&["01a22bfd-a266-7005-bec6-7deb7dfe0005"])["savedSession"]["identity"]["nlink"], "1");
    let omission = &reply(&["nobody"])["savedSessionOmission"];
    assert_eq!((&omission["reason"], &omission["sessionId"]), (&"candidate_not_found".into(), &"nobody".into()));

    let notes = agent.join("terminal-sessions");
    fs::create_dir(&notes).unwrap();
    let scope = directory(&agent, "v2-tc3k");
    let session =
        fs::read_dir(&scope).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.to_str().unwrap().ends_with("0005.jsonl"));
    fs::write(notes.join("tmux-%3"), format!("/home/ana/dev/app\n{}\n", session.unwrap().display())).unwrap();
    let proceed = |rest: &[&str]| ask("continue", &[rest, &of_app].concat());
    let named = proceed(&["--terminal", "tmux-%3", "--format", "concise"]);
    assert!(out(&named).starts_with(&format!("{whole}/terminal-sessions/tmux-%3: breadcrumb[leads]")), "{}", out(&named));
    let mut own = program();
    own.args(["continue", "--format", "json"]).args(of_app).args(ASSUMED).env("TMUX", "x").env("TMUX_PANE", "%3");
    let json: serde_json::Value = serde_json::from_slice(&own.output().unwrap().stdout).unwrap();
    assert_eq!((&json["terminal"]["id"], &json["terminal"]["from"]), (&"tmux-%3".into(), &"TMUX_PANE".into()));
    assert_eq!(json["steps"][0]["source"], "breadcrumb");
    assert_eq!(status(&proceed(&["--terminal", "../x"])), 16);
    assert_eq!(status(&proceed(&[])), 0, "without a terminal there is no breadcrumb");
}

#[test]
fn without_an_agent_directory_nothing_is_listed_but_a_path_is_opened_all_the_same() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("w");
    fs::create_dir(&workspace).unwrap();
    let session = fs::canonicalize("corpus/field/31-stale-leaf-tail.jsonl").unwrap();
    let ask = |args: &[&str]| program().current_dir(&workspace).env("HOME", home.path()).args(args).output().unwrap();
    for form in [&["list"][..], &["list", "--recent"], &["list", "--picker"], &["list", "--picker", "--all"], &["list", "--inventory"]] {
        let output = ask(form);
        assert_eq!((status(&output), out(&output)), (8, String::new()), "{form:?}");
        assert!(err(&output).contains("there is no agent directory"), "{form:?}: {}", err(&output));
    }
    assert_eq!(status(&ask(&["resume", "0190"])), 8);
    let output = ask(&["resume", session.to_str().unwrap()]);
    assert_eq!(status(&output), 0, "{}", err(&output));
    assert!(out(&output).contains("opens this session"), "{}", out(&output));
    let output = ask(&["list", "--recent", session.parent().unwrap().to_str().unwrap()]);
    assert_eq!(status(&output), 0, "any folder is listed: {}", err(&output));
    // Project transcripts need no agent directory.
    fs::create_dir_all(workspace.join(".gjc/sessions")).unwrap();
    fs::copy(&session, workspace.join(".gjc/sessions/p.jsonl")).unwrap();
    let output = ask(&["list", "--picker"]);
    assert_eq!(status(&output), 0, "{}", err(&output));
    assert!(out(&output).contains("1 session"), "{}", out(&output));
}

#[test]
fn what_does_not_exist_is_said_in_the_same_words_by_every_command() {
    let home = tempfile::tempdir().unwrap();
    let ask = |args: &[&str]| program().current_dir(home.path()).env("HOME", home.path()).args(args).output().unwrap();
    for args in [
        &["tree", "none"][..],
        &["diff", "none", "none"],
        &["corpus", "run", "none"],
        &["corpus", "lint", "none"],
        &["session", "run", "none"],
        &["list", "none"],
        &["history", "search", "x", "--in", "none"],
        &["migrate", "none"],
    ] {
        let output = ask(args);
        assert_eq!(status(&output), 8, "{args:?}");
        assert_eq!(err(&output), "gjc-fsck: none: nothing stands here; check the spelling\n", "{args:?}");
    }
    for command in [&["resume", "x", "--session-dir", "none"][..], &["continue", "--session-dir", "none"]] {
        let output = ask(command);
        assert!(err(&output).contains("there is no such directory"), "{command:?}: {}", err(&output));
    }
}

#[test]
fn every_command_weighs_a_context_against_the_budget_of_the_environment() {
    let (folder, agent) = sample();
    let opens = |path: &Path| status(&ask("why", &[path.to_str().unwrap()])) == 0;
    let files = fs::read_dir(directory(&agent, "v2-tc3k")).unwrap().map(|entry| entry.unwrap().path());
    let session = files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).find(|path| opens(path)).unwrap();
    let session = session.to_str().unwrap();
    let damaged = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/field/03-torn-then-appended-fused.jsonl");
    let salvaged = folder.path().join("salvaged");
    for arguments in [
        &["list", agent.to_str().unwrap(), ASSUMED[0], ASSUMED[1]][..],
        &["why", session, ASSUMED[0], ASSUMED[1]],
        &["check", session],
        &["resume", session],
        &["repair", "--salvage", damaged, "-o", salvaged.to_str().unwrap(), "--format", "json"],
    ] {
        let output = program().args(arguments).env("GJC_SESSION_CONTEXT_BUDGET_BYTES", "100").output().unwrap();
        assert!(out(&output).contains("context_too_large"), "{arguments:?}: {}{}", out(&output), err(&output));
    }
}
