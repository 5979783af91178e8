//! What members of records can be: types without values, for the schemas.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

/// Declares markers: a name, what it is, and its schema.
macro_rules! markers {
    ($($(#[$doc:meta])* $name:ident = $schema:tt;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )*};
}

markers! {
    /// Any value; gjc does not look at its type here.
    Anything = {};
    /// A string.
    Text = { "type": "string" };
    /// A string that is not empty.
    SomeText = { "type": "string", "minLength": 1 };
    /// A string, or null.
    TextOrNull = { "type": ["null", "string"] };
    /// A list of strings.
    Texts = { "type": "array", "items": { "type": "string" } };
    /// A string, or a list of blocks.
    TextOrBlocks = { "type": ["array", "string"] };
    /// True or false.
    Flag = { "type": "boolean" };
    /// True.
    True = { "const": true };
    /// A number.
    Number = { "type": "number" };
    /// An object.
    Record = { "type": "object" };
    /// The number 1.
    One = { "const": 1 };
    /// The number 2.
    Two = { "const": 2 };
    /// The number 3.
    Three = { "const": 3 };
    /// A whole number from 0 to 2^53−1.
    Safe = { "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991u64 };
    /// A whole number from 1 to 2^53−1.
    Attempt = { "type": "integer", "minimum": 1, "maximum": 9_007_199_254_740_991u64 };
    /// A process id.
    Pid = { "type": "integer", "minimum": 1, "maximum": 2_147_483_647 };
    /// A scope digest: 52 letters of base 32.
    Digest = { "type": "string", "pattern": "^[a-z2-7]{52}$" };
    /// SHA-256 in lower-case hexadecimal digits.
    Sha256 = { "type": "string", "pattern": "^[0-9a-f]{64}$" };
    /// A UUID in lower-case hexadecimal digits.
    Uuid = { "type": "string", "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" };
    /// A number that is not negative, in canonical decimal.
    Decimal = { "type": "string", "pattern": "^(0|[1-9][0-9]*)$" };
    /// A number in canonical decimal.
    SignedDecimal = { "type": "string", "pattern": "^(0|-?[1-9][0-9]*)$" };
    /// A text that JavaScript's `BigInt` reads.
    BigIntText = { "type": "string", "pattern": "^\\s*(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|[-+]?[0-9]+)?\\s*$" };
    /// The start of a process: `linux:<ticks>`, `darwin:<seconds>:<microseconds>` or `windows:<ticks>`.
    Incarnation = { "type": "string", "pattern": "^(linux:[0-9]+|darwin:(0|[1-9][0-9]*):[0-9]+|windows:(0|[1-9][0-9]*))$" };
    /// A path that stays below where it is relative to: not absolute, without `..`.
    InnerPath = { "type": "string", "not": { "pattern": "^/|(^|[/\\\\])\\.\\.([/\\\\]|$)" }, "$comment": "a relative path without `..`" };
    /// The empty string for the root, or names joined by `/`, none of them empty, `.` or `..`, and no backslash.
    TreePath = { "type": "string", "pattern": "^([^/\\\\]+(/[^/\\\\]+)*)?$", "not": { "pattern": "(^|/)\\.\\.?(/|$)" } };
    /// A line of text.
    Line = { "type": "string", "pattern": "^[^\\n]+$" };
}
