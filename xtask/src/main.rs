//! `cargo run -p xtask -- tidy`: prints every finding as `path:line: message [rule]`, which editors can follow, and exits 1
//! when there is one. Wrong use exits 2.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is the program that talks to the terminal")]

use std::process::ExitCode;

use anyhow::Result;
use xtask::{Tree, exceptions, tidy};

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => report(&Tree::of_this_repository()?),
        _ => {
            eprintln!("usage: cargo run -p xtask -- tidy");
            Ok(ExitCode::from(2))
        }
    }
}

fn report(tree: &Tree) -> Result<ExitCode> {
    let findings = tidy(tree, exceptions::GRANTED);
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(ExitCode::SUCCESS),
        count => {
            eprintln!("tidy: {count} to mend; CONTRIBUTING.md says what each rule is for");
            Ok(ExitCode::FAILURE)
        }
    }
}
