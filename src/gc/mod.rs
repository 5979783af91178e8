//! Retirement receipts: names, codec, owner locator and evidence, journal replay, quotas and budgets (spec 03).
