//! Running tool calls. Calls go in waves, in the order the model asked for them: read-only neighbours together, neighbours that
//! spawn agents together, everything else alone, so that a later call sees what an earlier one did. Every call gets exactly
//! one result; one whose agent has to wait gets it when that has ended.

use futures_util::future::{Either, select};
use futures_util::stream::{StreamExt as _, iter};
use windlass_domain::execution::{CallPhase, OpenCall, Outcome, RunnerCommand};
use windlass_domain::pattern::Around;
use windlass_domain::{
    CallOutcome, CallStatus, Canceller, Delta, Effect, HostReply, Instant, Intent, Permit, Stop, Verdict, millis,
};
use windlass_tools::Ran;

use crate::session::{Ended, Work, ended};

/// Side by side: a model may ask for hundreds at once, and each may hold a page or a file.
const MOST_READS: usize = 16;

impl Work<'_> {
    pub(crate) async fn run_wave(&self, waiting: Vec<OpenCall>, around: &Around) -> Result<(), Ended> {
        let mut wave: Vec<Intent> = Vec::new();
        let mut tracker = self.host.state().tracker.clone();
        for open in waiting {
            // What a person was asked about, or a gate rewrote, was let through before.
            let is_new = open.phase == CallPhase::Asked;
            let admitted = tracker.as_mut().filter(|_| is_new).map(|tracker| tracker.admit(&open.call.tool, around));
            match (admitted, wave.is_empty()) {
                (Some(Err(reason)), true) => return self.refuse_call(open, reason),
                (Some(Err(_)), false) => break,
                (None | Some(Ok(())), _) => {}
            }
            match self.tools.prepare(&open.call).await {
                Err(content) if wave.is_empty() => return self.refuse_call(open, content),
                Ok(prepared) if wave.last().is_none_or(|last| go_together(&last.prepared.effect, &prepared.effect)) => {
                    wave.push(Intent { call_id: open.call.call_id, prepared });
                }
                // It begins the next wave, prepared anew after this one.
                Ok(_) | Err(_) => break,
            }
        }
        self.perform(wave).await
    }

    fn refuse_call(&self, open: OpenCall, content: String) -> Result<(), Ended> {
        let (call_id, status) = (open.call.call_id, CallStatus::Error);
        let refusal = CallOutcome { call_id, status, content, full_output: None, images: Vec::new(), duration_ms: 0 };
        self.host.stage(vec![RunnerCommand::FinishCall(refusal)]).map_err(ended)
    }

    /// Asks leave for these calls and runs those that get it, side by side.
    pub(crate) async fn perform(&self, intents: Vec<Intent>) -> Result<(), Ended> {
        let spawns = intents.iter().any(|intent| intent.prepared.effect == Effect::Child);
        let at_once = if spawns { self.max_parallel } else { MOST_READS };
        let verdicts = self.host.authorise(intents).await.map_err(ended)?;
        let permits = verdicts.into_iter().filter_map(|verdict| match verdict {
            Verdict::Granted(permit) => Some(permit),
            // The journal says what became of these.
            Verdict::Denied | Verdict::Rewritten | Verdict::Waiting => None,
        });
        let stopper = Canceller::default();
        let redeemed = permits.enumerate().map(async |(place, permit)| (place, self.redeem(permit, &stopper).await));
        // Whoever ends makes room at once, be it before those who began earlier.
        let running = iter(redeemed).buffer_unordered(at_once);
        let mut results: Vec<_> = self.stopping_with(running.collect(), &stopper).await;
        results.sort_by_key(|(place, _)| *place);
        // Another process may be running these calls by now; what happened here is not ours to tell.
        if self.cancel.raised() == Some(Stop::LeaseLost) {
            return Err(Ended::Stopped(Stop::LeaseLost));
        }
        let mut outcomes = Vec::with_capacity(results.len());
        let mut rest = None;
        for (_, result) in results {
            match result? {
                Redeemed::Ended(outcome) => outcomes.push(RunnerCommand::FinishCall(outcome)),
                Redeemed::Open(outcome) => rest = Some(weightier(rest, outcome)),
            }
        }
        self.host.stage(outcomes).map_err(ended)?;
        rest.map_or(Ok(()), Err)
    }

    async fn redeem(&self, permit: Permit, stopper: &Canceller) -> Result<Redeemed, Ended> {
        let begun = self.runtime.now();
        let (host, call_id) = (&self.host, permit.call().call.call_id.clone());
        let mut watch = |text: &str| {
            host.emit(Delta::ToolOutput { call_id: call_id.clone(), text: text.to_owned() });
        };
        let Ran { status, content, full_output, pictures, request } =
            self.tools.run(self.execution, permit, stopper.signal(), &mut watch).await;
        let (status, content, full_output) = match request {
            None => (status, content, full_output),
            Some(request) => match self.host.request(request).await.map_err(ended)? {
                HostReply::Delivered(_) => (status, content, full_output),
                HostReply::Told(told) => (status, told, full_output),
                HostReply::Declined(reason) => (CallStatus::Error, reason, None),
                HostReply::Answered { status, content } => {
                    let (content, full_output) = self.tools.fit(content, self.execution, &call_id).await;
                    (status, content, full_output)
                }
                HostReply::Unfinished(outcome) => return Ok(Redeemed::Open(outcome)),
            },
        };
        let full_output = match full_output {
            None => None,
            Some(bytes) => Some(self.host.blob_put(bytes).await.map_err(ended)?.digest),
        };
        let images = self.keep_pictures(pictures).await?;
        let duration_ms = millis(self.runtime.now() - begun);
        Ok(Redeemed::Ended(CallOutcome { call_id, status, content, full_output, images, duration_ms }))
    }

    /// A future that holds a permit is never dropped: stopping is a signal to it, and it ends by itself soon after.
    async fn stopping_with<T>(&self, running: impl Future<Output = T>, stopper: &Canceller) -> T {
        let stopping = select(self.cancel.wait(), self.runtime.sleep_until(self.deadline()));
        match select(Box::pin(running), stopping).await {
            Either::Left((done, _)) => done,
            Either::Right((reason, running)) => {
                stopper.stop(match reason {
                    Either::Left((stop, _)) => stop,
                    Either::Right(_) => Stop::Cancel,
                });
                running.await
            }
        }
    }

    /// When this execution's time is up.
    pub(crate) fn deadline(&self) -> Instant {
        let state = self.host.state();
        let limit = state.header.as_ref().map_or(u64::MAX, |header| header.limits.timeout_ms);
        let used = state.spent_by(self.runtime.wall()).active_ms;
        self.runtime.now() + std::time::Duration::from_millis(limit.saturating_sub(used))
    }
}

/// What became of a call that was given leave.
enum Redeemed {
    Ended(CallOutcome),
    /// It stays open, and the run comes to rest like this.
    Open(Outcome),
}

/// Whether a call may run beside the one before it.
const fn go_together(one: &Effect, next: &Effect) -> bool {
    matches!((one, next), (Effect::Read, Effect::Read) | (Effect::Child, Effect::Child))
}

/// Of two ways to come to rest the one that says more: who is told to stop need not wait, and an outage is mended first.
fn weightier(one: Option<Outcome>, other: Outcome) -> Outcome {
    let weight = |outcome: &Outcome| match outcome {
        Outcome::Waiting | Outcome::Completed { .. } => 0,
        Outcome::Failed(_) => 1,
        Outcome::Stopped(_) => 2,
    };
    match one {
        Some(one) if weight(&one) >= weight(&other) => one,
        _ => other,
    }
}
