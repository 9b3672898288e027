//! A session and a server against programs that behave, misbehave and change their minds.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]
#![expect(clippy::disallowed_methods, reason = "`tokio::test` builds an executor for each test")]

mod calls;
mod http;
mod misbehaviour;
mod pinned;
mod scripted;
mod serve;
