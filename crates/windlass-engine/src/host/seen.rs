//! What a yes to one call binds: everything that will run, byte for byte, where, with what around it, and the files it names
//! as they are now.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use windlass_domain::approval::RiskLevel;
use windlass_domain::{Digest, Effect, ExecutionId, Prepared, Taint, ToolCall};
use windlass_policy::approve::{CallSeen, Unhashable};
use windlass_policy::risk::Risk;
use windlass_sandbox::{Network, Policy};
use windlass_workspace::{Kind, Root, WorkspacePath};

use crate::engine::Shared;

/// Places that are looked at for files that a command names: more than any command has that a person reads.
const MOST_PLACES: usize = 20_000;
/// All files together that a call names and that are read for its card.
const MOST_BYTES: u64 = 256 << 20;
/// What parts words in a command's text besides white space.
const BETWEEN_WORDS: &str = "<>|&;()`'\"=";
/// What makes of one word another, or several, when a shell reads it.
const EXPANDS: [char; 7] = ['*', '?', '[', '{', '$', '`', '~'];
/// Everything in the workspace that a snapshot of it holds.
const WHOLE: &str = ".";

/// Which call, of whom.
pub struct Wanted<'a> {
    pub call: &'a ToolCall,
    pub prepared: &'a Prepared,
    pub risk: &'a Risk,
    /// Of everything the execution has read.
    pub taint: Taint,
    pub execution: ExecutionId,
    pub folder: &'a Path,
    pub policy: &'a Policy,
    pub sandbox: &'a str,
}

/// Why a call cannot be asked about.
#[derive(Debug, thiserror::Error)]
pub enum Unshowable {
    #[error("it names more files than anybody can look at: name fewer at a time")]
    TooManyFiles,
    #[error("the files it names are too large to be looked at: name fewer or smaller ones at a time")]
    TooMuch,
    #[error("what it would find in the workspace cannot be read ({0}): name the files instead of a pattern")]
    NotRead(String),
    #[error(transparent)]
    Unhashable(#[from] Unhashable),
}

impl Wanted<'_> {
    pub async fn seen(&self, shared: &Shared) -> Result<CallSeen, Unshowable> {
        let env = self.policy.env.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()));
        let (mut argv, cwd) = match &self.prepared.program {
            Some(program) => (program.argv.clone(), program.cwd.clone()),
            None => (vec![self.call.tool.clone(), self.call.arguments.get().to_owned()], String::new()),
        };
        // Another word, where there is one, so that what was approved before there were any still holds.
        argv.extend(self.prepared.definition.map(|digest| digest.to_string()));
        let (folder, words) = (self.folder.to_owned(), self.words());
        let mut files = shared.blocking(move || named_files(&folder, &words)).await?;
        if let Effect::Probe(probe) = &self.prepared.effect {
            files.insert(probe.path.clone(), probe.before);
        }
        if self.names_what_is_not_known_yet() {
            files.insert(WHOLE.to_owned(), Some(self.whole_workspace(shared).await?));
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

    /// What could carry data out of a context that holds external content is high, whatever the command looks like.
    pub fn risk_level(&self) -> RiskLevel {
        let of_call = self.risk.level.on_card().unwrap_or(RiskLevel::Irreversible);
        match (self.taint, self.prepared.reach.can_carry_out()) {
            (Taint::External, true) => of_call.max(RiskLevel::High),
            _ => of_call,
        }
    }

    /// Globs, variables and the like: which files it means is known only when it runs.
    fn names_what_is_not_known_yet(&self) -> bool {
        let program = self.prepared.program.as_ref();
        program.is_some_and(|program| program.argv.iter().any(|word| word.contains(EXPANDS)))
    }

    async fn whole_workspace(&self, shared: &Shared) -> Result<Digest, Unshowable> {
        let workspace = shared.equipment.workspace(self.folder).map_err(|error| Unshowable::NotRead(error.message))?;
        let tree = shared.blocking(move || workspace.capture()).await;
        tree.map(|tree| tree.0).map_err(|error| Unshowable::NotRead(error.to_string()))
    }

    /// As the programs are given them, and as they stand in the command's text: a redirection is no argument.
    fn words(&self) -> BTreeSet<String> {
        let program = self.prepared.program.as_ref();
        let text = program.into_iter().flat_map(|program| program.argv.iter().chain([&program.cwd]));
        let is_between = |letter: char| letter.is_whitespace() || BETWEEN_WORDS.contains(letter);
        let in_text = text.flat_map(|text| text.split(is_between));
        let given = self.risk.programs.iter().flatten().map(String::as_str);
        given.chain(in_text).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }
}

/// Every word that is a file, in whatever folder the call names: a script that is swapped after the answer is not the script
/// that was shown. Rather a file too many than one too few.
fn named_files(folder: &Path, words: &BTreeSet<String>) -> Result<BTreeMap<String, Option<Digest>>, Unshowable> {
    let Ok(root) = Root::open(folder) else { return Ok(BTreeMap::new()) };
    let is_folder = |path: &WorkspacePath| root.metadata(path).is_ok_and(|found| found.kind == Kind::Folder);
    let folders: BTreeSet<String> = words.iter().filter_map(|word| inside(word, is_folder)).collect();
    if words.len().saturating_mul(1 + folders.len()) > MOST_PLACES {
        return Err(Unshowable::TooManyFiles);
    }
    let below = |word: &String| folders.iter().map(|folder| format!("{folder}/{word}")).collect::<Vec<_>>();
    let places: BTreeSet<String> = words
        .iter()
        .flat_map(|word| std::iter::once(word.clone()).chain(below(word)))
        .map(|place| plain(&place))
        .collect();
    let mut files = BTreeMap::new();
    let mut bytes = 0_u64;
    for place in places {
        let Ok(path) = WorkspacePath::parse(&place) else { continue };
        let Ok(found) = root.metadata(&path) else { continue };
        bytes = bytes.saturating_add(if found.kind == Kind::File { found.size } else { 0 });
        if bytes > MOST_BYTES {
            return Err(Unshowable::TooMuch);
        }
        if let Ok(Some(digest)) = root.digest(&path) {
            files.insert(path.to_record(), Some(digest));
        }
    }
    Ok(files)
}

/// One spelling for `a`, `./a` and `.//a`: a file is read once.
fn plain(place: &str) -> String {
    let root = if place.starts_with('/') { "/" } else { "" };
    let names: Vec<&str> = place.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    format!("{root}{}", names.join("/"))
}

/// The word as a path of the workspace, where `is` says so.
fn inside(word: &str, is: impl Fn(&WorkspacePath) -> bool) -> Option<String> {
    let path = WorkspacePath::parse(word).ok()?;
    is(&path).then(|| path.to_record()).filter(|path| !path.is_empty())
}

/// Names everything the sandbox allows.
fn profile(sandbox: &str, policy: &Policy) -> Digest {
    let Policy {
        workspace,
        home,
        protected,
        guarded,
        readonly_mounts,
        env,
        limits,
        hidden,
        network,
        label: _,
        lock: _,
    } = policy;
    let mut whole = format!(
        "{sandbox:?} {workspace:?} {protected:?} {guarded:?} {readonly_mounts:?} {env:?} {limits:?} {hidden:?}"
    );
    // Said only where there is one, so that what was approved before there was any still holds.
    if let Network::Restricted(egress) = network {
        whole.push_str(&format!(" {egress:?}"));
    }
    if let Some(home) = home {
        whole.push_str(&format!(" {home:?}"));
    }
    Digest::of(whole.as_bytes())
}
