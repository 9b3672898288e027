//! Room on the disk. Where there is too little, this process takes nothing new and has what it works on rest, with the reason, before
//! the disk is full and every write fails. A process that takes in what others ask for refuses that: a snapshot of a task's folder, made when
//! it is taken in, would have what room is left. A timer of the task's remembers why it rests: whoever works and has room sends for it again.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use windlass_domain::task::TaskStatus;
use windlass_domain::{Encoded, Taint, TaskId, Tenant, Wall};
use windlass_store::{Commit, Error as StoreError, NewTimer, TimerChange, TimerName};

use crate::Error;
use crate::attempt::task_stream;
use crate::control::pauses;
use crate::engine::{Engine, House, Shared};
use crate::host::Rider;

pub(crate) const ROOM_TIMER: &str = "room/";
/// What every such reason begins with.
pub const NO_ROOM: &str = "the disk is nearly full";

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Before a task that rests is looked at again.
const ASK_AGAIN: Duration = Duration::from_secs(2);

/// Of the file system that the data directory is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    pub free: u64,
    pub total: u64,
}

pub trait Disk: Send + Sync {
    /// Blocks, though rarely for long.
    fn space(&self) -> std::io::Result<Space>;
}

/// How much must stay free.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeastRoom {
    pub bytes: Option<u64>,
    pub percent: Option<u8>,
}

const USUAL_BYTES: u64 = 1 << 30;
const USUAL_PERCENT: u8 = 2;

impl LeastRoom {
    /// Both that are said; where nobody says anything, the lesser of a gibibyte and two percent.
    pub fn of(&self, total: u64) -> u64 {
        let share = |percent: u8| (u128::from(total) * u128::from(percent) / 100) as u64;
        match (self.bytes, self.percent.map(share)) {
            (None, None) => USUAL_BYTES.min(share(USUAL_PERCENT)),
            (bytes, percent) => bytes.unwrap_or(0).max(percent.unwrap_or(0)),
        }
    }

    /// Whether there is too little. What was too little is enough again only with a quarter more: it should not go to and fro.
    pub fn is_short(&self, space: Space, was_short: bool) -> bool {
        let least = self.of(space.total);
        let wanted = if was_short { least.saturating_add(least / 4) } else { least };
        space.free < wanted
    }

    /// For people.
    pub fn shortage(&self, space: Space) -> String {
        let (free, least) = (mebibytes(space.free), mebibytes(self.of(space.total)));
        format!("{NO_ROOM}: {free} MiB are left, and {least} must stay free; it goes on when a worker has room")
    }
}

const fn mebibytes(bytes: u64) -> u64 {
    bytes >> 20
}

/// What becomes of tasks that are asked for here while there is too little room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newcomers {
    /// They are kept, and rest: their user asks for them one by one, and sees why.
    Rest,
    Refused,
}

/// Who is told when room runs out, and when there is some again.
pub type ToldOfRoom = Arc<dyn Fn(&str) + Send + Sync>;

impl Engine {
    /// Looks at the disk for as long as this process works; once at once, so that nothing is taken first.
    pub fn guard_disk(&self, disk: Arc<dyn Disk>, least: LeastRoom, newcomers: Newcomers, told: ToldOfRoom) {
        self.shared.set_newcomers(newcomers);
        if let Ok(space) = disk.space()
            && least.is_short(space, false)
        {
            told(&least.shortage(space));
            self.shared.set_short_of_room(Some(least.shortage(space)));
        }
        let guard = Guard { house: Arc::downgrade(&self.shared.house), disk, least, told, asked: BTreeSet::new() };
        self.shared.runtime.spawn(Box::pin(guard.watch()));
    }

    /// Whether what is asked for may be taken in.
    pub(crate) fn has_room_for_newcomers(&self) -> Result<(), Error> {
        match (self.shared.newcomers(), self.shared.short_of_room()) {
            (Newcomers::Refused, Some(why)) => Err(Error::NoRoom(why)),
            _ => Ok(()),
        }
    }

    /// Its timer is due, and this process has room: where it still rests for that, somebody is sent for it.
    pub(crate) async fn wake_from_shortage(&self, timer: &TimerName, due: Wall, task: TaskId) -> Result<(), Error> {
        let shared = &self.shared;
        let state = self.task(task).await?;
        let rests = state.rests_for.as_deref().is_some_and(|why| why.starts_with(NO_ROOM));
        let mut rider = Rider::default();
        if rests {
            self.send_to_resting(&mut rider, task).await?;
        }
        let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
        // Asked to rest and not there yet: it would rest with nobody to remember it.
        let is_about_to = state.status == Some(TaskStatus::Running) && !pauses(shared, task).await?.is_empty();
        match is_about_to {
            true => commit.timers.push(room_timer(task, shared.wall() + ASK_AGAIN)),
            false => commit.timers.push(TimerChange::Fired { name: timer.clone(), due }),
        }
        rider.ride(&mut commit);
        match shared.commit(commit).await {
            // Another has done it, or the task has moved: the next look sees.
            Ok(_) | Err(StoreError::Conflict { .. } | StoreError::Gone { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// With all who work for the same.
    async fn rest_for_room(&self, task: TaskId, reason: &str) -> Result<(), Error> {
        let shared = &self.shared;
        let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
        commit.timers.push(room_timer(task, shared.wall() + ASK_AGAIN));
        shared.commit(commit).await?;
        self.have_rest(task, reason).await
    }

    async fn whole_of(&self, task: TaskId) -> Result<TaskId, Error> {
        let state = self.task(task).await?;
        Ok(state.created.and_then(|created| created.part_of).map_or(task, |of| of.root))
    }
}

fn room_timer(task: TaskId, due: Wall) -> TimerChange {
    let note = serde_json::value::to_raw_value(&task).expect("an id is plain data");
    TimerChange::Set(NewTimer {
        name: TimerName(format!("{ROOM_TIMER}{task}")),
        due,
        queue: task_stream(task).as_str().to_owned(),
        encoded: Encoded { kind: "room.due", version: 1, data: note, since: 1, older: &[] },
        taint: Taint::Auth,
    })
}

struct Guard {
    house: Weak<House>,
    disk: Arc<dyn Disk>,
    least: LeastRoom,
    told: ToldOfRoom,
    /// Those that were asked to rest since room ran out.
    asked: BTreeSet<(Tenant, TaskId)>,
}

impl Guard {
    async fn watch(mut self) {
        loop {
            let Some(house) = self.house.upgrade() else { return };
            let disk = Arc::clone(&self.disk);
            // A disk that cannot be asked is left to whoever writes to it.
            if let Ok(space) = house.blocking(move || disk.space()).await {
                self.look(&house, space).await;
            }
            let runtime = Arc::clone(&house.runtime);
            drop(house);
            runtime.sleep(LOOK_EVERY).await;
        }
    }

    async fn look(&mut self, house: &Arc<House>, space: Space) {
        let was_short = house.short_of_room().is_some();
        if !self.least.is_short(space, was_short) {
            if was_short {
                house.set_short_of_room(None);
                self.asked.clear();
                (self.told)("there is room on the disk again: work goes on");
            }
            return;
        }
        let reason = self.least.shortage(space);
        if !was_short {
            (self.told)(&reason);
        }
        house.set_short_of_room(Some(reason.clone()));
        for (tenant, task) in house.driven_tasks() {
            let engine =
                Engine { shared: Arc::new(Shared { tenant: tenant.clone(), name: None, house: Arc::clone(house) }) };
            let Ok(whole) = engine.whole_of(task).await else { continue };
            // Asked again a second later where it did not come through.
            if self.asked.insert((tenant.clone(), whole)) && engine.rest_for_room(whole, &reason).await.is_err() {
                self.asked.remove(&(tenant, whole));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn where_nobody_says_anything_it_is_the_lesser_of_a_gibibyte_and_two_percent() {
        let usual = LeastRoom::default();
        assert_eq!(usual.of(1_000 * GIB), GIB);
        assert_eq!(usual.of(10 * GIB), 10 * GIB / 50);
        assert_eq!(LeastRoom { bytes: Some(7), percent: None }.of(10 * GIB), 7);
        assert_eq!(LeastRoom { bytes: None, percent: Some(50) }.of(10 * GIB), 5 * GIB);
        assert_eq!(LeastRoom { bytes: Some(6 * GIB), percent: Some(50) }.of(10 * GIB), 6 * GIB);
        assert_eq!(LeastRoom { bytes: Some(0), percent: None }.of(10 * GIB), 0, "switched off");
    }

    #[test]
    fn what_was_too_little_is_enough_again_with_a_quarter_more() {
        let least = LeastRoom { bytes: Some(100), percent: None };
        let is_short = |free, was_short| least.is_short(Space { free, total: 1_000 }, was_short);
        assert_eq!([99, 100, 124, 125].map(|free| is_short(free, false)), [true, false, false, false]);
        assert_eq!([99, 100, 124, 125].map(|free| is_short(free, true)), [true, true, true, false]);
    }
}
