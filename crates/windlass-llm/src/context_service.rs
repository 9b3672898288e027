//! An operator's context service over HTTP (seed 000 §19.1; `docs/context.md` has its protocol): asked once before a task begins, and again
//! where its trouble may pass. It is no model, and asked by the same connections and with the same patience as one. What it says is
//! taken apart here and believed by nobody: labels, redaction and bounds are the engine's.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Response, header};
use serde::{Deserialize, Serialize};
use windlass_domain::known::{ContextItem, ContextWanted, TaskContext};
use windlass_domain::{BoxFuture, ContextService, ErrorCode, ErrorDetails, Runtime, Secret, SessionId, Taint, TaskId};

use crate::error::{Error, Failure};
use crate::http::{BaseUrl, Client, Incoming};
use crate::retry::{Deadlines, Retries, parse_retry_after};
use crate::text::presentable;
use crate::watchdog::Watchdog;
use crate::wire::{Endpoint, secret_header};

const VERSION: u32 = 1;
const LARGEST_ANSWER: usize = 1 << 20;

/// How long it is waited for, and how often it is asked.
#[derive(Debug, Clone, Copy)]
pub struct ContextPatience {
    pub deadlines: Deadlines,
    pub retries: Retries,
}

impl Default for ContextPatience {
    fn default() -> Self {
        Self {
            deadlines: Deadlines {
                connect: Duration::from_secs(5),
                first_byte: Duration::from_secs(15),
                idle: Duration::from_secs(15),
                total: Duration::from_secs(20),
            },
            retries: Retries { max_retry_after: Duration::from_secs(30), ..Retries::default() },
        }
    }
}

pub struct ContextClient {
    client: Arc<Client>,
    runtime: Arc<dyn Runtime>,
    key: Option<Secret>,
    patience: ContextPatience,
    /// For a person.
    url: String,
}

#[derive(Serialize)]
struct Question<'a> {
    version: u32,
    tenant: &'a str,
    session_id: SessionId,
    task_id: TaskId,
    goal: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    version: u32,
    #[serde(default)]
    memories: Vec<Said>,
    #[serde(default)]
    preferences: Vec<Said>,
    #[serde(default)]
    attachments: Vec<Attached>,
}

#[derive(Deserialize)]
struct Said {
    text: String,
    #[serde(default)]
    source: String,
}

#[derive(Deserialize)]
struct Attached {
    name: String,
    text: String,
}

/// Why there is no answer.
enum Trouble {
    /// It may pass.
    Passing { reason: String, retry_after: Option<Duration> },
    /// Asking again would come to the same.
    Lasting(String),
}

impl ContextClient {
    pub fn new(endpoint: Endpoint, patience: ContextPatience, runtime: Arc<dyn Runtime>) -> Result<Self, Error> {
        let bad = |problem: String| Error::Misconfigured(problem.replace("the model server's base URL", "the URL"));
        let url = BaseUrl::parse(&endpoint.base_url, "context").map_err(|error| bad(error.to_string()))?;
        let key = endpoint.key.filter(|key| !key.expose().trim().is_empty());
        let mut headers = HeaderMap::new();
        if let Some(key) = &key {
            let value = secret_header("Bearer {}", key)
                .map_err(|_| bad("the key holds characters that no key has; set it again".to_owned()))?;
            headers.insert(header::AUTHORIZATION, value);
        }
        let client = Client::new(&url, headers, patience.deadlines, Arc::clone(&runtime))
            .map_err(|error| bad(error.to_string()))?;
        Ok(Self { client, runtime, key, patience, url: url.display() })
    }

    async fn ask_patiently(&self, wanted: &ContextWanted) -> Result<TaskContext, ErrorDetails> {
        let question = Question {
            version: VERSION,
            tenant: wanted.tenant.as_str(),
            session_id: wanted.session_id,
            task_id: wanted.task_id,
            goal: &wanted.goal,
        };
        let body = Bytes::from(serde_json::to_vec(&question).map_err(|error| self.failed(&error.to_string()))?);
        let mut failed = 0;
        loop {
            let (reason, retry_after) = match self.ask(&body).await {
                Ok(context) => return Ok(context),
                Err(Trouble::Lasting(reason)) => return Err(self.failed(&reason)),
                Err(Trouble::Passing { reason, retry_after }) => (reason, retry_after),
            };
            failed += 1;
            match self.patience.retries.delay(failed, retry_after, self.runtime.random()) {
                Some(delay) => self.runtime.sleep(delay).await,
                None => return Err(self.failed(&format!("{reason}; it was asked {failed} times"))),
            }
        }
    }

    async fn ask(&self, body: &Bytes) -> Result<TaskContext, Trouble> {
        let limit = self.patience.deadlines.total;
        let asking = async {
            let response = self.client.post(std::slice::from_ref(body)).await.map_err(Self::trouble)?;
            self.read(response).await
        };
        let answered = Watchdog::new(Arc::clone(&self.runtime)).guard(self.runtime.now() + limit, asking).await;
        answered.unwrap_or_else(|_| Err(passing(format!("it did not answer in {} s", limit.as_secs_f64()))))
    }

    async fn read(&self, response: Response<Incoming>) -> Result<TaskContext, Trouble> {
        let status = response.status().as_u16();
        let said_of_itself = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let is_json = said_of_itself(header::CONTENT_TYPE).is_some_and(is_json);
        let retry_after = said_of_itself(header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| parse_retry_after(value, self.runtime.wall()));
        match status {
            200 if is_json => {}
            200 => return Err(Trouble::Lasting("its answer is not said to be application/json".to_owned())),
            300..=399 => return Err(Trouble::Lasting(format!("it answered {status}; redirects are not followed"))),
            408 | 425 | 429 | 500..=599 => {
                return Err(Trouble::Passing { reason: format!("it answered {status}"), retry_after });
            }
            _ => return Err(Trouble::Lasting(format!("it answered {status}"))),
        }
        let mut body = response.into_body();
        let mut bytes = Vec::new();
        while let Some(portion) = body.next().await.map_err(Self::trouble)? {
            if bytes.len() + portion.len() > LARGEST_ANSWER {
                return Err(Trouble::Lasting(format!("its answer is larger than {LARGEST_ANSWER} bytes")));
            }
            bytes.extend_from_slice(&portion);
        }
        understood(&bytes).map_err(Trouble::Lasting)
    }

    fn trouble(failure: Failure) -> Trouble {
        // The connections are a model provider's, and so are their words.
        let its = |reason: String| reason.replace("the provider", "it");
        match failure {
            Failure::Transient { reason, retry_after } => Trouble::Passing { reason: its(reason), retry_after },
            Failure::Unheard { reason } => passing(its(reason)),
            Failure::Unusable(what) => Trouble::Lasting(what.to_string()),
            Failure::Final(error) => Trouble::Lasting(error.to_string()),
        }
    }

    fn failed(&self, reason: &str) -> ErrorDetails {
        let reason = presentable(reason, self.key.as_ref());
        let message = format!("the context service at {} could not be asked: {reason}", self.url);
        let error = ErrorDetails::new(ErrorCode::ContextUnavailable, message).with_hint(
            "see that it answers as docs/context.md says, or unset CONTEXT_SERVICE_URL, and start the task again",
        );
        ErrorDetails { retryable: true, ..error }
    }
}

impl ContextService for ContextClient {
    fn context(&self, wanted: ContextWanted) -> BoxFuture<'_, Result<TaskContext, ErrorDetails>> {
        Box::pin(async move { self.ask_patiently(&wanted).await })
    }
}

const fn passing(reason: String) -> Trouble {
    Trouble::Passing { reason, retry_after: None }
}

fn is_json(content_type: &str) -> bool {
    content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// What is wrong with it is said by its place, never by its words.
fn understood(bytes: &[u8]) -> Result<TaskContext, String> {
    let Answer { version, memories, preferences, attachments } = serde_json::from_slice(bytes).map_err(|error| {
        format!("its answer is not what docs/context.md says (line {}, column {})", error.line(), error.column())
    })?;
    if version != VERSION {
        return Err(format!("it speaks version {version}, and this windlass version {VERSION}"));
    }
    let said = |said: Vec<Said>| said.into_iter().map(|said| item(said.text, said.source)).collect();
    let attachments = attachments.into_iter().map(|attached| item(attached.text, attached.name)).collect();
    Ok(TaskContext { memories: said(memories), preferences: said(preferences), attachments })
}

const fn item(text: String, source: String) -> ContextItem {
    ContextItem { text, source, taint: Taint::External }
}
