//! Our MCP server behind the gateway of one launch: what an agent tells by a tool joins everything else that is told about it, in one
//! line, and is answered once it is recorded; what it reads it reads from the host.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use windlass_domain::execution::{ClaimKind, Observation, Observed, Source};
use windlass_domain::{BoxFuture, Host, Look, Runtime, Secret};
use windlass_llm::gateway::{Body, Elsewhere};
use windlass_mcp::serve::{
    About, BackChannel, CallResult, Endpoint, Holdings, Limits, Owner, Read, Served, Server, Tool,
};

use super::tools::Tools;

/// Where it is, below the gateway's address.
pub const PATH: &str = "/mcp";
/// Told and not heard yet. Whoever has more to say waits.
const MOST_WAITING: usize = 64;
/// In one launch: each is written down.
const MOST_READ: u32 = 2_000;
const READ_ENOUGH: &str =
    "you have read more than anybody could make use of: nothing more is read. Go on with what you have";

/// Something that the agent told by a tool, and who waits for what is made of it.
pub struct Told {
    pub observed: Observed,
    pub answer: oneshot::Sender<CallResult>,
}

pub struct Channel {
    told: mpsc::Sender<Told>,
    host: Arc<dyn Host>,
    reads: Reads,
}

/// What was read in a launch.
#[derive(Debug, Default)]
struct Reads(AtomicU32);

impl Reads {
    /// Whether there is room for one more.
    fn takes_one(&self) -> bool {
        let more = |read| (read < MOST_READ).then_some(read + 1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }
}

/// The server, and what comes in by it.
pub fn open(
    host: &Arc<dyn Host>,
    runtime: &Arc<dyn Runtime>,
    token: Secret,
    tools: &Arc<Tools>,
) -> (Arc<dyn Elsewhere>, mpsc::Receiver<Told>) {
    let (told, heard) = mpsc::channel(MOST_WAITING);
    let owner = Arc::new(Channel { told: told.clone(), host: Arc::clone(host), reads: Reads::default() });
    let held = host.holdings();
    let holdings =
        Holdings { objective: held.objective, graph: held.graph, plan: held.plan, memos: true, artifacts: true };
    let served = BackChannel::new(owner, holdings, Arc::clone(runtime));
    let event_id = format!("equipped:{:032x}", runtime.random());
    let watched = Arc::new(Watched { served, tools: Arc::clone(tools), told, event_id });
    let server = Server::new(watched, Arc::clone(runtime), Limits::default());
    (Arc::new(Shared(Endpoint::new(server, token))), heard)
}

/// The tools, and who sees that somebody has them.
struct Watched {
    served: BackChannel,
    tools: Arc<Tools>,
    told: mpsc::Sender<Told>,
    event_id: String,
}

impl Watched {
    /// Once: nobody waits for what is made of it, and it is never in the way of what was told before.
    fn equipped(&self) {
        let (answer, _nobody_waits) = oneshot::channel();
        let observation = Observation::Equipped;
        let observed = Observed { event_id: self.event_id.clone(), source: Source::Mcp, observation };
        let _is_over = self.told.try_send(Told { observed, answer });
    }
}

impl Served for Watched {
    fn about(&self) -> About {
        self.served.about()
    }

    /// Asked for by whoever lists them, and before each call.
    fn tools(&self) -> Vec<Tool> {
        if self.tools.are_listed() {
            self.equipped();
        }
        self.served.tools()
    }

    fn call(&self, tool: &str, arguments: Map<String, Value>) -> BoxFuture<'static, CallResult> {
        self.served.call(tool, arguments)
    }
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
        if !self.reads.takes_one() {
            return Box::pin(std::future::ready(CallResult::failed(READ_ENOUGH)));
        }
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
        Read::Memo { query, limit } => Look::Memo { query, limit },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_has_an_end() {
        let reads = Reads::default();
        assert!((0..MOST_READ).all(|_| reads.takes_one()));
        assert!(!reads.takes_one() && !reads.takes_one());
    }

    #[test]
    fn what_is_asked_for_reaches_who_answers() {
        let query = "rain".to_owned();
        assert_eq!(look(Read::Memo { query: query.clone(), limit: 3 }), Look::Memo { query, limit: 3 });
    }
}
