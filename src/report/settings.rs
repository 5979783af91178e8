//! What a report is asked for.

use crate::finding::{Code, Release, Severity};

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
}

impl Settings {
    /// The severity of a code in this run.
    pub fn severity(&self, code: &Code) -> Severity {
        self.overrides.iter().rev().find(|(other, _)| *other == code).map_or(code.severity, |(_, severity)| *severity)
    }
}
