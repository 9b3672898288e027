//! A program told which PostgreSQL it keeps its tasks in.

use crate::support::Program;

const URL: &str = "WINDLASS_STORE_URL";

pub fn on(url: &str, program: Program) -> Program {
    program.env(URL, url)
}
