//! After a process that was killed while it brought in a result: what stands beside a name is taken away or given its name back. If it
//! is the result that is being brought in now, whatever of it is there is taken back first, so that nothing of it stays where the user
//! has come to disagree with it since; and where it was being taken back, that is brought to its end. Then it is merged as always.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::RenameFlags;
use rustix::io::Errno;

use super::{Applying, Cut, Log, discard, leaf, rename};
use crate::diff::Difference;
use crate::error::Error;
use crate::files::open_folder;
use crate::intents::{Intent, Left, Way};
use crate::stat::Metadata;
use crate::tree::{Mode, Node};

const CUT_OFF: &str = "whoever brought this in before was cut off";

impl Applying<'_> {
    pub fn mend(&self) -> Result<(), Error> {
        let left = self.intents.left()?;
        let (Left::OfThis(_, all) | Left::OfAnother(all)) = &left;
        if all.is_empty() {
            return Ok(());
        }
        all.iter().try_for_each(|intent| unless_moved(self.mend_one(intent)))?;
        match &left {
            Left::OfThis(Way::There, intents) => self.take_back(intents)?,
            Left::OfThis(Way::Back, intents) => match self.go_on(intents) {
                // Without the content there is nothing to go on with; what is there stays as it is.
                Err(Error::Damaged { .. }) | Ok(()) => {}
                Err(error) => return Err(error),
            },
            Left::OfAnother(_) => {}
        }
        self.intents.done()
    }

    fn take_back(&self, intents: &[Intent]) -> Result<(), Error> {
        match self.undo(intents, self.brought(intents)) {
            // What somebody went on with is theirs.
            Ok(_) => Ok(()),
            Err(names) => Err(Error::Partly { why: CUT_OFF.to_owned(), names: names.join(", ") }),
        }
    }

    /// What was done of these, in the order that it was: first taken away, then put.
    fn brought(&self, intents: &[Intent]) -> Log {
        let mut log = Log::default();
        for intent in intents.iter().rev().filter(|intent| !intent.is_swap() && self.is_taken(intent)) {
            log.add(Difference { after: None, ..intent.difference() }, intent.mode);
        }
        for intent in intents.iter().filter(|intent| self.is_put(intent)) {
            let before = intent.before.clone().filter(|_| intent.is_swap());
            log.add(Difference { before, ..intent.difference() }, intent.mode);
        }
        log
    }

    /// Nothing is left of what was there, and nobody but us has put anything in its place.
    fn is_taken(&self, intent: &Intent) -> bool {
        let is_gone = || match self.open_parent(&intent.path) {
            Ok(place) => intent.path.file_name().is_some_and(|name| is_gone(&place, Path::new(name))),
            Err(_) => true,
        };
        intent.before.is_some() && (is_gone() || self.is_put(intent))
    }

    fn is_put(&self, intent: &Intent) -> bool {
        let (Some(after), Ok(place)) = (&intent.after, self.open_parent(&intent.path)) else { return false };
        match after.mode {
            Mode::Folder => open_folder(&place, Path::new(&after.name)).is_ok(),
            _ => matches!(self.is_there(after, &place, &intent.path), Ok(true)),
        }
    }

    pub(super) fn mend_one(&self, Intent { path, aside, before, after, .. }: &Intent) -> Result<(), Cut> {
        let place = self.open_parent(path)?;
        if is_gone(&place, Path::new(aside)) {
            return Ok(());
        }
        let (before, after) = (leaf(before), leaf(after));
        let is_aside = |node: Option<&Node>| node.map_or(Ok(false), |node| self.is_still(node, &place, aside, path));
        if !is_aside(before)? && !is_aside(after)? {
            self.give_back(path, aside, before, after, &place)?;
        }
        discard(&place, aside);
        Ok(())
    }

    /// What stands aside is neither what was there nor what was to come: it was saved at the last moment, or is half made. Made it
    /// was only where its successor has not got its name yet.
    fn give_back(
        &self,
        path: &Path,
        aside: &str,
        before: Option<&Node>,
        after: Option<&Node>,
        place: &OwnedFd,
    ) -> Result<(), Cut> {
        let Some(name) = path.file_name() else { return Ok(()) };
        match (before, after) {
            (Some(_), None) => match rename(place, aside, name, RenameFlags::NOREPLACE, path) {
                // Saved once more since, which is then the newest.
                Err(Cut::Moved) => Ok(()),
                done => done,
            },
            (Some(_), Some(after)) if self.is_there(after, place, path)? => {
                rename(place, aside, name, RenameFlags::EXCHANGE, path)
            }
            _ => Ok(()),
        }
    }

    fn go_on(&self, intents: &[Intent]) -> Result<(), Error> {
        let mut unheeded = Log::default();
        for intent in intents.iter().rev() {
            self.filling.should_stop.heed()?;
            if self.is_to_be_taken(intent) {
                unless_moved(self.take_away(&intent.difference(), &intent.aside, &mut unheeded))?;
            }
        }
        for intent in intents {
            self.filling.should_stop.heed()?;
            if self.is_to_be_put(intent) {
                unless_moved(self.put(&intent.difference(), &intent.aside, &mut unheeded))?;
            }
        }
        Ok(())
    }

    fn is_to_be_taken(&self, intent: &Intent) -> bool {
        let Ok(place) = self.open_parent(&intent.path) else { return false };
        intent.before.as_ref().is_some_and(|before| matches!(self.is_there(before, &place, &intent.path), Ok(true)))
    }

    /// What is to be replaced is there; or nothing is, and what was there before we took away ourselves.
    fn is_to_be_put(&self, intent: &Intent) -> bool {
        let Ok(place) = self.open_parent(&intent.path) else { return intent.after.is_some() };
        let is_gone = || intent.path.file_name().is_some_and(|name| is_gone(&place, Path::new(name)));
        match (leaf(&intent.before), leaf(&intent.after)) {
            (Some(before), Some(_)) => matches!(self.is_there(before, &place, &intent.path), Ok(true)),
            (_, None) | (None, Some(_)) => intent.after.is_some() && is_gone(),
        }
    }
}

fn is_gone(place: &OwnedFd, name: &Path) -> bool {
    matches!(Metadata::at(place, name), Err(Errno::NOENT))
}

/// Whoever put something else there has the last word.
pub(super) fn unless_moved(step: Result<(), Cut>) -> Result<(), Error> {
    match step {
        Ok(()) | Err(Cut::Moved) => Ok(()),
        Err(Cut::Failed(error)) => Err(error),
    }
}
