//! What a client may take of us: bytes, time, sessions, calls.

use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Of one message that comes in.
    pub message_bytes: usize,
    /// Of one tool's answer: clients cut off or refuse what is much longer.
    pub answer_bytes: usize,
    /// For a message to arrive in full.
    pub arrival: Duration,
    /// A call that takes longer is answered by a stream, on which something is said this often.
    pub quiet: Duration,
    /// After the last line came in, for the calls that still run.
    pub farewell: Duration,
    /// Where one more is begun, the one that was used least lately ends.
    pub sessions: usize,
    /// At once, over all sessions.
    pub calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 1 << 20,
            answer_bytes: 512 << 10,
            arrival: Duration::from_secs(30),
            quiet: Duration::from_secs(10),
            farewell: Duration::from_secs(10),
            sessions: 16,
            calls: 256,
        }
    }
}
