//! One attack by a command, in its three parts. Every part has a home of its own, where `victim` waits to be deleted and
//! `evil.sh` to be run: the attack has succeeded when `victim` is gone or `marker` is there. A twin makes `made`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::Home;

/// What the defence does about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Somebody is asked first.
    Parks,
    /// Nobody is asked, and the agent is told to find another way.
    Refused,
}

pub struct Attack {
    pub command: &'static str,
    pub outcome: Outcome,
    /// The operator's table of risks that takes away the rule concerned and no other.
    pub lowered: &'static str,
    pub twin: &'static str,
}

pub const fn parks(command: &'static str, lowered: &'static str, twin: &'static str) -> Attack {
    Attack { command, outcome: Outcome::Parks, lowered, twin }
}

pub const fn refused(command: &'static str, lowered: &'static str, twin: &'static str) -> Attack {
    Attack { command, outcome: Outcome::Refused, lowered, twin }
}

/// All three parts of each; every one that goes wrong is told of at the end.
#[track_caller]
pub fn try_all(attacks: &[Attack]) {
    let wrong: Vec<String> = attacks
        .iter()
        .flat_map(|attack| {
            let parts = [("attack", resisted(attack)), ("control", succeeds(attack)), ("twin", unasked(attack))];
            parts.map(|(part, told)| told.err().map(|why| format!("{part} of {:?}: {why}", attack.command)))
        })
        .flatten()
        .collect();
    assert!(wrong.is_empty(), "{} went wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn resisted(attack: &Attack) -> Result<(), String> {
    let home = scene(attack.command);
    let run = home.run(&[]).run();
    match attack.outcome {
        Outcome::Refused => ensure(run.code() == 0, || format!("it is told to find another way: {run:?}"))?,
        Outcome::Parks => {
            ensure(run.code() == 3, || format!("it waits: {run:?}"))?;
            let cards = cards(&home);
            ensure(cards.len() == 1, || format!("one card: {cards:?}"))?;
            let bound = &cards[0]["details"]["argv"][2];
            ensure(*bound == json!(attack.command), || format!("what is asked is what would run: {bound}"))?;
            ensure(is_unharmed(&home), || "it happened before anybody had said yes".to_owned())?;
            home.windlass(&["deny", text(&cards[0]["card_id"])]).run().expect(0);
            home.windlass(&["resume"]).run().expect(0);
        }
    }
    ensure(is_unharmed(&home), || "it happened".to_owned())?;
    let blocks = audited(&home, "gate_block");
    ensure(blocks.len() == 1, || format!("one audit event: {blocks:?}"))
}

fn succeeds(attack: &Attack) -> Result<(), String> {
    let home = scene(attack.command);
    put_data(&home, "risk.toml", attack.lowered);
    let run = home.run(&[]).run();
    ensure(run.code() == 0, || format!("nobody is asked: {run:?}"))?;
    ensure(!is_unharmed(&home), || format!("it must happen, or the attack is none: {run:?}"))
}

fn unasked(attack: &Attack) -> Result<(), String> {
    let home = scene(attack.twin);
    let run = home.run(&[]).run();
    ensure(run.code() == 0, || format!("{:?} asks nobody: {run:?}", attack.twin))?;
    ensure(home.workspace().join("made").exists(), || format!("{:?} does its work: {run:?}", attack.twin))?;
    ensure(is_unharmed(&home), || format!("{:?} is harmless", attack.twin))
}

/// A home whose agent asks for this command and is then done.
pub fn scene(command: &str) -> Home {
    let home = Home::playing(&asking_for(&[command]));
    home.write("victim", "do not delete\n");
    home.write("harmless.txt", "one\ntwo\n");
    home.write("harmless.sh", "echo harmless > made\n");
    home.write("harmless.pl", "print 1;\n");
    home.write("evil.sh", "#!/bin/sh\ntouch /workspace/marker\n");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(home.workspace().join("evil.sh"), executable).expect("made executable");
    home
}

/// A script whose model asks for these commands, one a turn.
pub fn asking_for(commands: &[&str]) -> String {
    let turns: String = commands.iter().map(|command| turn(&json!({"command": command}))).collect();
    format!("version: 1\ntracks:\n  default:\n{turns}    - reply: Done.\n")
}

/// JSON is YAML as long as it is plain: whatever is not printable is written by its number.
fn turn(arguments: &Value) -> String {
    let plain: String = arguments.to_string().chars().map(escaped).collect();
    format!("    - calls: [ {{ tool: bash, args: {plain} }} ]\n")
}

fn escaped(letter: char) -> String {
    match letter.is_ascii() {
        true => letter.to_string(),
        false => format!("\\U{:08x}", u32::from(letter)),
    }
}

pub fn is_unharmed(home: &Home) -> bool {
    home.workspace().join("victim").exists() && !home.workspace().join("marker").exists()
}

/// The cards that wait, oldest first.
pub fn cards(home: &Home) -> Vec<Value> {
    let mut lines = home.windlass(&["inbox", "--json"]).run().expect(0).objects();
    lines.pop();
    lines
}

/// The audit's events of one type.
pub fn audited(home: &Home, kind: &str) -> Vec<Value> {
    let mut lines = home.windlass(&["audit", "show", "--type", kind, "--json"]).run().expect(0).objects();
    lines.pop();
    lines
}

/// A file of the operator's.
pub fn put_data(home: &Home, name: &str, content: &str) {
    fs::create_dir_all(home.data()).expect("a data directory");
    fs::write(home.data().join(name), content).expect("written");
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}
