//! Which task a user means: its whole id, the end of it as it is shown, or the beginning of either.

use windlass_domain::TaskId;
use windlass_engine::Engine;

use crate::exit::WrongUse;

/// How far back short ids are looked for.
const MOST: usize = 10_000;
const MOST_LISTED: usize = 10;

pub async fn find(engine: &Engine, named: &str) -> anyhow::Result<TaskId> {
    if let Ok(id) = named.parse::<TaskId>() {
        return Ok(id);
    }
    let wanted = named.to_lowercase();
    let ids = engine.task_ids(MOST).await?;
    let matching: Vec<TaskId> = ids
        .into_iter()
        .filter(|id| {
            let (text, short) = (id.to_string(), id.short());
            !wanted.is_empty() && (text.starts_with(&wanted) || text.ends_with(&wanted) || short.starts_with(&wanted))
        })
        .collect();
    match matching.as_slice() {
        [one] => Ok(*one),
        [] => Err(WrongUse::new(format!("there is no task `{named}` here"))
            .hint("`windlass status` lists the tasks")
            .into()),
        several => {
            let listed = several.iter().take(MOST_LISTED).map(|id| format!("\n  {id}")).collect::<String>();
            let more = several.len().saturating_sub(MOST_LISTED);
            let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
            Err(WrongUse::new(format!("`{named}` may be any of these:{listed}{more}"))
                .hint("give more of the id")
                .into())
        }
    }
}

pub async fn newest_unfinished(engine: &Engine) -> anyhow::Result<TaskId> {
    let newest = engine.newest_unfinished().await?;
    newest.ok_or_else(|| WrongUse::new("no task is waiting to go on").hint("`windlass status` lists the tasks").into())
}
