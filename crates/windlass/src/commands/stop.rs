//! `windlass stop TASK`: whoever works on it stops at once, and everything stays as it is until `windlass start` or `resume`.

use serde_json::json;
use windlass_domain::task::TaskStatus;

use super::drive::explain;
use super::find::{find, newest_at_work, whole};
use super::wish::{Came, Wish};
use crate::arguments;
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen, Style, print_json};
use crate::stands::Stands;
use crate::wiring::Windlass;

const UNSAID: &str = "stopped by the user";

pub async fn stop(arguments: arguments::Stop) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::look()?)?;
    let engine = &windlass.engine;
    let task = match &arguments.task {
        Some(named) => find(engine, named).await?,
        None => newest_at_work(engine).await?,
    };
    if let (root, Some(part)) = whole(engine, task).await? {
        return Err(WrongUse::new(format!("task {} is {part}, and does not stop alone", task.short()))
            .hint(format!("to stop the whole: windlass stop {}", root.short()))
            .into());
    }
    let state = engine.task(task).await.map_err(explain)?;
    let graph = engine.graph(task).await?;
    let next = Stands::Stopped.next(task, graph.objective.is_some());
    if graph.is_aligned() {
        return Err(WrongUse::new(format!("task {} is not started: there is nothing to stop", task.short()))
            .hint(format!("to give it up: windlass cancel {}", task.short()))
            .into());
    }
    if state.status == Some(TaskStatus::Paused) {
        let why = state.rests_for.unwrap_or_default();
        let mistake = WrongUse::new(format!("task {} rests already: {why}", task.short()));
        return Err(next.into_iter().fold(mistake, WrongUse::hint).into());
    }
    let reason = if arguments.reason.trim().is_empty() { UNSAID } else { &arguments.reason };
    engine.ask_to_stop(task, reason).await.map_err(explain)?;
    let came = Wish::Stop.heard(&windlass, task).await?;
    engine.close().await?;
    if matches!(came, Came::Ended(_)) {
        return Err(Wish::Stop.too_late(task).into());
    }
    match arguments.output.json {
        true => print_json(&json!({"type": "result", "task_id": task, "stopped": true, "reason": reason})),
        false => {
            let head = Line::new().add(Style::Warn, "STOPPED").dim(format!("  task {}", task.short()));
            let mut screen = Screen::new();
            screen.print(&head.plain("  ").plain(reason));
            next.iter().for_each(|next| screen.print(&Line::new().dim(next)));
        }
    }
    Ok(Exit::Completed)
}
