//! Why somebody looks on no longer, and how they are told.

use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Of their own will, or they are gone.
    Left,
    /// The program has, and they were told how.
    Ended,
    /// Whoever ran it is gone.
    Lost,
    /// The server ends.
    Drained,
    TooSlow,
    Silent,
    TakenBack,
    TooLarge,
    Nonsense,
    /// The program does not read what they typed.
    Unread,
}

impl End {
    /// None where there is nobody to be told.
    pub fn frame(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Left => return None,
            Self::Ended => (CloseCode::Normal, "the program has ended"),
            Self::Lost => (CloseCode::Error, "the process that ran it is gone"),
            Self::Drained => (CloseCode::Away, "the server ends; come back"),
            Self::TooSlow => (CloseCode::Policy, "too slow: what was sent was left unread; come back"),
            Self::Silent => (CloseCode::Policy, "no answer came for too long"),
            Self::TakenBack => (CloseCode::Policy, "the token is good for nothing any more"),
            Self::TooLarge => (CloseCode::Size, "the message is too large"),
            Self::Nonsense => (CloseCode::Unsupported, "that is nothing that can be said to a terminal"),
            Self::Unread => (CloseCode::Again, "the program does not read what is typed; come back"),
        };
        Some(CloseFrame { code, reason: reason.into() })
    }
}
