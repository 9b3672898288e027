//! The labels of a workspace's files. What stood there when the task began is `auth`; what a tool changed is as trustworthy
//! as the execution that changed it; a program may have changed anything. Labels only rise.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::taint::Taint;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// At least this, for every file.
    #[serde(default = "Taint::missing")]
    everywhere: Taint,
    /// More than that, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, Taint>,
}

impl Default for Labels {
    fn default() -> Self {
        Self { everywhere: Taint::Auth, files: BTreeMap::new() }
    }
}

impl Labels {
    pub fn is_baseline(&self) -> bool {
        *self == Self::default()
    }

    /// Of a file, or of everything below a folder; the empty path is the workspace. What climbs may lead anywhere in it.
    pub fn under(&self, path: &str) -> Taint {
        let path = if path.split('/').any(|name| name == "..") { "" } else { path };
        let below = |file: &str| {
            path.is_empty() || file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let labelled = self.files.iter().filter(|(file, _)| below(file)).map(|(_, taint)| *taint);
        labelled.fold(self.everywhere, Taint::join)
    }

    pub fn whole(&self) -> Taint {
        self.under("")
    }

    /// A tool changed this file.
    pub fn changed(&mut self, path: &str, by: Taint) {
        if by > self.everywhere {
            let label = self.files.entry(path.to_owned()).or_insert(by);
            *label = label.join(by);
        }
    }

    /// What another knows of the same files.
    pub fn join(&mut self, other: &Self) {
        self.may_all_have_changed(other.everywhere);
        other.files.iter().for_each(|(path, taint)| self.changed(path, *taint));
    }

    /// A program ran: which files it changed nobody has looked at.
    pub fn may_all_have_changed(&mut self, by: Taint) {
        self.everywhere = self.everywhere.join(by);
        let everywhere = self.everywhere;
        self.files.retain(|_, taint| *taint > everywhere);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_found_at_its_file_and_above_it_and_nowhere_else() {
        let mut labels = Labels::default();
        labels.changed("src/page.html", Taint::External);
        let check = |path: &str, expected| assert_eq!(labels.under(path), expected, "{path}");
        check("src/page.html", Taint::External);
        check("src", Taint::External);
        check("", Taint::External);
        check("src/page.html.bak", Taint::Auth);
        check("sr", Taint::Auth);
        check("docs", Taint::Auth);
        check("docs/../src/page.html", Taint::External);
    }

    #[test]
    fn labels_never_fall() {
        let mut labels = Labels::default();
        labels.changed("a", Taint::External);
        labels.changed("a", Taint::Owner);
        assert_eq!(labels.under("a"), Taint::External);
        labels.may_all_have_changed(Taint::Owner);
        assert_eq!((labels.under("b"), labels.whole()), (Taint::Auth, Taint::External));
        labels.may_all_have_changed(Taint::External);
        assert_eq!(labels.under("b"), Taint::External);
    }
}
