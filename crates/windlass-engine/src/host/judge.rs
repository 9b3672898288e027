//! A gate that asks a model: the question is an execution of its own, journaled, without tools, on the lease and the budget of
//! the execution it is asked for. What it used is charged there. It only scores; what a score leads to is the gate's.

use std::sync::Arc;

use windlass_domain::execution::{
    Asked, Carrier, ExecutionCommand, Header, Launch, Lifecycle, Outcome, Parent, SubagentFinished, TaskMessage,
};
use windlass_domain::{
    Account, ErrorCode, ErrorDetails, ExecutionId, Host as _, Labels, Limits, Role, Runner, Scope, Spent,
};
use windlass_policy::gate::Answer;

use super::execution_host::ExecutionHost;
use super::journal::Journal;
use super::rider::Rider;
use crate::attempt::bare_sandbox;
use crate::equipment::Order;

const PROMPT: &str = include_str!("../../../../prompts/judge/score.md");
const AGENT: &str = "judge";
/// One answer, and one more where the first was cut off.
const MOST_ANSWERS: u32 = 2;

impl ExecutionHost {
    pub(super) async fn score(&self, criteria: &str, input: &str, timeout_seconds: u64) -> Answer {
        match self.try_score(criteria, input, timeout_seconds).await {
            Ok(Outcome::Completed { message }) => Answer::Said(message),
            Ok(Outcome::Failed(ErrorDetails { error_code: ErrorCode::Timeout, .. })) => Answer::TimedOut,
            Ok(Outcome::Failed(error)) => Answer::Failed(error.message),
            Ok(Outcome::Waiting | Outcome::Stopped(_)) => Answer::Failed("the judge was stopped".to_owned()),
            Err(reason) => Answer::Failed(reason),
        }
    }

    async fn try_score(&self, criteria: &str, input: &str, timeout_seconds: u64) -> Result<Outcome, String> {
        let runner = self.judges_runner().await.map_err(|error| error.message)?;
        let execution_id = ExecutionId::new(self.shared.wall(), self.shared.runtime.random());
        let judge = self.kin(execution_id, Journal::new(execution_id), Arc::new(crate::watch::NobodyWatches));
        let begun = [
            ExecutionCommand::Create(Box::new(self.header(execution_id, timeout_seconds))),
            ExecutionCommand::Move { to: Lifecycle::Launching, reason: "a gate asks".to_owned() },
            ExecutionCommand::Move { to: Lifecycle::Running, reason: "equipped".to_owned() },
        ];
        judge.decide(begun.to_vec()).map_err(|refused| refused.to_string())?;
        let host: Arc<dyn windlass_domain::Host> = Arc::<Self>::clone(&judge);
        let outcome = runner.run(self.question(execution_id, criteria, input), host).await;
        let ended = match &outcome {
            Outcome::Completed { .. } => Lifecycle::Completed,
            _ => Lifecycle::Failed,
        };
        let end = ExecutionCommand::Move { to: ended, reason: "asked once".to_owned() };
        let settled = judge.commit(vec![end], Rider::default()).await;
        let Spent { usage, cost, .. } = judge.state().spent_by(self.shared.wall());
        let bill = SubagentFinished::bill(execution_id, Role::Verifier, usage, cost);
        self.charge(bill).map_err(|refused| refused.to_string())?;
        settled.map_err(|refused| refused.to_string())?;
        Ok(outcome)
    }

    async fn judges_runner(&self) -> Result<Arc<dyn Runner>, ErrorDetails> {
        let script = self.shared.script(&self.created).await?;
        let sandbox = bare_sandbox(&self.shared, &self.created, self.folder.clone())?;
        let order = Order {
            created: &self.created,
            execution: self.execution,
            role: Role::Verifier,
            script,
            folder: &self.folder,
            sandbox,
            depth: self.depth,
        };
        self.shared.equipment.runner(order)
    }

    fn header(&self, execution_id: ExecutionId, timeout_seconds: u64) -> Header {
        Header {
            execution_id,
            agent_id: AGENT.to_owned(),
            role: Role::Verifier,
            scope: Scope::of(Account::Judge { of: self.task, created: &self.created }),
            agent_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: self.created.command.execution_config.model.clone(),
            configuration_digest: windlass_domain::Digest::of(PROMPT.as_bytes()),
            limits: Limits {
                max_iterations: MOST_ANSWERS,
                timeout_ms: timeout_seconds.saturating_mul(1_000),
                ..self.left(self.shared.wall())
            },
            labels: Labels::default(),
            parent: Some(Parent { execution_id: self.execution, call_id: None }),
            carrier: Carrier::Native,
            pattern: None,
        }
    }

    fn question(&self, execution_id: ExecutionId, criteria: &str, input: &str) -> Launch {
        let prompt = PROMPT.replacen("{criteria}", criteria, 1).replacen("{input}", input, 1);
        Launch {
            execution_id,
            task_id: self.task,
            agent_id: AGENT.to_owned(),
            role: Role::Verifier,
            asked: Asked::default(),
            model: self.created.command.execution_config.model.clone(),
            task: TaskMessage { goal: prompt, ..TaskMessage::default() },
            patterns: Vec::new(),
        }
    }
}
