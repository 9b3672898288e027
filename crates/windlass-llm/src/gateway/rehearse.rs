//! A script behind the gateway. Whatever model the agent names, its conversation plays the gateway's track.
//!
//! Agents ask for things besides: a title, a summary, whether there is quota. What they have in common is that they offer no
//! tools. Such a request plays the track `side` where the script has one, and otherwise hears a fixed word, so that it never
//! takes a place of the conversation's.

use std::sync::Arc;

use http::Response;
use windlass_domain::{Runtime, StopReason, Usage};

use crate::answer::Piece;
use crate::chat::Metering;
use crate::dialect::Request;
use crate::gateway::account::Accounts;
use crate::gateway::body::boxed;
use crate::gateway::refuse::{FOR_GOOD, refuse};
use crate::gateway::service::Asking;
use crate::gateway::terms::Terms;
use crate::gateway::{Body, Outcome};
use crate::rehearsal::{HowPlayed, Played, Script, Service};
use crate::tokens;

const SIDE_TRACK: &str = "side";
const SIDE_ANSWER: &str = "Untitled";

pub struct Stage {
    script: Service,
    track: String,
}

impl Stage {
    pub fn new(script: Arc<Script>, track: String, runtime: Arc<dyn Runtime>) -> Self {
        Self { script: Service::new(script, runtime), track }
    }

    pub async fn answer(
        &self,
        accounts: &Accounts,
        asking: &Asking<'_>,
        asked: &Request<'_>,
        terms: &Terms,
    ) -> Response<Body> {
        let account = match accounts.open(asked.estimated_input(), terms.most_output).await {
            Ok(account) => account,
            Err(refusal) => return refuse(FOR_GOOD, "invalid_request_error", &refusal.message),
        };
        let played = self.play(asking, asked).await;
        let outcome = match played.how {
            HowPlayed::Whole => Outcome::Answered,
            HowPlayed::Cut => Outcome::Failed { reason: "the script breaks off here".to_owned() },
            HowPlayed::Refused => Outcome::Failed { reason: "the script has an error here".to_owned() },
        };
        account.close(played.usage, Metering::Provider, outcome).await;
        played.response.map(boxed)
    }

    async fn play(&self, asking: &Asking<'_>, asked: &Request<'_>) -> Played {
        let Asking { path, json, .. } = asking;
        if asked.offers_tools() {
            return self.script.play(&self.track, path, json, asked).await;
        }
        if self.script.has_track(SIDE_TRACK) {
            return self.script.play(SIDE_TRACK, path, json, asked).await;
        }
        let usage = Usage { input: asked.tokens().max(1), output: tokens::estimate(SIDE_ANSWER), ..Usage::default() };
        let text = Piece::Text(SIDE_ANSWER.to_owned());
        Played::whole(&[Piece::Usage(usage), text, Piece::Stop(StopReason::EndTurn), Piece::Done], asked)
    }
}
