//! Verification: the checks decide, on a copy that the agent no longer holds. The candidate tree, taken under the ignore
//! rules of the baseline, and the carried paths are put beside the workspace once, before the first check. Each check gets
//! a fresh sandbox over a disposable copy of that, with its protected paths as the baseline has them; what it does to the
//! copy is thrown away with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::task::TaskCreated;
use windlass_domain::{
    BaseCase, Candidate, Check, CheckProbe, CheckResult, ErrorCode, ErrorDetails, KEPT_OUTPUT_CHARS, Stop, Taint,
    TreeId, Workspace,
};
use windlass_plan::{FileSeen, Observed, Ran, RunEnd, judge};
use windlass_sandbox::{Command, Exit, Sandbox, Status, discard};
use windlass_workspace::{Kind, Root, WorkspacePath, copy_folder};

use super::driver::Driver;
use crate::Error;
use crate::tripwire::TripwirePoint;

/// More of a check's output than this is not kept.
const OUTPUT_CAP: usize = 1 << 20;

pub(super) enum Verdict {
    Judged {
        tree: TreeId,
        results: Vec<CheckResult>,
    },
    /// No check could be made, whatever the tree is like.
    Unable(ErrorDetails),
    Stopped(Stop),
}

/// What went wrong around a check, as opposed to in it.
enum Trouble {
    Unable(ErrorDetails),
    Stopped(Stop),
}

impl From<ErrorDetails> for Trouble {
    fn from(error: ErrorDetails) -> Self {
        Self::Unable(error)
    }
}

impl Driver {
    pub(super) async fn verify(&self) -> Result<Verdict, Error> {
        let created = self.created()?.clone();
        Ok(match self.judge_all(&created).await {
            Ok((tree, results)) => Verdict::Judged { tree, results },
            Err(Trouble::Unable(error)) => Verdict::Unable(error),
            Err(Trouble::Stopped(stop)) => Verdict::Stopped(stop),
        })
    }

    async fn judge_all(&self, created: &TaskCreated) -> Result<(TreeId, Vec<CheckResult>), Trouble> {
        let shared = &self.engine.shared;
        let workspace = shared.equipment.workspace(Path::new(&created.workspace))?;
        let baseline = created.baseline.ok_or_else(|| unable("the task has no baseline"))?;
        let capturing = Arc::clone(&workspace);
        let candidate = shared.blocking(move || capturing.capture_under(baseline)).await.map_err(unable)?;
        self.sweep_copies().await;
        let judged = self.judge_each(created, &workspace, &candidate, baseline).await;
        self.sweep_copies().await;
        judged.map(|results| (candidate.tree, results))
    }

    async fn judge_each(
        &self,
        created: &TaskCreated,
        workspace: &Arc<dyn Workspace>,
        candidate: &Candidate,
        baseline: TreeId,
    ) -> Result<Vec<CheckResult>, Trouble> {
        let shared = &self.engine.shared;
        let copied = self.copies().join("candidate");
        let (source, target, tree) = (Arc::clone(workspace), copied.clone(), candidate.tree);
        shared.blocking(move || source.materialise(tree, &target)).await.map_err(unable)?;
        let BaseCase(checks) = &created.base_case;
        let mut results = Vec::with_capacity(checks.len());
        for (number, check) in checks.iter().enumerate() {
            let folder = self.copies().join(number.to_string());
            let (from, into) = (copied.clone(), folder.clone());
            let checks_after = checks.len() - number - 1;
            shared.blocking(move || hand_over(&from, &into, checks_after)).await.map_err(unable)?;
            let judged = self.judge_one(created, check, workspace, baseline, &folder).await;
            self.remove(folder).await;
            let mut result = judged?;
            // Every check is protected from them, whatever it names.
            result.tampered.extend(candidate.new_repositories.iter().cloned());
            results.push(result);
        }
        Ok(results)
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
        // Nothing depends on it: a folder that is not empty is refused when it is to be filled.
        let _gone = self.engine.shared.blocking(move || std::fs::remove_dir_all(folder)).await;
    }

    async fn judge_one(
        &self,
        created: &TaskCreated,
        check: &Check,
        workspace: &Arc<dyn Workspace>,
        baseline: TreeId,
        folder: &Path,
    ) -> Result<CheckResult, Trouble> {
        let shared = &self.engine.shared;
        let (source, target) = (Arc::clone(workspace), folder.to_owned());
        let protect = check.protect.clone();
        let tampered = shared.blocking(move || source.restore(baseline, &protect, &target)).await.map_err(unable)?;
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
    ) -> CheckResult {
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
        CheckResult {
            name: check.name.clone(),
            passed: judgement.passed,
            reason: judgement.reason,
            exit_code: exit.and_then(|exit| exit.as_ref().ok()).and_then(code_of),
            output: last_chars(&shown, KEPT_OUTPUT_CHARS),
            full_output: self.keep(shown).await,
            tampered,
        }
    }

    /// The whole output as a blob where the result keeps only a part. A blob that cannot be kept loses nothing that
    /// decides.
    async fn keep(&self, output: String) -> Option<windlass_domain::Digest> {
        if output.chars().count() <= KEPT_OUTPUT_CHARS {
            return None;
        }
        let shared = &self.engine.shared;
        let kept = windlass_store::blob::put(
            shared.store.as_ref(),
            &shared.tenant,
            output.into_bytes(),
            Taint::External,
            shared.wall(),
        );
        kept.await.ok()
    }
}

/// What is in `candidate`, for one check. The last one gets the candidate itself: nobody needs it afterwards.
fn hand_over(candidate: &Path, folder: &Path, checks_after: usize) -> Result<(), windlass_workspace::Error> {
    match checks_after {
        0 => std::fs::rename(candidate, folder)
            .map_err(|source| windlass_workspace::Error::Io { path: "the copy for a check".to_owned(), source }),
        _ => copy_folder(candidate, folder),
    }
}

fn look(folder: &Path, path: &str) -> FileSeen {
    let seen = || -> Result<FileSeen, windlass_workspace::Error> {
        let root = Root::open(folder)?;
        let path = WorkspacePath::parse(path)?;
        let metadata = root.metadata(&path)?;
        Ok(match metadata.kind {
            Kind::File => FileSeen::File { bytes: metadata.size },
            Kind::Folder => FileSeen::Folder { entries: root.list(&path)?.len() as u64 },
            _ => FileSeen::Foreign,
        })
    };
    match seen() {
        Ok(seen) => seen,
        Err(windlass_workspace::Error::NotFound { .. }) => FileSeen::Absent,
        Err(_) => FileSeen::Foreign,
    }
}

fn end_of(exit: &Result<Exit, String>) -> RunEnd {
    match exit {
        Err(why) => RunEnd::NotStarted(why.clone()),
        Ok(exit) => match exit.status {
            Status::Code(code) => RunEnd::Exited(code),
            Status::Signal(signal) => RunEnd::Killed { signal },
            Status::TimedOut => RunEnd::TimedOut,
            Status::OutOfMemory | Status::TooManyProcesses | Status::Cancelled => RunEnd::Killed { signal: 9 },
        },
    }
}

const fn code_of(exit: &Exit) -> Option<i32> {
    match exit.status {
        Status::Code(code) => Some(code),
        _ => None,
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The end of it: where tests say what failed.
fn last_chars(text: &str, most: usize) -> String {
    let count = text.chars().count();
    text.chars().skip(count.saturating_sub(most)).collect()
}

fn unable(detail: impl std::fmt::Display) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::Internal, format!("the checks could not be run: {detail}"))
}
