//! `windlass run` against a model server that nobody here wrote, over every wire. `make test-real` starts one and says where
//! it is; these tests are not part of an ordinary run, and fail when they are run without it.
//!
//! The model is tiny. What it says is not looked at, only that the whole way from the command line to the journal is in order.

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Home, Program, read};

/// A key that the server does not ask for, and that must not turn up anywhere.
const KEY: &str = "sk-nobody-asks-for-this";

/// It never stops by itself. On the other wire, which asks for no limit, the server keeps its own.
const MODELS: &str = "[models]\n\"smollm2\" = { context_window = 8192, max_output = 48 }\n";

fn server() -> String {
    std::env::var("WINDLASS_REAL_MODEL_URL").expect("a server's address; `make test-real` starts one")
}

fn asks(through: impl FnOnce(Program, &str) -> Program) {
    let home = Home::new();
    home.write("notes.txt", "alpha\n");
    std::fs::create_dir(home.data()).expect("a data directory");
    std::fs::write(home.data().join("models.toml"), MODELS).expect("what is known about the model");
    let limits = ["--max-iterations", "2", "--timeout", "1200", "--max-tokens", "20000"];
    let goal = ["run", "Say hello in one word. Use no tools.", "--json"];
    let ended = through(home.windlass(&[goal.as_slice(), &limits].concat()), &server()).run();
    let result = ended.result();
    let limit_reached = ["answer_incomplete", "budget_exceeded", "max_iterations_exceeded", "timeout"];
    match ended.status.code() {
        Some(0) => assert_eq!(result["status"], "COMPLETED", "{result}"),
        Some(1) => {
            let code = result["error_details"]["error_code"].as_str().unwrap_or_default();
            assert!(result["status"] == "FAILED" && limit_reached.contains(&code), "{result}");
        }
        other => panic!("exit code {other:?}: {}", ended.stderr),
    }
    answered(&read(&home).of("model.responded").collect::<Vec<_>>(), &result);
    assert!(!ended.stdout.contains(KEY) && !ended.stderr.contains(KEY));
}

/// The server has answered, and its own figures are in the journal and in the result.
fn answered(answers: &[&Value], result: &Value) {
    assert!(!answers.is_empty(), "nothing was answered: {result}");
    let sum =
        |name: &str| answers.iter().map(|answer| answer["data"]["usage"][name].as_u64().unwrap_or(0)).sum::<u64>();
    // The instructions and the tools alone are more than this.
    assert!(sum("input") > 1_000 && sum("output") > 0, "{answers:?}");
    assert!(result["usage"]["input_tokens"].as_u64() >= Some(sum("input")), "{result}");
    let said = |answer: &&Value| {
        let data = &answer["data"];
        data["text"].as_str().is_some_and(|text| !text.is_empty()) || data["calls"].is_array()
    };
    assert!(answers.iter().all(said), "{answers:?}");
}

/// How many turns the model gets; `make soak-real` asks for more.
fn turns() -> usize {
    std::env::var("WINDLASS_REAL_TURNS").map_or(20, |turns| turns.parse().expect("a number of turns"))
}

/// It is to write a file and has not the wits for it, so that every attempt ends with a check that fails and another begins.
/// In the middle of it all the run is interrupted and goes on.
#[test]
fn a_bad_model_breaks_nothing() {
    let home = Home::new();
    std::fs::create_dir(home.data()).expect("a data directory");
    std::fs::write(home.data().join("models.toml"), MODELS.replace("48", "12")).expect("what is known about the model");
    let attempts = turns().to_string();
    let goal = ["run", "Write the file hello.txt.", "--base-case", "file: hello.txt", "--json"];
    let limits = ["--max-attempts", &attempts, "--timeout", "600", "--max-tokens", "100000000"];
    let mut run = through_chat(home.windlass(&[goal.as_slice(), &limits].concat()), &server()).start();
    (0..turns() / 2).for_each(|_| drop(run.wait_for_record("model.responded")));
    run.signal(Signal::INT);
    let paused = run.end().expect(5);
    let ended = through_chat(home.windlass(&["resume", "--json"]), &server()).run();
    assert!([0, 1].contains(&ended.code()), "{}", ended.stderr);
    for said in [&paused, &ended] {
        assert!(!said.stderr.contains("panicked") && !said.stderr.contains(KEY), "{}", said.stderr);
    }
    is_in_order(&home, &ended.result());
}

#[expect(clippy::print_stdout, reason = "how far it came is what a soak is for")]
fn is_in_order(home: &Home, result: &Value) {
    let story = read(home);
    let answers = story.of("model.responded").count();
    let errors = story.of("model.failed").count();
    println!("{answers} answers, {errors} that could not be used, {}", result["status"]);
    assert!(result["status"] == "COMPLETED" || answers + errors >= turns(), "{answers} answers: {result}");
    let results = story.times("tool.finished");
    assert!(results.values().all(|times| *times == 1) && story.asked().keys().eq(results.keys()), "{results:?}");
    home.windlass(&["log"]).run().expect(0);
    home.windlass(&["status"]).run().expect(0);
    home.windlass(&["audit", "verify"]).run().expect(0);
}

/// It is given no tools and held to the form of a decision. What it decides is not looked at: its calls go through the gates, its steps
/// are counted, and it ends by itself within its bounds. So small a model may talk inside a decision until its answer is cut off, both
/// times that it is asked, and the run fails within the same bounds: it has three runs in which to decide anything.
#[test]
fn a_tactician_decides_within_its_bounds() {
    assert!((0..3).any(|_| decisions_of_a_run() >= 1), "a model that is held to the form decides something");
}

fn decisions_of_a_run() -> usize {
    let home = Home::new();
    home.write("notes.txt", "alpha\n");
    std::fs::create_dir(home.data()).expect("a data directory");
    let models = MODELS.replace("max_output = 48", "max_output = 500, tool_calls = false").replace("8192", "4096");
    std::fs::write(home.data().join("models.toml"), models).expect("what is known about the model");
    let goal = ["run", "Read notes.txt, then save a memo with what it says.", "--pattern", "memory_op", "--json"];
    let limits = ["--max-iterations", "12", "--timeout", "1200", "--max-tokens", "60000", "--max-attempts", "1"];
    let ended = through_chat(home.windlass(&[goal.as_slice(), &limits].concat()), &server()).run();
    assert!([0, 1].contains(&ended.code()) && !ended.stderr.contains("panicked"), "{}", ended.stderr);
    let result = ended.result();
    let story = read(&home);
    let decided = story.of("model.responded").count();
    let cut_off = result["error_details"]["error_code"] == "answer_incomplete";
    assert!(decided >= 1 || cut_off, "{} answers could not be used: {result}", story.of("model.failed").count());
    assert!(story.of("pattern.stepped").count() <= 5);
    for answer in story.of("model.responded") {
        let calls = answer["data"]["calls"].as_array().map_or(0, Vec::len);
        assert!(calls <= 1, "one decision at a time: {answer}");
    }
    for asked in story.of("model.requested") {
        assert!(asked["data"]["estimated_input"].as_u64() <= Some(3_000), "{asked}");
    }
    let results = story.times("tool.finished");
    assert!(results.values().all(|times| *times == 1) && story.asked().keys().eq(results.keys()), "{results:?}");
    home.windlass(&["log"]).run().expect(0);
    home.windlass(&["audit", "verify"]).run().expect(0);
    decided
}

fn through_chat(program: Program, url: &str) -> Program {
    program.env("LITELLM_API_BASE", url).env("LITELLM_API_KEY", KEY).env("LITELLM_MODEL", "smollm2")
}

#[test]
fn openai_chat_completions() {
    asks(through_chat);
}

#[test]
fn openai_responses() {
    asks(|program, url| through_chat(program, url).env("LITELLM_API", "responses"));
}

#[test]
fn anthropic_messages() {
    asks(|program, url| {
        program.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_MODEL", "smollm2")
    });
}
