//! Where the user sees what happened: Stream (told), Review (asked), Activity (the record). Decided by the kind of event
//! alone (seed 001 §3.5, §6.3); agents may propose words, never the surface.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    Stream,
    Review,
    Activity,
}

/// What there is to route: seed 001's messages by kind, and the events that are no messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// `message_kind` as it is written; `status` for `execution_status`.
    Message {
        kind: &'a str,
        status: Option<&'a str>,
    },
    GateBlock,
    Suggestion,
    /// An agent's words for the user in the midst of its work (§3.3).
    Told,
}

/// Total: what is not known goes to the record, and a status that is not known is shown, because it may matter.
pub fn route_to_surface(event: Event<'_>) -> &'static [Surface] {
    use Surface::{Activity, Review, Stream};
    match event {
        Event::GateBlock | Event::Suggestion | Event::Message { kind: "plan_result", .. } => &[Review],
        Event::Told => &[Stream],
        Event::Message { kind: "execution_status", status } => match status {
            Some("done") => &[Stream],
            Some("running") => &[Activity],
            _ => &[Stream, Activity],
        },
        Event::Message { .. } => &[Activity],
    }
}
