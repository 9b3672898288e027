//! A running task on a terminal: each step in a line, and below them what is going on right now.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windlass_domain::execution::{ExecutionEvent, Lifecycle};
use windlass_domain::task::TaskEvent;
use windlass_domain::{Delta, ErrorDetails, ExecutionId, TaskId, TaskResult, TaskResultStatus, Usage, Usd, Wall};
use windlass_engine::{JournalRecord, Watcher};
use windlass_policy::visible_line;

use super::line::{Line, first_line};
use super::narrate::{Narrator, counted, finish, money};
use super::screen::{KEPT_FREE, Screen};
use super::style::{Paint, Style};
use super::teller::Teller;
use super::wrap::{shortened_to_end, width_of};
use crate::keyboard::Keyboard;

const SPINNER: [&str; 4] = ["◐", "◓", "◑", "◒"];

pub struct Terminal {
    inner: Mutex<Inner>,
}

struct Inner {
    screen: Screen,
    narrator: Narrator,
    /// What is going on, in a few words.
    now: String,
    /// The answer as it comes in.
    heard: String,
    tokens: Usage,
    /// None once an answer's price was not known.
    cost: Option<Usd>,
    ticks: usize,
    elapsed: Duration,
    has_told_end: bool,
}

impl Terminal {
    pub fn new() -> Self {
        let inner = Inner {
            screen: Screen::live(),
            narrator: Narrator::default(),
            now: String::new(),
            heard: String::new(),
            tokens: Usage::default(),
            cost: Some(Usd::ZERO),
            ticks: 0,
            elapsed: Duration::ZERO,
            has_told_end: false,
        };
        Self { inner: Mutex::new(inner) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn print(&mut self, lines: &[Line]) {
        lines.iter().for_each(|line| self.screen.print(line));
        self.show_status();
    }

    fn retell(&mut self, story: &[JournalRecord]) {
        for record in story {
            if let JournalRecord::Execution { execution, event, .. } = record {
                self.follow(*execution, event);
            }
            self.narrator.tell(record).iter().for_each(|line| self.screen.print(line));
        }
        self.now.clear();
    }

    fn follow(&mut self, execution: ExecutionId, event: &ExecutionEvent) {
        match event {
            ExecutionEvent::ModelRequested(request) => {
                self.now = if request.purpose.is_turn() { "thinking" } else { "summarising" }.to_owned();
                self.heard.clear();
            }
            ExecutionEvent::ModelResponded(response) => {
                self.tokens += response.usage;
                self.cost = self.cost.zip(response.cost).map(|(sum, cost)| sum.plus(cost));
            }
            ExecutionEvent::ToolStarted(started) => {
                let call = self.narrator.call(execution, &started.call_id).unwrap_or(&started.tool);
                self.now = format!("running {call}");
                self.heard.clear();
            }
            ExecutionEvent::StateChanged(change) if change.to == Lifecycle::Completed => {
                self.now = "checking".to_owned();
                self.heard.clear();
            }
            _ => {}
        }
    }

    fn show_status(&mut self) {
        if self.now.is_empty() {
            return;
        }
        let spinner = SPINNER[self.ticks % SPINNER.len()];
        let seconds = self.elapsed.as_secs();
        let facts = format!(
            "{}:{:02} · {} · {}  ",
            seconds / 60,
            seconds % 60,
            counted(self.tokens.total(), "token"),
            money(self.cost)
        );
        let mut line = Line::new().add(Style::Accent, format!("{spinner} ")).dim(facts).plain(&self.now);
        if !self.heard.is_empty() {
            let words = self.newest_words(&line);
            line = line.dim(format!("  {words}"));
        }
        self.screen.status(&line);
    }

    /// As much of the end of what is being said as there is room for.
    fn newest_words(&self, before: &Line) -> String {
        let width = self.screen.width().unwrap_or(usize::MAX);
        let taken = width_of(&before.cut(Paint::Plain, None)) + "  ".len() + KEPT_FREE;
        shortened_to_end(&visible_line(&self.heard), width.saturating_sub(taken))
    }

    /// Keeps the last line of what is being said.
    fn hear(&mut self, text: &str) {
        const KEPT: usize = 200;
        self.heard.push_str(text);
        let last = self.heard.trim_end().lines().last().unwrap_or_default();
        let skipped = last.chars().count().saturating_sub(KEPT);
        self.heard = last.chars().skip(skipped).collect();
    }
}

impl Watcher for Terminal {
    fn task(&self, _: TaskId, event: &TaskEvent, _: Wall) {
        let mut inner = self.lock();
        if matches!(event, TaskEvent::Finished(_) | TaskEvent::Changed(_) | TaskEvent::AttemptWaiting(_)) {
            inner.now.clear();
            inner.screen.clear_status();
        }
        inner.has_told_end |= matches!(event, TaskEvent::Finished(_));
        let lines = inner.narrator.tell_task(event);
        inner.print(&lines);
    }

    fn execution(&self, execution: ExecutionId, event: &ExecutionEvent, _: Wall) {
        let mut inner = self.lock();
        inner.follow(execution, event);
        let lines = inner.narrator.tell_execution(execution, event);
        inner.print(&lines);
    }

    fn delta(&self, _: ExecutionId, delta: Delta) {
        let mut inner = self.lock();
        match delta {
            Delta::Text(text) | Delta::Reasoning(text) | Delta::ToolOutput { text, .. } => inner.hear(&text),
            Delta::Retrying { reason, delay_ms } => {
                inner.heard.clear();
                let seconds = delay_ms.div_ceil(1_000);
                let line = Line::marked(Style::Warn, "… ")
                    .plain(first_line(&reason))
                    .point(Style::Dim)
                    .facts(Style::Dim, [format!("asking again in {seconds} s")]);
                inner.screen.print(&line);
            }
        }
        inner.show_status();
    }

    fn trouble(&self, what: &str) {
        self.lock().screen.print(&Line::marked(Style::Warn, "! ").plain(what));
    }
}

impl Teller for Terminal {
    fn cut_off(&self, _: TaskId, _: Option<&TaskResult>, _: &ErrorDetails) {
        let mut inner = self.lock();
        inner.now.clear();
        inner.screen.clear_status();
    }

    fn begin(&self, story: &[JournalRecord]) {
        self.lock().retell(story);
    }

    fn so_far(&self, story: &[JournalRecord]) {
        let mut inner = self.lock();
        inner.retell(story);
        inner.screen.print(&Line::new().dim("── so far; going on from here ──"));
    }

    fn can_ask(&self) -> bool {
        Keyboard::look().is_some()
    }

    fn remark(&self, text: &str) {
        self.lock().screen.print_whole(&Line::new().dim(text));
    }

    fn tick(&self, elapsed: Duration) {
        let mut inner = self.lock();
        inner.ticks += 1;
        inner.elapsed = elapsed;
        inner.show_status();
    }

    fn end(&self, result: &TaskResult) {
        let mut inner = self.lock();
        inner.now.clear();
        inner.screen.clear_status();
        // A pause is no end; and another process may have brought it to one before this one began.
        if result.status == TaskResultStatus::Paused || !inner.has_told_end {
            for line in finish(result) {
                inner.screen.print_whole(&line);
            }
        }
    }
}
