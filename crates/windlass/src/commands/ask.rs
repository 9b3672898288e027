//! Asking a person at their terminal: the card, the question, and for a high risk once more. An answer that is given elsewhere
//! meanwhile, or time that runs out, ends the question; so does Ctrl-C, which leaves the task waiting.

use windlass_domain::TaskId;
use windlass_domain::approval::{ApprovalState, Card, CardId, Strength, Verdict};
use windlass_engine::{Asked, Error};

use super::answer::{Given, give};
use crate::interrupts::Interrupts;
use crate::keyboard::{Keyboard, Typed};
use crate::show::{Line, Screen, Style, card};
use crate::wiring::Windlass;

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// Here or elsewhere: the task can go on.
    Answered,
    /// The task waits for nothing that anybody could answer; it may have been answered a moment ago.
    NothingToAsk,
    Later,
}

/// Why a question has no answer here.
#[derive(Debug)]
pub enum Unanswered {
    /// The card is not open any more, and this has been said.
    Over,
    /// Whoever was asked does not answer now.
    Leaves,
    Failed(Error),
}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Asks for what a task waits for, the oldest first.
pub async fn ask(windlass: &Windlass, task: TaskId, interrupts: &mut Interrupts) -> Result<Asking, Error> {
    let Some(keyboard) = Keyboard::look() else { return Ok(Asking::Later) };
    let cards = windlass.engine.cards().await?;
    let Some(asked) = cards.into_iter().find(|asked| asked.task == task) else { return Ok(Asking::NothingToAsk) };
    let mut question = Question { windlass, keyboard, card: asked.card.card_id, interrupts };
    match question.put(&asked).await {
        Ok(()) | Err(Unanswered::Over) => Ok(Asking::Answered),
        Err(Unanswered::Leaves) => Ok(Asking::Later),
        Err(Unanswered::Failed(error)) => Err(error),
    }
}

/// A question that somebody is asked here.
pub struct Question<'a> {
    pub windlass: &'a Windlass,
    pub keyboard: Keyboard,
    pub card: CardId,
    pub interrupts: &'a mut Interrupts,
}

impl Question<'_> {
    async fn put(&mut self, asked: &Asked) -> Result<(), Unanswered> {
        self.show(asked);
        let given = loop {
            if let Some(given) = self.choose(&asked.card).await? {
                break given;
            }
        };
        match give(self.windlass, self.card, given).await {
            // Somebody was faster, or the time ran out in this very moment.
            Err(Error::Card(rejected)) => {
                tell(&rejected.to_string());
                Err(Unanswered::Over)
            }
            given => Ok(given.map(drop)?),
        }
    }

    pub fn show(&self, asked: &Asked) {
        let mut screen = Screen::new();
        screen.print(&Line::new());
        card(asked, self.windlass.runtime.wall()).iter().for_each(|line| screen.print_whole(line));
        screen.print(&Line::new());
        self.keyboard.forget();
    }

    /// None: that was no choice yet.
    async fn choose(&mut self, card: &Card) -> Result<Option<Given>, Unanswered> {
        let line = self.line("[a]pprove  [d]eny  [e]dit  [l]ater:").await?;
        let (word, note) = line.split_once(' ').unwrap_or((&line, ""));
        let note = note.trim().to_owned();
        let given =
            |verdict, approval_strength, note| Given { verdict, approval_strength, conditions: Vec::new(), note };
        Ok(match word {
            "a" | "approve" => self.confirm(card).await?.map(|strength| given(Verdict::Approved, strength, note)),
            "d" | "deny" => Some(given(Verdict::Declined, Strength::Explicit, note)),
            "e" | "edit" => {
                let note = if note.is_empty() { self.line("what should be done differently:").await? } else { note };
                (!note.is_empty()).then(|| given(Verdict::EditRequested, Strength::Explicit, note))
            }
            "l" | "later" => return Err(Unanswered::Leaves),
            _ => {
                tell("type a, d, e or l; what you write behind it is told to the agent, as in: d not this file");
                None
            }
        })
    }

    /// The second step of a card that wants one: how strong a yes is now. None: it was not meant.
    pub async fn confirm(&mut self, card: &Card) -> Result<Option<Strength>, Unanswered> {
        if card.risk_level.least_strength() < Strength::Confirmed {
            return Ok(Some(Strength::Explicit));
        }
        let short = card.card_id.short();
        // What was typed before this question stood is no answer to it.
        self.keyboard.forget();
        let line = self.line(&format!("do you mean it? type {short} or yes:")).await?;
        let confirmed = line == "yes" || line == short;
        if !confirmed {
            tell("not approved");
        }
        Ok(confirmed.then_some(Strength::Confirmed))
    }

    async fn line(&mut self, question: &str) -> Result<String, Unanswered> {
        Screen::new().prompt(&Line::new().add(Style::Accent, question));
        loop {
            let typed = tokio::select! {
                () = self.interrupts.next() => Typed::Gone,
                typed = self.keyboard.listen(self.windlass.runtime.as_ref()) => typed,
            };
            match typed {
                Typed::Line(line) => return Ok(line),
                Typed::Gone => {
                    tell("");
                    return Err(Unanswered::Leaves);
                }
                Typed::Nothing => {
                    if let Some(why) = why_closed(self.windlass, self.card).await? {
                        tell("");
                        tell(why);
                        return Err(Unanswered::Over);
                    }
                }
            }
        }
    }
}

/// Nothing while the card is open.
pub async fn why_closed(windlass: &Windlass, card: CardId) -> Result<Option<&'static str>, Error> {
    let (state, _) = windlass.engine.card(card).await?;
    Ok(match state {
        ApprovalState::Requested { card } if windlass.runtime.wall() < card.expires_at => None,
        ApprovalState::Requested { .. } | ApprovalState::Expired { .. } => Some("the card has expired"),
        ApprovalState::Withdrawn { .. } => Some("the run has ended elsewhere"),
        ApprovalState::Absent => Some("there is no such card"),
        ApprovalState::Decided { .. } | ApprovalState::Refused { .. } | ApprovalState::Issued { .. } => {
            Some("answered elsewhere")
        }
    })
}

fn tell(words: &str) {
    Screen::new().print_whole(&Line::new().dim(words));
}
