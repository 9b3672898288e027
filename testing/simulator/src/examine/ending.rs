//! The task ends, once, and as it would have ended without any misfortune.

use windlass_domain::TaskResult;
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::TaskEvent;

use super::folded::Folded;
use crate::history::{CameTo, History};
use crate::scenario::Ends;
use crate::witness::Ending;

pub fn examine(history: &History, folded: &Folded, clean: &Folded) -> Vec<String> {
    let mut complaints = Vec::new();
    if history.came_to != CameTo::AnEnd {
        complaints.push(format!("it came to {:?}", history.came_to));
    }
    if folded.tasks.len() != 1 {
        complaints.push(format!("there are {} tasks", folded.tasks.len()));
    }
    let is_finished = |event: &TaskEvent| matches!(event, TaskEvent::Finished(_));
    let finishes = folded.task_events.iter().filter(|(_, event)| is_finished(event)).count();
    let ends_with_it = folded.task_events.last().is_some_and(|(_, event)| is_finished(event));
    if finishes != 1 || !ends_with_it {
        complaints.push(format!("the task finished {finishes} times, as its last record: {ends_with_it}"));
    }
    let (Some(result), Some(clean_result)) = (folded.result(), clean.result()) else { return complaints };
    complaints.extend(told_otherwise(history, result));
    complaints.extend(match history.scenario.ends {
        Ends::Alike => differences(folded, result, clean, clean_result),
        Ends::WithTheSameStatus => differs("status", result.status, clean_result.status),
        Ends::Either(one, other) => {
            let allowed = result.status == one || result.status == other;
            (!allowed).then(|| format!("the task ended {:?}", result.status)).into_iter().collect()
        }
    });
    complaints
}

/// Every process that saw the end saw the same.
fn told_otherwise(history: &History, result: &TaskResult) -> Vec<String> {
    let endings = history.testimony.endings.iter();
    let otherwise = endings.filter_map(|(process, ending)| match ending {
        Ending::Finished(told) if told != result => Some(format!("process {} was told another result", process.0)),
        Ending::Broken(error) => Some(format!("process {} broke: {error}", process.0)),
        Ending::Finished(_) | Ending::Paused(_) | Ending::LeaseLost => None,
    });
    otherwise.collect()
}

fn differences(folded: &Folded, result: &TaskResult, clean: &Folded, clean_result: &TaskResult) -> Vec<String> {
    let checks =
        |result: &TaskResult| result.checks.iter().map(|check| (check.name.clone(), check.passed)).collect::<Vec<_>>();
    let delivered = |result: &TaskResult| {
        result.deliverables.iter().map(|deliverable| deliverable.filepath.clone()).collect::<Vec<_>>()
    };
    let code = |result: &TaskResult| result.error_details.as_ref().map(|error| error.error_code);
    let mut complaints = differs("status", result.status, clean_result.status);
    complaints.extend(differs("verified", result.verified, clean_result.verified));
    complaints.extend(differs("final message", &result.final_message, &clean_result.final_message));
    complaints.extend(differs("error", code(result), code(clean_result)));
    complaints.extend(differs("checks", checks(result), checks(clean_result)));
    complaints.extend(differs("deliverables", delivered(result), delivered(clean_result)));
    complaints.extend(differs("attempts", folded.executions.len(), clean.executions.len()));
    complaints.extend(differs("tool calls", result.usage.tool_calls, clean_result.usage.tool_calls));
    complaints.extend(differs("answers", answers(folded), answers(clean)));
    complaints
}

fn answers(folded: &Folded) -> usize {
    let events = folded.executions.iter().flat_map(|execution| &execution.events);
    let is_turn = |event: &ExecutionEvent| matches!(event, ExecutionEvent::ModelResponded(response) if response.purpose.is_turn());
    events.filter(|(_, event)| is_turn(event)).count()
}

fn differs<T: PartialEq + std::fmt::Debug>(what: &str, found: T, clean: T) -> Vec<String> {
    (found != clean).then(|| format!("{what}: {found:?}, without misfortune {clean:?}")).into_iter().collect()
}
