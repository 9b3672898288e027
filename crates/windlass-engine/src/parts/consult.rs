//! Asking the planner about an item that is stuck (seed 001 §5.2.3): the item's task goes to sleep, a planner thinks, and a timer wakes
//! it without an answer where that takes too long.

use std::time::Duration;

use windlass_domain::graph::{ConsultStarted, GraphAction, decide};
use windlass_domain::plan::Plan;
use windlass_domain::queue::OriginAgent;
use windlass_domain::task::{ConsultAnswered, ConsultAsked, Part, PartOf, TaskAction, TaskState};
use windlass_domain::{BaseCase, ErrorCode, ErrorDetails, Role, Taint, TaskId};
use windlass_store::{TimerChange, TimerName};

use super::create::Work;
use super::research::due;
use super::told::GUIDANCE;
use crate::Error;
use crate::dispatch::Errand;
use crate::engine::Engine;
use crate::filled::filled;
use crate::host::Rider;

/// Seed 001 §5.2.3's `consult_timeout_s`.
const CONSULT_TIMEOUT: Duration = Duration::from_secs(90);

const ABOUT: &str = include_str!("../../../../prompts/plan/consult.md");

pub const CONSULT_TIMER: &str = "consult/";

pub fn consult_timer(run: TaskId) -> TimerName {
    TimerName(format!("{CONSULT_TIMER}{run}"))
}

/// Whom to ask and until when, in the commit that puts the asker to sleep. `None`: nothing is left to pay a planner from.
pub async fn ask_consult(
    engine: &Engine,
    state: &TaskState,
    of: &PartOf,
    attempt: u32,
    rider: &mut Rider,
) -> Result<Option<ConsultAsked>, Error> {
    let shared = &engine.shared;
    let (mut journal, whole) = (engine.graph_journal(of.root).await?, engine.task(of.root).await?);
    let graph = &journal.state;
    let (Some(Plan(root)), Some(whole)) = (&graph.plan, whole.created) else { return Ok(None) };
    let asker = state.created.as_ref().map(|created| created.command.clone());
    let Some(asker) = asker else { return Ok(None) };
    let purse = engine.purse(graph, &root.plan_budget, asker.task_id).await?;
    if purse.is_empty() {
        return Ok(None);
    }
    let budget = purse.half(&whole);
    rider.expect.extend(purse.guards.into_iter().chain([(journal.stream.clone(), journal.head)]));
    if let (Some(_), Part::Atom { atom, .. }) = (&graph.objective, &of.part) {
        let consult = GraphAction::Consult(ConsultStarted { atom: atom.clone(), run: asker.task_id });
        if decide(graph, consult.clone()).is_err() {
            return Ok(None);
        }
        journal.ride(rider, [consult], &shared.redactor, Taint::Auth, shared.wall())?;
    }
    let work = Work {
        part_of: PartOf { task: asker.task_id, root: of.root, part: Part::Guidance { attempt } },
        role: Role::Planner,
        agent_id: "planner".to_owned(),
        goal: about(&asker.goal, state),
        checks: BaseCase(Vec::new()),
        budget,
    };
    let run = engine.take_part(rider, &whole, work)?;
    rider.timers.push(due(consult_timer(run), run, shared.wall() + CONSULT_TIMEOUT));
    Ok(Some(ConsultAsked { attempt, run }))
}

fn about(item: &str, state: &TaskState) -> String {
    filled(ABOUT, &[("item", item), ("failures", &state.failures().join("\n\n"))])
}

impl Engine {
    /// Nobody said anything in time: the item goes on without, and whoever still thinks may stop.
    pub(crate) async fn give_up_consult(&self, run: TaskId) -> Result<(), Error> {
        let shared = &self.shared;
        let thinker = self.task(run).await?;
        let mut rider = Rider { timers: vec![TimerChange::Cancel(consult_timer(run))], ..Rider::default() };
        let asker = thinker.created.as_ref().and_then(|created| created.part_of.as_ref()).map(|of| of.task);
        if let Some(asker) = asker {
            let journal = self.task_journal(asker).await?;
            if !journal.state.is_over() && journal.state.open_consult().is_some_and(|consult| consult.run == run) {
                rider.expect.push((journal.stream.clone(), journal.head));
                let timeout = Errand { late: Some(OriginAgent::Planner), ..GUIDANCE };
                self.wake_for(&mut rider, asker, Some(timeout)).await?;
                let late = ErrorDetails::new(ErrorCode::Timeout, "the planner did not answer in time");
                let answer = ConsultAnswered { run, guidance: Err(late), taint: Taint::Auth };
                let answer = vec![TaskAction::AnswerConsult(answer)];
                let decided = journal.decide(answer, &shared.redactor, Taint::Auth, shared.wall());
                let decided = decided.map_err(|refused| Error::Broken { task: asker, detail: refused.to_string() })?;
                rider.events.extend(decided.rows);
            }
        }
        let root = thinker.created.as_ref().and_then(|created| created.part_of.as_ref()).map(|of| of.root);
        let runs = self.dismiss(&mut rider, vec![run]).await?;
        self.note_leaving(&mut rider, root.unwrap_or(run), runs).await?;
        self.commit_or_leave(rider).await
    }
}
