//! Waiting for a task that a server works on, and telling what happens as whoever drives it here would. A server that goes away meanwhile
//! is waited for: what it does after that is told from where it was left. Ctrl-C asks it to pause the task, and a second one leaves.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use windlass_api::client::{Error, Event, Events};
use windlass_api::{Heard, WishRequest};
use windlass_domain::{Instant, TaskId, TaskResultStatus};
use windlass_engine::JournalRecord;

use super::ask::{Asking, ask};
use super::far::{Far, explained};
use crate::commands::{Errand, Rest, Subject};
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::show::{Teller, output};

const TICK: Duration = Duration::from_millis(150);
/// How often it is looked whether it rests where nothing is told.
const LOOK_EVERY: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What is told before it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// The task as it was taken in.
    Taken,
    /// All that has happened to it.
    SoFar,
}

pub async fn follow(far: &Far, task: TaskId, teller: &Arc<dyn Teller>, before: Before) -> anyhow::Result<Exit> {
    let interrupts = Interrupts::new()?;
    let begun = far.runtime.now();
    let (position, stops, is_away, puts_off) = (0, 0, false, false);
    let mut following = Following { far, task, teller, interrupts, begun, position, stops, is_away, puts_off };
    following.tell_story(before).await.map_err(explained)?;
    following.until_rest().await
}

struct Following<'a> {
    far: &'a Far,
    task: TaskId,
    teller: &'a Arc<dyn Teller>,
    interrupts: Interrupts,
    begun: Instant,
    /// The last that was told.
    position: u64,
    stops: u32,
    /// Whether it was said that the server does not answer.
    is_away: bool,
    /// Whether whoever sits here answers later.
    puts_off: bool,
}

/// What ends a wait.
enum Woken {
    Told(Result<Option<Event>, Error>),
    Looked,
    Left,
}

impl Following<'_> {
    async fn tell_story(&mut self, before: Before) -> Result<(), Error> {
        let (story, position) = self.far.story_after(Subject::Task(self.task), 0).await?;
        self.position = position;
        match before {
            Before::Taken => self.teller.begin(&story),
            Before::SoFar => self.teller.so_far(&story),
        }
        Ok(())
    }

    async fn until_rest(&mut self) -> anyhow::Result<Exit> {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.listen().await {
                Ok(Some(exit)) => return Ok(exit),
                // The server ended it, as one that ends itself does.
                Ok(None) => pause = FIRST_PAUSE,
                Err(error) if error.may_pass() => {}
                Err(error) => return Err(explained(error)),
            }
            if !std::mem::replace(&mut self.is_away, true) {
                self.teller.remark("the server does not answer; the task goes on with it, and is told when it is back");
            }
            if self.waits(pause).await {
                return Ok(Exit::Paused);
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Whether whoever waits has left meanwhile.
    async fn waits(&mut self, how_long: Duration) -> bool {
        tokio::select! {
            () = self.far.runtime.sleep(how_long) => false,
            () = self.interrupts.next() => true,
        }
    }

    /// Until it rests, or the server ends the stream.
    async fn listen(&mut self) -> Result<Option<Exit>, Error> {
        let path = format!("/v1/tasks/{}/events", self.task);
        let mut events = self.far.client.events(&path, self.position).await?;
        loop {
            // After the stream is open: what comes about from now on is told by it.
            if let Some(exit) = self.rests().await? {
                return Ok(Some(exit));
            }
            if std::mem::take(&mut self.is_away) {
                self.teller.remark("it is back");
            }
            loop {
                match self.woken(&mut events).await? {
                    Woken::Told(Ok(Some(event))) => {
                        if self.told(&event)? {
                            break;
                        }
                    }
                    Woken::Told(Ok(None)) => return Ok(None),
                    Woken::Told(Err(error)) => return Err(error),
                    Woken::Looked => break,
                    Woken::Left => return Ok(Some(Exit::Paused)),
                }
            }
        }
    }

    async fn woken(&mut self, events: &mut Events) -> Result<Woken, Error> {
        let mut told = pin!(events.next());
        let mut look = pin!(self.far.runtime.sleep(LOOK_EVERY));
        loop {
            tokio::select! {
                event = &mut told => return Ok(Woken::Told(event)),
                () = &mut look => return Ok(Woken::Looked),
                () = self.far.runtime.sleep(TICK) => self.teller.tick(self.far.runtime.now() - self.begun),
                () = self.interrupts.next() => {
                    self.stops += 1;
                    if self.stops > 1 {
                        return Ok(Woken::Left);
                    }
                    self.teller.remark("pausing; again to leave at once");
                    self.pause().await?;
                }
            }
        }
    }

    async fn pause(&self) -> Result<(), Error> {
        let path = format!("/v1/tasks/{}/pause", self.task);
        match self.far.client.post::<Heard>(&path, &WishRequest::default()).await {
            // Its own end came first, and is told.
            Err(Error::Refused(problem)) if problem.status == 409 => Ok(()),
            answered => answered.map(drop),
        }
    }

    /// Whether it may rest after this.
    fn told(&mut self, event: &Event) -> Result<bool, Error> {
        if event.kind != "record" || event.id <= self.position {
            return Ok(false);
        }
        self.position = event.id;
        let Some(record) = self.far.record(&event.data)? else { return Ok(true) };
        self.teller.tell(&record);
        Ok(matches!(record, JournalRecord::Task { .. } | JournalRecord::Graph { .. }))
    }

    async fn rests(&mut self) -> Result<Option<Exit>, Error> {
        let Some(rest) = self.far.answer::<Option<Rest>>(Errand::Rest(self.task)).await? else { return Ok(None) };
        // What was committed before it rested comes first.
        let (left, position) = self.far.story_after(Subject::Task(self.task), self.position).await?;
        left.iter().for_each(|record| self.teller.tell(record));
        self.position = position;
        self.teller.seen().await;
        let is_asked = rest.result.as_ref().is_some_and(|result| result.status == TaskResultStatus::BlockedUser);
        if is_asked && self.teller.can_ask() && !self.puts_off {
            match ask(self.far, self.task, &mut self.interrupts).await? {
                Asking::Answered => return Ok(None),
                // Once: whoever leaves it for later is told how to answer it then.
                Asking::Later => self.puts_off = true,
            }
        }
        rest.result.iter().for_each(|result| self.teller.end(result));
        rest.remarks.iter().for_each(|remark| self.teller.remark(remark));
        output().heed(Interrupts::new().map_err(|error| self.far.another_version(&error.to_string()))?);
        Ok(Some(Exit::of_number(rest.exit).unwrap_or(Exit::Failed)))
    }
}
