//! `read_skill`: the instructions and the files beside them, and nothing else.

use serde_json::json;
use windlass_domain::Reach;
use windlass_tools::{Confinement, Kit, Toolset};

use crate::list_skills::equipped;
use crate::skills::Shop;
use crate::support::Bench;

fn shop() -> (Bench, Shop, Toolset) {
    let (bench, shop) = (Bench::new(), Shop::new());
    shop.skill("user", "plain", "Alone");
    shop.skill("workspace/.agents/skills", "build", "How to build");
    shop.put("workspace/.agents/skills/build/scripts/go.sh", "make all\n");
    shop.put("workspace/.agents/skills/build/logo.png", b"\x89PNG\r\n\x1a\n....");
    let tools = equipped(&bench, &shop, Kit::executor(Confinement::Sealed));
    (bench, shop, tools)
}

#[test]
fn instructions_and_files_are_shown() {
    let (bench, _shop, tools) = shop();
    let read = |arguments| bench.ok_with(&tools, "read_skill", &arguments);
    assert!(read(json!({ "name": "plain" })).ends_with("# Alone\n"));
    let text = read(json!({ "name": "build" }));
    assert!(text.ends_with("# How to build\n\n[files of this skill: logo.png, scripts/go.sh]"), "{text}");
    assert_eq!(read(json!({ "name": "build", "file": "scripts/go.sh" })), "make all\n");
    assert_eq!(read(json!({ "name": "build", "file": "/skills/build/scripts/go.sh" })), "make all\n");
}

#[test]
fn nothing_but_a_skills_own_files_can_be_read() {
    let (bench, _shop, tools) = shop();
    let refused = |arguments| bench.error_with(&tools, "read_skill", &arguments);
    for file in ["../plain/SKILL.md", "../../../secret", "/etc/passwd", "scripts", "."] {
        let error = refused(json!({ "name": "build", "file": file }));
        assert!(error.contains("It has: SKILL.md, logo.png, scripts/go.sh"), "{error}");
    }
    assert!(refused(json!({ "name": "../build" })).contains("there is no skill"));
    assert!(refused(json!({ "name": "biuld" })).contains("did you mean `build`?"));
    assert!(refused(json!({ "name": "build", "file": "logo.png" })).contains("a PNG image"));
    assert!(refused(json!({})).contains("name"));
}

/// What the repository says is the repository's; what the user or we say is as good as who asked.
#[test]
fn a_skill_is_worth_what_its_folder_is() {
    let (bench, _shop, tools) = shop();
    let reach =
        |name: &str| bench.prepare_with(&tools, "read_skill", &json!({ "name": name }).to_string()).unwrap().reach;
    assert_eq!(reach("build"), Reach::Files(vec![".agents/skills/build".to_owned()]));
    assert_eq!(reach("plain"), Reach::Context);
}
