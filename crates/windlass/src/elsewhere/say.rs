//! `windlass say` in a conversation that a server has: the answer is waited for, and work that begins with it is followed.

use std::time::Duration;

use windlass_api::{SaidAccepted, SayRequest, Session, SessionRequest};
use windlass_domain::role_output::Route;
use windlass_domain::session::{TurnDone, TurnEnded};
use windlass_engine::Accepted;

use super::far::{Far, explained};
use super::follow::{Before, follow};
use super::ordered::{folder, limits};
use crate::arguments;
use crate::commands::{Errand, read_message, tell_turn, turn_as_result};
use crate::exit::{Exit, WrongUse};
use crate::interrupts::Interrupts;
use crate::show::{print_json, teller};

/// How often it is looked whether there is an answer.
const LOOK_EVERY: Duration = Duration::from_millis(300);

pub async fn say(far: &Far, arguments: arguments::Say) -> anyhow::Result<Exit> {
    let words = if arguments.message == "-" { read_message()? } else { arguments.message.clone() };
    if words.trim().is_empty() {
        return Err(WrongUse::new("the message is empty").hint("say something: windlass say \"…\"").into());
    }
    if arguments.rehearsal.is_some() || arguments.sandbox.sandbox.is_some() || arguments.sandbox.no_isolation {
        return Err(WrongUse::new("--rehearsal and --sandbox cannot be said to a server")
            .hint("leave them out: its operator has chosen")
            .into());
    }
    let workspace = folder(&arguments.workspace)?;
    let name = arguments.session.clone().unwrap_or_default();
    let opening = SessionRequest { workspace: workspace.clone(), name };
    let opened: Session = far.client.post("/v1/sessions", &opening).await.map_err(explained)?;
    let place = format!("/v1/sessions/{}/messages", opened.session_id);
    let limits = limits(arguments.limits.into());
    let request = SayRequest {
        message: words,
        workspace,
        model: arguments.model,
        limits,
        user_id: None,
        attachments: Vec::new(),
    };
    let said: SaidAccepted = far.client.post(&place, &request).await.map_err(explained)?;
    let run = said.turn.as_deref().map(str::parse).transpose()?;
    let accepted = Accepted { session: said.session_id.parse()?, message: said.message_id.parse()?, run };
    let Some(ended) = answered(far, accepted).await? else { return Ok(Exit::Paused) };
    tell_turn(&ended, accepted, arguments.output);
    let followed = match (&ended.done, ended.decision.route) {
        (TurnDone::Began { task }, _) => Some((*task, Before::Taken)),
        (TurnDone::Told { task }, Route::ResumeTask) => Some((*task, Before::SoFar)),
        _ => None,
    };
    if let Some((task, before)) = followed.filter(|_| !arguments.detach) {
        return follow(far, task, &teller(arguments.output), before).await;
    }
    if arguments.output.json {
        print_json(&turn_as_result(&ended));
    }
    Ok(Exit::Completed)
}

/// None: whoever asked has left.
async fn answered(far: &Far, accepted: Accepted) -> anyhow::Result<Option<TurnEnded>> {
    let mut interrupts = Interrupts::new()?;
    loop {
        match far.answer::<Option<TurnEnded>>(Errand::Turn(accepted.session, accepted.message)).await {
            Ok(Some(ended)) => return Ok(Some(ended)),
            Ok(None) => {}
            Err(error) if error.may_pass() => {}
            Err(error) => return Err(explained(error)),
        }
        tokio::select! {
            () = far.runtime.sleep(LOOK_EVERY) => {}
            () = interrupts.next() => return Ok(None),
        }
    }
}
