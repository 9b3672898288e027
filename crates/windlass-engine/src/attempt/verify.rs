//! Verification: the checks decide, on a copy that the agent no longer holds. The candidate tree, taken under the ignore
//! rules of the baseline, and the carried paths are put beside the workspace once, before the first check. Each check gets
//! a fresh sandbox over a disposable copy of that, with its protected paths put back (`protection` says as what); what it does
//! to the copy is thrown away with it.
//!
//! Work on files heeds a stop and the task's time. What an agent left may be too much or too deep to be copied; that is
//! its failure and not an outage, so every check then fails and says why.

mod patience;
mod protection;
mod seen;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::graph::GraphState;
use windlass_domain::task::TaskCreated;
use windlass_domain::{
    BaseCase, CancelSignal, Candidate, Check, CheckProbe, CheckResult, ErrorDetails, KEPT_OUTPUT_CHARS, Merge, Stop,
    Taint, TaskId, TreeId, Wall, Workspace, WorkspaceError,
};
use windlass_plan::{FileSeen, Observed, Ran, judge};
use windlass_sandbox::{Command, Exit, discard};
use windlass_store::NewBlob;
use windlass_workspace::{copy_folder, remove_folder};

use self::patience::unable;
pub(crate) use self::patience::{Patience, Trouble};
pub(crate) use self::protection::Protection;
use self::protection::trespasses;
pub(super) use self::seen::look;
use self::seen::{code_of, end_of, last_chars, text};
use super::driver::Driver;
use super::run::check_sandbox;
use crate::Error;
use crate::engine::Engine;
use crate::tripwire::TripwirePoint;

/// More of a check's output than this is not kept.
const OUTPUT_CAP: usize = 1 << 20;

pub(super) enum Verdict {
    Judged(Judged),
    /// No check could be made, whatever the tree is like.
    Unable(ErrorDetails),
    Stopped(Stop),
}

pub(crate) struct Judged {
    pub tree: TreeId,
    pub results: Vec<CheckResult>,
    /// Whole outputs that the results refer to, to be committed with them.
    pub outputs: Vec<NewBlob>,
    /// The work of all that the candidate was merged into.
    pub onto: Option<TreeId>,
    /// Why it could not be.
    pub conflicts: Vec<String>,
}

impl Judged {
    const fn of(tree: TreeId) -> Self {
        Self { tree, results: Vec::new(), outputs: Vec::new(), onto: None, conflicts: Vec::new() }
    }
}

/// Everything that is needed to judge a tree: where it comes from, by what, and for how long.
pub(crate) struct Verifier {
    pub engine: Engine,
    /// Whose copies they are.
    pub task: TaskId,
    /// By name.
    pub sandbox: String,
    pub checks: BaseCase,
    pub workspace: Arc<dyn Workspace>,
    pub cancel: CancelSignal,
    pub patience: Patience,
}

/// A tree to be judged, and what it is held against.
#[derive(Clone)]
pub(crate) struct Subject {
    pub tree: TreeId,
    /// What differs from it looks newer than what does not.
    pub baseline: TreeId,
    pub protection: Protection,
    pub new_repositories: Vec<String>,
}

/// Where the copies of one verification stand. A place that was never used: what an earlier one left there may not want to go.
#[derive(Clone)]
struct Copies {
    folder: PathBuf,
    /// When they were made.
    made: Wall,
}

impl Driver {
    pub(super) async fn verify(&self) -> Result<Verdict, Error> {
        let created = self.created()?.clone();
        Ok(match self.judge(&created).await {
            Ok(judged) => Verdict::Judged(judged),
            Err(Trouble::Unable(error)) => Verdict::Unable(error),
            Err(Trouble::Stopped(stop)) => Verdict::Stopped(stop),
            // The baseline stands for the tree that could not be taken.
            Err(Trouble::Unfit(why)) => match self.baseline(&created) {
                Ok(tree) => Verdict::Judged(none_passes(&created, tree, &why)),
                Err(_) => Verdict::Unable(unable(why)),
            },
        })
    }

    async fn judge(&self, created: &TaskCreated) -> Result<Judged, Trouble> {
        let baseline = self.baseline(created)?;
        let verifier = self.verifier(created)?;
        let candidate = verifier.capture(baseline).await?;
        if !created.is_atom() {
            let Candidate { tree, new_repositories } = candidate;
            let protection = Protection::of(baseline);
            return verifier.judge(Subject { tree, baseline, protection, new_repositories }).await;
        }
        // Looked at as late as can be: what comes in after this is found when the work is to become part of all.
        let graph = self.work_of_all().await?;
        let nothing = || unable("the plan has no work to add to");
        let (tip, protection) = (graph.tip.ok_or_else(nothing)?, Protection::under(&graph).ok_or_else(nothing)?);
        let refused = |conflicts| Judged { conflicts, ..Judged::of(candidate.tree) };
        let tree = match verifier.merge(baseline, tip, candidate.tree).await? {
            Merge::Conflicts(conflicts) => {
                let told = |conflict| format!("it cannot be merged with what others did meanwhile: {conflict}");
                return Ok(refused(conflicts.into_iter().map(told).collect()));
            }
            Merge::Clean(tree) => tree,
        };
        let trespasses = verifier.trespasses(graph, (tip, tree)).await?;
        if !trespasses.is_empty() {
            return Ok(refused(trespasses));
        }
        let subject = Subject { tree, baseline: tip, protection, new_repositories: candidate.new_repositories };
        Ok(Judged { onto: Some(tip), ..verifier.judge(subject).await? })
    }

    /// What its attempt began with.
    fn baseline(&self, created: &TaskCreated) -> Result<TreeId, Trouble> {
        let base = self.journal.state.attempts.last().and_then(|attempt| attempt.base);
        // Without one nothing would be protected.
        base.or(created.baseline).ok_or_else(|| unable("the task has no baseline").into())
    }

    /// The plan that it is a part of, as it is now.
    async fn work_of_all(&self) -> Result<GraphState, Trouble> {
        let graph = self.parents_graph().await.map_err(|error| unable(error.to_string()))?;
        graph.map(|graph| graph.state).ok_or_else(|| unable("the plan has no work to add to").into())
    }

    fn verifier(&self, created: &TaskCreated) -> Result<Verifier, Trouble> {
        let shared = &self.engine.shared;
        let (used, _) = self.journal.state.used();
        let time = Duration::from_secs(created.budget.max_wall_time_seconds);
        let left = time.saturating_sub(Duration::from_millis(used.duration_ms));
        Ok(Verifier {
            engine: self.engine.clone(),
            task: self.task,
            sandbox: created.sandbox.clone(),
            checks: created.base_case.clone(),
            workspace: shared.equipment.workspace(&self.folder()?)?,
            cancel: self.canceller.signal(),
            patience: Patience::new(self.canceller.signal(), Arc::clone(&shared.runtime), left),
        })
    }

    /// Removes what is left of disposable copies, also by processes that died.
    pub(super) async fn sweep_copies(&self) {
        sweep_copies(&self.engine, self.task).await;
    }
}

pub(crate) async fn sweep_copies(engine: &Engine, task: TaskId) {
    remove(engine, copies_of(engine, task)).await;
}

fn copies_of(engine: &Engine, task: TaskId) -> PathBuf {
    engine.shared.data_dir.join("checks").join(task.to_string())
}

async fn remove(engine: &Engine, folder: PathBuf) {
    // Nothing depends on it but space on the disk.
    let _gone = engine.shared.blocking(move || remove_folder(&folder)).await;
}

impl Verifier {
    async fn capture(&self, baseline: TreeId) -> Result<Candidate, Trouble> {
        let (workspace, patience) = (Arc::clone(&self.workspace), self.patience.clone());
        let capture =
            move || workspace.capture_under(baseline, &patience.is_over()).map_err(|error| patience.trouble(error));
        self.engine.shared.blocking(capture).await
    }

    async fn merge(&self, base: TreeId, ours: TreeId, theirs: TreeId) -> Result<Merge, Trouble> {
        let (workspace, patience) = (Arc::clone(&self.workspace), self.patience.clone());
        let merge =
            move || workspace.merge(base, ours, theirs, &patience.is_over()).map_err(|error| patience.trouble(error));
        self.engine.shared.blocking(merge).await
    }

    async fn trespasses(&self, graph: GraphState, trees: (TreeId, TreeId)) -> Result<Vec<String>, Trouble> {
        let (workspace, patience) = (Arc::clone(&self.workspace), self.patience.clone());
        let look = move || trespasses(&graph, &*workspace, trees).map_err(|error| patience.trouble(error));
        self.engine.shared.blocking(look).await
    }

    pub async fn judge(&self, subject: Subject) -> Result<Judged, Trouble> {
        if self.checks.0.is_empty() {
            return Ok(Judged::of(subject.tree));
        }
        sweep_copies(&self.engine, self.task).await;
        let judged = self.judge_each(&subject).await;
        sweep_copies(&self.engine, self.task).await;
        judged
    }

    async fn judge_each(&self, subject: &Subject) -> Result<Judged, Trouble> {
        let shared = &self.engine.shared;
        let folder = copies_of(&self.engine, self.task).join(format!("{:032x}", shared.runtime.random()));
        let copies = Copies { folder, made: shared.wall() };
        let copied = copies.folder.join("candidate");
        self.materialise(subject, &copied, copies.made).await?;
        let BaseCase(checks) = &self.checks;
        let mut judged = Judged { results: Vec::with_capacity(checks.len()), ..Judged::of(subject.tree) };
        for (number, check) in checks.iter().enumerate() {
            let folder = copies.folder.join(number.to_string());
            let (from, into, patience) = (copied.clone(), folder.clone(), self.patience.clone());
            let checks_after = checks.len() - number - 1;
            shared.blocking(move || hand_over(&from, &into, checks_after, &patience)).await?;
            let one = self.judge_one(check, subject, (&folder, copies.made)).await;
            remove(&self.engine, folder).await;
            let (mut result, output) = one?;
            // Every check is protected from them, whatever it names.
            result.tampered.extend(subject.new_repositories.iter().cloned());
            judged.results.push(result);
            judged.outputs.extend(output);
        }
        Ok(judged)
    }

    async fn materialise(&self, subject: &Subject, folder: &Path, made: Wall) -> Result<(), Trouble> {
        let (workspace, patience) = (Arc::clone(&self.workspace), self.patience.clone());
        let (tree, baseline, target) = (subject.tree, subject.baseline, folder.to_owned());
        let materialise = move || {
            let copied = workspace.materialise(tree, baseline, &target, made, &patience.is_over());
            copied.map_err(|error| patience.trouble(error))
        };
        self.engine.shared.blocking(materialise).await
    }

    async fn judge_one(
        &self,
        check: &Check,
        subject: &Subject,
        (folder, made): (&Path, Wall),
    ) -> Result<(CheckResult, Option<NewBlob>), Trouble> {
        let shared = &self.engine.shared;
        let (target, protect) = (folder.to_owned(), check.protect.clone());
        let (workspace, patience) = (Arc::clone(&self.workspace), self.patience.clone());
        let (tree, protection) = (subject.tree, subject.protection.clone());
        let restore = move || {
            let restored = protection.put_back(&*workspace, (tree, &protect), (&target, made), &patience.is_over());
            restored.map_err(|error| patience.trouble(error))
        };
        let tampered = shared.blocking(restore).await?;
        shared.pass(TripwirePoint::CandidateCopied).await;
        let exit = match &check.probe {
            CheckProbe::File { .. } => None,
            CheckProbe::Run { run, .. } => Some(self.run_check(check, run, folder).await?),
        };
        shared.pass(TripwirePoint::CheckRan).await;
        let seen = check.path().map(|path| look(folder, path));
        Ok(self.result_of(check, exit.as_ref(), seen, tampered).await)
    }

    async fn run_check(&self, check: &Check, run: &str, folder: &Path) -> Result<Result<Exit, String>, Trouble> {
        let sandbox = check_sandbox(&self.engine, self.task, &self.sandbox, folder.to_owned()).await?;
        let mut command = Command::new(["bash", "-c", run]);
        command.timeout = Duration::from_secs(check.timeout_seconds);
        command.output_cap = OUTPUT_CAP;
        let signal = self.cancel.clone();
        let stopping = signal.wait();
        let ran = sandbox
            .run(
                command,
                &mut discard,
                Box::pin(async move {
                    let _stop = stopping.await;
                }),
            )
            .await;
        sandbox.close().await;
        match (signal.raised(), ran) {
            (Some(stop), _) => Err(Trouble::Stopped(stop)),
            (None, Ok(exit)) => Ok(Ok(exit)),
            (None, Err(windlass_sandbox::Error::NotStarted { program, source })) => {
                Ok(Err(format!("{program}: {source}")))
            }
            (None, Err(error)) => Err(unable(format!("failed to {error}")).into()),
        }
    }

    async fn result_of(
        &self,
        check: &Check,
        exit: Option<&Result<Exit, String>>,
        file: Option<FileSeen>,
        tampered: Vec<String>,
    ) -> (CheckResult, Option<NewBlob>) {
        let redactor = &self.engine.shared.redactor;
        let stdout = exit.and_then(|exit| exit.as_ref().ok()).map(|exit| text(&exit.stdout)).unwrap_or_default();
        let ran = exit.map(|exit| Ran {
            end: end_of(exit),
            stdout: &stdout,
            cut: exit.as_ref().is_ok_and(|exit| exit.dropped > 0),
        });
        let judgement = judge(check, &Observed { ran, file });
        let shown = exit.and_then(|exit| exit.as_ref().ok()).map(|exit| text(&exit.combined)).unwrap_or_default();
        let shown = redactor.redact(&shown).into_owned();
        let output = last_chars(&shown, KEPT_OUTPUT_CHARS);
        let kept = self.keep(shown).await;
        let result = CheckResult {
            name: check.name.clone(),
            passed: judgement.passed,
            reason: judgement.reason,
            exit_code: exit.and_then(|exit| exit.as_ref().ok()).and_then(code_of),
            output,
            full_output: kept.as_ref().map(NewBlob::digest),
            tampered,
        };
        (result, kept)
    }

    /// The whole output as a blob where the result keeps only a part. A blob that cannot be kept loses nothing that
    /// decides.
    async fn keep(&self, output: String) -> Option<NewBlob> {
        if output.chars().count() <= KEPT_OUTPUT_CHARS {
            return None;
        }
        let shared = &self.engine.shared;
        shared.store.stage_blob(&shared.tenant, output.into_bytes(), Taint::External).await.ok()
    }
}

/// What is in `candidate`, for one check. The last one gets the candidate itself: nobody needs it afterwards.
fn hand_over(candidate: &Path, folder: &Path, checks_after: usize, patience: &Patience) -> Result<(), Trouble> {
    if checks_after == 0 {
        return std::fs::rename(candidate, folder).map_err(|error| unable(error).into());
    }
    copy_folder(candidate, folder, &patience.is_over()).map_err(|error| {
        patience.trouble(match error {
            windlass_workspace::Error::Stopped => WorkspaceError::Stopped,
            other => WorkspaceError::Failed(other.to_string()),
        })
    })
}

/// No check was run, and hence none has passed. The reason is said once: the agent hears all of them.
fn none_passes(created: &TaskCreated, tree: TreeId, why: &str) -> Judged {
    let why = format!("not run, because the workspace cannot be copied: {why}");
    if created.is_atom() {
        return Judged { conflicts: vec![why], ..Judged::of(tree) };
    }
    let result = |(number, check): (usize, &Check)| CheckResult {
        name: check.name.clone(),
        passed: false,
        reason: match number {
            0 => why.clone(),
            _ => "not run, for the same reason".to_owned(),
        },
        exit_code: None,
        output: String::new(),
        full_output: None,
        tampered: Vec::new(),
    };
    Judged { results: created.base_case.0.iter().enumerate().map(result).collect(), ..Judged::of(tree) }
}
