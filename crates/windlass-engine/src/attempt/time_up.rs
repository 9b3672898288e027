//! A task whose time is up while it is driven: who works on it is stopped as by a cancel, and then what was said about the limit is done
//! (`next_move`), with a signal that can be raised anew. One that is to rest rests, and the session it belongs to hears of it.

use windlass_domain::Stop;
use windlass_domain::task::{TaskAction, TimeUp};
use windlass_store::TimerChange;

use super::driver::Driver;
use crate::Error;
use crate::deadlines::deadline_timer_name;
use crate::host::Rider;
use crate::monitors::monitor_timer_name;

impl Driver {
    /// Whether it was the time that stopped it, or somebody who wants what is to end anyway to rest: then it goes on to its end.
    pub(super) async fn heed_time_up(&mut self, stop: Stop) -> Result<bool, Error> {
        let is_ending = self.journal.state.ends_by().is_some();
        let up = self.inbox.time_up(Stop::Cancel).filter(|_| stop == Stop::Cancel);
        if up.is_none() && !(is_ending && stop == Stop::Pause) {
            return Ok(false);
        }
        let acks = self.inbox.stops(stop);
        let news = up.filter(|up| !self.journal.state.is_up(up.limit)).map(TaskAction::TimeUp);
        let rider = Rider { acks: acks.clone(), ..Rider::default() };
        self.act(news.into_iter().collect(), rider, Vec::new()).await?;
        self.inbox.heeded(&acks);
        self.canceller.heeded(stop);
        // Somebody may have wanted something else meanwhile.
        self.inbox.reason().into_iter().for_each(|reason| self.canceller.stop(reason));
        Ok(true)
    }

    /// With that it is up where that has it rest, and was not said before.
    pub(super) fn resting(&self, actions: Vec<TaskAction>) -> Vec<TaskAction> {
        self.rests_by().map(TaskAction::TimeUp).into_iter().chain(actions).collect()
    }

    /// The session that it belongs to hears of it.
    pub(super) async fn tell_resting(&self, rider: &mut Rider) -> Result<(), Error> {
        match self.rests_by() {
            Some(up) => self.engine.tell_time_up(rider, self.journal.state.created.as_ref(), &up).await,
            None => Ok(()),
        }
    }

    fn rests_by(&self) -> Option<TimeUp> {
        self.inbox.time_up(Stop::Pause).filter(|up| !self.journal.state.is_up(up.limit))
    }

    /// Why whoever works on it is stopped for good, where it is the time.
    pub(super) fn time_up(&self) -> Option<TimeUp> {
        self.inbox.time_up(Stop::Cancel).or_else(|| self.journal.state.ends_by().copied())
    }

    /// Nobody has to look at it any more.
    pub(super) fn own_timers(&self) -> Vec<TimerChange> {
        let deadline = self.journal.state.deadline().map(|_| deadline_timer_name(self.task));
        deadline.into_iter().chain([monitor_timer_name(self.task)]).map(TimerChange::Cancel).collect()
    }
}
