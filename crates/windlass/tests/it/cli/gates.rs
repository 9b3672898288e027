//! `windlass gates`: what is listed, what a test of a file says, and that every example of `docs/gates.md` does what the page
//! says.

use std::fs;

use serde_json::Value;

use super::assert_shown;
use super::scripts::HELLO;
use crate::support::Home;

const DOCUMENT: &str = include_str!("../../../../../docs/gates.md");

fn put(home: &Home, name: &str, text: &str) -> String {
    let path = home.path().join("files").join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

fn put_data(home: &Home, name: &str, text: &str) {
    fs::create_dir_all(home.data()).expect("a data directory");
    fs::write(home.data().join(name), text).expect("written");
}

fn result(home: &Home, file: &str, input: &str) -> Value {
    home.windlass(&["gates", "test", file, "--input", input, "--json"]).run().expect(0).result()
}

/// The page's examples: scripts by their names, gate files, and after each file inputs with what is decided.
#[test]
fn every_example_of_the_page_does_what_the_page_says() {
    let home = Home::new();
    let mut lines = DOCUMENT.lines();
    let (mut name, mut file, mut tried, mut files) = (String::new(), None, 0, 0);
    while let Some(line) = lines.next() {
        if let Some((named, _)) = line.strip_prefix('`').and_then(|rest| rest.split_once("`, beside")) {
            named.clone_into(&mut name);
        }
        if let Some(kind @ ("yaml" | "sh" | "toml")) = line.strip_prefix("```") {
            let block: String =
                lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
            match kind {
                "sh" => drop(put(&home, &name, &block)),
                "toml" => put_data(&home, "risk.toml", &block),
                _ => {
                    files += 1;
                    file = Some(put(&home, "gates.yaml", &block));
                }
            }
        }
        if let (Some(file), Some((input, decision))) =
            (&file, line.strip_prefix("- `").and_then(|rest| rest.split_once("` → `")))
        {
            let decided = result(&home, file, input);
            assert_eq!(decided["decision"], decision.trim_end_matches('`'), "{input}: {decided}");
            tried += 1;
        }
    }
    assert_eq!((files, tried), (10, 26), "all of them were found");
    let file = put(&home, "gates.yaml", "- { name: risk, on: on_tool_call, type: risk }\n");
    for input in
        [r#"{"tool": "publish_deliverable"}"#, r#"{"tool": "bash", "tool_args": {"command": "terraform plan"}}"#]
    {
        assert_eq!(result(&home, &file, input)["decision"], "require_approval", "by the page's risks: {input}");
    }
}

#[test]
fn the_shipped_gate_is_listed_first() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["gates", "list"]).run(), @"
    exit code 0
    --- stdout
    risk  on_tool_call          risk             predicate  policy   on block: report  (shipped)
    ");
    put_data(&home, "gates.yaml", "
- { name: ask, on: on_tool_call, type: approval_always, config: { tools: [bash] } }
- { name: polite, on: every_agent_response, type: custom_check, provider: llm, config: { criteria: x }, promote_to_policy: true }
- { name: odd, on: after_step, type: custom_check, provider: oracle, on_block: retry }
");
    assert_shown!(home, home.windlass(&["gates", "list"]).run(), @"
    exit code 0
    --- stdout
    risk    on_tool_call          risk             predicate  policy   on block: report  (shipped)
    ask     on_tool_call          approval_always  predicate  policy   on block: report  (gates.yaml)
    polite  every_agent_response  custom_check     llm        quality  on block: report  (gates.yaml, promoted)
    odd     after_step            custom_check     oracle     policy   on block: retry  (gates.yaml)
    ");
    let listed = home.windlass(&["gates", "list", "--json"]).run().expect(0).objects();
    assert_eq!(listed.len(), 5);
    assert_eq!((&listed[0]["name"], &listed[0]["source"]), (&"risk".into(), &"shipped".into()));
    assert_eq!((&listed[3]["provider"], &listed[3]["on_block"]), (&"oracle".into(), &"retry".into()));
}

#[test]
fn a_broken_gate_file_or_risk_table_stops_a_run_and_says_where() {
    let home = Home::playing(HELLO);
    put_data(
        &home,
        "gates.yaml",
        "
- { name: a, on: on_tool_call, type: regex, config: { field: message, pattern: '(' } }
- { name: b, on: on_tool_call, type: numeric_range, config: { field: x } }
",
    );
    assert_shown!(home, home.run(&[]).run(), @"
    exit code 2
    --- stderr
    error: [HOME]/data/gates.yaml:2:53: gate `a`: `pattern` cannot be used: unclosed group
    [HOME]/data/gates.yaml:3:61: gate `b`: a numeric_range needs `min` or `max`
    hint: docs/gates.md has every field
    ");
    assert!(home.files().is_empty(), "nothing was done");
    home.windlass(&["gates", "list"]).run().expect(2);
    home.windlass(&["status"]).run().expect(0);
    let doctor = home.windlass(&["doctor"]).run().expect(1);
    assert!(doctor.stdout.contains("gates.yaml:2:"), "{}", doctor.stdout);
    put_data(
        &home,
        "gates.yaml",
        "- { name: a, on: on_tool_call, type: approval_always, config: { tools: [transfer] } }\n",
    );
    put_data(&home, "risk.toml", "[tools]\nbash = \"harmless\"\n");
    assert_shown!(home, home.run(&[]).run(), @"
    exit code 2
    --- stderr
    error: [HOME]/data/risk.toml:2:8: unknown variant `harmless`, expected one of `low`, `medium`, `high`, `critical`
    hint: docs/gates.md shows how risks are changed
    ");
    put_data(&home, "risk.toml", "[tools]\npublish_deliverable = \"high\"\n");
    home.run(&[]).run().expect(0);
}

#[test]
fn a_test_shows_what_every_gate_said_and_what_was_rewritten() {
    let home = Home::new();
    let file = put(&home, "gates.yaml", "
- { name: risk, on: on_tool_call, type: risk }
- { name: home, on: on_tool_call, type: regex, config: { field: tool_args.command, pattern: '/home/you', replace: /workspace } }
- { name: other, on: on_tool_call, type: approval_always, config: { tools: [transfer] } }
- { name: nice, on: on_tool_call, type: custom_check, provider: llm, config: { criteria: x } }
- { name: late, on: after_step, type: approval_always }
");
    let input =
        r#"{"tool": "bash", "tool_args": {"command": "rm -rf /home/you/\u001b[2Kx\nrisk  continue"}, "taint": "auth"}"#;
    assert_shown!(home, home.windlass(&["gates", "test", &file, "--input", input]).run(), @r#"
    exit code 0
    --- stdout
    continue          home  `tool_args.command` was rewritten
    continue          nice  no model is asked in a test
    block             risk  risk is critical: it runs rm; it runs rm with recursive and force
    continue          other  it speaks of other tools
    rewrite           home rewrote `tool_args.command`: "rm -rf /home/you/\u001b[2Kx\nrisk  continue" became "rm -rf /workspace/\u001b[2Kx\nrisk  continue"
    decision: block by risk  on block: report
    "#);
    let input = put(&home, "input.json", input);
    let json = home.windlass(&["gates", "test", &file, "--input", &format!("@{input}"), "--json"]).run().expect(0);
    assert_eq!(json.objects().len(), 5, "four gates look at calls, and the result");
    assert_eq!(json.result()["rewritten"][0]["gate"], "home");
}

#[test]
fn a_test_judges_by_the_operator_s_risks() {
    let home = Home::new();
    let file = put(&home, "gates.yaml", "- { name: risk, on: on_tool_call, type: risk }\n");
    let input = r#"{"tool": "publish_deliverable", "tool_args": {"path": "a"}}"#;
    assert_eq!(result(&home, &file, input)["decision"], "continue");
    put_data(&home, "risk.toml", "[tools]\npublish_deliverable = \"critical\"\n");
    assert_eq!(result(&home, &file, input)["decision"], "block");
}

fn script(home: &Home, body: &str) -> Value {
    put(home, "gate.sh", body);
    let gates = "- { name: s, on: on_tool_call, type: custom_check, provider: script, config: { run: [sh, gate.sh], timeout: 5 } }\n";
    let file = put(home, "gates.yaml", gates);
    let input = r#"{"tool": "bash", "tool_args": {"command": "ls"}}"#;
    let ended = home.windlass(&["gates", "test", &file, "--input", input, "--json"]).run().expect(0);
    ended.objects().remove(0)
}

#[test]
fn a_script_that_is_anything_but_a_clear_answer_blocks() {
    let home = Home::new();
    let good = r#"echo '{"decision": "continue", "reason": "fine"}'"#;
    assert_eq!(script(&home, good)["decision"], "continue", "the control");
    for (body, reason) in [
        ("exit 3", "the script failed with exit code 3"),
        ("", "the answer cannot be read"),
        ("echo yes", "the answer cannot be read"),
        (r#"echo '{"decision": "allow"}'"#, "the answer cannot be read"),
        (r#"echo '{"decision": "continue", "approved": true}'"#, "the answer cannot be read"),
        (&format!("{good}; {good}"), "the answer cannot be read"),
        ("head -c 3000000 /dev/zero | tr '\\0' ' '", "the answer"),
        ("printf '\\377'", "not UTF-8"),
        ("kill -9 $$", "signal 9"),
    ] {
        let record = script(&home, body);
        assert_eq!(record["decision"], "block", "{body}: {record}");
        assert!(record["reason"].as_str().is_some_and(|said| said.contains(reason)), "{body}: {record}");
    }
}

#[test]
fn a_script_that_does_not_answer_in_time_blocks() {
    let home = Home::new();
    put(&home, "gate.sh", "cat /workspace/input.json; sleep 1000");
    let gates = "- { name: s, on: on_tool_call, type: custom_check, provider: script, config: { run: [sh, gate.sh], timeout: 1 } }\n";
    let file = put(&home, "gates.yaml", gates);
    let ended = home.windlass(&["gates", "test", &file, "--input", r#"{"tool": "bash"}"#, "--json"]).run().expect(0);
    assert_eq!(ended.objects()[0]["reason"], "the script did not answer in time");
}

/// Says what a script finds, in its reason.
fn seen(home: &Home, look: &str) -> String {
    let body = format!(
        r#"seen=$( ({look}) 2>&1 | tr '\n"' '  '); echo "{{\"decision\": \"continue\", \"reason\": \"$seen\"}}""#
    );
    script(home, &body)["reason"].as_str().expect("a reason").trim().to_owned()
}

#[test]
fn a_script_sees_its_input_and_its_folder_and_nothing_else() {
    let home = Home::new();
    home.windlass(&["keys", "init"]).run().expect(0);
    assert!(seen(&home, "cat /workspace/input.json | head -c 15").contains("tool"));
    assert_eq!(seen(&home, "pwd; ls"), "/gates gate.sh gates.yaml");
    assert!(seen(&home, "echo x > /gates/gate.sh").contains("Read-only file system"));
    let owner = home.data().join("keys/owner");
    let look = format!("cat {}", owner.display());
    assert!(seen(&home, &look).contains("No such file"), "the owner's key");
    assert!(fs::read_to_string(&owner).is_ok(), "the control: it is there");
    assert!(
        !home.data().join("scratch").read_dir().is_ok_and(|mut left| left.next().is_some()),
        "nothing is left behind"
    );
}

#[test]
fn scripts_of_the_operator_s_own_file_see_the_folder_beside_it_and_not_the_data_directory() {
    let home = Home::new();
    home.windlass(&["keys", "init"]).run().expect(0);
    put_data(
        &home,
        "gates.yaml",
        "- { name: s, on: on_tool_call, type: custom_check, provider: script, config: { run: [sh, look.sh] } }\n",
    );
    fs::create_dir(home.data().join("gates")).expect("a folder");
    let look = r#"echo "{\"decision\": \"continue\", \"reason\": \"$(ls /gates | tr '\n' ' ')\"}""#;
    put_data(&home, "gates/look.sh", look);
    let file = home.data().join("gates.yaml");
    let file = file.to_str().expect("a plain path");
    let ended = home.windlass(&["gates", "test", file, "--input", r#"{"tool": "x"}"#, "--json"]).run().expect(0);
    assert_eq!(ended.objects()[0]["reason"], "look.sh ");
    fs::copy(file, home.path().join("gates.yaml")).expect("copied");
    let around = home.path().join("gates.yaml");
    let words = ["gates", "test", around.to_str().expect("a plain path"), "--input", r#"{"tool": "x"}"#];
    assert_shown!(home, home.windlass(&words).run(), @"
    exit code 2
    --- stderr
    error: [HOME] would show the data directory to the scripts of its gates
    hint: put the gate file and its scripts into a folder of their own
    ");
}

#[test]
fn wrong_use_is_explained() {
    let home = Home::new();
    let file = put(&home, "gates.yaml", "[]\n");
    let test = |file: &str, input: &str| home.windlass(&["gates", "test", file, "--input", input]).run();
    assert_shown!(home, test("nowhere.yaml", "{}"), @"
    exit code 2
    --- stderr
    error: nowhere.yaml: No such file or directory (os error 2)
    hint: name a gate file; docs/gates.md shows one
    ");
    assert_shown!(home, test(&file, "{"), @r#"
    exit code 2
    --- stderr
    error: --input: EOF while parsing an object at line 1 column 1
    hint: as in {"tool": "bash", "tool_args": {"command": "ls"}, "taint": "auth"}; docs/gates.md has every field
    "#);
    assert_shown!(home, test(&file, r#"{"tols": "bash"}"#), @r#"
    exit code 2
    --- stderr
    error: --input: unknown field `tols`, expected one of `message`, `response`, `tool`, `tool_args`, `step`, `taint`, `files` at line 1 column 7
    hint: as in {"tool": "bash", "tool_args": {"command": "ls"}, "taint": "auth"}; docs/gates.md has every field
    "#);
    assert_shown!(home, test(&file, "@nowhere.json"), @"
    exit code 2
    --- stderr
    error: --input @nowhere.json: No such file or directory (os error 2)
    ");
    assert_shown!(home, test(&file, "{}"), @"
    exit code 2
    --- stderr
    error: the input fits no one trigger
    hint: say which with --trigger
    ");
    assert_shown!(home, test(&file, r#"{"message": "x", "response": "y"}"#), @"
    exit code 2
    --- stderr
    error: the input fits no one trigger
    hint: say which with --trigger
    ");
    assert_shown!(home, test(&file, r#"{"message": "x"}"#), @"
    exit code 0
    --- stdout
    No gate looks at every_user_message.
    decision: continue
    ");
}

#[test]
fn hostile_gate_files_are_bounded() {
    let home = Home::new();
    let bomb = format!(
        "{}\n- *a7\n",
        (0..8)
            .map(|n| format!("- &a{n} [{}]", format!("*a{}, ", n.max(1) - 1).repeat(9)))
            .collect::<Vec<_>>()
            .join("\n")
    );
    for text in [bomb, "[".repeat(100_000), "- name: x\n".repeat(40_000), "\u{0}".repeat(64)] {
        let file = put(&home, "gates.yaml", &text);
        let ended = home.windlass(&["gates", "test", &file, "--input", "{}"]).run().expect(2);
        assert!(ended.stderr.contains("gates.yaml:"), "{}", ended.stderr);
    }
    let ended = home.windlass(&["gates", "test", "/dev/zero", "--input", "{}"]).run().expect(2);
    assert!(ended.stderr.contains("16 MiB"), "{}", ended.stderr);
    // A pattern that would explode elsewhere.
    let file = put(
        &home,
        "gates.yaml",
        "- { name: r, on: every_user_message, type: regex, config: { field: message, pattern: '(a*)*b' } }\n",
    );
    let input = put(&home, "long.json", &format!(r#"{{"message": "{}"}}"#, "a".repeat(1_000_000)));
    assert_eq!(result(&home, &file, &format!("@{input}"))["decision"], "continue");
}
