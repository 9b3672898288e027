//! `windlass labels show | clear`: which files of a folder tasks have left there after reading external content, and the owner's
//! word that they have been looked at. Later tasks take the rest for what they are told by these labels.

use std::path::{Path, PathBuf};

use serde_json::json;
use windlass_domain::{Labels, Taint};

use crate::arguments::{LabelsClear, LabelsCommand, LabelsShow};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen, Style, print_json};
use crate::wiring::Windlass;

pub async fn labels(command: LabelsCommand) -> anyhow::Result<Exit> {
    match command {
        LabelsCommand::Show(arguments) => show(&arguments).await,
        LabelsCommand::Clear(arguments) => clear(&arguments).await,
    }
}

async fn show(arguments: &LabelsShow) -> anyhow::Result<Exit> {
    let folder = named(&arguments.workspace)?;
    let Windlass { engine, .. } = Windlass::open(Config::look()?)?;
    let labels = engine.labels(&folder).await?;
    let (everywhere, files) = labels.list();
    let mut screen = Screen::new();
    let mut count = 0;
    for (path, taint) in files {
        count += 1;
        match arguments.output.json {
            true => print_json(&json!({"type": "label", "path": path, "taint": taint})),
            false => screen.print_whole(&Line::new().add(Style::Warn, taint.as_str()).gap().plain(path)),
        }
    }
    if arguments.output.json {
        print_json(&json!({"type": "result", "folder": folder, "everything": everywhere, "files": count}));
        return Ok(Exit::Completed);
    }
    let told = match (everywhere, count) {
        (Taint::External, _) => {
            Some("a task that works here, or was cut off, may have changed any file: all of them count as external")
        }
        (_, 0) => Some("No task has left anything external here."),
        _ => None,
    };
    told.into_iter().for_each(|told| screen.print_whole(&Line::new().plain(told)));
    Ok(Exit::Completed)
}

async fn clear(arguments: &LabelsClear) -> anyhow::Result<Exit> {
    let folder = named(&arguments.workspace)?;
    let windlass = Windlass::open(Config::look()?)?;
    let left = windlass.engine.clear_labels(&folder, &windlass.user).await?;
    windlass.engine.close().await?;
    if arguments.output.json {
        print_json(&json!({"type": "result", "folder": folder, "cleared": left.is_baseline()}));
    } else if left.is_baseline() {
        let line = format!("The files of {} count as your own from now on.", folder.display());
        Screen::new().print_whole(&Line::marked(Style::Good, "✔ ").plain(line));
    }
    match left.is_baseline() {
        true => Ok(Exit::Completed),
        false => Err(WrongUse::new("a task in a folder above this one left files here that count as external")
            .hint("look at what is there, and clear that folder: windlass labels clear --workspace DIR")
            .into()),
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
        (true, Ok(folder)) => Ok(Windlass::open(config)?.engine.labels(&folder).await?),
        _ => Ok(Labels::default()),
    }
}
