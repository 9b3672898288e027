//! A planned task whose time is up: all who work for it are told to stop, and when they have, what is part of the work by then is
//! brought to its user where that was wanted, and the checks of the whole say what it is worth.

use windlass_domain::graph::PlanStanding;
use windlass_domain::task::{DeadlineAction, TaskAction, TimeUp};
use windlass_domain::{MessageId, Stop, TaskResultStatus, TreeId};

use super::pass::{GraphDriver, Made};
use crate::Error;
use crate::attempt::Trouble;
use crate::host::Rider;

impl GraphDriver {
    /// Unless a person gives it up.
    pub(super) fn ends_by(&self) -> Option<TimeUp> {
        self.journal.state.ends_by().copied().filter(|_| !self.inbox.is_given_up())
    }

    /// The limit that is up and that nobody has written down yet.
    pub(super) fn news_of_time(&self, stop: Stop) -> Option<TimeUp> {
        self.inbox.time_up(stop).filter(|up| !self.journal.state.is_up(up.limit))
    }

    /// It is written down, and everybody is told: from here on the signal is for others to raise.
    pub(super) fn heeded(&self, acks: &[MessageId]) {
        self.inbox.heeded(acks);
        self.canceller.heeded(Stop::Cancel);
        self.inbox.reason().into_iter().for_each(|reason| self.canceller.stop(reason));
    }

    /// It rests because somebody wants that, or because of its time, which is told to the session that it belongs to.
    pub(super) async fn rest_as_told(&mut self, pause: TaskAction, mut rider: Rider) -> Result<Made, Error> {
        let up = self.news_of_time(Stop::Pause);
        if let Some(up) = &up {
            self.engine.tell_time_up(&mut rider, self.journal.state.created.as_ref(), up).await?;
        }
        self.rest_with(up.map(TaskAction::TimeUp).into_iter().chain([pause]).collect(), None, rider).await
    }

    pub(super) async fn end_by_time(&mut self, up: TimeUp) -> Result<Made, Error> {
        if up.action == DeadlineAction::Fail {
            return self.finish(TaskResultStatus::Failed, Some(up.error())).await;
        }
        let Some((base, tip)) = self.work_by_then() else {
            return self.finish(TaskResultStatus::Completed, None).await;
        };
        if self.graph.state.applied != Some(tip) {
            return self.hand_over(base, tip).await;
        }
        let Some(verified) = self.holds(tip).await? else { return Ok(Made::Overtaken) };
        let result = self.result(TaskResultStatus::Completed, None);
        self.end(windlass_domain::TaskResult { verified, ..result }).await
    }

    /// What was there when they began, and what has come to it.
    fn work_by_then(&self) -> Option<(TreeId, TreeId)> {
        let graph = &self.graph.state;
        let is_agreed = graph.standing == PlanStanding::Approved;
        graph.base.zip(graph.tip).filter(|(base, tip)| is_agreed && base != tip)
    }

    /// Whether the checks of the whole pass on it. Without such checks nobody can tell of work that is not complete. `None`: somebody
    /// wants something else meanwhile.
    async fn holds(&mut self, tip: TreeId) -> Result<Option<bool>, Error> {
        let root = self.graph.state.work.root().filter(|root| !root.item.verify.0.is_empty());
        let Some(root) = root.map(|root| root.id().clone()) else { return Ok(Some(false)) };
        match self.judge(&root, tip).await? {
            Ok(judged) => Ok(Some(judged.results.iter().all(|result| result.passed))),
            Err(Trouble::Stopped(_)) => {
                self.look_again().await?;
                Ok(None)
            }
            // Nobody waits until checks can be made again.
            Err(Trouble::Unable(_) | Trouble::Unfit(_)) => Ok(Some(false)),
        }
    }
}
