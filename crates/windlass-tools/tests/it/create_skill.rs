//! `create_skill`: what it writes is a skill, or it writes nothing.

use std::path::Path;

use serde_json::{Value, json};
use windlass_domain::{CallStatus, Effect, Reach, Recovery};
use windlass_tools::skills::check_folder;
use windlass_tools::{Confinement, CreateSkill, Kit, Toolset};

use crate::support::Bench;

fn skill(name: &str, description: &str, instructions: &str) -> Value {
    json!({ "name": name, "description": description, "instructions": instructions })
}

/// A bench whose pattern has it.
fn bench() -> Bench {
    let mut bench = Bench::new();
    let kit = Kit::executor(Confinement::Sealed).with(vec![Box::new(CreateSkill)]).unwrap();
    bench.tools = Toolset::new(bench.context(), kit);
    bench
}

#[test]
fn what_is_written_is_a_skill() {
    let bench = bench();
    let said = bench
        .ok("create_skill", &skill("making-tea", "How tea is made: \"properly\".\nAlways.", "# Tea\n\nBoil water."));
    assert!(said.starts_with("Created the skill `making-tea` (.windlass/skills/making-tea/SKILL.md)."), "{said}");
    let found = check_folder(&bench.path(".windlass/skills/making-tea")).unwrap();
    assert_eq!(found.description, "How tea is made: \"properly\". Always.");
    assert!(found.instructions().ends_with("\n# Tea\n\nBoil water.\n"), "{}", found.instructions());
    assert!(bench.ok("create_skill", &skill("making-tea", "Another way", "Cold.")).starts_with("Replaced"));
}

#[test]
fn what_would_be_none_is_refused() {
    let bench = bench();
    let long = "x".repeat(65 * 1024);
    let table = [
        (skill("Making Tea", "d", "i"), "name"),
        (skill("../tea", "d", "i"), "name"),
        (skill("tea", " ", "i"), "no `description`"),
        (skill("tea", &"d".repeat(1_025), "i"), "at most 1024"),
        (skill("tea", "d", &long), "larger than 64 KiB"),
        (json!({ "name": "tea", "description": "d" }), "instructions"),
        (json!({ "name": "tea", "description": "d", "instructions": "i", "script": "x" }), "script"),
    ];
    for (arguments, words) in table {
        let error = bench.error("create_skill", &arguments);
        assert!(error.contains(words), "{error}");
    }
    assert!(!Path::new(&bench.path(".windlass")).exists());
}

#[test]
fn an_interrupted_one_is_found_by_looking() {
    let bench = bench();
    let arguments = skill("tea", "d", "i");
    let effect = bench.prepare("create_skill", &arguments).unwrap();
    let Effect::Probe(probe) = &effect else { panic!("it says what it will leave: {effect:?}") };
    assert_eq!(probe.path, ".windlass/skills/tea/SKILL.md");
    let recovery = |effect: &Effect| effect.recover(|_| bench.probe(effect));
    assert_eq!(recovery(&effect), Recovery::RunAgain);
    assert_eq!(bench.run("create_skill", &arguments, effect.clone()).status, CallStatus::Ok);
    assert!(matches!(recovery(&effect), Recovery::Finished(said) if said.starts_with("Created the skill `tea`")));
    let prepared = bench.prepare_with(&bench.tools, "create_skill", &arguments.to_string()).unwrap();
    assert_eq!(prepared.reach, Reach::Context);
}

#[test]
fn nobody_has_it_unasked() {
    assert!(!Kit::executor(Confinement::Sealed).has("create_skill"));
    assert!(!Kit::planner().with(vec![Box::new(CreateSkill)]).unwrap().has("create_skill"));
}
