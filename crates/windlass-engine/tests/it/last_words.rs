//! What is said to a running task at the last moment: either its agent hears it, or whoever says it is told that nobody will.
//! Hints are dropped here, as those of another process's commits are late when an agent is fast.

use std::sync::{Arc, Mutex};

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::{TaskId, TaskResultStatus};
use windlass_engine::{Engine, Error, Message, Sent, TripwirePoint};

use crate::court::{Court, Deed, read};

type Answers = Arc<Mutex<Vec<Result<Sent, Error>>>>;

struct Scene {
    court: Court,
    engine: Engine,
    deed: Arc<Deed>,
    answers: Answers,
}

impl Scene {
    fn new() -> Self {
        let court = Court::new(vec![vec![read("notes")]]);
        court.put("notes", "plain");
        windlass_store::Store::notifier(court.store.as_ref()).drop_hints();
        let deed = Deed::new();
        let tripwire = Arc::<Deed>::clone(&deed);
        let engine = court.process_with(|parts| parts.tripwire = Some(tripwire));
        Self { court, engine, deed, answers: Answers::default() }
    }

    /// Another process says something while this one stands at `point`.
    fn say_at(&self, point: TripwirePoint, task: TaskId) {
        say_at(&self.deed, point, task, self.court.process(), Arc::clone(&self.answers));
    }

    fn heard(&self, task: TaskId) -> Vec<String> {
        let events = self.court.execution_events(&self.engine, task).into_iter();
        let said = events.filter_map(|event| match event {
            ExecutionEvent::InjectionReceived(received) => Some(received.injection.content),
            _ => None,
        });
        said.collect()
    }

    fn complete(&self, task: TaskId) {
        let driven = self.court.drive(&self.engine, task);
        assert_eq!(driven.result().status, TaskResultStatus::Completed);
    }
}

fn say_at(deed: &Deed, point: TripwirePoint, task: TaskId, other: Engine, answers: Answers) {
    deed.at(point, move || {
        let (other, answers) = (other.clone(), Arc::clone(&answers));
        Box::pin(async move {
            let message = Message { text: "one more thing".to_owned(), question: None, by: "a person".to_owned() };
            let sent = other.send(task, &message).await;
            answers.lock().unwrap().push(sent);
        })
    });
}

/// Regression: what was said during an agent's last answers was told to be heard, and was not.
#[test]
fn what_is_said_while_the_agent_works_is_heard_before_it_is_done() {
    for point in [TripwirePoint::SandboxOpened, TripwirePoint::BeforeRecord, TripwirePoint::Permitted] {
        let scene = Scene::new();
        let task = scene.court.submit(&scene.engine);
        scene.say_at(point, task);
        scene.complete(task);
        assert!(matches!(scene.answers.lock().unwrap()[..], [Ok(Sent::Words)]), "{point:?}");
        assert_eq!(scene.heard(task), ["User says: one more thing"], "{point:?}");
    }
}

#[test]
fn what_is_said_between_the_last_word_and_its_record_is_heard() {
    let scene = Scene::new();
    let task = scene.court.submit(&scene.engine);
    scene.say_at(TripwirePoint::RunEnded, task);
    scene.complete(task);
    assert!(matches!(scene.answers.lock().unwrap()[..], [Ok(Sent::Words)]));
    assert_eq!(scene.heard(task), ["User says: one more thing"]);
    assert_eq!(scene.court.interruptions(&scene.engine, task), 0, "nothing was cut off");
}

#[test]
fn who_speaks_after_the_last_word_is_told_so() {
    let scene = Scene::new();
    let task = scene.court.submit(&scene.engine);
    let (deed, other, answers) = (Arc::clone(&scene.deed), scene.court.process(), Arc::clone(&scene.answers));
    // The first commit after the run is the one that ends the attempt.
    scene.deed.at(TripwirePoint::RunEnded, move || {
        say_at(&deed, TripwirePoint::AfterCommit, task, other.clone(), Arc::clone(&answers));
        Box::pin(async {})
    });
    scene.complete(task);
    assert!(matches!(scene.answers.lock().unwrap()[..], [Err(Error::TooLate(_))]));
    assert!(scene.heard(task).is_empty());
    let message = Message { text: "hello?".to_owned(), question: None, by: "a person".to_owned() };
    assert!(matches!(scene.court.wait(scene.engine.send(task, &message)), Err(Error::Over(_))));
}

/// The task ends between the look at it and the word to it.
#[test]
fn words_to_a_task_that_ends_at_that_moment_are_refused() {
    let court = Court::new(vec![vec![read("notes")]]);
    court.put("notes", "plain");
    let driving = court.process();
    let task = court.submit(&driving);
    let deed = Deed::new();
    let tripwire = Arc::<Deed>::clone(&deed);
    let speaking = court.process_with(|parts| parts.tripwire = Some(tripwire));
    deed.at(TripwirePoint::BeforeCommit, move || {
        let driving = driving.clone();
        Box::pin(async move {
            driving.drive(task, Arc::new(windlass_engine::NobodyWatches)).await.unwrap();
        })
    });
    let message = Message { text: "one more thing".to_owned(), question: None, by: "a person".to_owned() };
    let sent = court.wait(speaking.send(task, &message));
    assert!(matches!(sent, Err(Error::Over(_))), "{sent:?}");
}
