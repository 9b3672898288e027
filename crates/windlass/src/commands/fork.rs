//! `windlass fork EXECUTION [WORDS]`: a new task that goes on with the conversation of an earlier execution, from the end of one of
//! its turns. It is a run like any other, with a budget, an approval and a journal of its own; the earlier one stays as it is.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_api::{AttachmentRequest, ForkRequest};
use windlass_domain::execution::MessageKind;
use windlass_domain::{ExecutionId, TaskId};
use windlass_engine::{Dispatch, Engine, Fork, Planning, Submission, SubmittedModel};

use super::drive::{Before, drive, explain};
use super::load::load_to_work;
use super::order::{Order, files};
use super::patterns::{gather_patterns, patterns_in};
use super::run::{chosen_model, leave_to_workers, submission_asking};
use super::subject::{Subject, subject};
use crate::arguments::{self, Limits, Output, SandboxChoice};
use crate::attach::Attachment;
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::patterns::Patterns;
use crate::show::{Screen, Sheet, left_out_line, print_json, teller};
use crate::wiring::Windlass;

pub async fn fork(arguments: arguments::Fork) -> anyhow::Result<Exit> {
    let config = load_to_work().await?;
    let fork = look_here(&arguments).await?;
    let attach = files(arguments.attach.clone());
    let patterns = gather_patterns(&config, &workspace(&arguments, &fork)).await?;
    let submission = submission_of(&arguments, attach, (&config, &patterns), &fork)?;
    let windlass = Windlass::open_to_work(config).await?;
    let key = windlass.keys.owner().map_err(WrongUse::from)?;
    let dispatch = if arguments.detach { Dispatch::ToWorkers } else { Dispatch::Here };
    let leaves_out = fork.point.leaves_out;
    let task = windlass.engine.submit_fork(submission, fork, dispatch, Some(&key)).await.map_err(explain)?;
    if arguments.detach {
        return leave_to_workers(&windlass, task, arguments.output).await;
    }
    if let Some(turn) = leaves_out {
        tell_left_out(task, turn, arguments.output);
    }
    drive(&windlass, task, teller(arguments.output), Before::Taken).await
}

/// What somebody elsewhere is told of a task that others work on.
#[derive(Debug, Serialize, Deserialize)]
pub struct Forked {
    pub task: TaskId,
    pub leaves_out: Option<u32>,
}

/// The same for somebody elsewhere, with what they attach: workers have it.
pub async fn forked(
    windlass: &Windlass,
    config: &Config,
    arguments: &arguments::Fork,
    sent: Vec<AttachmentRequest>,
) -> anyhow::Result<Sheet> {
    let fork = look(&windlass.engine, arguments).await?;
    let patterns = patterns_in(windlass, config, &workspace(arguments, &fork)).await?;
    let attach = sent.into_iter().map(Attachment::Sent).collect();
    let submission = submission_of(arguments, attach, (config, &patterns), &fork)?;
    windlass.cap.map_or(Ok(()), |cap| cap.holds(&submission.budget))?;
    let key = windlass.keys.owner().map_err(WrongUse::from)?;
    let leaves_out = fork.point.leaves_out;
    let task = windlass.engine.submit_fork(submission, fork, Dispatch::ToWorkers, Some(&key)).await.map_err(explain)?;
    let mut sheet = Sheet::new();
    sheet.object(&Forked { task, leaves_out });
    Ok(sheet)
}

async fn look_here(arguments: &arguments::Fork) -> anyhow::Result<Fork> {
    let windlass = Windlass::open(Config::look()?).await?;
    let fork = look(&windlass.engine, arguments).await;
    windlass.engine.close().await?;
    fork
}

/// What there is to go on with.
async fn look(engine: &Engine, arguments: &arguments::Fork) -> anyhow::Result<Fork> {
    let execution = execution(engine, &arguments.execution).await?;
    engine.fork_of(execution, arguments.turn).await.map_err(explain)
}

async fn execution(engine: &Engine, named: &str) -> anyhow::Result<ExecutionId> {
    let task = match subject(engine, Some(named)).await? {
        Subject::Execution(execution) => return Ok(execution),
        Subject::Task(task) => task,
    };
    let newest = engine.newest_execution(task).await.map_err(explain)?;
    Ok(newest.ok_or_else(|| {
        WrongUse::new(format!("no agent has begun on task {} itself", task.short()))
            .hint(format!("`windlass log --timeline {}` shows the executions of those who work for it", task.short()))
    })?)
}

/// The folder in which that conversation was had.
pub async fn folder_of(engine: &Engine, arguments: &arguments::Fork) -> anyhow::Result<PathBuf> {
    Ok(look(engine, arguments).await?.created.workspace.into())
}

fn workspace(arguments: &arguments::Fork, fork: &Fork) -> PathBuf {
    arguments.workspace.clone().unwrap_or_else(|| fork.created.workspace.clone().into())
}

/// For whoever asks for it over HTTP: what is not theirs to say is as the operator has it.
pub struct AskedFor {
    pub request: ForkRequest,
    pub workspace: PathBuf,
    pub limits: Limits,
    pub sandbox: SandboxChoice,
}

pub fn submission_asked_for(
    asked: AskedFor,
    (config, patterns): (&Config, &Patterns),
    fork: &Fork,
) -> anyhow::Result<Submission> {
    let AskedFor { request, workspace, limits, sandbox } = asked;
    let arguments = arguments::Fork {
        execution: fork.execution.to_string(),
        words: request.words.filter(|words| !words.trim().is_empty()),
        turn: request.turn,
        workspace: Some(workspace),
        base_case: request.base_case,
        constraints: request.constraints,
        attach: Vec::new(),
        model: request.model,
        rehearsal: None,
        detach: true,
        limits,
        sandbox,
        output: Output { json: true },
    };
    let attach = request.attachments.into_iter().map(Attachment::Sent).collect();
    submission_of(&arguments, attach, (config, patterns), fork)
}

/// As of a run in which everything that is not said is as it was.
fn submission_of(
    arguments: &arguments::Fork,
    attach: Vec<Attachment>,
    (config, patterns): (&Config, &Patterns),
    fork: &Fork,
) -> anyhow::Result<Submission> {
    let go_on = MessageKind::Resume.own_words().unwrap_or_default();
    let order = Order {
        base_case: arguments.base_case.clone(),
        constraints: arguments.constraints.clone(),
        attach,
        agent: fork.created.agent_id.clone(),
        model: arguments.model.clone(),
        rehearsal: arguments.rehearsal.clone(),
        limits: arguments.limits.clone(),
        sandbox: arguments.sandbox.clone(),
        ..Order::new(arguments.words.as_deref().unwrap_or(go_on), workspace(arguments, fork))
    };
    let submission = submission_asking(&order, config, Planning::None, patterns, model(arguments, config, fork)?)?;
    if submission.config.tactician {
        let name = &submission.config.model;
        return Err(WrongUse::new(format!("the model {name} takes no tools, and this conversation is full of them"))
            .hint("name another one with --model")
            .into());
    }
    Ok(submission)
}

/// The one that it asked, or the script that it played, unless another one is named.
fn model(arguments: &arguments::Fork, config: &Config, fork: &Fork) -> anyhow::Result<(SubmittedModel, String)> {
    let name = arguments.model.as_deref().unwrap_or(&fork.point.model);
    match (&arguments.rehearsal, &arguments.model, &fork.script) {
        (None, None, Some(script)) => Ok((SubmittedModel::Rehearsal(script.clone()), name.to_owned())),
        (Some(path), ..) => chosen_model(Some(path), Some(name), config),
        (None, ..) => chosen_model(None, Some(name), config),
    }
}

/// The record says where it comes from; what is not in it is said here.
pub fn tell_left_out(task: TaskId, turn: u32, output: arguments::Output) {
    match output.json {
        true => print_json(&json!({"type": "left_out", "task_id": task, "turn": turn})),
        false => Screen::new().print_whole(&left_out_line(turn)),
    }
}
