//! Carrying one execution to its end: bring its journal to `running`, open its sandbox, let the runner work, and say what
//! to record. A process that vanished leaves an execution `running`; whoever takes it over records that it was lost.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use windlass_domain::execution::{
    AgentInjection, Asked, ExecutionCommand, ExecutionState, InjectionReceived, Launch, Lifecycle, Outcome, TaskMessage,
};
use windlass_domain::known::{ContextItem, TaskContext};
use windlass_domain::pattern::Pattern;
use windlass_domain::role_output::WorkerReport;
use windlass_domain::task::{AttemptEnded, ModelChoice, Part, TaskAction, TaskCreated};
use windlass_domain::{
    Awaited, CallStatus, Effect, ErrorCategory, ErrorCode, ErrorDetails, ExecutionId, Host, MessageId, Role, Runner,
    Stop, Taint, TaskId, UsageMetrics, Usd,
};
use windlass_policy::gate::Trigger;
use windlass_sandbox::Sandbox;
use windlass_store::MailboxSeen;

use super::driver::{Driver, cancelled, interrupted, metrics};
use super::lazy_sandbox::{LazySandbox, Opener};
use super::lifecycle::{Before, GONE, move_to, to_asking_again, to_running};
use super::part::Heritage;
use super::repair::{Awaits, Said, in_time, settled};
use super::report::reported;
use crate::Error;
use crate::answers::ended as finished;
use crate::approvals::check_plan;
use crate::control::{hear, mailbox};
use crate::engine::{Engine, Shared};
use crate::equipment::Order;
use crate::gates::own_gates;
use crate::host::{ExecutionHost, Ground, Held, HostParts, Passed, Refusals, Rider, load, pass_words};
use crate::tripwire::TripwirePoint;
use crate::worktrees::Prepared;

/// How a run ended, still to be committed: by the host, with the task's own part beside.
pub(super) struct Ran {
    pub host: Arc<ExecutionHost>,
    pub commands: Vec<ExecutionCommand>,
    pub actions: Vec<TaskAction>,
    /// What an end takes along.
    pub rider: Rider,
    pub rest: Rest,
    /// By this execution.
    pub used: (UsageMetrics, Usd),
}

/// Whether the task goes on from here.
pub(super) enum Rest {
    No,
    /// Later; where an outage paused it, the error says which.
    Paused(Option<ErrorDetails>),
    /// Once a person has answered one of these.
    Parked(Vec<Awaited>),
}

/// What a run works with.
struct Equipped {
    sandbox: Arc<dyn Sandbox>,
    runner: Arc<dyn Runner>,
    folder: Prepared,
}

/// How an attempt was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    ProcessGone,
    FolderLost,
}

impl Cut {
    const fn in_words(self) -> &'static str {
        match self {
            Self::ProcessGone => GONE,
            Self::FolderLost => "the folder that it worked in is gone, and was made anew",
        }
    }
}

impl Driver {
    pub(super) async fn execute(&mut self, attempt: u32, execution: ExecutionId) -> Result<Ran, Error> {
        let is_entered_again = self.begun.is_none() && !self.is_running_it;
        let host = self.host(execution).await?;
        let created = self.created()?.clone();
        if self.engine.shared.process.stands_in_for().is_some() {
            return Box::pin(self.give_up(attempt, host)).await;
        }
        if is_entered_again && let Err(why) = Box::pin(self.check_approval(&host, &created)).await? {
            let message = format!("the approval of this run does not hold: {why}");
            let denied = ErrorDetails::new(ErrorCode::ApprovalDenied, message);
            let outcome = Outcome::Failed(denied);
            let rider = self.closing(&host, &outcome).await?;
            return Ok(Ran { rider, ..self.ended(attempt, host, (outcome, None), Vec::new()) });
        }
        // What is over before the agent works is kept apart: see `drive`.
        let is_heard =
            self.journal.state.is_research_back() || Box::pin(self.engine.is_anything_heard(&host.state())).await?;
        let unknown = created.leading().err();
        let unknown = unknown.map(|name| no_such_pattern(&name, &created));
        let (outcome, report) = match self.nothing_left_to_do(&host.state(), is_heard).or(unknown) {
            Some(outcome) => (outcome, None),
            None => match self.equip(&created, execution, host.refusals()).await {
                Ok(equipped) if self.is_out_of_luck(self.cut(&host.state(), equipped.folder)) => {
                    equipped.sandbox.close().await;
                    (cut_off_too_often(), None)
                }
                Ok(equipped) => {
                    let answers = Box::pin(self.engine.answers(&host.state())).await?;
                    let launch = Box::pin(self.launch(execution, &created)).await?;
                    self.carry(&host, launch, answers, equipped).await?
                }
                Err(error) => return self.not_equipped(attempt, host, error).await,
            },
        };
        self.is_running_it = false;
        self.engine.shared.pass(TripwirePoint::RunEnded).await;
        // A wish to stop that was heard by now counts as read: whoever parked on it would sleep through it.
        let outcome = match (outcome, self.canceller.signal().raised()) {
            (Outcome::Waiting, Some(stop)) => Outcome::Stopped(stop),
            (outcome, _) => outcome,
        };
        match outcome {
            Outcome::Stopped(Stop::LeaseLost) => Err(Error::LeaseLost(self.task)),
            outcome => {
                let rider = self.closing(&host, &outcome).await?;
                let mut waits_for = self.engine.awaited(&host.state()).await?;
                waits_for.extend(self.journal.state.open_research().map(|inquiry| Awaited::Research(inquiry.run)));
                Ok(Ran { rider, ..self.ended(attempt, host, (outcome, report), waits_for) })
            }
        }
    }

    /// What a machine that is lost was doing: nobody can look into it.
    async fn give_up(&self, attempt: u32, host: Arc<ExecutionHost>) -> Result<Ran, Error> {
        const NOBODY_CAN_LOOK: &str = "the machine that it was made on is lost: nobody can tell whether it happened";
        let outcome = Outcome::Stopped(Stop::Cancel);
        let rider = self.closing(&host, &outcome).await?;
        let in_flight: Vec<ExecutionCommand> = {
            let state = host.state();
            let started = state.open_calls.iter().filter(|open| open.started().is_some_and(|it| *it != Effect::Child));
            started
                .map(|open| finished(&open.call.call_id, CallStatus::Interrupted, NOBODY_CAN_LOOK.to_owned()))
                .collect()
        };
        host.pay(in_flight).map_err(|refused| self.refused(refused))?;
        Ok(Ran { rider, ..self.ended(attempt, host, (outcome, None), Vec::new()) })
    }

    /// With what ends, all that it still asks is taken back, and whoever works for it ends as well.
    async fn closing(&self, host: &ExecutionHost, outcome: &Outcome) -> Result<Rider, Error> {
        let mut rider = Rider::default();
        if !self.rests(outcome) {
            let bills = self.engine.take_back(self.task, &mut rider, &host.state()).await?;
            host.pay(bills).map_err(|refused| self.refused(refused))?;
        }
        // Who says that it is done has heard all that was said to it.
        if matches!(outcome, Outcome::Completed { .. }) {
            rider.unread.push(MailboxSeen { mailbox: mailbox(self.task), seen: self.inbox.read() });
        }
        Ok(rider)
    }

    /// Whether it goes on from here, now or later.
    fn rests(&self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Waiting | Outcome::Stopped(Stop::Pause) => true,
            Outcome::Failed(error) => error.is_outage() && self.journal.state.interruptions_left() > 0,
            Outcome::Completed { .. } | Outcome::Stopped(Stop::Cancel | Stop::LeaseLost) => false,
        }
    }

    /// What was approved is what goes on.
    async fn check_approval(&self, host: &ExecutionHost, created: &TaskCreated) -> Result<Result<(), String>, Error> {
        let mut rider = Rider::default();
        if let Some(of) = &created.part_of {
            let checked = Box::pin(self.check_whole_approval(of, &mut rider)).await?;
            host.commit(Vec::new(), rider).await.map_err(|refused| self.refused(refused))?;
            return Ok(checked);
        }
        if created.turn.is_some() && created.role == Role::Proxy {
            return Ok(Ok(()));
        }
        let Some(card) = created.approval else { return Ok(self.engine.shared.law.unsigned_may_run()) };
        let checked = check_plan(&self.engine.shared, card, created, &mut rider).await?;
        host.commit(Vec::new(), rider).await.map_err(|refused| self.refused(refused))?;
        Ok(checked)
    }

    /// What needs no sandbox: one that is cancelled or paused with no call in flight, one that still waits, and one cut off
    /// too often.
    fn nothing_left_to_do(&self, state: &ExecutionState, is_heard: bool) -> Option<Outcome> {
        let in_flight = state.open_calls.iter().any(|open| open.started().is_some());
        let stop = self.canceller.signal().raised();
        if stop == Some(Stop::Cancel) && !in_flight {
            return Some(Outcome::Stopped(Stop::Cancel));
        }
        if state.lifecycle == Lifecycle::AwaitingInput && !is_heard {
            return Some(stop.map_or(Outcome::Waiting, Outcome::Stopped));
        }
        self.is_out_of_luck(self.cut(state, Prepared::GoesOn)).then(cut_off_too_often)
    }

    /// What came between this run and what the attempt had done before it.
    fn cut(&self, state: &ExecutionState, folder: Prepared) -> Option<Cut> {
        // A folder that is made anew holds nothing of what the agent believes to have done there.
        let is_folder_lost = folder == Prepared::Fresh && state.answers > 0;
        if is_folder_lost { Some(Cut::FolderLost) } else { self.was_cut_off(state).then_some(Cut::ProcessGone) }
    }

    fn is_out_of_luck(&self, cut: Option<Cut>) -> bool {
        cut.is_some() && self.journal.state.interruptions_left() == 0
    }

    async fn carry(
        &mut self,
        host: &Arc<ExecutionHost>,
        launch: Launch,
        answers: Vec<ExecutionCommand>,
        Equipped { sandbox, runner, folder }: Equipped,
    ) -> Result<(Outcome, Option<WorkerReport>), Error> {
        self.engine.shared.pass(TripwirePoint::SandboxOpened).await;
        host.equip(Arc::clone(&sandbox));
        host.brief(launch.task.clone()).await;
        let mut begun = self.to_running(&host.state());
        begun.extend(answers);
        let cut = self.cut(&host.state(), folder);
        if cut == Some(Cut::FolderLost) {
            self.tell_agent(AgentInjection::folder_lost());
        }
        let gone =
            cut.map(|cut| TaskAction::Interrupt(ErrorDetails::new(ErrorCode::Interrupted, cut.in_words().to_owned())));
        let woken = self.journal.state.is_parked().then_some(TaskAction::Wake);
        let actions: Vec<TaskAction> = gone.into_iter().chain(woken).collect();
        // Committed with the first thing that follows from it: until then nothing has happened.
        host.decide(begun).map_err(|refused| self.refused(refused))?;
        // A program may ask before it is first listened for.
        if host.is_foreign() {
            host.hear_of_models().map_err(|refused| self.refused(refused))?;
        }
        if !actions.is_empty() {
            // What answered the last question stands beside its end.
            host.hear_if_quiet().map_err(|refused| self.refused(refused))?;
            if let Err(refused) = Box::pin(self.commit_with(host, Vec::new(), actions, Rider::default())).await {
                sandbox.close().await;
                return Err(refused);
            }
        }
        let (outcome, awaits) = loop {
            let outcome = runner.run(launch.clone(), Arc::clone(host) as Arc<dyn Host>).await;
            let said = Box::pin(self.planner_said(&launch, &outcome)).await?;
            let reports = Box::pin(self.worker_said(&launch, &outcome)).await?;
            let awaits = Box::pin(self.awaits(&launch, &outcome, said.as_ref())).await?;
            // Whoever spoke while the agent was saying its last word is answered.
            let is_last_word = matches!(outcome, Outcome::Completed { .. });
            if is_last_word {
                // Others' commits are noticed late, and this is the last chance to hear of them.
                Box::pin(hear(&self.engine.shared, self.task, &self.inbox, &self.canceller)).await?;
            }
            let goes_on = is_last_word
                && (host.hear().map_err(|refused| self.refused(refused))?
                    || self.asks_again(
                        host,
                        &launch,
                        &outcome,
                        (Said::of(said.as_ref(), reports.as_ref()), awaits),
                    )?);
            if !goes_on {
                break (outcome, awaits);
            }
        };
        sandbox.close().await;
        host.write_context().await;
        // It was not its last word: it goes on once somebody has found something out.
        if let (Outcome::Completed { .. }, Awaits::Research) = (&outcome, awaits) {
            return Ok((Outcome::Waiting, None));
        }
        let outcome = self.as_before_the_repair(host, &launch, outcome);
        let outcome = Box::pin(self.pass_outcome(host, outcome)).await?;
        let said = Box::pin(self.planner_said(&launch, &outcome)).await?;
        let reports = Box::pin(self.worker_said(&launch, &outcome)).await?;
        let outcome = in_time(settled(launch.asked, outcome, awaits, said), &self.journal.state);
        Ok(reported(outcome, reports, &self.created()?.base_case))
    }

    /// The agent's last word passes the operator's gates before it becomes the result. The journal has it either way.
    async fn pass_outcome(&self, host: &ExecutionHost, outcome: Outcome) -> Result<Outcome, Error> {
        let Outcome::Completed { message } = outcome else { return Ok(outcome) };
        // Whoever ends without asking once more has made a step all the same.
        if let Some((why, audited)) = host.after_step().await {
            let rider = Rider { events: vec![audited], ..Rider::default() };
            host.commit(Vec::new(), rider).await.map_err(|refused| self.refused(refused))?;
            return Ok(Outcome::Failed(ErrorDetails::new(ErrorCode::GateBlocked, why)));
        }
        let trigger = Trigger::EveryAgentResponse;
        let Passed { text, audited } =
            pass_words(&self.engine.shared, trigger, message, (self.task, host.taint()), Held::execution(host)).await;
        if let Some(audited) = audited {
            let rider = Rider { events: vec![audited], ..Rider::default() };
            host.commit(Vec::new(), rider).await.map_err(|refused| self.refused(refused))?;
        }
        Ok(match text {
            Ok(message) => Outcome::Completed { message },
            Err(why) => Outcome::Failed(ErrorDetails::new(ErrorCode::GateBlocked, why)),
        })
    }

    async fn host(&mut self, execution: ExecutionId) -> Result<Arc<ExecutionHost>, Error> {
        let shared = Arc::clone(&self.engine.shared);
        let begun = self.begun.take();
        let heritage = Box::pin(self.heritage()).await?;
        let created = self.created()?;
        let folder = self.folder().map_err(|error| self.broken(error.message))?;
        let gates = own_gates(created).map_err(|why| self.broken(why))?;
        let journal = match begun {
            Some((begun, journal)) if begun == execution => journal,
            _ => load(shared.store.as_ref(), &shared.tenant, execution).await?,
        };
        let ground = Ground::load(&shared, &folder.to_string_lossy(), execution).await?;
        let (inherited, _) = self.journal.state.inherited();
        let host = ExecutionHost::new(HostParts {
            shared,
            execution,
            fence: self.fence.clone(),
            journal,
            cancel: self.canceller.signal(),
            inbox: self.inbox.clone(),
            watcher: Arc::clone(&self.watcher),
            task: self.task,
            created: Arc::new(created.clone()),
            attempt: u32::try_from(self.journal.state.attempts.len()).unwrap_or(u32::MAX),
            // Nobody signed what the user asked for; and what earlier attempts ran into comes from what they had read.
            prompt_taint: heritage.taint.unwrap_or(Taint::Auth).join(inherited),
            parent: Weak::new(),
            depth: 0,
            folder,
            gates: gates.into(),
            ground,
            refusals: Arc::default(),
        });
        host.gather().await?;
        if !self.journal.state.inquiries.is_empty() {
            host.set_aside(self.engine.helpers(&self.journal.state).await?);
        }
        Ok(host)
    }

    async fn launch(&self, execution_id: ExecutionId, created: &TaskCreated) -> Result<Launch, Error> {
        let Heritage { bindings, asked, .. } = self.heritage().await?;
        let known = self.journal.state.context.as_ref().map(|gathered| &gathered.context);
        let told = |items: fn(&TaskContext) -> &Vec<ContextItem>| {
            known.into_iter().flat_map(items).map(ContextItem::told).collect::<Vec<_>>()
        };
        Ok(Launch {
            execution_id,
            task_id: self.task,
            agent_id: created.agent_id.clone(),
            role: created.works_as(),
            asked: match created.part_of.as_ref().map(|of| &of.part) {
                Some(Part::Guidance { .. }) => Asked::Guidance,
                Some(Part::Plan { aligns: true, .. }) => Asked::Alignment,
                Some(Part::Correction {}) => Asked::Correction,
                _ => asked,
            },
            model: created.command.execution_config.model.clone(),
            task: TaskMessage {
                goal: created.command.goal.clone(),
                constraints: created.command.constraints.clone(),
                attachments: created.attachments.clone(),
                memories: told(|known| &known.memories),
                kept: [told(|known| &known.preferences), told(|known| &known.attachments)].concat(),
                previous_failures: self.journal.state.failures(),
                finish_line: created.base_case.0.iter().map(|check| check.name.clone()).collect(),
                bindings,
                guidance: self.journal.state.guidance(),
                forked: created.forked.clone(),
            },
            patterns: match created.role {
                Role::Planner => created.command.execution_config.patterns.iter().map(offered).collect(),
                _ => Vec::new(),
            },
        })
    }

    async fn equip(
        &self,
        created: &TaskCreated,
        execution: ExecutionId,
        refusals: Arc<Refusals>,
    ) -> Result<Equipped, ErrorDetails> {
        let prepared = Box::pin(self.prepare_folder(created)).await?;
        let folder = self.folder()?;
        let script = self.engine.shared.script(created).await?;
        let sandbox = self.sandbox(created, execution, folder.clone(), refusals).await?;
        let sandboxed = Arc::clone(&sandbox);
        let order = Order {
            created,
            execution,
            role: created.works_as(),
            script,
            folder: &folder,
            sandbox: sandboxed,
            depth: 0,
        };
        let runner = self.engine.shared.equipment.runner(order)?;
        Ok(Equipped { sandbox, runner, folder: prepared })
    }

    /// The attempt's sandbox: open already where this process has not yet seen this provider deny what it must.
    async fn sandbox(
        &self,
        created: &TaskCreated,
        execution: ExecutionId,
        folder: PathBuf,
        refusals: Arc<Refusals>,
    ) -> Result<Arc<dyn Sandbox>, ErrorDetails> {
        let shared = &self.engine.shared;
        let opener = Opener::new(Arc::clone(shared), &created.sandbox, folder)?.showing(&created.skills);
        let home = created.forked.as_ref().and_then(|from| from.home);
        let (equipment, agent, signal) =
            (Arc::clone(&shared.equipment), created.agent_id.clone(), self.canceller.signal());
        let furnish = move || equipment.furnish(&agent, execution, home, &|| signal.raised().is_some());
        let opener = opener.furnished(shared.blocking(furnish).await?);
        let sandbox = LazySandbox::new(opener.labelled(self.task).watched_by(refusals));
        if !shared.is_proved(&created.sandbox) {
            sandbox.open().await.map_err(|error| unavailable(&error))?;
            shared.prove(&created.sandbox);
        }
        Ok(Arc::new(sandbox))
    }

    /// What brings the journal to `running` from wherever it stands.
    fn to_running(&self, state: &ExecutionState) -> Vec<ExecutionCommand> {
        if self.is_running_it && state.lifecycle == Lifecycle::Running {
            return if state.is_asking() { to_asking_again() } else { Vec::new() };
        }
        if state.lifecycle == Lifecycle::Paused {
            self.tell_agent(AgentInjection::resumed());
        }
        to_running(state, if self.was_cut_off(state) { Before::CutOff } else { Before::AtRest })
    }

    /// In the runtime's own words.
    fn tell_agent(&self, injection: AgentInjection) {
        let shared = &self.engine.shared;
        let message_id = MessageId::new(shared.wall(), shared.runtime.random());
        self.inbox.put(InjectionReceived { message_id, injection, taint: Taint::Owner });
    }

    /// A journal that says `running` while nobody held its lease was cut off.
    fn was_cut_off(&self, state: &ExecutionState) -> bool {
        !self.is_running_it && matches!(state.lifecycle, Lifecycle::Running | Lifecycle::Launching)
    }

    /// Nothing has happened, and its journal stays as it is: calls that were in flight are looked into by whoever goes on. Who was told to
    /// stop while its folder was made has met no outage.
    async fn not_equipped(&self, attempt: u32, host: Arc<ExecutionHost>, error: ErrorDetails) -> Result<Ran, Error> {
        let (actions, rest) = match self.canceller.signal().raised() {
            Some(Stop::LeaseLost) => return Err(Error::LeaseLost(self.task)),
            Some(Stop::Pause) => (vec![self.inbox.pause()], Rest::Paused(None)),
            _ if self.journal.state.interruptions_left() == 0 => {
                let outcome = Outcome::Failed(error);
                let rider = self.closing(&host, &outcome).await?;
                return Ok(Ran { rider, ..self.ended(attempt, host, (outcome, None), Vec::new()) });
            }
            _ => (interrupted(&error), Rest::Paused(Some(error))),
        };
        let used = metrics(&host, self.engine.shared.wall());
        let actions = self.resting(actions);
        Ok(Ran { host, commands: Vec::new(), actions, rider: Rider::default(), rest, used })
    }

    fn ended(
        &self,
        attempt: u32,
        host: Arc<ExecutionHost>,
        (outcome, report): (Outcome, Option<WorkerReport>),
        waits_for: Vec<Awaited>,
    ) -> Ran {
        let state = host.state();
        let (usage, cost) = metrics(&host, self.engine.shared.wall());
        let ended = |final_message, error| {
            TaskAction::EndAttempt(AttemptEnded {
                attempt,
                final_message,
                report: report.clone(),
                error,
                deliverables: state.deliverables.clone(),
                interrupted: state.interrupted.clone(),
                usage,
                cost,
                unpriced: state.unpriced,
                taint: state.taint,
                labels: state.labels.clone(),
            })
        };
        let (commands, actions, rest) = match outcome {
            Outcome::Completed { message } => {
                let done = move_to(Lifecycle::Completed, "the agent says it is done");
                (vec![done], vec![ended(Some(message), None)], Rest::No)
            }
            Outcome::Failed(error) if self.rests(&Outcome::Failed(error.clone())) => {
                let pause = move_to(Lifecycle::Paused, &error.message);
                (vec![pause], self.resting(interrupted(&error)), Rest::Paused(Some(error)))
            }
            Outcome::Failed(error) => {
                (vec![move_to(Lifecycle::Failed, &error.message)], vec![ended(None, Some(error))], Rest::No)
            }
            Outcome::Waiting => {
                let (commands, actions) = match state.lifecycle {
                    // Nobody has answered yet: everything stays as it is.
                    Lifecycle::AwaitingInput => (Vec::new(), Vec::new()),
                    _ => {
                        let wait = move_to(Lifecycle::AwaitingInput, awaiting(&waits_for));
                        (vec![wait], vec![TaskAction::Park { waits_for: waits_for.clone() }])
                    }
                };
                (commands, actions, Rest::Parked(waits_for))
            }
            // The task itself is ended by the driver's next step, which heeds the same signal.
            Outcome::Stopped(Stop::Cancel | Stop::LeaseLost) => {
                let why = self.time_up().map_or_else(|| cancelled(&self.engine), |up| up.error());
                (vec![move_to(Lifecycle::Cancelled, &why.message)], vec![ended(None, Some(why))], Rest::No)
            }
            Outcome::Stopped(Stop::Pause) => {
                let pause = self.inbox.pause();
                // What waits for a person goes on waiting for them.
                let is_running = state.lifecycle == Lifecycle::Running;
                let paused = is_running.then(|| move_to(Lifecycle::Paused, pause.reason()));
                (paused.into_iter().collect(), self.resting(vec![pause]), Rest::Paused(None))
            }
        };
        drop(state);
        Ran { host, commands, actions, rider: Rider::default(), rest, used: (usage, cost) }
    }
}

fn cut_off_too_often() -> Outcome {
    Outcome::Failed(ErrorDetails::new(ErrorCode::Interrupted, "the work was cut off too often"))
}

/// A pattern on one line, for who chooses.
fn offered(pattern: &Arc<Pattern>) -> String {
    format!("`{}`: {}", pattern.name, pattern.description)
}

/// Trying again would come to the same; another plan may not.
fn no_such_pattern(name: &str, created: &TaskCreated) -> Outcome {
    let known: Vec<&str> =
        created.command.execution_config.patterns.iter().map(|pattern| pattern.name.as_str()).collect();
    let known = if known.is_empty() { String::new() } else { format!("; there are: {}", known.join(", ")) };
    let error = ErrorDetails::new(ErrorCode::Stuck, format!("there is no pattern `{name}`{known}"))
        .with_hint("`windlass patterns list` shows those there are");
    Outcome::Failed(ErrorDetails { category: ErrorCategory::Permanent, ..error })
}

fn awaiting(waits_for: &[Awaited]) -> &'static str {
    let is_research = |awaited: &Awaited| awaited.research().is_some();
    let is_monitor = |awaited: &Awaited| awaited.monitor().is_some();
    match waits_for {
        all if all.iter().all(is_research) => "its questions are being looked into",
        all if all.iter().all(is_monitor) => "it waits for its next look",
        _ => "a person is asked",
    }
}

impl Shared {
    /// The rehearsal's script, where the task plays one.
    pub async fn script(&self, created: &TaskCreated) -> Result<Option<String>, ErrorDetails> {
        let ModelChoice::Rehearsal { script } = created.model else { return Ok(None) };
        let internal = |detail: String| ErrorDetails::new(ErrorCode::Internal, detail);
        let blob = self.store.blob(&self.tenant, script).await.map_err(|error| internal(error.to_string()))?;
        let blob = blob.ok_or_else(|| internal(format!("the rehearsal script {script} is missing")))?;
        String::from_utf8(blob.bytes).map(Some).map_err(|_| internal("the rehearsal script is not text".to_owned()))
    }
}

/// A sandbox for whoever needs none: it is opened by its first command, and there is none.
pub(crate) fn bare_sandbox(
    shared: &Arc<Shared>,
    created: &TaskCreated,
    folder: PathBuf,
) -> Result<Arc<dyn Sandbox>, ErrorDetails> {
    Ok(Arc::new(LazySandbox::new(Opener::new(Arc::clone(shared), &created.sandbox, folder)?)))
}

/// A sandbox of its own for one check.
pub(super) async fn check_sandbox(
    engine: &Engine,
    task: TaskId,
    sandbox: &str,
    folder: PathBuf,
) -> Result<Arc<dyn Sandbox>, ErrorDetails> {
    let opener = Opener::new(Arc::clone(&engine.shared), sandbox, folder)?;
    opener.labelled(task).without_network().open().await.map_err(|error| unavailable(&error))
}

fn unavailable(error: &windlass_sandbox::Error) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::SandboxUnavailable, format!("failed to {error}"))
        .with_hint("`windlass doctor` says what is missing")
}
