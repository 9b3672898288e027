//! Stream: writing is writing, and what was not heard is not lost.

use windlass_domain::SessionId;

use super::super::input::{Effect, Input, Trouble};
use super::super::model::{Model, Page};
use super::super::sight::Look;
use super::super::update::update;
use super::desk::{press, sat_down, seen, talk, turned_to};

fn talking() -> Model {
    let mut model = turned_to(sat_down((80, 24)), Page::Stream);
    let look = Look::Talk(model.stream.session);
    update(&mut model, Input::Told(look, talk()));
    model
}

fn said(words: &str) -> Effect {
    let session = SessionId::of("/work", "");
    Effect::Say { session, folder: Some("/work".to_owned()), words: words.to_owned() }
}

#[test]
fn while_one_writes_letters_are_letters() {
    let mut model = talking();
    assert_eq!(press(&mut model, "Enter q?1s Enter"), [said("q?1s")]);
    assert_eq!(model.page, Page::Stream);
    assert_eq!(press(&mut model, "Enter"), [], "it is on its way");
    update(&mut model, Input::Said(Ok(Vec::new())));
    assert_eq!(press(&mut model, "Enter"), [], "there is nothing to say");
    assert_eq!(press(&mut model, "Esc q"), [Effect::Leave]);
}

#[test]
fn what_was_not_heard_can_be_sent_again() {
    let mut model = talking();
    press(&mut model, "Enter hello Enter");
    update(&mut model, Input::Said(Err(Trouble::Away("the server does not answer".to_owned()))));
    assert!(seen(&model).contains("the server does not answer"));
    assert_eq!(press(&mut model, "Enter"), [said("hello")]);
}

#[test]
fn what_is_pasted_is_text_and_no_keys() {
    let mut model = talking();
    assert!(update(&mut model, Input::Pasted("q\r\na".to_owned())).is_empty(), "nobody writes");
    press(&mut model, "Enter");
    update(&mut model, Input::Pasted("one\r\ntwo\u{202e}".to_owned()));
    assert!(seen(&model).contains("say › one↵ two<U+202E>"), "{}", seen(&model));
    assert_eq!(press(&mut model, "Enter"), [said("one\ntwo\u{202e}")]);
}

#[test]
fn another_conversation_is_asked_for_and_an_answer_about_the_old_one_is_not_shown() {
    let mut model = talking();
    let known = model.stream.talk.as_ref().expect("told").known[0].session;
    model.stream.session = Some(SessionId::of("/elsewhere", ""));
    assert_eq!(press(&mut model, "s Enter"), [Effect::Look(Look::Talk(Some(known)))]);
    update(&mut model, Input::Told(Look::Talk(Some(SessionId::of("/elsewhere", ""))), talk()));
    assert!(model.stream.talk.is_none());
}
