//! `{passed, evidence, failures}` (seed 004 §7.4): what verification says of a piece of work, made of what the checks saw and of nothing
//! else. It is what is kept, what people are shown, and what the next attempt is told.

use serde::{Deserialize, Serialize};

use crate::check::CheckResult;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VerifierReport {
    pub passed: bool,
    /// What was seen, a sentence for each check that was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Why it is not good enough, each with the end of what the check said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
}

impl VerifierReport {
    /// Of the work that these checks were made on, or that was not taken for these reasons.
    pub fn of(results: &[CheckResult], conflicts: &[String]) -> Self {
        let refused = conflicts.iter().map(|conflict| format!("its work was not taken: {conflict}"));
        let failed = results.iter().filter(|result| !result.passed).map(failure);
        let failures: Vec<String> = refused.chain(failed).collect();
        Self { passed: failures.is_empty(), evidence: results.iter().map(seen).collect(), failures }
    }
}

fn seen(result: &CheckResult) -> String {
    let CheckResult { name, reason, tampered, .. } = result;
    let put_back =
        if tampered.is_empty() { String::new() } else { format!("; put back first: {}", tampered.join(", ")) };
    format!("{name}: {reason}{put_back}")
}

fn failure(result: &CheckResult) -> String {
    let CheckResult { name, reason, output, .. } = result;
    let output = output.trim();
    let said = if output.is_empty() { String::new() } else { format!("\n{output}") };
    format!("the check `{name}` failed: {reason}{said}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &str, passed: bool, output: &str) -> CheckResult {
        CheckResult {
            name: name.to_owned(),
            passed,
            reason: if passed { "it exits with 0" } else { "it exits with 1" }.to_owned(),
            exit_code: None,
            output: output.to_owned(),
            full_output: None,
            tampered: Vec::new(),
        }
    }

    #[test]
    fn it_says_what_was_seen_and_what_failed() {
        let all = VerifierReport::of(&[result("builds", true, "cc a.c"), result("tests", false, "1 failed\n")], &[]);
        assert_eq!(all.evidence, ["builds: it exits with 0", "tests: it exits with 1"]);
        assert_eq!(all.failures, ["the check `tests` failed: it exits with 1\n1 failed"]);
        assert!(!all.passed);
        let good = VerifierReport::of(&[result("builds", true, "cc a.c")], &[]);
        assert!(good.passed && good.failures.is_empty());
    }

    #[test]
    fn work_that_is_not_taken_has_not_passed_whatever_was_checked() {
        let refused = VerifierReport::of(&[], &["a.txt was changed by others".to_owned()]);
        assert_eq!((refused.passed, refused.evidence.len()), (false, 0));
        assert_eq!(refused.failures, ["its work was not taken: a.txt was changed by others"]);
    }

    #[test]
    fn what_was_put_back_is_said() {
        let tampered = CheckResult { tampered: vec!["tests/a".to_owned()], ..result("tests", true, "") };
        assert_eq!(VerifierReport::of(&[tampered], &[]).evidence, ["tests: it exits with 0; put back first: tests/a"]);
    }
}
