//! The words an agent is given: §4.3's eight parts of the system prompt and four of the task message, as files in
//! `prompts/`. Here they are only put together: a `{tool:name}` line becomes the fragment for a tool that is there, or
//! the one for its absence, or nothing; what is said about limits is what holds in the sandbox at hand. Nothing is promised
//! that this version does not do. The roles of seed 001 that only look have a prompt of their own each.

use windlass_domain::execution::{Asked, ForkedFrom, TaskMessage};
use windlass_domain::pattern::Pattern;
use windlass_domain::{Attachment, Role, ToolSpec};
use windlass_tools::Confinement;

use crate::lead::how;

/// In the order of §4.3. `8-skills` comes with the first skill.
const SYSTEM: [&str; 7] = [
    include_str!("../../../prompts/system/1-identity.md"),
    include_str!("../../../prompts/system/2-tools.md"),
    include_str!("../../../prompts/system/3-planning.md"),
    include_str!("../../../prompts/system/4-files.md"),
    include_str!("../../../prompts/system/5-context.md"),
    include_str!("../../../prompts/system/6-safety.md"),
    include_str!("../../../prompts/system/7-output.md"),
];
/// The same, for who works on an atom of an objective.
const WORKER: [&str; 8] = [
    SYSTEM[0],
    SYSTEM[1],
    SYSTEM[2],
    SYSTEM[3],
    SYSTEM[4],
    SYSTEM[5],
    SYSTEM[6],
    include_str!("../../../prompts/system/report.md"),
];
/// §9.2: tools, workspace layout and safety, and nothing of a task's beginning and end.
const SUBAGENT: [&str; 4] = [
    include_str!("../../../prompts/system/subagent.md"),
    include_str!("../../../prompts/system/2-tools.md"),
    include_str!("../../../prompts/system/4-files.md"),
    include_str!("../../../prompts/system/6-safety.md"),
];
const PROXY: [&str; 2] = [include_str!("../../../prompts/system/proxy.md"), LOOKING];
const PLANNER: [&str; 2] = [include_str!("../../../prompts/system/planner.md"), LOOKING];
const ALIGNMENT: [&str; 2] = [include_str!("../../../prompts/system/alignment.md"), LOOKING];
const CORRECTION: [&str; 2] = [include_str!("../../../prompts/system/correction.md"), LOOKING];
const GUIDANCE: [&str; 2] = [include_str!("../../../prompts/system/guidance.md"), LOOKING];
const RESEARCHER: [&str; 2] = [include_str!("../../../prompts/system/researcher.md"), LOOKING];
const FOREIGN: &str = include_str!("../../../prompts/system/foreign.md");
/// For all of those.
const LOOKING: &str = include_str!("../../../prompts/system/looking.md");
const SKILLS: &str = include_str!("../../../prompts/system/8-skills.md");
const PATTERNS: &str = include_str!("../../../prompts/system/patterns.md");
const TACTICIAN: &str = include_str!("../../../prompts/tactician/system.md");
const SEALED: &str = include_str!("../../../prompts/system/risk-rules.sealed.md");
const RESTRICTED: &str = include_str!("../../../prompts/system/risk-rules.restricted.md");
const UNCONFINED: &str = include_str!("../../../prompts/system/risk-rules.unconfined.md");

struct Fragment {
    tool: &'static str,
    present: &'static str,
    absent: &'static str,
}

const FRAGMENTS: [Fragment; 5] = [
    Fragment {
        tool: "ask_user",
        present: include_str!("../../../prompts/system/tools/ask_user.md"),
        absent: include_str!("../../../prompts/system/tools/ask_user.absent.md"),
    },
    Fragment { tool: "browser", present: include_str!("../../../prompts/system/tools/browser.md"), absent: "" },
    Fragment {
        tool: "save_memo",
        present: include_str!("../../../prompts/system/tools/save_memo.md"),
        absent: include_str!("../../../prompts/system/tools/save_memo.absent.md"),
    },
    Fragment {
        tool: "search_memo",
        present: include_str!("../../../prompts/system/tools/search_memo.md"),
        absent: include_str!("../../../prompts/system/tools/search_memo.absent.md"),
    },
    Fragment { tool: "spawn_agent", present: include_str!("../../../prompts/system/tools/spawn_agent.md"), absent: "" },
];

const GOAL: &str = include_str!("../../../prompts/task/1-goal.md");
const CONSTRAINTS: &str = include_str!("../../../prompts/task/2-constraints.md");
const MEMORIES: &str = include_str!("../../../prompts/task/3-memories.md");
const KEPT: &str = include_str!("../../../prompts/task/8-kept.md");
const BINDINGS: &str = include_str!("../../../prompts/task/5-bindings.md");
const PLANNER_GUIDANCE: &str = include_str!("../../../prompts/task/6-planner-guidance.md");
const FORKED: &str = include_str!("../../../prompts/task/7-forked.md");
const PREVIOUS_ATTEMPT: &str = include_str!("../../../prompts/task/4-previous-attempt.md");
const ATTACHMENT: &str = include_str!("../../../prompts/task/attachment.md");
const FINISH_LINE: &str = include_str!("../../../prompts/task/finish-line.md");
const NO_FINISH_LINE: &str = include_str!("../../../prompts/task/finish-line.absent.md");

const MOST_FAILURES: usize = 5;

/// By role, and by what it is wanted for. The same role, tools, skills and confinement give the same bytes.
pub fn prompt_for(
    (role, asked): (Role, Asked),
    tools: &[ToolSpec],
    (skills, patterns): (&[String], &[String]),
    confinement: Confinement,
) -> String {
    let parts: &[&str] = match (role, asked) {
        (Role::Proxy, _) => &PROXY,
        (Role::Planner, Asked::Work | Asked::Atom) => &PLANNER,
        (Role::Planner, Asked::Guidance) => &GUIDANCE,
        (Role::Planner, Asked::Alignment) => &ALIGNMENT,
        (Role::Planner, Asked::Correction) => &CORRECTION,
        (Role::Researcher, _) => &RESEARCHER,
        (Role::Subagent, _) => &SUBAGENT,
        (Role::Executor | Role::Worker, Asked::Atom) => &WORKER,
        (Role::Executor | Role::Probe | Role::Worker | Role::Verifier | Role::Tactician, _) => &SYSTEM,
    };
    let prompt = prompt_of(parts, tools, skills, confinement);
    match (role, asked) {
        (Role::Planner, Asked::Work) if !patterns.is_empty() => {
            format!("{prompt}\n\n{}", filled(PATTERNS.trim(), &[("patterns", &bullets(patterns))]))
        }
        _ => prompt,
    }
}

/// For an agent that is a program of its own, beside what that tells it.
pub fn foreign_instructions(asked: Asked) -> String {
    let report = (asked == Asked::Atom).then_some(WORKER[7]);
    std::iter::once(FOREIGN).chain(report).map(str::trim).collect::<Vec<_>>().join("\n\n")
}

/// For a model that is given no tools. What it can do now stands in each question.
pub fn tactician_prompt(pattern: Option<&Pattern>) -> String {
    let fragments = pattern.map(|pattern| pattern.prompt_fragments.join("\n\n")).unwrap_or_default();
    filled(TACTICIAN, &[("fragments", &fragments)]).trim().to_owned()
}

/// For an executor.
pub fn system_prompt(tools: &[ToolSpec], skills: &[String], confinement: Confinement) -> String {
    prompt_for((Role::Executor, Asked::Work), tools, (skills, &[]), confinement)
}

fn prompt_of(system: &[&str], tools: &[ToolSpec], skills: &[String], confinement: Confinement) -> String {
    let risk_rules = match confinement {
        Confinement::Sealed => SEALED,
        Confinement::Restricted => RESTRICTED,
        Confinement::Nothing => UNCONFINED,
    };
    let skills_part = (!skills.is_empty()).then(|| filled(SKILLS, &[("skills", &bullets(skills))]));
    let parts = system.iter().map(|part| with_fragments(part, tools)).chain(skills_part);
    let listed = tools.iter().map(|tool| format!("`{}`: {}", tool.name, first_sentence(&tool.description)));
    let listed = bullets(&listed.collect::<Vec<_>>());
    let whole = parts.map(|part| part.trim().to_owned()).collect::<Vec<_>>().join("\n\n");
    filled(&whole, &[("tools", &listed), ("risk_rules", risk_rules.trim())])
}

/// The first message. A part with nothing to say is left out.
pub fn task_message(role: Role, task: &TaskMessage, leading: Option<&Pattern>) -> String {
    let finish_line = match (task.finish_line.is_empty(), role) {
        // Who only looks has nothing to test, and its own prompt says what to answer.
        (true, Role::Proxy | Role::Planner | Role::Researcher) => String::new(),
        (true, _) => NO_FINISH_LINE.trim().to_owned(),
        (false, _) => filled(FINISH_LINE.trim(), &[("checks", &bullets(&task.finish_line))]),
    };
    let attempt = (task.previous_failures.len() + 1).to_string();
    let previous = told(&task.previous_failures);
    let optional = |items: &[String], part: String| (!items.is_empty()).then_some(part);
    let parts = [
        Some(filled(GOAL, &[("goal", &task.goal), ("finish_line", &finish_line)])),
        task.forked.as_ref().map(goes_on),
        optional(&task.constraints, filled(CONSTRAINTS, &[("constraints", &bullets(&task.constraints))])),
        optional(&task.memories, filled(MEMORIES, &[("memories", &bullets(&task.memories))])),
        optional(&task.kept, filled(KEPT, &[("kept", &bullets(&task.kept))])),
        optional(
            &task.previous_failures,
            filled(PREVIOUS_ATTEMPT, &[("attempt", &attempt), ("previous_attempt", &previous)]),
        ),
        optional(&task.bindings, filled(BINDINGS, &[("bindings", &bullets(&task.bindings))])),
        optional(&task.guidance, filled(PLANNER_GUIDANCE, &[("guidance", &task.guidance.join("\n\n"))])),
        leading.map(how),
    ];
    let attached = task.attachments.iter().filter_map(|attachment| match attachment {
        Attachment::Text { name, text } => Some(filled(ATTACHMENT, &[("name", name), ("text", text)])),
        // It is shown, not told.
        Attachment::Image(_) => None,
    });
    parts.into_iter().flatten().chain(attached).map(|part| part.trim().to_owned()).collect::<Vec<_>>().join("\n\n")
}

/// What holds no longer of a conversation that was another run's.
fn goes_on(from: &ForkedFrom) -> String {
    let unended = match from.unended.as_slice() {
        [] => String::new(),
        calls => format!(" These calls had not ended, and nobody knows what became of them: {}.", calls.join("; ")),
    };
    filled(FORKED.trim(), &[("turn", &from.turn.to_string()), ("unended", &unended)])
}

/// The newest failures, and those before that left something uncertain behind: a task with many attempts must not outgrow the
/// window by what they say.
fn told(failures: &[String]) -> String {
    let first_of_newest = failures.len().saturating_sub(MOST_FAILURES);
    let is_told =
        |(index, failure): &(usize, &String)| *index >= first_of_newest || failure.contains("\n- interrupted");
    let told: Vec<&str> = failures.iter().enumerate().filter(is_told).map(|(_, failure)| failure.as_str()).collect();
    let left_out = failures.len() - told.len();
    let note = (left_out > 0).then(|| format!("({left_out} earlier attempts failed too.)"));
    note.iter().map(String::as_str).chain(told).collect::<Vec<_>>().join("\n\n")
}

fn with_fragments(part: &str, tools: &[ToolSpec]) -> String {
    let line = |line: &str| match line.strip_prefix("{tool:").and_then(|rest| rest.strip_suffix('}')) {
        None => Some(line.to_owned()),
        Some(name) => {
            let fragment = FRAGMENTS.iter().find(|fragment| fragment.tool == name)?;
            let is_there = tools.iter().any(|tool| tool.name == name);
            let text = if is_there { fragment.present } else { fragment.absent };
            (!text.trim().is_empty()).then(|| text.trim_end().to_owned())
        }
    };
    part.lines().filter_map(line).collect::<Vec<_>>().join("\n")
}

/// Replaces each `{name}` once, from left to right, and never looks into what it has put in: a goal may say `{checks}`.
pub(crate) fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    loop {
        let next = values
            .iter()
            .filter_map(|(name, value)| Some((rest.find(&format!("{{{name}}}"))?, name.len() + 2, *value)))
            .min_by_key(|(at, _, _)| *at);
        let Some((at, length, value)) = next else { break };
        out.push_str(&rest[..at]);
        out.push_str(value);
        rest = &rest[at + length..];
    }
    out + rest
}

fn bullets<T: AsRef<str>>(items: &[T]) -> String {
    let item = |item: &T| format!("- {}", item.as_ref().trim().replace('\n', "\n  "));
    items.iter().map(item).collect::<Vec<_>>().join("\n")
}

fn first_sentence(description: &str) -> &str {
    let line = description.lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line, |(sentence, _)| sentence).trim_end_matches(['.', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_cannot_fill_in_other_placeholders() {
        let task = TaskMessage {
            goal: "say {finish_line}".into(),
            finish_line: vec!["{goal}".into()],
            ..TaskMessage::default()
        };
        let message = task_message(Role::Executor, &task, None);
        assert!(message.contains("say {finish_line}") && message.contains("- {goal}"), "{message}");
    }

    #[test]
    fn many_attempts_are_told_by_the_newest_and_by_what_is_uncertain() {
        let failure = |number: usize| match number {
            3 => "Attempt 3:\n- interrupted, so that it may or may not have happened: bash".to_owned(),
            _ => format!("Attempt {number}:\n- the check `t` failed"),
        };
        let message = |attempts: usize| {
            let previous_failures = (1..=attempts).map(failure).collect();
            task_message(Role::Executor, &TaskMessage { previous_failures, ..TaskMessage::default() }, None)
        };
        let few = message(5);
        assert!(few.contains("Attempt 1:") && !few.contains("earlier attempts failed"), "{few}");
        let many = message(200);
        assert!(many.contains("This is attempt 201.") && many.contains("(194 earlier attempts failed too.)"), "{many}");
        assert!(many.contains("Attempt 3:") && many.contains("Attempt 196:") && !many.contains("Attempt 195:"));
        assert!(many.len() < message(300).len() + 10, "it no longer grows");
    }
}
