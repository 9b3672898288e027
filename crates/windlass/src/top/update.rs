//! What becomes of each thing that comes: the pages as they are then, and what is asked for. It does nothing itself.

mod activity;
mod review;
mod stream;

pub use self::activity::place as place_in_activity;
use super::input::{Effect, Input, Key, Trouble};
use super::model::{Model, Page};
use super::sight::{Look, Told};
use super::view::most_scroll;
use crate::show::{Line, Style};

pub fn update(model: &mut Model, input: Input) -> Vec<Effect> {
    let mut effects = Vec::new();
    match input {
        Input::Sized(columns, rows) => model.size = (columns, rows),
        Input::Hinted => look_anew(model, &mut effects),
        Input::Told(look, told) => {
            model.away = None;
            looked(model, &look, &mut effects);
            heard(model, &look, told, &mut effects);
        }
        Input::NotTold(look, trouble) => {
            // The next hint asks again.
            model.looks.under_way.retain(|under_way| !is_alike(under_way, &look));
            model.looks.again.retain(|again| !is_alike(again, &look));
            failed(model, trouble);
        }
        Input::Answered(outcome) => {
            review::answered(model, outcome);
            look_anew(model, &mut effects);
        }
        Input::Said(outcome) => {
            stream::said(model, outcome);
            look_anew(model, &mut effects);
        }
        Input::Pasted(text) => {
            if let Some(field) = model.field() {
                field.write(&text.replace("\r\n", "\n").replace('\r', "\n"));
            }
        }
        Input::Pressed(key) => pressed(model, key, &mut effects),
    }
    stay_in_sight(model);
    effects
}

/// Asks for it, unless it is being looked at: then it is looked at once more.
fn ask(model: &mut Model, look: Look, effects: &mut Vec<Effect>) {
    // What was said before does not change.
    let is_settled = matches!(look, Look::Item(_) | Look::Before(Some(_)) | Look::Record(_));
    if is_settled && model.looks.under_way.contains(&look) {
        return;
    }
    match model.looks.under_way.iter().any(|under_way| is_alike(under_way, &look)) {
        true => {
            model.looks.again.retain(|again| !is_alike(again, &look));
            model.looks.again.push(look);
        }
        false => {
            model.looks.under_way.push(look.clone());
            effects.push(Effect::Look(look));
        }
    }
}

fn looked(model: &mut Model, look: &Look, effects: &mut Vec<Effect>) {
    model.looks.under_way.retain(|under_way| !is_alike(under_way, look));
    let again = model.looks.again.iter().position(|again| is_alike(again, look));
    if let Some(index) = again {
        let look = model.looks.again.remove(index);
        ask(model, look, effects);
    }
}

/// Whether they fill the same place.
fn is_alike(one: &Look, other: &Look) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

fn look_anew(model: &mut Model, effects: &mut Vec<Effect>) {
    ask(model, Look::Desk, effects);
    look_at_page(model, effects);
}

/// What the page that is open needs.
fn look_at_page(model: &mut Model, effects: &mut Vec<Effect>) {
    match model.page {
        Page::Review => review::look(model, effects),
        Page::Stream => ask(model, Look::Talk(model.stream.session), effects),
        Page::Activity => activity::look(model, effects),
    }
}

fn heard(model: &mut Model, look: &Look, told: Told, effects: &mut Vec<Effect>) {
    match told {
        Told::Desk(desk) => {
            model.desk = Some(desk);
            review::settle(model);
            if model.page == Page::Review {
                review::look(model, effects);
            }
        }
        Told::Item(item) => {
            // Somebody may have gone on meanwhile.
            if let Some(item) = item.filter(|item| model.review.active.as_deref() == Some(item.id.as_str())) {
                model.review.item = Some(item);
            }
            review::look(model, effects);
        }
        Told::Talk(talk) => {
            if *look == Look::Talk(model.stream.session) {
                model.stream.talk = Some(talk);
            }
        }
        Told::Since(news) => activity::heard_since(model, news, effects),
        Told::Before(earlier) => activity::heard_before(model, look, earlier, effects),
        Told::Record(lines) => (model.activity.record, model.activity.scroll) = (Some(lines), 0),
    }
}

fn failed(model: &mut Model, trouble: Trouble) {
    match trouble {
        Trouble::Away(why) => model.away = Some(why),
        Trouble::Refused(lines) => {
            model.away = None;
            model.remark = lines;
        }
    }
}

fn pressed(model: &mut Model, key: Key, effects: &mut Vec<Effect>) {
    model.remark.clear();
    match key {
        Key::Ctrl('c') => return effects.push(Effect::Leave),
        Key::Ctrl('l') => return effects.push(Effect::Repaint),
        Key::Tab => return turn_to(model, model.page.on(1), effects),
        Key::BackTab => return turn_to(model, model.page.on(Page::ALL.len() - 1), effects),
        _ => {}
    }
    if model.shows_keys {
        model.shows_keys = false;
        return;
    }
    let is_written = model.field().is_some_and(|field| {
        match key {
            Key::Letter(letter) => field.write(letter.encode_utf8(&mut [0; 4])),
            Key::Backspace => field.erase_before(),
            Key::Delete => field.erase_behind(),
            Key::Ctrl('u') => field.erase_to_begin(),
            Key::Left => field.left(),
            Key::Right => field.right(),
            Key::Home | Key::Ctrl('a') => field.begin(),
            Key::End | Key::Ctrl('e') => field.end(),
            _ => return false,
        }
        true
    });
    if is_written {
        if model.page == Page::Activity {
            activity::read_on(model, effects);
        }
        return;
    }
    let is_taken = match model.page {
        Page::Review => review::pressed(model, key, effects),
        Page::Stream => stream::pressed(model, key, effects),
        Page::Activity => activity::pressed(model, key, effects),
    };
    if is_taken || model.field().is_some() {
        return;
    }
    match key {
        Key::Letter('q') => effects.push(Effect::Leave),
        Key::Letter('?') => model.shows_keys = true,
        Key::Letter(digit @ '1'..='3') => {
            let page = Page::ALL[digit as usize - '1' as usize];
            turn_to(model, page, effects);
        }
        _ => {}
    }
}

fn turn_to(model: &mut Model, page: Page, effects: &mut Vec<Effect>) {
    model.shows_keys = false;
    model.page = page;
    look_at_page(model, effects);
}

/// The part of the page that is in sight, moved by a key; false where it is no such key.
fn scrolled(scroll: &mut usize, room: usize, key: Key) -> bool {
    let page = room.saturating_sub(1).max(1);
    *scroll = match key {
        Key::Up => scroll.saturating_sub(1),
        Key::Down => *scroll + 1,
        Key::PageUp => scroll.saturating_sub(page),
        Key::PageDown | Key::Letter(' ') => *scroll + page,
        Key::Home => 0,
        // No further than there is something, which is seen to afterwards.
        Key::End => usize::MAX / 2,
        _ => return false,
    };
    true
}

fn stay_in_sight(model: &mut Model) {
    let most = most_scroll(model);
    let scroll = match model.page {
        Page::Review => &mut model.review.scroll,
        Page::Stream => &mut model.stream.scroll,
        Page::Activity => &mut model.activity.scroll,
    };
    *scroll = (*scroll).min(most);
}

fn told_off(trouble: Trouble) -> Vec<Line> {
    match trouble {
        Trouble::Away(why) => vec![Line::new().add(Style::Warn, why)],
        Trouble::Refused(lines) => lines,
    }
}
