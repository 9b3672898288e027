//! Commands for a server at another address: typed in a home of their own, with another data directory, and the same to whoever types them.

use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::cards::{is_there, short, waits_to_ask};
use super::scripts::{HELLO, SLEEPER, THINKER};
use super::serving::{Served, serve, serve_at, token};
use crate::support::{Ended, Home, Ledger, Program, Terminal, shown_but_tokens};

/// Somebody at a laptop.
pub struct Away {
    pub home: Home,
    pub server: String,
    pub token: String,
}

impl Away {
    pub fn from(served: &Served) -> Self {
        Self { home: Home::new(), server: format!("http://{}", served.address), token: served.token.clone() }
    }

    pub fn windlass(&self, words: &[&str]) -> Program {
        self.home.windlass(words).env("WINDLASS_SERVER", &self.server).env("WINDLASS_TOKEN", &self.token)
    }

    pub fn with_token(&self, token: &str) -> Self {
        Self { home: Home::new(), server: self.server.clone(), token: token.to_owned() }
    }

    fn card(&self) -> String {
        let asked = self.windlass(&["inbox", "--json"]).run().expect(0).objects();
        short(&asked[0]["card_id"])
    }
}

/// Everything but what passes between two looks.
fn same(home: &Home, here: &Ended, there: &Ended, words: &[&str]) {
    assert_eq!(shown_but_tokens(home, here), shown_but_tokens(home, there), "{words:?}");
}

#[test]
fn a_command_says_the_same_here_and_there() {
    let home = waits_to_ask();
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    away.windlass(&["run", "Do it"]).run().expect(3);
    let card = away.card();
    for words in [
        &["status"][..],
        &["status", "--json"],
        &["status", "--all"],
        &["status", "nosuchtask"],
        &["inbox"],
        &["inbox", "--json"],
        &["log"],
        &["log", "--json"],
        &["log", "--timeline"],
        &["log", "--timeline", "--json"],
        &["log", "--surface", "all"],
        &["log", "nosuchtask"],
        &["graph"],
        &["explain", "--json"],
        &["agents", "--no-versions"],
        &["agents", "--no-versions", "--json"],
        &["goals", "list"],
        &["goals", "pause", "nosuchgoal"],
        &["schedules", "list", "--json"],
        &["dead-letters"],
        &["dead-letters", "show", "nosuchletter"],
        &["audit", "show"],
        &["audit", "show", "--json", "--type", "approval"],
        &["audit", "verify"],
        &["approve", &card],
        &["approve", "nosuchcard"],
        &["send", "nosuchtask", "hello"],
        &["patterns", "list"],
        &["patterns", "list", "--json"],
        &["patterns", "show", "code_create"],
        &["patterns", "show", "nosuchpattern"],
        &["skills", "list"],
        &["skills", "list", "--json"],
        &["skills", "show", "debugging"],
        &["skills", "show", "nosuchskill"],
        &["gates", "list"],
        &["gates", "list", "--json"],
        &["labels", "show"],
        &["labels", "show", "--json"],
        &["memory", "list"],
        &["memory", "list", "--json"],
        &["memory", "search", "file"],
        &["memory", "forget", "nosuchmemory"],
        &["pause", "nosuchtask"],
        &["start", "nosuchtask"],
        &["redirect", "nosuchtask", "--goal", "Another", "--yes"],
        &["redirect", "nosuchtask", "--goal", "Another", "--json"],
        &["fork", "nosuchtask"],
    ] {
        same(&home, &home.windlass(words).run(), &away.windlass(words).run(), words);
    }
    assert!(!away.home.data().join("windlass.db").exists(), "nothing is kept where it is typed");
    served.end();
}

/// A run is told as if it were worked on here: to people, and to scripts.
#[test]
fn a_run_is_told_the_same_here_and_there() {
    let kinds = |ended: &Ended| -> Vec<Value> { ended.objects().iter().map(|object| object["type"].clone()).collect() };
    for more in [&[][..], &["--base-case", "command: test -f hello.txt"], &["--base-case", "command: test -f nothing"]]
    {
        let local = Home::playing(HELLO);
        let home = Home::playing(HELLO);
        let served = serve(&home, &["--workspace", "."]);
        let away = Away::from(&served);
        let words = [&["run", "Do it"][..], more].concat();
        let (here, there) = (local.run(more).run(), away.windlass(&words).run());
        assert_eq!(shown_but_tokens(&local, &here), shown_but_tokens(&home, &there), "{more:?}");
        let words = [&words[..], &["--json"]].concat();
        let (here, there) = (local.run(&[more, &["--json"]].concat()).run(), away.windlass(&words).run());
        assert_eq!((here.code(), kinds(&here)), (there.code(), kinds(&there)), "{more:?}");
        served.end();
    }
}

#[test]
fn a_card_is_answered_from_elsewhere_and_the_server_goes_on() {
    let home = waits_to_ask();
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let task = away.windlass(&["run", "Do it", "--detach", "--json"]).run().expect(0).result()["task_id"].clone();
    let task = short(&task);
    let mut log = away.windlass(&["log", &task, "--follow", "--json"]).start();
    log.wait_for_record("attempt.waiting");
    let card = away.card();
    let told = away.windlass(&["approve", &card]).run().expect(2);
    assert!(told.stderr.contains("--yes is the second step"), "{}", told.stderr);
    assert!(is_there(&home, "old.txt"));
    let told = away.windlass(&["approve", &card, "--yes", "--json"]).run().expect(0).result();
    assert_eq!(told["verdict"], "approved");
    let result = log.end().expect(0).result();
    assert_eq!((&result["type"], &result["status"]), (&"result".into(), &"COMPLETED".into()));
    assert!(!is_there(&home, "old.txt"));
    let again = away.windlass(&["resume", &task]).run().expect(2);
    assert!(again.stderr.contains("has already ended"), "{}", again.stderr);
    served.end();
}

/// Regression: once something else had happened after the last that was told, it asked as fast as it was answered.
#[test]
fn whoever_follows_a_log_asks_when_there_is_news_and_not_all_the_time() {
    let home = waits_to_ask();
    std::fs::create_dir_all(home.data()).expect("a folder");
    std::fs::set_permissions(home.data(), std::fs::Permissions::from_mode(0o700)).expect("its mode");
    std::fs::write(home.data().join("windlass.toml"), "[server]\nrequests_per_second = 2\n").expect("a file");
    let served = serve(&home, &["--workspace", "."]);
    let task = served.ask_for(&json!({"goal": "Do it"}));
    let follower = token(&home, "follower", &[]);
    let mut log = Away::from(&served).with_token(&follower).windlass(&["log", &task, "--follow", "--json"]).start();
    log.wait_for_record("attempt.waiting");
    // Time enough to spend eight requests, and two a second, on nothing.
    for _ in 0..20 {
        home.windlass(&["inbox"]).run().expect(0);
    }
    served.ask_as(&follower, "GET", "/v1/whoami", &[], "").expect(200);
    log.signal(Signal::INT);
    log.end().expect(0);
    served.end();
}

#[test]
fn ctrl_c_pauses_what_the_server_works_on_and_resume_goes_on_with_it() {
    let home = Home::playing(THINKER);
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let mut run = away.windlass(&["run", "Do it", "--json"]).start();
    run.wait_for_record("model.requested");
    run.signal(Signal::INT);
    let paused = run.end().expect(5).result();
    assert_eq!(paused["status"], "PAUSED");
    let resumed = away.windlass(&["resume", "--json"]).run().expect(0).result();
    assert_eq!(resumed["final_message"], "Done after all.");
    served.end();
}

#[test]
fn what_is_stopped_and_cancelled_from_elsewhere_is() {
    let home = Home::playing(THINKER);
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let mut run = away.windlass(&["run", "Do it", "--json"]).start();
    let created = run.wait_for_record("task.created");
    run.wait_for_record("model.requested");
    let task = short(&created["task_id"]);
    away.windlass(&["stop", &task, "--reason", "lunch"]).run().expect(0);
    run.end().expect(4);
    let cancelled = away.windlass(&["cancel", &task, "--json"]).run().expect(0).result();
    assert_eq!(cancelled["status"], "CANCELLED");
    let unnamed = away.windlass(&["stop"]).run().expect(2);
    assert!(unnamed.stderr.contains("no task is worked on that could be stopped"), "{}", unnamed.stderr);
    served.end();
}

/// What it does after that is told from where it was left: nothing twice, nothing not at all.
#[test]
fn a_server_that_dies_and_comes_back_is_waited_for() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let mut run = away.windlass(&["run", "Do it", "--json"]).start();
    ledger.wait_for("begun");
    run.wait_for_record("tool.started");
    let address = served.address.clone();
    served.running.signal(Signal::KILL);
    assert!(served.running.end().was_killed());
    let served = serve_at(&home, &address, &["--workspace", "."]);
    let ended = run.end().expect(0);
    assert_eq!(ended.result()["final_message"], "Done without it.");
    let story = home.windlass(&["log", "--json"]).run().expect(0).objects();
    let told: Vec<Value> = ended.objects();
    // What was read until the wait is no part of what `end` has; the rest is the story's end, word by word.
    assert_eq!(told[..], story[story.len() - told.len()..]);
    served.end();
}

#[test]
fn a_conversation_is_had_from_elsewhere() {
    const TALKER: &str = "version: 1\ntracks:\n  default:\n    - reply: |\n        ROUTE_DECISION:\n        route: answer\n        response: Two and two is four.\n";
    let home = Home::playing(TALKER);
    let local = home.windlass(&["say", "Two and two?", "--json", "--rehearsal", "../script.yaml"]).run();
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let there = away.windlass(&["say", "Two and two?", "--json"]).run();
    let told = |ended: &Ended| -> Vec<(Value, Value)> {
        ended.objects().iter().map(|object| (object["type"].clone(), object["response"].clone())).collect()
    };
    assert_eq!((local.code(), told(&local)), (there.code(), told(&there)), "{}{}", local.stderr, there.stderr);
    served.end();
}

#[test]
fn what_a_machine_must_do_itself_is_said_in_a_sentence() {
    let home = Home::new();
    let away =
        |words: &[&str]| home.windlass(words).env("WINDLASS_SERVER", "http://127.0.0.1:9").env("WINDLASS_TOKEN", "t");
    for words in [&["worker"][..], &["serve"], &["keys", "list"], &["store", "backup", "x"], &["token", "list"]] {
        let told = away(words).run().expect(2);
        let expected = format!("`windlass {}` is for the machine whose data directory it is", words[0]);
        assert!(told.stderr.contains(&expected), "{words:?}: {}", told.stderr);
    }
    for flag in [["--rehearsal", "x"], ["--sandbox", "docker"]] {
        let told = away(&[&["run", "Do it"][..], &flag].concat()).run().expect(2);
        assert!(told.stderr.contains(&format!("{} cannot be said to a server", flag[0])), "{}", told.stderr);
    }
    away(&["doctor", "--config"]).run().expect(0);
}

#[test]
fn whoever_may_not_is_told_why() {
    let home = waits_to_ask();
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let reader = token(&home, "reader", &["--scope", "read"]);
    let check = |ended: Ended, expected: &str| {
        let ended = ended.expect(2);
        assert!(ended.stderr.contains(expected), "{expected}: {}", ended.stderr);
        assert!(!ended.stderr.contains(&away.token) && !ended.stdout.contains(&away.token), "no token is shown");
    };
    away.with_token(&reader).windlass(&["status"]).run().expect(0);
    check(away.with_token("wrong").windlass(&["status"]).run(), "the server does not take this token");
    check(away.with_token(&reader).windlass(&["cancel", "x"]).run(), "the scope `write`");
    check(away.with_token(&reader).windlass(&["approve", "x"]).run(), "the scope `approve`");
    check(away.with_token(&reader).windlass(&["audit", "verify"]).run(), "the scope `admin`");
    check(away.with_token(&reader).windlass(&["run", "Do it"]).run(), "the scope `write`");
    check(away.with_token("a\u{7f}b").windlass(&["status"]).run(), "characters that HTTP cannot carry");
    home.windlass(&["token", "revoke", "reader"]).run().expect(0);
    check(away.with_token(&reader).windlass(&["status"]).run(), "wrong, expired or taken back");

    // From files.
    let file = away.home.path().join("token");
    std::fs::write(&file, &away.token).expect("a file");
    let plain = |words: &[&str]| away.home.windlass(words).env("WINDLASS_SERVER", &away.server);
    let path = file.to_str().expect("a plain path");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    check(plain(&["status", "--token-file", path]).run(), "others may read this token");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    plain(&["--token-file", path, "status"]).run().expect(0);
    check(plain(&["status"]).run(), "there is no token for the server");
    let said = format!("[client]\nserver = \"{}\"\ntoken_file = \"{path}\"\n", away.server);
    std::fs::create_dir_all(away.home.data()).expect("a folder");
    std::fs::write(away.home.data().join("windlass.toml"), said).expect("a file");
    away.home.windlass(&["inbox"]).run().expect(0);
    served.end();
}

#[test]
fn an_address_that_leads_nowhere_good_is_said() {
    let home = Home::playing(HELLO);
    let at = |server: &str| home.windlass(&["status", "--server", server]).env("WINDLASS_TOKEN", "t0ken-of-mine").run();
    for (server, code, expected) in [
        ("windlass.example", 2, "is not the address of a server"),
        ("http://windlass.example", 2, "a token is not sent to http://windlass.example:7117 over plain http"),
        ("http://127.0.0.1:9", 1, "is `windlass serve` running there?"),
    ] {
        let told = at(server).expect(code);
        assert!(told.stderr.contains(expected) && !told.stderr.contains("t0ken"), "{}", told.stderr);
    }
    let (model, url) = super::served::serve(&home);
    let told = at(&url).expect(2);
    assert!(told.stderr.contains("is not a Windlass server"), "{}", told.stderr);
    let told = at(&url.replace("http://", "https://")).expect(2);
    assert!(told.stderr.contains("it does not speak TLS"), "{}", told.stderr);
    drop(model);
}

#[test]
fn a_certificate_must_be_known() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../windlass-llm/tests/fixtures/tls");
    let (certificate, key) = (format!("{fixtures}/server.pem"), format!("{fixtures}/server.key"));
    let home = Home::playing(HELLO);
    let words = ["serve", "--listen", "127.0.0.1:0", "--tls-certificate", &certificate, "--tls-key", &key];
    let mut running = home.windlass(&words).env("LITELLM_API_BASE", "http://127.0.0.1:9").start();
    let line = running.wait_for(|line| line.starts_with("serving at "));
    let port = line.rsplit(':').next().expect("a port").to_owned();
    let token = std::fs::read_to_string(home.data().join("token")).expect("a token");
    let away = Home::new();
    let ask = |words: &[&str]| {
        away.windlass(words).env("WINDLASS_SERVER", &format!("https://localhost:{port}")).env("WINDLASS_TOKEN", &token)
    };
    let told = ask(&["status"]).run().expect(2);
    assert!(told.stderr.contains("a certificate that this machine does not trust"), "{}", told.stderr);
    let authority = format!("{fixtures}/authority.pem");
    let told = ask(&["status"]).env("SSL_CERT_FILE", &authority).run().expect(0);
    assert!(told.stdout.contains("No tasks yet."), "{}", told.stdout);
    running.signal(Signal::TERM);
    running.end().expect(0);
}

/// Regression: the certificate was read when the server began, and shown until it ended.
#[test]
fn a_certificate_that_is_renewed_is_shown_from_then_on() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../windlass-llm/tests/fixtures/tls");
    let home = Home::playing(HELLO);
    let own = |name: &str| home.path().join(name);
    let put = |from: &str, to: &str| {
        std::fs::copy(format!("{fixtures}/{from}"), own(to)).expect("a copy");
    };
    put("server.pem", "cert.pem");
    put("server.key", "key.pem");
    let (certificate, key) = (own("cert.pem"), own("key.pem"));
    let files = [certificate.to_str(), key.to_str()].map(|path| path.expect("a plain path"));
    let words = ["serve", "--listen", "127.0.0.1:0", "--tls-certificate", files[0], "--tls-key", files[1]];
    let mut running = home.windlass(&words).env("LITELLM_API_BASE", "http://127.0.0.1:9").start();
    let line = running.wait_for(|line| line.starts_with("serving at "));
    let server = format!("https://localhost:{}", line.rsplit(':').next().expect("a port"));
    let token = std::fs::read_to_string(home.data().join("token")).expect("a token");
    let away = Home::new();
    let is_known_to = |authority: &str| {
        let status = away.windlass(&["status"]).env("WINDLASS_SERVER", &server).env("WINDLASS_TOKEN", &token);
        status.env("SSL_CERT_FILE", &format!("{fixtures}/{authority}")).run().code() == 0
    };
    let (old, new) = ("authority.pem", "renewed/authority.pem");
    assert_eq!([is_known_to(old), is_known_to(new)], [true, false]);
    // One without the other is no certificate.
    put("renewed/server.pem", "cert.pem");
    assert_eq!([is_known_to(old), is_known_to(new)], [true, false]);
    running.wait_for(|line| line.starts_with("trouble") && line.contains("do not go together"));
    put("renewed/server.key", "key.pem");
    assert_eq!([is_known_to(old), is_known_to(new)], [false, true]);
    std::fs::write(&certificate, "no certificate").expect("a file is written");
    assert!(is_known_to(new));
    running.wait_for(|line| line.starts_with("trouble") && line.contains("there is no certificate in it"));
    running.signal(Signal::TERM);
    running.end().expect(0);
}

/// At a terminal somebody is asked, whoever works.
#[test]
fn a_card_of_a_servers_is_asked_about_at_the_terminal() {
    let home = waits_to_ask();
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let variables = format!("WINDLASS_SERVER={} WINDLASS_TOKEN={}", away.server, away.token);
    let mut run = Terminal::start_with(&away.home, &variables, "run 'Do it'");
    run.types("\n");
    run.wait_for("[l]ater:");
    run.types("a\n");
    run.wait_for("do you mean it?");
    assert!(is_there(&home, "old.txt"));
    run.types("yes\n");
    let (code, shown) = run.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("Done.") && !is_there(&home, "old.txt"), "{shown}");
    served.end();
}
