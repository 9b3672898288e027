//! Stream: what was said in a conversation, what came of it, and saying more.

use super::super::input::{Effect, Key, Trouble};
use super::super::model::{Model, Stream};
use super::super::sight::Look;
use super::super::view::room;
use super::{ask, told_off};
use crate::show::Line;

pub fn pressed(model: &mut Model, key: Key, effects: &mut Vec<Effect>) -> bool {
    if model.stream.choosing.is_some() {
        return choose(model, key, effects);
    }
    let page = room(model).saturating_sub(1).max(1);
    let stream = &mut model.stream;
    match key {
        Key::Escape => stream.is_writing = false,
        Key::Enter if stream.is_writing => say(stream, effects),
        Key::Enter | Key::Letter('i') => (stream.is_writing, stream.scroll) = (true, 0),
        Key::Letter('s') => stream.choosing = Some(0),
        // From the end, where the newest is.
        Key::Up | Key::Letter('k') => stream.scroll += 1,
        Key::Down | Key::Letter('j') => stream.scroll = stream.scroll.saturating_sub(1),
        Key::PageUp => stream.scroll += page,
        Key::PageDown => stream.scroll = stream.scroll.saturating_sub(page),
        Key::Home => stream.scroll = usize::MAX / 2,
        Key::End => stream.scroll = 0,
        _ => return false,
    }
    true
}

fn say(stream: &mut Stream, effects: &mut Vec<Effect>) {
    let session = stream.session.or_else(|| stream.talk.as_ref()?.session);
    let Some(session) = session.filter(|_| !stream.field.is_blank() && !stream.is_saying) else { return };
    let home = stream.home.as_ref().filter(|(home, _)| *home == session).map(|(_, folder)| folder.clone());
    let folder = stream.talk.as_ref().and_then(|talk| talk.folder.clone()).or(home);
    stream.is_saying = true;
    effects.push(Effect::Say { session, folder, words: stream.field.text().trim().to_owned() });
}

fn choose(model: &mut Model, key: Key, effects: &mut Vec<Effect>) -> bool {
    let stream = &mut model.stream;
    let known = stream.talk.as_ref().map_or(&[][..], |talk| talk.known.as_slice());
    let at = stream.choosing.unwrap_or_default();
    match key {
        Key::Up | Key::Letter('k') => stream.choosing = Some(at.saturating_sub(1)),
        Key::Down | Key::Letter('j') => stream.choosing = Some((at + 1).min(known.len().saturating_sub(1))),
        Key::Enter => {
            if let Some(chosen) = known.get(at) {
                stream.session = Some(chosen.session);
                (stream.talk, stream.scroll) = (None, 0);
                let look = Look::Talk(stream.session);
                ask(model, look, effects);
            }
            model.stream.choosing = None;
        }
        Key::Escape | Key::Letter('s') => stream.choosing = None,
        _ => return false,
    }
    true
}

/// Until then the words stay where they were written: what was not heard is not lost.
pub fn said(model: &mut Model, outcome: Result<Vec<Line>, Trouble>) {
    model.stream.is_saying = false;
    match outcome {
        Ok(lines) => {
            model.remark = lines;
            model.stream.field = super::super::field::Field::default();
        }
        Err(trouble) => model.remark = told_off(trouble),
    }
}
