//! How long a verification works on files, and what it means when that does not come to its end: somebody asked to stop, the
//! agent left what cannot be copied, or something is broken that is nobody's fault here.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{CancelSignal, ErrorCode, ErrorDetails, Runtime, Stop, WorkspaceError};

/// However little of the task's time is left when its agent is done, its files get this much.
const LEAST_PATIENCE: Duration = Duration::from_secs(60);

/// What went wrong around a check, as opposed to in it.
pub(crate) enum Trouble {
    Unable(ErrorDetails),
    Stopped(Stop),
    /// What the agent left cannot even be looked at. It is told why, and tries again.
    Unfit(String),
}

impl From<ErrorDetails> for Trouble {
    fn from(error: ErrorDetails) -> Self {
        Self::Unable(error)
    }
}

/// How long one piece of work on files may last: until somebody asks to stop, or for as long as the task had time when its
/// agent was done. The time that checks take, which have a limit of their own, does not count.
#[derive(Clone)]
pub(crate) struct Patience {
    signal: CancelSignal,
    runtime: Arc<dyn Runtime>,
    each: Duration,
}

impl Patience {
    /// With `left` of the task's time.
    pub fn new(signal: CancelSignal, runtime: Arc<dyn Runtime>, left: Duration) -> Self {
        Self { signal, runtime, each: left.max(LEAST_PATIENCE) }
    }

    /// For work that begins now: whether it should stop.
    pub fn is_over(&self) -> impl Fn() -> bool {
        let deadline = self.runtime.now() + self.each;
        move || self.signal.raised().is_some() || self.runtime.now() >= deadline
    }

    /// Why work on files did not come to its end.
    pub fn trouble(&self, error: WorkspaceError) -> Trouble {
        match (error, self.signal.raised()) {
            (WorkspaceError::Stopped, Some(stop)) => Trouble::Stopped(stop),
            (WorkspaceError::Stopped, None) => {
                Trouble::Unfit("copying the workspace took longer than the task has time; leave less in it".to_owned())
            }
            (WorkspaceError::Unfit(why), _) => Trouble::Unfit(why),
            (WorkspaceError::Failed(why), _) => unable(why).into(),
        }
    }
}

pub(super) fn unable(detail: impl std::fmt::Display) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::Internal, format!("the checks could not be run: {detail}"))
}
