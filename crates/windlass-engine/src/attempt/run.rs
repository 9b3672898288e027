//! Carrying one execution to its end: bring its journal to `running`, open its sandbox, let the runner work, and say what
//! to record. A process that vanished leaves an execution `running`; whoever takes it over records that it was lost.

use std::path::PathBuf;
use std::sync::Arc;

use windlass_domain::execution::{
    AgentInjection, ExecutionCommand, ExecutionState, InjectionReceived, Launch, Lifecycle, Outcome, TaskMessage,
};
use windlass_domain::task::{AttemptEnded, ModelChoice, TaskChanged, TaskCreated, TaskEvent, TaskStatus};
use windlass_domain::{ErrorCode, ErrorDetails, ExecutionId, Host, MessageId, Runner, Stop, Taint, UsageMetrics, Usd};
use windlass_sandbox::Sandbox;

use super::driver::{Driver, cancelled, metrics};
use super::lazy_sandbox::{LazySandbox, Opener};
use crate::Error;
use crate::equipment::Order;
use crate::host::{ExecutionHost, HostParts, load};
use crate::tripwire::TripwirePoint;

/// How a run ended, still to be committed: by the host, with the task's own events beside.
pub(super) struct Ran {
    pub host: Arc<ExecutionHost>,
    pub commands: Vec<ExecutionCommand>,
    pub events: Vec<TaskEvent>,
    pub paused: bool,
    /// By this execution.
    pub used: (UsageMetrics, Usd),
}

impl Driver {
    pub(super) async fn execute(&mut self, attempt: u32, execution: ExecutionId) -> Result<Ran, Error> {
        let host = self.host(execution).await?;
        let created = self.created()?.clone();
        let launch = self.launch(execution, &created);
        let (begun, outcome) = match self.equip(&created).await {
            Err(error) => (to_launching(&host.state()), Outcome::Failed(error)),
            Ok((sandbox, runner)) => {
                self.engine.shared.pass(TripwirePoint::SandboxOpened).await;
                // Committed with the first thing that follows from it: until then nothing has happened.
                let begun = self.to_running(&host.state());
                host.stage(begun).map_err(|refused| self.refused(refused))?;
                let outcome = runner.run(launch, Arc::clone(&host) as Arc<dyn Host>).await;
                sandbox.close().await;
                (Vec::new(), outcome)
            }
        };
        self.engine.shared.pass(TripwirePoint::RunEnded).await;
        if outcome == Outcome::Stopped(Stop::LeaseLost) {
            return Err(Error::LeaseLost(self.task));
        }
        let mut ran = self.ended(attempt, host, outcome);
        ran.commands.splice(0..0, begun);
        Ok(ran)
    }

    async fn host(&self, execution: ExecutionId) -> Result<Arc<ExecutionHost>, Error> {
        let shared = Arc::clone(&self.engine.shared);
        let journal = load(shared.store.as_ref(), &shared.tenant, execution).await?;
        Ok(Arc::new(ExecutionHost::new(HostParts {
            shared,
            execution,
            fence: self.fence.clone(),
            journal,
            cancel: self.canceller.signal(),
            inbox: self.inbox.clone(),
            watcher: Arc::clone(&self.watcher),
            folder: PathBuf::from(&self.created()?.workspace),
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
        let opener = Opener::new(Arc::clone(shared), &created.sandbox, folder)?;
        if shared.is_proved(&created.sandbox) {
            return Ok(Arc::new(LazySandbox::unopened(opener)));
        }
        let opened = opener.open().await.map_err(|error| unavailable(&error))?;
        shared.prove(&created.sandbox);
        Ok(opened)
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
        let mut moves = to_launching(state);
        moves.push(move_to(Lifecycle::Running, "equipped"));
        moves
    }

    fn ended(&self, attempt: u32, host: Arc<ExecutionHost>, outcome: Outcome) -> Ran {
        let now = self.engine.shared.wall();
        let state = host.state();
        let (usage, cost) = metrics(&state, now);
        let ended = |final_message, error| AttemptEnded {
            attempt,
            final_message,
            error,
            deliverables: state.deliverables.clone(),
            interrupted: state.interrupted.clone(),
            usage,
            cost,
        };
        let (command, events, paused) = match outcome {
            Outcome::Completed { message } => {
                let ended = ended(Some(message), None);
                (
                    move_to(Lifecycle::Completed, "the agent says it is done"),
                    vec![TaskEvent::AttemptEnded(ended)],
                    false,
                )
            }
            Outcome::Failed(error) => {
                let reason = error.message.clone();
                (move_to(Lifecycle::Failed, &reason), vec![TaskEvent::AttemptEnded(ended(None, Some(error)))], false)
            }
            // The task itself is ended by the driver's next step, which heeds the same signal.
            Outcome::Stopped(Stop::Cancel | Stop::LeaseLost) => {
                let ended = ended(None, Some(cancelled()));
                (move_to(Lifecycle::Cancelled, "cancelled by the user"), vec![TaskEvent::AttemptEnded(ended)], false)
            }
            Outcome::Stopped(Stop::Pause) => {
                let paused = TaskChanged { status: TaskStatus::Paused, reason: "paused by the user".to_owned() };
                (move_to(Lifecycle::Paused, "paused by the user"), vec![TaskEvent::Changed(paused)], true)
            }
        };
        drop(state);
        Ran { host, commands: vec![command], events, paused, used: (usage, cost) }
    }
}

/// What brings the journal to `launching`: a journal that says `running` while nobody holds its lease was cut off.
fn to_launching(state: &ExecutionState) -> Vec<ExecutionCommand> {
    match state.lifecycle {
        Lifecycle::Running | Lifecycle::Launching => vec![
            move_to(Lifecycle::Lost, "the process that ran it is gone"),
            move_to(Lifecycle::Launching, "recovered"),
        ],
        Lifecycle::Created | Lifecycle::Lost => vec![move_to(Lifecycle::Launching, "launched")],
        Lifecycle::Paused
        | Lifecycle::AwaitingInput
        | Lifecycle::Completed
        | Lifecycle::Failed
        | Lifecycle::Cancelled => Vec::new(),
    }
}

fn unavailable(error: &windlass_sandbox::Error) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::SandboxUnavailable, format!("failed to {error}"))
        .with_hint("`windlass doctor` says what is missing")
}

fn move_to(to: Lifecycle, reason: &str) -> ExecutionCommand {
    ExecutionCommand::Move { to, reason: reason.to_owned() }
}
