//! The rehearsed day: eight hours of a simulated clock with compactions, two agents side by side, a question that is answered hours
//! after everybody has left, and a crash. It ends completed and verified, nothing is done twice, what was said and seen in the first
//! hour is still known in the last, and what it used is counted once.

use std::time::Duration;

use windlass_domain::execution::{ExecutionEvent, ExecutionState, Lifecycle, Purpose};
use windlass_domain::{Message, TaskResult, TaskResultStatus, Usage};
use windlass_simulator::{Fate, History, Plan, Scenario, eight_hours};

use crate::support::{Arena, FEW_SEEDS, assert_good, seeds};

const SEED: u64 = 8;

/// Somebody looks after it every half hour.
fn plan(fates: Vec<(u64, Fate)>) -> Plan {
    let (gap, moment) = (Duration::from_mins(30), Some(Duration::from_mins(10)));
    Plan { fates, gap, moment, ..Plan::clean(SEED) }
}

/// The executions of a history, in the order in which they began, each with its records.
fn executions(history: &History) -> Vec<Vec<(u64, ExecutionEvent)>> {
    let mut streams: Vec<(String, Vec<(u64, ExecutionEvent)>)> = Vec::new();
    for row in history.rows.iter().filter(|row| row.stream.kind() == "execution") {
        let event = ExecutionEvent::decode(&row.kind, row.version, &row.data).expect("a record can be read");
        let (id, record) = (row.stream.id().to_owned(), (row.at.as_millis(), event));
        match streams.iter_mut().find(|(known, _)| *known == id) {
            Some((_, records)) => records.push(record),
            None => streams.push((id, vec![record])),
        }
    }
    streams.into_iter().map(|(_, records)| records).collect()
}

fn folded(records: &[(u64, ExecutionEvent)]) -> ExecutionState {
    let mut state = ExecutionState::default();
    records.iter().for_each(|(at, event)| state.apply(event, windlass_domain::Wall::from_millis(*at)));
    state
}

fn count(records: &[(u64, ExecutionEvent)], kind: &str) -> usize {
    records.iter().filter(|(_, event)| event.kind() == kind).count()
}

fn span(records: &[(u64, ExecutionEvent)]) -> (u64, u64) {
    (records.first().expect("it began").0, records.last().expect("it ended").0)
}

fn result(history: &History) -> TaskResult {
    let row = history.rows.iter().find(|row| row.kind == "task.finished").expect("the task has ended");
    let finished: serde_json::Value = serde_json::from_str(&row.data).expect("a record is JSON");
    serde_json::from_value(finished["result"].clone()).expect("a result can be read")
}

/// What the records of one execution say it used, without folding it: every answer, every try that failed, and of every question
/// that was lost in a crash the asking.
fn used(records: &[(u64, ExecutionEvent)]) -> u64 {
    let (mut used, mut open) = (Usage::default(), None);
    for (_, event) in records {
        match event {
            ExecutionEvent::ModelRequested(request) => open = Some(request.estimated_input),
            ExecutionEvent::ModelResponded(response) => {
                open = None;
                used += response.usage;
                used += response.lost;
            }
            ExecutionEvent::ModelFailed(failed) => {
                open = None;
                used += failed.usage;
            }
            ExecutionEvent::StateChanged(change) if change.to != Lifecycle::Running => {
                used.input += open.take().unwrap_or_default();
            }
            _ => {}
        }
    }
    used.total()
}

fn assert_a_whole_day(history: &History) {
    let result = result(history);
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    let all = executions(history);
    let [parent, alpha, bravo] = all.as_slice() else { panic!("{} executions", all.len()) };
    let (begun, ended) = span(parent);
    assert!(ended - begun >= Duration::from_hours(8).as_millis() as u64, "{} ms", ended - begun);

    let summaries = parent.iter().filter(|(_, event)| {
        matches!(event, ExecutionEvent::ModelResponded(response) if matches!(response.purpose, Purpose::Summary { .. }))
    });
    assert!(summaries.count() >= 3, "each compaction summarised something");
    assert!(count(parent, "compaction.finished") >= 3, "{} compactions", count(parent, "compaction.finished"));
    let (flushing, flushed) = (count(parent, "compaction.flushing"), count(parent, "compaction.flushed"));
    assert!(flushing >= 3 && flushing == flushed, "{flushing} flushes, {flushed} ended");

    let ((alpha_begun, alpha_ended), (bravo_begun, bravo_ended)) = (span(alpha), span(bravo));
    assert!(alpha_begun < bravo_ended && bravo_begun < alpha_ended, "they worked side by side");
    assert_eq!((count(parent, "subagent.spawned"), count(parent, "subagent.finished")), (2, 2));

    let at = |kind: &str| history.rows.iter().find(|row| row.kind == kind).expect(kind).at.as_millis();
    assert!(at("question.answered") - at("question.asked") > Duration::from_hours(2).as_millis() as u64);
    assert!(history.testimony.endings.len() > 2, "whoever asked has left: {:?}", history.testimony.endings.len());

    let state = folded(parent);
    assert_eq!(result.usage.total_tokens, used(parent) + used(alpha) + used(bravo), "everything is counted once");
    assert_known(&state);
}

/// What was said and seen early stands in what the model was last asked, to the letter.
fn assert_known(state: &ExecutionState) {
    let text = |message: &Message| match message {
        Message::User { text, .. } | Message::Assistant { text, .. } => text.clone(),
        Message::Tool(result) => result.content.clone(),
    };
    let conversation: String = state.transcript.iter().map(|message| text(message) + "\n").collect();
    assert!(conversation.len() < 30_000, "it was made short: {} bytes", conversation.len());
    let facts = [
        eight_hours::INSTRUCTION,
        eight_hours::ERROR,
        eight_hours::FILE,
        eight_hours::PLAN,
        eight_hours::ANSWER,
        eight_hours::QUESTION,
        "Do the work.",
    ];
    for fact in facts {
        assert!(conversation.contains(fact), "`{fact}` is forgotten:\n{conversation}");
    }
}

#[test]
fn eight_hours_of_work_end_completed_and_verified_after_a_crash_in_the_middle() {
    let (arena, scenario) = (Arena::new(), Scenario::eight_hours());
    let clean = arena.play(&scenario, &plan(Vec::new()));
    assert_good(&clean, &clean);
    assert_a_whole_day(&clean);
    let crashed = arena.play(&scenario, &plan(vec![(clean.calls / 2, Fate::Dies)]));
    assert_eq!(crashed.burnt.len(), 1, "somebody died");
    assert_good(&crashed, &clean);
    assert_a_whole_day(&crashed);
}

/// Before, while and after the agents work side by side, and while it sleeps on its question; in each compaction, with enough of them.
#[test]
fn eight_hours_of_work_survive_a_crash_at_any_hour() {
    let (arena, scenario) = (Arena::new(), Scenario::eight_hours());
    let clean = arena.play(&scenario, &plan(Vec::new()));
    let crashes = if seeds() > FEW_SEEDS { 300 } else { 9 };
    for crash in 1..=crashes {
        let history = arena.play(&scenario, &plan(vec![(clean.calls * crash / (crashes + 1), Fate::Dies)]));
        assert_eq!(history.burnt.len(), 1, "somebody died");
        assert_good(&history, &clean);
        assert_a_whole_day(&history);
    }
    // The first worker leaves with its question, those that look after it find no answer, and the one that goes on dies again and again.
    let after_the_answer = [(u64::MAX, Fate::Dies)].into_iter().chain([(900, Fate::Dies); 8]);
    let history = arena.play(&scenario, &plan(after_the_answer.collect()));
    assert!(history.burnt.len() > 1, "{:?}", history.burnt);
    assert_good(&history, &clean);
    assert_a_whole_day(&history);
}
