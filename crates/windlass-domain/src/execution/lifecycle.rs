//! Where an execution stands (contracts §6). Lifecycle is the engine's to change; activity and attention follow from it
//! and from what is open.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    Created,
    Launching,
    Running,
    AwaitingInput,
    Paused,
    /// Its process vanished; it will be recovered or given up.
    Lost,
    Completed,
    Failed,
    Cancelled,
}

impl Lifecycle {
    pub const ALL: [Self; 9] = [
        Self::Created,
        Self::Launching,
        Self::Running,
        Self::AwaitingInput,
        Self::Paused,
        Self::Lost,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The arrows of contracts §6.
    pub const fn may_become(self, next: Self) -> bool {
        use Lifecycle::{AwaitingInput, Cancelled, Completed, Created, Failed, Launching, Lost, Paused, Running};
        matches!(
            (self, next),
            (Created, Launching)
                | (Launching, Running | Lost)
                | (Running, AwaitingInput | Paused | Lost | Completed)
                | (AwaitingInput | Paused, Running)
                | (Lost, Launching | Failed)
                | (Created | Launching | Running | AwaitingInput | Paused, Failed | Cancelled)
        )
    }

    pub const fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    AwaitingAgentResponse,
    Working,
    Idle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attention {
    None,
    NeedsInput,
    NeedsApproval,
    Blocked,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_an_end() {
        for end in Lifecycle::ALL.into_iter().filter(|lifecycle| lifecycle.is_over()) {
            assert!(Lifecycle::ALL.into_iter().all(|next| !end.may_become(next)), "{end:?}");
        }
    }

    #[test]
    fn everything_that_is_not_over_can_end() {
        for lifecycle in Lifecycle::ALL.into_iter().filter(|lifecycle| !lifecycle.is_over()) {
            assert!(lifecycle.may_become(Lifecycle::Failed), "{lifecycle:?}");
        }
    }

    #[test]
    fn only_what_runs_completes() {
        for lifecycle in Lifecycle::ALL {
            let runs = lifecycle == Lifecycle::Running;
            assert_eq!(lifecycle.may_become(Lifecycle::Completed), runs, "{lifecycle:?}");
        }
    }
}
