//! The provider says that the conversation is too long: the agent is still told to save before anything is summarised, once,
//! and room is made for that first.

use crate::compaction::{SUMMARY, TOOLS, conversation, done, kinds, musings, settings, stage};

/// Refuses a request like this.
fn overflow(request: &str) -> String {
    format!("    - when: {{request: '{request}'}}\n      error: {{status: 400, message: \"maximum context length\"}}\n")
}

#[test]
fn the_agent_saves_before_anything_is_summarised() {
    let flush = "    - {when: {request: approaching context limits}, reply: all saved}\n";
    // What ends with the sixtieth result, hence is not the flush.
    let refused = overflow(r"(?s)musing 3 musing 3.*\b59\s*$");
    let lines = musings(60) + &refused + flush + &musings(2) + "    - reply: found\n";
    let stage = stage(&lines, SUMMARY, &TOOLS, settings(200_000));
    assert_eq!(stage.run(), done());
    let expected = [
        "compaction.started",
        "compaction.cleared",
        "compaction.cleared",
        "compaction.flushing",
        "compaction.flushed",
        "compaction.finished",
    ];
    assert_eq!(kinds(&stage), expected);
    let whole = conversation(&stage);
    assert!(
        whole.contains("musing 58 musing 58") && whole.contains("musing 59 musing 59"),
        "recent turns stay: {whole}"
    );
    assert!(!whole.contains("musing 57 musing 57") && whole.contains("the cellar was searched"), "{whole}");
}

#[test]
fn a_flush_that_overflows_too_is_not_tried_again() {
    let lines = musings(60) + &overflow("musing 3 musing 3") + &musings(2) + "    - reply: found\n";
    let stage = stage(&lines, SUMMARY, &TOOLS, settings(200_000));
    assert_eq!(stage.run(), done());
    let told = kinds(&stage);
    assert_eq!(told.iter().filter(|kind| **kind == "compaction.flushing").count(), 1, "{told:?}");
    assert_eq!(told.last(), Some(&"compaction.finished"));
}
