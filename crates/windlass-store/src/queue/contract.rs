//! What a message must be to enter a queue: seed 001 §2.1's payload contract, its route, and a size. A total function of
//! the message; each way to be wrong has its own name.

use windlass_domain::queue::{MessageKind, QueueMessage, QueuePayload, Sender};

use crate::queue::place::is_place;
use crate::queue::{Queue, may_enter};

/// As it is stored. What is larger belongs into blobs and artifacts.
pub const LARGEST_MESSAGE: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    #[error("{sender} sends no {message_kind} to {}", queue.name())]
    NotRouted { sender: Sender, message_kind: MessageKind, queue: Queue },

    #[error("execution_status needs a status payload")]
    NoStatus,

    #[error("an error that is no status needs an error payload")]
    NoError,

    #[error("a message that tells of an error needs `{header}`")]
    MissingHeader { header: &'static str },

    #[error("its `{header}` is not that of its payload")]
    HeaderDiffers { header: &'static str },

    #[error("it has more than {most} bytes: put the large parts into artifacts")]
    TooLarge { most: usize },

    #[error("it cannot be read: {detail}")]
    Malformed { detail: String },

    #[error("it says that {said} sent it, and {is} did")]
    OtherSender { said: Sender, is: Sender },

    #[error("its placement is not the name of a place: 1 to 128 visible ASCII characters, none of them `@`")]
    BadPlacement,

    #[error("it follows from a message of another trace: the trace id is copied unchanged")]
    OtherTrace,
}

impl Invalid {
    /// One word for each, for the audit.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::NotRouted { .. } => "not_routed",
            Self::NoStatus | Self::NoError | Self::MissingHeader { .. } => "incomplete",
            Self::HeaderDiffers { .. } => "contradictory",
            Self::TooLarge { .. } => "too_large",
            Self::Malformed { .. } => "malformed",
            Self::OtherSender { .. } => "forged",
            Self::BadPlacement => "bad_placement",
            Self::OtherTrace => "other_trace",
        }
    }
}

pub fn check(queue: Queue, message: &QueueMessage) -> Result<(), Invalid> {
    check_size(message)?;
    let QueueMessage { sender, message_kind, .. } = *message;
    if !may_enter(queue, sender, message_kind) {
        return Err(Invalid::NotRouted { sender, message_kind, queue });
    }
    if message.placement.as_deref().is_some_and(|place| !is_place(place)) {
        return Err(Invalid::BadPlacement);
    }
    check_payload(message)?;
    if tells_of_an_error(message) { check_headers(message) } else { Ok(()) }
}

/// Comes first and copies nothing: writing ends where the message is too large, so that nothing else ever has to do with
/// what is.
fn check_size(message: &QueueMessage) -> Result<(), Invalid> {
    let most = LARGEST_MESSAGE;
    serde_json::to_writer(Room { left: most }, message).map_err(|_| Invalid::TooLarge { most })
}

/// Takes so many bytes and keeps none.
struct Room {
    left: usize,
}

impl std::io::Write for Room {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn check_payload(message: &QueueMessage) -> Result<(), Invalid> {
    let is_status = message.message_kind == MessageKind::ExecutionStatusChange;
    match (&message.payload, is_status) {
        (Some(QueuePayload::Status(_)), true) => Ok(()),
        (_, true) => Err(Invalid::NoStatus),
        (Some(QueuePayload::Error(_)), false) => Ok(()),
        (_, false) if tells_of_an_error(message) => Err(Invalid::NoError),
        (_, false) => Ok(()),
    }
}

fn tells_of_an_error(message: &QueueMessage) -> bool {
    message.error_code.is_some()
        || match &message.payload {
            Some(QueuePayload::Status(payload)) => payload.status.is_error(),
            Some(QueuePayload::Error(_)) => true,
            Some(QueuePayload::Other(_)) | None => false,
        }
}

fn check_headers(message: &QueueMessage) -> Result<(), Invalid> {
    let said = match &message.payload {
        Some(QueuePayload::Error(payload)) => Some(payload),
        _ => None,
    };
    header("error_code", message.error_code, said.map(|payload| payload.error_code))?;
    header("retryable", message.retryable, said.map(|payload| payload.retryable))?;
    header("origin_agent", message.origin_agent, said.map(|payload| payload.origin_agent))?;
    header("attempt_number", message.attempt_number, said.map(|payload| payload.attempt_number))
}

fn header<T: PartialEq>(header: &'static str, set: Option<T>, said: Option<T>) -> Result<(), Invalid> {
    match (set, said) {
        (None, _) => Err(Invalid::MissingHeader { header }),
        (Some(set), Some(said)) if set != said => Err(Invalid::HeaderDiffers { header }),
        (Some(_), _) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use windlass_domain::queue::{ErrorCode, ErrorPayload, ExecutionStatus, OriginAgent, StatusPayload};
    use windlass_domain::{MessageId, Taint, Tenant, TraceId, Wall};

    use super::*;

    fn message(sender: Sender, kind: MessageKind) -> QueueMessage {
        let now = Wall::from_millis(1);
        let whose = (Tenant::local(), Taint::Auth);
        QueueMessage::new(MessageId::new(now, 1), TraceId::new(now, 2), (sender, kind), whose, "text", now)
    }

    fn status(status: ExecutionStatus) -> QueueMessage {
        let payload = StatusPayload {
            status,
            detail: None,
            attempt_number: None,
            budget_remaining_tokens: None,
            budget_remaining_usd: None,
        };
        let plain = message(Sender::Runtime, MessageKind::ExecutionStatusChange);
        QueueMessage { payload: Some(QueuePayload::Status(payload)), ..plain }
    }

    fn with_headers(message: QueueMessage) -> QueueMessage {
        QueueMessage {
            error_code: Some(ErrorCode::Timeout),
            retryable: Some(true),
            origin_agent: Some(OriginAgent::Planner),
            attempt_number: Some(2),
            ..message
        }
    }

    fn failure() -> QueueMessage {
        let payload = ErrorPayload {
            error_code: ErrorCode::Timeout,
            retryable: true,
            origin_agent: OriginAgent::Planner,
            attempt_number: 2,
            detail: "no answer".into(),
        };
        let plain = message(Sender::Runtime, MessageKind::SystemEvent);
        QueueMessage { payload: Some(QueuePayload::Error(payload)), ..with_headers(plain) }
    }

    fn checked(message: &QueueMessage) -> Result<(), Invalid> {
        let queue = crate::queue::route(message.sender, message.message_kind).unwrap_or(Queue::Runtime);
        check(queue, message)
    }

    #[test]
    fn every_kind_enters_its_own_queue_and_no_other() {
        for sender in Sender::ALL {
            for kind in MessageKind::ALL {
                for queue in Queue::ALL {
                    let refused = check(queue, &message(*sender, *kind));
                    let not_routed = matches!(refused, Err(Invalid::NotRouted { .. }));
                    assert_eq!(not_routed, !may_enter(queue, *sender, *kind), "{sender} {kind} {queue:?}");
                }
            }
        }
    }

    #[test]
    fn a_status_change_carries_a_status() {
        assert_eq!(checked(&status(ExecutionStatus::Done)), Ok(()));
        let without = message(Sender::Runtime, MessageKind::ExecutionStatusChange);
        assert_eq!(checked(&without), Err(Invalid::NoStatus));
        let error = QueueMessage { payload: failure().payload, ..without };
        assert_eq!(checked(&error), Err(Invalid::NoStatus));
    }

    #[test]
    fn a_status_that_is_an_error_needs_its_error_code_and_the_rest() {
        for wrong in ExecutionStatus::ALL.iter().filter(|status| status.is_error()) {
            let bare = status(*wrong);
            assert_eq!(checked(&bare), Err(Invalid::MissingHeader { header: "error_code" }), "{wrong}");
            assert_eq!(checked(&with_headers(bare)), Ok(()), "{wrong}");
        }
    }

    #[test]
    fn an_error_needs_every_header_and_its_payload() {
        assert_eq!(checked(&failure()), Ok(()));
        let missing = |header| Err(Invalid::MissingHeader { header });
        assert_eq!(checked(&QueueMessage { error_code: None, ..failure() }), missing("error_code"));
        assert_eq!(checked(&QueueMessage { retryable: None, ..failure() }), missing("retryable"));
        assert_eq!(checked(&QueueMessage { origin_agent: None, ..failure() }), missing("origin_agent"));
        assert_eq!(checked(&QueueMessage { attempt_number: None, ..failure() }), missing("attempt_number"));
        assert_eq!(checked(&QueueMessage { payload: None, ..failure() }), Err(Invalid::NoError));
    }

    #[test]
    fn headers_that_contradict_the_payload_are_refused() {
        let differs = |header| Err(Invalid::HeaderDiffers { header });
        let other = QueueMessage { error_code: Some(ErrorCode::ToolFailure), ..failure() };
        assert_eq!(checked(&other), differs("error_code"));
        assert_eq!(checked(&QueueMessage { retryable: Some(false), ..failure() }), differs("retryable"));
        assert_eq!(checked(&QueueMessage { attempt_number: Some(9), ..failure() }), differs("attempt_number"));
        let other = QueueMessage { origin_agent: Some(OriginAgent::Proxy), ..failure() };
        assert_eq!(checked(&other), differs("origin_agent"));
    }
}
