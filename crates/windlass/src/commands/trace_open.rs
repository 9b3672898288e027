//! `windlass trace open [TASK]`: one page of what happened, and where it is; at a desktop it is shown there.

use std::fs::DirBuilder;
use std::io::IsTerminal as _;
use std::os::unix::fs::DirBuilderExt as _;

use serde_json::json;
use windlass_engine::JournalRecord;

use super::drive::explain;
use super::subject::{Subject, subject};
use crate::arguments;
use crate::config::{Config, has_desktop};
use crate::desktop;
use crate::exit::{Exit, WrongUse};
use crate::page::{Story, page};
use crate::show::{Line, Screen, print_json};
use crate::text_file::replace;
use crate::wiring::Windlass;

pub async fn trace_open(arguments: arguments::TraceOpen) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::look()?).await?;
    let subject = subject(&windlass.engine, arguments.task.as_deref()).await?;
    let records = windlass.engine.news(&mut subject.followed()).await.map_err(explain)?;
    trace_shown(arguments, subject, &records)
}

/// The page is on this machine, whoever told the story.
pub fn trace_shown(
    arguments: arguments::TraceOpen,
    subject: Subject,
    records: &[JournalRecord],
) -> anyhow::Result<Exit> {
    let traces = Config::look()?.data_dir.join("traces");
    let path = arguments.file.unwrap_or_else(|| traces.join(format!("{subject}.html")));
    DirBuilder::new().recursive(true).mode(0o700).create(&traces)?;
    replace(&path, page(&Story::told(records)).as_bytes()).map_err(|error| {
        WrongUse::new(format!("{} cannot be written: {error}", path.display())).hint("name another file with --output")
    })?;
    let path = std::path::absolute(&path)?;
    if arguments.output.json {
        print_json(&json!({"type": "page", "path": path}));
        return Ok(Exit::Completed);
    }
    Screen::new().print_whole(&Line::new().plain(path.display().to_string()));
    // Who reads the path by a program wants the path and no window.
    if !arguments.no_open && std::io::stdout().is_terminal() && has_desktop() {
        // Where it cannot be shown, its path has been said.
        desktop::open(&path);
    }
    Ok(Exit::Completed)
}
