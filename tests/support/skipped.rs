//! A test that cannot run on this machine.

/// Says so and why, past the harness, which keeps what a passing test prints to itself.
pub fn skipped(why: &str) {
    use std::io::Write;
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    // Nobody can be told where there is no stderr.
    let _ = std::io::stderr().write_all(format!("SKIPPED {test}: {why}\n").as_bytes());
}
