//! Agents that an agent spawns (seed 000 §9): each is an execution of its own, with its own journal and conversation, on this
//! one's lease, sandbox and purse. Which agent a call spawned follows from the call, so that a call that is run again after
//! a crash goes on with the very same agent, and one whose agent has ended is answered with that end.

use std::sync::Arc;

use windlass_domain::execution::{
    ChildLeft, ExecutionCommand, ExecutionState, Header, Launch, Lifecycle, Outcome, Parent, Rejected,
    SubagentFinished, SubagentSpawned, TaskMessage,
};
use windlass_domain::{
    CallId, ErrorDetails, ExecutionId, Host, HostReply, Limits, Probe, Refused, Role, Runner, Scope, ScopeKind, Seq,
    Spawn, Stop,
};

use super::child_told::{Told, call_status, status};
use super::execution_host::ExecutionHost;
use super::journal::{Decided, Journal, load};
use super::rider::Rider;
use crate::attempt::{Before, bare_sandbox, move_to, to_running};
use crate::engine::Engine;
use crate::equipment::Order;

const AGENT: &str = "subagent";
/// Somebody may answer a card in the very moment in which it is taken back; then everything is looked at again.
const TRIES: usize = 8;
/// Of an output whose fate another process knew.
const CUT_OFF: &str = "the process that was to write it was stopped; the result is here";

impl ExecutionHost {
    pub(super) async fn spawn(&self, call_id: CallId, spawn: Spawn) -> Result<HostReply, Refused> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_spawn(&call_id, &spawn).await {
                Err(Refused::Overtaken) if tries < TRIES => {}
                replied => return replied,
            }
        }
    }

    async fn try_spawn(&self, call_id: &CallId, spawn: &Spawn) -> Result<HostReply, Refused> {
        let child = match self.child(call_id, spawn).await? {
            Ok(child) => child,
            Err(reason) => return Ok(HostReply::Declined(reason)),
        };
        if !child.state().lifecycle.is_over()
            && let Some(rest) = child.go_on(spawn).await?
        {
            return Ok(HostReply::Unfinished(rest));
        }
        self.hear_end(call_id, &child, spawn).await
    }

    /// The one that this call spawned, or now spawns; or why it may not.
    async fn child(&self, call_id: &CallId, spawn: &Spawn) -> Result<Result<Arc<Self>, String>, Refused> {
        let execution = self.execution.child(call_id);
        let journal = load(self.shared.store.as_ref(), &self.shared.tenant, execution).await.map_err(in_store)?;
        if journal.state.header.is_some() {
            return Ok(Ok(self.kin(execution, journal, Arc::clone(&self.watcher))));
        }
        if !self.shared.law.delegation.may_spawn(self.depth) {
            return Ok(Err("a sub-agent of this depth spawns nobody; do the work yourself".to_owned()));
        }
        match self.begin_child(execution, call_id, spawn).await {
            Ok(journal) => Ok(Ok(self.kin(execution, journal, Arc::clone(&self.watcher)))),
            Err(Refused::Rejected(too_many @ Rejected::TooManyChildren)) => Ok(Err(too_many.to_string())),
            Err(refused) => Err(refused),
        }
    }

    /// Its beginning stands in both journals at once.
    async fn begin_child(&self, execution: ExecutionId, call_id: &CallId, spawn: &Spawn) -> Result<Journal, Refused> {
        let now = self.shared.wall();
        let nth = self.state().children.len() + 1;
        let label = spawn.label.clone().unwrap_or_else(|| format!("agent-{nth}"));
        let mut journal = Journal::new(execution);
        let mut begun = Decided::default();
        let create = ExecutionCommand::Create(Box::new(self.child_header(execution, call_id, spawn)));
        journal.advance(vec![create], &mut begun, &self.shared.redactor, now)?;
        let rider = Rider { expect: vec![(journal.stream.clone(), Seq(0))], events: begun.rows, ..Rider::default() };
        journal.head = Seq(rider.events.len() as u64);
        let spawned = SubagentSpawned { call_id: call_id.clone(), execution_id: execution, label };
        self.commit(vec![ExecutionCommand::Spawn(spawned)], rider).await?;
        begun.events.iter().for_each(|(event, at)| self.watcher.execution(execution, event, *at));
        Ok(journal)
    }

    fn child_header(&self, execution_id: ExecutionId, call_id: &CallId, spawn: &Spawn) -> Header {
        let left = self.left(self.shared.wall());
        let seconds = spawn.timeout_seconds.unwrap_or(self.shared.law.delegation.default_timeout_seconds);
        let timeout_ms = seconds.saturating_mul(1_000).min(left.timeout_ms);
        Header {
            execution_id,
            agent_id: AGENT.to_owned(),
            role: Role::Subagent,
            scope: Scope { kind: ScopeKind::Task, id: self.task.to_string() },
            agent_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: self.created.command.execution_config.model.clone(),
            configuration_digest: windlass_domain::Digest::of(spawn.task.as_bytes()),
            limits: Limits { timeout_ms, ..left },
            labels: self.family_labels(),
            parent: Some(Parent { execution_id: self.execution, call_id: call_id.clone() }),
        }
    }

    /// Lets it work until it ends or comes to rest; how it rests, if it does.
    async fn go_on(self: &Arc<Self>, spawn: &Spawn) -> Result<Option<Outcome>, Refused> {
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
        let order = Order { created, role: Role::Subagent, script, folder, sandbox, depth: self.depth };
        self.shared.equipment.runner(order)
    }

    fn childs_launch(&self, spawn: &Spawn) -> Launch {
        Launch {
            execution_id: self.execution,
            task_id: self.task,
            agent_id: AGENT.to_owned(),
            role: Role::Subagent,
            model: self.created.command.execution_config.model.clone(),
            task: TaskMessage { goal: spawn.task.clone(), ..TaskMessage::default() },
        }
    }

    /// It has ended: its bill is paid, its words are written where they were wanted, and its parent is told.
    async fn hear_end(&self, call_id: &CallId, child: &Self, spawn: &Spawn) -> Result<HostReply, Refused> {
        let state = child.state();
        let wanted = spawn.write_output_to.as_deref().filter(|_| state.lifecycle == Lifecycle::Completed);
        let is_paid = self.state().child_of(call_id).is_some_and(|known| known.ended.is_some());
        let mut refused = None;
        if !is_paid {
            let intent = self.intend_output(wanted, &state).await;
            refused = intent.as_ref().err().cloned();
            let label = self.label_of(call_id);
            self.charge(bill(&label, &state, intent.ok().flatten()))?;
            // Told now, and not when the slowest of those beside it has ended; and before any file is changed.
            self.commit(Vec::new(), Rider::default()).await?;
        }
        let wrote = match (wanted, refused, self.state().child_of(call_id).and_then(|known| known.writes.clone())) {
            (None, ..) => None,
            (Some(_), Some(why), _) => Some(Err(why)),
            (Some(_), None, Some(probe)) => Some(self.write_output(*probe, &state).await),
            (Some(_), None, None) => Some(Err(CUT_OFF.to_owned())),
        };
        let content = Told { label: &self.label_of(call_id), state: &state, wrote }.text();
        Ok(HostReply::Answered { status: call_status(status(&state)), content })
    }

    fn label_of(&self, call_id: &CallId) -> String {
        self.state().child_of(call_id).map(|known| known.label.clone()).unwrap_or_default()
    }
}

/// What a child has used and left behind.
pub fn bill(label: &str, state: &ExecutionState, writes: Option<Probe>) -> SubagentFinished {
    let execution_id = state.header.as_ref().map(|header| header.execution_id).expect("a child has a header");
    SubagentFinished {
        label: label.to_owned(),
        status: Some(status(state)),
        duration_ms: state.spent.active_ms,
        left: Some(Box::new(ChildLeft {
            taint: state.taint,
            labels: state.labels.clone(),
            wrote: writes.as_ref().map(|probe| probe.path.clone()),
            writes: writes.map(Box::new),
            deliverables: state.deliverables.clone(),
            interrupted: state.interrupted.clone(),
            unpriced: state.unpriced,
            sub_agents: state.sub_agents(),
        })),
        ..SubagentFinished::bill(execution_id, Role::Subagent, state.spent.usage, state.spent.cost)
    }
}

fn in_store(error: crate::Error) -> Refused {
    Refused::Store(error.to_string())
}
