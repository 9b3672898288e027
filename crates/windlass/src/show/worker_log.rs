//! What a worker says: a line for each task that it takes, that goes to sleep on a question, and that ends. What happens in
//! between is for `windlass log`.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::{TaskEvent, TaskStatus};
use windlass_domain::{Delta, ExecutionId, TaskId, TaskResultStatus, Wall};
use windlass_engine::{Watcher, WorkerNews};
use windlass_server::port::Journal;
use windlass_store::queue::{QueueTelemetryEvent, Telemetry};

use super::json::keep;
use super::line::Line;
use super::narrate::waited_for;
use super::screen::Screen;
use super::style::Style;
use super::teller::PATIENCE;
use crate::arguments::Output;

#[derive(Clone)]
pub struct WorkerLog {
    /// None: for a script.
    screen: Option<Arc<Mutex<Screen>>>,
}

impl WorkerLog {
    pub fn new(output: Output) -> Self {
        super::output::output().set_patience(PATIENCE);
        Self { screen: (!output.json).then(|| Arc::new(Mutex::new(Screen::live()))) }
    }

    /// Whoever watches the task from now on.
    pub fn take(&self, task: TaskId) -> Arc<dyn Watcher> {
        self.say(task, Style::Accent, "taken", "");
        Arc::new(Watched { log: self.clone(), task })
    }

    pub fn remark(&self, text: &str) {
        self.print(&Line::new().dim(text));
    }

    /// What it sees and does not take.
    pub fn leaves(&self, tasks: usize, machine: &str) {
        let what = if tasks == 1 { "a task".to_owned() } else { format!("{tasks} tasks") };
        match self.screen {
            Some(_) => self.remark(&format!("leaves {what} to {machine}, where the work is")),
            None => keep(&json!({"type": "left", "tasks": tasks, "machine": machine})),
        }
    }

    /// Where metrics are read.
    pub fn serves(&self, metrics: &str) {
        match self.screen {
            Some(_) => self.remark(&format!("metrics at {metrics}")),
            None => keep(&json!({"type": "metrics", "address": metrics})),
        }
    }

    /// Where requests are taken, and what to show with them.
    pub fn listens(&self, url: &str, token: &Path) {
        match self.screen {
            Some(_) => {
                self.print(&Line::new().plain("serving at ").add(Style::Accent, url));
                self.remark(&format!("the token is in {}", token.display()));
            }
            None => keep(&json!({"type": "serving", "url": url, "token_file": token})),
        }
    }

    /// How the worker itself fares.
    pub fn fares(&self, news: &WorkerNews<'_>) {
        match news {
            WorkerNews::StoreGone(outage) => self.trouble(&format!("{outage}; waiting for it")),
            WorkerNews::StoreBack => match self.screen {
                Some(_) => self.remark("the store is back: goes on"),
                None => keep(&json!({"type": "store_back"})),
            },
        }
    }

    fn say(&self, task: TaskId, style: Style, what: &str, detail: &str) {
        if self.screen.is_none() {
            return keep(&json!({"type": "task", "task_id": task, "standing": what, "detail": detail}));
        }
        let line = Line::new().dim(format!("{}  ", task.short())).add(style, format!("{what:<10}"));
        self.print(&line.plain("  ").plain(detail));
    }

    fn print(&self, line: &Line) {
        if let Some(screen) = &self.screen {
            screen.lock().unwrap_or_else(PoisonError::into_inner).print(line);
        }
    }
}

/// How queues fare is for scripts: a person who wants to know asks `windlass status`.
impl Telemetry for WorkerLog {
    fn emit(&self, event: QueueTelemetryEvent) {
        if self.screen.is_none() {
            let mut line = json!(event);
            line["type"] = json!("telemetry");
            keep(&line);
        }
    }
}

/// What went wrong with the server itself.
impl Journal for WorkerLog {
    fn trouble(&self, what: &str) {
        match self.screen {
            Some(_) => self.print(&Line::new().add(Style::Bad, "trouble").plain(format!("  {what}"))),
            None => keep(&json!({"type": "trouble", "detail": what})),
        }
    }
}

struct Watched {
    log: WorkerLog,
    task: TaskId,
}

impl Watcher for Watched {
    fn task(&self, task: TaskId, event: &TaskEvent, _: Wall) {
        match event {
            TaskEvent::AttemptWaiting(waiting) => {
                self.log.say(task, Style::Warn, "waiting", &waited_for(waiting).join(", "));
            }
            TaskEvent::Changed(change) if change.status == TaskStatus::Paused => {
                self.log.say(task, Style::Warn, "paused", &change.reason);
            }
            TaskEvent::Finished(finished) => {
                let result = &finished.result;
                let (style, word) = match (result.status, result.verified) {
                    (TaskResultStatus::Completed, true) => (Style::Good, "verified"),
                    (TaskResultStatus::Completed, false) => (Style::Warn, "completed"),
                    (TaskResultStatus::Cancelled, _) => (Style::Warn, "cancelled"),
                    _ => (Style::Bad, "failed"),
                };
                let why = result.error_details.as_ref().map(|error| error.message.as_str()).unwrap_or_default();
                self.log.say(task, style, word, why);
            }
            _ => {}
        }
    }

    fn execution(&self, _: ExecutionId, _: &ExecutionEvent, _: Wall) {}

    fn delta(&self, _: ExecutionId, _: Delta) {}

    fn trouble(&self, what: &str) {
        self.log.say(self.task, Style::Bad, "trouble", what);
    }
}
