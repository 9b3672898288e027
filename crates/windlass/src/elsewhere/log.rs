//! `windlass log` of a task that a server has.

use std::future::pending;
use std::time::Duration;

use windlass_api::client::{Error, Event, Events};
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
    let mut hints = Hints { far, subject, position: 0, events: None };
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
            () = hints.after(position) => {}
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

/// When it is worth looking again: what is told of the subject after what was told before.
struct Hints<'a> {
    far: &'a Far,
    subject: Subject,
    /// The last that was told, of whatever it was.
    position: u64,
    /// None: nobody listens yet, or not any more.
    events: Option<Events>,
}

impl Hints<'_> {
    /// Until something happens after this position, or it is time to look anyway.
    async fn after(&mut self, position: u64) {
        self.position = self.position.max(position);
        let far = self.far;
        let look = far.runtime.sleep(LOOK_EVERY);
        let told = async {
            // A server that is away is asked again, though not at once.
            if !matches!(self.told().await, Ok(true)) {
                self.events = None;
                pending::<()>().await;
            }
        };
        tokio::select! {
            () = told => {}
            () = look => {}
        }
    }

    /// Whether it was told, rather than that the server has ended the stream.
    async fn told(&mut self) -> Result<bool, Error> {
        if self.events.is_none() {
            let path = match self.subject {
                Subject::Task(task) => format!("/v1/tasks/{task}/events"),
                Subject::Execution(_) => "/v1/events".to_owned(),
            };
            self.events = Some(self.far.client.events(&path, self.position).await?);
        }
        while let Some(events) = &mut self.events {
            let Some(event) = events.next().await? else { break };
            if self.is_news(&event)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_news(&mut self, event: &Event) -> Result<bool, Error> {
        let is_new = event.kind == "record" && event.id > self.position;
        self.position = self.position.max(event.id);
        Ok(is_new && self.far.record(&event.data)?.is_some_and(|record| is_of(self.subject, &record)))
    }
}

/// A task's stream tells nothing else; that of everything does.
fn is_of(subject: Subject, record: &JournalRecord) -> bool {
    match (subject, record) {
        (Subject::Task(_), _) => true,
        (Subject::Execution(subject), JournalRecord::Execution { execution, .. }) => *execution == subject,
        (Subject::Execution(_), _) => false,
    }
}
