//! `windlass cancel TASK`: stops a task for good. Whoever works on it is told; if nobody does, this process ends it.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::TaskResultStatus;
use windlass_engine::{Driven, Error, NobodyWatches};

use super::drive::explain;
use super::find::{find, whole};
use crate::arguments;
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen, Style, json_result, print_json};
use crate::wiring::Windlass;

/// A task that does not hear within this time is driven by a process that hangs.
const PATIENCE: u32 = 100;
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub async fn cancel(arguments: arguments::Cancel) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::look()?)?;
    let engine = &windlass.engine;
    let task = find(engine, &arguments.task).await?;
    if let (root, Some(part)) = whole(engine, task).await? {
        return Err(WrongUse::new(format!("task {} is {part}, and does not end alone", task.short()))
            .hint(format!("to end the whole: windlass cancel {}", root.short()))
            .into());
    }
    engine.ask_to_cancel(task, "cancelled from the command line").await.map_err(explain)?;
    for _ in 0..PATIENCE {
        match engine.drive(task, Arc::new(NobodyWatches)).await {
            Ok(Driven::Finished(result)) if result.status != TaskResultStatus::Cancelled => {
                engine.close().await?;
                let mistake = WrongUse::new(format!("task {} ended before it could be cancelled", task.short()));
                return Err(mistake.hint(format!("`windlass log {}` shows how", task.short())).into());
            }
            Ok(Driven::Finished(result)) => {
                if arguments.output.json {
                    print_json(&json_result(&result));
                } else {
                    let line = Line::new().add(Style::Warn, "CANCELLED").dim(format!("  task {}", task.short()));
                    Screen::new().print(&line);
                }
                engine.close().await?;
                return Ok(Exit::Completed);
            }
            // Others still have to hear of it.
            Ok(Driven::Paused(_) | Driven::Waiting(_)) | Err(Error::HeldElsewhere { .. } | Error::LeaseLost(_)) => {
                windlass.runtime.sleep(LOOK_EVERY).await;
            }
            Err(error) => return Err(explain(error)),
        }
    }
    // Nothing that the user could have done otherwise, and not nothing: the wish is kept.
    anyhow::bail!(
        "the process that works on task {0} does not react. The task stays asked to stop, and does so as soon as that process \
         hears of it; if it hangs, end it and cancel again",
        task.short()
    )
}
