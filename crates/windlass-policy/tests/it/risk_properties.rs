//! What holds for every command: nothing added makes it less risky, nothing breaks the reader, and reading takes time in
//! proportion to the text.

use proptest::prelude::*;
use windlass_policy::risk::{Level, Place, Table, assess_command};

use crate::risk::risk_of;

const COMMANDS: [&str; 14] = [
    "ls",
    "ls -la src",
    "rm x",
    "rm -rf x",
    "chmod 755 x",
    "sudo ls",
    "git push",
    "git -c a.b=c status",
    "find . -exec rm -rf {} +",
    "sed s/a/b/e x",
    "python3 -c 1",
    "tee /etc/x",
    "rg --pre ./x y",
    "cat /proc/1/environ",
];

/// Words that go before a simple command.
const PREFIXES: [&str; 18] = [
    "env ",
    "env -i A=1 ",
    "timeout 5 ",
    "timeout -k 1 5 ",
    "nice ",
    "nice -n 5 ",
    "nohup ",
    "setsid ",
    "stdbuf -oL ",
    "command ",
    "builtin ",
    "exec ",
    "xargs ",
    "xargs -0 -n 1 ",
    "sudo ",
    "strace -f ",
    "timeout --unheard-of 5 ",
    "env --unheard-of ",
];

/// Ways of putting any script inside another.
fn around(script: &str, way: usize) -> String {
    let quoted = format!("'{}'", script.replace('\'', "'\\''"));
    match way {
        0 => format!("sh -c {quoted}"),
        1 => format!("bash -euo pipefail -c {quoted}"),
        2 => format!("( {script} )"),
        3 => format!("{{ {script}; }}"),
        4 => format!("if true; then {script}; fi"),
        5 => format!("true && {script}"),
        6 => format!("echo \"$( {script} )\""),
        7 => format!("eval {quoted}"),
        8 => format!("! {script}"),
        9 => format!("find . -exec sh -c {quoted} \\;"),
        10 => format!("while false; do {script}; done"),
        11 => format!("cat <<EOF\n$( {script} )\nEOF"),
        12 => format!("watch {quoted}"),
        13 => format!("{script}\nfalse"),
        _ => format!("trap {quoted} EXIT"),
    }
}

proptest! {
    #[test]
    fn a_prefix_never_makes_a_command_less_risky(
        command in prop::sample::select(&COMMANDS[..]),
        prefixes in prop::collection::vec(prop::sample::select(&PREFIXES[..]), 1..6),
    ) {
        let wrapped = format!("{}{command}", prefixes.concat());
        let (bare, wrapped_risk) = (risk_of(command), risk_of(&wrapped));
        prop_assert!(wrapped_risk.level >= bare.level, "{wrapped}: {wrapped_risk:?}");
    }

    #[test]
    fn nothing_around_a_script_makes_it_less_risky(
        command in prop::sample::select(&COMMANDS[..]),
        ways in prop::collection::vec(0..15_usize, 1..4),
    ) {
        let mut script = command.to_owned();
        let mut level = risk_of(command).level;
        for way in ways {
            script = around(&script, way);
            let risk = risk_of(&script);
            prop_assert!(risk.level >= level, "{script}: {risk:?}");
            level = risk.level;
        }
        let broken = risk_of(&format!("{script}\n)"));
        prop_assert!(broken.level >= level.max(Level::High), "{script}: {broken:?}");
    }

    #[test]
    fn a_command_beside_another_never_makes_it_less_risky(
        one in prop::sample::select(&COMMANDS[..]),
        two in prop::sample::select(&COMMANDS[..]),
        between in prop::sample::select(vec!["; ", " && ", " || ", " | ", "\n", " & "]),
    ) {
        let both = risk_of(&format!("{one}{between}{two}")).level;
        prop_assert!(both >= risk_of(one).level.max(risk_of(two).level));
    }

    /// Anything at all: it is judged, it is at least medium, and judging it again says the same.
    #[test]
    fn any_text_is_judged(text in "[a-z \\\\'\"$`(){}<>|&;#*?\n=\\[\\]!~/.-]{0,200}") {
        let risk = risk_of(&text);
        prop_assert!(risk.level >= Level::Medium);
        prop_assert_eq!(risk_of(&text), risk);
    }

    #[test]
    fn any_unicode_is_judged(text in any::<String>()) {
        prop_assert!(risk_of(&text).level >= Level::Medium);
    }
}

#[test]
fn too_large_and_too_deep_are_refused() {
    let large = "echo x; ".repeat(10_000);
    assert_eq!(risk_of(&large).level, Level::Critical);
    assert_eq!(risk_of(&"x".repeat(1 << 20)).level, Level::Critical);
    assert_eq!(risk_of(&format!("{}ls", "env ".repeat(100))).level, Level::Critical);
    assert_eq!(risk_of(&format!("{}ls{}", "(".repeat(200), ")".repeat(200))).level, Level::Critical);
    // The twins, just large and deep enough for people.
    assert_eq!(risk_of(&"echo x; ".repeat(5_000)).level, Level::Medium);
    assert_eq!(risk_of(&format!("{}ls", "env ".repeat(10))).level, Level::Medium);
    assert_eq!(risk_of(&format!("{}ls{}", "(".repeat(20), ")".repeat(20))).level, Level::Medium);
}

/// A megabyte of everything that could make a reader look back, the limit lifted. A reader that is quadratic would still be
/// at it when the runner gives up on it.
#[test]
fn a_megabyte_of_anything_is_read_once() {
    let table = Table::shipped().changed_by("[shell]\nmax_bytes = 100000000").expect("a good table");
    let judge = |piece: &str, bytes: usize| {
        let risk = assess_command(&table, &piece.repeat(bytes / piece.len()), &Place::workspace());
        assert!(risk.level >= Level::Medium, "{piece:?}");
    };
    for piece in PIECES {
        judge(piece, 1 << 20);
    }
    // These are read again for each wrapper that comes off, up to the limit.
    for piece in ["env -S ", "eval ", "watch ", "xargs -q "] {
        judge(piece, 1 << 16);
    }
}

const PIECES: [&str; 27] = [
    "a ",
    "a;",
    "(",
    "$(",
    "((",
    "$((",
    "`",
    "\"",
    "'a",
    "${",
    "{a,",
    "<<E\n",
    "a <<E\nE\n",
    "x=(",
    "[[ ",
    "case a in ",
    "if ",
    "\\",
    "$IFS",
    "a=$(",
    "<(",
    "find -exec a ",
    "timeout -z ",
    "sh -c ",
    "rm -",
    "*",
    "é",
];
