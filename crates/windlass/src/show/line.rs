//! One line for a person: pieces of text with a style each, already made safe to print.

use windlass_policy::visible_line;

use super::style::{Paint, Style};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    pieces: Vec<(Style, String)>,
}

impl Line {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text as it may have come from anywhere: control characters are shown, never sent. A line break is one of them,
    /// since what follows it would pass for a line of ours.
    #[must_use]
    pub fn add(mut self, style: Style, text: impl AsRef<str>) -> Self {
        let text = text.as_ref().replace('\t', "    ");
        self.pieces.push((style, visible_line(&text).into_owned()));
        self
    }

    #[must_use]
    pub fn plain(self, text: impl AsRef<str>) -> Self {
        self.add(Style::Plain, text)
    }

    #[must_use]
    pub fn dim(self, text: impl AsRef<str>) -> Self {
        self.add(Style::Dim, text)
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.iter().all(|(_, text)| text.is_empty())
    }

    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    /// Cut to `width` columns where a terminal would otherwise wrap it.
    pub fn render(&self, paint: Paint, width: Option<usize>) -> String {
        let mut left = width.unwrap_or(usize::MAX);
        let mut out = String::new();
        for (style, text) in &self.pieces {
            let length = text.chars().count();
            if length <= left {
                out.push_str(&paint.apply(*style, text));
                left -= length;
                continue;
            }
            let cut: String = text.chars().take(left.saturating_sub(1)).collect();
            out.push_str(&paint.apply(*style, &format!("{cut}…")));
            break;
        }
        out
    }
}

/// The first line of a text, with a mark where there is more.
pub fn first_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default().trim_end().to_owned();
    match lines.next() {
        Some(_) => format!("{first} …"),
        None => first,
    }
}

/// The first line of a text that may be long, short enough to be read at a glance.
pub fn headline(text: &str) -> String {
    const LONGEST: usize = 160;
    let first = first_line(text);
    match first.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} …", first[..end].trim_end()),
        None => first,
    }
}

/// What somebody else says, every line behind a bar: nothing in it can be taken for a line of ours.
pub fn quoted(text: &str) -> impl Iterator<Item = Line> {
    text.trim().lines().map(|line| match line.trim_end() {
        "" => Line::new().dim("│"),
        line => Line::new().dim("│ ").plain(line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_the_terminal_ends() {
        let line = Line::new().plain("abc").dim("defgh");
        assert_eq!(line.render(Paint::Plain, Some(8)), "abcdefgh");
        assert_eq!(line.render(Paint::Plain, Some(6)), "abcde…");
        assert_eq!(line.render(Paint::Plain, None), "abcdefgh");
    }

    #[test]
    fn what_comes_from_outside_cannot_move_the_cursor() {
        let line = Line::new().plain("\x1b[2Jgone");
        assert!(!line.render(Paint::Plain, None).contains('\x1b'));
    }

    #[test]
    fn what_comes_from_outside_cannot_begin_a_line() {
        let line = Line::new().plain("a.md\nCOMPLETED, verified");
        assert_eq!(line.render(Paint::Plain, None), "a.md<U+000A>COMPLETED, verified");
        let said: Vec<String> =
            quoted("one\n\n  two\tthree\r\nfour\rfive").map(|line| line.render(Paint::Plain, None)).collect();
        assert_eq!(said, ["│ one", "│", "│   two    three", "│ four<U+000D>five"]);
    }

    #[test]
    fn a_headline_is_short() {
        assert_eq!(headline("Mend it\nand more"), "Mend it …");
        assert!(headline(&"é".repeat(120_000)).chars().count() < 200);
    }
}
