//! `write` and `edit`: what is declared beforehand is what happens, to the byte and to the word, or nothing happens.

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_domain::{CallStatus, Digest, Effect, Recovery};

use crate::support::Bench;

fn probe(effect: &Effect) -> &windlass_domain::Probe {
    match effect {
        Effect::Probe(probe) => probe,
        other => panic!("not a probe: {other:?}"),
    }
}

/// Runs a call and holds it to what it declared.
fn as_declared(bench: &Bench, tool: &str, arguments: &Value, path: &str) {
    let before = std::fs::read(bench.path(path)).ok();
    let effect = bench.prepare(tool, arguments).unwrap();
    assert_eq!(std::fs::read(bench.path(path)).ok(), before, "preparing changed the file");
    assert_eq!(probe(&effect).before, before.as_deref().map(Digest::of));
    assert_eq!(bench.probe(&effect), before.as_deref().map(Digest::of));
    let ran = bench.run(tool, arguments, effect.clone());
    assert_eq!((ran.status, &ran.content), (CallStatus::Ok, &probe(&effect).result));
    let after = std::fs::read(bench.path(path)).unwrap();
    assert_eq!(Digest::of(&after), probe(&effect).after);
    let found = bench.probe(&effect);
    assert_eq!(effect.recover(|_| found), Recovery::Finished(ran.content));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn write_does_exactly_what_it_declared(old in proptest::option::of(".{0,40}"), new in ".{0,40}") {
        let bench = Bench::new();
        if let Some(old) = old {
            bench.put("dir/a", old);
        }
        as_declared(&bench, "write", &json!({ "path": "dir/a", "content": new }), "dir/a");
        prop_assert_eq!(bench.text("dir/a"), new);
    }

    #[test]
    fn edit_does_exactly_what_it_declared_or_refuses(
        lines in prop::collection::vec("[ab]{0,3}", 0..6),
        ending in prop::sample::select(vec!["\n", "\r\n"]),
        old in "[ab\n]{1,4}",
        new in "[abc\n]{0,4}",
        replace_all in any::<bool>(),
    ) {
        let bench = Bench::new();
        let text: String = lines.iter().map(|line| format!("{line}{ending}")).collect();
        bench.put("a", &text);
        let arguments = json!({ "path": "a", "old_string": old, "new_string": new, "replace_all": replace_all });
        let unix = text.replace("\r\n", "\n");
        let occurrences = unix.matches(&old).count();
        if bench.prepare("edit", &arguments).is_ok() {
            as_declared(&bench, "edit", &arguments, "a");
            prop_assert!(occurrences == 1 || (replace_all && occurrences > 1));
            prop_assert_eq!(bench.text("a"), unix.replace(&old, &new).replace('\n', ending));
        } else {
            prop_assert!(old == new || occurrences == 0 || (occurrences > 1 && !replace_all));
            prop_assert_eq!(bench.text("a"), text);
        }
    }
}

#[test]
fn a_name_that_has_to_be_escaped_for_the_eye_is_found_again_after_a_crash() {
    let bench = Bench::new();
    for name in ["two\nlines", "back\\nslash", "right\u{202e}left"] {
        bench.put(name, "old");
        as_declared(&bench, "write", &json!({ "path": name, "content": "new" }), name);
    }
}

#[test]
fn results_are_told_in_a_line() {
    let bench = Bench::new();
    assert_snapshot!(bench.ok("write", &json!({ "path": "/workspace/src/a.rs", "content": "a\nb\na\n" })), @"Created src/a.rs (6 bytes).");
    assert_snapshot!(bench.ok("write", &json!({ "path": "./src/a.rs", "content": "a\nb\na\nb\n" })), @"Replaced src/a.rs (8 bytes).");
    assert_snapshot!(bench.ok("edit", &json!({ "path": "src/a.rs", "old_string": "b\na", "new_string": "c" })), @"Edited src/a.rs: replaced 1 occurrence at line 2.");
    bench.ok("write", &json!({ "path": "b", "content": "x\ny\nx\n" }));
    assert_snapshot!(bench.ok("edit", &json!({ "path": "b", "old_string": "x", "new_string": "z", "replace_all": true })), @"Edited b: replaced 2 occurrences at lines 1, 3.");
    assert_eq!(bench.text("b"), "z\ny\nz\n");
}

#[test]
fn a_file_that_changed_since_is_left_alone() {
    let bench = Bench::new();
    bench.put("a", "one");
    let write = json!({ "path": "a", "content": "mine" });
    let edit = json!({ "path": "a", "old_string": "one", "new_string": "two" });
    for (tool, arguments) in [("write", &write), ("edit", &edit)] {
        bench.put("a", "one");
        let effect = bench.prepare(tool, arguments).unwrap();
        bench.put("a", "one, and somebody else's work");
        let ran = bench.run(tool, arguments, effect.clone());
        assert_eq!(ran.status, CallStatus::Error);
        assert_eq!(
            ran.content,
            "Error: a changed after this call was prepared; nothing was written. Read it and try again"
        );
        assert_eq!(bench.text("a"), "one, and somebody else's work");
        let found = bench.probe(&effect);
        assert_eq!(effect.recover(|_| found), Recovery::Interrupted);
    }
}

#[test]
fn what_was_declared_is_all_that_can_be_written() {
    let bench = Bench::new();
    let declared = bench.prepare("write", &json!({ "path": "a", "content": "harmless" })).unwrap();
    let ran = bench.run("write", &json!({ "path": "a", "content": "something else" }), declared);
    assert_eq!(ran.status, CallStatus::Error, "{}", ran.content);
    assert!(!bench.path("a").exists());
}

#[test]
fn a_call_found_undone_after_a_crash_is_run_again_with_the_same_outcome() {
    let bench = Bench::new();
    bench.put("dir/a", "one");
    let arguments = json!({ "path": "dir/a", "old_string": "one", "new_string": "two" });
    let effect = bench.prepare("edit", &arguments).unwrap();
    bench.put("dir/.windlass-tmp-0123456789abcdef", "tw");
    let found = bench.probe(&effect);
    assert_eq!(effect.recover(|_| found), Recovery::RunAgain);
    assert!(!bench.path("dir/.windlass-tmp-0123456789abcdef").exists(), "what the crash left is swept");
    let first = bench.run("edit", &arguments, effect.clone());
    let second = bench.run("edit", &arguments, effect);
    assert_eq!((first.status, bench.text("dir/a").as_str()), (CallStatus::Ok, "two"));
    assert_eq!((first.status, first.content), (second.status, second.content), "doing it twice is doing it once");
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_is_asked_for() {
    let bench = Bench::new();
    bench.put("folder/a", "a");
    bench.put(".git/config", "[core]");
    std::os::unix::fs::symlink("../secret", bench.path("link")).unwrap();
    std::os::unix::fs::symlink(".git", bench.path("alias")).unwrap();
    let refused = |path: &str| bench.prepare("write", &json!({ "path": path, "content": "x" })).unwrap_err();
    assert_snapshot!(refused("folder"), @"Error: folder: is a folder, not a file");
    assert_snapshot!(refused("folder/a/b"), @"Error: folder/a/b: a part of this path is a file, not a folder");
    assert_snapshot!(refused("../x"), @"Error: ../x: leads outside the workspace; use a path below /workspace");
    assert_snapshot!(refused("link"), @"Error: link: leads outside the workspace; use a path below /workspace");
    assert_snapshot!(refused("/tmp/x"), @"Error: /tmp/x: leads outside the workspace; use a path below /workspace");
    assert_snapshot!(refused(".git/hooks/pre-commit"), @"Error: .git/hooks/pre-commit: is protected and cannot be changed");
    assert_snapshot!(refused("alias/config"), @"Error: alias/config: is protected and cannot be changed");
    let edit =
        |path: &str| bench.prepare("edit", &json!({ "path": path, "old_string": "a", "new_string": "b" })).unwrap_err();
    assert_snapshot!(edit("missing"), @"Error: missing: no such file or folder; use write to create a file");
    assert_snapshot!(edit(".git/config"), @"Error: .git/config: is protected and cannot be changed");
}

#[test]
fn edits_that_do_not_fit_the_file_say_why() {
    let bench = Bench::new();
    bench.put("a.rs", "fn main() {\n    let count = 1;\n    let count = 1;\n}\n");
    bench.put("latin", b"Gr\xfc\xdfe aus M\xfcnchen\n");
    bench.put("data", [0_u8, 1, 2, 255]);
    let refused = |path: &str, old: &str, new: &str| {
        bench.error("edit", &json!({ "path": path, "old_string": old, "new_string": new }))
    };
    assert_snapshot!(refused("a.rs", "let total = 1;", "x"), @"Error: a.rs: old_string was not found; nothing was changed. The nearest line is 2: let count = 1;");
    assert_snapshot!(refused("a.rs", "fn main() {\n\tlet count = 1;", "x"), @"Error: a.rs: old_string was not found; nothing was changed. Line 1 has the same text with other white space; copy it exactly as read shows it");
    assert_snapshot!(refused("a.rs", "let count", "x"), @"Error: a.rs: old_string occurs 2 times, at lines 2, 3. Add lines around it until it is unique, or set replace_all");
    assert_snapshot!(refused("a.rs", "main", "main"), @"Error: a.rs: old_string and new_string are the same; there is nothing to change");
    assert_snapshot!(refused("latin", "Gr", "x"), @"Error: latin: is not UTF-8 but windows-1252; edit works on UTF-8 text. Convert it with iconv in bash first");
    assert_snapshot!(refused("data", "x", "y"), @"Error: data: is binary data; edit works on text");
    assert_eq!(bench.text("a.rs").matches("count").count(), 2);
}

#[test]
fn an_executable_stays_one_and_a_link_stays_a_link() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    bench.put("bin/run", "#!/bin/sh\nexit 1\n");
    std::fs::set_permissions(bench.path("bin/run"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("bin/run", bench.path("run")).unwrap();
    bench.ok("edit", &json!({ "path": "run", "old_string": "exit 1", "new_string": "exit 0" }));
    assert_eq!(bench.text("bin/run"), "#!/bin/sh\nexit 0\n");
    assert!(bench.path("run").is_symlink());
    assert_eq!(std::fs::metadata(bench.path("bin/run")).unwrap().permissions().mode() & 0o777, 0o755);
}
