//! Node's `path` on POSIX, as far as records are judged by it: text only, nothing is looked up.

/// `path.dirname`: what stands before the last component; slashes at the end do not count, doubled ones stay.
pub fn dirname(path: &[u8]) -> &[u8] {
    let whole = without_slashes(path);
    match memchr::memrchr(b'/', whole) {
        None if path.starts_with(b"/") => b"/",
        None => b".",
        Some(0) => b"/",
        // Node's own oddity: two slashes at the front are kept.
        Some(1) if whole.starts_with(b"//") => b"//",
        Some(at) => whole.get(..at).unwrap_or_default(),
    }
}

/// `path.basename`: the last component; slashes at the end do not count.
pub fn basename(path: &[u8]) -> &[u8] {
    let whole = without_slashes(path);
    memchr::memrchr(b'/', whole).and_then(|at| whole.get(at + 1..)).unwrap_or(whole)
}

/// `path.resolve` of a path, a relative one taken from `current`: `.` and `..` folded by text, doubled and final slashes gone.
pub fn resolve(current: &[u8], path: &[u8]) -> Vec<u8> {
    let start: &[u8] = if path.starts_with(b"/") { b"" } else { current };
    let mut kept: Vec<&[u8]> = Vec::new();
    for component in start.split(|byte| *byte == b'/').chain(path.split(|byte| *byte == b'/')) {
        match component {
            b"" | b"." => {}
            b".." => _ = kept.pop(),
            name => kept.push(name),
        }
    }
    [b"/".as_slice(), &kept.join(&b'/')].concat()
}

fn without_slashes(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    path.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_and_names_as_node_says() {
        for (path, directory, name) in [
            ("/a/b", "/a", "b"),
            ("/a/b/", "/a", "b"),
            ("/a//b", "/a/", "b"),
            ("/a/b//", "/a", "b"),
            ("/a", "/", "a"),
            ("/", "/", ""),
            ("//a", "//", "a"),
            ("a", ".", "a"),
            ("a/", ".", "a"),
            ("", ".", ""),
            ("a/..", "a", ".."),
        ] {
            assert_eq!(dirname(path.as_bytes()), directory.as_bytes(), "dirname {path}");
            assert_eq!(basename(path.as_bytes()), name.as_bytes(), "basename {path}");
        }
    }
    #[test]
    fn resolved_paths_as_node_says() {
        for (path, resolved) in [("/a/../b/", "/b"), ("c//d", "/w/c/d"), ("../x", "/x"), ("", "/w"), ("/..", "/")] {
            assert_eq!(resolve(b"/w", path.as_bytes()), resolved.as_bytes(), "{path}");
        }
    }
}
