//! `windlass labels show | clear`: which files of a folder tasks have left there after reading external content, and the owner's
//! word that they have been looked at. Later tasks take the rest for what they are told by these labels.

use std::path::{Path, PathBuf};

use serde_json::json;
use windlass_domain::{Labels, Taint};
use windlass_engine::Error;

use crate::arguments::{LabelsClear, LabelsCommand, LabelsShow};
use crate::config::Config;
use crate::exit::WrongUse;
use crate::show::{Line, Sheet, Style};
use crate::wiring::Windlass;

pub async fn labels(windlass: &Windlass, command: &LabelsCommand) -> anyhow::Result<Sheet> {
    match command {
        LabelsCommand::Show(arguments) => show(windlass, arguments).await,
        LabelsCommand::Clear(arguments) => clear(windlass, arguments).await,
    }
}

async fn show(windlass: &Windlass, arguments: &LabelsShow) -> anyhow::Result<Sheet> {
    let folder = named(&arguments.workspace)?;
    let labels = windlass.engine.labels(&folder).await?;
    let (everywhere, files) = labels.list();
    let mut sheet = Sheet::new();
    let mut count = 0;
    for (path, taint) in files {
        count += 1;
        match arguments.output.json {
            true => sheet.object(&json!({"type": "label", "path": path, "taint": taint})),
            false => sheet.print_whole(&Line::new().add(Style::Warn, taint.as_str()).gap().plain(path)),
        }
    }
    if arguments.output.json {
        sheet.object(&json!({"type": "result", "folder": folder, "everything": everywhere, "files": count}));
        return Ok(sheet);
    }
    let told = match (everywhere, count) {
        (Taint::External, _) => {
            Some("a task that works here, or was cut off, may have changed any file: all of them count as external")
        }
        (_, 0) => Some("No task has left anything external here."),
        _ => None,
    };
    told.into_iter().for_each(|told| sheet.print_whole(&Line::new().plain(told)));
    Ok(sheet)
}

async fn clear(windlass: &Windlass, arguments: &LabelsClear) -> anyhow::Result<Sheet> {
    let folder = named(&arguments.workspace)?;
    let left = windlass.engine.clear_labels(&folder, &windlass.user).await.map_err(told)?;
    if !left.is_baseline() {
        return Err(WrongUse::new("a task in a folder above this one left files here that count as external")
            .hint("look at what is there, and clear that folder: windlass labels clear --workspace DIR")
            .into());
    }
    let mut sheet = Sheet::new();
    match arguments.output.json {
        true => sheet.object(&json!({"type": "result", "folder": folder, "cleared": true})),
        false => {
            let line = format!("The files of {} count as your own from now on.", folder.display());
            sheet.print_whole(&Line::marked(Style::Good, "✔ ").plain(line));
        }
    }
    Ok(sheet)
}

fn told(error: Error) -> anyhow::Error {
    match error {
        Error::HeldElsewhere { .. } => WrongUse::new(format!("{error}, in this folder"))
            .hint("what it writes after that would count as your own: wait for its end, or cancel it")
            .into(),
        other => other.into(),
    }
}

fn named(folder: &Path) -> Result<PathBuf, WrongUse> {
    folder.canonicalize().map_err(|error| {
        WrongUse::new(format!("--workspace {}: {error}", folder.display())).hint("name a folder that is there")
    })
}

/// As this data directory knows them; where there is none, no task has run.
pub async fn known_labels(folder: &Path) -> anyhow::Result<Labels> {
    let config = Config::look()?;
    match (config.data_dir.is_dir(), folder.canonicalize()) {
        (true, Ok(folder)) => Ok(Windlass::open(config).await?.engine.labels(&folder).await?),
        _ => Ok(Labels::default()),
    }
}
