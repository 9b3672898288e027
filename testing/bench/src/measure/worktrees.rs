//! Folders for many attempts at once, filled from one repository of many files: Windlass's, git's worktrees and plain copies, all of a
//! kind at a time, on the same disk. None is taken away before the end, because ext4 is slow to make files where many were
//! removed a moment ago. Then what comes after an attempt: taking its tree, merging it with another's, beside what git takes
//! for the same merge, and the copy that its checks get.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark starts programs for comparison, in threads, and reads the clock"
)]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use windlass_domain::{Merge, TaskId, TreeId, Wall, Workspace};
use windlass_engine::worktrees::{Worktrees, prepare};
use windlass_workspace::{SnapshotSetup, Snapshots};

use crate::arguments;
use crate::figures::millis;

const NOW: Wall = Wall::from_millis(1_790_000_000_000);
const FILES_IN_A_FOLDER: usize = 100;
/// Files that an attempt changes.
pub const CHANGED: usize = 10;

/// What it prints when it is done; milliseconds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub files: usize,
    pub worktrees: usize,
    /// All of them, each synced.
    pub windlass: f64,
    /// As git leaves them: not synced.
    pub git: f64,
    /// Each synced.
    pub copies: f64,
    /// The first snapshot of the user's folder, and one when nothing has changed.
    pub first_capture: f64,
    pub known_capture: f64,
    /// Of an attempt's folder, every file read.
    pub candidate: f64,
    pub merge: f64,
    pub git_merge: f64,
    /// The copy of a merged tree for checks.
    pub check_copy: f64,
    pub one_copy: f64,
}

struct Bench {
    scratch: tempfile::TempDir,
    workspace: Snapshots,
    count: usize,
}

pub fn run(wanted: &arguments::Worktrees) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir_in(&wanted.scratch)?;
    let home = scratch.path().join("home");
    lay_out(&home, wanted.files)?;
    let workspace = opened(&home, scratch.path())?;
    let bench = Bench { scratch, workspace, count: wanted.worktrees.max(2) };
    println!("{}", serde_json::to_string(&bench.figures(wanted.files)?)?);
    Ok(())
}

impl Bench {
    fn figures(&self, files: usize) -> anyhow::Result<Figures> {
        let (base, first_capture) = timed(|| Ok(Workspace::capture(&self.workspace)?))?;
        let (_, known_capture) = timed(|| Ok(Workspace::capture(&self.workspace)?))?;
        let windlass = self.all(|number| self.prepare(number, base))?;
        let copies = self.all(|number| self.copy(&format!("copy-{number}"), Synced::Yes))?;
        let git = self.all(|number| self.git(number))?;
        let after = self.after(base)?;
        Ok(Figures {
            files,
            worktrees: self.count,
            windlass,
            git,
            copies,
            first_capture,
            known_capture,
            candidate: after.candidate,
            merge: after.merge,
            git_merge: self.git_merge()?,
            check_copy: after.check_copy,
            one_copy: after.one_copy,
        })
    }

    /// All of them at once, as executors begin.
    fn all(&self, make: impl Fn(usize) -> anyhow::Result<()> + Sync) -> anyhow::Result<f64> {
        let make = &make;
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let making: Vec<_> = (0..self.count).map(|number| scope.spawn(move || make(number))).collect();
            let made = making.into_iter().map(|one| one.join().unwrap_or_else(|_| anyhow::bail!("it panicked")));
            made.collect::<anyhow::Result<Vec<()>>>()
        })?;
        Ok(millis(begun.elapsed()))
    }

    fn prepare(&self, number: usize, base: TreeId) -> anyhow::Result<()> {
        prepare(&self.workspace, base, base, (&self.worktree(number), &[]), NOW, &|| false)?;
        Ok(())
    }

    fn worktree(&self, number: usize) -> PathBuf {
        Worktrees::new(&self.scratch.path().join("data")).folder(TaskId::new(NOW, (number as u128) << 64), 1)
    }

    fn copy(&self, name: &str, sync: Synced) -> anyhow::Result<()> {
        let into = self.scratch.path().join(name);
        ran(Command::new("cp").arg("-r").arg(self.home()).arg(&into))?;
        match sync {
            Synced::No => Ok(()),
            Synced::Yes => ran(Command::new("sync").arg("-f").arg(&into)),
        }
    }

    fn git(&self, number: usize) -> anyhow::Result<()> {
        let into = self.scratch.path().join(format!("git-{number}"));
        ran(git(&self.home()).args(["worktree", "add", "-q", "--detach"]).arg(into))
    }

    /// The same two changes, committed and merged by git.
    fn git_merge(&self) -> anyhow::Result<f64> {
        for number in [0, 1] {
            let attempt = self.scratch.path().join(format!("git-{number}"));
            change(&attempt, number)?;
            ran(git(&attempt).args(["commit", "-q", "-a", "-m", "changed"]))?;
            ran(git(&attempt).args(["tag", &format!("attempt-{number}")]))?;
        }
        let mut merge = git(&self.home());
        merge.args(["merge-tree", "--write-tree", "attempt-0", "attempt-1"]).stdout(Stdio::null());
        Ok(timed(|| ran(&mut merge))?.1)
    }

    fn home(&self) -> PathBuf {
        self.scratch.path().join("home")
    }

    fn after(&self, base: TreeId) -> anyhow::Result<After> {
        let attempts = [0, 1].map(|number| self.worktree(number));
        for (number, attempt) in attempts.iter().enumerate() {
            change(attempt, number)?;
        }
        let capture = |attempt: &Path| Ok(opened(attempt, self.scratch.path())?.capture_under(base, &|| false)?.tree);
        let (ours, candidate) = timed(|| capture(&attempts[0]))?;
        let theirs = capture(&attempts[1])?;
        let (merged, merge) = timed(|| match Workspace::merge(&self.workspace, base, ours, theirs, &|| false)? {
            Merge::Clean(tree) => Ok(tree),
            Merge::Conflicts(conflicts) => anyhow::bail!("{conflicts:?}"),
        })?;
        let into = self.scratch.path().join("check");
        let copied = || Ok(Workspace::materialise(&self.workspace, merged, base, &into, NOW, &|| false)?);
        let ((), check_copy) = timed(copied)?;
        let ((), one_copy) = timed(|| self.copy("copy", Synced::No))?;
        Ok(After { candidate, merge, check_copy, one_copy })
    }
}

/// As an agent would, each in a folder of its own.
fn change(attempt: &Path, number: usize) -> anyhow::Result<()> {
    let file = |file: usize| attempt.join(format!("folder{number}/file{file}.rs"));
    Ok((0..CHANGED).try_for_each(|number| fs::write(file(number), "changed"))?)
}

struct After {
    candidate: f64,
    merge: f64,
    check_copy: f64,
    one_copy: f64,
}

#[derive(Clone, Copy)]
enum Synced {
    Yes,
    No,
}

fn opened(folder: &Path, scratch: &Path) -> anyhow::Result<Snapshots> {
    Ok(Snapshots::open(SnapshotSetup::new(folder, scratch.join("data/objects"), Vec::new()))?)
}

fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, f64)> {
    let begun = Instant::now();
    let done = work()?;
    Ok((done, millis(begun.elapsed())))
}

/// A repository with one commit, files of about 2 KiB.
fn lay_out(home: &Path, files: usize) -> anyhow::Result<()> {
    for number in 0..files {
        let (folder, file) = (number / FILES_IN_A_FOLDER, number % FILES_IN_A_FOLDER);
        let folder = home.join(format!("folder{folder}"));
        if file == 0 {
            fs::create_dir_all(&folder)?;
        }
        fs::write(folder.join(format!("file{file}.rs")), format!("// {number} of many lines\n").repeat(85))?;
    }
    // Elsewhere, so that a plain copy copies the files and not the history, and packed, as git keeps it.
    ran(git(home).args(["init", "-q", "--separate-git-dir", "../history"]))?;
    ran(git(home).args(["add", "-A"]))?;
    ran(git(home).args(["commit", "-q", "-m", "all"]))?;
    ran(git(home).args(["repack", "-a", "-d", "-q"]))
}

fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")]);
    command.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"]);
    command
}

fn ran(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    anyhow::ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}
