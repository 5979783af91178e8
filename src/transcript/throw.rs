//! What gjc's JavaScript would throw, as a value. Its text is gjc's own where gjc wrote one, else the engine's.

use crate::json::JsString;

/// An exception of gjc, or of the engine it runs on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Throw {
    /// `Error`: the first header's `version` is not acceptable; holds `String(version)`.
    #[error("Unsupported session version: {0}")]
    UnsupportedVersion(JsString),
    /// `TypeError`: the engine's wording.
    #[error("{0}")]
    Type(&'static str),
    /// `InvalidModelProfileOwnershipError` (0.17): an ownership entry on the path is invalid; the text is its `code`.
    #[error("model_profile_ownership_invalid")]
    OwnershipInvalid,
    /// `RangeError`: more arguments, or deeper recursion, than the engine's stack holds.
    #[error("Maximum call stack size exceeded.")]
    Range,
}

impl Throw {
    /// JavaScript cannot turn an object into text.
    pub const NO_PRIMITIVE: Throw = Throw::Type("No default value");

    /// The name of the error's class.
    pub const fn class(&self) -> &'static str {
        match self {
            Throw::UnsupportedVersion(_) => "Error",
            Throw::Type(_) => "TypeError",
            Throw::OwnershipInvalid => "InvalidModelProfileOwnershipError",
            Throw::Range => "RangeError",
        }
    }
}
