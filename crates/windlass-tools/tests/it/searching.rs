//! `glob` and `grep` find what is the agent's and nothing else, in a fixed order, and stop when there is enough.

use insta::assert_snapshot;
use serde_json::json;
use windlass_domain::{CallStatus, CancelSignal, Canceller, Effect, Stop};

use crate::support::Bench;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.put("src/main.rs", "fn main() {\n    // TODO: greet\n    println!(\"hello\");\n}\n");
    bench.put("src/deep/lib.rs", "pub fn hello() {}\n// todo later\r\n");
    bench.put("web/app.ts", "hello();\n");
    bench.put(".github/ci.yml", "run: hello\n");
    bench.put(".memo/notes.md", "hello from a memo\n");
    bench.put("target/debug/out.rs", "hello from the build\n");
    bench.put(".scratch/tool-output-1.txt", "hello from scratch\n");
    bench.put(".git/config", "hello from git\n");
    bench.put(".gitignore", "/target\n");
    bench.put("image.bin", b"hello\0\x01\x02\n");
    std::os::unix::fs::symlink("../secret", bench.path("link")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, bench.path("pipe"), rustix::fs::Mode::from_raw_mode(0o644)).unwrap();
    bench
}

#[test]
fn glob_finds_files_by_pattern_in_order() {
    let bench = bench();
    let found = |arguments: serde_json::Value| bench.ok("glob", &arguments);
    assert_snapshot!(found(json!({ "pattern": "**/*.rs" })), @r"
    src/deep/lib.rs
    src/main.rs
    ");
    assert_eq!(found(json!({ "pattern": "*.rs" })), "src/deep/lib.rs\nsrc/main.rs\n");
    assert_eq!(found(json!({ "pattern": "src/*.rs" })), "src/main.rs\n");
    assert_eq!(found(json!({ "pattern": "/workspace/src/*.rs" })), "src/main.rs\n");
    assert_eq!(found(json!({ "pattern": "*.rs", "path": "src/deep" })), "src/deep/lib.rs\n");
    assert_eq!(found(json!({ "pattern": "*.{ts,yml}" })), ".github/ci.yml\nweb/app.ts\n");
    assert_eq!(found(json!({ "pattern": "*.rs", "path": "/workspace/target" })), "target/debug/out.rs\n");
    assert_snapshot!(found(json!({ "pattern": "*.py" })), @"No files match *.py. Ignored files were not searched.");
}

#[test]
fn glob_refuses_what_is_no_pattern_or_leaves() {
    let bench = bench();
    let told = |arguments: serde_json::Value| bench.error("glob", &arguments);
    assert_snapshot!(told(json!({ "pattern": "../*" })), @"Error: `../*`: a pattern is relative and without `..`; name the folder in path");
    assert_snapshot!(told(json!({ "pattern": "/etc/*" })), @"Error: `/etc/*`: a pattern is relative and without `..`; name the folder in path");
    assert_snapshot!(told(json!({ "pattern": "a{b" })), @"Error: `a{b` is no glob: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)");
    assert_snapshot!(told(json!({ "pattern": "*", "path": "nowhere" })), @"Error: nowhere: no such file or folder");
    assert_snapshot!(told(json!({ "pattern": "*", "path": ".." })), @"Error: ..: leads outside the workspace; use a path below /workspace");
}

#[test]
fn glob_is_capped_and_says_how_many_there_are() {
    let bench = Bench::new();
    for n in 0..1_005 {
        bench.put(&format!("f{n:04}"), "");
    }
    let found = bench.ok("glob", &json!({ "pattern": "f*" }));
    assert_eq!(found.lines().count(), 1_001);
    assert!(found.ends_with("f0999\n[the first 1000 of 1005 files; narrow the pattern or the path]"), "{found}");
}

#[test]
fn grep_shows_matching_lines_and_passes_over_what_is_not_the_agents() {
    let bench = bench();
    assert_snapshot!(bench.ok("grep", &json!({ "pattern": "hello" })), @r#"
    .github/ci.yml:1:run: hello
    .memo/notes.md:1:hello from a memo
    src/deep/lib.rs:1:pub fn hello() {}
    src/main.rs:3:    println!("hello");
    web/app.ts:1:hello();
    "#);
    assert_snapshot!(bench.ok("grep", &json!({ "pattern": "todo", "case_insensitive": true, "context": 1 })), @r#"
    src/deep/lib.rs-1-pub fn hello() {}
    src/deep/lib.rs:2:// todo later
    src/main.rs-1-fn main() {
    src/main.rs:2:    // TODO: greet
    src/main.rs-3-    println!("hello");
    "#);
    assert_eq!(bench.ok("grep", &json!({ "pattern": "later$" })), "src/deep/lib.rs:2:// todo later\n");
    assert_eq!(bench.ok("grep", &json!({ "pattern": "hello", "glob": "*.ts" })), "web/app.ts:1:hello();\n");
    assert_eq!(
        bench.ok("grep", &json!({ "pattern": "hello", "glob": "src/*.rs" })),
        "src/main.rs:3:    println!(\"hello\");\n"
    );
    assert_eq!(bench.ok("grep", &json!({ "pattern": "hello", "path": "web/app.ts" })), "web/app.ts:1:hello();\n");
    assert_eq!(
        bench.ok("grep", &json!({ "pattern": "scratch", "path": ".scratch" })),
        ".scratch/tool-output-1.txt:1:hello from scratch\n"
    );
    assert_snapshot!(bench.ok("grep", &json!({ "pattern": "nobody" })), @"No matches for nobody. Ignored and binary files were not searched.");
}

#[test]
fn grep_names_files_and_counts() {
    let bench = Bench::new();
    bench.put("a", "x\nx\n");
    bench.put("b", "x\n");
    bench.put("c", "y\n");
    assert_eq!(bench.ok("grep", &json!({ "pattern": "x", "output_mode": "files" })), "a\nb\n");
    assert_eq!(bench.ok("grep", &json!({ "pattern": "x", "output_mode": "count" })), "a:2\nb:1\n");
}

#[test]
fn a_file_that_turns_out_to_be_binary_shows_nothing_of_what_matched_before() {
    let bench = Bench::new();
    let mut bytes = b"needle\n".to_vec();
    bytes.extend("filler\n".repeat(100_000).bytes());
    bench.put("text", &bytes);
    assert_eq!(bench.ok("grep", &json!({ "pattern": "needle" })), "text:1:needle\n");
    bytes.push(0);
    bench.put("text", &bytes);
    assert!(bench.ok("grep", &json!({ "pattern": "needle" })).starts_with("No matches"));
}

#[test]
fn grep_stops_when_there_is_enough_and_says_so() {
    let bench = Bench::new();
    bench.put("a", "x\n".repeat(10));
    bench.put("b", "x\n".repeat(10));
    assert_snapshot!(bench.ok("grep", &json!({ "pattern": "x", "max_results": 3 })), @r"
    a:1:x
    a:2:x
    a:3:x
    [stopped after 3 results; narrow the search or raise max_results]
    ");
    bench.put("long", format!("{}y{}", "é".repeat(300), "z".repeat(100_000)));
    let long = bench.ok("grep", &json!({ "pattern": "y" }));
    assert!(long.len() < 1_200 && long.ends_with("… [line cut]\n"), "{long}");
}

#[test]
fn grep_says_what_is_wrong_with_an_expression() {
    let bench = bench();
    let told = bench.error("grep", &json!({ "pattern": "(unclosed" }));
    assert!(
        told.starts_with("Error: `(unclosed` is no regular expression: ") && told.contains("unclosed group"),
        "{told}"
    );
    assert!(bench.error("grep", &json!({ "pattern": "x", "glob": "[" })).contains("is no glob"));
    assert!(bench.error("grep", &json!({ "pattern": "x{10000}{10000}" })).contains("is no regular expression"));
}

#[test]
fn expressions_that_explode_elsewhere_are_searched_in_linear_time() {
    let bench = Bench::new();
    bench.put("a", format!("{}!\n", "a".repeat(200_000)));
    assert!(bench.ok("grep", &json!({ "pattern": "^(a+)+$" })).starts_with("No matches"));
}

#[test]
fn a_search_ends_when_it_is_cancelled() {
    let bench = bench();
    let canceller = Canceller::default();
    canceller.stop(Stop::Cancel);
    for (tool, arguments) in [("grep", json!({ "pattern": "hello" })), ("glob", json!({ "pattern": "**" }))] {
        let ran = bench.run_until(tool, &arguments, Effect::Read, canceller.signal(), &mut |_| {});
        assert_eq!(
            (ran.status, ran.content.as_str()),
            (CallStatus::Error, "Error: stopped before the search was done")
        );
        let ran = bench.run_until(tool, &arguments, Effect::Read, CancelSignal::never(), &mut |_| {});
        assert_eq!(ran.status, CallStatus::Ok);
    }
}
