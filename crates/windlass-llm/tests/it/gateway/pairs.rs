//! Every language of an agent's with every language of a model server's, over real sockets on both sides: what the server says
//! arrives, and what the agent says does, through a turn with tool calls.

use std::sync::Arc;

use windlass_domain::Secret;
use windlass_llm::gateway::Outcome;
use windlass_llm::{Anthropic, Dialect, Endpoint, Metering, OpenAi, Opening, Provider, Responses, Script, Server};

use super::support::{AGENT_KEY, DIALECTS, Desk, Ledger, heard, model, question, usage};
use crate::support::{ask, hasty_setup, opening, tool, turn, user, with_tokio};

/// Where something is lost on the way, a condition fails, and then there is no answer.
const SCRIPT: &str = r#"
version: 1
tracks:
  worker:
    - when: { request: "(?s)You are careful.*what is in ä.txt" }
      reply: "I will look – twice."
      calls: [ { tool: read, args: { path: "ä \"quoted\".txt" } }, { tool: grep, args: { pattern: x } } ]
      usage: { input: 120, output: 17, cached_input: 100 }
    - when: { last_result: "found it" }
      reply: Found.
      usage: { input: 200, output: 3 }
"#;

async fn server() -> String {
    let setup = hasty_setup();
    let script = Arc::new(Script::parse(SCRIPT).unwrap_or_else(|problems| panic!("{problems}")));
    let server = Server::bind(0, script, setup.runtime.clone()).await.expect("a free port");
    let address = server.local_addr().expect("bound");
    setup.runtime.spawn(Box::pin(server.run()));
    format!("http://{address}")
}

fn agent(dialect: Dialect, url: &str) -> Box<dyn Provider> {
    let endpoint = Endpoint { base_url: url.to_owned(), key: Some(Secret::new(AGENT_KEY)) };
    match dialect {
        Dialect::Chat => Box::new(OpenAi::new(endpoint, hasty_setup()).expect("a good address")),
        Dialect::Responses => Box::new(Responses::new(endpoint, hasty_setup()).expect("a good address")),
        Dialect::Messages => Box::new(Anthropic::new(endpoint, hasty_setup()).expect("a good address")),
    }
}

#[test]
fn a_turn_with_calls_goes_through_every_pair_as_it_is_streamed() {
    with_tokio(async {
        let url = server().await;
        for (theirs, ours) in DIALECTS.iter().flat_map(|theirs| DIALECTS.map(|ours| (*theirs, ours))) {
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &url), &ledger);
            let tools = [tool("read"), tool("grep")];
            let opening = Opening { model: "what the agent calls it", tools: &tools, ..opening("You are careful.") };
            let mut chat = agent(theirs, &desk.url()).open(opening);
            chat.push(&user("what is in ä.txt"));
            let (first, _) = ask(&mut *chat, 0).await;
            let first = first.unwrap_or_else(|error| panic!("{theirs:?} over {ours:?}: {error}"));
            assert_eq!(first.text, "I will look – twice.", "{theirs:?} over {ours:?}");
            let calls = first.calls.iter().map(|call| (call.tool.as_str(), call.arguments.get())).collect::<Vec<_>>();
            assert_eq!(calls, [("read", r#"{"path":"ä \"quoted\".txt"}"#), ("grep", r#"{"pattern":"x"}"#)]);
            assert_eq!((first.stop.clone(), first.usage.input), (windlass_domain::StopReason::ToolCalls, 120));
            assert_eq!((first.usage.output, first.usage.cached_input), (17, 100), "{theirs:?} over {ours:?}");

            turn(&first, "found it").iter().for_each(|message| chat.push(message));
            let (second, _) = ask(&mut *chat, 1).await;
            assert_eq!(second.expect("an answer").text, "Found.", "{theirs:?} over {ours:?}");
            let closed = ledger.closed();
            assert_eq!((ledger.opened(), closed.len()), (2, 2));
            assert_eq!((closed[1].usage, &closed[1].outcome), (usage(200, 3), &Outcome::Answered));
            assert_eq!(closed[0].metering, Metering::Provider, "{theirs:?} over {ours:?}");
            let asked = ledger.asked.lock().expect("no panic").clone();
            assert!(asked[1].asking.input > asked[0].asking.input && asked[0].model == "rehearsal/worker");
        }
    });
}

#[test]
fn a_whole_answer_goes_through_every_pair() {
    with_tokio(async {
        let url = server().await;
        for (theirs, ours) in DIALECTS.iter().flat_map(|theirs| DIALECTS.map(|ours| (*theirs, ours))) {
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &url), &ledger);
            let request = question(theirs, "You are careful: what is in ä.txt", false);
            let answer = desk.ask(theirs, &request).await;
            assert_eq!((answer.status, answer.is_whole), (200, true), "{theirs:?} over {ours:?}: {}", answer.body);
            let heard = heard(theirs, &answer.json());
            assert_eq!((heard.text.as_str(), heard.calls.len()), ("I will look – twice.", 2));
            assert_eq!(heard.calls[0], ("read".to_owned(), serde_json::json!({"path": "ä \"quoted\".txt"})));
            assert_eq!((heard.input, heard.output), (120, 17), "{theirs:?} over {ours:?}");
            let closed = ledger.closed();
            assert_eq!((closed.len(), closed[0].usage.total()), (1, 137), "{theirs:?} over {ours:?}");
        }
    });
}
