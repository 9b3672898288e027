//! The card for one call, and the hash that binds a yes to it: everything that will run, byte for byte, where, with what
//! around it, and the files it names as they are now.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use windlass_domain::approval::{ApprovalScope, Binding, Card, CardId, RiskLevel, WorstCase};
use windlass_domain::execution::ExecutionState;
use windlass_domain::{Digest, Effect, ExecutionId, Message, Prepared, Taint, TaskId, Tenant, ToolCall, Wall};
use windlass_policy::approve::{CallSeen, Unhashable, binding_hash};
use windlass_policy::risk::Risk;
use windlass_sandbox::Policy;
use windlass_workspace::{Root, WorkspacePath};

use crate::engine::Shared;

/// Of a model's words, so many are shown as its reason.
const MOST_RATIONALE_CHARS: usize = 2_000;
/// Files that a command names and that are looked at; more than this nobody reads on a card.
const MOST_FILES: usize = 256;
const LONGEST_INTENT: usize = 300;

/// Which call, of whom.
pub struct Wanted<'a> {
    pub call: &'a ToolCall,
    pub prepared: &'a Prepared,
    pub risk: &'a Risk,
    pub execution: ExecutionId,
    pub folder: &'a Path,
    pub policy: &'a Policy,
    pub sandbox: &'a str,
}

impl Wanted<'_> {
    /// What a yes binds. Reads the files that the call names.
    pub async fn seen(&self, shared: &Shared) -> CallSeen {
        let env = self.policy.env.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()));
        let (argv, cwd) = match &self.prepared.program {
            Some(program) => (program.argv.clone(), program.cwd.clone()),
            None => (vec![self.call.tool.clone(), self.call.arguments.get().to_owned()], String::new()),
        };
        let (folder, words) = (self.folder.to_owned(), self.words());
        let mut files = shared.blocking(move || digests(&folder, &words)).await;
        if let Effect::Probe(probe) = &self.prepared.effect {
            files.insert(probe.path.clone(), probe.before);
        }
        CallSeen {
            tool: self.call.tool.clone(),
            argv: argv.into_iter().map(String::into_bytes).collect(),
            env: env.collect(),
            cwd: cwd.into_bytes(),
            files,
            sandbox_profile: profile(self.sandbox, self.policy),
            execution: self.execution,
        }
    }

    /// Every word of its programs, which may be a file: a script that is swapped after the answer is not the script that was
    /// shown.
    fn words(&self) -> Vec<String> {
        let cwd = self.prepared.program.as_ref().map(|program| program.cwd.as_str()).unwrap_or_default();
        let words = self.risk.programs.iter().flatten();
        words.flat_map(|word| [Some(word.clone()), below(cwd, word)]).flatten().take(MOST_FILES).collect()
    }
}

fn digests(folder: &Path, words: &[String]) -> BTreeMap<String, Option<Digest>> {
    let Ok(root) = Root::open(folder) else { return BTreeMap::new() };
    let file = |word: &String| {
        let path = WorkspacePath::parse(word).ok()?;
        let digest = root.digest(&path).ok()??;
        Some((path.to_record(), Some(digest)))
    };
    words.iter().filter_map(file).collect()
}

fn below(cwd: &str, word: &str) -> Option<String> {
    (!cwd.is_empty() && !word.starts_with('/')).then(|| format!("{cwd}/{word}"))
}

/// Names everything the sandbox allows.
fn profile(sandbox: &str, policy: &Policy) -> Digest {
    let Policy { workspace, protected, guarded, readonly_mounts, env, limits, hidden, lock: _ } = policy;
    let whole = format!(
        "{sandbox:?} {workspace:?} {protected:?} {guarded:?} {readonly_mounts:?} {env:?} {limits:?} {hidden:?}"
    );
    Digest::of(whole.as_bytes())
}

/// What else a card says.
pub struct Question<'a> {
    pub card_id: CardId,
    pub tenant: Tenant,
    pub task: TaskId,
    pub state: &'a ExecutionState,
    /// Why it is asked, in words.
    pub reasons: Vec<String>,
    pub worst_case: Option<WorstCase>,
    pub expires_at: Wall,
}

pub fn card(wanted: &Wanted<'_>, seen: &CallSeen, question: Question<'_>) -> Result<Card, Unhashable> {
    let Question { card_id, tenant, task, state, reasons, worst_case, expires_at } = question;
    let ToolCall { call_id, tool, arguments } = wanted.call;
    let shown: Value = serde_json::from_str(arguments.get()).unwrap_or(Value::Null);
    let details = json!({
        "tool": tool,
        "arguments": shown,
        "argv": wanted.prepared.program.as_ref().map(|program| &program.argv),
        "cwd": wanted.prepared.program.as_ref().map(|program| &program.cwd),
        "files": seen.files,
        "sandbox": wanted.sandbox,
        "workspace": PathBuf::from(wanted.folder),
        "reasons": reasons,
        "taint": state.taint,
        "call_id": call_id,
        "execution_id": wanted.execution,
    });
    Ok(Card {
        card_id,
        intent: intent(wanted),
        risk_level: risk_level(wanted, state.taint),
        rationale: rationale(state),
        consequence_label: consequence(&wanted.prepared.effect).to_owned(),
        affected_items: affected(wanted, seen),
        details,
        worst_case,
        expires_at,
        binds: Binding {
            tenant,
            work_item_id: task.to_string(),
            scope: ApprovalScope::SingleStep,
            plan_hash: None,
            binding_hash: Some(binding_hash(seen)?),
            spawn_policy_hash: None,
            max_executions: 1,
        },
    })
}

/// What could carry data out of a context that holds external content is high, whatever the command looks like.
fn risk_level(wanted: &Wanted<'_>, taint: Taint) -> RiskLevel {
    let of_call = wanted.risk.level.on_card().unwrap_or(RiskLevel::Irreversible);
    match (taint, wanted.prepared.reach.can_carry_out()) {
        (Taint::External, true) => of_call.max(RiskLevel::High),
        _ => of_call,
    }
}

fn intent(wanted: &Wanted<'_>) -> String {
    let what = match (&wanted.prepared.program, &wanted.prepared.effect) {
        (Some(program), _) => format!("run {}", program.argv.last().map(String::as_str).unwrap_or_default()),
        (None, Effect::Probe(probe)) => format!("{} {}", wanted.call.tool, probe.path),
        (None, _) => format!("{} {}", wanted.call.tool, wanted.call.arguments.get()),
    };
    match what.char_indices().nth(LONGEST_INTENT) {
        Some((end, _)) => format!("{}…", &what[..end]),
        None => what,
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
        Effect::Once => "runs once, as shown; what it does cannot be taken back",
    }
}

fn affected(wanted: &Wanted<'_>, seen: &CallSeen) -> Vec<String> {
    let programs = wanted.risk.programs.iter().filter_map(|argv| argv.first().cloned());
    let mut items: Vec<String> = programs.chain(seen.files.keys().cloned()).collect();
    items.dedup();
    items
}
