//! Machines over one store, each with its own keys: what is signed on one is not trusted on another, so that nobody signs where the
//! work is not. A no needs no key, and is heard wherever it is said.

use std::sync::Arc;

use windlass_domain::TaskId;
use windlass_domain::approval::{ApprovalState, CardId, Strength};
use windlass_domain::graph::{Change, Constraints};
use windlass_engine::{Answered, Engine, Error, OwnerKey, Wanted};

use crate::court::{Court, Ring, bash, no, owner_key, yes};
use crate::goals::{KEPT, order};
use crate::objectives::{WAYS, align};

const NEEDS_A_YES: &str = "rm notes";

/// Of another machine, which signs with keys of its own.
fn stranger(court: &Court) -> (Engine, OwnerKey) {
    let (key, ring) = (OwnerKey::new(&[8; 32]), Arc::new(Ring::default()));
    ring.add(&key);
    let engine = court.process_with(|parts| {
        parts.machine.host = "another-machine".to_owned();
        parts.keyring = Some(ring);
    });
    (engine, key)
}

fn approve(court: &Court, (engine, key): &(Engine, OwnerKey), card: CardId) -> Result<Answered, Error> {
    court.wait(engine.answer(card, yes(), key))
}

#[track_caller]
fn is_told_where<T>(said: Result<T, Error>) {
    let Err(Error::KeysElsewhere(place)) = said else { panic!("it was signed") };
    assert_eq!(place, "house");
}

#[test]
fn a_card_is_approved_where_its_task_is() {
    let court = Court::new(vec![vec![bash(NEEDS_A_YES)]]);
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    is_told_where(approve(&court, &stranger(&court), asked.card.card_id));
    assert!(
        matches!(court.approval(&engine, asked.card.card_id), ApprovalState::Requested { .. }),
        "it is still asked"
    );
    court.approve(&engine, asked.card.card_id);
    court.drive(&engine, task);
    assert_eq!(court.performed().len(), 1);
}

#[test]
fn a_no_is_heard_wherever_it_is_said() {
    let court = Court::new(vec![vec![bash(NEEDS_A_YES)]]);
    let engine = court.process();
    let (_, asked) = court.park(&engine);
    let (elsewhere, key) = stranger(&court);
    court.wait(elsewhere.answer(asked.card.card_id, no("not now"), &key)).unwrap();
    assert!(matches!(court.approval(&engine, asked.card.card_id), ApprovalState::Refused { .. }));
}

/// The control: what would become of a yes that another machine's key signs. The task has its answer, and nothing that it may do.
#[test]
fn what_another_machine_signs_is_not_trusted() {
    let court = Court::new(vec![vec![bash(NEEDS_A_YES)]]);
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    let (key, ring) = (OwnerKey::new(&[8; 32]), Arc::new(Ring::default()));
    ring.add(&key);
    let with_other_keys = court.process_with(|parts| parts.keyring = Some(ring));
    court.wait(with_other_keys.answer(asked.card.card_id, yes(), &key)).unwrap();
    court.drive(&engine, task);
    assert_eq!(court.performed(), Vec::<String>::new());
}

#[test]
fn a_goal_is_let_mend_itself_where_it_is_looked_at() {
    let court = Court::new(Vec::new());
    let engine = court.process();
    let (_, card) = court.wait(engine.add_goal(order(&court, KEPT, 10))).unwrap();
    is_told_where(approve(&court, &stranger(&court), card));
    court.approve(&engine, card);
}

#[test]
fn an_objective_is_begun_and_redirected_where_it_is() {
    let court = Court::new(Vec::new());
    let engine = court.process();
    let task = align(&court, &engine, WAYS);
    let (elsewhere, key) = stranger(&court);
    let start = |engine: &Engine, key: &OwnerKey| {
        court.wait(engine.start(task, key, None, (Strength::Explicit, None))).map(|_| ())
    };
    is_told_where(start(&elsewhere, &key));
    start(&engine, &owner_key()).unwrap();
    is_told_where(redirect(&court, &elsewhere, task, &key));
    redirect(&court, &engine, task, &owner_key()).unwrap();
}

fn redirect(court: &Court, engine: &Engine, task: TaskId, key: &OwnerKey) -> Result<(), Error> {
    let change = Change::Constraints { constraints: Constraints { max_atoms: 7, ..Constraints::default() } };
    let wanted = Wanted { change, description: "it is wanted so", taint: None };
    court.wait(engine.redirect(task, wanted, None, (key, Strength::Confirmed))).map(|_| ())
}
