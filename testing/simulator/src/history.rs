//! Playing a plan, and what is left to look at afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{Wall, millis};
use windlass_store::{Position, Store, StoredEvent, StoredMessage};

use crate::commit_log::LoggedCommit;
use crate::dice::Dice;
use crate::executor::{Happening, ProcessId};
use crate::fuse::{Fate, Fuse, Point};
use crate::ledger::Entry;
use crate::life::{rival, work};
use crate::operator::{answer_question, operate};
use crate::plan::Plan;
use crate::scenario::Scenario;
use crate::witness::{Ending, Testimony};
use crate::world::World;

/// Workers beyond those that meet a fate: a few for pauses, one for each interruption that a task can bear, and then it
/// leads nowhere.
const SPARE_WORKERS: usize = 28;
const ALL: usize = 1_000_000;

#[derive(Debug, Clone)]
pub struct History {
    pub scenario: Scenario,
    pub plan: Plan,
    pub came_to: CameTo,
    /// Every record of every stream, in commit order.
    pub rows: Vec<StoredEvent>,
    pub ledger: Vec<Entry>,
    pub commits: Vec<LoggedCommit>,
    pub testimony: Testimony,
    /// What is still in the task's mailbox.
    pub mailbox: Vec<StoredMessage>,
    /// The workspace.
    pub files: BTreeMap<String, Vec<u8>>,
    pub trace: Option<String>,
    /// How many calls the first worker made.
    pub calls: u64,
    /// Those of its calls at which a death leaves a world of its own.
    pub distinct_deaths: Vec<u64>,
    /// Where it was, at least once.
    pub passed: BTreeSet<Point>,
    /// Where fuses burnt, in order.
    pub burnt: Vec<Burnt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burnt {
    pub process: ProcessId,
    pub fate: Fate,
    pub point: Point,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CameTo {
    /// Every process ended by itself or by its fate, and the task is over.
    AnEnd,
    Stuck,
    Endless,
    TooManyProcesses,
    ABrokenProcess,
}

struct Stage<'a> {
    world: World,
    scenario: &'a Scenario,
    plan: &'a Plan,
    workers: Vec<(ProcessId, Arc<Fuse>)>,
    alive: BTreeSet<ProcessId>,
}

/// Plays `plan` in `folder`, from nothing.
pub fn play(scenario: &Scenario, plan: &Plan, folder: &Path) -> History {
    let world = World::new(scenario, plan, folder);
    let mut stage = Stage { world, scenario, plan, workers: Vec::new(), alive: BTreeSet::new() };
    stage.start_operator();
    stage.start_answerer();
    stage.start_worker();
    stage.start_rival();
    let came_to = stage.run();
    stage.look_back(came_to)
}

impl Stage<'_> {
    fn start_operator(&self) {
        let Some((act, latest)) = self.scenario.act.clone() else { return };
        let mut dice = Dice::new(self.plan.seed ^ 0xAC7);
        let chosen = Duration::from_millis(dice.below(millis(latest)));
        let moment = self.plan.moment.unwrap_or(chosen);
        let process = self.world.process(Arc::default());
        let engine = self.world.engine(&process);
        let operating = operate(engine, process.clone(), act, moment, self.world.witness.clone());
        self.world.simulation.start(process.id, Box::pin(operating));
    }

    fn start_answerer(&self) {
        let Some((answer, after)) = self.scenario.answer else { return };
        let process = self.world.process(Arc::default());
        let answering = answer_question(self.world.engine(&process), process.clone(), answer, after);
        self.world.simulation.start(process.id, Box::pin(answering));
    }

    fn start_worker(&mut self) {
        let fuse = Arc::new(Fuse::new(self.plan.fates.get(self.workers.len()).copied()));
        let process = self.world.process(Arc::clone(&fuse));
        let engine = self.world.engine(&process);
        let submission = self.scenario.submission(&self.world.workspace());
        self.workers.push((process.id, fuse));
        self.alive.insert(process.id);
        let working = work(engine, process.clone(), submission, self.world.witness.clone());
        self.world.simulation.start(process.id, Box::pin(working));
    }

    fn start_rival(&mut self) {
        let Some(moment) = self.plan.rival else { return };
        let process = self.world.process(Arc::default());
        let engine = self.world.engine(&process);
        let submission = self.scenario.submission(&self.world.workspace());
        self.alive.insert(process.id);
        let waiting = rival(engine, process.clone(), moment, submission, self.world.witness.clone());
        self.world.simulation.start(process.id, Box::pin(waiting));
    }

    fn run(&mut self) -> CameTo {
        loop {
            match self.world.simulation.run() {
                Happening::Died(process) => {
                    self.world.curtain.lift();
                    self.gone(process);
                    self.start_worker();
                }
                // Somebody looks what is the matter, while it may still wake up. Nobody asks twice for a task meanwhile.
                Happening::Stalled(_) => {
                    if self.has_task() {
                        self.start_worker();
                    }
                }
                Happening::Exited(process) => {
                    if self.gone(process) && self.alive.is_empty() && !self.world.witness.is_finished() {
                        self.start_worker();
                    }
                }
                Happening::Empty => return CameTo::AnEnd,
                Happening::Stuck => return CameTo::Stuck,
                Happening::Endless => return CameTo::Endless,
            }
            if self.is_broken() {
                return CameTo::ABrokenProcess;
            }
            if self.workers.len() > self.plan.fates.len() + SPARE_WORKERS {
                return CameTo::TooManyProcesses;
            }
        }
    }

    /// Whether it was a worker; when the last is gone, nothing happens for a while.
    fn gone(&mut self, process: ProcessId) -> bool {
        let was_worker = self.alive.remove(&process);
        if was_worker && self.alive.is_empty() {
            self.world.simulation.skip(self.plan.gap);
        }
        was_worker
    }

    fn has_task(&self) -> bool {
        let tenant = &self.world.tenant;
        !self.world.ask(|store| store.streams(tenant, "task", None, 1)).is_empty()
    }

    fn is_broken(&self) -> bool {
        let testimony = self.world.witness.testimony();
        testimony.endings.iter().any(|(_, ending)| matches!(ending, Ending::Broken(_)))
    }

    fn look_back(self, came_to: CameTo) -> History {
        let Self { world, scenario, plan, workers, .. } = self;
        let tenant = &world.tenant;
        let rows = world.ask(|store| store.events(tenant, Position::default(), ALL));
        let task = rows.iter().find(|row| row.stream.kind() == "task").map(|row| row.stream.id().to_owned());
        let late = Wall::from_millis(u64::MAX >> 1);
        let mailbox = task.as_ref().map(|task| format!("task/{task}"));
        let mailbox = mailbox.map(|name| world.ask(|store| store.mailbox(tenant, &name, late, ALL)));
        let trace = task.map(|task| world.data().join("traces").join(format!("{task}.jsonl")));
        let burnt = |(process, fuse): &(ProcessId, Arc<Fuse>)| {
            fuse.burnt().map(|(fate, point)| Burnt { process: *process, fate, point })
        };
        History {
            scenario: scenario.clone(),
            plan: plan.clone(),
            came_to,
            ledger: world.ledger.entries(),
            commits: world.log.commits(),
            testimony: world.witness.testimony(),
            mailbox: mailbox.unwrap_or_default(),
            files: read_all(&world.workspace()),
            trace: trace.and_then(|path| std::fs::read_to_string(path).ok()),
            calls: workers.first().map_or(0, |(_, fuse)| fuse.calls()),
            distinct_deaths: workers.first().map(|(_, fuse)| fuse.distinct_deaths()).unwrap_or_default(),
            passed: workers.first().map(|(_, fuse)| fuse.passed()).unwrap_or_default(),
            burnt: workers.iter().filter_map(burnt).collect(),
            rows,
        }
    }
}

fn read_all(workspace: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![workspace.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the workspace can be read") {
            let path = entry.expect("the workspace can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(workspace).expect("it was found there").to_string_lossy().into_owned();
                files.insert(name, std::fs::read(&path).expect("the workspace can be read"));
            }
        }
    }
    files
}
