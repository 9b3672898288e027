//! What a check is called when its writer gave it no name: what it looks at and what it expects, in a few words.

use windlass_domain::{CheckProbe, Expectation, FileExpectation};

const LONGEST_NAME: usize = 80;

pub(crate) fn derived(probe: &CheckProbe) -> String {
    let name = match probe {
        CheckProbe::Run { run, expect } => of_run(run, expect),
        CheckProbe::File { path, expect } => match expect {
            FileExpectation::Exists => format!("{path} exists"),
            FileExpectation::Absent => format!("{path} does not exist"),
            FileExpectation::NotEmpty => format!("{path} is not empty"),
        },
    };
    on_one_line(&name)
}

fn of_run(run: &str, expect: &Expectation) -> String {
    match expect {
        Expectation::ExitCode(0) => run.to_owned(),
        Expectation::ExitCode(code) => format!("{run} exits with {code}"),
        Expectation::NonZero => format!("{run} fails"),
        Expectation::Equals(text) => format!("{run} prints {text:?}"),
        Expectation::Contains(text) => format!("{run} prints … {text:?}"),
        Expectation::Regex(pattern) => format!("{run} prints /{pattern}/"),
        Expectation::OutputLt(limit) => format!("{run} prints less than {limit}"),
        Expectation::OutputGt(limit) => format!("{run} prints more than {limit}"),
        Expectation::FileExists(path) => format!("{run} makes {path}"),
        Expectation::NotEmpty => format!("{run} prints something"),
    }
}

/// White space and control characters become single spaces, and a long text is cut.
pub(crate) fn on_one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST_NAME {
        return line;
    }
    let kept: String = line.chars().take(LONGEST_NAME - 1).collect();
    format!("{kept}…")
}
