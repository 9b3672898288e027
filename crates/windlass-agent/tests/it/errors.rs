//! What went wrong, after compactions: word for word, and where there is no room for that, both ends and a file that has it all.

use windlass_domain::{Host, Message};

use crate::compaction::{SUMMARY, conversation, done, musings, settings, stage};
use crate::support::Stage;

const TOOLS: [&str; 2] = ["fetch", "read"];

/// An error of so many lines, each told apart by its number.
fn error(tool: &str, lines: usize) -> (String, String) {
    let text: String = (0..lines).map(|line| format!("main.c({line}) E{} undeclared. ", line * 7)).collect();
    (format!("    - calls: [{{tool: {tool}, args: {{say: \"{text}\", fail: true}}}}]\n"), text.trim().to_owned())
}

fn second_message(stage: &Stage) -> String {
    match stage.host.state().transcript[1].as_ref() {
        Message::User { text, .. } => text.clone(),
        other => panic!("no summary: {other:?}"),
    }
}

#[test]
fn an_error_of_several_pages_is_kept_to_the_letter() {
    let (line, text) = error("fetch", 200);
    assert!(text.len() > 5_000, "{}", text.len());
    let lines = line + &musings(120) + "    - reply: found\n";
    let stage = stage(&lines, SUMMARY, &TOOLS, settings(24_000));
    assert_eq!(stage.run(), done());
    assert!(stage.host.state().compactions.finished >= 1);
    assert!(second_message(&stage).contains(&text), "{}", second_message(&stage));
}

#[test]
fn where_there_is_no_room_a_file_has_it_whole() {
    // Also of a call that could be made again: it might go another way.
    for tool in TOOLS {
        let (line, text) = error(tool, 200);
        let lines = line + &musings(60) + "    - reply: found\n";
        let stage = stage(&lines, SUMMARY, &TOOLS, settings(8_000));
        assert_eq!(stage.run(), done());
        let told = second_message(&stage);
        assert!(told.contains("main.c(0) E0 undeclared.") && told.contains("main.c(199) E1393 undeclared."), "{told}");
        assert!(!told.contains(&text) && told.contains("bytes left out"), "{told}");
        let path = told.split("The whole of it is in /workspace/").nth(1).and_then(|rest| rest.split(".)").next());
        let saved = std::fs::read_to_string(stage.folder.path().join(path.expect("a reference"))).expect("a file");
        assert!(saved.trim().ends_with(&text), "the whole of it");
    }
}

#[test]
fn what_the_recent_turns_say_is_not_said_twice() {
    let (line, text) = error("fetch", 20);
    let lines = musings(12) + &line + "    - reply: found\n";
    let stage = stage(&lines, SUMMARY, &TOOLS, settings(4_500));
    assert_eq!(stage.run(), done());
    assert!(stage.host.state().compactions.summary.is_some(), "a compaction");
    assert_eq!(conversation(&stage).matches(&text).count(), 2, "as the call's arguments, and as its result");
}
