//! Texts as vectors, by an OpenAI-compatible `/embeddings` endpoint: the optional half of searching memos. What has been
//! asked about before is remembered, since memos change little from one search to the next. It is tried once: whoever
//! asks can do without.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Response, header};
use serde::{Deserialize, Serialize};
use windlass_domain::{BoxFuture, Digest, Embedder, Runtime, Secret};

use crate::error::{Error, Failure};
use crate::http::{BaseUrl, Client, Incoming};
use crate::retry::Deadlines;
use crate::text::presentable;
use crate::watchdog::Watchdog;
use crate::wire::{Endpoint, secret_header};

const AT_ONCE: usize = 64;
const MOST_REMEMBERED: usize = 4_096;
const LARGEST_ANSWER: usize = 16 << 20;
const DEADLINES: Deadlines = Deadlines {
    connect: Duration::from_secs(5),
    first_byte: Duration::from_secs(20),
    idle: Duration::from_secs(20),
    total: Duration::from_secs(30),
};

pub struct Embeddings {
    client: Arc<Client>,
    runtime: Arc<dyn Runtime>,
    model: String,
    key: Option<Secret>,
    known: Mutex<BTreeMap<Digest, Vec<f32>>>,
}

#[derive(Serialize)]
struct Question<'a> {
    model: &'a str,
    input: &'a [&'a str],
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Embedded>,
}

#[derive(Deserialize)]
struct Embedded {
    index: usize,
    embedding: Vec<f32>,
}

impl Embeddings {
    pub fn new(endpoint: Endpoint, model: String, runtime: Arc<dyn Runtime>) -> Result<Self, Error> {
        let url = BaseUrl::parse(&endpoint.base_url, "embeddings")?;
        let key = endpoint.key.filter(|key| !key.expose().trim().is_empty());
        let mut headers = HeaderMap::new();
        if let Some(key) = &key {
            let bad =
                |_| Error::Misconfigured("the embeddings key holds characters that no key has; set it again".into());
            headers.insert(header::AUTHORIZATION, secret_header("Bearer {}", key).map_err(bad)?);
        }
        let client = Client::new(&url, headers, DEADLINES, Arc::clone(&runtime))?;
        Ok(Self { client, runtime, model, key, known: Mutex::default() })
    }

    async fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let body =
            serde_json::to_vec(&Question { model: &self.model, input: texts }).map_err(|error| error.to_string())?;
        let deadline = self.runtime.now() + DEADLINES.total;
        let asking = async {
            let response = self.client.post(&[Bytes::from(body)]).await.map_err(|failure| self.told(failure))?;
            self.read(response).await
        };
        let answered = Watchdog::new(Arc::clone(&self.runtime)).guard(deadline, asking).await;
        let (status, bytes) = answered.map_err(|_| format!("no answer in {} s", DEADLINES.total.as_secs()))??;
        if !(200..300).contains(&status) {
            let said = presentable(&String::from_utf8_lossy(&bytes), self.key.as_ref());
            return Err(format!("the embeddings server answered {status}: {said}"));
        }
        let answer: Answer = serde_json::from_slice(&bytes)
            .map_err(|_| "the embeddings server's answer is not what its API promises".to_owned())?;
        in_order(answer.data, texts.len())
    }

    async fn read(&self, response: Response<Incoming>) -> Result<(u16, Vec<u8>), String> {
        let status = response.status().as_u16();
        let mut body = response.into_body();
        let mut bytes = Vec::new();
        while let Some(portion) = body.next().await.map_err(|failure| self.told(failure))? {
            if bytes.len() + portion.len() > LARGEST_ANSWER {
                return Err(format!("the embeddings server's answer is larger than {LARGEST_ANSWER} bytes"));
            }
            bytes.extend_from_slice(&portion);
        }
        Ok((status, bytes))
    }

    fn told(&self, failure: Failure) -> String {
        let reason = match failure {
            Failure::Transient { reason, .. } | Failure::Unheard { reason } => reason,
            Failure::Unusable(what) => what.to_string(),
            Failure::Final(error) => error.to_string(),
        };
        presentable(&reason, self.key.as_ref())
    }

    fn recall(&self, digest: &Digest) -> Option<Vec<f32>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(digest).cloned()
    }

    fn remember(&self, digests: &[Digest], vectors: &[Vec<f32>]) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() + vectors.len() > MOST_REMEMBERED {
            known.clear();
        }
        known.extend(digests.iter().copied().zip(vectors.iter().cloned()));
    }
}

impl Embedder for Embeddings {
    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vec<f32>>, String>> {
        Box::pin(async move {
            let digests: Vec<Digest> = texts.iter().map(|text| Digest::of(text.as_bytes())).collect();
            let mut vectors: Vec<Option<Vec<f32>>> = digests.iter().map(|digest| self.recall(digest)).collect();
            let missing: Vec<usize> = (0..texts.len()).filter(|place| vectors[*place].is_none()).collect();
            for places in missing.chunks(AT_ONCE) {
                let asked: Vec<&str> = places.iter().map(|place| texts[*place].as_str()).collect();
                let answered = self.ask(&asked).await?;
                let named: Vec<Digest> = places.iter().map(|place| digests[*place]).collect();
                self.remember(&named, &answered);
                for (place, vector) in places.iter().zip(answered) {
                    vectors[*place] = Some(vector);
                }
            }
            Ok(vectors.into_iter().flatten().collect())
        })
    }
}

/// By the numbers that the server gave them: some answer in another order.
fn in_order(data: Vec<Embedded>, expected: usize) -> Result<Vec<Vec<f32>>, String> {
    let mut ordered: BTreeMap<usize, Vec<f32>> = BTreeMap::new();
    for Embedded { index, embedding } in data {
        ordered.insert(index, embedding);
    }
    if ordered.len() != expected || ordered.keys().any(|index| *index >= expected) {
        return Err(format!("the embeddings server answered {} of {expected} texts", ordered.len()));
    }
    Ok(ordered.into_values().collect())
}
