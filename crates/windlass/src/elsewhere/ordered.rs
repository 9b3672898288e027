//! `windlass run`, `plan` and `resume` for a server: what is asked for goes there, and is worked on there, in a folder of the server's.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use windlass_api::{AttachmentRequest, DeadlineWord, Heard, LimitsRequest, PlanningWord, TaskAccepted, TaskRequest};
use windlass_domain::TaskId;

use super::align::agreement;
use super::far::{Far, explained};
use super::follow::{Before, follow};
use crate::arguments::{self, DeadlineActionName, DeadlineChoice, Limits, Output, SandboxChoice};
use crate::attach::to_send;
use crate::commands::{Errand, Order, contradicted, left_to_workers, plan_to_run, tell_how_to_begin};
use crate::exit::{Exit, WrongUse};
use crate::show::teller;
use crate::text_file::read_text;

/// How it is waited for.
struct Waiting {
    detach: bool,
    output: Output,
}

pub async fn run(far: &Far, mut arguments: arguments::Run) -> anyhow::Result<Exit> {
    let waiting = Waiting { detach: arguments.detach, output: arguments.output };
    let (plan, deadline) = (arguments.plan.clone(), arguments.deadline.clone());
    let attached = to_send(&std::mem::take(&mut arguments.attach))?;
    let order = Order::from(arguments);
    servers_to_say(&order)?;
    let document = match &plan {
        None => None,
        Some(file) => {
            contradicted(&order)?;
            plan_to_run(file)?;
            Some(read_text(file).map_err(|error| WrongUse::new(format!("{}: {error}", file.display())))?)
        }
    };
    let planning = if document.is_some() { PlanningWord::Given } else { PlanningWord::None };
    begin(far, TaskRequest { document, ..request(order, attached, planning, deadline)? }, &waiting).await
}

pub async fn plan(far: &Far, mut arguments: arguments::Plan) -> anyhow::Result<Exit> {
    let waiting = Waiting { detach: arguments.detach, output: arguments.output };
    let deadline = arguments.deadline.clone();
    let attached = to_send(&std::mem::take(&mut arguments.attach))?;
    let order = Order::from(arguments);
    servers_to_say(&order)?;
    // What a planner may use unless somebody says otherwise is the server's to say.
    begin(far, request(order, attached, PlanningWord::Wanted, deadline)?, &waiting).await
}

async fn begin(far: &Far, request: TaskRequest, waiting: &Waiting) -> anyhow::Result<Exit> {
    let taken: TaskAccepted = far.client.post("/v1/tasks", &request).await.map_err(explained)?;
    let task: TaskId = taken.task_id.parse()?;
    match waiting.detach {
        true => Ok(left_to_workers(task, waiting.output).show()),
        false => follow(far, task, &teller(waiting.output), Before::Taken).await,
    }
}

/// What belongs to the machine that works: its operator has chosen it for everybody who asks.
fn servers_to_say(order: &Order) -> Result<(), WrongUse> {
    let SandboxChoice { sandbox, no_isolation } = &order.sandbox;
    sayable(&[
        Unsayable { flag: "--rehearsal", is_said: order.rehearsal.is_some() },
        Unsayable { flag: "--sandbox", is_said: sandbox.is_some() || *no_isolation },
    ])
}

/// A flag that only the machine itself can be told.
pub struct Unsayable {
    pub flag: &'static str,
    pub is_said: bool,
}

pub fn sayable(flags: &[Unsayable]) -> Result<(), WrongUse> {
    match flags.iter().find(|flag| flag.is_said) {
        None => Ok(()),
        Some(Unsayable { flag, .. }) => Err(WrongUse::new(format!("{flag} cannot be said to a server"))
            .hint("leave it out, or type the command on the server's machine, without --server")),
    }
}

fn request(
    order: Order,
    attachments: Vec<AttachmentRequest>,
    planning: PlanningWord,
    until: DeadlineChoice,
) -> Result<TaskRequest, WrongUse> {
    let deadline_action = until.deadline_action.map(|action| match action {
        DeadlineActionName::Fail => DeadlineWord::Fail,
        DeadlineActionName::CompletePartial => DeadlineWord::CompletePartial,
        DeadlineActionName::PauseAndNotify => DeadlineWord::PauseAndNotify,
    });
    Ok(TaskRequest {
        goal: order.goal,
        workspace: folder(&order.workspace)?,
        base_case: order.base_case,
        constraints: order.constraints,
        planning,
        document: None,
        agent: Some(order.agent),
        model: order.model,
        pattern: order.pattern,
        tactician: order.tactician,
        attachments,
        limits: limits(order.limits),
        terminal: order.terminal,
        deadline: until.deadline,
        deadline_action,
        session_id: None,
    })
}

pub fn limits(said: Limits) -> LimitsRequest {
    let Limits { max_iterations, timeout: timeout_seconds, max_tokens, max_cost: max_cost_usd, max_attempts } = said;
    LimitsRequest { max_tokens, max_cost_usd, max_attempts, max_iterations, timeout_seconds }
}

/// As the server has it; where none is named, the first that its operator has listed.
pub fn folder(named: &Path) -> Result<Option<String>, WrongUse> {
    if named == Path::new(".") {
        return Ok(None);
    }
    let text = PathBuf::from(named).into_os_string().into_string();
    text.map(Some).map_err(|_| WrongUse::new("the folder's name is not text, and cannot be said to a server"))
}

#[derive(Debug, Deserialize)]
struct GoesOn {
    task_id: TaskId,
    named: TaskId,
    part: Option<String>,
    is_over: bool,
}

pub async fn resume(far: &Far, arguments: arguments::Resume) -> anyhow::Result<Exit> {
    let meant: GoesOn = far.answer(Errand::GoesOn(arguments.task)).await.map_err(explained)?;
    let task = meant.task_id;
    if meant.is_over {
        return Err(WrongUse::new(format!("task {} has already ended", task.short()))
            .hint(format!("`windlass log {}` shows how", task.short()))
            .into());
    }
    let teller = teller(arguments.output);
    if let Some(part) = meant.part {
        teller.remark(&format!("task {} is {part}, which is gone on with as a whole", meant.named.short()));
    }
    let asked = far.client.post::<Heard>(&format!("/v1/tasks/{task}/resume"), &serde_json::json!({})).await;
    asked.map_err(explained)?;
    let exit = follow(far, task, &teller, Before::SoFar).await?;
    // Nobody has seen what was agreed on while it was asked about.
    if !arguments.output.json && exit == Exit::Completed {
        let (sheet, agreed) = agreement(far, task).await?;
        if agreed.card.is_some() {
            sheet.show();
            tell_how_to_begin(task);
        }
    }
    Ok(exit)
}
