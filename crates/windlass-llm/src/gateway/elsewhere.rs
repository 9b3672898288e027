//! What else may live at the gateway's address: one listener is all that a sandbox hands out.

use http::{Request, Response};
use windlass_domain::BoxFuture;

use crate::gateway::Body;

/// Answers every request whose path is below a prefix. The key and the host have been looked at, the body has not: its length
/// is this one's to limit.
pub trait Elsewhere: Send + Sync + 'static {
    fn answer(&self, request: Request<hyper::body::Incoming>) -> BoxFuture<'_, Response<Body>>;
}
