//! What is to be decided, with what follows from a yes always in sight, and what comes next.

use super::super::model::{Model, Step};
use super::super::sight::{About, Item, Stakes};
use super::rows::{Foot, Row, in_one, whole};
use super::{Scrolled, Sheet};
use crate::show::{Line, Style};

const MOST_NEXT: usize = 3;
/// With fewer rows only the number of the others is told, which stands above.
const ROOM_FOR_NEXT: u16 = 18;

pub fn sheet(model: &Model) -> Sheet {
    let review = &model.review;
    let Some(item) = review.item.as_ref().filter(|_| model.active().is_some()) else { return without(model) };
    let width = model.size.0.into();
    let pinned = if review.shows_everything { 0 } else { item.consequences.min(item.lines.len()) };
    let (above, below) = item.lines.split_at(item.lines.len() - pinned);
    let body: Vec<Row> = above.iter().flat_map(|line| whole(line, width)).collect();
    let mut foot = Foot::default();
    let mut kept: Vec<Row> = below.iter().flat_map(|line| whole(line, width)).collect();
    // On a small screen both have their part.
    let most = (usize::from(model.size.1) / 2).saturating_sub(1).max(1);
    if kept.len() > most {
        kept.truncate(most);
        kept[most - 1] = vec![(Style::Warn, "  … x shows all of it".to_owned())];
    }
    // Whoever writes has read it.
    if matches!(model.review.step, Step::Declining(_) | Step::SendingBack(_)) && model.size.1 < ROOM_FOR_NEXT {
        kept.clear();
    }
    foot.rows.extend(kept);
    if !review.shows_everything {
        foot.rows.extend(next(model, item));
    }
    step(model, &mut foot);
    let mut sheet = Sheet { body, foot, is_scrolled: Scrolled::From(review.scroll) };
    tell_of_more(model, &mut sheet);
    sheet
}

/// A row says that something is not in sight.
fn tell_of_more(model: &Model, sheet: &mut Sheet) {
    // The head, the keys, and the row itself.
    let taken = super::head(model).len() + sheet.foot.rows.len() + model.remark.len() + 2;
    let room = usize::from(model.size.1).saturating_sub(taken);
    let hidden = sheet.body.len().saturating_sub(room + model.review.scroll);
    let is_all_seen = sheet.body.len() <= room + 1;
    if is_all_seen {
        return;
    }
    let words = match hidden {
        0 => "the end of it".to_owned(),
        rows if model.review.shows_everything => format!("{rows} more rows below: PgDn"),
        rows => format!("{rows} more rows: PgDn, or x"),
    };
    let line = Line::marked(Style::Dim, "… ").add(if hidden > 0 { Style::Warn } else { Style::Dim }, words);
    sheet.foot.rows.insert(0, in_one(&line, model.size.0.into()));
    sheet.foot.cursor = sheet.foot.cursor.map(|(row, column)| (row + 1, column));
}

fn next(model: &Model, item: &Item) -> Vec<Row> {
    let others: Vec<_> = model.waiting().iter().filter(|waiting| waiting.id != item.id).collect();
    if others.is_empty() || model.size.1 < ROOM_FOR_NEXT {
        return Vec::new();
    }
    let width = model.size.0.into();
    let head = Line::new().dim(format!("up next, {}:", others.len()));
    let lines = others.iter().take(MOST_NEXT).map(|waiting| in_one(&waiting.in_short, width));
    [Row::new(), in_one(&head, width)].into_iter().chain(lines).collect()
}

fn step(model: &Model, foot: &mut Foot) {
    let width = model.size.0.into();
    let ask = |foot: &mut Foot, words: &str| {
        foot.rows.push(Row::new());
        foot.add(&Line::new().add(Style::Accent, words), width);
    };
    match &model.review.step {
        Step::Looking => {}
        Step::Sending => foot.add(&Line::new().dim("… it is being told"), width),
        Step::Twice => {
            let irreversible =
                matches!(model.active().map(|waiting| &waiting.about), Some(About::Card(Stakes::Irreversible)));
            let what = if irreversible { "This cannot be undone." } else { "This is of high risk." };
            let line = Line::marked(Style::Bad, "! ").add(Style::Bad, what).add(Style::Bold, " Is it meant? y, or Esc");
            foot.add(&line, width);
        }
        Step::Declining(field) => {
            ask(foot, "Why not? The agent hears it, and goes on without.");
            foot.write("› ", field, width);
        }
        Step::SendingBack(field) => {
            ask(foot, "What should be done instead? The agent hears it.");
            foot.write("› ", field, width);
        }
        Step::Replying(field) => {
            ask(foot, "Your answer:");
            foot.write("› ", field, width);
        }
    }
}

/// Nothing that can be decided is there, or not yet.
fn without(model: &Model) -> Sheet {
    let width = model.size.0.into();
    let waiting = model.waiting().len();
    let mut lines = Vec::new();
    let mut foot = Foot::default();
    match (&model.desk, &model.review.active) {
        (None, _) => lines.push(Line::new().dim("Looking what waits for you …")),
        (Some(_), Some(_)) if model.active().is_some() => lines.push(Line::new().dim("Looking at it …")),
        (Some(_), Some(_)) => {
            lines.push(Line::new().plain("It has its answer, or its time is up."));
            let rest = match waiting {
                0 => "Nothing else waits for you.".to_owned(),
                1 => "Enter shows the one that waits next.".to_owned(),
                waiting => format!("Enter shows what waits next: there are {waiting}."),
            };
            lines.push(Line::new().dim(rest));
            // Somebody was writing when it went.
            step(model, &mut foot);
        }
        (Some(desk), None) => {
            lines.push(Line::new().plain("Nobody asks you for anything."));
            if !desk.open.is_empty() {
                lines.extend([Line::new(), Line::new().dim("not over:")]);
            }
            let mut body: Vec<Row> = lines.iter().flat_map(|line| whole(line, width)).collect();
            body.extend(desk.open.iter().map(|line| in_one(line, width)));
            return Sheet { body, foot, is_scrolled: Scrolled::From(model.review.scroll) };
        }
    }
    let body = lines.iter().flat_map(|line| whole(line, width)).collect();
    Sheet { body, foot, is_scrolled: Scrolled::From(0) }
}
