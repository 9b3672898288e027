//! A goal's stream: the fold so far, and how actions become rows.

use windlass_domain::goal::{GoalAction, GoalEvent, GoalState, GoalStatus, decide};
use windlass_domain::{GoalId, Seq, Taint};
use windlass_store::StreamId;

use crate::Error;
use crate::engine::{Engine, Shared};
use crate::host::Rider;
use crate::redacted::redacted;

/// More goals than anybody has.
const MOST: usize = 10_000;

/// A goal as it stands.
#[derive(Debug, Clone)]
pub struct Goal {
    pub id: GoalId,
    pub state: GoalState,
}

pub struct GoalJournal {
    pub stream: StreamId,
    pub state: GoalState,
    pub head: Seq,
}

impl GoalJournal {
    pub fn new(goal: GoalId) -> Self {
        Self { stream: StreamId::new("goal", goal), state: GoalState::default(), head: Seq(0) }
    }

    /// Decides and applies an action, as part of a commit that holds only if nobody else writes first.
    pub fn ride(&mut self, rider: &mut Rider, action: GoalAction, shared: &Shared, taint: Taint) -> Result<(), Error> {
        let event = decide(&self.state, action)?;
        let (event, encoded) = redacted(event, &shared.redactor)?;
        self.state.apply(&event);
        rider.expect.push((self.stream.clone(), self.head));
        self.head = Seq(self.head.0 + 1);
        let (stream, at) = (self.stream.clone(), shared.wall());
        rider.events.push(windlass_store::NewEvent { stream, encoded, taint, at });
        Ok(())
    }
}

impl Engine {
    pub(super) async fn goal_journal(&self, goal: GoalId) -> Result<GoalJournal, Error> {
        let mut journal = GoalJournal::new(goal);
        for row in self.rows_after(&journal.stream, Seq(0)).await? {
            journal.state.apply(&GoalEvent::decode(&row.kind, row.version, &row.data)?);
            journal.head = row.seq;
        }
        Ok(journal)
    }

    /// Those that were not removed, newest first.
    pub async fn goals(&self) -> Result<Vec<Goal>, Error> {
        let heads = self.shared.store.streams(&self.shared.tenant, "goal", None, MOST).await?;
        let mut goals = Vec::new();
        for id in heads.iter().filter_map(|head| head.stream.id().parse().ok()) {
            let state = self.goal_journal(id).await?.state;
            if matches!(state.status, GoalStatus::Active | GoalStatus::Paused) {
                goals.push(Goal { id, state });
            }
        }
        Ok(goals)
    }

    pub async fn goal_named(&self, name: &str) -> Result<Goal, Error> {
        let found = self.goals().await?.into_iter().find(|goal| goal.state.name() == Some(name));
        found.ok_or_else(|| Error::NoSuchGoal(name.to_owned()))
    }
}
