//! Pages of an execution's timeline. Where its turns stand is remembered; what was said in them is read for the page that shows it.

use std::collections::VecDeque;

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::timeline::{Outline, Piece, Turn};
use windlass_domain::{ExecutionId, Seq, Wall};
use windlass_store::StreamId;

use crate::Error;
use crate::engine::Engine;
use crate::read::Mark;

/// Steps in one piece of a turn.
const STEPS: usize = 100;
/// Records that are read in one go.
const SLICE: u64 = 250;
/// What a page is made of may weigh so much; one piece is on it, whatever it weighs.
const HEAVIEST: usize = 4 << 20;

pub(crate) struct KeptOutline {
    outline: Outline,
    mark: Mark,
}

impl Default for KeptOutline {
    fn default() -> Self {
        Self { outline: Outline::new(STEPS), mark: Mark::default() }
    }
}

impl KeptOutline {
    pub fn weight(&self) -> usize {
        self.outline.weight()
    }
}

/// A turn, or a piece of a long one.
#[derive(Debug, Clone, PartialEq)]
pub struct ToldTurn {
    pub turn: Turn,
    /// Its first steps are in a piece before.
    pub continues: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnPage {
    pub turns: Vec<ToldTurn>,
    /// The next page begins behind so many pieces. None after the last one.
    pub next: Option<usize>,
}

type Told = (Seq, Box<ExecutionEvent>, Wall);

fn told((_, event, at): &Told) -> (&ExecutionEvent, Wall) {
    (event.as_ref(), *at)
}

impl Engine {
    /// A page of the turns of an execution, behind so many: at most so many, fewer where they are heavy.
    pub async fn turns_after(&self, execution: ExecutionId, after: usize, most: usize) -> Result<TurnPage, Error> {
        let stream = StreamId::new("execution", execution);
        let mut known = self.shared.outlines.hold((self.shared.tenant.clone(), execution)).await;
        self.outline(&stream, &mut known).await?;
        if known.mark == Mark::default() {
            return Err(Error::NoSuchExecution(execution));
        }
        let end = known.outline.len().min(after.saturating_add(most));
        let pieces: Vec<Piece> = (after..end).filter_map(|number| known.outline.piece(number)).collect();
        let until = pieces.last().map_or(Seq(0), |piece| piece.last);
        let mut reader = Reader { engine: self, stream: &stream, until, weight: 0, ahead: VecDeque::new() };
        let mut page = TurnPage::default();
        for (number, piece) in (after..end).zip(pieces) {
            if !page.turns.is_empty() && reader.weight > HEAVIEST {
                page.next = Some(number);
                return Ok(page);
            }
            let records = reader.upto(&piece).await?;
            let late = reader.late(&piece).await?;
            let turn = known.outline.tell(number, records.iter().map(told), late.iter().map(told));
            page.turns.extend(turn.map(|turn| ToldTurn { turn, continues: piece.continues }));
        }
        page.next = (end < known.outline.len()).then_some(end);
        Ok(page)
    }

    async fn outline(&self, stream: &StreamId, known: &mut KeptOutline) -> Result<(), Error> {
        loop {
            let Some((rows, is_last)) = self.rows_since(stream, known.mark).await? else {
                *known = KeptOutline::default();
                continue;
            };
            for row in rows {
                let event = ExecutionEvent::decode(&row.kind, row.version, &row.data)?;
                known.outline.take(row.seq, &event, row.at);
                known.mark = Mark::of(&row);
            }
            if is_last {
                return Ok(());
            }
        }
    }
}

/// Reads pieces that follow each other.
struct Reader<'a> {
    engine: &'a Engine,
    stream: &'a StreamId,
    /// Nothing behind this is wanted.
    until: Seq,
    weight: usize,
    /// Read, and for the pieces that follow.
    ahead: VecDeque<Told>,
}

impl Reader<'_> {
    async fn upto(&mut self, piece: &Piece) -> Result<Vec<Told>, Error> {
        let mut records = Vec::new();
        let mut last = Seq(piece.first.0 - 1);
        while last < piece.last {
            match self.ahead.pop_front() {
                Some(record) => {
                    last = record.0;
                    records.push(record);
                }
                None => {
                    let rows = usize::try_from(SLICE.min(self.until.0 - last.0)).unwrap_or(1);
                    let found = self.read(last, rows).await?;
                    if found.is_empty() {
                        break;
                    }
                    self.ahead.extend(found);
                }
            }
        }
        Ok(records)
    }

    async fn late(&mut self, piece: &Piece) -> Result<Vec<Told>, Error> {
        let mut late = Vec::new();
        for seq in &piece.late {
            late.extend(self.read(Seq(seq.0 - 1), 1).await?);
        }
        Ok(late)
    }

    async fn read(&mut self, after: Seq, rows: usize) -> Result<Vec<Told>, Error> {
        let shared = &self.engine.shared;
        let found = shared.store.stream(&shared.tenant, self.stream, after, rows).await?;
        self.weight += found.iter().map(|row| row.data.len()).sum::<usize>();
        let told = found.into_iter().map(|row| {
            let event = ExecutionEvent::decode(&row.kind, row.version, &row.data)?;
            Ok((row.seq, Box::new(event), row.at))
        });
        told.collect()
    }
}
