//! Events from outside (seed 000 §3.6) by whatever door: all of what is made of one is one commit, so that whoever told it can tell it again
//! until it was heeded; and whoever is said to hear it does.

use serde_json::json;
use windlass_domain::coordinate::{Channel, Origin, Trigger, Triggered};
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::session::SessionState;
use windlass_domain::task::TaskStatus;
use windlass_domain::{CallerName, SessionId, Taint, TaskId, Tenant};
use windlass_engine::{Engine, Error, Heeded, Means, TaskOrder, TripwirePoint};

use crate::court::{Ask, At, Court, ask, owner_key, read};

fn name(text: &str) -> CallerName {
    text.parse().unwrap()
}

fn origin() -> Origin {
    Origin { by: "ci".to_owned(), channel: Channel::Http, taint: Taint::External }
}

fn talk() -> SessionId {
    SessionId::called(&Tenant::local(), &name("talk"))
}

fn task_called(text: &str) -> TaskId {
    TaskId::called(&Tenant::local(), &name(text))
}

fn asking() -> Vec<Vec<Ask>> {
    vec![vec![ask("Which?")], vec![read("notes")]]
}

/// A direct task of the session that waits for an answer.
fn begin(court: &Court, engine: &Engine, task: &str) {
    let order = TaskOrder {
        command_id: name(&format!("command-{task}")),
        session_id: name("talk"),
        task_id: name(task),
        origin: origin(),
        submission: court.submission(),
        resume_context: None,
    };
    court.wait(engine.command(&order, Some(&owner_key()))).unwrap();
    court.work(engine);
}

/// A planned one, whose plan nobody has said yes to.
fn begin_planned(court: &Court, engine: &Engine) -> TaskId {
    court.things.cast_turn("write it", vec![], &json!({"route": "new_task", "response": "On it."}).to_string());
    let template = court.submission();
    let what = Triggered::UserMessage { words: "write it".to_owned(), task_id: None };
    let said = Trigger { trigger_id: name("said"), origin: Origin::local(), session_id: Some(name("talk")), what };
    court.wait(engine.trigger(&said, Means { template: Some(&template), ..Means::default() })).unwrap();
    court.work(engine);
    *session(court, engine).under_way.iter().next_back().expect("it began")
}

fn session(court: &Court, engine: &Engine) -> SessionState {
    court.wait(engine.session(talk())).unwrap()
}

fn event(id: &str, task: Option<TaskId>) -> Trigger {
    let task_id = task.map(|task| name(&task.to_string()));
    let session_id = task_id.is_none().then(|| name("talk"));
    let what = Triggered::ExternalEvent { payload: "red".to_owned(), task_id };
    Trigger { trigger_id: name(id), origin: origin(), session_id, what }
}

fn tell(court: &Court, engine: &Engine, event: &Trigger) -> Result<Heeded, Error> {
    court.wait(engine.trigger(event, Means::default()))
}

/// Lets the agents go on, and counts what each of them heard of it.
fn times_heard(court: &Court, engine: &Engine, task: TaskId) -> usize {
    for open in court.wait(engine.questions()).unwrap() {
        let (request_id, response) = (open.asked.request_id.to_string(), "this".to_owned());
        let what = Triggered::HitlResponse { request_id: request_id.clone(), response };
        let answer = Trigger { trigger_id: name(&request_id), origin: Origin::local(), session_id: None, what };
        tell(court, engine, &answer).unwrap();
    }
    court.work(engine);
    let events = court.execution_events(engine, task).into_iter();
    let is_it = |event: &ExecutionEvent| matches!(event, ExecutionEvent::InjectionReceived(heard) if heard.injection.content == "Event received: red");
    events.filter(is_it).count()
}

/// Where it dies before the commit nothing was kept, and the same telling is heard; where it dies after it, it was.
#[test]
fn a_process_that_dies_while_it_is_told_has_heard_all_of_it_or_nothing() {
    for audience in [Some(task_called("a")), None] {
        for (point, again) in [
            (TripwirePoint::BeforeCommit, Heeded::Told(vec![task_called("a")])),
            (TripwirePoint::AfterCommit, Heeded::Before),
        ] {
            let court = Court::new(asking());
            court.put("notes", "plain");
            let engine = court.process();
            begin(&court, &engine, "a");
            let event = event("build-7", audience);
            let told = court.die(At(point, 1), |engine| {
                let event = event.clone();
                async move { engine.trigger(&event, Means::default()).await }
            });
            assert!(told.is_none(), "it got past {point:?}");
            assert_eq!(tell(&court, &engine, &event).unwrap(), again, "{point:?}");
            assert_eq!(tell(&court, &engine, &event).unwrap(), Heeded::Before);
            assert_eq!(times_heard(&court, &engine, task_called("a")), 1, "{point:?}");
        }
    }
}

#[test]
fn those_of_a_conversation_hear_it_who_can_and_no_others_are_named() {
    let court = Court::new(asking());
    court.put("notes", "plain");
    let engine = court.process();
    let planned = begin_planned(&court, &engine);
    begin(&court, &engine, "a");
    assert_eq!(session(&court, &engine).under_way.len(), 2);
    assert_eq!(tell(&court, &engine, &event("1", None)).unwrap(), Heeded::Told(vec![task_called("a")]));
    assert_eq!(times_heard(&court, &engine, task_called("a")), 1);

    // What is left has nobody at work.
    assert_eq!(court.wait(engine.task(task_called("a"))).unwrap().status, Some(TaskStatus::Completed));
    for _ in 0..2 {
        assert!(matches!(tell(&court, &engine, &event("2", None)), Err(Error::NothingUnderWay(_))));
        assert!(matches!(tell(&court, &engine, &event("3", Some(planned))), Err(Error::NobodyHears(_))));
    }
    // Nothing was spent: the same tellings are heard as soon as somebody can.
    court.things.play(asking());
    begin(&court, &engine, "b");
    assert_eq!(tell(&court, &engine, &event("2", None)).unwrap(), Heeded::Told(vec![task_called("b")]));
}

#[test]
fn a_task_that_is_over_says_so_however_often_it_is_told() {
    let court = Court::new(vec![vec![read("notes")]]);
    court.put("notes", "plain");
    let engine = court.process();
    begin(&court, &engine, "a");
    for _ in 0..2 {
        assert!(matches!(tell(&court, &engine, &event("1", Some(task_called("a")))), Err(Error::Over(_))));
    }
}
