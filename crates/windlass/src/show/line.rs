//! One line for a person: pieces of text with a style each, already made safe to print. A line too long for the terminal is
//! broken into rows, each behind the line's margin; in some lines a piece gives way first. How rows are broken is `wrap`'s.

use serde::{Deserialize, Deserializer, Serialize};
use windlass_policy::visible_line;

use super::style::{Paint, Style};
use super::wrap::{fair_share, shortened, width_of, wrapped};

/// A piece that gives way keeps this much.
const LEAST: usize = 16;
/// Where less is left beside the margin the terminal may break the line itself.
const NARROWEST: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Line {
    /// What a list or a log puts before its lines.
    before: Vec<Margin>,
    margin: Vec<Margin>,
    pieces: Vec<Piece>,
}

/// What stands left of the text: in the first row, and in those it is continued in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Margin {
    style: Style,
    #[serde(deserialize_with = "made_safe")]
    first: String,
    #[serde(deserialize_with = "made_safe")]
    next: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Piece {
    pub(super) style: Style,
    #[serde(deserialize_with = "made_safe")]
    pub(super) text: String,
    pub(super) hold: Hold,
}

/// What may happen to a piece for which there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Hold {
    /// Broken between words.
    Breaks,
    /// Kept in one row.
    Together,
    /// Cut short, before anything is broken.
    GivesWay,
    /// Where the first row ends if there must be a second.
    Turns,
}

/// Whether what can give way does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Short,
    Whole,
}

impl Line {
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins with a mark, and is continued beside it.
    pub fn marked(style: Style, mark: &str) -> Self {
        Self::new().with_margin(style, mark, &" ".repeat(width_of(mark)))
    }

    /// Adds text as it may have come from anywhere: control characters are shown, never sent. A line break is one of them,
    /// since what follows it would pass for a line of ours.
    #[must_use]
    pub fn add(self, style: Style, text: impl AsRef<str>) -> Self {
        self.piece(style, text.as_ref(), Hold::Breaks)
    }

    #[must_use]
    pub fn plain(self, text: impl AsRef<str>) -> Self {
        self.add(Style::Plain, text)
    }

    #[must_use]
    pub fn dim(self, text: impl AsRef<str>) -> Self {
        self.add(Style::Dim, text)
    }

    /// Adds text of which the beginning will do.
    #[must_use]
    pub fn giving_way(self, style: Style, text: impl AsRef<str>) -> Self {
        self.piece(style, text.as_ref(), Hold::GivesWay)
    }

    /// Adds what is never broken in two, with points between.
    #[must_use]
    pub fn facts<Fact: AsRef<str>>(mut self, style: Style, facts: impl IntoIterator<Item = Fact>) -> Self {
        for (index, fact) in facts.into_iter().enumerate() {
            if index > 0 {
                self = self.point(style);
            }
            self = self.piece(style, fact.as_ref(), Hold::Together);
        }
        self
    }

    /// Adds a gap. What follows it begins a row if all does not fit into one.
    #[must_use]
    pub fn gap(self) -> Self {
        self.piece(Style::Plain, "  ", Hold::Turns)
    }

    /// Adds a point between two things. A row may end with it and never begins with it.
    #[must_use]
    pub fn point(self, style: Style) -> Self {
        self.piece(style, " ·", Hold::Together).add(style, " ")
    }

    fn piece(mut self, style: Style, text: &str, hold: Hold) -> Self {
        self.pieces.push(Piece { style, text: safe(text), hold });
        self
    }

    /// Hangs in a tree: its first row behind `first`, those that continue it behind `next`.
    #[must_use]
    pub fn hung(self, style: Style, first: &str, next: &str) -> Self {
        self.with_margin(style, first, next)
    }

    fn with_margin(mut self, style: Style, first: &str, next: &str) -> Self {
        self.margin.push(Margin { style, first: first.to_owned(), next: next.to_owned() });
        self
    }

    /// Whether nothing stands in it.
    pub fn is_empty(&self) -> bool {
        self.margin.is_empty() && self.pieces.is_empty()
    }

    /// The same line with this before it, which its further rows stay clear of.
    #[must_use]
    pub fn behind(mut self, style: Style, before: &str) -> Self {
        let next = " ".repeat(width_of(before));
        self.before.insert(0, Margin { style, first: before.to_owned(), next });
        self
    }

    /// All of it without colours, for who has no screen.
    pub fn text(&self) -> String {
        painted(Paint::Plain, &self.row(0, &self.pieces))
    }

    /// In rows of at most `width` columns.
    pub fn rows(&self, paint: Paint, width: Option<usize>, length: Length) -> Vec<String> {
        self.styled_rows(width, length).iter().map(|row| painted(paint, row)).collect()
    }

    /// The same for who paints them: each row in pieces of one style.
    pub fn styled_rows(&self, width: Option<usize>, length: Length) -> Vec<Vec<(Style, String)>> {
        let margin: usize = self.margins().map(|margin| width_of(&margin.first)).sum();
        let room = width.and_then(|width| width.checked_sub(margin)).filter(|room| *room >= NARROWEST);
        let Some(room) = room else { return vec![self.row(0, &self.pieces)] };
        let pieces = match length {
            Length::Short => given_way(&self.pieces, room),
            Length::Whole => self.pieces.clone(),
        };
        // What has no mark is continued clear of the left edge, where lines of ours begin.
        let indent = if self.margin.is_empty() { 2 } else { 0 };
        let rows = wrapped(&pieces, room, indent);
        rows.iter().enumerate().map(|(index, row)| self.row(index, row)).collect()
    }

    /// In one row, cut where it ends.
    pub fn cut(&self, paint: Paint, width: Option<usize>) -> String {
        let mut left = width.unwrap_or(usize::MAX);
        let mut out = String::new();
        for Piece { style, text, .. } in &self.pieces {
            let text = shortened(text, left);
            left -= width_of(&text).min(left);
            out.push_str(&paint.apply(*style, &text));
        }
        out
    }

    fn margins(&self) -> impl Iterator<Item = &Margin> {
        self.before.iter().chain(&self.margin)
    }

    fn row(&self, index: usize, pieces: &[Piece]) -> Vec<(Style, String)> {
        let margin = self.margins().map(|margin| {
            let text = if index == 0 { &margin.first } else { &margin.next };
            (margin.style, text.clone())
        });
        let mut texts: Vec<(Style, String)> = margin.collect();
        texts.extend(pieces.iter().map(|piece| (piece.style, piece.text.clone())));
        while let Some((_, last)) = texts.last_mut() {
            last.truncate(last.trim_end().len());
            if !last.is_empty() {
                break;
            }
            texts.pop();
        }
        texts
    }
}

fn painted(paint: Paint, row: &[(Style, String)]) -> String {
    row.iter().map(|(style, text)| paint.apply(*style, text)).collect()
}

fn safe(text: &str) -> String {
    visible_line(&text.replace('\t', "    ")).into_owned()
}

/// Of a line from elsewhere.
fn made_safe<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(safe(&String::deserialize(deserializer)?))
}

/// Cuts what gives way so that all has room, if that can be.
fn given_way(pieces: &[Piece], room: usize) -> Vec<Piece> {
    let gives_way = |piece: &&Piece| piece.hold == Hold::GivesWay;
    let fixed: usize = pieces.iter().filter(|piece| !gives_way(piece)).map(|piece| width_of(&piece.text)).sum();
    let widths: Vec<usize> = pieces.iter().filter(gives_way).map(|piece| width_of(&piece.text)).collect();
    let share = fair_share(room.saturating_sub(fixed), &widths);
    // What takes several rows in any case is not made less readable for nothing.
    let most = if share < LEAST { room } else { share };
    let fit = |piece: &Piece| match piece.hold {
        Hold::GivesWay => Piece { text: shortened(&piece.text, most), ..piece.clone() },
        Hold::Breaks | Hold::Together | Hold::Turns => piece.clone(),
    };
    pieces.iter().map(fit).collect()
}

/// As a terminal so wide without colours shows it.
#[cfg(test)]
pub fn rows_of(line: &Line, width: usize) -> Vec<String> {
    line.rows(Paint::Plain, Some(width), Length::Short)
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

/// What somebody else says, every row behind a bar: nothing in it can be taken for a line of ours.
pub fn quoted(text: &str) -> impl Iterator<Item = Line> {
    const BAR: &str = "│ ";
    const DEEPEST: usize = 12;
    text.trim().lines().map(|line| {
        let line = safe(line.trim_end());
        let words = line.trim_start_matches(' ');
        let indent = line.len() - words.len();
        let quoted = Line::new().with_margin(Style::Dim, BAR, BAR);
        if indent > DEEPEST {
            return quoted.plain(line);
        }
        // An indented passage stays indented, and what is listed stays clear of its mark.
        let (mark, words) = words.split_at(list_mark(words));
        let first = format!("{}{mark}", " ".repeat(indent));
        quoted.with_margin(Style::Plain, &first, &" ".repeat(first.len())).plain(words)
    })
}

/// Text of which every character counts: nothing is trimmed, what cannot be seen is written out, and a row that only continues
/// a line stands behind a broken bar, so that it cannot be taken for another line.
pub fn verbatim(text: &str) -> impl Iterator<Item = Line> {
    text.split('\n').map(|line| {
        let shown = visible_line(line);
        let words = shown.trim_end_matches(' ');
        let blanks = "<U+0020>".repeat(shown.len() - words.len());
        Line::new().with_margin(Style::Dim, "│ ", "┆ ").plain(format!("{words}{blanks}"))
    })
}

/// How long the mark is that an item of a list begins with: `- `, `* `, `12. `.
fn list_mark(text: &str) -> usize {
    let digits = text.bytes().take(3).take_while(u8::is_ascii_digit).count();
    match text.as_bytes().get(digits..) {
        Some([b'-' | b'*', b' ', ..]) if digits == 0 => 2,
        Some([b'.' | b')', b' ', ..]) if digits > 0 => digits + 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(line: &Line) -> String {
        line.rows(Paint::Plain, None, Length::Whole).join("\n")
    }

    #[test]
    fn a_status_is_cut_where_the_terminal_ends() {
        let line = Line::new().plain("abc").dim("defgh");
        assert_eq!(line.cut(Paint::Plain, Some(8)), "abcdefgh");
        assert_eq!(line.cut(Paint::Plain, Some(6)), "abcde…");
        assert_eq!(line.cut(Paint::Plain, None), "abcdefgh");
    }

    #[test]
    fn a_status_of_wide_characters_never_takes_two_rows() {
        let line = Line::new().plain("◐ ").plain("echo 漢字漢字漢字");
        for width in 2..30 {
            let cut = line.cut(Paint::Plain, Some(width));
            assert!(width_of(&cut) <= width, "{width}: {cut}");
        }
        assert_eq!(line.cut(Paint::Plain, Some(12)), "◐ echo 漢字…");
    }

    #[test]
    fn a_quoted_paragraph_keeps_its_bar_and_all_its_words() {
        let words =
            "the quick brown fox jumps over the lazy dog and does so again and again until nobody looks any more";
        for line in quoted(words) {
            assert_eq!(
                rows_of(&line, 80),
                [
                    "│ the quick brown fox jumps over the lazy dog and does so again and again until",
                    "│ nobody looks any more",
                ]
            );
            let log = line.behind(Style::Dim, "12:00:00  ");
            let log = log.rows(Paint::Plain, Some(80), Length::Whole);
            assert_eq!(
                log,
                [
                    "12:00:00  │ the quick brown fox jumps over the lazy dog and does so again and",
                    "          │ again until nobody looks any more",
                ]
            );
        }
    }

    #[test]
    fn of_what_will_run_every_character_is_shown() {
        let text = "  a\tb \n\nc\u{202e}d\r\n";
        let shown: Vec<String> = verbatim(text).map(|line| whole(&line)).collect();
        assert_eq!(shown, ["│   a<U+0009>b<U+0020>", "│", "│ c<U+202E>d<U+000D>", "│"]);
        let long = verbatim("one two three").flat_map(|line| rows_of(&line, 10)).collect::<Vec<_>>();
        assert_eq!(long, ["│ one two", "┆ three"], "a row that goes on is no line");
    }

    #[test]
    fn an_indented_passage_stays_indented() {
        let line = quoted("x\n    one two three").nth(1).expect("two lines");
        assert_eq!(rows_of(&line, 15), ["│     one two", "│     three"]);
        let said = quoted("- one two three\n12. one two three\n-3 one two three");
        let said: Vec<String> = said.flat_map(|line| rows_of(&line, 15)).collect();
        assert_eq!(said, ["│ - one two", "│   three", "│ 12. one two", "│     three", "│ -3 one two", "│ three"]);
    }

    #[test]
    fn a_command_gives_way_to_its_outcome() {
        let command = format!("bash {}", "x".repeat(500));
        let line = Line::marked(Style::Accent, "▸ ")
            .giving_way(Style::Plain, command)
            .gap()
            .facts(Style::Dim, ["Exit code: 0", "12 ms"]);
        let shown = rows_of(&line, 80);
        assert_eq!(shown.len(), 1, "{shown:?}");
        assert!(shown[0].ends_with("xxx…  Exit code: 0 · 12 ms"), "{shown:?}");
        assert_eq!(width_of(&shown[0]), 80);
        let log = line.rows(Paint::Plain, Some(80), Length::Whole).concat();
        assert_eq!(log.matches('x').count(), 500 + 1, "the log has all of it");
    }

    #[test]
    fn facts_are_not_broken_in_two() {
        let line = Line::new().plain("DONE ").facts(Style::Dim, ["3 model calls", "2 min 05 s"]);
        assert_eq!(rows_of(&line, 26), ["DONE 3 model calls ·", "  2 min 05 s"]);
        assert_eq!(rows_of(&line, 18), ["DONE", "  3 model calls ·", "  2 min 05 s"], "no row begins with a point");
    }

    #[test]
    fn a_line_that_needs_two_rows_turns_at_its_gap() {
        let line = Line::new().plain("DONE").gap().facts(Style::Dim, ["3 model calls", "2 min 05 s"]);
        assert_eq!(rows_of(&line, 32), ["DONE  3 model calls · 2 min 05 s"]);
        assert_eq!(rows_of(&line, 31), ["DONE", "  3 model calls · 2 min 05 s"]);
    }

    #[test]
    fn what_takes_several_rows_anyway_is_not_cut_for_nothing() {
        let line = Line::marked(Style::Accent, "▸ ").giving_way(Style::Plain, "write some/long/path/of/a/file.md");
        let line = line.gap().plain("Created some/long/path/of/a/file.md");
        assert_eq!(
            rows_of(&line, 40),
            ["▸ write some/long/path/of/a/file.md", "  Created some/long/path/of/a/file.md"]
        );
    }

    #[test]
    fn what_comes_from_outside_cannot_move_the_cursor() {
        let line = Line::new().plain("\x1b[2Jgone");
        assert!(!whole(&line).contains('\x1b'));
    }

    #[test]
    fn what_comes_from_outside_cannot_begin_a_line() {
        let line = Line::new().plain("a.md\nCOMPLETED, verified");
        assert_eq!(whole(&line), "a.md<U+000A>COMPLETED, verified");
        let said: Vec<String> = quoted("one\n\n  two\tthree\r\nfour\rfive").map(|line| whole(&line)).collect();
        assert_eq!(said, ["│ one", "│", "│   two    three", "│ four<U+000D>five"]);
    }

    #[test]
    fn what_comes_from_outside_cannot_begin_a_row() {
        let line = Line::new().plain(format!("{} COMPLETED, verified", "x".repeat(75)));
        assert_eq!(rows_of(&line, 80)[1], "  COMPLETED, verified");
        let log = line.behind(Style::Dim, "12:00:00  ");
        assert_eq!(rows_of(&log, 90)[1], "            COMPLETED, verified");
    }

    #[test]
    fn a_headline_is_short() {
        assert_eq!(headline("Mend it\nand more"), "Mend it …");
        assert!(headline(&"é".repeat(120_000)).chars().count() < 200);
    }
}
