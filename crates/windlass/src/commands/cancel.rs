//! `windlass cancel TASK`: stops a task for good. Whoever works on it is told; if nobody does, this process ends it. What a machine had that
//! is lost for good, `--machine NAME` ends from anywhere.

use windlass_domain::{TaskId, TaskResult, TaskResultStatus};
use windlass_engine::{Engine, Error};

use super::drive::explain;
use super::find::{find, whole};
use super::wish::{Came, Wish};
use crate::arguments;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Sheet, Style, json_result};
use crate::wiring::Windlass;

pub async fn cancel(windlass: &Windlass, arguments: &arguments::Cancel) -> anyhow::Result<Sheet> {
    let engine = &windlass.engine;
    let task = match &arguments.task {
        Some(named) => Some(find_whole(engine, named).await?),
        None => None,
    };
    let mut sheet = Sheet::new();
    if let Some(place) = &arguments.machine {
        let mut wrong: Option<anyhow::Error> = None;
        for task in lost(engine, task, place).await? {
            match engine.end_lost(task, place).await {
                Ok(ended) if ended.status == TaskResultStatus::Cancelled => show(&mut sheet, arguments, task, &ended),
                Ok(_) => wrong = Some(Wish::Cancel.too_late(task).into()),
                Err(error) => wrong = Some(explain_lost(error, place)),
            }
        }
        // What was ended is told, whatever became of the others.
        return match wrong {
            Some(wrong) if sheet == Sheet::new() => Err(wrong),
            Some(wrong) => {
                sheet.mention(format!("{wrong:#}"));
                Ok(sheet.ending(Exit::Failed))
            }
            None => Ok(sheet),
        };
    }
    let task = task.ok_or_else(|| WrongUse::new("a task is named where no machine is"))?;
    engine.ask_to_cancel(task, "cancelled from the command line").await.map_err(explain)?;
    match Wish::Cancel.heard(windlass, task).await? {
        Came::Ended(result) if result.status == TaskResultStatus::Cancelled => {
            show(&mut sheet, arguments, task, &result);
            Ok(sheet)
        }
        Came::Ended(_) | Came::ToRest => Err(Wish::Cancel.too_late(task).into()),
    }
}

async fn find_whole(engine: &Engine, named: &str) -> anyhow::Result<TaskId> {
    let task = find(engine, named).await?;
    if let (root, Some(part)) = whole(engine, task).await? {
        return Err(WrongUse::new(format!("task {} is {part}, and does not end alone", task.short()))
            .hint(format!("to end the whole: windlass cancel {}", root.short()))
            .into());
    }
    Ok(task)
}

/// What is to be ended because its machine is lost: this one, or all.
async fn lost(engine: &Engine, task: Option<TaskId>, place: &str) -> anyhow::Result<Vec<TaskId>> {
    let Some(task) = task else {
        let tasks = engine.tasks_left_to(place).await.map_err(explain)?;
        if tasks.is_empty() {
            let nothing = format!("no other machine called `{place}` has a task that is not over");
            return Err(WrongUse::new(nothing).hint("`windlass status` names the machines of others' tasks").into());
        }
        return Ok(tasks);
    };
    let state = engine.task(task).await.map_err(explain)?;
    match engine.left_to(&state) {
        Some(its) if its == place => Ok(vec![task]),
        Some(its) => Err(WrongUse::new(format!("task {} is {its}'s, and not {place}'s", task.short())).into()),
        None if state.is_over() => Err(explain(Error::Over(task))),
        None => Err(WrongUse::new(format!("task {} is this machine's", task.short()))
            .hint(format!("to end it: windlass cancel {}", task.short()))
            .into()),
    }
}

fn explain_lost(error: Error, place: &str) -> anyhow::Error {
    match error {
        Error::HeldElsewhere { task, pid, .. } => {
            let what = format!("{place} is not lost: process {pid} there works on task {}", task.short());
            WrongUse::new(what).hint("it was asked to end it, and does as soon as it hears of that").into()
        }
        other => explain(other),
    }
}

fn show(sheet: &mut Sheet, arguments: &arguments::Cancel, task: TaskId, result: &TaskResult) {
    match arguments.output.json {
        true => sheet.object(&json_result(result)),
        false => {
            let line = Line::new().add(Style::Warn, "CANCELLED").dim(format!("  task {}", task.short()));
            sheet.print(&line);
        }
    }
}
