//! `windlass log [TASK]`: the story of a task, from its journals.

use windlass_engine::JournalRecord;

use super::find::find;
use crate::arguments;
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::{Narrator, Screen, Style, json_record, json_result, print_json};
use crate::wiring::Windlass;

pub async fn log(arguments: arguments::Log) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::look()?)?;
    let engine = &windlass.engine;
    let task = match &arguments.task {
        Some(named) => find(engine, named).await?,
        None => *engine
            .task_ids(1)
            .await?
            .first()
            .ok_or_else(|| WrongUse::new("there are no tasks yet").hint("`windlass demo` makes one"))?,
    };
    let story = engine.story(task).await.map_err(super::drive::explain)?;
    if arguments.output.json {
        story.iter().for_each(|record| print_json(&json_record(record)));
        if let Some(result) = engine.task(task).await?.result {
            print_json(&json_result(&result));
        }
        return Ok(Exit::Completed);
    }
    let mut narrator = Narrator::default();
    let mut screen = Screen::new();
    for record in &story {
        let (JournalRecord::Task { at, .. } | JournalRecord::Execution { at, .. }) = record;
        let time = at.to_rfc3339();
        for line in narrator.tell(record) {
            let clock = &time[11..19];
            screen.print_whole(&line.behind(Style::Dim, &format!("{clock}  ")));
        }
    }
    Ok(Exit::Completed)
}
