//! The other things that can be asked about, each a list or one of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Who asks, as the server knows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Whoami {
    pub name: String,
    pub tenant: String,
    pub scopes: Vec<crate::Scope>,
}

/// Objects as the command of the same name prints them with `--json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Items {
    pub items: Vec<Value>,
    pub next: Option<String>,
}

/// Something that is due some time: a goal, a task's deadline or its monitor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a page of them is written and sent, and most are goals")]
pub enum Schedule {
    Goal {
        goal: Option<String>,
        /// As its document has it.
        title: String,
        /// The folder in which it is to hold.
        workspace: String,
        /// It holds where all of them pass; each in words.
        checks: Vec<String>,
        /// What whoever mends it is told, as its document has it.
        what_to_do: String,
        goal_id: String,
        /// active or paused.
        status: String,
        /// `always_on`, or a cron.
        schedule: String,
        due: Option<String>,
        being_looked_at: bool,
        looks: u64,
        fixes: u64,
        /// What came of looking at it last; none before anybody looked.
        last: Option<GoalLook>,
        /// The newest task that was to mend it.
        fix: Option<String>,
        /// The card that asked for leave to mend it unasked.
        card_id: Option<String>,
    },
    Deadline {
        task_id: String,
        deadline: String,
        deadline_action: String,
        due: Option<String>,
    },
    Monitor(crate::Monitor),
}

/// What came of looking at a goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "came_to", rename_all = "snake_case")]
pub enum GoalLook {
    Holds,
    /// Of its checks these failed, and this task mends it.
    Broken {
        failed: Vec<String>,
        task_id: String,
    },
    /// This task still mended it.
    Skipped {
        task_id: String,
    },
    /// Its checks could not be run.
    Troubled {
        message: String,
    },
}

/// The next that is due first; what rests comes last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScheduleList {
    pub schedules: Vec<Schedule>,
    pub next: Option<String>,
}

/// Those that worked on a task and for those who did, in the order in which they began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExecutionList {
    pub executions: Vec<Execution>,
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Execution {
    pub execution_id: String,
    pub lifecycle: Value,
    pub activity: Value,
    pub attention: Value,
    pub agent_id: Option<String>,
    pub model: Option<String>,
    pub scope: Value,
    pub records: usize,
    /// For whom it works, where an agent gave it a part of its own work.
    pub parent: Option<String>,
    /// The item of the plan that it works on or is asked about.
    pub atom: Option<String>,
    pub began_at: Option<String>,
    /// When the last thing happened in it: its end, once its lifecycle is over.
    pub last_at: String,
    pub tokens: u64,
    /// None where an answer's price is not known.
    pub cost_usd: Option<f64>,
    /// Whether what its terminal showed was recorded.
    pub recorded: bool,
}

/// What a task used over time, by itself and by all who work for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Spending {
    pub task_id: String,
    /// All that was used by then, in the order in which it came: a thousand points at most, of which the last is now.
    pub points: Vec<SpendingPoint>,
    /// An answer's price is not known: it cost more than is counted.
    pub unpriced: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SpendingPoint {
    pub at: String,
    pub tokens: u64,
    pub cost_usd: f64,
}

/// What a new task is to go on with, of an earlier conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ForkRequest {
    /// What it is to do; without words, to go on with its task.
    #[schema(max_length = 65536)]
    pub words: Option<String>,
    /// The last turn that is taken over; without one, the last that is complete.
    pub turn: Option<u32>,
    /// Checks in YAML flow form, as `command: cargo test`.
    #[schema(max_items = 100)]
    pub base_case: Vec<String>,
    #[schema(max_items = 100)]
    pub constraints: Vec<String>,
    /// Without one, the model that it asked.
    #[schema(max_length = 256)]
    pub model: Option<String>,
    #[schema(max_items = 50)]
    pub attachments: Vec<crate::AttachmentRequest>,
    pub limits: crate::LimitsRequest,
}

/// What a fork would take over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ForkShown {
    pub execution_id: String,
    /// Of the task that it worked on.
    pub task_id: String,
    pub goal: String,
    pub workspace: String,
    pub agent: String,
    pub model: String,
    /// The last turn that is taken over.
    pub turn: u32,
    /// A later turn that is still being worked on, and is left out.
    pub leaves_out: Option<u32>,
    /// Calls of which nobody knows how they ended.
    pub unended: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ForkTaken {
    /// The new task, which workers have.
    pub task_id: String,
    pub turn: u32,
    pub leaves_out: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GoalRequest {
    /// The goal's document: Markdown with YAML front matter.
    #[schema(max_length = 1048576)]
    pub document: String,
    #[schema(max_length = 4096)]
    pub workspace: Option<String>,
    /// How often it may be mended on one word; 10 times unless said.
    pub max_fixes: Option<u32>,
    #[schema(max_length = 256)]
    pub model: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GoalAdded {
    pub goal: String,
    pub goal_id: String,
    /// The card that asks for leave to mend it unasked.
    pub card_id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GoalChanged {
    pub goal: String,
    /// paused, resumed or removed.
    pub status: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Deliverable {
    /// As the agent called it.
    pub path: String,
    pub description: String,
    /// By which `/v1/blobs` has its bytes.
    pub digest: String,
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliverableList {
    pub deliverables: Vec<Deliverable>,
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeadLetterSettled {
    pub message_id: String,
    /// retried or dropped.
    pub decision: String,
}

/// Whether what happened is what was signed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditVerified {
    pub intact: bool,
    pub events: u64,
    pub finding: String,
}

/// Who heard of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventHeard {
    pub tasks: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RedirectRequest {
    /// What is to be different, with the fields that `windlass redirect` has as flags.
    pub change: Value,
    /// Instead, what is wanted in a person's own words: a planner looks for the change that they ask for.
    #[schema(max_length = 10000)]
    pub words: Option<String>,
    /// Instead, the planner who looked for it, once it has ended.
    pub planner: Option<String>,
    /// What is meant, in a sentence.
    #[schema(max_length = 10000)]
    pub note: String,
    /// Without it nothing is changed: it is only shown what would be.
    pub confirmed: bool,
    /// What was shown, as the answer says it: with it nothing else is made of it than what was seen.
    #[schema(max_length = 100)]
    pub seen: Option<String>,
}

/// What a redirect comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RedirectShown {
    pub task_id: String,
    pub redirected: bool,
    /// Who looks for the change, or did: say it again as `planner`.
    pub planner: Option<String>,
    /// What the planner says about it. It can say what it likes: what is different stands in `changes`.
    pub message: Option<String>,
    pub description: String,
    /// Every difference, old and new, in the lines of `windlass redirect`: whoever says yes to it has seen all of it.
    pub changes: Vec<String>,
    /// low, medium, high or irreversible; none while a planner looks for it.
    pub risk_level: Option<String>,
    pub interrupted: usize,
    /// What was done and is to be done again.
    pub undone: Vec<String>,
    pub worst_case: Value,
    /// Stands for all this: say it again with `confirmed`.
    pub seen: Option<String>,
}

/// A call of a tool's that nobody makes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GateTryRequest {
    #[schema(max_length = 256)]
    pub tool: String,
    /// As the tool takes them.
    pub tool_args: Value,
    /// Whether whoever makes it has read anything from outside.
    pub external: bool,
}

/// What the gates here would say to it. Scripts are not run for it, and no model is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GateTried {
    /// continue, require_approval or block.
    pub decision: String,
    /// The gate that decided; none where all let it pass.
    pub by: Option<String>,
    /// One for each gate that looks at calls.
    pub records: Vec<Value>,
}

/// What the operator has set for requests of one's tenant. Nothing of it is secret, and nothing of it can be changed from here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Settings {
    pub version: String,
    /// The folders in which tasks may work.
    pub workspaces: Vec<String>,
    /// Which model is asked, unless a request names another.
    pub model: Option<String>,
    pub planner_model: Option<String>,
    pub proxy_model: Option<String>,
    /// The most that one request may ask for.
    pub max_tokens: u64,
    pub max_cost_usd: f64,
    pub max_attempts: u32,
}
