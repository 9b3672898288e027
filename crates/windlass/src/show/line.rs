//! One line for a person: pieces of text with a style each, already made safe to print.

use windlass_policy::visible;

use super::style::{Paint, Style};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    pieces: Vec<(Style, String)>,
}

impl Line {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text as it may have come from anywhere: control characters are shown, never sent.
    #[must_use]
    pub fn add(mut self, style: Style, text: impl AsRef<str>) -> Self {
        self.pieces.push((style, visible(text.as_ref()).into_owned()));
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
}
