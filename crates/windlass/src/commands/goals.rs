//! `windlass goals add | list | pause | resume | remove | run`: goals that workers look at by their schedule. To add one is to be asked
//! once for leave to mend it; whoever says nothing yet answers with `windlass approve`.

use serde_json::{Value, json};
use windlass_domain::goal::{GoalStatus, Look};
use windlass_domain::plan::Schedule;
use windlass_engine::{Goal, GoalOrder, Planning, read_plan};

use super::ask::ask;
use super::drive::explain;
use super::load::load_to_work;
use super::patterns::gather_patterns;
use super::run::{known_patterns, submission};
use crate::arguments::{self, GoalNamed, GoalsAdd, GoalsCommand, Output};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::interrupts::Interrupts;
use crate::show::{Line, Screen, Style, print_json};
use crate::text_file::read_text;
use crate::wiring::Windlass;

pub async fn goals(command: GoalsCommand) -> anyhow::Result<Exit> {
    match command {
        GoalsCommand::Add(arguments) => add(arguments).await?,
        GoalsCommand::List(output) => list(output).await?,
        GoalsCommand::Run(arguments) => return run(&arguments).await,
        GoalsCommand::Pause(arguments) => change(&arguments, Change::Pause).await?,
        GoalsCommand::Resume(arguments) => change(&arguments, Change::Resume).await?,
        GoalsCommand::Remove(arguments) => change(&arguments, Change::Remove).await?,
    }
    Ok(Exit::Completed)
}

async fn add(arguments: GoalsAdd) -> anyhow::Result<()> {
    let path = arguments.file.display().to_string();
    let text = read_text(&arguments.file).map_err(|error| {
        WrongUse::new(format!("{path}: {error}")).hint("name a goal's document; docs/goals.md shows one")
    })?;
    let plan = read_plan(&text).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(|problem| format!("{path}:{problem}")).collect();
        WrongUse::new(told.join("\n")).hint("docs/plans.md has every field")
    })?;
    let (max_fixes, output) = (arguments.max_fixes, arguments.output);
    let config = load_to_work().await?;
    let patterns = gather_patterns(&config, &arguments.workspace).await?;
    known_patterns(&plan, &patterns)?;
    let mut with = submission(&as_run(arguments, plan.0.title.clone()), &config, Planning::None, &patterns)?;
    // Its fixes are items of plans.
    (with.config.pattern, with.config.patterns) = (None, patterns.offered());
    let name = plan.0.id.to_string();
    let windlass = Windlass::open_to_work(config).await?;
    let (goal, card) = windlass.engine.add_goal(GoalOrder { plan, with, max_fixes }).await.map_err(explain)?;
    if output.json {
        print_json(&json!({"type": "result", "goal": name, "goal_id": goal, "card_id": card}));
    } else {
        let added = format!("{name} is looked at by its schedule wherever a `windlass worker` runs");
        Screen::new().print_whole(&Line::marked(Style::Good, "✔ ").plain(added));
        let later = format!("until you say `windlass approve {}` every fix asks you itself", card.short());
        Screen::new().print_whole(&Line::new().dim(later));
        let as_task = goal.to_string().parse()?;
        ask(&windlass, as_task, &mut Interrupts::new()?).await.map_err(explain)?;
    }
    windlass.engine.close().await?;
    Ok(())
}

/// What a fix is carried out with is chosen as for a run.
fn as_run(arguments: GoalsAdd, goal: String) -> arguments::Run {
    let GoalsAdd { workspace, model, rehearsal, limits, sandbox, output, .. } = arguments;
    let (base_case, constraints, attach) = (Vec::new(), Vec::new(), Vec::new());
    let agent = "executor".to_owned();
    arguments::Run {
        goal: Some(goal),
        plan: None,
        workspace,
        base_case,
        constraints,
        attach,
        agent,
        model,
        pattern: None,
        tactician: false,
        rehearsal,
        detach: true,
        limits,
        sandbox,
        output,
    }
}

async fn list(output: Output) -> anyhow::Result<()> {
    let goals = Windlass::open(Config::look()?)?.engine.goals().await?;
    if output.json {
        goals.iter().for_each(|goal| print_json(&as_json(goal)));
        print_json(&json!({"type": "result", "goals": goals.len()}));
        return Ok(());
    }
    let mut screen = Screen::new();
    if goals.is_empty() {
        screen.print_whole(&Line::new().plain("No goals yet: windlass goals add FILE (docs/goals.md)."));
    }
    goals.iter().for_each(|goal| screen.print(&row(goal)));
    Ok(())
}

async fn run(GoalNamed { name, output }: &GoalNamed) -> anyhow::Result<Exit> {
    let windlass = Windlass::open_to_work(load_to_work().await?).await?;
    let goal = windlass.engine.goal_named(name).await.map_err(explain)?;
    let look = windlass.engine.run_goal(goal.id).await.map_err(explain)?;
    match output.json {
        true => print_json(&json!({"type": "result", "goal": name, "holds": look == Look::Holds, "last": told(&look)})),
        false => Screen::new().print_whole(&Line::new().plain(format!("{name}: {}", told(&look)))),
    }
    windlass.engine.close().await?;
    Ok(if look == Look::Holds { Exit::Completed } else { Exit::Failed })
}

#[derive(Clone, Copy)]
enum Change {
    Pause,
    Resume,
    Remove,
}

async fn change(GoalNamed { name, output }: &GoalNamed, change: Change) -> anyhow::Result<()> {
    let windlass = Windlass::open(Config::look()?)?;
    let engine = &windlass.engine;
    let goal = engine.goal_named(name).await.map_err(explain)?.id;
    let (changed, done) = match change {
        Change::Pause => (engine.pause_goal(goal).await, "paused"),
        Change::Resume => (engine.resume_goal(goal).await, "resumed"),
        Change::Remove => (engine.remove_goal(goal).await, "removed"),
    };
    changed.map_err(explain)?;
    windlass.engine.close().await?;
    match output.json {
        true => print_json(&json!({"type": "result", "goal": name, "status": done})),
        false => Screen::new().print_whole(&Line::marked(Style::Good, "✔ ").plain(format!("{name} is {done}"))),
    }
    Ok(())
}

fn row(Goal { state, .. }: &Goal) -> Line {
    let schedule = state.added.as_ref().and_then(|added| added.plan.0.schedule.as_ref());
    let when = match (state.status, state.due) {
        (GoalStatus::Paused, _) | (_, None) => "paused".to_owned(),
        (_, Some(due)) => format!("next {}", due.to_rfc3339()),
    };
    let last = state.last.as_ref().map_or_else(|| "not looked at yet".to_owned(), told);
    Line::new()
        .plain(format!("{}  ", state.name().unwrap_or_default()))
        .dim(format!("{}  {when}  ", schedule.map(written).unwrap_or_default()))
        .giving_way(Style::Plain, last)
}

fn written(schedule: &Schedule) -> String {
    match schedule {
        Schedule::AlwaysOn => "always_on".to_owned(),
        Schedule::Cron(cron) => cron.to_string(),
    }
}

fn told(look: &Look) -> String {
    match look {
        Look::Holds => "it holds".to_owned(),
        Look::Broken(failed, fix) => format!("broken ({}); task {} mends it", failed.join(", "), fix.short()),
        Look::Skipped(fix) => format!("skipped, because task {} still mends it", fix.short()),
        Look::Troubled(error) => format!("it could not be looked at: {}", error.message),
    }
}

fn as_json(Goal { id, state }: &Goal) -> Value {
    json!({
        "type": "goal",
        "goal": state.name(),
        "goal_id": id,
        "status": if state.status == GoalStatus::Paused { "paused" } else { "active" },
        "schedule": state.added.as_ref().and_then(|added| added.plan.0.schedule.as_ref()).map(written),
        "due": state.due.map(windlass_domain::Wall::to_rfc3339),
        "looks": state.firings,
        "fixes": state.fixes,
        "last": state.last.as_ref().map(told),
    })
}
