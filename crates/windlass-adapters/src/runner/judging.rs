//! A program asks before it acts, and the same gates answer as for every call. A yes is for the very call that was asked about; a person
//! is asked without the program, which is told what they said when it goes on.

use serde_json::json;
use windlass_domain::execution::{CallPhase, Claim, ClaimKind, RunnerCommand};
use windlass_domain::tool_name::ASK_USER;
use windlass_domain::{
    CallId, CallOutcome, CallStatus, Effect, Host, Intent, Prepared, Reach, ToolCall, UserQuestion, Verdict,
};

use super::ending::End;
use super::foreign::said_to;
use super::proposals::{Call, call};
use super::talk::Talk;
use crate::{Answer, PermissionAsked};

pub(super) const HELD: &str = "A person is asked whether this may be done. Stop here: you will be told what they say.";

impl Talk {
    pub(super) async fn judge(&mut self, asked: PermissionAsked) -> Result<(), End> {
        self.count_question()?;
        let PermissionAsked { request, call: name, proposed } = asked;
        let host = std::sync::Arc::clone(&self.parts.host);
        let fresh = self.fresh_id(&name);
        let Call { call, prepared } = call(&fresh, &proposed, &self.parts.workspace);
        let call_id = match self.approved(&call) {
            Some(approved) => approved,
            None => {
                self.stage(RunnerCommand::Propose(call.clone()))?;
                fresh
            }
        };
        let intent = Intent { call_id: call_id.clone(), prepared };
        let verdict = host.authorise(vec![intent]).await.map_err(End::Refused)?.pop();
        let answer = match verdict {
            Some(Verdict::Granted(permit)) => {
                let granted = permit.redeem();
                self.refused.remove(&name);
                let begun = self.parts.runtime.now();
                // Some ask twice for one thing: for the place, then for the file.
                if let Some((before, _)) = self.calls.insert(name, (granted.call.call_id, begun)) {
                    self.asked_again(before)?;
                }
                Answer::Allow
            }
            Some(Verdict::Waiting) => {
                self.refused.insert(name);
                let frames = self.parts.conversation.answer(&request, &Answer::Hold { reason: HELD.to_owned() });
                self.write(&frames).await?;
                return Err(End::Held);
            }
            Some(Verdict::Denied) => {
                self.refused.insert(name);
                Answer::Deny { reason: said_to(host.as_ref(), &call_id) }
            }
            Some(Verdict::Rewritten) | None => match host.cancel().raised() {
                Some(stop) => return Err(End::Stopped(stop)),
                None => {
                    self.refused.insert(name);
                    self.rewritten(call_id)?
                }
            },
        };
        let frames = self.parts.conversation.answer(&request, &answer);
        self.write(&frames).await
    }

    fn asked_again(&self, call_id: CallId) -> Result<(), End> {
        self.stage(RunnerCommand::FinishCall(CallOutcome {
            call_id,
            status: CallStatus::Ok,
            content: "the program went on to ask for more under the same name".to_owned(),
            full_output: None,
            images: Vec::new(),
            duration_ms: 0,
        }))
    }

    /// A program runs what it asked for and nothing else, so that it has to ask for what a gate makes of it.
    fn rewritten(&self, call_id: CallId) -> Result<Answer, End> {
        let state = self.parts.host.state();
        let now = state.open_call(&call_id).map(|open| open.call.arguments.get().to_owned()).unwrap_or_default();
        drop(state);
        let reason = format!("not done: a gate allows it in another form only. Ask for it with these arguments: {now}");
        let content = reason.clone();
        self.stage(RunnerCommand::FinishCall(CallOutcome {
            call_id,
            status: CallStatus::Denied,
            content,
            full_output: None,
            images: Vec::new(),
            duration_ms: 0,
        }))?;
        Ok(Answer::Deny { reason })
    }

    /// The program's own name for the call, where nobody has used it.
    fn fresh_id(&self, name: &str) -> CallId {
        fresh_id(self.parts.host.as_ref(), name)
    }

    /// A call that a person has said yes to and that is the same, word for word.
    fn approved(&self, wanted: &ToolCall) -> Option<CallId> {
        let state = self.parts.host.state();
        let same = state.open_calls.iter().find(|open| {
            matches!(open.phase, CallPhase::Approved(_))
                && open.call.tool == wanted.tool
                && open.call.arguments.get() == wanted.arguments.get()
        });
        same.map(|open| open.call.call_id.clone())
    }

    pub(super) async fn ask_person(&mut self, question: UserQuestion) -> Result<(), End> {
        ask_person(self.parts.host.as_ref(), question).await
    }
}

fn fresh_id(host: &dyn Host, name: &str) -> CallId {
    let state = host.state();
    let name = if name.is_empty() { "call" } else { name };
    let mut call_id = CallId(name.to_owned());
    // As many as there are: a name that is asked under again and again is not counted through each time.
    let mut number = state.used_call_ids().len();
    while state.has_used(&call_id) {
        number += 1;
        call_id = CallId(format!("{name}#{number}"));
    }
    call_id
}

/// What a person is asked for a claim that wants one.
pub(super) fn question_of(claim: &Claim) -> Option<UserQuestion> {
    let words = claim.words().unwrap_or("without saying why");
    let question = match claim.kind {
        ClaimKind::NeedsInput => words.to_owned(),
        ClaimKind::Blocked => format!("The agent says that it is blocked: {words}"),
        _ => return None,
    };
    Some(UserQuestion { question, options: claim.choices(), context: None })
}

/// The agent's question becomes a person's to answer, as if it had asked by a tool of ours.
pub(super) async fn ask_person(host: &dyn Host, question: UserQuestion) -> Result<(), End> {
    let call_id = fresh_id(host, "question");
    let call = ToolCall::new(call_id.0.clone(), ASK_USER, &json!(question).to_string());
    host.stage(vec![RunnerCommand::Propose(call)]).map_err(End::Refused)?;
    let prepared = Prepared { question: Some(question), ..Prepared::new(Effect::Once, Reach::Context) };
    let verdicts = host.authorise(vec![Intent { call_id, prepared }]).await.map_err(End::Refused)?;
    match verdicts.first() {
        Some(Verdict::Waiting) => Err(End::Held),
        // A gate said no; the agent goes on without an answer.
        _ => Ok(()),
    }
}
