//! The manifest of a corpus: SHA-256 and path of every file, as `sha256sum` writes and checks it. A line end that a checkout
//! changed, a file that an editor mended: here it shows.

use super::folder;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Its name, at the top of the corpus.
pub const NAME: &str = "MANIFEST.sha256";

/// The manifest of the files as they are, with what is about to be written in their place.
///
/// # Errors
/// A file cannot be read.
pub fn text(root: &Path, written: &BTreeMap<String, Vec<u8>>) -> Result<String, folder::Error> {
    let mut names: BTreeSet<String> = folder::walk(root)?.files.into_iter().filter(|name| name != NAME).collect();
    names.extend(written.keys().cloned());
    let mut lines = String::new();
    for name in names {
        let hash = match written.get(&name) {
            Some(bytes) => Sha256::digest(bytes),
            None => Sha256::digest(folder::read(&root.join(&name))?),
        };
        lines.push_str(&data_encoding::HEXLOWER.encode(&hash));
        lines.push_str("  ");
        lines.push_str(&name);
        lines.push('\n');
    }
    Ok(lines)
}

/// What differs from the manifest, a sentence each.
///
/// # Errors
/// A file cannot be read.
pub fn differences(root: &Path) -> Result<Vec<(String, &'static str)>, folder::Error> {
    let is = text(root, &BTreeMap::new())?;
    let Ok(said) = folder::read(&root.join(NAME)) else {
        return Ok(vec![(NAME.to_owned(), "there is no manifest")]);
    };
    let said = String::from_utf8_lossy(&said).into_owned();
    let rows = |text: &str| -> BTreeMap<String, String> {
        text.lines().filter_map(|line| line.split_once("  ")).map(|(hash, name)| (name.to_owned(), hash.to_owned())).collect()
    };
    let (is, said) = (rows(&is), rows(&said));
    let mut differences = Vec::new();
    for (name, hash) in &is {
        match said.get(name) {
            None => differences.push((name.clone(), "the manifest does not name it")),
            Some(other) if other != hash => differences.push((name.clone(), "its bytes are not those of the manifest")),
            Some(_) => {}
        }
    }
    differences
        .extend(said.keys().filter(|name| !is.contains_key(*name)).map(|name| (name.clone(), "the manifest names it, and it is gone")));
    Ok(differences)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the test makes a corpus of its own")]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_difference_is_told() {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(root.path().join(name), text).unwrap();
        put("case.json", "{}");
        put("a", "x");
        put("b", "x");
        assert_eq!(differences(root.path()).unwrap(), [(NAME.to_owned(), "there is no manifest")]);
        put(NAME, &text(root.path(), &BTreeMap::new()).unwrap());
        assert_eq!(differences(root.path()).unwrap(), []);
        put("a", "y");
        put("c", "x");
        std::fs::remove_file(root.path().join("b")).unwrap();
        let told = differences(root.path()).unwrap();
        let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "c", "b"]);
    }
}
