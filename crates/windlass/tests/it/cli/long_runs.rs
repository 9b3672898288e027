//! Runs that outgrow their model's window, and runs that go in circles, through the program itself.

use serde_json::Value;

use super::assert_shown;
use crate::support::Home;

/// Little more than the system prompt and the definitions of the tools take.
const SMALL_WINDOW: &str = "[compaction]\ncontext_window_tokens = 12000\npreserve_recent_turns = 2\nmax_summary_tokens = 200\n\
    memory_flush_enabled = false\n";

/// An agent that talks much and reads a long file again and again, each time another part of it.
fn talkative() -> Home {
    let words = "I weigh what to look at next and why, at some length, because this is a long run. ".repeat(12);
    let turn = |n: usize| {
        format!(
            "    - reply: 'Part {n}. {}'\n      calls: [{{tool: read, args: {{path: long.txt, offset: {}, limit: 40}}}}]\n",
            words.trim(),
            n * 10 + 1
        )
    };
    let turns: String = (0..24).map(turn).collect();
    let script = format!(
        "version: 1\ntracks:\n  summariser:\n    - {{reply: '- long.txt was read from the beginning', repeat: forever}}\n  \
         default:\n    - calls: [{{tool: bash, args: {{command: 'echo E42 no such door >&2; exit 3'}}}}]\n{turns}    - reply: Read.\n"
    );
    let home = Home::playing(&script);
    let line = |n: usize| format!("line {n} of a file that is longer than anybody wants to read at once\n");
    home.write("long.txt", &(0..400).map(line).collect::<String>());
    home
}

fn configured(home: &Home, toml: &str) {
    std::fs::create_dir_all(home.data()).expect("a folder");
    std::fs::write(home.data().join("windlass.toml"), toml).expect("written");
}

fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["type"] == kind).map(|record| &record["data"]).collect()
}

#[test]
fn a_long_run_on_a_small_window_is_compacted_and_ends_well() {
    let home = talkative();
    configured(&home, SMALL_WINDOW);
    let ended = home.run(&["--json", "--max-tokens", "10000000"]).run().expect(0);
    let records = ended.objects();
    let result = ended.result();
    let finished = of_kind(&records, "compaction.finished");
    assert!(finished.len() >= 2, "{} compactions", finished.len());
    assert_eq!(result["usage"]["compactions"], finished.len());
    for compaction in &finished {
        let tokens = |name: &str| compaction[name].as_u64().expect("a number");
        assert!(tokens("tokens_after") < tokens("tokens_before"), "{compaction}");
    }
    let asked = of_kind(&records, "model.requested");
    assert!(asked.iter().all(|asked| asked["estimated_input"].as_u64().is_some_and(|tokens| tokens < 12_000)));
    assert!(asked.iter().any(|asked| asked["purpose"].get("summary").is_some()), "a summary was asked for");
    let rewritten =
        finished.iter().filter_map(|compaction| compaction.get("rewritten")).next_back().expect("a summary");
    let kept = rewritten["kept"].as_str().expect("text");
    assert!(kept.contains("E42 no such door"), "{kept}");
    assert!(rewritten["summary"].as_str().is_some_and(|text| text.contains("long.txt was read from the beginning")));
    let log = home.windlass(&["log"]).run().expect(0);
    assert!(log.stdout.contains("compacted: ") && log.stdout.contains(" tokens"), "{}", log.stdout);
    assert!(log.stdout.contains("left out, with a note where to find each"), "{}", log.stdout);
    let task = result["task_id"].as_str().expect("an id");
    let trace = std::fs::read_to_string(home.data().join("traces").join(format!("{task}.jsonl"))).expect("a trace");
    for event in ["compaction_start", "compaction_end"] {
        assert!(trace.contains(&format!("\"event_type\":\"{event}\"")), "{event}");
    }
}

/// The control: with the window that it really has, nothing is left out.
#[test]
fn in_a_large_window_nothing_is_compacted() {
    let home = talkative();
    let ended = home.run(&["--json", "--max-tokens", "10000000"]).run().expect(0);
    assert_eq!(ended.result()["usage"]["compactions"], 0);
}

#[test]
fn settings_of_a_run_stay_with_its_task() {
    let home = talkative();
    configured(&home, SMALL_WINDOW);
    let mut program = home.run(&["--json", "--max-tokens", "10000000"]).start();
    program.wait_for_record("compaction.started");
    program.signal(rustix::process::Signal::KILL);
    program.end_unread();
    // Whoever goes on does so as it was begun.
    configured(&home, "");
    let ended = home.windlass(&["resume", "--json"]).run().expect(0);
    let compactions = ended.result()["usage"]["compactions"].as_u64().expect("a number");
    assert!(compactions >= 2, "{compactions}");
}

#[test]
fn an_agent_saves_what_it_will_need_before_turns_are_summarised() {
    let words = "I weigh what to look at next and why, at some length, because this is a long run. ".repeat(20);
    let turn = |n: usize| {
        format!(
            "    - reply: 'Part {n}. {}'\n      calls: [{{tool: read, args: {{path: notes-{n}.txt}}}}]\n",
            words.trim()
        )
    };
    let turns: String = (0..24).map(turn).collect();
    let flush = "    - when: {request: approaching context limits}\n      calls: [{tool: save_memo, args: {filename: found.md, \
        content: the door is green}}]\n      repeat: forever\n";
    let home = Home::playing(&format!(
        "version: 1\ntracks:\n  summariser:\n    - {{reply: '- notes were read', repeat: forever}}\n  \
         default:\n{flush}{turns}    - reply: Read.\n"
    ));
    (0..24).for_each(|n| home.write(&format!("notes-{n}.txt"), &format!("note {n}\n")));
    configured(&home, "[compaction]\ncontext_window_tokens = 20000\n");
    let ended = home.run(&["--json", "--max-tokens", "10000000"]).run().expect(0);
    let records = ended.objects();
    let place =
        |kind: &str| records.iter().position(|record| record["type"] == kind).unwrap_or_else(|| panic!("no {kind}"));
    let summary =
        records.iter().position(|record| record["data"]["purpose"].get("summary").is_some()).expect("a summary");
    assert!(place("compaction.flushing") < place("compaction.flushed") && place("compaction.flushed") < summary);
    assert_eq!(of_kind(&records, "compaction.flushed")[0]["files_written"], 3, "three turns and no more");
    assert!(home.read(".memo/found.md").contains("the door is green"));
    assert!(home.windlass(&["log"]).run().expect(0).stdout.contains("memory flush: 3 notes saved"));
}

#[test]
fn what_never_fits_fails_with_what_takes_the_room() {
    let home = talkative();
    configured(&home, "[compaction]\ncontext_window_tokens = 2000\n");
    let ended = home.run(&["--max-attempts", "1"]).run().expect(1);
    assert!(ended.stdout.contains("does not fit into the model's window of 2000 tokens"), "{}", ended.stdout);
    assert!(ended.stdout.contains("the definitions of the tools "), "{}", ended.stdout);
    assert!(ended.stdout.contains("hint: use a model with a larger window"), "{}", ended.stdout);
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let home = talkative();
    configured(&home, "[compaction]\ncompaction_trigger_ratio = 1.5\n");
    assert_shown!(home, home.run(&[]).run(), @"
    exit code 2
    --- stderr
    error: [HOME]/data/windlass.toml:2:1: [compaction]: compaction_trigger_ratio must be between 0.1 and 0.95
    ");
    configured(&home, "[compaction]\ntrigger = 1\n");
    assert!(home.run(&[]).run().expect(2).stderr.contains("unknown field `trigger`"));
    configured(&home, "[doom_loop]\nmax_identical_calls = 0\n");
    assert_shown!(home, home.run(&[]).run(), @"
    exit code 2
    --- stderr
    error: [HOME]/data/windlass.toml:2:1: [doom_loop]: max_identical_calls must be between 2 and 100
    ");
    configured(&home, "");
    for (name, value, said) in [
        ("AGENT_COMPACTION_TRIGGER_RATIO", "high", "must be a number such as 0.85, not `high`"),
        ("AGENT_COMPACTION_TRIGGER_RATIO", "7", "must be between 0.1 and 0.95"),
        ("AGENT_MEMORY_FLUSH_ENABLED", "perhaps", "must be true or false, not `perhaps`"),
    ] {
        let ended = home.run(&[]).env(name, value).run().expect(2);
        assert!(ended.stderr.contains(said), "{name}={value}: {}", ended.stderr);
    }
}

#[test]
fn the_environment_s_ratio_holds() {
    let home = talkative();
    configured(&home, "[compaction]\ncontext_window_tokens = 40000\nmemory_flush_enabled = false\n");
    let compactions = |ratio: &str| {
        let program = home.run(&["--json", "--max-tokens", "10000000"]).env("AGENT_COMPACTION_TRIGGER_RATIO", ratio);
        program.run().expect(0).result()["usage"]["compactions"].as_u64().expect("a number")
    };
    assert!(compactions("0.3") > compactions("0.9"));
}

#[test]
fn an_agent_that_goes_in_circles_is_told_and_then_stopped() {
    let script =
        "version: 1\ntracks: { default: [{calls: [{tool: read, args: {path: notes.txt}}], repeat: forever}] }\n";
    let home = Home::playing(script);
    home.write("notes.txt", "alpha\n");
    assert_shown!(home, home.run(&["--max-attempts", "1"]).run(), tokens aside, @r#"
    exit code 1
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap
    ▸ read notes.txt  1 line · [TIME]
    ▸ read notes.txt  1 line · [TIME]
    ▸ read notes.txt  1 line · [TIME]
    ! the agent repeats itself · told for the first time · 3 times in a row the same call with the same result: read {"path":"notes.txt"}
    ▸ read notes.txt  1 line · [TIME]
    ▸ read notes.txt  1 line · [TIME]
    ▸ read notes.txt  1 line · [TIME]
    ! the agent repeats itself · told for the second time · 3 times in a row the same call with the same result: read {"path":"notes.txt"}
    ▸ read notes.txt  1 line · [TIME]
    ▸ read notes.txt  1 line · [TIME]
    ▸ read notes.txt  1 line · [TIME]
    ! the agent repeats itself · told for the last time · 3 times in a row the same call with the same result: read {"path":"notes.txt"}
    ▸ read notes.txt  1 line · [TIME]
    ▸ read notes.txt  1 line · [TIME]
    ▸ read notes.txt  1 line · [TIME]

    FAILED  12 model calls · 12 tool calls · [TOKENS] tokens · $0.0000 · [TIME]
    error: the agent repeats itself and was told so three times: 3 times in a row the same call with the same result: read {"path":"notes.txt"}
    hint: say in the goal what to do where it is stuck, or raise the limits in [doom_loop] of windlass.toml
    "#);
}
