//! One bounded exchange with a program, to see whether it can be worked with: it is started as for a task, asked for a word, allowed nothing,
//! and stopped. No execution comes of it and nothing is recorded; what was seen is a value, and what that means is judged from it alone.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use windlass_domain::execution::{Failure, Observation, TurnEnd};
use windlass_domain::{BoxFuture, CancelSignal, Secret};
use windlass_llm::gateway::{Asked, Gateway, GatewayParts, Leave, Limits, Meter, Metered, Outcome, Refusal, Ticket};
use windlass_sandbox::{Running, Streams};

use super::ending::End;
use super::foreign::{ForeignRunner, uuid};
use super::framing::{Frame, Frames, framed};
use super::talk::{last_line, within};
use super::versions::ask_version;
use crate::{Agent, Answer, Conversation, Event, Framing, Launching, Mode, Session};

/// What a script has to answer, and nobody else needs to.
pub const PROBE_PROMPT: &str = "Answer with the single word READY. Use no tools.";
const INSTRUCTIONS: &str = "This is a test of the connection: nothing has to be done.";
/// A program that asks its model more often does something else than to answer.
const MOST_QUESTIONS: u64 = 20;

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    pub version: Option<String>,
    /// What came of its first question to a model that came to an end.
    pub model: ModelSeen,
    pub end: ProbeEnd,
    pub took: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ModelSeen {
    #[default]
    NotAsked,
    Answered,
    Failed {
        reason: String,
    },
}

/// Why it was talked to no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeEnd {
    Turn(TurnEnd),
    /// What it says cannot be read.
    Unreadable(String),
    /// It is not what it has to be.
    Unacceptable(String),
    /// It ended by itself; what it complained of.
    Exited(String),
    TooLong,
    NotStarted(String),
}

/// One thing that has to be in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub name: &'static str,
    pub is_good: bool,
    pub detail: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Finding {
    pub fn good(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, is_good: true, detail: detail.into(), hint: None }
    }

    pub fn bad(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, is_good: false, detail: detail.into(), hint: Some(hint.into()) }
    }
}

impl Probed {
    /// Whether its model said that it is not let in, as opposed to anything else that a model server may have to say, or nobody at all.
    pub const fn is_refused(&self) -> bool {
        matches!(self.end, ProbeEnd::Turn(TurnEnd::Failed { why: Failure::Login, .. }))
    }

    /// In this order: its version, whether its model lets it in, and whether it can be talked to.
    pub fn findings(&self, agent: &Agent) -> Vec<Finding> {
        vec![self.version(agent), self.auth(agent), self.structured(agent)]
    }

    fn version(&self, agent: &Agent) -> Finding {
        let tried = agent.tried.join(", ");
        match &self.version {
            Some(version) if agent.tried.contains(&version.as_str()) => Finding::good("version", version),
            // No reason to refuse it: whether it can be talked to is seen.
            Some(version) => Finding::good("version", format!("{version}; Windlass was tried with {tried}")),
            None => Finding::bad(
                "version",
                format!("`{} --version` says none", agent.program),
                format!("look whether it starts at all; Windlass was tried with {tried}"),
            ),
        }
    }

    fn auth(&self, agent: &Agent) -> Finding {
        let name = agent.display_name;
        match (&self.model, &self.end) {
            (_, ProbeEnd::Turn(TurnEnd::Failed { why: Failure::Login, reason })) => Finding::bad(
                "auth",
                format!("the model refuses it{}", because(reason)),
                "look at the key of the model server that is configured; the program itself needs no login here",
            ),
            (ModelSeen::Answered, _) => Finding::good("auth", "its model answers, without a login of its own"),
            (ModelSeen::Failed { reason }, _) => Finding::bad(
                "auth",
                format!("its model does not answer{}", because(reason)),
                "look at the model server that is configured, and at the model's name",
            ),
            (ModelSeen::NotAsked, _) => Finding::bad(
                "auth",
                format!("{name} did not ask its model"),
                "what it said instead is below; a newer version may want a login that Windlass does not know of",
            ),
        }
    }

    fn structured(&self, agent: &Agent) -> Finding {
        let bad = |detail: String, hint: String| Finding::bad("structured", detail, hint);
        let tried = || format!("Windlass was tried with {} {}", agent.display_name, agent.tried.join(", "));
        match &self.end {
            ProbeEnd::Turn(TurnEnd::Completed { message }) if message.trim().is_empty() => {
                bad("it ended its turn without a word".to_owned(), tried())
            }
            ProbeEnd::Turn(TurnEnd::Completed { message }) => {
                Finding::good("structured", format!("it said: {}", shortened(message)))
            }
            // Its channel works: what is wrong is said beside it.
            ProbeEnd::Turn(TurnEnd::Failed { why: Failure::Login | Failure::Model, .. }) => {
                Finding::good("structured", "it says in words that can be read what is wrong")
            }
            ProbeEnd::Turn(TurnEnd::Failed { reason, .. }) => bad(format!("it failed{}", because(reason)), tried()),
            ProbeEnd::Turn(TurnEnd::Interrupted) => bad("it broke off its turn".to_owned(), tried()),
            ProbeEnd::Unacceptable(why) => bad(format!("it is not worked with{}", because(why)), tried()),
            ProbeEnd::Unreadable(why) => bad(format!("what it says cannot be read{}", because(why)), tried()),
            ProbeEnd::Exited(said) => bad(format!("it ended before it had answered{}", because(said)), tried()),
            ProbeEnd::TooLong => {
                bad("it did not answer in time".to_owned(), "give it more with --timeout SECONDS".to_owned())
            }
            ProbeEnd::NotStarted(why) => {
                bad(format!("it does not start{}", because(why)), "`windlass doctor` looks at the sandbox".to_owned())
            }
        }
    }
}

fn because(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {}", shortened(why)) }
}

fn shortened(text: &str) -> String {
    text.trim().chars().take(300).collect()
}

impl ForeignRunner {
    /// However it goes, it is over after `patience`, and nothing of the program runs any more.
    pub async fn probe(&self, patience: Duration) -> Probed {
        let runtime = Arc::clone(&self.setup.runtime);
        let begun = runtime.now();
        let meter = Arc::new(Glance::default());
        let version =
            ask_version(self.adapter.as_ref(), self.sandbox.as_ref(), &self.installed.program, patience).await;
        let left = patience.saturating_sub(runtime.now() - begun);
        let end = within(runtime.as_ref(), left, Box::pin(self.exchange(&meter))).await;
        Probed { version, model: meter.seen(), end: end.unwrap_or(ProbeEnd::TooLong), took: runtime.now() - begun }
    }

    async fn exchange(&self, meter: &Arc<Glance>) -> ProbeEnd {
        match self.try_exchange(meter).await {
            Ok(end) | Err(end) => end,
        }
    }

    async fn try_exchange(&self, meter: &Arc<Glance>) -> Result<ProbeEnd, ProbeEnd> {
        let runtime = &self.setup.runtime;
        let not_started = |why: String| ProbeEnd::NotStarted(why);
        let key = format!("{:032x}", runtime.random());
        let listener = self.sandbox.listen().await.map_err(|error| not_started(format!("failed to {error}")))?;
        let address = listener.local_addr().map_err(|error| not_started(error.to_string()))?;
        let gateway = Gateway::new(GatewayParts {
            upstream: self.upstream.clone(),
            model: self.model.clone(),
            key: Secret::new(key.clone()),
            meter: Arc::clone(meter) as Arc<_>,
            setup: self.setup.clone(),
            limits: Limits::default(),
            elsewhere: None,
        });
        let gateway = gateway.map_err(|error| not_started(error.to_string()))?;
        let known = self.setup.models.find(&self.model);
        let launching = Launching {
            mode: Mode::Structured,
            program: &self.installed.program,
            home: &self.home,
            workspace: &self.workspace,
            model: &self.model,
            window: known.context_window,
            longest_answer: known.longest_answer(),
            dialect: self.dialect(),
            endpoint: &format!("http://{address}"),
            key: &key,
            mcp: None,
            bridge: None,
            session: Session::New(&uuid(runtime.random())),
            instructions: INSTRUCTIONS,
            prompt: PROBE_PROMPT,
            anew: "",
        };
        let spec = self.adapter.launch(&launching).map_err(|error| not_started(error.to_string()))?;
        let framing = spec.framing;
        let running = self.begin(&CancelSignal::never(), spec, Streams::Apart, &[]).await.map_err(|end| match end {
            End::Broken(why) => not_started(why),
            other => not_started(other.of_launch().1),
        })?;
        let conversation = self.adapter.converse(&launching);
        let mut exchange = Exchange { running: running.as_ref(), conversation, framing, is_believed: false };
        let end = tokio::select! {
            biased;
            end = exchange.run() => end,
            _ = gateway.serve(listener) => not_started("the way to the model ended".to_owned()),
        };
        running.kill();
        let _nothing_of_it_runs = running.wait().await;
        Ok(end)
    }
}

struct Exchange<'a> {
    running: &'a dyn Running,
    conversation: Box<dyn Conversation>,
    framing: Framing,
    /// It has said something that makes sense.
    is_believed: bool,
}

impl Exchange<'_> {
    async fn run(&mut self) -> ProbeEnd {
        let mut frames = Frames::new(self.framing);
        let first = self.conversation.begin();
        if let Err(end) = self.write(&first).await {
            return end;
        }
        loop {
            let bytes = match self.running.read().await {
                Ok(bytes) if !bytes.is_empty() => bytes,
                Ok(_) | Err(_) => return self.gone(),
            };
            for frame in frames.push(&bytes) {
                let Frame::Whole(frame) = frame else { continue };
                if let Err(end) = self.hear(&frame).await {
                    return end;
                }
            }
            // However much it says, its time runs out.
            tokio::task::yield_now().await;
        }
    }

    async fn hear(&mut self, frame: &[u8]) -> Result<(), ProbeEnd> {
        for event in self.conversation.read(frame) {
            match event {
                Event::Write(frame) => self.write(&[frame]).await?,
                Event::Observed { observation: Observation::TurnEnded { end }, .. } | Event::Lingers { end, .. } => {
                    return Err(ProbeEnd::Turn(end));
                }
                Event::Observed { .. } => self.is_believed = true,
                Event::Asked(asked) => {
                    self.is_believed = true;
                    let no = Answer::Deny { reason: "this is a test: nothing may be done".to_owned() };
                    let frames = self.conversation.answer(&asked.request, &no);
                    self.write(&frames).await?;
                }
                Event::Unreadable { why } if !self.is_believed => return Err(ProbeEnd::Unreadable(why)),
                Event::Foreign { why } => return Err(ProbeEnd::Unreadable(why)),
                Event::Flood { what } => return Err(ProbeEnd::Unreadable(what.to_owned())),
                Event::Unacceptable { why } => return Err(ProbeEnd::Unacceptable(why)),
                Event::Ran { .. }
                | Event::Unknown { .. }
                | Event::Unreadable { .. }
                | Event::Withdrawn { .. }
                | Event::Streamed { .. } => {}
            }
        }
        Ok(())
    }

    async fn write(&self, frames: &[Vec<u8>]) -> Result<(), ProbeEnd> {
        for frame in frames {
            if self.running.write(&framed(self.framing, frame)).await.is_err() {
                return Err(self.gone());
            }
        }
        Ok(())
    }

    fn gone(&self) -> ProbeEnd {
        ProbeEnd::Exited(last_line(&String::from_utf8_lossy(&self.running.complaints())))
    }
}

/// A meter that only looks.
#[derive(Debug, Default)]
struct Glance {
    asked: AtomicU64,
    seen: Mutex<ModelSeen>,
}

impl Glance {
    fn seen(&self) -> ModelSeen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Meter for Glance {
    fn open(&self, asked: Asked) -> BoxFuture<'_, Result<Leave, Refusal>> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let refusal = || Refusal { message: "this is a test, and enough was asked".to_owned() };
        let leave = Leave { ticket: Ticket(number), most_output: asked.asking.output };
        Box::pin(std::future::ready(if number < MOST_QUESTIONS { Ok(leave) } else { Err(refusal()) }))
    }

    fn model(&self) -> Option<String> {
        None
    }

    fn close(&self, _: Ticket, metered: Metered) -> BoxFuture<'_, ()> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match (metered.outcome, &*seen) {
            (Outcome::Answered, _) => *seen = ModelSeen::Answered,
            (Outcome::Failed { reason }, ModelSeen::NotAsked) => *seen = ModelSeen::Failed { reason },
            (Outcome::Failed { .. } | Outcome::Abandoned, _) => {}
        }
        drop(seen);
        Box::pin(std::future::ready(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Adapter as _, ClaudeCode};

    fn check(version: Option<&str>, model: ModelSeen, end: ProbeEnd, expected: [&str; 3]) {
        let probed = Probed { version: version.map(str::to_owned), model, end, took: Duration::ZERO };
        let told = probed.findings(ClaudeCode.agent());
        for (finding, expected) in told.iter().zip(expected) {
            let mark = if finding.is_good { "✔" } else { "✘" };
            let told = format!("{mark} {}: {}", finding.name, finding.detail);
            assert!(told.starts_with(expected), "{told}\n{expected}\n{probed:?}");
            assert_eq!(finding.hint.is_some(), !finding.is_good, "whatever is wrong, something can be done: {told}");
        }
        assert_eq!(told.len(), expected.len());
    }

    #[test]
    fn what_was_seen_is_judged_a_line_each() {
        let turn = |end| ProbeEnd::Turn(end);
        let failed = |why| turn(TurnEnd::Failed { why, reason: "401".to_owned() });
        let said = |message: &str| turn(TurnEnd::Completed { message: message.to_owned() });
        let refused = || ModelSeen::Failed { reason: "401 Unauthorized".to_owned() };
        let tried = Some(ClaudeCode.agent().tried[0]);
        check(
            tried,
            ModelSeen::Answered,
            said("READY"),
            [
                &format!("✔ version: {}", ClaudeCode.agent().tried[0]),
                "✔ auth: its model answers",
                "✔ structured: it said: READY",
            ],
        );
        check(
            Some("9.9.9"),
            refused(),
            failed(Failure::Login),
            [
                "✔ version: 9.9.9; Windlass was tried with",
                "✘ auth: the model refuses it: 401",
                "✔ structured: it says in words",
            ],
        );
        check(
            None,
            refused(),
            failed(Failure::Model),
            [
                "✘ version: `claude --version` says none",
                "✘ auth: its model does not answer: 401 Unauthorized",
                "✔ structured: it says in words",
            ],
        );
        let silent = "✘ auth: Claude Code did not ask its model";
        for (end, expected) in [
            (said(" "), "✘ structured: it ended its turn without a word"),
            (failed(Failure::Agent), "✘ structured: it failed: 401"),
            (turn(TurnEnd::Interrupted), "✘ structured: it broke off its turn"),
            (ProbeEnd::Unreadable("not JSON".to_owned()), "✘ structured: what it says cannot be read: not JSON"),
            (ProbeEnd::Exited(String::new()), "✘ structured: it ended before it had answered"),
            (ProbeEnd::TooLong, "✘ structured: it did not answer in time"),
            (ProbeEnd::NotStarted("no".to_owned()), "✘ structured: it does not start: no"),
        ] {
            check(tried, ModelSeen::NotAsked, end, ["✔ version", silent, expected]);
        }
    }
}
