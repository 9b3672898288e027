//! The traits that make the crates' arrows hold: the domain says what it needs from the outside, other crates provide it.

mod cancel;
mod context_service;
mod embedder;
mod future;
mod host;
mod look;
mod runtime;
mod workspace;

pub use cancel::{CancelSignal, Canceller, Stop, Wait};
pub use context_service::ContextService;
pub use embedder::Embedder;
pub use future::BoxFuture;
pub use host::{Delta, Host, HostReply, HostRequest, HostWork, Kept, Refused, Runner, Seq, Spawn};
pub use look::{Holdings, Look};
pub use runtime::Runtime;
pub use workspace::{Applied, Candidate, Drawing, Drawn, Merge, TreeId, Workspace, WorkspaceError};
