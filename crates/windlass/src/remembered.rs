//! What is remembered of tasks while a process works on them, and for some time while they rest, because one that is parked and
//! taken again goes on. Where a resting task ends is nobody's to say, it may be another machine, so that only so many are
//! kept: the one that has rested longest goes first.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_domain::TaskId;

/// So many that rest are remembered.
const MOST_RESTING: usize = 1_000;

#[derive(Debug)]
pub struct Remembered<T> {
    tasks: Mutex<Tasks<T>>,
}

#[derive(Debug)]
struct Tasks<T> {
    known: BTreeMap<TaskId, Arc<Mutex<T>>>,
    /// The longest first.
    resting: VecDeque<TaskId>,
}

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self { tasks: Mutex::new(Tasks { known: BTreeMap::new(), resting: VecDeque::new() }) }
    }
}

impl<T> Remembered<T> {
    /// It is worked on.
    pub fn wake(&self, task: TaskId, new: impl FnOnce() -> T) -> Arc<Mutex<T>> {
        let mut tasks = self.lock();
        tasks.resting.retain(|resting| *resting != task);
        Arc::clone(tasks.known.entry(task).or_insert_with(|| Arc::new(Mutex::new(new()))))
    }

    /// It is not, for now.
    pub fn rest(&self, task: TaskId) {
        let mut tasks = self.lock();
        if tasks.known.contains_key(&task) && !tasks.resting.contains(&task) {
            tasks.resting.push_back(task);
        }
        if tasks.resting.len() > MOST_RESTING
            && let Some(longest) = tasks.resting.pop_front()
        {
            tasks.known.remove(&longest);
        }
    }

    /// It is over.
    pub fn forget(&self, task: TaskId) {
        self.lock().known.remove(&task);
    }

    fn lock(&self) -> MutexGuard<'_, Tasks<T>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use windlass_domain::Wall;

    use super::*;

    fn task(number: u64) -> TaskId {
        TaskId::new(Wall::from_millis(number), u128::from(number))
    }

    #[test]
    fn tasks_that_end_elsewhere_leave_and_one_that_is_taken_again_goes_on() {
        let remembered = Remembered::default();
        let first = remembered.wake(task(0), || 0);
        remembered.rest(task(0));
        for number in 1..=MOST_RESTING as u64 {
            remembered.wake(task(number), || number);
            remembered.rest(task(number));
        }
        assert_eq!(remembered.lock().known.len(), MOST_RESTING);
        assert!(!Arc::ptr_eq(&first, &remembered.wake(task(0), || 0)), "it had rested longest");
        let last = MOST_RESTING as u64;
        assert_eq!(*remembered.wake(task(last), || 0).lock().unwrap(), last);
        remembered.forget(task(last));
        assert_eq!(*remembered.wake(task(last), || 0).lock().unwrap(), 0);
    }

    #[test]
    fn what_is_worked_on_is_not_forgotten_however_many_rest() {
        let remembered = Remembered::default();
        let working = remembered.wake(task(0), || 0);
        for number in 1..3 * MOST_RESTING as u64 {
            remembered.wake(task(number), || number);
            remembered.rest(task(number));
        }
        assert!(Arc::ptr_eq(&working, &remembered.wake(task(0), || 0)));
    }
}
