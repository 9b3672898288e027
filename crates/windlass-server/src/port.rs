//! What the server asks of whoever starts it: who is known, where to complain, and what the operator's configuration makes of a
//! request.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use windlass_api::{
    CheckRequest, Checked, CommandTold, ForkRequest, GateTried, GateTryRequest, GoalRequest, SayRequest, Scope,
    Settings, TaskRequest,
};
use windlass_domain::approval::WorstCase;
use windlass_domain::execution::MessageKind;
use windlass_domain::graph::{Change, GraphState};
use windlass_domain::{BoxFuture, RequestId, Secret, TaskId, Tenant};
use windlass_engine::{Engine, Fork, GoalOrder, OwnerKey, Sent, Submission};

use crate::auth::{Caller, TokenRecord};
use crate::problems::Refusal;

/// The tokens there are at this moment; asked at every request, so that one that was taken back is good for nothing at once.
pub trait TokenBook: Send + Sync {
    fn tokens(&self) -> Arc<Vec<TokenRecord>>;
}

/// Where the operator reads what went wrong with the server itself. Nobody who asks is told that much.
pub trait Journal: Send + Sync {
    fn trouble(&self, what: &str);
}

/// Whether whoever asks for a task has also said yes to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Their word is signed, and a direct task begins on it.
    Approves,
    /// Somebody else is asked first.
    Asks,
}

/// What is there by the operator's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// As `windlass graph --json` has it, of a planned task.
    Graph(TaskId),
    /// As `windlass explain --json` has it.
    Explain(TaskId),
    Agents,
    Patterns,
    Skills,
    Gates,
}

/// Something that is said to a task.
#[derive(Debug, Clone)]
pub struct Said {
    pub task: TaskId,
    pub question: Option<RequestId>,
    pub kind: MessageKind,
    /// None: those that the kind has of its own.
    pub text: Option<String>,
}

/// A source of events that is known by a path, and signs as others have their webhooks sign.
#[derive(Clone)]
pub struct Hook {
    pub tenant: Tenant,
    pub source: String,
    pub key: Secret,
}

/// The house that the server is the door of: the operator's configuration, keys and folders.
pub trait House: Send + Sync {
    /// What is asked for as the engine takes it: model, sandbox, limits and folder are the operator's to say.
    fn task(
        &self,
        tenant: &Tenant,
        word: Word,
        request: TaskRequest,
    ) -> BoxFuture<'static, Result<Submission, Refusal>>;

    /// What goes on with `fork`, in the same folder where that is still one of the tenant's.
    fn fork(
        &self,
        tenant: &Tenant,
        fork: Fork,
        request: ForkRequest,
    ) -> BoxFuture<'static, Result<Submission, Refusal>>;

    /// What tasks of a conversation are begun with.
    fn saying(&self, tenant: &Tenant, request: SayRequest) -> BoxFuture<'static, Result<Submission, Refusal>>;

    fn goal(&self, tenant: &Tenant, request: GoalRequest) -> BoxFuture<'static, Result<GoalOrder, Refusal>>;

    /// What a document means, or what is wrong with it.
    fn checked(&self, request: &CheckRequest) -> Checked;

    /// What the operator's gates would say to a call that nobody makes.
    fn gates_tried(&self, request: GateTryRequest) -> GateTried;

    /// What the operator has set for this tenant's requests, without what is secret.
    fn settings(&self, tenant: &Tenant) -> Settings;

    /// The folder that is meant, if tasks of this tenant may work in it.
    fn folder(&self, tenant: &Tenant, named: Option<&str>) -> Result<PathBuf, Refusal>;

    /// Whether a token of this tenant may have this change made, which comes to so much at worst.
    fn may_redirect(
        &self,
        tenant: &Tenant,
        change: &Change,
        was: Option<WorstCase>,
        comes_to: WorstCase,
    ) -> Result<(), Refusal>;

    /// What `wanted` comes to for this graph, in a sentence.
    fn change(&self, wanted: &Value, graph: &GraphState) -> Result<(Change, String), Refusal>;

    /// Every difference that a change makes to this graph, a line each.
    fn differences(&self, change: &Change, graph: &GraphState) -> Vec<String>;

    /// The key that a yes is signed with.
    fn owner_key(&self) -> Result<OwnerKey, Refusal>;

    /// Whether the tenant's history is the one whose heads were signed: the finding, and how much there is.
    fn verify_audit(&self, engine: Engine, tenant: &Tenant)
    -> BoxFuture<'static, Result<(bool, u64, String), Refusal>>;

    /// As the tenant sees it, whose engine it is.
    fn view(&self, engine: Engine, tenant: &Tenant, view: View) -> BoxFuture<'static, Result<Value, Refusal>>;

    /// Carries out a command of the program's own for somebody elsewhere, if it is one of those that this scope is for.
    fn command(
        &self,
        engine: Engine,
        caller: &Caller,
        scope: Scope,
        command: Value,
    ) -> BoxFuture<'static, Result<CommandTold, Refusal>>;

    /// Says something of a kind of its own to whoever works on a task: who can hear that, and which models there are, is the house's to know.
    fn tell(&self, engine: Engine, caller: &Caller, said: Said) -> BoxFuture<'static, Result<Sent, Refusal>>;

    /// For Prometheus: of the whole process, whosever tasks it works on.
    fn metrics(&self) -> String;

    /// The key with which this source signs what it sends, if there is such a source.
    fn webhook_key(&self, tenant: &Tenant, source: &str) -> Option<Secret>;

    /// Who is known by this path, of those who can bear no token.
    fn hook(&self, path: &str) -> Option<Hook>;
}
