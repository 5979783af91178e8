//! A corpus on disk: which folders hold a case, and the files of a case. A corpus is an ordinary folder, not managed
//! storage: it is read as such, and only `bless` writes into it.

#![allow(clippy::disallowed_methods, reason = "a corpus is an ordinary folder that the user named (design §6)")]

use super::case::Case;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The file that makes a folder a case.
pub const CASE: &str = "case.json";
/// Bytes that a file of a corpus may have.
pub const MOST: u64 = 64 << 20;

/// Why a file of a corpus gives nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error("{}: {error}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// Its answer.
        error: io::Error,
    },
    /// There is no `case.json` anywhere below.
    #[error("{}: no case stands here: a case is a folder with a {CASE}", .0.display())]
    NoCase(PathBuf),
    /// A name that a case could not name.
    #[error("{}: the names of a corpus are UTF-8, and this one is not", .0.display())]
    Name(PathBuf),
    /// A path that leads out of the corpus, or is none.
    #[error("{0:?} is no path inside the corpus")]
    Outside(String),
    /// Neither a link nor anything else that is no regular file is read.
    #[error("{}: this is no regular file", .0.display())]
    NoFile(PathBuf),
    /// A file above [`MOST`].
    #[error("{}: more than {MOST} bytes", .0.display())]
    TooLarge(PathBuf),
    /// A `case.json` that is none.
    #[error("{}: {error}", path.display())]
    Case {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: serde_json::Error,
    },
}

/// The folder of a case.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Folder {
    /// The corpus.
    pub root: PathBuf,
    /// The name of the case: its folder relative to the corpus, with `/` between the parts.
    pub name: String,
}

/// The cases of a corpus, by name; and every file of it, relative to it, sorted.
pub struct Corpus {
    /// The folders with a case.
    pub cases: Vec<Folder>,
    /// Every file.
    pub files: Vec<String>,
}

/// Which cases are meant, by their names: all that begin so, or, when it holds a `*` (any text) or a `?` (one byte), all that are
/// of this form from beginning to end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Only(String);

impl Only {
    /// The cases that this text means; a `/` at its end is left out.
    pub fn new(text: &str) -> Only {
        Only(text.trim_end_matches('/').to_owned())
    }
    /// Whether a case is meant.
    pub fn means(&self, case: &str) -> bool {
        if !self.0.contains(['*', '?']) {
            return case.starts_with(&self.0);
        }
        let (form, name) = (self.0.as_bytes(), case.as_bytes());
        let (mut at, mut here) = (0, 0);
        // The last star, and where the text behind it was tried last.
        let mut star: Option<(usize, usize)> = None;
        while here < name.len() {
            match form.get(at) {
                Some(b'*') => {
                    star = Some((at, here));
                    at += 1;
                }
                Some(letter) if *letter == b'?' || name.get(here) == Some(letter) => (at, here) = (at + 1, here + 1),
                _ => match star {
                    Some((of, tried)) => {
                        star = Some((of, tried + 1));
                        (at, here) = (of + 1, tried + 1);
                    }
                    None => return false,
                },
            }
        }
        form.iter().skip(at).all(|letter| *letter == b'*')
    }
}

impl Corpus {
    /// The same with the cases that are meant.
    ///
    /// # Errors
    /// No case is meant.
    pub fn only(mut self, root: &Path, only: &Only) -> Result<Corpus, Error> {
        self.cases.retain(|folder| only.means(&folder.name));
        if self.cases.is_empty() { Err(Error::NoCase(root.join(&only.0))) } else { Ok(self) }
    }
}

/// Looks through a corpus. Links are not followed, hidden names are left out.
///
/// # Errors
/// Something in it cannot be read.
pub fn walk(root: &Path) -> Result<Corpus, Error> {
    let mut corpus = Corpus { cases: Vec::new(), files: Vec::new() };
    let visible = |entry: &walkdir::DirEntry| entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".");
    for entry in walkdir::WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(visible) {
        let entry = entry.map_err(|error| Error::System { path: root.to_owned(), error: error.into() })?;
        if entry.file_type().is_dir() {
            continue;
        }
        let Ok(relative) = entry.path().strip_prefix(root) else { continue };
        let Some(name) = relative.to_str().map(str::to_owned) else { return Err(Error::Name(entry.path().to_owned())) };
        if entry.file_name() == CASE {
            let folder = relative.parent().map(|parent| parent.to_string_lossy().into_owned()).unwrap_or_default();
            corpus.cases.push(Folder { root: root.to_owned(), name: folder });
        }
        corpus.files.push(name);
    }
    // A mistyped folder must not pass as one in which nothing fails.
    if corpus.cases.is_empty() {
        return Err(Error::NoCase(root.to_owned()));
    }
    corpus.cases.sort();
    corpus.files.sort();
    Ok(corpus)
}

impl Folder {
    /// The path of `case.json` relative to the corpus.
    pub fn case_file(&self) -> String {
        if self.name.is_empty() { CASE.to_owned() } else { format!("{}/{CASE}", self.name) }
    }
    /// A path that the case names, relative to the corpus.
    ///
    /// # Errors
    /// It leads out of the corpus.
    pub fn inside(&self, named: &str) -> Result<String, Error> {
        let mut parts: Vec<String> = self.name.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let outside = || Error::Outside(named.to_owned());
        for part in Path::new(named).components() {
            match part {
                Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
                Component::ParentDir => _ = parts.pop().ok_or_else(outside)?,
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return Err(outside()),
            }
        }
        if parts.is_empty() { Err(outside()) } else { Ok(parts.join("/")) }
    }
    /// A file that the case names.
    ///
    /// # Errors
    /// It leads out of the corpus, or cannot be read.
    pub fn read(&self, named: &str) -> Result<Vec<u8>, Error> {
        read(&self.root.join(self.inside(named)?))
    }
    /// The case.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub fn case(&self) -> Result<Case, Error> {
        let path = self.root.join(self.case_file());
        let text = read(&path)?;
        serde_json::from_slice(&text).map_err(|error| Error::Case { path, error })
    }
}

/// A file of a corpus.
///
/// # Errors
/// It is too large, or cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |error| Error::System { path: path.to_owned(), error };
    // Somebody else's corpus may hold anything: what a link leads to, or a FIFO says, is not part of it.
    let meta = std::fs::symlink_metadata(path).map_err(failed)?;
    if !meta.is_file() {
        return Err(Error::NoFile(path.to_owned()));
    }
    if meta.len() > MOST {
        return Err(Error::TooLarge(path.to_owned()));
    }
    std::fs::read(path).map_err(failed)
}

/// Writes a file of a corpus, in one step. Only `bless` does.
///
/// # Errors
/// The system's.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |error| Error::System { path: path.to_owned(), error };
    let parent = path.parent().unwrap_or(Path::new("."));
    let mut file =
        tempfile::Builder::new().permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644)).tempfile_in(parent).map_err(failed)?;
    io::Write::write_all(&mut file, bytes).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_case_names_lies_in_the_corpus() {
        let folder = Folder { root: "/c".into(), name: "field/cases/x".to_owned() };
        assert_eq!(folder.inside("../../01.jsonl").unwrap(), "field/01.jsonl");
        assert_eq!(folder.inside("./a/b").unwrap(), "field/cases/x/a/b");
        for outside in ["../../../../etc/passwd", "/etc/passwd", "../../.."] {
            assert!(matches!(folder.inside(outside), Err(Error::Outside(_))), "{outside}");
        }
    }

    #[test]
    fn cases_are_meant_by_their_beginning_or_their_form() {
        let means = |text: &str, case: &str| Only::new(text).means(case);
        assert!(means("", "v5/a") && means("v5", "v5/a") && means("v5/", "v5/a") && means("v5/a", "v5/abc"));
        assert!(!means("5/a", "v5/a"));
        assert!(means("*/a", "v5/a") && means("v?/*b*", "v5/abc") && means("*", "") && means("**c", "v5/abc"));
        assert!(!means("*/a", "v5/ab") && !means("v?/b*", "v5/abc") && !means("?", ""));
        // However many stars: each is gone back to once.
        assert!(!means(&"*a".repeat(60), &"a".repeat(59)));
    }

    #[test]
    fn a_link_is_no_file_of_a_corpus() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a"), "x").unwrap();
        std::os::unix::fs::symlink("a", root.path().join("b")).unwrap();
        assert_eq!(read(&root.path().join("a")).unwrap(), b"x");
        assert!(matches!(read(&root.path().join("b")), Err(Error::NoFile(_))));
    }

    #[test]
    fn hidden_names_are_left_out_and_cases_are_found_at_any_depth() {
        let root = tempfile::tempdir().unwrap();
        for file in ["b/case.json", "a/deep/case.json", "a/x", ".git/case.json"] {
            std::fs::create_dir_all(root.path().join(file).parent().unwrap()).unwrap();
            std::fs::write(root.path().join(file), "{}").unwrap();
        }
        let corpus = walk(root.path()).unwrap();
        let names: Vec<&str> = corpus.cases.iter().map(|folder| folder.name.as_str()).collect();
        assert_eq!(names, ["a/deep", "b"]);
        assert_eq!(corpus.files, ["a/deep/case.json", "a/x", "b/case.json"]);
    }
}
