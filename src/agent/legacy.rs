//! Legacy directories: the names under which older releases kept the sessions of a workspace (spec 02 §5.1, §5.2). Pure.
//!
//! The encodings are not injective (`/a-b` and `/a/b` collide), so a name proves nothing: the header's cwd decides.

/// Whose path rules hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PathRules {
    /// `/` separates; paths are compared as they are.
    #[default]
    Posix,
    /// `\` and `/` separate; components are compared without case.
    Windows,
}

/// What the names of one workspace are computed from. All paths are absolute.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Path rules of the scope's platform.
    pub rules: PathRules,
    /// The home directory as configured.
    pub home: String,
    /// Its real path (the configured one when it does not resolve).
    pub home_real: String,
    /// The temp directory as configured (`TMPDIR`, `TMP`, `TEMP` or `/tmp`).
    pub temp: String,
    /// Its real path.
    pub temp_real: String,
}

/// Most unknown legacy directories that a listing visits besides the known names.
pub const MAX_UNKNOWN_DIRECTORIES: usize = 256;

/// `A(p)`: `--`, the path without one leading separator and with every `/`, `\` and `:` replaced by `-`, `--`.
pub fn absolute_name(path: &str) -> String {
    format!("--{}--", dashes(path.strip_prefix(['/', '\\']).unwrap_or(path)))
}

/// `R(p)`: every `/`, `\` and `:` replaced by `-`, a leading separator included.
fn dashes(path: &str) -> String {
    path.replace(['/', '\\', ':'], "-")
}

/// The known names of a workspace in the order in which the listing visits them, duplicates removed.
///
/// `canonical` is the scope's `canonicalCwd`, `lexical` the absolute cwd as asked, unresolved.
pub fn known_names(canonical: &str, lexical: &str, around: &Surroundings) -> Vec<String> {
    let mut names = vec![absolute_name(canonical), absolute_name(lexical)];
    let inside = |real: &str, plain: &str| {
        below(real, canonical, around.rules).or_else(|| below(plain, lexical, around.rules)).map(|relative| dashes(&relative))
    };
    if let Some(relative) = inside(&around.home_real, &around.home) {
        let home = dashes(&around.home);
        names.push(format!("-{relative}"));
        if relative.is_empty() {
            names.push("----".into());
            names.push(format!("--{home}--"));
        } else {
            names.push(format!("---{relative}--"));
            names.push(format!("--{home}-{relative}--"));
        }
    }
    if let Some(relative) = inside(&around.temp_real, &around.temp) {
        let tail = if relative.is_empty() { String::new() } else { format!("-{relative}") };
        names.push(format!("-tmp{tail}"));
        names.push(format!("---tmp{tail}--"));
    }
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// The relative path from `root` to `path` when it does not leave the root; empty when they are the same.
fn below(root: &str, path: &str, rules: PathRules) -> Option<String> {
    let split = |text: &str| -> Vec<String> {
        let separators: &[char] = if rules == PathRules::Windows { &['/', '\\'] } else { &['/'] };
        text.split(separators).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let same = |a: &str, b: &str| if rules == PathRules::Windows { a.to_lowercase() == b.to_lowercase() } else { a == b };
    // A root that is not known holds nothing.
    let known = !root.is_empty();
    let (root, path) = (split(root), split(path));
    let inside = known && root.len() <= path.len() && root.iter().zip(&path).all(|(a, b)| same(a, b));
    let separator = if rules == PathRules::Windows { "\\" } else { "/" };
    // A first segment that merely begins with two dots (`..a`) does not leave the root; `..` itself cannot occur here.
    inside.then(|| path.get(root.len()..).unwrap_or_default().join(separator))
}

/// True when a directory of the sessions root is visited as an unknown legacy directory (if it is not a known one).
pub fn is_unknown_candidate(name: &[u8]) -> bool {
    name.starts_with(b"-") && !name.starts_with(b"v2-") && name != b".gjc-managed-session-internal"
}

/// Orders names by UTF-16 code units, as JavaScript's default sort does.
pub fn by_utf16(a: &str, b: &str) -> std::cmp::Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(home: &str, temp: &str) -> Surroundings {
        Surroundings { rules: PathRules::Posix, home: home.into(), home_real: home.into(), temp: temp.into(), temp_real: temp.into() }
    }
    fn names(canonical: &str, lexical: &str) -> Vec<String> {
        known_names(canonical, lexical, &around("/home/ana", "/tmp"))
    }

    #[test]
    fn the_examples_of_the_spec() {
        assert_eq!(names("/work/pi", "/work/pi"), ["--work-pi--"]);
        assert_eq!(
            names("/home/ana/dev/app", "/home/ana/dev/app"),
            ["--home-ana-dev-app--", "-dev-app", "---dev-app--", "---home-ana-dev-app--"]
        );
        assert_eq!(names("/home/ana", "/home/ana"), ["--home-ana--", "-", "----", "---home-ana--"]);
        assert_eq!(names("/tmp/x y", "/tmp/x y"), ["--tmp-x y--", "-tmp-x y", "---tmp-x y--"]);
        assert_eq!(names("/tmp", "/tmp"), ["--tmp--", "-tmp", "---tmp--"]);
        assert_eq!(names("/", "/"), ["----"]);
    }
    #[test]
    fn a_link_in_the_home_directory_counts_as_inside() {
        assert_eq!(
            names("/data/real", "/home/ana/link"),
            ["--data-real--", "--home-ana-link--", "-link", "---link--", "---home-ana-link--"]
        );
    }
    #[test]
    fn macos_private_tmp() {
        assert_eq!(known_names("/private/tmp/x", "/tmp/x", &around("/Users/ana", "/var/folders/T")), ["--private-tmp-x--", "--tmp-x--"]);
    }
    #[test]
    fn an_unknown_home_holds_nothing() {
        assert_eq!(known_names("/home/ana/x", "/home/ana/x", &Surroundings::default()), ["--home-ana-x--"]);
    }
    #[test]
    fn a_sibling_that_shares_a_prefix_is_not_inside() {
        assert_eq!(names("/home/anabel", "/home/anabel"), ["--home-anabel--"]);
    }
    #[test]
    fn a_segment_that_begins_with_dots_stays_inside() {
        assert_eq!(names("/home/ana/..x", "/home/ana/..x").get(1).map(String::as_str), Some("-..x"));
    }
    #[test]
    fn windows_compares_without_case_and_splits_at_both_separators() {
        let around = Surroundings {
            rules: PathRules::Windows,
            home: r"C:\Users\Ana".into(),
            home_real: r"C:\Users\Ana".into(),
            temp: r"C:\T".into(),
            temp_real: r"C:\T".into(),
        };
        assert_eq!(
            known_names(r"c:\users\ana\dev/app", r"c:\users\ana\dev/app", &around),
            ["--c--users-ana-dev-app--", "-dev-app", "---dev-app--", "--C--Users-Ana-dev-app--"]
        );
    }
    #[test]
    fn unknown_directories_begin_with_a_dash() {
        assert!(is_unknown_candidate(b"-x"));
        assert!(is_unknown_candidate(b"--x--"));
        assert!(!is_unknown_candidate(b"v2-x"));
        assert!(!is_unknown_candidate(b"x"));
    }
    #[test]
    fn order_is_by_utf16_units_not_by_characters() {
        // U+1F600 begins with the surrogate D83D, which sorts before U+FF5E.
        assert_eq!(by_utf16("\u{1F600}", "\u{FF5E}"), std::cmp::Ordering::Less);
        assert_eq!("\u{1F600}".cmp("\u{FF5E}"), std::cmp::Ordering::Greater);
    }
}
