//! Making a part: a task that works for another one. It is made of what the planned task was begun with, and its message stands
//! in the queue that seed 001 §2.3 names for its kind of work.

use windlass_domain::graph::GraphState;
use windlass_domain::pattern::Pattern;
use windlass_domain::plan::AtomId;
use windlass_domain::queue::{MessageKind, Sender, Urgency};
use windlass_domain::task::{ExecutionConfig, Part, PartOf, TaskAction, TaskCommand, TaskCreated};
use windlass_domain::{BaseCase, Budget, CommandId, Role, Taint, TaskId};
use windlass_store::queue::Queue;

use crate::Error;
use crate::approvals::trace_of;
use crate::attempt::TaskJournal;
use crate::dispatch::{Errand, Letter};
use crate::engine::Engine;
use crate::host::Rider;

/// What a part is there for.
pub struct Work {
    pub part_of: PartOf,
    pub role: Role,
    pub agent_id: String,
    pub goal: String,
    pub checks: BaseCase,
    pub budget: Budget,
}

impl Work {
    /// For `run`, or whoever is next. Nothing, where the plan has no such item.
    pub fn atom(root: TaskId, graph: &GraphState, atom: &AtomId, run: Option<TaskId>) -> Option<Self> {
        let item = graph.work.item(atom)?;
        let gates = graph.work.gates(atom);
        let handling = graph.work.handling(atom);
        let pattern = (item.pattern != Pattern::GENERIC).then(|| item.pattern.clone());
        let part = Part::Atom { atom: item.id.clone(), on_stuck: item.on_stuck, gates, handling, pattern };
        Some(Self {
            part_of: PartOf { task: root, root, part },
            role: Role::Executor,
            agent_id: item.agent.clone(),
            goal: graph.work.told(atom)?,
            checks: item.verify.clone(),
            budget: graph.progress(atom).map_or_else(|| item.budget.clone(), |progress| progress.budget(item, run)),
        })
    }

    /// Whether `created` is what this would be made into: nobody has changed what was approved.
    pub fn is(&self, created: &TaskCreated, whole: &TaskCreated) -> bool {
        let execution_config = self.config(whole);
        created.part_of.as_ref() == Some(&self.part_of)
            && created.role == self.role
            && created.agent_id == self.agent_id
            && created.command.goal == self.goal
            && created.base_case == self.checks
            && created.budget == self.budget
            && created.model == whole.model.named(&execution_config.model)
            && created.command.execution_config == execution_config
            && created.approval.is_none()
    }

    /// Whom it asks was said when the whole was begun, and is part of what was approved.
    fn config(&self, whole: &TaskCreated) -> ExecutionConfig {
        let config = &whole.command.execution_config;
        match (self.role, &self.part_of.part) {
            (Role::Planner, _) => config.for_planner(),
            (_, Part::Atom { pattern, .. }) => config.for_item(pattern.as_deref().unwrap_or(Pattern::GENERIC)),
            (_, _) => config.for_looking(),
        }
    }

    const fn errand(&self) -> Errand {
        match &self.part_of.part {
            Part::Atom { .. } => Errand {
                queue: Queue::Executor,
                from: (Sender::Runtime, MessageKind::SystemEvent),
                urgency: Urgency::NeedsAttention,
                late: None,
            },
            Part::Plan { revision: 1, .. } => Errand {
                queue: Queue::Planner,
                from: (Sender::Proxy, MessageKind::PlanRequest),
                urgency: Urgency::Informational,
                late: None,
            },
            Part::Plan { .. } => Errand {
                queue: Queue::Planner,
                from: (Sender::Runtime, MessageKind::ReplanRequest),
                urgency: Urgency::Informational,
                late: None,
            },
            Part::Research { .. } | Part::Probe { .. } => Errand {
                queue: Queue::Executor,
                from: (Sender::Planner, MessageKind::ResearchRequest),
                urgency: Urgency::Background,
                late: None,
            },
            Part::Guidance { .. } | Part::Split { .. } | Part::Correction {} => Errand {
                queue: Queue::Planner,
                from: (Sender::Runtime, MessageKind::ConsultPlanner),
                urgency: Urgency::NeedsAttention,
                late: None,
            },
        }
    }
}

impl Engine {
    /// Takes a part in, as part of the commit that decided it. `whole` is what the planned task was begun with.
    pub(crate) fn take_part(&self, rider: &mut Rider, whole: &TaskCreated, work: Work) -> Result<TaskId, Error> {
        let shared = &self.shared;
        let now = shared.wall();
        let task_id = TaskId::new(now, shared.runtime.random());
        let (errand, execution_config) = (work.errand(), work.config(whole));
        let created = TaskCreated {
            command: TaskCommand {
                command_id: CommandId::new(now, shared.runtime.random()),
                task_id,
                goal: work.goal,
                constraints: whole.command.constraints.clone(),
                resume_context: None,
                execution_config: execution_config.clone(),
                ..whole.command.clone()
            },
            model: whole.model.named(&execution_config.model),
            agent_id: work.agent_id,
            role: work.role,
            base_case: work.checks,
            budget: work.budget,
            approval: None,
            planned: false,
            aligns: false,
            part_of: Some(work.part_of),
            goal: None,
            forked: None,
            ..whole.clone()
        };
        let placement = created.placement.clone();
        let journal = TaskJournal::new(task_id);
        let create = TaskAction::Create(Box::new(created));
        let decided = journal
            .decide(vec![create], &shared.redactor, Taint::Auth, now)
            .map_err(|refused| Error::Broken { task: task_id, detail: refused.to_string() })?;
        rider.expect.push((journal.stream, journal.head));
        rider.events.extend(decided.rows);
        let root = whole.command.task_id;
        self.post(rider, Letter { task: task_id, trace: trace_of(root), placement, errand })?;
        Ok(task_id)
    }
}
