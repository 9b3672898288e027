//! Plans: reading their documents, a planner that has something found out, and the time from a person's yes to the first thing that
//! an item does. The last two are whole runs of the native loop over a rehearsal that answers at once, in one process, as
//! `windlass plan` drives them; what is measured is what Windlass puts around the answers.

#![expect(clippy::disallowed_methods, reason = "a measured part builds its executor and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::TaskEvent;
use windlass_domain::{Delta, ExecutionId, TaskId, TaskResultStatus, Wall};
use windlass_engine::worktrees::{Worktrees, prepare};
use windlass_engine::{Dispatch, Driven, Engine, NobodyWatches, Planning, Submission, Watcher, read_plan};
use windlass_workspace::{SnapshotSetup, Snapshots};

use super::plan_documents::{self, Document};
use crate::arguments::Plans;
use crate::figures::{median, millis};
use crate::house::{House, submission, yes};

/// As many questions as one plan may ask.
pub const ROUNDS: usize = 5;
const STEPS: usize = 20;
const REPEATS: usize = 20;
/// Files in the user's folder, and how often it is measured there.
const FOLDERS: [(usize, usize); 2] = [(100, REPEATS), (10_000, 3)];
const FILES_IN_A_FOLDER: usize = 100;
const NOTE: &str = "note.txt";
const NOW: Wall = Wall::from_millis(1_790_000_000_000);

const PLAN: &str = "---\nid: plan\ntype: task\ntitle: Read the note\n---\n# What to do\nRead it.\n";
const WAITS: &str = r#"{"message": "I wait for an answer.", "needs_research": true}"#;
const ITEM: &str = "
version: 1
tracks:
  default:
    - { calls: [{ tool: read, args: { path: note.txt } }] }
    - { reply: Done., repeat: forever }
";

/// What it prints when it is done; milliseconds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub documents: Vec<Document>,
    /// A step of a direct run: one model answer and one `read`.
    pub step: f64,
    /// From a planner's question to what it does with the answer.
    pub round_trip: f64,
    pub first_calls: Vec<FirstCall>,
}

/// In a folder of so many files.
#[derive(Debug, Serialize, Deserialize)]
pub struct FirstCall {
    pub files: usize,
    /// From the yes to a plan to the first call of its item.
    pub planned: f64,
    /// From the submission of a direct run to its first call.
    pub direct: f64,
    /// What it takes to fill the item's folder, alone.
    pub worktree: f64,
}

pub fn run(options: &Plans) -> anyhow::Result<()> {
    let documents = plan_documents::measure()?;
    let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore)?;
    let scratch = tempfile::tempdir_in(&options.scratch)?;
    let house = House::open(&scratch.path().join("data"), executor.handle().clone())?;
    let bench = Bench { house, scratch: scratch.path().to_owned() };
    let figures = executor.block_on(async {
        let (step, round_trip) = (bench.step().await?, bench.round_trip().await?);
        let mut first_calls = Vec::new();
        for (files, repeats) in FOLDERS {
            first_calls.push(bench.first_call(files, repeats).await?);
        }
        bench.house.engine.close().await?;
        anyhow::Ok(Figures { documents, step, round_trip, first_calls })
    })?;
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

struct Bench {
    house: House,
    scratch: PathBuf,
}

impl Bench {
    /// What each of `STEPS` more steps adds to a run.
    async fn step(&self) -> anyhow::Result<f64> {
        let folder = self.folder(1)?;
        let runs = [1, 1 + STEPS].map(|steps| submission(&folder, &reading(steps)));
        let [few, many] = self.beside(runs, is_done).await?;
        Ok((many - few) / STEPS as f64)
    }

    /// What each of `ROUNDS` questions adds to a plan.
    async fn round_trip(&self) -> anyhow::Result<f64> {
        let folder = self.folder(1)?;
        let planning = Planning::Wanted;
        let plans =
            [0, ROUNDS].map(|rounds| Submission { planning: planning.clone(), ..submission(&folder, &asking(rounds)) });
        let [without, with] = self.beside(plans, is_asked).await?;
        Ok((with - without) / ROUNDS as f64)
    }

    /// The middle of many runs of each, in turn, so that a busy moment falls on both. Each ends as `expected` says.
    async fn beside(&self, of: [Submission; 2], expected: fn(&Driven) -> bool) -> anyhow::Result<[f64; 2]> {
        let mut took = [Vec::new(), Vec::new()];
        for _ in 0..REPEATS {
            for (submission, took) in of.iter().zip(&mut took) {
                let begun = Instant::now();
                let driven = self.drive(submission.clone(), Arc::new(NobodyWatches)).await?;
                took.push(millis(begun.elapsed()));
                anyhow::ensure!(expected(&driven), "a run should not end as {driven:?}");
            }
        }
        Ok(took.map(median))
    }

    async fn drive(&self, submission: Submission, watcher: Arc<dyn Watcher>) -> anyhow::Result<Driven> {
        let task = self.submit(submission).await?;
        Ok(Box::pin(self.engine().drive(task, watcher)).await?)
    }

    async fn submit(&self, submission: Submission) -> anyhow::Result<TaskId> {
        Ok(self.engine().submit(submission, Dispatch::Here, Some(&self.house.key)).await?)
    }

    const fn engine(&self) -> &Engine {
        &self.house.engine
    }

    async fn first_call(&self, files: usize, repeats: usize) -> anyhow::Result<FirstCall> {
        let folder = self.folder(files)?;
        let (mut planned, mut direct, mut worktrees) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..repeats {
            planned.push(self.planned(&folder).await?);
            direct.push(self.direct(&folder).await?);
            worktrees.push(self.worktree(&folder, number)?);
        }
        Ok(FirstCall { files, planned: median(planned), direct: median(direct), worktree: median(worktrees) })
    }

    async fn planned(&self, folder: &Path) -> anyhow::Result<f64> {
        let plan = read_plan(PLAN).map_err(|problems| anyhow::anyhow!("{problems}"))?;
        let planning = Planning::Given(Box::new(plan));
        let task = self.submit(Submission { planning, ..submission(folder, ITEM) }).await?;
        let waiting = Box::pin(self.engine().drive(task, Arc::new(NobodyWatches))).await?;
        anyhow::ensure!(is_asked(&waiting), "a plan should wait for a yes, and is {waiting:?}");
        let asked = self.engine().cards().await?.into_iter().find(|asked| asked.task == task).context("a card")?;
        let watcher = Arc::new(First::default());
        let begun = Instant::now();
        self.engine().answer(asked.card.card_id, yes(), &self.house.key).await?;
        let driven = Box::pin(self.engine().drive(task, Arc::<First>::clone(&watcher))).await?;
        anyhow::ensure!(is_done(&driven), "a plan should be done, and is {driven:?}");
        watcher.since(begun)
    }

    async fn direct(&self, folder: &Path) -> anyhow::Result<f64> {
        let watcher = Arc::new(First::default());
        let begun = Instant::now();
        let driven = self.drive(submission(folder, ITEM), Arc::<First>::clone(&watcher)).await?;
        anyhow::ensure!(is_done(&driven), "a run should be done, and is {driven:?}");
        watcher.since(begun)
    }

    fn worktree(&self, folder: &Path, number: usize) -> anyhow::Result<f64> {
        let data = self.scratch.join("data");
        let workspace = Snapshots::open(SnapshotSetup::new(folder, data.join("objects"), Vec::new()))?;
        let tree = workspace.capture()?;
        let place = Worktrees::new(&self.scratch.join("alone")).folder(TaskId::new(NOW, (number as u128) << 64), 1);
        let begun = Instant::now();
        prepare(&workspace, tree, tree, (&place, &[]), NOW, &|| false)?;
        let took = millis(begun.elapsed());
        fs::remove_dir_all(&place)?;
        Ok(took)
    }

    /// A folder of `files` files, the note among them.
    fn folder(&self, files: usize) -> anyhow::Result<PathBuf> {
        let folder = self.scratch.join(format!("folder-{files}"));
        for number in 1..files {
            let into = folder.join(format!("folder{}", number / FILES_IN_A_FOLDER));
            fs::create_dir_all(&into)?;
            fs::write(into.join(format!("file{number}.rs")), format!("// {number} of many lines\n").repeat(85))?;
        }
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(NOTE), "A short note.\n")?;
        Ok(folder)
    }
}

/// Notes when the first call of anybody began.
#[derive(Default)]
struct First(OnceLock<Instant>);

impl First {
    fn since(&self, begun: Instant) -> anyhow::Result<f64> {
        Ok(millis(self.0.get().context("nothing was called")?.duration_since(begun)))
    }
}

impl Watcher for First {
    fn task(&self, _: TaskId, _: &TaskEvent, _: Wall) {}

    fn execution(&self, _: ExecutionId, event: &ExecutionEvent, _: Wall) {
        if matches!(event, ExecutionEvent::ToolStarted(_)) {
            self.0.get_or_init(Instant::now);
        }
    }

    fn delta(&self, _: ExecutionId, _: Delta) {}
}

fn is_done(driven: &Driven) -> bool {
    matches!(driven, Driven::Finished(result) if result.status == TaskResultStatus::Completed)
}

fn is_asked(driven: &Driven) -> bool {
    matches!(driven, Driven::Waiting(result) if result.hitl_request.is_some())
}

/// Another call each time: an agent that repeats itself is told so.
fn reading(steps: usize) -> String {
    let mut script = "version: 1\ntracks:\n  default:\n".to_owned();
    for step in 0..steps {
        let call = format!("{{ tool: read, args: {{ path: {NOTE}, limit: {} }} }}", 100 + step);
        writeln!(script, "    - {{ calls: [{call}] }}").expect("text can always grow");
    }
    script.push_str("    - { reply: Done. }\n");
    script
}

/// A planner that has so many things found out, one after the other, and then writes its plan.
fn asking(questions: usize) -> String {
    let mut script =
        "version: 1\ntracks:\n  researcher:\n    - { reply: It is so., repeat: forever }\n  planner:\n".to_owned();
    let quoted = |text: &str| serde_json::to_string(text).expect("plain text");
    for number in 0..questions {
        let question = format!("{{ task: Is it so in case {number}?, return_format: a line }}");
        writeln!(script, "    - {{ calls: [{{ tool: request_research, args: {question} }}] }}").expect("text can grow");
        writeln!(script, "    - {{ reply: {} }}", quoted(WAITS)).expect("text can always grow");
    }
    writeln!(script, "    - {{ reply: {} }}", quoted(PLAN)).expect("text can always grow");
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody but this runs a benchmark before somebody wants its figures.
    #[test]
    fn a_run_a_plan_with_research_and_an_item_come_to_their_ends() {
        let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let house = House::open(&scratch.path().join("data"), executor.handle().clone()).unwrap();
        let bench = Bench { house, scratch: scratch.path().to_owned() };
        let folder = bench.folder(3).unwrap();
        executor.block_on(async {
            let nobody = || Arc::new(NobodyWatches);
            let run = bench.drive(submission(&folder, &reading(2)), nobody()).await.unwrap();
            assert!(is_done(&run), "{run:?}");
            let wanted = Submission { planning: Planning::Wanted, ..submission(&folder, &asking(ROUNDS)) };
            let plan = bench.drive(wanted, nobody()).await.unwrap();
            assert!(is_asked(&plan), "{plan:?}");
            let first = Box::pin(bench.first_call(3, 1)).await.unwrap();
            assert!(first.planned > 0.0 && first.direct > 0.0 && first.worktree > 0.0, "{first:?}");
            bench.house.engine.close().await.unwrap();
        });
    }
}
