//! Which tools a role has. Roles that must not change anything have no tool that could (INV-04), whatever they are offered.

use serde_json::{Value, json};
use windlass_domain::{CallStatus, CancelSignal, Effect, ToolCall};
use windlass_sandbox::Status;
use windlass_tools::{
    Bash, Confinement, Edit, Glob, Kit, PythonExec, RESEARCH_TOOL_ALLOWLIST, SaveMemo, Tool, Toolset, WebFetch, Write,
};

use crate::list_skills::equipped;
use crate::skills::Shop;
use crate::support::{Bench, execution, exit, permit};
use crate::web_search::configured;

fn names(kit: Kit) -> Vec<String> {
    let tools = Toolset::new(Bench::new().context(), kit);
    tools.specs().into_iter().map(|spec| spec.name).collect()
}

#[test]
fn who_only_looks_has_no_tool_that_changes_anything() {
    assert_eq!(names(Kit::read_only()), ["glob", "grep", "memory_search", "read", "search_memo"]);
    assert_eq!(names(Kit::none()), [""; 0]);
}

#[test]
fn the_tools_that_the_runtime_knows_by_name_are_there() {
    use windlass_domain::tool_name::{ASK_USER, REPEATABLE, SAVE_MEMO, SEARCH_MEMO, UPDATE_PLAN};
    let kit = Kit::executor(Confinement::Sealed);
    let known = [ASK_USER, SAVE_MEMO, SEARCH_MEMO, UPDATE_PLAN].into_iter().chain(REPEATABLE);

    let missing: Vec<&str> = known.filter(|tool| !kit.has(tool) && !Kit::read_only().has(tool)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn what_a_role_is_offered_it_takes_only_where_it_may() {
    let offer = || -> Vec<Box<dyn Tool>> { vec![Box::new(Write)] };
    assert!(!names(Kit::read_only().with(offer()).unwrap()).contains(&"write".to_owned()));
    assert_eq!(names(Kit::none().with(vec![Box::new(Glob)]).unwrap()), [""; 0]);
    let nothing_yet = Kit::only(Vec::new(), Confinement::Sealed).unwrap();
    assert_eq!(names(nothing_yet.with(offer()).unwrap()), ["write"]);
}

#[test]
fn two_tools_of_one_name_are_refused() {
    let error = Kit::executor(Confinement::Sealed).with(vec![Box::new(Write)]).err().unwrap();
    assert_eq!(error.to_string(), "register `write`: there already is a tool of that name");
}

/// All that the kit holds where skills are there and searching is configured.
fn all_of(kit: Kit) -> Vec<String> {
    let (bench, shop) = (Bench::new(), Shop::new());
    shop.skill("user", "pdf", "Read PDF files");
    shop.put("user/pdf/scripts/a.py", "print(1)");
    let skills = equipped(&bench, &shop, kit.clone()).specs();
    let web = configured(&bench, kit).specs();
    let mut names: Vec<String> = skills.into_iter().chain(web).map(|spec| spec.name).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn every_role_has_its_tools_and_no_others() {
    assert_eq!(all_of(Kit::proxy()).join(" "), "context_inspect glob grep memory_search read tell_user web_search");
    let planner = "glob grep list_skills memory_search read read_skill request_research validate_plan";
    assert_eq!(all_of(Kit::planner()).join(" "), planner);
    assert_eq!(all_of(Kit::research(RESEARCH_TOOL_ALLOWLIST)).join(" "), "memory_search read web_search");
    assert_eq!(
        all_of(Kit::executor(Confinement::Sealed)).join(" "),
        "ask_user bash edit glob grep list_skills monitor publish_deliverable python_exec read read_skill save_memo search_memo \
         skill_exec spawn_agent update_plan web_fetch web_search write"
    );
}

#[test]
fn a_researcher_has_what_was_asked_for_as_far_as_it_is_on_the_list() {
    assert_eq!(all_of(Kit::research(&["read_file"])), ["read"]);
    assert_eq!(all_of(Kit::research(&["web_search", "bash", "write", "web_fetch", "tell_user"])), ["web_search"]);
    assert_eq!(all_of(Kit::research::<&str>(&[])), [""; 0]);
    assert_eq!(all_of(Kit::research(&["read"]).with(offered()).unwrap()), ["read"]);
}

#[test]
fn what_such_a_role_is_offered_besides_it_does_not_take() {
    for kit in [Kit::proxy(), Kit::planner(), Kit::research(RESEARCH_TOOL_ALLOWLIST)] {
        let before = all_of(kit.clone());
        assert_eq!(all_of(kit.with(offered()).unwrap()), before);
    }
}

/// What somebody may want to give them besides.
fn offered() -> Vec<Box<dyn Tool>> {
    let sealed = Confinement::Sealed;
    vec![
        Box::new(Write),
        Box::new(Edit),
        Box::new(Bash(sealed)),
        Box::new(PythonExec(sealed)),
        Box::new(SaveMemo),
        Box::new(WebFetch),
    ]
}

/// Calls that would change something, or reach beyond what a role is for.
fn deeds() -> [(&'static str, Value); 5] {
    [
        ("write", json!({ "path": "made", "content": "x" })),
        ("edit", json!({ "path": "here", "old_string": "a", "new_string": "b" })),
        ("bash", json!({ "command": "touch made" })),
        ("python_exec", json!({ "script": "open('made', 'w')" })),
        ("save_memo", json!({ "filename": "made", "content": "x" })),
    ]
}

/// INV-04: whatever the model asks for and whatever the kit is offered, even with a leave in hand, nothing happens. Whether anything did.
fn acts(kit: Kit, (tool, arguments): &(&'static str, Value)) -> bool {
    let bench = Bench::new();
    bench.put("here", "a");
    bench.sandbox.answer(Ok(exit(Status::Code(0), "")));
    let tools = Toolset::new(bench.context(), kit);
    let prepared = bench.prepare_with(&tools, tool, &arguments.to_string());
    let effect = prepared.as_ref().map_or(Effect::Once, |prepared| prepared.effect.clone());
    let leave = permit(ToolCall::new("call_1", *tool, &arguments.to_string()), effect);
    let ran = bench.wait(tools.run(execution(), leave, CancelSignal::never(), &mut |_| {}));
    let happened = !bench.sandbox.commands.lock().unwrap().is_empty()
        || bench.text("here") != "a"
        || std::fs::read_dir(bench.path("")).unwrap().count() > 1;
    if !happened {
        assert!(prepared.is_err_and(|said| said.contains("there is no tool")), "{tool}");
        assert_eq!(ran.status, CallStatus::Error, "{tool}");
    }
    happened
}

#[test]
fn inv_04_a_proxy_cannot_act() {
    assert!(deeds().iter().all(|deed| !acts(Kit::proxy().with(offered()).unwrap(), deed)));
}

#[test]
fn inv_04_a_planner_cannot_act() {
    assert!(deeds().iter().all(|deed| !acts(Kit::planner().with(offered()).unwrap(), deed)));
}

#[test]
fn inv_04_a_researcher_cannot_act() {
    let asked = ["web_search", "read", "write", "edit", "bash", "python_exec", "save_memo"];
    assert!(deeds().iter().all(|deed| !acts(Kit::research(&asked).with(offered()).unwrap(), deed)));
}

#[test]
fn inv_04_the_control_an_executor_acts() {
    assert!(deeds().iter().all(|deed| acts(Kit::executor(Confinement::Sealed), deed)));
}
