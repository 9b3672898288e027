//! Long journals and long conversations: whoever looks at a page, says a word or listens again costs what there is to read of that, and
//! not what there was before. Counted in rows that the store was asked for, since a row is the same everywhere and a moment is not.

use std::sync::{Arc, Mutex};

use windlass_domain::session::{SessionEvent, SessionOpened, SessionTriggered};
use windlass_domain::{Encoded, EventFamily, MessageId, SessionId, Taint, Tenant};
use windlass_engine::Engine;
use windlass_store::{Commit, NewEvent, StreamId};

use crate::counted::Counted;
use crate::court::Court;

const RECORDS: u64 = 3_000;

/// A process, and what it reads.
fn counted(court: &Court) -> (Engine, Arc<Counted>) {
    let store = Arc::new(Mutex::new(None));
    let engine = court.process_with(|parts| {
        let counted = Counted::new(Arc::clone(&parts.store));
        *store.lock().unwrap() = Some(Arc::clone(&counted));
        parts.store = counted;
    });
    let counted = store.lock().unwrap().take().unwrap();
    (engine, counted)
}

fn forge_all(court: &Court, rows: impl IntoIterator<Item = (StreamId, Encoded)>) {
    let at = court.wall();
    let rows: Vec<_> = rows.into_iter().collect();
    for some in rows.chunks(500) {
        let mut commit = Commit::unfenced(Tenant::local(), at);
        let event = |(stream, encoded): &(StreamId, Encoded)| NewEvent {
            stream: stream.clone(),
            encoded: encoded.clone(),
            taint: Taint::Auth,
            at,
        };
        commit.events = some.iter().map(event).collect();
        court.wait(windlass_store::Store::commit(&*court.store, commit)).unwrap();
    }
}

/// A conversation of so many messages, in which a task is under way.
fn long_conversation(court: &Court) -> SessionId {
    let session = SessionId::of("/somewhere", "talk");
    let stream = StreamId::new("session", session);
    let opened = SessionOpened::local(court.workspace().to_string_lossy().into_owned());
    let heard = |number: u64| SessionTriggered {
        trigger_id: format!("t{number}").parse().unwrap(),
        kind: windlass_domain::coordinate::TriggerType::UserMessageReceived,
        by: "ada".to_owned(),
        channel: windlass_domain::coordinate::Channel::Http,
    };
    let rows = (1..=RECORDS).map(|number| SessionEvent::Triggered(heard(number)));
    let all = std::iter::once(SessionEvent::Opened(opened)).chain(rows);
    forge_all(court, all.map(|event| (stream.clone(), EventFamily::encode(&event))));
    session
}

#[test]
fn what_is_said_in_a_long_conversation_does_not_cost_all_of_it() {
    let court = Court::new(vec![]);
    let session = long_conversation(&court);
    let (engine, store) = counted(&court);
    court.wait(engine.session(session)).unwrap();
    assert!(store.read().rows as u64 > RECORDS, "once");
    let words = "hello";
    court.things.cast_turn(words, vec![], r#"{"route": "small_talk", "response": "Hello yourself."}"#);
    let template = court.submission();
    let saying = windlass_engine::Saying { session: Some(session), words: words.to_owned(), template };
    let said = court.wait(engine.say(saying, windlass_engine::Dispatch::ToWorkers)).unwrap();
    court.work(&engine);
    let ended = court.wait(engine.turn_about(session, said.message)).unwrap();
    assert_eq!(ended.map(|ended| ended.answer()).as_deref(), Some("Hello yourself."));
    let rows = store.read().rows;
    assert!(rows < 1_000, "{rows} rows for a word, its turn and its answer");
    let state = court.wait(engine.session(session)).unwrap();
    assert_eq!(state.said.len(), 2, "and it is what it is from the beginning");
    // Another process has read nothing yet, and sees the same.
    assert_eq!(court.wait(court.process().session(session)).unwrap().said, state.said);
}

#[test]
fn a_page_of_what_was_said_reads_on_from_where_the_one_before_ended() {
    let court = Court::new(vec![]);
    let session = long_conversation(&court);
    let stream = StreamId::new("session", session);
    let said = |number: u64| {
        let message_id = MessageId::new(windlass_domain::Wall::default(), u128::from(number) << 48);
        let words = number.to_string();
        SessionEvent::UserSaid(windlass_domain::session::UserSaid {
            message_id,
            words,
            taint: Taint::Auth,
            template: None,
        })
    };
    forge_all(&court, (0..300).map(|number| (stream.clone(), EventFamily::encode(&said(number)))));
    let (engine, store) = counted(&court);
    let (first, has_more) = court.wait(engine.said_after(session, windlass_domain::Seq(0), 50)).unwrap();
    assert_eq!((first.len(), has_more), (50, true));
    let _before = store.read();
    let (second, has_more) = court.wait(engine.said_after(session, first.last().unwrap().0, 50)).unwrap();
    assert_eq!((second.len(), has_more), (50, true));
    assert!(second[0].0 > first[49].0 && store.read().rows <= 200);
    let (rest, has_more) = court.wait(engine.said_after(session, second.last().unwrap().0, 500)).unwrap();
    assert_eq!((rest.len(), has_more), (200, false));
}
