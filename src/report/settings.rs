//! What a report is asked for.

use super::gate::Told;
use crate::finding::{Code, Mute, Release, Severity};

/// Lowest severity that sets exit bit 4.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FailOn {
    /// Errors only
    #[default]
    Error,
    /// Warnings and errors
    Warning,
    /// Every finding
    Info,
    /// Nothing
    Never,
}

impl FailOn {
    /// True when a finding of this severity sets exit bit 4.
    pub fn reached_by(self, severity: Severity) -> bool {
        match self {
            FailOn::Error => severity >= Severity::Error,
            FailOn::Warning => severity >= Severity::Warning,
            FailOn::Info => true,
            FailOn::Never => false,
        }
    }
}

/// What a report is asked for.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Release of gjc whose behaviour is asked for; codes of other releases are silent.
    pub release: Release,
    /// Lowest severity that sets exit bit 4.
    pub fail_on: FailOn,
    /// Severities that differ from the table's; the last one for a code counts.
    pub overrides: Vec<(&'static Code, Severity)>,
    /// What is known beforehand.
    pub told: Told,
    /// A code that is switched off.
    #[doc(hidden)]
    pub mute: Mute,
}

/// Why a fatal code is not silenced.
pub const FATAL: &str = "what it names could not be read or judged to its end";

/// The severity that `level` asks for a code.
///
/// # Errors
/// There is no such level, or it would lower a fatal code (spec 05 §1).
pub fn severity_of(code: &Code, level: &str) -> Result<Severity, String> {
    let severity = match level {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        "info" => Severity::Info,
        _ => return Err(format!("`{level}` is no level: error, warning or info")),
    };
    if code.fatal && severity < code.severity {
        return Err(format!("`{}` is fatal, its severity cannot be lowered: {FATAL}", code.name));
    }
    Ok(severity)
}

impl Settings {
    /// The severity of a code in this run.
    pub fn severity(&self, code: &Code) -> Severity {
        self.overrides.iter().rev().find(|(other, _)| *other == code).map_or(code.severity, |(_, severity)| *severity)
    }
}
