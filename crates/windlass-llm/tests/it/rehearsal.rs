//! The rehearsal in the process, and the same script over HTTP through both real wires: the same answers.

use std::sync::Arc;

use windlass_domain::{CallId, Message, Role, StopReason, Usage};
use windlass_llm::{Chat, Error, Opening, Provider, Rehearsal, Response, Script, Server};

use crate::support::{Still, WIRES, ask, hasty_setup, opening, streamed, turn, user, with_tokio};

fn script(text: &str) -> Arc<Script> {
    Arc::new(Script::parse(text).unwrap_or_else(|problems| panic!("{problems}")))
}

const EVERYTHING: &str = r#"
version: 1
tracks:
  executor:
    - reply: I will write the file; this sentence is long enough to be sent in more than one portion, ümlauts included.
      calls:
        - { tool: write, args: { path: hello.txt, content: "hi\n" } }
        - { tool: read, args: { path: "a \"b\".txt" } }
      usage: { input: 900, output: 40, cached_input: 800, cache_write: 50 }
    - error: { status: 429, retry_after: 0.001, times: 2 }
    - when: { last_result: "(?i)no such file" }
      calls: [ { tool: bash } ]
    - when: { last_result: "fine" }
      reply: Not this one.
    - when: { request: "hello.txt[^}]*hi\\\\n" }
      reply: The request says so.
      repeat: 2
    - when: { request: "never said" }
      reply: Nor this one.
      repeat: forever
    - error: { cut_stream_after: 3 }
    - delay_ms: 1
      reply: Done.
"#;

/// Plays the whole script; what comes back each turn is told to the next.
async fn play(mut chat: Box<dyn Chat>) -> Vec<(Response, String)> {
    let mut answers = Vec::new();
    chat.push(&user("Write hello.txt."));
    for answered in 0.. {
        let (result, seen) = ask(&mut *chat, answered).await;
        let response = match result {
            Ok(response) => response,
            Err(error) => {
                assert!(error.to_string().contains("`executor` at turn 7"), "{error}");
                break;
            }
        };
        turn(&response, "No such file").iter().for_each(|message| chat.push(message));
        if response.calls.is_empty() {
            chat.push(&user("Go on."));
        }
        answers.push((response, streamed(&seen)));
    }
    answers
}

#[test]
fn in_the_process_and_over_every_wire_the_answers_are_the_same() {
    with_tokio(async {
        let setup = hasty_setup();
        let script = script(EVERYTHING);
        let server = Server::bind(0, script.clone(), setup.runtime.clone()).await.expect("a free port");
        let url = format!("http://{}", server.local_addr().expect("bound"));
        setup.runtime.spawn(Box::pin(server.run()));
        let opening = Opening { model: "rehearsal/executor", ..opening("You write files.") };
        let inside = play(Rehearsal::new(script, setup.clone()).open(opening)).await;

        let texts = inside.iter().map(|(response, _)| response.text.as_str()).collect::<Vec<_>>();
        assert_eq!(
            texts[1..],
            ["", "The request says so.", "The request says so.", "The request says so.", "Done.", "Done."]
        );
        assert_eq!(inside[0].0.usage, Usage { input: 900, output: 40, cached_input: 800, cache_write: 50 });
        assert_eq!(inside[0].0.calls[0].arguments.get(), r#"{"path":"hello.txt","content":"hi\n"}"#);
        assert_eq!((inside[1].0.retries, inside[1].0.calls[0].call_id.0.as_str()), (2, "w00001000"));
        assert!(inside[6].0.retries == 1 && inside[6].1 == "Don|Done.", "{:?}", inside[6]);

        for wire in WIRES {
            let provider = wire.provider(&url, setup.clone()).expect("a good address");
            let outside = play(provider.open(opening)).await;
            assert_eq!(outside.len(), inside.len());
            for ((inside, inside_seen), (outside, outside_seen)) in inside.iter().zip(&outside) {
                // The bill of a cut stream is a guess, and only providers name their requests.
                let comparable =
                    |response: &Response| Response { lost: Usage::default(), request_id: None, ..response.clone() };
                assert_eq!(comparable(inside), comparable(outside), "{wire:?}");
                assert_eq!(inside_seen, outside_seen, "{wire:?}");
            }
        }
    });
}

fn open(text: &str, opening: Opening<'_>) -> (Still, Box<dyn Chat>) {
    let (still, setup) = Still::setup();
    (still, Rehearsal::new(script(text), setup).open(opening))
}

#[test]
fn an_agents_own_track_comes_before_its_roles_and_the_default() {
    let all = "version: 1\ntracks: { default: [{reply: d}], executor: [{reply: r}], tester: [{reply: a}] }\n";
    let reply = |agent, role| {
        let (still, mut chat) = open(all, Opening { agent, role, ..opening("") });
        still.run(ask(&mut *chat, 0)).0.expect("an answer").text
    };
    assert_eq!(reply("tester", Role::Executor), "a");
    assert_eq!(reply("other", Role::Executor), "r");
    assert_eq!(reply("other", Role::Planner), "d");
}

#[test]
fn running_off_the_end_names_track_and_turn() {
    let (still, mut chat) = open("version: 1\ntracks: { executor: [{reply: r}] }\n", opening(""));
    let error = still.run(ask(&mut *chat, 1)).0.expect_err("the end");
    assert!(matches!(&error, Error::OffScript { track, turn: 1, .. } if track == "executor"), "{error:?}");
    let (still, mut chat) = open("version: 1\ntracks: { planner: [{reply: r}] }\n", opening(""));
    let error = still.run(ask(&mut *chat, 0)).0.expect_err("no track");
    assert!(error.to_string().contains("track `executor` at turn 0"), "{error}");
}

#[test]
fn a_resumed_conversation_plays_on_where_it_was() {
    let text = "version: 1\ntracks:\n  default:\n    - {reply: a, calls: [{tool: t}]}\n    - {when: {request: a}, reply: b, calls: [{tool: t}]}\n    - reply: c\n";
    let (still, mut live) = open(text, opening("s"));
    live.push(&user("go"));
    let mut history = vec![user("go")];
    for answered in 0..3 {
        let (still_resumed, mut resumed) = open(text, opening("s"));
        history.iter().for_each(|message| resumed.push(message));
        let expected = still.run(ask(&mut *live, answered)).0.expect("an answer");
        assert_eq!(still_resumed.run(ask(&mut *resumed, answered)).0.expect("an answer"), expected);
        for message in turn(&expected, "result") {
            live.push(&message);
            history.push(message);
        }
    }
}

#[test]
fn ids_stay_unique_when_the_conversation_has_been_cut_short() {
    let text = "version: 1\ntracks: { default: [{calls: [{tool: t}, {tool: t}], repeat: forever}] }\n";
    let (still, mut chat) = open(text, opening("s"));
    chat.reserve(&CallId("w00005001".into()));
    let response = still.run(ask(&mut *chat, 5)).0.expect("an answer");
    let ids = response.calls.iter().map(|call| call.call_id.0.as_str()).collect::<Vec<_>>();
    assert_eq!(ids, ["w00005000", "w00005001a"]);
    assert_eq!(response.stop, StopReason::ToolCalls);
}

#[test]
fn the_gauge_follows_the_bill_and_estimates_the_rest() {
    let text = "version: 1\ntracks: { default: [{reply: hello, usage: {input: 500, output: 20}}] }\n";
    let (still, mut chat) = open(text, opening("system"));
    let before = chat.tokens();
    assert!(before > 0 && before < 20, "{before}");
    let response = still.run(ask(&mut *chat, 0)).0.expect("an answer");
    chat.push(&Message::assistant(response.text.clone(), vec![]));
    assert_eq!(chat.tokens(), 520);
    chat.push(&user(&"word ".repeat(700)));
    assert_eq!(chat.tokens(), 520 + 1000 + 4);
    assert_eq!(chat.tokens_near(100_000), 1524);
    assert!((1200..1300).contains(&chat.tokens_near(1400)), "{}", chat.tokens_near(1400));

    let (_, mut resumed) = open(text, opening("system"));
    resumed.push(&Message::assistant(response.text, vec![]));
    resumed.metered(&response.usage);
    resumed.push(&user(&"word ".repeat(700)));
    assert_eq!(resumed.tokens(), chat.tokens());
}

#[test]
fn a_conversation_that_cannot_fit_is_told_before_it_is_sent() {
    let text = "version: 1\ntracks: { default: [{reply: hello, repeat: forever}] }\n";
    let room = |model, words: usize| {
        let (_, mut chat) = open(text, Opening { model, ..opening("system") });
        chat.push(&user(&"word ".repeat(words)));
        chat.room()
    };
    // A word is a token. By its length alone the first would be estimated at 178,571 tokens: it is counted.
    assert!(room("gpt-4o", 125_000).is_ok());
    let error = room("gpt-4o", 130_000).expect_err("it does not fit");
    assert!(matches!(&error, Error::ContextOverflow { model, .. } if model == "gpt-4o"), "{error}");
    assert!(error.to_string().contains("takes 128000"), "{error}");
    assert!(room("unheard-of", 130_000).is_ok(), "a window that is only assumed stops nobody");
}

#[test]
fn a_price_that_nobody_knows_is_not_zero() {
    let text = "version: 1\ntracks: { default: [{reply: hello, repeat: forever}] }\n";
    let cost = |model| {
        let (still, mut chat) = open(text, Opening { model, ..opening("system") });
        still.run(ask(&mut *chat, 0)).0.expect("an answer").cost
    };
    assert_eq!(cost("unheard-of"), None);
    assert!(cost("gpt-4o").is_some_and(|cost| cost > windlass_domain::Usd::ZERO));
}
