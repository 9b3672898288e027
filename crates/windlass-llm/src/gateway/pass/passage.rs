//! One request that goes through, and its answer on the way back.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use windlass_domain::{Instant, Runtime, Secret, Usage};

use crate::chat::Metering;
use crate::dialect::{Dialect, Request};
use crate::error::Failure;
use crate::gateway::account::{Account, Accounts};
use crate::gateway::body::{Flow, Torn, flowing};
use crate::gateway::pass::edit::{Bill, for_model};
use crate::gateway::pass::listen::Listener;
use crate::gateway::pass::reach::beyond;
use crate::gateway::pass::unbilled::Unbilled;
use crate::gateway::redact::Redactor;
use crate::gateway::refuse::{FOR_GOOD, refuse, respond, with_body};
use crate::gateway::service::Asking;
use crate::gateway::terms::{Changes, Terms, without_dearer};
use crate::gateway::{Body, Outcome};
use crate::http::{Client, Incoming};
use crate::retry::Deadlines;
use crate::text::{presentable, without_key};
use crate::watchdog::Watchdog;

/// Of what an agent says about its request, what upstream needs to hear. All else is ours, the credential above all.
const SENT_ON: &[&str] = &["anthropic-version"];
const BETAS: &str = "anthropic-beta";
/// Of what upstream says about its answer, what an agent acts on.
const PASSED_BACK: &[&str] = &["retry-after", "retry-after-ms", "request-id", "x-request-id"];
const LONGEST_ERROR: usize = 64 << 10;

pub struct Passage {
    pub dialect: Dialect,
    pub client: Arc<Client>,
    pub key: Option<Secret>,
    /// What upstream calls the model.
    pub name: String,
    /// What it calls the limit on an answer.
    pub limit: &'static str,
    pub deadlines: Deadlines,
    pub runtime: Arc<dyn Runtime>,
}

impl Passage {
    pub async fn answer(
        &self,
        accounts: &Accounts,
        asking: Asking<'_>,
        asked: &Request<'_>,
        terms: Terms,
    ) -> Response<Body> {
        let hides_bill = self.dialect == Dialect::Chat && asked.stream && !asked.wants_usage;
        let bill = if hides_bill { Bill::MustBeAskedFor } else { Bill::ComesByItself };
        let edited = |changes: &Changes| for_model(&asking.json, &self.name, bill, changes);
        let mut json = match edited(&terms.changes) {
            Ok(json) => json,
            Err(problem) => return refuse(FOR_GOOD, "invalid_request_error", &problem.to_string()),
        };
        if let Some(what) = beyond(self.dialect, &asking.fields) {
            let problem = format!(
                "the request asks for {what}, by which the provider would reach outside of the sandbox; ask without it"
            );
            return refuse(FOR_GOOD, "invalid_request_error", &problem);
        }
        let estimate = asked.estimated_input();
        let mut account = match accounts.open(estimate, terms.most_output).await {
            Ok(account) => account,
            Err(refusal) => return refuse(FOR_GOOD, "invalid_request_error", &refusal.message),
        };
        if let Some(most) = account.shortened() {
            let changes = terms.shortened(self.dialect, &asking.fields, self.limit, most);
            json = edited(&changes).unwrap_or(json);
        }
        let assumed = account.assume(asked.stream);
        let headers = sent_on(asking.headers);
        let response = match Box::pin(self.client.post_with(&headers, &[Bytes::from(json)])).await {
            Ok(response) => response,
            Err(failure) => return self.unreached(account, failure, assumed).await,
        };
        if !response.status().is_success() {
            return self.refused(account, response).await;
        }
        let listener = Listener::new(self.dialect, assumed, self.key.clone());
        let unbilled = hides_bill.then(Unbilled::default);
        self.passing(account, listener, unbilled, response)
    }

    async fn unreached(&self, account: Account, failure: Failure, assumed: Usage) -> Response<Body> {
        let (status, reason, used) = match failure {
            Failure::Unheard { reason } => (StatusCode::SERVICE_UNAVAILABLE, reason, assumed),
            Failure::Transient { reason, .. } => (StatusCode::SERVICE_UNAVAILABLE, reason, Usage::default()),
            Failure::Unusable(what) => (FOR_GOOD, what.to_string(), assumed),
            Failure::Final(error) => (FOR_GOOD, error.to_string(), Usage::default()),
        };
        let reason = presentable(&reason, self.key.as_ref());
        account.close(used, Metering::Estimated, Outcome::Failed { reason: reason.clone() }).await;
        refuse(status, "api_error", &format!("the model cannot be asked: {reason}"))
    }

    /// An error of upstream's in its own words, without the key. That our key is no good is nothing that the agent could mend, nor
    /// that we are sent elsewhere.
    async fn refused(&self, account: Account, response: Response<Incoming>) -> Response<Body> {
        let status = response.status();
        let headers = picked(response.headers(), PASSED_BACK, self.key.as_ref());
        let text = without_key(&self.error_text(response.into_body()).await, self.key.as_ref());
        let reason = format!("upstream answered with status {}: {}", status.as_u16(), presentable(&text, None));
        account.close(Usage::default(), Metering::Estimated, Outcome::Failed { reason: reason.clone() }).await;
        let is_ours =
            matches!(status.as_u16(), 401 | 403 | 407) || !(status.is_client_error() || status.is_server_error());
        if is_ours {
            return refuse(FOR_GOOD, "invalid_request_error", &format!("Windlass cannot ask the model: {reason}"));
        }
        let mut passed = match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
            Ok(_) => respond(status, "application/json", text.into()),
            Err(_) => refuse(status, "api_error", &reason),
        };
        passed.headers_mut().extend(headers);
        passed
    }

    async fn error_text(&self, mut body: Incoming) -> String {
        let mut text = Vec::new();
        let mut watchdog = Watchdog::new(Arc::clone(&self.runtime));
        let deadline = self.runtime.now() + self.deadlines.idle;
        while text.len() < LONGEST_ERROR {
            // An error whose text is cut off is still that error.
            let Ok(Ok(Some(portion))) = watchdog.guard(deadline, body.next()).await else { break };
            text.extend_from_slice(&portion[..portion.len().min(LONGEST_ERROR - text.len())]);
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    fn passing(
        &self,
        account: Account,
        listener: Listener,
        unbilled: Option<Unbilled>,
        response: Response<Incoming>,
    ) -> Response<Body> {
        let status = response.status();
        let headers = picked(response.headers(), PASSED_BACK, self.key.as_ref());
        let kind = response.headers().get(header::CONTENT_TYPE).cloned();
        let passing = Passing {
            body: response.into_body(),
            open: Some((account, listener)),
            redactor: Redactor::new(self.key.as_ref()),
            unbilled,
            watchdog: Watchdog::new(Arc::clone(&self.runtime)),
            last: self.runtime.now() + self.deadlines.total,
            deadlines: self.deadlines,
            runtime: Arc::clone(&self.runtime),
            is_over: false,
        };
        let mut passed = with_body(status, "application/json", flowing(passing));
        passed.headers_mut().extend(headers);
        if let Some(kind) = kind {
            // Not added to ours: an agent that finds two reads the first.
            passed.headers_mut().insert(header::CONTENT_TYPE, kind);
        }
        passed
    }
}

/// Of an agent's headers those that upstream needs to hear, but for what would make its answer dearer.
fn sent_on(headers: &HeaderMap) -> HeaderMap {
    let mut sent = picked(headers, SENT_ON, None);
    let betas = headers.get_all(BETAS).iter().filter_map(|value| value.to_str().ok()).collect::<Vec<_>>().join(",");
    match HeaderValue::from_str(&without_dearer(&betas)) {
        Ok(betas) if !betas.is_empty() => _ = sent.insert(BETAS, betas),
        _ => _ = sent.remove(BETAS),
    }
    sent
}

/// These of the headers, but for one in which the key stands.
fn picked(headers: &HeaderMap, names: &[&'static str], key: Option<&Secret>) -> HeaderMap {
    let mut picked = HeaderMap::new();
    for name in names {
        if let Some(value) = headers.get(*name)
            && value.to_str().is_ok_and(|text| without_key(text, key) == text)
        {
            picked.insert(*name, value.clone());
        }
    }
    picked
}

/// An answer on its way from upstream to the agent.
struct Passing {
    body: Incoming,
    /// Until the bill is settled.
    open: Option<(Account, Listener)>,
    redactor: Redactor,
    unbilled: Option<Unbilled>,
    watchdog: Watchdog,
    last: Instant,
    deadlines: Deadlines,
    runtime: Arc<dyn Runtime>,
    is_over: bool,
}

impl Flow for Passing {
    async fn next(&mut self) -> Option<Result<Bytes, Torn>> {
        while !self.is_over {
            let idle = self.runtime.now() + self.deadlines.idle;
            let passed = match self.watchdog.guard(idle.min(self.last), self.body.next()).await {
                Ok(Ok(Some(portion))) => self.pass(portion).await,
                Ok(Ok(None)) => self.end().await,
                Ok(Err(_)) => Err("upstream broke off in the middle of the answer"),
                Err(_) => Err("upstream fell silent in the middle of the answer"),
            };
            match passed {
                Ok(portion) if portion.is_empty() => {}
                Ok(portion) => return Some(Ok(portion)),
                Err(reason) => return Some(Err(self.tear(reason).await)),
            }
        }
        None
    }
}

impl Passing {
    async fn pass(&mut self, portion: Bytes) -> Result<Bytes, &'static str> {
        if let Some((_, listener)) = &mut self.open {
            listener.hear(&portion);
            if listener.is_done() {
                // Before the agent hears it: what it asks next is weighed with this in the balance.
                self.settle().await;
            }
        }
        let portion = match &mut self.unbilled {
            Some(unbilled) => unbilled.pass(&portion).map_err(|_| "the answer is too long to be read")?,
            None => portion,
        };
        Ok(self.redactor.pass(portion))
    }

    async fn end(&mut self) -> Result<Bytes, &'static str> {
        self.is_over = true;
        if let Some((_, listener)) = &mut self.open {
            listener.end();
        }
        self.settle().await;
        let held = match &mut self.unbilled {
            Some(unbilled) => unbilled.rest().map_err(|_| "the answer is too long to be read")?,
            None => Bytes::new(),
        };
        Ok(self.redactor.last(held))
    }

    async fn settle(&mut self) {
        if let Some((account, listener)) = self.open.take() {
            let (usage, metering, outcome) = listener.settle();
            account.close(usage, metering, outcome).await;
        }
    }

    async fn tear(&mut self, reason: &str) -> Torn {
        if let Some((account, listener)) = self.open.take() {
            let outcome = Outcome::Failed { reason: reason.to_owned() };
            account.close(listener.spent(), Metering::Estimated, outcome).await;
        }
        Torn
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        if let Some((account, listener)) = &mut self.open {
            account.note(listener.spent(), Metering::Estimated);
        }
    }
}
