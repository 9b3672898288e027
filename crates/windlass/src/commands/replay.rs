//! `windlass replay EXECUTION|TASK|FILE`: a recorded screen, played again. What was printed goes through the emulator here too: a recording
//! from anywhere does nothing but show.

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use windlass_domain::Runtime;
use windlass_policy::visible_line;
use windlass_terminal::{Happened, Painter, Recording, Screen as Emulated};

use super::attach::meant;
use crate::arguments;
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::interrupts::Interrupts;
use crate::screens::{Page, recording, write_out};
use crate::show::{Line, Screen};
use crate::wiring::Windlass;

pub async fn replay(arguments: arguments::Replay) -> anyhow::Result<Exit> {
    playable(&arguments)?;
    let windlass = Windlass::open(Config::look()?).await?;
    let path = recorded(&windlass, &arguments.what).await?;
    let file = File::open(&path).with_context(|| path.display().to_string())?;
    play(BufReader::new(file), &path.display().to_string(), &arguments, windlass.runtime.as_ref()).await
}

pub fn playable(arguments: &arguments::Replay) -> Result<(), WrongUse> {
    if !(arguments.speed.is_finite() && arguments.speed > 0.0) {
        return Err(WrongUse::new("--speed must be a number above 0, such as 2"));
    }
    if !(arguments.idle_limit.is_finite() && arguments.idle_limit >= 0.0) {
        return Err(WrongUse::new("--idle-limit must be a number of seconds, such as 2"));
    }
    Ok(())
}

/// What is called so in what goes wrong.
pub async fn play(
    kept: impl BufRead,
    name: &str,
    arguments: &arguments::Replay,
    runtime: &dyn Runtime,
) -> anyhow::Result<Exit> {
    let wrong = |why: String| WrongUse::new(format!("{name} is no recording that can be played: {why}"));
    let recording = Recording::open(kept).map_err(|error| wrong(error.to_string()))?;
    let mut screen = Emulated::new(recording.size);
    let is_watched = std::io::stdout().is_terminal();
    let (mut painter, mut interrupts) = (Painter::default(), Interrupts::new()?);
    let page = is_watched.then(Page::turn).transpose()?;
    let mut played = Duration::ZERO;
    for moment in recording {
        let moment = moment.map_err(|error| wrong(error.to_string()))?;
        let pause = moment.at.saturating_sub(played).min(Duration::from_secs_f64(arguments.idle_limit));
        played = moment.at;
        if is_watched && !pause.is_zero() {
            tokio::select! {
                () = runtime.sleep(pause.div_f64(arguments.speed)) => {}
                () = interrupts.next() => break,
            }
        }
        match moment.happened {
            Happened::Printed(text) => drop(screen.feed(&text)),
            Happened::Resized(size) => screen.resize(size),
            Happened::Other => {}
        }
        if is_watched {
            write_out(painter.paint(&screen).as_bytes())?;
        }
    }
    drop(page);
    // The end of it stays to be read; for a script it is all there is.
    let mut told = Screen::new();
    let pages = if is_watched { vec![screen.text()] } else { vec![screen.history(), screen.page()] };
    for lines in &pages {
        written(lines).iter().for_each(|line| told.print(&Line::new().plain(visible_line(line))));
    }
    Ok(Exit::Completed)
}

/// Without the empty lines below.
fn written(lines: &[String]) -> &[String] {
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    &lines[..end]
}

/// A file, or what is kept of an execution or a task.
async fn recorded(windlass: &Windlass, what: &str) -> anyhow::Result<PathBuf> {
    if Path::new(what).is_file() {
        return Ok(PathBuf::from(what));
    }
    let meant = meant(&windlass.engine, what).await?;
    let kept = meant.iter().find_map(|execution| recording(&windlass.screens, *execution));
    Ok(kept.ok_or_else(|| unrecorded(what))?)
}

pub fn unrecorded(what: &str) -> WrongUse {
    WrongUse::new(format!("nothing of `{what}` was recorded"))
        .hint("only what was begun with `windlass run --terminal` is; `windlass log` has what happened")
}
