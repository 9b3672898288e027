//! `windlass store prune`: takes away what tasks weigh that ended long ago, beside whoever works here.

use serde_json::json;
use windlass_engine::{PruneRun, Pruned};

use super::drive::explain;
use crate::arguments;
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen, Style, print_json};
use crate::wiring::Windlass;

pub async fn store_prune(arguments: arguments::Prune) -> anyhow::Result<Exit> {
    let config = Config::load()?;
    let older_than = arguments.older_than.or_else(|| config.file.retention.older_than()).ok_or_else(|| {
        WrongUse::new("nobody says how old what goes must be")
            .hint("say it, as in --older-than 30d, or set `days` in [retention] of windlass.toml")
    })?;
    let windlass = Windlass::open(config).await?;
    let run = if arguments.dry_run { PruneRun::Dry } else { PruneRun::Real };
    let gone = windlass.engine.prune(older_than, run).await.map_err(explain)?;
    windlass.engine.close().await?;
    let Pruned { tasks, files, blobs, bytes } = gone;
    if arguments.output.json {
        let dry = arguments.dry_run;
        print_json(
            &json!({"type": "result", "dry_run": dry, "tasks": tasks, "files": files, "blobs": blobs, "bytes": bytes}),
        );
    } else {
        let what = if arguments.dry_run { "WOULD GO" } else { "PRUNED" };
        let said = format!("  {files} files and {blobs} blobs of {tasks} tasks, {} KiB", bytes.div_ceil(1024));
        Screen::new().print(&Line::new().add(Style::Good, what).plain(said));
    }
    Ok(Exit::Completed)
}
