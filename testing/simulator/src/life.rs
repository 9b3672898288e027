//! The life of a worker process: find the task or submit it, drive it until it rests, end cleanly. It is what `run` and
//! `resume` do, without a terminal.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{Runtime, TaskId};
use windlass_engine::{Dispatch, Driven, Engine, Error, Submission};

use crate::process::Process;
use crate::witness::{Ending, ProcessWatcher, Witness};

/// While another process has the task: often enough to see it fall silent.
const ASK_AGAIN: Duration = Duration::from_secs(1);

pub async fn work(engine: Engine, process: Process, submission: Submission, witness: Witness) {
    let ending = match Box::pin(drive(&engine, &process, submission, &witness)).await {
        Ok(Driven::Finished(result)) => Ending::Finished(result),
        Ok(Driven::Paused(result) | Driven::Waiting(result)) => Ending::Paused(result),
        Err(Error::LeaseLost(_)) => Ending::LeaseLost,
        Err(error) => Ending::Broken(error.to_string()),
    };
    witness.process_ended(process.id, ending, process.wall());
    if let Err(error) = engine.close().await {
        let ending = Ending::Broken(format!("closing: {error}"));
        witness.process_ended(process.id, ending, process.wall());
    }
}

/// Waits for its chance from `moment` on, without asking for anything itself.
pub async fn rival(engine: Engine, process: Process, moment: Duration, submission: Submission, witness: Witness) {
    process.sleep(moment).await;
    while engine.task_ids(1).await.is_ok_and(|ids| ids.is_empty()) {
        process.sleep(ASK_AGAIN).await;
    }
    Box::pin(work(engine, process, submission, witness)).await;
}

async fn drive(engine: &Engine, process: &Process, submission: Submission, witness: &Witness) -> Result<Driven, Error> {
    let task = find_or_submit(engine, submission).await?;
    let watcher = Arc::new(ProcessWatcher { process: process.id, witness: witness.clone() });
    loop {
        match engine.drive(task, watcher.clone()).await {
            Err(Error::HeldElsewhere { .. }) => process.sleep(ASK_AGAIN).await,
            other => return other,
        }
    }
}

/// Whoever finds no trace of the task asks for it again; that it was acknowledged before would be a lie.
async fn find_or_submit(engine: &Engine, submission: Submission) -> Result<TaskId, Error> {
    match engine.task_ids(1).await?.first() {
        Some(task) => Ok(*task),
        None => engine.submit(submission, Dispatch::Here, None).await,
    }
}
