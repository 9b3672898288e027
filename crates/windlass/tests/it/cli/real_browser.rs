//! The browser from end to end, with a real Chromium (`make test-browser`): off until an operator says otherwise, its pictures kept
//! as evidence, and a form sent only after a yes, once, whatever happens meanwhile.

#![expect(clippy::disallowed_methods, reason = "a page needs a server, and a server somebody to serve")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use rustix::process::Signal;
use serde_json::Value;

use super::cards::approve;
use crate::support::{Home, none_left, read};

const FORM: &str = "<title>Order</title><form method=post action=/buy><input name=who></form>";

/// What the server was sent, and whether it answers that.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Buying {
    Works,
    Hangs,
}

/// Where it is, and everything that is sent to it.
fn shop(buying: Buying) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let (told, heard) = channel();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let asked = request(&mut stream);
            if let Some((_, body)) = asked.split_once("\r\n\r\n").filter(|_| asked.starts_with("POST")) {
                let _nobody_listens = told.send(body.to_owned());
                if buying == Buying::Hangs {
                    held.push(stream);
                    continue;
                }
            }
            let page = if asked.starts_with("POST") { "<title>Thanks</title>" } else { FORM };
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close";
            let _gone = write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{page}", page.len());
        }
    });
    (address, heard)
}

fn request(stream: &mut TcpStream) -> String {
    let mut said = String::new();
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        said.push_str(&String::from_utf8_lossy(&piece[..length]));
        let Some((head, body)) = said.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
        if body.len() >= length.unwrap_or(0_usize) {
            break;
        }
    }
    said
}

fn ordering(address: &str) -> Home {
    let home = Home::playing(&format!(
        r##"
version: 1
tracks:
  default:
    - reply: Let me look.
      calls: [ {{ tool: browser, args: {{ action: screenshot, url: "http://{address}/" }} }} ]
    - reply: Let me order.
      calls:
        - tool: browser
          args:
            action: submit
            url: "http://{address}/"
            selector: form
            fields: [ {{ selector: "[name=who]", text: Ann }} ]
    - reply: Done.
"##
    ));
    std::fs::create_dir_all(home.data()).expect("a data directory");
    let settings =
        format!("[browser]\nenabled = true\n[sandbox]\nnetwork = \"restricted\"\nallowed_hosts = [\"{address}\"]\n");
    std::fs::write(home.data().join("windlass.toml"), settings).expect("a configuration");
    home
}

fn results(home: &Home) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let told = |record: &Value| {
        let data = &record["data"];
        (text(&data["status"]), text(&data["content"]), text(&data["taint"]))
    };
    read(home).of("tool.finished").map(told).collect()
}

#[test]
fn there_is_no_browser_until_one_is_asked_for() {
    let (address, _heard) = shop(Buying::Works);
    let home = ordering(&address);
    std::fs::write(home.data().join("windlass.toml"), "").expect("a configuration");
    home.run(&[]).run().expect(0);
    assert!(results(&home)[0].1.contains("there is no tool `browser`"), "{:?}", results(&home));
    let doctor = home.windlass(&["doctor"]).run().expect(0).stdout;
    assert!(doctor.contains("not enabled; set `enabled = true` in [browser]"), "{doctor}");
    std::fs::write(home.data().join("windlass.toml"), "[browser]\nenabled = true\n").expect("a configuration");
    let doctor = home.windlass(&["doctor"]).run().expect(0).stdout;
    assert!(doctor.contains("/usr/lib/chromium/chromium"), "{doctor}");
}

#[test]
fn a_form_is_sent_once_somebody_has_said_yes_and_what_was_seen_is_evidence() {
    let (address, heard) = shop(Buying::Works);
    let home = ordering(&address);
    let asked = home.run(&[]).run().expect(3);
    assert!(asked.stdout.contains("needs approval"), "{}", asked.stdout);
    let inbox = home.windlass(&["inbox"]).run().expect(0).stdout;
    assert!(inbox.contains("high risk") && inbox.contains("Ann") && inbox.contains(&address), "{inbox}");
    none_left(&home);
    assert!(heard.try_recv().is_err(), "nothing was sent");
    approve(&home);
    let result = home.windlass(&["resume", "--json"]).run().expect(0).result();
    assert_eq!(heard.try_iter().collect::<Vec<_>>(), ["who=Ann"]);
    let [(_, shot, _), (status, sent, taint)] = &results(&home)[..] else { panic!("{:?}", results(&home)) };
    assert!(shot.contains("Title: Order") && shot.contains("Screenshot: /workspace/.scratch/screenshots/"), "{shot}");
    assert_eq!((status.as_str(), taint.as_str()), ("ok", "external"), "{sent}");
    assert!(sent.contains("Title: Thanks"), "{sent}");
    let evidence = result["evidence_refs"].as_array().expect("evidence");
    let screenshot = evidence.iter().find(|evidence| evidence["type"] == "screenshot").expect("a screenshot");
    let path = screenshot["uri"].as_str().and_then(|uri| uri.strip_prefix("file://")).expect("a file");
    let kept = std::fs::read(path).expect("it is there");
    assert!(kept.starts_with(b"\x89PNG"));
    let record = read(&home).of("tool.finished").next().expect("the first call")["data"]["images"][0].clone();
    assert_eq!(record["digest"], screenshot["ref_id"], "it is what the journal refers to");
    let page = home.windlass(&["trace", "open"]).run().expect(0).stdout;
    let page = std::fs::read_to_string(page.trim()).expect("the page");
    assert!(page.contains(&format!("<img src=\"file://{path}\"")), "{page}");
}

#[test]
fn a_submission_that_was_cut_off_is_never_made_again() {
    let (address, heard) = shop(Buying::Hangs);
    let home = ordering(&address);
    home.run(&[]).run().expect(3);
    approve(&home);
    let running = home.windlass(&["resume", "--json"]).start();
    assert_eq!(heard.recv().expect("the form arrives"), "who=Ann");
    running.signal(Signal::KILL);
    running.end_unread();
    home.windlass(&["resume"]).run().expect(0);
    let (status, said, _) = &results(&home)[1];
    assert_eq!(status, "interrupted", "{said}");
    assert!(heard.try_recv().is_err(), "it was sent once");
    none_left(&home);
}
