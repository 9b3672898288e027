//! The question at a terminal, while `run` waits for its answer: every answer, from here and from elsewhere.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use super::cards::{approve, card, is_there, standing, waits_to_ask};
use crate::support::{Home, Terminal, none_left, wait_for_process};

const QUESTION: &str = "[a]pprove  [d]eny  [e]dit  [l]ater: ";
const CONFIRM: &str = " or yes: ";

fn run(home: &Home) -> Terminal {
    Terminal::start(home, &format!("run 'Do it' --rehearsal {}", home.script().display()))
}

/// A run that asks.
fn asking(home: &Home) -> Terminal {
    let mut terminal = run(home);
    terminal.types("go\n");
    terminal.wait_for(QUESTION);
    terminal
}

#[test]
fn approved_in_two_steps_it_goes_on_in_the_same_place() {
    let home = waits_to_ask();
    let mut terminal = asking(&home);
    terminal.types("a\n");
    terminal.wait_for(CONFIRM);
    assert!(is_there(&home, "old.txt"));
    terminal.types("perhaps\n");
    terminal.wait_for("not approved");
    terminal.wait_for(QUESTION);
    terminal.types("what?\n");
    terminal.wait_for("type a, d, e or l");
    terminal.types("a\n");
    terminal.wait_for(CONFIRM);
    terminal.types(&format!("{}\n", card(&home)));
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!is_there(&home, "old.txt"));
    assert_eq!(shown.matches("COMPLETED, not verified").count(), 1, "{shown}");
    let audit = home.windlass(&["audit", "show"]).run().expect(0).stdout;
    assert!(audit.contains("approval_strength=confirmed by=you"), "{audit}");
    none_left(&home);
}

#[test]
fn denied_or_sent_back_the_agent_hears_why() {
    let home = waits_to_ask();
    let mut terminal = asking(&home);
    terminal.types("d not this one\n");
    let (code, shown) = terminal.end();
    assert!(code == Some(0) && shown.contains("│ Then I leave it."), "{shown}");

    let home = waits_to_ask();
    let mut terminal = asking(&home);
    terminal.types("e\n");
    terminal.wait_for("what should be done differently: ");
    terminal.types("keep a copy\n");
    assert_eq!(terminal.end().0, Some(0));
    assert!(is_there(&home, "copy.txt") && is_there(&home, "old.txt"));
}

#[test]
fn who_answers_later_leaves_the_task_waiting() {
    for leave in ["l\n", "\u{3}", "\u{4}"] {
        let home = waits_to_ask();
        let mut terminal = asking(&home);
        terminal.types(leave);
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(3), "{leave:?}: {shown}");
        assert!(shown.contains("WAITING FOR YOU") && shown.contains("windlass approve"), "{shown}");
        assert_eq!(standing(&home), "waiting");
        none_left(&home);
        approve(&home);
        home.windlass(&["resume"]).run().expect(0);
        assert!(!is_there(&home, "old.txt"));
    }
}

#[test]
fn ctrl_c_at_the_second_step_approves_nothing() {
    let home = waits_to_ask();
    let mut terminal = asking(&home);
    terminal.types("a\n");
    terminal.wait_for(CONFIRM);
    terminal.types("\u{3}");
    assert_eq!(terminal.end().0, Some(3));
    assert!(is_there(&home, "old.txt"));
    assert_eq!(standing(&home), "waiting");
}

#[test]
fn an_answer_from_another_terminal_is_noticed() {
    let home = waits_to_ask();
    let mut terminal = asking(&home);
    home.windlass(&["deny", &card(&home), "--note", "not this one"]).run().expect(0);
    terminal.wait_for("answered elsewhere");
    let (code, shown) = terminal.end();
    assert!(code == Some(0) && shown.contains("│ Then I leave it."), "{shown}");
}

#[test]
fn what_was_typed_before_the_question_is_no_answer_to_it() {
    let home = waits_to_ask();
    let mut terminal = run(&home);
    // In one piece: once the shell has read its line, the rest waits in the terminal.
    terminal.types("go\na\nyes\n");
    terminal.wait_for(QUESTION);
    terminal.types("l\n");
    assert_eq!(terminal.end().0, Some(3));
    assert!(is_there(&home, "old.txt"));
    // The same keys, each typed at its question, are an answer.
    let mut terminal = Terminal::start(&home, "resume");
    terminal.types("go\n");
    terminal.wait_for(QUESTION);
    terminal.types("a\n");
    terminal.wait_for(CONFIRM);
    terminal.types("yes\n");
    assert_eq!(terminal.end().0, Some(0));
    assert!(!is_there(&home, "old.txt"));
}

#[test]
fn approve_asks_for_its_second_step_by_hand() {
    let home = super::cards::asked();
    let words = format!("approve {}", card(&home));
    for (typed, code) in [("no\n", 3), ("\u{3}", 3), ("yes\n", 0)] {
        let mut terminal = Terminal::start(&home, &words);
        terminal.types("go\n");
        terminal.wait_for("rm old.txt; echo gone");
        terminal.wait_for(CONFIRM);
        terminal.types(typed);
        let (ended, shown) = terminal.end();
        assert_eq!(ended, Some(code), "{typed:?}: {shown}");
    }
    assert_eq!(standing(&home), "answered");
}

/// One whose only risk is that a gate asks about it.
fn asked_by_a_gate() -> Home {
    let script = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "echo hello" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      usage: { input: 900, output: 10 }
"#;
    let home = Home::playing(script);
    fs::create_dir_all(home.data()).expect("a data directory");
    let gate = "- { name: ask, on: on_tool_call, type: approval_always, config: { tools: [bash] } }\n";
    fs::write(home.data().join("gates.yaml"), gate).expect("written");
    home
}

#[test]
fn what_is_approved_in_one_step_is_not_said_to_be_confirmed() {
    let home = asked_by_a_gate();
    let mut terminal = asking(&home);
    terminal.types("a\n");
    assert_eq!(terminal.end().0, Some(0));
    let audit = home.windlass(&["audit", "show", "--type", "approval"]).run().expect(0).stdout;
    assert!(audit.contains("approval_strength=explicit") && !audit.contains("confirmed"), "{audit}");

    let home = asked_by_a_gate();
    home.run(&[]).run().expect(3);
    let mut terminal = Terminal::start(&home, &format!("approve {}", card(&home)));
    terminal.types("go\n");
    assert_eq!(terminal.end().0, Some(0));
    let audit = home.windlass(&["audit", "show", "--type", "approval"]).run().expect(0).stdout;
    assert!(audit.contains("approval_strength=explicit") && !audit.contains("confirmed"), "{audit}");
}

#[test]
fn who_is_overtaken_by_another_process_leaves_the_task_to_it() {
    let script = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "rm old.txt; sleep 10000", timeout_seconds: 3600 } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      usage: { input: 900, output: 10 }
"#;
    let home = Home::playing(script);
    home.write("old.txt", "old\n");
    let terminal = asking(&home);
    // It notices nothing until the other one is at work.
    let (asks, around) = at_the_terminal(&home);
    kill_process(asks, Signal::STOP).expect("stopped");
    approve(&home);
    let other = home.windlass(&["resume"]).start();
    wait_for_process(&home, "sleep 10000");
    // `script` stops with what it runs.
    [asks, around].into_iter().for_each(|process| kill_process(process, Signal::CONT).expect("continued"));
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("answered elsewhere") && shown.contains(" goes on with it; to watch it: "), "{shown}");
    other.signal(Signal::INT);
    other.end().expect(5);
}

/// The program that plays this home's script, and the `script` around it.
fn at_the_terminal(home: &Home) -> (Pid, Pid) {
    let playing = home.script();
    let plays = |process: &Path| {
        let words = fs::read(process.join("cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        words[0] == env!("CARGO_BIN_EXE_windlass").as_bytes() && words.contains(&playing.as_os_str().as_encoded_bytes())
    };
    let mut processes = fs::read_dir("/proc").expect("/proc").flatten().map(|entry| entry.path());
    let process = processes.find(|process| plays(process)).expect("it runs");
    let status = fs::read_to_string(process.join("status")).expect("it still runs");
    let number = |field: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(field)).expect("it is there");
        Pid::from_raw(value.trim().parse().expect("a number")).expect("a process")
    };
    (number("Pid:"), number("PPid:"))
}
