//! Documents written to hurt: they are refused, or read, within small bounds, and never panic.

use proptest::prelude::*;
use windlass_plan::{Observed, Ran, RunEnd, judge, parse_base_case};

fn problems(yaml: &str) -> String {
    parse_base_case(yaml).expect_err("this must be refused").to_string()
}

#[test]
fn nesting_is_bounded() {
    for (open, close) in [("[", "]"), ("{checklist: [{item: a, group: ", "}]}")] {
        let yaml = format!("{}{}{}", open.repeat(200), "{command: x}", close.repeat(200));
        assert!(problems(&yaml).contains("not YAML"), "{}", problems(&yaml));
    }
    let yaml = format!("{}command: x", "- ".repeat(5_000));
    assert!(problems(&yaml).contains("not YAML"), "{}", problems(&yaml));
}

#[test]
fn aliases_cannot_make_a_small_document_large() {
    let mut yaml = "- &a0 [{command: x}]\n".to_owned();
    for level in 1..30 {
        yaml += &format!("- &a{level} [*a{0}, *a{0}, *a{0}]\n", level - 1);
    }
    assert!(problems(&yaml).contains("aliases are not read"));
}

#[test]
fn size_and_number_are_bounded() {
    assert!(problems(&format!("command: {}", "x".repeat(70_000))).contains("larger than 64 KiB"));
    let too_many = "- command: x\n".repeat(100) + &"- {run: x, regex: '('}\n".repeat(500);
    assert_eq!(problems(&too_many), "101:3: at most 100 checks are run; join some of them");
    assert_eq!(parse_base_case(&"- command: x\n".repeat(100)).unwrap().0.len(), 100);
}

#[test]
fn a_regex_cannot_cost_much_memory_or_time() {
    for regex in [r"\w{500}", r"(a{300}){300}", "((((a*)*)*)*){50}{50}{50}"] {
        assert!(problems(&format!("{{run: x, regex: '{regex}'}}")).contains("regex cannot be used"), "{regex}");
    }
    let long = "a".repeat(1_001);
    assert!(problems(&format!("{{run: x, regex: {long}}}")).contains("longer than 1000 characters"));

    // Explodes in engines that backtrack.
    let base_case = parse_base_case("{run: x, regex: '^(a+)+$'}").unwrap();
    let stdout = format!("{}!", "a".repeat(100_000));
    let observed = Observed { ran: Some(Ran { end: RunEnd::Exited(0), stdout: &stdout, cut: false }), file: None };
    assert!(!judge(&base_case.0[0], &observed).passed);
}

/// Pieces of which documents are made, so that random ones come near to real ones.
fn pieces() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "command",
        "run",
        "file",
        "type",
        "value",
        "checklist",
        "item",
        "group",
        "check",
        "regex",
        "contains",
        "equals",
        "not_empty",
        "name",
        "protect",
        "timeout",
        "true",
        "~",
        ": ",
        ":",
        ", ",
        "- ",
        "\n",
        "\n  ",
        "{",
        "}",
        "[",
        "]",
        "'",
        "\"",
        "|\n",
        "#",
        "&a ",
        "*a",
        "!t ",
        "||",
        "&&",
        "$(",
        "`",
        "\\",
        "é",
        "\u{0}",
        "\u{202e}",
        "..",
        "/",
        "0",
    ]);
    prop::collection::vec(words, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn nothing_makes_the_reader_panic(yaml in prop_oneof![pieces(), any::<String>()]) {
        if let Err(problems) = parse_base_case(&yaml) {
            let lines = yaml.split('\n').count() + 1;
            prop_assert!(problems.iter().count() > 0);
            prop_assert!(problems.iter().all(|problem| (1..=lines).contains(&problem.at.line) && problem.at.column >= 1));
        }
    }

    #[test]
    fn nothing_in_a_command_makes_the_reader_panic(command in pieces()) {
        let yaml = format!("command: '{}'", command.replace('\'', "''"));
        let _ = parse_base_case(&yaml);
    }

    #[test]
    fn accepted_checks_have_different_names_and_paths_inside(yaml in pieces()) {
        if let Ok(base_case) = parse_base_case(&yaml) {
            let mut names: Vec<&str> = base_case.0.iter().map(|check| check.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            prop_assert_eq!(names.len(), base_case.0.len());
            for path in base_case.0.iter().flat_map(|check| check.protect.iter().map(String::as_str).chain(check.path())) {
                prop_assert!(!path.starts_with('/') && path.split('/').all(|part| !part.is_empty() && part != ".."));
            }
        }
    }
}
