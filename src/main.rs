//! Parse, run, exit; nothing else.

fn main() -> std::process::ExitCode {
    gjc_fsck::cli::main()
}
