//! Mailboxes: what is put in stays until it is acked, and is taken in once.

use windlass_domain::{MessageId, Seq, Taint, Tenant, Wall};

use crate::commit::{Commit, MailboxSeen};
use crate::conformance::fixture::{
    AnyRuntime, AnyStore, NOW, commit, event, message, message_id, ok, refused, stream, tenant, text, texts, trace_id,
};
use crate::error::Error;
use crate::record::Standing;

fn acking(number: u64) -> Commit {
    let mut commit = commit();
    commit.acks.push(message_id(number));
    commit.events.push(event(&stream("done"), &number.to_string()));
    commit
}

async fn waiting(store: &AnyStore, now: Wall) -> Vec<String> {
    let messages = store.mailbox(&tenant(), "box", now, 100).await.expect("readable");
    messages.into_iter().map(|message| text(&message.data)).collect()
}

async fn put(store: &AnyStore, numbers: &[u64]) {
    let mut commit = commit();
    commit.messages = numbers.iter().map(|number| message(*number, "box")).collect();
    ok(store, commit).await;
}

pub(super) async fn a_message_waits_until_it_is_acked(store: AnyStore, _: AnyRuntime) {
    put(&store, &[1, 2]).await;
    let messages = store.mailbox(&tenant(), "box", NOW, 1).await.expect("readable");
    let [first] = &messages[..] else { panic!("a page of one") };
    assert_eq!((first.message_id, first.queue.as_str(), &first.tenant), (message_id(1), "box", &tenant()));
    assert_eq!((first.kind.as_str(), first.version, first.taint), ("test.asked", 3, Taint::External));
    assert_eq!((first.trace_id, first.enqueued_at), (trace_id(1), NOW));
    assert_eq!((&first.subject, &first.standing, first.deliveries), (&Some(stream("about")), &Standing::Ready, 0));
    assert_eq!(waiting(&store, NOW).await, ["1", "2"]);
    ok(&store, acking(1)).await;
    assert_eq!(waiting(&store, NOW).await, ["2"]);
    assert_eq!(store.mailbox(&tenant(), "other", NOW, 9).await, Ok(Vec::new()));
}

pub(super) async fn a_message_is_acked_once(store: AnyStore, _: AnyRuntime) {
    put(&store, &[1]).await;
    ok(&store, acking(1)).await;
    assert!(matches!(refused(&store, acking(1)).await, Error::Gone { .. }));
    assert!(matches!(refused(&store, acking(2)).await, Error::Gone { .. }));
    assert_eq!(texts(&store, &stream("done")).await, ["1"]);
}

pub(super) async fn a_message_that_was_ever_accepted_is_not_accepted_again(store: AnyStore, _: AnyRuntime) {
    put(&store, &[1]).await;
    let again = |mailbox: &str| {
        let mut commit = commit();
        commit.messages.push(message(1, mailbox));
        commit.events.push(event(&stream("never"), "x"));
        commit
    };
    assert!(matches!(refused(&store, again("box")).await, Error::Duplicate { .. }));
    assert!(matches!(refused(&store, again("other")).await, Error::Duplicate { .. }));
    ok(&store, acking(1)).await;
    assert!(matches!(refused(&store, again("box")).await, Error::Duplicate { .. }));
    assert_eq!(waiting(&store, NOW).await, Vec::<String>::new());
    assert_eq!(texts(&store, &stream("never")).await, Vec::<String>::new());
}

pub(super) async fn higher_priority_goes_first_then_the_older(store: AnyStore, _: AnyRuntime) {
    for (number, priority) in [(5, 0), (1, -1), (4, 0), (2, 9), (3, 9)] {
        let mut commit = commit();
        let mut new = message(number, "box");
        new.priority = priority;
        commit.messages.push(new);
        ok(&store, commit).await;
    }
    assert_eq!(waiting(&store, NOW).await, ["2", "3", "5", "4", "1"]);
}

pub(super) async fn a_message_is_not_seen_before_its_time(store: AnyStore, _: AnyRuntime) {
    let mut commit = commit();
    let mut later = message(1, "box");
    later.not_before = Some(Wall::from_millis(NOW.as_millis() + 5));
    commit.messages.push(later);
    ok(&store, commit).await;
    assert_eq!(waiting(&store, Wall::from_millis(NOW.as_millis() + 4)).await, Vec::<String>::new());
    assert_eq!(waiting(&store, Wall::from_millis(NOW.as_millis() + 5)).await, ["1"]);
    let ids: Vec<MessageId> = vec![message_id(1)];
    assert_eq!(ids, [message(1, "x").message_id]);
}

pub(super) async fn nobody_goes_to_sleep_on_a_message_that_it_has_not_read(store: AnyStore, _: AnyRuntime) {
    let sleeping = |seen: &[u64]| {
        let mut commit = commit();
        let seen = seen.iter().map(|number| message_id(*number)).collect();
        commit.unread.push(MailboxSeen { mailbox: "box".to_owned(), seen });
        commit.events.push(event(&stream("asleep"), "x"));
        commit
    };
    ok(&store, sleeping(&[])).await;
    let mut later = commit();
    later.messages = vec![message(1, "box"), message(2, "box"), message(3, "other")];
    later.messages[1].not_before = Some(Wall::from_millis(NOW.as_millis() + 5));
    ok(&store, later.clone()).await;
    // One that is to be seen later only is one that was not read.
    for seen in [&[][..], &[1], &[2], &[1, 3]] {
        assert_eq!(refused(&store, sleeping(seen)).await, Error::Unread { mailbox: "box".to_owned() });
    }
    let elsewhere = Commit { tenant: Tenant::new("other"), ..sleeping(&[]) };
    ok(&store, elsewhere).await;
    ok(&store, sleeping(&[1, 2])).await;
    // It acks what it has read, writes to itself, and has seen one that is long gone.
    let mut last = sleeping(&[9, 2, 1]);
    last.acks.push(message_id(1));
    last.messages.push(message(4, "box"));
    ok(&store, last).await;
    assert_eq!(refused(&store, sleeping(&[2])).await, Error::Unread { mailbox: "box".to_owned() });
    assert_eq!(store.head(&tenant(), &stream("asleep")).await, Ok(Seq(3)));
}
