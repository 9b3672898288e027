//! `windlass top` at a real terminal: what waits appears by itself, is answered by keys, and goes on; the terminal is given back as it was,
//! whatever ends it; and nothing that others say reaches the terminal but as letters.

use rustix::process::{Pid, Signal, kill_process};
use windlass_terminal::Size;

use super::assert_shown;
use super::cards::{is_there, standing, waits_to_ask};
use super::elsewhere::Away;
use super::scripts::HELLO;
use super::serving::{serve_at, token};
use crate::support::{Home, Terminal, none_left};

const PROGRAM: &str = env!("CARGO_BIN_EXE_windlass");
const SIZE: Size = Size { cols: 80, rows: 24 };
/// As whoever sat there before finds it: no attributes, a cursor, and their own page.
const GIVEN_BACK: &str = "\u{1b}[0m\u{1b}[?25h\u{1b}[?2004l\u{1b}[?1049l";

struct Page(Terminal);

impl Page {
    /// Between two looks at how the terminal is set.
    fn open(home: &Home, variables: &str, words: &str) -> Self {
        let page = format!(
            "stty rows 24 cols 80; before=$(stty -g); {variables} {PROGRAM} top {words}; echo \"left with $?\"; \
             test \"$before\" = \"$(stty -g)\" && echo as before;"
        );
        let mut terminal = Terminal::start_with(home, &page, "--version");
        terminal.types("go\n");
        Self(terminal)
    }

    #[track_caller]
    fn sees(&mut self, text: &str) -> String {
        self.0.wait_to_see(SIZE, text)
    }

    fn leaves(mut self) -> String {
        self.0.types("q");
        let (_, shown) = self.0.end();
        assert!(shown.contains("left with 0") && shown.contains("as before"), "{shown}");
        let given_back = shown.rfind(GIVEN_BACK).expect("its page is closed");
        assert!(given_back > shown.rfind("?1049h").expect("a page of its own"));
        shown
    }
}

#[test]
fn a_card_appears_is_approved_in_two_steps_and_its_task_goes_on() {
    let home = waits_to_ask();
    let mut page = Page::open(&home, "", "");
    page.sees("Nobody asks you for anything.");
    home.run(&[]).run().expect(3);
    let card = page.sees("rm old.txt; echo gone");
    assert!(card.contains("1 waits for you") && card.contains("high risk"), "{card}");
    page.0.types("a");
    page.sees("Is it meant?");
    assert!(is_there(&home, "old.txt"));
    page.0.types("y");
    page.sees("APPROVED");
    home.windlass(&["worker", "--until-idle"]).run().expect(0);
    assert!(!is_there(&home, "old.txt"));
    page.0.types("3");
    page.sees("A task is done");
    page.leaves();
    let audit = home.windlass(&["audit", "show"]).run().expect(0).stdout;
    assert!(audit.contains("approval_strength=confirmed by=you"), "{audit}");
    none_left(&home);
}

#[test]
fn what_is_declined_with_a_reason_is_so_and_the_page_stays() {
    let home = waits_to_ask();
    home.run(&[]).run().expect(3);
    let mut page = Page::open(&home, "", "");
    page.sees("rm old.txt; echo gone");
    page.0.types("d");
    page.sees("Why not?");
    page.0.types("not this one\r");
    page.sees("DENIED");
    home.windlass(&["resume"]).run().expect(0);
    assert!(is_there(&home, "old.txt"));
    page.leaves();
}

#[test]
fn whatever_ends_it_the_terminal_is_given_back() {
    let home = Home::new();
    for signal in [Signal::TERM, Signal::HUP] {
        let words = "stty rows 24 cols 80; echo pid $$;";
        let mut terminal = Terminal::start_with(&home, words, "top");
        terminal.types("go\n");
        let before = terminal.wait_to_see(SIZE, "pid ");
        let pid = before.lines().find_map(|line| line.strip_prefix("pid ")).expect("a number");
        terminal.wait_to_see(SIZE, "Nobody asks you for anything.");
        kill_process(Pid::from_raw(pid.trim().parse().expect("a number")).expect("a process"), signal).expect("sent");
        let (code, shown) = terminal.end();
        assert!(code == Some(0) && shown.ends_with(GIVEN_BACK), "{signal:?} {code:?} {shown:?}");
    }
    none_left(&home);
}

/// Reordered, invisible, overwritten, put on the clipboard, and a line like one of ours.
const ODD: &str = "a\\u202eb\\u200bc\\rd\\e[2Ke\\e]52;c;cm0gLXJm\\af\\ncard 00000000  low risk";

#[test]
fn what_others_say_is_letters_on_every_page() {
    let script = format!(
        r#"
version: 1
tracks:
  default:
    - reply: "look: {ODD}"
      calls: [ {{ tool: bash, args: {{ command: "rm -r victim '{ODD}'" }} }} ]
      usage: {{ input: 900, output: 40 }}
    - reply: "done: {ODD}"
      usage: {{ input: 900, output: 10 }}
"#
    );
    let home = Home::playing(&script);
    home.write("victim/file", "x");
    home.run(&[]).run().expect(3);
    let mut page = Page::open(&home, "", "");
    let card = page.sees("<U+202E>");
    assert!(!card.lines().any(|line| line.starts_with("card 00000000")), "{card}");
    page.0.types("x");
    page.sees("<U+001B>]52;c;");
    page.0.types("3x");
    page.sees("The model answered");
    page.0.types("/look\r");
    page.sees("/ look");
    page.0.types("\r");
    page.sees("model.responded");
    let shown = page.leaves();
    let odd = |letter: char| "\u{202e}\u{200b}\u{2028}\u{7}".contains(letter);
    assert!(!shown.contains(odd) && !shown.contains("\u{1b}]"), "{shown:?}");
}

#[test]
fn a_servers_cards_are_answered_from_elsewhere_and_it_may_go_away_meanwhile() {
    let home = waits_to_ask();
    let served = super::serving::serve(&home, &[]);
    home.run(&["--detach"]).run().expect(0);
    let address = served.address.clone();
    let away = Away::from(&served);
    let server = format!("WINDLASS_SERVER={} WINDLASS_TOKEN={}", away.server, away.token);
    let mut page = Page::open(&away.home, &server, "");
    page.sees("rm old.txt; echo gone");
    served.end();
    page.sees("! the server does not answer");
    let served = serve_at(&home, &address, &[]);
    page.0.types("ay");
    page.sees("APPROVED");
    page.0.types("3");
    page.sees("A task is done");
    assert!(!is_there(&home, "old.txt"));

    let reader = token(&home, "reader", &["--scope", "read"]);
    let mut looking = Page::open(&away.home, &format!("WINDLASS_SERVER={} WINDLASS_TOKEN={reader}", away.server), "");
    looking.sees("Nobody asks you for anything.");
    looking.leaves();
    page.leaves();
    served.end();
    assert_eq!(standing(&home), "completed");
}

#[test]
fn what_is_said_to_a_server_is_answered_in_the_stream() {
    let home = Home::playing(HELLO);
    let served = serve_at(&home, "127.0.0.1:0", &[]);
    let away = Away::from(&served);
    let server = format!("WINDLASS_SERVER={} WINDLASS_TOKEN={}", away.server, away.token);
    let mut page = Page::open(&away.home, &server, "");
    page.0.types("1");
    page.sees("Nothing was said here yet.");
    page.0.types("\rHello there\r");
    page.sees("› Hello there");
    page.0.types("\u{1b}");
    page.sees("say something");
    page.leaves();
    served.end();
}

#[test]
fn where_there_is_no_page_it_says_what_there_is_instead() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["top"]).run(), @"
    exit code 2
    --- stderr
    error: standard input and output are not a terminal
    hint: `windlass status`, `windlass inbox` and `windlass log` say the same in lines, with --json for scripts
    ");
    assert_shown!(home, home.windlass(&["top", "--json"]).run(), @"
    exit code 2
    --- stderr
    error: a page to look at has no --json
    hint: `windlass status`, `windlass inbox` and `windlass log` say the same in lines, with --json for scripts
    ");
}
