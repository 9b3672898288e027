//! Verification: the checks decide, on a copy that the agent no longer holds. The candidate tree, taken under the ignore
//! rules of the baseline, and the carried paths are put beside the workspace once, before the first check. Each check gets
//! a fresh sandbox over a disposable copy of that, with its protected paths as the baseline has them; what it does to the
//! copy is thrown away with it.
//!
//! Work on files heeds a stop and the task's time. What an agent left may be too much or too deep to be copied; that is
//! its failure and not an outage, so every check then fails and says why.

mod patience;
mod seen;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::task::TaskCreated;
use windlass_domain::{
    BaseCase, Candidate, Check, CheckProbe, CheckResult, ErrorDetails, KEPT_OUTPUT_CHARS, Stop, Taint, TreeId, Wall,
    Workspace, WorkspaceError,
};
use windlass_plan::{FileSeen, Observed, Ran, judge};
use windlass_sandbox::{Command, Exit, Sandbox, discard};
use windlass_store::NewBlob;
use windlass_workspace::{copy_folder, remove_folder};

use self::patience::{Patience, Trouble, unable};
use self::seen::{code_of, end_of, last_chars, look, text};
use super::driver::Driver;
use crate::Error;
use crate::tripwire::TripwirePoint;

/// More of a check's output than this is not kept.
const OUTPUT_CAP: usize = 1 << 20;

pub(super) enum Verdict {
    Judged(Judged),
    /// No check could be made, whatever the tree is like.
    Unable(ErrorDetails),
    Stopped(Stop),
}

pub(super) struct Judged {
    pub tree: TreeId,
    pub results: Vec<CheckResult>,
    /// Whole outputs that the results refer to, to be committed with them.
    pub outputs: Vec<NewBlob>,
}

/// The workspace of a task, and what its candidate is held against.
#[derive(Clone)]
struct Subject {
    workspace: Arc<dyn Workspace>,
    baseline: TreeId,
    /// Where its copies stand. A place that was never used: what an earlier verification left there may not want to go.
    copies: PathBuf,
    /// When they were made.
    made: Wall,
    patience: Patience,
}

impl Driver {
    pub(super) async fn verify(&self) -> Result<Verdict, Error> {
        let created = self.created()?.clone();
        Ok(match self.judge_all(&created).await {
            Ok(judged) => Verdict::Judged(judged),
            Err(Trouble::Unable(error)) => Verdict::Unable(error),
            Err(Trouble::Stopped(stop)) => Verdict::Stopped(stop),
            // The baseline stands for the tree that could not be taken.
            Err(Trouble::Unfit(why)) => match created.baseline {
                Some(tree) => Verdict::Judged(none_passes(&created.base_case, tree, &why)),
                None => Verdict::Unable(unable(why)),
            },
        })
    }

    async fn judge_all(&self, created: &TaskCreated) -> Result<Judged, Trouble> {
        let subject = self.subject(created)?;
        let Subject { workspace, baseline, patience, .. } = subject.clone();
        let capture =
            move || workspace.capture_under(baseline, &patience.is_over()).map_err(|error| patience.trouble(error));
        let candidate = self.engine.shared.blocking(capture).await?;
        self.sweep_copies().await;
        let judged = self.judge_each(created, &subject, &candidate).await;
        self.sweep_copies().await;
        judged
    }

    fn subject(&self, created: &TaskCreated) -> Result<Subject, Trouble> {
        let shared = &self.engine.shared;
        let (used, _) = self.journal.state.used();
        let time = Duration::from_secs(created.budget.max_wall_time_seconds);
        let left = time.saturating_sub(Duration::from_millis(used.duration_ms));
        Ok(Subject {
            workspace: shared.equipment.workspace(Path::new(&created.workspace))?,
            // Without one nothing would be protected.
            baseline: created.baseline.ok_or_else(|| unable("the task has no baseline"))?,
            copies: self.copies().join(format!("{:032x}", shared.runtime.random())),
            made: shared.wall(),
            patience: Patience::new(self.canceller.signal(), Arc::clone(&shared.runtime), left),
        })
    }

    async fn judge_each(
        &self,
        created: &TaskCreated,
        subject: &Subject,
        candidate: &Candidate,
    ) -> Result<Judged, Trouble> {
        let shared = &self.engine.shared;
        let copied = subject.copies.join("candidate");
        let (target, tree) = (copied.clone(), candidate.tree);
        let Subject { workspace, baseline, made, patience, .. } = subject.clone();
        let materialise = move || {
            let copied = workspace.materialise(tree, baseline, &target, made, &patience.is_over());
            copied.map_err(|error| patience.trouble(error))
        };
        shared.blocking(materialise).await?;
        let BaseCase(checks) = &created.base_case;
        let mut judged = Judged { tree, results: Vec::with_capacity(checks.len()), outputs: Vec::new() };
        for (number, check) in checks.iter().enumerate() {
            let folder = subject.copies.join(number.to_string());
            let (from, into, patience) = (copied.clone(), folder.clone(), subject.patience.clone());
            let checks_after = checks.len() - number - 1;
            shared.blocking(move || hand_over(&from, &into, checks_after, &patience)).await?;
            let one = self.judge_one(created, check, subject, &folder).await;
            self.remove(folder).await;
            let (mut result, output) = one?;
            // Every check is protected from them, whatever it names.
            result.tampered.extend(candidate.new_repositories.iter().cloned());
            judged.results.push(result);
            judged.outputs.extend(output);
        }
        Ok(judged)
    }

    /// Where this task's disposable copies stand.
    fn copies(&self) -> PathBuf {
        self.engine.shared.data_dir.join("checks").join(self.task.to_string())
    }

    /// Removes what is left of them, also by processes that died.
    pub(super) async fn sweep_copies(&self) {
        self.remove(self.copies()).await;
    }

    async fn remove(&self, folder: PathBuf) {
        // Nothing depends on it but space on the disk.
        let _gone = self.engine.shared.blocking(move || remove_folder(&folder)).await;
    }

    async fn judge_one(
        &self,
        created: &TaskCreated,
        check: &Check,
        subject: &Subject,
        folder: &Path,
    ) -> Result<(CheckResult, Option<NewBlob>), Trouble> {
        let shared = &self.engine.shared;
        let (target, protect) = (folder.to_owned(), check.protect.clone());
        let Subject { workspace, baseline, made, patience, .. } = subject.clone();
        let restore = move || {
            let restored = workspace.restore(baseline, &protect, &target, made, &patience.is_over());
            restored.map_err(|error| patience.trouble(error))
        };
        let tampered = shared.blocking(restore).await?;
        shared.pass(TripwirePoint::CandidateCopied).await;
        let exit = match &check.probe {
            CheckProbe::File { .. } => None,
            CheckProbe::Run { run, .. } => Some(self.run_check(created, check, run, folder).await?),
        };
        shared.pass(TripwirePoint::CheckRan).await;
        let seen = check.path().map(|path| look(folder, path));
        Ok(self.result_of(check, exit.as_ref(), seen, tampered).await)
    }

    async fn run_check(
        &self,
        created: &TaskCreated,
        check: &Check,
        run: &str,
        folder: &Path,
    ) -> Result<Result<Exit, String>, Trouble> {
        let sandbox: Arc<dyn Sandbox> = self.check_sandbox(created, folder.to_owned()).await?;
        let mut command = Command::new(["bash", "-c", run]);
        command.timeout = Duration::from_secs(check.timeout_seconds);
        command.output_cap = OUTPUT_CAP;
        let signal = self.canceller.signal();
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
fn none_passes(BaseCase(checks): &BaseCase, tree: TreeId, why: &str) -> Judged {
    let result = |(number, check): (usize, &Check)| CheckResult {
        name: check.name.clone(),
        passed: false,
        reason: match number {
            0 => format!("not run, because the workspace cannot be copied: {why}"),
            _ => "not run, for the same reason".to_owned(),
        },
        exit_code: None,
        output: String::new(),
        full_output: None,
        tampered: Vec::new(),
    };
    Judged { tree, results: checks.iter().enumerate().map(result).collect(), outputs: Vec::new() }
}
