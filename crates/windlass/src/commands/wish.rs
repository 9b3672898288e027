//! Waiting until a task does what it was asked to: whoever works on it hears of it, and where nobody does, this process has it happen.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use windlass_domain::task::{TaskState, TaskStatus};
use windlass_domain::{TaskId, TaskResult};
use windlass_engine::{Driven, Error, NobodyWatches};

use super::drive::explain;
use crate::exit::WrongUse;
use crate::wiring::Windlass;

/// A task that does not hear within this time is driven by a process that hangs.
const PATIENCE: u32 = 100;
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What a task was asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    Pause,
    Stop,
    Cancel,
}

/// How it came to rest.
#[derive(Debug)]
pub enum Came {
    /// Until somebody has it go on.
    ToRest,
    Ended(Box<TaskResult>),
}

impl Wish {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Stop => "stop",
            Self::Cancel => "cancel",
        }
    }

    pub async fn heard(self, windlass: &Windlass, task: TaskId) -> anyhow::Result<Came> {
        let engine = &windlass.engine;
        let mut elsewhere = None;
        for _ in 0..PATIENCE {
            let state = engine.task(task).await.map_err(explain)?;
            elsewhere = engine.left_to(&state).map(str::to_owned);
            if let Some(result) = state.result {
                return Ok(Came::Ended(Box::new(result)));
            }
            if self.is_granted(&state) {
                return Ok(Came::ToRest);
            }
            match engine.drive_to_heed(task, Arc::new(NobodyWatches)).await {
                Ok(Driven::Finished(_)) | Err(Error::Over(_)) => {}
                // Others still have to hear of it.
                Ok(Driven::Paused(_) | Driven::Waiting(_))
                | Err(Error::HeldElsewhere { .. } | Error::Elsewhere { .. } | Error::LeaseLost(_)) => {
                    windlass.runtime.sleep(LOOK_EVERY).await;
                }
                Err(error) => return Err(explain(error)),
            }
        }
        // Nothing that the user could have done otherwise, and not nothing: the wish is kept.
        if let Some(place) = elsewhere {
            let (word, short) = (self.word(), task.short());
            anyhow::bail!(
                "task {short} is {place}'s, and nobody there reacts. It stays asked to {word}, and does so as soon as a worker there hears \
                 of it; if that machine is lost for good: windlass cancel {short} --machine {place}"
            )
        }
        anyhow::bail!(
            "the process that works on task {} does not react. The task stays asked to stop, and does so as soon as that process \
             hears of it; if it hangs, end it and {} again",
            task.short(),
            self.word()
        )
    }

    /// Whether it rests as it was asked to.
    fn is_granted(self, state: &TaskState) -> bool {
        match self {
            Self::Pause => state.status == Some(TaskStatus::Paused),
            Self::Stop => state.is_stopped,
            Self::Cancel => false,
        }
    }

    /// What it is then.
    pub const fn done(self) -> &'static str {
        match self {
            Self::Pause => "paused",
            Self::Stop => "stopped",
            Self::Cancel => "cancelled",
        }
    }

    /// Its own end came first.
    pub fn too_late(self, task: TaskId) -> WrongUse {
        WrongUse::new(format!("task {} ended before it could be {}", task.short(), self.done()))
            .hint(format!("`windlass log {}` shows how", task.short()))
    }
}
