//! Taking a goal in: its template, the timer of its first look, and the card that asks for its standing approval, in one commit.

use serde_json::json;
use windlass_domain::approval::{ApprovalScope, Binding, Card, CardId, RiskLevel, bound_plan};
use windlass_domain::goal::{GoalAction, GoalAdded, next_due};
use windlass_domain::plan::{ItemKind, Plan, Schedule};
use windlass_domain::task::{TaskCommand, TaskCreated};
use windlass_domain::{BaseCase, CommandId, GoalId, Role, SessionId, Taint, TaskId, Usd};
use windlass_plan::offsets;
use windlass_store::{Commit, Error as StoreError, Marker};

use super::fire::goal_timer;
use super::journal::{Goal, GoalJournal};
use super::standing::spawn_hash;
use crate::Error;
use crate::approvals::{STANDING_LIFETIME, request};
use crate::engine::Engine;
use crate::graph::{in_words, whole_hash};
use crate::host::Rider;
use crate::plans::holds_secret;
use crate::submit::Submission;

const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;

/// What somebody wants kept so, and how often it may be mended on one word of theirs.
#[derive(Debug, Clone)]
pub struct GoalOrder {
    pub plan: Plan,
    /// With what tasks that mend it work; its goal, checks and planning are the plan's.
    pub with: Submission,
    pub max_fixes: u32,
}

impl Engine {
    /// It is looked at from now on; what is broken is mended unasked once its card is answered with yes.
    pub async fn add_goal(&self, order: GoalOrder) -> Result<(GoalId, CardId), Error> {
        let shared = &self.shared;
        let GoalOrder { plan, with, max_fixes } = order;
        let schedule = fit_goal(&plan)?.clone();
        if plan.0.all().iter().any(|item| holds_secret(&shared.redactor, &item.verify)) {
            return Err(Error::SecretInCheck);
        }
        let name = plan.0.id.to_string();
        let mut namesakes = self.all_goals().await?;
        namesakes.retain(|goal| goal.state.name() == Some(name.as_str()));
        if namesakes.iter().any(Goal::is_there) {
            return Err(Error::GoalKnown(name));
        }
        let now = shared.wall();
        let goal = GoalId::new(now, shared.runtime.random());
        let card_id = CardId::new(now, shared.runtime.random());
        let mut commit = Commit::unfenced(shared.tenant.clone(), now);
        // Of two who saw no other of this name, one is first.
        commit.processed.push(Marker { scope: "goal_name".to_owned(), key: format!("{name}/{}", namesakes.len()) });
        let template = Box::new(self.template(&mut commit, goal, &plan, with).await?);
        let mut journal = GoalJournal::new(goal);
        let mut rider = Rider::default();
        let due = next_due(&schedule, &offsets(plan.0.timezone.as_deref(), now), now);
        let added = GoalAdded { goal, plan, template, card: card_id, due };
        journal.ride(&mut rider, [GoalAction::Add(Box::new(added))], &shared.redactor, Taint::Auth, now)?;
        // As it is kept is as it is signed.
        if let Some(added) = &journal.state.added {
            let card = self.standing_card(added, max_fixes)?;
            request(&mut rider, card, as_task(goal), &shared.redactor, Taint::Auth, now)?;
        }
        rider.timers.push(goal_timer(goal, due));
        rider.ride(&mut commit);
        match shared.commit(commit).await {
            Ok(_) => Ok((goal, card_id)),
            Err(StoreError::Duplicate { .. }) => Err(Error::GoalKnown(name)),
            Err(error) => Err(error.into()),
        }
    }

    async fn template(
        &self,
        commit: &mut Commit,
        goal: GoalId,
        plan: &Plan,
        with: Submission,
    ) -> Result<TaskCreated, Error> {
        let shared = &self.shared;
        let now = shared.wall();
        let skills = self.skills(with.workspace.clone()).await?;
        let model = self.model_choice(commit, with.model, with.config.model.clone()).await?;
        Ok(TaskCreated {
            command: TaskCommand {
                command_id: CommandId::new(now, shared.runtime.random()),
                session_id: SessionId::new(now, shared.runtime.random()),
                task_id: as_task(goal),
                goal: plan.0.title.clone(),
                constraints: with.constraints,
                execution_config: with.config,
                resume_context: None,
            },
            agent_id: with.agent_id,
            role: Role::Executor,
            model,
            workspace: with.workspace.to_string_lossy().into_owned(),
            base_case: BaseCase(Vec::new()),
            budget: with.budget,
            sandbox: with.sandbox,
            baseline: None,
            placement: Some(shared.process.place().to_owned()),
            attachments: Vec::new(),
            approval: None,
            skills: skills.into(),
            planned: true,
            aligns: false,
            part_of: None,
            turn: None,
            goal: Some(goal),
            forked: None,
        })
    }

    fn standing_card(&self, added: &GoalAdded, max_fixes: u32) -> Result<Card, Error> {
        let shared = &self.shared;
        let unsigned = |error: windlass_policy::approve::Unhashable| Error::Unsigned(error.to_string());
        let Plan(root) = &added.plan;
        Ok(Card {
            card_id: added.card,
            intent: root.title.clone(),
            risk_level: RiskLevel::High,
            rationale: root.briefing.what_to_do.trim().to_owned(),
            consequence_label: format!(
                "whenever its checks fail an agent mends it, unasked, in a copy of your folder; when they pass your folder \
                 changes; at most {max_fixes} times, in the next {} days",
                STANDING_LIFETIME.as_secs() / SECONDS_OF_A_DAY
            ),
            affected_items: vec![added.template.workspace.clone()],
            details: json!({
                "kind": "goal",
                "name": root.id,
                "schedule": root.schedule,
                "timezone": root.timezone,
                "verify": root.verify.0.iter().map(in_words).collect::<Vec<_>>(),
                "context": root.briefing.context,
                "constraints": root.briefing.constraints,
                "if_you_get_stuck": root.briefing.if_you_get_stuck,
                "model": added.template.command.execution_config.model,
                "failure_context": root.failure_context,
                "skills": root.skills,
                "gates": root.gates,
                "escalation": root.escalation,
                "budget": root.budget,
                "max_fixes": max_fixes,
                "sandbox": added.template.sandbox,
                "workspace": added.template.workspace,
            }),
            worst_case: Some(bound_plan(&added.plan, (0, Usd::ZERO))),
            expires_at: shared.wall() + shared.law.card_lifetime,
            binds: Binding {
                tenant: shared.tenant.clone(),
                work_item_id: added.goal.to_string(),
                scope: ApprovalScope::Standing,
                plan_hash: Some(whole_hash(&added.template, &added.plan, None).map_err(unsigned)?),
                binding_hash: None,
                spawn_policy_hash: Some(spawn_hash(added.goal, &added.plan).map_err(unsigned)?),
                max_executions: max_fixes,
            },
        })
    }
}

/// Its schedule; or what it lacks to be taken in as a goal.
pub fn fit_goal(Plan(root): &Plan) -> Result<&Schedule, Error> {
    let unfit = |why: &str| Error::NotAGoal(format!("`{}` {why}", root.id));
    if root.kind != ItemKind::Goal {
        return Err(unfit("is not of `type: goal`; carry it out with a run of its own"));
    }
    if root.verify.0.is_empty() {
        return Err(unfit("has no `verify`, so that nobody could tell whether it holds"));
    }
    root.schedule.as_ref().ok_or_else(|| unfit("has no `schedule`: five fields of cron, or `always_on`"))
}

/// A goal's number where a task's is expected: in traces, and for copies of folders.
pub(super) fn as_task(goal: GoalId) -> TaskId {
    goal.to_string().parse().expect("every id is a UUID")
}

/// And back.
pub(crate) fn goal_of(task: TaskId) -> GoalId {
    task.to_string().parse().expect("every id is a UUID")
}
