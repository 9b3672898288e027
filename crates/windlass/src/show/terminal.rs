//! A running task on a terminal: each step in a line, and below them what is going on right now.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windlass_domain::execution::{ExecutionEvent, Lifecycle};
use windlass_domain::task::TaskEvent;
use windlass_domain::{Delta, ErrorDetails, ExecutionId, TaskId, TaskResult, TaskResultStatus, Usage, Usd, Wall};
use windlass_engine::{JournalRecord, Watcher};
use windlass_policy::visible_line;

use super::line::{Line, first_line};
use super::narrate::{Narrator, Speaker, counted, finish, money};
use super::screen::{KEPT_FREE, Screen};
use super::style::{Paint, Style};
use super::teller::{Hush, Teller};
use super::wrap::{shortened, shortened_to_end, width_of};
use crate::keyboard::Keyboard;

const SPINNER: [&str; 4] = ["◐", "◓", "◑", "◒"];

pub struct Terminal {
    inner: Mutex<Inner>,
}

struct Inner {
    screen: Screen,
    narrator: Narrator,
    /// What is going on, by who does it; the task itself has no name.
    at_work: BTreeMap<String, Doing>,
    tokens: Usage,
    /// None once an answer's price was not known.
    cost: Option<Usd>,
    ticks: usize,
    elapsed: Duration,
    has_told_end: bool,
    /// Somebody is asked below, and what goes on is not shown over that.
    is_hushed: bool,
}

/// What one of them does.
#[derive(Default)]
struct Doing {
    /// In a few words.
    now: String,
    /// The answer as it comes in.
    heard: String,
}

impl Doing {
    /// Keeps the last line of what is being said.
    fn hear(&mut self, text: &str) {
        const KEPT: usize = 200;
        self.heard.push_str(text);
        let last = self.heard.trim_end().lines().last().unwrap_or_default();
        let skipped = last.chars().count().saturating_sub(KEPT);
        self.heard = last.chars().skip(skipped).collect();
    }
}

impl Terminal {
    pub fn new() -> Self {
        let inner = Inner {
            screen: Screen::live(),
            narrator: Narrator::default(),
            at_work: BTreeMap::new(),
            tokens: Usage::default(),
            cost: Some(Usd::ZERO),
            ticks: 0,
            elapsed: Duration::ZERO,
            has_told_end: false,
            is_hushed: false,
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
            let lines = self.take(record);
            lines.iter().for_each(|line| self.screen.print(line));
        }
        self.at_work.clear();
    }

    /// What is said of a record, and what goes on after it.
    fn take(&mut self, record: &JournalRecord) -> Vec<Line> {
        if let JournalRecord::Execution { execution, event, .. } = record {
            self.follow(*execution, event);
        }
        let lines = self.narrator.tell(record);
        if let JournalRecord::Task { task, event, .. } = record {
            let part = self.narrator.part(*task).map(ToOwned::to_owned);
            self.follow_task(part.as_deref(), event);
        }
        lines
    }

    /// Whoever rests does nothing; and where the whole rests nobody does.
    fn follow_task(&mut self, part: Option<&str>, event: &TaskEvent) {
        let rests = matches!(
            event,
            TaskEvent::Finished(_)
                | TaskEvent::Changed(_)
                | TaskEvent::AttemptWaiting(_)
                | TaskEvent::ConsultAsked(_)
                | TaskEvent::HelpAsked(_)
        );
        match part {
            _ if !rests => {}
            Some(name) => drop(self.at_work.remove(name)),
            None => {
                self.at_work.clear();
                self.screen.clear_status();
            }
        }
        self.has_told_end |= part.is_none() && matches!(event, TaskEvent::Finished(_));
    }

    fn follow(&mut self, execution: ExecutionId, event: &ExecutionEvent) {
        let (speaker, name) = self.narrator.speaker(execution);
        let name = name.to_owned();
        let now = match event {
            ExecutionEvent::ModelRequested(request) => {
                if request.purpose.is_turn() { "thinking" } else { "summarising" }.to_owned()
            }
            ExecutionEvent::ModelResponded(response) => {
                self.tokens += response.usage;
                self.cost = self.cost.zip(response.cost).map(|(sum, cost)| sum.plus(cost));
                return;
            }
            ExecutionEvent::ToolStarted(started) => {
                format!("running {}", self.narrator.call(execution, &started.call_id).unwrap_or(&started.tool))
            }
            ExecutionEvent::StateChanged(change) if change.to.is_over() => {
                // An attempt that says it is done is judged; whoever was spawned is not.
                match (change.to, speaker) {
                    (Lifecycle::Completed, Speaker::Task | Speaker::Part) => "checking".to_owned(),
                    _ => return drop(self.at_work.remove(&name)),
                }
            }
            _ => return,
        };
        self.at_work.insert(name, Doing { now, heard: String::new() });
    }

    fn show_status(&mut self) {
        if self.at_work.is_empty() || self.is_hushed {
            return self.screen.clear_status();
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
        let line = Line::new().add(Style::Accent, format!("{spinner} ")).dim(facts);
        let line = self.with_work(line);
        self.screen.status(&line);
    }

    /// One is quoted as it speaks; of several it is said what each does, as far as there is room for all.
    fn with_work(&self, line: Line) -> Line {
        let mut at_work = self.at_work.iter();
        if let (Some((name, doing)), 1) = (at_work.next(), self.at_work.len()) {
            let before = if name.is_empty() { line } else { line.dim(format!("{name} ")) };
            let line = before.plain(&doing.now);
            let words = if doing.heard.is_empty() { String::new() } else { self.newest_words(&line, &doing.heard) };
            return if words.is_empty() { line } else { line.dim(format!("  {words}")) };
        }
        let room = self.room_behind(&line) / self.at_work.len();
        self.at_work.iter().enumerate().fold(line, |line, (index, (name, doing))| {
            let line = if index > 0 { line.dim(" · ") } else { line };
            let now = shortened(&doing.now, room.saturating_sub(width_of(name) + " · ".len()));
            line.dim(format!("{name} ")).plain(now)
        })
    }

    /// As much of the end of what is being said as there is room for.
    fn newest_words(&self, before: &Line, heard: &str) -> String {
        shortened_to_end(&visible_line(heard), self.room_behind(before).saturating_sub("  ".len()))
    }

    fn room_behind(&self, line: &Line) -> usize {
        let width = self.screen.width().unwrap_or(usize::MAX);
        width.saturating_sub(width_of(&line.cut(Paint::Plain, None)) + KEPT_FREE)
    }
}

impl Watcher for Terminal {
    fn task(&self, _: TaskId, event: &TaskEvent, _: Wall) {
        let mut inner = self.lock();
        inner.follow_task(None, event);
        let lines = inner.narrator.tell_task(event);
        inner.print(&lines);
    }

    fn execution(&self, execution: ExecutionId, event: &ExecutionEvent, _: Wall) {
        let mut inner = self.lock();
        inner.follow(execution, event);
        let lines = inner.narrator.tell_execution(execution, event);
        inner.print(&lines);
    }

    fn delta(&self, execution: ExecutionId, delta: Delta) {
        let mut inner = self.lock();
        let name = inner.narrator.speaker(execution).1.to_owned();
        match delta {
            Delta::Text(text) | Delta::Reasoning(text) | Delta::ToolOutput { text, .. } => {
                if let Some(doing) = inner.at_work.get_mut(&name) {
                    doing.hear(&text);
                }
            }
            Delta::Retrying { reason, delay_ms } => {
                if let Some(doing) = inner.at_work.get_mut(&name) {
                    doing.heard.clear();
                }
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
        inner.at_work.clear();
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

    fn tell(&self, record: &JournalRecord) {
        let mut inner = self.lock();
        let lines = inner.take(record);
        inner.print(&lines);
    }

    fn can_ask(&self) -> bool {
        Keyboard::look().is_some()
    }

    fn remark(&self, text: &str) {
        self.lock().screen.print_whole(&Line::new().dim(text));
    }

    fn hush(&self, hush: Hush) {
        let mut inner = self.lock();
        inner.is_hushed = hush == Hush::WhileAsked;
        inner.show_status();
    }

    fn tick(&self, elapsed: Duration) {
        let mut inner = self.lock();
        inner.ticks += 1;
        inner.elapsed = elapsed;
        inner.show_status();
    }

    fn end(&self, result: &TaskResult) {
        let mut inner = self.lock();
        inner.at_work.clear();
        inner.screen.clear_status();
        // A pause is no end; and another process may have brought it to one before this one began.
        if result.status == TaskResultStatus::Paused || !inner.has_told_end {
            for line in finish(result) {
                inner.screen.print_whole(&line);
            }
        }
    }
}
