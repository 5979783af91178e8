//! The file of a case, where its `path` says: a temporary folder, gone when the value is dropped.

use super::{Case, string};
use gjc_fsck::json::{Value, View};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

/// A materialised case.
pub struct Place {
    /// Keeps the folder.
    _folder: tempfile::TempDir,
    /// The path that gjc is given.
    pub path: PathBuf,
}

impl Place {
    /// Lays the input of a case where its `path` says.
    pub fn of(case: &Case) -> Place {
        let place = case.get("path");
        let text = |key| place.and_then(|place| place.member(key)).and_then(string);
        let is = |key| place.is_some_and(|place| place.member(key).is_some_and(View::truthy));
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = text("sub").map_or_else(|| folder.path().to_owned(), |sub| folder.path().join(sub));
        fs::create_dir_all(&home).expect("a folder");
        let path = home.join(text("file_name").unwrap_or_else(|| "2026-03-01T08-00-00-000Z_sess-1.jsonl".to_owned()));
        if is("missing") {
        } else if is("directory") {
            fs::create_dir(&path).expect("a directory");
        } else if is("fifo") {
            let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
            assert!(made.success());
        } else if is("symlink_dangling") {
            symlink(home.join("nowhere"), &path).expect("a link");
        } else if is("symlink_loop") {
            symlink(&path, &path).expect("a link");
        } else if is("symlink_to_directory") {
            symlink(&home, &path).expect("a link");
        } else if is("below_a_file") {
            fs::write(&path, b"").expect("a file");
            return Place { _folder: folder, path: path.join("below") };
        } else if is("symlink_to_input") {
            let real = home.join("real.jsonl");
            fs::write(&real, case.input()).expect("a file");
            symlink(&real, &path).expect("a link");
        } else {
            fs::write(&path, case.input()).expect("a file");
            let mode = text("mode").map_or(0o600, |mode| u32::from_str_radix(&mode, 8).expect("an octal mode"));
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
            if let Some(links) = place.and_then(|place| place.member("hard_links")).and_then(|links: &Value| links.as_f64()) {
                (1..links as usize).for_each(|n| fs::hard_link(&path, home.join(format!("link-{n}"))).expect("a link"));
            }
        }
        Place { _folder: folder, path }
    }
}
