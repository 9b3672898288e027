//! How much a program may have its owner do in one launch. What it asks of models costs something, and bounds whatever follows from an answer;
//! for the rest there is more room here than any work takes, and an end.

use super::ending::End;

/// A program that says more than this in one launch says it to nobody.
const MOST_OBSERVED: u32 = 50_000;
/// A screen is for people: of what is told there for us, this is more than anybody asked for.
const MOST_TOLD: u32 = 5_000;
/// A program that asks leave for more than this after one answer of its model's asks for something else than what the model wants to do.
const MOST_QUESTIONS: u32 = 500;
/// Pieces of its output, whatever is in them: words as they come and what a command prints are many, and each costs a little.
const MOST_PIECES: u32 = 500_000;

#[derive(Debug, Default)]
pub struct Tally {
    observed: u32,
    told: u32,
    /// Both since it last asked a model.
    questions: u32,
    pieces: u32,
    /// The newest exchange with a model when it was last looked.
    newest: u64,
}

impl Tally {
    /// The number of something that is written down for it.
    pub fn observed(&mut self) -> Result<u32, End> {
        self.observed += 1;
        if self.observed > MOST_OBSERVED {
            return Err(End::Flood("it tells more than anybody could read"));
        }
        Ok(self.observed)
    }

    /// Something that is told on a screen, or by a tool beside it.
    pub fn told(&mut self) -> Result<(), End> {
        self.told += 1;
        if self.told > MOST_TOLD { Err(End::Flood("it tells more than anybody could read")) } else { Ok(()) }
    }

    /// Something that it asks leave for.
    pub fn question(&mut self, newest: u64) -> Result<(), End> {
        self.observed()?;
        self.catch_up(newest);
        self.questions += 1;
        match self.questions > MOST_QUESTIONS {
            true => Err(End::Flood("it asks for leave again and again, and asks no model in between")),
            false => Ok(()),
        }
    }

    /// A read of its output, or a frame in it.
    pub fn piece(&mut self, newest: u64) -> Result<(), End> {
        self.catch_up(newest);
        self.pieces += 1;
        match self.pieces > MOST_PIECES {
            true => Err(End::Flood("it talks without end, and asks no model in between")),
            false => Ok(()),
        }
    }

    const fn catch_up(&mut self, newest: u64) {
        if newest != self.newest {
            (self.newest, self.questions, self.pieces) = (newest, 0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_has_an_end_and_who_asks_its_model_may_go_on() {
        let mut tally = Tally::default();
        for _ in 0..MOST_PIECES {
            assert!(tally.piece(1).is_ok());
        }
        assert!(matches!(tally.piece(1), Err(End::Flood(_))));
        assert!(tally.piece(2).is_ok());
        for _ in 0..MOST_QUESTIONS {
            assert!(tally.question(2).is_ok());
        }
        assert!(matches!(tally.question(2), Err(End::Flood(_))));
        assert!(tally.question(3).is_ok());
    }

    /// What is written down stays, whatever it was paid with.
    #[test]
    fn what_is_written_down_is_counted_for_the_whole_launch() {
        let mut tally = Tally::default();
        assert!((0..MOST_OBSERVED).all(|_| tally.observed().is_ok()));
        assert!(tally.question(1).is_err() && tally.observed().is_err());
        assert!((0..MOST_TOLD).all(|_| tally.told().is_ok()));
        assert!(matches!(tally.told(), Err(End::Flood(_))));
    }
}
