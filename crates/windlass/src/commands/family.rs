//! The story of a planned task while it is worked on: many work on it, some of them perhaps in other processes, so that it is read from
//! the journals as it grows. What is being said right now is heard beside that, and may be lost.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::TaskEvent;
use windlass_domain::{Delta, ExecutionId, TaskId, Tenant, Wall};
use windlass_engine::{Error, Following, Watcher};
use windlass_store::{Subscription, Topic};

use crate::show::Teller;
use crate::wiring::Windlass;

/// How often it is looked without a hint.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How much of it has been told.
pub struct Family {
    following: Following,
    hints: Subscription,
}

impl Family {
    pub fn new(windlass: &Windlass, following: Following) -> Self {
        let hints = windlass.store.notifier().subscribe(Topic::Events { tenant: Tenant::local() });
        Self { following, hints }
    }

    /// Something may have happened.
    pub async fn changed(&mut self) {
        self.hints.changed(LOOK_EVERY).await;
    }

    pub async fn tell_news(&mut self, windlass: &Windlass, teller: &dyn Teller) -> Result<(), Error> {
        let news = windlass.engine.news(&mut self.following).await?;
        news.iter().for_each(|record| teller.tell(record));
        Ok(())
    }
}

/// Hears what no journal has.
pub struct Live(pub Arc<dyn Teller>);

impl Watcher for Live {
    fn task(&self, _: TaskId, _: &TaskEvent, _: Wall) {}

    fn execution(&self, _: ExecutionId, _: &ExecutionEvent, _: Wall) {}

    fn delta(&self, execution: ExecutionId, delta: Delta) {
        self.0.delta(execution, delta);
    }

    fn trouble(&self, what: &str) {
        self.0.trouble(what);
    }
}
