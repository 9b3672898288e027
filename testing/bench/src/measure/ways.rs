//! What planning buys: two ways tried at once against one after the other, and a fresh context for every atom, with what those came
//! to that it rests on, against one conversation that grows. Whole runs of the engine and the native loop over rehearsals in one
//! process; tokens are what the rehearsal counts of every request it is sent.

#![expect(clippy::disallowed_methods, reason = "a measured part builds its executor and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use windlass_domain::plan::Plan;
use windlass_domain::{BaseCase, Budget, TaskId, TaskResult, TaskResultStatus};
use windlass_engine::{Dispatch, Driven, NobodyWatches, Planning, Submission, read_plan};

use crate::arguments::Ways;
use crate::figures::{median, millis};
use crate::house::{House, submission, yes};

/// Answers on the second way before it comes to its end, and on a first that is not slow.
pub const STEPS: usize = 6;
pub const SHORT: usize = 3;
/// What an answer takes, and what one takes on a way that is slow.
pub const ANSWER_MS: u64 = 40;
pub const SLOW_MS: u64 = 200;
const REPEATS: usize = 5;
/// Atoms that are done one after the other.
pub const CHAINS: [usize; 3] = [5, 20, 40];
const PAGE_LINES: usize = 28;
/// Tokens, for a conversation that grows.
const PLENTY: u64 = 1 << 40;

/// What it prints when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub races: Vec<Race>,
    pub chains: Vec<Chain>,
}

/// What becomes of the first of two ways; the second always works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum First {
    Fails,
    IsSlow,
    Works,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Race {
    pub first: First,
    pub at_once: Cost,
    pub in_turn: Cost,
}

/// From a person's yes to the end.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Cost {
    pub wall_ms: f64,
    pub tokens: f64,
}

/// Tokens for each of so many atoms.
#[derive(Debug, Serialize, Deserialize)]
pub struct Chain {
    pub atoms: usize,
    pub fresh: f64,
    pub growing: f64,
}

pub fn run(options: &Ways) -> anyhow::Result<()> {
    let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore)?;
    let scratch = tempfile::tempdir_in(&options.scratch)?;
    let bench = Bench::open(scratch.path(), executor.handle().clone())?;
    let figures = executor.block_on(async {
        let (mut races, mut chains) = (Vec::new(), Vec::new());
        for first in [First::Fails, First::IsSlow, First::Works] {
            races.push(bench.race(first, REPEATS).await?);
        }
        for atoms in CHAINS {
            chains.push(bench.chain(atoms).await?);
        }
        bench.house.engine.close().await?;
        anyhow::Ok(Figures { races, chains })
    })?;
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

struct Bench {
    house: House,
    scratch: PathBuf,
}

impl Bench {
    fn open(scratch: &Path, handle: tokio::runtime::Handle) -> anyhow::Result<Self> {
        Ok(Self { house: House::open(&scratch.join("data"), handle)?, scratch: scratch.to_owned() })
    }

    /// In turn, so that a busy moment falls on both.
    async fn race(&self, first: First, repeats: usize) -> anyhow::Result<Race> {
        let mut costs = [Vec::new(), Vec::new()];
        for _ in 0..repeats {
            for (speculative, costs) in [true, false].into_iter().zip(&mut costs) {
                let folder = self.folder(0)?;
                costs.push(self.planned(folder.path(), &ways(speculative), &ways_script(first)).await?.0);
            }
        }
        let middle = |costs: &[Cost]| Cost {
            wall_ms: median(costs.iter().map(|cost| cost.wall_ms).collect()),
            tokens: median(costs.iter().map(|cost| cost.tokens).collect()),
        };
        Ok(Race { first, at_once: middle(&costs[0]), in_turn: middle(&costs[1]) })
    }

    async fn chain(&self, atoms: usize) -> anyhow::Result<Chain> {
        let (folder, plan) = (self.folder(atoms)?, chained(atoms));
        let (fresh, checks) = self.planned(folder.path(), &plan, &fresh_script(atoms)).await?;
        let folder = self.folder(atoms)?;
        let growing = self.direct(folder.path(), checks, &growing_script(atoms)).await?;
        let each = |tokens: f64| tokens / atoms as f64;
        Ok(Chain { atoms, fresh: each(fresh.tokens), growing: each(growing) })
    }

    /// And all checks of its items.
    async fn planned(&self, folder: &Path, document: &str, script: &str) -> anyhow::Result<(Cost, BaseCase)> {
        let plan = read_plan(document).map_err(|problems| anyhow::anyhow!("{problems}"))?;
        let checks = checks(&plan);
        let planning = Planning::Given(Box::new(plan));
        let (engine, key) = (&self.house.engine, &self.house.key);
        let task =
            engine.submit(Submission { planning, ..submission(folder, script) }, Dispatch::Here, Some(key)).await?;
        let waiting = Box::pin(engine.drive(task, Arc::new(NobodyWatches))).await?;
        anyhow::ensure!(matches!(waiting, Driven::Waiting(_)), "a plan should wait for a yes, and is {waiting:?}");
        let asked = engine.cards().await?.into_iter().find(|asked| asked.task == task).context("a card")?;
        let begun = Instant::now();
        engine.answer(asked.card.card_id, yes(), key).await?;
        let result = self.drive(task).await?;
        let cost = Cost { wall_ms: millis(begun.elapsed()), tokens: result.usage.total_tokens as f64 };
        Ok((cost, checks))
    }

    async fn direct(&self, folder: &Path, base_case: BaseCase, script: &str) -> anyhow::Result<f64> {
        let plain = submission(folder, script);
        let budget = Budget { max_tokens: PLENTY, ..plain.budget.clone() };
        let wanted = Submission { base_case, budget, ..plain };
        let task = self.house.engine.submit(wanted, Dispatch::Here, Some(&self.house.key)).await?;
        Ok(self.drive(task).await?.usage.total_tokens as f64)
    }

    async fn drive(&self, task: TaskId) -> anyhow::Result<TaskResult> {
        match Box::pin(self.house.engine.drive(task, Arc::new(NobodyWatches))).await? {
            Driven::Finished(result) if result.status == TaskResultStatus::Completed && result.verified => Ok(result),
            other => anyhow::bail!("a run should be done, and is {other:?}"),
        }
    }

    /// A folder of a note and so many pages.
    fn folder(&self, pages: usize) -> anyhow::Result<tempfile::TempDir> {
        let folder = tempfile::tempdir_in(&self.scratch)?;
        fs::write(folder.path().join("note.txt"), "A short note.\n")?;
        for page in 0..pages {
            let line =
                format!("Page {page} says how a load is hauled with a drum and a pawl, and held where it stops.\n");
            fs::write(folder.path().join(format!("page{page}.txt")), line.repeat(PAGE_LINES))?;
        }
        Ok(folder)
    }
}

fn checks(Plan(root): &Plan) -> BaseCase {
    BaseCase(root.all().into_iter().flat_map(|item| item.verify.0.clone()).collect())
}

/// Two ways, and something that waits for either.
fn ways(speculative: bool) -> String {
    let way = |name: &str| {
        format!(
            "  - {{ id: {name}, type: task, title: The {name} way, agent: {name}, any_of: way, speculative: {speculative}, \
             budget: {{ max_attempts: 1 }}, verify: [{{ file: way.txt }}] }}\n"
        )
    };
    format!(
        "---\nid: whole\ntype: project\ntitle: One of two ways\ntasks:\n{}{}  - {{ id: rest, type: task, title: The rest, agent: rest, \
         depends_on: [way], verify: [{{ file: rest.txt }}] }}\n---\n# What to do\nWhat the titles say.\n",
        way("first"),
        way("second")
    )
}

fn ways_script(first: First) -> String {
    let mut script = "version: 1\ntracks:\n".to_owned();
    // One of them is always well ahead, so that each race comes out the same.
    let (steps, path, delay) = match first {
        First::Fails => (SHORT, "wrong.txt", ANSWER_MS),
        First::IsSlow => (STEPS, "way.txt", SLOW_MS),
        First::Works => (SHORT, "way.txt", ANSWER_MS),
    };
    way_track(&mut script, "first", steps, path, delay);
    way_track(&mut script, "second", STEPS, "way.txt", ANSWER_MS);
    way_track(&mut script, "rest", 1, "rest.txt", ANSWER_MS);
    script
}

/// The last step writes the file; another call each time, since an agent that repeats itself is told so.
fn way_track(script: &mut String, name: &str, steps: usize, path: &str, delay_ms: u64) {
    writeln!(script, "  {name}:").expect("text can always grow");
    for step in 1..steps {
        let call = format!("{{ tool: read, args: {{ path: note.txt, limit: {} }} }}", 100 + step);
        writeln!(script, "    - {{ calls: [{call}], delay_ms: {delay_ms} }}").expect("text can always grow");
    }
    let call = format!("{{ tool: write, args: {{ path: {path}, content: it }} }}");
    writeln!(script, "    - {{ calls: [{call}], delay_ms: {delay_ms} }}").expect("text can always grow");
    writeln!(script, "    - {{ reply: Done., delay_ms: {delay_ms} }}").expect("text can always grow");
}

fn chained(atoms: usize) -> String {
    let mut text = "---\nid: whole\ntype: project\ntitle: Notes on pages\ntasks:\n".to_owned();
    for atom in 0..atoms {
        let after = atom.checked_sub(1).map_or(String::new(), |before| format!("depends_on: [n{before}], "));
        writeln!(
            text,
            "  - {{ id: n{atom}, type: task, title: Write a note on page {atom}, agent: n{atom}, {after}verify: [{{ file: note{atom}.txt }}] }}"
        )
        .expect("text can always grow");
    }
    text + "---\n# What to do\nRead the page and write a note on it.\n"
}

/// The same calls, in a track for each atom and in one for all.
fn calls(atom: usize) -> String {
    let note = format!("Page {atom} is about a drum and a pawl.");
    format!(
        "    - {{ calls: [{{ tool: read, args: {{ path: page{atom}.txt }} }}] }}\n    - {{ calls: [{{ tool: write, args: {{ path: note{atom}.txt, content: {note} }} }}] }}\n"
    )
}

fn fresh_script(atoms: usize) -> String {
    let track = |atom: usize| {
        let said = format!("    - {{ reply: note{atom}.txt says what page {atom} is about. }}\n");
        format!("  n{atom}:\n{}{said}", calls(atom))
    };
    format!("version: 1\ntracks:\n{}", (0..atoms).map(track).collect::<String>())
}

fn growing_script(atoms: usize) -> String {
    let all: String = (0..atoms).map(calls).collect();
    format!("version: 1\ntracks:\n  default:\n{all}    - {{ reply: Every page has a note. }}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody but this runs a benchmark before somebody wants its figures.
    #[test]
    fn races_and_chains_come_to_their_ends() {
        let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let bench = Bench::open(scratch.path(), executor.handle().clone()).unwrap();
        executor.block_on(async {
            let race = Box::pin(bench.race(First::Fails, 1)).await.unwrap();
            assert!(race.at_once.tokens > 0.0 && race.in_turn.tokens > 0.0, "{race:?}");
            let chain = Box::pin(bench.chain(6)).await.unwrap();
            assert!(chain.fresh > 0.0 && chain.growing > 0.0, "{chain:?}");
            bench.house.engine.close().await.unwrap();
        });
    }
}
