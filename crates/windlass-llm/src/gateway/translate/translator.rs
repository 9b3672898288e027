//! One translated request: read, paid for, asked, and answered whole or while it comes.

use std::sync::Arc;
use std::time::Duration;

use http::{Response, StatusCode};
use serde_json::{Map, Value};
use windlass_domain::{BoxFuture, Role, Runtime, Secret, Usage};

use crate::chat::{Ask, Chat, Metering, Opening, Provider};
use crate::dialect::{self, About, Dialect, Request};
use crate::error::Error;
use crate::gateway::account::Accounts;
use crate::gateway::redact::Redactor;
use crate::gateway::refuse::{FOR_GOOD, in_status, refuse, respond, with_body};
use crate::gateway::service::Asking;
use crate::gateway::terms::Terms;
use crate::gateway::translate::speak::{Speaking, Step, Told as Heard, pieces};
use crate::gateway::translate::told::{Told, Untold};
use crate::gateway::translate::{chat, messages, responses};
use crate::gateway::{Body, Outcome};

pub struct Translator {
    pub provider: Arc<dyn Provider>,
    /// What it speaks.
    pub dialect: Dialect,
    /// What it calls the model.
    pub name: String,
    /// As much as the model can say at once, where that is known: agents ask for as much as theirs could.
    pub most_output: Option<u32>,
    /// What is told to nobody.
    pub key: Option<Secret>,
    pub runtime: Arc<dyn Runtime>,
    pub ping: Duration,
}

impl Translator {
    pub async fn answer(
        &self,
        accounts: &Accounts,
        asking: &Asking<'_>,
        asked: &Request<'_>,
        terms: &Terms,
    ) -> Response<Body> {
        let mut told = match read(asked.dialect, &asking.fields) {
            Ok(told) => told,
            Err(problem) => return refuse(FOR_GOOD, "invalid_request_error", &problem.to_string()),
        };
        let estimate = asked.estimated_input();
        let mut account = match accounts.open(estimate, terms.most_output).await {
            Ok(account) => account,
            Err(refusal) => return refuse(FOR_GOOD, "invalid_request_error", &refusal.message),
        };
        account.assume(asked.stream);
        if let Some(most) = account.shortened() {
            told.max_output_tokens = Some(u32::try_from(most).unwrap_or(u32::MAX));
        }
        let chat = self.open(&told);
        let name = format!("{:032x}", self.runtime.random());
        let about = About { model: asked.model.clone(), name, wants_usage: asked.wants_usage, folders: told.folders };
        let heard = Heard::default();
        let call = call(chat, asked.turn, heard.clone());
        if !asked.stream {
            return match call.await {
                Ok(response) => {
                    account.close(billed(&response), response.metering, Outcome::Answered).await;
                    let bytes = dialect::whole(asked.dialect, &pieces(&response, 0), &about);
                    let bytes = Redactor::new(self.key.as_ref()).last(bytes.into());
                    respond(StatusCode::OK, "application/json", bytes)
                }
                Err(error) => {
                    let outcome = Outcome::Failed { reason: error.to_string() };
                    account.close(error.lost().0, Metering::Estimated, outcome).await;
                    failed(&error)
                }
            };
        }
        let encoder = dialect::Encoder::new(asked.dialect, about);
        let mut speaking = Speaking::new(call, heard, encoder, account, estimate, Arc::clone(&self.runtime), self.ping);
        // An error that comes before the first word still has a status.
        match speaking.step().await {
            Step::Failed(error) => failed(&error),
            Step::Said(first) => {
                with_body(StatusCode::OK, "text/event-stream", speaking.after(first, Redactor::new(self.key.as_ref())))
            }
        }
    }

    fn open(&self, told: &Told) -> Box<dyn Chat> {
        let mut system = told.system.clone();
        // This language has no other way to say it.
        if let (Dialect::Messages, Some(schema)) = (self.dialect, &told.answer_schema) {
            system.push_str(&format!("\n\nAnswer with JSON of this schema and with nothing else:\n{schema}"));
        }
        let most = self.most_output.unwrap_or(u32::MAX);
        let mut chat = self.provider.open(Opening {
            model: &self.name,
            temperature: told.temperature,
            max_output_tokens: told.max_output_tokens.map(|wanted| wanted.min(most)),
            system: &system,
            tools: &told.tools,
            answer_schema: told.answer_schema.as_ref(),
            agent: "gateway",
            role: Role::Executor,
        });
        for line in &told.lines {
            line.pictures.iter().for_each(|(digest, bytes)| chat.show(*digest, Arc::clone(bytes)));
            chat.push(&line.message);
        }
        chat
    }
}

pub fn read(dialect: Dialect, request: &Map<String, Value>) -> Result<Told, Untold> {
    match dialect {
        Dialect::Chat => chat::read(request),
        Dialect::Responses => responses::read(request),
        Dialect::Messages => messages::read(request),
    }
}

/// Whoever drops it aborts the request.
fn call(mut chat: Box<dyn Chat>, answered: u32, heard: Heard) -> BoxFuture<'static, Result<crate::Response, Error>> {
    Box::pin(async move { chat.call(Ask { answered }, &mut |delta| heard.push(delta)).await })
}

pub fn billed(response: &crate::Response) -> Usage {
    let mut billed = response.usage;
    billed += response.lost;
    billed
}

fn failed(error: &Error) -> Response<Body> {
    let (status, kind, message) = in_status(error);
    refuse(status, kind, &message)
}
