//! Activity and what holds for every page: the newest first, as far back as somebody goes; looked at when something happens, and never twice at
//! a time.

use super::super::input::{Effect, Input, Trouble};
use super::super::model::{Model, Page};
use super::super::sight::{Look, News, Told};
use super::super::update::update;
use super::desk::{earlier, happening, press, sat_down, seen, turned_to};

fn reading(more_before: Option<u64>) -> Model {
    let mut model = turned_to(sat_down((80, 12)), Page::Activity);
    update(&mut model, Input::Told(Look::Before(None), earlier(901..1_001, more_before)));
    model
}

#[test]
fn more_is_read_before_one_comes_to_the_end() {
    let mut model = reading(Some(901));
    assert_eq!(press(&mut model, "jj"), []);
    assert_eq!(press(&mut model, "End"), [Effect::Look(Look::Before(Some(901)))]);
    assert_eq!(press(&mut model, "End"), [], "it is being read");
    update(&mut model, Input::Told(Look::Before(Some(901)), earlier(1..901, None)));
    press(&mut model, "End");
    let page = seen(&model);
    assert!(page.contains("Number 1 happened") && page.contains("That is where it began."), "{page}");
}

#[test]
fn what_happens_comes_first_and_the_chosen_one_stays_chosen() {
    let mut model = reading(None);
    press(&mut model, "j");
    assert!(seen(&model).contains("▸ 12:00:39  Number 999"), "{}", seen(&model));
    assert!(update(&mut model, Input::Hinted).contains(&Effect::Look(Look::Since(1_000))));
    let news = News { happened: vec![happening(1_001, "Something new"), happening(1_000, "Known")], has_gap: false };
    update(&mut model, Input::Told(Look::Since(1_000), Told::Since(news)));
    let page = seen(&model);
    assert!(page.contains("Something new") && page.contains("▸ 12:00:39  Number 999"), "{page}");
    assert_eq!(press(&mut model, "Enter"), [Effect::Look(Look::Record(999))]);
    let gap = News { happened: Vec::new(), has_gap: true };
    let effects = update(&mut model, Input::Told(Look::Since(1_001), Told::Since(gap)));
    assert_eq!(effects, [Effect::Look(Look::Before(None))], "what is between is not left out");
}

#[test]
fn only_what_is_looked_for_is_shown() {
    let mut model = reading(None);
    press(&mut model, "/ 95");
    let page = seen(&model);
    assert!(page.contains("Number 959") && !page.contains("Number 960"), "{page}");
    press(&mut model, "Enter Esc");
    assert!(seen(&model).contains("Number 1000"));
    let quiet = News { happened: vec![happening(1_001, "Something quietly done")], has_gap: false };
    update(&mut model, Input::Told(Look::Since(1_000), Told::Since(quiet)));
    assert!(!seen(&model).contains("quietly"));
    press(&mut model, "x");
    assert!(seen(&model).contains("quietly"));
}

#[test]
fn the_same_is_not_looked_at_twice_at_a_time_and_once_more_where_something_came_meanwhile() {
    let mut model = turned_to(sat_down((80, 24)), Page::Stream);
    let first = update(&mut model, Input::Hinted);
    assert!(first.contains(&Effect::Look(Look::Desk)));
    assert_eq!(update(&mut model, Input::Hinted), []);
    assert_eq!(update(&mut model, Input::Hinted), []);
    let told = super::desk::desk(Vec::new());
    assert_eq!(update(&mut model, Input::Told(Look::Desk, told.clone())), [Effect::Look(Look::Desk)]);
    assert_eq!(update(&mut model, Input::Told(Look::Desk, told)), []);
}

#[test]
fn a_server_that_is_away_is_said_and_asked_again_and_what_was_told_stays() {
    let mut model = reading(None);
    update(&mut model, Input::Hinted);
    for look in [Look::Desk, Look::Since(1_000)] {
        let away = Trouble::Away("the server does not answer".to_owned());
        assert_eq!(update(&mut model, Input::NotTold(look, away)), [], "the next hint asks");
    }
    let page = seen(&model);
    assert!(page.contains("! the server does not answer") && page.contains("Number 1000"), "{page}");
    assert_eq!(update(&mut model, Input::Hinted).len(), 2);
    update(&mut model, Input::Told(Look::Desk, super::desk::desk(Vec::new())));
    assert!(!seen(&model).contains("does not answer"));
}

#[test]
fn everybody_can_leave() {
    for keys in ["q", "Ctrl-C", "? q q", "1 Enter q Ctrl-C", "3 / q Ctrl-C"] {
        let mut model = sat_down((80, 24));
        assert_eq!(press(&mut model, keys).last(), Some(&Effect::Leave), "{keys}");
    }
}
