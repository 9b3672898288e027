//! The one gate path: every call that wants to be run is judged here, and what was decided is committed before anybody
//! learns of it. Approval and the operator's gates join here.

use windlass_domain::execution::{ExecutionCommand, ExecutionState, Rejected};
use windlass_domain::{
    Call, CallOutcome, CallStatus, Effect, Exhausted, Host, Intent, Permit, Refused, Taint, ToolCall, Verdict,
};
use windlass_policy::MARKER;

use super::execution_host::{ExecutionHost, Rider};
use crate::tripwire::TripwirePoint;

/// What the rules say of one call: leave, or the words that the model reads instead.
enum Judged {
    Allowed(Call),
    Denied { call: ToolCall, reason: String },
}

impl ExecutionHost {
    pub(super) async fn judge(&self, intents: Vec<Intent>) -> Result<Vec<Verdict>, Refused> {
        let state = self.state();
        let limits = state.header.as_ref().map(|header| &header.limits);
        let exhausted = limits.and_then(|limits| limits.exhausted_for_calls(&state.spent_by(self.shared.wall())));
        let judge = |intent| judge_one(&state, intent, exhausted);
        let judged = intents.into_iter().map(judge).collect::<Result<Vec<_>, _>>()?;
        drop(state);
        self.commit(judged.iter().map(command).collect(), Rider::default()).await?;
        self.shared.pass(TripwirePoint::Permitted).await;
        Ok(judged.into_iter().map(verdict).collect())
    }
}

/// The call is taken from the journal: what was asked for is what is judged, and what is permitted.
fn judge_one(state: &ExecutionState, intent: Intent, exhausted: Option<Exhausted>) -> Result<Judged, Rejected> {
    let Intent { call_id, effect } = intent;
    let Some(open) = state.open_call(&call_id) else { return Err(Rejected::NoSuchCall(call_id)) };
    let call = open.call.clone();
    Ok(match (exhausted, &effect) {
        (Some(exhausted), _) => Judged::Denied { call, reason: exhausted.to_string() },
        (None, Effect::Probe(_) | Effect::Once) if call.arguments.get().contains(MARKER) => {
            Judged::Denied { call, reason: would_write_the_marker() }
        }
        (None, _) => Judged::Allowed(Call { call, effect }),
    })
}

/// A credential was taken out of what the model read or wrote. What stands there instead must not reach a file or a command
/// as if it were the real thing.
fn would_write_the_marker() -> String {
    format!(
        "not done: the arguments hold `{MARKER}`, which stands for a credential that is never shown or passed on. Leave it out: \
         with `edit`, replace only text around it; in a command, let a program read it from where it is."
    )
}

fn command(judged: &Judged) -> ExecutionCommand {
    match judged {
        Judged::Allowed(Call { call, effect }) => {
            ExecutionCommand::StartCall { call_id: call.call_id.clone(), effect: effect.clone() }
        }
        Judged::Denied { call, reason } => ExecutionCommand::FinishCall {
            outcome: CallOutcome {
                call_id: call.call_id.clone(),
                status: CallStatus::Denied,
                content: reason.clone(),
                full_output: None,
                duration_ms: 0,
            },
            // The host's own words.
            taint: Taint::Owner,
        },
    }
}

fn verdict(judged: Judged) -> Verdict {
    #[expect(clippy::disallowed_methods, reason = "the one place that issues permits: what they allow is committed")]
    match judged {
        Judged::Allowed(call) => Verdict::Granted(Permit::issue(call)),
        Judged::Denied { .. } => Verdict::Denied,
    }
}

#[cfg(test)]
mod tests {
    use windlass_domain::CallId;
    use windlass_domain::execution::OpenCall;

    use super::*;

    fn judged(arguments: &str, effect: Effect) -> Option<String> {
        let call = ToolCall::new("a", "write", arguments);
        let mut state = ExecutionState::default();
        state.open_calls.push(OpenCall { call, started: None });
        match judge_one(&state, Intent { call_id: CallId("a".into()), effect }, None).expect("an open call") {
            Judged::Allowed(_) => None,
            Judged::Denied { reason, .. } => Some(reason),
        }
    }

    #[test]
    fn the_marker_of_a_secret_is_never_written_anywhere() {
        let with_marker = r#"{"path":"conf.py","content":"TOKEN='[REDACTED]'"}"#;
        assert!(judged(with_marker, Effect::Once).is_some_and(|reason| reason.contains("credential")));
        assert_eq!(judged(with_marker, Effect::Read), None);
        assert_eq!(judged(r#"{"path":"conf.py","content":"DEBUG=True"}"#, Effect::Once), None);
    }

    #[test]
    fn what_nobody_asked_for_is_not_permitted() {
        let intent = Intent { call_id: CallId("b".into()), effect: Effect::Read };
        assert!(matches!(judge_one(&ExecutionState::default(), intent, None), Err(Rejected::NoSuchCall(_))));
    }
}
