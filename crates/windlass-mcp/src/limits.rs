//! What a server may take of us: time, bytes, tools.

use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// For everything but a call: greeting, listing.
    pub question: Duration,
    pub call: Duration,
    /// Of one message.
    pub message_bytes: usize,
    /// All that is said while one question is open.
    pub talk_bytes: usize,
    /// Lines and events that are no message of the protocol, while one question is open: many servers print a greeting.
    pub noise: usize,
    pub tools: usize,
    /// All definitions together.
    pub definition_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            question: Duration::from_secs(30),
            call: Duration::from_secs(300),
            message_bytes: 8 << 20,
            talk_bytes: 64 << 20,
            noise: 100,
            tools: 200,
            definition_bytes: 256 << 10,
        }
    }
}
