//! An agent that was spawned at work: entered as an attempt's execution is, on what its parent has, and left in its journal as it
//! ended or came to rest.

use std::sync::Arc;

use windlass_domain::execution::{Asked, Launch, Lifecycle, Outcome, TaskMessage};
use windlass_domain::{ErrorDetails, Host, Refused, Role, Runner, Spawn, Stop};

use super::child::{AGENT, in_store};
use super::execution_host::ExecutionHost;
use super::rider::Rider;
use crate::attempt::{Before, bare_sandbox, move_to, to_running};
use crate::engine::Engine;
use crate::equipment::Order;

impl ExecutionHost {
    /// Lets it work until it ends or comes to rest; how it rests, if it does.
    pub(super) async fn go_on(self: &Arc<Self>, spawn: &Spawn) -> Result<Option<Outcome>, Refused> {
        let engine = Engine { shared: Arc::clone(&self.shared) };
        let state = self.state();
        let is_asleep = state.lifecycle == Lifecycle::AwaitingInput;
        let outcome = match is_asleep && !engine.is_anything_heard(&state).await.map_err(in_store)? {
            true => self.cancel().raised().map_or(Outcome::Waiting, Outcome::Stopped),
            false => {
                let answers = engine.answers(&state).await.map_err(in_store)?;
                let was_running = matches!(state.lifecycle, Lifecycle::Running | Lifecycle::Launching);
                let before = if was_running { Before::CutOff } else { Before::AtRest };
                let begun = to_running(&state, before);
                drop(state);
                self.decide(begun)?;
                self.decide(answers)?;
                match self.childs_runner().await {
                    Ok(runner) => runner.run(self.childs_launch(spawn), Arc::clone(self) as Arc<dyn Host>).await,
                    Err(error) => Outcome::Failed(error),
                }
            }
        };
        self.settle(&engine, outcome).await
    }

    /// What its end, or its rest, leaves in its journal.
    async fn settle(&self, engine: &Engine, outcome: Outcome) -> Result<Option<Outcome>, Refused> {
        let (to, reason) = match &outcome {
            Outcome::Completed { .. } => (Lifecycle::Completed, "the agent says it is done"),
            Outcome::Failed(error) if error.is_outage() => (Lifecycle::Paused, error.message.as_str()),
            Outcome::Failed(error) => (Lifecycle::Failed, error.message.as_str()),
            Outcome::Waiting => (Lifecycle::AwaitingInput, "a person is asked"),
            Outcome::Stopped(Stop::Pause) => (Lifecycle::Paused, "paused by the user"),
            Outcome::Stopped(Stop::Cancel) => (Lifecycle::Cancelled, "cancelled by the user"),
            // Another process goes on with it; nothing of this is ours to tell.
            Outcome::Stopped(Stop::LeaseLost) => return Ok(Some(outcome)),
        };
        let mut rider = Rider::default();
        if to.is_over() {
            let bills = engine.take_back(self.task, &mut rider, &self.state()).await.map_err(in_store)?;
            self.pay(bills)?;
        }
        let moved = self.state().lifecycle.may_become(to).then(|| move_to(to, reason));
        self.commit(moved.into_iter().collect(), rider).await?;
        Ok((!to.is_over()).then_some(outcome))
    }

    async fn childs_runner(&self) -> Result<Arc<dyn Runner>, ErrorDetails> {
        let script = self.shared.script(&self.created).await?;
        let sandbox = match self.sandbox.get() {
            Some(sandbox) => Arc::clone(sandbox),
            None => bare_sandbox(&self.shared, &self.created, self.folder.clone())?,
        };
        let (created, folder) = (self.created.as_ref(), self.folder.as_path());
        let execution = self.execution;
        let order = Order { created, execution, role: Role::Subagent, script, folder, sandbox, depth: self.depth };
        self.shared.equipment.runner(order)
    }

    fn childs_launch(&self, spawn: &Spawn) -> Launch {
        Launch {
            execution_id: self.execution,
            task_id: self.task,
            agent_id: AGENT.to_owned(),
            role: Role::Subagent,
            asked: Asked::default(),
            model: self.state().model().to_owned(),
            task: TaskMessage { goal: spawn.task.clone(), ..TaskMessage::default() },
            patterns: Vec::new(),
        }
    }
}
