//! Whether a task that mends a goal is what the goal's standing approval allows: the goal says that it spawned it, its plan is what the
//! template makes of what failed, and all that it is carried out with is as it was approved. The token itself is verified where
//! it is used, once for each such task.

use windlass_domain::approval::ApprovalState;
use windlass_domain::goal::{GoalStatus, fix_plan};
use windlass_domain::plan::Plan;
use windlass_domain::task::{TaskCommand, TaskCreated};
use windlass_domain::{Digest, GoalId};
use windlass_policy::approve::{SpawnPolicySeen, Unhashable, spawn_policy_hash};

use super::add::as_task;
use crate::Error;
use crate::approvals::{ApprovalJournal, Approved, Use};
use crate::engine::Engine;
use crate::graph::whole_hash;

/// What a standing token binds of a goal, beside the goal as a whole.
pub(super) fn spawn_hash(goal: GoalId, Plan(root): &Plan) -> Result<Digest, Unhashable> {
    let escalation = serde_json::to_value(&root.escalation)?;
    spawn_policy_hash(&SpawnPolicySeen {
        parent: goal.to_string(),
        failure_context: root.failure_context.clone(),
        skills: root.skills.clone(),
        gates: root.gates.clone(),
        verify: root.verify.clone(),
        escalation: serde_json::from_value(escalation)?,
    })
}

impl Engine {
    /// The use of the standing approval that `created` would be; `None`: there is none that it could be.
    pub(crate) async fn standing(&self, created: &TaskCreated, plan: &Plan) -> Result<Option<Use>, Error> {
        let Some(goal) = created.goal else { return Ok(None) };
        let state = self.goal_journal(goal).await?.state;
        let (Some(added), Some((fix, results))) = (&state.added, &state.fix) else { return Ok(None) };
        let task = created.command.task_id;
        if state.status == GoalStatus::Removed || *fix != task || fix_plan(&added.plan, results) != *plan {
            return Ok(None);
        }
        let approval = ApprovalJournal::load(self.shared.store.as_ref(), &self.shared.tenant, added.card).await?;
        if !matches!(approval.state, ApprovalState::Issued { .. }) {
            return Ok(None);
        }
        let as_template = TaskCreated {
            command: TaskCommand { task_id: as_task(goal), ..created.command.clone() },
            baseline: None,
            ..created.clone()
        };
        let hashes =
            whole_hash(&as_template, &added.plan, None).and_then(|hash| Ok((hash, spawn_hash(goal, &added.plan)?)));
        let Ok((hash, policy)) = hashes else { return Ok(None) };
        Ok(Some(Use { card_id: added.card, task, what: Approved::Spawn { goal, hash, policy } }))
    }
}
