//! How much of the server one connection, one request and all of them together may have.

use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub connections: usize,
    /// Request line and headers, in bytes.
    pub head: usize,
    /// In bytes, before anybody knows whose it is.
    pub body: usize,
    /// Of a request that may bring files, in bytes.
    pub body_with_files: usize,
    /// How many requests longer than `body` may be there at once.
    pub large_bodies: usize,
    /// For a handshake, and for a head; also how long a connection may say nothing between two requests.
    pub head_patience: Duration,
    pub body_patience: Duration,
    /// How long a client may leave what it is sent unread.
    pub write_patience: Duration,
    /// How often whoever looks at a terminal is asked whether they are there; three times in vain, and they are let go.
    pub ping: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4_096,
            head: 32 << 10,
            body: 1 << 20,
            // All the pictures that a model is shown, as letters.
            body_with_files: 21 << 20,
            large_bodies: 8,
            head_patience: Duration::from_secs(30),
            body_patience: Duration::from_secs(30),
            write_patience: Duration::from_secs(30),
            ping: Duration::from_secs(20),
        }
    }
}
