//! Requests that bear a key, so that whoever asks twice is answered twice and heard once. A key is claimed before anything is done
//! about its request, and what was answered is kept under it. Between the two a crash leaves a claim without an answer: then nobody
//! knows whether it was done, and it is not done again. Whoever knows that it was not gives the key back, and the same request may
//! claim it once more.

use serde_json::json;
use serde_json::value::to_raw_value;
use windlass_domain::{Digest, Encoded, Seq, Taint};
use windlass_store::{Commit, Error as StoreError, NewEvent, StoredEvent, StreamId};

use crate::Error;
use crate::engine::Engine;

const BEGUN: &str = "request.begun";
const ANSWERED: &str = "request.answered";
const GIVEN_BACK: &str = "request.given_back";
/// What such streams are about.
pub const REQUEST: &str = "request";

/// What is known under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Nobody had it; it is this request's now.
    New,
    /// The same request was answered so.
    Answered(KeptAnswer),
    /// The same request was begun, and has no answer.
    Unanswered,
    /// Another request has it.
    Another,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KeptAnswer {
    pub status: u16,
    pub body: String,
}

impl Engine {
    /// `key` stands for whoever asks and the key that they gave, `request` for all that they asked.
    pub async fn claim_request(&self, key: Digest, request: Digest) -> Result<Claim, Error> {
        let begun = json!({"request": request.to_string()});
        let mut head = Seq(0);
        loop {
            match self.append_request(key, head, BEGUN, &begun).await {
                Ok(()) => return Ok(Claim::New),
                Err(Error::Store(StoreError::Conflict { .. })) => {}
                Err(error) => return Err(error),
            }
            let rows = self.rows_after(&stream(key), Seq(0)).await?;
            match known(&rows, request) {
                Some(claim) => return Ok(claim),
                None => head = last(&rows),
            }
        }
    }

    pub async fn answer_request(&self, key: Digest, answer: &KeptAnswer) -> Result<(), Error> {
        self.settle_request(key, ANSWERED, answer).await
    }

    /// By whoever claimed it and did nothing about it.
    pub async fn give_back_request(&self, key: Digest) -> Result<(), Error> {
        self.settle_request(key, GIVEN_BACK, &json!({})).await
    }

    /// Nobody but who has the claim writes after it.
    async fn settle_request(
        &self,
        key: Digest,
        kind: &'static str,
        data: &(impl serde::Serialize + Sync),
    ) -> Result<(), Error> {
        let rows = self.rows_after(&stream(key), Seq(0)).await?;
        self.append_request(key, last(&rows), kind, data).await
    }

    async fn append_request(
        &self,
        key: Digest,
        after: Seq,
        kind: &'static str,
        data: &(impl serde::Serialize + Sync),
    ) -> Result<(), Error> {
        let shared = &self.shared;
        let written = serde_json::to_string(data).expect("plain data is always JSON");
        let kept = shared.redactor.redact_json(&written).into_owned();
        let data = serde_json::value::RawValue::from_string(kept)
            .unwrap_or_else(|_| to_raw_value(&json!({})).expect("plain data is always JSON"));
        let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
        commit.expect.push((stream(key), after));
        let encoded = Encoded { kind, version: 1, data, since: 1, older: &[] };
        commit.events.push(NewEvent { stream: stream(key), encoded, taint: Taint::Auth, at: shared.wall() });
        shared.commit(commit).await?;
        Ok(())
    }
}

/// What the records of a key say to whoever asks for this; none where it was given back, for the same request.
fn known(rows: &[StoredEvent], request: Digest) -> Option<Claim> {
    let of_begun = rows.first().and_then(|row| serde_json::from_str::<serde_json::Value>(&row.data).ok());
    if !of_begun.is_some_and(|begun| begun["request"] == request.to_string()) {
        return Some(Claim::Another);
    }
    let last = rows.last()?;
    match last.kind.as_str() {
        GIVEN_BACK => None,
        ANSWERED => serde_json::from_str(&last.data).ok().map(Claim::Answered).or(Some(Claim::Unanswered)),
        _ => Some(Claim::Unanswered),
    }
}

fn last(rows: &[StoredEvent]) -> Seq {
    rows.last().map_or(Seq(0), |row| row.seq)
}

fn stream(key: Digest) -> StreamId {
    StreamId::new(REQUEST, key)
}
