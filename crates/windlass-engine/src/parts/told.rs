//! What the end of a part tells, in the commit that ends it: an atom's work becomes part of all, a planner's plan is proposed, and
//! guidance reaches whoever waits for it. Each wakes who has to hear it.

use windlass_domain::graph::{
    AtomEnded, AtomOutcome, Binding, GraphAction, PlanProposed, PlannerCharged, Proposer, Remembered, Salvage,
};
use windlass_domain::plan::AtomId;
use windlass_domain::queue::{ExecutionStatus, MessageKind, Sender, Urgency};
use windlass_domain::research::ResearchKey;
use windlass_domain::role_output::{ExecutorAgentOutput, WorkerReport, beginning};
use windlass_domain::task::{
    ConsultAnswered, Control, Part, PartOf, ResearchAnswered, TaskAction, TaskRejected, TaskState,
};
use windlass_domain::{Digest, ErrorCode, ErrorDetails, Taint, TaskId, TaskResult, TaskResultStatus};
use windlass_store::queue::{Actor, AuditType, Queue};
use windlass_store::{NewEvent, TimerChange};

use super::consult::consult_timer;
use super::deadline::plan_timer;
use super::research::{research_timer, told};
use super::status::Status;
use crate::Error;
use crate::approvals::Audited;
use crate::attempt::{NotDecided, PlannerSaid, no_other_way};
use crate::dispatch::Errand;
use crate::engine::Engine;
use crate::graph::GraphJournal;
use crate::host::Rider;
use crate::plans::Written;

pub enum Told {
    Yes,
    /// The work of others has come in since this was checked.
    Outdated,
}

/// What an atom leaves behind.
#[derive(Default)]
pub struct Left {
    /// The paths that it changed.
    pub touched: Vec<String>,
    pub salvaged: Vec<Salvage>,
}

/// `state` is the part's, before its end.
pub async fn tell_end(
    engine: &Engine,
    state: &TaskState,
    of: &PartOf,
    result: &TaskResult,
    left: Left,
    rider: &mut Rider,
) -> Result<Told, Error> {
    let telling = Telling { engine, state, of, result };
    match &of.part {
        Part::Atom { atom, .. } => telling.atom(atom, left, rider).await,
        Part::Plan { revision, .. } => telling.plan(*revision, rider).await,
        Part::Guidance { .. } => telling.guidance(rider).await,
        Part::Research { key } => telling.research(*key, rider).await,
        Part::Probe { atom } => telling.probe(atom, rider).await,
        Part::Split { atom } => telling.split(atom, rider).await,
        Part::Correction {} => telling.correction(rider).await,
    }
}

pub(super) struct Telling<'a> {
    pub(super) engine: &'a Engine,
    pub(super) state: &'a TaskState,
    pub(super) of: &'a PartOf,
    pub(super) result: &'a TaskResult,
}

impl Telling<'_> {
    async fn atom(&self, atom: &AtomId, left: Left, rider: &mut Rider) -> Result<Told, Error> {
        let mut graph = self.engine.graph_journal(self.of.root).await?;
        let last = self.state.attempts.last();
        let is_awaited = graph.state.running().contains(&self.run());
        let outcome = match (self.result.status, last.and_then(|attempt| attempt.merged)) {
            // The way that it was a part of was given up while it ended.
            _ if !is_awaited => {
                AtomOutcome::Failed(ErrorDetails::new(ErrorCode::Cancelled, "nobody waits for it any more"))
            }
            (TaskResultStatus::Completed, Some((_, onto))) if graph.state.tip != Some(onto) => {
                return Ok(Told::Outdated);
            }
            (TaskResultStatus::Completed, Some((tip, _))) => AtomOutcome::Resolved { tip, binding: self.binding() },
            _ => AtomOutcome::Failed(self.error()),
        };
        let outcome_error = match &outcome {
            AtomOutcome::Resolved { .. } => None,
            AtomOutcome::Failed(error) => Some(error.clone()),
        };
        let (taint, labels) = self.state.inherited();
        let ended = AtomEnded {
            atom: atom.clone(),
            run: self.run(),
            outcome,
            attempts: u32::try_from(self.state.attempts.len()).unwrap_or(u32::MAX),
            usage: self.result.usage,
            cost: self.result.cost_usd.unwrap_or_else(|| self.state.used().1),
            touched: left.touched,
            unpriced: self.result.cost_usd.is_none(),
            verified: self.result.verified,
            labels,
            taint,
            salvaged: left.salvaged,
        };
        // Of what nobody waits for nobody is told.
        if is_awaited {
            let status = match outcome_error {
                None => Status::of(ExecutionStatus::Done),
                Some(error) => Status::wrong(ExecutionStatus::Failed, error),
            };
            self.engine.tell_status(rider, self.state, status)?;
        }
        let mut actions = self.dismissed(rider).await?;
        actions.push(GraphAction::EndAtom(Box::new(ended)));
        let before = graph.state.leaving.clone();
        self.write(&mut graph, rider, actions, taint)?;
        // Those that tried the same in another way have lost.
        let lost = graph.state.leaving.difference(&before).copied().filter(|run| graph.state.is_of_an_atom(*run));
        self.engine.dismiss(rider, lost.collect()).await?;
        self.engine.wake_for(rider, self.of.root, None).await?;
        Ok(Told::Yes)
    }

    fn binding(&self) -> Binding {
        let artifacts = self.result.deliverables.clone();
        let ended = self.state.attempts.last().and_then(|attempt| attempt.ended.as_ref());
        if let Some(WorkerReport { bindings_delta, artifacts: files, .. }) =
            ended.and_then(|ended| ended.report.clone())
        {
            return Binding { summary: bindings_delta, artifacts, files };
        }
        let said = self.result.final_message.as_deref().unwrap_or_default();
        Binding { summary: beginning(&ExecutorAgentOutput::of(said).summary), artifacts, files: Vec::new() }
    }

    async fn plan(&self, revision: u32, rider: &mut Rider) -> Result<Told, Error> {
        let shared = &self.engine.shared;
        let mut graph = self.engine.graph_journal(self.of.root).await?;
        let whole = self.engine.task(self.of.root).await?;
        let base = graph.state.tip.or_else(|| whole.created.as_ref()?.baseline);
        let base = base.ok_or_else(|| self.broken("the planned task has no baseline"))?;
        let (taint, _) = self.state.inherited();
        let said = self.result.final_message.as_deref();
        let written = match (self.result.status, said) {
            (TaskResultStatus::Completed, Some(said)) => {
                let created = self.state.created.as_ref().ok_or_else(|| self.broken("the planner was not created"))?;
                proposed(self.engine.planner_said(said, created).await?)
            }
            _ if self.state.research.is_expired() => Err(late()),
            _ => Err(self.error()),
        };
        if written.is_ok() {
            self.engine.tell_plan(rider, self.of.root, revision)?;
        }
        let document = said.filter(|_| written.is_ok());
        let mut kept = None;
        if let Some(text) = document {
            let text = shared.redactor.redact(text).into_owned();
            let blob = shared.store.stage_blob(&shared.tenant, text.into_bytes(), taint).await?;
            kept = Some(blob.digest());
            rider.blobs.push(blob);
        }
        let document: Option<Digest> = kept;
        let by = Proposer::Planner(self.run());
        let (plan, objective) = match written {
            // What was there before counts as well.
            Ok(Written { plan, objective: None }) if !graph.state.has_room_for(&plan) => {
                let message =
                    "the planner's plan has more atoms or choices than were agreed on, with those that there were";
                (Err(ErrorDetails::new(ErrorCode::AnswerIncomplete, message)), None)
            }
            Ok(Written { plan, objective }) => (Ok(plan), objective),
            Err(error) => (Err(error), None),
        };
        let proposed = PlanProposed { revision, by, base, plan, document, taint, remembered: Remembered::default() };
        let mut actions = self.dismissed(rider).await?;
        actions.push(GraphAction::Charge(self.bill()));
        actions.extend(objective.map(|agreed| GraphAction::Align(Box::new(agreed))));
        actions.push(GraphAction::Propose(Box::new(proposed)));
        rider.timers.push(TimerChange::Cancel(plan_timer(self.run())));
        self.write(&mut graph, rider, actions, taint)?;
        self.engine.wake_for(rider, self.of.root, None).await?;
        Ok(Told::Yes)
    }

    /// Who waited too long waits no more, and the bill is paid all the same.
    async fn guidance(&self, rider: &mut Rider) -> Result<Told, Error> {
        let shared = &self.engine.shared;
        let mut graph = self.engine.graph_journal(self.of.root).await?;
        let (taint, _) = self.state.inherited();
        self.charge(&mut graph, rider, taint).await?;
        let asker = self.engine.task_journal(self.of.task).await?;
        let is_awaited = asker.state.open_consult().is_some_and(|consult| consult.run == self.run());
        if !is_awaited || asker.state.is_over() {
            return Ok(Told::Yes);
        }
        let guidance = self.answer();
        // Decided on what was read here: whoever is woken is read once more, and may be further by then.
        rider.expect.push((asker.stream.clone(), asker.head));
        self.engine.wake_for(rider, self.of.task, Some(GUIDANCE)).await?;
        let answer = TaskAction::AnswerConsult(ConsultAnswered { run: self.run(), guidance, taint });
        let decided = asker.decide(vec![answer], &shared.redactor, taint, shared.wall());
        rider.events.extend(decided.map_err(|refused| self.broken(refused))?.rows);
        rider.timers.push(TimerChange::Cancel(consult_timer(self.run())));
        Ok(Told::Yes)
    }

    /// Whoever asked reads it there, and decides what comes of it.
    async fn correction(&self, rider: &mut Rider) -> Result<Told, Error> {
        let mut graph = self.engine.graph_journal(self.of.root).await?;
        let (taint, _) = self.state.inherited();
        self.charge(&mut graph, rider, taint).await?;
        Ok(Told::Yes)
    }

    /// Late, repeated or never asked for, an answer is kept in its own journal and the audit, and paid for.
    async fn research(&self, key: ResearchKey, rider: &mut Rider) -> Result<Told, Error> {
        let shared = &self.engine.shared;
        let mut graph = self.engine.graph_journal(self.of.root).await?;
        let (taint, _) = self.state.inherited();
        self.charge(&mut graph, rider, taint).await?;
        rider.timers.push(TimerChange::Cancel(research_timer(self.run())));
        let asker = self.engine.task_journal(self.of.task).await?;
        let answer = self.answer();
        let error = answer.as_ref().err().cloned();
        let answered = ResearchAnswered { key, run: self.run(), error, taint };
        let asked = asker.state.inquiries.iter().find(|inquiry| inquiry.run == self.run());
        let decided = asker.decide(vec![TaskAction::AnswerResearch(answered)], &shared.redactor, taint, shared.wall());
        match (decided, asked) {
            (Ok(decided), Some(asked)) => {
                rider.expect.push((asker.stream.clone(), asker.head));
                let told = told(&asked.question, answer.as_deref(), decided.after());
                let taint = taint.join(asked.taint);
                rider.messages.push(self.engine.mail(self.of.task, Control::Inject(told), taint)?);
                self.engine.wake_for(rider, self.of.task, Some(RESULT)).await?;
                rider.events.extend(decided.rows);
            }
            (Err(NotDecided::Rejected(TaskRejected::NotAwaited | TaskRejected::Over)), _) | (Ok(_), None) => {
                rider.expect.push((asker.stream.clone(), asker.head));
                rider.events.push(self.ignored(taint));
            }
            (Err(refused), _) => return Err(self.broken(refused)),
        }
        Ok(Told::Yes)
    }

    fn ignored(&self, taint: Taint) -> NewEvent {
        let shared = &self.engine.shared;
        let audited = Audited {
            event_type: AuditType::Dequeue,
            actor: Actor::Runtime,
            decision: "ignored",
            reason: "nobody waits for this answer any more",
            details: serde_json::json!({ "task_id": self.run() }),
        };
        audited.about(self.of.task, shared, taint, shared.wall())
    }

    /// In words, or why there are none.
    pub(super) fn answer(&self) -> Result<String, ErrorDetails> {
        match (self.result.status, &self.result.final_message) {
            (TaskResultStatus::Completed, Some(said)) if !said.trim().is_empty() => Ok(said.clone()),
            (TaskResultStatus::Completed, _) => Err(ErrorDetails::new(ErrorCode::AnswerIncomplete, "it said nothing")),
            _ => Err(self.error()),
        }
    }

    /// Whoever worked for it has nobody to work for any more.
    pub(super) async fn dismissed(&self, rider: &mut Rider) -> Result<Vec<GraphAction>, Error> {
        let runs = self.engine.dismiss(rider, self.state.open_parts()).await?;
        Ok(if runs.is_empty() { Vec::new() } else { vec![GraphAction::Dismiss { runs }] })
    }

    /// Puts what it used on the plan's bill. Where the whole only waited for that, it goes on.
    async fn charge(&self, graph: &mut GraphJournal, rider: &mut Rider, taint: Taint) -> Result<(), Error> {
        let was_asleep = graph.state.parked;
        self.write(graph, rider, [GraphAction::Charge(self.bill())], taint)?;
        if was_asleep && !graph.state.parked {
            self.engine.wake_for(rider, self.of.root, None).await?;
        }
        Ok(())
    }

    fn bill(&self) -> PlannerCharged {
        PlannerCharged {
            run: self.run(),
            usage: self.result.usage,
            cost: self.state.used().1,
            unpriced: self.result.cost_usd.is_none(),
        }
    }

    fn error(&self) -> ErrorDetails {
        let said = self.result.error_details.clone();
        said.unwrap_or_else(|| ErrorDetails::new(ErrorCode::Internal, "it ended without a result"))
    }

    pub(super) const fn run(&self) -> TaskId {
        self.result.task_id
    }

    pub(super) fn write(
        &self,
        graph: &mut GraphJournal,
        rider: &mut Rider,
        actions: impl IntoIterator<Item = GraphAction>,
        taint: Taint,
    ) -> Result<(), Error> {
        let shared = &self.engine.shared;
        graph.ride(rider, actions, &shared.redactor, taint, shared.wall())
    }

    pub(super) fn broken(&self, detail: impl std::fmt::Display) -> Error {
        Error::Broken { task: self.run(), detail: detail.to_string() }
    }
}

/// Of a planner's last words.
fn proposed(said: PlannerSaid) -> Result<Written, ErrorDetails> {
    let none = |why: String| ErrorDetails::new(ErrorCode::AnswerIncomplete, why);
    match said {
        PlannerSaid::Plan { written, .. } => Ok(*written),
        PlannerSaid::NoPlan(response) => Err(none(format!("the planner sees no way: {}", response.message))),
        PlannerSaid::NeedsResearch(_) => Err(none("the planner waits for research that nobody does".to_owned())),
        PlannerSaid::Unusable(why) => Err(none(format!("the planner's answer is no plan: {why}"))),
        PlannerSaid::Repeated(repeated) => Err(no_other_way(repeated)),
    }
}

fn late() -> ErrorDetails {
    ErrorDetails::new(ErrorCode::Timeout, "the plan was not finished in time")
}

/// Seed 001 §2.3: what was found out goes to the planner's queue.
pub(super) const RESULT: Errand = Errand {
    queue: Queue::Planner,
    from: (Sender::Executor, MessageKind::ResearchResult),
    urgency: Urgency::NeedsAttention,
    late: None,
};

/// Seed 001 §5.2.3: through the durable runtime queue.
pub(super) const GUIDANCE: Errand = Errand {
    queue: Queue::Runtime,
    from: (Sender::Planner, MessageKind::PlannerGuidance),
    urgency: Urgency::NeedsAttention,
    late: None,
};
