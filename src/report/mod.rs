//! The report: severity overrides, limits, order, counts, verdicts, gauges, fingerprints. Never prints.
