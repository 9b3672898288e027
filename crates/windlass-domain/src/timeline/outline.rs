//! Where the turns of a long journal stand in it, so that a page of them is told from its own records and few others. A turn is told in
//! pieces of so many steps: the first has what was asked, and each knows the records that it is made of, among them those that came late,
//! such as the result of a call that others were made after. Put together, the pieces are the timeline.

use std::collections::BTreeMap;

use super::{Elsewhere, Ending, Step, Timeline, Turn};
use crate::Seq;
use crate::execution::{Carrier, ExecutionEvent};
use crate::message::CallId;
use crate::time::Wall;

/// About what an entry takes in memory beside its words.
const ROW: usize = 64;

/// A journal's turns without what was said in them.
pub struct Outline {
    /// Without steps, and without what was asked.
    timeline: Timeline,
    pieces: Vec<Standing>,
    /// In which piece each call is told.
    calls: BTreeMap<CallId, u32>,
    /// So many steps are in a piece; a record that brings several is not taken apart.
    most: usize,
    /// As many as there are in the last one.
    steps: usize,
    /// What the calls weigh.
    calls_weight: usize,
    head: Seq,
}

struct Standing {
    /// From 0.
    turn: usize,
    first: Seq,
    carrier: Carrier,
    /// The turn as it was before this piece of it; none where it begins.
    before: Option<Box<Turn>>,
    late: Vec<Seq>,
}

/// The records that a piece is told from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub first: Seq,
    pub last: Seq,
    /// Records of later pieces that say more of its calls.
    pub late: Vec<Seq>,
    /// It is not the first of its turn.
    pub continues: bool,
}

impl Outline {
    pub fn new(most: usize) -> Self {
        let (timeline, pieces, calls) = Default::default();
        Self { timeline, pieces, calls, most, steps: 0, calls_weight: 0, head: Seq(0) }
    }

    pub fn take(&mut self, seq: Seq, event: &ExecutionEvent, at: Wall) {
        let (turns, carrier) = (self.timeline.turns.len(), self.timeline.carrier);
        let before = self.timeline.turns.last().filter(|_| self.steps >= self.most).cloned();
        let elsewhere = Elsewhere { calls: Some(&self.calls), here: None };
        self.timeline.take(event, at, &elsewhere);
        self.head = seq;
        let touched = std::mem::take(&mut self.timeline.touched);
        if let Some(last) = self.timeline.turns.last_mut() {
            let steps = std::mem::take(&mut last.steps);
            last.asked.clear();
            let begins = self.timeline.turns.len() > turns;
            if begins || (!steps.is_empty() && self.steps >= self.most) {
                let (turn, before) = (self.timeline.turns.len() - 1, before.filter(|_| !begins).map(Box::new));
                self.pieces.push(Standing { turn, first: seq, carrier, before, late: Vec::new() });
                self.steps = 0;
            }
            self.steps += steps.len();
            let piece = self.last_piece();
            for step in steps {
                if let Step::Called(call) = step {
                    self.calls_weight += ROW + call.call_id.0.len();
                    self.calls.insert(call.call_id, piece);
                }
            }
        }
        let here = self.last_piece();
        for piece in touched.into_iter().filter(|piece| *piece != here) {
            if let Some(piece) = self.pieces.get_mut(piece as usize)
                && piece.late.last() != Some(&seq)
            {
                piece.late.push(seq);
            }
        }
    }

    fn last_piece(&self) -> u32 {
        u32::try_from(self.pieces.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// How many pieces there are.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub fn piece(&self, number: usize) -> Option<Piece> {
        let piece = self.pieces.get(number)?;
        let last = self.pieces.get(number + 1).map_or(self.head, |next| Seq(next.first.0 - 1));
        Some(Piece { first: piece.first, last, late: piece.late.clone(), continues: piece.before.is_some() })
    }

    /// The turn with what was asked and done in this piece; what it came to is the whole turn's. `records` are those from its first to its
    /// last, `late` those that came late, both as they stand in the journal.
    pub fn tell<'a>(
        &self,
        number: usize,
        records: impl IntoIterator<Item = (&'a ExecutionEvent, Wall)>,
        late: impl IntoIterator<Item = (&'a ExecutionEvent, Wall)>,
    ) -> Option<Turn> {
        let piece = self.pieces.get(number)?;
        let whole = self.timeline.turns.get(piece.turn)?;
        let elsewhere = Elsewhere { calls: Some(&self.calls), here: u32::try_from(number).ok() };
        let turns = piece.before.iter().map(|turn| turn.as_ref().clone()).collect();
        let has_begun = piece.before.is_some();
        let mut timeline = Timeline { carrier: piece.carrier, turns, has_begun, touched: Vec::new() };
        records.into_iter().for_each(|(event, at)| timeline.take(event, at, &elsewhere));
        timeline.turns.truncate(1);
        let told = timeline.turns.last().map_or((0, 0), |turn| (turn.asked.len(), turn.steps.len()));
        for (event, at) in late {
            timeline.take(event, at, &elsewhere);
            // Of what it brings, only what it says of these calls.
            timeline.turns.truncate(1);
            if let Some(turn) = timeline.turns.last_mut() {
                turn.asked.truncate(told.0);
                turn.steps.truncate(told.1);
            }
        }
        let Turn { asked, steps, .. } = timeline.turns.pop()?;
        Some(Turn { asked, steps, ..whole.clone() })
    }

    /// About what it takes in memory.
    pub fn weight(&self) -> usize {
        let turn = |turn: &Turn| {
            let reason = match &turn.end {
                Ending::Failed { reason } | Ending::Rests { reason } => reason.len(),
                Ending::Open | Ending::Completed | Ending::Interrupted => 0,
            };
            size_of::<Turn>() + reason
        };
        let piece =
            |piece: &Standing| ROW + piece.before.as_deref().map_or(0, turn) + size_of::<Seq>() * piece.late.len();
        let turns: usize = self.timeline.turns.iter().map(turn).sum();
        turns + self.pieces.iter().map(piece).sum::<usize>() + self.calls_weight
    }
}
