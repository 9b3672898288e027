//! Long journals and long conversations: whoever looks at a page, says a word or listens again costs what there is to read of that, and
//! not what there was before. Counted in rows that the store was asked for, since a row is the same everywhere and a moment is not.

use std::sync::{Arc, Mutex};

use windlass_domain::coordinate::{Channel, Origin};
use windlass_domain::execution::{
    ExecutionEvent, MessageAccepted, MessageKind, Observation, ObservationDecision, ObservationRecorded, OwnerEffect,
    Source, SubagentSpawned,
};
use windlass_domain::session::{SessionEvent, SessionOpened, SessionTriggered, TaskTaken};
use windlass_domain::task::{AttemptWoken, Part, PartOf, TaskChanged, TaskCreated, TaskEvent, TaskStatus};
use windlass_domain::timeline::{Turn, timeline};
use windlass_domain::{
    CallId, Deliverable, DeliverableType, Digest, Encoded, EventFamily, ExecutionId, MessageId, SessionId, Taint,
    TaskId, Tenant,
};
use windlass_engine::{Engine, Error, JournalRecord, Naming, Published, StoryPage, TaskOrder};
use windlass_store::sqlite::SqliteStore;
use windlass_store::{Commit, NewEvent, StreamId};

use crate::counted::Counted;
use crate::court::{Court, owner_key, read};

const RECORDS: u64 = 3_000;

/// A process, and what it reads.
pub fn counted(court: &Court) -> (Engine, Arc<Counted>) {
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

fn observed(observation: Observation, number: u64) -> ExecutionEvent {
    ExecutionEvent::ObservationRecorded(Box::new(ObservationRecorded {
        event_id: format!("e{number}"),
        source: Source::Provider,
        observation,
        decision: ObservationDecision::RecordedOnly,
        reason: String::new(),
        taint: Taint::External,
    }))
}

/// Calls that end when two others were made since, and a message to the agent now and again.
fn event(number: u64) -> ExecutionEvent {
    let call = |number: u64| format!("c{number}");
    match number % 3 {
        _ if number % 1_000 == 999 => ExecutionEvent::MessageAccepted(MessageAccepted {
            message_id: MessageId::new(windlass_domain::Wall::default(), u128::from(number) << 48),
            kind: MessageKind::Prompt,
            content: format!("and now {number}"),
            images: Vec::new(),
            taint: Taint::Auth,
        }),
        0 => {
            observed(Observation::Called { call: call(number), tool: "look".to_owned(), input: number.into() }, number)
        }
        1 => {
            let ended = Observation::CallEnded {
                call: call(number.saturating_sub(7)),
                is_error: false,
                output: format!("seen {number}"),
            };
            observed(ended, number)
        }
        _ => observed(Observation::Said { text: format!("said {number}") }, number),
    }
}

/// A task whose only execution has so many records more.
fn long(court: &Court) -> (TaskId, ExecutionId) {
    let engine = court.process();
    let task = court.submit(&engine);
    court.drive(&engine, task);
    let of_execution = |record| match record {
        JournalRecord::Execution { execution, .. } => Some(execution),
        _ => None,
    };
    let execution = court.story(&engine, task).into_iter().find_map(of_execution).unwrap();
    let stream = StreamId::new("execution", execution);
    forge_all(court, (1..=RECORDS).map(|number| (stream.clone(), event(number).encode())));
    (task, execution)
}

fn court() -> Court {
    let court = Court::new(vec![vec![read("notes")]]);
    court.put("notes", "plain");
    court
}

/// All pages, and the most rows that one of them cost after the first.
fn pages(store: &Counted, page: impl Fn(u64) -> StoryPage) -> (Vec<StoryPage>, usize) {
    let (mut all, mut after, mut most) = (Vec::new(), 0, 0);
    let _before = store.read();
    loop {
        let one = page(after);
        let cost = store.read().rows;
        most = if all.is_empty() { most } else { most.max(cost) };
        let next = one.next;
        all.push(one);
        match next {
            Some(next) => after = next,
            None => break,
        }
        assert!(all.len() < 1_000, "it has no end");
    }
    (all, most)
}

#[test]
fn a_page_of_a_long_journal_costs_about_its_own_size() {
    let court = court();
    let (task, execution) = long(&court);
    let (engine, store) = counted(&court);
    let whole = court.story(&engine, task);
    let expected: Vec<_> = whole.iter().map(|record| record.row().clone()).collect();
    let (paged, most) = pages(&store, |after| court.wait(engine.task_page(task, after, 50)).unwrap());
    assert!(most <= 50 + 200, "{most} rows for a page of 50");
    assert!(paged.iter().all(|page| page.rows.len() <= 50));
    assert_eq!(paged.into_iter().flat_map(|page| page.rows).collect::<Vec<_>>(), expected);

    // Where it ends is known, and what comes is seen.
    let last = expected.last().unwrap().position.0;
    assert_eq!(court.wait(engine.task_page(task, last, 50)).unwrap(), StoryPage::default());
    let more = observed(Observation::Said { text: "more".to_owned() }, RECORDS + 1);
    court.forge(&StreamId::new("execution", execution), more.encode());
    let _before = store.read();
    let news = court.wait(engine.task_page(task, last, 50)).unwrap();
    assert_eq!((news.rows.len(), news.next), (1, None));
    assert!(store.read().rows <= 100, "only what is new is looked for");
    let (_, most) = pages(&store, |after| court.wait(engine.execution_page(execution, after, 20)).unwrap());
    assert!(most <= 20 + 200, "{most} rows for a page of 20");
}

#[test]
fn a_story_of_many_journals_is_told_in_its_order() {
    let court = court();
    let (task, parent) = long(&court);
    let header = |record: &JournalRecord| match record {
        JournalRecord::Execution { event, .. } => match event.as_ref() {
            ExecutionEvent::Header(header) => Some(header.clone()),
            _ => None,
        },
        _ => None,
    };
    let (engine, store) = counted(&court);
    let first = court.story(&engine, task).iter().find_map(header).unwrap();
    // Known as it is now, and looked at again when children have come.
    court.wait(engine.task_page(task, 0, 10)).unwrap();
    for child in 0..20 {
        let id = ExecutionId::new(court.wall(), (1_000 + child) << 48);
        let (of_parent, of_child) = (StreamId::new("execution", parent), StreamId::new("execution", id));
        let call_id = CallId(format!("spawn-{child}"));
        let spawned = SubagentSpawned { call_id, execution_id: id, label: String::new() };
        let begun = windlass_domain::execution::Header { execution_id: id, ..first.clone() };
        let begins = (of_child.clone(), ExecutionEvent::Header(begun).encode());
        let names = (of_parent.clone(), ExecutionEvent::SubagentSpawned(spawned).encode());
        match child % 2 {
            // It may stand before the record that names it.
            0 => forge_all(&court, [begins, names]),
            // And it may be named long before it begins.
            _ => {
                forge_all(&court, [names]);
                court.wait(engine.task_page(task, u64::MAX, 10)).unwrap();
                forge_all(&court, [begins]);
            }
        }
        let said = |stream: &StreamId, number: u64| {
            (stream.clone(), observed(Observation::Said { text: "x".to_owned() }, number).encode())
        };
        let talk = (0..40).map(|number| said(if number % 4 == 0 { &of_parent } else { &of_child }, number));
        forge_all(&court, talk);
    }
    let expected: Vec<_> = court.story(&engine, task).iter().map(|record| record.row().clone()).collect();
    // Reads once what has come.
    assert_eq!(court.wait(engine.executions_of(task)).unwrap().len(), 21);
    let (paged, most) = pages(&store, |after| court.wait(engine.task_page(task, after, 50)).unwrap());
    assert_eq!(paged.into_iter().flat_map(|page| page.rows).collect::<Vec<_>>(), expected);
    assert!(most <= 50 + 200, "{most} rows for a page of 50");
    let _before = store.read();
    assert_eq!(court.wait(engine.executions_of(task)).unwrap().len(), 21);
    assert_eq!(store.read().rows, 0, "whoever looks again reads nothing again");
}

fn created(court: &Court, engine: &Engine, task: TaskId) -> TaskCreated {
    let created = |record: JournalRecord| match record {
        JournalRecord::Task { event, .. } => match *event {
            TaskEvent::Created(created) => Some(created),
            _ => None,
        },
        _ => None,
    };
    court.story(engine, task).into_iter().find_map(created).unwrap()
}

#[test]
fn a_page_of_tasks_folds_nobody_s_part() {
    let court = court();
    let (engine, store) = counted(&court);
    let whole = court.submit(&engine);
    let original = created(&court, &engine, whole);
    for number in 0..20_u128 {
        let task = TaskId::new(court.wall(), (1 + number) << 48);
        let mut created = original.clone();
        created.command.task_id = task;
        created.part_of = Some(PartOf { task: whole, root: whole, part: Part::Correction {} });
        let stream = StreamId::new("task", task);
        let more = (0..200).map(|_| TaskEvent::AttemptWoken(AttemptWoken { attempt: 1 }).encode());
        let rows = std::iter::once(TaskEvent::Created(created).encode()).chain(more);
        forge_all(&court, rows.map(|row| (stream.clone(), row)));
    }
    let _before = store.read();
    let page = court.wait(engine.wholes_before(None, 10)).unwrap();
    assert_eq!(page.iter().map(|summary| summary.task_id).collect::<Vec<_>>(), [whole]);
    let read = store.read().rows;
    assert!(read <= 100, "{read} rows, of which 4,000 are of parts");
}

#[test]
fn what_a_stream_is_a_part_of_is_looked_for_once_and_not_in_what_was_done_since() {
    let court = court();
    let (task, execution) = long(&court);
    let (engine, store) = counted(&court);
    let session = created(&court, &engine, task).command.session_id.to_string();
    let _before = store.read();
    let of = court.wait(engine.belongs_to("execution", &execution.to_string())).unwrap();
    assert_eq!(of[..], [execution.to_string(), task.to_string(), session]);
    let read = store.read().rows;
    assert!(read <= 100, "{read} rows of a journal of {RECORDS}");
    assert_eq!(court.wait(engine.belongs_to("execution", &execution.to_string())).unwrap(), of);
    assert_eq!(store.read().rows, 0);
}

#[test]
fn a_page_of_deliverables_reads_no_story() {
    let court = court();
    let (task, execution) = long(&court);
    let delivered = |number: u64| {
        let deliverable = Deliverable {
            filepath: format!("out/{number}.md"),
            description: String::new(),
            kind: DeliverableType::Report,
            content: None,
            size_bytes: None,
        };
        ExecutionEvent::OwnerEffect(OwnerEffect::Delivered { deliverable, content: Digest::of(b"x") }).encode()
    };
    let stream = StreamId::new("execution", execution);
    forge_all(&court, (0..30).map(|number| (stream.clone(), delivered(number))));
    let (engine, store) = counted(&court);
    let (first, has_more) = court.wait(engine.deliveries(task, 0, 20)).unwrap();
    assert_eq!((first.len(), has_more), (20, true));
    let _before = store.read();
    let after = first.last().unwrap().position.0;
    let (rest, has_more) = court.wait(engine.deliveries(task, after, 20)).unwrap();
    assert_eq!((rest.len(), has_more, store.read().rows), (10, false, 10));
}

#[test]
fn a_page_of_a_long_timeline_costs_about_its_own_size() {
    let court = court();
    let (_, execution) = long(&court);
    let (engine, store) = counted(&court);
    let story = court.wait(engine.execution_story(execution)).unwrap();
    let own = story.iter().filter_map(|record| match record {
        JournalRecord::Execution { event, at, .. } => Some((event.as_ref(), *at)),
        _ => None,
    });
    let expected = timeline(own);
    let (mut turns, mut after): (Vec<Turn>, usize) = (Vec::new(), 0);
    loop {
        let _before = store.read();
        let page = court.wait(engine.turns_after(execution, after, 2)).unwrap();
        let cost = store.read();
        assert!(page.turns.len() <= 2);
        for told in page.turns {
            assert!(told.turn.steps.len() <= 100, "{}", told.turn.steps.len());
            match turns.last_mut().filter(|_| told.continues) {
                Some(turn) => turn.steps.extend(told.turn.steps),
                None => turns.push(told.turn),
            }
        }
        // Two pieces of a hundred steps, which are of two records of three, and what came late for them.
        assert!(after == 0 || cost.rows <= 2 * 150 + 20, "{} rows after {after}", cost.rows);
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    assert_eq!(turns, expected);
    assert!(after >= 10, "the turns are long: {after}");
}

#[test]
fn an_execution_is_not_folded_anew_by_each_who_looks() {
    let court = court();
    let (_, execution) = long(&court);
    let (engine, store) = counted(&court);
    let standing = court.wait(engine.execution(execution)).unwrap();
    assert!(standing.records > RECORDS && store.read().rows as u64 >= RECORDS);
    assert_eq!(court.wait(engine.execution(execution)).unwrap().records, standing.records);
    assert_eq!(store.read().rows, 1, "the last one, to see that it is there");
    court.forge(&StreamId::new("execution", execution), event(RECORDS + 2).encode());
    assert_eq!(court.wait(engine.execution(execution)).unwrap().records, standing.records + 1);
    assert_eq!(store.read().rows, 2);
}

/// Regression: the whole of its journal was read for each record that its channel was told.
#[test]
fn a_channel_is_told_of_a_task_that_rests_often_for_what_is_new_of_it() {
    let court = court();
    let engine = court.process();
    let name = |text: &str| text.parse().unwrap();
    let order = TaskOrder {
        command_id: name("command"),
        session_id: name("talk"),
        task_id: name("often"),
        origin: Origin { by: "ada".to_owned(), channel: Channel::Redis, taint: Taint::Auth },
        submission: court.submission(),
        resume_context: None,
    };
    court.wait(engine.command(&order, Some(&owner_key()))).unwrap();
    let stream = StreamId::new("task", TaskId::called(&Tenant::local(), &order.task_id));
    let changed = |number: u64| {
        let status = if number.is_multiple_of(2) { TaskStatus::Paused } else { TaskStatus::Running };
        TaskEvent::Changed(TaskChanged { status, reason: format!("for the {number}th time"), stopped: false }).encode()
    };
    forge_all(&court, (0..RECORDS).map(|number| (stream.clone(), changed(number))));
    let (engine, store) = counted(&court);
    let (mut after, mut told, mut paused) = (0, 0, 0);
    loop {
        let page = court.wait(engine.outgoing(Channel::Redis, after)).unwrap();
        told += page.entries.len() as u64;
        paused += page.entries.iter().filter(|entry| matches!(entry.what, Published::Result { .. })).count() as u64;
        after = page.upto;
        if page.is_last {
            break;
        }
    }
    assert_eq!((told, paused), (1 + RECORDS + RECORDS / 2, RECORDS / 2), "each flag, and that it rests");
    let rows = store.read().rows as u64;
    assert!(rows <= 8 * RECORDS, "{rows} rows for {RECORDS} records");
    // Who begins anew, as after a Redis that has forgotten, hears the same.
    let again = court.wait(engine.outgoing(Channel::Redis, 0)).unwrap();
    assert!(again.entries.iter().any(|entry| matches!(&entry.what, Published::Result { result, .. }
        if result.final_message.as_deref() == Some("for the 0th time"))));
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
fn how_the_tasks_of_a_conversation_stand_costs_what_is_new_of_them() {
    let court = Court::new(vec![]);
    let (engine, store) = counted(&court);
    let task = court.submit(&engine);
    let session = created(&court, &engine, task).command.session_id;
    let opened = SessionOpened::local(court.workspace().to_string_lossy().into_owned());
    let taken = TaskTaken { task_id: task, called: Default::default(), waits: false };
    let of_session = [SessionEvent::Opened(opened), SessionEvent::TaskTaken(taken)];
    forge_all(&court, of_session.map(|event| (StreamId::new("session", session), EventFamily::encode(&event))));
    let woken = || (StreamId::new("task", task), TaskEvent::AttemptWoken(AttemptWoken { attempt: 1 }).encode());
    forge_all(&court, (0..RECORDS).map(|_| woken()));
    let look = || court.wait(engine.session_state(session, Naming::Ids)).unwrap().unwrap();
    let first = look();
    assert_eq!(first.tasks.len(), 1);
    assert!(store.read().rows as u64 > RECORDS, "once");
    forge_all(&court, [woken()]);
    assert_eq!(look(), first);
    let read = store.read().rows;
    assert!(read <= 20, "{read} rows for one that is new");
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
            by: None,
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

#[test]
fn a_page_of_the_audit_reads_no_more_than_it_needs() {
    let court = court();
    let (_, _) = long(&court);
    let (engine, store) = counted(&court);
    let (mut events, mut after) = (Vec::new(), 0);
    loop {
        let _before = store.read();
        let page = court.wait(engine.audit_page(after, 3)).unwrap();
        assert!(page.records.len() <= 3 && store.read().rows <= 1_000);
        let is_full = page.records.len() == 3;
        events.extend(page.records);
        match page.next {
            Some(next) => after = next.0,
            None => break,
        }
        assert!(is_full || after > 500, "what is at hand is on the page");
    }
    let all = court.wait(engine.audit(windlass_store::Position(0))).unwrap().records;
    assert_eq!(events[..all.len()], all[..]);
}

/// In a store that was put back there is less than was known, or something else.
#[test]
fn what_is_not_there_any_more_is_not_remembered() {
    let court = court();
    let (task, execution) = long(&court);
    let session = long_conversation(&court);
    let (engine, store) = counted(&court);
    court.wait(engine.execution(execution)).unwrap();
    court.wait(engine.task_page(task, 0, 10)).unwrap();
    court.wait(engine.turns_after(execution, 0, 10)).unwrap();
    assert!(court.wait(engine.session(session)).unwrap().workspace.is_some());
    let other = Court::new(vec![]);
    store.put_back(Arc::<SqliteStore>::clone(&other.store));
    assert!(matches!(court.wait(engine.execution(execution)), Err(Error::NoSuchExecution(_))));
    assert!(matches!(court.wait(engine.task_page(task, u64::MAX, 10)), Err(Error::NoSuchTask(_))));
    assert!(matches!(court.wait(engine.turns_after(execution, 0, 10)), Err(Error::NoSuchExecution(_))));
    assert!(court.wait(engine.session(session)).unwrap().workspace.is_none());
}
