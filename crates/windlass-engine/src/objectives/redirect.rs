//! Redirecting: whoever is at work is interrupted, what they did since they began is discarded, and the graph goes on as the person
//! wants it, under an approval of its own. What was done and is not touched by it stays.

use windlass_domain::approval::{CardId, RiskLevel, Strength, WorstCase};
use windlass_domain::graph::{Change, Correction, GraphAction, GraphState, Merged, PlanStanding, decide, draw};
use windlass_domain::plan::{AtomId, Plan};
use windlass_domain::task::TaskCreated;
use windlass_domain::{BaseCase, Canceller, Drawing, Taint, TaskId, TreeId};
use windlass_policy::approve::OwnerKey;
use windlass_store::{Commit, Error as StoreError};

use super::start::{TRIES, begun};
use crate::Error;
use crate::engine::Engine;
use crate::graph::{GraphJournal, Replayed, worst_case};
use crate::host::Rider;
use crate::plans::{There, holds_secret, unfit};
use crate::submit::Heard;

/// What a change comes to, before anybody agrees to it.
#[derive(Debug, Clone)]
pub struct Preview {
    /// Atoms that were done and would be done again, in the order of the graph.
    pub undone: Vec<AtomId>,
    pub interrupted: usize,
    pub trail_cleared: bool,
    pub worst_case: WorstCase,
    /// What it comes to without it.
    pub was: Option<WorstCase>,
    pub risk_level: RiskLevel,
    /// How often it was changed before.
    corrections: usize,
}

/// What a person wants to be different.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    pub change: Change,
    /// What was meant, in a sentence.
    pub description: &'a str,
    /// Of whoever worked it out, where that was an agent.
    pub taint: Option<Taint>,
}

impl Preview {
    /// Whether nobody else has changed the graph since it was this one.
    pub const fn is_of(&self, graph: &GraphState) -> bool {
        self.corrections == graph.corrections.len()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirected {
    /// Who was at work, and was told to stop.
    pub interrupted: usize,
    pub undone: Vec<AtomId>,
}

/// A change with everything that it needs.
struct Drawn {
    correction: Correction,
    after: GraphState,
    undone: Vec<AtomId>,
}

impl Engine {
    pub async fn preview_redirect(&self, task: TaskId, change: &Change) -> Result<Preview, Error> {
        let created = self.objective_task(task).await?;
        let graph = self.graph_journal(task).await?;
        let change = &self.kept(change)?;
        let drawn = self.draw(&created, &graph, (change, ""), None).await?;
        let was = worst_case(&graph.state, graph.state.passes.iteration);
        let worst_case = worst_case(&drawn.after, drawn.after.passes.iteration).ok_or(Error::NoSuchTask(task))?;
        let nobodys = CardId::new(self.shared.wall(), self.shared.runtime.random());
        Ok(Preview {
            risk_level: self.plan_card(nobodys, &created, &drawn.after)?.risk_level,
            corrections: graph.state.corrections.len(),
            undone: drawn.undone,
            interrupted: graph.state.running().len(),
            trail_cleared: draw(&graph.state, change, &drawn.correction.also)?.trail_cleared,
            worst_case,
            was,
        })
    }

    /// `issuer` signs for the graph as it will be, where that is still what was shown.
    pub async fn redirect(
        &self,
        task: TaskId,
        Wanted { change, description, taint }: Wanted<'_>,
        shown: Option<&Preview>,
        (issuer, strength): (&OwnerKey, Strength),
    ) -> Result<Redirected, Error> {
        let heard = self.hear(task, description.to_owned(), &[]).await?;
        let change = self.kept(&change)?;
        let mut tries = 0;
        loop {
            tries += 1;
            match Box::pin(self.try_redirect(task, (&change, &heard, taint), shown, (issuer, strength))).await {
                Err(Error::Store(StoreError::Conflict { .. })) if tries < TRIES => {}
                Ok(redirected) => {
                    // Nobody else writes it where nobody drives the task. What was done stays so without it.
                    let _written = self.write_objective(task).await;
                    return Ok(redirected);
                }
                refused => return refused,
            }
        }
    }

    async fn try_redirect(
        &self,
        task: TaskId,
        (change, heard, taint): (&Change, &Heard, Option<Taint>),
        shown: Option<&Preview>,
        (issuer, strength): (&OwnerKey, Strength),
    ) -> Result<Redirected, Error> {
        let shared = &self.shared;
        let created = self.objective_task(task).await?;
        self.signs_for(&created)?;
        let mut graph = self.graph_journal(task).await?;
        let Drawn { correction, after, undone } = self.draw(&created, &graph, (change, &heard.words), taint).await?;
        let is_same = |shown: &Preview| shown.undone == undone && shown.is_of(&graph.state);
        if !shown.is_none_or(is_same) {
            return Err(Error::NotAligned("something happened since it was shown: look at it once more".to_owned()));
        }
        let card_id = correction.card.ok_or(Error::NoSuchTask(task))?;
        let card = self.plan_card(card_id, &created, &after)?;
        let (running, number, tip) = (graph.state.running(), graph.state.corrections.len() + 1, graph.state.tip);
        let mut rider = Rider::default();
        rider.events.extend(heard.audited.clone());
        if let Some(review) = graph.state.open_review() {
            self.withdraw(&mut rider, review.card, "the run was redirected").await?;
        }
        self.dismiss(&mut rider, running.clone()).await?;
        let correct = [GraphAction::Correct(Box::new(correction))];
        graph.ride(&mut rider, correct, &shared.redactor, taint.unwrap_or(Taint::Auth), shared.wall())?;
        self.wake_for(&mut rider, task, None).await?;
        let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
        self.sign_own(&mut commit, card, task, begun(strength), issuer)?;
        rider.ride(&mut commit);
        self.show_before(&created, &graph.state, number, tip.filter(|_| !undone.is_empty())).await;
        shared.commit(commit).await?;
        Ok(Redirected { interrupted: running.len(), undone })
    }

    /// As it is kept: what is signed is what the journal has. A check that would be another is refused.
    fn kept(&self, change: &Change) -> Result<Change, Error> {
        let redactor = &self.shared.redactor;
        let checks: Vec<&BaseCase> = match change {
            Change::Objective { objective } => vec![&objective.base_case],
            Change::Graph { add, .. } => add.iter().flat_map(|new| new.item.all()).map(|item| &item.verify).collect(),
            Change::Constraints { .. } | Change::Binding { .. } => Vec::new(),
        };
        if checks.into_iter().any(|checks| holds_secret(redactor, checks)) {
            return Err(Error::SecretInCheck);
        }
        let written = serde_json::to_string(change).expect("changes are plain data");
        let kept = redactor.redact_json(&written);
        let unkept = |_| Error::Unsigned("a name in it looks like a credential: choose another".to_owned());
        serde_json::from_str(&kept).map_err(unkept)
    }

    /// What is taken out was done and checked: whoever wants it finds it.
    async fn show_before(&self, created: &TaskCreated, graph: &GraphState, number: usize, tip: Option<TreeId>) {
        let workspace = self.shared.equipment.workspace(created.workspace.as_ref());
        let (Some(tree), Ok(workspace)) = (tip, workspace) else { return };
        let (task, name) = (created.command.task_id.to_string(), format!("before-redirect-{number}"));
        let title = graph.plan.as_ref().map(|Plan(root)| root.title.clone()).unwrap_or_default();
        let at = self.shared.wall();
        let draw = move || {
            let drawing = Drawing { name: &[&task, &name], tree, after: None, message: &title, at };
            workspace.draw(drawing, &|| false)
        };
        // In the journal it stays in any case.
        let _shown = self.shared.blocking(draw).await;
    }

    /// The change as it would be committed, and the graph after it.
    async fn draw(
        &self,
        created: &TaskCreated,
        graph: &GraphJournal,
        (change, description): (&Change, &str),
        taint: Option<Taint>,
    ) -> Result<Drawn, Error> {
        let shared = &self.shared;
        let state = &graph.state;
        if let Some(why) = not_now(state) {
            return Err(Error::NotAligned(why.to_owned()));
        }
        let mut also: Vec<AtomId> = Vec::new();
        let kept: Vec<Merged> = loop {
            let replay = state.without_changed(change, &also)?;
            match self.replay(created, replay, Canceller::default().signal()).await? {
                Some(Replayed::Kept(kept)) => break kept,
                Some(Replayed::Needs(atom)) => also.push(atom),
                None => return Err(Error::Overtaken(created.command.task_id)),
            }
        };
        let redrawn = draw(state, change, &also)?;
        let reasons = unfit(&redrawn.plan, There::of(created, shared));
        if !reasons.is_empty() {
            return Err(Error::UnfitPlan(reasons));
        }
        let done = state.work.nodes().iter().filter(|node| node.is_leaf() && node.is_resolved());
        let undone = done.map(|node| node.id().clone()).filter(|atom| redrawn.undone.contains(atom)).collect();
        let correction = Correction {
            at: shared.wall(),
            description: description.to_owned(),
            change: change.clone(),
            kept,
            also,
            card: Some(CardId::new(shared.wall(), shared.runtime.random())),
            taint,
        };
        let mut after = state.clone();
        let event = decide(state, GraphAction::Correct(Box::new(correction.clone())));
        let task = created.command.task_id;
        after.apply(&event.map_err(|refused| Error::Broken { task, detail: refused.to_string() })?);
        Ok(Drawn { correction, after, undone })
    }
}

pub(super) fn not_now(graph: &GraphState) -> Option<&'static str> {
    if graph.stopping.is_some() {
        return Some("it is being cancelled");
    }
    if graph.applied.is_some() {
        return Some("its work is in your folder already, and it is about to end: begin another");
    }
    if graph.bringing.is_some() {
        return Some("its work is being brought into your folder, and it is about to end: begin another");
    }
    match graph.standing {
        PlanStanding::Approved if graph.objective.is_some() => None,
        PlanStanding::Approved => Some("this task has no objective, only a plan: cancel it, and begin another"),
        PlanStanding::Proposed if graph.is_aligned() => {
            Some("it is not begun: say what to change with `windlass align --task TASK --change \"…\"`")
        }
        PlanStanding::Asked(_) => Some("a plan waits for your answer: `windlass edit CARD --note \"…\"` changes it"),
        _ => Some("a plan is being written: wait for it, or stop it with `windlass stop`"),
    }
}
