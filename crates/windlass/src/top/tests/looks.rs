//! How it looks: every page, with and without something on it, at 80 columns and at 40.

use insta::assert_snapshot;

use super::super::input::{Input, Trouble};
use super::super::model::Page;
use super::super::sight::{Look, Stakes, Talk, Told};
use super::super::update::update;
use super::desk::{card, earlier, press, question, reviewing, sat_down, seen, talk, turned_to};
use crate::show::Line;

const WIDE: (u16, u16) = (80, 24);
const SMALL: (u16, u16) = (40, 12);

#[test]
fn a_card() {
    let waiting = || vec![card("c1", Stakes::High), card("c2", Stakes::Ordinary), question("q3", &[])];
    assert_snapshot!(seen(&reviewing(WIDE, waiting())), @"");
    assert_snapshot!(seen(&reviewing(SMALL, waiting())), @"");
}

#[test]
fn a_card_that_is_asked_about_twice_and_one_that_is_declined() {
    let mut model = reviewing(WIDE, vec![card("c1", Stakes::Irreversible)]);
    press(&mut model, "a");
    assert_snapshot!(seen(&model), @"");
    let mut model = reviewing(SMALL, vec![card("c1", Stakes::Irreversible)]);
    press(&mut model, "d not Space this Space file Space of Space all Space the Space files");
    assert_snapshot!(seen(&model), @"");
}

#[test]
fn nothing_to_decide() {
    assert_snapshot!(seen(&sat_down(WIDE)), @"");
    let mut model = reviewing(WIDE, Vec::new());
    assert_snapshot!(seen(&model), @"");
    update(&mut model, Input::Answered(Ok(vec![Line::new().plain("APPROVED  card c1 · task t1")])));
    update(&mut model, Input::Sized(40, 12));
    assert_snapshot!(seen(&model), @"");
}

#[test]
fn a_conversation() {
    for (size, name) in [(WIDE, "wide"), (SMALL, "small")] {
        let mut model = turned_to(reviewing(size, Vec::new()), Page::Stream);
        let look = Look::Talk(model.stream.session);
        update(&mut model, Input::Told(look, talk()));
        press(&mut model, "Enter And");
        match name {
            "wide" => assert_snapshot!(seen(&model), @""),
            _ => assert_snapshot!(seen(&model), @""),
        }
    }
}

#[test]
fn a_conversation_in_which_nothing_was_said() {
    let mut model = turned_to(reviewing(SMALL, Vec::new()), Page::Stream);
    let look = Look::Talk(model.stream.session);
    update(&mut model, Input::Told(look, Told::Talk(Talk::default())));
    assert_snapshot!(seen(&model), @"");
}

#[test]
fn what_happened() {
    let mut model = turned_to(reviewing(WIDE, Vec::new()), Page::Activity);
    update(&mut model, Input::Told(Look::Before(None), earlier(5..25, None)));
    press(&mut model, "j");
    assert_snapshot!(seen(&model), @"");
    let mut model = turned_to(reviewing(SMALL, Vec::new()), Page::Activity);
    update(&mut model, Input::Told(Look::Before(None), earlier(1..3, None)));
    assert_snapshot!(seen(&model), @"");
    let record = vec![Line::new().plain("A task is done"), Line::new().dim("task.finished")];
    update(&mut model, Input::Told(Look::Record(2), Told::Record(record)));
    assert_snapshot!(seen(&model), @"");
}

#[test]
fn nothing_has_happened_and_nobody_answers() {
    let mut model = turned_to(reviewing(SMALL, Vec::new()), Page::Activity);
    update(&mut model, Input::Told(Look::Before(None), earlier(0..0, None)));
    update(&mut model, Input::NotTold(Look::Desk, Trouble::Away("the server does not answer".to_owned())));
    assert_snapshot!(seen(&model), @"");
}

#[test]
fn the_keys() {
    let mut model = reviewing(WIDE, Vec::new());
    press(&mut model, "?");
    assert_snapshot!(seen(&model), @"");
}

/// However small it is made.
#[test]
fn no_size_is_too_small() {
    for columns in [0, 1, 7, 20, 200] {
        for rows in [0, 1, 2, 4, 7, 60] {
            for page in Page::ALL {
                let mut model = turned_to(reviewing((columns, rows), vec![card("c1", Stakes::High)]), page);
                press(&mut model, "d Enter words Esc ? x PgDn End");
                if columns > 0 && rows > 0 {
                    seen(&model);
                }
            }
        }
    }
}
