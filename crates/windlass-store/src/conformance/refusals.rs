//! What queues refuse: each with its own word, one entry in the audit, and no other effect.

use windlass_domain::queue::{ErrorCode, MessageKind, QueueMessage, Sender};
use windlass_domain::{Seq, Taint, Tenant};

use crate::commit::{Commit, Nonce};
use crate::conformance::fixture::{
    AnyRuntime, AnyStore, NOW, commit, message as plain_message, message_id, ok, stream, tenant, trace_id,
};
use crate::conformance::scene::{Scene, done, effect, request, stale, witness};
use crate::delivery::DeliveryChange;
use crate::queue::{
    Actor, Asked, AuditType, Door, LARGEST_MESSAGE, Queue, RuntimeAuditEvent, audit_stream, drop_letter, follow, retry,
};
use crate::record::{Depth, StoredEvent};

async fn audit(store: &AnyStore, whose: &Tenant, subject: &str) -> Vec<StoredEvent> {
    store.stream(whose, &audit_stream(subject), Seq(0), usize::MAX).await.expect("readable")
}

/// What the audit has to say about the last thing that was refused, which is all that is new in it.
async fn last_refusal(store: &AnyStore, whose: &Tenant, entries: usize) -> (String, RuntimeAuditEvent) {
    let stored = audit(store, whose, "planner_queue").await;
    assert_eq!(stored.len(), entries, "one entry for each");
    let data = &stored.last().expect("an entry").data;
    assert!(data.len() < 2_000, "an entry is small, whatever was refused");
    let event: RuntimeAuditEvent = serde_json::from_str(data).expect("readable");
    assert_eq!(event.decision.as_deref(), Some("refused"));
    assert_eq!(&event.scope_id, whose);
    (event.details["refusal"].as_str().expect("a word").to_owned(), event)
}

fn user_message(number: u64) -> QueueMessage {
    QueueMessage { sender: Sender::User, message_kind: MessageKind::UserMessage, ..request(number) }
}

pub(super) async fn what_may_not_enter_is_refused_with_its_own_word(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1)]).await;
    let large = QueueMessage { content: "x".repeat(10 << 20), ..request(2) };
    let error = QueueMessage { error_code: Some(ErrorCode::Timeout), ..request(2) };
    let elsewhere = QueueMessage { scope_id: Tenant::new("o".repeat(LARGEST_MESSAGE / 2)), ..request(2) };
    let cases = [
        ("not_routed", user_message(2)),
        ("incomplete", error),
        ("too_large", QueueMessage { scope_id: Tenant::new("other"), ..large }),
        ("bad_placement", QueueMessage { placement: Some("a@b".to_owned()), ..request(2) }),
        ("other_tenant", elsewhere),
        ("duplicate", request(1)),
    ];
    for (index, (word, message)) in cases.into_iter().enumerate() {
        let refusal = scene.desk().enqueue(commit(), Queue::Planner, &message).await.expect_err(word);
        assert_eq!(refusal.refusal(), Some(word));
        let (said, event) = last_refusal(&store, &tenant(), 2 + index).await;
        assert_eq!((said.as_str(), event.event_type), (word, AuditType::Enqueue));
        assert_eq!((event.message_id, event.trace_id), (Some(message.message_id), message.trace_id));
        assert_eq!(event.actor, Actor::from(message.sender));
        assert_eq!(store.depth("planner_queue").await, Ok(Depth { ready: 1, leased: 0 }));
    }
    // The benign twin, and the control: a row that was not checked does enter.
    scene.desk().enqueue(commit(), Queue::Planner, &request(2)).await.expect("as it should be");
    let mut unchecked = commit();
    unchecked.messages.push(plain_message(3, Queue::Planner.name()));
    ok(&store, unchecked).await;
    assert_eq!(store.depth("planner_queue").await, Ok(Depth { ready: 3, leased: 0 }));
}

pub(super) async fn a_follower_with_another_trace_is_refused(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    let forged = QueueMessage { trace_id: trace_id(9), ..request(2) };
    let mut effects = commit();
    let asked = Asked::to_enqueue(&tenant(), Queue::Planner, &forged);
    let refusal = scene.desk().audited(&asked, follow(&mut effects, &request(1), Queue::Planner, &forged)).await;
    assert_eq!(refusal.expect_err("another trace").refusal(), Some("other_trace"));
    assert!(effects.messages.is_empty());
    assert_eq!(last_refusal(&store, &tenant(), 1).await.0, "other_trace");
}

pub(super) async fn what_arrives_as_bytes_is_read_within_bounds_and_believed_nothing(
    store: AnyStore,
    runtime: AnyRuntime,
) {
    let scene = Scene::new(store.clone(), runtime);
    let door = |sender| Door { tenant: tenant(), sender, taint: Taint::Auth };
    let bytes = |message: &QueueMessage| serde_json::to_vec(message).expect("plain data");
    let nested = "[".repeat(100_000);
    let unknown = format!(r#"{{"sender":"{}"}}"#, "z".repeat(50_000));
    let cases = [
        ("malformed", &b"not a message"[..]),
        ("malformed", b"{}"),
        ("malformed", b"\xff\xfe"),
        ("malformed", nested.as_bytes()),
        ("malformed", unknown.as_bytes()),
        ("too_large", &vec![b' '; 10 << 20]),
        ("forged", &bytes(&QueueMessage { sender: Sender::Runtime, ..request(1) })),
    ];
    for (entries, (word, text)) in (1..).zip(cases) {
        let refusal = scene.desk().receive(&door(Sender::Proxy), Queue::Planner, text).await.expect_err(word);
        assert_eq!(refusal.refusal(), Some(word));
        assert!(refusal.to_string().len() < 2_000, "what it says is short");
        let (said, event) = last_refusal(&store, &tenant(), entries).await;
        assert_eq!((said.as_str(), event.actor), (word, Actor::Proxy), "who sent it is who the door says");
        assert_eq!(store.depth("planner_queue").await, Ok(Depth { ready: 0, leased: 0 }));
    }
    // The same bytes through a door that lets their sender in, and a label that is missing is not believed to be better.
    let mut announcement = request(1);
    (announcement.sender, announcement.message_kind) = (Sender::Runtime, MessageKind::SystemEvent);
    announcement.taint = Taint::Owner;
    scene.desk().receive(&door(Sender::Runtime), Queue::Planner, &bytes(&announcement)).await.expect("let in");
    scene.desk().receive(&door(Sender::Proxy), Queue::Planner, &bytes(&request(2))).await.expect("let in");
    let (mut consumer, _) = scene.consumer(1).await;
    assert_eq!(scene.lease(&mut consumer).await.message.taint, Taint::Auth);
    assert_eq!(scene.lease(&mut consumer).await.message, request(2));
}

pub(super) async fn whoever_lost_a_message_is_refused_and_that_is_audited(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1)]).await;
    let ((mut slow, _), (mut other, _)) = (scene.consumer(1).await, scene.consumer(2).await);
    let mut lost = scene.lease(&mut slow).await;
    let taken = scene.watch(&mut other, &mut witness()).await;
    let entries = audit(&store, &tenant(), "planner_queue").await.len();
    let desk = scene.desk();
    let mut verbs = Vec::new();
    for number in 1..=4 {
        let is_stale = match number {
            1 => stale(desk.ack(&lost, effect(&lost)).await),
            2 => stale(desk.nack(&lost, "late").await),
            3 => stale(desk.heartbeat(&mut lost).await),
            _ => stale(desk.dead_letter(&lost, "late").await),
        };
        assert!(is_stale);
        let (said, event) = last_refusal(&store, &tenant(), entries + number).await;
        assert_eq!((said.as_str(), event.event_type, event.actor), ("stale", AuditType::Dequeue, Actor::Planner));
        assert_eq!((event.message_id, event.trace_id), (Some(message_id(1)), trace_id(1)));
        verbs.push(event.details["verb"].as_str().expect("a word").to_owned());
    }
    assert_eq!(verbs, ["ack", "nack", "heartbeat", "dead_letter"]);
    assert_eq!(done(&store).await, Vec::<String>::new());
    // The benign twin: the same of whoever has it.
    let mut taken = taken.into_iter().next().expect("it was taken over");
    desk.heartbeat(&mut taken).await.expect("it is ours");
    desk.ack(&taken, effect(&taken)).await.expect("it is ours");
    assert_eq!(audit(&store, &tenant(), "planner_queue").await.len(), entries + 4);
    // The control: without its delivery the late commit does happen.
    ok(&store, effect(&lost)).await;
    assert_eq!(done(&store).await, ["1", "1"]);
}

pub(super) async fn an_ack_out_of_order_replayed_or_for_another_tenant_is_refused(
    store: AnyStore,
    runtime: AnyRuntime,
) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1)]).await;
    let (mut consumer, _) = scene.consumer(1).await;
    let leased = scene.lease(&mut consumer).await;
    let nonce = || Nonce("once".to_owned());
    ok(&store, Commit { nonces: vec![nonce()], ..commit() }).await;
    let other = Tenant::new("other");
    let cases: [(&str, Tenant, Commit); 3] = [
        ("out_of_order", tenant(), Commit { expect: vec![(stream("done"), Seq(7))], ..effect(&leased) }),
        ("replayed", tenant(), Commit { nonces: vec![nonce()], ..effect(&leased) }),
        ("other_tenant", other.clone(), Commit { tenant: other, ..effect(&leased) }),
    ];
    for (entries, (word, whose, effects)) in (3..).zip(cases) {
        let refusal = scene.desk().ack(&leased, effects).await;
        assert_eq!(refusal.expect_err(word).refusal(), Some(word));
        let count = if whose == tenant() { entries } else { 1 };
        assert_eq!(last_refusal(&store, &whose, count).await.0, word);
        assert_eq!(store.depth("planner_queue").await, Ok(Depth { ready: 0, leased: 1 }));
    }
    assert_eq!(done(&store).await, Vec::<String>::new());
    let expect = vec![(stream("done"), Seq(0))];
    scene.desk().ack(&leased, Commit { expect, ..effect(&leased) }).await.expect("in order");
}

pub(super) async fn what_is_no_dead_letter_is_neither_retried_nor_dropped(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1)]).await;
    let (alive, never) = (message_id(1), message_id(9));
    for (number, verb) in [(2, "retry"), (3, "drop")] {
        let refusal = match verb {
            "retry" => retry(&*store, &tenant(), alive, NOW).await,
            _ => drop_letter(&*store, &tenant(), alive, NOW).await,
        };
        assert_eq!(refusal.expect_err("it is alive").refusal(), Some("not_there"));
        let (said, event) = last_refusal(&store, &tenant(), number).await;
        assert_eq!((said.as_str(), &event.details["verb"], event.actor), ("not_there", &verb.into(), Actor::User));
    }
    retry(&*store, &tenant(), never, NOW).await.expect_err("it never was");
    drop_letter(&*store, &Tenant::new("other"), alive, NOW).await.expect_err("it is another's");
    assert_eq!(audit(&store, &tenant(), "dead_letters").await.len(), 1);
    assert_eq!(audit(&store, &Tenant::new("other"), "dead_letters").await.len(), 1);
    assert_eq!(store.depth("planner_queue").await, Ok(Depth { ready: 1, leased: 0 }));
}

pub(super) async fn what_is_put_aside_is_audited_as_refused(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    let (mut consumer, _) = scene.consumer(1).await;
    let mut unreadable = commit();
    unreadable.messages.push(plain_message(1, Queue::Planner.name()));
    ok(&store, unreadable).await;
    assert!(scene.nothing_to_lease(&mut consumer).await);
    let (said, event) = last_refusal(&store, &tenant(), 1).await;
    assert_eq!((said.as_str(), event.message_id), ("malformed", Some(message_id(1))));
    // One that fails always, and one that is given back so often.
    scene.put([request(2)]).await;
    for _ in 0..scene.desk().max_deliveries {
        let leased = scene.lease(&mut consumer).await;
        let given_back = DeliveryChange::Nack { delivery: leased.delivery, not_before: None };
        ok(&store, Commit { deliveries: vec![given_back], ..commit() }).await;
    }
    assert!(scene.nothing_to_lease(&mut consumer).await);
    assert_eq!(last_refusal(&store, &tenant(), 8).await.0, "tried_too_often");
}

/// That nobody has it any more is not the fault of whoever lost a race for it.
pub(super) async fn a_lost_race_is_no_refusal(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1)]).await;
    let ((mut first, _), (mut second, _)) = (scene.consumer(1).await, scene.consumer(2).await);
    scene.lease(&mut first).await;
    assert!(scene.nothing_to_lease(&mut second).await);
    let claimed = scene.desk().claim(&mut second, &mut witness(), &tenant(), message_id(1)).await;
    assert_eq!(claimed, Ok(None));
    assert_eq!(audit(&store, &tenant(), "planner_queue").await.len(), 2);
}
