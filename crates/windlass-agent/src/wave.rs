//! Running tool calls. Calls go in waves, in the order the model asked for them: read-only neighbours together, everything
//! else alone, so that a later call sees what an earlier one did. Every call gets exactly one result.

use futures_util::future::{Either, join_all, select};
use windlass_domain::execution::{ExecutionCommand, OpenCall};
use windlass_domain::{
    Call, CallId, CallStatus, Canceller, Delta, Effect, Finished, HostReply, Instant, Permit, Stop, Taint, ToolCall,
    Verdict,
};
use windlass_tools::Ran;

use crate::session::{Ended, Work, ended};

impl Work<'_> {
    pub(crate) async fn run_wave(&self, waiting: Vec<OpenCall>) -> Result<(), Ended> {
        let mut wave = Vec::new();
        for open in waiting {
            match self.tools.prepare(&open.call).await {
                Err(refusal) if wave.is_empty() => {
                    let finished = self.finished(&open.call, CallStatus::Error, refusal, 0);
                    return self.host.stage(vec![ExecutionCommand::FinishCall(finished)]).map_err(ended);
                }
                Ok(effect) if wave.is_empty() || effect == Effect::Read => {
                    let alone = effect != Effect::Read;
                    wave.push(Call { call: open.call, effect });
                    if alone {
                        break;
                    }
                }
                // It begins the next wave, prepared anew after this one.
                Ok(_) | Err(_) => break,
            }
        }
        self.perform(wave).await
    }

    /// Asks leave for these calls and runs those that get it, side by side.
    pub(crate) async fn perform(&self, calls: Vec<Call>) -> Result<(), Ended> {
        let asked: Vec<ToolCall> = calls.iter().map(|call| call.call.clone()).collect();
        let verdicts = self.host.authorise(calls).await.map_err(ended)?;
        let stopper = Canceller::default();
        let running = join_all(asked.iter().zip(verdicts).map(|(call, verdict)| self.answer(call, verdict, &stopper)));
        let results = self.stopping_with(running, &stopper).await;
        // Another process may be running these calls by now; what happened here is not ours to tell.
        if self.cancel.raised() == Some(Stop::LeaseLost) {
            return Err(Ended::Stopped(Stop::LeaseLost));
        }
        let finished = results.into_iter().collect::<Result<Vec<_>, _>>()?;
        self.host.stage(finished.into_iter().map(ExecutionCommand::FinishCall).collect()).map_err(ended)
    }

    async fn answer(&self, call: &ToolCall, verdict: Verdict, stopper: &Canceller) -> Result<Finished, Ended> {
        match verdict {
            Verdict::Denied { reason, .. } => Ok(self.finished(call, CallStatus::Denied, reason, 0)),
            Verdict::Granted(permit) => self.redeem(call, permit, stopper).await,
        }
    }

    async fn redeem(&self, call: &ToolCall, permit: Permit, stopper: &Canceller) -> Result<Finished, Ended> {
        let begun = self.runtime.now();
        let (host, call_id) = (&self.host, call.call_id.clone());
        let mut watch = |text: &str| {
            host.emit(Delta::ToolOutput { call_id: call_id.clone(), text: text.to_owned() });
        };
        let Ran { status, content, full_output, request } = self.tools.run(permit, stopper.signal(), &mut watch).await;
        let (status, content) = match request {
            None => (status, content),
            Some(request) => match self.host.request(request).await.map_err(ended)? {
                HostReply::Delivered(_) => (status, content),
                HostReply::Declined(reason) => (CallStatus::Error, reason),
            },
        };
        let mut finished = self.finished(call, status, content, millis(self.runtime.now() - begun));
        if let Some(bytes) = full_output {
            finished.full_output = Some(self.host.blob_put(bytes, finished.taint).await.map_err(ended)?);
        }
        Ok(finished)
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

    pub(crate) fn finished(&self, call: &ToolCall, status: CallStatus, content: String, duration_ms: u64) -> Finished {
        let call_id: CallId = call.call_id.clone();
        // What a tool says may hold whatever the context and the workspace hold.
        let taint = self.host.state().taint.join(Taint::Auth);
        Finished { call_id, tool: call.tool.clone(), status, content, full_output: None, taint, duration_ms }
    }
}

fn millis(length: std::time::Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}
