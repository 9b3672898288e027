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

#[test]
fn an_address_is_judged_as_a_run_would_and_its_password_is_never_shown() {
    let home = Home::new();
    let run = home.windlass(&["doctor"]).env("LITELLM_API_BASE", "http://user:hunter2hunter2@127.0.0.1:9");
    let ended = run.run().expect(1);
    assert!(ended.stdout.contains("✘ model: openai"), "{}", ended.stdout);
    assert!(!format!("{ended:?}").contains("hunter2"), "{ended:?}");
    let run = home.windlass(&["doctor"]).env("ANTHROPIC_BASE_URL", "https://127.0.0.1:9/v1?key=hunter2hunter2");
    let ended = run.run().expect(0);
    assert!(ended.stdout.contains("https://127.0.0.1:9/v1\n"), "{}", ended.stdout);
}

#[test]
fn a_key_too_short_to_be_redacted_is_said() {
    let home = Home::new();
    let ended = home.windlass(&["doctor"]).env("ANTHROPIC_API_KEY", "sk-1234").run().expect(0);
    assert!(ended.stdout.contains("fewer than 8 bytes"), "{}", ended.stdout);
    let ended = home.windlass(&["doctor"]).env("ANTHROPIC_API_KEY", "sk-12345").run().expect(0);
    assert!(!ended.stdout.contains("fewer than"), "{}", ended.stdout);
}

#[test]
fn every_mistake_in_the_configuration_is_told_at_once() {
    let home = Home::new();
    std::fs::create_dir(home.data()).expect("a data directory");
    std::fs::write(home.data().join("windlass.toml"), "[sandbox]\nreadonly_mounts = [\"/nowhere/at/all\"]\n")
        .expect("written");
    std::fs::write(home.data().join("models.toml"), "models = 7\n").expect("written");
    let ended = home.windlass(&["doctor"]).env("AGENT_TIMEOUT_SECONDS", "soon").run().expect(1);
    let told: Vec<&str> = ended.stdout.lines().filter(|line| line.contains("configuration")).collect();
    assert_eq!(told.len(), 3, "{}", ended.stdout);
    assert!(told[0].contains("/nowhere/at/all") && told[2].contains("AGENT_TIMEOUT_SECONDS"), "{told:?}");
    let json = home.windlass(&["doctor", "--json"]).run().expect(1);
    assert_eq!(json.result()["ready"], false);
}

#[test]
fn a_data_directory_that_others_can_read_is_said() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    std::fs::create_dir(home.data()).expect("a data directory");
    let open = |mode| std::fs::set_permissions(home.data(), std::fs::Permissions::from_mode(mode)).expect("a mode");
    open(0o755);
    let ended = home.windlass(&["doctor"]).run().expect(0);
    assert!(ended.stdout.contains("others can look into it (mode 755); shut it with: chmod 700 "), "{}", ended.stdout);
    open(0o700);
    let ended = home.windlass(&["doctor"]).run().expect(0);
    assert!(!ended.stdout.contains("others can look"), "{}", ended.stdout);
}

#[test]
fn a_data_directory_that_cannot_be_made_is_a_finding_like_any_other() {
    let home = Home::new();
    let ended = home.windlass(&["doctor"]).env("WINDLASS_DATA_DIR", "/proc/windlass").run().expect(1);
    assert!(ended.stdout.contains("✘ data directory"), "{ended:?}");
    assert!(ended.stdout.contains("✘ sandbox"), "{ended:?}");
    assert!(ended.stdout.contains("· model: openai"), "{ended:?}");
}
