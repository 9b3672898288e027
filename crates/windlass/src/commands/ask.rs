//! Asking a person at their terminal what a task waits for, the oldest first. For a card: the card itself, the question, and for a
//! high risk once more.

use windlass_domain::approval::{Card, Strength, Verdict};
use windlass_domain::{Awaited, TaskId, Wall};
use windlass_engine::{Asked, Error, OpenQuestion};

use super::answer::{Given, give};
use super::ask_question::put_question;
use super::dialogue::{Dialogue, Unanswered, tell};
use crate::interrupts::Interrupts;
use crate::keyboard::Keyboard;
use crate::show::card;
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

/// What a task, or one who works for it, asks.
pub enum Open {
    Card(Box<Asked>),
    Question(Box<OpenQuestion>),
}

impl Open {
    pub fn about(&self) -> Awaited {
        match self {
            Self::Card(asked) => Awaited::Card(asked.card.card_id),
            Self::Question(open) => Awaited::Question(open.asked.request_id),
        }
    }

    fn at(&self) -> Wall {
        match self {
            Self::Card(asked) => asked.at,
            Self::Question(open) => open.at,
        }
    }
}

pub async fn ask(windlass: &Windlass, task: TaskId, interrupts: &mut Interrupts) -> Result<Asking, Error> {
    match oldest(windlass, task, &[]).await? {
        Some(open) => put(windlass, &open, interrupts).await,
        None => Ok(Asking::NothingToAsk),
    }
}

/// What is asked, and was not put off.
pub async fn oldest(windlass: &Windlass, task: TaskId, later: &[Awaited]) -> Result<Option<Open>, Error> {
    let cards = windlass.engine.cards().await?.into_iter().map(|asked| (asked.task, Open::Card(Box::new(asked))));
    let questions = windlass.engine.questions().await?.into_iter();
    let questions = questions.map(|open| (open.asked.task_id, Open::Question(Box::new(open))));
    let mut asked: Vec<(TaskId, Open)> =
        cards.chain(questions).filter(|(_, open)| !later.contains(&open.about())).collect();
    if asked.is_empty() {
        return Ok(None);
    }
    // Those who work for it ask for themselves.
    let members = windlass.engine.members(task).await?;
    asked.retain(|(who, _)| members.contains(who));
    asked.sort_by_key(|(_, open)| open.at());
    Ok(asked.into_iter().next().map(|(_, open)| open))
}

pub async fn put(windlass: &Windlass, open: &Open, interrupts: &mut Interrupts) -> Result<Asking, Error> {
    let Some(keyboard) = Keyboard::look() else { return Ok(Asking::Later) };
    let mut dialogue = Dialogue { windlass, keyboard, about: open.about(), interrupts };
    let put = match open {
        Open::Card(asked) => put_card(&mut dialogue, asked).await,
        Open::Question(open) => put_question(&mut dialogue, open).await,
    };
    match put {
        Ok(()) | Err(Unanswered::Over) => Ok(Asking::Answered),
        Err(Unanswered::Leaves) => Ok(Asking::Later),
        Err(Unanswered::Failed(error)) => Err(error),
    }
}

async fn put_card(dialogue: &mut Dialogue<'_>, asked: &Asked) -> Result<(), Unanswered> {
    dialogue.show(&card(asked, dialogue.windlass.runtime.wall()));
    let given = loop {
        if let Some(given) = choose(dialogue, &asked.card).await? {
            break given;
        }
    };
    match give(dialogue.windlass, asked.card.card_id, given).await {
        // Somebody was faster, or the time ran out in this very moment.
        Err(Error::Card(rejected)) => {
            tell(&rejected.to_string());
            Err(Unanswered::Over)
        }
        given => Ok(given.map(drop)?),
    }
}

/// None: that was no choice yet.
async fn choose(dialogue: &mut Dialogue<'_>, card: &Card) -> Result<Option<Given>, Unanswered> {
    let line = dialogue.line("[a]pprove  [d]eny  [e]dit  [l]ater:").await?;
    let (word, note) = line.split_once(' ').unwrap_or((&line, ""));
    let note = note.trim().to_owned();
    let given = |verdict, approval_strength, note| Given { verdict, approval_strength, conditions: Vec::new(), note };
    Ok(match word {
        "a" | "approve" => confirm(dialogue, card).await?.map(|strength| given(Verdict::Approved, strength, note)),
        "d" | "deny" => Some(given(Verdict::Declined, Strength::Explicit, note)),
        "e" | "edit" => {
            let note = if note.is_empty() { dialogue.line("what should be done differently:").await? } else { note };
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
pub async fn confirm(dialogue: &mut Dialogue<'_>, card: &Card) -> Result<Option<Strength>, Unanswered> {
    if card.risk_level.least_strength() < Strength::Confirmed {
        return Ok(Some(Strength::Explicit));
    }
    let short = card.card_id.short();
    // What was typed before this question stood is no answer to it.
    dialogue.keyboard.forget();
    let line = dialogue.line(&format!("do you mean it? type {short} or yes:")).await?;
    let confirmed = line == "yes" || line == short;
    if !confirmed {
        tell("not approved");
    }
    Ok(confirmed.then_some(Strength::Confirmed))
}
