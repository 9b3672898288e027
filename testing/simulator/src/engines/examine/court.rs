//! What every rule looks at: a tenant's records, folded; and which task an effect belongs to.

use std::collections::BTreeMap;

use windlass_domain::approval::{ApprovalEvent, ApprovalState, CardId};
use windlass_domain::execution::{ExecutionEvent, Header};
use windlass_domain::task::{TaskEvent, TaskState};
use windlass_domain::{ExecutionId, QuestionEvent, QuestionState, RequestId, TaskId, Wall};

use crate::engines::history::{EngineHistory, EngineTenantEnd, EngineWhat};
use crate::engines::plan::Job;
use crate::examine::folded::{Execution, Folded};
use crate::ledger::Entry;

pub struct Court<'a> {
    pub history: &'a EngineHistory,
    pub tenants: Vec<Bench<'a>>,
}

/// One tenant.
pub struct Bench<'a> {
    pub end: &'a EngineTenantEnd,
    pub folded: Folded,
    pub unreadable: Vec<String>,
    pub tasks: BTreeMap<TaskId, TaskState>,
    pub approvals: BTreeMap<CardId, Approval>,
    pub questions: BTreeMap<RequestId, QuestionState>,
    /// Whom each execution works for, as the journals of tasks and of parents say it: its scope names who owns it, which may be another.
    works_for: BTreeMap<ExecutionId, TaskId>,
}

#[derive(Default)]
pub struct Approval {
    pub state: ApprovalState,
    pub events: Vec<(Wall, ApprovalEvent)>,
}

impl<'a> Court<'a> {
    pub fn new(history: &'a EngineHistory) -> Self {
        Self { history, tenants: history.tenants.iter().map(Bench::new).collect() }
    }

    pub fn job_of(&self, task: TaskId) -> Option<&'a Job> {
        let job = self.history.records.iter().find_map(|record| match record.what {
            EngineWhat::Submitted { job, task: which } if which == task => Some(job),
            _ => None,
        });
        self.history.plan.job(job?)
    }
}

impl<'a> Bench<'a> {
    fn new(end: &'a EngineTenantEnd) -> Self {
        let (folded, unreadable) = Folded::of(&end.events);
        let (tasks, approvals, questions) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let works_for = BTreeMap::new();
        let mut bench = Self { end, folded, unreadable, tasks, approvals, questions, works_for };
        for row in &end.events {
            let id = row.stream.id();
            if let ("task", Ok(task)) = (row.stream.kind(), id.parse::<TaskId>())
                && let Ok(event) = TaskEvent::decode(&row.kind, row.version, &row.data)
            {
                bench.tasks.entry(task).or_default().apply(&event, row.at);
            }
            if let ("question", Ok(question)) = (row.stream.kind(), id.parse::<RequestId>())
                && let Ok(event) = QuestionEvent::decode(&row.kind, row.version, &row.data)
            {
                bench.questions.entry(question).or_default().apply(&event);
            }
            if let ("approval", Ok(card)) = (row.stream.kind(), id.parse::<CardId>()) {
                match ApprovalEvent::decode(&row.kind, row.version, &row.data) {
                    Ok(event) => {
                        let approval = bench.approvals.entry(card).or_default();
                        approval.state.apply(&event);
                        approval.events.push((row.at, event));
                    }
                    Err(error) => bench.unreadable.push(format!("{} {}: {error}", row.stream, row.seq.0)),
                }
            }
        }
        bench.works_for = bench.who_works_for_whom();
        bench
    }

    /// Attempts first, then those that they began, whose journals come later than their parents'.
    fn who_works_for_whom(&self) -> BTreeMap<ExecutionId, TaskId> {
        let attempts =
            self.tasks.iter().flat_map(|(task, state)| state.attempts.iter().map(|attempt| (attempt, *task)));
        let mut works_for: BTreeMap<_, _> = attempts.map(|(attempt, task)| (attempt.execution_id, task)).collect();
        for execution in &self.folded.executions {
            if let Some(header) = header_of(execution)
                && let Some(task) = header.parent.as_ref().and_then(|parent| works_for.get(&parent.execution_id))
            {
                works_for.insert(header.execution_id, *task);
            }
        }
        works_for
    }

    /// What was done in the task's workspace.
    pub fn ledger(&self, history: &'a EngineHistory, task: TaskId) -> impl Iterator<Item = &'a Entry> {
        let folder = self.tasks[&task].created.as_ref().map(|created| created.workspace.clone()).unwrap_or_default();
        history.ledger.iter().filter(move |entry| entry.folder.as_os_str() == folder.as_str())
    }

    pub fn executions(&self, task: TaskId) -> impl Iterator<Item = &Execution> {
        self.folded.executions.iter().filter(move |execution| {
            let header = header_of(execution);
            header.and_then(|header| self.works_for.get(&header.execution_id)) == Some(&task)
        })
    }

    /// Nothing that was done escapes the rules because no journal says whom it was done for.
    pub fn of_nobody(&self) -> impl Iterator<Item = String> {
        let is_known = |header: &Header| self.works_for.contains_key(&header.execution_id);
        let unknown =
            self.folded.executions.iter().filter(move |execution| !header_of(execution).is_some_and(is_known));
        unknown.map(|execution| format!("{} works for no task", execution.stream))
    }
}

fn header_of(execution: &Execution) -> Option<&Header> {
    execution.events.iter().find_map(|(_, event)| match event {
        ExecutionEvent::Header(header) => Some(header),
        _ => None,
    })
}
