//! `windlass goals add | list | pause | resume | remove | run`: goals that workers look at by their schedule. To add one is to be asked
//! once for leave to mend it; whoever says nothing yet answers with `windlass approve`.

use serde_json::{Value, json};
use windlass_domain::goal::{GoalState, GoalStatus, Look};
use windlass_domain::plan::Schedule;
use windlass_domain::{TaskId, Wall, millis};
use windlass_engine::{Engine, Error, Goal, GoalOrder, Planning, fit_goal, read_plan};

use super::ask::ask;
use super::drive::explain;
use super::load::load_to_work;
use super::patterns::gather_patterns;
use super::run::{known_patterns, submission};
use crate::arguments::{self, GoalNamed, GoalsAdd, GoalsCommand, Output};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::interrupts::Interrupts;
use crate::show::{Line, Screen, Style, duration, print_json};
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
    // Before anything is asked of the machine: what is wrong with the document is the first thing to mend.
    fit_goal(&plan).map_err(explain)?;
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
        let due = windlass.engine.goal_named(&name).await.map_err(explain)?.state.due;
        let first = due.map(|due| format!(", first {}", when(due, windlass.runtime.wall()))).unwrap_or_default();
        let added = format!("{name} is looked at by its schedule{first}, wherever a `windlass worker` runs");
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
        terminal: false,
        rehearsal,
        detach: true,
        limits,
        sandbox,
        output,
    }
}

async fn list(output: Output) -> anyhow::Result<()> {
    let windlass = Windlass::open(Config::look()?)?;
    let goals = windlass.engine.goals().await?;
    if output.json {
        goals.iter().for_each(|goal| print_json(&as_json(goal)));
        print_json(&json!({"type": "result", "goals": goals.len()}));
        return Ok(());
    }
    let mut screen = Screen::new();
    if goals.is_empty() {
        screen.print_whole(&Line::new().plain("No goals yet: windlass goals add FILE (docs/goals.md)."));
    }
    let widest = goals.iter().filter_map(|goal| goal.state.name()).map(|name| name.chars().count()).max().unwrap_or(0);
    goals.iter().for_each(|goal| screen.print(&row(&goal.state, widest, windlass.runtime.wall())));
    Ok(())
}

async fn run(GoalNamed { name, output }: &GoalNamed) -> anyhow::Result<Exit> {
    let windlass = Windlass::open_to_work(load_to_work().await?).await?;
    let goal = windlass.engine.goal_named(name).await.map_err(explain)?;
    let look = windlass.engine.run_goal(goal.id).await.map_err(|error| about(name, error))?;
    if output.json {
        print_json(&json!({"type": "result", "goal": name, "holds": look == Look::Holds, "last": told(&look)}));
    } else {
        let mut screen = Screen::new();
        let (style, mark) = marked(&look);
        screen.print_whole(&Line::marked(style, mark).plain(format!("{name}: {}", told(&look))));
        if let Look::Broken(_, fix) | Look::Skipped(fix) = &look {
            let who = format!("a `windlass worker` works on it, or `windlass resume {}` here", fix.short());
            screen.print_whole(&Line::new().dim(who));
        }
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
    let Goal { id, state } = engine.goal_named(name).await.map_err(explain)?;
    let (changed, done) = match change {
        Change::Pause => (engine.pause_goal(id).await, "paused"),
        Change::Resume => (engine.resume_goal(id).await, "resumed"),
        Change::Remove => (engine.remove_goal(id).await, "removed"),
    };
    changed.map_err(|error| about(name, error))?;
    if output.json {
        print_json(&json!({"type": "result", "goal": name, "status": done}));
    } else {
        let mut screen = Screen::new();
        screen.print_whole(&Line::marked(Style::Good, "✔ ").plain(format!("{name} is {done}")));
        let more = match change {
            Change::Resume => engine
                .goal_named(name)
                .await
                .map_err(explain)?
                .state
                .due
                .map(|due| format!("it is looked at next {}", when(due, windlass.runtime.wall()))),
            Change::Pause | Change::Remove => at_work(engine, &state).await?.map(|fix| {
                let goes_on = match change {
                    Change::Remove => "may end its attempt, and begins no other unasked",
                    Change::Pause | Change::Resume => "goes on",
                };
                format!("task {0}, which mends it, {goes_on}; `windlass cancel {0}` stops it", fix.short())
            }),
        };
        more.iter().for_each(|more| screen.print_whole(&Line::new().dim(more)));
    }
    windlass.engine.close().await?;
    Ok(())
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
        .dim(format!("{}  {next}  ", written(state.schedule())))
        .giving_way(Style::Plain, last)
}

/// How far away, and which minute that is.
fn when(due: Wall, now: Wall) -> String {
    let minute: String = due.to_rfc3339().chars().take("2026-11-16T06:00".len()).collect();
    let minute = minute.replace('T', " ");
    match millis(due.since(now)) {
        0 => format!("now ({minute} UTC)"),
        left => format!("in {} ({minute} UTC)", duration(left)),
    }
}

fn marked(look: &Look) -> (Style, &'static str) {
    match look {
        Look::Holds => (Style::Good, "✔ "),
        Look::Broken(..) => (Style::Bad, "✘ "),
        Look::Skipped(_) => (Style::Dim, "· "),
        Look::Troubled(_) => (Style::Warn, "! "),
    }
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
        "schedule": written(state.schedule()),
        "due": state.due.map(windlass_domain::Wall::to_rfc3339),
        "being_looked_at": state.open.is_some(),
        "looks": state.firings,
        "fixes": state.fixes,
        "last": state.last.as_ref().map(told),
    })
}
