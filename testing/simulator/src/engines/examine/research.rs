//! What planners have looked into: few questions at a time and in all, each looked into by one task, and what came of it, be it
//! that it is too late, reaches the planner once.

use std::collections::BTreeSet;

use windlass_domain::TaskId;
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::research::ResearchLimits;
use windlass_domain::task::{Part, TaskEvent, TaskState};

use super::court::{Bench, Court};

/// How an answer begins, and how the word that there is none does.
const TOLD: &str = "What you had looked into";

pub fn check(court: &Court<'_>) -> Vec<String> {
    let planners =
        court.tenants.iter().flat_map(|bench| bench.tasks.iter().map(move |(task, state)| (bench, task, state)));
    planners.flat_map(|(bench, task, state)| of_planner(bench, *task, state)).collect()
}

fn of_planner(bench: &Bench<'_>, planner: TaskId, state: &TaskState) -> Vec<String> {
    let mut complaints = too_many(bench, planner, state);
    for inquiry in &state.inquiries {
        let (run, question) = (inquiry.run, &inquiry.question.task);
        let looks = |state: &TaskState| {
            let part_of = state.created.as_ref().and_then(|created| created.part_of.as_ref());
            part_of.is_some_and(|of| of.task == planner && of.part == Part::Research { key: inquiry.key })
        };
        if !bench.tasks.get(&run).is_some_and(looks) {
            complaints.push(format!("task {run} does not look into what planner {planner} asked"));
        }
        let (closed, told) = (closings(bench, planner, run), tellings(bench, planner, question));
        if closed > 1 {
            complaints.push(format!("question {run} of planner {planner} was closed {closed} times"));
        }
        if told != closed {
            complaints
                .push(format!("what came of question {run}, closed {closed} times, reached its planner {told} times"));
        }
    }
    complaints
}

fn events<'a>(bench: &'a Bench<'_>, task: TaskId) -> impl Iterator<Item = TaskEvent> + 'a {
    let id = task.to_string();
    let rows = bench.end.events.iter().filter(move |row| row.stream.kind() == "task" && row.stream.id() == id);
    rows.filter_map(|row| TaskEvent::decode(&row.kind, row.version, &row.data).ok())
}

fn too_many(bench: &Bench<'_>, planner: TaskId, state: &TaskState) -> Vec<String> {
    let limits = ResearchLimits::default();
    let (mut open, mut most) = (BTreeSet::new(), 0);
    for event in events(bench, planner) {
        match event {
            TaskEvent::ResearchAsked(asked) => drop(open.insert(asked.run)),
            TaskEvent::ResearchAnswered(answered) => drop(open.remove(&answered.run)),
            TaskEvent::ResearchTimedOut(late) => drop(open.remove(&late.run)),
            _ => {}
        }
        most = most.max(open.len());
    }
    let asked = state.inquiries.len();
    let is_too_many = most > limits.in_flight || asked > limits.rounds as usize;
    is_too_many.then(|| format!("planner {planner} asked {asked} questions, {most} at a time")).into_iter().collect()
}

fn closings(bench: &Bench<'_>, planner: TaskId, run: TaskId) -> usize {
    let closes = |event: &TaskEvent| match event {
        TaskEvent::ResearchAnswered(answered) => answered.run == run,
        TaskEvent::ResearchTimedOut(late) => late.run == run,
        _ => false,
    };
    events(bench, planner).filter(closes).count()
}

/// Heard, or still lying there because the planner ended first.
fn tellings(bench: &Bench<'_>, planner: TaskId, question: &str) -> usize {
    let heard = bench.executions(planner).flat_map(|execution| &execution.events).filter(|(_, event)| {
        matches!(event, ExecutionEvent::InjectionReceived(received)
            if received.injection.content.starts_with(TOLD) && received.injection.content.contains(question))
    });
    let mailbox = bench.end.tasks.iter().filter(|end| end.task == planner).flat_map(|end| &end.mailbox);
    heard.count() + mailbox.filter(|message| message.data.contains(TOLD) && message.data.contains(question)).count()
}
