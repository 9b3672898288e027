//! Which task or card a user means: its whole id, the end of it as it is shown, or the beginning of either.

use windlass_domain::TaskId;
use windlass_domain::approval::CardId;
use windlass_engine::Engine;

use crate::exit::WrongUse;

/// How far back short ids are looked for.
const MOST: usize = 10_000;
const MOST_LISTED: usize = 10;

pub async fn find(engine: &Engine, named: &str) -> anyhow::Result<TaskId> {
    if let Ok(id) = named.parse::<TaskId>() {
        return Ok(id);
    }
    let ids = engine.task_ids(MOST).await?;
    let none = || WrongUse::new(format!("there is no task `{named}` here")).hint("`windlass status` lists the tasks");
    Ok(only_one(named, ids, TaskId::short)?.ok_or_else(none)?)
}

/// A card, answered or not: whoever answers twice is told so.
pub async fn find_card(engine: &Engine, named: &str) -> anyhow::Result<CardId> {
    if let Ok(id) = named.parse::<CardId>() {
        return Ok(id);
    }
    let ids = engine.card_ids(MOST).await?;
    let none = || WrongUse::new(format!("there is no card `{named}` here")).hint("`windlass inbox` shows the cards");
    Ok(only_one(named, ids, CardId::short)?.ok_or_else(none)?)
}

fn only_one<Id: ToString + Copy>(
    named: &str,
    ids: Vec<Id>,
    short: impl Fn(&Id) -> String,
) -> Result<Option<Id>, WrongUse> {
    let wanted = named.to_lowercase();
    let is_meant = |id: &Id| {
        let (text, short) = (id.to_string(), short(id));
        !wanted.is_empty() && (text.starts_with(&wanted) || text.ends_with(&wanted) || short.starts_with(&wanted))
    };
    let matching: Vec<Id> = ids.into_iter().filter(is_meant).collect();
    match matching.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        several => {
            let listed =
                several.iter().take(MOST_LISTED).map(|id| format!("\n  {}", id.to_string())).collect::<String>();
            let more = several.len().saturating_sub(MOST_LISTED);
            let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
            Err(WrongUse::new(format!("`{named}` may be any of these:{listed}{more}")).hint("give more of the id"))
        }
    }
}

pub async fn newest_unfinished(engine: &Engine) -> anyhow::Result<TaskId> {
    let newest = engine.newest_unfinished().await?;
    newest.ok_or_else(|| WrongUse::new("no task is waiting to go on").hint("`windlass status` lists the tasks").into())
}
