//! `windlass cancel TASK`: stops a task for good. Whoever works on it is told; if nobody does, this process ends it.

use windlass_domain::TaskResultStatus;

use super::drive::explain;
use super::find::{find, whole};
use super::wish::{Came, Wish};
use crate::arguments;
use crate::exit::WrongUse;
use crate::show::{Line, Sheet, Style, json_result};
use crate::wiring::Windlass;

pub async fn cancel(windlass: &Windlass, arguments: &arguments::Cancel) -> anyhow::Result<Sheet> {
    let engine = &windlass.engine;
    let task = find(engine, &arguments.task).await?;
    if let (root, Some(part)) = whole(engine, task).await? {
        return Err(WrongUse::new(format!("task {} is {part}, and does not end alone", task.short()))
            .hint(format!("to end the whole: windlass cancel {}", root.short()))
            .into());
    }
    engine.ask_to_cancel(task, "cancelled from the command line").await.map_err(explain)?;
    let came = Wish::Cancel.heard(windlass, task).await?;
    let mut sheet = Sheet::new();
    match came {
        Came::Ended(result) if result.status == TaskResultStatus::Cancelled => match arguments.output.json {
            true => sheet.object(&json_result(&result)),
            false => {
                let line = Line::new().add(Style::Warn, "CANCELLED").dim(format!("  task {}", task.short()));
                sheet.print(&line);
            }
        },
        Came::Ended(_) | Came::ToRest => return Err(Wish::Cancel.too_late(task).into()),
    }
    Ok(sheet)
}
