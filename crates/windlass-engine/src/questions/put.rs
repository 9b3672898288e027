//! Putting a question before people, as one part of a commit; and taking it back.

use windlass_domain::{
    Encoded, MessageId, QuestionAsked, QuestionEvent, QuestionWithdrawn, RequestId, Seq, Taint, Wall,
};
use windlass_policy::Redactor;
use windlass_store::NewMessage;

use super::journal::{NotRecorded, QuestionJournal};
use crate::Error;
use crate::approvals::{REVIEW, trace_of};
use crate::engine::Engine;
use crate::host::Rider;

/// What the messages in the `review` mailbox are called that are questions.
pub const KIND: &str = "question.asked";

pub fn put_question(
    rider: &mut Rider,
    asked: QuestionAsked,
    redactor: &Redactor,
    taint: Taint,
    now: Wall,
) -> Result<(), NotRecorded> {
    let QuestionAsked { request_id, task_id, .. } = asked;
    let mut journal = QuestionJournal::new(request_id);
    let row = journal.advance(QuestionEvent::Asked(asked), redactor, taint, now)?;
    rider.expect.push((journal.stream.clone(), Seq(0)));
    rider.events.push(row);
    let data = serde_json::value::to_raw_value(&request_id).expect("an id is plain data");
    rider.messages.push(NewMessage {
        message_id: review_message(request_id),
        queue: REVIEW.to_owned(),
        subject: Some(journal.stream),
        trace_id: trace_of(task_id),
        encoded: Encoded { kind: KIND, version: 1, data, since: 1, older: &[] },
        taint,
        priority: 0,
        not_before: None,
    });
    Ok(())
}

/// The message by which a person is asked has the question's own number.
pub fn review_message(question: RequestId) -> MessageId {
    question.to_string().parse().expect("every id is a UUID")
}

impl Engine {
    /// Takes back what is still asked: the run that wanted to know has ended.
    pub(crate) async fn withdraw_question(
        &self,
        rider: &mut Rider,
        question: RequestId,
        reason: &str,
    ) -> Result<(), Error> {
        let shared = &self.shared;
        let mut journal = QuestionJournal::load(shared.store.as_ref(), &shared.tenant, question).await?;
        let head = (journal.stream.clone(), journal.head);
        let withdrawn = QuestionEvent::Withdrawn(QuestionWithdrawn { reason: reason.to_owned() });
        // What was answered stays answered.
        let Ok(row) = journal.advance(withdrawn, &shared.redactor, Taint::Auth, shared.wall()) else { return Ok(()) };
        rider.expect.push(head);
        rider.events.push(row);
        rider.acks.push(review_message(question));
        Ok(())
    }
}
