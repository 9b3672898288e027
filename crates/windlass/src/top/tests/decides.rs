//! Review: what is answered is what is looked at, once, and twice where that is asked for.

use super::super::input::{Effect, Input, Trouble};
use super::super::model::{Page, Step};
use super::super::sight::{Look, Stakes, Waiting};
use super::super::update::update;
use super::desk::{card, desk, press, question, reviewing, sat_down, seen, whole};
use crate::show::Line;

const WIDE: (u16, u16) = (80, 24);

fn approved(card: &str, confirmed: bool) -> Effect {
    Effect::Approve { card: card.to_owned(), confirmed }
}

#[test]
fn an_ordinary_card_takes_one_key_and_a_risky_one_two() {
    let mut model = reviewing(WIDE, vec![card("c1", Stakes::Ordinary)]);
    assert_eq!(press(&mut model, "a"), [approved("c1", false)]);
    assert_eq!(press(&mut model, "aady"), [], "it is on its way");

    for stakes in [Stakes::High, Stakes::Irreversible] {
        let mut model = reviewing(WIDE, vec![card("c1", stakes)]);
        assert_eq!(press(&mut model, "y"), []);
        assert_eq!(press(&mut model, "a"), []);
        assert!(seen(&model).contains("Is it meant?"));
        assert_eq!(press(&mut model, "a y"), [], "the same key twice is no second step, and takes it back");
        assert_eq!(press(&mut model, "a Esc y"), []);
        assert_eq!(press(&mut model, "a y"), [approved("c1", true)]);
    }
}

#[test]
fn no_and_not_like_this_take_words() {
    let mut model = reviewing(WIDE, vec![card("c1", Stakes::High)]);
    let declined = Effect::Decline { card: "c1".to_owned(), note: "not q?1".to_owned() };
    assert_eq!(press(&mut model, "d not Space q?1 Enter"), [declined]);

    let mut model = reviewing(WIDE, vec![card("c1", Stakes::High)]);
    assert_eq!(press(&mut model, "d Esc"), []);
    assert_eq!(press(&mut model, "e Enter Space Enter"), [], "without words there is nothing to do instead");
    let sent_back = Effect::SendBack { card: "c1".to_owned(), note: "copy".to_owned() };
    assert_eq!(press(&mut model, "copyy Back Enter"), [sent_back]);
}

#[test]
fn where_anything_but_a_yes_is_a_no_nothing_else_is_offered() {
    let yes_or_no = Waiting { is_yes_or_no: true, ..card("c1", Stakes::Ordinary) };
    let mut model = reviewing(WIDE, vec![yes_or_no]);
    assert!(!seen(&model).contains("e edit"), "{}", seen(&model));
    assert_eq!((press(&mut model, "e"), &model.review.step), (Vec::new(), &Step::Looking));
    assert!(matches!(&press(&mut model, "d no Enter")[..], [Effect::Decline { .. }]));
    assert!(seen(&reviewing(WIDE, vec![card("c1", Stakes::Ordinary)])).contains("e edit"));
}

#[test]
fn an_option_is_seen_in_words_before_it_is_sent() {
    let mut model = reviewing(WIDE, vec![question("q1", &["red", "blue"])]);
    assert_eq!(press(&mut model, "2"), []);
    assert!(seen(&model).contains("› blue"));
    let effects = press(&mut model, "Enter");
    assert!(matches!(&effects[..], [Effect::Reply { question, words, .. }] if question == "q1" && words == "blue"));

    let mut model = reviewing(WIDE, vec![question("q1", &["red", "blue"])]);
    press(&mut model, "3");
    assert_eq!(model.page, Page::Activity, "what is no option is a page");
}

#[test]
fn what_is_not_seen_yet_is_not_answered() {
    let mut model = sat_down(WIDE);
    let asked = update(&mut model, Input::Told(Look::Desk, desk(vec![card("c1", Stakes::Ordinary)])));
    assert!(asked.contains(&Effect::Look(Look::Item("c1".to_owned()))));
    assert_eq!(press(&mut model, "a"), []);
    update(&mut model, Input::Told(Look::Item("c1".to_owned()), whole("c1")));
    assert_eq!(press(&mut model, "a"), [approved("c1", false)]);
}

#[test]
fn no_other_card_takes_its_place_under_ones_fingers() {
    let [one, two] = ["c1", "c2"].map(|id| card(id, Stakes::Ordinary));
    // Somebody else answers it.
    let mut model = reviewing(WIDE, vec![one.clone(), two.clone()]);
    update(&mut model, Input::Told(Look::Desk, desk(vec![two.clone()])));
    assert_eq!(press(&mut model, "ade"), []);
    assert!(seen(&model).contains("It has its answer, or its time is up."), "{}", seen(&model));
    let asked = press(&mut model, "Enter");
    assert_eq!(asked, [Effect::Look(Look::Item("c2".to_owned()))]);

    // An older one comes.
    let mut model = reviewing(WIDE, vec![two.clone()]);
    update(&mut model, Input::Told(Look::Desk, desk(vec![one.clone(), two.clone()])));
    assert_eq!(press(&mut model, "a"), [approved("c2", false)]);

    // One was answered here: the next takes a key of its own.
    let mut model = reviewing(WIDE, vec![one, two]);
    press(&mut model, "a");
    update(&mut model, Input::Answered(Ok(vec![Line::new().plain("APPROVED")])));
    assert!(seen(&model).contains("APPROVED"));
    assert_eq!(press(&mut model, "aa"), []);
}

#[test]
fn what_was_refused_is_said_and_can_be_tried_again() {
    let mut model = reviewing(WIDE, vec![card("c1", Stakes::Ordinary)]);
    press(&mut model, "a");
    let refused = Trouble::Refused(vec![Line::new().plain("the key may be read by others")]);
    update(&mut model, Input::Answered(Err(refused)));
    assert!(seen(&model).contains("the key may be read by others"));
    assert_eq!(press(&mut model, "a"), [approved("c1", false)]);
}

#[test]
fn the_second_step_is_for_the_card_it_was_asked_about() {
    let [one, two] = ["c1", "c2"].map(|id| card(id, Stakes::High));
    let mut model = reviewing(WIDE, vec![one.clone(), two.clone()]);
    press(&mut model, "a j");
    update(&mut model, Input::Told(Look::Item("c2".to_owned()), whole("c2")));
    assert_eq!(press(&mut model, "y"), []);
    let mut model = reviewing(WIDE, vec![one.clone(), two]);
    press(&mut model, "a");
    update(&mut model, Input::Told(Look::Desk, desk(Vec::new())));
    update(&mut model, Input::Told(Look::Desk, desk(vec![one])));
    assert_eq!((press(&mut model, "y"), &model.review.step), (Vec::new(), &Step::Looking));
}
