//! The program inside the sandboxes of this crate's tests. An example, because cargo builds those for the tests and does
//! not build another crate's binaries.

use std::process::ExitCode;

fn main() -> ExitCode {
    windlass_sandbox::supervise()
}
