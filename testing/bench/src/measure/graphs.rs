//! Work graphs: what one pass of the driver costs when little of the work is done and when nearly all is, what an atom takes in
//! memory, and how long it takes to have the graph again from what is stored. Rules alone, one thread; only the last is also
//! measured through a store. Each shape is measured in a process of its own, so that memory is that of one graph.

#![expect(clippy::disallowed_methods, reason = "a measured part builds its executor and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use windlass_domain::approval::CardId;
use windlass_domain::graph::{
    AtomEnded, AtomOutcome, AtomStarted, Binding, GraphAction, GraphEvent, GraphMove, GraphState, Merged, PlanAnswer,
    PlanAnswered, PlanAsked, PlanProposed, Proposer, Remembered, Switch, decide, next_moves,
};
use windlass_domain::plan::{AtomId, Plan};
use windlass_domain::{
    Digest, Encoded, ErrorCode, ErrorDetails, Labels, Taint, TaskId, Tenant, TreeId, UsageMetrics, Usd, Wall,
};
use windlass_runtime::TokioRuntime;
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Commit, LARGEST_COMMIT, NewEvent, Store as _, StreamId};

use super::graph_shapes::{INNER_WAY, Shape};
use crate::arguments::Graphs;
use crate::figures::{median, millis};
use crate::house::House;
use crate::process::status_kb;

pub const SIZES: [usize; 4] = [10, 1_000, 10_000, 100_000];
/// How much of the work is done, in percent.
pub const DONE: [usize; 3] = [10, 50, 99];
/// As many as the driver has at work at once.
const PLACES: usize = 8;
/// Passes that are looked at in a row, of a hundred, and at most.
const SHARE: usize = 100;
const LONGEST: usize = 1_000;
/// About so many atoms are played for one figure.
const PLAYED: usize = 100_000;
const FEWEST: usize = 5;
const MOST: usize = 1_000;
/// Among the last to end, nobody may be on a way that there is another for.
const LAST_ENDS: usize = 80;
/// In one commit.
const ROWS: usize = 500;
const NOW: Wall = Wall::from_millis(1_790_000_000_000);

/// What it prints when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub shape: Shape,
    /// Bytes for each atom of the largest: when nothing is done, and when all is.
    pub planted: f64,
    pub resolved: f64,
    pub sizes: Vec<Size>,
}

/// A graph of about so many atoms.
#[derive(Debug, Serialize, Deserialize)]
pub struct Size {
    pub atoms: usize,
    /// Microseconds of a pass in which one ends and the next begins, for each of `DONE`.
    pub pass: [f64; 3],
    /// Microseconds to give up a way and take another, for each of `DONE`, or a little before; of graphs that have enough of them.
    pub switch: Option<[f64; 3]>,
    pub events: usize,
    /// Milliseconds to read and fold all of them, and the first, which is the plan.
    pub fold: f64,
    pub fold_plan: f64,
    /// The same through a store and an engine, where the plan is no longer than a commit may be.
    pub stored: Option<f64>,
}

pub fn run(options: &Graphs) -> anyhow::Result<()> {
    let shape = options.shape;
    let largest = *SIZES.last().context("sizes")?;
    // Before anything else has been held and let go.
    let (planted, resolved) = memory(shape, largest)?;
    let sizes = SIZES.iter().map(|atoms| measure(shape, *atoms, &options.scratch));
    let figures = Figures { shape, planted, resolved, sizes: sizes.collect::<anyhow::Result<Vec<_>>>()? };
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

fn memory(shape: Shape, atoms: usize) -> anyhow::Result<(f64, f64)> {
    let proposed = proposed(shape.plan(atoms)?);
    let empty = resident();
    let mut player = Player::default();
    player.graph.apply(&proposed);
    let planted = resident();
    player.agree()?;
    player.play(usize::MAX)?;
    let each = |now: u64| now.saturating_sub(empty) as f64 / player.graph.work.nodes().len() as f64;
    Ok((each(planted), each(resident())))
}

fn measure(shape: Shape, atoms: usize, scratch: &Path) -> anyhow::Result<Size> {
    let proposed = proposed(shape.plan(atoms)?);
    let mut player = Player { journal: Some(vec![proposed.clone()]), ..Player::default() };
    player.graph.apply(&proposed);
    player.agree()?;
    let begun = Player { journal: None, ..player.clone() };
    let ends = player.play(usize::MAX)?;
    let journal: Vec<Encoded> = player.journal.take().into_iter().flatten().map(|event| event.encode()).collect();
    let (fold, fold_plan) = fold(&journal, &player.graph)?;
    let has_ways = shape == Shape::Nested && ends > LAST_ENDS * 2;
    Ok(Size {
        atoms,
        pass: passes(&begun, ends)?,
        switch: has_ways.then(|| switches(&begun, ends)).transpose()?,
        events: journal.len(),
        fold,
        fold_plan,
        stored: (journal[0].data.get().len() < LARGEST_COMMIT / 2).then(|| stored(&journal, scratch)).transpose()?,
    })
}

fn passes(begun: &Player, ends: usize) -> anyhow::Result<[f64; 3]> {
    let length = (ends / SHARE).clamp(1, LONGEST);
    at_each(begun, ends - length, |player| {
        let tips: Vec<TreeId> = (0..length).map(|number| tree(player.ended + number)).collect();
        let begun = Instant::now();
        for tip in tips {
            anyhow::ensure!(player.pass(tip)?, "there is nothing left to do");
        }
        Ok(begun.elapsed() / u32::try_from(length)?)
    })
}

fn switches(begun: &Player, ends: usize) -> anyhow::Result<[f64; 3]> {
    at_each(begun, ends - LAST_ENDS, |player| {
        let failed = player.play_until(|atom| atom.as_str().ends_with(INNER_WAY))?;
        let begun = Instant::now();
        player.switch(&failed)?;
        Ok(begun.elapsed())
    })
}

/// When so much is done, the middle of many in microseconds. All three in one play, so that a busy moment falls on all of them, and
/// in a graph that grew as graphs grow: in a copy everything would have exactly the room that it takes.
fn at_each(
    begun: &Player,
    ends: usize,
    mut measure: impl FnMut(&mut Player) -> anyhow::Result<Duration>,
) -> anyhow::Result<[f64; 3]> {
    let atoms = begun.graph.work.nodes().len();
    let mut took = [const { Vec::new() }; 3];
    for _ in 0..(PLAYED / atoms).clamp(FEWEST, MOST) {
        let mut player = begun.clone();
        for (done, took) in DONE.iter().zip(&mut took) {
            player.play(ends * done / 100)?;
            took.push(millis(measure(&mut player)?) * 1e3);
        }
    }
    Ok(took.map(median))
}

/// All of it and the plan alone, in milliseconds.
fn fold(journal: &[Encoded], expected: &GraphState) -> anyhow::Result<(f64, f64)> {
    let (mut whole, mut plan) = (Vec::new(), Vec::new());
    for _ in 0..FEWEST {
        let (mut graph, begun) = (GraphState::default(), Instant::now());
        for (number, row) in journal.iter().enumerate() {
            graph.apply(&GraphEvent::decode(row.kind, row.version, row.data.get())?);
            if number == 0 {
                plan.push(millis(begun.elapsed()));
            }
        }
        whole.push(millis(begun.elapsed()));
        anyhow::ensure!(next_moves(&graph, PLACES) == next_moves(expected, PLACES), "the fold is another graph");
    }
    Ok((median(whole), median(plan)))
}

/// From an engine that has just been opened over a store, in milliseconds.
fn stored(journal: &[Encoded], scratch: &Path) -> anyhow::Result<f64> {
    let folder = tempfile::tempdir_in(scratch)?;
    let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore)?;
    let task = task(1);
    executor.block_on(write(journal, task, folder.path(), executor.handle().clone()))?;
    let mut took = Vec::new();
    for _ in 0..FEWEST {
        let house = House::open(folder.path(), executor.handle().clone())?;
        let begun = Instant::now();
        let graph = executor.block_on(house.engine.graph(task))?;
        took.push(millis(begun.elapsed()));
        anyhow::ensure!(graph.is_reached(), "what was stored is another graph");
        executor.block_on(house.engine.close())?;
    }
    Ok(median(took))
}

async fn write(journal: &[Encoded], task: TaskId, folder: &Path, handle: tokio::runtime::Handle) -> anyhow::Result<()> {
    let store = SqliteStore::open(Options::new(folder), Arc::new(TokioRuntime::new(handle)))?;
    let (plan, rest) = journal.split_at(1);
    for rows in std::iter::once(plan).chain(rest.chunks(ROWS)) {
        let mut commit = Commit::unfenced(Tenant::local(), NOW);
        let stream = StreamId::new("graph", task);
        let row = |encoded: &Encoded| NewEvent {
            stream: stream.clone(),
            encoded: encoded.clone(),
            taint: Taint::Auth,
            at: NOW,
        };
        commit.events = rows.iter().map(row).collect();
        store.commit(commit).await?;
    }
    Ok(())
}

/// A driver, and workers who do all that they begin.
#[derive(Clone, Default)]
struct Player {
    graph: GraphState,
    /// The oldest first.
    at_work: VecDeque<(AtomId, TaskId)>,
    begun: u128,
    ended: usize,
    journal: Option<Vec<GraphEvent>>,
}

impl Player {
    fn act(&mut self, action: GraphAction) -> anyhow::Result<()> {
        let event = decide(&self.graph, action)?;
        self.graph.apply(&event);
        if let Some(journal) = &mut self.journal {
            journal.push(event);
        }
        Ok(())
    }

    fn agree(&mut self) -> anyhow::Result<()> {
        self.act(GraphAction::Ask(PlanAsked { revision: 1, card: CardId::new(NOW, 1) }))?;
        self.act(GraphAction::Answer(PlanAnswered { revision: 1, answer: PlanAnswer::Approved }))
    }

    /// Every move is made, and whoever began first is done. Whether there was anybody.
    fn pass(&mut self, tip: TreeId) -> anyhow::Result<bool> {
        for next in next_moves(&self.graph, PLACES) {
            if let GraphMove::StartAtom { atom } = next {
                self.start(atom)?;
            }
        }
        let Some((atom, run)) = self.at_work.pop_front() else { return Ok(false) };
        self.ended += 1;
        self.act(GraphAction::EndAtom(Box::new(ended(atom, run, Some(tip)))))?;
        Ok(true)
    }

    fn start(&mut self, atom: AtomId) -> anyhow::Result<()> {
        self.begun += 1;
        let run = task(self.begun);
        self.at_work.push_back((atom.clone(), run));
        self.act(GraphAction::StartAtom(AtomStarted { atom, run }))
    }

    /// Until so many are done, or all. How many were.
    fn play(&mut self, ends: usize) -> anyhow::Result<usize> {
        while self.ended < ends && self.pass(tree(self.ended))? {}
        anyhow::ensure!(self.ended >= ends || self.graph.is_reached(), "the graph came to a stop");
        Ok(self.ended)
    }

    /// Until somebody works on an atom like that.
    fn play_until(&mut self, is_meant: fn(&AtomId) -> bool) -> anyhow::Result<(AtomId, TaskId)> {
        loop {
            if let Some(place) = self.at_work.iter().position(|(atom, _)| is_meant(atom)) {
                return self.at_work.remove(place).context("it was just found");
            }
            anyhow::ensure!(self.pass(tree(self.ended))?, "nobody works on such an atom");
        }
    }

    /// It fails, and another way is taken.
    fn switch(&mut self, (failed, run): &(AtomId, TaskId)) -> anyhow::Result<()> {
        self.act(GraphAction::EndAtom(Box::new(ended(failed.clone(), *run, None))))?;
        let next = next_moves(&self.graph, PLACES).into_iter().next();
        let Some(GraphMove::Switch { group, failed, because }) = next else {
            anyhow::bail!("a way should be given up, not {next:?}")
        };
        let later = self.graph.without(&group, &failed, &[]).later;
        let kept = later.into_iter().map(|step| Merged { atom: step.atom, tip: step.after }).collect();
        self.act(GraphAction::Switch(Switch { group, failed, because, also: Vec::new(), kept }))
    }
}

fn proposed(plan: Plan) -> GraphEvent {
    let (by, base, taint) = (Proposer::User, tree(0), Taint::Auth);
    GraphEvent::PlanProposed(PlanProposed {
        revision: 1,
        by,
        base,
        plan: Ok(plan),
        document: None,
        taint,
        remembered: Remembered::default(),
    })
}

fn ended(atom: AtomId, run: TaskId, tip: Option<TreeId>) -> AtomEnded {
    let binding =
        Binding { summary: format!("{atom} is done, and its checks pass."), artifacts: Vec::new(), files: Vec::new() };
    let failed = || AtomOutcome::Failed(ErrorDetails::new(ErrorCode::ChecksFailed, "its checks fail"));
    AtomEnded {
        atom,
        run,
        outcome: tip.map_or_else(failed, |tip| AtomOutcome::Resolved { tip, binding }),
        attempts: 1,
        usage: UsageMetrics::default(),
        cost: Usd::ZERO,
        touched: Vec::new(),
        unpriced: false,
        verified: true,
        labels: Labels::default(),
        taint: Taint::Auth,
        salvaged: Vec::new(),
    }
}

fn task(number: u128) -> TaskId {
    TaskId::new(NOW, number << 48)
}

fn tree(number: usize) -> TreeId {
    TreeId(Digest::of(&number.to_be_bytes()))
}

fn resident() -> u64 {
    status_kb(std::process::id(), "VmRSS:").unwrap_or_default() * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody but this runs a benchmark before somebody wants its figures.
    #[test]
    fn every_shape_is_played_to_its_end_and_is_the_same_again_from_a_store() {
        let scratch = tempfile::tempdir().unwrap();
        for shape in Shape::ALL {
            let size = measure(shape, 500, scratch.path()).unwrap();
            assert!(size.pass.iter().all(|took| *took > 0.0) && size.stored.is_some(), "{size:?}");
            assert_eq!(size.switch.is_some(), shape == Shape::Nested);
        }
    }
}
