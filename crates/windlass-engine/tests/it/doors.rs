//! Doors by which others come in (seed 000 §3, §19): who is told what there, and what is not taken in while the disk is nearly full.

use std::sync::Arc;

use serde_json::json;
use windlass_domain::coordinate::{Channel, Origin, Trigger, Triggered};
use windlass_engine::{Commanded, Disk, Error, LeastRoom, Means, Newcomers, Outgoing, Published, Space};

use crate::coordinator::{asking, command, name, order, origin, say, session_called, trigger};
use crate::court::{Court, call, owner_key, read};

struct Full;

impl Disk for Full {
    fn space(&self) -> std::io::Result<Space> {
        Ok(Space { free: 0, total: 1 << 40 })
    }
}

/// Regression: the snapshot of its folder was made all the same.
#[test]
fn a_command_waits_until_there_is_room_where_newcomers_are_refused() {
    for newcomers in [Newcomers::Refused, Newcomers::Rest] {
        let court = Court::new(vec![]);
        let engine = court.process();
        engine.guard_disk(Arc::new(Full), LeastRoom::default(), newcomers, Arc::new(|_| {}));
        let ordered = court.wait(engine.command(&order(&court, "talk", "a"), Some(&owner_key())));
        match newcomers {
            Newcomers::Refused => {
                let refused = ordered.unwrap_err();
                assert!(matches!(refused, Error::NoRoom(_)) && refused.may_pass(), "{refused}");
                assert!(!court.wait(engine.has_task(&name("a"))).unwrap());
            }
            Newcomers::Rest => assert!(matches!(ordered, Ok(Commanded::Begun(_))), "{ordered:?}"),
        }
    }
}

/// Seed 000 §19.2: a status update is what the proxy says in the midst of its turn. Regression: it was looked for by the proxy's scope, which is
/// a folder, and nobody was told.
#[test]
fn what_the_proxy_says_in_the_midst_of_its_turn_goes_out() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let looking = call("tell_user", json!({"message": "Let me look."}));
    court.things.cast_turn(
        "hello",
        vec![vec![looking]],
        &json!({"route": "small_talk", "response": "Hello."}).to_string(),
    );
    say(&court, &engine, "1", "ada", "hello");
    let page = court.wait(engine.outgoing(Channel::Redis, 0)).unwrap();
    let told: Vec<_> = page.entries.into_iter().filter_map(told).collect();
    let expected = [("status", "Let me look."), ("answer", "Hello.")].map(|(kind, said)| (None, kind, said.to_owned()));
    assert_eq!(told, expected, "of a turn there is no task");
}

/// Regression: answers went to the door that had opened the session. Whoever spoke in it by another one was heard, and never answered.
#[test]
fn whoever_speaks_by_a_door_is_answered_there() {
    let court = Court::new(asking());
    court.put("notes", "plain");
    let engine = court.process();
    let template = court.submission();
    let say = |id: &str, channel: Channel| {
        court.things.cast_turn(id, vec![], &json!({"route": "small_talk", "response": id}).to_string());
        let what = Triggered::UserMessage { words: id.to_owned(), task_id: None };
        let origin = Origin { channel, ..origin() };
        let trigger = Trigger { session_id: Some(name("talk")), origin, ..trigger(id, what) };
        let means = Means { template: Some(&template), ..Means::default() };
        court.wait(engine.trigger(&trigger, means)).unwrap();
        court.work(&engine);
    };
    let answers = || {
        let page = court.wait(engine.outgoing(Channel::Redis, 0)).unwrap();
        page.entries.into_iter().filter_map(told).map(|(_, _, said)| said).collect::<Vec<_>>()
    };
    say("first", Channel::Http);
    assert!(answers().is_empty(), "nobody has spoken by it");
    say("second", Channel::Redis);
    assert!(answers().contains(&"second".to_owned()), "{:?}", answers());
    say("third", Channel::Http);
    assert!(answers().contains(&"third".to_owned()), "who talks with others hears them");
    // Nor did what was ordered in it have a question or a result.
    command(&court, &engine, "talk", "a");
    court.work(&engine);
    let page = court.wait(engine.outgoing(Channel::Redis, 0)).unwrap();
    let of_it = |entry: &Outgoing| matches!(&entry.what, Published::Asked { task_id, .. } if task_id == "a");
    assert!(page.entries.iter().any(of_it));
}

#[test]
fn what_is_ordered_in_anothers_session_goes_back_to_whoever_ordered_it() {
    let court = Court::new(vec![vec![read("notes")]]);
    court.put("notes", "plain");
    let engine = court.process();
    let elsewhere = Origin { channel: Channel::Http, ..origin() };
    court.wait(engine.submit_within(session_called("talk"), &elsewhere, court.submission(), None)).unwrap();
    assert!(court.wait(engine.outgoing(Channel::Redis, 0)).unwrap().entries.is_empty());
    command(&court, &engine, "talk", "a");
    court.work(&engine);
    let page = court.wait(engine.outgoing(Channel::Redis, 0)).unwrap();
    let of_it = |entry: &Outgoing| matches!(&entry.what, Published::Result { task_id, .. } if task_id == "a");
    assert!(page.entries.iter().any(of_it));
}

fn told(outgoing: Outgoing) -> Option<(Option<String>, &'static str, String)> {
    match outgoing.what {
        Published::Told { task_id, kind, message } => Some((task_id, kind, message)),
        _ => None,
    }
}
