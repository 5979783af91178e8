//! The bytes a gjc writer stores (spec 01 §8): what it makes of a record, and of a whole transcript.
//!
//! Nothing here touches a file: blobs go through [`super::blobs::BlobStore`], transcripts come and go as bytes.

pub mod base64;
pub mod next_write;
pub mod opened;
pub mod prepare;
pub mod reshape;
pub mod rewrite;
pub mod sanitise;
pub mod settle;
pub mod snapshots;
pub mod tally;

pub use next_write::{FullRewrite, NextWrite, next_write};
pub use opened::{Destination, Opened, Refusal, open_at, open_for_writing};
pub use prepare::{prepare, prepare_counting};
pub use rewrite::rewrite;
pub use sanitise::sanitise;
pub use tally::Tally;
