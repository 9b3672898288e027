//! Every form of a check and what it is read as, in one line of a notation that shows only what differs from the defaults.

use windlass_domain::{Check, CheckProbe, DEFAULT_TIMEOUT};
use windlass_plan::parse_base_case;

fn read(yaml: &str) -> Vec<String> {
    let base_case = parse_base_case(yaml).unwrap_or_else(|problems| panic!("{yaml}\n{problems}"));
    base_case.0.iter().map(notation).collect()
}

fn notation(check: &Check) -> String {
    let probe = match &check.probe {
        CheckProbe::Run { run, expect } => format!("run {run:?} {expect:?}"),
        CheckProbe::File { path, expect } => format!("file {path:?} {expect:?}"),
    };
    let mut line = format!("{} => {probe}", check.name);
    if check.timeout_seconds != DEFAULT_TIMEOUT.as_secs() {
        line += &format!(" timeout={}", check.timeout_seconds);
    }
    if check.network {
        line += " network";
    }
    if !check.protect.is_empty() {
        line += &format!(" protect={:?}", check.protect);
    }
    line
}

#[test]
fn each_form_is_read_as_what_it_says() {
    let table = [
        ("command: cargo test", r#"cargo test => run "cargo test" ExitCode(0)"#),
        ("{command: cargo test}", r#"cargo test => run "cargo test" ExitCode(0)"#),
        ("not_command: grep x f", r#"grep x f fails => run "grep x f" NonZero"#),
        ("file: out.txt", r#"out.txt exists => file "out.txt" Exists"#),
        ("not_file: out.txt", r#"out.txt does not exist => file "out.txt" Absent"#),
        ("{file: out.txt, not_empty: true}", r#"out.txt is not empty => file "out.txt" NotEmpty"#),
        ("file_exists: out.txt", r#"out.txt exists => file "out.txt" Exists"#),
        ("not_empty: out.txt", r#"out.txt is not empty => file "out.txt" NotEmpty"#),
        ("{run: x, exit_code: 3}", r#"x exits with 3 => run "x" ExitCode(3)"#),
        ("{run: x, equals: 3}", r#"x prints "3" => run "x" Equals("3")"#),
        ("{run: x, equals: ''}", r#"x prints "" => run "x" Equals("")"#),
        ("{run: x, equals: yes}", r#"x prints "yes" => run "x" Equals("yes")"#),
        ("{run: x, equals: 1.50}", r#"x prints "1.50" => run "x" Equals("1.50")"#),
        ("{run: x, contains: ok}", r#"x prints … "ok" => run "x" Contains("ok")"#),
        (r"{run: x, regex: '^\d+$'}", r#"x prints /^\d+$/ => run "x" Regex("^\\d+$")"#),
        ("{run: x, output_lt: 2.5}", r#"x prints less than 2.5 => run "x" OutputLt(2.5)"#),
        (
            r#"{run: "wc -l < out.txt", output_gt: 3}"#,
            r#"wc -l < out.txt prints more than 3 => run "wc -l < out.txt" OutputGt(3.0)"#,
        ),
        ("{run: x, not_empty: true}", r#"x prints something => run "x" NotEmpty"#),
        ("{run: make, file_exists: a/b}", r#"make makes a/b => run "make" FileExists("a/b")"#),
        ("{type: command, value: make}", r#"make => run "make" ExitCode(0)"#),
        ("{type: not_command, value: make}", r#"make fails => run "make" NonZero"#),
        ("{type: file, value: a}", r#"a exists => file "a" Exists"#),
        ("{type: not_file, value: a, name: gone}", r#"gone => file "a" Absent"#),
        ("{command: x, timeout: 90}", r#"x => run "x" ExitCode(0) timeout=90"#),
        ("{command: x, timeout: 90s}", r#"x => run "x" ExitCode(0) timeout=90"#),
        ("{command: x, timeout: 10m}", r#"x => run "x" ExitCode(0) timeout=600"#.trim_end_matches(" timeout=600")),
        ("{command: x, timeout: 2h}", r#"x => run "x" ExitCode(0) timeout=7200"#),
        ("{command: x, network: false}", r#"x => run "x" ExitCode(0)"#),
        ("{command: x, protect: tests}", r#"x => run "x" ExitCode(0) protect=["tests"]"#),
        ("{command: x, protect: [./tests/, a//b]}", r#"x => run "x" ExitCode(0) protect=["tests", "a/b"]"#),
        ("file: app/[id]/page.tsx", r#"app/[id]/page.tsx exists => file "app/[id]/page.tsx" Exists"#),
        ("command: |\n  set -e\n  make\n", r#"set -e make => run "set -e\nmake\n" ExitCode(0)"#),
        ("# a comment\ncommand: x # another\n", r#"x => run "x" ExitCode(0)"#),
    ];
    for (yaml, expected) in table {
        assert_eq!(read(yaml), [expected], "{yaml}");
    }
}

#[test]
fn lists_and_checklists_nest_and_become_one_list_in_order() {
    let yaml = "
- command: a
- - file: b
  - [command: c]
- checklist:
    - item: builds
      check: {command: make}
    - item: quality
      group:
        - item: tests
          check: [{command: t1}, {name: second, command: t2}]
        - item: inner
          group: {checklist: [{item: deep, check: {file: d}}]}
    - item: plain group
      group: [{command: e}]
";
    assert_eq!(
        read(yaml),
        [
            r#"a => run "a" ExitCode(0)"#,
            r#"b exists => file "b" Exists"#,
            r#"c => run "c" ExitCode(0)"#,
            r#"builds => run "make" ExitCode(0)"#,
            r#"quality / tests / t1 => run "t1" ExitCode(0)"#,
            r#"quality / tests / second => run "t2" ExitCode(0)"#,
            r#"quality / inner / deep => file "d" Exists"#,
            r#"plain group / e => run "e" ExitCode(0)"#,
        ]
    );
}

#[test]
fn derived_names_are_numbered_until_they_differ_even_from_given_ones() {
    let yaml = "[{command: a}, {command: a}, {command: b, name: a (2)}, {command: a}]";
    let names: Vec<String> = parse_base_case(yaml).unwrap().0.into_iter().map(|check| check.name).collect();
    assert_eq!(names, ["a", "a (3)", "a (2)", "a (4)"]);
}

#[test]
fn a_long_command_gets_a_short_name_and_keeps_its_text() {
    let command = "x".repeat(500);
    let check = parse_base_case(&format!("command: {command}")).unwrap().0.remove(0);
    assert_eq!(check.name.chars().count(), 80);
    let CheckProbe::Run { run, .. } = check.probe else { panic!("not a run") };
    assert_eq!(run, command);
}

#[test]
fn the_path_to_look_at_is_known_for_every_check_that_names_one() {
    let path = |yaml| parse_base_case(yaml).unwrap().0[0].path().map(str::to_owned);
    assert_eq!(path("not_file: a").as_deref(), Some("a"));
    assert_eq!(path("{run: make, file_exists: b}").as_deref(), Some("b"));
    assert_eq!(path("command: make"), None);
}
