//! `windlass stop TASK`: whoever works on it stops at once, and everything stays as it is until `windlass start` or `resume`.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use windlass_domain::task::TaskStatus;
use windlass_engine::{Driven, Error, NobodyWatches};

use super::drive::explain;
use super::find::{find, newest_unfinished, whole};
use crate::arguments;
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen, Style, print_json};
use crate::wiring::Windlass;

/// A task that does not hear within this time is driven by a process that hangs.
const PATIENCE: u32 = 100;
const LOOK_EVERY: Duration = Duration::from_millis(100);
const UNSAID: &str = "stopped by the user";

pub async fn stop(arguments: arguments::Stop) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::look()?)?;
    let engine = &windlass.engine;
    let task = match &arguments.task {
        Some(named) => find(engine, named).await?,
        None => newest_unfinished(engine).await?,
    };
    if let (root, Some(part)) = whole(engine, task).await? {
        return Err(WrongUse::new(format!("task {} is {part}, and does not stop alone", task.short()))
            .hint(format!("to stop the whole: windlass stop {}", root.short()))
            .into());
    }
    let state = engine.task(task).await.map_err(explain)?;
    let command = if engine.graph(task).await?.objective.is_some() { "start" } else { "resume" };
    if state.status == Some(TaskStatus::Paused) {
        let why = state.rests_for.unwrap_or_default();
        return Err(WrongUse::new(format!("task {} rests already: {why}", task.short()))
            .hint(format!("to go on: windlass {command} {}", task.short()))
            .into());
    }
    let reason = if arguments.reason.trim().is_empty() { UNSAID } else { &arguments.reason };
    engine.ask_to_stop(task, reason).await.map_err(explain)?;
    for _ in 0..PATIENCE {
        if engine.task(task).await.map_err(explain)?.is_stopped {
            match arguments.output.json {
                true => print_json(&json!({"type": "result", "task_id": task, "stopped": true, "reason": reason})),
                false => {
                    let head = Line::new().add(Style::Warn, "STOPPED").dim(format!("  task {}", task.short()));
                    let mut screen = Screen::new();
                    screen.print(&head.plain("  ").plain(reason));
                    screen.print(&Line::new().dim(format!("to go on: windlass {command} {}", task.short())));
                }
            }
            engine.close().await?;
            return Ok(Exit::Completed);
        }
        match engine.drive(task, Arc::new(NobodyWatches)).await {
            Ok(Driven::Finished(_)) | Err(Error::Over(_)) => {
                engine.close().await?;
                let mistake = WrongUse::new(format!("task {} ended before it could be stopped", task.short()));
                return Err(mistake.hint(format!("`windlass log {}` shows how", task.short())).into());
            }
            // Whoever drives it still has to hear of it.
            Ok(Driven::Paused(_) | Driven::Waiting(_)) | Err(Error::HeldElsewhere { .. } | Error::LeaseLost(_)) => {
                windlass.runtime.sleep(LOOK_EVERY).await;
            }
            Err(error) => return Err(explain(error)),
        }
    }
    anyhow::bail!(
        "the process that works on task {0} does not react. The task stays asked to stop, and does so as soon as that process \
         hears of it; if it hangs, end it and stop again",
        task.short()
    )
}
