//! A goal, as a stream of its own; and finding goals.

use windlass_domain::GoalId;
use windlass_domain::goal::{GoalAction, GoalEvent, GoalRejected, GoalState, GoalStatus, decide};

use crate::Error;
use crate::engine::Engine;
use crate::stream_journal::{StreamJournal, Streamed};

/// More goals than anybody has.
const MOST: usize = 10_000;

/// A goal as it stands.
#[derive(Debug, Clone)]
pub struct Goal {
    pub id: GoalId,
    pub state: GoalState,
}

pub(super) type GoalJournal = StreamJournal<Goal>;

impl Streamed for Goal {
    const KIND: &'static str = "goal";
    type Id = GoalId;
    type State = GoalState;
    type Action = GoalAction;
    type Event = GoalEvent;
    type Rejected = GoalRejected;

    fn decide(state: &GoalState, action: GoalAction) -> Result<GoalEvent, GoalRejected> {
        decide(state, action)
    }

    fn apply(state: &mut GoalState, event: &GoalEvent) {
        state.apply(event);
    }

    fn refused(_: GoalId, rejected: GoalRejected) -> Error {
        Error::Goal(rejected)
    }
}

impl Goal {
    pub(super) const fn is_there(&self) -> bool {
        matches!(self.state.status, GoalStatus::Active | GoalStatus::Paused)
    }
}

impl Engine {
    pub(crate) async fn goal_journal(&self, goal: GoalId) -> Result<GoalJournal, Error> {
        self.journal_of(goal).await
    }

    /// Those that were not removed, newest first.
    pub async fn goals(&self) -> Result<Vec<Goal>, Error> {
        let mut goals = self.all_goals().await?;
        goals.retain(Goal::is_there);
        Ok(goals)
    }

    /// Those that were removed too.
    pub(super) async fn all_goals(&self) -> Result<Vec<Goal>, Error> {
        let heads = self.shared.store.streams(&self.shared.tenant, Goal::KIND, None, MOST).await?;
        let mut goals = Vec::new();
        for id in heads.iter().filter_map(|head| head.stream.id().parse().ok()) {
            goals.push(Goal { id, state: self.goal_journal(id).await?.state });
        }
        Ok(goals)
    }

    pub async fn goal_named(&self, name: &str) -> Result<Goal, Error> {
        let found = self.goals().await?.into_iter().find(|goal| goal.state.name() == Some(name));
        found.ok_or_else(|| Error::NoSuchGoal(name.to_owned()))
    }
}
