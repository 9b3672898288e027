//! Contracts §6 with the real program and its real database: what is stored of an execution's owner, that an execution is read without its
//! agent and not driven without it, and whom `windlass send` reaches. `xtask/tests/it/contracts_6.rs` has all sentences.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use rusqlite::Connection;
use serde_json::Value;

use super::stand_in::{begin, windlass, with};
use crate::cli::cards::{card, is_there};
use crate::support::{Ended, Home, Story, read};

/// Wants something that a person has to be asked about.
const PUSHES: &str = r#"introduce()
hear()
say(type="control_request", request_id="q-1", request={"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "c-1", "input": {"command": "git push origin main"}})
hear()
hear()"#;

/// Says that it works, and repeats what it is told then.
const REPEATS: &str = "introduce()\nhear()\nword('Working.')\nend('Did ' + hear()['message']['content'])";

/// More than fits into a result.
const PRINTS: &str = "version: 1\ntracks:\n  default:\n    - calls: [ { tool: bash, args: { command: seq 1 20000 } } ]\n    - reply: Done.\n";

/// Says what it can read, write and see.
const LOOKS_AROUND: &str = r#"introduce()
hear()
def can(act):
    try:
        act()
        return True
    except OSError:
        return False
where = open("where.txt").read()
lines = [open("/proc/" + name + "/cmdline").read() for name in os.listdir("/proc") if name.isdigit()]
end(json.dumps({
    "reads": can(lambda: open(where).read()),
    "writes": can(lambda: open(where, "w")),
    "owner": any("--rehearsal" in line for line in lines),
    "home": os.environ["HOME"],
    "found": sorted(os.listdir(os.environ["HOME"])),
}))"#;

/// Tells its owner something by a tool of ours, at the address that it was given for it, with its key and without.
const TELLS: &str = r#"introduce()
hear()
server = json.load(open(os.environ["HOME"] + "/.claude/windlass-mcp.json"))["mcpServers"]["windlass"]
head = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
def post(session, key, **message):
    request = urllib.request.Request(server["url"], json.dumps(dict(message, jsonrpc="2.0")).encode(), dict(head, **session, **key))
    try:
        return urllib.request.urlopen(request)
    except urllib.error.HTTPError as refused:
        return refused
greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
greeted = post({}, server["headers"], id=1, method="initialize", params=greeting)
session = {"mcp-session-id": greeted.headers["mcp-session-id"]}
called = post(session, server["headers"], id=2, method="tools/call", params={"name": "note", "arguments": {"text": "By tool."}})
called.read()
end(json.dumps([called.status, server["url"].startswith(os.environ["ANTHROPIC_BASE_URL"]), post(session, {}, id=3, method="ping").status]))"#;

/// Says by a tool of ours on its screen that it is done, hears the answer a second later, and goes on as programs do.
const HEARS_LATE: &str = r#"import http.client, signal, time, urllib.parse
cut_off = []
signal.signal(signal.SIGINT, lambda *_: cut_off.append(1))
server = json.load(open(given("--mcp-config")))["mcpServers"]["windlass"]
head = dict(server["headers"], **{"content-type": "application/json", "accept": "application/json, text/event-stream"})
connection = http.client.HTTPConnection(urllib.parse.urlparse(server["url"]).netloc)
def post(**message):
    connection.request("POST", urllib.parse.urlparse(server["url"]).path, json.dumps(dict(message, jsonrpc="2.0")), head)
about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "stand-in", "version": "1"}}
post(id=1, method="initialize", params=about)
greeted = connection.getresponse()
greeted.read()
head["mcp-session-id"] = greeted.headers["mcp-session-id"]
post(id=2, method="tools/call", params={"name": "completed_claim", "arguments": {"summary": "all of it"}})
time.sleep(1)
answered = connection.getresponse().read().decode()
open("heard.txt", "w").write(json.dumps([len(cut_off), "believed when the checks pass" in answered]))
ask_model("go on")"#;

fn database(home: &Home) -> Connection {
    Connection::open(home.data().join("windlass.db")).expect("the database opens")
}

/// Every table with its columns, as the database itself has them.
fn schema(database: &Connection) -> BTreeMap<String, Vec<String>> {
    let sql = "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid";
    let mut statement = database.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let (table, column): (String, String) = row.expect("a row");
        tables.entry(table).or_default().push(column);
    }
    tables
}

/// Whoever adds a column that says something of a task, a folder or a person's state has to answer for it here.
#[test]
fn nothing_of_the_owners_is_in_the_schema() {
    let home = Home::playing("version: 1\ntracks: { default: [ { reply: Done. } ] }\n");
    home.run(&[]).run().expect(0);
    let tables = schema(&database(&home));
    let of = |table: &str| tables.get(table).unwrap_or_else(|| panic!("{table} in {tables:?}")).join(" ");
    assert_eq!(of("streams"), "key tenant name");
    assert_eq!(of("events"), "position tenant stream seq kind version taint at chain data");
    assert_eq!(of("snapshots"), "stream tenant seq version data");
    assert!(!tables.keys().any(|table| table.contains("execution")), "an execution is its stream: {tables:?}");
    let owners = ["task", "goal", "title", "label", "workspace", "folder", "directory", "cwd", "mission", "objective"];
    for (table, columns) in &tables {
        let leaks: Vec<_> = columns
            .iter()
            .filter(|column| owners.iter().any(|word| column.split('_').any(|part| part == *word)))
            .collect();
        assert!(leaks.is_empty(), "{table}: {leaks:?}");
    }
}

/// The same of what is stored: an entity's record names its owner by kind and id, and holds neither its words nor its folder.
#[test]
fn an_executions_record_names_its_owner_and_holds_nothing_else_of_it() {
    let home = Home::playing("version: 1\ntracks: { default: [ { reply: Done. } ] }\n");
    home.run(&[]).run().expect(0);
    let task = read(&home).records[0]["task_id"].as_str().expect("an id").to_owned();
    let database = database(&home);
    let mut statement = database.prepare("SELECT data FROM events WHERE kind = 'journal.header'").expect("a statement");
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).expect("rows");
    let headers: Vec<String> = rows.map(|row| row.expect("a row")).collect();
    assert_eq!(headers.len(), 1);
    for leak in [home.mark().as_str(), "Do it", "RUNNING", "COMPLETED"] {
        assert!(!headers[0].contains(leak), "{leak} in {}", headers[0]);
    }
    let header: Value = serde_json::from_str(&headers[0]).expect("JSON");
    assert_eq!(header["scope"], serde_json::json!({"kind": "task", "id": task}));
    let named: BTreeSet<&str> =
        headers[0].match_indices(&task).map(|(at, _)| &headers[0][at..at + task.len()]).collect();
    assert_eq!((named.len(), headers[0].matches(&task).count()), (1, 1), "the task is named by its scope alone");
}

/// How a program is talked to and whether it has our tools are its execution's, kept at launch.
#[test]
fn transport_and_mcp_availability_are_kept_at_launch() {
    let home = with("introduce()\nhear()\nend('Done.')");
    begin(&home).end_unread().expect(0);
    let story = read(&home);
    let noted: Vec<_> = story.of("runner.noted").collect();
    assert_eq!(noted.len(), 1, "it was started once");
    assert_eq!(
        (&noted[0]["data"]["transport"], &noted[0]["data"]["mcp"]),
        (&Value::from("structured"), &Value::from(true))
    );
    assert_eq!(noted[0]["execution_id"].as_str(), Some(execution(&home).as_str()));
}

/// What else there is of an execution is referred to by its records and stands elsewhere: what its model is told each time, and all that a
/// command printed.
#[test]
fn context_and_log_are_referred_to_and_kept_apart() {
    let home = Home::playing(PRINTS);
    home.run(&[]).run().expect(0);
    let story = read(&home);
    let context = &story.of("model.requested").next().expect("it asked")["data"]["context"];
    let printed = &story.of("tool.finished").next().expect("it ran")["data"]["full_output"];
    let database = database(&home);
    for reference in [&context["system"], &context["tools"], printed] {
        let digest = reference.as_str().unwrap_or_else(|| panic!("{reference} in {context}"));
        let kept = "SELECT count(*) FROM blobs WHERE lower(hex(digest)) = ?1";
        let count: u32 = database.query_row(kept, [digest], |row| row.get(0)).expect("a number");
        assert_eq!(count, 1, "{digest}");
    }
    let journal = home.windlass(&["log", &execution(&home), "--json"]).run().expect(0).stdout;
    assert!(!journal.contains("9998\\n9999"), "the middle of what was printed is not in the journal");
}

/// With what it was begun is its own record, and the same begun otherwise is told from it by a digest.
#[test]
fn launch_config_is_kept_with_the_execution() {
    let begun = |more: &[&str]| {
        let home = with("introduce()\nhear()\nend('Done.')");
        let script = home.script();
        let words =
            ["run", "Do it", "--agent", "claude-code", "--json", "--rehearsal", script.to_str().expect("a plain path")];
        windlass(&home, &[&words[..], more].concat()).run().expect(0);
        let story = read(&home);
        let data = |kind: &str| story.of(kind).next().unwrap_or_else(|| panic!("{kind}"))["data"].clone();
        (data("journal.header"), data("call.proposed"), data("runner.noted"))
    };
    let (header, launch, noted) = begun(&[]);
    let arguments: Value = match &launch["arguments"] {
        Value::String(written) => serde_json::from_str(written).expect("JSON"),
        arguments => arguments.clone(),
    };
    assert_eq!((&launch["tool"], &arguments["agent"]), (&"launch_agent".into(), &"claude-code".into()), "{launch}");
    assert_eq!(arguments["model"], header["model"]);
    assert_eq!((&noted["program"], &noted["version"]), (&"Claude Code".into(), &"9.8.7".into()), "{noted}");
    let (same, ..) = begun(&[]);
    let (other, ..) = begun(&["--max-tokens", "12345"]);
    assert_eq!(other["limits"]["max_tokens"], 12_345, "{other}");
    assert_eq!(header["configuration_digest"], same["configuration_digest"]);
    assert_ne!(header["configuration_digest"], other["configuration_digest"]);
}

/// It sees neither what is its user's nor the machine's, and its home is nobody's else.
#[test]
fn foreign_agents_run_in_the_sandbox_with_a_scratch_home() {
    let home = with(LOOKS_AROUND);
    let secret = home.path().join("of-the-user.txt");
    fs::write(&secret, "mine").expect("written");
    home.write("where.txt", secret.to_str().expect("a plain path"));
    let result = begin(&home).end().expect(0).result();
    let seen: Value = serde_json::from_str(result["final_message"].as_str().expect("words")).expect("JSON");
    assert_eq!(seen["reads"], false, "{seen}");
    assert_eq!(seen["writes"], false, "{seen}");
    assert_eq!(fs::read_to_string(&secret).expect("the control: it is there"), "mine");
    assert_eq!(seen["owner"], false, "no process but those of its sandbox: {seen}");
    assert_ne!(seen["home"], home.path().to_str().expect("a plain path"));
    assert_eq!(seen["found"], serde_json::json!([".claude"]), "what the launch put there, and nothing else");
}

/// Behind the same address and the same key as the model; what is told there is in the journal.
#[test]
fn the_proxy_carries_mcp() {
    let home = with(TELLS);
    let result = begin(&home).end().expect(0).result();
    assert_eq!(result["final_message"], "[200, true, 401]", "{result}");
    let story = read(&home);
    let told: Vec<_> = story.of("observation.recorded").filter(|record| record["data"]["source"] == "mcp").collect();
    assert!(told.iter().any(|record| record["data"]["kind"] == "note"), "{told:?}");
}

/// All that can be looked at, each with and without `--json`.
fn is_read(home: &Home, execution: &str) {
    for words in [
        &["status"][..],
        &["status", "--json"],
        &["log"],
        &["log", "--json"],
        &["log", "--timeline"],
        &["log", "--timeline", "--json"],
        &["log", execution],
        &["log", execution, "--json"],
        &["log", execution, "--timeline"],
    ] {
        let ended = home.windlass(words).env("PATH", "/usr/bin:/bin").env("WINDLASS_AGENTS", "/nowhere").run();
        assert_eq!(ended.code(), 0, "{words:?}: {}", ended.stderr);
        // Of one that never began there is nothing to tell people, and its records all the same.
        let is_told = !ended.stdout.trim().is_empty() || !words.contains(&"--json");
        assert!(is_told, "{words:?}");
    }
}

fn execution(home: &Home) -> String {
    let story = read(home);
    let header = story.of("journal.header").next().expect("it was begun");
    header["execution_id"].as_str().expect("an id").to_owned()
}

fn resume(home: &Home) -> Ended {
    home.windlass(&["resume", "--json"]).env("PATH", "/usr/bin:/bin").env("WINDLASS_AGENTS", "/nowhere").run()
}

#[test]
fn without_its_agent_an_execution_is_read_and_driving_it_is_a_typed_failure() {
    let home = with(PUSHES);
    begin(&home).end_unread().expect(3);
    fs::remove_file(home.path().join("agents/bin/claude")).expect("it was there");
    is_read(&home, &execution(&home));
    home.windlass(&["approve", &card(&home), "--yes"]).run().expect(0);
    let ended = resume(&home);
    let result = ended.result();
    let error = &result["error_details"];
    assert_eq!(error["error_code"], "runner_unavailable", "{result}");
    assert!(error["message"].as_str().is_some_and(|said| said.contains("Claude Code is not installed")), "{error}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("install it")), "{error}");
    is_read(&home, &execution(&home));
}

/// Regression: the work of an agent that the operator had taken away was done by our own loop.
#[test]
fn an_agent_that_is_not_known_any_more_is_replaced_by_nobody() {
    let home = with(PUSHES);
    fs::create_dir_all(home.data()).expect("made");
    let config = home.data().join("windlass.toml");
    fs::write(&config, "[agents.acp.mine]\nprogram = \"nobody-has-this\"\n").expect("written");
    let ended = home.run(&["--agent", "mine"]).run();
    assert!(ended.stdout.contains("is not installed"), "{}{}", ended.stdout, ended.stderr);
    fs::write(&config, "").expect("written");
    let ended = resume(&home);
    let error = ended.result()["error_details"].clone();
    assert_eq!(error["error_code"], "runner_unavailable", "{error}");
    assert!(
        error["message"].as_str().is_some_and(|said| said.contains("`mine` is not known here any more")),
        "{error}"
    );
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("[agents.acp.mine]")), "{error}");
    is_read(&home, &execution(&home));
    assert!(!read(&home).of("model.requested").any(|_| true), "nobody else works on it");
    assert!(!is_there(&home, "there.txt"));
}

#[test]
fn a_message_is_sent_to_an_execution_by_its_id_and_its_delivery_is_recorded() {
    let home = with(REPEATS);
    let mut run = begin(&home);
    let record = run.wait_for_record("journal.header");
    let execution = record["execution_id"].as_str().expect("an id").to_owned();
    run.wait_for(|line| line.contains("Working."));
    let refused = windlass(&home, &["send", &execution, "--kind", "resume"]).run().expect(2).stderr;
    assert!(refused.contains("a message of the kind `resume` cannot be delivered"), "{refused}");
    windlass(&home, &["send", &execution, "--kind", "prompt", "go left"]).run().expect(0);
    let result = run.end().expect(0).result();
    assert_eq!(result["final_message"], "Did User says: go left", "{result}");
    let deliveries: Vec<Value> = read(&home).of("message.delivery").map(|record| record["data"].clone()).collect();
    let became: Vec<&str> = deliveries.iter().filter_map(|delivery| delivery["delivery"].as_str()).collect();
    assert_eq!(became, ["attempted", "delivered"]);
    let late = windlass(&home, &["send", &execution, "and right"]).run().expect(2).stderr;
    assert!(late.contains("`windlass status` lists the tasks") || late.contains("over"), "{late}");
}

/// Regression: Ctrl-C was typed at once, and raced with the answer; to the program its call was cut off.
#[test]
fn on_its_screen_a_program_hears_what_is_made_of_what_it_told_before_it_is_quit() {
    let home = with(HEARS_LATE);
    let script = home.script();
    let words = ["run", "Do it", "--agent", "claude-code", "--terminal", "--base-case", "command: test -f heard.txt"];
    let words = [&words[..], &["--rehearsal", script.to_str().expect("a plain path")]].concat();
    windlass(&home, &words).run().expect(0);
    assert_eq!(fs::read_to_string(home.workspace().join("heard.txt")).expect("it has heard it"), "[0, true]");
}

/// Regression: one that said "pending" was believed, and on its screen nobody looked.
#[test]
fn who_asks_its_model_without_the_tools_it_was_given_is_ended_in_both_modes() {
    let started = ["run", "Do it", "--agent", "claude-code", "--json"];
    for mode in [&[][..], &["--terminal"]] {
        let home = with("word('I begin.')\nask_model('now')\nend('Done.')");
        fs::create_dir_all(home.data()).expect("made");
        fs::write(home.data().join("windlass.toml"), "[agents]\nsilence_seconds = 20\n").expect("written");
        let script = home.script();
        let words = [&started, mode, &["--rehearsal", script.to_str().expect("a plain path")]].concat();
        let ended = windlass(&home, &words).run().expect(1);
        let error = ended.result()["error_details"].clone();
        let said = error["message"].as_str().expect("a reason");
        assert!(said.contains("without having connected to the MCP server that it was given"), "{mode:?}: {error}");
        assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("2.1.325")), "{mode:?}: {error}");
        let story = read(&home);
        assert_eq!((story.of("exchange.opened").count(), equipped(&story)), (0, 0), "{mode:?}: no model was asked");
    }
}

#[test]
fn that_an_agent_has_its_tools_is_seen_at_our_own_end_and_recorded() {
    let home = with("introduce()\nend(ask())");
    begin(&home).end_unread().expect(0);
    let story = read(&home);
    assert_eq!((story.of("exchange.opened").count(), equipped(&story)), (1, 1));
}

fn equipped(story: &Story) -> usize {
    story.of("observation.recorded").filter(|record| record["data"]["observed"] == "equipped").count()
}
