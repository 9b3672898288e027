//! `windlass goals add | list | pause | resume | remove | run`: goals that workers look at by their schedule. To add one is to be asked
//! once for leave to mend it; whoever says nothing yet answers with `windlass approve`.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_domain::goal::{GoalState, GoalStatus, Look};
use windlass_domain::plan::{Plan, Schedule};
use windlass_domain::{GoalId, TaskId, Wall};
use windlass_engine::{Engine, Error, Goal, GoalOrder, Planning, fit_goal, read_plan};

use super::ask::ask;
use super::drive::explain;
use super::load::load_to_work;
use super::order::Order;
use super::patterns::patterns_in;
use super::run::{known_patterns, submission};
use super::schedules::when;
use crate::arguments::{GoalNamed, GoalsAdd, Output};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::interrupts::Interrupts;
use crate::show::{Line, Sheet, Style};
use crate::text_file::read_text;
use crate::wiring::Windlass;

pub async fn goals_add(arguments: GoalsAdd) -> anyhow::Result<Exit> {
    let document = goal_document(&arguments.file)?;
    let config = load_to_work().await?;
    let windlass = Windlass::open_to_work(config.clone()).await?;
    let output = arguments.output;
    let (sheet, goal) = goal_added(&windlass, &config, arguments, &document).await?;
    sheet.show();
    if !output.json {
        let as_task = goal.to_string().parse()?;
        ask(&windlass, as_task, &mut Interrupts::new()?).await.map_err(explain)?;
    }
    windlass.engine.close().await?;
    Ok(Exit::Completed)
}

/// The text of a goal. Before anything is asked of the machine: what is wrong with the document is the first thing to mend.
pub fn goal_document(file: &Path) -> anyhow::Result<String> {
    let path = file.display();
    let text = read_text(file).map_err(|error| {
        WrongUse::new(format!("{path}: {error}")).hint("name a goal's document; docs/goals.md shows one")
    })?;
    goal_in(&text, &format!("{path}:"))?;
    Ok(text)
}

/// What is wrong with it is told behind where it stands.
fn goal_in(document: &str, place: &str) -> anyhow::Result<Plan> {
    let plan = read_plan(document).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(|problem| format!("{place}{problem}")).collect();
        WrongUse::new(told.join("\n")).hint("docs/plans.md has every field")
    })?;
    fit_goal(&plan).map_err(explain)?;
    Ok(plan)
}

async fn goal_added(
    windlass: &Windlass,
    config: &Config,
    arguments: GoalsAdd,
    document: &str,
) -> anyhow::Result<(Sheet, GoalId)> {
    let plan = goal_in(document, "")?;
    let (max_fixes, output) = (arguments.max_fixes, arguments.output);
    let patterns = patterns_in(windlass, config, &arguments.workspace).await?;
    known_patterns(&plan, &patterns)?;
    let mut with = submission(&as_order(arguments, plan.0.title.clone()), config, Planning::None, &patterns)?;
    // Its fixes are items of plans.
    (with.config.pattern, with.config.patterns) = (None, patterns.offered());
    if let Some(cap) = &windlass.cap {
        cap.holds(&with.budget)?;
        cap.holds_plan(&plan)?;
    }
    let name = plan.0.id.to_string();
    let (goal, card) = windlass.engine.add_goal(GoalOrder { plan, with, max_fixes }).await.map_err(explain)?;
    let mut sheet = Sheet::new();
    if output.json {
        sheet.object(&json!({"type": "result", "goal": name, "goal_id": goal, "card_id": card}));
    } else {
        let due = windlass.engine.goal_named(&name).await.map_err(explain)?.state.due;
        let first = due.map(|due| format!(", first {}", when(due, windlass.runtime.wall()))).unwrap_or_default();
        let added = format!("{name} is looked at by its schedule{first}, wherever a `windlass worker` runs");
        sheet.print_whole(&Line::marked(Style::Good, "✔ ").plain(added));
        let later = format!("until you say `windlass approve {}` every fix asks you itself", card.short());
        sheet.print_whole(&Line::new().dim(later));
    }
    Ok((sheet, goal))
}

/// The same for somebody elsewhere, whom the program asks about its card.
pub async fn goal_taken_in(
    windlass: &Windlass,
    config: &Config,
    arguments: GoalsAdd,
    document: &str,
) -> anyhow::Result<Sheet> {
    let is_json = arguments.output.json;
    let (mut sheet, goal) = goal_added(windlass, config, arguments, document).await?;
    if !is_json {
        sheet.object(&goal);
    }
    Ok(sheet)
}

/// What a fix is carried out with is chosen as for a run.
fn as_order(arguments: GoalsAdd, goal: String) -> Order {
    let GoalsAdd { workspace, model, rehearsal, limits, sandbox, .. } = arguments;
    Order { model, rehearsal, limits, sandbox, ..Order::new(goal, workspace) }
}

pub async fn goals_list(windlass: &Windlass, output: Output) -> anyhow::Result<Sheet> {
    let mut sheet = Sheet::new();
    let goals = windlass.engine.goals().await?;
    if output.json {
        goals.iter().for_each(|goal| sheet.object(&as_json(goal)));
        sheet.object(&json!({"type": "result", "goals": goals.len()}));
        return Ok(sheet);
    }
    if goals.is_empty() {
        sheet.print_whole(&Line::new().plain("No goals yet: windlass goals add FILE (docs/goals.md)."));
    }
    let widest = goals.iter().filter_map(|goal| goal.state.name()).map(|name| name.chars().count()).max().unwrap_or(0);
    goals.iter().for_each(|goal| sheet.print(&row(&goal.state, widest, windlass.runtime.wall())));
    Ok(sheet)
}

pub async fn goals_run(named: &GoalNamed) -> anyhow::Result<Exit> {
    let windlass = Windlass::open_to_work(load_to_work().await?).await?;
    let looked = goal_looked_at(&windlass, named).await;
    windlass.engine.close().await?;
    Ok(looked?.show())
}

pub async fn goal_looked_at(windlass: &Windlass, GoalNamed { name, output }: &GoalNamed) -> anyhow::Result<Sheet> {
    let goal = windlass.engine.goal_named(name).await.map_err(explain)?;
    let look = windlass.engine.run_goal(goal.id).await.map_err(|error| about(name, error))?;
    let mut sheet = Sheet::new();
    if output.json {
        sheet.object(&json!({"type": "result", "goal": name, "holds": look == Look::Holds, "last": told(&look)}));
    } else {
        let (style, mark) = marked(&look);
        sheet.print_whole(&Line::marked(style, mark).plain(format!("{name}: {}", told(&look))));
        if let Look::Broken(_, fix) | Look::Skipped(fix) = &look {
            let who = format!("a `windlass worker` works on it, or `windlass resume {}` here", fix.short());
            sheet.print_whole(&Line::new().dim(who));
        }
    }
    Ok(sheet.ending(if look == Look::Holds { Exit::Completed } else { Exit::Failed }))
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalChange {
    Pause,
    Resume,
    Remove,
}

pub async fn goal_changed(
    windlass: &Windlass,
    GoalNamed { name, output }: &GoalNamed,
    change: GoalChange,
) -> anyhow::Result<Sheet> {
    let mut sheet = Sheet::new();
    let engine = &windlass.engine;
    let Goal { id, state } = engine.goal_named(name).await.map_err(explain)?;
    let (changed, done) = match change {
        GoalChange::Pause => (engine.pause_goal(id).await, "paused"),
        GoalChange::Resume => (engine.resume_goal(id).await, "resumed"),
        GoalChange::Remove => (engine.remove_goal(id).await, "removed"),
    };
    changed.map_err(|error| about(name, error))?;
    if output.json {
        sheet.object(&json!({"type": "result", "goal": name, "status": done}));
    } else {
        sheet.print_whole(&Line::marked(Style::Good, "✔ ").plain(format!("{name} is {done}")));
        let more = match change {
            GoalChange::Resume => engine
                .goal_named(name)
                .await
                .map_err(explain)?
                .state
                .due
                .map(|due| format!("it is looked at next {}", when(due, windlass.runtime.wall()))),
            GoalChange::Pause | GoalChange::Remove => at_work(engine, &state).await?.map(|fix| {
                let goes_on = match change {
                    GoalChange::Remove => "may end its attempt, and begins no other unasked",
                    GoalChange::Pause | GoalChange::Resume => "goes on",
                };
                format!("task {0}, which mends it, {goes_on}; `windlass cancel {0}` stops it", fix.short())
            }),
        };
        more.iter().for_each(|more| sheet.print_whole(&Line::new().dim(more)));
    }
    Ok(sheet)
}

/// The task that mends it now.
async fn at_work(engine: &Engine, state: &GoalState) -> anyhow::Result<Option<TaskId>> {
    let Some((fix, _)) = &state.fix else { return Ok(None) };
    Ok((!engine.task(*fix).await?.is_over()).then_some(*fix))
}

/// What a rule says of a goal, with the goal that it is about.
fn about(name: &str, error: Error) -> anyhow::Error {
    match error {
        Error::Goal(rejected) => WrongUse::new(format!("`{name}`: {rejected}")).into(),
        other => explain(other),
    }
}

fn row(state: &GoalState, widest: usize, now: Wall) -> Line {
    let next = match (state.status, state.due) {
        (GoalStatus::Paused, _) | (_, None) => "paused".to_owned(),
        _ if state.open.is_some() => "being looked at, or waits for a worker".to_owned(),
        (_, Some(due)) => format!("next {}", when(due, now)),
    };
    let name = format!("{:<widest$}  ", state.name().unwrap_or_default());
    let (style, mark) = state.last.as_ref().map_or((Style::Dim, "· "), marked);
    let last = state.last.as_ref().map_or_else(|| "not looked at yet".to_owned(), told);
    Line::marked(style, mark)
        .add(Style::Bold, name)
        .dim(format!("{}  {next}  ", written(state)))
        .giving_way(Style::Plain, last)
}

fn marked(look: &Look) -> (Style, &'static str) {
    match look {
        Look::Holds => (Style::Good, "✔ "),
        Look::Broken(..) => (Style::Bad, "✘ "),
        Look::Skipped(_) => (Style::Dim, "· "),
        Look::Troubled(_) => (Style::Warn, "! "),
    }
}

/// With whose clocks it goes by, where those are not UTC's.
pub(super) fn written(state: &GoalState) -> String {
    let cron = match state.schedule() {
        Schedule::AlwaysOn => "always_on".to_owned(),
        Schedule::Cron(cron) => cron.to_string(),
    };
    state.timezone().map_or_else(|| cron.clone(), |zone| format!("{cron} {zone}"))
}

fn told(look: &Look) -> String {
    match look {
        Look::Holds => "it holds".to_owned(),
        Look::Broken(failed, fix) => format!("broken ({}); task {} mends it", failed.join(", "), fix.short()),
        Look::Skipped(fix) => format!("not looked at, because task {} still mends it", fix.short()),
        Look::Troubled(error) => format!("it could not be looked at: {}", error.message),
    }
}

fn as_json(Goal { id, state }: &Goal) -> Value {
    json!({
        "type": "goal",
        "goal": state.name(),
        "goal_id": id,
        "status": if state.status == GoalStatus::Paused { "paused" } else { "active" },
        "schedule": written(state),
        "due": state.due.map(windlass_domain::Wall::to_rfc3339),
        "being_looked_at": state.open.is_some(),
        "looks": state.firings,
        "fixes": state.fixes,
        "last": state.last.as_ref().map(told),
    })
}
