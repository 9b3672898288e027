//! The labels of a workspace's files. What stood there when the task began is `auth`; what a tool changed is as trustworthy
//! as the execution that changed it; a program may have changed anything. Labels only rise. The label of a folder is that of
//! everything below it.

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
        let concerns = |labelled: &str| below(labelled, path).is_some() || below(path, labelled).is_some();
        let labelled = self.files.iter().filter(|(labelled, _)| concerns(labelled)).map(|(_, taint)| *taint);
        labelled.fold(self.everywhere, Taint::join)
    }

    pub fn whole(&self) -> Taint {
        self.under("")
    }

    /// A tool changed this file, or what is below this folder.
    pub fn changed(&mut self, path: &str, by: Taint) {
        if path.is_empty() {
            self.may_all_have_changed(by);
        } else if by > self.everywhere {
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

    /// What is labelled higher here than in `known`.
    #[must_use]
    pub fn beyond(&self, known: &Self) -> Self {
        let mut beyond = Self::default();
        if self.everywhere > known.everywhere {
            beyond.may_all_have_changed(self.everywhere);
        }
        let is_news = |path: &String, taint: Taint| taint > known.everywhere && known.files.get(path) < Some(&taint);
        let news = self.files.iter().filter(|(path, taint)| is_news(path, **taint));
        news.for_each(|(path, taint)| beyond.changed(path, *taint));
        beyond
    }

    /// The labels of a folder that lies at `place`, for whoever works above it.
    #[must_use]
    pub fn seen_from_above(&self, place: &str) -> Self {
        let mut seen = Self::default();
        seen.changed(place, self.everywhere);
        self.files.iter().for_each(|(path, taint)| seen.changed(&format!("{place}/{path}"), *taint));
        seen
    }

    /// The labels of what lies at `place`, for whoever works there.
    #[must_use]
    pub fn seen_from_within(&self, place: &str) -> Self {
        let mut seen = Self { everywhere: self.everywhere, files: BTreeMap::new() };
        for (path, taint) in &self.files {
            match below(path, place) {
                Some("") => seen.may_all_have_changed(*taint),
                Some(inner) => seen.changed(inner, *taint),
                None if below(place, path).is_some() => seen.may_all_have_changed(*taint),
                None => {}
            }
        }
        seen
    }

    /// The paths that have a label of their own, and that of everything else.
    pub fn list(&self) -> (Taint, impl Iterator<Item = (&str, Taint)>) {
        (self.everywhere, self.files.iter().map(|(path, taint)| (path.as_str(), *taint)))
    }
}

/// What is left of `path` below `folder`, where it lies there; the empty folder is the top.
pub(crate) fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() {
        return Some(path);
    }
    match path.strip_prefix(folder)? {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_found_at_its_file_and_above_it_and_nowhere_else() {
        let mut labels = Labels::default();
        labels.changed("src/page.html", Taint::External);
        labels.changed("vendor", Taint::External);
        let check = |path: &str, expected| assert_eq!(labels.under(path), expected, "{path}");
        check("src/page.html", Taint::External);
        check("src", Taint::External);
        check("", Taint::External);
        check("src/page.html.bak", Taint::Auth);
        check("sr", Taint::Auth);
        check("docs", Taint::Auth);
        check("docs/../src/page.html", Taint::External);
        check("vendor/lib/a.c", Taint::External);
        check("vendored", Taint::Auth);
    }

    #[test]
    fn the_same_files_are_labelled_alike_from_above_and_from_within() {
        let mut labels = Labels::default();
        labels.changed("web/page.html", Taint::External);
        let above = labels.seen_from_above("site");
        assert_eq!((above.under("site/web"), above.under("site/notes")), (Taint::External, Taint::Auth));
        assert_eq!(above.seen_from_within("site"), labels);
        assert_eq!(above.seen_from_within("site/web").under("page.html"), Taint::External);
        assert!(above.seen_from_within("other").is_baseline());
        labels.may_all_have_changed(Taint::External);
        assert_eq!(labels.seen_from_above("site").under("site/notes"), Taint::External);
        assert_eq!(labels.seen_from_above("site").under("other"), Taint::Auth);
        assert_eq!(labels.seen_from_above("site").seen_from_within("site/web").under("x"), Taint::External);
    }

    #[test]
    fn what_is_beyond_makes_the_known_whole() {
        let (mut known, mut labels) = (Labels::default(), Labels::default());
        known.changed("a", Taint::External);
        labels.changed("a", Taint::External);
        assert!(labels.beyond(&known).is_baseline());
        labels.changed("b", Taint::External);
        known.join(&labels.beyond(&known));
        assert_eq!(known, labels);
        labels.may_all_have_changed(Taint::External);
        known.join(&labels.beyond(&known));
        assert_eq!(known, labels);
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
