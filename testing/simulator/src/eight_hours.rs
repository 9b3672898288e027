//! A day of work as a scenario: a log that is kept step by step for eight hours, with an error, a file and a plan early on, two
//! agents that work side by side, a question that is answered hours later, and more said than the model takes.
//!
//! The script is a machine and not a list: what the agent does next follows from the newest result, so that it finds its place
//! again after a crash and after every compaction, as an agent would.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use windlass_domain::task::CompactionConfig;
use windlass_domain::{Budget, Usd};

use crate::operator::Act;
use crate::scenario::{Ends, Scenario, check, run};

/// Of the log, from 1.
const STEPS: u32 = 36;
const SECONDS_A_STEP: u32 = 480;
/// Where something else happens as well.
const ERRS: u32 = 2;
const WRITES: u32 = 3;
const SPAWNS: u32 = 9;
const ASKS: u32 = 18;

/// What must be known at the end, to the letter.
pub const ERROR: &str = "E0425 cannot find anchor `starboard` in this harbour";
pub const INSTRUCTION: &str = "Never paint the `churchyard` wall.\n  Not even at night.";
pub const FILE: &str = "charts/north.md";
pub const PLAN: &str = "keep the log until the evening";
pub const ANSWER: &str = "Blue, and only below the waterline.";
pub const QUESTION: &str = "Which colour shall the hull have?";

impl Scenario {
    pub fn eight_hours() -> Self {
        let compaction = CompactionConfig {
            context_window_tokens: Some(13_000),
            preserve_recent_turns: 2,
            max_summary_tokens: 200,
            memory_flush_soft_threshold_tokens: 500,
            ..CompactionConfig::default()
        };
        let budget = Budget {
            max_tokens: 20_000_000,
            max_cost_usd: Usd::from_nanos(1_000_000_000_000),
            max_wall_time_seconds: 24 * 3_600,
            ..Budget::default()
        };
        let last = format!("expect log.txt mark-{STEPS}");
        Self {
            script: Cow::Owned(script()),
            checks: vec![
                check("the log is complete", run(&last)),
                check("both agents did their part", run("expect alpha.txt alpha-2; expect bravo.txt bravo-2")),
            ],
            compaction,
            budget,
            answer: Some((ANSWER, Duration::from_secs(9_000))),
            most_polls: 2_000_000,
            act: Some((Act::Say(INSTRUCTION.to_owned()), Duration::from_mins(20))),
            ends: Ends::WithTheSameStatus,
            ..Self::new("eight_hours", "")
        }
    }
}

fn script() -> String {
    let mut text = "version: 1\ntracks:\n".to_owned();
    text.push_str("  summariser:\n    - { reply: '- the log was kept up to here', repeat: forever }\n");
    text.push_str("  subagent:\n");
    ["alpha", "bravo"].iter().for_each(|name| text.push_str(&helper(name)));
    for name in ["alpha", "bravo"] {
        writeln!(text, "    - {{ when: {{ request: {name}-work }}, calls: [ {} ] }}", helping(name, 1)).expect(WRITTEN);
    }
    text.push_str("  default:\n");
    let plan = format!("{{ steps: [ {{ id: '1', description: {PLAN}, status: in_progress }} ] }}");
    writeln!(text, "    - calls: [ {{ tool: update_plan, args: {plan} }}, {} ]", logging(0)).expect(WRITTEN);
    text.push_str(FLUSH);
    text.push_str(&then("^Sub-agent", "They are back.", &logging(SPAWNS)));
    text.push_str(&then("^The user has answered", "Now I know.", &logging(ASKS)));
    // The newest of these calls that the agent remembers is the one that was cut off.
    (0..=STEPS).rev().for_each(|step| text.push_str(&looking(step)));
    (1..=STEPS).for_each(|step| text.push_str(&entry(step)));
    let done = after(STEPS);
    writeln!(text, "    - {{ when: {{ last_result: '{done}' }}, reply: The log is kept., repeat: forever }}")
        .expect(WRITTEN);
    text
}

const WRITTEN: &str = "a string takes everything";

const FLUSH: &str = "    - { when: { request: approaching context limits, last_result: 'log.md' }, reply: All is saved., repeat: forever }
    - { when: { request: approaching context limits }, calls: [ { tool: save_memo, args: { filename: log.md, content: 'a line a step' } } ], repeat: forever }
";

/// Always, when the newest result is like that.
fn then(last_result: &str, reply: &str, calls: &str) -> String {
    format!(
        "    - {{ when: {{ last_result: '{last_result}' }}, reply: '{reply}', calls: [ {calls} ], repeat: forever }}\n"
    )
}

/// Whether a step that was cut off was done can be seen in the log; if it was not, it is done now.
fn looking(step: u32) -> String {
    let look = bash(&format!("expect log.txt mark-{step}; say mark-{step}"));
    let cut_off = format!("last_result: '^interrupted', request: 'mark-{step}; sleep'");
    let looks = format!("    - {{ when: {{ {cut_off} }}, reply: I look., calls: [ {look} ], repeat: forever }}\n");
    looks + &then(&format!("has no line .mark-{step}[^0-9]"), "It was not done.", &logging(step))
}

/// The newest result is that of this step, or of a call that was left out since.
fn after(step: u32) -> String {
    format!(r"mark-{step}\s*\z|say mark-{step}\b")
}

fn entry(step: u32) -> String {
    let musing =
        format!("Step {step}. I think about the log and what should stand in it, because what is written stays. ");
    let calls = match step {
        SPAWNS => {
            let spawn = |name: &str| {
                format!("{{ tool: spawn_agent, args: {{ label: {name}, task: {name}-work, timeout_seconds: 7200 }} }}")
            };
            format!("{}, {}", spawn("alpha"), spawn("bravo"))
        }
        ASKS => format!("{{ tool: ask_user, args: {{ question: '{QUESTION}' }} }}"),
        WRITES => {
            format!("{{ tool: write, args: {{ path: {FILE}, content: 'rocks' }} }}, {}", logging(step))
        }
        _ => logging(step),
    };
    then(&after(step - 1), musing.repeat(18).trim(), &calls)
}

fn logging(step: u32) -> String {
    let (words, end) = if step == ERRS { (format!("say {ERROR}; "), "; fail") } else { (String::new(), "") };
    bash(&format!("append log.txt mark-{step}; sleep {SECONDS_A_STEP}; {words}say mark-{step}{end}"))
}

fn bash(command: &str) -> String {
    format!("{{ tool: bash, args: {{ command: '{command}', timeout_seconds: 3000 }} }}")
}

fn helping(name: &str, step: u32) -> String {
    bash(&format!("append {name}.txt {name}-{step}; sleep 1200; say {name}-{step}"))
}

/// Two steps, and looking after an interruption.
fn helper(name: &str) -> String {
    let work = format!("request: {name}-work");
    let when = |last_result: &str, does: &str| {
        format!("    - {{ when: {{ {work}, last_result: '{last_result}' }}, {does}, repeat: forever }}\n")
    };
    let calls = |call: String| format!("calls: [ {call} ]");
    let looks = (1..=2).rev().flat_map(|step| {
        let look = bash(&format!("expect {name}.txt {name}-{step}; say {name}-{step}"));
        let cut_off = format!("request: '{name}-{step}; sleep', last_result: '^interrupted'");
        [
            format!("    - {{ when: {{ {cut_off} }}, {}, repeat: forever }}\n", calls(look)),
            when(&format!("has no line .{name}-{step}"), &calls(helping(name, step))),
        ]
    });
    let steps = [
        when(&format!(r"{name}-1\s*\z"), &calls(helping(name, 2))),
        when(&format!(r"{name}-2\s*\z"), &format!("reply: {name} is done.")),
    ];
    looks.chain(steps).collect()
}
