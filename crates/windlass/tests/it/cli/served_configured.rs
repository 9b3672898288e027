//! What an operator of `windlass serve` says that cannot be had: all of it is told at one start, with its place, before anything
//! listens or is made; and nothing that is wrong is taken for something else.

use serde_json::{Value, json};

use super::assert_shown;
use super::configuring::configured;
use super::elsewhere::Away;
use super::scripts::HELLO;
use super::serving::{serve, token};
use crate::support::Home;

#[test]
fn every_mistake_of_a_server_is_told_at_once() {
    let home = Home::playing(HELLO);
    home.write("cert.pem", "no certificate\n");
    let cert = home.workspace().join("cert.pem");
    let text = format!(
        "\
[server]
listen = \"0.0.0.0:7117\"
tls_certificate = \"{}\"
tls_key = \"/no/such/key.pem\"
requests_per_second = 0
workspaces = [\"/no/such/folder\", \"{}\"]

[tenants.builds]
workspaces = [\"/no/such/builds\"]

[redis]
workspace = \"/no/such/redis\"

[web]
fetch = \"yes\"
",
        cert.display(),
        home.workspace().display()
    );
    configured(&home, &text);
    let served = home.windlass(&["serve"]).env("REDIS_URL", "http://somewhere").run();
    assert_shown!(home, served, @r#"
    exit code 2
    --- stderr
    error: the configuration has 10 mistakes:
    - [HOME]/data/windlass.toml:15:9: invalid type: string "yes", expected a boolean
    - [HOME]/data/windlass.toml:5:1: [server]: `requests_per_second` must be at least 1: nobody could ask for anything
    - REDIS_URL cannot be understood: write redis://[user:password@]host[:port][/database], rediss:// for TLS, or redis+unix:///path
    - [HOME]/data/windlass.toml:3:1: [server] `tls_certificate`: [HOME]/workspace/cert.pem: there is no certificate in it; it must hold certificates in PEM, the server's own first
    - [HOME]/data/windlass.toml:4:1: [server] `tls_key`: /no/such/key.pem: I/O error: No such file or directory (os error 2); it must hold one private key in PEM
    - [HOME]/data/windlass.toml:2:1: [server] `listen`: 0.0.0.0:7117 is open to other machines, and no name is listed that they use
      (list them in `[server] hosts` of windlass.toml: any other name may be a web page's)
    - [HOME]/data/windlass.toml:2:1: [server] `listen`: 0.0.0.0:7117 is open to other machines, and nobody there has a token
      (make one for each of them: windlass token add NAME --scope read,write)
    - [HOME]/data/windlass.toml:6:1: [server] `workspaces`: /no/such/folder: No such file or directory (os error 2)
    - [HOME]/data/windlass.toml:9:1: [tenants.builds] `workspaces`: /no/such/builds: No such file or directory (os error 2)
    - [HOME]/data/windlass.toml:12:1: [redis] `workspace`: /no/such/redis: No such file or directory (os error 2)
    "#);
    assert!(!home.data().join("token").exists() && !home.data().join("windlass.db").exists(), "nothing was made");

    // What does not hang on what a command says is told by `doctor`, too.
    let shown =
        home.windlass(&["doctor", "--config", "--json"]).env("REDIS_URL", "redis://127.0.0.1:1").run().expect(1);
    let problems = shown.result()["problems"].to_string();
    for place in ["toml:3:1", "toml:4:1", "toml:5:1", "toml:6:1", "toml:9:1", "toml:12:1", "toml:15:9"] {
        assert!(problems.contains(place), "{place}: {problems}");
    }
}

#[test]
fn what_follows_from_a_mistake_of_a_server_is_not_told_beside_it() {
    let home = Home::playing(HELLO);
    token(&home, "ann", &[]);
    for (text, place) in [
        ("hosts = [\"https://windlass.example\"]\n", "toml:2:1: [server]: `hosts`"),
        ("hosts = 7\n", "toml:2:9: "),
        ("hosts = [\"windlass.example\"]\ntls_certificate = 7\ntls_key = \"/no/such/key.pem\"\n", "toml:3:19: "),
    ] {
        configured(&home, &format!("[server]\n{text}"));
        let proxied: &[&str] = if text.contains("tls") { &[] } else { &["--behind-proxy"] };
        let refused = home.windlass(&[&["serve", "--listen", "0.0.0.0:0"], proxied].concat()).run().expect(2);
        assert!(refused.stderr.contains(place) && !refused.stderr.contains("mistakes"), "{text}: {}", refused.stderr);
    }
}

/// The second in the list would otherwise be what is meant where none is named.
#[test]
fn a_folder_that_goes_away_leaves_its_place_to_no_other() {
    let home = Home::playing(HELLO);
    let (one, other) = (home.path().join("one"), home.path().join("other"));
    for folder in [&one, &other] {
        std::fs::create_dir(folder).expect("a folder");
    }
    configured(&home, &format!("[tenants.builds]\nworkspaces = [\"{}\", \"{}\"]\n", one.display(), other.display()));
    let served = serve(&home, &["--no-work"]);
    let builder = token(&home, "builder", &["--scope", "read,write", "--tenant", "builds"]);
    let ask = |workspace: Value| {
        let body = json!({"goal": "Say hello", "workspace": workspace}).to_string();
        served.ask_as(&builder, "POST", "/v1/tasks", &[], &body)
    };
    ask(Value::Null).expect(202);
    std::fs::remove_dir(&one).expect("it is empty");
    ask(Value::Null).expect(422);
    ask(json!(other)).expect(202);
    served.end();
    let refused = home.windlass(&["serve"]).run().expect(2);
    assert!(refused.stderr.contains("toml:2:1: [tenants.builds] `workspaces`: "), "{}", refused.stderr);
}

const CAPPED: &str = "[server.limits]\nmax_tokens = 50000\nmax_cost_usd = 1.5\nmax_attempts = 3\n\
                      [tenants.builds.limits]\nmax_tokens = 400000\n";

/// Beyond what the operator lets a request ask for.
#[test]
fn what_a_request_may_ask_for_is_capped_and_never_lowered() {
    let home = Home::playing(HELLO);
    let builds = home.path().join("builds");
    std::fs::create_dir(&builds).expect("a folder");
    configured(&home, &format!("{CAPPED}[tenants.builds]\nworkspaces = [\"{}\"]\n", builds.display()));
    let served = serve(&home, &["--no-work"]);
    let writer = token(&home, "writer", &["--scope", "read,write"]);
    let builder = token(&home, "builder", &["--scope", "read,write", "--tenant", "builds"]);
    let refused = |token: &str, path: &str, body: &Value, most: &str| {
        let told = served.ask_as(token, "POST", path, &[], &body.to_string()).expect(422).json();
        let detail = told["detail"].as_str().expect("a sentence");
        assert!(
            detail.contains(most) && told["hint"].as_str().is_some_and(|hint| hint.contains("[server.limits]")),
            "{body}: {told}"
        );
    };
    for token in [&served.token, &writer] {
        for planning in ["none", "wanted", "aligning"] {
            let asked = |limits: Value| json!({"goal": "Say hello", "planning": planning, "limits": limits});
            refused(token, "/v1/tasks", &asked(json!({"max_tokens": 50_001})), "50000");
            refused(token, "/v1/tasks", &asked(json!({"max_cost_usd": 1.51})), "$1.50");
            refused(token, "/v1/tasks", &asked(json!({"max_attempts": 4})), "3");
            // As much as may be, and nothing: that is as much as may be where the default is more.
            let most = json!({"max_tokens": 50_000, "max_cost_usd": 1.5, "max_attempts": 3});
            for limits in [most, json!({})] {
                served.ask_as(token, "POST", "/v1/tasks", &[], &asked(limits).to_string()).expect(202);
            }
        }
    }
    let document = |budget: &str| {
        let item = |id: &str| {
            format!("  - {{id: {id}, type: task, title: {id}, verify: [{{file: hello.txt}}], budget: {{{budget}}}}}\n")
        };
        format!(
            "---\nid: both\ntype: project\ntitle: Both\nplan_budget: {{max_tokens: 1000, max_cost_usd: 0.01}}\ntasks:\n{}{}---\n# What to do\nBoth.\n",
            item("one"),
            item("two")
        )
    };
    let given = |budget: &str| json!({"planning": "given", "document": document(budget)});
    let small = "max_tokens: 20000, max_cost_usd: 0.5, max_attempts: 2";
    served.ask_as(&writer, "POST", "/v1/tasks", &[], &given(small).to_string()).expect(202);
    refused(&writer, "/v1/tasks", &given(&small.replace("20000", "25000")), "50000");
    refused(&writer, "/v1/tasks", &given(&small.replace("0.5", "0.8")), "$1.50");
    refused(&writer, "/v1/tasks", &given(&small.replace("attempts: 2", "attempts: 4")), "`one`");
    let goal = |budget: &str| {
        let document = "---\nid: keep\ntype: goal\ntitle: Keep\nschedule: \"0 6 1 1 *\"\nplan_budget: {max_tokens: 1000, max_cost_usd: 0.01}\n\
                        verify: [{file: hello.txt}]\nbudget: {BUDGET}\nfailure_context: \"$failed_checks\"\n---\n# What to do\nKeep it.\n";
        json!({"document": document.replace("BUDGET", budget)})
    };
    refused(&served.token, "/v1/schedules", &goal("max_tokens: 60000"), "50000");
    served.post("/v1/schedules", &goal(small)).expect(201);
    // A conversation says no numbers, and is never beyond it.
    let session = served.post("/v1/sessions", &json!({"name": "one"})).expect(200).json()["session_id"].clone();
    let path = format!("/v1/sessions/{}/messages", session.as_str().expect("an id"));
    served.post(&path, &json!({"message": "Hello."})).expect(202);
    // A tenant has its own, and what it does not say is the server's.
    let asked = |limits: Value| json!({"goal": "Say hello", "limits": limits});
    served.ask_as(&builder, "POST", "/v1/tasks", &[], &asked(json!({"max_tokens": 300_000})).to_string()).expect(202);
    refused(&builder, "/v1/tasks", &asked(json!({"max_tokens": 400_001})), "400000");
    refused(&builder, "/v1/tasks", &asked(json!({"max_attempts": 4})), "3");
    served.end();
}

/// By a command for a server as well; on the data directory the operator says what they like.
#[test]
fn a_command_from_elsewhere_is_capped_like_a_request() {
    let home = Home::playing(HELLO);
    configured(&home, CAPPED);
    home.run(&[]).run().expect(0);
    let served = serve(&home, &["--no-work"]);
    let away = Away::from(&served);
    let elsewhere = |words: &[&str]| away.windlass(words).run();
    for words in [&["run", "Say hello", "--detach"][..], &["fork", "LAST", "And again", "--detach"]] {
        let task = read_last(&home);
        let words: Vec<&str> = words.iter().map(|word| if *word == "LAST" { task.as_str() } else { word }).collect();
        let refused = elsewhere(&[&words[..], &["--max-tokens", "50001"]].concat()).expect(2);
        assert!(refused.stderr.contains("50000"), "{words:?}: {}", refused.stderr);
        elsewhere(&[&words[..], &["--max-tokens", "50000"]].concat()).expect(0);
        elsewhere(&words).expect(0);
    }
    served.end();
    home.run(&["--max-tokens", "900000", "--max-attempts", "9"]).run().expect(0);
}

/// The first task of this home.
fn read_last(home: &Home) -> String {
    let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    let done = tasks.iter().find(|task| task["standing"] == "completed" || task["standing"] == "verified");
    done.expect("it is done")["task_id"].as_str().expect("an id").to_owned()
}
