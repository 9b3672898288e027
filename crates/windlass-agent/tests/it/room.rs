//! A conversation that the model cannot read ends the run before anybody is asked to read it.

use windlass_domain::execution::Outcome;
use windlass_domain::{ErrorCode, Host};

use crate::support::run;

const SCRIPT: &str = "version: 1\ntracks: { default: [{reply: read, usage: {input: 1, output: 1}}] }\n";

#[test]
fn what_does_not_fit_is_not_sent() {
    let (outcome, host) = run(SCRIPT, &"word ".repeat(210_000), Vec::new());
    let Outcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.error_code, ErrorCode::ContextOverflow);
    assert!(error.message.contains("window of 200000") && error.message.contains("the goal "), "{}", error.message);
    assert_eq!((host.state().spent.iterations, host.state().open_request.is_none()), (0, true));
}

#[test]
fn what_just_fits_is_sent() {
    let (outcome, _) = run(SCRIPT, &"word ".repeat(190_000), Vec::new());
    assert_eq!(outcome, Outcome::Completed { message: "read".to_owned() });
}
