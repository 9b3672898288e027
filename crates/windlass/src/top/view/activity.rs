//! What happened, a row each, with the one that is chosen always in sight; or the record behind it.

use super::super::model::Model;
use super::super::update::place_in_activity;
use super::rows::{Foot, Row, in_one, whole};
use super::{Scrolled, Sheet};
use crate::show::{Line, Style};

pub fn sheet(model: &Model) -> Sheet {
    let activity = &model.activity;
    let width: usize = model.size.0.into();
    let mut foot = Foot::default();
    if let Some(record) = &activity.record {
        let body = record.iter().flat_map(|line| whole(line, width)).collect();
        return Sheet { body, foot, is_scrolled: Scrolled::From(activity.scroll) };
    }
    if activity.is_filtering || !activity.filter.is_blank() {
        foot.write("/ ", &activity.filter, width);
        if !activity.is_filtering {
            foot.cursor = None;
        }
    }
    Sheet { body: list(model), foot, is_scrolled: Scrolled::From(0) }
}

/// Only the rows that are seen: there may be very many.
fn list(model: &Model) -> Vec<Row> {
    let activity = &model.activity;
    let width: usize = model.size.0.into();
    let shown = activity.shown();
    let chosen = place_in_activity(activity);
    let height: usize = model.size.1.into();
    let first = chosen.saturating_sub(height / 3);
    let mut rows = Vec::new();
    let mut day = first.checked_sub(1).and_then(|before| shown.get(before)).map(|before| before.day.as_str());
    for (index, happening) in shown.iter().enumerate().skip(first).take(height) {
        if day != Some(happening.day.as_str()) {
            rows.push(in_one(&Line::new().dim(&happening.day), width));
            day = Some(&happening.day);
        }
        let mark = if index == chosen { "▸ " } else { "  " };
        rows.push(in_one(&happening.line.clone().behind(Style::Accent, mark), width));
    }
    if first + height > shown.len() {
        let words = match (activity.is_read, activity.more_before) {
            (false, _) => "reading …",
            (true, Some(_)) => "and earlier than that: End",
            (true, None) if shown.is_empty() => "Nothing like that happened.",
            (true, None) => "That is where it began.",
        };
        rows.push(in_one(&Line::marked(Style::Dim, "  ").dim(words), width));
    }
    rows
}
