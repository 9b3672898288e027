//! What is asked for is looked at before it is taken in: whatever front door it came through.

use windlass_domain::task::{CompactionConfig, ExecutionConfig};
use windlass_engine::{Dispatch, Error, Submission};
use windlass_plan::parse_base_case;

use crate::court::Court;

#[test]
fn settings_that_cannot_work_are_refused_and_nothing_is_taken_in() {
    let court = Court::new(Vec::new());
    let engine = court.process();
    let submit = |compaction| {
        let config = ExecutionConfig { compaction, ..ExecutionConfig::default() };
        court.wait(engine.submit(Submission { config, ..court.submission() }, Dispatch::ToWorkers, None))
    };
    let good = CompactionConfig::default();
    let nonsense = [
        (CompactionConfig { compaction_trigger_ratio: f64::NAN, ..good }, "compaction_trigger_ratio"),
        (CompactionConfig { compaction_trigger_ratio: 7.0, ..good }, "compaction_trigger_ratio"),
        (CompactionConfig { context_window_tokens: Some(0), ..good }, "context_window_tokens"),
        (CompactionConfig { response_reserve_tokens: u64::MAX, ..good }, "response_reserve_tokens"),
        (CompactionConfig { max_summary_tokens: 0, ..good }, "max_summary_tokens"),
        (CompactionConfig { preserve_recent_turns: 0, ..good }, "preserve_recent_turns"),
    ];
    for (compaction, named) in nonsense {
        match submit(compaction) {
            Err(error @ Error::Compaction(_)) => assert!(error.to_string().contains(named), "{error}"),
            taken => panic!("{named}: {taken:?}"),
        }
    }
    assert!(court.wait(engine.tasks(10)).unwrap().is_empty());
    submit(good).unwrap();
}

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ456789";

/// Whatever looks as if it could hold a credential was refused, every address among it.
#[test]
fn a_check_may_name_an_address_and_not_a_credential() {
    let court = Court::new(Vec::new());
    let engine = court.process();
    let submit = |check: &str| {
        let base_case = parse_base_case(check).unwrap();
        court.wait(engine.submit(Submission { base_case, ..court.submission() }, Dispatch::ToWorkers, None))
    };
    let refused = submit(&format!("command: curl -fsS -u me:{TOKEN} http://localhost:8080/health"));
    assert!(matches!(refused, Err(Error::SecretInCheck)), "{refused:?}");
    submit("command: curl -fsS http://localhost:8080/health").unwrap();
}
