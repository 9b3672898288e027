//! `save_memo`: notes in `.memo/` and nowhere else, recovered as files are.

use serde_json::{Value, json};
use windlass_domain::{Effect, Recovery};

use crate::support::Bench;

fn note(filename: &str, content: &str) -> Value {
    json!({ "filename": filename, "content": content })
}

fn more(filename: &str, content: &str) -> Value {
    json!({ "filename": filename, "content": content, "append": true })
}

#[test]
fn a_note_is_saved_replaced_and_added_to() {
    let bench = Bench::new();
    assert_eq!(bench.ok("save_memo", &note("findings.md", "# One\nfirst")), "Saved .memo/findings.md (11 bytes).");
    assert_eq!(bench.ok("save_memo", &more("findings.md", "second\n")), "Added to .memo/findings.md (19 bytes).");
    assert_eq!(bench.text(".memo/findings.md"), "# One\nfirst\nsecond\n");
    assert_eq!(bench.ok("save_memo", &more("findings.md", "third")), "Added to .memo/findings.md (24 bytes).");
    assert_eq!(bench.ok("save_memo", &note("findings.md", "new")), "Replaced .memo/findings.md (3 bytes).");
    assert_eq!(bench.text(".memo/findings.md"), "new");
    assert_eq!(bench.ok("save_memo", &more("other", "x")), "Saved .memo/other.md (1 bytes).");
    assert_eq!(bench.ok("save_memo", &note("data.json", "{}")), "Saved .memo/data.json (2 bytes).");
}

#[test]
fn a_name_cannot_lead_anywhere_else() {
    let bench = Bench::new();
    let long = "x".repeat(101);
    for name in ["../x", "a/b", "/workspace/x", ".", "..", ".hidden", " x", "a\nb", "a\u{202e}b", "a\0b", "a\\b", &long]
    {
        let error = bench.error("save_memo", &note(name, "x"));
        assert!(error.contains("one plain name"), "{name:?}: {error}");
    }
    assert!(!bench.path(".memo").exists());
    bench.error("save_memo", &note("", "x"));
    bench.error("save_memo", &json!({ "filename": "x" }));
}

/// The folder is the agent's own: what a command made of it must not lead the runtime out.
#[test]
fn a_folder_that_is_a_link_leads_nowhere() {
    let bench = Bench::new();
    std::os::unix::fs::symlink("..", bench.path(".memo")).unwrap();
    assert!(bench.error("save_memo", &note("secret", "x")).contains("outside the workspace"));
}

#[test]
fn what_is_no_note_is_refused() {
    let bench = Bench::new();
    let error = bench.error("save_memo", &note("big", &"x".repeat(1024 * 1024 + 1)));
    assert!(error.contains("save less of it"), "{error}");
    bench.ok("save_memo", &note("big", &"x".repeat(1024 * 1024)));
    assert!(bench.error("save_memo", &more("big", "y")).contains("use another file"));
}

#[test]
fn an_interrupted_note_is_looked_at_and_not_guessed() {
    let bench = Bench::new();
    bench.ok("save_memo", &note("log", "one\n"));
    let effect = bench.prepare("save_memo", &more("log", "two\n")).unwrap();
    let recovery = |effect: &Effect| effect.recover(|_| bench.probe(effect));
    assert_eq!(recovery(&effect), Recovery::RunAgain);
    bench.run("save_memo", &more("log", "two\n"), effect.clone());
    assert_eq!(recovery(&effect), Recovery::Finished("Added to .memo/log.md (8 bytes).".to_owned()));
    // Run again after it has happened: nothing is added twice.
    bench.run("save_memo", &more("log", "two\n"), effect.clone());
    assert_eq!(bench.text(".memo/log.md"), "one\ntwo\n");
    bench.put(".memo/log.md", "other");
    assert_eq!(recovery(&effect), Recovery::Interrupted);
}
