//! The header record: which versions are accepted, and what patches and stars ask of it (spec 01 §2.2, §3.1).

use super::throw::Throw;
use crate::json::{View, coerce};

/// The version that writers write and everything is migrated to.
pub const CURRENT_VERSION: f64 = 5.0;

/// The version that a header claims: absent, or the accepted number.
///
/// # Errors
/// [`Throw::UnsupportedVersion`] when `version` is present and no integral number of at most 5; a `TypeError` when
/// JavaScript cannot even print it.
pub fn version<'v, V: View<'v>>(header: V) -> Result<Option<f64>, Throw> {
    let Some(version) = header.get("version") else { return Ok(None) };
    match version.as_f64() {
        Some(number) if number.fract() == 0.0 && number <= CURRENT_VERSION => Ok(Some(number)),
        _ => Err(coerce::to_text(version).map_or(Throw::NO_PRIMITIVE, Throw::UnsupportedVersion)),
    }
}

/// True when star patches take effect on this header: `starredPatchVersion` is the number 1 (0.17).
pub fn star_capable<'v, V: View<'v>>(header: V) -> bool {
    header.get("starredPatchVersion").and_then(View::as_f64) == Some(1.0)
}

#[cfg(test)]
mod tests {
    use crate::json::Value;

    fn version_of(version: &str) -> Result<Option<f64>, String> {
        let header = Value::parse(format!(r#"{{"version":{version}}}"#).as_bytes()).unwrap();
        super::version(&header).map_err(|throw| throw.to_string())
    }

    #[test]
    fn whole_numbers_up_to_five_are_accepted() {
        for text in ["5", "5.0", "5e0", "4.9999999999999999999", "0", "-1", "-0", "-1e300"] {
            assert!(version_of(text).is_ok(), "{text}");
        }
        assert_eq!(super::version(&Value::parse(b"{}").unwrap()), Ok(None));
    }

    #[test]
    fn a_refused_version_is_named_as_javascript_prints_it() {
        for (text, shown) in [
            ("6", "6"),
            ("5.5", "5.5"),
            ("\"5\"", "5"),
            ("null", "null"),
            ("true", "true"),
            ("[5]", "5"),
            ("[4,[null,\"x\"],{}]", "4,,x,[object Object]"),
            ("{}", "[object Object]"),
            ("1e400", "Infinity"),
            ("-1e400", "-Infinity"),
        ] {
            assert_eq!(version_of(text), Err(format!("Unsupported session version: {shown}")), "{text}");
        }
    }
}
