//! How a turn ended, read from what the agent answers its message with: a reason to stop, or an error.

use serde_json::Value;
use windlass_domain::execution::{Failure, TurnEnd};

use crate::jsonrpc::{Refusal, kept, text};

/// The protocol's number for "sign in first".
const SIGN_IN: i64 = -32000;

pub fn ended(result: &Value, last_said: &str) -> TurnEnd {
    match text(result, "/stopReason") {
        "end_turn" => TurnEnd::Completed { message: last_said.to_owned() },
        "cancelled" => TurnEnd::Interrupted,
        "refusal" => failed("the model refuses to go on", Failure::Model),
        "max_tokens" => failed("the model's answer was cut at its longest", Failure::Model),
        "max_turn_requests" => failed("the program allows itself no more model calls in a turn", Failure::Agent),
        other => failed(&format!("the turn ended for a reason that is not known: {}", kept(other)), Failure::Agent),
    }
}

fn failed(reason: &str, why: Failure) -> TurnEnd {
    TurnEnd::Failed { reason: reason.to_owned(), why }
}

pub fn spoken(refusal: &Refusal) -> String {
    match text(&refusal.data, "/details") {
        "" => refusal.message.clone(),
        details => format!("{}: {}", refusal.message, kept(details)),
    }
}

/// The protocol knows only "sign in first". For the rest there are the numbers and words that agents were seen to use: a status of
/// the model's server as the code, or the name of the error.
pub fn failure(refusal: &Refusal) -> Failure {
    let name = text(&refusal.data, "/errorName");
    let reason = spoken(refusal).to_lowercase();
    let words = || reason.split(|letter: char| !letter.is_alphanumeric());
    let login = words().any(|word| ["unauthorized", "unauthenticated", "401", "403"].contains(&word))
        || ["api key", "authentication"].iter().any(|phrase| reason.contains(phrase));
    match refusal.code {
        SIGN_IN | 401 | 403 => Failure::Login,
        400..600 => Failure::Model,
        _ if login || name == "ProviderAuthError" => Failure::Login,
        _ if name == "APIError" => Failure::Model,
        _ => Failure::Agent,
    }
}
