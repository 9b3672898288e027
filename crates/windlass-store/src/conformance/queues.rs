//! The verbs of queues, from end to end: seed 001 §8's queue tests under its names, with clocks that stand still.

use std::time::Duration;

use windlass_domain::queue::{
    ErrorCode, ErrorPayload, MessageKind, OriginAgent, QueueMessage, QueuePayload, Sender, Urgency,
};
use windlass_domain::{MessageId, Seq, Taint, Tenant, TraceId};

use crate::commit::{Commit, NewMessage};
use crate::conformance::fixture::{
    AnyRuntime, AnyStore, NOW, message as plain_message, message_id, ok, registered, tenant, trace_id,
};
use crate::conformance::scene::{A_LOOK, Scene, done, effect, request, stale, witness};
use crate::error::Error as StoreError;
use crate::owner::{beat, retire};
use crate::queue::{
    Actor, AuditType, Consumer, Error, Invalid, LARGEST_MESSAGE, Leased, Nacked, Queue, RuntimeAuditEvent, TakenOver,
    TelemetryName, audit_stream, drop_letter, enqueue, follow, has_processed, mark_processed, retry,
};
use crate::record::Standing;

pub(super) async fn queue_enqueue_lease_ack_nack_dead_letter_lifecycle(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    let (mut consumer, _) = scene.consumer(1).await;
    assert!(scene.nothing_to_lease(&mut consumer).await);
    scene.put([request(1), QueueMessage { urgency: Urgency::NeedsAttention, ..request(2) }, request(3)]).await;
    // Queued, leased, acked. What is urgent goes first.
    scene.clock.pass(Duration::from_millis(70));
    let urgent = scene.lease(&mut consumer).await;
    assert_eq!((urgent.message.message_id, urgent.attempt), (message_id(2), 1));
    scene.clock.pass(Duration::from_millis(30));
    scene.desk().ack(&urgent, effect(&urgent)).await.expect("it is ours");
    assert!(stale(scene.desk().ack(&urgent, effect(&urgent)).await), "once");
    assert_eq!(done(&store).await, ["2"]);
    let [waited] = &scene.measured(TelemetryName::QueueWaitMs)[..] else { panic!("one was dequeued") };
    assert_eq!((waited.value, waited.queue_name.as_str(), waited.trace_id), (70, "planner_queue", trace_id(2)));
    let [lasted] = &scene.measured(TelemetryName::LeaseDurationMs)[..] else { panic!("one was acked") };
    assert_eq!((lasted.value, lasted.message_id), (30, Some(message_id(2))));
    // Nacked, queued again, leased again.
    let first = scene.lease(&mut consumer).await;
    let Nacked::Later { not_before } = scene.desk().nack(&first, "no luck").await.expect("it is ours") else {
        panic!("it has tries left")
    };
    assert!(stale(scene.desk().ack(&first, effect(&first)).await));
    let third = scene.lease(&mut consumer).await;
    assert_eq!(third.message.message_id, message_id(3));
    assert!(scene.nothing_to_lease(&mut consumer).await);
    scene.clock.pass(not_before.since(NOW));
    let again = scene.lease(&mut consumer).await;
    assert_eq!((again.message.message_id, again.attempt), (message_id(1), 2));
    // Dead, listed, retried, acked; dead, dropped.
    scene.desk().dead_letter(&again, "it makes no sense").await.expect("it is ours");
    let [letter] = &store.dead_letters(&tenant(), None, 9).await.expect("readable")[..] else { panic!("one is dead") };
    assert!(matches!(&letter.standing, Standing::Dead { reason, .. } if reason == "it makes no sense"));
    assert!(scene.nothing_to_lease(&mut consumer).await);
    retry(&*store, &tenant(), message_id(1), NOW).await.expect("it is dead");
    let retried = scene.lease(&mut consumer).await;
    assert_eq!((retried.attempt, retried.delivery.number), (1, 3));
    scene.desk().ack(&retried, effect(&retried)).await.expect("it is ours");
    scene.desk().dead_letter(&third, "neither does this").await.expect("it is ours");
    drop_letter(&*store, &tenant(), message_id(3), NOW).await.expect("it is dead");
    assert!(scene.nothing_to_lease(&mut consumer).await);
    assert_eq!(done(&store).await, ["2", "1"]);
    let depth = scene.desk().sample_depth(Queue::Planner, trace_id(0)).await.expect("readable");
    assert_eq!((depth.ready, depth.leased), (0, 0));
    assert_eq!(scene.measured(TelemetryName::QueueDepthSample).len(), 1);
}

pub(super) async fn queue_crash_recovery_re_lease_on_startup(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1), request(2), request(3)]).await;
    let ((mut dead, _), (mut living, alive)) = (scene.consumer(1).await, scene.consumer(2).await);
    let lost = [scene.lease(&mut dead).await, scene.lease(&mut dead).await];
    let kept = scene.lease(&mut living).await;
    // The one that starts up takes nothing from those it has not watched die.
    let (mut starting, _) = scene.consumer(3).await;
    let mut witness = witness();
    assert_eq!(scene.desk().take_over(&mut starting, &mut witness).await.expect("no trouble"), TakenOver::Nothing);
    let mut recovered = Vec::new();
    for _ in 0..5 {
        beat(&*store, alive, NOW).await.expect("it lives");
        while let TakenOver::Message(leased) =
            scene.desk().take_over(&mut starting, &mut witness).await.expect("no trouble")
        {
            recovered.push(*leased);
        }
        scene.clock.pass(A_LOOK);
    }
    let ids: Vec<MessageId> = recovered.iter().map(|leased| leased.message.message_id).collect();
    assert_eq!(ids, lost.clone().map(|leased| leased.message.message_id));
    assert_eq!(recovered.iter().map(|leased| leased.attempt).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(scene.measured(TelemetryName::LeaseExpired).len(), 2);
    scene.desk().ack(&kept, effect(&kept)).await.expect("the living keep what is theirs");
    for leased in &recovered {
        scene.desk().ack(leased, effect(leased)).await.expect("it is ours");
    }
    for leased in &lost {
        assert!(stale(scene.desk().ack(leased, effect(leased)).await));
    }
    assert_eq!(done(&store).await.len(), 3);
}

pub(super) async fn queue_heartbeat_extension_and_lease_expiry(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1)]).await;
    let ((mut slow, owner), (mut other, _)) = (scene.consumer(1).await, scene.consumer(2).await);
    let mut leased = scene.lease(&mut slow).await;
    let mut witness = witness();
    // Long beyond any time to live: the owner's beat is what keeps it.
    for _ in 0..20 {
        beat(&*store, owner, NOW).await.expect("it lives");
        scene.desk().heartbeat(&mut leased).await.expect("it is ours");
        let taken = scene.desk().take_over(&mut other, &mut witness).await.expect("no trouble");
        assert_eq!(taken, TakenOver::Nothing);
        scene.clock.pass(A_LOOK);
    }
    assert_eq!(scene.measured(TelemetryName::LeaseHeartbeat).len(), 20);
    assert_eq!(scene.measured(TelemetryName::LeaseExpired).len(), 0);
    // It falls silent.
    let taken = scene.watch(&mut other, &mut witness).await;
    assert_eq!(taken.len(), 1);
    assert_eq!(scene.measured(TelemetryName::LeaseExpired).len(), 1);
    assert!(stale(scene.desk().heartbeat(&mut leased).await));
    assert!(stale(scene.desk().nack(&leased, "late").await));
    assert!(stale(scene.desk().dead_letter(&leased, "late").await));
    assert_eq!(scene.measured(TelemetryName::LeaseHeartbeat).len(), 20, "a beat that found nothing is none");
    scene.desk().ack(&taken[0], effect(&taken[0])).await.expect("it is the other's");
    let durations = scene.measured(TelemetryName::LeaseDurationMs);
    assert_eq!(durations.len(), 1, "what was stale ended nothing");
    assert_eq!(durations[0].labels.get("heartbeats").map(String::as_str), Some("0"));
}

pub(super) async fn queue_processed_set_idempotency(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1)]).await;
    let (mut consumer, _) = scene.consumer(1).await;
    let leased = scene.lease(&mut consumer).await;
    let asked = |name: &'static str| has_processed(&*store, &leased.message.scope_id, name, message_id(1));
    assert_eq!(asked("planner").await, Ok(false));
    let marked = || {
        let mut commit = effect(&leased);
        mark_processed(&mut commit, "planner", message_id(1));
        commit
    };
    // The effects and the mark, without the ack: as if it had crashed in between.
    ok(&store, marked()).await;
    assert_eq!((asked("planner").await, asked("verifier").await), (Ok(true), Ok(false)));
    let again = scene.desk().ack(&leased, marked()).await;
    assert!(matches!(again, Err(Error::Store(StoreError::Duplicate { .. }))), "{again:?}");
    assert_eq!(done(&store).await, ["1"]);
    // Already processed: ack, and nothing else.
    scene.desk().ack(&leased, Commit::unfenced(tenant(), NOW)).await.expect("it is ours");
    assert_eq!((done(&store).await.len(), scene.standing(1).await), (1, None));
}

pub(super) async fn duplicate_message_delivery_is_deduplicated(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    let (mut consumer, _) = scene.consumer(1).await;
    let send = async || scene.desk().enqueue(Commit::unfenced(tenant(), NOW), Queue::Planner, &request(1)).await;
    send().await.expect("it is new");
    let mut refusals = Vec::new();
    refusals.push(send().await);
    let leased = scene.lease(&mut consumer).await;
    refusals.push(send().await);
    scene.desk().ack(&leased, effect(&leased)).await.expect("it is ours");
    refusals.push(send().await);
    for refusal in refusals {
        assert!(matches!(refusal, Err(Error::Store(StoreError::Duplicate { .. }))), "{refusal:?}");
    }
    assert!(scene.nothing_to_lease(&mut consumer).await);
    assert_eq!(done(&store).await, ["1"]);
    // One delivery, and three that were refused.
    assert_eq!(store.head(&tenant(), &audit_stream("planner_queue")).await, Ok(Seq(5)));
}

pub(super) async fn crash_mid_work_redelivery_starts_afresh_and_the_woken_consumer_commits_nothing(
    store: AnyStore,
    runtime: AnyRuntime,
) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1)]).await;
    let ((mut stopped, owner), (mut other, _)) = (scene.consumer(1).await, scene.consumer(2).await);
    let before = scene.lease(&mut stopped).await;
    let taken = scene.watch(&mut other, &mut witness()).await;
    let [redelivered] = &taken[..] else { panic!("it was taken over") };
    assert_eq!((redelivered.message.clone(), redelivered.attempt), (before.message.clone(), 2));
    // The stopped one wakes, before and after the other is done, and has a heart again.
    beat(&*store, owner, NOW).await.expect("it is registered");
    let mut everything = effect(&before);
    everything.messages.push(plain_message(77, "box"));
    mark_processed(&mut everything, "planner", message_id(1));
    assert!(stale(scene.desk().ack(&before, everything.clone()).await));
    scene.desk().ack(redelivered, effect(redelivered)).await.expect("it is the other's");
    assert!(stale(scene.desk().ack(&before, everything).await));
    assert_eq!(done(&store).await, ["1"]);
    assert_eq!(store.message(&tenant(), message_id(77)).await, Ok(None));
    assert_eq!(has_processed(&*store, &tenant(), "planner", message_id(1)).await, Ok(false));
}

pub(super) async fn a_message_that_kills_its_consumers_ends_as_a_dead_letter(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1)]).await;
    let (mut first, _) = scene.consumer(1).await;
    assert_eq!(scene.lease(&mut first).await.attempt, 1);
    for number in 2..=5 {
        let (mut next, _) = scene.consumer(number).await;
        let taken = scene.watch(&mut next, &mut witness()).await;
        assert_eq!(taken.iter().map(|leased| u64::from(leased.attempt)).collect::<Vec<_>>(), [number]);
    }
    let (mut last, _) = scene.consumer(6).await;
    assert_eq!(scene.watch(&mut last, &mut witness()).await, []);
    let standing = scene.standing(1).await;
    assert!(matches!(&standing, Some(Standing::Dead { reason, .. }) if reason.contains('5')), "{standing:?}");
    assert_eq!(scene.measured(TelemetryName::LeaseExpired).len(), 5);
}

pub(super) async fn backoff_doubles_and_after_five_deliveries_the_letter_is_dead(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1)]).await;
    let (mut consumer, owner) = scene.consumer(1).await;
    for (attempt, seconds) in (1_u32..=4).zip([1, 2, 4, 8]) {
        let leased = scene.lease(&mut consumer).await;
        assert_eq!(leased.attempt, attempt);
        let now = windlass_domain::Runtime::wall(&scene.clock);
        let nacked = scene.desk().nack(&leased, "no luck").await.expect("it is ours");
        let Nacked::Later { not_before } = nacked else { panic!("it has tries left") };
        let waits = not_before.since(now);
        let whole = Duration::from_secs(seconds);
        assert!(waits <= whole && waits >= whole * 3 / 4, "{waits:?} after attempt {attempt}");
        scene.clock.pass(waits - Duration::from_millis(1));
        assert!(scene.nothing_to_lease(&mut consumer).await, "not before its time");
        scene.clock.pass(Duration::from_millis(1));
    }
    let last = scene.lease(&mut consumer).await;
    assert_eq!(scene.desk().nack(&last, "the end").await.expect("it is ours"), Nacked::Dead);
    let standing = scene.standing(1).await;
    assert!(matches!(&standing, Some(Standing::Dead { reason, .. }) if reason.contains("the end")), "{standing:?}");
    retire(&*store, owner, NOW).await.expect("it is registered");
}

pub(super) async fn what_may_not_enter_a_queue_is_refused_and_leaves_nothing(store: AnyStore, _: AnyRuntime) {
    let mut commit = Commit::unfenced(tenant(), NOW);
    let error = QueueMessage { error_code: Some(ErrorCode::Timeout), ..request(1) };
    let large = QueueMessage { content: "x".repeat(LARGEST_MESSAGE), ..request(1) };
    let elsewhere = QueueMessage { scope_id: Tenant::new("other"), ..request(1) };
    let refused = |commit: &mut Commit, queue, message: &QueueMessage| {
        enqueue(commit, queue, message).expect_err("it may not enter")
    };
    let why = |error: Error| match error {
        Error::Invalid { why, .. } => Some(why),
        _ => None,
    };
    let not_routed = why(refused(&mut commit, Queue::Executor, &request(1)));
    assert!(matches!(not_routed, Some(Invalid::NotRouted { .. })));
    assert_eq!(why(refused(&mut commit, Queue::Planner, &error)), Some(Invalid::NoError));
    assert!(matches!(why(refused(&mut commit, Queue::Planner, &large)), Some(Invalid::TooLarge { .. })));
    let other = refused(&mut commit, Queue::Planner, &elsewhere);
    assert!(matches!(other, Error::OtherTenant { .. }), "{other}");
    let payload = ErrorPayload {
        error_code: ErrorCode::Timeout,
        retryable: true,
        origin_agent: OriginAgent::Planner,
        attempt_number: 1,
        detail: String::new(),
    };
    let half = QueueMessage { payload: Some(QueuePayload::Error(payload)), ..error };
    assert_eq!(why(refused(&mut commit, Queue::Planner, &half)), Some(Invalid::MissingHeader { header: "retryable" }));
    assert!(commit.messages.is_empty() && commit.events.is_empty(), "a refusal adds nothing");
    // The largest that may enter does.
    let overhead = {
        let mut probe = Commit::unfenced(tenant(), NOW);
        enqueue(&mut probe, Queue::Planner, &QueueMessage { content: String::new(), ..request(1) }).expect("small");
        probe.messages[0].encoded.data.get().len()
    };
    for (length, fits) in [(LARGEST_MESSAGE - overhead, true), (LARGEST_MESSAGE - overhead + 1, false)] {
        let message = QueueMessage { content: "x".repeat(length), ..request(1) };
        assert_eq!(enqueue(&mut Commit::unfenced(tenant(), NOW), Queue::Planner, &message).is_ok(), fits);
    }
    ok(&store, commit).await;
}

pub(super) async fn a_trace_is_copied_unchanged_and_taint_only_rises_from_hop_to_hop(
    store: AnyStore,
    runtime: AnyRuntime,
) {
    let scene = Scene::new(store.clone(), runtime);
    let trace = TraceId::new(NOW, 99 << 64);
    let hops = [
        (Sender::User, MessageKind::UserMessage, Queue::Proxy, Taint::Auth),
        (Sender::Proxy, MessageKind::PlanRequest, Queue::Planner, Taint::Owner),
        (Sender::Planner, MessageKind::ResearchRequest, Queue::Executor, Taint::Owner),
        (Sender::Executor, MessageKind::ResearchResult, Queue::Planner, Taint::External),
        (Sender::Planner, MessageKind::PlanResult, Queue::Proxy, Taint::Owner),
    ];
    let expected = [Taint::Auth, Taint::Auth, Taint::Auth, Taint::External, Taint::External];
    let owner = registered(&store, 1).await;
    let mut cause: Option<Leased> = None;
    for (index, (sender, kind, queue, taint)) in hops.into_iter().enumerate() {
        let id = message_id(index as u64);
        let message = QueueMessage::new(id, trace, (sender, kind), (tenant(), taint), "", NOW);
        let mut commit = Commit::unfenced(tenant(), NOW);
        match &cause {
            None => enqueue(&mut commit, queue, &message).expect("as it should be"),
            Some(cause) => {
                let forged = QueueMessage { trace_id: trace_id(5), ..message.clone() };
                let refusal = follow(&mut commit, &cause.message, queue, &forged);
                assert!(matches!(refusal, Err(Error::Invalid { why: Invalid::OtherTrace, .. })));
                follow(&mut commit, &cause.message, queue, &message).expect("as it should be");
            }
        }
        match cause.take() {
            None => drop(ok(&store, commit).await),
            Some(cause) => drop(scene.desk().ack(&cause, commit).await.expect("it is ours")),
        }
        let leased = scene.lease(&mut Consumer::new(queue, owner.id)).await;
        assert_eq!((leased.message.trace_id, leased.message.taint), (trace, expected[index]), "hop {index}");
        cause = Some(leased);
    }
}

pub(super) async fn every_handover_is_audited_in_its_own_commit(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    let (mut consumer, _) = scene.consumer(1).await;
    scene.put([request(1)]).await;
    let leased = scene.lease(&mut consumer).await;
    let stored = store.stream(&tenant(), &audit_stream("planner_queue"), Seq(0), 9).await.expect("readable");
    let kinds: Vec<&str> = stored.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["audit.enqueue", "audit.dequeue"]);
    let read = |index: usize| -> RuntimeAuditEvent { serde_json::from_str(&stored[index].data).expect("readable") };
    for (index, event_type, actor) in [(0, AuditType::Enqueue, Actor::Proxy), (1, AuditType::Dequeue, Actor::Planner)] {
        let event = read(index);
        assert_eq!((event.event_type, event.actor, event.trace_id), (event_type, actor, trace_id(1)));
        assert_eq!((event.message_id, &event.scope_id), (Some(message_id(1)), &tenant()));
        assert_eq!(event.details["queue"], "planner_queue");
        assert_eq!(stored[index].taint, Taint::Auth);
    }
    // What a person decides about a dead letter, with what it died of.
    scene.desk().dead_letter(&leased, "first").await.expect("it is ours");
    retry(&*store, &tenant(), message_id(1), NOW).await.expect("it is dead");
    let leased = scene.lease(&mut consumer).await;
    scene.desk().dead_letter(&leased, "second").await.expect("it is ours");
    drop_letter(&*store, &tenant(), message_id(1), NOW).await.expect("it is dead");
    let stored = store.stream(&tenant(), &audit_stream("planner_queue"), Seq(2), 9).await.expect("readable");
    let read = |data: &str| -> RuntimeAuditEvent { serde_json::from_str(data).expect("readable") };
    let decided: Vec<_> =
        stored.iter().map(|event| read(&event.data)).map(|event| (event.decision, event.reason)).collect();
    let words = |decision: &str, reason: &str| (Some(decision.to_owned()), Some(reason.to_owned()));
    assert_eq!(decided, [words("retry", "first"), (None, None), words("drop", "second")]);
}

pub(super) async fn what_cannot_be_read_is_put_aside(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    let (mut consumer, _) = scene.consumer(1).await;
    let mut commit = Commit::unfenced(tenant(), NOW);
    commit.messages.push(NewMessage { priority: 99, ..plain_message(1, Queue::Planner.name()) });
    ok(&store, commit).await;
    scene.put([request(2)]).await;
    assert_eq!(scene.lease(&mut consumer).await.message.message_id, message_id(2));
    assert!(matches!(scene.standing(1).await, Some(Standing::Dead { .. })));
}
