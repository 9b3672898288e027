//! Playing a plan from nothing, and what is left to look at afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use windlass_domain::{BoxFuture, Runtime as _};
use windlass_store::chain::verify;
use windlass_store::{Error, Position, Store as _};

use crate::executor::{Happening, ProcessId};
use crate::queues::approvals::issued_tokens;
use crate::queues::history::TenantEnd;
use crate::queues::outside::{TENANTS, oversee};
use crate::queues::process::QueueProcess;
use crate::queues::scene::{Scene, tenant};
use crate::queues::worker::{Life, live};
use crate::queues::{Act, Blow, QueueHistory, QueuePlan, Return, What};

const ALL: usize = 1_000_000;
/// Between the end of a worker that left and the start of the next.
const PAUSE: Duration = Duration::from_secs(1);

struct Stage {
    scene: Arc<Scene>,
    workers: BTreeMap<ProcessId, u8>,
    overseer: ProcessId,
}

pub fn play_queues(plan: &QueuePlan) -> QueueHistory {
    let scene = Scene::new(plan);
    if plan.acts.iter().any(|act| matches!(act, Act::Races { .. })) {
        at_once(Box::pin(async { scene.store.commit(issued_tokens()).await }));
    }
    let outside = QueueProcess::new(&scene, None);
    scene.simulation.start(outside.id, Box::pin(oversee(Arc::clone(&outside))));
    let mut stage = Stage { scene, workers: BTreeMap::new(), overseer: outside.id };
    for worker in 0..plan.workers {
        stage.start(worker, Life::First, Duration::ZERO);
    }
    stage.run();
    stage.scene.simulation.end();
    stage.look_back()
}

/// In memory the store answers at once.
fn at_once<T>(answer: BoxFuture<'_, Result<T, Error>>) -> T {
    let answer = answer.now_or_never().expect("in memory the store answers at once");
    answer.expect("a database in memory can be used")
}

impl Stage {
    fn start(&mut self, worker: u8, life: Life, after: Duration) {
        let process = QueueProcess::new(&self.scene, Some(worker));
        self.workers.insert(process.id, worker);
        let main = Arc::clone(&process);
        let living = async move {
            main.sleep(after).await;
            live(main, worker, life).await;
        };
        self.scene.simulation.start(process.id, Box::pin(living));
    }

    fn run(&mut self) {
        loop {
            match self.scene.simulation.run() {
                Happening::Exited(process) if process == self.overseer => return,
                Happening::Exited(process) => {
                    let worker = self.workers[&process];
                    self.start(worker, Life::Another, PAUSE);
                }
                Happening::Died(process) => self.replace(process),
                Happening::Stalled(_) => {}
                end @ (Happening::Empty | Happening::Stuck | Happening::Endless) => {
                    return self.scene.tell(self.overseer, What::Broken(format!("it came to {end:?}")));
                }
            }
        }
    }

    fn replace(&mut self, process: ProcessId) {
        let worker = self.workers[&process];
        let (after, comes_back) = self.scene.last_death(worker);
        let life = match comes_back {
            Return::AsAnother => Life::Another,
            Return::AsItself => self.scene.owner_of(worker).map_or(Life::Another, Life::Again),
        };
        self.start(worker, life, after);
    }

    fn look_back(self) -> QueueHistory {
        let scene = &self.scene;
        let ((calls, trace), polls) = (scene.calls_and_trace(), scene.simulation.polls());
        let tenants = (0..TENANTS).map(|number| {
            let (tenant, store) = (tenant(number), &scene.store);
            TenantEnd {
                events: at_once(store.events(&tenant, Position::default(), ALL)),
                dead: at_once(store.dead_letters(&tenant, None, ALL)).iter().map(|dead| dead.message_id).collect(),
                chain: at_once(Box::pin(verify(&**store, &tenant, None, None))),
                tenant,
            }
        });
        let tenants = tenants.collect();
        QueueHistory { plan: scene.plan.clone(), records: scene.take_records(), tenants, polls, calls, trace }
    }
}

impl Scene {
    /// How the worker's last life ended.
    fn last_death(&self, worker: u8) -> (Duration, Return) {
        self.find_last(|what| match what {
            What::Suffered { worker: whose, blow: Blow::Dies { after, comes_back }, .. } if *whose == worker => {
                Some((*after, *comes_back))
            }
            _ => None,
        })
        .expect("nobody dies of anything else")
    }
}
