//! The command line: one file per command, thin. The only room that prints and that reads the environment.

/// Parses the arguments, runs the command, and answers its exit status (design §5).
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
