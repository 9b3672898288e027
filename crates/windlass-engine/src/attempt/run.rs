//! Carrying one execution to its end: bring its journal to `running`, open its sandbox, let the runner work, and say what
//! to record. A process that vanished leaves an execution `running`; whoever takes it over records that it was lost.

use std::path::PathBuf;
use std::sync::Arc;

use windlass_domain::execution::{
    AgentInjection, ExecutionCommand, ExecutionState, InjectionReceived, Launch, Lifecycle, Outcome, TaskMessage,
};
use windlass_domain::task::{AttemptEnded, ModelChoice, TaskAction, TaskCreated};
use windlass_domain::{ErrorCode, ErrorDetails, ExecutionId, Host, MessageId, Runner, Stop, Taint, UsageMetrics, Usd};
use windlass_sandbox::Sandbox;

use super::driver::{Driver, PAUSED, cancelled, interrupted, metrics};
use super::lazy_sandbox::{LazySandbox, Opener};
use crate::Error;
use crate::equipment::Order;
use crate::host::{ExecutionHost, HostParts, load};
use crate::tripwire::TripwirePoint;

const GONE: &str = "the process that ran it is gone";

/// How a run ended, still to be committed: by the host, with the task's own part beside.
pub(super) struct Ran {
    pub host: Arc<ExecutionHost>,
    pub commands: Vec<ExecutionCommand>,
    pub actions: Vec<TaskAction>,
    pub paused: Option<Paused>,
    /// By this execution.
    pub used: (UsageMetrics, Usd),
}

/// It goes on later; where an outage paused it, `error` says which.
pub(super) struct Paused {
    pub error: Option<ErrorDetails>,
}

impl Driver {
    pub(super) async fn execute(&mut self, attempt: u32, execution: ExecutionId) -> Result<Ran, Error> {
        let host = self.host(execution).await?;
        let created = self.created()?.clone();
        let outcome = match self.nothing_left_to_do(&host.state()) {
            Some(outcome) => outcome,
            None => match self.equip(&created).await {
                Ok(equipped) => self.carry(&host, self.launch(execution, &created), equipped).await?,
                Err(error) => return Ok(self.not_equipped(attempt, host, error)),
            },
        };
        self.engine.shared.pass(TripwirePoint::RunEnded).await;
        match outcome {
            Outcome::Stopped(Stop::LeaseLost) => Err(Error::LeaseLost(self.task)),
            outcome => Ok(self.ended(attempt, host, outcome)),
        }
    }

    /// What can be ended without a sandbox: one that is cancelled with no call in flight, and one cut off too often.
    fn nothing_left_to_do(&self, state: &ExecutionState) -> Option<Outcome> {
        let in_flight = state.open_calls.iter().any(|open| open.started.is_some());
        if self.canceller.signal().raised() == Some(Stop::Cancel) && !in_flight {
            return Some(Outcome::Stopped(Stop::Cancel));
        }
        let out_of_luck = was_cut_off(state) && self.journal.state.interruptions_left() == 0;
        out_of_luck
            .then(|| Outcome::Failed(ErrorDetails::new(ErrorCode::Interrupted, "the work was cut off too often")))
    }

    async fn carry(
        &mut self,
        host: &Arc<ExecutionHost>,
        launch: Launch,
        (sandbox, runner): (Arc<dyn Sandbox>, Arc<dyn Runner>),
    ) -> Result<Outcome, Error> {
        self.engine.shared.pass(TripwirePoint::SandboxOpened).await;
        let begun = self.to_running(&host.state());
        if was_cut_off(&host.state()) {
            let gone = ErrorDetails::new(ErrorCode::Interrupted, GONE);
            self.commit_with(host, begun, vec![TaskAction::Interrupt(gone)], Vec::new()).await?;
        } else {
            // Committed with the first thing that follows from it: until then nothing has happened.
            host.decide(begun).map_err(|refused| self.refused(refused))?;
        }
        let outcome = loop {
            let outcome = runner.run(launch.clone(), Arc::clone(host) as Arc<dyn Host>).await;
            // Whoever spoke while the agent was saying its last word is answered.
            let is_last_word = matches!(outcome, Outcome::Completed { .. });
            if !is_last_word || !host.hear().map_err(|refused| self.refused(refused))? {
                break outcome;
            }
        };
        sandbox.close().await;
        Ok(outcome)
    }

    async fn host(&mut self, execution: ExecutionId) -> Result<Arc<ExecutionHost>, Error> {
        let shared = Arc::clone(&self.engine.shared);
        let journal = match self.begun.take() {
            Some((begun, journal)) if begun == execution => journal,
            _ => load(shared.store.as_ref(), &shared.tenant, execution).await?,
        };
        Ok(Arc::new(ExecutionHost::new(HostParts {
            shared,
            execution,
            fence: self.fence.clone(),
            journal,
            cancel: self.canceller.signal(),
            inbox: self.inbox.clone(),
            watcher: Arc::clone(&self.watcher),
            folder: PathBuf::from(&self.created()?.workspace),
            // Nobody signed what the user asked for; and what earlier attempts ran into may come from anywhere.
            prompt_taint: match self.journal.state.attempts.len() {
                0 | 1 => Taint::Auth,
                _ => Taint::External,
            },
        })))
    }

    fn launch(&self, execution_id: ExecutionId, created: &TaskCreated) -> Launch {
        Launch {
            execution_id,
            task_id: self.task,
            agent_id: created.agent_id.clone(),
            role: created.role,
            model: created.command.execution_config.model.clone(),
            task: TaskMessage {
                goal: created.command.goal.clone(),
                constraints: created.command.constraints.clone(),
                memories: Vec::new(),
                previous_failures: self.journal.state.failures(),
                finish_line: created.base_case.0.iter().map(|check| check.name.clone()).collect(),
            },
        }
    }

    async fn equip(&self, created: &TaskCreated) -> Result<(Arc<dyn Sandbox>, Arc<dyn Runner>), ErrorDetails> {
        let folder = PathBuf::from(&created.workspace);
        let script = self.script(created).await?;
        let sandbox = self.sandbox(created, folder.clone()).await?;
        let order = Order { created, script, folder: &folder, sandbox: Arc::clone(&sandbox) };
        let runner = self.engine.shared.equipment.runner(order)?;
        Ok((sandbox, runner))
    }

    async fn script(&self, created: &TaskCreated) -> Result<Option<String>, ErrorDetails> {
        let ModelChoice::Rehearsal { script } = created.model else { return Ok(None) };
        let shared = &self.engine.shared;
        let internal = |detail: String| ErrorDetails::new(ErrorCode::Internal, detail);
        let blob = shared.store.blob(&shared.tenant, script).await.map_err(|error| internal(error.to_string()))?;
        let blob = blob.ok_or_else(|| internal(format!("the rehearsal script {script} is missing")))?;
        String::from_utf8(blob.bytes).map(Some).map_err(|_| internal("the rehearsal script is not text".to_owned()))
    }

    /// The attempt's sandbox: open already where this process has not yet seen this provider deny what it must.
    async fn sandbox(&self, created: &TaskCreated, folder: PathBuf) -> Result<Arc<dyn Sandbox>, ErrorDetails> {
        let shared = &self.engine.shared;
        let sandbox = LazySandbox::new(Opener::new(Arc::clone(shared), &created.sandbox, folder)?);
        if !shared.is_proved(&created.sandbox) {
            sandbox.open().await.map_err(|error| unavailable(&error))?;
            shared.prove(&created.sandbox);
        }
        Ok(Arc::new(sandbox))
    }

    /// A sandbox of its own for one check.
    pub(super) async fn check_sandbox(
        &self,
        created: &TaskCreated,
        folder: PathBuf,
    ) -> Result<Arc<dyn Sandbox>, ErrorDetails> {
        let opener = Opener::new(Arc::clone(&self.engine.shared), &created.sandbox, folder)?;
        opener.open().await.map_err(|error| unavailable(&error))
    }

    /// What brings the journal to `running` from wherever it stands.
    fn to_running(&self, state: &ExecutionState) -> Vec<ExecutionCommand> {
        if state.lifecycle == Lifecycle::Paused {
            let shared = &self.engine.shared;
            self.inbox.put(InjectionReceived {
                message_id: MessageId::new(shared.wall(), shared.runtime.random()),
                injection: AgentInjection::resumed(),
                taint: Taint::Owner,
            });
            return vec![move_to(Lifecycle::Running, "resumed")];
        }
        let (lost, launch) = match was_cut_off(state) {
            true => (Some(move_to(Lifecycle::Lost, GONE)), move_to(Lifecycle::Launching, "recovered")),
            false => (None, move_to(Lifecycle::Launching, "launched")),
        };
        lost.into_iter().chain([launch, move_to(Lifecycle::Running, "equipped")]).collect()
    }

    /// Nothing has happened, and its journal stays as it is: calls that were in flight are looked into by whoever goes on.
    fn not_equipped(&self, attempt: u32, host: Arc<ExecutionHost>, error: ErrorDetails) -> Ran {
        if self.journal.state.interruptions_left() == 0 {
            return self.ended(attempt, host, Outcome::Failed(error));
        }
        let used = metrics(&host.state(), self.engine.shared.wall());
        let actions = interrupted(&error);
        Ran { host, commands: Vec::new(), actions, paused: Some(Paused { error: Some(error) }), used }
    }

    fn ended(&self, attempt: u32, host: Arc<ExecutionHost>, outcome: Outcome) -> Ran {
        let state = host.state();
        let (usage, cost) = metrics(&state, self.engine.shared.wall());
        let ended = |final_message, error| {
            TaskAction::EndAttempt(AttemptEnded {
                attempt,
                final_message,
                error,
                deliverables: state.deliverables.clone(),
                interrupted: state.interrupted.clone(),
                usage,
                cost,
                unpriced: state.unpriced,
            })
        };
        let (commands, actions, paused) = match outcome {
            Outcome::Completed { message } => {
                let done = move_to(Lifecycle::Completed, "the agent says it is done");
                (vec![done], vec![ended(Some(message), None)], None)
            }
            Outcome::Failed(error) if error.is_outage() && self.journal.state.interruptions_left() > 0 => {
                let pause = move_to(Lifecycle::Paused, &error.message);
                (vec![pause], interrupted(&error), Some(Paused { error: Some(error) }))
            }
            Outcome::Failed(error) => {
                (vec![move_to(Lifecycle::Failed, &error.message)], vec![ended(None, Some(error))], None)
            }
            // The task itself is ended by the driver's next step, which heeds the same signal.
            Outcome::Stopped(Stop::Cancel | Stop::LeaseLost) => {
                let cancel = move_to(Lifecycle::Cancelled, "cancelled by the user");
                (vec![cancel], vec![ended(None, Some(cancelled()))], None)
            }
            Outcome::Stopped(Stop::Pause) => {
                let pause = TaskAction::Pause { reason: PAUSED.to_owned() };
                (vec![move_to(Lifecycle::Paused, PAUSED)], vec![pause], Some(Paused { error: None }))
            }
        };
        drop(state);
        Ran { host, commands, actions, paused, used: (usage, cost) }
    }
}

/// A journal that says `running` while nobody holds its lease was cut off.
fn was_cut_off(state: &ExecutionState) -> bool {
    matches!(state.lifecycle, Lifecycle::Running | Lifecycle::Launching)
}

fn unavailable(error: &windlass_sandbox::Error) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::SandboxUnavailable, format!("failed to {error}"))
        .with_hint("`windlass doctor` says what is missing")
}

fn move_to(to: Lifecycle, reason: &str) -> ExecutionCommand {
    ExecutionCommand::Move { to, reason: reason.to_owned() }
}
