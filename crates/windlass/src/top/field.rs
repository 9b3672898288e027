//! A line that somebody writes.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    letters: Vec<char>,
    cursor: usize,
}

/// As long as a message may be.
const LONGEST: usize = 16_000;

impl Field {
    pub fn of(text: &str) -> Self {
        let letters: Vec<char> = text.chars().collect();
        Self { cursor: letters.len(), letters }
    }

    pub fn text(&self) -> String {
        self.letters.iter().collect()
    }

    pub fn is_blank(&self) -> bool {
        self.letters.iter().all(|letter| letter.is_whitespace())
    }

    /// What stands before the place where one writes, and what behind it.
    pub fn parts(&self) -> (String, String) {
        let (before, behind) = self.letters.split_at(self.cursor);
        (before.iter().collect(), behind.iter().collect())
    }

    pub fn write(&mut self, text: &str) {
        for letter in text.chars().take(LONGEST.saturating_sub(self.letters.len())) {
            self.letters.insert(self.cursor, letter);
            self.cursor += 1;
        }
    }

    pub fn erase_before(&mut self) {
        if self.cursor > 0 {
            self.cursor -= 1;
            self.letters.remove(self.cursor);
        }
    }

    pub fn erase_behind(&mut self) {
        if self.cursor < self.letters.len() {
            self.letters.remove(self.cursor);
        }
    }

    pub fn erase_to_begin(&mut self) {
        self.letters.drain(..self.cursor);
        self.cursor = 0;
    }

    pub const fn left(&mut self) {
        self.cursor = self.cursor.saturating_sub(1);
    }

    pub fn right(&mut self) {
        self.cursor = (self.cursor + 1).min(self.letters.len());
    }

    pub const fn begin(&mut self) {
        self.cursor = 0;
    }

    pub const fn end(&mut self) {
        self.cursor = self.letters.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_stands_where_the_cursor_is() {
        let mut field = Field::of("aé");
        field.left();
        field.write("漢");
        assert_eq!(field.parts(), ("a漢".to_owned(), "é".to_owned()));
        field.erase_before();
        field.erase_behind();
        field.erase_behind();
        assert_eq!(field.text(), "a");
        field.write("bc");
        field.begin();
        field.right();
        field.erase_to_begin();
        assert_eq!(field.parts(), (String::new(), "bc".to_owned()));
    }
}
