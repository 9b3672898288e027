//! The script as a provider in the process. It needs no network and no Tokio, only the runtime's clock, so that the
//! simulator can run it; answers go through the same assembling, retrying and accounting as a real model's.

use std::sync::Arc;
use std::time::Duration;

use regex::Regex;
use windlass_domain::Message;

use crate::answer::Piece;
use crate::chat::{Ask, Chat, Opening, Provider, Setup};
use crate::conversation::{Backend, Conversation, More, PieceStream};
use crate::error::{Error, Failure};
use crate::gallery::Picture;
use crate::rehearsal::choose::{Choice, Circumstances};
use crate::rehearsal::script::{HowItFails, Track};
use crate::rehearsal::{Script, play};
use crate::text::presentable;
use crate::tokens;
use crate::watchdog::Watchdog;
use crate::wire::{Asker, Fault, object_arguments};

pub struct Rehearsal {
    script: Arc<Script>,
    setup: Setup,
}

impl Rehearsal {
    pub const fn new(script: Arc<Script>, setup: Setup) -> Self {
        Self { script, setup }
    }
}

impl Provider for Rehearsal {
    fn open(&self, opening: Opening<'_>) -> Box<dyn Chat> {
        let names = [opening.agent, opening.role.as_str()];
        let found = self.script.track(&names);
        let mut heard = Heard { keeps_text: found.is_some_and(|(_, track)| track.reads_requests), ..Heard::default() };
        heard.add(opening.system);
        let backend = Stage {
            track: found.map_or(opening.role.as_str(), |(name, _)| name).to_owned(),
            script: self.script.clone(),
            model: opening.model.to_owned(),
            setup: self.setup.clone(),
            heard,
        };
        Box::new(Conversation::new(backend, self.setup.clone(), &opening))
    }
}

/// One conversation with the script.
struct Stage {
    script: Arc<Script>,
    track: String,
    model: String,
    setup: Setup,
    heard: Heard,
}

/// The request as a script can see it: its text, its newest tool result, its length.
#[derive(Default)]
struct Heard {
    keeps_text: bool,
    text: String,
    last_result: Option<String>,
    tokens: u64,
}

impl Heard {
    fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.tokens += tokens::estimate(text);
        if self.keeps_text {
            self.text.push_str(text);
            self.text.push('\n');
        }
    }

    fn push(&mut self, message: &Message) {
        match message {
            Message::User { text, .. } => self.add(text),
            Message::Assistant { text, calls, .. } => {
                self.add(text);
                calls.iter().for_each(|call| self.add(&object_arguments(call)));
            }
            Message::Tool(result) => {
                self.add(&result.content);
                self.last_result = Some(result.content.clone());
            }
        }
    }
}

impl Circumstances for Heard {
    fn request_matches(&self, pattern: &Regex) -> bool {
        pattern.is_match(&self.text)
    }

    fn last_result_matches(&self, pattern: &Regex) -> bool {
        self.last_result.as_ref().is_some_and(|result| pattern.is_match(result))
    }
}

impl Stage {
    fn off_script(&self, turn: u32, detail: &str) -> Failure {
        Error::OffScript { track: self.track.clone(), turn, detail: detail.to_owned() }.into()
    }

    fn track(&self, turn: u32) -> Result<&Track, Failure> {
        let no_track = || self.off_script(turn, "it has no such track, and no `default`");
        self.script.track(&[&self.track]).map(|(_, track)| track).ok_or_else(no_track)
    }

    /// As long as a real server would have been waited for.
    async fn pause(&self, delay: Duration) -> Result<(), Failure> {
        if delay.is_zero() {
            return Ok(());
        }
        let Setup { runtime, deadlines, .. } = &self.setup;
        let sleep = runtime.sleep(delay);
        let paused = Watchdog::new(runtime.clone()).guard(runtime.now() + deadlines.first_byte, sleep).await;
        paused.map_err(|_| Failure::too_late("did not begin to answer", deadlines.first_byte))
    }
}

impl Backend for Stage {
    type Stream = Playback;

    fn push(&mut self, message: &Message, _: &[Picture]) {
        self.heard.push(message);
    }

    async fn request(&self, ask: Ask, attempt: u32) -> Result<Playback, Failure> {
        let turn = ask.answered;
        let (delay, result) = match self.track(turn)?.choose(turn, attempt, &self.heard) {
            Choice::OffTheEnd => return Err(self.off_script(turn, "the script ends before it")),
            Choice::Line(line) => (line.delay, Ok(Playback::whole(play::pieces(line, turn, || self.heard.tokens)))),
            Choice::Fault(fault, line) => match &fault.how {
                HowItFails::Cut { after } => (fault.delay, Ok(Playback::cut(play::cut(line, turn, *after)))),
                HowItFails::Status { status, message, retry_after } => {
                    let message = presentable(message, None);
                    let fault_told = Fault { status: *status, message, retry_after: *retry_after, ..Fault::default() };
                    let asker = Asker { model: &self.model, url: "the rehearsal", key_variable: "a key" };
                    (fault.delay, Err(fault_told.into_failure(asker)))
                }
            },
        };
        self.pause(delay).await?;
        result
    }
}

struct Playback {
    pieces: std::vec::IntoIter<Piece>,
    is_cut: bool,
}

impl Playback {
    fn whole(pieces: Vec<Piece>) -> Self {
        Self { pieces: pieces.into_iter(), is_cut: false }
    }

    fn cut(pieces: Vec<Piece>) -> Self {
        Self { pieces: pieces.into_iter(), is_cut: true }
    }
}

impl PieceStream for Playback {
    async fn next(&mut self, pieces: &mut Vec<Piece>) -> Result<More, Failure> {
        match self.pieces.next() {
            Some(piece) => {
                pieces.push(piece);
                Ok(More::Yes)
            }
            None if self.is_cut => Err(Failure::transient("the connection was cut in the middle of the answer")),
            None => Ok(More::No),
        }
    }
}
