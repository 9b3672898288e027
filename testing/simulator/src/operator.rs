//! The person outside: pauses, cancels or says something at some moment, and answers what is asked, from a process of their own
//! that never dies.

use std::time::Duration;

use windlass_domain::execution::{AgentInjection, InjectionType};
use windlass_domain::{Runtime, Taint};
use windlass_engine::{Engine, Error, Message};

use crate::process::Process;
use crate::witness::{Accepted, Witness};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    Pause,
    Cancel,
    Say(String),
}

const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Acts once at `moment`, or as soon as there is a task; not at all when it has ended by then.
pub async fn operate(engine: Engine, process: Process, act: Act, moment: Duration, witness: Witness) {
    process.sleep(moment).await;
    loop {
        let found = engine.task_ids(1).await.ok().and_then(|ids| ids.first().copied());
        let Some(task) = found else {
            process.sleep(LOOK_AGAIN).await;
            continue;
        };
        let told = match &act {
            Act::Pause => engine.ask_to_pause(task, "lunch").await,
            Act::Cancel => engine.ask_to_cancel(task, "enough").await,
            Act::Say(content) => {
                let injection_type = InjectionType::UserMessage;
                let injection = AgentInjection { injection_type, content: content.clone(), metadata: None };
                engine.inject(task, injection, Taint::Auth).await
            }
        };
        match told {
            Ok(()) => witness.accepted(Accepted { act, at: process.wall() }),
            Err(Error::Over(_) | Error::TooLate(_)) => {}
            Err(error) => panic!("the operator could not speak: {error}"),
        }
        return;
    }
}

/// How often somebody looks whether they are asked.
const LOOK: Duration = Duration::from_mins(1);

/// Answers the first question, so long after it was seen; nobody does where the task ends without one.
pub async fn answer_question(engine: Engine, process: Process, answer: &'static str, after: Duration) {
    loop {
        process.sleep(LOOK).await;
        let asked = engine.questions().await.expect("the store answers").into_iter().next();
        if let Some(open) = asked {
            process.sleep(after).await;
            let message =
                Message { text: answer.to_owned(), question: Some(open.asked.request_id), by: "a person".to_owned() };
            let sent = engine.send(open.asked.task_id, &message).await;
            return sent.map(drop).expect("a question that is open can be answered");
        }
        let task = engine.task_ids(1).await.ok().and_then(|ids| ids.first().copied());
        if let Some(task) = task
            && engine.task(task).await.is_ok_and(|state| state.is_over())
        {
            return;
        }
    }
}
