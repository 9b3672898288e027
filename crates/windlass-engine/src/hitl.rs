//! What a task waits for, in the form of seed 000's `hitl_request`: cards and questions alike.

use windlass_domain::approval::CardId;
use windlass_domain::{Awaited, HitlRequest, RequestId};

use crate::Error;
use crate::engine::Engine;

impl Engine {
    /// What a person is asked, as seed 000 puts it.
    pub(crate) async fn hitl_request(&self, awaited: Awaited) -> Result<Option<HitlRequest>, Error> {
        match awaited {
            Awaited::Card(card) => self.card_as_request(card).await,
            Awaited::Question(question) => self.question_as_request(question).await,
            Awaited::Research(_) | Awaited::Monitor(_) => Ok(None),
        }
    }

    async fn card_as_request(&self, card_id: CardId) -> Result<Option<HitlRequest>, Error> {
        let (approval, _) = self.card(card_id).await?;
        Ok(approval.card().map(|card| HitlRequest {
            request_id: card_id.to_string().parse().expect("every id is a UUID"),
            question: card.intent.clone(),
            options: Some(["approve", "deny", "edit"].map(str::to_owned).to_vec()),
            context: Some(card.rationale.clone()).filter(|rationale| !rationale.is_empty()),
        }))
    }

    async fn question_as_request(&self, request_id: RequestId) -> Result<Option<HitlRequest>, Error> {
        let state = self.question(request_id).await?;
        Ok(state.asked().map(|asked| HitlRequest {
            request_id,
            question: asked.asked.question.clone(),
            options: Some(asked.asked.options.clone()).filter(|options| !options.is_empty()),
            context: asked.asked.context.clone(),
        }))
    }
}
