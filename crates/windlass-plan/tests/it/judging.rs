//! How what was seen is judged: one table of checks, observations, verdicts and the reasons people and models read.

use windlass_domain::Check;
use windlass_plan::{FileSeen, Judgement, Observed, Ran, RunEnd, judge, parse_base_case};

fn check(yaml: &str) -> Check {
    parse_base_case(yaml).unwrap_or_else(|problems| panic!("{yaml}\n{problems}")).0.remove(0)
}

fn ran(end: RunEnd, stdout: &str) -> Observed<'_> {
    Observed { ran: Some(Ran { end, stdout, cut: false }), file: None }
}

fn verdict(yaml: &str, observed: &Observed<'_>) -> String {
    let Judgement { passed, reason } = judge(&check(yaml), observed);
    format!("{}: {reason}", if passed { "pass" } else { "fail" })
}

#[test]
fn a_run_is_judged_by_its_one_expectation() {
    let table = [
        ("command: x", 0, "", "pass: the command exited with 0"),
        ("command: x", 101, "ok", "fail: the command exited with 101, expected 0"),
        (
            "command: x",
            127,
            "",
            "fail: the command exited with 127, expected 0: the check could not be made: a program in it was not found (exit code 127)",
        ),
        ("{run: x, exit_code: 3}", 3, "", "pass: the command exited with 3"),
        ("{run: x, exit_code: 3}", 0, "", "fail: the command exited with 0, expected 3"),
        ("{run: x, exit_code: 127}", 127, "", "pass: the command exited with 127"),
        ("not_command: x", 1, "", "pass: the command failed as expected, with exit code 1"),
        ("not_command: x", 0, "", "fail: the command succeeded, expected it to fail"),
        ("not_command: x", 127, "", "fail: the check could not be made: a program in it was not found (exit code 127)"),
        (
            "not_command: x",
            126,
            "",
            "fail: the check could not be made: a program in it may not be executed (exit code 126)",
        ),
        ("not_command: x", 125, "", "pass: the command failed as expected, with exit code 125"),
        ("{run: x, equals: 5}", 0, "  5\n", r#"pass: the output was "5""#),
        ("{run: x, equals: 5}", 1, "5", r#"pass: the output was "5""#),
        ("{run: x, equals: 5}", 0, "55", r#"fail: the output was "55", expected "5""#),
        ("{run: x, equals: ''}", 0, "\n", "pass: the output was empty"),
        (
            "{run: x, equals: ''}",
            127,
            "",
            "fail: the check could not be made: a program in it was not found (exit code 127)",
        ),
        ("{run: x, contains: ok}", 0, "all ok\n", r#"pass: the output contains "ok""#),
        ("{run: x, contains: ok}", 0, "bad\n", r#"fail: the output does not contain "ok"; it was "bad""#),
        ("{run: x, contains: ok}", 0, "", r#"fail: the output does not contain "ok"; it was empty"#),
        ("{run: x, regex: '^5$'}", 0, "5\n", "pass: the output matches /^5$/"),
        ("{run: x, regex: '^5$'}", 0, "6\n", r#"fail: the output does not match /^5$/; it was "6""#),
        ("{run: x, output_lt: 3}", 0, " 2.5\n", "pass: the output was 2.5, less than 3"),
        ("{run: x, output_lt: 3}", 0, "3", "fail: the output was 3, expected less than 3"),
        ("{run: x, output_gt: 3}", 0, "4", "pass: the output was 4, more than 3"),
        ("{run: x, output_gt: 3}", 0, "3", "fail: the output was 3, expected more than 3"),
        (
            "{run: x, output_gt: 3}",
            0,
            "4 out.txt",
            r#"fail: the output must be a single number more than 3; it was "4 out.txt""#,
        ),
        ("{run: x, output_gt: 3}", 0, "inf", r#"fail: the output must be a single number more than 3; it was "inf""#),
        ("{run: x, output_gt: 3}", 0, "NaN", r#"fail: the output must be a single number more than 3; it was "NaN""#),
        ("{run: x, output_lt: 3}", 0, "", "fail: the output must be a single number less than 3; it was empty"),
        ("{run: x, not_empty: true}", 0, "a", r#"pass: the output was "a""#),
        ("{run: x, not_empty: true}", 0, " \n\t", "fail: the output was empty"),
        ("{run: x, file_exists: f}", 0, "", "fail: f was not looked at"),
    ];
    for (yaml, exit, stdout, expected) in table {
        assert_eq!(verdict(yaml, &ran(RunEnd::Exited(exit), stdout)), expected, "{yaml} {exit} {stdout:?}");
    }
}

/// Regression: `not_command: git grep FIXME` passed in a copy that has no `.git`, where git exits with 128, and
/// `not_command: grep -rn FIXME src` once there was no `src`.
#[test]
fn a_command_that_could_not_look_proves_nothing() {
    let could_not = |yaml: &str, code| {
        let reason = verdict(yaml, &ran(RunEnd::Exited(code), ""));
        assert!(reason.starts_with("fail: ") && reason.contains("could not be made"), "{yaml} {code}: {reason}");
    };
    for code in [126, 127, 128, 129, 137, 139, 255] {
        could_not("not_command: x", code);
        could_not("not_command: git grep -n FIXME", code);
        could_not("{run: git status --porcelain, equals: ''}", code);
        could_not("{run: x, regex: '^(?:)$'}", code);
    }
    for command in [
        "grep -rn FIXME src",
        "/usr/bin/grep -q a b 2>/dev/null",
        "cat a | grep -q b",
        "cd src; rg FIXME",
        "test -d a && grep b c",
        "[ -s a ]",
        "diff a b",
        "git grep FIXME",
    ] {
        could_not(&format!("not_command: '{command}'"), 2);
        could_not(&format!("{{run: '{command}', equals: ''}}"), 2);
        let no = verdict(&format!("not_command: '{command}'"), &ran(RunEnd::Exited(1), ""));
        assert!(no.starts_with("pass: "), "{command}: {no}");
    }
    for command in ["make test", "grep a b; make", "grep a b | make", "make && grep a b", "python grep.py"] {
        let no = verdict(&format!("not_command: '{command}'"), &ran(RunEnd::Exited(2), ""));
        assert!(no.starts_with("pass: "), "{command}: {no}");
    }
    assert_eq!(verdict("{run: x, exit_code: 128}", &ran(RunEnd::Exited(128), "")), "pass: the command exited with 128");
}

#[test]
fn a_run_that_did_not_end_by_itself_fails_every_check() {
    let expectations =
        ["exit_code: 0", "equals: ''", "contains: a", "regex: a", "output_lt: 3", "not_empty: true", "file_exists: f"];
    let checks = expectations.iter().map(|expectation| format!("{{run: x, {expectation}}}"));
    for yaml in checks.chain(["not_command: x".to_owned()]) {
        for end in [RunEnd::Killed { signal: 9 }, RunEnd::TimedOut, RunEnd::NotStarted("no sandbox".to_owned())] {
            let mut observed = ran(end.clone(), "a");
            observed.file = Some(FileSeen::File { bytes: 1 });
            assert!(!judge(&check(&yaml), &observed).passed, "{yaml} {end:?}");
        }
        assert!(!judge(&check(&yaml), &Observed::default()).passed, "{yaml} without a run");
    }
}

#[test]
fn the_reasons_of_an_unfinished_run_name_what_ended_it() {
    let reason = |end| verdict("{command: x, timeout: 90}", &ran(end, ""));
    assert_eq!(reason(RunEnd::TimedOut), "fail: the command did not end within 90 seconds and was stopped");
    assert_eq!(reason(RunEnd::Killed { signal: 9 }), "fail: the command was killed by signal 9 before it ended");
    assert_eq!(reason(RunEnd::NotStarted("x".into())), "fail: the command could not be started: x");
}

#[test]
fn a_path_is_judged_by_what_is_there() {
    let file = |bytes| FileSeen::File { bytes };
    let folder = |entries| FileSeen::Folder { entries };
    let table = [
        ("file: f", file(0), "pass: f exists, 0 bytes"),
        ("file: f", folder(2), "pass: f is a folder with 2 entries"),
        ("file: f", folder(1), "pass: f is a folder with 1 entry"),
        ("file: f", FileSeen::Absent, "fail: f does not exist"),
        ("file: f", FileSeen::Foreign, "fail: f is not a file or folder inside the workspace"),
        ("{file: f, not_empty: true}", file(9), "pass: f exists, 9 bytes"),
        ("{file: f, not_empty: true}", file(0), "fail: f is empty"),
        ("{file: f, not_empty: true}", folder(0), "fail: f is empty"),
        ("{file: f, not_empty: true}", FileSeen::Absent, "fail: f does not exist"),
        ("not_file: f", FileSeen::Absent, "pass: f does not exist"),
        ("not_file: f", file(0), "fail: f exists, expected it not to"),
        ("not_file: f", FileSeen::Foreign, "fail: f is not a file or folder inside the workspace"),
    ];
    for (yaml, seen, expected) in table {
        assert_eq!(verdict(yaml, &Observed { ran: None, file: Some(seen) }), expected, "{yaml} {seen:?}");
    }
    assert_eq!(verdict("file: f", &Observed::default()), "fail: f was not looked at");
}

#[test]
fn a_file_left_from_before_does_not_excuse_a_command_that_fails() {
    let observed = |exit, file| Observed { file: Some(file), ..ran(RunEnd::Exited(exit), "") };
    let yaml = "{run: make, file_exists: f}";
    assert_eq!(verdict(yaml, &observed(0, FileSeen::File { bytes: 1 })), "pass: f exists, 1 byte");
    assert_eq!(verdict(yaml, &observed(2, FileSeen::File { bytes: 1 })), "fail: the command exited with 2, expected 0");
    assert_eq!(verdict(yaml, &observed(0, FileSeen::Absent)), "fail: f does not exist");
}

#[test]
fn output_that_was_cut_proves_only_what_is_there() {
    let cut = |stdout| Observed { ran: Some(Ran { end: RunEnd::Exited(0), stdout, cut: true }), file: None };
    let passes = |yaml: &str| judge(&check(yaml), &cut("5")).passed;
    assert!(passes("{run: x, contains: 5}"));
    assert!(passes("{run: x, not_empty: true}"));
    assert!(passes("command: x"));
    for yaml in ["{run: x, equals: 5}", "{run: x, regex: '5$'}", "{run: x, output_lt: 6}", "{run: x, output_gt: 4}"] {
        assert!(!passes(yaml), "{yaml}");
    }
    let reason = verdict("{run: x, contains: 6}", &cut("5"));
    assert!(reason.contains("more output than is kept"), "{reason}");
}

#[test]
fn a_reason_shows_little_of_a_long_output_and_no_control_characters() {
    let output = format!("\u{1b}[31m{}", "é".repeat(5_000));
    let reason = verdict("{run: x, equals: 5}", &ran(RunEnd::Exited(0), &output));
    assert!(reason.chars().count() < 250, "{reason}");
    assert!(!reason.contains('\u{1b}'), "{reason}");
    assert!(reason.contains("more bytes"), "{reason}");
}
