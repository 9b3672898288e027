//! Killing whoever carries out a plan, before and after each commit that it makes: whoever comes next brings it to the same end,
//! does nothing again that was done, and loses nothing of the user's.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use windlass_domain::{Canceller, Stop, TaskId, Tenant};
use windlass_engine::{Driven, TripwirePoint, Until};
use windlass_store::{Store as _, Topic};

use super::errand::{Author, assert_done, given, say_yes, see_through};
use crate::court::{At, Court, Death, work};

/// Kills at the first, second, third … time, as long as somebody dies.
fn until_it_runs_clean(point: TripwirePoint, kill: impl Fn(At) -> bool) {
    let deaths = (1..).take_while(|time| kill(At(point, *time))).count();
    assert!(deaths > 30, "{point:?}: it died {deaths} times");
}

fn whoever_waits_for_it_dies(author: Author, point: TripwirePoint) {
    until_it_runs_clean(point, |at| {
        let (court, task) = given(author);
        let is_dead = court.die(at, |engine| see_through(engine, task)).is_none();
        let driven = court.wait(see_through(court.process(), task)).unwrap();
        assert!(matches!(driven, Driven::Finished(_)), "{at:?}: {driven:?}");
        assert_done(&court, task, &format!("{author:?} {at:?}"));
        is_dead
    });
}

#[test]
fn a_given_plan_comes_to_the_same_end_wherever_its_process_dies() {
    whoever_waits_for_it_dies(Author::User, TripwirePoint::BeforeCommit);
    whoever_waits_for_it_dies(Author::User, TripwirePoint::AfterCommit);
}

#[test]
fn a_request_is_planned_and_comes_to_the_same_end_wherever_its_process_dies() {
    whoever_waits_for_it_dies(Author::Planner, TripwirePoint::AfterCommit);
}

#[test]
fn a_plan_that_two_workers_carry_out_comes_to_the_same_end_wherever_one_of_them_dies() {
    until_it_runs_clean(TripwirePoint::AfterCommit, |at| {
        let (court, task) = given(Author::Planner);
        let is_dead = court.wait(two_workers(&court, task, at));
        // Whoever starts next finds what is left of those who died.
        court.work(&court.process());
        assert_done(&court, task, &format!("two workers {at:?}"));
        is_dead
    });
}

/// One of them may die; the other goes on until the task is over.
async fn two_workers(court: &Court, task: TaskId, at: At) -> bool {
    let (over, death) = (Canceller::default(), Death::new(at));
    let worker = |death: Arc<Death>| {
        let over = over.signal();
        async move {
            let lives = court.mortal(death, |engine| async move { work(&engine, Until::Stopped, over).await }).await;
            if lives.is_none() {
                // The other one looks around now and then.
                court.jump(Duration::from_secs(1));
            }
            lives.is_none()
        }
    };
    let (one, other) = (worker(Arc::clone(&death)), worker(death.or_another()));
    let person = async {
        say_yes_until_over(court, task).await;
        over.stop(Stop::Pause);
    };
    let ((one, other), ()) = Box::pin(join(join(one, other), person)).await;
    assert!(!(one && other), "one of them lives");
    one || other
}

async fn say_yes_until_over(court: &Court, task: TaskId) {
    let engine = court.process();
    let mut hints = court.store.notifier().subscribe(Topic::Events { tenant: Tenant::local() });
    while !engine.task(task).await.unwrap().is_over() {
        say_yes(&engine).await.unwrap();
        hints.changed(Duration::from_secs(1)).await;
    }
}
