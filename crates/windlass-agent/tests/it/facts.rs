//! Long conversations made by a seed, with facts planted in them: what people say at any moment, plans, and errors. However often
//! each was compacted, every fact is in the conversation at its end, in order, and no call has lost its result.

use std::collections::BTreeSet;

use windlass_agent::Settings;
use windlass_domain::execution::{AgentInjection, ExecutionState, InjectionReceived, InjectionType, Outcome};
use windlass_domain::task::CompactionConfig;
use windlass_domain::{CallId, Host, Message, MessageId, Taint, Wall};

use crate::compaction::wide;
use crate::next::limited;
use crate::speaker::speakers;
use crate::support::{Judgement, Stage};

const TURNS: u32 = 60;
const SEEDS: u64 = 24;
/// So many errors are kept.
const KEPT_ERRORS: usize = 20;

/// Dice that fall the same way every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

struct Conversation {
    script: String,
    said: Vec<(u32, String)>,
    plan: Option<String>,
    errors: Vec<String>,
}

fn conversation(seed: u64) -> Conversation {
    let mut dice = Dice(seed.wrapping_mul(977) + 3);
    let mut made = Conversation { script: String::new(), said: Vec::new(), plan: None, errors: Vec::new() };
    for turn in 0..TURNS {
        let times = 1 + dice.roll(120);
        let line = match dice.roll(8) {
            0 => {
                let error =
                    format!("E{seed}-{turn}: {}", "no such thing ".repeat(usize::try_from(times / 4).expect("small")));
                made.errors.push(error.trim().to_owned());
                format!("calls: [{{tool: fetch, args: {{say: '{}', fail: true}}}}]", error.trim())
            }
            1 => {
                let plan = format!("# Execution Plan {seed}-{turn}");
                let line = format!("calls: [{{tool: update_plan, args: {{say: '{plan}'}}}}]");
                made.plan = Some(plan);
                line
            }
            2 | 3 => format!(
                "reply: 'thought {turn} {}'\n      calls: [{{tool: read, args: {{say: '{turn}'}}}}]",
                "and so on ".repeat(usize::try_from(times).expect("small"))
            ),
            4 => format!(
                "calls: [{{tool: read, args: {{say: 'a{turn} ', times: {times}}}}}, {{tool: fetch, args: {{say: 'b{turn} ', times: {times}}}}}]"
            ),
            _ => format!("calls: [{{tool: fetch, args: {{say: 'result {turn} ', times: {times}}}}}]"),
        };
        made.script.push_str(&format!("    - {line}\n"));
        if dice.roll(6) == 0 {
            made.said.push((turn, format!("Instruction {seed}-{turn}: do `not` touch\n  part {turn}.")));
        }
    }
    made
}

fn play(made: &Conversation, window: u64) -> Stage {
    let script = format!(
        "version: 1\ntracks:\n  summariser:\n    - {{reply: '- much was done', repeat: forever}}\n  default:\n{}    - reply: over\n",
        made.script
    );
    let compaction = CompactionConfig {
        context_window_tokens: Some(window),
        max_summary_tokens: 200,
        preserve_recent_turns: 3,
        ..CompactionConfig::default()
    };
    let settings = Settings { compaction, ..Settings::default() };
    let tools = speakers(&["fetch", "read", "update_plan"]);
    let stage = Stage::with(&script, "The task.", tools, |_| Judgement::Grant, limited("", wide()), settings);
    let received = |(when, words): &(u32, String)| {
        let injection =
            AgentInjection { injection_type: InjectionType::UserMessage, content: words.clone(), metadata: None };
        (*when, InjectionReceived { message_id: MessageId::new(Wall::default(), 1), injection, taint: Taint::Auth })
    };
    stage.host.inbox.lock().expect("one thread").extend(made.said.iter().map(received));
    assert_eq!(stage.run(), Outcome::Completed { message: "over".to_owned() });
    stage
}

fn texts(state: &ExecutionState) -> String {
    let text = |message: &Message| match message {
        Message::User { text, .. } => text.clone(),
        Message::Tool(result) => result.content.clone(),
        Message::Assistant { text, .. } => text.clone(),
    };
    state.transcript.iter().map(|message| text(message)).collect::<Vec<_>>().join("\n")
}

fn assert_paired(state: &ExecutionState) {
    let mut open: BTreeSet<&CallId> = BTreeSet::new();
    for message in &state.transcript {
        match message.as_ref() {
            Message::Assistant { calls, .. } => open.extend(calls.iter().map(|call| &call.call_id)),
            Message::Tool(result) => assert!(open.remove(&result.call_id), "{} has no call", result.call_id),
            Message::User { .. } => {}
        }
    }
    assert!(open.is_empty(), "{open:?} have no result");
}

#[test]
fn no_fact_is_lost_in_any_long_conversation() {
    let mut compactions = 0;
    for seed in 0..SEEDS {
        let made = conversation(seed);
        let stage = play(&made, 9_000);
        let state = stage.host.state();
        compactions += state.compactions.finished;
        let whole = texts(&state);
        let mut rest = whole.as_str();
        for (_, words) in &made.said {
            let at =
                rest.find(words.as_str()).unwrap_or_else(|| panic!("seed {seed}: {words:?} is lost or out of order"));
            rest = &rest[at + words.len()..];
        }
        let newest = made.errors.iter().rev().take(KEPT_ERRORS);
        newest.for_each(|error| assert!(whole.contains(error.as_str()), "seed {seed}: {error} is lost"));
        made.plan.iter().for_each(|plan| assert!(whole.contains(plan.as_str()), "seed {seed}: {plan} is lost"));
        assert!(whole.contains("The task."), "seed {seed}");
        assert_paired(&state);
    }
    assert!(compactions > 2 * u32::try_from(SEEDS).expect("few"), "{compactions} compactions prove little");
}

/// The control: with room enough the same conversations are not compacted at all, and a fact that was never said is not found.
#[test]
fn with_room_enough_nothing_is_left_out() {
    let made = conversation(1);
    let stage = play(&made, 1_000_000);
    let state = stage.host.state();
    assert_eq!(state.compactions.finished, 0);
    assert!(!texts(&state).contains("Instruction 2-"));
}
