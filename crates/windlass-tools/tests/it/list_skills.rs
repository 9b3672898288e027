//! `list_skills`: there where skills are, and nowhere else.

use std::sync::Arc;

use serde_json::json;
use windlass_domain::Reach;
use windlass_tools::skills::Shelf;
use windlass_tools::{Confinement, Kit, Toolset};

use crate::skills::Shop;
use crate::support::Bench;

/// Every tool, with the skills of this shop.
pub fn equipped(bench: &Bench, shop: &Shop, kit: Kit) -> Toolset {
    std::fs::create_dir_all(shop.path("shelf")).unwrap();
    let shelf = Shelf::new(shop.path("shelf"));
    let seen = shelf.keep(&shop.library()).unwrap();
    let mut context = bench.context();
    context.skills = shelf.open(&seen).unwrap();
    Toolset::new(context, kit)
}

fn has(tools: &Toolset, name: &str) -> bool {
    tools.specs().iter().any(|spec| spec.name == name)
}

#[test]
fn without_skills_there_is_no_such_tool() {
    let bench = Bench::new();
    assert!(!has(&bench.tools, "list_skills") && !has(&bench.tools, "read_skill"));
    assert!(bench.error("list_skills", &json!({})).contains("there is no tool `list_skills`"));
    assert_eq!(bench.tools.skills(), []);
}

#[test]
fn what_there_is_is_listed_with_its_source() {
    let (bench, shop) = (Bench::new(), Shop::new());
    shop.skill("user", "one", "The first");
    shop.skill("workspace/.agents/skills", "two", "The second");
    let tools = equipped(&bench, &shop, Kit::executor(Confinement::Sealed));
    assert_eq!(bench.ok_with(&tools, "list_skills", &json!({})), "one (user): The first\ntwo (workspace): The second");
    let prepared = bench.prepare_with(&tools, "list_skills", "{}").unwrap();
    assert_eq!(prepared.reach, Reach::Files(vec![".agents/skills/two".to_owned()]));
}

#[test]
fn a_skill_that_needs_a_missing_tool_is_not_offered() {
    let (bench, shop) = (Bench::new(), Shop::new());
    let needs = |name: &str, tool: &str| {
        let text = format!("---\nname: {name}\ndescription: x\nmetadata:\n  needs-tools: {tool}\n---\n");
        shop.put(&format!("user/{name}/SKILL.md"), text);
    };
    needs("flying", "wings");
    needs("grepping", "grep");
    let names = |kit: Kit| {
        let tools = equipped(&bench, &shop, kit);
        tools.skills().iter().map(|skill| skill.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(Kit::executor(Confinement::Sealed)), ["grepping"]);
    assert_eq!(names(Kit::read_only()), ["grepping"]);
    assert_eq!(names(Kit::none()), [""; 0], "who cannot read one is told of none");
}

/// A thousand agents of one project share what they were offered.
#[test]
fn a_set_is_read_once() {
    let shop = Shop::new();
    shop.skill("user", "one", "The first");
    std::fs::create_dir(shop.path("shelf")).unwrap();
    let shelf = Shelf::new(shop.path("shelf"));
    let seen = shelf.keep(&shop.library()).unwrap();
    assert!(Arc::ptr_eq(&shelf.open(&seen).unwrap(), &shelf.open(&seen).unwrap()));
}
