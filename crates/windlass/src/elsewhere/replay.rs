//! `windlass replay` of what a server has recorded: it is fetched whole, and played here.

use std::io::{BufReader, Cursor};
use std::path::Path;

use windlass_api::client::Error;
use windlass_domain::ExecutionId;

use super::far::{Far, explained};
use crate::arguments;
use crate::commands::{Errand, play, playable, unrecorded};
use crate::exit::Exit;

/// None: a file of this machine is meant.
pub async fn replay(far: &Far, arguments: &arguments::Replay) -> anyhow::Result<Option<Exit>> {
    if Path::new(&arguments.what).is_file() {
        return Ok(None);
    }
    playable(arguments)?;
    let meant: Vec<ExecutionId> = far.answer(Errand::Executions(arguments.what.clone())).await.map_err(explained)?;
    for execution in meant {
        match far.client.bytes(&format!("/v1/executions/{execution}/recording")).await {
            Ok(kept) => {
                let name = format!("the recording of execution {}", execution.short());
                let kept = BufReader::new(Cursor::new(kept));
                return play(kept, &name, arguments, far.runtime.as_ref()).await.map(Some);
            }
            Err(Error::Refused(problem)) if problem.status == 404 => {}
            Err(error) => return Err(explained(error)),
        }
    }
    Err(unrecorded(&arguments.what).into())
}
