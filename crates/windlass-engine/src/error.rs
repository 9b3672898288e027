//! What the engine cannot do, one variant for each thing its caller could do about it. How a task ends is never an
//! error; that is its `TaskResult`.

use windlass_domain::{ExecutionId, MemoryId, RequestId, TaskId, Unreadable};
use windlass_store::Error as StoreError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no task {0} here")]
    NoSuchTask(TaskId),

    /// It is there, and no task has begun it.
    #[error("execution {0} works for no task")]
    OfNoTask(ExecutionId),

    #[error("task {task} is being worked on by process {pid} on {host}")]
    HeldElsewhere { task: TaskId, host: String, pid: u32 },

    /// Its folder is on another machine, whatever folder of that name there is here.
    #[error("task {task} is {place}'s, where its folder is: go on with it there, or let a worker there do it")]
    Elsewhere { task: TaskId, place: String },

    /// What is signed here is not trusted there.
    #[error("the key that signs for this is on {0}, where its work is: say it there, or to a server there")]
    KeysElsewhere(String),

    /// Another process has taken over: whatever this one was about to write was not written.
    #[error("another process has taken over task {0}")]
    LeaseLost(TaskId),

    /// Something else was written first; nothing of this was.
    #[error("task {0} has changed meanwhile; try again")]
    Overtaken(TaskId),

    /// Redacted it would be another check, and stored as it is it would leak.
    #[error("a check holds what looks like a credential: have the command read it from a file instead")]
    SecretInCheck,

    #[error("the compaction settings cannot work: {0}")]
    Compaction(String),

    #[error("the attachment {0} is no image that could be shown")]
    NotAnImage(String),

    #[error("there is no earlier plan `{0}` of this folder: name one by its id, or by the id of its task")]
    NoEarlierPlan(String),

    /// A sentence for each reason.
    #[error("the plan cannot be carried out: {}", .0.join("; "))]
    UnfitPlan(Vec<String>),

    /// What is missing, as a sentence.
    #[error("{0}")]
    NotAligned(String),

    /// Nothing was changed.
    #[error(transparent)]
    CannotCorrect(#[from] windlass_domain::graph::CannotCorrect),

    #[error("there is no goal `{0}` here; `windlass goals list` shows all")]
    NoSuchGoal(String),

    #[error("there is a goal `{0}` already: remove it first, or give this one another id")]
    GoalKnown(String),

    #[error("the goal's folder is on {0}: look at it there, or let a worker there do it")]
    GoalElsewhere(String),

    #[error("{0}")]
    NotAGoal(String),

    /// Nothing was changed.
    #[error(transparent)]
    Goal(#[from] windlass_domain::goal::GoalRejected),

    /// Nothing was changed.
    #[error(transparent)]
    Monitor(#[from] windlass_domain::monitor::MonitorRejected),

    #[error("task {0} is planned: nobody but those who work for it could look; monitor one of them")]
    NothingToMonitor(TaskId),

    #[error("the deadline has passed already: it was {0}")]
    LateDeadline(String),

    #[error("there is no execution {0} here")]
    NoSuchExecution(ExecutionId),

    /// Nothing was changed.
    #[error("execution {} cannot be forked: {why}", .execution.short())]
    CannotFork { execution: ExecutionId, why: windlass_domain::execution::CannotFork },

    #[error("task {0} has already ended")]
    Over(TaskId),

    /// Nothing was changed.
    #[error("the agent of task {0} has said its last word, and would not hear it")]
    TooLate(TaskId),

    /// Nothing was changed.
    #[error(transparent)]
    Card(#[from] windlass_domain::approval::Rejected),

    /// Nothing was changed.
    #[error(transparent)]
    Question(#[from] windlass_domain::QuestionRejected),

    #[error("task {task} has asked no question {question}")]
    NoSuchQuestion { task: TaskId, question: RequestId },

    /// The oldest first.
    #[error("task {task} has asked {} questions, and this does not say which it answers", .open.len())]
    SeveralQuestions { task: TaskId, open: Vec<windlass_domain::QuestionAsked> },

    #[error("there is no memory {0} here, or it was forgotten")]
    NoSuchMemory(MemoryId),

    #[error("the message is empty")]
    EmptyMessage,

    #[error("the message is longer than {most} bytes: put it into a file of the workspace, and name the file")]
    MessageTooLong { most: usize },

    #[error(transparent)]
    TooManySessions(windlass_domain::coordinate::UserRejected),

    #[error("there is a task {0} already: give this one another id, or send a `resume_context` to go on with it")]
    TaskKnown(TaskId),

    #[error("nobody listens to users by this door: its operator has named no folder to work in")]
    NobodyListens,

    #[error("nobody has asked {0}")]
    NoSuchRequest(String),

    /// Nothing was changed.
    #[error("{0}")]
    NotAnAnswer(String),

    #[error("nobody works on task {0} yet who could hear it")]
    NobodyHears(TaskId),

    #[error("the session {0} has no task under way that could hear it")]
    NothingUnderWay(String),

    #[error("the answer cannot be signed: {0}")]
    Unsigned(String),

    /// Nobody signs for it, so that there must be something to agree to before it begins.
    #[error("a task from outside needs a plan that a person can agree to")]
    NoPlanFromOutside,

    #[error(
        "{most} tasks from outside wait for a person's yes or no already: ask again when some of them are answered"
    )]
    TooManyFromOutside { most: usize },

    /// A rule of the operator's says no.
    #[error("{0}")]
    Blocked(String),

    /// Of its data directory's disk.
    #[error("nothing new is taken while {0}")]
    NoRoom(String),

    /// It is free once this process has ended.
    #[error("what this worker held could not be given back: {0}; make room and start it again")]
    Kept(String),

    #[error(transparent)]
    Store(#[from] windlass_store::Error),

    #[error(transparent)]
    Queue(#[from] windlass_store::queue::Error),

    #[error(transparent)]
    Unreadable(#[from] Unreadable),

    /// A record that the rules refuse: a bug of ours. Nothing was written.
    #[error("the journal of task {task} cannot go on: {detail}")]
    Broken { task: TaskId, detail: String },

    #[error("{0}")]
    Workspace(String),

    /// A record that the rules refuse: a bug of ours. Nothing was written.
    #[error("the session {session} cannot go on: {detail}")]
    Session { session: windlass_domain::SessionId, detail: String },

    /// What was done stays done; its audit is sealed by whoever seals next.
    #[error("the head of the audit chain was not kept: {0}")]
    Seal(String),
}

impl Error {
    /// The store cannot be reached, or does not say whether what it was asked for has happened. Nothing else is wrong: it may be
    /// there again in a while.
    pub const fn is_outage(&self) -> bool {
        match self {
            Self::Store(error) | Self::Queue(windlass_store::queue::Error::Store(error)) => {
                matches!(error, StoreError::Unreachable { .. } | StoreError::Unconfirmed { .. })
            }
            _ => false,
        }
    }

    /// There is too little room on a disk, and nothing else is wrong.
    pub const fn is_full(&self) -> bool {
        match self {
            Self::NoRoom(_) => true,
            Self::Store(error) | Self::Queue(windlass_store::queue::Error::Store(error)) => {
                matches!(error, StoreError::DiskFull { .. })
            }
            _ => false,
        }
    }

    /// It needs records of which somebody at work, who is older, can read nothing. It can be done once they are gone.
    pub const fn is_too_new(&self) -> bool {
        matches!(self, Self::Store(StoreError::TooNew { .. }))
    }

    /// Whether what was asked for may have happened all the same: the store did not say.
    pub const fn leaves_doubt(&self) -> bool {
        match self {
            Self::Store(error) | Self::Queue(windlass_store::queue::Error::Store(error)) => {
                matches!(error, StoreError::Unconfirmed { .. } | StoreError::Halted { .. })
            }
            _ => false,
        }
    }

    /// Whether the same thing, asked again later, may well be done: what is wrong is not in what was asked.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Store(StoreError::Conflict { .. } | StoreError::TooNew { .. }) => true,
            Self::Store(error) => error.refusal().is_none(),
            Self::Queue(_)
            | Self::HeldElsewhere { .. }
            | Self::LeaseLost(_)
            | Self::Overtaken(_)
            | Self::NoRoom(_)
            | Self::Kept(_)
            | Self::Seal(_)
            | Self::Workspace(_) => true,
            _ => false,
        }
    }
}
