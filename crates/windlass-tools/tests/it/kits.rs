//! Which tools a role has. Roles that must not change anything have no tool that could (INV-04), whatever they are offered.

use windlass_tools::{Confinement, Glob, Kit, Tool, Toolset, Write};

use crate::support::Bench;

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
