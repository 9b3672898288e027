//! Recorded streams of the real programs, each with the list of what is made of it beside it: `tests/fixtures/PROGRAM/NAME.jsonl`
//! and `NAME.events`. When an adapter is to say something else, write the lists anew with `WINDLASS_GOLDEN=write cargo nextest run -p
//! windlass-adapters recorded`; what changed is then seen in the commit.

#![expect(clippy::disallowed_methods, reason = "the environment says whether the lists are written")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use windlass_adapters::{Adapter, Answer, ClaudeCode, Codex, Event, Pi, Session, Tell};

use crate::launching::{Scene, scene};
use crate::notation;

#[test]
fn claude_code() {
    check(&ClaudeCode, "claude-code", "\"session_id\":\"");
}

#[test]
fn codex() {
    check(&Codex, "codex", "\"thread\":{\"id\":\"");
}

#[test]
fn pi() {
    check(&Pi, "pi", "\"sessionId\":\"");
}

fn check(adapter: &dyn Adapter, folder: &str, session: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder);
    let mut streams: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    streams.sort();
    assert!(streams.len() > 5, "{} holds hardly any streams", folder.display());
    let differing: Vec<String> = streams.iter().filter_map(|path| differs(adapter, path, session)).collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// What is made of a stream, where it is not what stands beside it.
fn differs(adapter: &dyn Adapter, path: &Path, session: &str) -> Option<String> {
    let stream = fs::read_to_string(path).expect("the stream is text");
    let name = path.file_stem().expect("a file").to_string_lossy();
    let found = told(adapter, &stream, &name, session);
    let list = path.with_extension("events");
    if std::env::var_os("WINDLASS_GOLDEN").is_some_and(|word| word == "write") {
        fs::write(&list, &found).expect("the list can be written");
        return None;
    }
    let expected = fs::read_to_string(&list).unwrap_or_default();
    (found != expected).then(|| format!("{} is not what is made of its stream, which is:\n{found}", list.display()))
}

/// What was answered when the stream was recorded.
fn answer(name: &str) -> Answer {
    match name {
        "held" => Answer::Hold { reason: "a person is asked".to_owned() },
        "denied" => Answer::Deny { reason: "not by policy".to_owned() },
        _ => Answer::Allow,
    }
}

fn told(adapter: &dyn Adapter, stream: &str, name: &str, session: &str) -> String {
    let answer = answer(name);
    let mut is_to_be_interrupted = name.starts_with("interrupted");
    let id = stream.split(session).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    let scene = Scene { session: Session::Resume(id), ..scene() };
    let mut conversation = adapter.converse(&scene.launching());
    let mut told = String::new();
    let mut line = |text: String| writeln!(told, "{text}").expect("a string takes it");
    conversation.begin().iter().for_each(|frame| line(notation::written(frame)));
    for frame in stream.lines() {
        for event in conversation.read(frame.as_bytes()) {
            line(notation::event(&event));
            if let Event::Asked(asked) = event {
                conversation.answer(&asked.request, &answer).iter().for_each(|frame| line(notation::written(frame)));
                let again = conversation.answer(&asked.request, &Answer::Allow);
                assert!(again.is_empty(), "an answer given twice counts once");
                if std::mem::take(&mut is_to_be_interrupted) {
                    let frames = conversation.tell(&Tell::Interrupt).expect("it works");
                    frames.iter().for_each(|frame| line(notation::written(frame)));
                }
            }
        }
    }
    told
}
