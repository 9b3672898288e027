//! What an execution is served: its claims reach its owner under the names it gave them, and its questions as they are meant.

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use windlass_domain::BoxFuture;
use windlass_domain::execution::{Claim, ClaimKind, Observation, Observed, Source};
use windlass_mcp::serve::{BackChannel, CallResult, Holdings, Owner, Read, Served};
use windlass_runtime::TokioRuntime;

#[derive(Default)]
struct Clerk {
    told: Mutex<Vec<Observed>>,
    read: Mutex<Vec<Read>>,
}

impl Owner for Clerk {
    fn told(&self, observed: Observed) -> BoxFuture<'static, CallResult> {
        self.told.lock().unwrap().push(observed);
        Box::pin(std::future::ready(CallResult::said("noted")))
    }

    fn read(&self, read: Read) -> BoxFuture<'static, CallResult> {
        self.read.lock().unwrap().push(read);
        Box::pin(std::future::ready(CallResult::said("here")))
    }
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("{value}") };
    object
}

#[tokio::test]
async fn claims_are_told_under_their_names_and_without_one_under_a_new_one() {
    let clerk = Arc::new(Clerk::default());
    let owner: Arc<dyn Owner> = clerk.clone();
    let channel = BackChannel::new(owner, Holdings::default(), Arc::new(TokioRuntime::current()));
    for arguments in [json!({"text": "a", "event": "e1"}), json!({"text": "a"}), json!({"text": "a"})] {
        assert_eq!(channel.call("note", object(arguments)).await, CallResult::said("noted"));
    }
    let told = clerk.told.lock().unwrap();
    let claim = Claim { kind: ClaimKind::Note, payload: json!({"text": "a"}) };
    assert!(
        told.iter().all(|told| told.source == Source::Mcp && told.observation == Observation::Claimed(claim.clone()))
    );
    assert_eq!(told[0].event_id, "e1");
    assert_ne!(told[1].event_id, told[2].event_id);
}

#[tokio::test]
async fn questions_reach_the_owner_with_their_defaults() {
    let clerk = Arc::new(Clerk::default());
    let owner: Arc<dyn Owner> = clerk.clone();
    let channel = BackChannel::new(owner, Holdings::default(), Arc::new(TokioRuntime::current()));
    let calls = [
        ("get_atom", json!({"atom": "a1"})),
        ("search_memo", json!({"query": "q"})),
        ("read_artifact", json!({"name": "n", "offset": 5})),
    ];
    for (tool, arguments) in calls {
        channel.call(tool, object(arguments)).await;
    }
    let expected = [
        Read::Atom { atom: Some("a1".to_owned()) },
        Read::Memo { query: "q".to_owned(), limit: 10 },
        Read::Artifact { name: "n".to_owned(), offset: 5, limit: 64 << 10 },
    ];
    assert_eq!(*clerk.read.lock().unwrap(), expected);
}
