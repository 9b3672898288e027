//! What each tool says of a call before it is done: what it can read, whether that can leave the machine, and which program
//! it would start. Gates, risk, taint and approvals look at nothing else.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use windlass_domain::{Program, Reach};
use windlass_tools::{Confinement, Kit, Toolset};

use crate::support::Bench;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.put("src/lib.rs", "one\n");
    bench
}

fn said(bench: &Bench, tools: &Toolset, tool: &str, arguments: &Value) -> (Reach, Option<Program>) {
    let prepared = bench.prepare_with(tools, tool, &arguments.to_string()).unwrap();
    (prepared.reach, prepared.program)
}

fn files(path: &str) -> Reach {
    Reach::Files(vec![path.to_owned()])
}

fn program(command: &str, cwd: &str) -> Option<Program> {
    Some(Program { argv: ["bash", "-c", command].map(str::to_owned).to_vec(), cwd: cwd.to_owned() })
}

#[test]
fn every_tool_but_those_for_programs_reaches_what_it_names_and_starts_nothing() {
    let bench = bench();
    let step = json!({ "id": "1", "description": "look", "status": "done" });
    let publish = |path: &str| json!({ "filepath": path, "description": "it", "type": "code" });
    let table = [
        ("read", json!({ "path": "src/lib.rs" }), files("src/lib.rs")),
        ("read", json!({ "path": "/workspace/./src//lib.rs" }), files("src/lib.rs")),
        ("read", json!({ "path": "missing" }), files("missing")),
        ("glob", json!({ "pattern": "*.rs", "path": "src" }), files("src")),
        ("glob", json!({ "pattern": "*.rs" }), files("")),
        ("grep", json!({ "pattern": "one", "path": "src" }), files("src")),
        ("grep", json!({ "pattern": "one" }), files("")),
        ("grep", json!({ "pattern": "one", "path": "/workspace" }), files("")),
        ("edit", json!({ "path": "src/lib.rs", "old_string": "one", "new_string": "two" }), files("src/lib.rs")),
        ("publish_deliverable", publish("/workspace/src/lib.rs"), files("src/lib.rs")),
        // What these say comes from the context alone: nothing of a file is told.
        ("write", json!({ "path": "src/lib.rs", "content": "" }), Reach::Context),
        ("write", json!({ "path": "new", "content": "" }), Reach::Context),
        ("update_plan", json!({ "steps": [step] }), Reach::Context),
        ("spawn_agent", json!({ "task": "look" }), Reach::Program),
        ("save_memo", json!({ "filename": "findings", "content": "it" }), Reach::Context),
        ("search_memo", json!({ "query": "it" }), files(".memo")),
        // What the agent does is judged call by call.
        ("spawn_agent", json!({ "task": "look" }), Reach::Program),
        ("ask_user", json!({ "question": "Which one?" }), Reach::Context),
        ("monitor", crate::monitor::arguments(), Reach::Context),
    ];
    for (tool, arguments, reach) in &table {
        for tools in [&bench.tools, &bench.unconfined()] {
            assert_eq!(said(&bench, tools, tool, arguments), (reach.clone(), None), "{tool} {arguments}");
        }
    }
    let told: BTreeSet<_> = table.iter().map(|(tool, ..)| (*tool).to_owned()).collect();
    let others = bench
        .tools
        .specs()
        .into_iter()
        .map(|spec| spec.name)
        .filter(|name| !["bash", "python_exec"].contains(&name.as_str()));
    assert_eq!(told, others.collect(), "every tool has a row");
}

#[test]
fn a_command_is_told_word_for_word_with_the_folder_it_runs_in() {
    let bench = bench();
    let text = "echo \"$HOME\"; rm -rf ' a'\n";
    let check = |arguments: Value, cwd: &str| {
        assert_eq!(said(&bench, &bench.tools, "bash", &arguments), (Reach::Program, program(text, cwd)));
    };
    check(json!({ "command": text }), "");
    check(json!({ "command": text, "cwd": "/workspace" }), "");
    check(json!({ "command": text, "cwd": "src" }), "src");
    check(json!({ "command": text, "cwd": "/workspace/src/", "timeout_seconds": 9 }), "src");
}

#[test]
fn a_command_that_can_reach_out_says_so() {
    let bench = bench();
    let restricted = Toolset::new(bench.context(), Kit::executor(Confinement::Restricted));
    let arguments = json!({ "command": "curl evil.example" });
    let expected = |reach| (reach, program("curl evil.example", ""));
    assert_eq!(said(&bench, &restricted, "bash", &arguments), expected(Reach::NetworkProgram));
    assert_eq!(said(&bench, &bench.unconfined(), "bash", &arguments), expected(Reach::NetworkProgram));
    assert_eq!(said(&bench, &bench.tools, "bash", &arguments), expected(Reach::Program));
}

/// What a person is shown on a card is what the sandbox is given.
#[test]
fn what_is_told_is_what_is_run() {
    let bench = bench();
    let arguments = json!({ "command": "make all", "cwd": "src" });
    let told = said(&bench, &bench.tools, "bash", &arguments).1.unwrap();
    bench.call("bash", &arguments);
    let commands = bench.sandbox.commands.lock().unwrap();
    let ran: Vec<_> = commands.iter().map(|command| (command.argv.as_slice(), command.cwd.as_path())).collect();
    let argv: Vec<_> = told.argv.iter().map(Into::into).collect();
    assert_eq!(ran, [(argv.as_slice(), Path::new(&told.cwd))]);
}
