//! `windlass status [TASK]`: what there is, newest first; or one task in full.

use std::path::Path;

use serde_json::json;
use windlass_domain::execution::{ExecutionEvent, Observation};
use windlass_domain::graph::{GraphState, Objective};
use windlass_domain::task::TaskState;
use windlass_domain::{TaskId, Wall, millis};
use windlass_engine::JournalRecord;

use super::find::{find, whole};
use super::plan_table;
use super::standing::{is_planned, standing};
use crate::arguments;
use crate::config::Config;
use crate::disk::shortage;
use crate::show::{Line, Sheet, Style, doubted, duration, finish, forked_line, headline};
use crate::stands::{InWords as _, Stands};
use crate::wiring::Windlass;

const MOST: usize = 20;

pub async fn status(windlass: &Windlass, config: &Config, arguments: &arguments::Status) -> anyhow::Result<Sheet> {
    let mut sheet = Sheet::new();
    if let Some(why) = shortage(&config.data_dir, config.file.limits) {
        sheet.mention(why);
    }
    let now = windlass.runtime.wall();
    let tasks = match &arguments.task {
        Some(named) => {
            let task = find(&windlass.engine, named).await?;
            vec![(task, windlass.engine.task(task).await.map_err(super::drive::explain)?)]
        }
        None => {
            let engine = &windlass.engine;
            let summaries = if arguments.all { engine.tasks(MOST).await? } else { engine.wholes(MOST).await? };
            summaries.into_iter().map(|summary| (summary.task_id, summary.state)).collect()
        }
    };
    let mut rows = Vec::with_capacity(tasks.len());
    for (task, state) in tasks {
        let stands = standing(windlass, task, &state).await?;
        rows.push((task, state, stands));
    }
    let plan = match (&arguments.task, rows.as_slice()) {
        (Some(_), [(task, state, stands)]) if is_planned(state) => {
            let graph = windlass.engine.graph(*task).await?;
            Some((plan_table::rows(windlass, &graph, *stands).await?, graph))
        }
        _ => None,
    };
    let doubts = match (&arguments.task, rows.as_slice()) {
        (Some(_), [(task, ..)]) => doubts(&windlass.engine.story(*task).await?),
        _ => Vec::new(),
    };
    if arguments.output.json {
        for (task, state, stands) in &rows {
            let mut fields = as_json(*task, state, *stands);
            if let Some(place) = windlass.engine.left_to(state) {
                fields["left_to"] = json!(place);
            }
            if !doubts.is_empty() {
                fields["doubts"] = json!(doubts);
            }
            if let Some((items, graph)) = &plan {
                fields["plan"] = json!({"revision": graph.revision, "items": items});
                if let Some(agreed) = &graph.objective {
                    fields["objective"] = objective_as_json(agreed, graph);
                    fields["objective"]["file"] = json!(windlass.engine.objective_file(*task));
                }
            }
            sheet.object(&fields);
        }
        return Ok(sheet);
    }
    if rows.is_empty() {
        sheet.print(&Line::new().plain("No tasks yet.").dim("  `windlass demo` shows one."));
    }
    for (task, state, stands) in &rows {
        sheet.print(&row(*task, state, *stands, now));
        // What would have it go on is to be said there.
        if let Some(place) = windlass.engine.left_to(state) {
            sheet.print(&Line::marked(Style::Dim, "  ").dim(format!("is on {place}, and left to it")));
            continue;
        }
        // In a list only this one: nobody has told anybody yet, and it is no work that waits for a worker.
        if arguments.task.is_some() || *stands == Stands::Agreed {
            let is_objective = plan.as_ref().is_some_and(|(_, graph)| graph.objective.is_some());
            rests(*task, state, *stands, is_objective).iter().for_each(|line| sheet.print(line));
        }
    }
    if let (Some(_), [(task, state, _)]) = (&arguments.task, rows.as_slice()) {
        if let (_, Some(part)) = whole(&windlass.engine, *task).await? {
            sheet.print(&Line::new().dim(format!("this is {part}")));
        }
        let forked = state.created.as_ref().and_then(|created| created.forked.as_ref());
        forked.iter().for_each(|from| sheet.print(&forked_line(from)));
        doubts.iter().for_each(|why| sheet.print_whole(&doubted(why)));
        let file = windlass.engine.objective_file(*task);
        plan.iter().flat_map(|(_, graph)| objective(graph, &file)).for_each(|line| sheet.print(&line));
        plan.iter().flat_map(|(items, _)| plan_table::table(items)).for_each(|line| sheet.print(&line));
        state.result.iter().flat_map(finish).for_each(|line| sheet.print_whole(&line));
    }
    Ok(sheet)
}

/// What there is to be said against the programs that worked on it, each once.
fn doubts(story: &[JournalRecord]) -> Vec<String> {
    let mut doubts = Vec::new();
    for record in story {
        if let JournalRecord::Execution { event, .. } = record
            && let ExecutionEvent::ObservationRecorded(recorded) = event.as_ref()
            && let Observation::Doubted { why, .. } = &recorded.observation
            && !doubts.contains(why)
        {
            doubts.push(why.clone());
        }
    }
    doubts
}

fn row(task: TaskId, state: &TaskState, stands: Stands, now: Wall) -> Line {
    let style = match stands {
        Stands::Verified => Style::Good,
        Stands::Failed => Style::Bad,
        Stands::Running => Style::Accent,
        _ => Style::Warn,
    };
    let age = millis(now.since(state.created_at));
    let goal = state.created.as_ref().map(|created| headline(&created.command.goal)).unwrap_or_default();
    Line::new()
        .dim(format!("{}  ", task.short()))
        .add(style, format!("{:<12}", stands.for_people()))
        .dim(format!("{:>14} ago  ", duration(age)))
        .giving_way(Style::Plain, goal)
}

/// Why nobody works on it, where somebody said so, and what to type for it to go on.
fn rests(task: TaskId, state: &TaskState, stands: Stands, is_objective: bool) -> Option<Line> {
    let reason = state.rests_for.as_deref().filter(|_| matches!(stands, Stands::Stopped | Stands::Paused));
    let why = reason.and_then(|reason| stands.rests(Some(reason)));
    let line = Line::marked(Style::Dim, "  ");
    match (why, stands.next(task, is_objective)) {
        (Some(why), Some(next)) => Some(line.dim(why).point(Style::Dim).facts(Style::Dim, [next])),
        (why, next) => why.or(next).map(|said| line.dim(said)),
    }
}

/// What was agreed on, and how much of what it may use is used.
fn objective(graph: &GraphState, file: &Path) -> Vec<Line> {
    let Some(agreed) = &graph.objective else { return Vec::new() };
    let limits = &agreed.constraints;
    let labelled = |label: &str| Line::marked(Style::Dim, &format!("  {label:<10}"));
    let passes = match limits.max_iterations {
        Some(most) => format!("{} of {most}", graph.passes.iteration),
        None => graph.passes.iteration.to_string(),
    };
    let stalls =
        format!("{} of {} in a row in which nothing became less", graph.passes.stall_count, limits.max_stall_count);
    let checks = agreed.base_case.0.iter().map(|check| labelled("done when").plain(headline(&check.probe.in_words())));
    std::iter::once(labelled("goal").plain(headline(&agreed.goal)))
        .chain(checks)
        .chain([labelled("passes").facts(Style::Plain, [passes, stalls])])
        .chain(file.exists().then(|| labelled("file").plain(file.display().to_string())))
        .collect()
}

fn objective_as_json(agreed: &Objective, graph: &GraphState) -> serde_json::Value {
    json!({
        "goal": agreed.goal,
        "base_case": agreed.base_case,
        "iteration": graph.passes.iteration,
        "max_iterations": agreed.constraints.max_iterations,
        "stall_count": graph.passes.stall_count,
        "max_stall_count": agreed.constraints.max_stall_count,
    })
}

/// One shape for every task; its result, once it has one, is a field.
pub(super) fn as_json(task: TaskId, state: &TaskState, stands: Stands) -> serde_json::Value {
    let mut fields = json!({
        "type": "task",
        "task_id": task,
        "status": state.status,
        "standing": stands,
        "waits_for": state.waits_for,
        "goal": state.created.as_ref().map(|created| &created.command.goal),
        "workspace": state.created.as_ref().map(|created| &created.workspace),
        "created_at": state.created_at.to_rfc3339(),
        "attempts": state.attempts.len(),
        "result": state.result,
    });
    let deadline = state.created.as_ref().and_then(|created| created.command.execution_config.deadline());
    if let Some(deadline) = deadline {
        fields["deadline"] = json!(deadline.at.to_rfc3339());
        fields["deadline_action"] = json!(deadline.action);
    }
    if let Some(from) = state.created.as_ref().and_then(|created| created.forked.as_ref()) {
        fields["forked_from"] = json!(from);
    }
    fields
}
