//! Questions of an agent (seed 000 §8.3): put once, answered once, by whom they are put to, and never instead of an approval.

use windlass_domain::execution::{ExecutionEvent, InjectionType};
use windlass_domain::{QuestionState, RequestId, TaskId, Tenant};
use windlass_engine::{Driven, Engine, Error, LONGEST_MESSAGE, Message, Sent};
use windlass_policy::gate::read_gates;

use crate::court::{Ask, Court, ask, bash, read};

fn asked(steps: Vec<Vec<Ask>>, gates: &str) -> (Court, Engine, TaskId) {
    let court = Court::new(steps);
    court.put("notes", "plain");
    let gates = if gates.is_empty() { Vec::new() } else { read_gates(gates).unwrap() };
    let engine = court.process_with(|parts| parts.law.gates = gates);
    let task = court.submit(&engine);
    let driven = court.drive(&engine, task);
    assert!(matches!(driven, Driven::Waiting(_)), "{driven:?}");
    (court, engine, task)
}

fn says(text: &str, question: Option<RequestId>) -> Message {
    Message { text: text.to_owned(), question, by: "a person".to_owned() }
}

fn only_question(court: &Court, engine: &Engine) -> RequestId {
    let open = court.wait(engine.questions()).unwrap();
    assert_eq!(open.len(), 1, "{open:?}");
    open[0].asked.request_id
}

fn heard(court: &Court, engine: &Engine, task: TaskId) -> Vec<(InjectionType, String)> {
    let events = court.execution_events(engine, task).into_iter();
    let said = events.filter_map(|event| match event {
        ExecutionEvent::InjectionReceived(received) => {
            Some((received.injection.injection_type, received.injection.content))
        }
        _ => None,
    });
    said.collect()
}

#[test]
fn an_answer_wakes_the_task_for_whoever_works() {
    let (court, engine, task) = asked(vec![vec![ask("Which?")], vec![read("notes")]], "");
    assert!(!court.is_held(task) && court.work_for(task).is_empty(), "nothing is held meanwhile");
    assert!(matches!(court.wait(engine.send(task, &says("this", None))).unwrap(), Sent::Answer(_)));
    drop(engine);
    let engine = court.process();
    court.work(&engine);
    assert!(court.wait(engine.task(task)).unwrap().is_over());
    let heard = heard(&court, &engine, task);
    let (kind, words) = &heard[0];
    assert_eq!((heard.len(), *kind), (1, InjectionType::HitlResponse));
    assert!(words.starts_with("User responded to your question: this\n"), "{words}");
    assert_eq!(court.performed().len(), 1);
}

#[test]
fn of_many_answers_at_once_one_counts() {
    let (court, engine, task) = asked(vec![vec![ask("Which?")]], "");
    let question = only_question(&court, &engine);
    let message = says("this", Some(question));
    let sent = court.wait(futures_util::future::join_all((0..16).map(|_| engine.send(task, &message))));
    let answers = sent.iter().filter(|sent| matches!(sent, Ok(Sent::Answer(_)))).count();
    let late = sent.iter().filter(|sent| matches!(sent, Ok(Sent::TooLate(_)))).count();
    assert_eq!((answers, late), (1, 15), "{sent:?}");
    court.drive(&engine, task);
    let heard = heard(&court, &engine, task);
    let said = |kind| heard.iter().filter(|(heard, _)| *heard == kind).count();
    assert_eq!((said(InjectionType::HitlResponse), said(InjectionType::UserMessage)), (1, 15));
}

#[test]
fn nobody_answers_for_another_tenant_or_another_task() {
    let (court, engine, task) = asked(vec![vec![ask("Which?")]], "");
    let question = only_question(&court, &engine);
    let stranger = engine.for_tenant(Tenant::new("stranger"));
    assert!(court.wait(stranger.questions()).unwrap().is_empty());
    assert!(matches!(court.wait(stranger.send(task, &says("this", None))), Err(Error::NoSuchTask(_))));
    let other = court.submit(&engine);
    let refused = court.wait(engine.send(other, &says("this", Some(question))));
    assert!(matches!(refused, Err(Error::NoSuchQuestion { .. })), "{refused:?}");
    assert!(matches!(court.wait(engine.question(question)).unwrap(), QuestionState::Open(_)));
}

#[test]
fn nothing_and_too_much_are_refused() {
    let (court, engine, task) = asked(vec![vec![ask("Which?")]], "");
    let send = |text: &str| court.wait(engine.send(task, &says(text, None)));
    assert!(matches!(send(" \n"), Err(Error::EmptyMessage)));
    assert!(matches!(send(&"x".repeat(LONGEST_MESSAGE + 1)), Err(Error::MessageTooLong { .. })));
    assert!(matches!(send(&"x".repeat(LONGEST_MESSAGE)), Ok(Sent::Answer(_))));
}

#[test]
fn the_end_of_the_run_takes_the_question_back() {
    let (court, engine, task) = asked(vec![vec![ask("Which?")]], "");
    let question = only_question(&court, &engine);
    court.wait(engine.ask_to_cancel(task, "enough")).unwrap();
    court.drive(&engine, task);
    assert!(matches!(court.wait(engine.question(question)).unwrap(), QuestionState::Withdrawn(_)));
    assert!(court.wait(engine.questions()).unwrap().is_empty());
    assert!(matches!(court.wait(engine.send(task, &says("this", None))), Err(Error::Over(_))));
}

/// Words are never an approval: they neither answer the card, nor is the question put before the card is answered.
#[test]
fn a_gate_judges_a_question_as_any_call_and_words_are_no_yes() {
    let gate = "- {name: ask, on: on_tool_call, type: approval_always, config: {tools: [ask_user]}}";
    let (court, engine, task) = asked(vec![vec![ask("Which?")]], gate);
    assert!(court.wait(engine.questions()).unwrap().is_empty());
    assert_eq!(court.wait(engine.send(task, &says("approved", None))).unwrap(), Sent::Words);
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)), "the card is still open");
    court.approve(&engine, court.only_card(&engine).card.card_id);
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)));
    let question = only_question(&court, &engine);
    court.wait(engine.send(task, &says("this", Some(question)))).unwrap();
    assert!(matches!(court.drive(&engine, task), Driven::Finished(_)));
}

#[test]
fn an_answer_passes_the_gates_of_users_words() {
    let gate =
        "- {name: quiet, on: every_user_message, type: string_match, config: {field: message, any_of: [secret]}}";
    let check = |answer: &str, expected: usize| {
        let (court, engine, task) = asked(vec![vec![ask("Which?")]], gate);
        court.wait(engine.send(task, &says(answer, None))).unwrap();
        assert!(matches!(court.drive(&engine, task), Driven::Finished(_)));
        assert_eq!(heard(&court, &engine, task).len(), expected, "{answer}");
    };
    check("the secret one", 0);
    check("the plain one", 1);
}

#[test]
fn what_comes_after_a_question_waits_for_its_answer() {
    let (court, engine, task) = asked(vec![vec![ask("Which?"), bash("ls")]], "");
    assert!(court.performed().is_empty());
    court.wait(engine.send(task, &says("this", None))).unwrap();
    court.drive(&engine, task);
    assert_eq!(court.performed().len(), 1);
    let kinds: Vec<&str> = court.execution_events(&engine, task).iter().map(ExecutionEvent::kind).collect();
    let position = |kind: &str| kinds.iter().rposition(|known| *known == kind);
    assert!(position("injection.received") > position("tool.finished"), "every call has its result first: {kinds:?}");
}
