//! Activity: what happened, the newest first, as far back as somebody goes.

use super::super::input::{Effect, Key};
use super::super::model::{Activity, Model};
use super::super::sight::{Earlier, Look, News};
use super::super::view::room;
use super::{ask, scrolled};

/// So many before the end of what was read more is read.
const AHEAD: usize = 50;
/// Read for a search that finds little, before somebody asks for more.
const UNASKED: usize = 4_000;

pub fn look(model: &mut Model, effects: &mut Vec<Effect>) {
    let look = match model.activity.happened.first() {
        Some(newest) => Look::Since(newest.position),
        None => Look::Before(None),
    };
    ask(model, look, effects);
}

pub fn heard_since(model: &mut Model, news: News, effects: &mut Vec<Effect>) {
    let activity = &mut model.activity;
    if news.has_gap {
        *activity = Activity { filter: activity.filter.clone(), ..Activity::default() };
        return ask(model, Look::Before(None), effects);
    }
    let newest = activity.happened.first().map_or(0, |newest| newest.position);
    let fresh = news.happened.into_iter().filter(|happening| happening.position > newest);
    drop(activity.happened.splice(..0, fresh));
}

pub fn heard_before(model: &mut Model, look: &Look, earlier: Earlier, effects: &mut Vec<Effect>) {
    let activity = &mut model.activity;
    if *look == Look::Before(None) {
        activity.happened.clear();
    }
    let oldest = activity.happened.last().map_or(u64::MAX, |oldest| oldest.position);
    activity.happened.extend(earlier.happened.into_iter().filter(|happening| happening.position < oldest));
    (activity.is_read, activity.more_before) = (true, earlier.more_before);
    if activity.happened.len() < UNASKED {
        read_on(model, effects);
    }
}

/// Where the end of what was read comes into sight.
pub fn read_on(model: &mut Model, effects: &mut Vec<Effect>) {
    let shown = model.activity.shown();
    let left = shown.len() - place(&model.activity).min(shown.len());
    let is_near = left < AHEAD.max(room(model));
    if let (true, Some(before)) = (is_near, model.activity.more_before) {
        ask(model, Look::Before(Some(before)), effects);
    }
}

/// Where the chosen one stands among those that are shown.
pub fn place(activity: &Activity) -> usize {
    let Some(chosen) = activity.chosen else { return 0 };
    let shown = activity.shown();
    let at = shown.iter().position(|happening| happening.position <= chosen);
    at.unwrap_or(shown.len().saturating_sub(1))
}

pub fn pressed(model: &mut Model, key: Key, effects: &mut Vec<Effect>) -> bool {
    let room = room(model);
    let activity = &mut model.activity;
    if activity.record.is_some() {
        if matches!(key, Key::Escape | Key::Enter | Key::Backspace) {
            (activity.record, activity.scroll) = (None, 0);
            return true;
        }
        return scrolled(&mut activity.scroll, room, key);
    }
    match key {
        Key::Enter if activity.is_filtering => activity.is_filtering = false,
        Key::Escape => {
            activity.filter = super::super::field::Field::default();
            activity.is_filtering = false;
        }
        Key::Letter('/') => (activity.is_filtering, activity.chosen) = (true, None),
        Key::Letter('x') => activity.shows_everything = !activity.shows_everything,
        Key::Enter => {
            let position = activity.shown().get(place(activity)).map(|happening| happening.position);
            if let Some(position) = position {
                ask(model, Look::Record(position), effects);
            }
        }
        _ => {
            let to = match (place(activity), key) {
                (at, Key::Up | Key::Letter('k')) => at.saturating_sub(1),
                (at, Key::Down | Key::Letter('j')) => at + 1,
                (at, Key::PageUp) => at.saturating_sub(room),
                (at, Key::PageDown | Key::Letter(' ')) => at + room,
                (_, Key::Home) => 0,
                (_, Key::End) => usize::MAX,
                _ => return false,
            };
            let shown = activity.shown();
            let to = to.min(shown.len().saturating_sub(1));
            activity.chosen = shown.get(to).filter(|_| to > 0).map(|happening| happening.position);
        }
    }
    read_on(model, effects);
    true
}
