//! The court itself: a store in a folder, and engines over it. Two engines are two processes: each has its own lock file,
//! and an engine that is dropped has died.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use tempfile::TempDir;
use windlass_domain::approval::{Answer, CardId, Strength, Verdict};
use windlass_domain::task::ExecutionConfig;
use windlass_domain::{BaseCase, Budget, CancelSignal, Runtime, Taint, TaskId, Tenant, Wall};
use windlass_engine::{
    Answered, Asked, Dispatch, Driven, Engine, EngineParts, Error, Law, Machine, NobodyWatches, Submission,
    SubmittedModel, Until, WorkerOptions,
};
use windlass_plan::parse_base_case;
use windlass_policy::Redactor;
use windlass_policy::approve::OwnerKey;
use windlass_runtime::{Threads, TokioRuntime, executor};
use windlass_store::OwnerLocks;
use windlass_store::queue::Silent;
use windlass_store::sqlite::{Options, SqliteStore};

use super::caller::Ask;
use super::death::{At, Death};
use super::things::{Equipped, Ring, Things};
use crate::clock::{Clock, Time};
use crate::support::put;

pub struct Court {
    pub store: Arc<SqliteStore>,
    pub things: Arc<Things>,
    pub ring: Arc<Ring>,
    pub time: Arc<Time>,
    folder: TempDir,
    executor: tokio::runtime::Runtime,
}

/// The owner's key, always the same.
pub fn owner_key() -> OwnerKey {
    OwnerKey::new(&[7; 32])
}

pub fn yes() -> Answer {
    Answer {
        verdict: Verdict::Approved,
        by: "a person".to_owned(),
        approval_strength: Strength::Confirmed,
        conditions: Vec::new(),
        note: String::new(),
        taint: Taint::Auth,
    }
}

pub fn no(note: &str) -> Answer {
    Answer { verdict: Verdict::Declined, note: note.to_owned(), ..yes() }
}

impl Court {
    /// Where an agent makes these calls, step by step. Time flows.
    pub fn new(steps: Vec<Vec<Ask>>) -> Self {
        Self::in_time(steps, Time::flowing)
    }

    /// The same, in a time that moves only when it is told to.
    pub fn in_still_time(steps: Vec<Vec<Ask>>) -> Self {
        Self::in_time(steps, Time::still)
    }

    /// The same for whoever kills processes and not the power: nothing waits for a disk, where the system has one in memory.
    pub fn without_disk() -> Self {
        let memory = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new());
        Self::in_folder(memory.unwrap(), vec![], Time::flowing)
    }

    fn in_time(steps: Vec<Vec<Ask>>, time: impl FnOnce(TokioRuntime) -> Arc<Time>) -> Self {
        Self::in_folder(TempDir::new().unwrap(), steps, time)
    }

    fn in_folder(folder: TempDir, steps: Vec<Vec<Ask>>, time: impl FnOnce(TokioRuntime) -> Arc<Time>) -> Self {
        std::fs::create_dir(folder.path().join("workspace")).unwrap();
        let executor = executor(Threads::PerCore).unwrap();
        let time = time(TokioRuntime::new(executor.handle().clone()));
        let store = open(&folder, &time);
        let things = Arc::new(Things::new(folder.path().join("objects"), steps));
        let ring = Arc::new(Ring::default());
        ring.add(&owner_key());
        Self { store, things, ring, time, folder, executor }
    }

    /// Lets go of the store, and opens what is on the disk.
    pub fn reopen(self) -> Self {
        let Self { store, folder, time, .. } = self;
        drop(store);
        let store = open(&folder, &time);
        Self { store, time, folder, ..self }
    }

    pub fn process(&self) -> Engine {
        self.process_with(|_| ())
    }

    pub fn process_with(&self, change: impl FnOnce(&mut EngineParts)) -> Engine {
        let (host, boot_id) = ("house".to_owned(), "once".to_owned());
        let locks = OwnerLocks::new(self.folder.path(), host.clone(), boot_id.clone());
        let mut parts = EngineParts {
            store: Arc::<SqliteStore>::clone(&self.store),
            runtime: Clock::new(&self.time),
            equipment: Arc::new(Equipped(Arc::clone(&self.things))),
            tenant: Tenant::local(),
            redactor: Redactor::new([]),
            law: Law::default(),
            telemetry: Arc::new(Silent),
            // A number that is alive: whose lock is held is not dying.
            machine: Machine { host, boot_id, pid: std::process::id(), locks: Some(locks) },
            data_dir: self.folder.path().to_owned(),
            keyring: Some(Arc::<Ring>::clone(&self.ring)),
            heads: None,
            tripwire: None,
        };
        change(&mut parts);
        Engine::new(parts)
    }

    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    pub fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        put(&self.workspace().join(path), bytes);
    }

    pub fn submission(&self) -> Submission {
        Submission {
            goal: "do it".to_owned(),
            constraints: Vec::new(),
            attachments: Vec::new(),
            config: ExecutionConfig::default(),
            agent_id: "executor".to_owned(),
            model: SubmittedModel::Rehearsal("nobody plays it".to_owned()),
            workspace: self.workspace(),
            base_case: BaseCase(Vec::new()),
            budget: Budget { max_attempts: 2, ..Budget::default() },
            sandbox: "cells".to_owned(),
            planning: windlass_engine::Planning::None,
        }
    }

    /// Nobody signs for the run; its calls are judged all the same.
    pub fn submit(&self, engine: &Engine) -> TaskId {
        self.wait(engine.submit(self.submission(), Dispatch::Here, None)).unwrap()
    }

    pub fn submit_signed(&self, engine: &Engine) -> TaskId {
        self.wait(engine.submit(self.submission(), Dispatch::Here, Some(&owner_key()))).unwrap()
    }

    pub fn submit_checked(&self, engine: &Engine, checks: &str) -> TaskId {
        let submission = Submission { base_case: parse_base_case(checks).unwrap(), ..self.submission() };
        self.wait(engine.submit(submission, Dispatch::Here, None)).unwrap()
    }

    pub fn drive(&self, engine: &Engine, task: TaskId) -> Driven {
        self.wait(engine.drive(task, Arc::new(NobodyWatches))).unwrap()
    }

    /// Submits, and drives until it waits for a person.
    pub fn park(&self, engine: &Engine) -> (TaskId, Asked) {
        let task = self.submit(engine);
        let driven = self.drive(engine, task);
        assert!(matches!(driven, Driven::Waiting(_)), "{driven:?}");
        (task, self.only_card(engine))
    }

    pub fn only_card(&self, engine: &Engine) -> Asked {
        let mut cards = self.wait(engine.cards()).unwrap();
        assert_eq!(cards.len(), 1, "{cards:?}");
        cards.remove(0)
    }

    pub fn answer(&self, engine: &Engine, card: CardId, answer: Answer) -> Result<Answered, Error> {
        self.wait(engine.answer(card, answer, &owner_key()))
    }

    pub fn approve(&self, engine: &Engine, card: CardId) {
        self.answer(engine, card, yes()).unwrap();
    }

    /// A worker that works until there is nothing to do.
    pub fn work(&self, engine: &Engine) {
        self.wait(work(engine, Until::Idle, CancelSignal::never()));
    }

    /// The same, so many at a time.
    pub fn work_on(&self, engine: &Engine, concurrency: usize) {
        let options = WorkerOptions { concurrency, until: Until::Idle, ..WorkerOptions::default() };
        let watchers = windlass_engine::Watchers::new(|_: &Tenant, _: TaskId| {
            Arc::new(NobodyWatches) as Arc<dyn windlass_engine::Watcher>
        });
        self.wait(engine.work(options, watchers, CancelSignal::never())).unwrap();
    }

    /// Has a process of its own do something, and die at a place; what it came to where it never got there.
    pub fn die<T, F: Future<Output = T>>(&self, at: At, doing: impl FnOnce(Engine) -> F) -> Option<T> {
        self.wait(self.mortal(Death::new(at), doing))
    }

    /// The same, for whoever does something beside it.
    pub async fn mortal<T, F: Future<Output = T>>(
        &self,
        death: Arc<Death>,
        doing: impl FnOnce(Engine) -> F,
    ) -> Option<T> {
        let tripwire = Arc::<Death>::clone(&death);
        let engine = self.process_with(|parts| parts.tripwire = Some(tripwire));
        let died = death.died();
        match select(std::pin::pin!(doing(engine)), std::pin::pin!(died.wait())).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }

    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.executor.block_on(work)
    }

    pub fn runtime(&self) -> Arc<dyn Runtime> {
        Clock::new(&self.time)
    }

    pub fn wall(&self) -> Wall {
        self.time.wall()
    }

    pub fn jump(&self, length: Duration) {
        self.time.jump(length);
    }

    pub fn performed(&self) -> Vec<String> {
        self.things.performed()
    }
}

/// A worker, four tasks at a time.
pub async fn work(engine: &Engine, until: Until, stop: CancelSignal) {
    let options = WorkerOptions { concurrency: 4, per_tenant: 4, until };
    let watchers = windlass_engine::Watchers::new(|_: &Tenant, _: TaskId| {
        Arc::new(NobodyWatches) as Arc<dyn windlass_engine::Watcher>
    });
    engine.work(options, watchers, stop).await.unwrap();
}

fn open(folder: &TempDir, time: &Arc<Time>) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(Options::new(folder.path()), Clock::new(time)).unwrap())
}
