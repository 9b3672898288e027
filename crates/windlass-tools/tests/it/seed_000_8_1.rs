//! Seed 000 §8.1: a test for each row of the inventory, named after the tool. Each says which arguments it takes (`!` must be
//! there, `=` has a default), how risky its calls are, and does what the row says it is for.

use serde_json::{Value, json};
use windlass_domain::HostWork;
use windlass_policy::risk::{Level, Place, Table, assess_call};
use windlass_sandbox::Status;
use windlass_tools::{Confinement, Kit, Toolset};

use crate::browser::browser as one;
use crate::list_skills::equipped;
use crate::skills::Shop;
use crate::support::{Bench, exit};
use crate::web::{Elsewhere, careful, limits, page};
use crate::web_search::searxng;

const ROWS: &str = "
bash                 MEDIUM-CRITICAL
read                 LOW
write                MEDIUM-HIGH
edit                 LOW
glob                 LOW
grep                 LOW
browser              MEDIUM-HIGH
web_search           MEDIUM
web_fetch            MEDIUM
update_plan          LOW
save_memo            LOW
search_memo          LOW
ask_user             LOW
spawn_agent          MEDIUM
list_skills          LOW
read_skill           LOW
publish_deliverable  LOW";

fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROWS.split_terminator('\n').filter_map(|row| row.split_once(' ')).map(|(tool, risk)| (tool, risk.trim()))
}

/// The least and the most that the row allows.
fn range(tool: &str) -> (Level, Level) {
    let (_, risk) = rows().find(|(name, _)| *name == tool).unwrap();
    let (least, most) = risk.split_once('-').unwrap_or((risk, risk));
    let level = |word: &str| Level::ALL.into_iter().find(|level| level.as_str() == word.to_lowercase()).unwrap();
    (level(least), level(most))
}

#[track_caller]
fn takes(tools: &Toolset, tool: &str, expected: &str) {
    let spec = tools.specs().into_iter().find(|spec| spec.name == tool).unwrap();
    let required = spec.parameters["required"].as_array().cloned().unwrap_or_default();
    let shown = |(name, schema): (&String, &Value)| match schema.get("default") {
        Some(default) => format!("{name}={default}"),
        None if required.contains(&json!(name)) => format!("{name}!"),
        None => name.clone(),
    };
    let properties = spec.parameters["properties"].as_object().unwrap();
    assert_eq!(properties.iter().map(shown).collect::<Vec<_>>().join(" "), expected);
}

/// The call is this risky, and within what the row allows.
#[track_caller]
fn risks(tool: &str, arguments: &Value, expected: Level) {
    let risk = assess_call(&Table::shipped(), tool, arguments, &Place::workspace());
    let (least, most) = range(tool);
    assert_eq!(risk.level, expected, "{tool} {arguments}: {:?}", risk.reasons);
    assert!((least..=most).contains(&expected), "{tool}: {expected:?} is not what the row says");
}

#[test]
fn no_row_is_missing() {
    let here = include_str!("seed_000_8_1.rs");
    for (tool, _) in rows() {
        assert!(here.contains(&format!("#[test]\nfn {tool}() {{")), "{tool}");
    }
    assert_eq!(rows().count(), 17);
}

#[test]
fn bash() {
    let bench = Bench::new();
    takes(&bench.tools, "bash", "command! cwd timeout_seconds");
    bench.sandbox.answer(Ok(exit(Status::Code(0), "hello\n")));
    assert!(bench.ok("bash", &json!({ "command": "echo hello" })).contains("hello"));
    let command = bench.sandbox.commands.lock().unwrap().pop().unwrap();
    assert_eq!(command.argv, ["bash", "-c", "echo hello"]);
    risks("bash", &json!({ "command": "echo hello" }), Level::Medium);
    risks("bash", &json!({ "command": "rm hello" }), Level::High);
    risks("bash", &json!({ "command": "rm -rf hello" }), Level::Critical);
}

#[test]
fn read() {
    let bench = Bench::new();
    takes(&bench.tools, "read", "limit offset path!");
    bench.put("a.txt", "one\ntwo\n");
    assert!(bench.ok("read", &json!({ "path": "a.txt" })).contains("two"));
    risks("read", &json!({ "path": "a.txt" }), Level::Low);
}

/// What would be more than medium is refused by the tool itself: nothing is written for git to run.
#[test]
fn write() {
    let bench = Bench::new();
    takes(&bench.tools, "write", "content! path!");
    bench.ok("write", &json!({ "path": "new/a.txt", "content": "one" }));
    assert_eq!(bench.text("new/a.txt"), "one");
    risks("write", &json!({ "path": "new/a.txt", "content": "one" }), Level::Medium);
    bench.error("write", &json!({ "path": ".git/hooks/pre-commit", "content": "one" }));
    assert!(!bench.path(".git").exists());
}

#[test]
fn edit() {
    let bench = Bench::new();
    takes(&bench.tools, "edit", "new_string! old_string! path! replace_all=false");
    bench.put("a.txt", "one two one\n");
    let arguments = json!({ "path": "a.txt", "old_string": "two", "new_string": "three" });
    bench.ok("edit", &arguments);
    assert_eq!(bench.text("a.txt"), "one three one\n");
    bench.error("edit", &json!({ "path": "a.txt", "old_string": "one", "new_string": "" }));
    risks("edit", &arguments, Level::Low);
}

#[test]
fn glob() {
    let bench = Bench::new();
    takes(&bench.tools, "glob", "path pattern!");
    bench.put("src/a.rs", "");
    bench.put("src/a.py", "");
    let found = bench.ok("glob", &json!({ "pattern": "*.rs" }));
    assert!(found.contains("src/a.rs") && !found.contains("a.py"), "{found}");
    risks("glob", &json!({ "pattern": "*.rs" }), Level::Low);
}

#[test]
fn grep() {
    let bench = Bench::new();
    let arguments = "case_insensitive=false context glob max_results output_mode=\"content\" path pattern!";
    takes(&bench.tools, "grep", arguments);
    bench.put("a.txt", "one\ntwo\n");
    assert!(bench.ok("grep", &json!({ "pattern": "t.o" })).contains("a.txt:2:two"));
    risks("grep", &json!({ "pattern": "t.o" }), Level::Low);
}

/// `real_browser` has what it does with a page.
#[test]
fn browser() {
    let bench = Bench::new();
    let kit = Kit::only(one(Some(&["shop.example"])), Confinement::Restricted).unwrap();
    let tools = Toolset::new(bench.context(), kit);
    takes(&tools, "browser", "action! fields selector text url");
    let navigate = json!({ "action": "navigate", "url": "https://shop.example/a" });
    bench.prepare_with(&tools, "browser", &navigate.to_string()).unwrap();
    risks("browser", &navigate, Level::Medium);
    let submit = json!({ "action": "submit", "url": "https://shop.example/a", "selector": "form" });
    bench.prepare_with(&tools, "browser", &submit.to_string()).unwrap();
    risks("browser", &submit, Level::High);
}

#[test]
fn web_search() {
    let bench = Bench::new();
    let tools = searxng(&bench);
    takes(&tools, "web_search", "count query!");
    let found = bench.ok_with(&tools, "web_search", &json!({ "query": "rust" }));
    assert!(found.contains("https://www.rust-lang.org/"), "{found}");
    risks("web_search", &json!({ "query": "rust" }), Level::Medium);
}

#[test]
fn web_fetch() {
    let bench = Bench::new();
    let elsewhere = Elsewhere::new(&bench, vec![page("content-type: text/plain\r\n", "one two")]);
    elsewhere.name("site.test", &["93.184.216.34"]);
    let tools = careful(&bench, &elsewhere, limits());
    takes(&tools, "web_fetch", "max_bytes url!");
    let arguments = json!({ "url": "http://site.test/a" });
    assert!(bench.ok_with(&tools, "web_fetch", &arguments).contains("one two"));
    risks("web_fetch", &arguments, Level::Medium);
}

#[test]
fn update_plan() {
    let bench = Bench::new();
    takes(&bench.tools, "update_plan", "current_focus overall_approach steps!");
    let step = |id: &str, status: &str| json!({ "id": id, "description": "look", "status": status });
    let arguments = json!({ "steps": [step("1", "done"), step("2", "in_progress")], "overall_approach": "By hand" });
    let told = bench.ok("update_plan", &arguments);
    let plan = "# Execution Plan\n\n**Approach**: By hand\n\n## Steps\n\n- [x] **1**: look\n- [>] **2**: look\n";
    assert_eq!(told, format!("Plan updated (1/2 done).\n\n{plan}"));
    assert_eq!(bench.text(".plan.md"), plan);
    risks("update_plan", &arguments, Level::Low);
}

#[test]
fn save_memo() {
    let bench = Bench::new();
    takes(&bench.tools, "save_memo", "append=false content! filename!");
    let arguments = json!({ "filename": "findings.md", "content": "one" });
    bench.ok("save_memo", &arguments);
    assert_eq!(bench.text(".memo/findings.md"), "one");
    risks("save_memo", &arguments, Level::Low);
}

#[test]
fn search_memo() {
    let bench = Bench::new();
    takes(&bench.tools, "search_memo", "query!");
    let arguments = json!({ "query": "timeouts" });
    let work = bench.call("search_memo", &arguments).request.unwrap().work;
    assert_eq!(work, HostWork::SearchMemo { query: "timeouts".to_owned() });
    risks("search_memo", &arguments, Level::Low);
}

#[test]
fn ask_user() {
    let bench = Bench::new();
    takes(&bench.tools, "ask_user", "context options question!");
    let arguments = json!({ "question": "Which one?", "options": ["this", "that"] });
    let prepared = bench.prepare_with(&bench.tools, "ask_user", &arguments.to_string()).unwrap();
    let question = prepared.question.unwrap();
    assert_eq!((question.question.as_str(), question.options.len()), ("Which one?", 2));
    risks("ask_user", &arguments, Level::Low);
}

#[test]
fn spawn_agent() {
    let bench = Bench::new();
    takes(&bench.tools, "spawn_agent", "label task! timeout_seconds=300 write_output_to");
    let arguments = json!({ "task": "Find the pricing", "label": "research-pricing" });
    let work = bench.call("spawn_agent", &arguments).request.unwrap().work;
    assert!(matches!(work, HostWork::SpawnChild(spawn) if spawn.task == "Find the pricing"));
    risks("spawn_agent", &arguments, Level::Medium);
}

#[test]
fn list_skills() {
    let (bench, shop) = (Bench::new(), Shop::new());
    shop.skill("user", "pdf", "Read PDF files");
    let tools = equipped(&bench, &shop, Kit::executor(Confinement::Sealed));
    takes(&tools, "list_skills", "");
    assert!(bench.ok_with(&tools, "list_skills", &json!({})).contains("pdf (user): Read PDF files"));
    risks("list_skills", &json!({}), Level::Low);
}

#[test]
fn read_skill() {
    let (bench, shop) = (Bench::new(), Shop::new());
    shop.skill("user", "pdf", "Read PDF files");
    let tools = equipped(&bench, &shop, Kit::executor(Confinement::Sealed));
    takes(&tools, "read_skill", "file name!");
    assert!(bench.ok_with(&tools, "read_skill", &json!({ "name": "pdf" })).contains("# Read PDF files"));
    risks("read_skill", &json!({ "name": "pdf" }), Level::Low);
}

#[test]
fn publish_deliverable() {
    let bench = Bench::new();
    takes(&bench.tools, "publish_deliverable", "description! filepath! type!");
    bench.put("output/report.md", "# Report\n");
    let arguments = json!({ "filepath": "output/report.md", "description": "All of it", "type": "report" });
    let work = bench.call("publish_deliverable", &arguments).request.unwrap().work;
    assert!(matches!(work, HostWork::Deliver { filepath, .. } if filepath == "output/report.md"));
    risks("publish_deliverable", &arguments, Level::Low);
}
