//! Tasks and words of somebody who is not the owner: taken in, asked about, and external wherever they come to stand.

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::{Taint, TaskId};
use windlass_engine::{Dispatch, Driven, Engine, Error, Message, Planning, Submission, read_plan};

use crate::court::{Ask, Court, ask, fetch, owner_key, read};
use crate::planned::finished;

const ONE: &str = "---
id: one
type: task
title: Write one
---
# What to do
Write one.
";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Owner,
    Outside,
}

fn planned(court: &Court) -> Submission {
    let plan = read_plan(ONE).unwrap_or_else(|problems| panic!("{problems}"));
    Submission { planning: Planning::Given(Box::new(plan)), ..court.submission() }
}

/// Driven as far as it goes once its plan is agreed to.
fn agreed(from: From, steps: Vec<Vec<Ask>>) -> (Court, Engine, TaskId, Driven) {
    let court = Court::new(vec![]);
    court.put("notes", "plain");
    court.things.cast("Write one", vec![steps], "done");
    let engine = court.process();
    let submission = planned(&court);
    let task = match from {
        From::Owner => court.wait(engine.submit(submission, Dispatch::Here, Some(&owner_key()))),
        From::Outside => court.wait(engine.submit_from_outside(submission, Dispatch::Here)),
    }
    .unwrap();
    assert_eq!(court.wait(engine.is_from_outside(task)).unwrap(), from == From::Outside);
    let driven = court.drive(&engine, task);
    assert!(matches!(driven, Driven::Waiting(_)), "{driven:?}");
    assert!(court.performed().is_empty(), "nothing is done before the answer");
    let card = court.only_card(&engine).card;
    let word = if from == From::Outside { "external" } else { "auth" };
    assert_eq!(card.details["taint"], word);
    court.approve(&engine, card.card_id);
    let driven = court.drive(&engine, task);
    (court, engine, task, driven)
}

#[test]
fn without_a_plan_to_agree_to_nothing_is_taken() {
    let court = Court::new(vec![]);
    let engine = court.process();
    for planning in [Planning::None, Planning::Wanted, Planning::Aligning] {
        let submission = Submission { planning, ..court.submission() };
        let refused = court.wait(engine.submit_from_outside(submission, Dispatch::Here));
        assert!(matches!(refused, Err(Error::NoPlanFromOutside)), "{refused:?}");
    }
    assert!(court.wait(engine.task_ids(10)).unwrap().is_empty());
}

#[test]
fn who_asks_for_more_than_a_person_can_answer_is_told_to_wait() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let ask = || {
        let task = court.wait(engine.submit_from_outside(planned(&court), Dispatch::Here))?;
        assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)));
        Ok::<TaskId, Error>(task)
    };
    // What the owner asks for is nobody's from outside.
    court.wait(engine.submit(planned(&court), Dispatch::Here, Some(&owner_key()))).unwrap();
    let taken: Vec<TaskId> = (0..20).map(|_| ask().unwrap()).collect();
    let refused = ask().unwrap_err();
    assert!(matches!(refused, Error::TooManyFromOutside { most: 20 }), "{refused:?}");
    court.wait(engine.ask_to_cancel(taken[0], "enough")).unwrap();
    court.drive(&engine, taken[0]);
    ask().unwrap();
}

#[test]
fn whoever_works_on_its_words_carries_nothing_out_unasked() {
    let (court, engine, _, driven) = agreed(From::Outside, vec![vec![fetch("example.org")]]);
    assert!(matches!(driven, Driven::Waiting(_)), "{driven:?}");
    assert!(court.performed().is_empty());
    let card = court.only_card(&engine).card;
    assert!(card.details["reasons"].to_string().contains("carry data out"), "{}", card.details);
    let (court, _, _, driven) = agreed(From::Owner, vec![vec![fetch("example.org")]]);
    finished(driven);
    assert_eq!(court.performed().len(), 1, "the control");
    let (court, _, _, driven) = agreed(From::Outside, vec![vec![read("notes")]]);
    finished(driven);
    assert_eq!(court.performed().len(), 1, "the twin: it carries nothing out");
}

#[test]
fn an_answer_from_outside_is_external() {
    for from in [From::Owner, From::Outside] {
        let (court, engine, task, driven) = agreed(From::Owner, vec![vec![ask("which?")]]);
        assert!(matches!(driven, Driven::Waiting(_)), "{driven:?}");
        let open = court.wait(engine.questions()).unwrap().remove(0).asked;
        let message = Message { text: "this".to_owned(), question: Some(open.request_id), by: "somebody".to_owned() };
        match from {
            From::Owner => court.wait(engine.send(open.task_id, &message)),
            From::Outside => court.wait(engine.send_from_outside(open.task_id, &message)),
        }
        .unwrap();
        finished(court.drive(&engine, task));
        let heard: Vec<Taint> = court
            .execution_events(&engine, open.task_id)
            .into_iter()
            .filter_map(|event| match event {
                ExecutionEvent::InjectionReceived(received) => Some(received.taint),
                _ => None,
            })
            .collect();
        let expected = if from == From::Outside { Taint::External } else { Taint::Auth };
        assert_eq!(heard, [expected]);
    }
}
