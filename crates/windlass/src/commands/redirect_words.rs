//! `windlass redirect "words"`: a planner turns them into one change. It works here, or wherever a worker takes it up first, while the
//! objective goes on; Ctrl-C sends it away.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{ErrorDetails, TaskId};
use windlass_engine::{Driven, Error, NobodyWatches, Suggested};

use super::dialogue::tell;
use super::drive::explain;
use super::redirect::Meant;
use crate::arguments::Output;
use crate::exit::WrongUse;
use crate::interrupts::Interrupts;
use crate::wiring::Windlass;

/// For a planner that somebody else took up.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// None: whoever asked does not want to know any more.
pub(super) async fn think(
    windlass: &Windlass,
    task: TaskId,
    words: &str,
    output: Output,
) -> anyhow::Result<Option<Box<Meant>>> {
    let mut interrupts = Interrupts::new()?;
    let planner = windlass.engine.ask_for_change(task, words).await.map_err(explain)?;
    if !output.json {
        tell(THINKS);
    }
    let mut is_left = false;
    // It is heard to its end: whoever is dropped in the middle keeps what it holds.
    let mut end = pin!(end_of(windlass, planner));
    loop {
        tokio::select! {
            ended = &mut end => {
                ended?;
                break;
            }
            () = interrupts.next() => {
                is_left = true;
                windlass.engine.ask_to_cancel(planner, UNHEARD).await.map_err(explain)?;
            }
        }
    }
    if is_left {
        return Ok(None);
    }
    Ok(Some(Box::new(made_of(windlass, planner, words).await?)))
}

/// What the planner made of the words.
pub(super) async fn made_of(windlass: &Windlass, planner: TaskId, words: &str) -> anyhow::Result<Meant> {
    let Suggested { change, message, taint, .. } =
        windlass.engine.suggested(planner).await.map_err(explain)?.map_err(nothing)?;
    let description = words.trim().to_owned();
    Ok(Meant { change, description, planner: Some((message, taint)) })
}

/// A planner that cannot go on now would be asked about something else when it can.
async fn end_of(windlass: &Windlass, planner: TaskId) -> anyhow::Result<()> {
    let engine = &windlass.engine;
    loop {
        match Box::pin(engine.drive(planner, Arc::new(NobodyWatches))).await {
            Ok(Driven::Finished(_)) => return Ok(()),
            Ok(Driven::Paused(result) | Driven::Waiting(result)) => {
                engine.ask_to_cancel(planner, UNHEARD).await.map_err(explain)?;
                Box::pin(engine.drive(planner, Arc::new(NobodyWatches))).await.map_err(explain)?;
                let why = result.error_details.map_or_else(|| "it was interrupted".to_owned(), |error| error.message);
                return Err(cannot_go_on(&why).into());
            }
            Err(Error::HeldElsewhere { .. } | Error::LeaseLost(_)) => windlass.runtime.sleep(LOOK_EVERY).await,
            Err(error) => return Err(explain(error)),
        }
    }
}

pub fn cannot_go_on(why: &str) -> WrongUse {
    WrongUse::new(format!("the planner could not go on: {why}")).hint(FLAGS)
}

pub const THINKS: &str =
    "a planner looks for the change that this asks for; until you say yes, the work goes on as it is";
pub(super) const UNHEARD: &str = "nobody waits for it any more";
const FLAGS: &str = "nothing was changed; say it in other words, or with flags (windlass redirect --help)";

fn nothing(error: ErrorDetails) -> WrongUse {
    WrongUse::new(error.message).hint(FLAGS)
}
