//! What is told from elsewhere by HTTP, signed: it goes the way of everything from outside (`windlass-engine`'s `events_told` has it die on
//! the way), is heard by whoever can hear it, and costs nothing where nobody can.

use serde_json::{Value, json};

use super::configuring::configured;
use super::scripts::HELLO;
use super::serving::{JSON, Served, begun};
use crate::support::{Answer, Home, Program, ask};

const KEY: &str = "not-a-very-secret-key";

/// Turns that begin tasks, whose plans wait for a yes.
const TALK: &str = r#"
version: 1
tracks:
  proxy:
    - reply: '{"route": "new_task", "response": "On it."}'
  default:
    - reply: Done.
"#;

fn serve(home: &Home, more: &[&str]) -> Served {
    std::fs::create_dir_all(home.data()).expect("a folder");
    std::fs::set_permissions(home.data(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("its mode");
    std::fs::write(home.data().join("windlass.toml"), "[server.webhooks.ci]\nkey_env = \"CI_KEY\"\n").expect("a file");
    let script = home.script();
    let words = ["serve", "--listen", "127.0.0.1:0", "--rehearsal", script.to_str().expect("a plain path")];
    begun(home, home.windlass(&[&words, more].concat()).env("CI_KEY", KEY))
}

/// `since` is an id that was made within the last minutes: it begins with the millisecond of its making.
fn tell(served: &Served, whom: &str, since: &str, body: &str) -> Answer {
    let digits: String = since.chars().filter(|digit| *digit != '-').take(12).collect();
    let seconds = (u64::from_str_radix(&digits, 16).expect("a number") / 1_000).to_string();
    let signature = windlass_server::auth::hmac_sha256(KEY.as_bytes(), format!("{seconds}.{body}").as_bytes());
    let signature: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
    let signature = format!("sha256={signature}");
    let signed = [("X-Windlass-Timestamp", seconds.as_str()), ("X-Windlass-Signature", signature.as_str())];
    served.ask_as(&served.token, "POST", &format!("/v1/events/ci?{whom}"), &signed, body)
}

fn id(value: &Value) -> String {
    value.as_str().expect("an id").to_owned()
}

#[test]
fn a_task_that_is_over_says_so_and_nothing_is_spent() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &[]);
    let task = id(&served.post("/v1/tasks", &json!({"goal": "Say hello"})).expect(202).json()["task_id"]);
    served.end_of(&task);
    for _ in 0..2 {
        let answer = tell(&served, &format!("task={task}"), &task, "{}").expect(409).json();
        assert_eq!(answer["code"], "over", "{answer}");
    }
    served.end();
}

#[test]
fn a_conversation_without_anybody_at_work_says_so_until_there_is() {
    let home = Home::playing(TALK);
    let served = serve(&home, &[]);
    let session = id(&served.post("/v1/sessions", &json!({"name": "talk"})).expect(200).json()["session_id"]);
    let of_session = format!("session={session}");
    let nobody = "01990000-0000-7000-8000-000000000000";
    let task = id(&served.post("/v1/tasks", &json!({"goal": "Anything"})).expect(202).json()["task_id"]);
    tell(&served, &of_session, &task, "{}").expect(404);
    tell(&served, &format!("task={nobody}"), &task, "{}").expect(404);
    tell(&served, "", &task, "{}").expect(400);

    let said = served.post(&format!("/v1/sessions/{session}/messages"), &json!({"message": "Write it"})).expect(202);
    served.end_of(&id(&said.json()["turn"]));
    let planned = id(&served.get(&format!("/v1/sessions/{session}")).expect(200).json()["tasks"][0]["task_id"]);
    for whom in [&of_session, &format!("task={planned}")] {
        for _ in 0..2 {
            let answer = tell(&served, whom, &task, "{\"build\": \"red\"}").expect(409).json();
            assert_eq!(answer["code"], "nobody_hears", "{answer}");
        }
    }
    served.end();
}

/// Of those who can bear no token.
const PATH: &str = "a-path-that-nobody-guesses-0123456789";

/// Waits for a file, and says what it heard meanwhile.
const LISTENER: &str = r#"
version: 1
tracks:
  executor:
    - calls: [ { tool: bash, args: { command: "touch begun; while [ ! -e go ]; do sleep 0.1; done" } } ]
    - when: { request: 'Event received: push \{"build": "red"\}' }
      reply: I heard.
      repeat: forever
    - reply: I heard nothing.
      repeat: forever
"#;

fn with_paths(home: &Home, path: &str) -> Program {
    let hook = |table: &str| format!("[{table}]\nkey_env = \"CI_KEY\"\npath_env = \"CI_PATH\"\n");
    configured(home, &hook("server.webhooks.ci"));
    let script = home.script();
    let words = ["serve", "--listen", "127.0.0.1:0", "--rehearsal", script.to_str().expect("a plain path")];
    home.windlass(&words).env("CI_KEY", KEY).env("CI_PATH", path)
}

fn signature(key: &str, body: &str) -> String {
    let signature = windlass_server::auth::hmac_sha256(key.as_bytes(), body.as_bytes());
    let signature: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={signature}")
}

/// As GitHub would, which bears no token.
fn hook(served: &Served, path: &str, key: &str, body: &str) -> Answer {
    let signature = signature(key, body);
    let headers = [JSON, ("X-GitHub-Event", "push"), ("X-Hub-Signature-256", signature.as_str())];
    ask(&served.address, "POST", &format!("/v1/hooks/{path}"), &headers, body)
}

#[test]
fn a_webhook_of_others_comes_in_by_its_path_and_its_signature() {
    let home = Home::playing(LISTENER);
    let served = begun(&home, with_paths(&home, PATH));
    let task = id(&served.post("/v1/tasks", &json!({"goal": "Listen"})).expect(202).json()["task_id"]);
    while !home.workspace().join("begun").exists() {}
    let (to, red) = (format!("{PATH}?task={task}"), "{\"build\": \"red\"}");
    hook(&served, &format!("{PATH}x?task={task}"), KEY, red).expect(401);
    hook(&served, &format!("?task={task}"), KEY, red).expect(401);
    assert_eq!(hook(&served, &to, "another key", red).expect(401).json()["code"], "bad_signature");
    // It is good for nothing else, and a token is no path.
    ask(&served.address, "GET", &format!("/v1/tasks/{PATH}"), &[], "").expect(401);
    served.post(&format!("/v1/hooks/nobody-knows-it?task={task}"), &json!({})).expect(404);
    hook(&served, PATH, KEY, red).expect(400);
    hook(&served, &format!("{PATH}?task=01990000-0000-7000-8000-000000000000"), KEY, red).expect(404);
    let of_a_key = |signature: &str| {
        let headers =
            [JSON, ("Idempotency-Key", "red"), ("X-GitHub-Event", "push"), ("X-Hub-Signature-256", signature)];
        ask(&served.address, "POST", &format!("/v1/hooks/{to}"), &headers, red)
    };
    of_a_key("sha256=00").expect(401);
    assert_eq!(of_a_key(&signature(KEY, red)).expect(202).json()["tasks"], json!([task]));
    // Regression: under its key whoever could not sign it was told what came of it.
    of_a_key("sha256=00").expect(401);
    assert_eq!(hook(&served, &to, KEY, red).expect(409).json()["code"], "told_before");
    // Of what is long the beginning is heard.
    let long = json!({"log": "x".repeat(100 << 10)}).to_string();
    hook(&served, &to, KEY, &long).expect(202);
    home.write("go", "");
    served.end_of(&task);
    let result = served.get(&format!("/v1/tasks/{task}")).expect(200).json()["result"].clone();
    assert_eq!(result["final_message"], "I heard.", "{result}");
    let records = served.get(&format!("/v1/tasks/{task}/records?limit=500")).expect(200).json();
    let heard = |record: &&Value| record["kind"] == "injection.received" && record["data"]["taint"] == "external";
    let heard: Vec<&Value> = records["records"].as_array().expect("records").iter().filter(heard).collect();
    assert_eq!(heard.len(), 2, "{heard:#?}");
    assert!(heard[1].to_string().contains("(the first 32768 of"), "{}", heard[1]);
    served.end();
}

#[test]
fn a_path_that_somebody_guesses_is_none() {
    let home = Home::playing(HELLO);
    for path in ["short", "with a space in it, and long enough otherwise", "a/path/of/others/that/is/long/enough"] {
        let refused = with_paths(&home, path).run().expect(2);
        assert!(refused.stderr.contains("CI_PATH must hold 32 to 128"), "{}", refused.stderr);
    }
}
