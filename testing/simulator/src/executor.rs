//! The executor: one thread, one virtual clock, and dice that choose which ready task goes on. Tasks belong to processes,
//! so that a process can die or stall as a whole. The clock moves only when nobody is ready, to whatever is due next.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use windlass_domain::BoxFuture;

use crate::dice::Dice;
use crate::timer::{Timers, Turn};

/// More polls than any history needs; one that has not ended by then never will.
pub const MOST_POLLS: u64 = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessId(pub u32);

/// Why the simulation came back to whoever runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happening {
    Died(ProcessId),
    Stalled(ProcessId),
    /// Its main task has returned, and all its other tasks are gone.
    Exited(ProcessId),
    /// No process is left.
    Empty,
    /// Somebody waits for something that will never come.
    Stuck,
    Endless,
}

#[derive(Clone)]
pub struct Simulation {
    state: Arc<Mutex<State>>,
    ready: Arc<Ready>,
}

struct State {
    dice: Dice,
    now: Duration,
    timers: Timers,
    tasks: BTreeMap<TaskId, Task>,
    next_task: u64,
    processes: BTreeMap<ProcessId, Life>,
    next_process: u32,
    news: Vec<Happening>,
    polls: u64,
    most_polls: u64,
    changes: u64,
}

type TaskId = u64;

struct Task {
    process: ProcessId,
    /// Absent while it is being polled.
    future: Option<BoxFuture<'static, ()>>,
    waker: Waker,
}

struct Life {
    main: Option<TaskId>,
    stalled_until: Option<Duration>,
}

/// The tasks that were woken. Apart from the rest, because wakers are called from anywhere.
#[derive(Default)]
struct Ready {
    tasks: Mutex<BTreeSet<TaskId>>,
}

struct Alarm {
    task: TaskId,
    ready: Arc<Ready>,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.ready.lock().insert(self.task);
    }
}

impl Ready {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<TaskId>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a dying process throws: nothing after the call that killed it runs, and no panic hook speaks of it.
struct Killed;

impl Simulation {
    pub fn new(seed: u64) -> Self {
        let state = State {
            dice: Dice::new(seed),
            now: Duration::ZERO,
            timers: Timers::default(),
            tasks: BTreeMap::new(),
            next_task: 0,
            processes: BTreeMap::new(),
            next_process: 0,
            news: Vec::new(),
            polls: 0,
            most_polls: MOST_POLLS,
            changes: 0,
        };
        Self { state: Arc::new(Mutex::new(state)), ready: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self) -> Duration {
        self.lock().now
    }

    pub fn roll<T>(&self, with: impl FnOnce(&mut Dice) -> T) -> T {
        with(&mut self.lock().dice)
    }

    /// Something outlasting has changed: the store or a file.
    pub fn note_change(&self) {
        self.lock().changes += 1;
    }

    pub fn changes(&self) -> u64 {
        self.lock().changes
    }

    /// How often a task was polled.
    pub fn polls(&self) -> u64 {
        self.lock().polls
    }

    /// Lets time pass in which nothing happens.
    pub fn skip(&self, length: Duration) {
        self.lock().now += length;
    }

    /// For a history that is longer than others.
    pub fn be_patient(&self, most_polls: u64) {
        self.lock().most_polls = most_polls;
    }

    pub fn add_process(&self) -> ProcessId {
        let mut state = self.lock();
        let process = ProcessId(state.next_process);
        state.next_process += 1;
        state.processes.insert(process, Life { main: None, stalled_until: None });
        process
    }

    /// When `main` returns, the process ends.
    pub fn start(&self, process: ProcessId, main: BoxFuture<'static, ()>) {
        let task = self.spawn(process, main);
        self.lock().life(process).main = task;
    }

    /// Nothing is started for a process that is gone.
    pub fn spawn(&self, process: ProcessId, future: BoxFuture<'static, ()>) -> Option<TaskId> {
        let mut state = self.lock();
        if !state.processes.contains_key(&process) {
            drop(state);
            return None;
        }
        let task = state.next_task;
        state.next_task += 1;
        let waker = Waker::from(Arc::new(Alarm { task, ready: Arc::clone(&self.ready) }));
        state.tasks.insert(task, Task { process, future: Some(future), waker });
        self.ready.lock().insert(task);
        Some(task)
    }

    /// Waits until the clock stands at `deadline`.
    pub fn sleep_until(&self, deadline: Duration) -> BoxFuture<'static, ()> {
        Box::pin(Sleep { simulation: self.clone(), deadline, turn: None })
    }

    /// The process is not polled for so long; its timers run on.
    pub fn stall(&self, process: ProcessId, length: Duration) {
        let mut state = self.lock();
        let until = state.now + length;
        state.life(process).stalled_until = Some(until);
        state.news.push(Happening::Stalled(process));
    }

    pub fn is_stalled(&self, process: ProcessId) -> bool {
        self.lock().processes.get(&process).is_some_and(|life| life.stalled_until.is_some())
    }

    pub fn is_anyone_stalled(&self) -> bool {
        self.lock().processes.values().any(|life| life.stalled_until.is_some())
    }

    /// Ends every process, without a word. What they hold often holds the simulation, and would keep it for ever.
    pub fn end(&self) {
        let processes: Vec<ProcessId> = self.lock().processes.keys().copied().collect();
        // Dropped outside the lock: what they hold may look at the clock.
        processes.into_iter().for_each(|process| drop(self.bury(process)));
    }

    /// Ends the process that is being polled, here and now.
    pub fn kill_current(&self) -> ! {
        resume_unwind(Box::new(Killed))
    }

    /// Runs until there is something to tell.
    pub fn run(&self) -> Happening {
        loop {
            if let Some(news) = self.take_news() {
                return news;
            }
            match self.choose() {
                Choice::Poll(task) => {
                    if let Some(happening) = self.poll(task) {
                        return happening;
                    }
                }
                Choice::Wait(until) => self.advance(until),
                Choice::Nothing(happening) => return happening,
            }
        }
    }

    fn take_news(&self) -> Option<Happening> {
        let mut state = self.lock();
        if state.news.is_empty() { None } else { Some(state.news.remove(0)) }
    }

    fn choose(&self) -> Choice {
        let mut state = self.lock();
        let state = &mut *state;
        if state.processes.is_empty() {
            return Choice::Nothing(Happening::Empty);
        }
        let stalled = |task: &TaskId| {
            let process = state.tasks.get(task).map(|task| task.process);
            process.is_some_and(|process| state.processes[&process].stalled_until.is_some())
        };
        let mut ready = self.ready.lock();
        ready.retain(|task| state.tasks.contains_key(task));
        let candidates: Vec<TaskId> = ready.iter().copied().filter(|task| !stalled(task)).collect();
        if state.polls >= state.most_polls {
            return Choice::Nothing(Happening::Endless);
        }
        if candidates.is_empty() {
            return state.next_due().map_or(Choice::Nothing(Happening::Stuck), Choice::Wait);
        }
        let task = state.dice.pick(&candidates);
        ready.remove(&task);
        state.polls += 1;
        Choice::Poll(task)
    }

    fn poll(&self, task: TaskId) -> Option<Happening> {
        let (process, mut future, waker) = self.lock().take(task)?;
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(&waker))));
        match polled {
            Ok(Poll::Pending) => {
                self.lock().put_back(task, future);
                None
            }
            Ok(Poll::Ready(())) => {
                drop(future);
                self.returned(task, process)
            }
            Err(panic) => {
                expect_killed(panic);
                // Dropped outside the lock: what they hold may look at the clock.
                drop(future);
                drop(self.bury(process));
                Some(Happening::Died(process))
            }
        }
    }

    fn returned(&self, task: TaskId, process: ProcessId) -> Option<Happening> {
        let is_main = {
            let mut state = self.lock();
            state.tasks.remove(&task);
            state.life(process).main == Some(task)
        };
        if !is_main {
            return None;
        }
        drop(self.bury(process));
        Some(Happening::Exited(process))
    }

    /// Takes a process and its tasks out of the world, and hands them over to be dropped.
    fn bury(&self, process: ProcessId) -> Vec<Task> {
        let mut state = self.lock();
        state.processes.remove(&process);
        let keys = state.tasks.iter().filter(|(_, task)| task.process == process).map(|(key, _)| *key);
        let keys: Vec<TaskId> = keys.collect();
        keys.iter().filter_map(|key| state.tasks.remove(key)).collect()
    }

    fn advance(&self, until: Duration) {
        let due = {
            let mut state = self.lock();
            state.now = until.max(state.now);
            let now = state.now;
            for life in state.processes.values_mut() {
                life.stalled_until = life.stalled_until.filter(|until| *until > now);
            }
            state.timers.take_due(now)
        };
        due.into_iter().for_each(Waker::wake);
    }
}

enum Choice {
    Poll(TaskId),
    Wait(Duration),
    Nothing(Happening),
}

impl State {
    fn life(&mut self, process: ProcessId) -> &mut Life {
        self.processes.get_mut(&process).expect("only what lives acts")
    }

    fn take(&mut self, task: TaskId) -> Option<(ProcessId, BoxFuture<'static, ()>, Waker)> {
        let task = self.tasks.get_mut(&task)?;
        let future = task.future.take().expect("one thread polls one task at a time");
        Some((task.process, future, task.waker.clone()))
    }

    fn put_back(&mut self, task: TaskId, future: BoxFuture<'static, ()>) {
        self.tasks.get_mut(&task).expect("it is not removed while it is polled").future = Some(future);
    }

    fn next_due(&self) -> Option<Duration> {
        let stalls = self.processes.values().filter_map(|life| life.stalled_until);
        self.timers.next().into_iter().chain(stalls).min()
    }
}

/// Any other panic is a failed test.
fn expect_killed(panic: Box<dyn Any + Send>) {
    if !panic.is::<Killed>() {
        resume_unwind(panic);
    }
}

struct Sleep {
    simulation: Simulation,
    deadline: Duration,
    turn: Option<Turn>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let simulation = self.simulation.clone();
        let mut state = simulation.lock();
        if let Some(turn) = self.turn.take() {
            state.timers.cancel(turn);
        }
        if state.now >= self.deadline {
            return Poll::Ready(());
        }
        self.turn = Some(state.timers.set(self.deadline, context.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.simulation.lock().timers.cancel(turn);
        }
    }
}
