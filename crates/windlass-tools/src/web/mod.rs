//! Reading the web from outside the sandbox, for `web_fetch` and `web_search`. A `Dialer` decides which addresses can be
//! reached at all and connects to the one it decided about; a `Client` makes one request over such a connection; a
//! `Fetcher` follows redirects within a host and makes text of what comes. Nothing is sent that could tell who asks: no
//! cookie, no referrer, no credentials.

mod body;
mod client;
mod decode;
mod dialer;
mod equipment;
mod fetch;
mod html;
mod location;
mod plain;
pub mod search;
mod tls;

pub use client::{Answer, Client, Limits, Opened, Question};
pub use dialer::{Anywhere, Dialer, Public};
pub use equipment::Web;
pub use fetch::{FetchLimits, Fetched, Fetcher, Page};
pub use location::Location;
pub use tls::{Tls, secure};
