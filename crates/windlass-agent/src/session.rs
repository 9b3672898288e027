//! One run of the loop: ask `next`, do it, ask again. The session holds what a process may lose: the open conversation with
//! the provider and how much of the transcript it has heard. What needs no conversation is `Work`, which tools share.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_domain::execution::{ExecutionState, Launch, Outcome, Rejected, RunnerCommand};
use windlass_domain::pattern::Around;
use windlass_domain::task::CompactionConfig;
use windlass_domain::tool_name::SAVE_MEMO;
use windlass_domain::{CancelSignal, ErrorCode, ErrorDetails, ExecutionId, Host, Refused, Role, Runtime, Stop};
use windlass_llm::{Chat, Opening};
use windlass_tools::Toolset;

use crate::compact::{Circumstances as Compacting, Flushes, Room};
use crate::context::Context;
use crate::lead::{given, out_of_reach};
use crate::next::{Circumstances, Form, Next, next};
use crate::pictures::Pictures;
use crate::runner::{NativeRunner, Settings};

pub(crate) struct Work<'a> {
    pub execution: ExecutionId,
    pub host: Arc<dyn Host>,
    pub runtime: &'a dyn Runtime,
    pub tools: &'a Toolset,
    /// How many agents it lets work at a time.
    pub max_parallel: usize,
    pub cancel: CancelSignal,
}

pub(crate) struct Session<'a> {
    pub runner: &'a NativeRunner,
    pub launch: Launch,
    pub work: Work<'a>,
    pub context: Arc<Context>,
    pub chat: Box<dyn Chat>,
    /// Whom the chat asks.
    pub model: String,
    /// How many messages of the transcript the chat has heard, and how often that had been rewritten by then.
    pub heard: usize,
    pub rewrites: u32,
    pub pictures: Pictures,
    /// What its pattern's conditions ask for, as it was when it was last looked at.
    pub around: Around,
}

/// The run is over; the value says how.
pub(crate) type Ended = Outcome;

impl<'a> Session<'a> {
    pub async fn open(runner: &'a NativeRunner, launch: Launch, host: Arc<dyn Host>) -> Result<Self, Ended> {
        let context = Context::load_or_build(host.as_ref(), &launch, &runner.tools).await.map_err(ended)?;
        let pattern = host.state().header.as_ref().and_then(|header| header.pattern.clone());
        let has = |tool: &str| context.tools.iter().any(|known| known.name == tool);
        if let Some(error) = pattern.as_ref().and_then(|pattern| out_of_reach(pattern, has)) {
            return Err(Outcome::Failed(error));
        }
        let around = Around { given: given(&launch.task), ..Around::default() };
        let model = model_of(&host.state(), &launch);
        let chat = open_chat(runner, &launch, &context, &model);
        let cancel = host.cancel();
        let rewrites = host.state().compactions.rewrites;
        let max_parallel = runner.settings.delegation.max_parallel.max(1);
        let (execution, runtime) = (launch.execution_id, runner.runtime.as_ref());
        let work = Work { execution, host, runtime, tools: &runner.tools, max_parallel, cancel };
        let pictures = Pictures::default();
        Ok(Self { runner, launch, work, context, chat, model, heard: 0, rewrites, pictures, around })
    }

    pub const fn settings(&self) -> &Settings {
        &self.runner.settings
    }

    /// A conversation that has heard nothing yet.
    pub fn open_chat(&self) -> Box<dyn Chat> {
        open_chat(self.runner, &self.launch, &self.context, &self.model_now())
    }

    /// Whom it asks, as its journal has it.
    pub fn model_now(&self) -> String {
        model_of(&self.work.host.state(), &self.launch)
    }

    /// How much the model takes that is asked now. What the operator says holds for every model; what a table says, for its own.
    fn window(&self) -> Option<u64> {
        let told = self.settings().compaction.context_window_tokens;
        let state = self.work.host.state();
        let Some(model) = state.switched_to() else { return told };
        let described = |name: &str| self.runner.models.described(name).map(|model| model.context_window);
        match (told, described(model)) {
            (Some(most), now) if told != described(&self.launch.model) => Some(now.map_or(most, |now| now.min(most))),
            (_, now) => now,
        }
    }

    pub fn room(&self) -> Room {
        let overflowed_at = self.work.host.state().compactions.overflowed_at;
        let compaction = self.settings().compaction;
        let reserve = compaction.response_reserve_tokens.min(self.longest_answer());
        let compaction =
            CompactionConfig { context_window_tokens: self.window(), response_reserve_tokens: reserve, ..compaction };
        Room::new(&compaction, self.flushes(), overflowed_at)
    }

    /// No more need be kept free for an answer than it can take.
    fn longest_answer(&self) -> u64 {
        let can_say = self.runner.models.described(&self.model_now()).and_then(|model| model.max_output);
        can_say.into_iter().chain(self.settings().max_output_tokens).min().map_or(u64::MAX, u64::from)
    }

    /// Only an agent that can save is told to.
    fn flushes(&self) -> Flushes {
        let can_save = self.context.tools.iter().any(|tool| tool.name == SAVE_MEMO);
        if can_save && self.settings().compaction.memory_flush_enabled { Flushes::Yes } else { Flushes::No }
    }

    const fn form(&self) -> Form {
        Form::of(self.launch.role)
    }

    fn compacting(&mut self) -> Compacting {
        // Whoever is asked anew each time has no conversation that could grow.
        let tokens = match self.form() {
            Form::Native => self.tokens(),
            Form::Tactician => 0,
        };
        let preserved = self.settings().compaction.preserve_recent_turns;
        Compacting { room: self.room(), flushes: self.flushes(), preserved, tokens }
    }

    /// What the pattern's conditions ask for.
    async fn look_around(&mut self) {
        let state = self.work.host.state();
        let Some(tracker) = &state.tracker else { return };
        let asked: BTreeSet<String> = tracker.pattern().files().map(str::to_owned).collect();
        if !asked.is_empty() {
            drop(state);
            self.around.files = self.work.tools.existing(asked).await;
        }
    }

    pub async fn run(&mut self) -> Outcome {
        loop {
            let stop = self.work.cancel.raised();
            if let Err(outcome) = self.load_pictures().await {
                return outcome;
            }
            self.look_around().await;
            let compacting = self.compacting();
            let (now, settings, form) = (self.work.runtime.wall(), &self.runner.settings, self.form());
            let circumstances = Circumstances { now, settings, compacting, form, around: &self.around };
            let step = next(&self.work.host.state(), &circumstances);
            let done = match (stop, step) {
                (Some(Stop::LeaseLost), _) => return Outcome::Stopped(Stop::LeaseLost),
                // What was in flight is accounted for before anything ends; only what must be run again is not.
                (stop, Next::Recover(calls)) => self.work.recover(calls, stop).await,
                (Some(stop), _) => return Outcome::Stopped(stop),
                (None, Next::Finish(outcome)) => return outcome,
                (None, Next::Wait) => return Outcome::Waiting,
                (None, Next::CallModel) => match form {
                    Form::Native => self.ask().await,
                    Form::Tactician => self.ask_decision().await,
                },
                (None, Next::RunTools(calls)) => self.work.run_wave(calls, &self.around).await,
                (None, Next::Compact(step)) => self.compact(step, compacting.tokens).await,
                (None, Next::Step(stepped)) => self.work.host.stage(vec![RunnerCommand::Step(stepped)]).map_err(ended),
                (None, Next::Nudge(nudged)) => self.work.host.stage(vec![RunnerCommand::Nudge(nudged)]).map_err(ended),
                (None, Next::Warn(detected)) => {
                    self.work.host.stage(vec![RunnerCommand::Warn(detected)]).map_err(ended)
                }
            };
            if let Err(outcome) = done {
                return outcome;
            }
        }
    }
}

fn model_of(state: &ExecutionState, launch: &Launch) -> String {
    state.switched_to().unwrap_or(&launch.model).to_owned()
}

fn open_chat(runner: &NativeRunner, launch: &Launch, context: &Context, model: &str) -> Box<dyn Chat> {
    runner.provider.open(Opening {
        model,
        temperature: temperature(runner, launch.role),
        max_output_tokens: runner.settings.max_output_tokens,
        system: &context.system,
        tools: &context.tools,
        answer_schema: None,
        agent: &launch.agent_id,
        role: launch.role,
    })
}

/// Where words go is decided alike for like words (seed 000 §3.2).
const ROUTING_TEMPERATURE: f64 = 0.1;

fn temperature(runner: &NativeRunner, role: Role) -> Option<f64> {
    match role {
        Role::Proxy => Some(ROUTING_TEMPERATURE),
        _ => runner.settings.temperature,
    }
}

/// How a refusal by the host ends the run.
pub(crate) fn ended(refused: Refused) -> Ended {
    match refused {
        Refused::Fenced | Refused::Overtaken => Outcome::Stopped(Stop::LeaseLost),
        Refused::Blocked(reason) => Outcome::Failed(ErrorDetails::new(ErrorCode::GateBlocked, reason)),
        Refused::Rejected(Rejected::OverBudget(exhausted)) => Outcome::Failed(exhausted.details()),
        other => Outcome::Failed(ErrorDetails::new(ErrorCode::Internal, other.to_string())),
    }
}
