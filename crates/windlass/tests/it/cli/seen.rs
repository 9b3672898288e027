//! What a person sees on a terminal of 80 and of 60 columns: all that is said, and every row in its place.

use std::process::Command;

use crate::support::Home;

const WORDS: &str = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega";
const WIDE: &str =
    "日本語の長い文章はどこでも折り返すことができますが棒の後ろに残らなければなりません何度でも繰り返します";

fn talker() -> Home {
    let command = format!("echo {}; exit 3", "long-argument ".repeat(20));
    let script = format!(
        r#"
version: 1
tracks:
  default:
    - reply: "{WORDS}\n\n{WIDE}"
      calls:
        - {{ tool: bash, args: {{ command: "{command}" }} }}
        - {{ tool: bash, args: {{ command: "echo {WIDE}" }} }}
      usage: {{ input: 123456, output: 40 }}
    - reply: "{WORDS} {WORDS}"
      usage: {{ input: 1000, output: 10 }}
"#
    );
    Home::playing(&script)
}

/// The rows that are left on a terminal of so many columns, with no colours.
fn rows(home: &Home, columns: usize, words: &str) -> Vec<String> {
    let program = env!("CARGO_BIN_EXE_windlass");
    let command = format!("stty cols {columns} rows 40; exec {program} {words}");
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &command, "/dev/null"]).current_dir(home.workspace()).env_clear();
    terminal.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("TERM", "dumb");
    terminal.env("HOME", home.path()).env("WINDLASS_DATA_DIR", home.data()).env("SHELL", "/bin/sh");
    let output = terminal.stdin(std::process::Stdio::null()).output().expect("`script` is there");
    let text = String::from_utf8(output.stdout).expect("text");
    text.split("\r\n").map(|row| left_over(row, columns)).collect()
}

/// A status line is wiped by what follows it; each must have fitted in one row for that, and a Ctrl-C behind it.
fn left_over(row: &str, columns: usize) -> String {
    const WIPED: &str = "\r\x1b[2K";
    let (statuses, left) = row.rsplit_once(WIPED).unwrap_or(("", row));
    for (shown, room) in statuses.split(WIPED).map(|status| (status, columns - "^C".len())).chain([(left, columns)]) {
        let width = unicode_width::UnicodeWidthStr::width(shown);
        assert!(width <= room, "{width} columns: {shown}");
    }
    left.to_owned()
}

/// Text that was broken into rows behind a bar, put together again.
fn behind_the_bar(rows: &[String], clock: usize) -> String {
    let without_clock = |row: &String| row.chars().skip(clock).collect::<String>();
    let quoted = rows.iter().filter_map(|row| without_clock(row).strip_prefix("│").map(|text| text.trim().to_owned()));
    quoted.collect::<Vec<_>>().join(" ")
}

#[test]
fn nothing_that_an_agent_says_is_lost() {
    for columns in [80, 60] {
        let home = talker();
        let run = rows(&home, columns, &format!("run 'Do it' --rehearsal {}", home.script().display()));
        let said = behind_the_bar(&run, 0);
        assert_eq!(said.matches(WORDS).count(), 3, "{columns}: {run:#?}");
        assert!(said.replace(' ', "").contains(WIDE), "{columns}: {run:#?}");
        let log = rows(&home, columns, "log");
        assert_eq!(behind_the_bar(&log, "00:00:00  ".len()).matches(WORDS).count(), 3, "{columns}: {log:#?}");
        assert!(log.concat().matches("long-argument").count() >= 20, "the log has all of a command: {log:#?}");
    }
}

#[test]
fn a_command_gives_way_to_its_outcome_and_the_end_is_whole() {
    for columns in [80, 60] {
        let home = talker();
        let run = rows(&home, columns, &format!("run 'Do it' --rehearsal {}", home.script().display()));
        let commands: Vec<&String> = run.iter().filter(|row| row.starts_with("▸ bash")).collect();
        assert_eq!(commands.len(), 2, "{run:#?}");
        assert!(commands[0].contains("…  Exit code: 3 · ") && commands[0].ends_with('s'), "{commands:#?}");
        assert!(commands[1].contains("…  Exit code: 0 · "), "{commands:#?}");
        let end = run.iter().position(|row| row.starts_with("COMPLETED, not verified")).expect("an end");
        let end = run[end..].iter().map(|row| row.trim()).collect::<Vec<_>>().join(" ");
        for fact in ["2 model calls", "2 tool calls", "124,506 tokens", "$0.0000"] {
            assert!(end.contains(fact), "{fact} of {end}");
        }
        assert!(end.trim_end().ends_with('s'), "its time: {end}");
    }
}
