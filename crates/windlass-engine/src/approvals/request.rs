//! Asking a person: the card, the message by which they see it, and the timer for when nobody answers, as one part of a
//! commit.

use windlass_domain::approval::{ApprovalCommand, Card};
use windlass_domain::{Encoded, Seq, Taint, TaskId, Wall};
use windlass_policy::Redactor;
use windlass_store::{NewMessage, NewTimer, TimerChange};

use super::audit::trace_of;
use super::journal::{ApprovalJournal, NotDecided, card_timer, review_message};
use crate::host::Rider;

/// Where the cards are that a person is asked about right now.
pub const REVIEW: &str = "review";

pub fn request(
    rider: &mut Rider,
    card: Card,
    task: TaskId,
    redactor: &Redactor,
    taint: Taint,
    now: Wall,
) -> Result<(), NotDecided> {
    let (card_id, due) = (card.card_id, card.expires_at);
    let mut journal = ApprovalJournal::new(card_id);
    let rows = journal.advance([ApprovalCommand::Request(Box::new(card))], redactor, taint, now)?;
    rider.expect.push((journal.stream.clone(), Seq(0)));
    rider.events.extend(rows);
    let note = serde_json::value::to_raw_value(&card_id).expect("an id is plain data");
    let encoded = |kind| Encoded { kind, version: 1, data: note.clone(), since: 1, older: &[] };
    rider.messages.push(NewMessage {
        message_id: review_message(card_id),
        queue: REVIEW.to_owned(),
        subject: Some(journal.stream),
        trace_id: trace_of(task),
        encoded: encoded("card.asked"),
        taint,
        priority: 0,
        not_before: None,
    });
    rider.timers.push(TimerChange::Set(NewTimer {
        name: card_timer(card_id),
        due,
        queue: REVIEW.to_owned(),
        encoded: encoded("card.due"),
        taint,
    }));
    Ok(())
}
