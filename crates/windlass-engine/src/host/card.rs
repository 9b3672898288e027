//! The card for one call: what a person is asked, with everything that a yes would bind.

use std::path::PathBuf;

use serde_json::{Value, json};
use windlass_domain::approval::{ApprovalScope, Binding, Card, CardId, WorstCase};
use windlass_domain::execution::ExecutionState;
use windlass_domain::task::{Part, TaskCreated};
use windlass_domain::tool_name::CREATE_SKILL;
use windlass_domain::{Digest, Effect, Message, TaskId, Tenant, ToolCall, Wall};
use windlass_policy::approve::{CallSeen, binding_hash};

use super::seen::{Unshowable, Wanted};

/// Of a model's words, so many are shown as its reason.
const MOST_RATIONALE_CHARS: usize = 2_000;
const LONGEST_INTENT: usize = 300;

/// What else a card says.
pub struct Question<'a> {
    pub card_id: CardId,
    pub tenant: Tenant,
    pub task: TaskId,
    pub state: &'a ExecutionState,
    /// Whom it is for, where that is an item of a plan.
    pub item: Value,
    /// The blob of what stands now in the file that it would change.
    pub before: Option<Digest>,
    /// Why it is asked, in words.
    pub reasons: Vec<String>,
    pub worst_case: Option<WorstCase>,
    pub expires_at: Wall,
}

pub fn card(wanted: &Wanted<'_>, seen: &CallSeen, question: Question<'_>) -> Result<Card, Unshowable> {
    let Question { card_id, tenant, task, state, item, before, reasons, worst_case, expires_at } = question;
    let ToolCall { call_id, tool, arguments } = wanted.call;
    let shown: Value = serde_json::from_str(arguments.get()).unwrap_or(Value::Null);
    let details = json!({
        "tool": tool,
        "arguments": shown,
        "argv": wanted.prepared.program.as_ref().map(|program| &program.argv),
        "cwd": wanted.prepared.program.as_ref().map(|program| &program.cwd),
        "files": seen.files,
        "before": before,
        "sandbox": wanted.sandbox,
        "workspace": PathBuf::from(wanted.folder),
        "reasons": reasons,
        "taint": wanted.taint,
        "call_id": call_id,
        "execution_id": wanted.execution,
        "item": item,
    });
    Ok(Card {
        card_id,
        intent: intent(wanted),
        risk_level: wanted.risk_level(),
        rationale: rationale(state),
        consequence_label: consequence(&wanted.prepared.effect).to_owned(),
        affected_items: affected(wanted, seen),
        details,
        worst_case,
        expires_at,
        binds: Binding {
            tenant,
            work_item_id: task.to_string(),
            scope: scope_of(tool),
            plan_hash: None,
            binding_hash: Some(binding_hash(seen)?),
            spawn_policy_hash: None,
            max_executions: 1,
        },
    })
}

/// The item that a task works on, as cards name it: nothing for other tasks.
pub fn item_shown(created: &TaskCreated) -> Value {
    match created.part_of.as_ref().map(|of| &of.part) {
        // What its agent is told begins with its title.
        Some(Part::Atom { atom, .. }) => {
            json!({"id": atom, "title": created.command.goal.lines().next().unwrap_or_default()})
        }
        _ => Value::Null,
    }
}

/// What later tasks would follow is approved as that.
pub fn scope_of(tool: &str) -> ApprovalScope {
    if tool == CREATE_SKILL { ApprovalScope::SkillInstall } else { ApprovalScope::SingleStep }
}

fn intent(wanted: &Wanted<'_>) -> String {
    let what = match (&wanted.prepared.program, &wanted.prepared.effect) {
        (Some(program), _) => format!("run {}", shown(&program.argv)),
        (None, Effect::Probe(probe)) => format!("{} {}", wanted.call.tool, probe.path),
        (None, _) => format!("{} {}", wanted.call.tool, wanted.call.arguments.get()),
    };
    match what.char_indices().nth(LONGEST_INTENT) {
        Some((end, _)) => format!("{}…", &what[..end]),
        None => what,
    }
}

/// Of code that is handed to an interpreter, the code.
fn shown(argv: &[String]) -> String {
    match argv {
        [_, option, code] if option == "-c" => code.clone(),
        words => words.join(" "),
    }
}

/// The model's own words before the call; nobody has to believe them.
fn rationale(state: &ExecutionState) -> String {
    let said = state.transcript.iter().rev().find_map(|message| match message.as_ref() {
        Message::Assistant { text, .. } => Some(text.as_str()),
        _ => None,
    });
    said.unwrap_or_default().chars().take(MOST_RATIONALE_CHARS).collect()
}

const fn consequence(effect: &Effect) -> &'static str {
    match effect {
        Effect::Read => "is read, nothing is changed",
        Effect::Probe(_) => "one file is changed",
        Effect::Child => "an agent works in the same workspace, under the same rules",
        Effect::Once => "runs once, as shown; what it does cannot be taken back",
    }
}

fn affected(wanted: &Wanted<'_>, seen: &CallSeen) -> Vec<String> {
    let programs = wanted.risk.programs.iter().filter_map(|argv| argv.first().cloned());
    let mut items: Vec<String> = programs.chain(seen.files.keys().cloned()).collect();
    items.dedup();
    items
}
