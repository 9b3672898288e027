//! Two changes of one text, line by line. Where both touched the same place, or places next to each other, there is no
//! answer here: guessing would make a text that nobody wrote.

/// Beyond this nobody compares lines; whoever generated it can do so again.
const LARGEST_TEXT: usize = 4 * 1024 * 1024;

pub(crate) enum Lines {
    Merged(Vec<u8>),
    Conflict,
    /// Not text, or too much of it.
    Opaque,
}

pub(crate) fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Lines {
    let is_text = |bytes: &[u8]| bytes.len() <= LARGEST_TEXT && !bytes.contains(&0);
    if ![base, ours, theirs].into_iter().all(is_text) {
        return Lines::Opaque;
    }
    let lines: Vec<&[u8]> = base.split_inclusive(|byte| *byte == b'\n').collect();
    let (mut ours, mut theirs) = (Changes::of(base, ours), Changes::of(base, theirs));
    let mut merged = Vec::new();
    let mut done = 0;
    while let Some(start) = ours.next_start().into_iter().chain(theirs.next_start()).min() {
        let end = together(start, &mut ours, &mut theirs);
        lines[done..start].iter().for_each(|line| merged.extend_from_slice(line));
        match (ours.take(start, end, &lines), theirs.take(start, end, &lines)) {
            (Some(one), Some(other)) if one != other => return Lines::Conflict,
            (Some(made), _) | (None, Some(made)) => merged.extend(made),
            (None, None) => {}
        }
        done = end;
    }
    lines[done..].iter().for_each(|line| merged.extend_from_slice(line));
    Lines::Merged(merged)
}

/// The end of the lines from `start` on that changes of either side touch, each of which overlaps the one before or stands next
/// to it.
fn together(start: usize, ours: &mut Changes, theirs: &mut Changes) -> usize {
    let mut end = start;
    loop {
        let reached = ours.reach(end).max(theirs.reach(end)).max(end);
        if reached == end && !ours.has_more_at(end) && !theirs.has_more_at(end) {
            return end;
        }
        end = reached;
    }
}

/// Lines of the base that became others.
struct Change {
    start: usize,
    end: usize,
    becomes: Vec<u8>,
}

/// One side's, by where they begin.
struct Changes {
    all: Vec<Change>,
    /// Those before are merged.
    next: usize,
    /// Those before are part of what is being merged.
    reached: usize,
}

impl Changes {
    fn of(base: &[u8], side: &[u8]) -> Self {
        let mut all: Vec<Change> = Vec::new();
        let mut options = diffy::DiffOptions::new();
        // Everything around a change, so that there is one hunk and nothing to count.
        let patch = options.set_context_len(base.len() + 1).create_patch_bytes(base, side);
        let mut at = 0;
        let mut is_open = false;
        for line in patch.hunks().iter().flat_map(diffy::Hunk::lines) {
            if let diffy::Line::Context(_) = line {
                at += 1;
                is_open = false;
                continue;
            }
            if !is_open {
                all.push(Change { start: at, end: at, becomes: Vec::new() });
                is_open = true;
            }
            let Some(change) = all.last_mut() else { continue };
            match line {
                diffy::Line::Insert(text) => change.becomes.extend_from_slice(text),
                _ => {
                    at += 1;
                    change.end = at;
                }
            }
        }
        Self { all, next: 0, reached: 0 }
    }

    fn next_start(&self) -> Option<usize> {
        self.all.get(self.next).map(|change| change.start)
    }

    fn has_more_at(&self, end: usize) -> bool {
        self.all.get(self.reached).is_some_and(|change| change.start <= end)
    }

    /// Where the changes that begin no later than `end` end.
    fn reach(&mut self, end: usize) -> usize {
        let mut reached = end;
        while self.has_more_at(end) {
            reached = reached.max(self.all[self.reached].end);
            self.reached += 1;
        }
        reached
    }

    /// What these lines are on this side, if it changed anything there.
    fn take(&mut self, start: usize, end: usize, lines: &[&[u8]]) -> Option<Vec<u8>> {
        let taken = &self.all[self.next..self.reached];
        self.next = self.reached;
        if taken.is_empty() {
            return None;
        }
        let mut text = Vec::new();
        let mut at = start;
        for change in taken {
            lines[at..change.start].iter().for_each(|line| text.extend_from_slice(line));
            text.extend_from_slice(&change.becomes);
            at = change.end;
        }
        lines[at..end].iter().for_each(|line| text.extend_from_slice(line));
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
        match merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()) {
            Lines::Merged(bytes) => Some(String::from_utf8(bytes).unwrap()),
            Lines::Conflict | Lines::Opaque => None,
        }
    }

    #[test]
    fn changes_apart_are_both_kept() {
        assert_eq!(merged("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n").as_deref(), Some("A\nb\nc\nD\n"));
        assert_eq!(merged("a\nb\nc", "a\nb\nc", "a\nb\nc\nd").as_deref(), Some("a\nb\nc\nd"));
        assert_eq!(
            merged("a\r\nb\r\nc\r\nd\r\n", "A\r\nb\r\nc\r\nd\r\n", "a\r\nb\r\nc\r\n").as_deref(),
            Some("A\r\nb\r\nc\r\n")
        );
    }

    #[test]
    fn the_same_change_twice_is_one() {
        assert_eq!(merged("a\nb\n", "a\nB\n", "a\nB\n").as_deref(), Some("a\nB\n"));
    }

    #[test]
    fn changes_of_the_same_place_are_a_conflict() {
        assert_eq!(merged("a\n", "b\n", "c\n"), None);
        assert_eq!(merged("a\nb\nc\n", "a\nc\n", "a\nB\nc\n"), None);
        assert_eq!(merged("a\nb\n", "A\nb\n", "a\nB\n"), None, "next to each other");
        assert_eq!(merged("a\nb\n", "a\nx\nb\n", "a\ny\nb\n"), None, "both put something there");
    }

    #[test]
    fn what_is_no_text_is_not_compared() {
        assert!(matches!(merge(b"a\0", b"b\0", b"c\0"), Lines::Opaque));
        let long = vec![b'a'; LARGEST_TEXT + 1];
        assert!(matches!(merge(b"a", &long, b"b"), Lines::Opaque));
    }
}
