//! How wide text is on a terminal, and how it is cut and broken to fit. Widths are those of single characters, added up: a
//! terminal that joins some of them shows less than was reckoned, and never more.

use unicode_width::UnicodeWidthChar as _;

use super::line::{Hold, Piece};
use super::style::Style;

pub fn width_of(text: &str) -> usize {
    text.chars().map(columns).sum()
}

fn columns(letter: char) -> usize {
    /// Makes a wide picture of the character before it.
    const PICTURE: char = '\u{fe0f}';
    if letter == PICTURE { 1 } else { letter.width().unwrap_or_default() }
}

/// The beginning of a text that fits, with a mark where there is more.
pub fn shortened(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |letter: &char| {
        let fits = columns(*letter) <= left;
        left = left.saturating_sub(columns(*letter));
        fits
    };
    let kept: String = text.chars().take_while(fits).collect();
    if width == 0 { String::new() } else { format!("{}…", kept.trim_end()) }
}

/// The end of a text that fits, with a mark where there was more.
pub fn shortened_to_end(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let backwards: String = text.chars().rev().collect();
    shortened(&backwards, width).chars().rev().collect()
}

/// The most that each may have so that all fit: whoever wants less leaves the rest to the others.
pub fn fair_share(room: usize, wanted: &[usize]) -> usize {
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    let mut left = room;
    for (index, width) in wanted.iter().enumerate() {
        let share = left / (wanted.len() - index);
        if *width > share {
            return share;
        }
        left -= width;
    }
    usize::MAX
}

/// A character in its place.
#[derive(Clone, Copy)]
struct Cell {
    style: Style,
    letter: char,
    /// Whether a row may end behind it.
    may_end: bool,
}

/// In rows of at most `width` columns, all but the first `indent` columns in.
pub fn wrapped(pieces: &[Piece], width: usize, indent: usize) -> Vec<Vec<Piece>> {
    let too_wide = pieces.iter().map(|piece| width_of(&piece.text)).sum::<usize>() > width;
    let turn = pieces.iter().position(|piece| too_wide && piece.hold == Hold::Turns);
    let (first, second) = turn.map_or((pieces, None), |at| (&pieces[..at], Some(&pieces[at + 1..])));
    let mut rows = Vec::new();
    for part in std::iter::once(first).chain(second) {
        fill(&mut rows, part, width, indent);
    }
    rows
}

fn fill(rows: &mut Vec<Vec<Piece>>, pieces: &[Piece], width: usize, indent: usize) {
    let cells = cells(pieces);
    let mut rest = cells.as_slice();
    loop {
        let inset = if rows.is_empty() { 0 } else { indent };
        let end = row_end(rest, width - inset);
        rows.push(joined(&rest[..end], inset));
        rest = &rest[end..];
        // What a row was broken at is not shown again.
        let blanks = rest.iter().take_while(|cell| cell.letter == ' ').count();
        if blanks == rest.len() {
            return;
        }
        rest = &rest[blanks..];
    }
}

fn cells(pieces: &[Piece]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for piece in pieces {
        for letter in piece.text.chars() {
            let breaks = piece.hold != Hold::Together;
            // Wide characters are words of their own.
            if let Some(before) = cells.last_mut()
                && breaks
                && columns(letter) > 1
            {
                before.may_end = true;
            }
            cells.push(Cell { style: piece.style, letter, may_end: breaks && (letter == ' ' || columns(letter) > 1) });
        }
    }
    cells
}

/// How many cells the first row takes.
fn row_end(cells: &[Cell], width: usize) -> usize {
    let mut used = 0;
    let mut last_end = None;
    for (index, cell) in cells.iter().enumerate() {
        used += columns(cell.letter);
        // A blank may stand over the edge, where it is not seen.
        if used > width && cell.letter != ' ' {
            return last_end.unwrap_or(index).max(1);
        }
        if cell.may_end {
            last_end = Some(index + 1);
        }
    }
    cells.len()
}

fn joined(cells: &[Cell], inset: usize) -> Vec<Piece> {
    let mut pieces = vec![Piece { style: Style::Plain, text: " ".repeat(inset), hold: Hold::Breaks }];
    for cell in cells {
        match pieces.last_mut() {
            Some(last) if last.style == cell.style => last.text.push(cell.letter),
            _ => pieces.push(Piece { style: cell.style, text: cell.letter.to_string(), hold: Hold::Breaks }),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, width: usize, expected: &[&str]) {
        let piece = Piece { style: Style::Plain, text: text.to_owned(), hold: Hold::Breaks };
        let text_of = |row: &Vec<Piece>| row.iter().map(|piece| piece.text.as_str()).collect::<String>();
        let rows: Vec<String> =
            wrapped(&[piece], width, 0).iter().map(|row| text_of(row).trim_end().to_owned()).collect();
        assert_eq!(rows, expected);
        assert!(rows.iter().all(|row| width_of(row) <= width), "{rows:?}");
    }

    #[test]
    fn rows_end_between_words() {
        check("", 10, &[""]);
        check("one two three", 13, &["one two three"]);
        check("one two three", 12, &["one two", "three"]);
        check("one two   three", 8, &["one two", "three"]);
        check("one two ", 7, &["one two"]);
    }

    #[test]
    fn a_word_longer_than_a_row_is_broken() {
        check("abcdefghijkl", 8, &["abcdefgh", "ijkl"]);
        check("a bcdefghijklm", 8, &["a", "bcdefghi", "jklm"]);
    }

    #[test]
    fn wide_characters_are_two_columns_and_break_anywhere() {
        check("漢字漢字漢字", 9, &["漢字漢字", "漢字"]);
        check("ab漢字 cd", 8, &["ab漢字", "cd"]);
        assert_eq!(width_of("漢字"), 4);
        assert_eq!(width_of("e\u{301}"), 1);
        assert_eq!(width_of("❤\u{fe0f}"), 2);
    }

    #[test]
    fn what_is_cut_says_so_and_fits() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdef", 5), "abcd…");
        assert_eq!(shortened("漢字漢字", 6), "漢字…");
        assert_eq!(shortened("漢字漢字", 0), "");
        assert_eq!(shortened_to_end("abcdef", 5), "…cdef");
    }

    #[test]
    fn who_wants_less_leaves_the_rest_to_others() {
        assert_eq!(fair_share(10, &[3, 4]), usize::MAX);
        assert_eq!(fair_share(10, &[3, 40]), 7);
        assert_eq!(fair_share(10, &[30, 40]), 5);
    }
}
