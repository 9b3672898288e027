//! A teller whose words wait while an agent's screen has the terminal, and are said when it has left it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::TaskEvent;
use windlass_domain::{BoxFuture, Delta, ErrorDetails, ExecutionId, TaskId, TaskResult, Wall};
use windlass_engine::{JournalRecord, Watcher};

use crate::show::{Hush, Teller};

pub struct Curtain {
    teller: Arc<dyn Teller>,
    /// What waits; none while nothing has to.
    waiting: Mutex<Option<Vec<Saying>>>,
    risen: Notify,
}

type Saying = Box<dyn FnOnce(&dyn Teller) + Send>;

impl Curtain {
    pub fn new(teller: Arc<dyn Teller>) -> Self {
        Self { teller, waiting: Mutex::new(None), risen: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Saying>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn falls(&self) {
        let mut waiting = self.lock();
        if waiting.is_none() {
            self.teller.hush(Hush::WhileAsked);
            *waiting = Some(Vec::new());
        }
    }

    pub fn rises(&self) {
        let mut waiting = self.lock();
        let Some(sayings) = waiting.take() else { return };
        self.teller.hush(Hush::Over);
        sayings.into_iter().for_each(|saying| saying(self.teller.as_ref()));
        self.risen.notify_waiters();
    }

    fn say(&self, saying: impl FnOnce(&dyn Teller) + Send + 'static) {
        match self.lock().as_mut() {
            Some(waiting) => waiting.push(Box::new(saying)),
            None => saying(self.teller.as_ref()),
        }
    }

    fn is_down(&self) -> bool {
        self.lock().is_some()
    }
}

impl Watcher for Curtain {
    fn task(&self, task: TaskId, event: &TaskEvent, at: Wall) {
        let event = event.clone();
        self.say(move |teller| teller.task(task, &event, at));
    }

    fn execution(&self, execution: ExecutionId, event: &ExecutionEvent, at: Wall) {
        let event = event.clone();
        self.say(move |teller| teller.execution(execution, &event, at));
    }

    fn delta(&self, execution: ExecutionId, delta: Delta) {
        if !self.is_down() {
            self.teller.delta(execution, delta);
        }
    }

    fn trouble(&self, what: &str) {
        let what = what.to_owned();
        self.say(move |teller| teller.trouble(&what));
    }
}

impl Teller for Curtain {
    fn begin(&self, story: &[JournalRecord]) {
        self.teller.begin(story);
    }

    fn so_far(&self, story: &[JournalRecord]) {
        self.teller.so_far(story);
    }

    fn tell(&self, record: &JournalRecord) {
        let record = record.clone();
        self.say(move |teller| teller.tell(&record));
    }

    fn can_ask(&self) -> bool {
        self.teller.can_ask()
    }

    fn seen(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let mut risen = std::pin::pin!(self.risen.notified());
            // Before the look, so that nothing comes between the two.
            risen.as_mut().enable();
            if self.is_down() {
                risen.await;
            }
        })
    }

    fn hush(&self, hush: Hush) {
        self.say(move |teller| teller.hush(hush));
    }

    fn remark(&self, text: &str) {
        let text = text.to_owned();
        self.say(move |teller| teller.remark(&text));
    }

    fn tick(&self, elapsed: Duration) {
        if !self.is_down() {
            self.teller.tick(elapsed);
        }
    }

    fn end(&self, result: &TaskResult) {
        let result = result.clone();
        self.say(move |teller| teller.end(&result));
    }

    fn cut_off(&self, task: TaskId, result: Option<&TaskResult>, error: &ErrorDetails) {
        let (result, error) = (result.cloned(), error.clone());
        self.say(move |teller| teller.cut_off(task, result.as_ref(), &error));
    }
}
