//! The card for one call, and the hash that binds a yes to it: everything that will run, byte for byte, where, with what
//! around it, and the files it names as they are now.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use windlass_domain::approval::{ApprovalScope, Binding, Card, CardId, RiskLevel, WorstCase};
use windlass_domain::execution::ExecutionState;
use windlass_domain::{Digest, Effect, ExecutionId, Message, Prepared, TaskId, Tenant, ToolCall, Wall};
use windlass_policy::approve::{CallSeen, Unhashable, binding_hash};
use windlass_policy::risk::Risk;
use windlass_sandbox::Policy;
use windlass_workspace::{Kind, Root, WorkspacePath};

use crate::engine::Shared;

/// Of a model's words, so many are shown as its reason.
const MOST_RATIONALE_CHARS: usize = 2_000;
/// Places that are looked at for files that a command names: more than any command has that a person reads.
const MOST_PLACES: usize = 20_000;
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
    pub async fn seen(&self, shared: &Shared) -> Result<CallSeen, Unshowable> {
        let env = self.policy.env.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()));
        let (argv, cwd) = match &self.prepared.program {
            Some(program) => (program.argv.clone(), program.cwd.clone()),
            None => (vec![self.call.tool.clone(), self.call.arguments.get().to_owned()], String::new()),
        };
        let (folder, words) = (self.folder.to_owned(), self.words());
        let mut files = shared.blocking(move || digests(&folder, &words)).await?;
        if let Effect::Probe(probe) = &self.prepared.effect {
            files.insert(probe.path.clone(), probe.before);
        }
        Ok(CallSeen {
            tool: self.call.tool.clone(),
            argv: argv.into_iter().map(String::into_bytes).collect(),
            env: env.collect(),
            cwd: cwd.into_bytes(),
            files,
            sandbox_profile: profile(self.sandbox, self.policy),
            execution: self.execution,
        })
    }

    /// Every word that may be a file, as the programs are given it and as it stands in the command's text: a redirection is no
    /// argument.
    fn words(&self) -> BTreeSet<String> {
        let program = self.prepared.program.as_ref();
        let text = program.into_iter().flat_map(|program| program.argv.iter().chain([&program.cwd]));
        let is_between = |letter: char| letter.is_whitespace() || "<>|&;()`'\"=".contains(letter);
        let in_text = text.flat_map(|text| text.split(is_between));
        let given = self.risk.programs.iter().flatten().map(String::as_str);
        given.chain(in_text).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }
}

/// The files that the words name, in whatever folder other words name: a script that is swapped after the answer is not the
/// script that was shown. Rather a file too many than one too few.
fn digests(folder: &Path, words: &BTreeSet<String>) -> Result<BTreeMap<String, Option<Digest>>, Unshowable> {
    let mut files = BTreeMap::new();
    let Ok(root) = Root::open(folder) else { return Ok(files) };
    let is_folder = |path: &WorkspacePath| root.metadata(path).is_ok_and(|found| found.kind == Kind::Folder);
    let folders = words.iter().filter_map(|word| WorkspacePath::parse(word).ok()).filter(is_folder);
    let folders: BTreeSet<String> = folders.map(|folder| folder.to_record()).chain([String::new()]).collect();
    if words.len().saturating_mul(folders.len()) > MOST_PLACES {
        return Err(Unshowable::TooManyFiles);
    }
    for (folder, word) in folders.iter().flat_map(|folder| words.iter().map(move |word| (folder, word))) {
        let Ok(path) = WorkspacePath::parse(Path::new(folder).join(word)) else { continue };
        if let Ok(Some(digest)) = root.digest(&path) {
            files.insert(path.to_record(), Some(digest));
        }
    }
    Ok(files)
}

/// Why a call cannot be asked about.
#[derive(Debug, thiserror::Error)]
pub enum Unshowable {
    #[error("it names more files than anybody can look at: name fewer at a time")]
    TooManyFiles,
    #[error(transparent)]
    Unhashable(#[from] Unhashable),
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

pub async fn card(wanted: &Wanted<'_>, shared: &Shared, question: Question<'_>) -> Result<Card, Unshowable> {
    let seen = &wanted.seen(shared).await?;
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
        risk_level: wanted.risk.level.on_card().unwrap_or(RiskLevel::Irreversible).max(RiskLevel::High),
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
