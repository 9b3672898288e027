//! Output that is too much for the window (seed 000 §8.6).

use serde_json::json;
use windlass_domain::{CallId, ExecutionId, Wall};
use windlass_sandbox::Status;

use crate::support::{Bench, exit};

#[test]
fn the_beginning_is_shown_and_the_whole_is_where_it_says() {
    let bench = Bench::with_output_tokens(10);
    let output = "é".repeat(100);
    bench.sandbox.answer(Ok(exit(Status::Code(0), &output)));
    let ran = bench.call("bash", &json!({ "command": "flood" }));
    let whole = format!("Exit code: 0\n\n{output}");
    let shown = &whole[..40];
    assert_eq!(
        ran.content,
        format!(
            "{shown}\n\n[OUTPUT TRUNCATED — full output saved to /workspace/.scratch/tool-output-00000000-call_1.txt. \
             Use read tool to access.]"
        )
    );
    assert_eq!(bench.text(".scratch/tool-output-00000000-call_1.txt"), whole);
    assert_eq!(ran.full_output, Some(whole.into_bytes()));
}

/// Providers number calls alike, and agents that work side by side share a folder.
#[test]
fn agents_with_the_same_call_id_do_not_write_over_each_other() {
    let bench = Bench::with_output_tokens(10);
    let call = CallId("call_1".to_owned());
    let told = |random: u128, text: &str| {
        let execution = ExecutionId::new(Wall::default(), random << 48);
        bench.wait(bench.tools.fit(text.repeat(50), execution, &call)).0
    };
    let shown = [told(1, "parent "), told(2, "child "), told(3, "cousin ")];
    for (shown, text) in shown.iter().zip(["parent ", "child ", "cousin "]) {
        let path = shown.split("saved to /workspace/").nth(1).and_then(|rest| rest.split(". Use").next()).unwrap();
        assert_eq!(bench.text(path), text.repeat(50));
    }
}

#[test]
fn what_just_fits_is_left_as_it_is() {
    let bench = Bench::with_output_tokens(10);
    bench.sandbox.answer(Ok(exit(Status::Code(0), "x".repeat(26))));
    let ran = bench.call("bash", &json!({ "command": "a" }));
    assert_eq!((ran.content.len(), ran.full_output), (40, None));
    bench.sandbox.answer(Ok(exit(Status::Code(0), "x".repeat(27))));
    assert!(bench.call("bash", &json!({ "command": "a" })).full_output.is_some());
}

#[test]
fn a_cut_never_splits_a_character() {
    let bench = Bench::with_output_tokens(10);
    for shift in 0..4 {
        bench.sandbox.answer(Ok(exit(Status::Code(0), format!("{}{}", "x".repeat(shift), "🦀".repeat(20)))));
        let ran = bench.call("bash", &json!({ "command": "a" }));
        let shown = ran.content.split("\n\n[OUTPUT").next().unwrap();
        assert!((37..=40).contains(&shown.len()), "{shown}");
    }
}

#[test]
fn a_scratch_folder_that_leads_out_gets_nothing() {
    let bench = Bench::with_output_tokens(10);
    std::os::unix::fs::symlink("..", bench.path(".scratch")).unwrap();
    bench.sandbox.answer(Ok(exit(Status::Code(0), "x".repeat(100))));
    let ran = bench.call("bash", &json!({ "command": "a" }));
    assert!(
        ran.content.ends_with(
            "[OUTPUT TRUNCATED — the full output could not be saved: .scratch/tool-output-00000000-call_1.txt: leads outside the \
             workspace; use a path below /workspace.]"
        ),
        "{}",
        ran.content
    );
    assert!(ran.full_output.is_some());
    assert_eq!(std::fs::read_dir(bench.path("..")).unwrap().count(), 2);
}

#[test]
fn what_was_dropped_before_it_came_here_is_said() {
    let bench = Bench::new();
    let mut flood = exit(Status::Code(0), "x");
    flood.dropped = 107_000_000_000;
    bench.sandbox.answer(Ok(flood));
    let ran = bench.call("bash", &json!({ "command": "yes" }));
    assert_eq!(ran.content, "Exit code: 0\n[107000000000 bytes in the middle of the output were left out]\n\nx");
}
