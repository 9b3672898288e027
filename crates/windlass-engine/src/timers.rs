//! Timers that are due, of every tenant: each is for a card that nobody answers, for a planner or researcher who takes too long, for a
//! goal, for a task's deadline or monitor, or for a task that rests until there is room. One that cannot be seen to, because what it is about cannot be read here or nobody here knows its kind, is set aside for a
//! while and holds up none of the others.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windlass_domain::{Tenant, Wall};
use windlass_store::{StoredTimer, TimerName};

use crate::Error;
use crate::deadlines::DEADLINE_TIMER;
use crate::engine::Engine;
use crate::goals::GOAL_TIMER;
use crate::monitors::MONITOR_TIMER;
use crate::parts::{CONSULT_TIMER, PLAN_TIMER, RESEARCH_TIMER};
use crate::room::ROOM_TIMER;

const AT_A_TIME: usize = 100;
/// More than anybody has set.
pub(crate) const MOST: usize = 100_000;
/// Later than anything is due.
pub(crate) const SOME_TIME: Wall = Wall::from_millis(i64::MAX.unsigned_abs());
/// A newer process may see to it meanwhile.
const SET_ASIDE_FOR: Duration = Duration::from_secs(60);

/// Those that this process could not see to, and until when it does not try again.
#[derive(Debug, Default)]
pub(crate) struct SetAside(Mutex<BTreeMap<(Tenant, TimerName), Wall>>);

impl SetAside {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(Tenant, TimerName), Wall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are by now.
    fn count(&self, now: Wall) -> usize {
        let mut aside = self.lock();
        aside.retain(|_, until| *until > now);
        aside.len()
    }

    fn has(&self, timer: &StoredTimer) -> bool {
        self.lock().contains_key(&(timer.tenant.clone(), timer.name.clone()))
    }

    fn put(&self, timer: &StoredTimer, until: Wall) {
        self.lock().insert((timer.tenant.clone(), timer.name.clone()), until);
    }
}

impl Engine {
    /// Whatever tenant's they are.
    pub(crate) async fn let_timers_fire(&self) -> Result<(), Error> {
        let shared = &self.shared;
        let now = shared.wall();
        let due = shared.store.timers_due(None, now, AT_A_TIME + shared.set_aside.count(now)).await?;
        let mut tenants: BTreeMap<Tenant, Self> = BTreeMap::new();
        for timer in due.iter().filter(|timer| !shared.set_aside.has(timer)) {
            let engine = tenants.entry(timer.tenant.clone()).or_insert_with(|| self.for_tenant(timer.tenant.clone()));
            match Box::pin(engine.fire(timer)).await {
                Ok(Fired::Yes) => {}
                // Whoever drives what it is about says what is wrong with it.
                Ok(Fired::Unknown) | Err(Error::Unreadable(_) | Error::Broken { .. } | Error::NoSuchTask(_)) => {
                    shared.set_aside.put(timer, now + SET_ASIDE_FOR);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Those that are for later because the clock was ahead when they were set: a goal's or a monitor's next time cannot be so far away. Of
    /// every tenant, too.
    pub(crate) async fn fire_overslept(&self) -> Result<(), Error> {
        let shared = &self.shared;
        let now = shared.wall();
        let timers = shared.store.timers_due(None, SOME_TIME, MOST).await?;
        for timer in timers.iter().filter(|timer| timer.due > now) {
            let engine = self.for_tenant(timer.tenant.clone());
            match Box::pin(engine.fire_if_overslept(&timer.name)).await {
                // What this version cannot read is left to one that can.
                Ok(()) | Err(Error::Unreadable(_) | Error::Broken { .. } | Error::NoSuchTask(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn fire_if_overslept(&self, timer: &TimerName) -> Result<(), Error> {
        if let Some(goal) = named(timer, GOAL_TIMER)
            && self.is_goal_overslept(goal).await?
        {
            self.fire_goal(goal).await?;
        }
        if let Some(task) = named(timer, MONITOR_TIMER)
            && self.is_monitor_overslept(task).await?
        {
            self.fire_monitor(task).await?;
        }
        Ok(())
    }

    async fn fire(&self, timer: &StoredTimer) -> Result<Fired, Error> {
        if let Some(card) = named(&timer.name, "card/") {
            self.lapse(card).await?;
        } else if let Some(run) = named(&timer.name, CONSULT_TIMER) {
            self.give_up_consult(run).await?;
        } else if let Some(run) = named(&timer.name, RESEARCH_TIMER) {
            self.give_up_research(run).await?;
        } else if let Some(run) = named(&timer.name, PLAN_TIMER) {
            self.hurry_planner(run).await?;
        } else if let Some(goal) = named(&timer.name, GOAL_TIMER) {
            self.fire_goal(goal).await?;
        } else if let Some(task) = named(&timer.name, ROOM_TIMER) {
            self.wake_from_shortage(&timer.name, timer.due, task).await?;
        } else if let Some(task) = named(&timer.name, DEADLINE_TIMER) {
            self.fire_deadline(task).await?;
        } else if let Some(task) = named(&timer.name, MONITOR_TIMER) {
            self.fire_monitor(task).await?;
        } else {
            return Ok(Fired::Unknown);
        }
        Ok(Fired::Yes)
    }
}

enum Fired {
    Yes,
    /// Nobody here knows what it is for.
    Unknown,
}

/// Whom a timer is for.
fn named<T: std::str::FromStr>(timer: &TimerName, kind: &str) -> Option<T> {
    timer.0.strip_prefix(kind)?.parse().ok()
}
