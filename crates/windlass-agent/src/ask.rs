//! One question to the model: the request is durable before it is sent, the answer is staged for the commit that gives
//! leave to act on it. Stopping the run or reaching its time limit drops the request.

use futures_util::future::{Either, select};
use windlass_domain::execution::{Answer, NoAnswer, Outcome, Question, RunnerCommand};
use windlass_domain::{ErrorCode, ErrorDetails, Exhausted, Host, millis};
use windlass_llm::{Ask, Error, Response};

use crate::next::out_of;
use crate::session::{Ended, Session, ended};

impl Session<'_> {
    pub(crate) async fn ask(&mut self) -> Result<(), Ended> {
        self.listen();
        // Nothing is spent on a question that cannot be read.
        self.chat.room().map_err(|error| Outcome::Failed(explain(&error)))?;
        let ask = RunnerCommand::Ask(Question {
            context: self.context,
            estimated_input: self.chat.tokens(),
            estimated_cost: self.chat.cost_to_read().unwrap_or_default(),
        });
        self.work.host.record(vec![ask]).await.map_err(ended)?;
        // Recording may have brought injections in.
        self.listen();
        let begun = self.work.runtime.now();
        let response = self.call().await?;
        let elapsed = self.work.runtime.now() - begun;
        let answer = RunnerCommand::Answer(Answer {
            text: response.text,
            calls: response.calls,
            stop: response.stop,
            usage: response.usage,
            lost: response.lost,
            cost: response.cost,
            retries: response.retries,
            duration_ms: millis(elapsed),
        });
        self.work.host.stage(vec![answer]).map_err(ended)
    }

    /// Tells the chat what the transcript has gained. A conversation that is being rebuilt also learns what the provider
    /// last metered.
    fn listen(&mut self) {
        let state = self.work.host.state();
        let rebuilding = self.heard == 0;
        for (index, message) in state.transcript.iter().enumerate().skip(self.heard) {
            self.chat.push(message);
            if let (true, Some((covered, usage))) = (rebuilding, state.metered)
                && covered == index + 1
            {
                self.chat.metered(&usage);
            }
        }
        self.heard = state.transcript.len();
    }

    async fn call(&mut self) -> Result<Response, Ended> {
        let answered = self.work.host.state().answers;
        let deadline = self.work.deadline();
        let host = &self.work.host;
        let mut watch = |delta| host.emit(delta);
        let calling = self.chat.call(Ask { answered }, &mut watch);
        let stopping = select(self.work.cancel.wait(), self.work.runtime.sleep_until(deadline));
        match select(calling, stopping).await {
            Either::Left((Ok(response), _)) => Ok(response),
            Either::Left((Err(error), _)) => Err(give_up(host.as_ref(), &error)),
            Either::Right((Either::Left((stop, _)), _)) => Err(Outcome::Stopped(stop)),
            Either::Right((Either::Right(_), _)) => Err(Outcome::Failed(out_of(Exhausted::Time))),
        }
    }
}

/// What the tries have used stays spent, also where nobody asks again.
fn give_up(host: &dyn Host, error: &Error) -> Ended {
    let (usage, cost) = error.lost();
    let no_answer = NoAnswer { reason: error.to_string(), usage, cost: cost.unwrap_or_default() };
    match host.stage(vec![RunnerCommand::GiveUp(no_answer)]) {
        Ok(()) => Outcome::Failed(explain(error)),
        Err(refused) => ended(refused),
    }
}

fn explain(error: &Error) -> ErrorDetails {
    let code = match error {
        // What the operator can mend while the work waits.
        Error::Unavailable { .. } | Error::KeyRefused { .. } | Error::OutOfCredit { .. } => ErrorCode::ModelUnavailable,
        // Another attempt begins with a conversation of its own.
        Error::ContextOverflow { .. } => ErrorCode::AnswerIncomplete,
        _ => ErrorCode::ModelRejected,
    };
    ErrorDetails::new(code, error.to_string())
}
