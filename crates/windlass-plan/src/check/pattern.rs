//! The regular expressions of checks: compiled with limits, so that no pattern can cost much, and asked whether there is
//! any output they would not match.

use regex::{Error, Regex, RegexBuilder};

const LONGEST_PATTERN: usize = 1_000;
const COMPILED_BYTES: usize = 1 << 20;
const NESTING: u32 = 50;

/// The pattern, or why it cannot be used.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.chars().count() > LONGEST_PATTERN {
        return Err(format!("it is longer than {LONGEST_PATTERN} characters"));
    }
    let built = RegexBuilder::new(pattern).size_limit(COMPILED_BYTES).nest_limit(NESTING).build();
    built.map_err(|error| match error {
        Error::CompiledTooBig(_) => "it needs too much memory; use smaller repetitions".to_owned(),
        // The library draws the pattern over several lines and explains in the last.
        error => error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned(),
    })
}

/// Whether a pattern matches every output. Outputs that differ as much as outputs can stand for all of them: a
/// pattern that accepts these by accident would be a strange one.
pub(crate) fn matches_everything(pattern: &Regex) -> bool {
    let printable: String = (' '..='~').collect();
    let samples = [
        "",
        "0",
        "x",
        "_",
        "é 漢 α 🙂",
        "error: test failed\n\nFAILED\t1 of 2",
        "\u{0}\u{1b}\u{7f}",
        "\\",
        "-1",
        &printable,
    ];
    samples.iter().all(|sample| pattern.is_match(sample))
}
