//! A check as people would write it, so that reading it gives the same check. A name that is longer than a reader takes at once came
//! from a checklist, and is written as one.

use windlass_domain::{BaseCase, Check, CheckProbe, DEFAULT_TIMEOUT, Expectation, FileExpectation};

use super::name::{derived, fits};
use crate::emit::Out;

pub(crate) fn written_checks(checks: &BaseCase) -> Out {
    Out::List(checks.0.iter().map(|check| written(check, &check.name)).collect())
}

fn written(check: &Check, name: &str) -> Out {
    match name.split_once(" / ") {
        Some((group, rest)) if !fits(name) => {
            let item = Out::map([("item", Out::text(group)), ("group", Out::List(vec![written(check, rest)]))]);
            Out::map([("checklist", Out::List(vec![item]))])
        }
        _ => Out::Map(fields(check, name)),
    }
}

fn fields(check: &Check, name: &str) -> Vec<(String, Out)> {
    let given = (name != derived(&check.probe)).then(|| ("name", Out::text(name)));
    let timeout = (check.timeout_seconds != DEFAULT_TIMEOUT.as_secs()).then_some(check.timeout_seconds);
    let options = [
        timeout.map(|seconds| ("timeout", Out::word(seconds))),
        check.network.then(|| ("network", Out::word(true))),
        (!check.protect.is_empty()).then(|| ("protect", Out::row(&check.protect))),
    ];
    let fields = given.into_iter().chain(looked_at(&check.probe)).chain(options.into_iter().flatten());
    fields.map(|(name, value)| (name.to_owned(), value)).collect()
}

fn looked_at(probe: &CheckProbe) -> Vec<(&'static str, Out)> {
    let (run, expect) = match probe {
        CheckProbe::Run { run, expect } => (run, expect),
        CheckProbe::File { path, expect } => {
            let path = Out::text(path);
            return match expect {
                FileExpectation::Exists => vec![("file", path)],
                FileExpectation::Absent => vec![("not_file", path)],
                FileExpectation::NotEmpty => vec![("file", path), ("not_empty", Out::word(true))],
            };
        }
    };
    let expected = match expect {
        Expectation::ExitCode(0) => return vec![("command", Out::text(run))],
        Expectation::NonZero => return vec![("not_command", Out::text(run))],
        Expectation::ExitCode(code) => ("exit_code", Out::word(code)),
        Expectation::Equals(text) => ("equals", Out::text(text)),
        Expectation::Contains(text) => ("contains", Out::text(text)),
        Expectation::Regex(pattern) => ("regex", Out::text(pattern)),
        Expectation::OutputLt(limit) => ("output_lt", Out::word(limit)),
        Expectation::OutputGt(limit) => ("output_gt", Out::word(limit)),
        Expectation::FileExists(path) => ("file_exists", Out::text(path)),
        Expectation::NotEmpty => ("not_empty", Out::word(true)),
    };
    vec![("run", Out::text(run)), expected]
}
