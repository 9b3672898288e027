//! `windlass stop TASK` and `windlass pause TASK`: whoever works on it leaves it at once, and everything stays as it is until somebody has it
//! go on. What is stopped is so by somebody's word and says so; what is paused rests as it would after Ctrl-C.

use serde_json::json;
use windlass_domain::TaskId;
use windlass_domain::task::TaskStatus;

use super::drive::explain;
use super::find::{find_listener, newest_at_work, whole};
use super::wish::{Came, Wish};
use crate::arguments;
use crate::exit::WrongUse;
use crate::show::{Line, Sheet, Style};
use crate::stands::{InWords as _, Stands};
use crate::wiring::Windlass;

pub async fn stop(windlass: &Windlass, arguments: &arguments::Stop) -> anyhow::Result<Sheet> {
    halted(windlass, Wish::Stop, arguments).await
}

pub async fn pause(windlass: &Windlass, arguments: &arguments::Stop) -> anyhow::Result<Sheet> {
    halted(windlass, Wish::Pause, arguments).await
}

async fn halted(windlass: &Windlass, wish: Wish, arguments: &arguments::Stop) -> anyhow::Result<Sheet> {
    let engine = &windlass.engine;
    let task = match &arguments.task {
        Some(named) => find_listener(engine, named).await?,
        None => newest_at_work(engine, wish).await?,
    };
    let next = can_rest(windlass, task, wish).await?;
    let unsaid = format!("{} by the user", wish.done());
    let reason = if arguments.reason.trim().is_empty() { &unsaid } else { &arguments.reason };
    let asked = match wish {
        Wish::Pause => engine.ask_to_pause(task, reason).await,
        Wish::Stop | Wish::Cancel => engine.ask_to_stop(task, reason).await,
    };
    asked.map_err(explain)?;
    if matches!(wish.heard(windlass, task).await?, Came::Ended(_)) {
        return Err(wish.too_late(task).into());
    }
    let mut sheet = Sheet::new();
    match arguments.output.json {
        true => sheet.object(&json!({"type": "result", "task_id": task, wish.done(): true, "reason": reason})),
        false => {
            let head = Line::new().add(Style::Warn, wish.done().to_uppercase()).dim(format!("  task {}", task.short()));
            sheet.print(&head.plain("  ").plain(reason));
            next.iter().for_each(|next| sheet.print(&Line::new().dim(next)));
        }
    }
    Ok(sheet)
}

/// What to type for it to go on afterwards; or why it does not rest by itself, or does already.
async fn can_rest(windlass: &Windlass, task: TaskId, wish: Wish) -> anyhow::Result<Option<String>> {
    let (engine, word) = (&windlass.engine, wish.word());
    if let (root, Some(part)) = whole(engine, task).await? {
        return Err(WrongUse::new(format!("task {} is {part}, and does not {word} alone", task.short()))
            .hint(format!("to {word} the whole: windlass {word} {}", root.short()))
            .into());
    }
    let state = engine.task(task).await.map_err(explain)?;
    let graph = engine.graph(task).await?;
    if graph.is_aligned() {
        return Err(WrongUse::new(format!("task {} is not started: there is nothing to {word}", task.short()))
            .hint(format!("to give it up: windlass cancel {}", task.short()))
            .into());
    }
    let stands = if wish == Wish::Pause && !state.is_stopped { Stands::Paused } else { Stands::Stopped };
    let next = stands.next(task, graph.objective.is_some());
    if state.status == Some(TaskStatus::Paused) {
        let why = state.rests_for.unwrap_or_default();
        let mistake = WrongUse::new(format!("task {} rests already: {why}", task.short()));
        return Err(next.into_iter().fold(mistake, WrongUse::hint).into());
    }
    Ok(next)
}
