//! `skill_exec`: scripts of the task's own skills, and no other file, with their arguments as words.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use windlass_domain::{CallStatus, Effect, Reach};
use windlass_policy::risk::{Level, Place, Table, assess_call};
use windlass_sandbox::{Error, Status, Stdin};
use windlass_tools::{Confinement, Kit, Toolset};

use crate::list_skills::equipped;
use crate::skills::Shop;
use crate::support::{Bench, exit};

struct Case {
    bench: Bench,
    tools: Toolset,
    _shop: Shop,
}

impl Case {
    fn new() -> Self {
        let (bench, shop) = (Bench::new(), Shop::new());
        shop.skill("user", "pdf", "Read PDF files");
        shop.skill("user", "plain", "Only words");
        for (file, mode) in
            [("scripts/read.py", 0o644), ("scripts/run", 0o755), ("tool.sh", 0o644), ("notes.txt", 0o644)]
        {
            let path = format!("user/pdf/{file}");
            shop.put(&path, "echo");
            std::fs::set_permissions(shop.path(&path), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        shop.put("user/secret.sh", "no skill of anybody's");
        let tools = equipped(&bench, &shop, Kit::executor(Confinement::Sealed));
        Self { bench, tools, _shop: shop }
    }

    /// The words that would be run.
    fn argv(&self, arguments: &Value) -> Result<Vec<String>, String> {
        let prepared = self.bench.prepare_with(&self.tools, "skill_exec", &arguments.to_string())?;
        assert_eq!((&prepared.effect, &prepared.reach), (&Effect::Once, &Reach::Program));
        Ok(prepared.program.unwrap().argv)
    }

    #[track_caller]
    fn check(&self, script: &str, args: &Value, expected: &str) {
        let arguments = json!({ "skill_name": "pdf", "script_name": script, "args": args });
        assert_eq!(self.argv(&arguments).unwrap().join("|"), expected);
    }

    #[track_caller]
    fn refused(&self, arguments: &Value, words: &str) {
        let said = self.argv(arguments).unwrap_err();
        assert!(said.contains(words), "{arguments}: {said}");
    }
}

#[test]
fn a_script_is_run_where_the_sandbox_shows_it() {
    let case = Case::new();
    case.check("scripts/read.py", &json!({}), "python3|/skills/pdf/scripts/read.py");
    case.check("read.py", &json!({}), "python3|/skills/pdf/scripts/read.py");
    case.check("/skills/pdf/tool.sh", &json!({}), "bash|/skills/pdf/tool.sh");
    case.check("run", &json!({}), "/skills/pdf/scripts/run");
}

#[test]
fn arguments_become_words_in_a_way_that_can_be_foreseen() {
    let case = Case::new();
    let args = json!({ "in": "a b.pdf", "pages": 3, "fast": true, "slow": false, "none": null, "tag": ["x", "y"],
                       "box": {"w": 1}, "_": ["--last", 7] });
    let words = "--box|{\"w\":1}|--fast|--in|a b.pdf|--pages|3|--tag|x|--tag|y|--last|7";
    case.check("run", &args, &format!("/skills/pdf/scripts/run|{words}"));
    case.check("run", &json!({ "_": "only" }), "/skills/pdf/scripts/run|only");
}

#[test]
fn what_is_shown_is_what_is_run() {
    let case = Case::new();
    case.bench.sandbox.answer(Ok(exit(Status::Code(0), "page 1\n")));
    let arguments = json!({ "skill_name": "pdf", "script_name": "run", "args": { "n": 1 }, "timeout_seconds": 5 });
    assert_eq!(case.bench.ok_with(&case.tools, "skill_exec", &arguments), "Exit code: 0\n\npage 1\n");
    let command = case.bench.sandbox.commands.lock().unwrap().pop().unwrap();
    assert_eq!(command.argv, ["/skills/pdf/scripts/run", "--n", "1"]);
    assert_eq!((command.stdin, command.timeout.as_secs()), (Stdin::Closed, 5));
    let risk = assess_call(&Table::shipped(), "skill_exec", &arguments, &Place::workspace());
    assert_eq!(risk.level, Level::High, "what it does cannot be read");
}

/// The control is `a_script_is_run_where_the_sandbox_shows_it`.
#[test]
fn no_name_leads_out_of_the_skill_or_to_another() {
    let case = Case::new();
    for script in [
        "../secret.sh",
        "scripts/../../secret.sh",
        "/etc/passwd",
        "../pdf/tool.sh",
        "/skills/plain/SKILL.md",
        "scripts",
    ] {
        case.refused(&json!({ "skill_name": "pdf", "script_name": script }), "has no file");
    }
    for skill in ["..", "../user", "pdf/scripts", "nobodys", ""] {
        assert!(case.argv(&json!({ "skill_name": skill, "script_name": "run" })).is_err(), "{skill}");
    }
    case.refused(&json!({ "skill_name": "pfd", "script_name": "run" }), "did you mean `pdf`?");
    case.refused(&json!({ "skill_name": "plain", "script_name": "run" }), "has no scripts");
}

#[test]
fn a_link_that_leads_out_is_no_part_of_a_skill() {
    let (bench, shop) = (Bench::new(), Shop::new());
    shop.skill("user", "pdf", "Read PDF files");
    shop.put("user/pdf/run.sh", "echo");
    shop.skill("user", "evil", "Leads elsewhere");
    shop.put("outside.sh", "echo");
    std::os::unix::fs::symlink(shop.path("outside.sh"), shop.path("user/evil/run.sh")).unwrap();
    let tools = equipped(&bench, &shop, Kit::executor(Confinement::Sealed));
    let call = |skill: &str| {
        let arguments = json!({ "skill_name": skill, "script_name": "run.sh" });
        bench.prepare_with(&tools, "skill_exec", &arguments.to_string())
    };
    assert!(call("pdf").is_ok());
    assert!(call("evil").unwrap_err().contains("there is no skill `evil`"));
}

#[test]
fn bad_arguments_are_refused_before_anything_runs() {
    let case = Case::new();
    let with = |args: Value| json!({ "skill_name": "pdf", "script_name": "run", "args": args });
    case.refused(&json!({ "skill_name": "pdf" }), "`script_name`: missing");
    case.refused(&with(json!("--fast")), "`args`: must be an object");
    case.refused(&with(json!({ "a b": 1 })), "is no name of an option");
    case.refused(&with(json!({ "--fast": true })), "is no name of an option");
    case.refused(&with(json!({ "a": "x\u{0}y" })), "zero byte");
    case.refused(&with(json!({ "a": "x".repeat(70_000) })), "at most 60000 are passed");
    case.refused(&json!({ "skill_name": "pdf", "script_name": "notes.txt" }), "is no script");
    assert!(case.bench.sandbox.commands.lock().unwrap().is_empty());
}

#[test]
fn it_is_there_where_scripts_are_and_are_shown() {
    let has = |files: bool, confinement| {
        let (bench, shop) = (Bench::new(), Shop::new());
        shop.skill("user", "pdf", "Read PDF files");
        if files {
            shop.put("user/pdf/run.sh", "echo");
        }
        equipped(&bench, &shop, Kit::executor(confinement)).specs().iter().any(|spec| spec.name == "skill_exec")
    };
    assert!(has(true, Confinement::Sealed) && has(true, Confinement::Restricted));
    assert!(!has(false, Confinement::Sealed), "nothing to run");
    assert!(!has(true, Confinement::Nothing), "there is no /skills");
}

#[test]
fn an_interruption_leaves_open_whether_it_happened() {
    let case = Case::new();
    case.bench.sandbox.answer(Err(Error::Died { detail: "the supervisor is gone".into() }));
    let ran = case.bench.call_with(&case.tools, "skill_exec", &json!({ "skill_name": "pdf", "script_name": "run" }));
    assert_eq!(ran.status, CallStatus::Interrupted);
}
