//! A foreign agent, as far as the engine can tell: a runner that plays a list of steps, each a list of calls, and puts every
//! call to the host before it performs it. To perform a call is to write a line into a ledger that no journal knows. Run
//! again it goes on from the journal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};
use windlass_domain::execution::{
    Answer, CallPhase, ContextRef, Launch, OpenCall, Outcome, Purpose, Question, Rejected, RunnerCommand,
};
use windlass_domain::research::ResearchQuestion;
use windlass_domain::{
    BoxFuture, CallOutcome, CallStatus, Digest, Effect, ErrorCode, ErrorDetails, Host, HostReply, HostRequest,
    HostWork, Intent, Message, Permit, Prepared, Probe, Program, Reach, Recovery, Refused, Role, Runner, Spawn, Stop,
    StopReason, ToolCall, Usage, Usd, UserQuestion, Verdict,
};

use super::things::Things;

/// A call that the agent wants to make: tool and arguments.
pub type Ask = (&'static str, Value);

pub fn call(tool: &'static str, arguments: Value) -> Ask {
    (tool, arguments)
}

pub fn bash(command: &str) -> Ask {
    ("bash", json!({"command": command}))
}

pub fn write(path: &str, content: &str) -> Ask {
    ("write", json!({"path": path, "content": content}))
}

pub fn read(path: &str) -> Ask {
    ("read", json!({"path": path}))
}

pub fn fetch(host: &str) -> Ask {
    ("web_fetch", json!({"host": host}))
}

/// An agent of its own that makes these calls, step by step.
pub fn spawn(steps: &[Vec<Ask>]) -> Ask {
    ("spawn_agent", json!({"task": serde_json::to_string(steps).expect("plain data")}))
}

/// Looks through what is remembered of earlier tasks.
pub fn recall(query: &str) -> Ask {
    ("memory_search", json!({"query": query}))
}

pub fn ask(question: &str) -> Ask {
    ("ask_user", json!({"question": question}))
}

pub struct Caller {
    pub things: Arc<Things>,
    pub folder: PathBuf,
}

/// Whether the run goes on after a call.
enum After {
    GoOn,
    Wait,
    Rest(Outcome),
}

impl Runner for Caller {
    fn run(&self, launch: Launch, host: Arc<dyn Host>) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            if launch.role == Role::Verifier {
                return Outcome::Completed { message: self.things.judgement() };
            }
            let goal = launch.task.goal.clone();
            match self.play(launch, host.as_ref()).await {
                Ok(outcome) => outcome,
                Err(Refused::Rejected(_)) if self.things.is_stubborn() => {
                    Outcome::Completed { message: self.things.last_word(&goal, 0) }
                }
                Err(Refused::Fenced | Refused::Overtaken) => Outcome::Stopped(Stop::LeaseLost),
                Err(Refused::Blocked(why)) => Outcome::Failed(ErrorDetails::new(ErrorCode::GateBlocked, why)),
                Err(other) => Outcome::Failed(ErrorDetails::new(ErrorCode::Internal, other.to_string())),
            }
        })
    }
}

impl Caller {
    async fn play(&self, launch: Launch, host: &dyn Host) -> Result<Outcome, Refused> {
        self.things.begin(host.cancel());
        self.things.hear_of(&launch.task);
        self.things.tell(&launch.task.goal, &launch.task.bindings);
        if self.things.is_cut_off(&launch.task.goal) {
            return Ok(Outcome::Failed(ErrorDetails::new(ErrorCode::ModelUnavailable, "the model cannot be reached")));
        }
        for look in self.things.looks(&launch.task.goal) {
            self.things.found(host.look(look).await);
        }
        let steps = match launch.role {
            Role::Subagent => steps_of(&launch.task.goal),
            _ => self.things.steps(&launch.task.goal, launch.task.previous_failures.len()),
        };
        if !host.state().is_opened() {
            host.stage(vec![RunnerCommand::Open { content: launch.task.goal.clone(), images: vec![] }])?;
        }
        loop {
            if let Some(stop) = host.cancel().raised() {
                return Ok(Outcome::Stopped(stop));
            }
            let said = host.state().answers as usize;
            let turn = self.things.turn(&launch.task.goal, heard(host));
            let steps = turn.as_ref().map_or(&steps, |(steps, _)| steps);
            if let Some(after) = self.spawn_together(host).await? {
                match after {
                    After::GoOn => continue,
                    After::Wait => return Ok(Outcome::Waiting),
                    After::Rest(outcome) => return Ok(outcome),
                }
            }
            match self.next_open(host).await? {
                Some(open) => match self.go_on_with(host, open).await? {
                    After::GoOn => {}
                    After::Wait => return Ok(Outcome::Waiting),
                    After::Rest(outcome) => return Ok(outcome),
                },
                // It thinks again before it says its last word anew.
                None if said < steps.len() + host.state().repairs as usize => {
                    let calls = steps.get(said).map(Vec::as_slice).unwrap_or_default();
                    say(host, host.state().conversed() as usize, calls, self.things.price()).await?;
                    self.things.answered(launch.role, &launch.task.goal);
                }
                None if turn.is_some() => {
                    return Ok(Outcome::Completed { message: turn.expect("it was looked at").1 });
                }
                None => {
                    let message = self.things.last_word(&launch.task.goal, host.state().repairs);
                    return Ok(Outcome::Completed { message });
                }
            }
        }
    }

    /// The first open call; of an agent that asks in batches, the first that need not wait.
    async fn next_open(&self, host: &dyn Host) -> Result<Option<OpenCall>, Refused> {
        if !self.things.asks_in_batches() {
            return Ok(host.state().open_calls.first().cloned());
        }
        let open = host.state().open_calls.clone();
        if open.len() > 1 && open.iter().all(|open| open.phase == CallPhase::Asked) {
            let intent = |OpenCall { call, .. }: &OpenCall| Intent {
                call_id: call.call_id.clone(),
                prepared: self.things.prepare(call, &self.folder),
            };
            host.authorise(open.iter().map(intent).collect()).await?;
        }
        let open = host.state().open_calls.clone();
        let may_go_on = open.iter().find(|open| open.waits_for().is_none());
        Ok(may_go_on.or(open.first()).cloned())
    }

    /// All whom it spawns in one step, where it has them work at the same time; nothing where it does not.
    async fn spawn_together(&self, host: &dyn Host) -> Result<Option<After>, Refused> {
        let open = host.state().open_calls.clone();
        let is_new = |open: &OpenCall| open.call.tool == "spawn_agent" && open.phase == CallPhase::Asked;
        if !self.things.spawns_together() || open.is_empty() || !open.iter().all(is_new) {
            return Ok(None);
        }
        let intent = |OpenCall { call, .. }: &OpenCall| Intent {
            call_id: call.call_id.clone(),
            prepared: self.things.prepare(call, &self.folder),
        };
        let verdicts = host.authorise(open.iter().map(intent).collect()).await?;
        let permits = verdicts.into_iter().filter_map(|verdict| match verdict {
            Verdict::Granted(permit) => Some(permit),
            Verdict::Waiting | Verdict::Rewritten | Verdict::Denied => None,
        });
        let ends = join_all(permits.map(|permit| spawned(host, permit))).await;
        let ends: Vec<After> = ends.into_iter().collect::<Result<_, Refused>>()?;
        Ok(Some(ends.into_iter().find(|after| !matches!(after, After::GoOn)).unwrap_or(After::GoOn)))
    }

    async fn go_on_with(&self, host: &dyn Host, open: OpenCall) -> Result<After, Refused> {
        let OpenCall { call, phase } = open;
        match &phase {
            CallPhase::Waiting(_) => return Ok(After::Wait),
            CallPhase::Started { effect, .. } => match effect.recover(|path| digest(&self.folder.join(path))) {
                Recovery::RunAgain => {}
                Recovery::Finished(result) => return finish(host, &call, CallStatus::Ok, result),
                Recovery::Interrupted => return finish(host, &call, CallStatus::Interrupted, "cut off".to_owned()),
            },
            CallPhase::Asked | CallPhase::Rewritten | CallPhase::Approved(_) => {}
        }
        if call.tool == "refuses" {
            let said = self.things.perform(&call, &self.folder).await;
            return finish(host, &call, CallStatus::Error, said);
        }
        let prepared = self.things.prepare(&call, &self.folder);
        let intent = Intent { call_id: call.call_id.clone(), prepared };
        if self.things.is_greedy() {
            let refused = host.authorise(vec![intent.clone(), intent.clone()]).await;
            assert!(matches!(refused, Err(Refused::Rejected(Rejected::OnlyOnce(_)))), "{refused:?}");
        }
        let verdicts = host.authorise(vec![intent]).await?;
        match verdicts.into_iter().next().expect("one verdict for one intent") {
            Verdict::Granted(permit) if permit.call().effect == Effect::Child => spawned(host, permit).await,
            Verdict::Granted(permit) if work_of(&permit.call().call).is_some() => requested(host, permit).await,
            Verdict::Granted(permit) => {
                let granted = permit.redeem().call;
                let said = self.things.perform(&granted, &self.folder).await;
                finish(host, &granted, CallStatus::Ok, said)
            }
            Verdict::Waiting => Ok(After::Wait),
            // Prepared anew from the journal, or answered there.
            Verdict::Rewritten | Verdict::Denied => Ok(After::GoOn),
        }
    }
}

/// How often it was told something after its task.
fn heard(host: &dyn Host) -> usize {
    let told =
        host.state().transcript.iter().filter(|message| matches!(message.as_ref(), Message::User { .. })).count();
    told.saturating_sub(1)
}

/// The steps of an agent that was spawned are what it is told.
fn steps_of(task: &str) -> Vec<Vec<Ask>> {
    let steps: Vec<Vec<(String, Value)>> = serde_json::from_str(task).expect("a script's steps are JSON");
    let ask = |(tool, arguments): (String, Value)| -> Ask { (String::leak(tool), arguments) };
    steps.into_iter().map(|calls| calls.into_iter().map(ask).collect()).collect()
}

async fn spawned(host: &dyn Host, permit: Permit) -> Result<After, Refused> {
    let call = permit.call().call.clone();
    let arguments: Value = serde_json::from_str(call.arguments.get()).expect("a script's arguments are JSON");
    let text = |name: &str| arguments[name].as_str().map(str::to_owned);
    let work = HostWork::SpawnChild(Spawn {
        task: text("task").unwrap_or_default(),
        label: text("label"),
        timeout_seconds: None,
        write_output_to: text("write_output_to"),
    });
    match host.request(HostRequest { permit, work }).await? {
        HostReply::Answered { status, content } => finish(host, &call, status, content),
        HostReply::Declined(reason) => finish(host, &call, CallStatus::Error, reason),
        HostReply::Unfinished(outcome) => Ok(After::Rest(outcome)),
        other => panic!("{other:?}"),
    }
}

/// What only the host can do.
fn work_of(call: &ToolCall) -> Option<HostWork> {
    let arguments: Value = serde_json::from_str(call.arguments.get()).expect("a script's arguments are JSON");
    let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    match call.tool.as_str() {
        "tell_user" => Some(HostWork::TellUser { message: text("message") }),
        "validate_plan" => Some(HostWork::ValidatePlan { plan_markdown: text("plan_markdown") }),
        "context_inspect" => {
            let zone = serde_json::from_value(arguments["zone"].clone()).expect("a zone");
            Some(HostWork::InspectContext { zone })
        }
        "request_research" => {
            let (task, return_format) = (text("task"), text("return_format"));
            Some(HostWork::Research(ResearchQuestion { task, return_format, max_tokens: 500 }))
        }
        "memory_search" => Some(HostWork::SearchMemory { query: text("query"), limit: 5 }),
        _ => None,
    }
}

async fn requested(host: &dyn Host, permit: Permit) -> Result<After, Refused> {
    let call = permit.call().call.clone();
    let work = work_of(&call).expect("it was seen to be the host's");
    match host.request(HostRequest { permit, work }).await? {
        HostReply::Told(told) => finish(host, &call, CallStatus::Ok, told),
        HostReply::Answered { status, content } => finish(host, &call, status, content),
        HostReply::Declined(reason) => finish(host, &call, CallStatus::Error, reason),
        other => panic!("{other:?}"),
    }
}

async fn say(host: &dyn Host, step: usize, calls: &[Ask], (usage, cost): (Usage, Usd)) -> Result<(), Refused> {
    let context = ContextRef { system: Digest::of(b"system"), tools: Digest::of(b"tools") };
    let question = Question { purpose: Purpose::Turn, context, estimated_input: 1, estimated_cost: Usd::ZERO };
    host.record(vec![RunnerCommand::Ask(question)]).await?;
    let calls = calls.iter().enumerate();
    let calls = calls.map(|(n, (tool, arguments))| ToolCall::new(format!("{step}.{n}"), *tool, &arguments.to_string()));
    let answer = Answer {
        text: format!("step {step}"),
        calls: calls.collect(),
        reasoning: vec![],
        stop: StopReason::ToolCalls,
        usage,
        lost: Usage::default(),
        cost: Some(cost),
        retries: 0,
        duration_ms: 0,
    };
    host.stage(vec![RunnerCommand::Answer(answer)])
}

fn finish(host: &dyn Host, call: &ToolCall, status: CallStatus, content: String) -> Result<After, Refused> {
    let call_id = call.call_id.clone();
    let outcome = CallOutcome { call_id, status, content, full_output: None, images: vec![], duration_ms: 0 };
    host.stage(vec![RunnerCommand::FinishCall(outcome)]).map(|()| After::GoOn)
}

/// What a tool of this name would say before it does anything.
pub fn prepare(call: &ToolCall, folder: &Path) -> Prepared {
    let arguments: Value = serde_json::from_str(call.arguments.get()).expect("a script's arguments are JSON");
    let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    match call.tool.as_str() {
        "bash" => {
            let argv = vec!["bash".to_owned(), "-c".to_owned(), text("command")];
            let network = arguments["network"].as_bool().unwrap_or_default();
            let reach = if network { Reach::NetworkProgram } else { Reach::Program };
            let program = Some(Program { argv, cwd: text("cwd") });
            Prepared { program, ..Prepared::new(Effect::Once, reach) }
        }
        "read" => Prepared::new(Effect::Read, Reach::Files(vec![text("path")])),
        "memory_search" => Prepared::new(Effect::Read, Reach::Memory),
        "spawn_agent" => Prepared::new(Effect::Child, Reach::Program),
        "ask_user" => {
            let question = UserQuestion { question: text("question"), options: Vec::new(), context: None };
            Prepared { question: Some(question), ..Prepared::new(Effect::Read, Reach::Context) }
        }
        "monitor" => {
            let monitor = serde_json::from_value(arguments).expect("a schedule");
            Prepared { monitor: Some(monitor), ..Prepared::new(Effect::Read, Reach::Context) }
        }
        "tell_user" | "validate_plan" | "context_inspect" | "request_research" => {
            Prepared::new(Effect::Read, Reach::Context)
        }
        "web_fetch" => Prepared::new(Effect::Read, Reach::Outside(Some(text("host")))),
        "write" | "create_skill" => {
            let path = text("path");
            let (before, after) = (digest(&folder.join(&path)), Digest::of(text("content").as_bytes()));
            let probe = Probe { path, before, after, result: "written".to_owned() };
            Prepared::new(Effect::Probe(probe), Reach::Files(Vec::new()))
        }
        _ => Prepared::new(Effect::Once, Reach::Context),
    }
}

fn digest(path: &Path) -> Option<Digest> {
    std::fs::read(path).ok().map(|bytes| Digest::of(&bytes))
}
