//! What commands have done in one go: looked at, said or decided, and told as a sheet. Here and on a server it is the same function that
//! does it, so that what is printed is the same; only who opens the store, and who prints, differs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_api::{AttachmentRequest, Scope};
use windlass_domain::{MessageId, SessionId, TaskId};
use windlass_tools::skills::Library;

use super::agent_test::agent_tested;
use super::agents::agents;
use super::agreement::agreement;
use super::align::{align_taken_in, sent_back};
use super::answer::{approve_unasked, deny, edit};
use super::asked::{asked, card_asked};
use super::attach::meant;
use super::audit_show::audit_show;
use super::audit_verify::audit_verify;
use super::cancel::cancel;
use super::dead_letters::dead_letters;
use super::explain::explain;
use super::find::{newest_unfinished, only_at_work, whole};
use super::fork::forked;
use super::gates_list::gates_listed;
use super::goals::{GoalChange, goal_changed, goal_looked_at, goal_taken_in, goals_list};
use super::graph::graph;
use super::inbox::inbox;
use super::labels::labels;
use super::mcp::mcp_list;
use super::memory::memory;
use super::patterns::{pattern_shown, patterns_in, patterns_list};
use super::redirect_errand::{RedirectStep, redirect_step};
use super::rest::rest;
use super::schedules::schedules;
use super::send::{send, with_words};
use super::skills::{skill_shown, skills_list};
use super::start::{Beginning, begin, to_begin};
use super::status::status;
use super::stop::{pause, stop};
use super::subject::{Subject, subject};
use super::wish::Wish;
use crate::arguments::{
    AgentTest, Agents, Align, Approve, Audit, AuditShow, Cancel, Command, DeadLetterAction, DeadLetters,
    DeadlineChoice, Deny, Edit, Explain, Fork, Gates, GoalNamed, GoalsAdd, GoalsCommand, Graph, Inbox, LabelsClear,
    LabelsCommand, LabelsShow, Mcp, McpList, MemoryCommand, Output, Patterns as PatternsCommand, PatternsList,
    PatternsShow, SchedulesCommand, Send, Skills, SkillsList, SkillsShow, Status, Stop,
};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::Sheet;
use crate::skills::SkillSources;
use crate::top::{Look, look};
use crate::wiring::Windlass;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Errand {
    Status(Status),
    Inbox(Inbox),
    /// What a page of `top` shows.
    Top(Look),
    Graph(Graph),
    Explain(Explain),
    Agents(Agents),
    GoalsList(Output),
    Schedules(SchedulesCommand),
    /// Which task or execution is meant; the newest task unless one is named.
    Subject(Option<String>),
    /// The executions that an id may stand for, newest first.
    Executions(String),
    /// Which task is meant to go on, as a whole, with its name where a part of it was named.
    GoesOn(Option<String>),
    /// The only task that can be asked for this.
    AtWork(Wish),
    /// What whoever is about to begin it must know.
    ToBegin(Option<String>, DeadlineChoice),
    /// How it rests, if it does.
    Rest(TaskId),
    /// How the turn ended that a message had, if it has.
    Turn(SessionId, MessageId),
    /// A card as it is shown before it is approved.
    Card(String),
    /// What a task waits for.
    Asked(TaskId),
    PatternsList(PatternsList),
    PatternsShow(PatternsShow),
    SkillsList(SkillsList),
    SkillsShow(SkillsShow),
    GatesList(Output),
    Labels(LabelsCommand),
    Memory(MemoryCommand),
    Begin(Box<Beginning>),
    Redirect(RedirectStep),
    /// With what is attached.
    Fork(Box<Fork>, Vec<AttachmentRequest>),
    /// With its document, where it has one.
    Align(Box<Align>, Option<String>),
    /// Which objective is to be written again, and what is to be different.
    SendBack(String, String),
    /// What is agreed on.
    Agreement(TaskId),
    /// With its document.
    GoalsAdd(Box<GoalsAdd>, String),
    GoalsRun(GoalNamed),
    Send(Send),
    Pause(Stop),
    Stop(Stop),
    Cancel(Cancel),
    Goal(GoalNamed, GoalChange),
    Approve(Approve),
    Deny(Deny),
    Edit(Edit),
    AuditShow(AuditShow),
    AuditVerify(Output),
    DeadLetters(DeadLetterAction),
    AgentTest(AgentTest),
    McpList(McpList),
}

impl Errand {
    /// What a command comes to that is done in one go. All others are somebody's who works on a data directory.
    pub fn of(command: Command) -> anyhow::Result<Self> {
        Ok(match command {
            Command::Status(arguments) => Self::Status(arguments),
            Command::Inbox(arguments) => Self::Inbox(arguments),
            Command::Graph(arguments) => Self::Graph(arguments),
            Command::Explain(arguments) => Self::Explain(arguments),
            Command::Agents(arguments) => Self::Agents(arguments),
            Command::Goals(GoalsCommand::List(output)) => Self::GoalsList(output),
            Command::Goals(GoalsCommand::Pause(named)) => Self::Goal(named, GoalChange::Pause),
            Command::Goals(GoalsCommand::Resume(named)) => Self::Goal(named, GoalChange::Resume),
            Command::Goals(GoalsCommand::Remove(named)) => Self::Goal(named, GoalChange::Remove),
            Command::Schedules(command) => Self::Schedules(command),
            Command::Send(arguments) => Self::Send(with_words(arguments)?),
            Command::Stop(arguments) => Self::Stop(arguments),
            Command::Pause(arguments) => Self::Pause(arguments),
            Command::Patterns(PatternsCommand::List(arguments)) => Self::PatternsList(arguments),
            Command::Patterns(PatternsCommand::Show(arguments)) => Self::PatternsShow(arguments),
            Command::Skills(Skills::List(arguments)) => Self::SkillsList(arguments),
            Command::Skills(Skills::Show(arguments)) => Self::SkillsShow(arguments),
            Command::Gates(Gates::List(output)) => Self::GatesList(output),
            Command::Labels(command) => Self::Labels(command),
            Command::Memory(command) => Self::Memory(command),
            Command::Cancel(arguments) => Self::Cancel(arguments),
            Command::Approve(arguments) => Self::Approve(arguments),
            Command::Deny(arguments) => Self::Deny(arguments),
            Command::Edit(arguments) => Self::Edit(arguments),
            Command::Mcp(Mcp::List(arguments)) => Self::McpList(arguments),
            Command::Audit(Audit::Show(arguments)) => Self::AuditShow(arguments),
            Command::Audit(Audit::Verify(output)) => Self::AuditVerify(output),
            Command::DeadLetters(DeadLetters { action, output }) => {
                Self::DeadLetters(action.unwrap_or(DeadLetterAction::List(output)))
            }
            other => {
                let name = other.name();
                return Err(WrongUse::new(format!("`windlass {name}` is for the machine whose data directory it is"))
                    .hint("type it there, without --server, WINDLASS_SERVER and `[client] server`")
                    .into());
            }
        })
    }

    /// What a token must be good for.
    pub const fn scope(&self) -> Scope {
        match self {
            Self::Status(_)
            | Self::Inbox(_)
            | Self::Top(_)
            | Self::Graph(_)
            | Self::Explain(_)
            | Self::Agents(_)
            | Self::GoalsList(_)
            | Self::Schedules(SchedulesCommand::List(_))
            | Self::Subject(_)
            | Self::Executions(_)
            | Self::GoesOn(_)
            | Self::AtWork(_)
            | Self::ToBegin(..)
            | Self::Rest(_)
            | Self::Turn(..)
            | Self::Card(_)
            | Self::Asked(_)
            | Self::Agreement(_)
            | Self::PatternsList(_)
            | Self::PatternsShow(_)
            | Self::SkillsList(_)
            | Self::SkillsShow(_)
            | Self::GatesList(_)
            | Self::Labels(LabelsCommand::Show(_))
            | Self::Memory(MemoryCommand::List(_) | MemoryCommand::Search(_))
            | Self::Redirect(RedirectStep::Meant(_) | RedirectStep::Planner(_) | RedirectStep::Show(_)) => Scope::Read,
            Self::Send(_)
            | Self::Pause(_)
            | Self::Stop(_)
            | Self::Cancel(_)
            | Self::Goal(..)
            | Self::GoalsRun(_)
            | Self::Schedules(_)
            | Self::Memory(_)
            | Self::Align(..)
            | Self::SendBack(..)
            | Self::Redirect(RedirectStep::Ask { .. } | RedirectStep::Leave(_)) => Scope::Write,
            // Whoever begins something, or says that they have looked at it, has it signed. The checks of a goal are run from then on.
            Self::GoalsAdd(..)
            | Self::Approve(_)
            | Self::Deny(_)
            | Self::Edit(_)
            | Self::Begin(_)
            | Self::Redirect(RedirectStep::Make(_))
            | Self::Fork(..)
            | Self::Labels(LabelsCommand::Clear(_)) => Scope::Approve,
            Self::AuditShow(_)
            | Self::AuditVerify(_)
            | Self::DeadLetters(_)
            | Self::AgentTest(_)
            | Self::McpList(_) => Scope::Admin,
        }
    }

    /// Whether programs are started for it that no task's budget holds, perhaps with the operator's keys.
    pub const fn is_the_operators(&self) -> bool {
        matches!(self, Self::AgentTest(_) | Self::McpList(_))
    }

    /// Whether it only looks.
    pub const fn looks(&self) -> bool {
        matches!(self.scope(), Scope::Read)
            || matches!(
                self,
                Self::AuditShow(_)
                    | Self::AuditVerify(_)
                    | Self::DeadLetters(DeadLetterAction::List(_) | DeadLetterAction::Show(_))
            )
    }

    /// How much longer than a moment it may take, where others are started for it.
    pub const fn patience(&self) -> Duration {
        match self {
            Self::AgentTest(arguments) => Duration::from_secs(arguments.timeout),
            Self::McpList(_) | Self::Agents(_) => Duration::from_secs(300),
            _ => Duration::ZERO,
        }
    }

    /// The folder of the machine's that it is about.
    pub const fn folder(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::PatternsList(PatternsList { workspace, .. })
            | Self::PatternsShow(PatternsShow { workspace, .. })
            | Self::SkillsList(SkillsList { workspace, .. })
            | Self::SkillsShow(SkillsShow { workspace, .. })
            | Self::Labels(
                LabelsCommand::Show(LabelsShow { workspace, .. }) | LabelsCommand::Clear(LabelsClear { workspace, .. }),
            ) => Some(workspace),
            Self::Fork(arguments, _) => arguments.workspace.as_mut(),
            Self::Align(arguments, _) => Some(&mut arguments.workspace),
            Self::McpList(arguments) => Some(&mut arguments.workspace),
            Self::GoalsAdd(arguments, _) => Some(&mut arguments.workspace),
            _ => None,
        }
    }

    pub async fn carried_out(self, windlass: &Windlass, config: &Config) -> anyhow::Result<Sheet> {
        match self {
            Self::Status(arguments) => status(windlass, config, &arguments).await,
            Self::Inbox(arguments) => inbox(windlass, &arguments).await,
            Self::Top(wanted) => Ok(told(&Box::pin(look(windlass, wanted)).await?)),
            Self::Graph(arguments) => graph(windlass, &arguments).await,
            Self::Explain(arguments) => explain(windlass, &arguments).await,
            Self::Agents(arguments) => Box::pin(agents(config, &arguments)).await,
            Self::GoalsList(output) => goals_list(windlass, output).await,
            Self::Schedules(command) => schedules(windlass, command).await,
            Self::Subject(named) => Ok(told(&match subject(&windlass.engine, named.as_deref()).await? {
                Subject::Task(task) => json!({"task_id": task}),
                Subject::Execution(execution) => json!({"execution_id": execution}),
            })),
            Self::Executions(id) => Ok(told(&meant(&windlass.engine, &id).await?)),
            Self::GoesOn(named) => goes_on(windlass, named.as_deref()).await,
            Self::AtWork(wish) => Ok(told(&only_at_work(&windlass.engine, wish).await?)),
            Self::ToBegin(named, deadline) => to_begin(windlass, named.as_deref(), deadline).await,
            Self::Rest(task) => Ok(told(&rest(windlass, task).await?)),
            Self::Turn(session, message) => {
                let ended = windlass.engine.turn_about(session, message).await;
                Ok(told(&ended.map_err(super::drive::explain)?))
            }
            Self::Card(named) => card_asked(windlass, &named).await,
            Self::Asked(task) => asked(windlass, task).await,
            Self::PatternsList(PatternsList { workspace, output }) => {
                Ok(patterns_list(&patterns_in(windlass, config, &workspace).await?, output))
            }
            Self::PatternsShow(PatternsShow { name, workspace, output }) => {
                pattern_shown(&patterns_in(windlass, config, &workspace).await?, &name, output)
            }
            Self::SkillsList(SkillsList { workspace, output }) => {
                Ok(skills_list(&skills_in(windlass, config, &workspace).await?, output))
            }
            Self::SkillsShow(SkillsShow { name, workspace, output }) => {
                skill_shown(&skills_in(windlass, config, &workspace).await?, &name, output)
            }
            Self::GatesList(output) => Ok(gates_listed(config, output)),
            Self::Labels(command) => labels(windlass, &command).await,
            Self::Memory(command) => Box::pin(memory(windlass, &command)).await,
            Self::Begin(beginning) => Box::pin(begin(windlass, *beginning)).await,
            Self::Redirect(step) => Box::pin(redirect_step(windlass, step)).await,
            Self::Fork(arguments, sent) => Box::pin(forked(windlass, config, &arguments, sent)).await,
            Self::Align(arguments, document) => {
                Box::pin(align_taken_in(windlass, config, *arguments, document.as_deref())).await
            }
            Self::SendBack(named, change) => Ok(told(&sent_back(windlass, &named, change).await?)),
            Self::Agreement(task) => {
                let (mut sheet, agreed) = agreement(windlass, task).await?;
                sheet.object(&agreed);
                Ok(sheet)
            }
            Self::GoalsAdd(arguments, document) => {
                Box::pin(goal_taken_in(windlass, config, *arguments, &document)).await
            }
            Self::GoalsRun(named) => Box::pin(goal_looked_at(windlass, &named)).await,
            Self::Pause(arguments) => Box::pin(pause(windlass, &arguments)).await,
            Self::Send(arguments) => Box::pin(send(windlass, config, arguments)).await,
            Self::Stop(arguments) => Box::pin(stop(windlass, &arguments)).await,
            Self::Cancel(arguments) => Box::pin(cancel(windlass, &arguments)).await,
            Self::Goal(named, change) => goal_changed(windlass, &named, change).await,
            Self::Approve(arguments) => Box::pin(approve_unasked(windlass, arguments)).await,
            Self::Deny(arguments) => Box::pin(deny(windlass, arguments)).await,
            Self::Edit(arguments) => Box::pin(edit(windlass, arguments)).await,
            Self::AuditShow(arguments) => audit_show(windlass, &arguments).await,
            Self::AuditVerify(output) => audit_verify(windlass, output).await,
            Self::DeadLetters(action) => dead_letters(windlass, action).await,
            Self::AgentTest(arguments) => Box::pin(agent_tested(config, &arguments)).await,
            Self::McpList(arguments) => Box::pin(mcp_list(config, &arguments)).await,
        }
    }
}

/// For the program itself.
fn told(value: &impl Serialize) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.object(value);
    sheet
}

async fn skills_in(windlass: &Windlass, config: &Config, workspace: &Path) -> anyhow::Result<Library> {
    Ok(SkillSources::new(config).gather(Some(workspace), &windlass.engine.labels(workspace).await?))
}

async fn goes_on(windlass: &Windlass, named: Option<&str>) -> anyhow::Result<Sheet> {
    let engine = &windlass.engine;
    let named = match named {
        Some(named) => super::find::find(engine, named).await?,
        None => newest_unfinished(engine).await?,
    };
    let (task, part) = whole(engine, named).await?;
    let is_over = engine.task(task).await.map_err(super::drive::explain)?.is_over();
    Ok(told(&json!({"task_id": task, "named": named, "part": part, "is_over": is_over})))
}

/// On the data directory of this machine.
pub async fn errand(errand: Errand) -> anyhow::Result<Exit> {
    let drawing = drawing(&errand);
    shown(Box::pin(done_here(errand)).await?, drawing)
}

/// The same for whoever shows it in their own way.
pub async fn done_here(errand: Errand) -> anyhow::Result<Sheet> {
    // Whoever says yes does so knowing what holds; nobody is kept from looking, or from saying no.
    // What an embedder is asked with must hold, too.
    let must_hold = matches!(errand, Errand::Approve(_) | Errand::Memory(MemoryCommand::Search(_)));
    let config = if must_hold { Config::load()? } else { Config::look()? };
    // Who is there can be said without a store.
    if let Errand::Agents(arguments) = &errand {
        return Box::pin(agents(&config, arguments)).await;
    }
    let windlass = Windlass::open(config.clone()).await?;
    let looks = errand.looks();
    let told = errand.carried_out(&windlass, &config).await;
    // What was refused may be in the audit, too.
    if !looks {
        windlass.engine.close().await?;
    }
    told
}

/// The file that a drawing is for: it is written where the command is typed.
pub type Drawing = Option<(PathBuf, Output)>;

pub fn drawing(errand: &Errand) -> Drawing {
    match errand {
        Errand::Graph(arguments) => arguments.svg.clone().map(|path| (path, arguments.output)),
        _ => None,
    }
}

pub fn shown(sheet: Sheet, drawing: Drawing) -> anyhow::Result<Exit> {
    let sheet = match drawing {
        Some((path, output)) => super::graph::keep_drawing(&path, sheet, output)?,
        None => sheet,
    };
    Ok(sheet.show())
}
