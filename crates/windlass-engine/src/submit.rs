//! Taking a task in: what was asked is durable before anything is done about it.

use std::path::PathBuf;
use std::sync::Arc;

use windlass_domain::approval::CardId;
use windlass_domain::graph::{GraphAction, Objective, PlanProposed, Proposer, Remembered};
use windlass_domain::plan::Plan;
use windlass_domain::task::{ExecutionConfig, ModelChoice, TaskAction, TaskCommand, TaskCreated};
use windlass_domain::{BaseCase, Budget, CommandId, MessageId, Role, SessionId, SkillSeen, Taint, TaskId, TreeId};
use windlass_policy::approve::OwnerKey;
use windlass_policy::gate::{Gate, Trigger};
use windlass_store::{Commit, NewEvent};

use crate::Error;
use crate::attach::Attached;
use crate::attempt::{Following, TaskJournal};
use crate::coordinate::Place;
use crate::deadlines::deadline_timer;
use crate::engine::Engine;
use crate::forks::Fork;
use crate::graph::GraphJournal;
use crate::host::{Held, Passed, Rider, pass_words};
use crate::plans::{There, Writes, holds_secret, too_large, unfit};

/// So many that nobody has answered: who asks for more would bury the person who is to answer.
const MOST_FROM_OUTSIDE: usize = 20;

/// What a user asks for, before it has an id.
#[derive(Debug, Clone)]
pub struct Submission {
    pub goal: String,
    pub constraints: Vec<String>,
    pub attachments: Vec<Attached>,
    pub config: ExecutionConfig,
    pub agent_id: String,
    pub model: SubmittedModel,
    pub workspace: PathBuf,
    pub base_case: BaseCase,
    pub budget: Budget,
    pub sandbox: String,
    pub planning: Planning,
}

impl Submission {
    /// Its own, and those of the items of a plan that comes with it.
    fn checks(&self) -> Vec<&BaseCase> {
        let mut checks = vec![&self.base_case];
        if let Some(plan) = self.plan() {
            checks.extend(plan.0.all().into_iter().map(|item| &item.verify));
        }
        if let Planning::Aligned(agreed) = &self.planning {
            checks.push(&agreed.objective.base_case);
        }
        checks
    }

    /// One that comes with it.
    fn plan(&self) -> Option<&Plan> {
        match &self.planning {
            Planning::None | Planning::Wanted | Planning::Aligning => None,
            Planning::Given(plan) => Some(plan),
            Planning::Aligned(agreed) => Some(&agreed.plan),
        }
    }
}

/// Whether the goal is worked on as it stands, or after a plan.
#[derive(Debug, Clone, Default)]
pub enum Planning {
    #[default]
    None,
    /// A planner is to write one.
    Wanted,
    /// The user has one.
    Given(Box<Plan>),
    /// A planner is to find out with the user what is wanted, and when a machine can tell that it is there.
    Aligning,
    /// That is agreed on; it begins when somebody says so.
    Aligned(Box<Agreed>),
}

/// What is wanted, the graph to work through, and what is there already.
#[derive(Debug, Clone)]
pub struct Agreed {
    pub objective: Objective,
    pub plan: Plan,
    pub remembered: Remembered,
}

/// Which provider answers; the model's name is in `config`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubmittedModel {
    OpenAi {
        base_url: String,
    },
    OpenAiResponses {
        base_url: String,
    },
    Anthropic {
        base_url: String,
    },
    /// A script's text, played instead of asking anybody.
    Rehearsal(String),
}

/// Who is to work on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dispatch {
    /// This process, as soon as it is asked to; should it die, any worker.
    Here,
    ToWorkers,
}

/// As what a task is taken in.
pub(crate) enum Taken {
    Task,
    /// The same in the words of somebody who is not the owner.
    FromOutside,
    /// One that a caller names, in a session of the caller's.
    Commanded(Box<Commission>),
    /// One that goes on with the conversation of another.
    Fork(Box<Fork>),
    /// The turn of something that was said in a session, with the records of that.
    Turn {
        task: TaskId,
        session: SessionId,
        message: MessageId,
        rider: Box<Rider>,
    },
}

/// Under which ids a task is taken in, and what is kept in the same commit.
pub(crate) struct Commission {
    pub task: TaskId,
    pub session: SessionId,
    pub command: CommandId,
    pub place: Place,
    pub rider: Rider,
}

/// Words as they passed the gates.
pub(crate) struct Heard {
    pub words: String,
    pub audited: Option<NewEvent>,
}

impl Engine {
    /// `issuer` signs what is asked for: attempts then begin on that word, and on nothing else.
    pub async fn submit(
        &self,
        submission: Submission,
        dispatch: Dispatch,
        issuer: Option<&OwnerKey>,
    ) -> Result<TaskId, Error> {
        Box::pin(self.take_task(submission, dispatch, issuer, Taken::Task)).await
    }

    /// A task that somebody asks for who is not the owner, such as another agent. Its words are external wherever they come to stand, and
    /// nobody signs for it: only one with a plan is taken, and that begins when a person has agreed to it.
    pub async fn submit_from_outside(&self, submission: Submission, dispatch: Dispatch) -> Result<TaskId, Error> {
        if !matches!(submission.planning, Planning::Given(_)) {
            return Err(Error::NoPlanFromOutside);
        }
        if self.open_from_outside().await? >= MOST_FROM_OUTSIDE {
            return Err(Error::TooManyFromOutside { most: MOST_FROM_OUTSIDE });
        }
        Box::pin(self.take_task(submission, dispatch, None, Taken::FromOutside)).await
    }

    /// How many such tasks a person has still to say yes or no to.
    async fn open_from_outside(&self) -> Result<usize, Error> {
        let mut open = 0;
        for asked in self.cards().await? {
            open += usize::from(self.is_from_outside(asked.task).await?);
        }
        Ok(open)
    }

    pub(crate) async fn take_task(
        &self,
        submission: Submission,
        dispatch: Dispatch,
        issuer: Option<&OwnerKey>,
        taken: Taken,
    ) -> Result<TaskId, Error> {
        let shared = &self.shared;
        self.may_be_taken(&submission)?;
        let taint = match taken {
            Taken::FromOutside => Taint::External,
            Taken::Task | Taken::Commanded(_) | Taken::Turn { .. } | Taken::Fork(_) => Taint::Auth,
        };
        let (taken, fork) = match taken {
            Taken::Fork(fork) => (Taken::Task, Some(*fork)),
            taken => (taken, None),
        };
        let mut command_id = CommandId::new(shared.wall(), shared.runtime.random());
        let mut place = Place::Begins;
        let (task_id, session_id, turn, rider) = match taken {
            Taken::Task | Taken::FromOutside | Taken::Fork(_) => {
                let task = TaskId::new(shared.wall(), shared.runtime.random());
                let session = SessionId::new(shared.wall(), shared.runtime.random());
                (task, session, None, None)
            }
            Taken::Commanded(commission) => {
                let Commission { task, session, command, place: given, rider } = *commission;
                (command_id, place) = (command, given);
                (task, session, None, Some(Box::new(rider)))
            }
            Taken::Turn { task, session, message, rider } => (task, session, Some(message), Some(rider)),
        };
        if let Some(plan) = submission.plan() {
            let folder = submission.workspace.to_string_lossy();
            self.knows_earlier(Following { task: task_id, folder: &folder }, plan).await?;
        }
        // What a user says in a session was heard before it became a turn.
        let goal = match turn {
            None => self.hear_as(taint, task_id, submission.goal.clone(), &[]).await?,
            Some(_) => Heard { words: submission.goal.clone(), audited: None },
        };
        let mut constraints = Vec::with_capacity(submission.constraints.len());
        for constraint in &submission.constraints {
            constraints.push(self.hear_as(taint, task_id, constraint.clone(), &[]).await?);
        }
        let attached = self.take_in(task_id, submission.attachments.clone()).await?;
        let planned = !matches!(submission.planning, Planning::None);
        let baseline = match submission.base_case.0.is_empty() && !planned {
            true => None,
            false => Some(self.capture(submission.workspace.clone()).await?),
        };
        let skills = self.skills(submission.workspace.clone()).await?;
        if let Some(plan) = submission.plan()
            && let reasons = unfit(
                plan,
                There {
                    writes: Writes::Plan,
                    skills: &skills,
                    patterns: &submission.config.patterns,
                    agents: shared.law.agents.as_deref(),
                    redactor: &shared.redactor,
                },
            )
            && !reasons.is_empty()
        {
            return Err(Error::UnfitPlan(reasons));
        }
        let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
        commit.blobs.extend(attached.blobs);
        let forked = match fork {
            Some(fork) => Some(self.keep_fork(&mut commit, fork).await?),
            None => None,
        };
        if let Some(from) = &forked {
            commit.events.push(self.forked(task_id, from, commit.at));
        }
        let name = submission.config.model.clone();
        let model = self.model_choice(&mut commit, submission.model, name).await?;
        let created = TaskCreated {
            command: TaskCommand {
                command_id,
                session_id,
                task_id,
                goal: goal.words,
                constraints: constraints.iter().map(|heard| heard.words.clone()).collect(),
                execution_config: submission.config,
                resume_context: None,
            },
            agent_id: if turn.is_some() { "proxy".to_owned() } else { submission.agent_id },
            role: if turn.is_some() { Role::Proxy } else { Role::Executor },
            model,
            workspace: submission.workspace.to_string_lossy().into_owned(),
            base_case: submission.base_case,
            budget: submission.budget,
            sandbox: submission.sandbox,
            baseline,
            placement: Some(shared.process.place().to_owned()),
            attachments: attached.attachments,
            // What a plan comes to is approved when it is there.
            approval: issuer.filter(|_| !planned).map(|_| CardId::new(shared.wall(), shared.runtime.random())),
            skills: skills.into(),
            planned,
            aligns: matches!(submission.planning, Planning::Aligning | Planning::Aligned(_)),
            part_of: None,
            turn,
            goal: None,
            forked,
        };
        let journal = TaskJournal::new(task_id);
        let create = TaskAction::Create(Box::new(created));
        let decided = journal
            .decide(std::iter::once(create).chain(place.rests()).collect(), &shared.redactor, taint, shared.wall())
            .map_err(|refused| Error::Broken { task: task_id, detail: refused.to_string() })?;
        commit.expect.push((journal.stream, journal.head));
        // As it is kept is as it is signed.
        let kept = decided.created().cloned();
        let whole = kept.clone().ok_or(Error::NoSuchTask(task_id))?;
        commit.events.splice(0..0, decided.rows);
        match (submission.planning, whole.baseline) {
            (Planning::Given(plan), Some(base)) => {
                commit.events.extend(self.given(task_id, *plan, base, taint)?);
            }
            (Planning::Aligned(agreed), Some(base)) => {
                commit.events.extend(self.given_objective(task_id, *agreed, base)?);
            }
            _ => {}
        }
        commit.events.extend(goal.audited);
        commit.events.extend(attached.audited);
        commit.events.extend(constraints.into_iter().filter_map(|heard| heard.audited));
        if let (Some(key), Some(created)) = (issuer, kept)
            && let Some(card) = created.approval
        {
            self.approve_by_issuer(&mut commit, card, &created, key)?;
        }
        if let Some(rider) = rider {
            rider.ride(&mut commit);
        }
        commit
            .timers
            .extend(whole.command.execution_config.deadline().map(|deadline| deadline_timer(task_id, deadline)));
        match dispatch {
            // Whoever makes room for it sends for somebody.
            _ if matches!(place, Place::Waits { .. }) => drop(shared.commit(commit).await?),
            Dispatch::ToWorkers => self.queue_up(commit, &whole).await?,
            Dispatch::Here => {
                let leased = self.queue_up_taken(commit, &whole).await?;
                shared.lock_in_hand().insert(task_id, leased);
            }
        }
        Ok(task_id)
    }

    /// What can be said against it before anything is done about it.
    fn may_be_taken(&self, submission: &Submission) -> Result<(), Error> {
        self.has_room_for_newcomers()?;
        if let Some(objection) = submission.config.compaction.objection() {
            return Err(Error::Compaction(objection));
        }
        if let Some(at) = submission.config.deadline.filter(|at| *at <= self.shared.wall()) {
            return Err(Error::LateDeadline(at.to_rfc3339()));
        }
        if submission.checks().into_iter().any(|checks| holds_secret(&self.shared.redactor, checks)) {
            return Err(Error::SecretInCheck);
        }
        Ok(())
    }

    /// What a turn that has to wait is begun with once its time has come: all that was chosen when its words were said.
    pub(crate) async fn turn_template(
        &self,
        commit: &mut Commit,
        (session_id, message): (SessionId, MessageId),
        task_id: TaskId,
        submission: Submission,
    ) -> Result<TaskCreated, Error> {
        let shared = &self.shared;
        self.may_be_taken(&submission)?;
        let mut constraints = Vec::with_capacity(submission.constraints.len());
        for constraint in submission.constraints {
            let heard = self.hear(task_id, constraint, &[]).await?;
            commit.events.extend(heard.audited);
            constraints.push(heard.words);
        }
        let attached = self.take_in(task_id, submission.attachments).await?;
        commit.blobs.extend(attached.blobs);
        commit.events.extend(attached.audited);
        let skills = self.skills(submission.workspace.clone()).await?;
        let model = self.model_choice(commit, submission.model, submission.config.model.clone()).await?;
        Ok(TaskCreated {
            command: TaskCommand {
                command_id: CommandId::new(shared.wall(), shared.runtime.random()),
                session_id,
                task_id,
                goal: submission.goal,
                constraints,
                execution_config: submission.config,
                resume_context: None,
            },
            agent_id: "proxy".to_owned(),
            role: Role::Proxy,
            model,
            workspace: submission.workspace.to_string_lossy().into_owned(),
            base_case: BaseCase(Vec::new()),
            budget: submission.budget,
            sandbox: submission.sandbox,
            baseline: None,
            placement: Some(shared.process.place().to_owned()),
            attachments: attached.attachments,
            approval: None,
            skills: skills.into(),
            planned: false,
            aligns: false,
            part_of: None,
            turn: Some(message),
            goal: None,
            forked: None,
        })
    }

    /// A script's text is kept with the commit.
    pub(crate) async fn model_choice(
        &self,
        commit: &mut Commit,
        model: SubmittedModel,
        name: String,
    ) -> Result<ModelChoice, Error> {
        let shared = &self.shared;
        Ok(match model {
            SubmittedModel::OpenAi { base_url } => ModelChoice::OpenAi { model: name, base_url },
            SubmittedModel::OpenAiResponses { base_url } => ModelChoice::OpenAiResponses { model: name, base_url },
            SubmittedModel::Anthropic { base_url } => ModelChoice::Anthropic { model: name, base_url },
            SubmittedModel::Rehearsal(script) => {
                let script = shared.redactor.redact(&script).into_owned();
                let blob = shared.store.stage_blob(&shared.tenant, script.into_bytes(), Taint::Auth).await?;
                let script = blob.digest();
                commit.blobs.push(blob);
                ModelChoice::Rehearsal { script }
            }
        })
    }

    /// Better now than when an item looks for what it was to go on from.
    async fn knows_earlier(&self, of: Following<'_>, plan: &Plan) -> Result<(), Error> {
        for named in plan.0.all().into_iter().flat_map(|item| plan.earlier(&item.id)) {
            if self.earlier_plan(of, named).await?.is_none() {
                return Err(Error::NoEarlierPlan(named.to_owned()));
            }
        }
        Ok(())
    }

    /// The user's own plan stands in its graph from the beginning.
    pub(crate) fn given(&self, task: TaskId, plan: Plan, base: TreeId, taint: Taint) -> Result<Vec<NewEvent>, Error> {
        let shared = &self.shared;
        let by = Proposer::User;
        let remembered = Remembered::default();
        let proposed = PlanProposed { revision: 1, by, base, plan: Ok(plan), document: None, taint, remembered };
        let propose = [GraphAction::Propose(Box::new(proposed))];
        GraphJournal::new(task).advance(propose, &shared.redactor, taint, shared.wall())
    }

    /// So does what was agreed on beforehand.
    fn given_objective(&self, task: TaskId, agreed: Agreed, base: TreeId) -> Result<Vec<NewEvent>, Error> {
        let shared = &self.shared;
        let (by, taint) = (Proposer::User, Taint::Auth);
        let Agreed { objective, plan, remembered } = agreed;
        if let Some(why) = too_large(&plan, &objective.constraints) {
            return Err(Error::UnfitPlan(vec![why]));
        }
        let proposed = PlanProposed { revision: 1, by, base, plan: Ok(plan), document: None, taint, remembered };
        let actions = [GraphAction::Align(Box::new(objective)), GraphAction::Propose(Box::new(proposed))];
        GraphJournal::new(task).advance(actions, &shared.redactor, taint, shared.wall())
    }

    /// A user's words pass the operator's gates, and after them these, before they are taken in. What was blocked is in the audit.
    pub(crate) async fn hear(&self, task: TaskId, words: String, gates: &[Gate]) -> Result<Heard, Error> {
        self.hear_as(Taint::Auth, task, words, gates).await
    }

    async fn hear_as(&self, taint: Taint, task: TaskId, words: String, gates: &[Gate]) -> Result<Heard, Error> {
        let shared = &self.shared;
        let Passed { text, audited } =
            pass_words(shared, Trigger::EveryUserMessage, words, (task, taint), Held::words(gates)).await;
        match text {
            Ok(words) => Ok(Heard { words, audited }),
            Err(why) => {
                let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
                commit.events.extend(audited);
                shared.commit(commit).await?;
                Err(Error::Blocked(why))
            }
        }
    }

    /// What the task's agents are offered; from here on it stays as it is now.
    pub(crate) async fn skills(&self, folder: PathBuf) -> Result<Vec<SkillSeen>, Error> {
        let equipment = Arc::clone(&self.shared.equipment);
        let labels = self.labels(&folder).await?;
        let kept = self.shared.blocking(move || equipment.skills(&folder, &labels)).await;
        kept.map_err(|error| Error::Workspace(error.message))
    }

    pub(crate) async fn capture(&self, folder: PathBuf) -> Result<TreeId, Error> {
        let workspace = self.shared.equipment.workspace(&folder).map_err(|error| Error::Workspace(error.message))?;
        let captured = self.shared.blocking(move || workspace.capture()).await;
        captured.map_err(|error| Error::Workspace(error.to_string()))
    }
}
