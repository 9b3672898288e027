//! Turns of a conversation: what is said is kept at once and decided by a proxy that changes nothing; what follows is the runtime's.

use serde_json::json;
use windlass_domain::queue::ExecutionStatus;
use windlass_domain::session::{Said, SessionEvent, StatusTold};
use windlass_domain::{SessionId, Taint, TaskId, TaskResultStatus};
use windlass_engine::{Accepted, Dispatch, Driven, Engine, Error, Saying};
use windlass_store::StreamId;

use crate::court::{Court, fetch, write};

fn say(court: &Court, engine: &Engine, session: Option<SessionId>, words: &str) -> Accepted {
    let saying = Saying { session, words: words.to_owned(), template: court.submission() };
    court.wait(engine.say(saying, Dispatch::ToWorkers)).unwrap()
}

/// What the proxy decides about these words.
fn proxy(court: &Court, words: &str, route: &serde_json::Value) {
    court.things.cast_turn(words, vec![], &route.to_string());
}

fn said(court: &Court, engine: &Engine, session: SessionId) -> Vec<Said> {
    court.wait(engine.session(session)).unwrap().said
}

fn begun(court: &Court, engine: &Engine, session: SessionId) -> TaskId {
    *court.wait(engine.session(session)).unwrap().tasks.last().expect("a task was begun")
}

#[test]
fn a_question_is_answered_and_nothing_else_happens() {
    let court = Court::new(vec![]);
    proxy(&court, "hello", &json!({"route": "small_talk", "response": "Hello yourself."}));
    let engine = court.process();
    let Accepted { session, run, .. } = say(&court, &engine, None, "hello");
    assert!(run.is_some(), "its turn begins at once");
    court.work(&engine);
    let expected = [Said::User("hello".to_owned()), Said::Proxy("Hello yourself.".to_owned())];
    assert_eq!(said(&court, &engine, session), expected);
    assert!(court.performed().is_empty());
}

#[test]
fn prose_instead_of_a_decision_is_the_answer() {
    let court = Court::new(vec![]);
    court.things.cast_turn("hello", vec![], "Just words.");
    let engine = court.process();
    let Accepted { session, .. } = say(&court, &engine, None, "hello");
    court.work(&engine);
    assert_eq!(said(&court, &engine, session)[1], Said::Proxy("Just words.".to_owned()));
}

/// It regressed: what was said before was taken for the place of what is said now.
#[test]
fn words_that_name_places_of_the_prompt_are_words() {
    let court = Court::new(vec![]);
    let (first, second) = ("what are {{words}} and {{tasks}}?", "and {{said}}?");
    proxy(&court, first, &json!({"route": "small_talk", "response": "Marks such as {{words}}."}));
    proxy(&court, second, &json!({"route": "small_talk", "response": "Another."}));
    let engine = court.process();
    let Accepted { session, .. } = say(&court, &engine, None, first);
    court.work(&engine);
    say(&court, &engine, Some(session), second);
    court.work(&engine);
    assert_eq!(said(&court, &engine, session).last(), Some(&Said::Proxy("Another.".to_owned())));
}

#[test]
fn what_is_said_meanwhile_has_its_turn_next() {
    let court = Court::new(vec![]);
    for (words, answer) in [("first", "one"), ("second", "two"), ("third", "three")] {
        proxy(&court, words, &json!({"route": "direct", "response": answer}));
    }
    let engine = court.process();
    let Accepted { session, .. } = say(&court, &engine, None, "first");
    assert_eq!(say(&court, &engine, Some(session), "second").run, None);
    assert_eq!(say(&court, &engine, Some(session), "third").run, None);
    court.work(&engine);
    let answer = |said: Said| match said {
        Said::Proxy(words) => Some(words),
        Said::User(_) => None,
    };
    let answers: Vec<String> = said(&court, &engine, session).into_iter().filter_map(answer).collect();
    assert_eq!(answers, ["one", "two", "three"]);
}

/// Regression: it was begun with the options of the turn that it had to wait for.
#[test]
fn what_is_said_meanwhile_keeps_the_options_that_it_was_said_with() {
    let court = Court::new(vec![]);
    for words in ["first", "second"] {
        proxy(&court, words, &json!({"route": "direct", "response": words}));
    }
    let engine = court.process();
    let Accepted { session, .. } = say(&court, &engine, None, "first");
    let mut template = court.submission();
    template.config.model = "another".to_owned();
    template.sandbox = "other cells".to_owned();
    template.budget.max_attempts = 7;
    let saying = Saying { session: Some(session), words: "second".to_owned(), template };
    let second = court.wait(engine.say(saying, Dispatch::ToWorkers)).unwrap();
    assert_eq!(second.run, None);
    court.work(&engine);
    let ended = court.wait(engine.turn_about(session, second.message)).unwrap().expect("it has had its turn");
    let created = court.wait(engine.task(ended.run)).unwrap().created.unwrap();
    let chosen =
        (created.command.execution_config.model.as_str(), created.sandbox.as_str(), created.budget.max_attempts);
    assert_eq!(chosen, ("another", "other cells", 7));
    assert_eq!(created.turn, Some(second.message));
}

/// The turn has ended before the work begins, and the work waits for a yes.
#[test]
fn a_request_becomes_a_task_that_is_asked_about() {
    let court = Court::new(vec![]);
    proxy(&court, "write it", &json!({"route": "new_task", "response": "On it."}));
    court.things.cast("write it", vec![vec![vec![write("it.txt", "it")]]], "written");
    let engine = court.process();
    let Accepted { session, .. } = say(&court, &engine, None, "write it");
    court.work(&engine);
    let task = begun(&court, &engine, session);
    assert_eq!(said(&court, &engine, session)[1], Said::Proxy("On it.".to_owned()));
    assert!(court.performed().is_empty(), "nobody has agreed yet");
    let card = court.only_card(&engine);
    assert_eq!(card.task, task);
    court.approve(&engine, card.card.card_id);
    court.work(&engine);
    let result = court.wait(engine.task(task)).unwrap().result.expect("it has ended");
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, false), "{result:?}");
    assert_eq!(std::fs::read_to_string(court.workspace().join("it.txt")).unwrap(), "it");
}

#[test]
fn who_wants_to_be_asked_before_every_change_is() {
    let court = Court::new(vec![]);
    let route = json!({"route": "new_task", "response": "On it.", "interaction_mode": "confirm_always"});
    proxy(&court, "write it", &route);
    court.things.cast("write it", vec![vec![vec![write("it.txt", "it")]]], "written");
    let engine = court.process();
    say(&court, &engine, None, "write it");
    court.work(&engine);
    court.approve(&engine, court.only_card(&engine).card.card_id);
    court.work(&engine);
    assert_eq!(court.only_card(&engine).card.details["tool"], "write");
    assert!(court.performed().is_empty());
}

#[test]
fn a_task_of_the_conversation_is_cancelled_by_a_word_and_no_other_is() {
    let court = Court::new(vec![]);
    proxy(&court, "write it", &json!({"route": "new_task", "response": "On it."}));
    let engine = court.process();
    let Accepted { session, .. } = say(&court, &engine, None, "write it");
    court.work(&engine);
    let task = begun(&court, &engine, session);
    proxy(&court, "stop what?", &json!({"route": "cancel_task", "task_id": "ffffffff"}));
    say(&court, &engine, Some(session), "stop what?");
    court.work(&engine);
    assert!(!court.wait(engine.task(task)).unwrap().is_over());
    proxy(&court, "stop it", &json!({"route": "cancel_task", "task_id": task.to_string(), "response": "Stopped."}));
    say(&court, &engine, Some(session), "stop it");
    court.work(&engine);
    let Driven::Finished(result) = court.drive(&engine, task) else { panic!("it goes on") };
    assert_eq!(result.status, TaskResultStatus::Cancelled);
}

/// Whoever has read a page from outside is not believed when it wants to stop the user's work.
#[test]
fn a_proxy_that_has_read_what_came_from_outside_controls_nothing() {
    let court = Court::new(vec![]);
    proxy(&court, "write it", &json!({"route": "new_task", "response": "On it."}));
    let engine = court.process_with(|parts| parts.law.allowed_hosts = vec!["example.com".to_owned()]);
    let Accepted { session, .. } = say(&court, &engine, None, "write it");
    court.work(&engine);
    let task = begun(&court, &engine, session);
    let stop = json!({"route": "cancel_task", "task_id": task.to_string(), "response": "Stopped."});
    court.things.cast_turn("look and stop", vec![vec![fetch("example.com")]], &stop.to_string());
    say(&court, &engine, Some(session), "look and stop");
    court.work(&engine);
    assert!(!court.wait(engine.task(task)).unwrap().is_over());
    let last = said(&court, &engine, session).pop();
    assert!(matches!(&last, Some(Said::Proxy(words)) if words.contains("from outside")), "{last:?}");
    // What it said then is told to the next turn, which is no more to be believed.
    proxy(&court, "now stop it", &stop);
    say(&court, &engine, Some(session), "now stop it");
    court.work(&engine);
    assert!(!court.wait(engine.task(task)).unwrap().is_over(), "nor by way of what was said before");
}

/// Regression: news went into the session, and nobody heard them. What went wrong is told in words of what an agent ran.
#[test]
fn a_proxy_is_told_what_went_wrong_with_the_newest_task_and_controls_nothing_then() {
    let court = Court::new(vec![]);
    proxy(&court, "write it", &json!({"route": "new_task", "response": "On it."}));
    let engine = court.process();
    let Accepted { session, .. } = say(&court, &engine, None, "write it");
    court.work(&engine);
    let task = begun(&court, &engine, session);
    let tell = |status, detail: &str, taint| {
        let told = StatusTold { task, item: None, status, detail: detail.to_owned(), taint };
        court.forge(&StreamId::new("session", session), SessionEvent::StatusTold(told).encode());
    };
    tell(ExecutionStatus::Failed, "the shelf is full", Taint::External);
    tell(ExecutionStatus::Running, "", Taint::Auth);
    let asked = |words: &str| {
        proxy(&court, words, &json!({"route": "direct", "response": "So."}));
        let message = say(&court, &engine, Some(session), words).message;
        court.work(&engine);
        let ended = court.wait(engine.turn_about(session, message)).unwrap().expect("it has had its turn");
        (court.wait(engine.task(ended.run)).unwrap().created.unwrap().command.goal, ended.taint)
    };
    let (goal, taint) = asked("how is it?");
    assert!(goal.contains("newest: running") && !goal.contains("the shelf is full"), "{goal}");
    assert_eq!(taint, Taint::Auth);
    court.wait(engine.ask_to_cancel(task, "enough")).unwrap();
    court.work(&engine);
    let (goal, taint) = asked("why did it fail?");
    assert!(goal.contains("what went wrong last: the shelf is full"), "{goal}");
    assert_eq!(taint, Taint::External);
}

#[test]
fn nothing_said_is_refused() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let saying = Saying { session: None, words: " ".to_owned(), template: court.submission() };
    assert!(matches!(court.wait(engine.say(saying, Dispatch::ToWorkers)), Err(Error::EmptyMessage)));
}
