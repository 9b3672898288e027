//! Checks that pass whatever was done. They make an unfinished task look finished, so they are refused with the reason.
//! Only what can be told from the text is found here; a test suite without tests still passes.

use windlass_domain::{CheckProbe, Expectation};

use super::judge::{self, Ran, RunEnd};
use super::pattern;
use super::shell::{Foregone, Unclosed, foregone};

/// Why a check whose expectation is sound should still not be accepted, if so.
pub(crate) fn of_probe(probe: &CheckProbe) -> Option<String> {
    // A path may be there already, or never have been; but a run can change either.
    let CheckProbe::Run { run, expect } = probe else {
        return None;
    };
    if run.trim().is_empty() {
        return Some("the command is empty; say what to run".to_owned());
    }
    match foregone(run) {
        Ok(foregone) => of_foregone(run, &foregone, expect),
        Err(Unclosed(quote)) => Some(format!(
            "the command has a {quote} that is never closed; if it holds ` #` or `: `, put the whole command in quotes"
        )),
    }
}

/// Why an expectation should not be accepted of any command, if so.
pub(crate) fn of_expectation(expect: &Expectation) -> Option<String> {
    match expect {
        Expectation::Contains(text) if text.is_empty() => {
            Some("every output contains empty text, so this cannot fail; say what must be there".to_owned())
        }
        Expectation::Regex(regex) => match pattern::compile(regex) {
            Err(why) => Some(format!("the regex cannot be used: {why}")),
            Ok(compiled) => pattern::matches_everything(&compiled)
                .then(|| format!("/{regex}/ matches every output, so this cannot fail; say what must be there")),
        },
        _ => None,
    }
}

fn of_foregone(run: &str, foregone: &Foregone, expect: &Expectation) -> Option<String> {
    let about_exit = matches!(expect, Expectation::ExitCode(_) | Expectation::NonZero);
    let (exit, stdout) = match (about_exit, foregone) {
        (true, Foregone { exit: Some(exit), .. }) => (*exit, ""),
        (false, Foregone { output: Some(output), .. }) => (0, output.as_str()),
        _ => return None,
    };
    let ran = Ran { end: RunEnd::Exited(exit), stdout, cut: false };
    let why = if about_exit { format!("exits with {exit}") } else { format!("prints {stdout:?}") };
    judge::of_run(run, expect, &ran, None)
        .is_ok()
        .then(|| format!("this command always {why}, so the check cannot fail; run something that depends on the work"))
}
