//! One simulated process: its own monotonic clock, its fuse, and `Runtime` for everything that runs in it.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use windlass_domain::{BoxFuture, Instant, Runtime, Wall};

use crate::curtain::Curtain;
use crate::executor::{ProcessId, Simulation};
use crate::fuse::{Fate, Fuse, Point, Side};

/// When the virtual clock starts: 2026-01-05T08:00:00Z.
pub const BEGINNING: Wall = Wall::from_millis(1_767_600_000_000);

#[derive(Clone)]
pub struct Process {
    pub id: ProcessId,
    pub simulation: Simulation,
    pub fuse: Arc<Fuse>,
    curtain: Curtain,
    born: Duration,
}

impl Process {
    pub fn new(simulation: &Simulation, fuse: Fuse, curtain: Curtain) -> Self {
        let id = simulation.add_process();
        let born = simulation.now();
        Self { id, simulation: simulation.clone(), fuse: Arc::new(fuse), curtain, born }
    }

    /// Has a clock, and belongs to no process: for what the world itself owns.
    pub fn bystander(simulation: &Simulation, curtain: Curtain) -> Self {
        let (id, fuse) = (ProcessId(u32::MAX), Arc::default());
        Self { id, simulation: simulation.clone(), fuse, curtain, born: Duration::ZERO }
    }

    /// A call across a port is here. Comes back when the process may go on, a little later than it came.
    pub async fn pass(&self, point: Point) {
        self.touch(point);
        while self.simulation.is_stalled(self.id) {
            step_aside().await;
        }
        dawdle(&self.simulation, |bound| self.simulation.roll(|dice| dice.below(bound))).await;
    }

    /// The same where nothing can wait.
    pub fn touch(&self, point: Point) {
        match self.fuse.count(point, self.simulation.changes()) {
            None => {}
            Some(Fate::Stalls(length)) => self.simulation.stall(self.id, length),
            Some(Fate::Dies) => {
                self.curtain.draw();
                self.simulation.kill_current()
            }
        }
    }
}

/// Takes no time, or lets others go first, or takes a little time, as `below` decides.
pub async fn dawdle(simulation: &Simulation, below: impl Fn(u64) -> u64) {
    match below(8) {
        0..3 => {}
        3..6 => step_aside().await,
        longer => {
            let length = Duration::from_micros(below(900) * (longer - 5));
            simulation.sleep_until(simulation.now() + length).await;
        }
    }
}

/// Lets the dice choose who goes on.
pub async fn step_aside() {
    let mut has_waited = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Runtime for Process {
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.simulation.spawn(self.id, task);
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        self.simulation.sleep_until(self.born.saturating_add(deadline.elapsed_since_start()))
    }

    fn block(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        let process = self.clone();
        Box::pin(async move {
            process.pass(Point::Block(Side::Before)).await;
            work();
            process.simulation.note_change();
            process.pass(Point::Block(Side::After)).await;
        })
    }

    fn now(&self) -> Instant {
        Instant::since_start(self.simulation.now() - self.born)
    }

    fn wall(&self) -> Wall {
        BEGINNING + self.simulation.now()
    }

    fn random(&self) -> u128 {
        self.simulation.roll(crate::dice::Dice::wide)
    }
}
