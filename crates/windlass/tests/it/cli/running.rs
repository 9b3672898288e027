//! `windlass run` from the goal to its end.

use super::assert_shown;
use super::cards::approve;
use super::scripts::HELLO;
use crate::support::{Home, Ledger, none_left};

#[test]
fn without_a_check_the_agent_s_word_is_all_there_is() {
    let home = Home::playing(HELLO);
    assert_shown!(home, home.run(&[]).run(), @"
    exit code 0
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ I will write the file.
    ▸ write hello.txt  Created (3 bytes). · [TIME]

    │ Done.

    COMPLETED, not verified  2 model calls · 1 tool call · 1,950 tokens · $0.0000 · [TIME]
    ");
    assert_eq!(home.read("hello.txt"), "hi\n");
    none_left(&home);
}

#[test]
fn a_check_that_passes_verifies() {
    let home = Home::playing(HELLO);
    assert_shown!(home, home.run(&["--base-case", "command: grep -q hi hello.txt"]).run(), @"
    exit code 0
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ I will write the file.
    ▸ write hello.txt  Created (3 bytes). · [TIME]
    ✔ check `grep -q hi hello.txt` passed

    │ Done.

    COMPLETED, verified  2 model calls · 1 tool call · 1,950 tokens · $0.0000 · [TIME]
    ");
}

#[test]
fn checks_that_never_pass_fail_the_task_after_the_last_attempt() {
    let home = Home::playing(HELLO);
    let checks = ["--base-case", "[{file: hello.txt}, {file: never.txt}]", "--max-attempts", "2"];
    assert_shown!(home, home.run(&checks).run(), @"
    exit code 1
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ I will write the file.
    ▸ write hello.txt  Created (3 bytes). · [TIME]
    ✔ check `hello.txt exists` passed
    ✘ check `never.txt exists` failed · never.txt does not exist

    attempt 2

    │ I will write the file.
    ▸ write hello.txt  Replaced (3 bytes). · [TIME]
    ✔ check `hello.txt exists` passed
    ✘ check `never.txt exists` failed · never.txt does not exist

    │ Done.

    FAILED  4 model calls · 2 tool calls · 3,900 tokens · $0.0000 · [TIME]
    error: the checks still fail after 2 attempts
    hint: `windlass log [SHORT]` shows what they said; --max-attempts allows more attempts
    ");
}

#[test]
fn a_second_attempt_hears_of_the_first_and_mends_it() {
    let home = Home::playing(include_str!("../../scripts/attempts.yaml"));
    home.write("notes.txt", "alpha\nbeta\n");
    let _ledger = Ledger::open(&home);
    assert_shown!(home, home.run(&["--base-case", "command: grep -q right answer.txt"]).run(), @"
    exit code 0
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ First attempt.
    ▸ read notes.txt  2 lines · [TIME]
    ▸ grep alpha  notes.txt:1:alpha · [TIME]
    ▸ glob *.txt  notes.txt · [TIME]
    ▸ bash echo effect-1 > ledger; echo 1 > made-1  Exit code: 0 · (no output) · [TIME]

    │ The answer.
    ▸ write answer.txt  Created (6 bytes). · [TIME]
    ▸ write output/report.md  Created (9 bytes). · [TIME]
      deliverable output/report.md · The report
    ✘ check `grep -q right answer.txt` failed · the command exited with 1, expected 0

    attempt 2

    │ Second attempt.
    ▸ bash echo effect-2 > ledger; echo 2 > made-2  Exit code: 0 · (no output) · [TIME]
    ▸ edit answer.txt  Edited: replaced 1 occurrence at line 1. · [TIME]
      deliverable output/report.md · The report again
    ✔ check `grep -q right answer.txt` passed

    │ Now it is right.

    COMPLETED, verified  6 model calls · 10 tool calls · 7,740 tokens · $0.0000 · [TIME]
    ");
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
    assert_shown!(home, home.run(&["--base-case", check, "--max-attempts", "1"]).run(), @"
    exit code 1
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap
    ▸ write test.sh  Replaced (7 bytes). · [TIME]
    ✘ check `sh test.sh` failed · the command exited with 1, expected 0
        │ the real test
      ! test.sh had been changed, and was restored for the check

    │ The test passes now.

    FAILED  2 model calls · 1 tool call · 1,850 tokens · $0.0000 · [TIME]
    error: the checks still fail after 1 attempt
    hint: `windlass log [SHORT]` shows what they said; --max-attempts allows more attempts
    ");
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
    // Reaching for the network is asked about; what happens then is for the sandbox.
    home.run(&[]).env("GH_TOKEN", "ghp_abcdefghijklmnop").run().expect(3);
    approve(&home);
    let ended = home.windlass(&["resume", "--json"]).env("GH_TOKEN", "ghp_abcdefghijklmnop").run().expect(0);
    let finished = ended.objects().into_iter().find(|record| record["type"] == "tool.finished");
    let said = finished.expect("one call")["data"]["content"].as_str().expect("text").to_owned();
    insta::assert_snapshot!(said, @"
    Exit code: 0

    /workspace
    notes.txt
    HOME PATH PWD SHLVL _ 
    cat: ../script.yaml: No such file or directory
    cat: ../data/windlass.db: No such file or directory
    hidden
    no network
    ");
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
    assert_shown!(home, home.run(&["--sandbox", "process", "--no-isolation"]).run(), @"
    exit code 0
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox process
    ▸ bash echo made > made.txt  Exit code: 0 · (no output) · [TIME]  [external]

    │ Done.

    COMPLETED, not verified  2 model calls · 1 tool call · 1,850 tokens · $0.0000 · [TIME]
    ");
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
    assert_shown!(home, home.run(&more).run(), @"
    exit code 0
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace/elsewhere · sandbox bubblewrap
    ▸ glob *  other.txt · [TIME]

    │ I see the other folder.

    COMPLETED, not verified  2 model calls · 1 tool call · 1,850 tokens · $0.0000 · [TIME]
    ");
}

#[test]
fn a_script_that_ends_too_soon_says_where() {
    let home = Home::playing(
        "version: 1\ntracks:\n  default:\n    - calls: [ { tool: glob, args: { pattern: '*' } } ]\n      usage: { input: 9, output: 1 }\n",
    );
    assert_shown!(home, home.run(&[]).run(), tokens aside, @"
    exit code 1
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap
    ▸ glob *  No files match *. Ignored files were not searched. · [TIME]

    FAILED  2 model calls · 1 tool call · [TOKENS] tokens · $0.0000 · [TIME]
    error: the rehearsal script has nothing for track `default` at turn 1 (the script ends before it); add an entry
    ");
}

#[test]
fn a_model_that_answers_nothing_is_not_the_last_word_on_what_to_do() {
    let script = "version: 1\ntracks:\n  default:\n    - reply: ' '\n      usage: { input: 9, output: 1 }\n";
    let home = Home::playing(script);
    assert_shown!(home, home.run(&["--max-attempts", "1"]).run(), @"
    exit code 1
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap
    ! the answer cannot be used and the model is told so  the model answered nothing
    ! the answer cannot be used and the model is told so  the model answered nothing
    ! the answer cannot be used and the model is told so  the model answered nothing

    FAILED  4 model calls · 0 tool calls · 40 tokens · $0.0000 · [TIME]
    error: the model answered nothing
    hint: `windlass log [SHORT]` shows how far it came; try again, or another --model
    ");
}

/// Who is faster says something first, so that only what is said in any order is looked for.
#[test]
fn the_demo_reaches_its_objective_and_is_verified() {
    let home = Home::new();
    let said = home.windlass(&["demo"]).run().expect(0).stdout;
    for words in [
        "Scripted agents in real sandboxes: no key, no network.",
        "objective The text tools work, and their suite says so",
        "over when sh tests/run.sh (protects tests/run.sh)",
        "at worst  36 attempts · 200,000 tokens",
        "✓ begun, with your approval",
        "objective  ✘ check `sh tests/run.sh` failed · the command exited with 4, expected 0",
        "with-tr    ✘ failed · the checks still fail after 1 attempt",
        "with-awk   ✔ it can be done · awk is there, and splits words by itself.",
        "↩ title: with-tr is given up for another way",
        "objective  ✔ check `sh tests/run.sh` passed",
        "✔ your folder has the work: 4 files changed",
        "COMPLETED, verified",
        "it used 5 attempts",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let place = |words: &str| said.find(words).unwrap_or_else(|| panic!("{words}: {said}"));
    let begun = ["slug       ▸ Mend slug", "count      ▸ Mend count", "with-tr    ▸ Mend title"].map(place);
    assert!(begun.iter().all(|begun| *begun < place("✔ check")), "side by side: {said}");
    assert!(place("with-awk   ✔ It is mended") < place("heading    ▸ Build heading"), "one after the other: {said}");
}

#[test]
fn arguments_that_are_refused_say_which() {
    let home = Home::playing(
        r"
version: 1
tracks:
  default:
    - calls: [ { tool: write, args: { path: 7, content: 8 } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      usage: { input: 900, output: 40 }
",
    );
    let told =
        "▸ write  Error: invalid arguments for `write`; nothing was done: `content`: must be a string, not 8 … · ";
    for words in [home.run(&[]).run().expect(0), home.windlass(&["log"]).run().expect(0)] {
        assert!(words.stdout.contains(told), "{}", words.stdout);
    }
}
