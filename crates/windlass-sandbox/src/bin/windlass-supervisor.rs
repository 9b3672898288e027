//! The supervisor as a program of its own, for tests and benchmarks. The `windlass` binary has it as a hidden subcommand.

use std::process::ExitCode;

fn main() -> ExitCode {
    windlass_sandbox::supervise()
}
