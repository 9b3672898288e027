//! What a worker says of its atom, once it has said its last word: a report, whose files are there, or prose. Of prose the checks
//! decide; where there are none, nothing says that anything was done. A worker that says that it did not succeed has failed,
//! unless the checks know better.

use windlass_domain::execution::{Asked, Launch, Outcome};
use windlass_domain::role_output::{WorkerReport, beginning, read_worker_report};
use windlass_domain::{BaseCase, ErrorCode, ErrorDetails, Host as _, Message, Role};
use windlass_plan::FileSeen;

use super::driver::Driver;
use super::verify::look;
use crate::Error;
use crate::host::ExecutionHost;

/// A report, or what is wrong with it.
pub(super) type WorkerSaid = Result<WorkerReport, String>;

impl Driver {
    /// What a worker's last word comes to; `None` where it is no worker's, or none.
    pub(super) async fn worker_said(&self, launch: &Launch, outcome: &Outcome) -> Result<Option<WorkerSaid>, Error> {
        let (Asked::Atom, Outcome::Completed { message }) = (launch.asked, outcome) else { return Ok(None) };
        // It has decided that it is done, in the form that it is held to.
        if launch.role == Role::Tactician {
            return Ok(Some(Ok(WorkerReport::done(message))));
        }
        Ok(Some(match read_worker_report(message) {
            Ok(report) => self.with_its_files(report).await?,
            Err(problem) => Err(problem),
        }))
    }

    async fn with_its_files(&self, report: WorkerReport) -> Result<WorkerSaid, Error> {
        let folder = self.folder().map_err(|error| self.broken(error.message))?;
        let paths = report.artifacts.clone();
        let is_missing = move |path: &String| matches!(look(&folder, path), FileSeen::Absent | FileSeen::Foreign);
        let missing = move || paths.into_iter().filter(is_missing).collect::<Vec<_>>();
        let missing = self.engine.shared.blocking(missing).await;
        Ok(if missing.is_empty() { Ok(report) } else { Err(not_there(&missing)) })
    }

    /// What a worker had said before it was asked for a report, where nothing comes of that: it loses nothing by having been asked.
    pub(super) fn as_before_the_repair(&self, host: &ExecutionHost, launch: &Launch, outcome: Outcome) -> Outcome {
        let Outcome::Failed(error) = &outcome else { return outcome };
        let state = host.state();
        if launch.asked != Asked::Atom || state.repairs == 0 || !leaves_the_work_as_it_is(error) {
            return outcome;
        }
        let words = |message: &Message| match message {
            Message::Assistant { text, calls, .. } if calls.is_empty() => Some(text.clone()),
            _ => None,
        };
        let said = state.transcript.iter().rev().find_map(|message| words(message));
        said.map_or(outcome, |message| Outcome::Completed { message })
    }
}

/// Nobody answered, or there was nothing left to ask with. What a gate or a person forbade stays forbidden.
const fn leaves_the_work_as_it_is(error: &ErrorDetails) -> bool {
    matches!(
        error.error_code,
        ErrorCode::AnswerIncomplete
            | ErrorCode::BudgetExceeded
            | ErrorCode::ContextOverflow
            | ErrorCode::MaxIterationsExceeded
            | ErrorCode::ModelRejected
            | ErrorCode::Timeout
    )
}

fn not_there(missing: &[String]) -> String {
    let named: Vec<String> = missing.iter().map(|path| format!("`{path}`")).collect();
    format!("`artifacts` names what is not in the workspace: {}; name files that are there, or none", named.join(", "))
}

/// How the run of a worker ends, once nobody is asked again, and what is kept of its report.
pub(super) fn reported(
    outcome: Outcome,
    said: Option<WorkerSaid>,
    BaseCase(checks): &BaseCase,
) -> (Outcome, Option<WorkerReport>) {
    match (said, &outcome) {
        (Some(Ok(report)), _) if report.success => {
            (Outcome::Completed { message: report.bindings_delta.clone() }, Some(report))
        }
        (Some(Ok(report)), _) => {
            let message = format!("the worker says that it did not succeed: {}", report.bindings_delta);
            (Outcome::Failed(ErrorDetails::new(ErrorCode::Stuck, message)), Some(report))
        }
        (Some(Err(problem)), Outcome::Completed { message }) if checks.is_empty() => {
            let message = format!(
                "nothing is checked here, and the worker's last word is no report ({problem}); it said: {}",
                beginning(message)
            );
            (Outcome::Failed(ErrorDetails::new(ErrorCode::AnswerIncomplete, message)), None)
        }
        (Some(Err(_)) | None, _) => (outcome, None),
    }
}

#[cfg(test)]
mod tests {
    use windlass_domain::{Check, CheckProbe, FileExpectation};

    use super::*;

    fn checks(number: usize) -> BaseCase {
        let check = Check {
            name: "a".to_owned(),
            probe: CheckProbe::File { path: "a".to_owned(), expect: FileExpectation::Exists },
            timeout_seconds: 1,
            network: false,
            protect: Vec::new(),
        };
        BaseCase(vec![check; number])
    }

    fn says(message: &str) -> Outcome {
        Outcome::Completed { message: message.to_owned() }
    }

    /// How it ends, in a word, and whether a report is kept.
    fn check(said: Option<WorkerSaid>, number: usize) -> (String, bool) {
        let (outcome, report) = reported(says("prose"), said, &checks(number));
        let ended = match outcome {
            Outcome::Completed { message } => message,
            Outcome::Failed(error) => format!("{:?}: {}", error.error_code, error.message),
            other => format!("{other:?}"),
        };
        (ended, report.is_some())
    }

    #[test]
    fn a_report_decides_and_of_prose_the_checks_do() {
        let report = |success| Some(Ok(WorkerReport { success, ..WorkerReport::done("in short") }));
        for number in [0, 1] {
            assert_eq!(check(report(true), number), ("in short".to_owned(), true));
            let failed = "Stuck: the worker says that it did not succeed: in short";
            assert_eq!(check(report(false), number), (failed.to_owned(), true));
            assert_eq!(check(None, number), ("prose".to_owned(), false), "nobody asked for one");
        }
        let unread = || Some(Err("no object".to_owned()));
        assert_eq!(check(unread(), 1), ("prose".to_owned(), false));
        let (ended, _) = check(unread(), 0);
        assert!(
            ended.starts_with("AnswerIncomplete: nothing is checked here") && ended.ends_with("it said: prose"),
            "{ended}"
        );
    }

    #[test]
    fn whoever_was_stopped_has_reported_nothing() {
        let stopped = Outcome::Failed(ErrorDetails::new(ErrorCode::GateBlocked, "no"));
        assert_eq!(reported(stopped.clone(), None, &checks(0)), (stopped, None));
        let forbidden = [ErrorCode::GateBlocked, ErrorCode::ApprovalDenied, ErrorCode::Cancelled, ErrorCode::Internal];
        assert!(!forbidden.into_iter().any(|code| leaves_the_work_as_it_is(&ErrorDetails::new(code, ""))));
        assert!(leaves_the_work_as_it_is(&ErrorDetails::new(ErrorCode::BudgetExceeded, "")));
    }
}
