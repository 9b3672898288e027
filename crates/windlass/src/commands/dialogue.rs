//! Asking at a terminal, a line at a time. An answer that is given elsewhere meanwhile, or time that runs out, ends the question;
//! so does Ctrl-C, which leaves the task waiting.

use windlass_domain::approval::{ApprovalState, CardId};
use windlass_domain::{Awaited, QuestionState, RequestId, Runtime};
use windlass_engine::Error;

use crate::interrupts::Interrupts;
use crate::keyboard::{Keyboard, Typed};
use crate::show::{Line, Screen, Style};
use crate::wiring::Windlass;

/// A question that somebody is asked here.
pub struct Dialogue<'a> {
    pub windlass: &'a Windlass,
    pub keyboard: Keyboard,
    pub about: Awaited,
    pub interrupts: &'a mut Interrupts,
}

/// Why a question has no answer here.
#[derive(Debug)]
pub enum Unanswered {
    /// It is not open any more, and this has been said.
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

impl Dialogue<'_> {
    pub fn show(&self, lines: &[Line]) {
        let mut screen = Screen::new();
        screen.print(&Line::new());
        lines.iter().for_each(|line| screen.print_whole(line));
        screen.print(&Line::new());
        self.keyboard.forget();
    }

    pub async fn line(&mut self, question: &str) -> Result<String, Unanswered> {
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
                    if let Some(why) = why_closed(self.windlass, self.about).await? {
                        tell("");
                        tell(why);
                        return Err(Unanswered::Over);
                    }
                }
            }
        }
    }
}

/// What somebody who sits here types; nothing where they leave.
pub async fn one_line(runtime: &dyn Runtime, keyboard: Keyboard, question: &str) -> anyhow::Result<Option<String>> {
    // Before it is asked: whoever sees the question may answer at once.
    keyboard.forget();
    Screen::new().prompt(&Line::new().add(Style::Accent, question));
    let mut interrupts = Interrupts::new()?;
    loop {
        let typed = tokio::select! {
            () = interrupts.next() => Typed::Gone,
            typed = keyboard.listen(runtime) => typed,
        };
        match typed {
            Typed::Line(line) => return Ok(Some(line)),
            Typed::Gone => return Ok(None),
            Typed::Nothing => {}
        }
    }
}

/// Nothing while it is open.
pub async fn why_closed(windlass: &Windlass, about: Awaited) -> Result<Option<&'static str>, Error> {
    match about {
        Awaited::Card(card) => why_card_closed(windlass, card).await,
        Awaited::Question(question) => why_question_closed(windlass, question).await,
        // Nobody is asked about it.
        Awaited::Research(_) | Awaited::Monitor(_) => Ok(None),
    }
}

const ELSEWHERE: &str = "answered elsewhere";
const ENDED: &str = "the run has ended elsewhere";

async fn why_card_closed(windlass: &Windlass, card: CardId) -> Result<Option<&'static str>, Error> {
    let (state, _) = windlass.engine.card(card).await?;
    Ok(match state {
        ApprovalState::Requested { card } if windlass.runtime.wall() < card.expires_at => None,
        ApprovalState::Requested { .. } | ApprovalState::Expired { .. } => Some("the card has expired"),
        ApprovalState::Withdrawn { .. } => Some(ENDED),
        ApprovalState::Absent => Some("there is no such card"),
        ApprovalState::Decided { .. } | ApprovalState::Refused { .. } | ApprovalState::Issued { .. } => Some(ELSEWHERE),
    })
}

async fn why_question_closed(windlass: &Windlass, question: RequestId) -> Result<Option<&'static str>, Error> {
    Ok(match windlass.engine.question(question).await? {
        QuestionState::Open(_) => None,
        QuestionState::Answered(_) => Some(ELSEWHERE),
        QuestionState::Withdrawn(_) => Some(ENDED),
        QuestionState::Absent => Some("there is no such question"),
    })
}

pub fn tell(words: &str) {
    Screen::new().print_whole(&Line::new().dim(words));
}
