//! Calls that were in flight when a process vanished. The journal has their intent; what became of each is found out by
//! looking, never by guessing, and never by running twice what may have happened once.

use windlass_domain::execution::{CallPhase, OpenCall, RunnerCommand};
use windlass_domain::{CallOutcome, CallStatus, Effect, Intent, Prepared, Recovery, Stop, ToolCall};

use crate::session::{Ended, Work, ended};

const INTERRUPTED: &str = "interrupted: the process that ran this call was stopped before it could record the result. \
Whether the call took effect, wholly or in part, is not known. Look at the state it would have changed before you \
decide to repeat it.";

const NOT_RUN_AGAIN: &str = "cancelled: the process that ran this call was stopped before the call had changed anything, and \
the task was told to stop before it could be run again.";

impl Work<'_> {
    /// Settles the first of them. A run that is to stop runs nothing again; but agents that were spawned are gone on with, all of
    /// them side by side, so that each comes to its own end or rest.
    pub(crate) async fn recover(&self, in_flight: Vec<OpenCall>, stop: Option<Stop>) -> Result<(), Ended> {
        let spawned: Vec<_> = in_flight.iter().take_while(|open| open.started() == Some(&Effect::Child)).collect();
        if !spawned.is_empty() && stop != Some(Stop::Pause) {
            return self.rejoin(spawned).await;
        }
        let Some(OpenCall { call, phase: CallPhase::Started { effect, .. } }) = in_flight.into_iter().next() else {
            return Ok(());
        };
        let found = self.tools.probe(&effect).await;
        let (status, content) = match effect.recover(|_| found) {
            Recovery::RunAgain => match stop {
                None => return self.run_again(call, effect).await,
                // It stays open, and is run by whoever goes on.
                Some(Stop::Pause | Stop::LeaseLost) => return Err(Ended::Stopped(Stop::Pause)),
                Some(Stop::Cancel) => (CallStatus::Cancelled, NOT_RUN_AGAIN.to_owned()),
            },
            Recovery::Finished(result) => (CallStatus::Ok, result),
            Recovery::Interrupted => (CallStatus::Interrupted, INTERRUPTED.to_owned()),
        };
        self.settle(call, status, content)
    }

    async fn rejoin(&self, spawned: Vec<&OpenCall>) -> Result<(), Ended> {
        let mut intents = Vec::with_capacity(spawned.len());
        for OpenCall { call, .. } in spawned {
            match self.tools.prepare(call).await {
                Ok(prepared) if prepared.effect == Effect::Child => {
                    intents.push(Intent { call_id: call.call_id.clone(), prepared });
                }
                Ok(_) => return self.settle(call.clone(), CallStatus::Interrupted, INTERRUPTED.to_owned()),
                Err(reason) => return self.settle(call.clone(), CallStatus::Error, reason),
            }
        }
        self.perform(intents).await
    }

    /// As it was begun: what the journal says it would do is what it does.
    async fn run_again(&self, call: ToolCall, effect: Effect) -> Result<(), Ended> {
        match self.tools.prepare(&call).await {
            Ok(prepared) if is_of_the_same_kind(&prepared.effect, &effect) => {
                let prepared = Prepared { effect, ..prepared };
                self.perform(vec![Intent { call_id: call.call_id, prepared }]).await
            }
            // Whatever the journal says it would do, it is not what would be done.
            Ok(_) => self.settle(call, CallStatus::Interrupted, INTERRUPTED.to_owned()),
            Err(reason) => self.settle(call, CallStatus::Error, reason),
        }
    }

    fn settle(&self, call: ToolCall, status: CallStatus, content: String) -> Result<(), Ended> {
        let outcome = CallOutcome {
            call_id: call.call_id,
            status,
            content,
            full_output: None,
            images: Vec::new(),
            duration_ms: 0,
        };
        self.host.stage(vec![RunnerCommand::FinishCall(outcome)]).map_err(ended)
    }
}

fn is_of_the_same_kind(now: &Effect, begun: &Effect) -> bool {
    match (now, begun) {
        (Effect::Read, Effect::Read) | (Effect::Child, Effect::Child) => true,
        (Effect::Probe(now), Effect::Probe(begun)) => now.path == begun.path,
        _ => false,
    }
}
