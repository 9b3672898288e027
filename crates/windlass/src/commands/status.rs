//! `windlass status [TASK]`: what there is, newest first; or one task in full.

use std::path::Path;

use serde_json::json;
use windlass_domain::graph::{GraphState, Objective};
use windlass_domain::task::{TaskState, TaskStatus};
use windlass_domain::{Awaited, TaskId, Wall, millis};
use windlass_engine::Sending;

use super::dialogue::why_closed;
use super::find::{find, is_driven, whole};
use super::plan_table;
use crate::arguments;
use crate::config::Config;
use crate::exit::Exit;
use crate::show::{Line, Screen, Style, duration, finish, headline, print_json};
use crate::wiring::Windlass;

const MOST: usize = 20;

pub async fn status(arguments: arguments::Status) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::look()?)?;
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
        let standing = standing(&windlass, task, &state).await?;
        rows.push((task, state, standing));
    }
    let plan = match (&arguments.task, rows.as_slice()) {
        (Some(_), [(task, state, _)]) if is_planned(state) => {
            let graph = windlass.engine.graph(*task).await?;
            Some((plan_table::rows(&windlass, &graph).await?, graph))
        }
        _ => None,
    };
    if arguments.output.json {
        for (task, state, standing) in &rows {
            let mut fields = as_json(*task, state, standing);
            if let Some((items, graph)) = &plan {
                fields["plan"] = json!({"revision": graph.revision, "items": items});
                if let Some(agreed) = &graph.objective {
                    fields["objective"] = objective_as_json(agreed, graph);
                    fields["objective"]["file"] = json!(windlass.engine.objective_file(*task));
                }
            }
            print_json(&fields);
        }
        return Ok(Exit::Completed);
    }
    let mut screen = Screen::new();
    if rows.is_empty() {
        screen.print(&Line::new().plain("No tasks yet.").dim("  `windlass demo` shows one."));
    }
    for (task, state, standing) in &rows {
        screen.print(&row(*task, state, standing, now));
    }
    if let (Some(_), [(task, state, _)]) = (&arguments.task, rows.as_slice()) {
        if let (_, Some(part)) = whole(&windlass.engine, *task).await? {
            screen.print(&Line::new().dim(format!("this is {part}")));
        }
        let file = windlass.engine.objective_file(*task);
        plan.iter().flat_map(|(_, graph)| objective(graph, &file)).for_each(|line| screen.print(&line));
        plan.iter().flat_map(|(items, _)| plan_table::table(items)).for_each(|line| screen.print(&line));
        state.result.iter().flat_map(finish).for_each(|line| screen.print_whole(&line));
    }
    Ok(Exit::Completed)
}

/// How a task stands, in a word, and what a person has to say first.
struct Standing {
    word: &'static str,
    about: Option<Awaited>,
}

impl Standing {
    fn for_people(&self) -> String {
        match (self.word, self.about) {
            ("waiting", Some(Awaited::Card(card))) => format!("waits for you · card {}", card.short()),
            ("waiting", Some(Awaited::Question(question))) => format!("waits for you · question {}", question.short()),
            ("waiting", Some(Awaited::Research(_))) => "has something looked into".to_owned(),
            (word, _) => word.to_owned(),
        }
    }
}

fn is_planned(state: &TaskState) -> bool {
    state.created.as_ref().is_some_and(|created| created.planned)
}

/// What a person is asked by the task or by those who work for it.
async fn waits_for(windlass: &Windlass, task: TaskId, state: &TaskState) -> anyhow::Result<Vec<Awaited>> {
    match is_planned(state) && !state.is_over() {
        true => Ok(windlass.engine.asks(task).await?.into_iter().map(|(_, about)| about).collect()),
        false => Ok(state.waits_for.clone()),
    }
}

/// How one stands who works for a task, or the task itself, while nobody holds it.
#[derive(Debug, Clone, Copy, Default)]
struct Member {
    has_begun: bool,
    is_paused: bool,
    sending: Option<Sending>,
}

/// In a word, how it goes on with them: one that nobody holds may lie in a queue, and a plan sleeps until others have ended.
fn goes_on(members: &[Member]) -> &'static str {
    let any = |is_so: fn(&Member) -> bool| members.iter().any(is_so);
    let has_begun = any(|member| member.has_begun);
    if any(|member| member.sending == Some(Sending::Taken)) {
        "running"
    } else if has_begun && any(|member| member.sending == Some(Sending::Left)) {
        "interrupted"
    } else if any(|member| member.sending.is_some()) {
        "queued"
    } else if any(|member| member.is_paused) {
        "paused"
    } else if has_begun {
        "interrupted"
    } else {
        "queued"
    }
}

async fn members(windlass: &Windlass, task: TaskId) -> anyhow::Result<Vec<Member>> {
    let mut members = Vec::new();
    for member in windlass.engine.members(task).await? {
        let state = windlass.engine.task(member).await?;
        members.push(Member {
            has_begun: !state.attempts.is_empty(),
            is_paused: state.status == Some(TaskStatus::Paused),
            sending: windlass.engine.sending(member).await?,
        });
    }
    Ok(members)
}

/// The status, and for one that is not over whether anybody works on it or is asked about it.
async fn standing(windlass: &Windlass, task: TaskId, state: &TaskState) -> anyhow::Result<Standing> {
    let waits_for = waits_for(windlass, task, state).await?;
    if let (Some(first), false) = (waits_for.first(), state.is_over()) {
        for about in &waits_for {
            if why_closed(windlass, *about).await?.is_none() {
                return Ok(Standing { word: "waiting", about: Some(*about) });
            }
        }
        return Ok(Standing { word: "answered", about: Some(*first) });
    }
    let word = match state.status {
        Some(TaskStatus::Completed) if state.result.as_ref().is_some_and(|result| result.verified) => "verified",
        Some(TaskStatus::Completed) => "completed",
        Some(TaskStatus::Failed) => "failed",
        Some(TaskStatus::Cancelled) => "cancelled",
        Some(TaskStatus::Paused) => "paused",
        Some(TaskStatus::Running) | None if is_driven(windlass, task).await? => "running",
        Some(TaskStatus::Running) | None => goes_on(&members(windlass, task).await?),
    };
    Ok(Standing { word, about: None })
}

fn row(task: TaskId, state: &TaskState, standing: &Standing, now: Wall) -> Line {
    let style = match standing.word {
        "verified" => Style::Good,
        "failed" => Style::Bad,
        "running" => Style::Accent,
        _ => Style::Warn,
    };
    let age = millis(now.since(state.created_at));
    let goal = state.created.as_ref().map(|created| headline(&created.command.goal)).unwrap_or_default();
    Line::new()
        .dim(format!("{}  ", task.short()))
        .add(style, format!("{:<12}", standing.for_people()))
        .dim(format!("{:>14} ago  ", duration(age)))
        .giving_way(Style::Plain, goal)
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
fn as_json(task: TaskId, state: &TaskState, standing: &Standing) -> serde_json::Value {
    json!({
        "type": "task",
        "task_id": task,
        "status": state.status,
        "standing": standing.word,
        "waits_for": state.waits_for,
        "goal": state.created.as_ref().map(|created| &created.command.goal),
        "workspace": state.created.as_ref().map(|created| &created.workspace),
        "created_at": state.created_at.to_rfc3339(),
        "attempts": state.attempts.len(),
        "result": state.result,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each member in a word: `b`egun, `p`aused, and its message `w`aiting, `t`aken or `l`eft.
    fn read(members: &str) -> Vec<Member> {
        let member = |word: &str| Member {
            has_begun: word.contains('b'),
            is_paused: word.contains('p'),
            sending: match word {
                _ if word.contains('w') => Some(Sending::Waits),
                _ if word.contains('t') => Some(Sending::Taken),
                _ if word.contains('l') => Some(Sending::Left),
                _ => None,
            },
        };
        members.split_whitespace().map(member).collect()
    }

    /// Regression: a plan that slept, with an item in the queue, was called interrupted.
    #[test]
    fn the_word_for_a_plan_is_that_of_those_who_work_for_it() {
        let check = |members: &str, expected: &str| assert_eq!(goes_on(&read(members)), expected, "{members}");
        check("w", "queued");
        check("- bw", "queued");
        check("- b w", "queued");
        check("- bt", "running");
        check("- bl", "interrupted");
        check("- bl w", "interrupted");
        check("l", "queued");
        check("b", "interrupted");
        check("- b bp", "paused");
        check("- b bpw", "queued");
    }
}
