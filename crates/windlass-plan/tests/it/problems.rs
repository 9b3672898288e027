//! What is refused, with the words and the place a user sees. Everything wrong with a document is reported at once.

use windlass_plan::parse_base_case;

fn problems(yaml: &str) -> String {
    match parse_base_case(yaml) {
        Ok(base_case) => panic!("accepted: {yaml}\n{base_case:?}"),
        Err(problems) => problems.to_string(),
    }
}

#[test]
fn every_problem_is_reported_at_once_and_in_order() {
    let yaml = "\
- comand: cargo test
- run: ls
- run: ls
  equals: a
  contains: b
- file: /etc/passwd
  timeout: soon
  network: maybe
  protect: [../x, ok, {}]
- command: exit 0
- command: [a]
  name: ''
";
    insta::assert_snapshot!(problems(yaml), @r##"
    1:3: unknown field `comand`; did you mean `command`?
    2:3: `run` needs one expectation: exit_code, equals, contains, regex, output_lt, output_gt, file_exists, not_empty
    5:3: `equals` and `contains` are two expectations; make two checks of them
    6:9: "/etc/passwd": name the path from the workspace, without a leading `/`
    7:12: `timeout` must be a time from 1 second to 24 hours, as `90`, `90s`, `10m` or `2h`
    8:12: `network` must be `true` or `false`
    9:13: "../x": `..` would leave the workspace; name the path from its top
    9:23: `protect` is a list of paths; this is a mapping
    10:12: this command always exits with 0, so the check cannot fail; run something that depends on the work
    11:12: `command` must be text, not a list
    12:9: `name` is empty; leave it out to have one made
    "##);
}

#[test]
fn one_wrong_document_after_another() {
    let documents = [
        "",
        "~",
        "[]",
        "cargo test",
        "- cargo test",
        "{}",
        "name: x",
        "equals: 5",
        "not_empty: true",
        "command:",
        "{run: x, equals: }",
        "{run: x, exit_code: 256}",
        "{run: x, exit_code: zero}",
        "{run: x, output_gt: many}",
        "{run: x, output_gt: .inf}",
        "{run: x, not_empty: false}",
        "{run: x, regex: '('}",
        "{command: x, contains: y}",
        "{file: x, contains: y}",
        "{command: x, file: y}",
        "{command: x, command: y}",
        "{command: x, expect: y}",
        "{command: x, [a]: y}",
        "{command: x, timeout: 0}",
        "{command: x, timeout: 25h}",
        "{command: x, timeout: -1}",
        "{command: x, protect: .}",
        "{command: x, protect: '~/x'}",
        "file: a/../../b",
        "file: ''",
        "not_file: '*.tmp'",
        "file: \"a\\0b\"",
        "command: \"a\\0b\"",
        "{run: x, equals: \"a\\0b\"}",
        "{command: x, network: true}",
        "{type: command}",
        "{type: shell, value: x}",
        "{type: command, value: x, run: y}",
        "{assertion: it is good}",
        "{quality: readable, pass_threshold: 0.8}",
        "{type: assertion, value: it is good}",
        "[{name: a, command: x}, {name: a, command: y}]",
        "{checklist: []}",
        "{checklist: [x]}",
        "{checklist: [{item: a}]}",
        "{checklist: [{check: {command: x}}]}",
        "{checklist: [{item: a, check: {command: x}, group: []}]}",
        "{checklist: [{item: a, command: x}]}",
        "{checklist: [{item: a, group: []}]}",
        "command: grep -q \"a: b\" f",
        "{command: x",
        "command: grep ' # ' f",
        "command: !!str x",
        "[&a {command: x}, *a]",
        "command: a\n---\ncommand: b",
    ];
    let lines: Vec<String> =
        documents.iter().map(|yaml| format!("{yaml:?}\n    {}", problems(yaml).replace('\n', "\n    "))).collect();
    insta::assert_snapshot!(lines.join("\n"), @r##"
    ""
        1:1: there is no check here; leave the base case out to run without one
    "~"
        1:1: there is no check here; leave the base case out to run without one
    "[]"
        1:1: there is no check here; leave the base case out to run without one
    "cargo test"
        1:1: a check is a mapping; did you mean `command: cargo test`?
    "- cargo test"
        1:3: a check is a mapping; did you mean `command: cargo test`?
    "{}"
        1:1: this checks nothing; give it a `command` that must succeed, a `file`, or a `run`
    "name: x"
        1:1: this checks nothing; give it a `command` that must succeed, a `file`, or a `run`
    "equals: 5"
        1:1: `equals` of what? add `run` with the command that prints it
    "not_empty: true"
        1:1: `not_empty` of what? add `run` with the command that prints it
    "command:"
        1:1: `command` has no value; write '' if empty text is meant
    "{run: x, equals: }"
        1:10: `equals` has no value; write '' if empty text is meant
    "{run: x, exit_code: 256}"
        1:21: `exit_code` must be a whole number from 0 to 255
    "{run: x, exit_code: zero}"
        1:21: `exit_code` must be a whole number from 0 to 255
    "{run: x, output_gt: many}"
        1:21: `output_gt` must be a number
    "{run: x, output_gt: .inf}"
        1:21: `output_gt` must be a number
    "{run: x, not_empty: false}"
        1:21: `not_empty: false` says nothing; write `equals: ''` if nothing may be printed
    "{run: x, regex: '('}"
        1:17: the regex cannot be used: unclosed group
    "{command: x, contains: y}"
        1:14: `command` is complete without `contains`; use `run` to expect something else
    "{file: x, contains: y}"
        1:11: `file` is complete without `contains`; use `run` to expect something else
    "{command: x, file: y}"
        1:14: `command` and `file` are two checks; make them two entries of a list
    "{command: x, command: y}"
        1:14: `command` is already given at 1:2
    "{command: x, expect: y}"
        1:14: unknown field `expect`; known here: command, exit_code, equals, contains, regex, output_lt, output_gt, file_exists, not_empty, name, timeout, network, protect
    "{command: x, [a]: y}"
        1:14: a field's name must be a word, not a list
    "{command: x, timeout: 0}"
        1:23: `timeout` must be a time from 1 second to 24 hours, as `90`, `90s`, `10m` or `2h`
    "{command: x, timeout: 25h}"
        1:23: `timeout` must be a time from 1 second to 24 hours, as `90`, `90s`, `10m` or `2h`
    "{command: x, timeout: -1}"
        1:23: `timeout` must be a time from 1 second to 24 hours, as `90`, `90s`, `10m` or `2h`
    "{command: x, protect: .}"
        1:23: ".": this names the whole workspace; name something in it
    "{command: x, protect: '~/x'}"
        1:23: "~/x": `~` is not expanded; name the path from the workspace
    "file: a/../../b"
        1:7: "a/../../b": `..` would leave the workspace; name the path from its top
    "file: ''"
        1:7: "": this names the whole workspace; name something in it
    "not_file: '*.tmp'"
        1:11: "*.tmp": patterns are not expanded; name a file or a folder
    "file: \"a\\0b\""
        1:7: `file` holds a zero byte, which no command and no path can have
    "command: \"a\\0b\""
        1:10: `command` holds a zero byte, which no command and no path can have
    "{run: x, equals: \"a\\0b\"}"
        1:18: `equals` holds a zero byte, which no command and no path can have
    "{command: x, network: true}"
        1:23: `network: true` is not possible yet: checks run without a network
    "{type: command}"
        1:2: `type: command` needs a `value`
    "{type: shell, value: x}"
        1:8: `type` must be one of command, not_command, file, not_file, assertion, quality
    "{type: command, value: x, run: y}"
        1:2: `run` and `type` are two checks; make them two entries of a list
    "{assertion: it is good}"
        1:2: `assertion` needs a model to judge it, which this release cannot do; a finish line needs a check that a machine can decide, such as a `command`
    "{quality: readable, pass_threshold: 0.8}"
        1:2: `quality` needs a model to judge it, which this release cannot do; a finish line needs a check that a machine can decide, such as a `command`
    "{type: assertion, value: it is good}"
        1:19: `assertion` needs a model to judge it, which this release cannot do; a finish line needs a check that a machine can decide, such as a `command`
    "[{name: a, command: x}, {name: a, command: y}]"
        1:25: the name "a" is already used at 1:2; choose another
    "{checklist: []}"
        1:13: `checklist` needs a list of items, each with `item` and `check` or `group`
    "{checklist: [x]}"
        1:14: an item needs the fields `item` and `check` or `group`
    "{checklist: [{item: a}]}"
        1:14: this item proves nothing; add a `check` or a `group`
    "{checklist: [{check: {command: x}}]}"
        1:14: this item does not say what it is; add `item: …`
    "{checklist: [{item: a, check: {command: x}, group: []}]}"
        1:45: an item has either a `check` or a `group`; make two items
    "{checklist: [{item: a, command: x}]}"
        1:24: unknown field `command`; known here: item, check, group
    "{checklist: [{item: a, group: []}]}"
        1:31: there is no check here; leave the base case out to run without one
    "command: grep -q \"a: b\" f"
        1:20: this is not YAML (mapping values are not allowed in this context); text with `: `, ` #`, or in braces a comma, needs quotes around it
    "{command: x"
        1:1: this is not YAML (unclosed bracket '{'); text with `: `, ` #`, or in braces a comma, needs quotes around it
    "command: grep ' # ' f"
        1:10: the command has a ' that is never closed; if it holds ` #` or `: `, put the whole command in quotes
    "command: !!str x"
        1:16: tags are not read; remove the word that begins with `!`, or quote it
    "[&a {command: x}, *a]"
        1:19: aliases are not read; write the value out
    "command: a\n---\ncommand: b"
        2:1: only one document is read; remove what follows `---`
    "##);
}

#[test]
fn columns_count_characters() {
    let yaml = "{name: 'éé漢', contains: x, fil: y}";
    assert!(problems(yaml).starts_with("1:15: "), "{}", problems(yaml));
    assert!(problems(yaml).contains("\n1:28: unknown field `fil`; did you mean `file`?"), "{}", problems(yaml));
}
