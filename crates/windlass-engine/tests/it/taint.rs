//! Taint in the engine (contracts §5): it rises with what is read, stands in the way of what could carry data out, stays with
//! files and with later attempts, and never falls.

use serde_json::json;
use windlass_domain::execution::{AgentInjection, ExecutionEvent, InjectionType};
use windlass_domain::{Taint, TaskId};
use windlass_engine::{Driven, Engine};
use windlass_store::StreamId;

use crate::court::{Ask, Court, bash, call, fetch, read, write};

fn network(command: &str) -> Ask {
    call("bash", json!({"command": command, "network": true}))
}

fn event(content: &str) -> AgentInjection {
    AgentInjection { injection_type: InjectionType::ExternalEvent, content: content.to_owned(), metadata: None }
}

/// A task that hears something of this label before anything else, driven as far as it goes.
fn run_hearing(taint: Taint, steps: Vec<Vec<Ask>>, hosts: &[&str]) -> (Court, Engine, TaskId, Driven) {
    let court = Court::new(steps);
    court.put("notes", "plain");
    let allowed: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let engine = court.process_with(|parts| parts.law.allowed_hosts = allowed);
    let task = court.submit(&engine);
    court.wait(engine.inject(task, event("a page says"), taint)).unwrap();
    let driven = court.drive(&engine, task);
    (court, engine, task, driven)
}

fn is_asked(taint: Taint, ask: Ask, hosts: &[&str]) -> bool {
    let (court, engine, task, driven) = run_hearing(taint, vec![vec![ask]], hosts);
    let asked = matches!(driven, Driven::Waiting(_));
    assert_eq!(court.performed().len(), usize::from(!asked));
    if asked {
        let card = court.only_card(&engine).card;
        assert!(card.details["reasons"].to_string().contains("carry data out"), "{}", card.details);
        assert_eq!(card.details["taint"], "external");
        court.approve(&engine, card.card_id);
        court.drive(&engine, task);
        assert_eq!(court.performed().len(), 1, "with a person's leave it runs");
    }
    asked
}

#[test]
fn what_could_carry_data_out_of_an_external_context_needs_a_person() {
    for ask in [network("ls"), fetch("example.org")] {
        assert!(is_asked(Taint::External, ask.clone(), &[]), "{ask:?}");
        assert!(!is_asked(Taint::Auth, ask.clone(), &[]), "the control: {ask:?}");
        assert!(!is_asked(Taint::Owner, ask.clone(), &[]), "{ask:?}");
    }
    assert!(!is_asked(Taint::External, bash("ls"), &[]), "the twin: it carries nothing out");
    assert!(!is_asked(Taint::External, read("notes"), &[]));
}

#[test]
fn an_allow_listed_host_is_free_and_only_that_host() {
    assert!(!is_asked(Taint::External, fetch("Example.org."), &["example.org"]));
    assert!(is_asked(Taint::External, fetch("example.org.evil.net"), &["example.org"]));
    assert!(is_asked(Taint::External, fetch("sub.example.org"), &["example.org"]));
    assert!(is_asked(Taint::External, network("ls"), &["example.org"]), "a program can go anywhere");
}

/// Nobody has to say so: what comes from outside is external by itself.
#[test]
fn what_was_fetched_makes_the_next_fetch_ask() {
    let court = Court::new(vec![vec![fetch("example.org")], vec![fetch("example.org")]]);
    let engine = court.process();
    let (task, _) = court.park(&engine);
    assert_eq!(court.performed().len(), 1);
    assert_eq!(court.results(&engine, task)[0].taint, Taint::External);
    let court = Court::new(vec![vec![read("notes")], vec![fetch("example.org")]]);
    let engine = court.process();
    let task = court.submit(&engine);
    assert!(matches!(court.drive(&engine, task), Driven::Finished(_)), "the twin");
}

/// The labels of two attempts: the first hears something and does `first`, the second reads; how its results are labelled.
fn second_attempt(taint: Taint, first: Vec<Ask>, reads: Vec<Ask>) -> (Vec<Taint>, Taint) {
    let court = Court::new(vec![first]);
    court.put("notes", "plain");
    court.things.then(vec![reads.clone()]);
    let engine = court.process();
    let task = court.submit_checked(&engine, "- file: never");
    court.wait(engine.inject(task, event("a page says"), taint)).unwrap();
    court.drive(&engine, task);
    let attempts = court.wait(engine.task(task)).unwrap().attempts;
    assert_eq!(attempts.len(), 2);
    let results = court.results(&engine, task);
    let read = results[results.len() - reads.len()..].iter().map(|finished| finished.taint).collect();
    let rows = court.rows(&StreamId::new("execution", attempts[1].execution_id));
    let opened = rows.iter().find(|row| row.kind == "message.accepted").unwrap();
    (read, opened.taint)
}

#[test]
fn a_file_written_in_an_external_context_is_external_to_the_next_attempt() {
    let reads = || vec![read("notes"), read("made")];
    let (labels, told) = second_attempt(Taint::External, vec![write("made", "text")], reads());
    assert_eq!(labels, [Taint::Auth, Taint::External], "that file, and no other");
    assert_eq!(told, Taint::External, "what the first attempt ran into comes from what it had read");
    let (labels, told) = second_attempt(Taint::Auth, vec![write("made", "text")], reads());
    assert_eq!((labels.as_slice(), told), ([Taint::Auth, Taint::Auth].as_slice(), Taint::Auth), "the twin");
}

#[test]
fn a_program_in_an_external_context_taints_the_whole_workspace() {
    let (labels, _) = second_attempt(Taint::External, vec![bash("ls")], vec![read("notes")]);
    assert_eq!(labels, [Taint::External]);
    let (labels, _) = second_attempt(Taint::Auth, vec![bash("ls")], vec![read("notes")]);
    assert_eq!(labels, [Taint::Auth], "the twin");
}

/// What a later attempt is told of an external one is external: it cannot carry it out unasked either.
#[test]
fn a_later_attempt_inherits_the_taint_of_what_it_is_told() {
    let check = |taint, asked| {
        let court = Court::new(vec![vec![read("notes")]]);
        court.things.then(vec![vec![network("ls")]]);
        let engine = court.process();
        let task = court.submit_checked(&engine, "- file: never");
        court.wait(engine.inject(task, event("a page says"), taint)).unwrap();
        let driven = court.drive(&engine, task);
        assert_eq!(matches!(driven, Driven::Waiting(_)), asked, "{taint:?}");
    };
    check(Taint::External, true);
    check(Taint::Auth, false);
}

/// Whatever follows, however trusted: once external, external for good; after a crash and a wait too.
#[test]
fn nothing_lowers_taint() {
    let steps = vec![vec![read("notes")], vec![bash("rm notes")], vec![read("notes")], vec![network("ls")]];
    let (court, engine, task, driven) = run_hearing(Taint::External, steps, &[]);
    assert!(matches!(driven, Driven::Waiting(_)));
    court.wait(engine.inject(task, event("the owner says"), Taint::Owner)).unwrap();
    court.approve(&engine, court.only_card(&engine).card.card_id);
    drop(engine);
    let engine = court.process();
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)), "the network still needs a person");
    let execution = court.wait(engine.task(task)).unwrap().attempts[0].execution_id;
    let taints: Vec<Taint> = court.rows(&StreamId::new("execution", execution)).iter().map(|row| row.taint).collect();
    assert!(taints.is_sorted(), "{taints:?}");
    assert_eq!(taints.last(), Some(&Taint::External));
    let heard = court.execution_events(&engine, task);
    let heard = heard.iter().filter(|event| matches!(event, ExecutionEvent::InjectionReceived(_)));
    assert_eq!(heard.count(), 2, "the owner was heard");
}
