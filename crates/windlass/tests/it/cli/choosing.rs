//! Which model server is asked, and with whose key.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;

use super::assert_shown;
use super::scripts::HELLO;
use super::served::{serve, through_anthropic, through_openai};
use crate::support::Home;
use rustix::process::Signal;

const OWN_KEY: &str = "sk-loopback-0123456789";
const KEY: &str = "sk-of-another-company-0123456789";

/// What a server is sent first, up to the end of the headers.
fn first_request(server: &TcpListener) -> String {
    let (stream, _) = server.accept().expect("somebody comes");
    let lines = BufReader::new(stream).lines().map(|line| line.expect("headers are text"));
    lines.take_while(|line| !line.is_empty()).map(|line| line.to_lowercase() + "\n").collect()
}

/// A key is sent to the server whose address stands beside it, and to no other.
#[test]
fn another_company_s_key_is_not_sent_to_a_server_that_is_configured() {
    let home = Home::new();
    let server = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", server.local_addr().expect("an address"));
    let running = home.windlass(&["run", "Do it"]).env("LITELLM_API_BASE", &url).env("OPENAI_API_KEY", KEY).start();
    let request = first_request(&server);
    assert!(request.starts_with("post ") && !request.contains(KEY), "{request}");
    drop(running);
    // The control: a key of its own is sent.
    let running = through_openai(home.windlass(&["run", "Do it"]), &url, KEY).start();
    assert!(first_request(&server).contains(KEY));
    drop(running);
}

#[test]
fn anthropic_is_asked_whatever_other_keys_there_are() {
    let home = Home::playing(HELLO);
    let (_server, url) = serve(&home);
    let run = through_anthropic(home.windlass(&["run", "Do it", "--json"]), &url, OWN_KEY);
    let ended = run.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", "http://127.0.0.1:9").env("LITELLM_API_KEY", KEY);
    let ended = ended.run().expect(0);
    assert_eq!(ended.objects()[0]["data"]["model"]["provider"], "anthropic", "{}", ended.objects()[0]);
}

#[test]
fn openai_s_interface_is_chosen_by_the_environment_before_the_file() {
    let home = Home::playing(HELLO);
    let (_server, url) = serve(&home);
    std::fs::create_dir_all(home.data()).expect("a data directory");
    std::fs::write(home.data().join("windlass.toml"), "[openai]\napi = \"responses\"\n").expect("written");
    let provider = |api: Option<&str>| {
        let run = through_openai(home.windlass(&["run", "Do it", "--json"]), &url, OWN_KEY);
        let run = api.into_iter().fold(run, |run, api| run.env("LITELLM_API", api));
        run.run().expect(0).objects()[0]["data"]["model"]["provider"].clone()
    };
    assert_eq!(provider(None), "openai_responses");
    assert_eq!(provider(Some("chat")), "openai");
    let wrong = through_openai(home.windlass(&["run", "Do it"]), &url, OWN_KEY).env("LITELLM_API", "soap");
    assert_shown!(home, wrong.run(), @"
    exit code 2
    --- stderr
    error: LITELLM_API must be `chat` or `responses`, not `soap`
    ");
}

#[test]
fn a_key_without_an_address_asks_nobody() {
    let home = Home::new();
    for name in ["LITELLM_API_KEY", "OPENAI_API_KEY"] {
        let ended = home.windlass(&["run", "Do it"]).env(name, KEY).run().expect(2);
        assert!(ended.stderr.starts_with("error: no model is configured\n"), "{name}: {}", ended.stderr);
    }
}

#[test]
fn a_task_does_not_go_on_with_no_server_at_all() {
    let home = Home::new();
    // It takes calls and never answers.
    let server = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", server.local_addr().expect("an address"));
    let mut run = through_openai(home.windlass(&["run", "Do it", "--json"]), &url, KEY).start();
    run.wait_for_record("model.requested");
    run.signal(Signal::INT);
    run.end().expect(5);
    assert_shown!(home, home.windlass(&["resume"]).env("LITELLM_API_KEY", KEY).run(), @"
    exit code 2
    --- stderr
    error: this task was begun with the model server http://127.0.0.1:[PORT], and none is configured
    hint: set LITELLM_API_BASE=http://127.0.0.1:[PORT]
    ");
}
