//! `windlass align`: what is wanted and when a machine can tell that it is there, before anything is done. A planner finds it out with
//! the user, or it comes from a file, or it is said on the command line. It begins with `windlass start`.

use std::path::Path;

use serde_json::json;
use windlass_domain::TaskId;
use windlass_domain::approval::Card;
use windlass_domain::graph::{Constraints, Objective, PlanStanding, Remembered};
use windlass_domain::role_output::WantedLimits;
use windlass_engine::{Agreed, Dispatch, Planning};
use windlass_plan::{ObjectiveFile, one_atom, parse_objective, plan_of};

use super::dialogue::one_line;
use super::drive::{Before, drive, explain};
use super::find::find;
use super::load::load_to_work;
use super::order::Order;
use super::patterns::gather_patterns;
use super::run::{checks, known_patterns, submission};
use crate::arguments::{Align, ConstraintWords, ObjectiveWords, PlanningLimits};
use crate::exit::{Exit, WrongUse};
use crate::keyboard::Keyboard;
use crate::show::{Line, Screen, Sheet, Style, mention, plan_lines, print_json, teller};
use crate::text_file::read_text;
use crate::wiring::Windlass;

pub async fn align(arguments: Align) -> anyhow::Result<Exit> {
    let output = arguments.output;
    if let (Some(named), Some(change)) = (&arguments.task, &arguments.change) {
        let windlass = Windlass::open_to_work(load_to_work().await?).await?;
        let task = find(&windlass.engine, named).await?;
        windlass.engine.send_back(task, change.clone()).await.map_err(explain)?;
        let exit = drive(&windlass, task, teller(output), Before::SoFar).await?;
        // Why was told on the way; what is shown then is what was agreed on before.
        let is_as_before = windlass.engine.graph(task).await?.unchanged.is_some();
        let exit = settled(&windlass, task, exit, output.json, Seen::No).await?;
        return Ok(if is_as_before { Exit::Failed } else { exit });
    }
    let config = load_to_work().await?;
    let planning = planning(&arguments)?;
    let is_written = matches!(planning, Planning::Aligned(_));
    let order = order(arguments);
    let patterns = gather_patterns(&config, &order.workspace).await?;
    if let Planning::Aligned(agreed) = &planning {
        known_patterns(&agreed.plan, &patterns)?;
    }
    let submission = submission(&order, &config, planning, &patterns)?;
    let windlass = Windlass::open_to_work(config).await?;
    let key = windlass.keys.owner().map_err(WrongUse::from)?;
    let task = windlass.engine.submit(submission, Dispatch::Here, Some(&key)).await.map_err(explain)?;
    let mut exit = Box::pin(drive(&windlass, task, teller(output), Before::Taken)).await?;
    let may_change = !is_written && !output.json;
    loop {
        match wanted_otherwise(&windlass, task, may_change).await? {
            Wanted::Otherwise(change) => windlass.engine.send_back(task, change).await.map_err(explain)?,
            Wanted::So(seen) => return settled(&windlass, task, exit, output.json, seen).await,
        }
        exit = Box::pin(drive(&windlass, task, teller(output), Before::SoFar)).await?;
    }
}

/// What whoever sits there says to what was agreed on.
enum Wanted {
    Otherwise(String),
    So(Seen),
}

/// Whether they were shown it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Yes,
    No,
}

/// Tells what is agreed on, and how to begin it.
async fn settled(windlass: &Windlass, task: TaskId, exit: Exit, is_json: bool, seen: Seen) -> anyhow::Result<Exit> {
    let Some(card) = windlass.engine.agreed(task, None).await? else {
        windlass.engine.close().await?;
        return Ok(exit);
    };
    if is_json {
        let fields = json!({"type": "result", "task_id": task, "aligned": true,
            "worst_case": card.worst_case, "objective": card.details["objective"]});
        print_json(&fields);
    } else {
        if seen == Seen::No {
            show(&card);
        }
        tell_how_to_begin(task);
    }
    windlass.engine.close().await?;
    Ok(Exit::Completed)
}

pub(super) fn tell_how_to_begin(task: TaskId) {
    let mut screen = Screen::new();
    screen.print(&Line::new());
    screen.print(&Line::new().plain("to begin: ").add(Style::Accent, format!("windlass start {}", task.short())));
}

pub(super) fn show(card: &Card) {
    agreed_sheet(card).show();
}

/// What was agreed on, as whoever begins it is shown it.
pub(super) fn agreed_sheet(card: &Card) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.print(&Line::new());
    plan_lines(card).iter().for_each(|line| sheet.print_whole(line));
    sheet
}

/// What is to be different, where somebody sits there who has seen it and says so.
async fn wanted_otherwise(windlass: &Windlass, task: TaskId, may_change: bool) -> anyhow::Result<Wanted> {
    let graph = windlass.engine.graph(task).await?;
    let (Some(keyboard), PlanStanding::Proposed, Some(card)) =
        (Keyboard::look().filter(|_| may_change), &graph.standing, windlass.engine.agreed(task, None).await?)
    else {
        return Ok(Wanted::So(Seen::No));
    };
    show(&card);
    let said = one_line(windlass.runtime.as_ref(), keyboard, "What should be different? Enter leaves it so: ").await?;
    let said = said.filter(|said| !said.is_empty());
    Ok(said.map_or(Wanted::So(Seen::Yes), Wanted::Otherwise))
}

fn planning(arguments: &Align) -> Result<Planning, WrongUse> {
    if arguments.bounds.wanted() != WantedLimits::default() && arguments.objective.goal.is_none() {
        return Err(WrongUse::new("the limits of an objective are said here beside --goal only")
            .hint("write them under `constraints` in the file, or tell them to the planner; `windlass redirect` changes them later"));
    }
    if arguments.request.is_some() {
        return Ok(Planning::Aligning);
    }
    let agreed = match &arguments.from {
        Some(file) => from_file(file)?,
        None => said(&arguments.objective, &arguments.bounds)?,
    };
    Ok(Planning::Aligned(Box::new(agreed)))
}

fn from_file(file: &Path) -> Result<Agreed, WrongUse> {
    let path = file.display();
    let text = read_text(file).map_err(|error| {
        WrongUse::new(format!("{path}: {error}")).hint("name an objective file; docs/objectives.md shows one")
    })?;
    let ObjectiveFile { objective, plan, resolved, selected, failed, warnings } =
        parse_objective(&text).map_err(|problems| {
            let told: Vec<String> = problems.iter().map(|problem| format!("{path}:{problem}")).collect();
            WrongUse::new(told.join("\n")).hint("docs/objectives.md has every field")
        })?;
    for warning in warnings {
        mention(&format!("{path}:{warning}"));
    }
    Ok(Agreed { objective, plan, remembered: Remembered { resolved, selected, failed } })
}

/// One atom for all of it.
fn said(words: &ObjectiveWords, bounds: &ConstraintWords) -> Result<Agreed, WrongUse> {
    let goal = words.goal.clone().unwrap_or_default();
    if goal.trim().is_empty() {
        return Err(WrongUse::new("the goal is empty").hint("say what is to be reached: windlass align --goal \"…\""));
    }
    if words.base_case.is_empty() {
        return Err(WrongUse::new("a machine must be able to tell when it is reached")
            .hint("give it at least one check: --base-case 'command: …'; docs/checks.md has all kinds"));
    }
    let objective = Objective {
        goal,
        base_case: checks(&words.base_case)?,
        background_intent: words.intent.clone().unwrap_or_default(),
        deliverables: words.deliverables.join("\n"),
        definition_of_done: words.done.clone().unwrap_or_default(),
        constraints: bounds.wanted().over(Constraints::default()),
        words: String::new(),
    };
    let plan = plan_of(&objective, vec![one_atom(&objective)]);
    Ok(Agreed { objective, plan, remembered: Remembered::default() })
}

/// As a request for a plan, which an objective is planned like.
fn order(arguments: Align) -> Order {
    Order {
        constraints: arguments.constraints,
        model: arguments.model,
        rehearsal: arguments.rehearsal,
        limits: PlanningLimits::from(arguments.limits).into(),
        sandbox: arguments.sandbox,
        ..Order::new(arguments.request.unwrap_or_default(), arguments.workspace)
    }
}
