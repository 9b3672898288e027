//! One simulated process: its own clocks, its fortune, and `Runtime` for everything that runs in it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use windlass_domain::{BoxFuture, Instant, Runtime, Wall};

use crate::curtain::Curtain;
use crate::dice::Dice;
use crate::executor::{ProcessId, Simulation};
use crate::fuse::{Fate, Fortune, Fuse, Point, Side};

/// When the virtual clock starts: 2026-01-05T08:00:00Z.
pub const BEGINNING: Wall = Wall::from_millis(1_767_600_000_000);

#[derive(Clone)]
pub struct Process {
    pub id: ProcessId,
    pub simulation: Simulation,
    fortune: Arc<dyn Fortune>,
    curtain: Curtain,
    born: Duration,
    /// How long its monotonic clock has stood still.
    frozen: Arc<Mutex<Duration>>,
    chance: Chance,
}

/// Whose dice a process rolls.
#[derive(Clone)]
pub enum Chance {
    /// Those of the whole world.
    Common,
    /// Its own: what others do not do changes nothing for it, which is what makes a history shrink.
    Own(Arc<Mutex<Dice>>),
}

impl Chance {
    pub fn own(seed: u64) -> Self {
        Self::Own(Arc::new(Mutex::new(Dice::new(seed))))
    }
}

impl Process {
    pub fn new(simulation: &Simulation, fortune: Arc<dyn Fortune>, curtain: Curtain, chance: Chance) -> Self {
        let id = simulation.add_process();
        let (born, frozen) = (simulation.now(), Arc::default());
        Self { id, simulation: simulation.clone(), fortune, curtain, born, frozen, chance }
    }

    /// Has a clock, and belongs to no process: for what the world itself owns.
    pub fn bystander(simulation: &Simulation, curtain: Curtain) -> Self {
        let (id, fortune) = (ProcessId(u32::MAX), Arc::new(Fuse::default()));
        let (born, frozen, chance) = (Duration::ZERO, Arc::default(), Chance::Common);
        Self { id, simulation: simulation.clone(), fortune, curtain, born, frozen, chance }
    }

    /// A call across a port is here. Comes back when the process may go on, a little later than it came.
    pub async fn pass(&self, point: Point) {
        self.touch(point);
        while self.simulation.is_stalled(self.id) {
            step_aside().await;
        }
        dawdle(&self.simulation, |bound| self.roll(|dice| dice.below(bound))).await;
    }

    fn roll<T>(&self, with: impl FnOnce(&mut Dice) -> T) -> T {
        match &self.chance {
            Chance::Common => self.simulation.roll(with),
            Chance::Own(dice) => with(&mut dice.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    fn frozen(&self) -> MutexGuard<'_, Duration> {
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same where nothing can wait.
    pub fn touch(&self, point: Point) {
        match self.fortune.count(self.id, point, self.simulation.changes()) {
            None => {}
            Some(Fate::Stalls(length)) => self.simulation.stall(self.id, length),
            Some(Fate::Freezes(length)) => {
                *self.frozen() += length;
                self.simulation.stall(self.id, length);
            }
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
        let begun = self.born + *self.frozen();
        self.simulation.sleep_until(begun.saturating_add(deadline.elapsed_since_start()))
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
        let elapsed = self.simulation.now() - self.born;
        Instant::since_start(elapsed.saturating_sub(*self.frozen()))
    }

    fn wall(&self) -> Wall {
        let right = BEGINNING + self.simulation.now();
        Wall::from_millis(right.as_millis().saturating_add_signed(self.fortune.wrong_by()))
    }

    fn random(&self) -> u128 {
        self.roll(Dice::wide)
    }
}
