//! Files and inputs that would take for ever or all memory: refused with a word about why, and nothing is begun.

use std::fs;

use super::trial::{is_unharmed, put_data, scene};
use crate::support::Home;

/// What `gates test` says of a file with an input, and that it says it in a line or two.
fn refused(home: &Home, gates: &str, input: &str) -> String {
    let file = home.path().join("gates.yaml");
    fs::write(&file, gates).expect("written");
    let said = home.windlass(&["gates", "test", file.to_str().expect("plain"), "--input", input]).run().expect(2);
    assert!(said.stderr.starts_with("error: ") && said.stderr.len() < 2_000, "{:.300}", said.stderr);
    said.stderr
}

const ONE: &str = "- { name: r, on: every_user_message, type: regex, config: { field: message, pattern: 'b' } }\n";

#[test]
fn ten_megabytes_of_gates_or_risks_stop_a_run() {
    let ten_megabytes = format!("# {}\n", "x".repeat(10 << 20));
    for name in ["gates.yaml", "risk.toml"] {
        let home = scene("touch marker");
        put_data(&home, name, &ten_megabytes);
        let run = home.run(&[]).run().expect(2);
        assert!(run.stderr.contains(name) && run.stderr.len() < 2_000, "{:.300}", run.stderr);
        assert!(is_unharmed(&home), "nothing was begun");
        put_data(&home, name, "# small\n");
        home.run(&[]).run().expect(0);
        assert!(!is_unharmed(&home), "the twin: a comment of a sensible size");
    }
}

#[test]
fn patterns_bombs_and_inputs_are_bounded() {
    let home = Home::new();
    let nested = (1..12).fold("a0: &a0 [x, x]\n".to_owned(), |text, level| {
        let before = format!("*a{}, ", level - 1).repeat(9);
        format!("{text}a{level}: &a{level} [{}]\n", before.trim_end_matches(", "))
    });
    refused(&home, &nested, r#"{"message": "x"}"#);
    let exploding = ONE.replace("'b'", "'((a{1000}){1000}){1000}'");
    assert!(refused(&home, &exploding, r#"{"message": "x"}"#).contains("pattern"));
    refused(&home, ONE, &"[".repeat(100_000));

    let file = home.path().join("gates.yaml");
    let large = home.path().join("large.json");
    fs::write(&file, ONE.replace("'b'", "'(a*)*b'")).expect("written");
    let test = |input: &str| {
        home.windlass(&["gates", "test", file.to_str().expect("plain"), "--input", input, "--json"]).run()
    };
    let at = format!("@{}", large.display());
    fs::write(&large, format!("{{\"message\": \"{}\"}}", "a".repeat(10 << 20))).expect("written");
    assert_eq!(test(&at).expect(0).result()["decision"], "block", "more than can be looked at blocks");
    fs::write(&large, format!("{{\"message\": \"{}\"}}", "a".repeat(1 << 20))).expect("written");
    assert_eq!(test(&at).expect(0).result()["decision"], "continue", "the twin: it takes time in proportion");
}
