//! One run of the loop: ask `next`, do it, ask again. The session holds what a process may lose: the open conversation with
//! the provider and how much of the transcript it has heard. What needs no conversation is `Work`, which tools share.

use std::sync::Arc;

use windlass_domain::execution::{ContextRef, Launch, Outcome, Rejected};
use windlass_domain::{CancelSignal, ErrorCode, ErrorDetails, Host, Refused, Runtime, Stop};
use windlass_llm::{Chat, Opening};
use windlass_tools::Toolset;

use crate::context::Context;
use crate::next::{Next, next, out_of};
use crate::runner::NativeRunner;

pub(crate) struct Work<'a> {
    pub host: Arc<dyn Host>,
    pub runtime: &'a dyn Runtime,
    pub tools: &'a Toolset,
    /// How many agents it lets work at a time.
    pub max_parallel: usize,
    pub cancel: CancelSignal,
}

pub(crate) struct Session<'a> {
    pub work: Work<'a>,
    pub chat: Box<dyn Chat>,
    /// How many messages of the transcript the chat has heard.
    pub heard: usize,
    pub context: ContextRef,
}

/// The run is over; the value says how.
pub(crate) type Ended = Outcome;

impl<'a> Session<'a> {
    pub async fn open(runner: &'a NativeRunner, launch: Launch, host: Arc<dyn Host>) -> Result<Self, Ended> {
        let context = Context::load_or_build(host.as_ref(), &launch, &runner.tools).await.map_err(ended)?;
        let chat = runner.provider.open(Opening {
            model: &launch.model,
            temperature: runner.settings.temperature,
            max_output_tokens: runner.settings.max_output_tokens,
            system: &context.system,
            tools: &context.tools,
            agent: &launch.agent_id,
            role: launch.role,
        });
        let cancel = host.cancel();
        let max_parallel = runner.settings.delegation.max_parallel.max(1);
        let work = Work { host, runtime: runner.runtime.as_ref(), tools: &runner.tools, max_parallel, cancel };
        Ok(Self { work, chat, heard: 0, context: context.named })
    }

    pub async fn run(&mut self) -> Outcome {
        loop {
            let stop = self.work.cancel.raised();
            let step = next(&self.work.host.state(), self.work.runtime.wall());
            let done = match (stop, step) {
                (Some(Stop::LeaseLost), _) => return Outcome::Stopped(Stop::LeaseLost),
                // What was in flight is accounted for before anything ends; only what must be run again is not.
                (stop, Next::Recover(calls)) => self.work.recover(calls, stop).await,
                (Some(stop), _) => return Outcome::Stopped(stop),
                (None, Next::Finish(outcome)) => return outcome,
                (None, Next::Wait) => return Outcome::Waiting,
                (None, Next::CallModel) => self.ask().await,
                (None, Next::RunTools(calls)) => self.work.run_wave(calls).await,
            };
            if let Err(outcome) = done {
                return outcome;
            }
        }
    }
}

/// How a refusal by the host ends the run.
pub(crate) fn ended(refused: Refused) -> Ended {
    match refused {
        Refused::Fenced | Refused::Overtaken => Outcome::Stopped(Stop::LeaseLost),
        Refused::Blocked(reason) => Outcome::Failed(ErrorDetails::new(ErrorCode::GateBlocked, reason)),
        Refused::Rejected(Rejected::OverBudget(exhausted)) => Outcome::Failed(out_of(exhausted)),
        other => Outcome::Failed(ErrorDetails::new(ErrorCode::Internal, other.to_string())),
    }
}
