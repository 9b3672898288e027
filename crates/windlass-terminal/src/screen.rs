//! The emulator: what a terminal of this size would show by now, and what has scrolled away.

use avt::{ScreenKind, Terminal as Emulator};

use crate::queries::Ear;
use crate::size::Size;

/// Lines that are kept after they scrolled away.
const SCROLLBACK: usize = 2_000;

pub struct Screen {
    emulator: Emulator,
    ear: Ear,
    /// What stood on a page of the program's own when it left it.
    left_page: Vec<String>,
}

impl Screen {
    pub fn new(size: Size) -> Self {
        let Size { cols, rows } = size.within_bounds();
        let emulator = Emulator::with_scrollback(cols.into(), rows.into(), Some(SCROLLBACK));
        Self {
            emulator: emulator.expect("a size within bounds is never nothing"),
            ear: Ear::default(),
            left_page: Vec::new(),
        }
    }

    pub fn size(&self) -> Size {
        let (cols, rows) = self.emulator.size();
        let small = |number: usize| u16::try_from(number).expect("a size within bounds fits");
        Size { cols: small(cols), rows: small(rows) }
    }

    /// Returns what the terminal says to the program, where it asked something.
    pub fn feed(&mut self, text: &str) -> String {
        let (mut answers, mut fed) = (String::new(), 0);
        for (at, letter) in text.char_indices() {
            let query = self.ear.hear(letter);
            if self.ear.leaves_its_page() {
                self.emulator.feed(&text[fed..at]);
                fed = at;
                self.keep_page();
            }
            if let Some(query) = query {
                // It is about the moment at which it is asked.
                let upto = at + letter.len_utf8();
                self.emulator.feed(&text[fed..upto]);
                fed = upto;
                let cursor = self.emulator.cursor();
                answers.push_str(&query.answer((cursor.row, cursor.col.min(self.emulator.size().0 - 1))));
            }
        }
        self.emulator.feed(&text[fed..]);
        answers
    }

    /// One that was wiped before says nothing.
    fn keep_page(&mut self) {
        let page = self.text();
        if self.is_on_its_page() && page.iter().any(|line| !line.is_empty()) {
            self.left_page = page;
        }
    }

    fn is_on_its_page(&self) -> bool {
        self.emulator.active_screen_kind() == ScreenKind::Alternate
    }

    pub fn resize(&mut self, size: Size) {
        let Size { cols, rows } = size.within_bounds();
        self.emulator.resize(cols.into(), rows.into());
    }

    /// What is to be seen, line by line, without the blanks at their ends.
    pub fn text(&self) -> Vec<String> {
        self.emulator.screen().visible_lines().map(|line| line.text().trim_end().to_owned()).collect()
    }

    /// The same with everything that has scrolled away and is kept, oldest first.
    pub fn history(&self) -> Vec<String> {
        self.emulator.primary_screen().all_lines().map(|line| line.text().trim_end().to_owned()).collect()
    }

    /// What stands on a page of the program's own, or stood there when it left it: nothing of that is in the history.
    pub fn page(&self) -> Vec<String> {
        if self.is_on_its_page() { self.text() } else { self.left_page.clone() }
    }

    /// The last of what has scrolled away and everything that is to be seen, oldest first.
    pub fn last_lines(&self, scrolled: usize) -> Vec<String> {
        let (all, visible) = (self.emulator.screen().all_lines().count(), self.size().rows);
        let skipped = all.saturating_sub(usize::from(visible) + scrolled);
        let lines = self.emulator.screen().all_lines().skip(skipped);
        lines.map(|line| line.text().trim_end().to_owned()).collect()
    }

    /// Whether the program wants to be told that something is pasted, not typed.
    pub const fn wants_bracketed_pastes(&self) -> bool {
        self.ear.wants_bracketed_pastes()
    }

    /// Whether arrow keys are to be sent in the way of applications.
    pub fn wants_application_keys(&self) -> bool {
        self.emulator.cursor_key_app_mode()
    }

    pub(crate) const fn emulator(&self) -> &Emulator {
        &self.emulator
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Screen").field("size", &self.size()).finish_non_exhaustive()
    }
}
