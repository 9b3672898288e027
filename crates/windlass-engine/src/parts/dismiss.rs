//! Whoever works for somebody that waits no longer, be it because that one has ended or because it took too long, is told to stop.

use windlass_domain::task::{Control, Wish};
use windlass_domain::{Taint, TaskId};
use windlass_store::TimerChange;

use super::consult::consult_timer;
use super::research::research_timer;
use crate::Error;
use crate::engine::Engine;
use crate::host::Rider;

impl Engine {
    /// Tells these to stop, as part of what a commit carries. Those who have not ended yet are returned, for the graph to wait for:
    /// their bills are still to come.
    pub(crate) async fn dismiss(&self, rider: &mut Rider, runs: Vec<TaskId>) -> Result<Vec<TaskId>, Error> {
        let mut leaving = Vec::new();
        for run in runs {
            rider.timers.extend([consult_timer(run), research_timer(run)].map(TimerChange::Cancel));
            let journal = self.task_journal(run).await?;
            // One that ends at this moment has sent its bill, and is not waited for.
            rider.expect.push((journal.stream, journal.head));
            if !journal.state.is_over() {
                let wish = Control::Cancel(Wish { reason: "nobody waits for it any more".to_owned() });
                rider.messages.push(self.mail(run, wish, Taint::Auth)?);
                self.wake_to_end(rider, run).await?;
                leaving.push(run);
            }
        }
        Ok(leaving)
    }
}
