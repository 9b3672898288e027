//! A result that cannot be brought to its end leaves the folder as it was: each step is taken back, the last one first, where what it
//! put there is still there. What somebody has changed since is theirs, stays, and is told. Undoing is written down as doing is: a
//! process that is killed in the midst of it is mended in the same way.

use super::mend::unless_moved;
use super::{Applying, Cut, Done, Log, leaf};
use crate::diff::Difference;
use crate::error::Error;
use crate::intents::{Intent, Way};
use crate::materialise::Filling;
use crate::path::shown;
use crate::stream::ShouldStop;

impl Applying<'_> {
    /// The names that stay changed. An error: it may be more than these are.
    pub(super) fn undo(&self, intents: &[Intent], log: Log) -> Result<Vec<String>, Vec<String>> {
        // Whoever wants it to stop wants it undone.
        let filling = Filling { should_stop: ShouldStop::NEVER, ..self.filling };
        let undoing = Applying { root: self.root, filling, intents: self.intents };
        let back: Vec<Intent> = log.0.iter().map(|done| Intent::of(&reversed(&done.difference), None)).collect();
        if undoing.begin(intents, &back).is_err() {
            return Err(names(&back.iter().collect::<Vec<_>>()));
        }
        let (mut kept, mut has_failed) = (Vec::new(), false);
        for (Done { mode, .. }, intent) in log.0.iter().zip(&back).rev() {
            let undone = undoing.undo_one(intent, *mode);
            has_failed |= matches!(undone, Err(Cut::Failed(_)));
            kept.extend(undone.is_err().then_some(intent));
        }
        if has_failed { Err(names(&kept)) } else { Ok(names(&kept)) }
    }

    /// What was prepared goes first: it takes up the room that undoing needs.
    fn begin(&self, intents: &[Intent], back: &[Intent]) -> Result<(), Error> {
        intents.iter().try_for_each(|intent| unless_moved(self.mend_one(intent)))?;
        let mut in_order = back.to_vec();
        in_order.sort_by(|one, other| one.path.cmp(&other.path));
        self.intents.write(Way::Back, &in_order)
    }

    fn undo_one(&self, intent: &Intent, mode: Option<u32>) -> Result<(), Cut> {
        let (back, mut unheeded) = (intent.difference(), Log::default());
        self.take_away(&back, &intent.aside, &mut unheeded)?;
        if let Some(node) = leaf(&intent.after) {
            self.make(node, mode, &self.open_parent(&intent.path)?, &intent.aside, &intent.path)?;
        }
        self.place(&back, &intent.aside, &mut unheeded)
    }
}

fn reversed(Difference { path, before, after }: &Difference) -> Difference {
    Difference { path: path.clone(), before: after.clone(), after: before.clone() }
}

fn names(intents: &[&Intent]) -> Vec<String> {
    let mut names: Vec<String> = intents.iter().map(|intent| shown(&intent.path)).collect();
    names.sort();
    names.dedup();
    names
}
