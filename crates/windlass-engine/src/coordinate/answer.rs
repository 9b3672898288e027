//! What a person answers to what they were asked, an agent's question or a card. Words that answer a question are an answer; a card is answered
//! by one of a few words and by nothing else, by doors that may, and one with much at stake twice over.

use windlass_domain::approval::{Answer, ApprovalState, CardId, RiskLevel, Strength, Verdict};
use windlass_domain::coordinate::Origin;
use windlass_domain::{QuestionState, RequestId, TaskId};
use windlass_policy::approve::OwnerKey;

use super::{Heeded, Mandate};
use crate::Error;
use crate::engine::Engine;
use crate::questions::Message;

const WORDS: &str =
    "answer `approve`, `confirm`, `deny` or `edit`, the last two with a reason after a colon where there is one";
const TWICE: &str = "there is much at stake: read it again, and answer `confirm` if that is what you mean";
const ELSEWHERE: &str = "approvals are not taken by this door: answer with `windlass approve CARD` or `windlass deny CARD`, or where else the \
                         owner is known";

impl Engine {
    /// Whether it is a card that somebody was asked by, and no question.
    pub async fn is_card(&self, request_id: &str) -> Result<bool, Error> {
        match request_id.parse::<CardId>() {
            Ok(card) => Ok(self.card(card).await?.1.is_some()),
            Err(_) => Ok(false),
        }
    }

    /// Whose question or card it is.
    pub(super) async fn asker(&self, request_id: &str) -> Result<TaskId, Error> {
        let unknown = || Error::NoSuchRequest(request_id.to_owned());
        let request: RequestId = request_id.parse().map_err(|_| unknown())?;
        if let Some(asked) = self.question(request).await?.asked() {
            return Ok(asked.task_id);
        }
        let card: CardId = request_id.parse().map_err(|_| unknown())?;
        let (_, task) = self.card(card).await?;
        task.ok_or_else(unknown)
    }

    pub(super) async fn heed_response(
        &self,
        (request_id, response): (&str, &str),
        origin: &Origin,
        mandate: &Mandate,
        key: Option<&OwnerKey>,
    ) -> Result<Heeded, Error> {
        let task = self.asker(request_id).await?;
        let request: RequestId = request_id.parse().map_err(|_| Error::NoSuchRequest(request_id.to_owned()))?;
        if !matches!(self.question(request).await?, QuestionState::Absent) {
            let message = Message { text: response.to_owned(), question: Some(request), by: origin.by.clone() };
            return Ok(Heeded::Sent(task, self.send_as(origin.taint, task, &message, mandate).await?));
        }
        let card: CardId = request_id.parse().map_err(|_| Error::NoSuchRequest(request_id.to_owned()))?;
        let key = key.ok_or_else(|| Error::NotAnAnswer(ELSEWHERE.to_owned()))?;
        let (state, _) = self.card(card).await?;
        let risk = match &state {
            ApprovalState::Requested { card } => card.risk_level,
            _ => RiskLevel::Low,
        };
        let answer = read_answer(response, risk, origin).map_err(|why| Error::NotAnAnswer(why.to_owned()))?;
        Ok(Heeded::Decided(Box::pin(self.answer_as(card, answer, key, mandate)).await?))
    }
}

fn read_answer(response: &str, risk: RiskLevel, origin: &Origin) -> Result<Answer, &'static str> {
    let (word, note) = response.split_once(':').unwrap_or((response, ""));
    let (verdict, approval_strength) = match word.trim().to_ascii_lowercase().as_str() {
        "approve" if risk.least_strength() > Strength::Explicit => return Err(TWICE),
        "approve" => (Verdict::Approved, Strength::Explicit),
        "confirm" => (Verdict::Approved, Strength::Confirmed),
        "deny" => (Verdict::Declined, Strength::Explicit),
        "edit" => (Verdict::EditRequested, Strength::Explicit),
        _ => return Err(WORDS),
    };
    Ok(Answer {
        verdict,
        by: origin.by.clone(),
        approval_strength,
        conditions: Vec::new(),
        note: note.trim().to_owned(),
        taint: origin.taint,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_answered_by_few_words_and_much_at_stake_by_one() {
        let read = |response: &str, risk| {
            let answer = read_answer(response, risk, &Origin::local());
            answer.map(|answer| (answer.verdict, answer.approval_strength, answer.note))
        };
        let said = |verdict, strength, note: &str| Ok((verdict, strength, note.to_owned()));
        assert_eq!(read("approve", RiskLevel::Low), said(Verdict::Approved, Strength::Explicit, ""));
        assert_eq!(read(" Approve ", RiskLevel::Medium), said(Verdict::Approved, Strength::Explicit, ""));
        assert_eq!(read("approve", RiskLevel::High), Err(TWICE));
        assert_eq!(read("confirm", RiskLevel::Irreversible), said(Verdict::Approved, Strength::Confirmed, ""));
        assert_eq!(read("deny: not now", RiskLevel::High), said(Verdict::Declined, Strength::Explicit, "not now"));
        assert_eq!(read("edit: smaller", RiskLevel::High), said(Verdict::EditRequested, Strength::Explicit, "smaller"));
        for word in ["", "yes", "ok", "approved", "I approve", "approve it"] {
            assert_eq!(read(word, RiskLevel::Low), Err(WORDS), "{word}");
        }
    }
}
