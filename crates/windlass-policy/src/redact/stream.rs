//! Redaction of a text that arrives in pieces. What has been decided is written at once; held back is only what may
//! still turn out to be the beginning of a secret, which is bounded. The result does not depend on the pieces: whether a
//! region begins at a place is decided from the text around it alone, and never before that text is there.

use super::Redactor;
use super::escape::{Before, LONGEST as LONGEST_ESCAPE, Rest, cut_by};
use super::run::{Run, Step};
use super::shapes::{LOOK_AHEAD, LOOK_BEHIND, Region, Undecided, View};

/// What stands in the place of a secret. It needs no escaping in JSON.
pub const MARKER: &str = "[REDACTED]";

/// One text on its way through a `Redactor`.
pub struct Stream {
    redactor: Redactor,
    /// The end of what was settled, for looking behind, and all that was not.
    window: Vec<u8>,
    /// What stood before the window.
    before: Before,
    /// Up to here the window has been searched, and the open runs followed.
    scanned: usize,
    /// Up to here it was written or replaced.
    settled: usize,
    /// Where the last region ended, or has come to: a word may begin there.
    covered: usize,
    /// Regions that are certain and begin further on, as a password does after its URL's beginning.
    ahead: Vec<Region>,
    /// Regions that are open at `scanned`.
    runs: Vec<Run>,
    regions: usize,
}

impl Stream {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            window: Vec::new(),
            before: Before::Closed,
            scanned: 0,
            settled: 0,
            covered: 0,
            ahead: Vec::new(),
            runs: Vec::new(),
            regions: 0,
        }
    }

    /// Takes the next piece, and appends to `out` what is certain by now.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        self.window.extend_from_slice(piece);
        let known = self.redactor.known().unfinished(&self.window, self.scanned);
        let shape = self.redactor.shapes().unfinished(&self.window, self.scanned);
        let end = self.window.len();
        self.scan(known.unwrap_or(end).min(shape.unwrap_or(end)), Complete::No, out);
        self.forget();
    }

    /// Appends the rest; there is no more to come.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.scan(self.window.len(), Complete::Yes, out);
    }

    /// How many bytes are being held back.
    pub fn held(&self) -> usize {
        self.window.len() - self.settled.min(self.window.len())
    }

    /// The most that is ever held back.
    pub fn most_held(&self) -> usize {
        self.redactor.known().longest().max(LOOK_AHEAD) + LONGEST_ESCAPE
    }

    /// The whole of a text at once; nothing when there was nothing to redact.
    pub(super) fn whole(redactor: Redactor, text: &[u8]) -> Option<Vec<u8>> {
        let mut stream = Self::new(redactor);
        stream.window.extend_from_slice(text);
        let mut out = Vec::with_capacity(text.len());
        stream.scan(text.len(), Complete::Yes, &mut out);
        (stream.regions > 0).then_some(out)
    }

    /// Finds every region that begins before `limit`, in order, and settles all up to there or to the first that needs
    /// more text.
    fn scan(&mut self, limit: usize, complete: Complete, out: &mut Vec<u8>) {
        let redactor = self.redactor.clone();
        let (known, shapes) = (redactor.known(), redactor.shapes());
        let mut limit = limit;
        let mut next_known = known.find(&self.window, self.scanned);
        let mut next_shape = shapes.find(&self.window, self.scanned);
        loop {
            let next_ahead = self.ahead.iter().map(|region| region.start).min();
            let starts = [next_known.map(|known| known.0), next_shape.map(|shape| shape.0), next_ahead];
            let Some(at) = starts.into_iter().flatten().min().filter(|at| *at < limit) else {
                break;
            };
            self.follow_runs(at);
            if let Some((_, shape)) = next_shape.filter(|shape| shape.0 == at) {
                let view = View { text: &self.window, complete: complete == Complete::Yes, region_end: self.covered };
                match shapes.decide(view, at, shape) {
                    Ok(region) => self.ahead.extend(region),
                    Err(Undecided) => {
                        limit = at;
                        break;
                    }
                }
                next_shape = shapes.find(&self.window, at + 1);
            }
            if let Some((start, end)) = next_known.filter(|known| known.0 == at) {
                self.ahead.push(Region { start, run: Run::Bytes(end - start) });
                next_known = known.find(&self.window, at + 1);
            }
            self.open_at(at, out);
        }
        self.follow_runs(limit);
        let whole = match complete {
            Complete::Yes => None,
            Complete::No => cut_by(&self.window, self.before, limit),
        };
        self.write(whole.unwrap_or(limit), out);
    }

    /// Moves all that is open along to `to`.
    fn follow_runs(&mut self, to: usize) {
        while self.scanned < to && !self.runs.is_empty() {
            let byte = self.window[self.scanned];
            match self.runs[..] {
                // By far the most common, and without moving anything.
                [run] if let Step::Inside(next) = run.step(byte) => {
                    self.take(self.scanned);
                    self.runs[0] = next;
                }
                _ => {
                    for run in std::mem::take(&mut self.runs) {
                        self.step(run, byte);
                    }
                }
            }
            self.scanned += 1;
        }
        self.scanned = to;
    }

    fn step(&mut self, run: Run, byte: u8) {
        let here = self.scanned;
        match run.step(byte) {
            Step::Inside(run) => {
                self.take(here);
                self.add(run);
            }
            Step::EndsAfter => {
                self.take(here);
                if let Some(rest) = self.rest_of_escape(run, here + 1) {
                    self.add(rest);
                }
            }
            Step::EndsBefore => {
                if let Some(rest) = self.rest_of_escape(run, here) {
                    self.step(rest, byte);
                }
            }
        }
    }

    /// The byte at `at` belongs to a region.
    fn take(&mut self, at: usize) {
        self.settled = self.settled.max(at + 1);
        self.covered = at + 1;
    }

    /// What must still be taken away so that the end of a region leaves no half of an escape.
    fn rest_of_escape(&self, run: Run, end: usize) -> Option<Run> {
        if matches!(run, Run::Escape(_)) {
            return None;
        }
        let start = cut_by(&self.window, self.before, end)?;
        Rest::after(&self.window[start..end]).map(Run::Escape)
    }

    /// Runs that agree are one, so there are never more than there are kinds.
    fn add(&mut self, run: Run) {
        for other in &mut self.runs {
            match (&mut *other, run) {
                (Run::Bytes(left), Run::Bytes(more)) => {
                    *left = more.max(*left);
                    return;
                }
                (other, run) if *other == run => return,
                _ => {}
            }
        }
        self.runs.push(run);
    }

    /// Opens the regions that begin here.
    fn open_at(&mut self, at: usize, out: &mut Vec<u8>) {
        while let Some(index) = self.ahead.iter().position(|region| region.start == at) {
            let region = self.ahead.swap_remove(index);
            let start = cut_by(&self.window, self.before, at).unwrap_or(at);
            if self.runs.is_empty() && start >= self.settled {
                self.write(start, out);
                out.extend_from_slice(MARKER.as_bytes());
                self.regions += 1;
            }
            self.settled = self.settled.max(at);
            self.add(region.run);
        }
    }

    fn write(&mut self, to: usize, out: &mut Vec<u8>) {
        if self.settled < to {
            out.extend_from_slice(&self.window[self.settled..to]);
            self.settled = to;
        }
    }

    /// Drops what neither has to be written nor may be looked back at.
    fn forget(&mut self) {
        let gone = self.settled.min(self.scanned).saturating_sub(LOOK_BEHIND);
        self.before = self.before.moved(&self.window, gone);
        self.window.drain(..gone);
        self.scanned -= gone;
        self.settled -= gone;
        self.covered = self.covered.saturating_sub(gone);
        for region in &mut self.ahead {
            region.start -= gone;
        }
    }
}

/// Whether the end of the window is the end of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Complete {
    Yes,
    No,
}
