//! `windlass run` from the goal to its end.

use super::assert_shown;
use super::scripts::HELLO;
use crate::support::{Home, Ledger, none_left};

#[test]
fn without_a_check_the_agent_s_word_is_all_there_is() {
    let home = Home::playing(HELLO);
    assert_shown!(home, home.run(&[]).run(), @"");
    assert_eq!(home.read("hello.txt"), "hi\n");
    none_left(&home);
}

#[test]
fn a_check_that_passes_verifies() {
    let home = Home::playing(HELLO);
    assert_shown!(home, home.run(&["--base-case", "command: grep -q hi hello.txt"]).run(), @"");
}

#[test]
fn checks_that_never_pass_fail_the_task_after_the_last_attempt() {
    let home = Home::playing(HELLO);
    let checks = ["--base-case", "[{file: hello.txt}, {file: never.txt}]", "--max-attempts", "2"];
    assert_shown!(home, home.run(&checks).run(), @"");
}

#[test]
fn a_second_attempt_hears_of_the_first_and_mends_it() {
    let home = Home::playing(include_str!("../../scripts/attempts.yaml"));
    home.write("notes.txt", "alpha\nbeta\n");
    let _ledger = Ledger::open(&home);
    assert_shown!(home, home.run(&["--base-case", "command: grep -q right answer.txt"]).run(), @"");
}

#[test]
fn an_agent_cannot_pass_by_editing_what_the_check_protects() {
    let home = Home::playing(
        r#"
version: 1
tracks:
  default:
    - calls: [ { tool: write, args: { path: test.sh, content: "exit 0\n" } } ]
      usage: { input: 900, output: 40 }
    - reply: The test passes now.
      usage: { input: 900, output: 10 }
"#,
    );
    home.write("test.sh", "echo the real test >&2\nexit 1\n");
    let check = "{ command: sh test.sh, protect: [test.sh] }";
    assert_shown!(home, home.run(&["--base-case", check, "--max-attempts", "1"]).run(), @"");
    assert_eq!(home.read("test.sh"), "exit 0\n", "the user's folder is as the agent left it");
}

#[test]
fn commands_run_in_the_sandbox_and_see_nothing_of_the_user() {
    let home = Home::playing(
        r#"
version: 1
tracks:
  default:
    - calls:
        - tool: bash
          args:
            command: |
              pwd; ls; env | cut -d= -f1 | sort | tr '\n' ' '; echo
              cat ../script.yaml ../data/windlass.db || echo hidden
              (exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null || echo no network
      usage: { input: 900, output: 40 }
    - when: { last_result: "^Exit code: 0" }
      reply: It is as it should be.
      usage: { input: 900, output: 10 }
"#,
    );
    home.write("notes.txt", "alpha\n");
    let ended = home.run(&["--json"]).env("GH_TOKEN", "ghp_abcdefghijklmnop").run().expect(0);
    let finished = ended.objects().into_iter().find(|record| record["type"] == "tool.finished");
    let said = finished.expect("one call")["data"]["content"].as_str().expect("text").to_owned();
    insta::assert_snapshot!(said, @"");
}

#[test]
fn without_isolation_commands_run_when_it_is_asked_for_twice() {
    let home = Home::playing(
        r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "echo made > made.txt" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      usage: { input: 900, output: 10 }
"#,
    );
    assert_shown!(home, home.run(&["--sandbox", "process", "--no-isolation"]).run(), @"");
    assert_eq!(home.read("made.txt"), "made\n");
    none_left(&home);
}

#[test]
fn constraints_and_another_folder_reach_the_agent() {
    let home = Home::playing(
        r#"
version: 1
tracks:
  default:
    - when: { request: "Never touch the notes" }
      calls: [ { tool: glob, args: { pattern: "*" } } ]
      usage: { input: 900, output: 40 }
    - when: { last_result: "other.txt" }
      reply: I see the other folder.
      usage: { input: 900, output: 10 }
"#,
    );
    home.write("elsewhere/other.txt", "");
    let more = ["--constraint", "Never touch the notes", "--workspace", "elsewhere"];
    assert_shown!(home, home.run(&more).run(), @"");
}

#[test]
fn a_script_that_ends_too_soon_says_where() {
    let home = Home::playing(
        "version: 1\ntracks:\n  default:\n    - calls: [ { tool: glob, args: { pattern: '*' } } ]\n      usage: { input: 9, output: 1 }\n",
    );
    assert_shown!(home, home.run(&[]).run(), @"");
}

#[test]
fn the_demo_mends_the_test_and_is_verified() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["demo"]).run(), @"");
}
