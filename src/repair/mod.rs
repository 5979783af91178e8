//! Repair, and only by the documented copy-retain migration: plan, apply, proof (spec 02 §6).
