//! `/v1/commands/*`: what a command may do is said by where it is asked for. Each is asked for at every place that is not its own, by
//! somebody who may do everything, and none is heard there.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::scripts::HELLO;
use super::serving::{Served, serve};
use crate::support::Home;

const PLACES: [(&str, &str); 4] = [("look", "read"), ("ask", "write"), ("decide", "approve"), ("operate", "admin")];
const ID: &str = "0198f0a0-0000-7000-8000-000000000001";

/// Each command, and what it needs.
fn commands() -> Vec<(&'static str, Value)> {
    let output = json!({"json": true});
    let folder = json!({"workspace": "", "output": output});
    let named = json!({"name": "x", "workspace": "", "output": output, "timeout": 1});
    let words = json!({"base_case": [], "deliverables": []});
    let redirecting = json!({"arguments": {"objective": words, "add": [], "drop": [], "select": [], "limits": {}, "yes": true, "output": output}});
    let card = json!({"card": ID, "note": "", "conditions": [], "yes": true, "output": output});
    let stop = json!({"reason": "", "output": output});
    let goal = json!({"name": "x", "output": output});
    let letter = json!({"id": ID, "output": output});
    let add = json!({"max_fixes": 3, "workspace": "", "limits": {}, "output": output});
    let fork =
        json!({"execution": ID, "base_case": [], "constraints": [], "detach": true, "limits": {}, "output": output});
    let align =
        json!({"objective": words, "workspace": "", "constraints": [], "bounds": {}, "limits": {}, "output": output});
    let schedule = json!({"task": ID, "every": "1m", "check": "x", "until": "1h", "then": "fail", "output": output});
    let begin = json!({"task": ID, "shown": null, "deadline": {}, "strength": "explicit"});
    vec![
        ("read", json!({"status": {"all": false, "output": output}})),
        ("read", json!({"inbox": {"output": output}})),
        ("read", json!({"graph": {"mermaid": false, "all": false, "output": output}})),
        ("read", json!({"explain": {"output": output}})),
        ("read", json!({"agents": {"no_versions": true, "output": output}})),
        ("read", json!({"goals_list": output})),
        ("read", json!({"schedules": {"list": output}})),
        ("write", json!({"schedules": {"add": schedule}})),
        ("write", json!({"schedules": {"remove": {"task": ID, "output": output}}})),
        ("read", json!({"subject": null})),
        ("read", json!({"top": "desk"})),
        ("read", json!({"executions": ID})),
        ("read", json!({"goes_on": null})),
        ("read", json!({"at_work": "cancel"})),
        ("read", json!({"to_begin": [null, {}]})),
        ("read", json!({"rest": ID})),
        ("read", json!({"turn": [ID, ID]})),
        ("read", json!({"card": ID})),
        ("read", json!({"asked": ID})),
        ("read", json!({"patterns_list": folder})),
        ("read", json!({"patterns_show": named})),
        ("read", json!({"skills_list": folder})),
        ("read", json!({"skills_show": named})),
        ("read", json!({"gates_list": output})),
        ("read", json!({"labels": {"show": folder}})),
        ("approve", json!({"labels": {"clear": folder}})),
        ("read", json!({"memory": {"list": {"limit": 1, "output": output}}})),
        ("read", json!({"memory": {"search": {"query": "x", "limit": 1, "output": output}}})),
        ("write", json!({"memory": {"forget": letter}})),
        ("approve", json!({"begin": begin})),
        ("read", json!({"redirect": {"meant": null}})),
        ("write", json!({"redirect": {"ask": {"named": null, "words": "x"}}})),
        ("read", json!({"redirect": {"planner": ID}})),
        ("write", json!({"redirect": {"leave": ID}})),
        ("read", json!({"redirect": {"show": redirecting}})),
        ("approve", json!({"redirect": {"make": redirecting}})),
        ("approve", json!({"fork": [fork, []]})),
        ("write", json!({"align": [align, null]})),
        ("write", json!({"send_back": [ID, "x"]})),
        ("read", json!({"agreement": ID})),
        ("approve", json!({"goals_add": [add, "x"]})),
        ("write", json!({"goals_run": goal})),
        ("write", json!({"send": {"task": ID, "list": false, "output": output}})),
        ("write", json!({"pause": stop})),
        ("write", json!({"stop": stop})),
        ("write", json!({"cancel": {"output": output}})),
        ("write", json!({"goal": [goal, "remove"]})),
        ("approve", json!({"approve": card})),
        ("approve", json!({"deny": card})),
        ("approve", json!({"edit": card})),
        ("admin", json!({"audit_show": {"types": [], "output": output}})),
        ("admin", json!({"audit_verify": output})),
        ("admin", json!({"dead_letters": {"list": output}})),
        ("admin", json!({"dead_letters": {"show": letter}})),
        ("admin", json!({"dead_letters": {"retry": letter}})),
        ("admin", json!({"dead_letters": {"drop": letter}})),
        ("admin", json!({"agent_test": named})),
        ("admin", json!({"mcp_list": folder})),
    ]
}

fn asked(served: &Served, place: &str, command: &Value) -> String {
    let answer = served.post(&format!("/v1/commands/{place}"), &json!({"command": command}));
    answer.expect(422).json()["detail"].as_str().expect("why").to_owned()
}

#[test]
fn no_command_is_heard_where_another_scope_is_asked_for() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    let mut tried = BTreeSet::new();
    for (needed, command) in commands() {
        for (place, _) in PLACES.iter().filter(|(_, scope)| *scope != needed) {
            let why = asked(&served, place, &command);
            assert_eq!(why, format!("this command is asked for where `{needed}` is needed"), "{command} at {place}");
        }
        tried.extend(command.as_object().into_iter().flat_map(|command| command.keys().cloned()));
    }
    // And there is no other: the server says which there are.
    let all = asked(&served, "look", &json!({"no_such_command": null}));
    let (_, all) = all.split_once("expected one of ").unwrap_or_else(|| panic!("{all}"));
    let known: BTreeSet<String> = all.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(known, tried);
    // The control.
    served.post("/v1/commands/look", &json!({"command": {"goals_list": {"json": true}}})).expect(200);
    served.end();
}
