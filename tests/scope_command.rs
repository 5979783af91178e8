//! `gjc-fsck scope CWD`, as a user runs it.

use assert_cmd::Command;

fn scope(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("gjc-fsck").expect("the binary is built with the tests");
    command.env_clear().env("HOME", "/home/ana").arg("scope").args(arguments);
    command
}

fn stdout(command: &mut Command) -> String {
    let output = command.assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("the answer is text")
}

#[test]
fn the_directory_name_stands_alone_on_the_first_line() {
    let text = stdout(&mut scope(&["/home/ana/dev/app", "--canonical"]));
    assert_eq!(text.lines().next(), Some("v2-tc3ksqaxa2ak4zzdlpwndktwwuik7uzyfsdck6p3jjowyzyhryvq"));
    assert_eq!(
        text,
        "v2-tc3ksqaxa2ak4zzdlpwndktwwuik7uzyfsdck6p3jjowyzyhryvq

workspace  /home/ana/dev/app
identity   posix, version 1
digest     tc3ksqaxa2ak4zzdlpwndktwwuik7uzyfsdck6p3jjowyzyhryvq
sha256     98b6a940170680ae67235becd1aa76b510afd3382c862579fb4a5d6c67078e2b
directory  /home/ana/.gjc/agent/sessions/v2-tc3ksqaxa2ak4zzdlpwndktwwuik7uzyfsdck6p3jjowyzyhryvq
binding    {\"schemaVersion\":1,\"layoutVersion\":2,\"identityVersion\":1,\"platform\":\"posix\",\"canonicalPath\":\"/home/ana/dev/app\",\"identityDigest\":\"tc3ksqaxa2ak4zzdlpwndktwwuik7uzyfsdck6p3jjowyzyhryvq\"}
legacy     --home-ana-dev-app--
           -dev-app
           ---dev-app--
           ---home-ana-dev-app--
"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn the_temp_directory_of_linux() {
    let text = stdout(&mut scope(&["/tmp"]));
    assert_eq!(text.lines().next(), Some("v2-5rv7jbgitapagoa4ocoosggzxmdsobetnarxtc2pjcty2dxyl2yq"));
}

#[test]
fn a_windows_workspace_is_computed_from_its_volume_path() {
    let path = r"\\?\Volume{01234567-89ab-cdef-0123-456789abcdef}\Users\ana\app";
    let text = stdout(&mut scope(&[path, "--canonical", "--platform", "win32", "--format", "json"]));
    let answer: serde_json::Value = serde_json::from_str(&text).expect("the answer is JSON");
    assert_eq!(answer["directoryName"], "v2-pt2ybn2xv4jjdxsqj6qbplh6u6vs6lmtjdcva43u4xgfm6hknsya");
    assert_eq!(answer["platform"], "win32");
    assert_eq!(answer["binding"].as_str().map(str::len), Some(236));
}

#[test]
fn a_directory_without_identity_is_named_with_the_error_of_gjc() {
    let assert = scope(&["/nowhere/at/all"]).assert().code(8);
    let error = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(error.contains("cwd_missing"), "{error}");
    let assert = scope(&["/etc/passwd"]).assert().code(8);
    let error = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(error.contains("cwd_not_directory"), "{error}");
}
