//! `windlass align`: what is wanted and when a machine can tell that it is there, before anything is done. A planner finds it out with
//! the user, or it comes from a file, or it is said on the command line. It begins with `windlass start`.

use std::path::Path;

use windlass_domain::TaskId;
use windlass_domain::graph::{Constraints, Objective, Remembered};
use windlass_domain::role_output::WantedLimits;
use windlass_engine::{Agreed, Dispatch, Planning, Submission};
use windlass_plan::{ObjectiveFile, one_atom, parse_objective, plan_of};

use super::agreement::{Seen, Wanted, agreement, settled, wanted_otherwise};
use super::drive::{Before, drive, explain};
use super::find::find;
use super::load::load_to_work;
use super::order::Order;
use super::patterns::{gather_patterns, patterns_in};
use super::run::{checks, known_patterns, submission};
use crate::arguments::{Align, ConstraintWords, ObjectiveWords, PlanningLimits};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::patterns::Patterns;
use crate::show::{Sheet, mention, teller};
use crate::text_file::read_text;
use crate::wiring::Windlass;

pub async fn align(arguments: Align) -> anyhow::Result<Exit> {
    let output = arguments.output;
    if let (Some(named), Some(change)) = (&arguments.task, &arguments.change) {
        let windlass = Windlass::open_to_work(load_to_work().await?).await?;
        let task = sent_back(&windlass, named, change.clone()).await?;
        let exit = drive(&windlass, task, teller(output), Before::SoFar).await?;
        let (sheet, agreed) = agreement(&windlass, task).await?;
        windlass.engine.close().await?;
        return Ok(written_again(settled(task, exit, (sheet, &agreed), output, Seen::No), agreed.is_as_before));
    }
    let config = load_to_work().await?;
    let may_change = is_dialogue(&arguments);
    let document = arguments.from.as_deref().map(objective_document).transpose()?;
    let patterns = gather_patterns(&config, &arguments.workspace).await?;
    let (submission, warnings) = submission_of(arguments, document.as_deref(), (&config, &patterns))?;
    warnings.iter().for_each(|warning| mention(warning));
    let windlass = Windlass::open_to_work(config).await?;
    let key = windlass.keys.owner().map_err(WrongUse::from)?;
    let task = windlass.engine.submit(submission, Dispatch::Here, Some(&key)).await.map_err(explain)?;
    let mut exit = Box::pin(drive(&windlass, task, teller(output), Before::Taken)).await?;
    loop {
        let (sheet, agreed) = agreement(&windlass, task).await?;
        let wanted = match may_change {
            true => wanted_otherwise(windlass.runtime.as_ref(), (&sheet, &agreed)).await?,
            false => Wanted::So(Seen::No),
        };
        match wanted {
            Wanted::Otherwise(change) => windlass.engine.send_back(task, change).await.map_err(explain)?,
            Wanted::So(seen) => {
                windlass.engine.close().await?;
                return Ok(settled(task, exit, (sheet, &agreed), output, seen));
            }
        }
        exit = Box::pin(drive(&windlass, task, teller(output), Before::SoFar)).await?;
    }
}

/// Whether whoever asked is asked what should be different: a planner could write it otherwise, and somebody may sit there.
pub const fn is_dialogue(arguments: &Align) -> bool {
    arguments.request.is_some() && !arguments.output.json
}

/// Why it is as before was told on the way; what is shown then is what was agreed on before.
pub const fn written_again(exit: Exit, is_as_before: bool) -> Exit {
    if is_as_before { Exit::Failed } else { exit }
}

/// Has it written again, by whoever takes it up.
pub async fn sent_back(windlass: &Windlass, named: &str, change: String) -> anyhow::Result<TaskId> {
    let task = find(&windlass.engine, named).await?;
    windlass.engine.send_back(task, change).await.map_err(explain)?;
    Ok(task)
}

/// The same as `align` for somebody elsewhere, whose file this is: workers have it.
pub async fn align_taken_in(
    windlass: &Windlass,
    config: &Config,
    arguments: Align,
    document: Option<&str>,
) -> anyhow::Result<Sheet> {
    let patterns = patterns_in(windlass, config, &arguments.workspace).await?;
    let (submission, warnings) = submission_of(arguments, document, (config, &patterns))?;
    if let Some(cap) = &windlass.cap {
        match &submission.planning {
            Planning::Aligned(agreed) => cap.holds_plan(&agreed.plan)?,
            _ => cap.holds_planner(&submission.budget)?,
        }
    }
    let task = windlass.engine.submit(submission, Dispatch::ToWorkers, None).await.map_err(explain)?;
    let mut sheet = Sheet::new();
    warnings.into_iter().for_each(|warning| sheet.mention(warning));
    sheet.object(&task);
    Ok(sheet)
}

/// With what is to be mentioned about its file.
fn submission_of(
    arguments: Align,
    document: Option<&str>,
    (config, patterns): (&Config, &Patterns),
) -> anyhow::Result<(Submission, Vec<String>)> {
    let (planning, warnings) = planning(&arguments, document)?;
    if let Planning::Aligned(agreed) = &planning {
        known_patterns(&agreed.plan, patterns)?;
    }
    Ok((submission(&order(arguments), config, planning, patterns)?, warnings))
}

fn planning(arguments: &Align, document: Option<&str>) -> Result<(Planning, Vec<String>), WrongUse> {
    if arguments.bounds.wanted() != WantedLimits::default() && arguments.objective.goal.is_none() {
        return Err(WrongUse::new("the limits of an objective are said here beside --goal only")
            .hint("write them under `constraints` in the file, or tell them to the planner; `windlass redirect` changes them later"));
    }
    if arguments.request.is_some() {
        return Ok((Planning::Aligning, Vec::new()));
    }
    let (agreed, warnings) = match (&arguments.from, document) {
        (Some(file), Some(document)) => in_file(file, document)?,
        _ => (said(&arguments.objective, &arguments.bounds)?, Vec::new()),
    };
    Ok((Planning::Aligned(Box::new(agreed)), warnings))
}

/// The text of an objective file.
pub fn objective_document(file: &Path) -> Result<String, WrongUse> {
    read_text(file).map_err(|error| {
        WrongUse::new(format!("{}: {error}", file.display()))
            .hint("name an objective file; docs/objectives.md shows one")
    })
}

/// What is wrong with it, or worth a mention, is told behind the file's name, wherever it lies.
fn in_file(file: &Path, document: &str) -> Result<(Agreed, Vec<String>), WrongUse> {
    let path = file.display();
    let ObjectiveFile { objective, plan, resolved, selected, failed, warnings } =
        parse_objective(document).map_err(|problems| {
            let told: Vec<String> = problems.iter().map(|problem| format!("{path}:{problem}")).collect();
            WrongUse::new(told.join("\n")).hint("docs/objectives.md has every field")
        })?;
    let warnings = warnings.iter().map(|warning| format!("{path}:{warning}")).collect();
    Ok((Agreed { objective, plan, remembered: Remembered { resolved, selected, failed } }, warnings))
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
