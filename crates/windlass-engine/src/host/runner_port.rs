//! `Host` as a runner sees it: what it may ask, with what only the host knows added to it. Nothing is decided here but how
//! trustworthy a result is.

use std::sync::{Arc, PoisonError};

use windlass_domain::execution::{
    CallPhase, ExecutionCommand, ExecutionState, MessageAccepted, MessageKind, OwnerEffect, Rejected, RunnerCommand,
    inspect,
};
use windlass_domain::{
    BoxFuture, CallOutcome, CallStatus, CancelSignal, Delta, Digest, Effect, Holdings, Host, HostReply, HostRequest,
    HostWork, Intent, Kept, Look, Reach, Refused, Seq, Taint, Verdict,
};
use windlass_policy::gate::Trigger;
use windlass_policy::taint::result_taint;

use super::deliver::deliver;
use super::execution_host::ExecutionHost;
use super::memos::{Search, search_memos};
use super::rider::Rider;
use super::shown::Shown;
use super::validate_plan::validate_plan;
use crate::engine::Engine;
use crate::tripwire::TripwirePoint;

impl Host for ExecutionHost {
    fn state(&self) -> Arc<ExecutionState> {
        Arc::clone(&self.memory().journal.state)
    }

    fn stage(&self, commands: Vec<RunnerCommand>) -> Result<(), Refused> {
        self.decide(commands.into_iter().map(|command| self.complete(command)).collect())
    }

    fn record(&self, commands: Vec<RunnerCommand>) -> BoxFuture<'_, Result<Seq, Refused>> {
        Box::pin(async move {
            self.shared.pass(TripwirePoint::BeforeRecord).await;
            let asks = commands.iter().any(|command| matches!(command, RunnerCommand::Ask(_)));
            if let Some((blocked, audited)) = if asks { self.after_step().await } else { None } {
                // What has happened is kept; what would follow is not done.
                self.commit(Vec::new(), Rider { events: vec![audited], ..Rider::default() }).await?;
                return Err(Refused::Blocked(blocked));
            }
            let commands = commands.into_iter().map(|command| self.complete(command)).collect();
            self.commit(commands, Rider::default()).await
        })
    }

    fn authorise(&self, intents: Vec<Intent>) -> BoxFuture<'_, Result<Vec<Verdict>, Refused>> {
        Box::pin(async move {
            self.shared.pass(TripwirePoint::BeforeRecord).await;
            self.judge(intents).await
        })
    }

    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<HostReply, Refused>> {
        Box::pin(async move {
            let HostRequest { permit, work } = request;
            let call_id = permit.redeem().call.call_id;
            // A permit outlives its call only in the hands of a runner that kept it.
            if self.state().open_call(&call_id).is_none() {
                return Err(Rejected::NoSuchCall(call_id).into());
            }
            match work {
                HostWork::SpawnChild(spawn) => self.spawn(call_id, spawn).await,
                HostWork::Deliver { filepath, description, kind } => {
                    match deliver(&self.shared, &self.folder, filepath, description, kind).await {
                        Err(reason) => Ok(HostReply::Declined(reason)),
                        Ok((deliverable, bytes)) => {
                            let content = self.keep(bytes).await?.digest;
                            let kept = OwnerEffect::Delivered { deliverable: deliverable.clone(), content };
                            self.commit(vec![ExecutionCommand::Keep(kept)], Rider::default()).await?;
                            Ok(HostReply::Delivered(deliverable))
                        }
                    }
                }
                HostWork::SearchMemo { query } => {
                    Ok(search_memos(&self.shared, &self.folder, Search::native(query), &self.cancel)
                        .await
                        .map_or_else(HostReply::Declined, HostReply::Told))
                }
                HostWork::Research(question) => Box::pin(self.research(call_id, question)).await,
                HostWork::ValidatePlan { plan_markdown } => {
                    let engine = Engine { shared: Arc::clone(&self.shared) };
                    let validated = validate_plan(&engine, &self.created, plan_markdown).await;
                    validated.map_err(|error| Refused::Store(error.to_string()))
                }
                HostWork::TellUser { message } => self.tell_user(call_id, message).await,
                HostWork::InspectContext { zone } => {
                    let content = inspect(&self.state(), zone);
                    Ok(HostReply::Answered { status: CallStatus::Ok, content })
                }
                HostWork::SearchMemory { query, limit } => Ok(self.search_memory(call_id, &query, limit).await),
            }
        })
    }

    fn listen(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.inbox.arrived())
    }

    fn take_in(&self) -> BoxFuture<'_, Result<(), Refused>> {
        Box::pin(async move {
            self.hear()?;
            self.commit(Vec::new(), Rider::default()).await.map(drop)
        })
    }

    fn holdings(&self) -> Holdings {
        self.held()
    }

    fn look(&self, look: Look) -> BoxFuture<'_, Result<serde_json::Value, String>> {
        Box::pin(self.looked_at(look))
    }

    fn blob_put(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<Kept, Refused>> {
        Box::pin(self.keep(bytes))
    }

    fn blob_get(&self, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, Refused>> {
        Box::pin(async move {
            let found = self.shared.store.blob(&self.shared.tenant, digest).await;
            let found = found.map_err(|error| Refused::Store(error.to_string()))?;
            found.map(|blob| blob.bytes).ok_or_else(|| Refused::Store(format!("the blob {digest} is missing")))
        })
    }

    fn emit(&self, delta: Delta) {
        // An answer that gates have yet to judge is not shown while it is made.
        let is_words = matches!(delta, Delta::Text(_) | Delta::Reasoning(_));
        if is_words && self.has_gates(Trigger::EveryAgentResponse) {
            return;
        }
        if let Some(delta) = self.shown().redact(delta, &self.shared.redactor) {
            self.watcher.delta(self.execution, delta);
        }
    }

    fn cancel(&self) -> CancelSignal {
        self.cancel.clone()
    }
}

impl ExecutionHost {
    fn shown(&self) -> std::sync::MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is kept as a blob may hold whatever the context and the workspace hold.
    fn whole_taint(&self) -> Taint {
        self.taint().join(self.labels().whole())
    }

    /// What a runner asked for, with what only the host knows.
    fn complete(&self, command: RunnerCommand) -> ExecutionCommand {
        match command {
            RunnerCommand::Open { content, images } => ExecutionCommand::Accept(MessageAccepted {
                // The first message of an execution carries the execution's own number: there is exactly one.
                message_id: self.execution.to_string().parse().expect("every id is a UUID"),
                kind: MessageKind::Prompt,
                content,
                images,
                taint: self.prompt_taint,
            }),
            RunnerCommand::Ask(question) => {
                self.shown().begin_answer();
                ExecutionCommand::Ask(question)
            }
            RunnerCommand::Answer(answer) => ExecutionCommand::Answer(answer),
            RunnerCommand::GiveUp(no_answer) => ExecutionCommand::GiveUp(no_answer),
            RunnerCommand::FinishCall(outcome) => {
                let recalled = self.memory().recalled.remove(&outcome.call_id);
                let taint = self.taint_of(&outcome, recalled).join(recalled.unwrap_or(Taint::Owner));
                let noted = self.audit_refused_call(&outcome);
                self.memory().noted.extend(noted);
                ExecutionCommand::FinishCall { outcome, taint }
            }
            RunnerCommand::Compact(step) => ExecutionCommand::Compact(step),
            RunnerCommand::Warn(detected) => ExecutionCommand::Warn(detected),
            RunnerCommand::Step(stepped) => ExecutionCommand::Step(stepped),
            RunnerCommand::Nudge(nudged) => ExecutionCommand::Nudge(nudged),
            RunnerCommand::Note(noted) => ExecutionCommand::Note(noted),
            // A program may have read whatever is in its workspace.
            RunnerCommand::Observe(observed) => ExecutionCommand::Observe { observed, taint: self.whole_taint() },
            RunnerCommand::Propose(call) => ExecutionCommand::Propose(call),
            RunnerCommand::OpenExchange(wanted) => ExecutionCommand::OpenExchange { wanted, left: None },
            RunnerCommand::CloseExchange(closed) => ExecutionCommand::CloseExchange(closed),
            RunnerCommand::NoteDelivery(delivery) => ExecutionCommand::NoteDelivery(delivery),
        }
    }

    /// What a call says is as trustworthy as what it could read. One that was never started was answered by its tool, which may
    /// have looked at anything.
    fn taint_of(&self, outcome: &CallOutcome, recalled: Option<Taint>) -> Taint {
        let state = self.state();
        match state.open_call(&outcome.call_id).map(|open| &open.phase) {
            // What an agent says is as trustworthy as what it has read.
            Some(CallPhase::Started { effect: Effect::Child, .. }) => {
                // Where there is none, the host said why.
                let child = state.child_of(&outcome.call_id);
                child.map_or(state.taint, |child| child.ended.unwrap_or_else(|| self.whole_taint()).join(state.taint))
            }
            // What nobody looked up here was found by somebody else, who knows what.
            Some(CallPhase::Started { reach: Reach::Memory, .. }) if recalled.is_none() => Taint::External,
            Some(CallPhase::Started { reach, .. }) => result_taint(reach, state.taint, &self.labels()),
            _ => self.whole_taint(),
        }
    }

    pub(super) async fn keep(&self, bytes: Vec<u8>) -> Result<Kept, Refused> {
        let bytes = self.shared.redactor.redact_bytes(&bytes).into_owned();
        let taint = self.whole_taint();
        let staged = self.shared.store.stage_blob(&self.shared.tenant, bytes.clone(), taint).await;
        let blob = staged.map_err(|error| Refused::Store(error.to_string()))?;
        self.shared.pass(TripwirePoint::BlobStaged).await;
        let digest = blob.digest();
        self.memory().blobs.push(blob);
        Ok(Kept { digest, bytes })
    }
}
