//! Seed 000 §11.2: a test for each row of the risk rules, named after it, over the call as it is parsed: however the words are
//! dressed, and not where they are only spoken of.

use serde_json::{Value, json};
use windlass_policy::risk::Level::{self, Critical, High, Low, Medium};
use windlass_policy::risk::{Place, Table, assess_call};

const ROWS: [&str; 10] = [
    "read_only_tools",
    "context_tools",
    "file_edit",
    "file_creation",
    "bash_general_commands",
    "web_search_and_fetch",
    "browser_navigation",
    "browser_form_submission",
    "bash_with_rm_chmod_chown",
    "bash_with_rm_rf_sudo",
];

#[track_caller]
fn calls(level: Level, calls: &[(&str, Value)]) {
    for (tool, arguments) in calls {
        let risk = assess_call(&Table::shipped(), tool, arguments, &Place::workspace());
        assert_eq!(risk.level, level, "{tool} {arguments}: {:?}", risk.reasons);
    }
}

#[track_caller]
fn commands(level: Level, commands: &[&str]) {
    for command in commands {
        calls(level, &[("bash", json!({ "command": command }))]);
    }
}

#[test]
fn no_row_is_missing() {
    let here = include_str!("seed_000_11_2.rs");
    for row in ROWS {
        assert!(here.contains(&format!("#[test]\nfn {row}() {{")), "{row}");
    }
}

#[test]
fn read_only_tools() {
    calls(
        Low,
        &[
            ("read", json!({ "path": "src/lib.rs" })),
            ("glob", json!({ "pattern": "*.rs" })),
            ("grep", json!({ "pattern": "rm -rf" })),
            ("list_skills", json!({})),
            ("read_skill", json!({ "name": "pdf" })),
        ],
    );
}

#[test]
fn context_tools() {
    calls(
        Low,
        &[
            ("update_plan", json!({ "steps": [{ "id": "1", "description": "sudo rm -rf /", "status": "done" }] })),
            ("save_memo", json!({ "filename": "a", "content": "rm -rf" })),
            ("search_memo", json!({ "query": "sudo" })),
            ("publish_deliverable", json!({ "filepath": "a", "description": "it", "type": "code" })),
        ],
    );
}

#[test]
fn file_edit() {
    calls(Low, &[("edit", json!({ "path": "a", "old_string": "ls", "new_string": "rm -rf" }))]);
}

#[test]
fn file_creation() {
    calls(Medium, &[("write", json!({ "path": "a", "content": "sudo rm -rf /" }))]);
}

#[test]
fn bash_general_commands() {
    commands(Medium, &["ls -la", "cargo test", "echo rm chmod chown", "grep -rn 'sudo rm -rf' src", "cat rm.txt"]);
}

#[test]
fn web_search_and_fetch() {
    calls(
        Medium,
        &[("web_search", json!({ "query": "rm -rf" })), ("web_fetch", json!({ "url": "https://example.org/sudo" }))],
    );
}

#[test]
fn browser_navigation() {
    calls(Medium, &[("browser", json!({ "action": "navigate", "url": "https://example.org/submit" }))]);
}

#[test]
fn browser_form_submission() {
    calls(High, &[("browser", json!({ "action": "submit", "url": "https://example.org/", "selector": "form" }))]);
}

#[test]
fn bash_with_rm_chmod_chown() {
    commands(High, &["rm a", "chmod +x a", "chown me a"]);
    commands(
        High,
        &["ls && rm a", "/bin/rm a", "r''m a", "env A=1 chmod 777 a", "sh -c 'chown me a'", "find . -exec rm {} +"],
    );
}

#[test]
fn bash_with_rm_rf_sudo() {
    commands(Critical, &["rm -rf a", "sudo ls"]);
    commands(
        Critical,
        &[
            "rm -r -f a",
            "rm --recursive --force a",
            "ls; rm -fr a",
            "\\rm -rf a",
            "timeout 5 sudo ls",
            "echo $(rm -rf a)",
        ],
    );
}
