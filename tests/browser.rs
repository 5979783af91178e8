//! Exported sessions in a real browser, where one is installed: no script of a transcript runs, nothing is asked of the network,
//! the console stays silent, the map is walked by keys. What a clock decides stands in `ci/export-browser.sh`.

#[path = "support/skipped.rs"]
mod skipped;

use skipped::skipped;
use std::path::Path;
use std::process::Command;

/// The first of these programs that runs.
fn installed(names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| Command::new(name).arg("--version").output().is_ok_and(|answer| answer.status.success()))
}

#[test]
fn an_exported_session_runs_nothing_and_is_walked_by_keys() {
    let (Some(node), Some(chromium)) = (installed(&["node"]), installed(&["chromium", "chromium-browser", "google-chrome"])) else {
        skipped("exported pages are opened in Chromium by Node, and one of the two is not installed");
        return;
    };
    let pictures = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/export-browser.mjs");
    let run = Command::new(node)
        .arg(script)
        .args([env!("CARGO_BIN_EXE_gjc-fsck"), chromium])
        .arg(pictures.path())
        .env("GJC_FSCK_UNTIMED", "1")
        .output()
        .unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success() && told.contains("nothing ran, nothing was asked of the network"), "{told}");
}
