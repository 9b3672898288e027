//! What goes with a request to a server: files, limits, how the model is asked. And what is looked at on the server's own machine for
//! somebody elsewhere: its agents' programs and its MCP servers.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::elsewhere::Away;
use super::elsewhere_work::the_same;
use super::mcp;
use super::scripts::HELLO;
use super::serving::{begun, serve, token};
use super::stand_in;
use crate::support::{Ended, Home};

/// The smallest there is, and more than a request without files may hold.
const GIF: &[u8] = b"GIF89a\x03\0\x05\0";

fn picture() -> Vec<u8> {
    let mut bytes = GIF.to_vec();
    // What is sent is a third longer.
    bytes.extend((0..1_600_000_u32).map(|at| at.to_le_bytes()[0] ^ at.to_le_bytes()[1]));
    bytes.push(b';');
    bytes
}

fn created(home: &Home) -> Value {
    let log = home.windlass(&["log", "--json"]).run().expect(0).objects();
    log.into_iter().find(|record| record["type"] == "task.created").expect("it was taken in")
}

#[test]
fn files_go_to_a_server_and_stand_beside_the_goal() {
    let (local, home) = (Home::playing(HELLO), Home::playing(HELLO));
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let cut = b"\x89PNG\r\n\x1a\n\0\xff".to_vec();
    let files = [
        ("notes.txt", b"buy milk\n".to_vec()),
        ("shown.gif", picture()),
        ("cut.png", cut),
        ("long.txt", vec![b'x'; 300 << 10]),
    ];
    for folder in [local.workspace(), away.home.workspace()] {
        files.iter().for_each(|(name, bytes)| std::fs::write(folder.join(name), bytes).expect("written"));
    }
    let both = ["--attach", "notes.txt", "--attach", "shown.gif"];
    for (words, code) in [
        (&both[..], 0),
        (&["--attach", "nowhere.txt"], 2),
        (&["--attach", "cut.png"], 2),
        (&["--attach", "long.txt"], 2),
        (&["--attach", "shown.gif", "--model", "deepseek-chat"], 2),
    ] {
        let there = away.windlass(&[&["run", "Do it"], words].concat()).run().expect(code);
        the_same((&local, &local.run(words).run()), (&home, &there));
    }
    let attached = |record: Value| record["data"]["attachments"].clone();
    let theirs = attached(created(&home));
    assert_eq!(theirs, attached(created(&local)));
    assert_eq!((theirs.as_array().map(Vec::len), &theirs[0]["name"]), (Some(2), &"notes.txt".into()), "{theirs}");

    // So do those of a plan, and of what goes on with a conversation.
    let task = away.windlass(&[&["plan", "Do it", "--detach", "--json"][..], &both].concat()).run().expect(0);
    served.end_of(task.result()["task_id"].as_str().expect("an id"));
    assert_eq!(attached(created(&home)), theirs);
    let first = away.windlass(&["run", "Do it", "--json"]).run().expect(0).result()["task_id"].clone();
    let first = first.as_str().expect("an id");
    away.windlass(&[&["fork", first, "Again", "--detach"][..], &both].concat()).run().expect(0);
    assert_eq!(attached(created(&home)), theirs);
    served.end();
}

/// Whoever asks over HTTP is told what is wrong with a file; only where files are taken a body may be long, and not without end.
#[test]
fn a_file_that_is_none_is_refused() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--workspace", ".", "--no-work"]);
    let sent = |attachments: Value| served.post("/v1/tasks", &json!({"goal": "x", "attachments": attachments}));
    for (attachment, expected) in [
        (json!({"name": "a.txt", "content": "!!"}), "no base64"),
        (json!({"name": "", "content": "aGk="}), "1 to 255 characters"),
        (json!({"name": "a".repeat(256), "content": "aGk="}), "1 to 255 characters"),
        (json!({"name": "a.bin", "content": "//8="}), "neither UTF-8 text nor a whole"),
        (json!({"name": "a.txt", "content": "aGk=", "text": "hi"}), "unknown field"),
    ] {
        let refused = sent(json!([attachment])).expect(422).json();
        assert!(refused["detail"].as_str().is_some_and(|detail| detail.contains(expected)), "{expected}: {refused}");
    }
    sent(json!([{"name": "a.txt", "content": "aGk="}])).expect(202);
    let many = vec![json!({"name": "a.txt", "content": "aGk="}); 51];
    assert!(sent(many.into()).expect(422).body.contains("more than 50 items"));
    let long = "x".repeat(2 << 20);
    served.post("/v1/tasks", &json!({"goal": long})).expect(422);
    served.post("/v1/schedules", &json!({"document": long})).expect(413);
    served.end();
}

#[test]
fn how_the_model_is_asked_and_what_a_conversation_may_use_is_said_to_a_server() {
    const DECIDES: &str = r#"
version: 1
tracks:
  default:
    - reply: '{"_type": "EXECUTOR_DECISION", "action": "DONE", "reasoning": "There is nothing to do."}'
      repeat: forever
  proxy:
    - reply: '{"route": "new_task", "response": "On it."}'
      repeat: forever
"#;
    let (local, home) = (Home::playing(DECIDES), Home::playing(DECIDES));
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let config = |record: Value| record["data"]["command"]["execution_config"].clone();
    let here = local.run(&["--tactician"]).run();
    let there = away.windlass(&["run", "Do it", "--tactician"]).run().expect(0);
    the_same((&local, &here), (&home, &there));
    assert_eq!(config(created(&home)), config(created(&local)));
    assert_eq!(config(created(&home))["tactician"], true);
    let limits =
        ["--max-tokens", "54321", "--max-iterations", "7", "--timeout", "99", "--max-cost", "0.25", "--detach"];
    let say = [&["say", "Do it"][..], &limits].concat();
    local.windlass(&[&say[..], &["--rehearsal", "../script.yaml"]].concat()).run().expect(0);
    away.windlass(&say).run().expect(0);
    let (here, there) = (created(&local), created(&home));
    assert_eq!(there["data"]["budget"], here["data"]["budget"]);
    assert_eq!(there["data"]["budget"]["max_tokens"], 54_321, "{there}");
    assert_eq!(config(there)["max_iterations"], 7);
    served.end();
}

#[test]
fn a_program_of_a_servers_is_tried_out_from_elsewhere() {
    let home = stand_in::with("introduce()\nend(ask())");
    let script = home.script();
    std::fs::write(&script, HELLO).expect("written");
    let words = ["serve", "--listen", "127.0.0.1:0", "--rehearsal", script.to_str().expect("a plain path")];
    let served = begun(&home, stand_in::windlass(&home, &words));
    let away = Away::from(&served);
    let check = |words: &[&str], code: i32| -> Ended {
        let there = away.windlass(words).run().expect(code);
        the_same((&home, &stand_in::windlass(&home, words).run()), (&home, &there));
        there
    };
    let told = check(&["agent", "test", "claude-code"], 0);
    assert!(told.stdout.contains("✔ structured  it said: READY"), "{}", told.stdout);
    check(&["agent", "test", "codex"], 1);
    check(&["agent", "test", "nobody"], 2);
    check(&["agent", "test", "executor"], 2);
    let result = away.windlass(&["agent", "test", "claude-code", "--json"]).run().expect(0).result();
    assert_eq!((&result["passed"], &result["auth"]), (&true.into(), &"rehearsed".into()), "{result}");
    let refused = away.windlass(&["agent", "test", "claude-code", "--rehearsal", "x"]).run().expect(2);
    assert!(refused.stderr.contains("--rehearsal cannot be said to a server"), "{}", refused.stderr);
    let works = away.with_token(&token(&home, "works", &["--scope", "read,write,approve"]));
    let refused = works.windlass(&["agent", "test", "claude-code"]).run().expect(2);
    assert!(refused.stderr.contains("the scope `admin`"), "{}", refused.stderr);
    // Regression: whoever was an admin of any tenant had programs started that no budget holds.
    let other = away.with_token(&token(&home, "other", &["--tenant", "other", "--scope", "read,admin"]));
    for words in [&["agent", "test", "claude-code"][..], &["mcp", "list"]] {
        let refused = other.windlass(words).run().expect(2);
        assert!(refused.stderr.contains("this is the operator's"), "{words:?}: {}", refused.stderr);
    }
    served.end();
}

/// Regression: whoever could look had programs started, and knew what the operator has installed.
#[test]
fn only_the_operator_asks_programs_for_their_version() {
    let home = stand_in::with("introduce()\nend(ask())");
    let served = begun(&home, stand_in::windlass(&home, &["serve", "--listen", "127.0.0.1:0"]));
    let versions = |away: &Away| -> Vec<String> {
        let agents = away.windlass(&["agents", "--json"]).run().expect(0).objects();
        let foreign = agents.iter().filter(|agent| agent["runner"] == "foreign");
        foreign.filter_map(|agent| agent["version"].as_str()).map(str::to_owned).collect()
    };
    let away = Away::from(&served);
    let other = away.with_token(&token(&home, "other", &["--tenant", "other", "--scope", "read"]));
    assert!(versions(&other).is_empty());
    assert!(!versions(&away).is_empty(), "the control");
    assert!(versions(&other).is_empty(), "now that they are known");
    served.end();
}

#[test]
fn what_the_mcp_servers_of_a_server_offer_is_seen_from_elsewhere() {
    let home = mcp::home();
    std::fs::set_permissions(home.data(), std::fs::Permissions::from_mode(0o700)).expect("its mode");
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    for words in [&["mcp", "list"][..], &["mcp", "list", "--json"]] {
        let there = away.windlass(words).run().expect(0);
        the_same((&home, &home.windlass(words).run()), (&home, &there));
        assert!(there.stdout.contains("clerk__greet"), "{}", there.stdout);
    }
    for words in [&["mcp", "pin", "clerk", "--yes"][..], &["mcp", "serve"]] {
        let told = away.windlass(words).run().expect(2).stderr;
        let expected = format!("`windlass {}` is for the machine whose data directory it is", words[..2].join(" "));
        assert!(told.contains(&expected), "{told}");
    }
    let works = away.with_token(&token(&home, "works", &["--scope", "read,write,approve"]));
    works.windlass(&["mcp", "list"]).run().expect(2);
    // It belongs to the agent whose sandbox it runs in, and to no data directory.
    let bridge = away.windlass(&["mcp", "bridge"]).run().expect(2).stderr;
    assert!(bridge.contains("nobody says where to"), "{bridge}");
    served.end();
}
