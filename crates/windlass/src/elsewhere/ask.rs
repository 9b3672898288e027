//! Asking whoever sits at this terminal what a task of a server's waits for, the oldest first, as a run on this machine does. An answer
//! that is given elsewhere meanwhile ends the question; so does Ctrl-C, which leaves the task waiting.

use serde::Deserialize;
use windlass_api::client::Error;
use windlass_domain::TaskId;

use super::far::Far;
use crate::arguments::{Approve, Deny, Edit, Output, Send};
use crate::commands::{Errand, Rest, chosen, tell};
use crate::interrupts::Interrupts;
use crate::keyboard::{Keyboard, Typed};
use crate::show::{Line, Screen, Style};

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// Here or elsewhere: the task can go on.
    Answered,
    Later,
}

/// What the server says of it besides what is shown.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "about")]
pub enum Open {
    Card { id: String, short: String, wants_second_step: bool },
    Question { id: String, task_id: TaskId, options: Vec<String> },
}

/// It was not answered here, and this has been said.
enum Unanswered {
    Over,
    Leaves,
    Failed(Error),
}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

struct Dialogue<'a> {
    far: &'a Far,
    task: TaskId,
    keyboard: Keyboard,
    interrupts: &'a mut Interrupts,
}

pub async fn ask(far: &Far, task: TaskId, interrupts: &mut Interrupts) -> Result<Asking, Error> {
    let Some(keyboard) = Keyboard::look() else { return Ok(Asking::Later) };
    let (shown, open) = far.shown_with::<Open>(Errand::Asked(task)).await?;
    let Some(open) = open else { return Ok(Asking::Later) };
    shown.show();
    keyboard.forget();
    let mut dialogue = Dialogue { far, task, keyboard, interrupts };
    match dialogue.put(&open).await {
        Ok(()) | Err(Unanswered::Over) => Ok(Asking::Answered),
        Err(Unanswered::Leaves) => Ok(Asking::Later),
        // Somebody was faster, or the time ran out in this very moment.
        Err(Unanswered::Failed(Error::Refused(problem))) if matches!(problem.status, 404 | 409 | 422) => {
            tell(&problem.detail);
            Ok(Asking::Answered)
        }
        Err(Unanswered::Failed(error)) => Err(error),
    }
}

impl Dialogue<'_> {
    async fn put(&mut self, open: &Open) -> Result<(), Unanswered> {
        let errand = match open {
            Open::Card { id, short, wants_second_step } => loop {
                if let Some(errand) = self.choose(id, short, *wants_second_step).await? {
                    break errand;
                }
            },
            Open::Question { id, task_id, options } => self.answer(id, *task_id, options).await?,
        };
        Ok(self.far.asked(errand).await.map(drop)?)
    }

    /// None: that was no choice yet.
    async fn choose(&mut self, id: &str, short: &str, wants_second_step: bool) -> Result<Option<Errand>, Unanswered> {
        let line = self.line("[a]pprove  [d]eny  [e]dit  [l]ater:").await?;
        let (word, note) = line.split_once(' ').unwrap_or((&line, ""));
        let (card, note, output) = (id.to_owned(), note.trim().to_owned(), Output { json: true });
        Ok(match word {
            "a" | "approve" => {
                let yes = !wants_second_step || self.means_it(short).await?;
                yes.then(|| Errand::Approve(Approve { card, note, conditions: Vec::new(), yes: true, output }))
            }
            "d" | "deny" => Some(Errand::Deny(Deny { card, note, output })),
            "e" | "edit" => {
                let note = if note.is_empty() { self.line("what should be done differently:").await? } else { note };
                (!note.is_empty()).then_some(Errand::Edit(Edit { card, note, output }))
            }
            "l" | "later" => return Err(Unanswered::Leaves),
            _ => {
                tell("type a, d, e or l; what you write behind it is told to the agent, as in: d not this file");
                None
            }
        })
    }

    async fn means_it(&mut self, short: &str) -> Result<bool, Unanswered> {
        // What was typed before this question stood is no answer to it.
        self.keyboard.forget();
        let line = self.line(&format!("do you mean it? type {short} or yes:")).await?;
        let is_meant = line == "yes" || line == short;
        if !is_meant {
            tell("not approved");
        }
        Ok(is_meant)
    }

    async fn answer(&mut self, id: &str, task: TaskId, options: &[String]) -> Result<Errand, Unanswered> {
        let prompt = match options.is_empty() {
            true => "your answer (Ctrl-C: later):",
            false => "a number, or your own answer (Ctrl-C: later):",
        };
        let text = loop {
            let line = self.line(prompt).await?;
            match chosen(options, &line) {
                "" => tell("type an answer; Ctrl-C leaves the question for later"),
                answer => break answer.to_owned(),
            }
        };
        let (message, question, output) = (Some(text), Some(id.to_owned()), Output { json: true });
        Ok(Errand::Send(Send { task: task.to_string(), message, question, kind: None, list: false, output }))
    }

    async fn line(&mut self, question: &str) -> Result<String, Unanswered> {
        Screen::new().prompt(&Line::new().add(Style::Accent, question));
        loop {
            let typed = tokio::select! {
                () = self.interrupts.next() => Typed::Gone,
                typed = self.keyboard.listen(self.far.runtime.as_ref()) => typed,
            };
            match typed {
                Typed::Line(line) => return Ok(line),
                Typed::Gone => {
                    tell("");
                    return Err(Unanswered::Leaves);
                }
                Typed::Nothing => {
                    if self.far.answer::<Option<Rest>>(Errand::Rest(self.task)).await?.is_none() {
                        tell("");
                        tell("answered elsewhere");
                        return Err(Unanswered::Over);
                    }
                }
            }
        }
    }
}
