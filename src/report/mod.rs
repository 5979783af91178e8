//! The report: release filter, severity overrides, order, counts, exit bits, fingerprints, gauges, verdicts. It decides; the
//! renderers only show.

pub mod reference;
pub mod settings;
pub mod status;
