//! Folders for attempts against git's and plain copies.

use crate::aims;
use crate::figures::{count, figure, times};
use crate::measure::worktrees::{CHANGED, Figures};
use crate::table::{Row, Section, Verdict};

pub fn section(figures: &Figures) -> Section {
    let Figures { files, worktrees, windlass, git, copies, .. } = figures;
    let row = |work: String, value: f64, beside: String| {
        Row::new(work, figure(value), beside, &aims::NONE, Verdict::NotJudged)
    };
    let rows = vec![
        Row::new(
            format!("{worktrees} worktrees of {} files, each synced, all at once; ms", count(*files)),
            figure(*windlass),
            format!(
                "`cp -r` and a sync {}: {}; `git worktree add`, not synced, {}: {}",
                figure(*copies),
                times(windlass / copies),
                figure(*git),
                times(windlass / git)
            ),
            &aims::WORKTREES,
            Verdict::of(*windlass <= 1.25 * copies),
        ),
        row(
            "snapshot of that repository, first / nothing changed; ms".to_owned(),
            figures.first_capture,
            format!("nothing changed {}", figure(figures.known_capture)),
        ),
        row("candidate: every file of a worktree read; ms".to_owned(), figures.candidate, String::new()),
        row(
            format!("merge of two candidates, {CHANGED} files each; ms"),
            figures.merge,
            format!("`git merge-tree` {}: {}", figure(figures.git_merge), times(figures.merge / figures.git_merge)),
        ),
        row(
            "the merged tree for checks; ms".to_owned(),
            figures.check_copy,
            format!("`cp -r` {}: {}", figure(figures.one_copy), times(figures.check_copy / figures.one_copy)),
        ),
    ];
    Section { title: "Worktrees", rows, notes: Vec::new() }
}
