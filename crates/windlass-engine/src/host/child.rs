//! Agents that an agent spawns (seed 000 §9): each is an execution of its own, with its own journal and conversation, on this
//! one's lease, sandbox and purse. Which agent a call spawned follows from the call, so that a call that is run again after
//! a crash goes on with the very same agent, and one whose agent has ended is answered with that end. Here it begins; how it
//! works is `child_run`'s, and what becomes of its end `child_end`'s.

use std::sync::Arc;

use windlass_domain::execution::{Carrier, ExecutionCommand, Header, Parent, Rejected, SubagentSpawned};
use windlass_domain::{Account, CallId, ExecutionId, Host as _, HostReply, Limits, Refused, Role, Scope, Seq, Spawn};
use windlass_workspace::WorkspacePath;

use super::execution_host::ExecutionHost;
use super::journal::{Decided, Journal, load};
use super::rider::Rider;

pub(super) const AGENT: &str = "subagent";
/// Somebody may answer a card in the very moment in which it is taken back; then everything is looked at again.
const TRIES: usize = 8;

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
            scope: self.childs_scope(spawn.write_output_to.as_deref()),
            agent_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: self.state().model().to_owned(),
            configuration_digest: windlass_domain::Digest::of(spawn.task.as_bytes()),
            limits: Limits { timeout_ms, ..left },
            labels: self.family_labels(),
            parent: Some(Parent { execution_id: self.execution, call_id: Some(call_id.clone()) }),
            carrier: Carrier::Native,
            pattern: None,
        }
    }

    fn childs_scope(&self, writes: Option<&str>) -> Scope {
        let state = self.state();
        let own = Scope::of(Account::Attempt { of: self.task, created: &self.created });
        let parent = state.header.as_ref().map_or(&own, |header| &header.scope);
        // However the path is written, it is one file.
        let writes = writes.map(|path| WorkspacePath::parse(path).map_or(path.to_owned(), |path| path.to_record()));
        Scope::of(Account::Child { of: self.task, parent, writes: writes.as_deref() })
    }
}

pub(super) fn in_store(error: crate::Error) -> Refused {
    Refused::Store(error.to_string())
}
