//! The bill of an answer that goes to somebody else, read from the answer itself. What cannot be read is passed on all the
//! same, and estimated.

use std::collections::BTreeSet;

use windlass_domain::{Secret, Usage};

use crate::answer::{Assembler, Piece, bill};
use crate::chat::Metering;
use crate::dialect::Dialect;
use crate::gateway::Outcome;
use crate::text::presentable;
use crate::wire::{Hear, Trouble, reader_of};

pub struct Listener {
    reader: Box<dyn Hear>,
    heard: Assembler,
    pieces: Vec<Piece>,
    trouble: Option<String>,
    /// What is charged if nothing is heard.
    assumed: Usage,
    /// What is told to nobody.
    key: Option<Secret>,
}

impl Listener {
    pub fn new(dialect: Dialect, assumed: Usage, key: Option<Secret>) -> Self {
        Self {
            reader: reader_of(dialect),
            heard: Assembler::default(),
            pieces: Vec::new(),
            trouble: None,
            assumed,
            key,
        }
    }

    pub fn hear(&mut self, portion: &[u8]) {
        if self.trouble.is_none() {
            let read = self.reader.take(portion, &mut self.pieces);
            self.digest(read);
        }
    }

    pub fn end(&mut self) {
        if self.trouble.is_none() {
            let read = self.reader.end(&mut self.pieces);
            self.digest(read);
        }
    }

    fn digest(&mut self, read: Result<(), Trouble>) {
        for piece in self.pieces.drain(..) {
            if self.heard.take(piece, &mut |_| {}).is_err() {
                self.trouble = Some("the answer is too long to be read".to_owned());
            }
        }
        if let Err(trouble) = read {
            self.trouble.get_or_insert(match trouble {
                Trouble::Fault(fault) => presentable(&fault.message, self.key.as_ref()),
                Trouble::Garbled(problem) => {
                    format!("the answer is garbled ({})", presentable(&problem, self.key.as_ref()))
                }
                Trouble::NotAnAnswer(instead) => instead.to_owned(),
                Trouble::TooLong { .. } => "the answer is too long to be read".to_owned(),
            });
        }
    }

    /// The server has said that this was all.
    pub const fn is_done(&self) -> bool {
        self.heard.is_done()
    }

    /// What is known or thought to have been used by now. What was sent has been read, even where nothing came of it.
    pub fn spent(&self) -> Usage {
        let spent = self.heard.spent(self.assumed.input);
        if spent.is_zero() { self.assumed } else { spent }
    }

    /// The answer has ended, properly as far as HTTP goes.
    pub fn settle(self) -> (Usage, Metering, Outcome) {
        let (spent, output) = (self.spent(), self.heard.estimated_output());
        match (self.trouble, self.heard.finish(0, &BTreeSet::new())) {
            (None, Ok(answer)) => {
                let (usage, metering) = bill(answer.usage.unwrap_or_default(), self.assumed.input, output);
                (usage, metering, Outcome::Answered)
            }
            (None, Err(_)) => {
                let reason = "the answer ended in the middle".to_owned();
                (spent, Metering::Estimated, Outcome::Failed { reason })
            }
            (Some(reason), _) => (spent, Metering::Estimated, Outcome::Failed { reason }),
        }
    }
}
