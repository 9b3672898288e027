//! `windlass log [TASK]`: the story of a task, from its journals; all of it, or what is told on one surface.

use windlass_domain::TaskId;
use windlass_engine::{Engine, JournalRecord};
use windlass_policy::surface::Surface;

use super::drive::explain;
use super::find::{find, find_execution};
use crate::arguments::{self, SurfaceName};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::{Narrator, Screen, Style, json_record, json_result, print_json, surfaces};
use crate::wiring::Windlass;

pub async fn log(arguments: arguments::Log) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::look()?)?;
    let engine = &windlass.engine;
    let (story, task) = story(engine, arguments.task.as_deref()).await?;
    if arguments.output.json {
        for record in story.iter().filter(|record| is_asked_for(record, arguments.surface)) {
            let entry = json_record(record);
            print_json(&if arguments.surface.is_some() { entry.on(surfaces(record)) } else { entry });
        }
        if let Some(task) = task
            && let Some(result) = engine.task(task).await?.result
        {
            print_json(&json_result(&result));
        }
        return Ok(Exit::Completed);
    }
    let mut narrator = Narrator::default();
    let mut screen = Screen::new();
    for record in &story {
        let (JournalRecord::Task { at, .. } | JournalRecord::Execution { at, .. }) = record;
        let time = at.to_rfc3339();
        // Told in any case: later records refer to it.
        let lines = narrator.tell(record);
        if !is_asked_for(record, arguments.surface) {
            continue;
        }
        let clock = &time[11..19];
        let before = match arguments.surface {
            Some(SurfaceName::All) => format!("{clock}  {:<16}  ", names(surfaces(record))),
            _ => format!("{clock}  "),
        };
        lines.into_iter().for_each(|line| screen.print_whole(&line.behind(Style::Dim, &before)));
    }
    Ok(Exit::Completed)
}

/// Of a task, or of one of its executions: what an agent that was spawned did, by itself.
async fn story(engine: &Engine, named: Option<&str>) -> anyhow::Result<(Vec<JournalRecord>, Option<TaskId>)> {
    let Some(named) = named else {
        let newest = engine.task_ids(1).await?.first().copied();
        let task = newest.ok_or_else(|| WrongUse::new("there are no tasks yet").hint("`windlass demo` makes one"))?;
        return Ok((engine.story(task).await.map_err(explain)?, Some(task)));
    };
    if let Some(execution) = find_execution(engine, named).await? {
        return Ok((engine.execution_story(execution).await.map_err(explain)?, None));
    }
    let task = find(engine, named).await?;
    Ok((engine.story(task).await.map_err(explain)?, Some(task)))
}

fn is_asked_for(record: &JournalRecord, surface: Option<SurfaceName>) -> bool {
    let wanted = match surface {
        None | Some(SurfaceName::All) => return true,
        Some(SurfaceName::Stream) => Surface::Stream,
        Some(SurfaceName::Review) => Surface::Review,
        Some(SurfaceName::Activity) => Surface::Activity,
    };
    surfaces(record).contains(&wanted)
}

fn names(surfaces: &[Surface]) -> String {
    let name = |surface: &Surface| match surface {
        Surface::Stream => "stream",
        Surface::Review => "review",
        Surface::Activity => "activity",
    };
    surfaces.iter().map(name).collect::<Vec<_>>().join(" ")
}
