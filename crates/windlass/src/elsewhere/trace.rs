//! `windlass trace open` of a story that a server has: the page is written on this machine, where somebody looks at it.

use super::far::{Far, explained};
use crate::arguments;
use crate::commands::trace_shown;
use crate::exit::Exit;

pub async fn trace(far: &Far, arguments: arguments::TraceOpen) -> anyhow::Result<Exit> {
    let subject = far.subject(arguments.task.clone()).await?;
    let (records, _) = far.story_after(subject, 0).await.map_err(explained)?;
    trace_shown(arguments, subject, &records)
}
