//! `windlass log` of a task that a server has.

use std::time::Duration;

use windlass_api::client::Error;
use windlass_domain::task::TaskState;
use windlass_engine::JournalRecord;

use super::far::{Far, explained};
use crate::arguments;
use crate::commands::{Printer, Subject, turns};
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::show::{json_result, output, print_json};

/// How often it is looked without a hint.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub async fn log(far: &Far, arguments: arguments::Log) -> anyhow::Result<Exit> {
    let mut interrupts = arguments.follow.then(Interrupts::new).transpose()?;
    let subject = far.subject(arguments.task.clone()).await?;
    let (story, mut position) = far.story_after(subject, 0).await.map_err(explained)?;
    if arguments.timeline {
        return Ok(turns(story, arguments.output).show());
    }
    let mut printer = Printer::new(&arguments);
    let mut state = TaskState::default();
    let mut news = story;
    loop {
        for record in &news {
            printer.print(record);
            apply(&mut state, subject, record);
        }
        let Some(interrupts) = interrupts.as_mut() else { break };
        if news.iter().any(|record| subject.ends_with(record)) || output().is_closed() {
            break;
        }
        tokio::select! {
            () = changed(far, position) => {}
            () = interrupts.next() => break,
        }
        news = match far.story_after(subject, position).await {
            Ok((news, last)) => {
                position = last;
                news
            }
            Err(error) if error.may_pass() => Vec::new(),
            Err(error) => return Err(explained(error)),
        };
    }
    if let (true, Some(result)) = (arguments.output.json, &state.result) {
        print_json(&json_result(result));
    }
    Ok(Exit::Completed)
}

/// As far as its result goes.
fn apply(state: &mut TaskState, subject: Subject, record: &JournalRecord) {
    if let (Subject::Task(subject), JournalRecord::Task { at, task, event, .. }) = (subject, record)
        && *task == subject
    {
        state.apply(event, *at);
    }
}

/// Until something happens, or it is time to look anyway.
async fn changed(far: &Far, position: u64) {
    let told = async {
        let mut events = far.client.events("/v1/events", position).await?;
        events.next().await.map(drop)
    };
    tokio::select! {
        told = told => {
            // A server that is away is asked again, though not at once.
            let told: Result<(), Error> = told;
            if told.is_err() {
                far.runtime.sleep(LOOK_EVERY).await;
            }
        }
        () = far.runtime.sleep(LOOK_EVERY) => {}
    }
}
