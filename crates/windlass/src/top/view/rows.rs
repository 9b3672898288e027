//! Lines in rows, and the rows at the foot of a page, in one of which somebody may be writing.

use windlass_policy::visible_line;

use super::super::field::Field;
use crate::show::{Length, Line, Style, width_of};

/// Pieces of one style each.
pub type Row = Vec<(Style, String)>;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Foot {
    pub rows: Vec<Row>,
    /// In which row and column one writes.
    pub cursor: Option<(usize, usize)>,
}

/// All of it.
pub fn whole(line: &Line, width: usize) -> Vec<Row> {
    line.styled_rows(Some(width), Length::Whole)
}

/// What can give way does.
pub fn short(line: &Line, width: usize) -> Vec<Row> {
    line.styled_rows(Some(width), Length::Short)
}

pub fn in_one(line: &Line, width: usize) -> Row {
    short(line, width).into_iter().next().unwrap_or_default()
}

impl Foot {
    pub fn add(&mut self, line: &Line, width: usize) {
        self.rows.extend(whole(line, width));
    }

    /// Where somebody writes: as much as there is room for, with the place where they do.
    pub fn write(&mut self, mark: &str, field: &Field, width: usize) {
        let (before, behind) = field.parts();
        let (before, behind) = (seen(&before), seen(&behind));
        let room = width.saturating_sub(width_of(mark) + 1);
        let before = crate::show::shortened_to_end(&before, room);
        let column = width_of(mark) + width_of(&before);
        self.cursor = Some((self.rows.len(), column));
        self.rows.push(vec![(Style::Accent, mark.to_owned()), (Style::Plain, before + &behind)]);
    }
}

/// What was typed or pasted, in one row.
fn seen(text: &str) -> String {
    visible_line(&text.replace('\n', "↵ ").replace('\t', "    ")).into_owned()
}
