//! Playing a plan from nothing, and what is left to look at afterwards.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use windlass_domain::{BoxFuture, Runtime as _, TaskId, Tenant, Wall};
use windlass_store::chain::verify;
use windlass_store::{Error, LeaseName, Position, Store as _, StoredMessage, StreamId};

use crate::engines::history::{EngineHistory, EngineTenantEnd, EngineWhat, TaskEnd};
use crate::engines::house::House;
use crate::engines::outside::oversee;
use crate::engines::plan::EnginePlan;
use crate::engines::scene::{Scene, Seen, TENANTS, tenant};
use crate::engines::worker::live;
use crate::executor::{Happening, MOST_POLLS, ProcessId};
use crate::queues::Blow;

const WORK_QUEUES: [&str; 3] = ["runtime_queue", "executor_queue", "planner_queue"];
const ALL: usize = 1_000_000;
/// Between the end of a worker that left or gave up and the start of the next.
const PAUSE: Duration = Duration::from_secs(1);
/// Later than anything is due.
const LATE: Wall = Wall::from_millis(u64::MAX >> 1);

struct Stage {
    scene: Arc<Scene>,
    workers: BTreeMap<ProcessId, u8>,
    overseer: ProcessId,
}

/// Plays `plan` in `folder`, from nothing.
pub fn play_engines(plan: &EnginePlan, folder: &Path) -> EngineHistory {
    let scene = Scene::new(plan, folder);
    let outside = House::new(&scene, None);
    let overseer = outside.process.id;
    // Plans wait for planners and people by the minute, and workers look every second.
    if plan.projects().next().is_some() {
        scene.simulation.be_patient(20 * MOST_POLLS);
    }
    scene.simulation.start(overseer, Box::pin(oversee(outside)));
    let mut stage = Stage { scene, workers: BTreeMap::new(), overseer };
    (0..plan.workers).for_each(|worker| stage.start(worker, Duration::ZERO));
    stage.run();
    let history = stage.look_back();
    stage.scene.simulation.end();
    history
}

/// In memory the store answers at once.
fn at_once<T>(answer: BoxFuture<'_, Result<T, Error>>) -> T {
    let answer = answer.now_or_never().expect("in memory the store answers at once");
    answer.expect("a database in memory can be used")
}

impl Stage {
    fn start(&mut self, worker: u8, after: Duration) {
        let house = House::new(&self.scene, Some(worker));
        let process = house.process.clone();
        self.workers.insert(process.id, worker);
        let living = async move {
            house.process.sleep(after).await;
            live(house, worker).await;
        };
        self.scene.simulation.start(process.id, Box::pin(living));
    }

    fn run(&mut self) {
        loop {
            match self.scene.simulation.run() {
                Happening::Exited(process) if process == self.overseer => return,
                Happening::Exited(process) => self.replace(process, PAUSE),
                Happening::Died(process) => {
                    self.scene.curtain.lift();
                    let after = self.scene.last_death(self.workers[&process]);
                    self.replace(process, after);
                }
                Happening::Stalled(_) => {}
                end @ (Happening::Empty | Happening::Stuck | Happening::Endless) => {
                    return self.scene.tell(self.overseer, EngineWhat::Broken(format!("it came to {end:?}")));
                }
            }
        }
    }

    fn replace(&mut self, process: ProcessId, after: Duration) {
        self.scene.ended(process);
        self.start(self.workers[&process], after);
    }

    fn look_back(&self) -> EngineHistory {
        let scene = &self.scene;
        let ((calls, trace), polls) = (scene.calls_and_trace(), scene.simulation.polls());
        let tasks = scene.tasks();
        let tenants = (0..TENANTS).map(|number| end_of(scene, tenant(number), &tasks)).collect();
        let (plan, ledger) = (scene.plan.clone(), scene.ledger.entries());
        let run_twice = scene.witness.run_twice();
        let folders = plan.projects().map(|project| files(&scene.workspaces().join(project.id()))).collect();
        let worktrees = names(&scene.data().join("worktrees"));
        let records = scene.take_records();
        EngineHistory { plan, records, ledger, tenants, run_twice, folders, worktrees, polls, calls, trace }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = found.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let read = |name: String| std::fs::read_to_string(folder.join(&name)).ok().map(|text| (name, text));
    names(folder).into_iter().filter_map(read).collect()
}

fn end_of(scene: &Scene, tenant: Tenant, tasks: &BTreeMap<TaskId, Seen>) -> EngineTenantEnd {
    let store = &scene.store;
    let of_tenant = tasks.iter().filter(|(_, seen)| seen.tenant == tenant);
    EngineTenantEnd {
        events: at_once(store.events(&tenant, Position::default(), ALL)),
        chain: at_once(Box::pin(verify(&**store, &tenant, None, None))),
        review: at_once(store.mailbox(&tenant, "review", LATE, ALL)),
        timers: at_once(store.timers_due(Some(&tenant), LATE, ALL)).len(),
        tasks: of_tenant.map(|(task, seen)| end_of_task(scene, &tenant, *task, seen)).collect(),
        tenant,
    }
}

/// The messages by which somebody is to drive the task.
pub fn drives_of(scene: &Scene, tenant: &Tenant, task: TaskId) -> Vec<StoredMessage> {
    let about = StreamId::new("task", task);
    WORK_QUEUES.iter().flat_map(|queue| at_once(scene.store.about(tenant, queue, &about))).collect()
}

fn end_of_task(scene: &Scene, tenant: &Tenant, task: TaskId, seen: &Seen) -> TaskEnd {
    let store = &scene.store;
    let lease = at_once(store.lease(tenant, &LeaseName::new("task", task)));
    let holder = lease.and_then(|lease| lease.holder).and_then(|holder| scene.process_of(holder.id));
    let folder = seen.state.created.as_ref().map(|created| created.workspace.clone()).unwrap_or_default();
    TaskEnd {
        task,
        mailbox: at_once(store.mailbox(tenant, &format!("task/{task}"), LATE, ALL)),
        messages: drives_of(scene, tenant, task),
        is_leased: holder.is_some_and(|process| scene.is_at_work(process)),
        has_sandbox: !scene.sandboxes.over(Path::new(&folder)).is_empty(),
    }
}

impl Scene {
    /// After how long the worker that died last is started again.
    fn last_death(&self, worker: u8) -> Duration {
        self.find_last(|what| match what {
            EngineWhat::Suffered { worker: whose, blow: Blow::Dies { after, .. }, .. } if *whose == worker => {
                Some(*after)
            }
            _ => None,
        })
        .expect("nobody dies of anything else")
    }
}
