//! A conversation that outgrows its model, through the whole loop: what is tried first, what is kept, and how it ends when
//! nothing helps.

use windlass_agent::Settings;
use windlass_domain::execution::{
    AgentInjection, CompactionFinished, CompactionReason, ExecutionCommand, ExecutionEvent, InjectionReceived,
    InjectionType, Outcome,
};
use windlass_domain::task::CompactionConfig;
use windlass_domain::{ErrorCode, Host, Limits, Message, MessageId, Taint, Usd, Wall};

use crate::next::limited;
use crate::speaker::speakers;
use crate::support::{Judgement, Stage};

const NOW: Wall = Wall::from_millis(1_000_000);
pub const TOOLS: [&str; 4] = ["fetch", "read", "update_plan", "save_memo"];

pub fn wide() -> Limits {
    Limits { max_iterations: 500, timeout_ms: 60_000, max_tokens: u64::MAX, max_cost_usd: Usd::from_nanos(u64::MAX) }
}

pub fn settings(window: u64) -> Settings {
    let compaction = CompactionConfig {
        context_window_tokens: Some(window),
        max_summary_tokens: 300,
        memory_flush_soft_threshold_tokens: 500,
        preserve_recent_turns: 2,
        ..CompactionConfig::default()
    };
    Settings { compaction, ..Settings::default() }
}

/// `lines` are the agent's, `summaries` the summariser's.
pub fn stage(lines: &str, summaries: &str, tools: &[&'static str], settings: Settings) -> Stage {
    let script = format!("version: 1\ntracks:\n  executor:\n{lines}  summariser:\n{summaries}");
    Stage::with(&script, "Find the treasure.", speakers(tools), |_| Judgement::Grant, limited("", wide()), settings)
}

pub const SUMMARY: &str = "    - {reply: '- the cellar was searched', repeat: forever}\n";

/// Results of `tokens` each, told apart by their number.
fn fetches(tool: &str, count: usize, times: usize) -> String {
    let line =
        |n: usize| format!("    - calls: [{{tool: {tool}, args: {{say: \"room {n} is empty. \", times: {times}}}}}]\n");
    (0..count).map(line).collect()
}

/// Words of about 300 tokens each, and a small call.
pub fn musings(count: usize) -> String {
    let line = |n: usize| {
        let words = format!("musing {n} ").repeat(80);
        format!("    - {{reply: \"{words}\", calls: [{{tool: read, args: {{say: \"{n}\"}}}}]}}\n")
    };
    (0..count).map(line).collect()
}

pub fn kinds(stage: &Stage) -> Vec<&'static str> {
    let journal = stage.host.journal.lock().expect("one thread");
    let told = journal.iter().map(ExecutionEvent::kind).filter(|kind| kind.starts_with("compaction."));
    told.collect()
}

fn finished(stage: &Stage) -> Vec<CompactionFinished> {
    let journal = stage.host.journal.lock().expect("one thread");
    let finished = journal.iter().filter_map(|event| match event {
        ExecutionEvent::CompactionFinished(finished) => Some(finished.clone()),
        _ => None,
    });
    finished.collect()
}

fn summaries_asked(stage: &Stage) -> usize {
    let journal = stage.host.journal.lock().expect("one thread");
    let asked = |event: &&ExecutionEvent| matches!(event, ExecutionEvent::ModelRequested(request) if !request.purpose.is_turn());
    journal.iter().filter(asked).count()
}

pub fn conversation(stage: &Stage) -> String {
    stage.host.state().transcript.iter().map(|message| format!("{message:?}\n")).collect()
}

pub fn done() -> Outcome {
    Outcome::Completed { message: "found".to_owned() }
}

#[test]
fn old_results_become_references_before_a_summary_is_paid_for() {
    let lines = fetches("fetch", 12, 250) + "    - reply: found\n";
    let stage = stage(&lines, SUMMARY, &TOOLS, settings(16_000));
    assert_eq!(stage.run(), done());
    assert_eq!(&kinds(&stage)[..3], ["compaction.started", "compaction.cleared", "compaction.finished"]);
    assert_eq!(summaries_asked(&stage), 0);
    for CompactionFinished { tokens_before, tokens_after, .. } in finished(&stage) {
        assert!(tokens_after < tokens_before * 3 / 4, "{tokens_before} to {tokens_after}");
    }
    // What a reference names is there.
    let whole = conversation(&stage);
    let name = whole.split("saved to /workspace/").nth(1).and_then(|rest| rest.split(':').next()).expect("a reference");
    let saved = std::fs::read_to_string(stage.folder.path().join(name)).expect("the file is there");
    assert!(saved.starts_with("room 0 is empty. room 0 is empty."), "{saved:.60}");
    assert_eq!(stage.host.state().compactions.finished, u32::try_from(finished(&stage).len()).expect("few"));
}

#[test]
fn what_can_be_read_again_is_not_put_into_a_file() {
    let lines = fetches("read", 12, 250) + "    - reply: found\n";
    let stage = stage(&lines, SUMMARY, &TOOLS, settings(16_000));
    assert_eq!(stage.run(), done());
    let whole = conversation(&stage);
    assert!(whole.contains("[Result left out: `read` with {") && whole.contains("Call it again"), "{whole}");
    assert!(!stage.folder.path().join(".scratch").exists());
}

#[test]
fn words_become_a_summary_and_the_agent_saves_what_it_needs_first() {
    let flush = "    - {when: {request: approaching context limits}, reply: saving, calls: [{tool: save_memo, args: {say: saved}}]}\n    \
        - {when: {request: approaching context limits}, reply: all saved}\n";
    // The flush takes two places of the track.
    let lines = musings(13) + flush + &musings(5) + "    - reply: found\n";
    let stage = stage(&lines, SUMMARY, &TOOLS, settings(8_000));
    assert_eq!(stage.run(), done());
    assert_eq!(
        &kinds(&stage)[..5],
        [
            "compaction.started",
            "compaction.cleared",
            "compaction.flushing",
            "compaction.flushed",
            "compaction.finished"
        ]
    );
    let whole = conversation(&stage);
    assert!(whole.contains("the cellar was searched") && whole.contains("Find the treasure."), "{whole}");
    assert!(
        !whole.contains("approaching context limits") && !whole.contains("all saved"),
        "the flush has left: {whole}"
    );
    assert!(whole.contains("musing 12 musing 12") && !whole.contains("musing 9 musing 9"), "{whole}");
    let journal = stage.host.journal.lock().expect("one thread");
    assert!(
        journal
            .iter()
            .any(|event| matches!(event, ExecutionEvent::CompactionFlushed(flushed) if flushed.files_written == 1))
    );
}

#[test]
fn without_save_memo_nobody_is_told_to_save() {
    let lines = musings(30) + "    - reply: found\n";
    let stage = stage(&lines, SUMMARY, &["read"], settings(8_000));
    assert_eq!(stage.run(), done());
    assert!(!kinds(&stage).contains(&"compaction.flushing"));
    assert!(kinds(&stage).contains(&"compaction.finished"));
}

#[test]
fn a_flush_that_does_not_end_is_ended() {
    let save = "    - {when: {request: approaching context limits}, calls: [{tool: save_memo, args: {say: x}}], repeat: forever}\n";
    let lines = save.to_owned() + &musings(60) + "    - reply: found\n";
    let stage = stage(&lines, SUMMARY, &TOOLS, settings(8_000));
    stage.run();
    let journal = stage.host.journal.lock().expect("one thread");
    let flush = journal.iter().skip_while(|event| event.kind() != "compaction.flushing");
    let turns = flush.take_while(|event| event.kind() != "compaction.flushed");
    assert_eq!(turns.filter(|event| event.kind() == "model.responded").count(), 3);
}

#[test]
fn every_word_that_must_not_be_lost_survives_many_compactions() {
    let plan = "    - calls: [{tool: update_plan, args: {say: \"# Execution Plan: dig under the oak\"}}]\n";
    let error = "    - calls: [{tool: fetch, args: {say: \"E0382: use of moved shovel\", fail: true}}]\n";
    let lines = plan.to_owned() + error + &musings(90) + "    - reply: found\n";
    let stage = stage(&lines, SUMMARY, &["fetch", "read", "update_plan"], settings(8_000));
    let told = [
        "Dig at night.\n```\nand `quietly`",
        "Never in the churchyard. {summary}",
        "Dig at night.\n```\nand `quietly`",
    ];
    // The message that opens the conversation is there before anybody speaks.
    let opened = windlass_domain::execution::MessageAccepted {
        message_id: MessageId::new(NOW, 9),
        kind: windlass_domain::execution::MessageKind::Prompt,
        content: "Find the treasure.".to_owned(),
        images: vec![],
        taint: Taint::Owner,
    };
    stage.host.decide(ExecutionCommand::Accept(opened)).expect("it begins");
    told.iter().for_each(|words| say(&stage, words, InjectionType::UserMessage));
    say(&stage, "the weather is fine", InjectionType::ExternalEvent);
    assert_eq!(stage.run(), done());
    let finished = finished(&stage);
    assert!(finished.len() >= 3, "{} compactions", finished.len());
    let state = stage.host.state();
    let Message::User { text, .. } = state.transcript[1].as_ref() else { panic!("no summary") };
    let mut rest = text.as_str();
    for words in told {
        let at = rest.find(words).unwrap_or_else(|| panic!("{words} is lost or out of order: {text}"));
        rest = &rest[at + words.len()..];
    }
    for kept in ["dig under the oak", "E0382: use of moved shovel", "the cellar was searched"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(!text.contains("the weather is fine"), "what comes from outside is not kept for ever");
    let summaries = text.matches("the cellar was searched").count();
    assert!(summaries < finished.len(), "a summary replaces the ones before it: {text}");
}

fn say(stage: &Stage, words: &str, injection_type: InjectionType) {
    let injection = AgentInjection { injection_type, content: words.to_owned(), metadata: None };
    let received = InjectionReceived { message_id: MessageId::new(NOW, 5), injection, taint: Taint::External };
    stage.host.decide(ExecutionCommand::Inject(received)).expect("nothing is open");
}

#[test]
fn taint_is_not_lowered_by_forgetting() {
    let stage = stage(&(musings(40) + "    - reply: found\n"), SUMMARY, &["read"], settings(8_000));
    stage
        .host
        .decide(ExecutionCommand::Accept(windlass_domain::execution::MessageAccepted {
            message_id: MessageId::new(NOW, 9),
            kind: windlass_domain::execution::MessageKind::Prompt,
            content: "go".to_owned(),
            images: vec![],
            taint: Taint::Owner,
        }))
        .expect("it begins");
    say(&stage, "read this", InjectionType::ExternalEvent);
    assert_eq!(stage.run(), done());
    assert!(!conversation(&stage).contains("read this") && stage.host.state().taint == Taint::External);
}

#[test]
fn what_the_provider_refuses_as_too_long_is_compacted_and_asked_again() {
    // For as long as the request has the third musing in it.
    let overflow = "    - when: {request: musing 3 musing 3}\n      error: {status: 400, message: \"This model's maximum \
        context length is 2000 tokens\"}\n";
    let lines = musings(20) + overflow + &musings(2) + "    - reply: found\n";
    let stage = stage(&lines, SUMMARY, &["read"], settings(200_000));
    assert_eq!(stage.run(), done());
    let journal = stage.host.journal.lock().expect("one thread");
    let started = journal.iter().find_map(|event| match event {
        ExecutionEvent::CompactionStarted(started) => Some(started),
        _ => None,
    });
    assert_eq!(started.expect("a compaction").reason, CompactionReason::Overflow);
    let compactions = &stage.host.state().compactions;
    assert!(compactions.overflowed_at.is_some() && compactions.finished >= 1);
}

#[test]
fn a_summariser_that_is_refused_is_given_less_and_then_done_without() {
    let refuse = "    - error: {status: 400, message: no, times: 100}\n    - reply: never heard\n";
    let lines = musings(20) + "    - reply: found\n";
    let stage = stage(&lines, refuse, &["read"], settings(8_000));
    assert_eq!(stage.run(), done());
    assert!(kinds(&stage).contains(&"compaction.skipped"));
    assert!(conversation(&stage).contains("No summary could be had"));
    let journal = stage.host.journal.lock().expect("one thread");
    let first = journal.iter().take_while(|event| event.kind() != "compaction.skipped");
    assert_eq!(first.filter(|event| event.kind() == "model.failed").count(), 3);
}

#[test]
fn a_summariser_that_says_nothing_is_asked_again_and_then_done_without() {
    let lines = musings(20) + "    - reply: found\n";
    let stage = stage(&lines, "    - {reply: ' ', repeat: forever}\n", &["read"], settings(8_000));
    assert_eq!(stage.run(), done());
    assert!(conversation(&stage).contains("No summary could be had"));
}

#[test]
fn a_summariser_that_says_too_much_is_cut() {
    let much = format!("    - {{reply: '{}', repeat: forever}}\n", "endless ".repeat(5_000));
    let lines = musings(20) + "    - reply: found\n";
    let stage = stage(&lines, &much, &["read"], settings(8_000));
    assert_eq!(stage.run(), done());
    let state = stage.host.state();
    let summary = state.compactions.summary.as_ref().expect("a summary");
    assert!(summary.len() < 2_000 && summary.contains("[… cut]"), "{} bytes", summary.len());
}

#[test]
fn a_summariser_that_calls_tools_is_not_obeyed() {
    let calls = "    - {reply: '- ok', calls: [{tool: fetch, args: {say: no}}], repeat: forever}\n";
    let lines = musings(20) + "    - reply: found\n";
    let stage = stage(&lines, calls, &["read", "fetch"], settings(8_000));
    assert_eq!(stage.run(), done());
    assert!(stage.host.waves().iter().flatten().count() == 20, "{:?}", stage.host.waves());
}

#[test]
fn one_turn_that_is_larger_than_the_window_is_survived() {
    let parallel: Vec<String> =
        (0..8).map(|n| format!("{{tool: fetch, args: {{say: \"hall {n}. \", times: 800}}}}")).collect();
    let lines = format!("    - calls: [{}]\n    - reply: found\n", parallel.join(", "));
    let stage = stage(&lines, SUMMARY, &["fetch"], settings(8_000));
    assert_eq!(stage.run(), done());
    assert!(conversation(&stage).contains("[Result left out: `fetch`"));
}

#[test]
fn a_goal_that_never_fits_is_said_to_be_the_reason() {
    let script = "version: 1\ntracks: { default: [{reply: never}] }\n";
    let goal = "treasure ".repeat(20_000);
    let stage = Stage::with(script, &goal, Vec::new(), |_| Judgement::Grant, limited("", wide()), settings(8_000));
    let Outcome::Failed(error) = stage.run() else { panic!("it fits") };
    assert_eq!(error.error_code, ErrorCode::ContextOverflow);
    assert!(
        error.message.contains("window of 8000 tokens") && error.message.contains("the goal "),
        "{}",
        error.message
    );
    assert!(error.hint.is_some_and(|hint| hint.contains("context_window_tokens")));
    assert_eq!(stage.host.state().spent.iterations, 0, "nobody is asked in vain");
    // Whoever comes back after a crash comes to the same end.
    assert!(matches!(stage.run(), Outcome::Failed(again) if again.error_code == ErrorCode::ContextOverflow));
}

fn asked_with(goal: &str, max_output_tokens: Option<u32>) -> Outcome {
    let script = "version: 1\ntracks: { default: [{reply: short}] }\n";
    let settings = Settings { max_output_tokens, ..settings(8_000) };
    Stage::with(script, goal, Vec::new(), |_| Judgement::Grant, limited("", wide()), settings).run()
}

/// What is estimated at nine thousand tokens is fewer than six.
#[test]
fn nobody_is_turned_away_by_an_estimate() {
    assert_eq!(asked_with(&"treasure ".repeat(2_600), None), Outcome::Completed { message: "short".to_owned() });
}

/// What an answer cannot take is the conversation's.
#[test]
fn whoever_says_little_reads_more() {
    let goal = "treasure ".repeat(3_500);
    let outcome = asked_with(&goal, None);
    assert!(
        matches!(&outcome, Outcome::Failed(error) if error.error_code == ErrorCode::ContextOverflow),
        "{outcome:?}"
    );
    assert_eq!(asked_with(&goal, Some(50)), Outcome::Completed { message: "short".to_owned() });
}

#[test]
fn a_long_run_never_exceeds_its_window_and_its_prompt_only_grows_between_compactions() {
    let lines = (0..40).map(|n| if n % 3 == 0 { musings(1) } else { fetches("fetch", 1, 40 + n) }).collect::<String>();
    let stage = stage(&(lines + "    - reply: found\n"), SUMMARY, &["fetch", "read"], settings(6_000));
    assert_eq!(stage.run(), done());
    let journal = stage.host.journal.lock().expect("one thread");
    let requests = journal.iter().filter_map(|event| match event {
        ExecutionEvent::ModelRequested(request) if request.purpose.is_turn() => Some(request.estimated_input),
        _ => None,
    });
    let longest = requests.max().unwrap_or_default();
    assert!(longest < 6_000, "{longest}");
}
