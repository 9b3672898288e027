//! Screens: how fast they are drawn and kept, and what they hold.

use crate::aims;
use crate::figures::{figure, times};
use crate::measure::many_terminals::MANY;
use crate::measure::terminals::Figures;
use crate::table::{Row, Section, Verdict};

const NOTE: &str = "16 MB as a coding agent's screen prints them, in pieces of 4 KB, on 120 columns and 40 rows: through the emulator, the \
    redactor and an asciicast on disk, as under `windlass run --terminal`. `alacritty_terminal` alone draws and keeps nothing. The \
    memory is Windlass's own, of so many programs in a sandbox, each on a pseudo-terminal that is recorded, with a full screen and what \
    scrolled away; what the programs and their supervisor hold is not in it.";

pub fn section(figures: &Figures) -> Section {
    let row = |work: String, windlass, beside| Row::new(work, windlass, beside, &aims::NONE, Verdict::NotJudged);
    let beside = |ours: f64| {
        let theirs = figures.yardstick_mb_per_s;
        format!("alacritty_terminal alone {}: {}", figure(theirs), times(ours / theirs))
    };
    let rows = vec![
        row("MB per s on a screen and in its recording".to_owned(), figure(figures.mb_per_s), beside(figures.mb_per_s)),
        row(
            "MB per s on a screen, not recorded".to_owned(),
            figure(figures.unrecorded_mb_per_s),
            beside(figures.unrecorded_mb_per_s),
        ),
        row(
            format!("KB per terminal, {MANY} at once"),
            figure(figures.kb_per_terminal),
            format!("all of them {} MB", figure(figures.kb_per_terminal * MANY as f64 / 1024.0)),
        ),
    ];
    Section { title: "Terminals", rows, notes: vec![NOTE.to_owned()] }
}
