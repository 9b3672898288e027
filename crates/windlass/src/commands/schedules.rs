//! `windlass schedules list | add | remove`: all that is due some time, and having a task's agent look at something from time to time.

use serde_json::{Value, json};
use windlass_domain::monitor::MonitoringSchedule;
use windlass_domain::{Wall, millis};
use windlass_engine::{Error, Scheduled, ScheduledKind};

use super::drive::explain;
use super::find::find;
use super::goals::written;
use crate::arguments::{Output, SchedulesAdd, SchedulesCommand, SchedulesRemove};
use crate::exit::WrongUse;
use crate::moment::{length, moment};
use crate::show::{Line, Sheet, Style, duration};
use crate::wiring::Windlass;

pub async fn schedules(windlass: &Windlass, command: SchedulesCommand) -> anyhow::Result<Sheet> {
    match command {
        SchedulesCommand::List(output) => list(windlass, output).await,
        SchedulesCommand::Add(arguments) => add(windlass, arguments).await,
        SchedulesCommand::Remove(arguments) => remove(windlass, arguments).await,
    }
}

async fn list(windlass: &Windlass, output: Output) -> anyhow::Result<Sheet> {
    let mut sheet = Sheet::new();
    let all = windlass.engine.schedules().await.map_err(explain)?;
    if output.json {
        all.iter().for_each(|scheduled| sheet.object(&as_json(scheduled)));
        sheet.object(&json!({"type": "result", "schedules": all.len()}));
        return Ok(sheet);
    }
    if all.is_empty() {
        sheet.print_whole(
            &Line::new().plain("Nothing is due: no task has a deadline or a monitor, and there are no goals."),
        );
    }
    let now = windlass.runtime.wall();
    all.iter().for_each(|scheduled| sheet.print(&row(scheduled, now)));
    Ok(sheet)
}

async fn add(windlass: &Windlass, arguments: SchedulesAdd) -> anyhow::Result<Sheet> {
    let task = find(&windlass.engine, &arguments.task).await?;
    let every = length("--every", &arguments.every)?;
    let schedule = MonitoringSchedule {
        interval_seconds: every.as_secs(),
        check_prompt: arguments.check,
        timeout_at: moment("--until", &arguments.until, windlass.runtime.wall())?,
        timeout_action: arguments.then.into(),
    };
    windlass.engine.add_monitor(task, &schedule).await.map_err(unfit)?;
    let mut sheet = Sheet::new();
    match arguments.output.json {
        true => sheet.object(&json!({"type": "result", "task_id": task, "schedule": schedule})),
        false => {
            let told =
                format!("its agent is told every {}, wherever a `windlass worker` runs", duration(millis(every)));
            sheet.print_whole(&Line::marked(Style::Good, "✔ ").plain(format!("task {}: {told}", task.short())));
        }
    }
    Ok(sheet)
}

async fn remove(windlass: &Windlass, arguments: SchedulesRemove) -> anyhow::Result<Sheet> {
    let task = find(&windlass.engine, &arguments.task).await?;
    windlass.engine.remove_monitor(task).await.map_err(unfit)?;
    let mut sheet = Sheet::new();
    match arguments.output.json {
        true => sheet.object(&json!({"type": "result", "task_id": task, "removed": true})),
        false => {
            let told = format!("task {}: its agent is told no more", task.short());
            sheet.print_whole(&Line::marked(Style::Good, "✔ ").plain(told));
        }
    }
    Ok(sheet)
}

/// In the words of the flags that were typed.
fn unfit(error: Error) -> anyhow::Error {
    let hint = "`windlass schedules list` shows what there is; --every is interval_seconds, --check check_prompt, --until timeout_at";
    match error {
        Error::Monitor(rejected) => WrongUse::new(rejected.to_string()).hint(hint).into(),
        Error::NothingToMonitor(_) => WrongUse::new(error.to_string()).into(),
        other => explain(other),
    }
}

fn row(Scheduled { due, kind }: &Scheduled, now: Wall) -> Line {
    let when = due.map_or_else(|| "rests".to_owned(), |due| when(due, now));
    let (what, which, more) = match kind {
        ScheduledKind::Deadline { task, deadline } => {
            ("deadline", format!("task {}", task.short()), format!("then {}", word(&deadline.action)))
        }
        ScheduledKind::Monitor { task, schedule, looks } => {
            let every = duration(millis(schedule.interval()));
            let until = format!("until {}, then {}", minute(schedule.timeout_at), word(&schedule.timeout_action));
            let told = format!("every {every} {until}, {looks} so far: {}", schedule.check_prompt);
            ("monitor", format!("task {}", task.short()), told)
        }
        ScheduledKind::Goal { state, .. } => ("goal", state.name().unwrap_or_default().to_owned(), written(state)),
    };
    Line::new()
        .add(Style::Bold, format!("{what:<9}"))
        .plain(format!("{which}  "))
        .dim(format!("{when}  "))
        .giving_way(Style::Plain, more)
}

fn word(value: &impl serde::Serialize) -> String {
    let word = serde_json::to_value(value).ok();
    word.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn minute(moment: Wall) -> String {
    let minute: String = moment.to_rfc3339().chars().take("2026-11-16T06:00".len()).collect();
    format!("{} UTC", minute.replace('T', " "))
}

/// How far away, and which minute that is.
pub(super) fn when(due: Wall, now: Wall) -> String {
    match millis(due.since(now)) {
        0 => format!("now ({})", minute(due)),
        left => format!("in {} ({})", duration(left), minute(due)),
    }
}

fn as_json(Scheduled { due, kind }: &Scheduled) -> Value {
    let due = due.map(Wall::to_rfc3339);
    match kind {
        ScheduledKind::Deadline { task, deadline } => json!({
            "type": "deadline",
            "task_id": task,
            "deadline": deadline.at.to_rfc3339(),
            "deadline_action": deadline.action,
            "due": due,
        }),
        ScheduledKind::Monitor { task, schedule, looks } => json!({
            "type": "monitor",
            "task_id": task,
            "interval_seconds": schedule.interval_seconds,
            "check_prompt": schedule.check_prompt,
            "timeout_at": schedule.timeout_at.to_rfc3339(),
            "timeout_action": schedule.timeout_action,
            "looks": looks,
            "due": due,
        }),
        ScheduledKind::Goal { goal, state } => json!({
            "type": "goal",
            "goal": state.name(),
            "goal_id": goal,
            "schedule": written(state),
            "due": due,
        }),
    }
}
