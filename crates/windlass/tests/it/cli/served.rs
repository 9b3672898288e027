//! `windlass rehearse serve` as the model server of `windlass run`, over HTTP and through every wire format.

use super::assert_shown;
use super::scripts::THINKER;
use crate::support::{Home, Ledger, Program, Running, read};
use rustix::process::Signal;

const KEY: &str = "sk-loopback-0123456789";

/// A server that plays the home's script, and where it listens.
pub fn serve(home: &Home) -> (Running, String) {
    let script = home.script();
    let mut server = home.windlass(&["rehearse", "serve", "--script", script.to_str().expect("a plain path")]).start();
    let line = server.wait_for(|line| line.starts_with("listening on "));
    (server, line["listening on ".len()..].to_owned())
}

pub fn through_openai(program: Program, url: &str, key: &str) -> Program {
    program.env("LITELLM_API_BASE", url).env("LITELLM_API_KEY", key).env("LITELLM_MODEL", "rehearsal/executor")
}

pub fn through_responses(program: Program, url: &str, key: &str) -> Program {
    through_openai(program, url, key).env("LITELLM_API", "responses")
}

pub fn through_anthropic(program: Program, url: &str, key: &str) -> Program {
    program.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", key).env("ANTHROPIC_MODEL", "rehearsal/executor")
}

fn home(script: &str) -> (Home, Ledger) {
    let home = Home::playing(script);
    home.write("notes.txt", "alpha\nbeta\n");
    let ledger = Ledger::open(&home);
    (home, ledger)
}

const ERRORS: &str = include_str!("../../scripts/errors.yaml");

/// Everything a script can do comes through: parallel calls, errors of the server, answers that are cut off.
fn plays_the_whole_script(through: fn(Program, &str, &str) -> Program) {
    let (served_home, mut ledger) = home(ERRORS);
    let (server, url) = serve(&served_home);
    let run = through(served_home.windlass(&["run", "Do it", "--json"]), &url, KEY);
    let served = run.run().expect(0);
    assert_eq!(ledger.count().into_keys().collect::<Vec<_>>(), ["effect-1", "effect-2"]);
    server.signal(Signal::INT);
    server.end().expect(0);

    let (local_home, _ledger) = home(ERRORS);
    let local = local_home.run(&["--json"]).run().expect(0);
    let outcome = |ended: &crate::support::Ended| {
        let result = ended.result();
        let usage = &result["usage"];
        let tokens = ["iterations", "tool_calls", "output_tokens"].map(|name| usage[name].clone());
        (result["status"].clone(), result["final_message"].clone(), tokens)
    };
    assert_eq!(outcome(&served), outcome(&local), "the same as without a server between");
    assert_eq!(served_home.files(), local_home.files());
}

#[test]
fn openai_chat_completions_play_the_whole_script() {
    plays_the_whole_script(through_openai);
}

#[test]
fn openai_responses_play_the_whole_script() {
    plays_the_whole_script(through_responses);
}

#[test]
fn anthropic_messages_play_the_whole_script() {
    plays_the_whole_script(through_anthropic);
}

#[test]
fn an_address_with_v1_is_the_same() {
    let (home, _ledger) = home(super::scripts::HELLO);
    let (_server, url) = serve(&home);
    through_openai(home.windlass(&["run", "Do it"]), &format!("{url}/v1"), KEY).run().expect(0);
    through_openai(home.windlass(&["run", "Do it"]), &format!("{url}/v1/"), KEY).run().expect(0);
}

#[test]
fn ctrl_c_while_the_server_thinks_pauses_and_resume_asks_again() {
    for through in [through_openai, through_responses, through_anthropic] {
        let (home, _ledger) = home(THINKER);
        let (_server, url) = serve(&home);
        let mut run = through(home.windlass(&["run", "Do it", "--json"]), &url, KEY).start();
        run.wait_for_record("model.requested");
        run.signal(Signal::INT);
        run.end().expect(5);
        let result = through(home.windlass(&["resume", "--json"]), &url, KEY).run().expect(0).result();
        assert_eq!(result["final_message"], "Done after all.");
        assert_eq!(read(&home).of("model.requested").count(), 2);
    }
}

#[test]
fn a_server_that_is_not_there_is_tried_again_and_then_said() {
    let (home, _ledger) = home(super::scripts::HELLO);
    let run = through_openai(home.windlass(&["run", "Do it"]), "http://127.0.0.1:9", KEY);
    assert_shown!(home, run.run(), tokens aside, @"
    exit code 5
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap
    … 127.0.0.1:[PORT] cannot be reached (Connection refused (os error 111)) · asking again in 1 s
    … 127.0.0.1:[PORT] cannot be reached (Connection refused (os error 111)) · asking again in 2 s
    … 127.0.0.1:[PORT] cannot be reached (Connection refused (os error 111)) · asking again in 4 s
    paused · the model did not answer in 4 tries, the last time because 127.0.0.1:[PORT] cannot be reached (Connection refused (os error 111)); try again later

    PAUSED  1 model call · 0 tool calls · [TOKENS] tokens · $0.0000 · [TIME]
    to go on: windlass resume [SHORT]
    ");
}

#[test]
fn a_server_that_refuses_the_key_is_not_asked_again() {
    let script = "version: 1\ntracks:\n  default:\n    - error: { status: 401, message: no such key, times: 9 }\n    - reply: never\n";
    let (home, _ledger) = home(script);
    let (_server, url) = serve(&home);
    assert_shown!(home, through_openai(home.windlass(&["run", "Do it"]), &url, KEY).run(), tokens aside, @"
    exit code 5
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap
    paused · the provider refused the key (status 401: no such key); set LITELLM_API_KEY to one that it accepts

    PAUSED  1 model call · 0 tool calls · [TOKENS] tokens · $0.0000 · [TIME]
    to go on: windlass resume [SHORT]
    ");
    assert_shown!(home, through_anthropic(home.windlass(&["run", "Do it"]), &url, KEY).run(), tokens aside, @"
    exit code 5
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap
    paused · the provider refused the key (status 401: no such key); set ANTHROPIC_API_KEY to one that it accepts

    PAUSED  1 model call · 0 tool calls · [TOKENS] tokens · $0.0000 · [TIME]
    to go on: windlass resume [SHORT]
    ");
}

#[test]
fn a_script_that_cannot_be_served() {
    let home = Home::playing("version: 2\ntracks: {}\n");
    let script = home.script();
    let serve = home.windlass(&["rehearse", "serve", "--script", script.to_str().expect("a plain path")]);
    assert_shown!(home, serve.run(), @"
    exit code 2
    --- stderr
    error: [HOME]/script.yaml:
    line 1, column 10: `version` must be 1
    line 2, column 9: `tracks` has none
    ");
    assert_shown!(home, home.windlass(&["rehearse", "serve", "--script", "nowhere.yaml"]).run(), @"
    exit code 2
    --- stderr
    error: nowhere.yaml: No such file or directory (os error 2)
    hint: name the file of a script; docs/rehearsals.md shows one
    ");
}

#[test]
fn a_port_that_is_taken() {
    let (home, _ledger) = home(super::scripts::HELLO);
    let (_server, url) = serve(&home);
    let port = url.rsplit(':').next().expect("a port");
    let script = home.script();
    let words = ["rehearse", "serve", "--port", port, "--script", script.to_str().expect("a plain path")];
    assert_shown!(home, home.windlass(&words).run(), @"
    exit code 2
    --- stderr
    error: port [PORT] of 127.0.0.1 cannot be used: Address already in use (os error 98)
    hint: --port 0 takes a free one
    ");
}
