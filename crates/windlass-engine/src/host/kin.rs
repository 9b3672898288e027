//! Executions that work for another one: judges, and agents that were spawned. They share its house, lease, sandbox and the
//! signal to stop, and one purse: what any of them uses counts at once for everybody above it, so that many side by side
//! cannot each spend what is left. What one of them makes of a file, the others read as such.

use std::sync::{Arc, PoisonError};

use windlass_domain::execution::{ExecutionCommand, ExecutionState, SubagentFinished};
use windlass_domain::{BoxFuture, ExecutionId, Exhausted, Host as _, Labels, Left, Limits, Refused, Spent, Usd, Wall};
use windlass_workspace::SCRATCH_FOLDER;

use super::execution_host::{ExecutionHost, HostParts, Kin};
use super::journal::{Journal, load};
use crate::Error;
use crate::control::Inbox;
use crate::watch::Watcher;

impl ExecutionHost {
    /// A host for an execution that works for this one. Nothing of the conversation goes along, and no injection.
    pub(super) fn kin(&self, execution: ExecutionId, journal: Journal, watcher: Arc<dyn Watcher>) -> Arc<Self> {
        let kin = Self::new(HostParts {
            shared: Arc::clone(&self.shared),
            execution,
            fence: self.fence.clone(),
            journal,
            cancel: self.cancel(),
            inbox: Inbox::default(),
            watcher,
            task: self.task,
            created: Arc::clone(&self.created),
            attempt: self.attempt,
            prompt_taint: self.taint(),
            parent: self.me.clone(),
            depth: self.depth + 1,
            folder: self.folder.clone(),
            gates: Arc::clone(&self.gates),
            ground: Arc::clone(&self.ground),
            refusals: Arc::clone(&self.refusals),
        });
        if let Some(sandbox) = self.sandbox.get() {
            kin.equip(Arc::clone(sandbox));
        }
        self.lock_kin().insert(execution, Arc::clone(&kin));
        kin
    }

    /// Those who have not ended, as their journals tell: what they have used counts, and what they know is known, before anybody
    /// goes on with them.
    pub fn gather(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let state = self.state();
            for child in state.children.iter().filter(|child| child.ended.is_none()) {
                let journal = load(self.shared.store.as_ref(), &self.shared.tenant, child.execution_id).await?;
                if journal.state.header.is_some() {
                    self.kin(child.execution_id, journal, Arc::clone(&self.watcher)).gather().await?;
                }
            }
            Ok(())
        })
    }

    fn lock_kin(&self) -> std::sync::MutexGuard<'_, Kin> {
        self.kin.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts on this execution's bill what another has used, instead of counting it as it goes.
    pub(super) fn charge(&self, bill: SubagentFinished) -> Result<(), Refused> {
        let execution = bill.execution_id;
        self.decide(vec![ExecutionCommand::Charge(Box::new(bill))])?;
        self.lock_kin().remove(&execution);
        Ok(())
    }

    /// The same for all who ended with this execution.
    pub fn pay(&self, bills: Vec<ExecutionCommand>) -> Result<(), Refused> {
        let bill = |command: &ExecutionCommand| match command {
            ExecutionCommand::Charge(bill) => Some(bill.execution_id),
            _ => None,
        };
        let paid: Vec<ExecutionId> = bills.iter().filter_map(bill).collect();
        self.decide(bills)?;
        self.lock_kin().retain(|execution, _| !paid.contains(execution));
        Ok(())
    }

    /// By it and by all who work for it.
    pub fn spent(&self, now: Wall) -> Spent {
        self.sum(&|state| state.spent_by(now))
    }

    /// The same, with the answers that they await as long as those may become.
    fn committed(&self, now: Wall) -> Spent {
        self.sum(&|state| state.committed_by(now))
    }

    fn sum(&self, of: &dyn Fn(&ExecutionState) -> Spent) -> Spent {
        let mut spent = of(&self.state());
        let kin: Vec<Arc<Self>> = self.lock_kin().values().cloned().collect();
        for theirs in kin.iter().map(|kin| kin.sum(of)) {
            spent.usage += theirs.usage;
            spent.cost += theirs.cost;
        }
        spent
    }

    /// From now on these count for so much.
    pub fn set_aside(&self, helpers: (u64, Usd)) {
        *self.helpers.lock().unwrap_or_else(PoisonError::into_inner) = helpers;
    }

    /// Whether nothing is left beside what those may use who look into something for it.
    fn helpers_have_the_rest(&self, now: Wall) -> Option<Exhausted> {
        let (tokens, cost) = *self.helpers.lock().unwrap_or_else(PoisonError::into_inner);
        if tokens == 0 && cost == Usd::ZERO {
            return None;
        }
        let mut spent = self.spent(now);
        spent.usage.input = spent.usage.input.saturating_add(tokens);
        spent.cost += cost;
        self.state().header.as_ref()?.limits.exhausted_for_calls(&spent)
    }

    /// Whether any of those it works for has nothing left to spend, or those who work for it have all that is left.
    pub(super) fn family_is_out_of(&self, now: Wall) -> Option<Exhausted> {
        if let Some(exhausted) = self.helpers_have_the_rest(now) {
            return Some(exhausted);
        }
        let ancestor = self.parent.upgrade()?;
        let spent = ancestor.spent(now);
        let own = ancestor.state().header.as_ref().and_then(|header| header.limits.exhausted_for_calls(&spent));
        own.or_else(|| ancestor.family_is_out_of(now))
    }

    /// What is left to all of those it works for, and to it beside those who work for it.
    pub(super) fn family_has_left(&self, now: Wall) -> Option<Left> {
        let own = self.state().header.as_ref().map(|header| header.limits.left(&self.committed(now)));
        let (tokens, cost) = *self.helpers.lock().unwrap_or_else(PoisonError::into_inner);
        let own = own.map(|left| Left { tokens: left.tokens.saturating_sub(tokens), cost: left.cost.minus(cost) });
        let theirs = self.parent.upgrade().and_then(|parent| parent.family_has_left(now));
        match (own, theirs) {
            (Some(own), Some(theirs)) => Some(own.or_less(theirs)),
            (own, theirs) => own.or(theirs),
        }
    }

    /// Whoever all of the family works for.
    pub(super) fn eldest(&self) -> Option<Arc<Self>> {
        let mut eldest = self.me.upgrade();
        while let Some(parent) = eldest.as_ref().and_then(|host| host.parent.upgrade()) {
            eldest = Some(parent);
        }
        eldest
    }

    /// What whoever works for it may use at most: all that is left.
    pub(super) fn left(&self, now: Wall) -> Limits {
        let spent = self.spent(now);
        let state = self.state();
        let Some(limits) = state.header.as_ref().map(|header| &header.limits) else {
            return Limits { max_iterations: 0, timeout_ms: 0, max_tokens: 0, max_cost_usd: Usd::ZERO };
        };
        Limits {
            max_iterations: limits.max_iterations,
            timeout_ms: limits.timeout_ms.saturating_sub(spent.active_ms),
            max_tokens: limits.max_tokens.saturating_sub(spent.usage.total()),
            max_cost_usd: limits.max_cost_usd.minus(spent.cost),
        }
    }

    /// Of the workspace's files, as everybody knows them who works or has worked in the folder. What one of them is changing
    /// right now, on disk before it is in any journal, was claimed on the ground when the call began.
    pub(super) fn labels(&self) -> Labels {
        let mut labels = self.family_labels();
        labels.join(&self.ground.labels());
        labels
    }

    /// The same, as the family's own journals have it.
    pub(super) fn family_labels(&self) -> Labels {
        self.eldest().map_or_else(|| self.state().labels.clone(), |eldest| eldest.labels_seen_by(self.execution))
    }

    fn labels_seen_by(&self, reader: ExecutionId) -> Labels {
        let state = self.state();
        let mut labels = state.labels.clone();
        // Results that make room are files before the record that says so.
        if self.execution != reader {
            labels.changed(SCRATCH_FOLDER, state.taint);
        }
        let kin: Vec<Arc<Self>> = self.lock_kin().values().cloned().collect();
        kin.iter().for_each(|kin| labels.join(&kin.labels_seen_by(reader)));
        labels
    }
}
