//! The question at a terminal, while `run` waits for its answer: every answer, from here and from elsewhere.

use super::cards::{approve, card, is_there, standing, waits_to_ask};
use crate::support::{Home, Terminal, none_left};

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
    // The same keys, typed at the question, are an answer.
    let mut terminal = Terminal::start(&home, "resume");
    terminal.types("go\n");
    terminal.wait_for(QUESTION);
    terminal.types("a\nyes\n");
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
