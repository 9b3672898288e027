//! How a plan stands, item by item: what is done, who works, and what the others wait for.

use serde::Serialize;
use windlass_domain::graph::{AtomOutcome, AtomProgress, GraphState, PlanStanding, Standing};
use windlass_domain::plan::{AtomId, Item, Plan};
use windlass_domain::{TaskId, Usd};

use super::standing::standing_of_part;
use crate::show::{Line, Style, counted};
use crate::stands::Stands;
use crate::wiring::Windlass;

/// One item that somebody works on, has worked on or will.
#[derive(Debug, Serialize)]
pub struct Row {
    pub id: AtomId,
    pub title: String,
    pub state: &'static str,
    /// The items and groups of choices that it waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_on: Vec<AtomId>,
    pub attempts: u32,
    pub tokens: u64,
    pub cost_usd: Usd,
    /// The task that works on it, or did so last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
}

/// Of a task that stands so.
pub async fn rows(windlass: &Windlass, graph: &GraphState, whole: Stands) -> anyhow::Result<Vec<Row>> {
    let Some(Plan(root)) = &graph.plan else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    for (item, needs) in with_needs(root, Vec::new()) {
        rows.push(row(windlass, graph, (item, &needs), whole).await?);
    }
    Ok(rows)
}

/// Those that somebody works on, in the order of the document, each with all that must be done before it.
fn with_needs(item: &Item, needs: Vec<AtomId>) -> Vec<(&Item, Vec<AtomId>)> {
    let needs: Vec<AtomId> = needs.into_iter().chain(item.depends_on.iter().cloned()).collect();
    match item.tasks.is_empty() {
        true => vec![(item, needs)],
        false => item.tasks.iter().flat_map(|part| with_needs(part, needs.clone())).collect(),
    }
}

async fn row(
    windlass: &Windlass,
    graph: &GraphState,
    (item, needs): (&Item, &[AtomId]),
    whole: Stands,
) -> anyhow::Result<Row> {
    let progress = graph.progress(&item.id);
    let (mut attempts, usage, mut cost_usd) = progress.map(AtomProgress::used).unwrap_or_default();
    let mut tokens = usage.total_tokens;
    let running = progress.and_then(AtomProgress::running);
    let standing = graph.work.find(&item.id).map(|node| node.standing);
    let blocked_on: Vec<AtomId> = needs.iter().filter(|need| !is_done(graph, need)).cloned().collect();
    let state = match running {
        Some(task) => {
            let state = windlass.engine.task(task).await?;
            let (usage, cost) = state.used();
            attempts += u32::try_from(state.attempts.len()).unwrap_or(u32::MAX);
            tokens += usage.total_tokens;
            cost_usd = cost_usd.plus(cost);
            match standing_of_part(windlass, task, whole).await? {
                Stands::Waiting(_) | Stands::Answered => "waits for you",
                Stands::Running if state.open_consult().is_some() => "asks the planner",
                stands => stands.word(),
            }
        }
        None if matches!(standing, Some(Standing::Probing(_))) => "looked at",
        None if standing == Some(Standing::Dropped) && has_failed(progress) => "failed",
        None if standing == Some(Standing::Dropped) => "given up",
        None if progress.is_some_and(|progress| progress.binding().is_some()) => "done",
        None if progress.is_some_and(|progress| progress.failure().is_some()) => "failed",
        None if item.any_of.as_ref().is_some_and(|group| is_done(graph, group)) => "not needed",
        None if graph.standing == PlanStanding::Approved && !blocked_on.is_empty() => "blocked",
        None => "waiting",
    };
    let task_id = progress.and_then(|progress| progress.runs.last()).map(|run| run.task);
    let (id, title) = (item.id.clone(), item.title.clone());
    let blocked_on = if state == "blocked" { blocked_on } else { Vec::new() };
    Ok(Row { id, title, state, blocked_on, attempts, tokens, cost_usd, task_id })
}

/// Its last run, though that does not count any more.
fn has_failed(progress: Option<&AtomProgress>) -> bool {
    let ended = progress.and_then(|progress| progress.runs.last()?.ended.as_ref());
    ended.is_some_and(|ended| matches!(ended.outcome, AtomOutcome::Failed(_)) && !ended.outcome.is_called_off())
}

/// An item, or one of a group of choices.
fn is_done(graph: &GraphState, name: &AtomId) -> bool {
    let is_meant = |item: &&Item| item.id == *name || item.any_of.as_ref() == Some(name);
    graph.items().into_iter().filter(is_meant).any(|item| graph.is_resolved(item))
}

pub fn table(rows: &[Row]) -> Vec<Line> {
    let width = |of: fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or_default();
    let (ids, states) = (width(|row| row.id.as_str().chars().count()), width(|row| in_words(row).chars().count()));
    let line = |row: &Row| {
        let style = match row.state {
            "done" => Style::Good,
            "failed" => Style::Bad,
            "running" => Style::Accent,
            "waits for you" | "asks the planner" | "paused" | "stopped" | "interrupted" | "looked at" => Style::Warn,
            _ => Style::Dim,
        };
        let spent = match row.attempts {
            0 => String::new(),
            attempts => {
                let tokens = counted(row.tokens, "token");
                format!("  {} · {tokens} · {}", counted(attempts.into(), "attempt"), row.cost_usd)
            }
        };
        Line::new()
            .plain(format!("  {:<ids$}  ", row.id.as_str()))
            .add(style, format!("{:<states$}", in_words(row)))
            .plain("  ")
            .giving_way(Style::Plain, &row.title)
            .dim(spent)
    };
    rows.iter().map(line).collect()
}

fn in_words(row: &Row) -> String {
    let names: Vec<&str> = row.blocked_on.iter().map(AtomId::as_str).collect();
    if names.is_empty() { row.state.to_owned() } else { format!("blocked on {}", names.join(", ")) }
}
