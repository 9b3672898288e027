//! The gateway's meter over the host: what a program asks of a model is committed before it is sent, against the same limits as
//! everything else, and what it came to is committed before the program sees the end of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot, watch};
use windlass_domain::execution::{ExchangeClosed, ExchangeOutcome, ExchangeWanted, Rejected, RunnerCommand};
use windlass_domain::{BoxFuture, Host, Refused, Runtime};
use windlass_llm::gateway::{Asked, Leave, Meter, Metered, Outcome, Refusal, Ticket};

use super::tools::{self, Tools};

/// What an earlier launch left open is closed by another meter, which nobody hears of here.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Longer than any program takes to be stopped.
const HELD_FOR: Duration = Duration::from_secs(60);

pub struct HostMeter {
    host: Arc<dyn Host>,
    runtime: Arc<dyn Runtime>,
    tools: Arc<Tools>,
    last: AtomicU64,
    /// What was set aside for an answer has come back.
    closed: Notify,
    /// Why the host let nothing through, the first time.
    refused: Mutex<Option<Refused>>,
    held: watch::Sender<Held>,
}

/// Whether the program is to be stopped because a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    No,
    Yes,
    /// It has asked its model since.
    AskedAnyway,
}

impl HostMeter {
    pub fn new(host: Arc<dyn Host>, runtime: Arc<dyn Runtime>, tools: Arc<Tools>) -> Self {
        let last = AtomicU64::new(host.state().foreign.last_exchange);
        let held = watch::Sender::new(Held::No);
        Self { host, runtime, tools, closed: Notify::new(), last, refused: Mutex::default(), held }
    }

    /// From now on nothing that the program asks is answered: what it was told last is in what it asks.
    pub fn hold(&self) {
        self.held.send_replace(Held::Yes);
    }

    /// Comes when it has asked since, and has heard whatever it was told before.
    pub async fn is_asked_anyway(&self) {
        let mut held = self.held.subscribe();
        let _it_is_ours_to_say = held.wait_for(|held| *held == Held::AskedAnyway).await.is_ok();
    }

    /// Notes that it asks; whether it has to wait.
    fn asks_while_held(&self) -> bool {
        self.held.send_if_modified(|held| {
            let is_first = *held == Held::Yes;
            if is_first {
                *held = Held::AskedAnyway;
            }
            is_first
        });
        *self.held.borrow() != Held::No
    }

    /// The reason that the program's questions are refused, if they are.
    pub fn take_refusal(&self) -> Option<Refused> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// In a task of its own: whoever asked may go away in the middle of a commit, which nobody may drop.
    async fn record(&self, command: RunnerCommand) -> Result<(), Refused> {
        let (told, result) = oneshot::channel();
        let host = Arc::clone(&self.host);
        self.runtime.spawn(Box::pin(async move {
            let _nobody_waits_any_more = told.send(host.record(vec![command]).await.map(drop));
        }));
        // A runtime that is stopping runs nothing more.
        result.await.unwrap_or(Err(Refused::Fenced))
    }

    fn refuse(&self, refused: Refused) -> Refusal {
        let message = refused.to_string();
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(refused);
        Refusal { message }
    }
}

impl Meter for HostMeter {
    fn open(&self, asked: Asked) -> BoxFuture<'_, Result<Leave, Refusal>> {
        Box::pin(async move {
            if self.asks_while_held() {
                // It is stopped meanwhile. A refusal would be one more thing in its conversation.
                self.runtime.sleep(HELD_FOR).await;
                return Err(Refusal { message: "a person is asked: this agent is being stopped".to_owned() });
            }
            if !self.tools.let_ask(self.runtime.as_ref()).await {
                return Err(Refusal { message: tools::NOT_THERE.to_owned() });
            }
            let exchange = self.last.fetch_add(1, Ordering::Relaxed) + 1;
            let Asked { model, asking } = asked;
            let wanted = ExchangeWanted { exchange, model, asking };
            loop {
                // Before it is asked: what is closed meanwhile is not missed.
                let closed = self.closed.notified();
                match self.record(RunnerCommand::OpenExchange(wanted.clone())).await {
                    Ok(()) => break,
                    Err(Refused::Rejected(Rejected::SetAside)) => {
                        tokio::select! { () = closed => {}, () = self.runtime.sleep(LOOK_EVERY) => {} }
                    }
                    Err(refused) => return Err(self.refuse(refused)),
                }
            }
            let open = self.host.state().foreign.exchanges.get(&exchange).map(|open| open.reserved_output);
            match open {
                Some(most_output) => Ok(Leave { ticket: Ticket(exchange), most_output }),
                // It has come to rest, and what was open has been charged.
                None => Err(self.refuse(Refused::Rejected(Rejected::NotRunning))),
            }
        })
    }

    fn model(&self) -> Option<String> {
        self.host.state().switched_to().map(str::to_owned)
    }

    fn close(&self, ticket: Ticket, metered: Metered) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let Metered { usage, cost, outcome, .. } = metered;
            let outcome = match outcome {
                Outcome::Answered => ExchangeOutcome::Answered,
                Outcome::Failed { reason } => ExchangeOutcome::Failed { reason },
                Outcome::Abandoned => ExchangeOutcome::Abandoned,
            };
            let closed = ExchangeClosed { exchange: ticket.0, usage, cost, outcome };
            // Once the execution rests or ends, what was open has been charged as it was thought to cost.
            let _charged_already = self.record(RunnerCommand::CloseExchange(closed)).await;
            self.closed.notify_waiters();
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "these have a runtime of their own")]

    use std::pin::Pin;

    use serde_json::json;
    use windlass_domain::execution::{
        ExecutionCommand, ExecutionEvent, ExecutionState, Lifecycle, StateChanged, decide,
    };
    use windlass_domain::{
        Asking, CancelSignal, Canceller, Delta, Digest, Holdings, HostReply, HostRequest, Intent, Kept, Look, Seq,
        Usage, Usd, Verdict, Wall,
    };
    use windlass_llm::Metering;
    use windlass_runtime::TokioRuntime;

    use super::*;

    const NOW: Wall = Wall::from_millis(1_700_000_000_000);

    /// The fold of a journal that nobody keeps.
    struct Fold(Mutex<ExecutionState>);

    impl Fold {
        fn running(max_tokens: u64) -> Arc<Self> {
            let header = json!({
                "execution_id": "00000000-0000-7000-8000-000000000001", "agent_id": "a", "role": "executor",
                "scope": {"kind": "task", "id": "t"}, "agent_version": "1", "model": "m", "carrier": "foreign",
                "configuration_digest": Digest::of(b"c"),
                "limits": {"max_iterations": 1_000, "timeout_ms": 1_000_000, "max_tokens": max_tokens, "max_cost_usd": 1.0},
            });
            let mut state = ExecutionState::default();
            state.apply(&ExecutionEvent::Header(serde_json::from_value(header).expect("a header")), NOW);
            let moves = [(Lifecycle::Created, Lifecycle::Launching), (Lifecycle::Launching, Lifecycle::Running)];
            for (from, to) in moves {
                state.apply(&ExecutionEvent::StateChanged(StateChanged { from, to, reason: String::new() }), NOW);
            }
            Arc::new(Self(Mutex::new(state)))
        }

        fn heed(&self, command: RunnerCommand) -> Result<(), Refused> {
            let mut state = self.0.lock().expect("no panic");
            let command = match command {
                RunnerCommand::OpenExchange(wanted) => ExecutionCommand::OpenExchange { wanted, left: None },
                RunnerCommand::CloseExchange(closed) => ExecutionCommand::CloseExchange(closed),
                other => panic!("a meter records no {other:?}"),
            };
            let event = decide(&state, command, NOW).map_err(Refused::Rejected)?;
            state.apply(&event, NOW);
            Ok(())
        }

        fn spent(&self) -> u64 {
            self.0.lock().expect("no panic").spent_by(NOW).usage.total()
        }
    }

    impl Host for Fold {
        fn state(&self) -> Arc<ExecutionState> {
            Arc::new(self.0.lock().expect("no panic").clone())
        }
        fn stage(&self, commands: Vec<RunnerCommand>) -> Result<(), Refused> {
            commands.into_iter().try_for_each(|command| self.heed(command))
        }
        fn record(&self, commands: Vec<RunnerCommand>) -> BoxFuture<'_, Result<Seq, Refused>> {
            Box::pin(std::future::ready(self.stage(commands).map(|()| Seq(0))))
        }
        fn authorise(&self, _: Vec<Intent>) -> BoxFuture<'_, Result<Vec<Verdict>, Refused>> {
            unreachable!("a meter asks for no leave")
        }
        fn request(&self, _: HostRequest) -> BoxFuture<'_, Result<HostReply, Refused>> {
            unreachable!("nor for work")
        }
        fn listen(&self) -> BoxFuture<'_, ()> {
            Box::pin(std::future::pending())
        }
        fn take_in(&self) -> BoxFuture<'_, Result<(), Refused>> {
            Box::pin(std::future::ready(Ok(())))
        }
        fn holdings(&self) -> Holdings {
            unreachable!("nor for what there is to read")
        }
        fn look(&self, _: Look) -> BoxFuture<'_, Result<serde_json::Value, String>> {
            unreachable!("nor reads it")
        }
        fn blob_put(&self, _: Vec<u8>) -> BoxFuture<'_, Result<Kept, Refused>> {
            unreachable!("nor keeps anything")
        }
        fn blob_get(&self, _: Digest) -> BoxFuture<'_, Result<Vec<u8>, Refused>> {
            unreachable!("nor gets it back")
        }
        fn emit(&self, _: Delta) {}
        fn cancel(&self) -> CancelSignal {
            Canceller::default().signal()
        }
    }

    /// Fifty ask at once, and each answer is as long as `answer` makes of what is allowed; how many were answered.
    fn fifty(host: &Arc<Fold>, answer: fn(u64) -> u64) -> usize {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        tokio.block_on(async {
            let runtime = Arc::new(TokioRuntime::new(tokio::runtime::Handle::current()));
            let meter =
                &HostMeter::new(Arc::clone(host) as Arc<_>, runtime, Arc::new(Tools::new(false, Duration::ZERO)));
            let ask = || async move {
                let asking = Asking { input: 100, output: 900, ..Asking::default() };
                let Leave { ticket, most_output } = meter.open(Asked { model: "m".to_owned(), asking }).await.ok()?;
                // All who may have asked by the time that the first is answered.
                for _ in 0..200 {
                    tokio::task::yield_now().await;
                }
                let usage = Usage { input: 100, output: answer(most_output), ..Usage::default() };
                let outcome = Outcome::Answered;
                meter
                    .close(ticket, Metered { usage, metering: Metering::Provider, cost: Some(Usd::ZERO), outcome })
                    .await;
                Some(())
            };
            let mut asked: Vec<Pin<Box<dyn Future<Output = Option<()>>>>> =
                (0..50).map(|_| Box::pin(ask()) as Pin<Box<_>>).collect();
            let mut answered = 0;
            std::future::poll_fn(|context| {
                asked.retain_mut(|one| match one.as_mut().poll(context) {
                    std::task::Poll::Pending => true,
                    std::task::Poll::Ready(done) => {
                        answered += usize::from(done.is_some());
                        false
                    }
                });
                if asked.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
            })
            .await;
            answered
        })
    }

    #[test]
    fn fifty_that_ask_at_once_spend_no_more_than_there_is() {
        let host = Fold::running(10_000);
        let answered = fifty(&host, |allowed| allowed);
        assert_eq!((answered, host.spent()), (10, 10_000));
    }

    #[test]
    fn who_finds_all_set_aside_waits_for_what_comes_back() {
        let host = Fold::running(12_000);
        let answered = fifty(&host, |_| 100);
        assert_eq!((answered, host.spent()), (50, 10_000));
    }

    /// What it was told before is in what it asks: so it is known that it has heard it.
    #[test]
    fn who_asks_while_a_person_is_asked_is_noticed_and_not_answered() {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        tokio.block_on(async {
            let runtime = Arc::new(TokioRuntime::new(tokio::runtime::Handle::current()));
            let meter = HostMeter::new(Fold::running(10_000), runtime, Arc::new(Tools::new(false, Duration::ZERO)));
            let asked = || Asked { model: "m".to_owned(), asking: Asking { input: 1, output: 1, ..Asking::default() } };
            assert!(meter.open(asked()).await.is_ok());
            meter.hold();
            tokio::select! {
                biased;
                answered = meter.open(asked()) => panic!("it is answered: {:?}", answered.is_ok()),
                () = meter.is_asked_anyway() => {}
            }
        });
    }
}
