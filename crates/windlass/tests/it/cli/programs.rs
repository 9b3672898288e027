//! Scripts that an agent wants to run, `python_exec` and `skill_exec`: shown word for word, asked about, and run once.

use super::cards::{approve, card, is_there, open_cards};
use crate::support::{Home, read};

const PYTHON: &str = r#"
version: 1
tracks:
  default:
    - reply: I will count.
      calls: [ { tool: python_exec, args: { script: "print(6 * 7)\nopen('made', 'a').write('x')" } } ]
    - reply: Done.
"#;

const SKILL: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: skill_exec, args: { skill_name: build, script_name: go.sh, args: { target: all } } } ]
    - reply: Done.
"#;

fn said(home: &Home) -> String {
    read(home).of("tool.finished").map(|record| record["data"]["content"].to_string()).collect()
}

#[test]
fn a_python_script_waits_for_a_yes_and_runs_once() {
    let home = Home::playing(PYTHON);
    home.run(&[]).run().expect(3);
    assert!(!is_there(&home, "made"), "nobody has answered");
    let details = &open_cards(&home)[0]["details"];
    assert_eq!(details["argv"][2], "print(6 * 7)\nopen('made', 'a').write('x')", "{details}");
    approve(&home);
    home.windlass(&["resume"]).run().expect(0);
    assert!(said(&home).contains("42"), "{}", said(&home));
    assert_eq!(std::fs::read_to_string(home.workspace().join("made")).expect("it ran"), "x");
}

#[test]
fn a_no_to_a_script_is_a_no() {
    let home = Home::playing(PYTHON);
    home.run(&[]).run().expect(3);
    home.windlass(&["deny", &card(&home)]).run().expect(0);
    home.windlass(&["resume"]).run().expect(0);
    assert!(!is_there(&home, "made") && said(&home).contains("declined"), "{}", said(&home));
}

#[test]
fn a_script_of_a_skill_waits_for_a_yes_and_runs_where_the_sandbox_shows_it() {
    let home = Home::playing(SKILL);
    home.write(".agents/skills/build/SKILL.md", "---\nname: build\ndescription: How to build this\n---\n# Build\n");
    home.write(".agents/skills/build/go.sh", "echo \"built $2 as $0 in $PWD\"\n");
    home.run(&[]).run().expect(3);
    let argv = open_cards(&home)[0]["details"]["argv"].to_string();
    assert_eq!(argv, r#"["bash","/skills/build/go.sh","--target","all"]"#);
    approve(&home);
    home.windlass(&["resume"]).run().expect(0);
    assert!(said(&home).contains("built all as /skills/build/go.sh in /workspace"), "{}", said(&home));
}
