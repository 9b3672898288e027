//! What is said between `windlass serve` and its clients: the shapes of requests and answers, each with its schema. What stands in
//! the seeds keeps the seeds' field names. It knows nothing of how any of it is done. `client` is how another program asks.

pub mod client;
mod command;
mod document;
mod health;
mod monitor;
mod more;
mod objective;
mod problem;
mod review;
mod scope;
mod session;
mod task;
mod terminal;

pub use command::{CommandRequest, CommandTold};
pub use document::{CheckRequest, Checked, DocumentWord, Misfit};
pub use health::{Health, Standing};
pub use monitor::{Monitor, MonitorList, MonitorRequest, TimeoutWord};
pub use more::{
    AuditVerified, DeadLetterSettled, Deliverable, DeliverableList, EventHeard, Execution, ExecutionList, ForkRequest,
    ForkShown, ForkTaken, GateTried, GateTryRequest, GoalAdded, GoalChanged, GoalLook, GoalRequest, Items,
    RedirectRequest, RedirectShown, Schedule, ScheduleList, Settings, Spending, SpendingPoint, Whoami,
};
pub use objective::{
    ChangeSought, Objective, ObjectiveBinding, ObjectiveCheck, ObjectiveConstraints, ObjectiveCorrection, ObjectiveTurn,
};
pub use problem::{PROBLEM_JSON, Problem};
pub use review::{
    AnswerRequest, Approval, ApprovalAnswered, ApprovalList, ApproveRequest, Decided, Decision, DecisionList, Question,
    QuestionAnswer, QuestionList, RefuseRequest, Whose,
};
pub use scope::{Scope, UnknownScope};
pub use session::{
    Conversation, SaidAccepted, SayRequest, Session, SessionList, SessionRequest, SessionSummary, SessionTask,
    Utterance,
};
pub use task::{
    Activity, AttachmentRequest, DeadlineWord, Heard, LimitsRequest, MessageRequest, MessageSent, MessageWord,
    PlanningWord, Record, RecordList, StartRequest, SurfaceWord, Task, TaskAccepted, TaskList, TaskPart, TaskRequest,
    ToStart, WishRequest,
};
pub use terminal::{
    RecordingList, TERMINAL_PROTOCOL, TICKET_PREFIX, Terminal, TerminalList, TerminalRecording, TerminalSaid,
    TerminalScreen, TerminalSize, TerminalTicket, TerminalTold,
};
