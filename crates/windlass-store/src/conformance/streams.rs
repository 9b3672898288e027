//! Streams and the order of their events.

use windlass_domain::{Seq, Taint};

use crate::conformance::fixture::{AnyRuntime, AnyStore, NOW, append, commit, event, ok, stream, tenant, texts};
use crate::stream::{Position, StreamId};

pub(super) async fn what_is_appended_is_read_back_in_order(store: AnyStore, _: AnyRuntime) {
    let a = stream("a");
    let committed = ok(&store, append(&a, 0, &["one", "two \u{1F6A2}"])).await;
    assert_eq!((committed.position, committed.heads), (Position(2), vec![(a.clone(), Seq(2))]));
    ok(&store, append(&a, 2, &["three"])).await;
    let events = store.stream(&tenant(), &a, Seq(1), 10).await.expect("readable");
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [Seq(2), Seq(3)]);
    let first = &events[0];
    assert_eq!((first.kind.as_str(), first.version, first.data.as_str()), ("test.happened", 3, "\"two \u{1F6A2}\""));
    assert_eq!((first.taint, first.at, first.position), (Taint::Auth, NOW, Position(2)));
    assert_eq!(first.stream, a);
    assert_eq!(store.head(&tenant(), &a).await, Ok(Seq(3)));
}

pub(super) async fn positions_follow_commit_order_over_all_streams(store: AnyStore, _: AnyRuntime) {
    let (a, b) = (stream("a"), stream("b"));
    ok(&store, append(&a, 0, &["1"])).await;
    let mut both = append(&b, 0, &["2"]);
    both.events.push(event(&a, "3"));
    both.events.push(event(&b, "4"));
    let committed = ok(&store, both).await;
    assert_eq!(committed.position, Position(4));
    assert_eq!(committed.heads, [(b.clone(), Seq(2)), (a.clone(), Seq(2))]);
    let empty = ok(&store, commit()).await;
    assert_eq!((empty.position, empty.heads), (Position(4), Vec::new()));
    let events = store.events(&tenant(), Position(1), 10).await.expect("readable");
    let seen: Vec<_> = events.into_iter().map(|event| (event.position.0, event.stream, event.seq.0)).collect();
    assert_eq!(seen, [(2, b.clone(), 1), (3, a, 2), (4, b, 2)]);
}

pub(super) async fn a_page_ends_where_the_next_begins(store: AnyStore, _: AnyRuntime) {
    let a = stream("a");
    let all: Vec<String> = (0..25).map(|number| number.to_string()).collect();
    ok(&store, append(&a, 0, &all.iter().map(String::as_str).collect::<Vec<_>>())).await;
    let (mut seq, mut position, mut by_stream, mut by_position) = (Seq(0), Position(0), 0, 0);
    loop {
        let page = store.stream(&tenant(), &a, seq, 10).await.expect("readable");
        let Some(last) = page.last() else { break };
        (seq, by_stream) = (last.seq, by_stream + page.len());
    }
    loop {
        let page = store.events(&tenant(), position, 10).await.expect("readable");
        let Some(last) = page.last() else { break };
        (position, by_position) = (last.position, by_position + page.len());
    }
    assert_eq!((by_stream, by_position), (25, 25));
    assert_eq!(texts(&store, &a).await, all);
}

pub(super) async fn streams_of_a_kind_are_listed_newest_first(store: AnyStore, _: AnyRuntime) {
    for (kind, id) in [("task", "1"), ("task", "3"), ("task", "2"), ("tas", "9"), ("task-log", "9"), ("tasks", "9")] {
        ok(&store, append(&StreamId::new(kind, id), 0, &["x", "y"])).await;
    }
    let page = store.streams(&tenant(), "task", None, 2).await.expect("readable");
    let names = |page: &[crate::record::StreamHead]| -> Vec<String> {
        page.iter().map(|found| format!("{}@{}", found.stream, found.head.0)).collect()
    };
    assert_eq!(names(&page), ["task/3@2", "task/2@2"]);
    let rest = store.streams(&tenant(), "task", Some(&page[1].stream), 2).await.expect("readable");
    assert_eq!(names(&rest), ["task/1@2"]);
}

pub(super) async fn what_was_never_written_is_empty(store: AnyStore, _: AnyRuntime) {
    let nobody = stream("nobody");
    assert_eq!(store.head(&tenant(), &nobody).await, Ok(Seq(0)));
    assert_eq!(store.stream(&tenant(), &nobody, Seq(0), 10).await, Ok(Vec::new()));
    assert_eq!(store.events(&tenant(), Position(0), 10).await, Ok(Vec::new()));
    assert_eq!(store.streams(&tenant(), "test", None, 10).await, Ok(Vec::new()));
    assert_eq!(store.snapshot(&tenant(), &nobody).await, Ok(None));
}
