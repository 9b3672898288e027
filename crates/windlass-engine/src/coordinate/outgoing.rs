//! What a channel is told (seed 000 §19.2): results of its sessions' tasks, what people are asked there, what users are told, and how each
//! task stands. Read from the store as it was committed, so that nothing need be remembered for it and nothing is told that did not happen.

use windlass_domain::approval::{ApprovalEvent, ApprovalState};
use windlass_domain::coordinate::Channel;
use windlass_domain::execution::{ExecutionEvent, OwnerEffect};
use windlass_domain::session::{SessionEvent, SessionState, TurnDone, TurnEnded};
use windlass_domain::task::{TaskEvent, TaskState, TaskStatus};
use windlass_domain::{
    Awaited, ExecutionId, HitlRequest, QuestionEvent, QuestionState, SessionId, TaskId, TaskResult, TaskResultStatus,
};
use windlass_store::StoredEvent;

use crate::Error;
use crate::engine::Engine;

#[derive(Debug, Clone)]
pub struct Outgoing {
    /// Of the record that it is made of.
    pub position: u64,
    /// The same whenever it is made, so that whoever hears it twice can tell.
    pub event_id: String,
    /// As its caller calls it.
    pub session_id: String,
    pub what: Published,
}

#[derive(Debug, Clone)]
pub enum Published {
    /// With the caller's names for its ids.
    Result {
        task_id: String,
        command_id: String,
        result: Box<TaskResult>,
    },
    Asked {
        task_id: String,
        request: HitlRequest,
    },
    Told {
        task_id: Option<String>,
        kind: &'static str,
        message: String,
    },
    /// None: it is over and needs no flag.
    Status {
        task_id: String,
        status: Option<&'static str>,
    },
}

impl Engine {
    /// What a record tells a channel; nothing where it is of no session in which anybody has spoken there.
    pub(super) async fn told_by(&self, channel: Channel, row: &StoredEvent) -> Result<Vec<Outgoing>, Error> {
        match row.stream.kind() {
            "task" => self.told_by_task(channel, row).await,
            "session" => self.told_by_session(channel, row).await,
            "question" if row.kind == QuestionEvent::KINDS[0] => self.told_by_question(channel, row).await,
            "approval" if row.kind == ApprovalEvent::KINDS[0] => self.told_by_card(channel, row).await,
            "execution" => self.told_by_execution(channel, row).await,
            _ => Ok(Vec::new()),
        }
    }

    async fn told_by_task(&self, channel: Channel, row: &StoredEvent) -> Result<Vec<Outgoing>, Error> {
        let event = TaskEvent::decode(&row.kind, row.version, &row.data)?;
        let is_told = matches!(
            event,
            TaskEvent::Created(_) | TaskEvent::Changed(_) | TaskEvent::AttemptWaiting(_) | TaskEvent::Finished(_)
        );
        if !is_told {
            return Ok(Vec::new());
        }
        let Ok(task) = row.stream.id().parse::<TaskId>() else { return Ok(Vec::new()) };
        let state = self.task_at(task, row.seq).await?;
        let Some(at) = self.addressed(channel, &state, row).await? else { return Ok(Vec::new()) };
        // Flags first: whoever has the result finds them as it says.
        let status = |status: Option<&'static str>| Published::Status { task_id: at.task_id.clone(), status };
        let result = |result: Option<TaskResult>| {
            let (task_id, command_id) = (at.task_id.clone(), at.command_id.clone());
            result.map(|result| Published::Result { task_id, command_id, result: Box::new(result) })
        };
        let told = match event {
            TaskEvent::Created(_) => vec![status(Some("running"))],
            TaskEvent::Changed(change) if change.status == TaskStatus::Paused => {
                let mut paused = state.report(TaskResultStatus::Paused, false, None);
                if let Some(paused) = &mut paused {
                    paused.final_message = Some(change.reason);
                }
                std::iter::once(status(Some("paused"))).chain(result(paused)).collect()
            }
            TaskEvent::Changed(_) => vec![status(Some("running"))],
            TaskEvent::AttemptWaiting(_) => {
                // A monitor is nobody whom anything could be asked.
                let of_people = state.waits_for.iter().find(|about| about.is_of_people());
                let mut blocked = of_people.and_then(|_| state.report(TaskResultStatus::BlockedUser, false, None));
                if let (Some(blocked), Some(first)) = (&mut blocked, of_people) {
                    blocked.hitl_request = self.hitl_request(*first).await?;
                }
                result(blocked).into_iter().collect()
            }
            TaskEvent::Finished(finished) => {
                let is_cancelled = finished.result.status == TaskResultStatus::Cancelled;
                let flag = status(is_cancelled.then_some("cancelled"));
                std::iter::once(flag).chain(result(Some(finished.result))).collect()
            }
            _ => Vec::new(),
        };
        Ok(told.into_iter().map(|what| at.tells(what)).collect())
    }

    async fn told_by_session(&self, channel: Channel, row: &StoredEvent) -> Result<Vec<Outgoing>, Error> {
        let event = SessionEvent::decode(&row.kind, row.version, &row.data)?;
        let Ok(session_id) = row.stream.id().parse::<SessionId>() else { return Ok(Vec::new()) };
        let session = self.session(session_id).await?;
        let (task, kind, message) = match &event {
            SessionEvent::TurnEnded(ended) => (task_of(ended), "answer", ended.answer()),
            SessionEvent::TaskTaken(taken) if taken.waits => {
                let waits = "It waits until one of the tasks that are under way in this session is over.";
                (Some(taken.task_id), "waiting", waits.to_owned())
            }
            _ => return Ok(Vec::new()),
        };
        if !session.is_heard_at(channel) || message.trim().is_empty() {
            return Ok(Vec::new());
        }
        let task_id = task.map(|task| session.name_of(task));
        Ok(vec![Addressed::of(&session, session_id, row).tells(Published::Told { task_id, kind, message })])
    }

    async fn told_by_question(&self, channel: Channel, row: &StoredEvent) -> Result<Vec<Outgoing>, Error> {
        let QuestionEvent::Asked(asked) = QuestionEvent::decode(&row.kind, row.version, &row.data)? else {
            return Ok(Vec::new());
        };
        // What was answered or taken back by now is nobody's to answer.
        match self.question(asked.request_id).await? {
            QuestionState::Open(_) => {
                self.put_to(channel, asked.task_id, Awaited::Question(asked.request_id), row).await
            }
            _ => Ok(Vec::new()),
        }
    }

    async fn told_by_card(&self, channel: Channel, row: &StoredEvent) -> Result<Vec<Outgoing>, Error> {
        let Ok(card) = row.stream.id().parse() else { return Ok(Vec::new()) };
        match self.card(card).await? {
            (ApprovalState::Requested { .. }, Some(task)) => self.put_to(channel, task, Awaited::Card(card), row).await,
            _ => Ok(Vec::new()),
        }
    }

    async fn put_to(
        &self,
        channel: Channel,
        task: TaskId,
        awaited: Awaited,
        row: &StoredEvent,
    ) -> Result<Vec<Outgoing>, Error> {
        let Ok(state) = self.task(task).await else { return Ok(Vec::new()) };
        let Some(at) = self.addressed_whole(channel, &state, row).await? else { return Ok(Vec::new()) };
        let Some(request) = self.hitl_request(awaited).await? else { return Ok(Vec::new()) };
        let task_id = at.task_id.clone();
        let blocked = self.blocked(&state, &request).await?;
        let blocked = blocked.map(|result| {
            let (task_id, command_id) = (at.task_id.clone(), at.command_id.clone());
            at.tells(Published::Result { task_id, command_id, result: Box::new(result) })
        });
        let asked = at.tells(Published::Asked { task_id, request });
        Ok(std::iter::once(asked).chain(blocked).collect())
    }

    /// The result of a planned task while somebody who works for it, or its plan, waits for a person. A direct one's is that of its
    /// attempt, which says itself that it waits.
    async fn blocked(&self, asker: &TaskState, request: &HitlRequest) -> Result<Option<TaskResult>, Error> {
        let Some(created) = &asker.created else { return Ok(None) };
        let whole = match &created.part_of {
            Some(of) => self.task(of.root).await?,
            None if created.planned => asker.clone(),
            None => return Ok(None),
        };
        let blocked = whole.report(TaskResultStatus::BlockedUser, false, None);
        Ok(blocked.map(|blocked| TaskResult { hitl_request: Some(request.clone()), ..blocked }))
    }

    async fn told_by_execution(&self, channel: Channel, row: &StoredEvent) -> Result<Vec<Outgoing>, Error> {
        if row.kind != OWNER_EFFECT {
            return Ok(Vec::new());
        }
        let ExecutionEvent::OwnerEffect(OwnerEffect::Told { message, .. }) =
            ExecutionEvent::decode(&row.kind, row.version, &row.data)?
        else {
            return Ok(Vec::new());
        };
        let Ok(execution) = row.stream.id().parse::<ExecutionId>() else { return Ok(Vec::new()) };
        // Not by its scope: of whoever only talks that is a folder.
        let task = match self.task_of(execution).await {
            Err(Error::OfNoTask(_)) => return Ok(Vec::new()),
            task => task?,
        };
        let state = self.task(task).await?;
        let Some(at) = self.addressed_whole(channel, &state, row).await? else { return Ok(Vec::new()) };
        let task_id = Some(at.task_id.clone()).filter(|_| !state.is_turn());
        Ok(vec![at.tells(Published::Told { task_id, kind: "status", message })])
    }

    /// Whom news of a task are for; nobody where it works for another, or decides where words go.
    async fn addressed(
        &self,
        channel: Channel,
        state: &TaskState,
        row: &StoredEvent,
    ) -> Result<Option<Addressed>, Error> {
        match state.is_part() || state.is_turn() {
            true => Ok(None),
            false => self.addressed_whole(channel, state, row).await,
        }
    }

    /// The same of whatever works for a task: its news are the whole's.
    async fn addressed_whole(
        &self,
        channel: Channel,
        state: &TaskState,
        row: &StoredEvent,
    ) -> Result<Option<Addressed>, Error> {
        let Some(created) = &state.created else { return Ok(None) };
        let whole = created.part_of.as_ref().map_or(created.command.task_id, |of| of.root);
        let session_id = created.command.session_id;
        let session = self.session(session_id).await?;
        if session.workspace.is_none() || !session.is_heard_at(channel) {
            return Ok(None);
        }
        let named = session.names.get(&whole).and_then(|names| names.command_id.as_ref());
        let command_id = named.map_or_else(|| created.command.command_id.to_string(), ToString::to_string);
        let task_id = session.name_of(whole);
        Ok(Some(Addressed { task_id, command_id, ..Addressed::of(&session, session_id, row) }))
    }
}

const OWNER_EFFECT: &str = "owner-effect.recorded";

/// Whom a record is told, and which one it is.
struct Addressed {
    position: u64,
    event_id: String,
    session_id: String,
    task_id: String,
    command_id: String,
}

impl Addressed {
    fn of(session: &SessionState, session_id: SessionId, row: &StoredEvent) -> Self {
        Self {
            position: row.position.0,
            event_id: format!("{}:{}", row.stream, row.seq.0),
            session_id: session.called.as_ref().map_or_else(|| session_id.to_string(), ToString::to_string),
            task_id: String::new(),
            command_id: String::new(),
        }
    }

    fn tells(&self, what: Published) -> Outgoing {
        let Self { position, event_id, session_id, .. } = self;
        Outgoing { position: *position, event_id: event_id.clone(), session_id: session_id.clone(), what }
    }
}

fn task_of(ended: &TurnEnded) -> Option<TaskId> {
    match &ended.done {
        TurnDone::Began { task } | TurnDone::Told { task } => Some(*task),
        TurnDone::Answered | TurnDone::Not { .. } => None,
    }
}
