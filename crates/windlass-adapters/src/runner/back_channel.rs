//! Our MCP server behind the gateway of one launch: what an agent tells by a tool joins everything else that is told about it, in one
//! line, and is answered once it is recorded; what it reads it reads from the host.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use windlass_domain::execution::{ClaimKind, Observation, Observed};
use windlass_domain::{BoxFuture, Host, Look, Runtime, Secret};
use windlass_llm::gateway::{Body, Elsewhere};
use windlass_mcp::serve::{BackChannel, CallResult, Endpoint, Holdings, Limits, Owner, Read, Server};

/// Where it is, below the gateway's address.
pub const PATH: &str = "/mcp";
/// Told and not heard yet. Whoever has more to say waits.
const MOST_WAITING: usize = 64;

/// Something that the agent told by a tool, and who waits for what is made of it.
pub struct Told {
    pub observed: Observed,
    pub answer: oneshot::Sender<CallResult>,
}

pub struct Channel {
    told: mpsc::Sender<Told>,
    host: Arc<dyn Host>,
}

/// The server, and what comes in by it.
pub fn open(
    host: &Arc<dyn Host>,
    runtime: &Arc<dyn Runtime>,
    token: Secret,
) -> (Arc<dyn Elsewhere>, mpsc::Receiver<Told>) {
    let (told, heard) = mpsc::channel(MOST_WAITING);
    let owner = Arc::new(Channel { told, host: Arc::clone(host) });
    let held = host.holdings();
    let holdings =
        Holdings { objective: held.objective, graph: held.graph, plan: held.plan, memos: true, artifacts: true };
    let served = Arc::new(BackChannel::new(owner, holdings, Arc::clone(runtime)));
    let server = Server::new(served, Arc::clone(runtime), Limits::default());
    (Arc::new(Shared(Endpoint::new(server, token))), heard)
}

struct Shared(Endpoint);

impl Elsewhere for Shared {
    fn answer(&self, request: http::Request<hyper::body::Incoming>) -> BoxFuture<'_, http::Response<Body>> {
        Box::pin(async move { self.0.answer(request).await.map(windlass_llm::gateway::boxed) })
    }
}

impl Owner for Channel {
    fn told(&self, observed: Observed) -> BoxFuture<'static, CallResult> {
        let told = self.told.clone();
        // The agent names its events; among what others tell they are apart.
        let observed = Observed { event_id: format!("mcp:{}", observed.event_id), ..observed };
        Box::pin(async move {
            let (answer, made) = oneshot::channel();
            let over = || CallResult::failed("the work is being stopped: nothing is heard any more");
            if told.send(Told { observed, answer }).await.is_err() {
                return over();
            }
            made.await.unwrap_or_else(|_| over())
        })
    }

    fn read(&self, read: Read) -> BoxFuture<'static, CallResult> {
        let host = Arc::clone(&self.host);
        Box::pin(async move {
            match host.look(look(read)).await {
                Ok(Value::Object(object)) => CallResult::object(object),
                Ok(other) => CallResult::said(other.to_string()),
                Err(why) => CallResult::failed(why),
            }
        })
    }
}

fn look(read: Read) -> Look {
    match read {
        Read::Objective => Look::Objective,
        Read::Atom { atom } => Look::Atom { atom },
        Read::Bindings => Look::Bindings,
        Read::Memo { query, .. } => Look::Memo { query },
        Read::Artifact { name, offset, limit } => Look::Artifact { name, offset, limit },
        Read::Plan => Look::Plan,
    }
}

/// What an agent hears about something that it told.
pub fn made_of(observation: &Observation, was_known: bool) -> CallResult {
    if was_known {
        return CallResult::said("This was told before, and counts once.");
    }
    let Observation::Claimed(claim) = observation else { return CallResult::said("Recorded.") };
    CallResult::said(match claim.kind {
        ClaimKind::Progress | ClaimKind::Note => "Recorded. Go on.",
        ClaimKind::ReadyForVerification | ClaimKind::CompletedClaim => {
            "Recorded. It is believed when the checks pass: end your turn, and they run."
        }
        ClaimKind::FailedClaim => "Recorded. The attempt ends here.",
        ClaimKind::NeedsInput | ClaimKind::Blocked => {
            "A person is asked. End your turn: the answer is your next message."
        }
    })
}
