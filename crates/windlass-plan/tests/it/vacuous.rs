//! Checks that cannot fail are refused, and those that look like them but can fail are not.

use windlass_plan::parse_base_case;

fn refused(yaml: &str) -> bool {
    parse_base_case(yaml).is_err()
}

fn quoted(form: &str, command: &str) -> String {
    format!("{form}: {command:?}")
}

#[test]
fn commands_that_always_succeed_are_refused_and_their_twins_are_not() {
    let table = [
        ("true", "test -f true"),
        (":", "./:"),
        ("/bin/true", "./true"),
        ("exit 0", "exit 3"),
        ("exit", "exit $code"),
        ("# cargo test", "cargo test # unit"),
        ("x=1", "x=1 cargo test"),
        ("echo done", "grep done log"),
        ("cargo test || true", "cargo test || cargo test"),
        ("cargo test || :", "cargo test || false"),
        ("cargo test || echo failed", "cargo test && echo passed"),
        ("cargo test; true", "true; cargo test"),
        ("cargo test; exit 0", "cargo test; exit $?"),
        ("cargo test\ntrue", "true\ncargo test"),
        ("exit 0; cargo test", "cargo test && exit 0; exit 1"),
        ("true || cargo test", "true && cargo test"),
        ("cargo test &", "cargo test & wait $!"),
        ("cargo test | tail -5", "cargo test | grep -q ok"),
        ("cargo test | tee log", "set -o pipefail; cargo test | tee log"),
        ("cargo test 2>&1 | cat", "cargo test > /dev/null 2>&1"),
        ("true > /dev/null", "true > out/file"),
        ("true 2>&1", "true < input"),
        ("! false", "! cargo test"),
        ("sh -c true", "sh -c 'cargo test'"),
        ("bash -c 'make || true'", "bash -c 'make && true'"),
        ("env true", "env make"),
        ("test 1 = 1", "test 1 = $x"),
        ("[ 1 ]", "[ -s out.txt ]"),
        ("[ -n x ]", "[ -n \"$x\" ]"),
        ("true && true", "cargo test &&\n  true"),
        ("cargo test |\n  cat", "cat x |\n  grep y"),
        ("true\n\n", "if true; then make; fi"),
        ("echo \"it's fine\"", "cat <<EOF\nit's\nEOF\ngrep -q x y"),
        ("FOO=1 true", "set -e; make; true"),
        ("make; echo $?", "make &> /dev/null"),
    ];
    for (vacuous, twin) in table {
        assert!(refused(&quoted("command", vacuous)), "accepted: {vacuous}");
        if let Err(problems) = parse_base_case(&quoted("command", twin)) {
            panic!("{twin}\n{problems}");
        }
    }
}

#[test]
fn commands_that_always_fail_are_refused_only_where_failure_is_wanted() {
    for command in ["false", "exit 1", "! true", "false; exit 2", "true && false"] {
        assert!(refused(&quoted("not_command", command)), "accepted: {command}");
        assert!(!refused(&quoted("command", command)), "refused: {command}");
    }
    assert!(refused("{run: exit 3, exit_code: 3}"));
    assert!(!refused("{run: exit 3, exit_code: 4}"));
}

#[test]
fn expectations_that_every_output_meets_are_refused_and_their_twins_are_not() {
    let table = [
        ("{run: x, contains: ''}", "{run: x, contains: ' '}"),
        ("{run: x, regex: ''}", "{run: x, regex: '^$'}"),
        ("{run: x, regex: '.*'}", "{run: x, regex: '.+'}"),
        ("{run: x, regex: '^'}", "{run: x, regex: '^ok'}"),
        ("{run: x, regex: '$'}", "{run: x, regex: 'ok$'}"),
        (r"{run: x, regex: '^[\s\S]*$'}", r"{run: x, regex: '^[a-z\s]*$'}"),
        ("{run: x, regex: '(?s)^.*$'}", "{run: x, regex: '^[^!]*$'}"),
        ("{run: x, regex: 'a*'}", "{run: x, regex: 'a+'}"),
        ("{run: x, regex: 'ok|'}", "{run: x, regex: 'ok|fine'}"),
        ("{run: x, regex: '(error)?'}", "{run: x, regex: '(no )?error'}"),
        ("{run: echo 5, equals: 5}", "{run: echo 5, equals: 6}"),
        ("{run: echo 5, output_gt: 4}", "{run: echo $x, output_gt: 4}"),
        ("{run: \"printf 'a\\\\n'\", contains: a}", "{run: printf $x, contains: a}"),
        ("{run: 'true', equals: ''}", "{run: git status --porcelain, equals: ''}"),
        ("{run: echo hi, not_empty: true}", "{run: cat hi, not_empty: true}"),
    ];
    for (vacuous, twin) in table {
        assert!(refused(vacuous), "accepted: {vacuous}");
        if let Err(problems) = parse_base_case(twin) {
            panic!("{twin}\n{problems}");
        }
    }
}
