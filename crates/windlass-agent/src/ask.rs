//! One question to the model: the request is durable before it is sent, the answer is staged for the commit that gives
//! leave to act on it. Stopping the run or reaching its time limit drops the request. A conversation that the model does not
//! take is compacted, and then asked again; a model whose answer cannot be used is told so.

use std::time::Duration;

use futures_util::future::{Either, select};
use windlass_domain::execution::{Answer, CompactionReason, NoAnswer, Outcome, Purpose, Question, RunnerCommand};
use windlass_domain::{Delta, ErrorCode, ErrorDetails, Exhausted, StopReason, millis};
use windlass_llm::{Ask, Chat, Error, Response};

use crate::session::{Ended, Session, Work, ended};

const NOTHING: &str = include_str!("../../../prompts/unusable/nothing.md");
const TOO_MUCH: &str = include_str!("../../../prompts/unusable/too_much.md");
/// How often in a row a model is told that its answer cannot be used.
const MOST_TOLD: u32 = 3;

/// What came of a question.
pub(crate) enum Heard {
    Answer(Box<Response>),
    /// Asking the same again would come to the same.
    Nothing(Error),
}

impl Session<'_> {
    pub(crate) async fn ask(&mut self) -> Result<(), Ended> {
        self.listen();
        // Nothing is spent on a question that cannot be read.
        if self.chat.room().is_err() {
            return self.overflow().await;
        }
        let ask = RunnerCommand::Ask(Question {
            purpose: Purpose::Turn,
            context: self.context.named,
            estimated_input: self.chat.tokens(),
            estimated_cost: self.chat.cost_to_read().unwrap_or_default(),
        });
        self.work.host.record(vec![ask]).await.map_err(ended)?;
        // Recording may have brought injections in, and another model.
        let model = self.model_now();
        let asked_before = std::mem::replace(&mut self.model, model);
        self.listen();
        if self.model != asked_before
            && let Err(error) = self.chat.room()
        {
            self.work.give_up(&error)?;
            return self.overflow().await;
        }
        let begun = self.work.runtime.now();
        let answered = self.work.host.state().conversed();
        let host = self.work.host.clone();
        let heard = self.work.hear(self.chat.as_mut(), answered, &mut |delta| host.emit(delta)).await?;
        match heard {
            Heard::Answer(response) if self.is_lost_for_words(&response) => {
                let Response { mut usage, lost, cost, .. } = *response;
                usage += lost;
                let reason = "the model answered nothing".to_owned();
                let no_answer = NoAnswer { reason, usage, cost: cost.unwrap_or_default(), told: None };
                self.refuse(no_answer, NOTHING, ErrorCode::AnswerIncomplete)
            }
            Heard::Answer(response) => {
                let answer = answer_of(*response, self.work.runtime.now() - begun);
                self.work.host.stage(vec![RunnerCommand::Answer(answer)]).map_err(ended)
            }
            Heard::Nothing(error @ Error::ContextOverflow { .. }) => {
                self.work.give_up(&error)?;
                self.overflow().await
            }
            Heard::Nothing(error @ Error::Unusable { .. }) if self.is_compacting() => {
                self.work.give_up(&error)?;
                self.end_flush()
            }
            Heard::Nothing(error @ Error::Unusable { .. }) => {
                self.refuse(no_answer(&error), TOO_MUCH, ErrorCode::ModelRejected)
            }
            Heard::Nothing(error) => {
                self.work.give_up(&error)?;
                Err(Outcome::Failed(explain(&error)))
            }
        }
    }

    /// The model hears why its answer could not be used and is asked again, but not for ever.
    fn refuse(&self, mut no_answer: NoAnswer, words: &str, code: ErrorCode) -> Result<(), Ended> {
        let told = format!("{} ({})", words.trim(), no_answer.reason);
        let goes_on = self.work.host.state().unusable_answers < MOST_TOLD;
        let failed = ErrorDetails::new(code, no_answer.reason.clone());
        no_answer.told = goes_on.then_some(told);
        self.work.host.stage(vec![RunnerCommand::GiveUp(no_answer)]).map_err(ended)?;
        if goes_on { Ok(()) } else { Err(Outcome::Failed(failed)) }
    }

    /// In the middle of a compaction an agent may have nothing to save.
    fn is_lost_for_words(&self, response: &Response) -> bool {
        let is_whole = !matches!(response.stop, StopReason::MaxTokens | StopReason::Refusal);
        is_whole && response.calls.is_empty() && response.text.trim().is_empty() && !self.is_compacting()
    }

    fn is_compacting(&self) -> bool {
        self.work.host.state().compactions.open.is_some()
    }

    /// In the middle of a compaction it is the flush that has no room, and the compaction goes on without it.
    async fn overflow(&mut self) -> Result<(), Ended> {
        if self.is_compacting() {
            return self.end_flush();
        }
        let tokens = self.chat.tokens();
        self.start_compaction(CompactionReason::Overflow, tokens).await
    }

    /// Tells the chat what the transcript has gained, or the whole of it anew where it was rewritten. A conversation that is
    /// being rebuilt also learns what the provider last metered.
    pub(crate) fn listen(&mut self) {
        let state = self.work.host.state();
        if self.rewrites != state.compactions.rewrites {
            self.rewrites = state.compactions.rewrites;
            self.chat = self.open_chat();
            self.heard = 0;
        }
        let rebuilding = self.heard == 0;
        if rebuilding && self.rewrites > 0 {
            state.used_call_ids().for_each(|id| self.chat.reserve(id));
        }
        for (index, message) in state.transcript.iter().enumerate().skip(self.heard) {
            self.pictures.show(message, self.chat.as_mut());
            self.chat.push(message);
            if let (true, Some((covered, usage))) = (rebuilding, state.metered)
                && covered == index + 1
            {
                self.chat.metered(&usage);
            }
        }
        self.heard = state.transcript.len();
    }
}

impl Work<'_> {
    /// Waits for the answer, the run's stop or the end of its time. An outage ends the run here: it goes on when that is over.
    pub(crate) async fn hear(
        &self,
        chat: &mut dyn Chat,
        answered: u32,
        watch: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Heard, Ended> {
        let calling = chat.call(Ask { answered }, watch);
        let stopping = select(self.cancel.wait(), self.runtime.sleep_until(self.deadline()));
        match select(calling, stopping).await {
            Either::Left((Ok(response), _)) => Ok(Heard::Answer(Box::new(response))),
            Either::Left((Err(error), _)) if is_outage(&error) => {
                self.give_up(&error)?;
                Err(Outcome::Failed(explain(&error)))
            }
            Either::Left((Err(error), _)) => Ok(Heard::Nothing(error)),
            Either::Right((Either::Left((stop, _)), _)) => Err(Outcome::Stopped(stop)),
            Either::Right((Either::Right(_), _)) => Err(Outcome::Failed(Exhausted::Time.details())),
        }
    }

    /// What the tries have used stays spent, also where nobody asks again.
    pub(crate) fn give_up(&self, error: &Error) -> Result<(), Ended> {
        self.host.stage(vec![RunnerCommand::GiveUp(no_answer(error))]).map_err(ended)
    }
}

fn no_answer(error: &Error) -> NoAnswer {
    let (usage, cost) = error.lost();
    NoAnswer { reason: error.to_string(), usage, cost: cost.unwrap_or_default(), told: None }
}

pub(crate) fn answer_of(response: Response, took: Duration) -> Answer {
    Answer {
        text: response.text,
        calls: response.calls,
        reasoning: response.reasoning,
        stop: response.stop,
        usage: response.usage,
        lost: response.lost,
        cost: response.cost,
        retries: response.retries,
        duration_ms: millis(took),
    }
}

/// What the operator can mend while the work waits.
const fn is_outage(error: &Error) -> bool {
    matches!(error, Error::Unavailable { .. } | Error::KeyRefused { .. } | Error::OutOfCredit { .. })
}

fn explain(error: &Error) -> ErrorDetails {
    let code = if is_outage(error) { ErrorCode::ModelUnavailable } else { ErrorCode::ModelRejected };
    ErrorDetails::new(code, error.to_string())
}
