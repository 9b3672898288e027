//! What operators see: the log on standard error, metrics, and a story that is followed from another process.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::scripts::{HELLO, SLEEPER};
use super::serving::token;
use crate::support::{Home, Ledger, Terminal, ask};

#[test]
fn a_run_logs_only_when_told_to() {
    let home = Home::playing(HELLO);
    assert_eq!(home.run(&[]).without("WINDLASS_LOG").run().expect(0).stderr, "");
    let said = home.run(&[]).env("WINDLASS_LOG", "info").run().expect(0).stderr;
    let lines: Vec<_> = said.lines().map(|line| line.split_once(" task_id=").expect("a task").0).collect();
    assert!(lines[0].ends_with(" INFO  Task started") && lines[1].ends_with(" INFO  Task completed"), "{said}");
    assert_eq!(lines.len(), 2, "{said}");
    let all = home.run(&[]).env("WINDLASS_LOG", "debug").run().expect(0).stderr;
    assert!(all.contains(" DEBUG Tool executed "), "{all}");
}

#[test]
fn a_worker_logs_and_its_lines_may_be_json() {
    let home = Home::playing(HELLO);
    home.run(&["--detach"]).run().expect(0);
    let worker = home.windlass(&["worker", "--until-idle"]).without("WINDLASS_LOG");
    let said = worker.env("WINDLASS_LOG_FORMAT", "json").run().expect(0).stderr;
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let events: Vec<_> = lines.iter().map(|line| &line["event"]).collect();
    assert_eq!(events, ["Task started", "Task completed"]);
    assert_eq!((&lines[0]["goal"], &lines[1]["status"]), (&json!("Do it"), &json!("COMPLETED")));
}

#[test]
fn a_level_that_there_is_not_is_said() {
    let home = Home::playing(HELLO);
    let said = home.run(&[]).env("WINDLASS_LOG", "loud").run().expect(2).stderr;
    assert!(said.contains("WINDLASS_LOG must be error, warn, info, debug or off, not `loud`"), "{said}");
}

#[test]
fn a_worker_shows_its_metrics() {
    let home = Home::playing(HELLO);
    home.run(&["--detach"]).run().expect(0);
    let mut worker = home.windlass(&["worker", "--metrics", "127.0.0.1:0", "--json"]).start();
    let address = worker.wait_for_record("metrics")["address"].as_str().expect("an address").to_owned();
    worker.wait_for(|line| line.contains("\"completed\""));
    let address = address.trim_start_matches("http://").trim_end_matches("/metrics");
    let own = std::fs::read_to_string(home.data().join("token")).expect("a token");
    let reader = token(&home, "reader", &["--scope", "read"]);
    let tenant = token(&home, "tenant", &["--scope", "admin", "--tenant", "acme"]);
    let look =
        |bearer: &str| ask(address, "GET", "/metrics", &[("Authorization", &format!("Bearer {}", bearer.trim()))], "");
    for nobody in ["", "x", &reader, &tenant] {
        look(nobody).expect(401);
    }
    let answer = look(&own).expect(200).body;
    for expected in [
        "agent_loop_iterations{status=\"completed\"} ",
        "agent_llm_tokens{direction=\"input\"} ",
        "queue_wait_ms_count{queue_name=\"executor_queue\"} 1",
    ] {
        assert!(answer.contains(expected), "`{expected}` is not in\n{answer}");
    }
    worker.signal(Signal::INT);
    worker.end().expect(0);
}

#[test]
fn metrics_are_for_this_machine_unless_names_are_listed() {
    let home = Home::new();
    let worker = |address| home.windlass(&["worker", "--until-idle", "--metrics", address]);
    let said = worker("0.0.0.0:0").run().expect(2).stderr;
    assert!(said.contains("is open to other machines") && said.contains("metrics_hosts"), "{said}");
    worker("127.0.0.1:0").run().expect(0);
    worker("9464").run().expect(2);
    std::fs::write(home.data().join("windlass.toml"), "[telemetry]\nmetrics_hosts = [\"box\"]\n").expect("a file");
    worker("0.0.0.0:0").run().expect(0);
}

#[test]
fn a_log_is_followed_from_another_process_until_the_task_ends() {
    let home = Home::playing(HELLO);
    let task = home.run(&["--detach"]).run().expect(0).stdout.trim().to_owned();
    let mut follower = home.windlass(&["log", "--follow", "--json", &task]).start();
    follower.wait_for_record("task.created");
    home.windlass(&["worker", "--until-idle"]).run().expect(0);
    let told = follower.end().expect(0);
    let whole = home.windlass(&["log", "--json", &task]).run().expect(0);
    assert_eq!(told.stdout, whole.stdout, "each record once, in the order in which it was committed");
    assert_eq!(told.result()["status"], "COMPLETED");
}

#[test]
fn whoever_follows_may_leave() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let run = home.run(&[]).start();
    ledger.wait_for("begun");
    let mut follower = home.windlass(&["log", "-f"]).start();
    follower.wait_for(|line| line.contains("Do it"));
    follower.signal(Signal::INT);
    follower.end().expect(0);
    run.signal(Signal::INT);
    run.end().expect(5);
}

#[test]
fn a_collector_is_sent_a_run_and_one_that_is_away_holds_up_nothing() {
    let home = Home::playing(HELLO);
    let collector = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("http://{}", collector.local_addr().expect("an address"));
    let run = home.run(&[]).env("OTEL_EXPORTER_OTLP_ENDPOINT", &address).start();
    let (mut stream, _) = collector.accept().expect("a connection");
    let (mut said, mut piece) = (String::new(), [0; 4_096]);
    while !said.contains("execute_tool write") {
        let length = stream.read(&mut piece).expect("a request");
        assert!(length > 0, "{said}");
        said.push_str(&String::from_utf8_lossy(&piece[..length]));
    }
    assert!(said.starts_with("POST /v1/traces HTTP/1.1") && !said.contains("Do it"), "{said}");
    drop((stream, collector));
    run.end().expect(0);
    home.run(&[]).env("OTEL_EXPORTER_OTLP_ENDPOINT", &address).run().expect(0);
    let said = home.run(&[]).env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:word@box").run().expect(2).stderr;
    assert!(said.contains("http://localhost:4318") && !said.contains("word"), "{said}");
}

/// A model that would rather be a page of its own.
const HOSTILE: &str = r#"
version: 1
tracks:
  default:
    - reply: "<script>alert(1)</script>"
      calls:
        - { tool: bash, args: { command: "echo '<img src=x onerror=alert(2)>'" } }
      usage: { input: 900, output: 40 }
    - reply: "Done."
      usage: { input: 900, output: 10 }
"#;

#[test]
fn a_page_shows_a_task_and_nothing_in_it_runs() {
    let home = Home::playing(HOSTILE);
    home.run(&[]).run().expect(0);
    let path = home.windlass(&["trace", "open"]).run().expect(0).stdout.trim().to_owned();
    assert!(path.ends_with(".html") && path.starts_with(home.data().to_str().expect("a plain path")), "{path}");
    let html = std::fs::read_to_string(&path).expect("the page");
    assert_eq!(std::fs::metadata(&path).expect("the page").permissions().mode() & 0o777, 0o600);
    for shown in [
        "<h1>Do it</h1>",
        "<dd>completed</dd>",
        "1,800 in, 50 out",
        "<h2>Attempt 1</h2>",
        "<b>bash</b>",
        "default-src 'none'",
    ] {
        assert!(html.contains(shown), "`{shown}` is not in\n{html}");
    }
    for (written, shown) in [("<script", "&lt;script&gt;alert(1)"), ("<img", "&lt;img src=x")] {
        assert!(!html.contains(written) && html.contains(shown), "{html}");
    }
}

#[test]
fn a_page_is_written_where_it_is_wanted() {
    let home = Home::playing(HELLO);
    home.run(&[]).run().expect(0);
    let page = home.path().join("page.html");
    let page = page.to_str().expect("a plain path");
    let told = home.windlass(&["trace", "open", "--output", page, "--json"]).run().expect(0).objects();
    assert_eq!(told, [json!({"type": "page", "path": page})]);
    assert!(std::fs::read_to_string(page).expect("the page").contains("Do it"));
    let said = home.windlass(&["trace", "open", "--output", "/nowhere/x.html"]).run().expect(2).stderr;
    assert!(said.contains("cannot be written"), "{said}");
    home.windlass(&["trace", "open", "nothing"]).run().expect(2);
}

#[test]
fn a_page_is_shown_where_there_is_a_desktop_and_somebody_before_it() {
    let home = Home::playing(HELLO);
    home.run(&[]).run().expect(0);
    let programs = home.path().join("programs");
    std::fs::create_dir(&programs).expect("a folder");
    let (opener, shown) = (programs.join("xdg-open"), home.path().join("shown"));
    rustix::fs::mknodat(rustix::fs::CWD, &shown, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe");
    std::fs::write(&opener, format!("#!/bin/sh\necho $1 > {}\n", shown.display())).expect("a program");
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o700)).expect("it may run");
    let desktop = format!("PATH={}:$PATH DISPLAY=:0", programs.display());
    let page = |name: &str| home.path().join(name).display().to_string();
    let at_terminal = |variables: &str, words: &str| {
        let mut terminal = Terminal::start_with(&home, variables, words);
        terminal.types("\n");
        assert_eq!(terminal.end().0, Some(0));
    };
    // Nobody asked to see these: what is shown first is the last.
    at_terminal(&desktop, &format!("trace open --no-open --output {}", page("a.html")));
    at_terminal(&desktop, &format!("trace open --json --output {}", page("b.html")));
    at_terminal(&desktop.replace("DISPLAY=:0", ""), &format!("trace open --output {}", page("c.html")));
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let unseen = home.windlass(&["trace", "open", "--output", &page("d.html")]).env("DISPLAY", ":0").env("PATH", &path);
    unseen.run().expect(0);
    at_terminal(&desktop, &format!("trace open --output {}", page("e.html")));
    assert_eq!(std::fs::read_to_string(shown).expect("it is shown").trim(), page("e.html"));
}
