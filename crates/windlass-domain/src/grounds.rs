//! The folders that tasks have worked in, and what those left there: a file that an external context wrote is external to every
//! later task too, whichever of the folders above or below it that one works in. Each attempt has its own part (a claim), so
//! that what it may have changed can be replaced, when it ends, by what it did. Who owns the files may say that they are theirs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::events;
use crate::id::ExecutionId;
use crate::labels::{Labels, below};

/// An attempt has changed files, or is about to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroundLabelled {
    /// As the machine names it.
    pub folder: String,
    /// The attempt's execution, also for agents that work for it.
    pub by: ExecutionId,
    pub labels: Labels,
}

/// An attempt has ended: these are the labels of what it changed, instead of all that it might have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroundSettled {
    pub folder: String,
    pub by: ExecutionId,
    pub labels: Labels,
}

/// The owner has looked at a folder: what is in it is theirs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroundCleared {
    pub folder: String,
    /// Who said so.
    pub user: String,
}

events! {
    pub enum GroundEvent {
        Labelled(GroundLabelled) = "ground.labelled",
        Settled(GroundSettled) = "ground.settled",
        Cleared(GroundCleared) = "ground.cleared",
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grounds {
    claims: BTreeMap<(String, ExecutionId), Labels>,
}

impl Grounds {
    pub fn apply(&mut self, event: &GroundEvent) {
        match event {
            GroundEvent::Labelled(GroundLabelled { folder, by, labels }) => {
                self.claims.entry((folder.clone(), *by)).or_default().join(labels);
            }
            GroundEvent::Settled(GroundSettled { folder, by, labels }) => {
                let claim = (folder.clone(), *by);
                match labels.is_baseline() {
                    true => drop(self.claims.remove(&claim)),
                    false => drop(self.claims.insert(claim, labels.clone())),
                }
            }
            GroundEvent::Cleared(cleared) => {
                self.claims.retain(|(folder, _), _| below(folder, &cleared.folder).is_none());
            }
        }
    }

    /// What one attempt has claimed.
    pub fn claim(&self, folder: &str, by: ExecutionId) -> Labels {
        self.claims.get(&(folder.to_owned(), by)).cloned().unwrap_or_default()
    }

    /// The labels of a folder's files, as all who worked in it, above it or below it left them.
    pub fn labels_of(&self, folder: &str) -> Labels {
        let mut labels = Labels::default();
        for ((claimed, _), theirs) in &self.claims {
            match (below(claimed, folder), below(folder, claimed)) {
                (Some(""), _) => labels.join(theirs),
                (Some(place), _) => labels.join(&theirs.seen_from_above(place)),
                (None, Some(place)) => labels.join(&theirs.seen_from_within(place)),
                (None, None) => {}
            }
        }
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taint::Taint;
    use crate::time::Wall;

    fn labels(path: &str) -> Labels {
        let mut labels = Labels::default();
        labels.changed(path, Taint::External);
        labels
    }

    #[test]
    fn what_was_left_in_a_folder_is_known_above_it_and_below_it_and_nowhere_else() {
        let by = ExecutionId::new(Wall::default(), 1);
        let mut grounds = Grounds::default();
        let event = GroundLabelled { folder: "/srv/repo".to_owned(), by, labels: labels("web/page") };
        grounds.apply(&GroundEvent::Labelled(event));
        let check = |folder: &str, path: &str, expected| {
            assert_eq!(grounds.labels_of(folder).under(path), expected, "{folder} {path}");
        };
        check("/srv/repo", "web/page", Taint::External);
        check("/srv/repo", "notes", Taint::Auth);
        check("/srv", "repo/web", Taint::External);
        check("/srv", "repo/notes", Taint::Auth);
        check("/srv/repo/web", "page", Taint::External);
        check("/srv/repo/docs", "page", Taint::Auth);
        check("/srv/repo2", "web/page", Taint::Auth);
    }

    #[test]
    fn an_end_replaces_what_its_own_attempt_claimed_and_the_owner_clears_what_is_below() {
        let (one, other) = (ExecutionId::new(Wall::default(), 1), ExecutionId::new(Wall::default(), u128::MAX));
        let folder = "/repo".to_owned();
        let mut everything = Labels::default();
        everything.may_all_have_changed(Taint::External);
        let mut grounds = Grounds::default();
        for (by, labels) in [(one, everything), (other, labels("a"))] {
            grounds.apply(&GroundEvent::Labelled(GroundLabelled { folder: folder.clone(), by, labels }));
        }
        assert_eq!(grounds.labels_of("/repo").under("b"), Taint::External);
        let settled = GroundSettled { folder: folder.clone(), by: one, labels: labels("c") };
        grounds.apply(&GroundEvent::Settled(settled));
        let known = grounds.labels_of("/repo");
        let found = ["a", "b", "c"].map(|path| known.under(path));
        assert_eq!(found, [Taint::External, Taint::Auth, Taint::External]);
        let cleared = |folder: &str| GroundCleared { folder: folder.to_owned(), user: "me".to_owned() };
        grounds.apply(&GroundEvent::Cleared(cleared("/repo2")));
        assert_eq!(grounds.labels_of("/repo"), known);
        grounds.apply(&GroundEvent::Cleared(cleared("/repo")));
        assert!(grounds.labels_of("/repo").is_baseline());
    }
}
