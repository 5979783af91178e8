//! JavaScript-exact JSON: what `JSON.parse`, `JSON.stringify` and gjc's lenient JSONL reader do, byte for byte
//! (spec 01 §2.1, §2.2, §8.2).
//!
//! Two forms of a value exist. A [`tape::Node`] borrows the bytes it was scanned from: checks walk it and drop it with
//! its record. A [`value::Value`] owns what JavaScript would hold: replay, migration and the rebuilt context use it.
//! Rules that need only to look are written once, against [`view::View`], which both implement.
//!
//! Nothing here recurses over the depth of its input, and nothing here touches a file.

pub mod coerce;
pub mod jsonl;
pub mod number;
pub mod scan;
pub mod spelling;
pub mod string;
pub mod stringify;
pub mod tape;
pub mod text;
pub mod value;
pub mod view;
pub mod walk;

pub use string::{JsStr, JsString};
pub use tape::{Node, Tape};
pub use value::{Object, Value};
pub use view::{Census, Kind, View};
pub use walk::Walk;
