//! What is asked for is looked at before it is taken in: whatever front door it came through.

use windlass_domain::task::{CompactionConfig, ExecutionConfig};
use windlass_engine::{Dispatch, Error, Submission};

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
