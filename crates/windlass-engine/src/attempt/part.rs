//! What is different where a task works for another: on whose approval, what it knows from others, and whom its end is told. Where it
//! works is told in `folders`.

use windlass_domain::execution::Asked;
use windlass_domain::graph::{
    AtomObserved, AttemptStarted, GraphAction, GraphRejected, GraphState, PlanStanding, decide,
};
use windlass_domain::plan::{AtomId, Item};
use windlass_domain::queue::ExecutionStatus;
use windlass_domain::task::{ChecksRecorded, Part, PartOf, TaskAction};
use windlass_domain::{Digest, ErrorCode, ErrorDetails, Labels, Limits, Role, Taint, TaskResult, TreeId};
use windlass_store::Error as StoreError;

use super::drive::Driven;
use super::driver::Driver;
use super::inputs::{Following, Given};
use crate::Error;
use crate::approvals::{Approved, Use, check_token, use_token};
use crate::graph::{GraphJournal, whole_hash};
use crate::host::Rider;
use crate::parts::{Left, Status, Told, Work, ask_consult, tell_end};
use crate::turns::end_turn;

/// Of what an item changed, so many paths are told: who changes more is in everybody's way as it is.
const MOST_PATHS: usize = 1_000;

/// What whoever works on an item knows of those it depends on, and of what a planner says.
#[derive(Default)]
pub(super) struct Heritage {
    pub taint: Option<Taint>,
    pub labels: Labels,
    pub bindings: Vec<String>,
    pub asked: Asked,
}

impl Driver {
    pub(super) fn part_of(&self) -> Option<&PartOf> {
        self.journal.state.created.as_ref()?.part_of.as_ref()
    }

    /// The graph that it is a part of.
    pub(super) async fn parents_graph(&self) -> Result<Option<GraphJournal>, Error> {
        match self.part_of() {
            Some(of) => self.engine.graph_journal(of.root).await.map(Some),
            None => Ok(None),
        }
    }

    /// Of what it is told, and of the files that it begins with.
    pub(super) async fn heritage(&self) -> Result<Heritage, Error> {
        let Some(of) = self.part_of().cloned() else { return self.turns_heritage().await };
        let graph = self.engine.graph(of.root).await?;
        let folder = &self.created()?.workspace;
        let mut labels = self.engine.labels(folder.as_ref()).await?;
        labels.join(&graph.labels);
        let Part::Atom { atom, .. } = &of.part else {
            let asked = self.asked_taint(&of).await?;
            return Ok(Heritage { taint: Some(graph.taint().join(asked)), labels, ..Heritage::default() });
        };
        let (mut bindings, mut taint) = bindings(&graph, atom);
        let given = self.engine.inputs_of(Following { task: of.root, folder }, &graph, atom).await?;
        for of_item in &given {
            taint = taint.join(of_item.taint);
            labels.changed(&of_item.path(), of_item.taint);
        }
        let tell = move || given.iter().filter_map(Given::told).collect::<Vec<_>>();
        bindings.extend(self.engine.shared.blocking(tell).await);
        let asked = if graph.objective.is_some() { Asked::Atom } else { Asked::Work };
        Ok(Heritage { taint: Some(graph.taint().join(taint)), labels, bindings, asked })
    }

    /// A turn is told what was said before it and how its tasks do, some of which may be what others said.
    async fn turns_heritage(&self) -> Result<Heritage, Error> {
        let created = self.created()?;
        if created.turn.is_none() {
            return Ok(Heritage::default());
        }
        let session = self.engine.session(created.command.session_id).await?;
        let mut taint = session.taint();
        // Those are the words of whatever an agent ran or read there.
        if let Some((task, news)) = session.newest_trouble()
            && self.engine.task(task).await?.is_over()
        {
            taint = taint.join(news.taint);
        }
        Ok(Heritage { taint: Some(taint), ..Heritage::default() })
    }

    /// Of what a planner had read when it wrote the question: its words may be those of whoever it read.
    async fn asked_taint(&self, of: &PartOf) -> Result<Taint, Error> {
        if !matches!(of.part, Part::Research { .. }) {
            return Ok(Taint::Auth);
        }
        let planner = self.engine.task(of.task).await?;
        let asked = planner.inquiries.iter().find(|inquiry| inquiry.run == self.task);
        Ok(asked.map_or(Taint::External, |inquiry| inquiry.taint))
    }

    /// Uses the approval of the whole once, for an attempt of this item; whoever only plans or looks needs none.
    pub(super) async fn use_whole_approval(&self, of: &PartOf, rider: &mut Rider) -> Result<Result<(), String>, Error> {
        if let Some(wanted) = self.leave_for_one_more()? {
            return self.use_one_more(of, &wanted, rider).await;
        }
        match self.whole_approval(of).await? {
            Ok(None) => Ok(Ok(())),
            // One use for all of a task that mends a goal, which was counted when it began.
            Ok(Some(wanted @ Use { what: Approved::Spawn { .. }, .. })) => {
                check_token(&self.engine.shared, &wanted, rider).await
            }
            Ok(Some(wanted)) => use_token(&self.engine.shared, &wanted, rider).await,
            Err(why) => Ok(Err(why)),
        }
    }

    /// Another attempt of an objective's atom counts against its graph, as the first did when it began: what the graph refuses is not
    /// tried. What a person allowed besides is theirs.
    pub(super) async fn charge_attempt(&self, rider: &mut Rider) -> Result<Result<(), GraphRejected>, Error> {
        let Some(PartOf { root, part: Part::Atom { atom, .. }, .. }) = self.part_of().cloned() else {
            return Ok(Ok(()));
        };
        if self.journal.state.attempts.is_empty() || self.leave_for_one_more()?.is_some() {
            return Ok(Ok(()));
        }
        let shared = &self.engine.shared;
        let mut graph = self.engine.graph_journal(root).await?;
        if graph.state.objective.is_none() {
            return Ok(Ok(()));
        }
        let again = GraphAction::TryAgain(AttemptStarted { atom, run: self.task });
        if let Err(refused) = decide(&graph.state, again.clone()) {
            return Ok(Err(refused));
        }
        graph.ride(rider, [again], &shared.redactor, Taint::Auth, shared.wall())?;
        Ok(Ok(()))
    }

    /// The same at a later entrance: it is asked again whether this is what was approved, and nothing is spent.
    pub(super) async fn check_whole_approval(
        &self,
        of: &PartOf,
        rider: &mut Rider,
    ) -> Result<Result<(), String>, Error> {
        match self.whole_approval(of).await? {
            Ok(None) => Ok(Ok(())),
            Ok(Some(wanted)) => check_token(&self.engine.shared, &wanted, rider).await,
            Err(why) => Ok(Err(why)),
        }
    }

    async fn whole_approval(&self, of: &PartOf) -> Result<Result<Option<Use>, String>, Error> {
        let created = self.created()?;
        let Part::Atom { atom, .. } = &of.part else {
            let is_harmless = matches!(created.role, Role::Planner | Role::Researcher | Role::Probe);
            return Ok(if is_harmless {
                Ok(None)
            } else {
                Err("it may change something, and nobody approved it".to_owned())
            });
        };
        let graph = self.engine.graph(of.root).await?;
        let whole = self.engine.task(of.root).await?;
        let (Some(plan), Some(whole), Some(card_id)) = (&graph.plan, &whole.created, graph.card) else {
            return Ok(Err("its plan was not approved".to_owned()));
        };
        if graph.standing != PlanStanding::Approved {
            return Ok(Err("its plan is no longer the one that was approved".to_owned()));
        }
        let planned = Work::atom(of.root, &graph, atom, Some(self.task));
        if !planned.is_some_and(|work| work.is(created, whole)) {
            return Ok(Err("the item is not what the approved plan says".to_owned()));
        }
        if let Some(standing) = self.engine.standing(whole, plan).await?
            && standing.card_id == card_id
        {
            return Ok(Ok(Some(standing)));
        }
        let hash: Digest = match whole_hash(whole, plan, graph.objective.as_ref()) {
            Ok(hash) => hash,
            Err(unhashable) => return Ok(Err(unhashable.to_string())),
        };
        Ok(Ok(Some(Use { card_id, task: of.root, what: Approved::Plan(hash) })))
    }

    /// Asks the planner and goes to sleep; with nobody to ask, the next attempt begins without.
    pub(super) async fn consult(&mut self, attempt: u32, limits: Limits) -> Result<Option<Driven>, Error> {
        let Some(of) = self.part_of().cloned() else { return Err(self.broken("nobody plans for this task")) };
        loop {
            let mut rider = Rider::default();
            let Some(asked) = ask_consult(&self.engine, &self.journal.state, &of, attempt, &mut rider).await? else {
                return self.start(limits).await;
            };
            let message = format!("attempt {attempt} failed as well; the planner is asked");
            let stuck = ErrorDetails::new(ErrorCode::ChecksFailed, message);
            let stuck = Status::wrong(ExecutionStatus::Stuck, stuck);
            self.engine.tell_status(&mut rider, &self.journal.state, stuck)?;
            match self.sleep(vec![TaskAction::AskConsult(asked)], rider).await {
                // Another item wrote something at that moment, and may have asked as well: what is left is counted again.
                Err(Error::Store(StoreError::Conflict { .. })) => self.look_again().await?,
                slept => return slept.map(Some),
            }
        }
    }

    /// What its end tells whoever it works for.
    pub(super) async fn tell_end(&self, result: &TaskResult, rider: &mut Rider) -> Result<Told, Error> {
        if let Some(created) = self.journal.state.created.as_ref().filter(|created| created.turn.is_some()) {
            end_turn(&self.engine, &self.journal.state, created, result, rider).await?;
        }
        let Some(of) = self.part_of() else { return Ok(Told::Yes) };
        let left = Left { touched: self.touched().await, salvaged: self.keep_work(result).await };
        tell_end(&self.engine, &self.journal.state, of, result, left, rider).await
    }

    /// What an attempt that did not pass had changed, for who decides what runs beside the next one.
    pub(super) async fn tell_observed(&self, recorded: &ChecksRecorded, rider: &mut Rider) -> Result<(), Error> {
        let Some(PartOf { root, part: Part::Atom { atom, .. }, .. }) = self.part_of().cloned() else { return Ok(()) };
        let has_passed = recorded.conflicts.is_empty() && recorded.results.iter().all(|result| result.passed);
        let before = recorded.onto.or_else(|| self.journal.state.attempts.last().and_then(|attempt| attempt.base));
        let Some(before) = before.filter(|_| !has_passed) else { return Ok(()) };
        let paths = self.changed(before, recorded.tree).await;
        if paths.is_empty() {
            return Ok(());
        }
        let shared = &self.engine.shared;
        let mut graph = self.engine.graph_journal(root).await?;
        // Nobody waits for one that was dismissed, and nothing is kept out of its way.
        if !graph.state.running().contains(&self.task) {
            return Ok(());
        }
        let observed = GraphAction::Observe(AtomObserved { atom, run: self.task, paths });
        graph.ride(rider, [observed], &shared.redactor, Taint::External, shared.wall())
    }

    /// The paths that the work it is about to add changes. Nobody depends on them but who wants to know.
    async fn touched(&self) -> Vec<String> {
        let merged = self.journal.state.attempts.last().and_then(|attempt| attempt.merged);
        match merged {
            Some((tree, onto)) => self.changed(onto, tree).await,
            None => Vec::new(),
        }
    }

    /// Nothing, where that cannot be told.
    async fn changed(&self, before: TreeId, after: TreeId) -> Vec<String> {
        let home = self.journal.state.created.as_ref().map(|created| created.workspace.clone()).unwrap_or_default();
        let Ok(workspace) = self.engine.shared.equipment.workspace(home.as_ref()) else { return Vec::new() };
        let mut paths = self.engine.shared.blocking(move || workspace.changes(before, after)).await.unwrap_or_default();
        paths.truncate(MOST_PATHS);
        paths
    }

    /// Others' work has come in: it is checked once more, on top of that.
    pub(super) async fn outdate(&mut self) -> Result<(), Error> {
        self.act(vec![TaskAction::Outdate], Rider::default(), Vec::new()).await
    }
}

/// Why an attempt does not begin that the item itself would have.
pub(super) fn refused_attempt(refused: &GraphRejected) -> ErrorDetails {
    match refused {
        GraphRejected::NoPassesLeft => ErrorDetails::new(ErrorCode::MaxIterationsExceeded, refused.to_string()),
        GraphRejected::Stopping | GraphRejected::OtherRun => {
            ErrorDetails::new(ErrorCode::Cancelled, "nobody waits for it any more")
        }
        _ => ErrorDetails::new(ErrorCode::ChecksFailed, refused.to_string()),
    }
}

/// What items that `atom` depends on came to, and of what taint that is.
fn bindings(graph: &GraphState, atom: &AtomId) -> (Vec<String>, Taint) {
    let Some(item) = graph.items().into_iter().find(|item| item.id == *atom) else {
        return (Vec::new(), Taint::External);
    };
    let named = item.depends_on.iter().chain(&item.input_artifacts_from);
    let is_named = |other: &Item| named.clone().any(|name| *name == other.id || other.any_of.as_ref() == Some(name));
    let mut taint = Taint::Auth;
    let mut told = Vec::new();
    // What somebody found who looked, and what failed of the whole: told by others, as bindings are.
    if let Some(progress) = graph.progress(atom) {
        let findings = progress.findings.as_ref().map(|report| format!("whoever looked first: {}", report.findings));
        told.extend(findings.into_iter().chain(progress.reopened.clone()));
        taint = if told.is_empty() { taint } else { Taint::External };
    }
    for other in graph.items().into_iter().filter(|other| is_named(other)) {
        let Some(progress) = graph.progress(&other.id) else { continue };
        let Some(summary) = progress.summary() else { continue };
        // What nobody here did was said by whoever began it.
        let of_run = progress.runs.last().and_then(|run| run.ended.as_ref()).map(|ended| ended.taint);
        taint = taint.join(of_run.unwrap_or(Taint::Auth));
        let files = progress.binding().map(|binding| binding.files.join(", ")).filter(|files| !files.is_empty());
        let see = files.map(|files| format!(" (see {files})")).unwrap_or_default();
        told.push(format!("{}: {summary}{see}", other.id));
    }
    (told, taint)
}
