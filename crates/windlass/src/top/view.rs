//! The pages as rows, and the rows as a terminal shows them. What others said comes in lines that are safe to show already; what is written
//! here passes the same way.

mod activity;
mod keys;
mod review;
mod rows;
mod stream;

use ratatui::Frame;
use ratatui::layout::Position;
use ratatui::style::{Color, Modifier, Style as Look};

use self::rows::{Foot, Row, in_one, short, whole};
use super::model::{Model, Page};
use crate::show::{Line, Style, width_of};

/// What a page is made of.
struct Sheet {
    /// Everything that there is to see.
    body: Vec<Row>,
    /// What stays in sight below it.
    foot: Foot,
    is_scrolled: Scrolled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scrolled {
    /// The part that is seen is so far from the begin.
    From(usize),
    /// And from the end.
    ToEnd(usize),
}

/// Below the page: what the program says.
const MOST_REMARKS: usize = 4;
/// There are always so many rows of the page itself.
const LEAST_BODY: usize = 3;
const ROOM_FOR_A_BLANK: u16 = 16;

/// Whether there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Palette {
    Coloured,
    Plain,
}

pub fn view(model: &Model, palette: Palette, frame: &mut Frame<'_>) {
    let (head, sheet) = (head(model), sheet(model));
    let room = room_for(model, &head, &sheet.foot);
    let first = match sheet.is_scrolled {
        Scrolled::From(rows) => rows,
        Scrolled::ToEnd(rows) => sheet.body.len().saturating_sub(room + rows),
    };
    let mut painter = Painter { frame, palette, width: model.size.0 };
    let seen = sheet.body.iter().skip(first).take(room);
    for (y, row) in head.iter().chain(seen).enumerate() {
        painter.paint(y, row);
    }
    let begin = usize::from(model.size.1).saturating_sub(sheet.foot.rows.len());
    for (index, row) in sheet.foot.rows.iter().enumerate() {
        painter.paint(begin + index, row);
    }
    if let Some((row, column)) = sheet.foot.cursor {
        let x = u16::try_from(column).unwrap_or(u16::MAX).min(model.size.0.saturating_sub(1));
        let y = u16::try_from(begin + row).unwrap_or(u16::MAX);
        painter.frame.set_cursor_position(Position::new(x, y));
    }
}

struct Painter<'a, 'b> {
    frame: &'a mut Frame<'b>,
    palette: Palette,
    width: u16,
}

impl Painter<'_, '_> {
    fn paint(&mut self, y: usize, row: &Row) {
        let area = self.frame.area();
        let Some(y) = u16::try_from(y).ok().filter(|y| *y < area.height) else { return };
        let mut x = 0;
        for (style, text) in row {
            let left = self.width.min(area.width).saturating_sub(x);
            if left == 0 {
                return;
            }
            (x, _) = self.frame.buffer_mut().set_stringn(x, y, text, left.into(), self.palette.look(*style));
        }
    }
}

impl Palette {
    fn look(self, style: Style) -> Look {
        let coloured = |colour| if self == Self::Coloured { Look::new().fg(colour) } else { Look::new() };
        match style {
            Style::Plain => Look::new(),
            Style::Bold => Look::new().add_modifier(Modifier::BOLD),
            Style::Dim => Look::new().add_modifier(Modifier::DIM),
            Style::Good => coloured(Color::Green),
            Style::Bad => coloured(Color::Red),
            Style::Warn => coloured(Color::Yellow),
            Style::Accent => coloured(Color::Cyan),
        }
    }
}

/// How many rows of the page are seen at once.
pub fn room(model: &Model) -> usize {
    room_for(model, &head(model), &sheet(model).foot)
}

/// How far it can be scrolled.
pub fn most_scroll(model: &Model) -> usize {
    let sheet = sheet(model);
    sheet.body.len().saturating_sub(room_for(model, &head(model), &sheet.foot))
}

fn room_for(model: &Model, head: &[Row], foot: &Foot) -> usize {
    usize::from(model.size.1).saturating_sub(head.len() + foot.rows.len())
}

fn sheet(model: &Model) -> Sheet {
    let mut sheet = match model.page {
        _ if model.shows_keys => keys::sheet(model),
        Page::Review => review::sheet(model),
        Page::Stream => stream::sheet(model),
        Page::Activity => activity::sheet(model),
    };
    let width = model.size.0.into();
    let foot = &mut sheet.foot;
    foot.rows.extend(model.remark.iter().flat_map(|line| whole(line, width)).take(MOST_REMARKS));
    if let Some(why) = &model.away {
        let line = Line::marked(Style::Warn, "! ").add(Style::Warn, why);
        foot.rows.extend(short(&line, width).into_iter().take(2));
    }
    foot.rows.push(keys::hints(model));
    // Where there is no room for all of it, what stands above gives way: it is on the page as well.
    let most = usize::from(model.size.1).saturating_sub(head(model).len() + LEAST_BODY).max(1);
    let over = foot.rows.len().saturating_sub(most);
    foot.rows.drain(..over);
    foot.cursor = foot.cursor.and_then(|(row, column)| Some((row.checked_sub(over)?, column)));
    sheet
}

fn head(model: &Model) -> Vec<Row> {
    let waiting = model.waiting().len();
    let mut tabs: Row = Vec::new();
    for page in Page::ALL {
        let count = if page == Page::Review && waiting > 0 { format!(" ({waiting})") } else { String::new() };
        let name = format!("{} {}{count}", page.number() + 1, page.name());
        match page == model.page {
            true => tabs.push((Style::Bold, format!("[{name}]"))),
            false => tabs.push((Style::Dim, format!(" {name} "))),
        }
    }
    let taken: usize = tabs.iter().map(|(_, text)| width_of(text)).sum();
    let left = usize::from(model.size.0).saturating_sub(taken + 2);
    if left > width_of("windlass") {
        let place = crate::show::shortened(&windlass_policy::visible_line(&model.place), left);
        tabs.push((Style::Plain, " ".repeat(left + 1 - width_of(&place))));
        tabs.push((Style::Dim, place));
    }
    let mut head = vec![tabs, in_one(&summary(model), model.size.0.into())];
    if model.size.1 >= ROOM_FOR_A_BLANK {
        head.push(Row::new());
    }
    head
}

fn summary(model: &Model) -> Line {
    let Some(desk) = &model.desk else { return Line::new().dim(" looking …") };
    let waiting = match desk.waiting.len() {
        0 => Line::new().dim(" nothing waits for you"),
        1 => Line::new().add(Style::Warn, " 1 waits for you"),
        waiting => Line::new().add(Style::Warn, format!(" {waiting} wait for you")),
    };
    let line = match desk.running {
        0 => waiting.point(Style::Dim).dim("nobody is at work"),
        running => waiting.point(Style::Dim).add(Style::Accent, format!("{running} at work")),
    };
    let resting = desk.open.len() - desk.running.min(desk.open.len());
    if resting > 0 { line.point(Style::Dim).dim(format!("{resting} not over")) } else { line }
}
