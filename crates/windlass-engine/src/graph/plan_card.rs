//! The one card of a plan: what would be done, what it can cost at most, and what a yes binds. What a person answers is heard at the
//! next pass.

use serde_json::{Value, json};
use windlass_domain::approval::{
    ApprovalScope, ApprovalState, Binding, Card, CardId, RiskLevel, Verdict, WorstCase, bound_plan,
};
use windlass_domain::graph::{
    Constraints, GraphAction, GraphState, Objective, PlanAnswer, PlanAnswered, PlanAsked, ReviewAnswered, ReviewAsked,
    Work, bound,
};
use windlass_domain::plan::{Item, Plan};
use windlass_domain::task::TaskCreated;
use windlass_domain::{Budget, Digest, Seq, Taint, Usd};
use windlass_policy::approve::{PlannedSeen, Unhashable, planned_hash};
use windlass_store::StreamId;

use super::outline::in_words;
use super::pass::{GraphDriver, Made};
use crate::Error;
use crate::approvals::{ApprovalJournal, request, use_token};
use crate::engine::Engine;
use crate::host::Rider;

/// What a token for all of a plan binds: the plan, what it is for, and what it is carried out with.
pub fn whole_hash(created: &TaskCreated, plan: &Plan, objective: Option<&Objective>) -> Result<Digest, Unhashable> {
    planned_hash(&PlannedSeen {
        task: created.command.task_id,
        plan,
        objective,
        goal: &created.command.goal,
        constraints: &created.command.constraints,
        execution_config: &created.command.execution_config,
        model: &created.model,
        workspace: &created.workspace,
        sandbox: &created.sandbox,
        baseline: created.baseline,
        skill_digests: created.skills.iter().map(|skill| (skill.name.as_str(), skill.digest)).collect(),
    })
}

impl GraphDriver {
    /// Where a goal's standing approval allows it, nobody is asked: the use is counted, and the plan is agreed to.
    async fn stand_on_goal(&mut self, revision: u32) -> Result<Option<Made>, Error> {
        let shared = self.engine.shared.clone();
        let Some(plan) = &self.graph.state.plan else { return Ok(None) };
        let Some(wanted) = self.engine.standing(self.created()?, plan).await? else { return Ok(None) };
        let mut rider = Rider::default();
        if use_token(&shared, &wanted, &mut rider).await?.is_err() {
            return match self.commit(rider, Vec::new()).await? {
                Made::Done => Ok(None),
                overtaken => Ok(Some(overtaken)),
            };
        }
        let asked = GraphAction::Ask(PlanAsked { revision, card: wanted.card_id });
        let agreed = GraphAction::Answer(PlanAnswered { revision, answer: PlanAnswer::Approved });
        self.ride(&mut rider, [asked, agreed], windlass_domain::Taint::Auth)?;
        self.commit(rider, Vec::new()).await.map(Some)
    }

    pub(super) async fn ask(&mut self, revision: u32) -> Result<Made, Error> {
        if let Some(made) = self.stand_on_goal(revision).await? {
            return Ok(made);
        }
        let shared = self.engine.shared.clone();
        let now = shared.wall();
        let card_id = CardId::new(now, shared.runtime.random());
        let card = self.engine.plan_card(card_id, self.created()?, &self.graph.state)?;
        let taint = self.graph.state.taint();
        let mut rider = Rider::default();
        request(&mut rider, card, self.task, &shared.redactor, taint, now)?;
        self.ride(&mut rider, [GraphAction::Ask(PlanAsked { revision, card: card_id })], taint)?;
        self.commit(rider, Vec::new()).await
    }

    /// Nothing is left that the runtime could try by itself: a yes allows one plan more.
    pub(super) async fn escalate(&mut self, why: String) -> Result<Made, Error> {
        let shared = self.engine.shared.clone();
        let now = shared.wall();
        let card_id = CardId::new(now, shared.runtime.random());
        let title = self.graph.state.plan.as_ref().map(|Plan(root)| root.title.clone()).unwrap_or_default();
        let asked = serde_json::to_vec(&(self.task, self.graph.state.revision, &why)).expect("plain data");
        let card = Card {
            card_id,
            intent: format!("have another plan written for: {title}"),
            risk_level: RiskLevel::Low,
            rationale: why.clone(),
            consequence_label:
                "a planner writes one more plan, which is asked about like the others; a no ends the task".to_owned(),
            affected_items: vec![format!("task {}", self.task)],
            details: json!({"kind": "review", "task_id": self.task, "revision": self.graph.state.revision}),
            worst_case: None,
            expires_at: now + shared.law.card_lifetime,
            binds: Binding {
                tenant: shared.tenant.clone(),
                work_item_id: self.task.to_string(),
                scope: ApprovalScope::Budget,
                plan_hash: None,
                binding_hash: Some(Digest::of(&asked)),
                spawn_policy_hash: None,
                max_executions: 1,
            },
        };
        let mut rider = Rider::default();
        request(&mut rider, card, self.task, &shared.redactor, Taint::External, now)?;
        let asked = ReviewAsked { card: card_id, why };
        self.ride(&mut rider, [GraphAction::AskReview(asked)], Taint::External)?;
        self.commit(rider, Vec::new()).await
    }

    /// Takes an answer into the graph, where there is one.
    pub(super) async fn hear_about_the_plan(&mut self) -> Result<(), Error> {
        while let Some(card) = self.graph.state.asks() {
            let Some((answer, stands)) = self.engine.plan_answer(card).await? else { return Ok(()) };
            let mut rider = Rider { expect: vec![stands], ..Rider::default() };
            let answered = match self.graph.state.open_review() {
                Some(_) => GraphAction::AnswerReview(reviewed(answer)),
                None => GraphAction::Answer(PlanAnswered { revision: self.graph.state.revision, answer }),
            };
            self.ride(&mut rider, [answered], Taint::Auth)?;
            self.commit(rider, Vec::new()).await?;
        }
        Ok(())
    }
}

fn reviewed(answer: PlanAnswer) -> ReviewAnswered {
    match answer {
        PlanAnswer::Approved => ReviewAnswered { granted: true, note: String::new() },
        PlanAnswer::Declined { reason: note } | PlanAnswer::EditRequested { note } => {
            ReviewAnswered { granted: false, note }
        }
    }
}

/// The most that the plan of a graph can come to, once so many passes are made. What follows it, where it fails, is asked about with a
/// worst case of its own.
pub fn worst_case(graph: &GraphState, made: u32) -> Option<WorstCase> {
    let plan = graph.plan.as_ref()?;
    let Some(agreed) = &graph.objective else { return Some(bound_plan(plan, (0, Usd::ZERO))) };
    let left = agreed.constraints.max_iterations.map(|most| most.saturating_sub(made));
    let constraints = Constraints { max_iterations: left, ..agreed.constraints.clone() };
    Some(bound(&Work::plant(plan, constraints), 0))
}

impl Engine {
    /// The card of the plan that a graph has now.
    pub(crate) fn plan_card(&self, card_id: CardId, created: &TaskCreated, graph: &GraphState) -> Result<Card, Error> {
        let shared = &self.shared;
        let task = created.command.task_id;
        let nothing = || Error::Broken { task, detail: "there is no plan to ask about".to_owned() };
        let (plan, worst) = (graph.plan.as_ref().ok_or_else(nothing)?, worst_case(graph, 0).ok_or_else(nothing)?);
        let hash = whole_hash(created, plan, graph.objective.as_ref());
        let Plan(root) = plan;
        Ok(Card {
            card_id,
            intent: root.title.clone(),
            risk_level: if touches_services(root) { RiskLevel::High } else { RiskLevel::Medium },
            rationale: root.briefing.what_to_do.trim().to_owned(),
            consequence_label:
                "agents work on these items in copies of your folder; when all checks pass it changes, once".to_owned(),
            affected_items: work(root).map(|item| format!("{}: {}", item.id, item.title)).collect(),
            details: details(created, plan, graph),
            worst_case: Some(worst),
            expires_at: shared.wall() + shared.law.card_lifetime,
            binds: Binding {
                tenant: shared.tenant.clone(),
                work_item_id: task.to_string(),
                scope: ApprovalScope::FullPlan,
                plan_hash: Some(hash.map_err(|error| Error::Unsigned(error.to_string()))?),
                binding_hash: None,
                spawn_policy_hash: None,
                // Every attempt is one use: as many as were shown, whichever ways are taken.
                max_executions: worst.attempts,
            },
        })
    }

    /// Where the question stands that nobody has answered; `None`: somebody has.
    pub(crate) async fn still_asked(&self, card: CardId) -> Result<Option<(StreamId, Seq)>, Error> {
        let journal = self.asked(card).await?;
        let is_open = matches!(journal.state, ApprovalState::Requested { .. });
        Ok(is_open.then_some((journal.stream, journal.head)))
    }

    async fn plan_answer(&self, card: CardId) -> Result<Option<(PlanAnswer, (StreamId, Seq))>, Error> {
        let journal = self.asked(card).await?;
        Ok(heard(&journal.state).map(|answer| (answer, (journal.stream, journal.head))))
    }

    /// One whose time is up has its answer.
    pub(crate) async fn asked(&self, card: CardId) -> Result<ApprovalJournal, Error> {
        let (store, tenant) = (self.shared.store.as_ref(), &self.shared.tenant);
        let journal = ApprovalJournal::load(store, tenant, card).await?;
        match &journal.state {
            ApprovalState::Requested { card: asked } if self.shared.wall() >= asked.expires_at => {
                self.lapse(card).await?;
                ApprovalJournal::load(store, tenant, card).await
            }
            _ => Ok(journal),
        }
    }
}

fn heard(approval: &ApprovalState) -> Option<PlanAnswer> {
    let declined = |reason: &str| Some(PlanAnswer::Declined { reason: reason.to_owned() });
    match approval {
        ApprovalState::Requested { .. } => None,
        ApprovalState::Issued { .. } => Some(PlanAnswer::Approved),
        ApprovalState::Refused { decision, .. } if decision.verdict == Verdict::EditRequested => {
            Some(PlanAnswer::EditRequested { note: decision.note.clone() })
        }
        ApprovalState::Refused { decision, .. } if decision.note.is_empty() => declined("no reason was given"),
        ApprovalState::Refused { decision, .. } => declined(&decision.note),
        ApprovalState::Expired { .. } => declined("nobody answered in time"),
        // A yes and its token are one commit: without the token somebody has written there who should not.
        ApprovalState::Decided { .. } => declined("the answer is not signed"),
        ApprovalState::Absent | ApprovalState::Withdrawn { .. } => declined("the question was taken back"),
    }
}

/// The items that somebody works on.
fn work(root: &Item) -> impl Iterator<Item = &Item> {
    root.all().into_iter().filter(|item| item.tasks.is_empty())
}

fn touches_services(root: &Item) -> bool {
    root.all().iter().any(|item| !item.touches.services.is_empty())
}

fn details(created: &TaskCreated, plan: &Plan, graph: &GraphState) -> Value {
    let Plan(root) = plan;
    let items = in_order(root, None);
    let mut details = json!({
        "kind": "plan",
        "plan_id": root.id,
        "revision": graph.revision,
        "objective": graph.objective,
        "context": root.briefing.context,
        "constraints": root.briefing.constraints,
        "if_you_get_stuck": root.briefing.if_you_get_stuck,
        "rules": created.command.constraints,
        "items": items.iter().map(|(item, within)| item_details(plan, item, *within)).collect::<Vec<_>>(),
        "verify": root.verify.0.iter().map(in_words).collect::<Vec<_>>(),
        "plan_budget": root.plan_budget,
        "model": created.command.execution_config.model,
        "planner_model": created.command.execution_config.for_planner().model,
        "sandbox": created.sandbox,
        "workspace": created.workspace,
        "taint": graph.taint(),
    });
    if let Some(deadline) = created.command.execution_config.deadline() {
        details["deadline"] = json!(deadline.at.to_rfc3339());
        details["deadline_action"] = json!(deadline.action);
    }
    details
}

/// As the document has them, each with what holds it; a plan of one task has that task.
fn in_order<'a>(item: &'a Item, within: Option<&'a Item>) -> Vec<(&'a Item, Option<&'a Item>)> {
    if item.tasks.is_empty() {
        return vec![(item, within)];
    }
    let parts = item.tasks.iter().flat_map(|part| {
        let holds_others = (!part.tasks.is_empty()).then_some((part, Some(item)));
        holds_others.into_iter().chain(in_order(part, Some(item)))
    });
    parts.collect()
}

fn item_details(plan: &Plan, item: &Item, within: Option<&Item>) -> Value {
    json!({
        "id": item.id,
        "type": item.kind,
        "title": item.title,
        "within": within.map(|within| &within.id),
        "depends_on": item.depends_on,
        "any_of": item.any_of,
        "agent": item.agent,
        "skills": plan.skills(&item.id),
        "budget": item.budget,
        "interaction_mode": item.interaction_mode,
        "on_stuck": item.on_stuck,
        "on_failure": item.on_failure,
        "escalation": item.escalation,
        "verify": item.verify.0.iter().map(in_words).collect::<Vec<_>>(),
        "gates": item.gates,
        "touches": plan.touches(&item.id),
        "what_to_do": item.briefing.what_to_do,
        "context": item.briefing.context,
        "constraints": item.briefing.constraints,
        "if_you_get_stuck": item.briefing.if_you_get_stuck,
        "speculative": item.speculative,
        "probe": item.probe,
        "pattern": item.pattern,
        "input_artifacts_from": item.input_artifacts_from,
        "follow_up_of": item.follow_up_of,
        "continuation_of": item.continuation_of,
        "own_budget": (item.tasks.is_empty() && item.budget != Budget::default()).then_some(&item.budget),
        "told": if item.tasks.is_empty() { plan.told(&item.id) } else { None },
    })
}
