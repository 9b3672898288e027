//! Configuration: the flag before the variable before the file before the default; every mistake at once; and what holds can be
//! looked at.

use std::os::unix::fs::DirBuilderExt as _;

use serde_json::Value;

use super::assert_shown;
use super::scripts::{HELLO, RESTLESS};
use crate::support::{Ended, Home};

pub fn configured(home: &Home, text: &str) {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(home.data()).expect("a data directory");
    std::fs::write(home.data().join("windlass.toml"), text).expect("written");
}

/// The value of a setting, and who said it.
pub fn setting(ended: &Ended, name: &str) -> (String, String) {
    let objects = ended.objects();
    let found = objects.iter().find(|object| object["name"] == name).unwrap_or_else(|| panic!("{name}: {ended:?}"));
    let text = |field: &str| found[field].as_str().expect("a text").to_owned();
    (text("value"), text("from"))
}

#[test]
fn the_flag_before_the_variable_before_the_file_before_the_default() {
    let home = Home::playing(RESTLESS);
    home.write("notes.txt", "alpha\n");
    let iterations = |ended: Ended| ended.expect(1).result()["usage"]["iterations"].as_u64();
    // Nothing else stops this model but its doom loop, which the default does not reach.
    configured(&home, "[agent]\nmax_iterations = 4\n[doom_loop]\nmax_identical_calls = 100\n");
    assert_eq!(iterations(home.run(&["--json"]).run()), Some(4));
    let run = |more: &[&str]| home.run(&[&["--json"], more].concat()).env("AGENT_MAX_ITERATIONS", "3").run();
    assert_eq!(iterations(run(&[])), Some(3));
    assert_eq!(iterations(run(&["--max-iterations", "2"])), Some(2));
    let shown = home.windlass(&["doctor", "--config", "--json"]).run().expect(0);
    assert_eq!(setting(&shown, "agent.max_iterations"), ("4".to_owned(), "windlass.toml:2".to_owned()));
    configured(&home, "");
    let shown = home.windlass(&["doctor", "--config", "--json"]).run().expect(0);
    assert_eq!(setting(&shown, "agent.max_iterations"), ("200".to_owned(), "default".to_owned()));
}

#[test]
fn every_mistake_is_told_at_once() {
    let home = Home::playing(HELLO);
    configured(
        &home,
        "[sandbox]\nreadonly_mount = []\n\n[web]\nfetch = \"yes\"\n\n[approvals]\nlifetime_seconds = 0\n",
    );
    let run = home
        .run(&[])
        .env("AGENT_TIMEOUT_SECONDS", "soon")
        .env("CONTAINER_CPU", "many")
        .env("AGENT_TIMEOUT_SECOND", "1");
    assert_shown!(home, run.run(), @r#"
    exit code 2
    --- stderr
    error: the configuration has 6 mistakes:
    - [HOME]/data/windlass.toml:2:1: unknown field `readonly_mount` in [sandbox]; did you mean `readonly_mounts`?
    - [HOME]/data/windlass.toml:5:9: invalid type: string "yes", expected a boolean
    - [HOME]/data/windlass.toml:8:1: [approvals]: `lifetime_seconds` must be at least 1: nobody could answer in time
    - AGENT_TIMEOUT_SECOND is no variable that is read; did you mean AGENT_TIMEOUT_SECONDS?
    - CONTAINER_CPU must be a number, as 2 or 0.5, not `many`
    - AGENT_TIMEOUT_SECONDS must be a whole number, not `soon`
    "#);
    assert!(home.files().is_empty(), "nothing was done");
}

#[test]
fn a_secret_is_set_or_not_and_never_shown() {
    let home = Home::new();
    let key = "sk-0123456789abcdef";
    configured(&home, &format!("[mcp.servers.mine]\ncommand = [\"x\"]\nenv = {{ THEIR_TOKEN = \"{key}\" }}\n"));
    let shown = home.windlass(&["doctor", "--config", "--json"]).env("LITELLM_API_KEY", key).run().expect(0);
    assert_eq!(setting(&shown, "LITELLM_API_KEY"), ("set".to_owned(), "LITELLM_API_KEY".to_owned()));
    assert_eq!(setting(&shown, "ANTHROPIC_API_KEY"), ("not set".to_owned(), "default".to_owned()));
    assert_eq!(setting(&shown, "mcp.servers.mine.env.THEIR_TOKEN").0, "set");
    let address = "http://user:hunter2hunter2@127.0.0.1:9";
    let with_password = home.windlass(&["doctor", "--config"]).env("LITELLM_API_BASE", address).run();
    assert!(!format!("{shown:?}{with_password:?}").contains(key) && !format!("{with_password:?}").contains("hunter2"));
}

#[test]
fn mistakes_are_told_beside_what_holds() {
    let home = Home::new();
    configured(&home, "[web]\nfetch = \"yes\"\n[browser]\nenabled = true\n");
    let shown = home.windlass(&["doctor", "--config", "--json"]).run().expect(1);
    assert_eq!(setting(&shown, "web.fetch"), ("false".to_owned(), "default".to_owned()));
    assert_eq!(setting(&shown, "browser.enabled"), ("true".to_owned(), "windlass.toml:4".to_owned()));
    let result: Value = shown.result();
    assert!(result["problems"][0].as_str().is_some_and(|told| told.contains("windlass.toml:2:9")), "{result}");
}
