//! Text and pictures beside the goal, and pictures that an agent reads: all the way to the server.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

use super::assert_shown;
use super::scripts::HELLO;
use super::served::through_openai;
use crate::support::{Home, Program, read};
use rustix::process::Signal;

const KEY: &str = "sk-loopback-0123456789";
/// Three pixels by five, as a file and as a request has it.
const GIF: &[u8] = b"GIF89a\x03\0\x05\0;";
const SENT: &str = "data:image/gif;base64,R0lGODlhAwAFADs=";

/// A server that answers when it is told to.
struct Server {
    listener: TcpListener,
    url: String,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        Self { listener, url }
    }

    fn ask(&self, program: Program) -> Program {
        through_openai(program, &self.url, KEY).env("LITELLM_MODEL", "gpt-4o")
    }

    /// The next request on a new connection.
    fn hear(&self) -> (TcpStream, Value) {
        let (mut stream, _) = self.listener.accept().expect("somebody comes");
        let body = body(&mut stream);
        (stream, body)
    }
}

fn body(stream: &mut TcpStream) -> Value {
    let mut bytes = Vec::new();
    let mut portion = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            if body.len() >= length.expect("a length") {
                return serde_json::from_str(body).expect("JSON");
            }
        }
        let count = stream.read(&mut portion).expect("a request");
        assert!(count > 0, "the request ends in the middle: {text}");
        bytes.extend_from_slice(&portion[..count]);
    }
}

/// Answers and closes.
fn say(mut stream: TcpStream, message: &Value) {
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 1});
    let body = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}).to_string();
    let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).expect("the client listens");
}

fn reads_picture() -> Value {
    let function = json!({"name": "read", "arguments": "{\"path\":\"found.gif\"}"});
    json!({"content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]})
}

#[test]
fn pictures_reach_the_model_and_do_so_again_after_a_pause() {
    let home = Home::new();
    std::fs::write(home.path().join("shown.gif"), GIF).expect("written");
    std::fs::write(home.workspace().join("found.gif"), GIF).expect("written");
    let server = Server::start();
    let shown = home.path().join("shown.gif");
    let words = ["run", "Do it", "--json", "--attach", shown.to_str().expect("a plain path")];
    let mut run = server.ask(home.windlass(&words)).start();

    let (stream, first) = server.hear();
    assert_eq!(first["messages"][1]["content"][1]["image_url"]["url"], SENT, "{first}");
    say(stream, &reads_picture());
    let (_silent, second) = server.hear();
    let parts = &second["messages"].as_array().expect("messages").last().expect("one")["content"];
    assert_eq!(parts[1]["image_url"]["url"], SENT, "{second}");
    run.wait_for_record("model.requested");
    run.signal(Signal::INT);
    run.end().expect(5);

    let resumed = server.ask(home.windlass(&["resume", "--json"])).start();
    let (stream, third) = server.hear();
    assert_eq!(third.to_string().matches(SENT).count(), 2, "{third}");
    // What stood there stands there still.
    let messages = |body: &Value| body["messages"].as_array().expect("messages").clone();
    assert!(messages(&third).starts_with(&messages(&second)), "{third}");
    say(stream, &json!({"content": "Done."}));
    resumed.end().expect(0);
    let journal = read(&home);
    let accepted = journal.of("message.accepted").next().expect("the task");
    assert_eq!(accepted["data"]["images"][0]["name"], "shown.gif");
    let finished = journal.of("tool.finished").next().expect("the call");
    assert_eq!(finished["data"]["images"][0]["width"], 3, "{finished}");
}

#[test]
fn text_stands_in_the_first_message() {
    let script = "version: 1\ntracks:\n  default:\n    - when: { request: 'Attached: notes.txt\\s+buy milk' }\n      reply: Seen.\n";
    let home = Home::playing(script);
    let notes = home.path().join("notes.txt");
    std::fs::write(&notes, "buy milk\n").expect("written");
    let ended = home.run(&["--json", "--attach", notes.to_str().expect("a plain path")]).run().expect(0);
    assert_eq!(ended.result()["final_message"], "Seen.");
}

#[test]
fn what_cannot_be_shown_is_refused_before_there_is_a_task() {
    let home = Home::playing(HELLO);
    let put = |name: &str, bytes: &[u8]| {
        let path = home.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        path.to_str().expect("a plain path").to_owned()
    };
    assert_shown!(home, home.run(&["--attach", "nowhere.txt"]).run(), @"
    exit code 2
    --- stderr
    error: --attach nowhere.txt: No such file or directory (os error 2)
    ");
    assert_shown!(home, home.run(&["--attach", &put("cut.png", b"\x89PNG\r\n\x1a\n\0\xff")]).run(), @"
    exit code 2
    --- stderr
    error: --attach [HOME]/cut.png: it is neither UTF-8 text nor a whole PNG, JPEG, GIF or WebP image
    hint: put it into the workspace, where the agent can look at it
    ");
    assert_shown!(home, home.run(&["--attach", &put("long.txt", &[b'x'; 300 << 10])]).run(), @"
    exit code 2
    --- stderr
    error: --attach [HOME]/long.txt: it is longer than 256 KiB
    hint: put it into the workspace, where the agent can read it page by page
    ");
    let blind = home.run(&["--attach", &put("a.gif", GIF), "--model", "deepseek-chat"]);
    assert_shown!(home, blind.run(), @"
    exit code 2
    --- stderr
    error: the model `deepseek-chat` cannot see images, as far as is known here
    hint: leave the image out, or say `vision = true` of the model in models.toml
    ");
    assert!(home.windlass(&["status", "--json"]).run().expect(0).objects().is_empty());
}

#[test]
fn what_is_wanted_of_a_model_stands_in_windlass_toml() {
    let home = Home::playing(HELLO);
    std::fs::create_dir_all(home.data()).expect("a data directory");
    let put = |text: &str| std::fs::write(home.data().join("windlass.toml"), text).expect("written");
    put("[models.\"gpt-5\"]\nreasoning = \"high\"\n");
    let server = Server::start();
    let run = server.ask(home.windlass(&["run", "Do it"])).env("LITELLM_MODEL", "gpt-5").start();
    let (stream, asked) = server.hear();
    assert_eq!(asked["reasoning_effort"], "high");
    say(stream, &json!({"content": "Done."}));
    run.end().expect(0);
    put("[models.\"gpt-5\"]\nreasoning = \"very\"\n");
    let ended = home.run(&[]).run().expect(2);
    assert!(ended.stderr.contains("`low`, `medium`, `high` or a number of tokens"), "{}", ended.stderr);
    put("[models.\"my-own\"]\nvision = true\n");
    assert_shown!(home, home.run(&[]).run(), @r#"
    exit code 2
    --- stderr
    error: [HOME]/data/windlass.toml: models."my-own": no table describes this model; describe it in models.toml
    "#);
}
