//! Recorded talks of the real programs, each with the list of what is made of it beside it: `tests/fixtures/{acp,copilot}/NAME.jsonl` and
//! `NAME.events`. When an adapter is to say something else, write the lists anew with `WINDLASS_GOLDEN=write cargo nextest run -p
//! windlass-adapters recorded`; what changed is then seen in the commit.
//!
//! A record has both directions. What the client did in it, ours does as well, where it does not of itself; the answers in the record are then
//! given to the requests of ours that they fit.

#![expect(clippy::disallowed_methods, reason = "the environment says whether the lists are written")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use windlass_adapters::{
    Acp, Adapter, Agent, Answer, Conversation, Copilot, Dialect, Event, OpenCode, Permissions, Session, Tell,
};

use crate::launching::{Scene, scene};
use crate::notation;

static ANY: Agent = Agent {
    id: "any",
    display_name: "Any agent over ACP",
    program: "any",
    tried: &[],
    dialects: &[Dialect::Chat],
    permissions: Permissions::Asked,
    takes_mcp: true,
    can_be_steered: true,
    can_resume: true,
    can_fork: true,
};

#[test]
fn acp() {
    check("acp", |name| match name {
        name if name.starts_with("opencode") => Box::new(OpenCode),
        _ => Box::new(Acp::new(&ANY, ["acp"])),
    });
}

#[test]
fn copilot() {
    check("copilot", |_| Box::new(Copilot));
}

/// The programs' other channels, as if a new version had changed its format: nothing of it is believed, and nothing breaks.
#[test]
fn other_channels_are_not_readable() {
    for path in streams("other-channels") {
        for adapter in [&Copilot as &dyn Adapter, &OpenCode] {
            let mut conversation = adapter.converse(&scene().launching());
            conversation.begin();
            for line in fs::read_to_string(&path).expect("text").lines() {
                let events = conversation.read(line.as_bytes());
                let unread = matches!(events.as_slice(), [Event::Unreadable { .. }]);
                assert!(unread, "{} of {}: {events:?}", line, path.display());
            }
        }
    }
}

/// A stream that is read again says nothing under an id that is new.
#[test]
fn the_same_ids_when_read_again() {
    for (folder, adapter) in [("acp", &Acp::new(&ANY, ["acp"]) as &dyn Adapter), ("copilot", &Copilot)] {
        for path in streams(folder) {
            let stream = fs::read_to_string(&path).expect("text");
            let stream = if stream.contains("\"tag\":") { process(&stream, "A") } else { stream };
            assert_eq!(ids(adapter, &stream), ids(adapter, &stream), "{}", path.display());
        }
    }
}

/// The second process goes on with the conversation of the first: what it tells is new, and it tells nothing of the first.
#[test]
fn what_was_told_is_not_told_again() {
    for name in ["claude", "codex", "codex-zed", "copilot", "opencode", "pi"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/acp/{name}.jsonl"));
        let stream = fs::read_to_string(&path).expect("text");
        let adapter = Acp::new(&ANY, ["acp"]);
        let told = |tag: &str| ids(&adapter, &process(&stream, tag));
        let (first, second) = (told("A"), told("B"));
        assert!(second.len() > 1, "{name} told nothing");
        let again: Vec<&String> = second.intersection(&first).filter(|id| !id.starts_with("session:")).collect();
        assert!(again.is_empty(), "{name}: {again:?}");
    }
}

fn process(stream: &str, tag: &str) -> String {
    let tag = format!("\"tag\":\"{tag}\"");
    stream.lines().filter(|line| line.contains(&tag)).fold(String::new(), |all, line| all + line + "\n")
}

fn ids(adapter: &dyn Adapter, stream: &str) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for event in replay(adapter, stream).0 {
        if let Event::Observed { event_id, .. } = event {
            assert!(ids.insert(event_id.clone()), "{event_id} is told twice");
        }
    }
    ids
}

fn streams(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder);
    let mut streams: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl" || extension == "sse"))
        .collect();
    streams.sort();
    assert!(streams.len() > 5, "{} holds hardly any streams", folder.display());
    streams
}

fn check(folder: &str, adapter: impl Fn(&str) -> Box<dyn Adapter>) {
    let differing: Vec<String> = streams(folder).iter().filter_map(|path| differs(&adapter, path)).collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// What is made of a stream, where it is not what stands beside it.
fn differs(adapter: &impl Fn(&str) -> Box<dyn Adapter>, path: &Path) -> Option<String> {
    let stream = fs::read_to_string(path).expect("the stream is text");
    let adapter = adapter(&path.file_stem().expect("a file").to_string_lossy());
    let mut found = String::new();
    for tag in ["A", "B"] {
        let part = if stream.contains("\"tag\":") { process(&stream, tag) } else { stream.clone() };
        if part.is_empty() || (tag == "B" && part == stream) {
            continue;
        }
        let (_, lines) = replay(adapter.as_ref(), &part);
        let _ = writeln!(found, "# process {tag}");
        for line in lines {
            let _ = writeln!(found, "{line}");
        }
    }
    let list = path.with_extension("events");
    if std::env::var_os("WINDLASS_GOLDEN").is_some_and(|word| word == "write") {
        fs::write(&list, &found).expect("the list can be written");
        return None;
    }
    let expected = fs::read_to_string(&list).unwrap_or_default();
    (found != expected).then(|| format!("{} is not what is made of its stream, which is:\n{found}", list.display()))
}

/// One process of a record, and our side of it.
struct Replay {
    conversation: Box<dyn Conversation>,
    /// Our requests that nothing in the record was found for yet: method and id.
    written: Vec<(String, Value)>,
    /// Ids in the record, and ours.
    ids: BTreeMap<u64, Value>,
    asked: Vec<String>,
    events: Vec<Event>,
    lines: Vec<String>,
}

fn replay(adapter: &dyn Adapter, stream: &str) -> (Vec<Event>, Vec<String>) {
    let records: Vec<Value> = stream.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let load = records.iter().find(|record| {
        record["dir"] == ">" && ["session/load", "session.resume"].iter().any(|method| record["method"] == *method)
    });
    let old = load.and_then(|record| record["params"]["sessionId"].as_str()).map(str::to_owned);
    let session = old.as_deref().map_or(scene().session, Session::Resume);
    let launching = Scene { session, ..scene() }.launching();
    let mut replay = Replay {
        conversation: adapter.converse(&launching),
        written: Vec::new(),
        ids: BTreeMap::new(),
        asked: Vec::new(),
        events: Vec::new(),
        lines: Vec::new(),
    };
    let frames = replay.conversation.begin();
    replay.wrote(&frames);
    for mut record in records {
        let theirs = record["dir"] == "<";
        let fields = record.as_object_mut().expect("an object");
        fields.remove("dir");
        fields.remove("tag");
        if theirs { replay.hears(record) } else { replay.does(&record) }
    }
    (replay.events, replay.lines)
}

impl Replay {
    fn wrote(&mut self, frames: &[Vec<u8>]) {
        for frame in frames {
            self.lines.push(notation::written(frame));
            let value: Value = serde_json::from_slice(frame).expect("we write JSON");
            if let (Some(method), Some(id)) = (value["method"].as_str(), value.get("id")) {
                self.written.push((method.to_owned(), id.clone()));
            }
        }
    }

    /// Something that the recorded client did.
    fn does(&mut self, record: &Value) {
        let method = record["method"].as_str().unwrap_or_default();
        if !self.written.iter().any(|(written, _)| written == method) {
            let frames = self.act(method, record);
            self.wrote(&frames);
        }
        let ours = self.written.iter().position(|(written, _)| written == method);
        if let (Some(ours), Some(id)) = (ours, record["id"].as_u64()) {
            let (_, id_of_ours) = self.written.remove(ours);
            self.ids.insert(id, id_of_ours);
        }
    }

    fn act(&mut self, method: &str, record: &Value) -> Vec<Vec<u8>> {
        let params = &record["params"];
        match method {
            "session/prompt" => self.say(params["prompt"][0]["text"].as_str().expect("words")),
            "session.send" => self.say(params["prompt"].as_str().expect("words")),
            "session/cancel" | "session.abort" => self.conversation.tell(&Tell::Interrupt).expect("it can be told"),
            "session.permissions.handlePendingPermissionRequest" => {
                let answer = match params["result"]["feedback"].as_str() {
                    None => Answer::Allow,
                    Some(reason) => Answer::Deny { reason: reason.to_owned() },
                };
                self.conversation.answer(params["requestId"].as_str().expect("a question"), &answer)
            }
            "" if record.get("result").is_some() => {
                let answer = match record["result"]["outcome"]["optionId"].as_str() {
                    Some("once" | "proceed_once") => Answer::Allow,
                    _ => Answer::Deny { reason: "not here".to_owned() },
                };
                let request = self.asked.remove(0);
                self.conversation.answer(&request, &answer)
            }
            // What only the recorded client did; its answers are not ours to hear.
            _ => Vec::new(),
        }
    }

    fn say(&mut self, words: &str) -> Vec<Vec<u8>> {
        self.conversation.tell(&Tell::Say { text: words.to_owned() }).expect("it can be told")
    }

    fn hears(&mut self, mut record: Value) {
        if record.get("method").is_none() {
            let id = record["id"].as_u64().expect("a number");
            let Some(ours) = self.ids.remove(&id) else { return };
            record["id"] = json!(ours);
        }
        for event in self.conversation.read(record.to_string().as_bytes()) {
            match &event {
                Event::Write(frame) => self.wrote(std::slice::from_ref(frame)),
                Event::Asked(asked) => self.asked.push(asked.request.clone()),
                _ => {}
            }
            if !matches!(event, Event::Write(_)) {
                self.lines.push(notation::event(&event));
            }
            self.events.push(event);
        }
    }
}
