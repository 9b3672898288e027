//! Where work can be done. A message that names a place waits in a lane of its own, `executor_queue@ship`, where only
//! consumers that have the place look; what names none is in the common lane, `executor_queue`, for anybody. Lanes are
//! queues of their own to the store, so that what waits elsewhere costs nobody anything; whoever asks about a queue as a
//! whole hears of all its lanes. A place that nobody has keeps its messages until somebody does.

use windlass_domain::Tenant;

use crate::queue::Queue;
use crate::record::StoredMessage;

/// In no name of a queue or a place. What comes right after it in the alphabet ends a queue's lanes.
const AT: char = '@';
const AFTER_AT: char = 'A';

/// A host's name, or whatever tells places apart.
const LONGEST_PLACE: usize = 128;

pub(super) fn is_place(name: &str) -> bool {
    let can_be_part = |byte: u8| byte.is_ascii_graphic() && char::from(byte) != AT;
    (1..=LONGEST_PLACE).contains(&name.len()) && name.bytes().all(can_be_part)
}

pub(super) fn lane(queue: Queue, place: Option<&str>) -> String {
    match place {
        None => queue.name().to_owned(),
        Some(place) => format!("{}{AT}{place}", queue.name()),
    }
}

/// The queue that a lane is part of.
pub(crate) fn queue_of(lane: &str) -> &str {
    lane.split_once(AT).map_or(lane, |(queue, _)| queue)
}

/// The names of a queue's lanes but for the common one lie between these two.
pub(crate) fn lanes_between(queue: &str) -> (String, String) {
    (format!("{queue}{AT}"), format!("{queue}{AFTER_AT}"))
}

/// What several lanes have to offer, as one queue would: one of each tenant in turn, beginning after the one that was
/// served last; of a tenant's messages the one with the highest priority, then the oldest.
pub(super) fn in_turn(mut found: Vec<StoredMessage>, served: Option<&Tenant>, most: usize) -> Vec<StoredMessage> {
    found.sort_by(|one, other| {
        let had_its_turn = |message: &StoredMessage| served.is_some_and(|last| message.tenant <= *last);
        let turn = had_its_turn(one).cmp(&had_its_turn(other)).then_with(|| one.tenant.cmp(&other.tenant));
        let age = |message: &StoredMessage| (message.enqueued_at, message.message_id);
        turn.then_with(|| other.priority.cmp(&one.priority)).then_with(|| age(one).cmp(&age(other)))
    });
    let mut round = 0;
    let rounds: Vec<usize> = (0..found.len())
        .map(|index| {
            let is_next_of_the_same = index > 0 && found[index - 1].tenant == found[index].tenant;
            round = if is_next_of_the_same { round + 1 } else { 0 };
            round
        })
        .collect();
    let mut in_rounds: Vec<(usize, StoredMessage)> = rounds.into_iter().zip(found).collect();
    in_rounds.sort_by_key(|(round, _)| *round);
    in_rounds.into_iter().map(|(_, message)| message).take(most).collect()
}

#[cfg(test)]
mod tests {
    use windlass_domain::{MessageId, Taint, TraceId, Wall};

    use super::*;
    use crate::record::Standing;

    /// `tenant:priority:millis`.
    fn message(text: &str) -> StoredMessage {
        let [tenant, priority, millis] = text.split(':').collect::<Vec<_>>()[..] else { panic!("three parts") };
        let enqueued_at = Wall::from_millis(millis.parse().expect("a number"));
        StoredMessage {
            message_id: MessageId::new(enqueued_at, 1),
            tenant: Tenant::new(tenant),
            queue: "executor_queue".into(),
            subject: None,
            trace_id: TraceId::new(enqueued_at, 1),
            kind: "k".into(),
            version: 1,
            data: "1".into(),
            taint: Taint::Auth,
            priority: priority.parse().expect("a number"),
            enqueued_at,
            deliveries: 0,
            forgiven: 0,
            standing: Standing::Ready,
        }
    }

    fn check(found: &str, served: Option<&str>, most: usize, expected: &str) {
        let served = served.map(Tenant::new);
        let ordered = in_turn(found.split_whitespace().map(message).collect(), served.as_ref(), most);
        let name =
            |found: &StoredMessage| format!("{}:{}:{}", found.tenant, found.priority, found.enqueued_at.as_millis());
        assert_eq!(ordered.iter().map(name).collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn lanes_are_one_queue_in_turns_priority_and_age() {
        check("", None, 9, "");
        check("b:0:1 a:0:2", None, 9, "a:0:2 b:0:1");
        check("b:0:1 a:0:2", Some("a"), 9, "b:0:1 a:0:2");
        check("a:0:1 a:5:2 a:5:1 b:0:9 c:0:9", Some("b"), 9, "c:0:9 a:5:1 b:0:9 a:5:2 a:0:1");
        check("a:0:1 a:5:2 a:5:1 b:0:9 c:0:9", Some("b"), 2, "c:0:9 a:5:1");
    }

    #[test]
    fn a_lane_tells_its_queue() {
        let placed = lane(Queue::Executor, Some("ship"));
        assert_eq!((placed.as_str(), queue_of(&placed)), ("executor_queue@ship", "executor_queue"));
        assert_eq!(queue_of(&lane(Queue::Executor, None)), "executor_queue");
        let (first, end) = lanes_between("executor_queue");
        assert!(placed > first && placed < end);
        assert!(!(first.as_str()..end.as_str()).contains(&"executor_queue"));
    }

    #[test]
    fn a_place_has_a_name_that_can_be_part_of_a_lane_s() {
        assert!(is_place("ship") && is_place("10.0.0.7:/data") && is_place(&"x".repeat(LONGEST_PLACE)));
        for wrong in ["", "a ship", "ship@sea", "sh\u{ef}p", "a\nb", &"x".repeat(LONGEST_PLACE + 1)] {
            assert!(!is_place(wrong), "{wrong}");
        }
    }
}
