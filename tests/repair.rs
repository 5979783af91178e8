//! Repair: the copy-retain migration over recorded trees, over every crash and every failing operation, beside other
//! processes; and what it promises of the source, of the result and of itself.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test builds and reads its own trees and tells what it found"
)]

#[allow(dead_code, reason = "other suites use the rest of it")]
#[path = "support/tree.rs"]
mod tree;

#[path = "repair/cases.rs"]
mod cases;
#[path = "repair/commands.rs"]
mod commands;
#[path = "repair/common.rs"]
mod common;
#[path = "repair/crash.rs"]
mod crash;
#[path = "repair/faults.rs"]
mod faults;
#[path = "repair/receipts.rs"]
mod receipts;
#[path = "repair/refusals.rs"]
mod refusals;
#[path = "repair/salvage.rs"]
mod salvage;
#[path = "repair/scenes.rs"]
mod scenes;
#[path = "repair/together.rs"]
mod together;
