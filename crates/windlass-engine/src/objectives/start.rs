//! Beginning what was agreed on: whoever says so approves the graph as it stands, with the worst case that it shows.

use windlass_domain::approval::{Card, CardId, Strength};
use windlass_domain::graph::{GraphAction, GraphState, PlanAnswer, PlanAnswered, PlanAsked, PlanStanding};
use windlass_domain::task::{Deadline, TaskCreated};
use windlass_domain::{Taint, TaskId};
use windlass_policy::approve::OwnerKey;
use windlass_store::{Commit, Error as StoreError};

use crate::Error;
use crate::approvals::OwnWord;
use crate::engine::Engine;
use crate::host::Rider;

/// Whoever drives may write to the graph meanwhile; nobody does so for long.
pub(super) const TRIES: usize = 16;

/// For what reaches beyond the folder, whoever begins it was asked twice.
pub(super) const fn begun(strength: Strength) -> OwnWord<'static> {
    let reason = "whoever starts an objective approves its graph and the worst case that was shown";
    OwnWord { strength, reason }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    Now,
    /// It was begun before, and goes on.
    Before,
}

impl Engine {
    /// `issuer` signs for the graph as it was shown, where somebody was shown one; what has become another since is not begun.
    pub async fn start(
        &self,
        task: TaskId,
        issuer: &OwnerKey,
        shown: Option<&Card>,
        (strength, deadline): (Strength, Option<Deadline>),
    ) -> Result<Started, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_start(task, issuer, shown, (strength, deadline)).await {
                Err(Error::Store(StoreError::Conflict { .. })) if tries < TRIES => {}
                started => return started,
            }
        }
    }

    async fn try_start(
        &self,
        task: TaskId,
        issuer: &OwnerKey,
        shown: Option<&Card>,
        (strength, deadline): (Strength, Option<Deadline>),
    ) -> Result<Started, Error> {
        let shared = &self.shared;
        let created = self.objective_task(task).await?;
        self.signs_for(&created)?;
        let mut graph = self.graph_journal(task).await?;
        if graph.state.card.is_some() {
            return match deadline {
                None => Ok(Started::Before),
                Some(_) => Err(Error::NotAligned(BEGUN_WITHOUT.to_owned())),
            };
        }
        if let Some(missing) = missing(&graph.state) {
            return Err(Error::NotAligned(missing));
        }
        let now = shared.wall();
        let mut rider = Rider::default();
        let created = match deadline {
            None => created,
            Some(deadline) => self.set_deadline(&mut rider, task, deadline).await?,
        };
        let card_id = CardId::new(now, shared.runtime.random());
        let card = self.plan_card(card_id, &created, &graph.state)?;
        if shown.is_some_and(|shown| shown.binds.plan_hash != card.binds.plan_hash) {
            return Err(Error::NotAligned("it was changed since it was shown: look at it once more".to_owned()));
        }
        let revision = graph.state.revision;
        // What its user did since it was agreed on is theirs, and is what it begins with.
        let folder = self.capture(created.workspace.clone().into()).await?;
        let moved = graph.state.base.filter(|base| *base != folder).map(|_| GraphAction::Rebase(folder));
        let asked = GraphAction::Ask(PlanAsked { revision, card: card_id });
        let agreed = GraphAction::Answer(PlanAnswered { revision, answer: PlanAnswer::Approved });
        let begins = moved.into_iter().chain([asked, agreed]);
        graph.ride(&mut rider, begins, &shared.redactor, Taint::Auth, now)?;
        self.wake_for(&mut rider, task, None).await?;
        let mut commit = Commit::unfenced(shared.tenant.clone(), now);
        self.sign_own(&mut commit, card, task, begun(strength), issuer)?;
        rider.ride(&mut commit);
        shared.commit(commit).await?;
        Ok(Started::Now)
    }

    /// What was agreed on and waits to be begun, as whoever begins it would approve it.
    pub async fn agreed(&self, task: TaskId, deadline: Option<Deadline>) -> Result<Option<Card>, Error> {
        let graph = self.graph(task).await?;
        if let (true, Some(deadline)) = (graph.is_aligned(), deadline) {
            let nobodys = CardId::new(self.shared.wall(), self.shared.runtime.random());
            let created = self.set_deadline(&mut Rider::default(), task, deadline).await?;
            return self.plan_card(nobodys, &created, &graph).map(Some);
        }
        let Some(created) = self.task(task).await?.created.filter(|_| graph.is_aligned()) else { return Ok(None) };
        let nobodys = CardId::new(self.shared.wall(), self.shared.runtime.random());
        self.plan_card(nobodys, &created, &graph).map(Some)
    }

    /// Has a planner write it again, before it is begun.
    pub async fn send_back(&self, task: TaskId, note: String) -> Result<(), Error> {
        let shared = &self.shared;
        let heard = self.hear(task, note, &[]).await?;
        let mut tries = 0;
        loop {
            tries += 1;
            self.objective_task(task).await?;
            let mut graph = self.graph_journal(task).await?;
            if !graph.state.is_aligned() {
                return Err(Error::NotAligned(missing(&graph.state).unwrap_or_else(|| BEGUN.to_owned())));
            }
            let mut rider = Rider::default();
            rider.events.extend(heard.audited.clone());
            let back = GraphAction::SendBack { note: heard.words.clone() };
            graph.ride(&mut rider, [back], &shared.redactor, Taint::Auth, shared.wall())?;
            self.wake_for(&mut rider, task, None).await?;
            let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
            rider.ride(&mut commit);
            match shared.commit(commit).await {
                Err(StoreError::Conflict { .. }) if tries < TRIES => {}
                written => return written.map(drop).map_err(Error::from),
            }
        }
    }

    pub(super) async fn objective_task(&self, task: TaskId) -> Result<TaskCreated, Error> {
        let state = self.task(task).await?;
        if state.is_over() {
            return Err(Error::Over(task));
        }
        let created = state.created.ok_or(Error::NoSuchTask(task))?;
        if created.planned { Ok(created) } else { Err(Error::NotAligned(NO_OBJECTIVE.to_owned())) }
    }
}

const BEGUN_WITHOUT: &str = "it is begun already, without this deadline: stop it when its time has come";
const BEGUN: &str = "it is begun already: `windlass redirect` changes it";
const NO_OBJECTIVE: &str =
    "this task has no objective: `windlass align` makes one, `windlass resume` goes on with a task";

/// What has to be there before it can begin.
fn missing(graph: &GraphState) -> Option<String> {
    let missing = match (&graph.standing, &graph.objective) {
        (PlanStanding::Proposed, Some(_)) => return None,
        (PlanStanding::Wanted | PlanStanding::SentBack { .. } | PlanStanding::BeingWritten(_), _) => {
            "it is not agreed on yet: an objective with checks, and a graph, are still to be written; `windlass resume` goes on with that"
        }
        (PlanStanding::Declined { .. } | PlanStanding::Impossible(_), _) => {
            "nothing could be agreed on: begin anew with `windlass align`"
        }
        (_, None) => NO_OBJECTIVE,
        (PlanStanding::Asked(_), Some(_)) => "its plan waits for your answer: `windlass inbox` shows it",
        (PlanStanding::Approved, Some(_)) => BEGUN,
    };
    Some(missing.to_owned())
}
