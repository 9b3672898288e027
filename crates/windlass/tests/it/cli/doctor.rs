//! `windlass doctor`: what this machine has and lacks.

use crate::support::Home;

#[test]
fn a_machine_that_runs_these_tests_is_ready() {
    let home = Home::new();
    let ended = home.windlass(&["doctor"]).run().expect(0);
    assert!(ended.stdout.ends_with("Ready.\n"), "{}", ended.stdout);
    assert!(ended.stdout.contains("model: openai     not configured; set LITELLM_API_BASE"), "{}", ended.stdout);
    assert!(ended.stdout.contains(&*home.data().to_string_lossy()), "{}", ended.stdout);
    assert!(home.files().is_empty(), "it leaves the workspace alone");
}

#[test]
fn a_key_is_never_shown() {
    let home = Home::new();
    let key = "sk-0123456789abcdef";
    let run = home.windlass(&["doctor"]).env("LITELLM_API_KEY", key).env("LITELLM_API_BASE", "http://127.0.0.1:9/v1");
    let ended = run.run().expect(0);
    assert!(ended.stdout.contains("http://127.0.0.1:9/v1") && !ended.stdout.contains(key), "{}", ended.stdout);
}
