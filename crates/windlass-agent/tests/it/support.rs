//! A host without an engine: it keeps the fold, judges calls as a test tells it to, and notes what was asked for together.
//! And a clock that moves only when everybody waits.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use serde_json::value::RawValue;
use tempfile::TempDir;
use windlass_agent::{NativeRunner, Settings};
use windlass_domain::approval::CardId;
use windlass_domain::execution::{
    Asked, CallDecision, DecisionOutcome, ExecutionCommand, ExecutionEvent, ExecutionState, InjectionReceived, Launch,
    MessageAccepted, MessageKind, OpenCall, Outcome, RunnerCommand, TaskMessage, decide,
};
use windlass_domain::task::CompactionConfig;
use windlass_domain::{
    Awaited, BoxFuture, Call, CallId, CancelSignal, Delta, Digest, ExecutionId, Holdings, Host, HostReply, HostRequest,
    Instant, Intent, Kept, Look, MessageId, Permit, Prepared, Refused, Role, Runner, Runtime, Seq, Taint, TaskId,
    Verdict, Wall,
};

use windlass_llm::{Rehearsal, Script, Setup};
use windlass_sandbox::{Cancel, Command, Error, Exit, Output, Running, Sandbox};
use windlass_tools::{Confinement, Kit, Limits, Tool, Toolset};

use crate::next::state;

const NOW: Wall = Wall::from_millis(1_000_000);

/// The whole loop over a rehearsal, with these tools and nobody else.
pub fn run(script: &str, goal: &str, tools: Vec<Box<dyn Tool>>) -> (Outcome, Arc<MemoryHost>) {
    let stage = Stage::new(script, goal, tools, |_| Judgement::Grant);
    (stage.run(), stage.host)
}

/// A run that can be left and gone on with: the host stays, the loop begins anew.
pub struct Stage {
    pub host: Arc<MemoryHost>,
    runner: NativeRunner,
    goal: String,
    still: Still,
    pub folder: TempDir,
    pub role: Role,
}

impl Stage {
    pub fn new(script: &str, goal: &str, tools: Vec<Box<dyn Tool>>, judge: Judge) -> Self {
        // What the table of models says of a rehearsal.
        let compaction = CompactionConfig { context_window_tokens: Some(200_000), ..CompactionConfig::default() };
        Self::with(script, goal, tools, judge, state(""), Settings { compaction, ..Settings::default() })
    }

    /// On a journal that has begun, with settings of its own.
    pub fn with(
        script: &str,
        goal: &str,
        tools: Vec<Box<dyn Tool>>,
        judge: Judge,
        state: ExecutionState,
        settings: Settings,
    ) -> Self {
        let still = Still::default();
        let runtime = Arc::new(still.clone());
        let folder = tempfile::tempdir().expect("a folder");
        let limits = Limits { output_tokens: 2_000 };
        let context = windlass_tools::Context::new(folder.path(), Arc::new(NoSandbox), runtime.clone(), limits);
        let kit = Kit::only(tools, Confinement::Sealed).expect("tools");
        let tools = Toolset::new(context.expect("a folder"), kit);
        let script = Arc::new(Script::parse(script).expect("a script"));
        let runner = NativeRunner {
            provider: Arc::new(Rehearsal::new(script, Setup::new(runtime.clone()))),
            tools: Arc::new(tools),
            runtime,
            settings,
            models: Arc::new(windlass_llm::Models::built_in()),
        };
        let host = Arc::new(MemoryHost::new(state, judge));
        Self { host, runner, goal: goal.to_owned(), still, folder, role: Role::Executor }
    }

    pub fn run(&self) -> Outcome {
        let launch = Launch {
            execution_id: ExecutionId::new(NOW, 1),
            task_id: TaskId::new(NOW, 1),
            agent_id: "executor".to_owned(),
            role: self.role,
            asked: Asked::default(),
            model: "rehearsal".to_owned(),
            task: TaskMessage { goal: self.goal.clone(), ..TaskMessage::default() },
            patterns: Vec::new(),
        };
        self.still.run(self.runner.run(launch, self.host.clone()))
    }
}

struct NoSandbox;

impl Sandbox for NoSandbox {
    fn run<'a>(&'a self, _: Command, _: Output<'a>, _: Cancel) -> windlass_sandbox::BoxFuture<'a, Result<Exit, Error>> {
        Box::pin(async { Err(Error::Closed) })
    }

    fn start(&self, _: Command) -> windlass_sandbox::BoxFuture<'_, Result<Box<dyn Running>, Error>> {
        Box::pin(async { Err(Error::Closed) })
    }

    fn listen(&self) -> windlass_sandbox::BoxFuture<'_, Result<std::net::TcpListener, Error>> {
        Box::pin(async { Err(Error::Closed) })
    }

    fn close(&self) -> windlass_sandbox::BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// What becomes of a call that asks for leave.
pub enum Judgement {
    Grant,
    Wait,
    /// With these arguments, as JSON.
    Rewrite(&'static str),
    /// It is begun, and the process is gone before it runs.
    Vanish,
}

pub type Judge = fn(&OpenCall) -> Judgement;

pub struct MemoryHost {
    state: Mutex<Arc<ExecutionState>>,
    blobs: Mutex<BTreeMap<Digest, Vec<u8>>>,
    judge: Mutex<Judge>,
    /// Each request for leave.
    pub asked: Mutex<Vec<Vec<Intent>>>,
    /// What people say, each once the agent has had so many answers.
    pub inbox: Mutex<VecDeque<(u32, InjectionReceived)>>,
    /// Everything that was recorded.
    pub journal: Mutex<Vec<ExecutionEvent>>,
}

impl MemoryHost {
    pub fn new(state: ExecutionState, judge: Judge) -> Self {
        let state = Mutex::new(Arc::new(state));
        let (blobs, asked, inbox, journal) = (Mutex::default(), Mutex::default(), Mutex::default(), Mutex::default());
        Self { state, blobs, judge: Mutex::new(judge), asked, inbox, journal }
    }

    /// The ids of the calls of each request for leave.
    pub fn waves(&self) -> Vec<Vec<String>> {
        let ids = |wave: &Vec<Intent>| wave.iter().map(|intent| intent.call_id.0.clone()).collect();
        self.asked.lock().expect("one thread").iter().map(ids).collect()
    }

    pub fn judge_anew(&self, judge: Judge) {
        *self.judge.lock().expect("one thread") = judge;
    }

    /// A person says yes to whatever waits.
    pub fn approve(&self) {
        for open in &self.state().open_calls {
            if let Some(card_id) = open.waits_for().and_then(Awaited::card) {
                self.decide_call(&open.call.call_id, DecisionOutcome::Approved { card_id }).expect("it waits");
            }
        }
    }

    pub fn decide(&self, command: ExecutionCommand) -> Result<(), Refused> {
        let mut state = self.state.lock().expect("one thread");
        let event = decide(&state, command, NOW)?;
        Arc::make_mut(&mut state).apply(&event, NOW);
        self.journal.lock().expect("one thread").push(event);
        Ok(())
    }

    /// As the engine does it: just before the model is asked.
    fn hear(&self) {
        let mut inbox = self.inbox.lock().expect("one thread");
        while inbox.front().is_some_and(|(when, _)| *when <= self.state().answers) {
            let (_, received) = inbox.pop_front().expect("there is one");
            self.decide(ExecutionCommand::Inject(received)).expect("nothing is open");
        }
    }

    fn decide_call(&self, call_id: &CallId, outcome: DecisionOutcome) -> Result<(), Refused> {
        self.decide(ExecutionCommand::Decide(CallDecision { call_id: call_id.clone(), outcome }))
    }

    fn verdict(&self, intent: Intent) -> Result<Verdict, Refused> {
        let judge = *self.judge.lock().expect("one thread");
        let judgement = judge(self.state().open_call(&intent.call_id).expect("leave is asked for an open call"));
        match judgement {
            Judgement::Grant => self.permit(intent),
            Judgement::Wait => {
                let card_id = CardId::new(NOW, 7);
                self.decide_call(&intent.call_id, DecisionOutcome::Waiting { card_id }).map(|()| Verdict::Waiting)
            }
            Judgement::Rewrite(arguments) => {
                let arguments = RawValue::from_string(arguments.to_owned()).expect("JSON");
                let rewritten = DecisionOutcome::Rewritten { gates: vec!["quiet".to_owned()], arguments };
                self.decide_call(&intent.call_id, rewritten).map(|()| Verdict::Rewritten)
            }
            Judgement::Vanish => self.permit(intent).and(Err(Refused::Fenced)),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "there is no engine here to give leave")]
    fn permit(&self, Intent { call_id, prepared }: Intent) -> Result<Verdict, Refused> {
        let Prepared { effect, reach, .. } = prepared;
        self.decide(ExecutionCommand::StartCall { call_id: call_id.clone(), effect: effect.clone(), reach })?;
        let call = self.state().open_call(&call_id).expect("it was just started").call.clone();
        Ok(Verdict::Granted(Permit::issue(Call { call, effect })))
    }
}

impl Host for MemoryHost {
    fn state(&self) -> Arc<ExecutionState> {
        Arc::clone(&self.state.lock().expect("one thread"))
    }

    fn stage(&self, commands: Vec<RunnerCommand>) -> Result<(), Refused> {
        let (taint, message_id) = (Taint::Owner, MessageId::new(NOW, 1));
        commands.into_iter().try_for_each(|command| {
            self.decide(match command {
                RunnerCommand::Open { content, images } => {
                    let kind = MessageKind::Prompt;
                    ExecutionCommand::Accept(MessageAccepted { message_id, kind, content, images, taint })
                }
                RunnerCommand::Ask(question) => ExecutionCommand::Ask(question),
                RunnerCommand::Answer(answer) => ExecutionCommand::Answer(answer),
                RunnerCommand::GiveUp(no_answer) => ExecutionCommand::GiveUp(no_answer),
                RunnerCommand::FinishCall(outcome) => ExecutionCommand::FinishCall { outcome, taint },
                RunnerCommand::Compact(step) => ExecutionCommand::Compact(step),
                RunnerCommand::Warn(detected) => ExecutionCommand::Warn(detected),
                RunnerCommand::Step(stepped) => ExecutionCommand::Step(stepped),
                RunnerCommand::Nudge(nudged) => ExecutionCommand::Nudge(nudged),
                RunnerCommand::Note(_)
                | RunnerCommand::Observe(_)
                | RunnerCommand::Propose(_)
                | RunnerCommand::OpenExchange(_)
                | RunnerCommand::CloseExchange(_)
                | RunnerCommand::NoteDelivery(_) => panic!("the native loop keeps its own conversation"),
            })
        })
    }

    fn record(&self, commands: Vec<RunnerCommand>) -> BoxFuture<'_, Result<Seq, Refused>> {
        if commands.iter().any(|command| matches!(command, RunnerCommand::Ask(_))) {
            self.hear();
        }
        let recorded = self.stage(commands).map(|()| Seq(1));
        Box::pin(async move { recorded })
    }

    fn authorise(&self, intents: Vec<Intent>) -> BoxFuture<'_, Result<Vec<Verdict>, Refused>> {
        self.asked.lock().expect("one thread").push(intents.clone());
        let verdicts = intents.into_iter().map(|intent| self.verdict(intent)).collect();
        Box::pin(async move { verdicts })
    }

    fn request(&self, _: HostRequest) -> BoxFuture<'_, Result<HostReply, Refused>> {
        Box::pin(async { Ok(HostReply::Declined("not here".to_owned())) })
    }

    fn listen(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    fn take_in(&self) -> BoxFuture<'_, Result<(), Refused>> {
        Box::pin(async { Ok(()) })
    }

    fn holdings(&self) -> Holdings {
        Holdings::default()
    }

    fn look(&self, _: Look) -> BoxFuture<'_, Result<serde_json::Value, String>> {
        Box::pin(async { Err("there is nothing to look at".to_owned()) })
    }

    fn blob_put(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<Kept, Refused>> {
        let digest = Digest::of(&bytes);
        self.blobs.lock().expect("one thread").insert(digest, bytes.clone());
        Box::pin(async move { Ok(Kept { digest, bytes }) })
    }

    fn blob_get(&self, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, Refused>> {
        let bytes = self.blobs.lock().expect("one thread")[&digest].clone();
        Box::pin(async move { Ok(bytes) })
    }

    fn emit(&self, _: Delta) {}

    fn cancel(&self) -> CancelSignal {
        CancelSignal::never()
    }
}

/// Whoever waits for nothing but time waits no longer than it takes to say so.
#[derive(Clone, Default)]
pub struct Still {
    clock: Arc<Mutex<Clock>>,
}

#[derive(Default)]
struct Clock {
    now: Instant,
    timers: BTreeSet<Instant>,
}

impl Still {
    /// Runs `future` to its end; the next timer goes off when nobody has been woken.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        struct Flag(AtomicBool);
        impl Wake for Flag {
            fn wake(self: Arc<Self>) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        let woken = Arc::new(Flag(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return output;
            }
            if !woken.0.swap(false, Ordering::SeqCst) {
                let mut clock = self.clock.lock().expect("one thread");
                clock.now = clock.timers.pop_first().expect("it waits for something other than time");
            }
        }
    }
}

impl Runtime for Still {
    fn spawn(&self, _: BoxFuture<'static, ()>) {
        panic!("nothing here should need a task");
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        let clock = Arc::clone(&self.clock);
        Box::pin(std::future::poll_fn(move |_| {
            let mut clock = clock.lock().expect("one thread");
            if clock.now >= deadline {
                return Poll::Ready(());
            }
            clock.timers.insert(deadline);
            Poll::Pending
        }))
    }

    fn block(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        work();
        Box::pin(std::future::ready(()))
    }

    fn now(&self) -> Instant {
        self.clock.lock().expect("one thread").now
    }

    fn wall(&self) -> Wall {
        NOW
    }

    fn random(&self) -> u128 {
        0
    }
}
