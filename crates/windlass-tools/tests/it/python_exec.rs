//! `python_exec`: the script is what is shown, judged and run, word for word.

use serde_json::json;
use windlass_domain::{CallStatus, Canceller, Effect, Program, Reach, Stop};
use windlass_policy::risk::{Level, Place, Table, assess_call};
use windlass_sandbox::{Error, Status, Stdin};
use windlass_tools::{Confinement, Kit, Toolset};

use crate::support::{Bench, exit};

const SCRIPT: &str = "import sys\nprint('it\\'s', \"$HOME\")\n";

#[test]
fn the_script_is_run_as_it_was_written() {
    let bench = Bench::new();
    bench.sandbox.answer(Ok(exit(Status::Code(0), "4\n")));
    let told = bench.ok("python_exec", &json!({ "script": SCRIPT, "timeout_seconds": 7 }));
    assert_eq!(told, "Exit code: 0\n\n4\n");
    let command = bench.sandbox.commands.lock().unwrap().pop().unwrap();
    assert_eq!(command.argv, ["python3", "-c", SCRIPT]);
    assert_eq!((command.stdin, command.timeout.as_secs()), (Stdin::Closed, 7));
}

/// What a card shows and a yes binds is the whole script; where it could send something is said as for any program.
#[test]
fn it_is_prepared_as_a_command_that_runs_python() {
    let bench = Bench::new();
    let prepared = |confinement| {
        let tools = Toolset::new(bench.context(), Kit::executor(confinement));
        bench.prepare_with(&tools, "python_exec", &json!({ "script": SCRIPT }).to_string()).unwrap()
    };
    let argv = ["python3", "-c", SCRIPT].map(str::to_owned).to_vec();
    let sealed = prepared(Confinement::Sealed);
    assert_eq!((sealed.effect, sealed.program), (Effect::Once, Some(Program { argv, cwd: String::new() })));
    assert_eq!(sealed.reach, Reach::Program);
    assert_eq!(prepared(Confinement::Restricted).reach, Reach::NetworkProgram);
    assert_eq!(prepared(Confinement::Nothing).reach, Reach::NetworkProgram);
}

#[test]
fn it_is_as_risky_as_bash_that_runs_python() {
    let level = |tool: &str, arguments| assess_call(&Table::shipped(), tool, &arguments, &Place::workspace()).level;
    assert_eq!(level("bash", json!({ "command": "python3 -c 'print(1)'" })), Level::High);
    assert_eq!(level("python_exec", json!({ "script": "print(1)" })), Level::High);
}

#[test]
fn bad_arguments_are_refused_before_anything_runs() {
    let bench = Bench::new();
    let told = |arguments| bench.error("python_exec", &arguments);
    assert!(told(json!({})).contains("`script`: missing"));
    assert!(told(json!({ "script": "" })).contains("must not be empty"));
    assert!(told(json!({ "script": "a\0b" })).contains("zero byte"));
    assert!(told(json!({ "script": "x", "path": "a.py" })).contains("unknown field"));
    assert!(told(json!({ "script": "#".repeat(60_001) })).contains("write it to a file and run that with bash"));
    assert!(bench.sandbox.commands.lock().unwrap().is_empty());
}

#[test]
fn a_flood_is_cut_and_the_whole_is_kept() {
    let bench = Bench::with_output_tokens(10);
    bench.sandbox.answer(Ok(exit(Status::Code(1), "x".repeat(500))));
    let ran = bench.call("python_exec", &json!({ "script": "flood()" }));
    assert_eq!(ran.status, CallStatus::Error);
    assert!(ran.content.contains("OUTPUT TRUNCATED") && ran.full_output.unwrap().len() > 500);
}

#[test]
fn an_interruption_leaves_open_whether_it_happened() {
    let bench = Bench::new();
    bench.sandbox.answer(Err(Error::Died { detail: "the supervisor is gone".into() }));
    bench.sandbox.answer(Ok(exit(Status::Code(0), "")));
    let ran = bench.call("python_exec", &json!({ "script": "x" }));
    assert_eq!(ran.status, CallStatus::Interrupted);
    assert_eq!(bench.sandbox.commands.lock().unwrap().len(), 1, "it is never run a second time");
    let canceller = Canceller::default();
    canceller.stop(Stop::Pause);
    let bench = Bench::new();
    bench.sandbox.answer(Ok(exit(Status::Cancelled, "")));
    let arguments = json!({ "script": "x" });
    let ran = bench.run_until("python_exec", &arguments, Effect::Once, canceller.signal(), &mut |_| {});
    assert_eq!(ran.status, CallStatus::Interrupted);
}
