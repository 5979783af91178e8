//! Files that are generated and committed.

use std::path::Path;

/// Compares a committed file with what it should say; under `GJC_FSCK_BLESS=1` it is written anew first.
pub fn matches_the_committed_file(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if std::env::var_os("GJC_FSCK_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "{name} differs from what the program says; GJC_FSCK_BLESS=1 cargo test writes it anew");
}
