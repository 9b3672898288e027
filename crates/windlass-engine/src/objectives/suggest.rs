//! Redirecting in a person's own words: a planner, a task of its own that looks and changes nothing, turns them into one change. Nothing
//! comes of that by itself: whoever asked reads it, has it drawn as any other change, and says whether it is meant. The objective is
//! worked on meanwhile.

use windlass_domain::graph::{Change, GraphAction};
use windlass_domain::plan::Plan;
use windlass_domain::role_output::{WantedChange, read_wanted_change};
use windlass_domain::task::{Part, PartOf, TaskCreated};
use windlass_domain::{BaseCase, ErrorCode, ErrorDetails, Role, Taint, TaskId, TaskResult, TaskResultStatus};
use windlass_plan::{NoChange, change_of};
use windlass_store::{Commit, Error as StoreError};

use super::redirect::not_now;
use super::start::TRIES;
use crate::Error;
use crate::engine::Engine;
use crate::filled::filled;
use crate::host::Rider;
use crate::parts::Work;
use crate::questions::LONGEST_MESSAGE;
use crate::submit::Heard;

const CORRECT: &str = include_str!("../../../../prompts/plan/correct.md");

/// What a planner made of a person's words.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggested {
    pub change: Change,
    /// What it is, in a sentence that is not the planner's.
    pub described: String,
    /// What the planner says of it.
    pub message: String,
    /// Of what it had read.
    pub taint: Taint,
}

impl Engine {
    /// Has a planner look for the change that these words ask for; the task that it does so in.
    pub async fn ask_for_change(&self, task: TaskId, words: &str) -> Result<TaskId, Error> {
        if words.trim().is_empty() {
            return Err(Error::EmptyMessage);
        }
        if words.len() > LONGEST_MESSAGE {
            return Err(Error::MessageTooLong { most: LONGEST_MESSAGE });
        }
        let heard = self.hear(task, words.to_owned(), &[]).await?;
        let mut tries = 0;
        loop {
            tries += 1;
            match Box::pin(self.try_to_ask(task, &heard)).await {
                Err(Error::Store(StoreError::Conflict { .. })) if tries < TRIES => {}
                asked => return asked,
            }
        }
    }

    async fn try_to_ask(&self, task: TaskId, heard: &Heard) -> Result<TaskId, Error> {
        let shared = &self.shared;
        let created = self.objective_task(task).await?;
        let mut graph = self.graph_journal(task).await?;
        if let Some(why) = not_now(&graph.state) {
            return Err(Error::NotAligned(why.to_owned()));
        }
        let Some(Plan(root)) = &graph.state.plan else { return Err(Error::NoSuchTask(task)) };
        let purse = self.purse(&graph.state, &root.plan_budget, task).await?;
        if purse.is_empty() {
            return Err(Error::NotAligned(
                "nothing is left to pay a planner from: say it with flags (`windlass redirect --help`)".to_owned(),
            ));
        }
        let page = self.objective_page(task).await?;
        let work = Work {
            part_of: PartOf { task, root: task, part: Part::Correction {} },
            role: Role::Planner,
            agent_id: "planner".to_owned(),
            goal: filled(CORRECT, &[("words", heard.words.trim()), ("objective", page.trim())]),
            checks: BaseCase(Vec::new()),
            budget: purse.half(&created),
        };
        let mut rider = Rider { expect: purse.guards, ..Rider::default() };
        rider.events.extend(heard.audited.clone());
        let planner = self.take_part(&mut rider, &created, work)?;
        // What it may use is set aside: others who ask find less.
        graph.ride(&mut rider, [GraphAction::Seek(planner)], &shared.redactor, Taint::Auth, shared.wall())?;
        let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
        rider.ride(&mut commit);
        shared.commit(commit).await?;
        Ok(planner)
    }

    /// What came of it, once it has ended; or why nothing did.
    pub async fn suggested(&self, planner: TaskId) -> Result<Result<Suggested, ErrorDetails>, Error> {
        let state = self.task(planner).await?;
        let (Some(created), Some(result)) = (&state.created, &state.result) else {
            return Err(Error::NoSuchTask(planner));
        };
        let (taint, _) = state.inherited();
        let read = match said(result) {
            Ok(said) => self.read_change(said, created).await?,
            Err(error) => return Ok(Err(error)),
        };
        let none = |why: String| ErrorDetails::new(ErrorCode::AnswerIncomplete, why);
        Ok(match read {
            Read::Change { change, described, message } => Ok(Suggested { change: *change, described, message, taint }),
            Read::None(why) => Err(none(format!("the planner sees no such change: {why}"))),
            Read::Unusable(why) => Err(none(format!("the planner's answer is no change that can be made: {why}"))),
        })
    }

    /// What is wrong with a planner's answer, if anything is that it can put right.
    pub(crate) async fn no_change_in(&self, said: &str, planner: &TaskCreated) -> Result<Option<String>, Error> {
        match self.read_change(said, planner).await? {
            Read::Unusable(why) => Ok(Some(why)),
            Read::None(_) => Ok(None),
            Read::Change { change, .. } => {
                let Some(PartOf { root, .. }) = planner.part_of else { return Ok(None) };
                match Box::pin(self.preview_redirect(root, &change)).await {
                    Err(
                        refused @ (Error::CannotCorrect(_)
                        | Error::UnfitPlan(_)
                        | Error::SecretInCheck
                        | Error::Unsigned(_)),
                    ) => Ok(Some(refused.to_string())),
                    // What happened to the objective meanwhile is not for the planner to mend.
                    Ok(_) | Err(Error::NotAligned(_) | Error::Over(_) | Error::Overtaken(_)) => Ok(None),
                    Err(error) => Err(error),
                }
            }
        }
    }

    async fn read_change(&self, said: &str, planner: &TaskCreated) -> Result<Read, Error> {
        let Some(PartOf { root, .. }) = planner.part_of else {
            return Err(Error::NoSuchTask(planner.command.task_id));
        };
        let graph = self.graph(root).await?;
        let wanted: WantedChange = match read_wanted_change(said) {
            Ok(wanted) => wanted,
            Err(why) => return Ok(Read::Unusable(why)),
        };
        Ok(match change_of(&wanted, &graph) {
            Ok((change, described)) => Read::Change { change: Box::new(change), described, message: wanted.message },
            Err(NoChange::Nothing) => Read::None(wanted.message),
            Err(other) => Read::Unusable(other.to_string()),
        })
    }
}

enum Read {
    Change {
        change: Box<Change>,
        described: String,
        message: String,
    },
    /// There is none; why, in its words.
    None(String),
    Unusable(String),
}

fn said(result: &TaskResult) -> Result<&str, ErrorDetails> {
    match (result.status, &result.final_message) {
        (TaskResultStatus::Completed, Some(said)) => Ok(said),
        _ => Err(result
            .error_details
            .clone()
            .unwrap_or_else(|| ErrorDetails::new(ErrorCode::Internal, "the planner ended without an answer"))),
    }
}
