//! Who asks, judged from the head of a request alone, before its body is read, its path is looked up or anything is said. First
//! whether it comes from a web page that has no business here (`names`), then whose token it bears (`token`), then what that
//! token is good for (`scopes`, which reads what each route's own description asks for). A browser's WebSocket bears a ticket instead (`ticket`).

mod admit;
mod caller;
mod hmac;
mod host_name;
mod names;
mod scopes;
mod ticket;
mod token;

pub(crate) use admit::admit;
pub use caller::Caller;
pub use hmac::hmac_sha256;
pub use host_name::{BadHost, HostName};
pub(crate) use names::Foreign;
pub use names::Names;
pub(crate) use scopes::{Scopes, hold_to_scope};
pub(crate) use ticket::{GOOD_FOR as TICKETS_ARE_GOOD_FOR, Tickets};
pub(crate) use token::as_it_is_now;
pub use token::{TokenRecord, bearer, fingerprint};
