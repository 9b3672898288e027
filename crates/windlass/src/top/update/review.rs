//! Review: one card or question at a time. The one that is active stays in its place whatever comes and goes, so that nobody answers what
//! they did not look at; and after an answer it takes a key of its own to go on.

use super::super::field::Field;
use super::super::input::{Effect, Key, Trouble};
use super::super::model::{Model, Step};
use super::super::sight::{About, Look, Stakes};
use super::super::view::room;
use super::{ask, scrolled, told_off};
use crate::show::Line;

/// What is active is shown whole.
pub fn look(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(active) = model.active().map(|waiting| waiting.id.clone()) else { return };
    if model.review.item.as_ref().is_none_or(|item| item.id != active) {
        ask(model, Look::Item(active), effects);
    }
}

/// The oldest is active where nothing is.
pub fn settle(model: &mut Model) {
    if model.review.active.is_none() {
        let first = model.waiting().first().map(|waiting| waiting.id.clone());
        turn_to(model, first);
    }
    if model.active().is_none() {
        // Words that somebody is writing are not thrown away: who sends them is told.
        if model.review.step == Step::Twice {
            model.review.step = Step::Looking;
        }
        if model.waiting().is_empty() && model.review.step == Step::Looking {
            turn_to(model, None);
        }
    }
}

fn turn_to(model: &mut Model, id: Option<String>) {
    let review = &mut model.review;
    (review.active, review.item, review.step) = (id, None, Step::Looking);
    (review.scroll, review.shows_everything) = (0, false);
}

/// To the next one, or to the one before; from one that is gone to the first.
fn go(model: &mut Model, by: isize, effects: &mut Vec<Effect>) {
    let active = model.review.active.as_deref();
    let at = model.waiting().iter().position(|waiting| Some(waiting.id.as_str()) == active);
    let last = model.waiting().len().saturating_sub(1);
    let to = at.map_or(0, |at| at.saturating_add_signed(by).min(last));
    if at != Some(to) {
        let id = model.waiting().get(to).map(|waiting| waiting.id.clone());
        turn_to(model, id);
        look(model, effects);
    }
}

pub fn pressed(model: &mut Model, key: Key, effects: &mut Vec<Effect>) -> bool {
    match std::mem::take(&mut model.review.step) {
        Step::Sending => model.review.step = Step::Sending,
        Step::Declining(field) => return words(model, key, Wrote::Decline(field), effects),
        Step::SendingBack(field) => return words(model, key, Wrote::SendBack(field), effects),
        Step::Replying(field) => return words(model, key, Wrote::Reply(field), effects),
        Step::Twice if key == Key::Letter('y') => {
            approve(model, true, effects);
            return true;
        }
        // Any other key takes the first yes back.
        Step::Twice if matches!(key, Key::Escape | Key::Letter('a')) => return true,
        Step::Twice | Step::Looking => {}
    }
    let room = room(model);
    if scrolled(&mut model.review.scroll, room, key) {
        return true;
    }
    match key {
        Key::Letter('j') => go(model, 1, effects),
        Key::Letter('k') => go(model, -1, effects),
        Key::Letter('x') => {
            model.review.shows_everything = !model.review.shows_everything;
            model.review.scroll = 0;
        }
        Key::Escape => (model.review.shows_everything, model.review.scroll) = (false, 0),
        Key::Enter if model.active().is_none() => go(model, 1, effects),
        _ if model.review.step == Step::Sending => return false,
        _ => return decide(model, key, effects),
    }
    true
}

fn decide(model: &mut Model, key: Key, effects: &mut Vec<Effect>) -> bool {
    // What cannot be seen yet is not answered.
    let is_seen =
        model.review.item.as_ref().is_some_and(|item| model.review.active.as_deref() == Some(item.id.as_str()));
    let Some(waiting) = model.active().filter(|_| is_seen).cloned() else { return false };
    match (waiting.about, key) {
        (About::Card(Stakes::Ordinary), Key::Letter('a')) => approve(model, false, effects),
        (About::Card(_), Key::Letter('a')) => model.review.step = Step::Twice,
        (About::Card(_), Key::Letter('d')) => model.review.step = Step::Declining(Field::default()),
        (About::Card(_), Key::Letter('e')) if !waiting.is_yes_or_no => {
            model.review.step = Step::SendingBack(Field::default());
        }
        (About::Question { options, .. }, Key::Letter(digit @ '1'..='9')) => {
            // It is seen in words before it is sent.
            let Some(option) = options.get(digit as usize - '1' as usize) else { return false };
            model.review.step = Step::Replying(Field::of(option));
        }
        (About::Question { .. }, Key::Enter | Key::Letter('r')) => {
            model.review.step = Step::Replying(Field::default());
        }
        _ => return false,
    }
    true
}

fn approve(model: &mut Model, confirmed: bool, effects: &mut Vec<Effect>) {
    if let Some(card) = model.active().map(|waiting| waiting.id.clone()) {
        model.review.step = Step::Sending;
        effects.push(Effect::Approve { card, confirmed });
    }
}

/// What is being written.
enum Wrote {
    Decline(Field),
    SendBack(Field),
    Reply(Field),
}

fn words(model: &mut Model, key: Key, wrote: Wrote, effects: &mut Vec<Effect>) -> bool {
    if key == Key::Escape {
        return true;
    }
    if let (Key::Enter, Some(effect)) = (key, answer(model, &wrote)) {
        model.review.step = Step::Sending;
        effects.push(effect);
        return true;
    }
    model.review.step = match wrote {
        Wrote::Decline(field) => Step::Declining(field),
        Wrote::SendBack(field) => Step::SendingBack(field),
        Wrote::Reply(field) => Step::Replying(field),
    };
    true
}

/// None: something is missing.
fn answer(model: &Model, wrote: &Wrote) -> Option<Effect> {
    let id = model.review.active.clone()?;
    let trimmed = |field: &Field| field.text().trim().to_owned();
    Some(match wrote {
        Wrote::Decline(field) => Effect::Decline { card: id, note: trimmed(field) },
        Wrote::SendBack(field) | Wrote::Reply(field) if field.is_blank() => return None,
        Wrote::SendBack(field) => Effect::SendBack { card: id, note: trimmed(field) },
        Wrote::Reply(field) => {
            let About::Question { task, .. } = &model.active()?.about else { return None };
            Effect::Reply { task: *task, question: id, words: trimmed(field) }
        }
    })
}

pub fn answered(model: &mut Model, outcome: Result<Vec<Line>, Trouble>) {
    if model.review.step == Step::Sending {
        model.review.step = Step::Looking;
    }
    match outcome {
        Ok(lines) => {
            model.remark = lines;
            // It does not wait any more, whatever was told last.
            let active = model.review.active.clone();
            if let Some(desk) = &mut model.desk {
                desk.waiting.retain(|waiting| Some(&waiting.id) != active.as_ref());
            }
            settle(model);
        }
        Err(trouble) => model.remark = told_off(trouble),
    }
}
